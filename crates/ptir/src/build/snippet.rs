//! Snippets: PTIR text with placeholders that a builder records like a function call.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::Diagnostics;

use super::graph::{GraphError, PtirGraph};
use super::results::PtirResults;
use super::value::PtirValue;
use crate::dims::SymbolBindings;
use crate::func::Function;
use crate::ids::{BodyId, ValueId};
use crate::op::{OpParts, Registry};
use crate::text::{ParseOptions, parse_with};
use crate::types::ValueType;

/// The reason why a snippet could not be recorded. The graph is unchanged.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnippetError {
    /// No text was passed for a `{{name}}` placeholder.
    #[error("placeholder `{{{{{0}}}}}` is not bound")]
    UnboundPlaceholder(String),
    /// A text was passed for a placeholder that the snippet does not have.
    #[error("the snippet has no placeholder `{{{{{0}}}}}`")]
    UnknownPlaceholder(String),
    /// No value was passed for a parameter.
    #[error("parameter `%{0}` is not bound")]
    UnboundParameter(String),
    /// A value was passed for a parameter that the snippet does not have.
    #[error("the snippet has no parameter `%{0}`")]
    UnknownParameter(String),
    /// A value has a type that its parameter does not accept.
    #[error("parameter `%{name}`: {why}")]
    Type {
        /// The parameter.
        name: String,
        /// The mismatch.
        why: String,
    },
    /// The text is not a program of one function.
    #[error("a snippet has exactly one function, found {0}")]
    Functions(usize),
    /// The text cannot be parsed.
    #[error("{0}")]
    Text(String),
}

/// PTIR text with `{{name}}` placeholders: one function whose parameters are bound to values and whose placeholders
/// are replaced by text (numbers, lists, types). The text is parsed at first use, once for each set of replacement
/// texts.
///
/// ```
/// use sapwood_ptir::prelude::*;
///
/// static SCALE: Snippet = sapwood_ptir::ptir_snippet!(
///     "func @scale(%x: f32[?N]) -> f32[?N] {
///        %c = constant {{factor}} : f32[]
///        %b = broadcast_to %c : f32[?N]
///        %y = mul %x, %b : f32[?N]
///        return %y
///      }"
/// );
/// let mut builder = GraphBuilder::new("f", &Registry::builtin());
/// let mut g = PtirGraph::new(&mut builder);
/// let x = g.parameter("x", TensorSpec::new(DataType::F32, [4u64]));
/// let y = SCALE.record(&mut g, &[("x", &x)], &[("factor", "2.5")])?.into_value()?;
/// assert_eq!(y.ty().to_string(), "f32[4]");
/// assert!(SCALE.record(&mut g, &[("x", &x)], &[]).is_err());
/// # Ok::<(), GraphError>(())
/// ```
pub struct Snippet {
    text: &'static str,
    parsed: Mutex<Option<ParsedSnippets>>,
}

type ParsedSnippets = HashMap<(Vec<(String, String)>, usize), Arc<Function>, FxBuildHasher>;

/// Builds a snippet from text: `static S: Snippet = ptir_snippet!("func @f…");`.
#[macro_export]
macro_rules! ptir_snippet {
    ($text:expr) => {
        $crate::Snippet::new($text)
    };
}

/// Builds and records a snippet: `ptir!(graph, "func @f(%x: f32[]) …", x = &value)`. Placeholders follow as `; name =
/// "text"`.
#[macro_export]
macro_rules! ptir {
    ($graph:expr, $text:expr $(, $param:ident = $value:expr)* $(; $($hole:ident = $with:expr),*)?) => {{
        static SNIPPET: $crate::Snippet = $crate::Snippet::new($text);
        SNIPPET.record($graph, &[$((stringify!($param), $value)),*], &[$($((stringify!($hole), $with)),*)?])
    }};
}

impl Snippet {
    /// Creates a snippet without parsing its text.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { text, parsed: Mutex::new(None) }
    }

    /// Appends the instructions of the snippet to the graph.
    ///
    /// # Errors
    /// If a parameter or placeholder is unbound or unknown, a type does not fit, or the text cannot be parsed. The
    /// graph is then unchanged.
    pub fn record(
        &self,
        graph: &mut PtirGraph<'_>,
        params: &[(&str, &PtirValue)],
        holes: &[(&str, &str)],
    ) -> Result<PtirResults, GraphError> {
        let function = self.function(graph.function().registry(), holes)?;
        let mut types = Vec::new();
        let mut map: HashMap<ValueId, PtirValue, FxBuildHasher> = HashMap::default();
        for (name, value) in params {
            graph.value_id(value)?;
            let Some(&param) = function.params().iter().find(|&&p| function.hint(p) == Some(name))
            else {
                return Err(SnippetError::UnknownParameter((*name).into()).into());
            };
            types.push((function.value_type(param), value.ty()));
            map.insert(param, (*value).clone());
        }
        if let Some(&param) = function.params().iter().find(|p| !map.contains_key(*p)) {
            let name = function.hint(param).map_or_else(|| param.to_string(), Into::into);
            return Err(SnippetError::UnboundParameter(name).into());
        }
        let (bindings, errors) = SymbolBindings::of_call(types.into_iter());
        if let Some((n, why)) = errors.into_iter().next() {
            return Err(SnippetError::Type { name: params[n].0.into(), why }.into());
        }
        let undo = graph.snapshot();
        let copied =
            copy_body(graph, &function, function.body(), &mut map, &|ty| bindings.apply(ty), 0);
        let results = match copied {
            Ok(results) => results,
            Err(error) => {
                graph.rollback(undo);
                return Err(error);
            }
        };
        Ok(PtirResults(results))
    }

    fn function(
        &self,
        registry: &Arc<Registry>,
        holes: &[(&str, &str)],
    ) -> Result<Arc<Function>, SnippetError> {
        let mut key: Vec<(String, String)> =
            holes.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
        key.sort();
        let key = (key, Arc::as_ptr(registry) as usize);
        let mut guard = self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = guard.get_or_insert_with(HashMap::default);
        if let Some(function) = cache.get(&key) {
            return Ok(function.clone());
        }
        let text = substitute_placeholders(self.text, holes)?;
        let options = ParseOptions::new().file("<snippet>").registry(registry);
        let problem = |problems: Diagnostics| SnippetError::Text(problems.to_string());
        let program = parse_with(&format!("ptir 1 {text}"), &options).map_err(problem)?;
        let [function] = program.functions() else {
            return Err(SnippetError::Functions(program.functions().len()));
        };
        cache.insert(key, function.clone());
        Ok(function.clone())
    }
}

// Replaces the placeholders by their texts.
fn substitute_placeholders(text: &str, holes: &[(&str, &str)]) -> Result<String, SnippetError> {
    let mut out = String::with_capacity(text.len());
    let mut used = vec![false; holes.len()];
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            return Err(SnippetError::Text("a `{{` is not closed".into()));
        };
        let name = name.trim();
        let Some(index) = holes.iter().position(|(hole, _)| *hole == name) else {
            return Err(SnippetError::UnboundPlaceholder(name.into()));
        };
        used[index] = true;
        out.push_str(&holes[index].1.replace('\n', " "));
        rest = after;
    }
    out.push_str(rest);
    match used.iter().position(|used| !used) {
        Some(index) => Err(SnippetError::UnknownPlaceholder(holes[index].0.into())),
        None => Ok(out),
    }
}

const MAX_SNIPPET_DEPTH: usize = 64;

// Copies the instructions of a body and returns the values that its terminator yields. Recurses into regions, up to
// [`MAX_SNIPPET_DEPTH`].
fn copy_body(
    graph: &mut PtirGraph<'_>,
    from: &Function,
    body: BodyId,
    map: &mut HashMap<ValueId, PtirValue, FxBuildHasher>,
    subst: &dyn Fn(&ValueType) -> ValueType,
    depth: usize,
) -> Result<Vec<PtirValue>, GraphError> {
    if depth > MAX_SNIPPET_DEPTH {
        return Err(SnippetError::Text(format!(
            "regions of a snippet nest at most {MAX_SNIPPET_DEPTH} deep"
        ))
        .into());
    }
    let find = |map: &HashMap<ValueId, PtirValue, FxBuildHasher>, value: ValueId| {
        map.get(&value).cloned().ok_or(GraphError::Foreign(value))
    };
    for inst in from.body_insts(body) {
        if from.terminator(body) == Some(inst) {
            return from.operands(inst).iter().map(|&v| find(map, v)).collect();
        }
        let mut parts = OpParts::new(from.op_key(inst));
        parts.attrs = from.attrs(inst).iter().cloned().collect();
        for &operand in from.operands(inst) {
            parts.operands.push(find(map, operand)?.id());
        }
        for &region in from.regions(inst) {
            let params: Vec<ValueType> =
                from.body_params(region).iter().map(|&p| subst(from.value_type(p))).collect();
            let made = graph.region(&params, |g, args| {
                for (&param, arg) in from.body_params(region).iter().zip(args) {
                    map.insert(param, arg.clone());
                }
                copy_body(g, from, region, map, subst, depth + 1)
            })?;
            parts.regions.push(graph.region_id(&made)?);
        }
        parts.result_types = from.inst_results(inst).map(|v| subst(from.value_type(v))).collect();
        let results = graph.record_parts(&parts)?;
        for (old, new) in from.inst_results(inst).zip(results.values()) {
            if let Some(hint) = from.hint(old) {
                graph.name(new, hint)?;
            }
            map.insert(old, new.clone());
        }
    }
    Ok(Vec::new())
}
