//! The rule language: named algebraic identities.

mod alternatives;
mod ast;
mod attr_check;
mod axis_map;
mod condition;
mod condition_check;
mod condition_facts;
mod dim_classes;
mod dim_conflicts;
mod dim_inference;
mod element_types;
mod lets;
mod lexer;
mod op_trial;
mod parse;
mod reshape_dims;
mod resolve;
mod rhs;
mod terms;
mod type_check;
mod vocabulary;

use std::collections::HashMap;

use sapwood_ptir::{Name, Registry};
use sapwood_rewrite::FloatMode;
use sapwood_types::{Diagnostics, Source, Span};

pub(crate) use condition::{Condition, Term};
pub(crate) use rhs::{NewOp, NewOperand, NewValue, Rhs, resolve_attr};
pub use vocabulary::{
    Argument, ArgumentKind, AttrFunction, Predicate, Vocabulary, WordArguments, WordPlace,
};

use crate::graph::{MatchPlan, OpIx, PatternGraph};
use crate::pattern_files::defined_twice;

/// A rule: a pattern and, unless it is only searched for, its replacement.
#[derive(Clone)]
pub struct Rule {
    name: Name,
    doc: String,
    span: Span,
    floats: FloatMode,
    pub(crate) root: OpIx,
    pub(crate) plan: MatchPlan,
    /// The other ops at which the rule is tried, each with the plan of a search that starts at it: those of the other outputs, or of the other
    /// alternatives of the root.
    pub(crate) other_plans: Vec<(OpIx, MatchPlan)>,
    /// Set if the rule replaces the results of several ops.
    pub(crate) several_outputs: bool,
    pub(crate) hops: u8,
    pub(crate) pattern: PatternGraph,
    pub(crate) right: Option<Rhs>,
}

impl Rule {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name.as_str()
    }

    /// Returns the comment before the rule.
    #[must_use]
    pub fn doc(&self) -> &str {
        &self.doc
    }

    /// Returns the span of the rule.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns the float mode that the rule needs.
    #[must_use]
    pub fn floats(&self) -> FloatMode {
        self.floats
    }

    /// Changes the float mode that the rule needs.
    pub(crate) fn with_floats(self, floats: FloatMode) -> Self {
        Self { floats, ..self }
    }

    /// Returns the left side.
    #[must_use]
    pub fn pattern(&self) -> &PatternGraph {
        &self.pattern
    }

    /// Returns the left side as a pattern to find or extract.
    #[must_use]
    pub fn into_pattern(self) -> PatternGraph {
        self.pattern
    }

    /// Returns whether the rule has a right side.
    #[must_use]
    pub fn rewrites(&self) -> bool {
        self.right.is_some()
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rule({})", self.name)
    }
}

/// Parses rules and resolves their names.
///
/// ```
/// use sapwood_ptir::Registry;
/// use sapwood_rules::{Vocabulary, rules_from};
/// use sapwood_types::Source;
///
/// let text = "rule transpose_of_transpose:
///   transpose(transpose(x, perm = p), perm = q) => transpose(x, perm = compose(p, q))";
/// let rules = rules_from(&Source::new("r.rules", text), &Registry::builtin(), &Vocabulary::builtin())?;
/// assert_eq!(rules[0].name(), "transpose_of_transpose");
///
/// let wrong = Source::new("w.rules", "rule w: add(x, y) => add(x, z)");
/// let problems = rules_from(&wrong, &Registry::builtin(), &Vocabulary::builtin()).unwrap_err();
/// assert!(problems.to_string().contains("w.rules:1:29: error: `z` is not bound"));
/// # Ok::<(), sapwood_types::Diagnostics>(())
/// ```
///
/// # Errors
/// With a diagnostic for each error.
pub fn rules_from(
    source: &Source,
    registry: &Registry,
    words: &Vocabulary,
) -> Result<Vec<Rule>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let texts = parse::parse(source, &mut problems);
    let mut rules: Vec<Rule> = Vec::new();
    let mut first_spans: HashMap<&str, Span> = HashMap::new();
    for text in &texts {
        if let Some(&first) = first_spans.get(&*text.name.of) {
            problems.push(defined_twice("rule", &text.name.of, text.name.span, first));
            continue;
        }
        // An error in one rule does not affect the others.
        let mut own = Diagnostics::new();
        if let Some(rule) = resolve::resolve_rule(text, registry, words, &mut own) {
            first_spans.insert(rule.name(), rule.pattern.span);
            rules.push(rule);
        }
        problems.append(own);
    }
    if texts.is_empty() && !problems.has_errors() {
        problems.error(source.span(0..source.text().len().min(1)), "the file has no rules");
    }
    problems.sort();
    problems.into_result(rules)
}
