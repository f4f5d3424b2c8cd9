//! The verifier: checks of a model beyond its encoding.

mod cycle;
mod node;
mod scope;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_types::{Diagnostic, Diagnostics, Severity, Span};

use crate::external::check_tensor;
use crate::model::for_each_tensor;
use crate::ops::{newest_opset, normal_domain};
use crate::{ElementType, Function, Model, Node, OperatorSet, Tensor, Text, WireInfo};

/// Checks a model: names are defined once and before they are used, attributes and tensors have one value that fits their type,
/// and operator sets are known.
///
/// Messages name the node and its byte offset in the file. Types of values are not inferred here.
///
/// ```
/// use sapwood_onnx::{Graph, Model, Node, verify};
///
/// let node = Node { name: Some("n".into()), ..Node::new("Relu", &["x"], &["y"]) };
/// let graph = Graph { node: vec![node], name: Some("g".into()), ..Graph::default() };
/// let model = Model::new(graph, 10, 21);
/// let problems = verify(&model);
/// assert_eq!(
///     problems.to_string(),
///     "error: node `n` (Relu): input `x` is not defined: no graph or function input, initializer or node output has this name"
/// );
/// ```
#[must_use]
pub fn verify(model: &Model) -> Diagnostics {
    let mut report = VerifyReport::default();
    match model.ir_version {
        Some(version) if version > 0 => {}
        version => report.error(
            "model",
            &model.wire,
            format!("ir_version is {}; 1 or more is needed", version.unwrap_or(0)),
        ),
    }
    let imports = check_operator_sets(&model.opset_import, "model", &model.wire, &mut report);
    let functions = index_functions(model, &mut report);
    for function in &model.functions {
        scope::check_function(function, model, &functions, &mut report);
    }
    let context =
        scope::VerifyContext { model, imports: &imports, functions: &functions, function: None };
    match &model.graph {
        Some(graph) => scope::check_graph(graph, &context, &mut report),
        None => report.error("model", &model.wire, "the graph is missing"),
    }
    for info in &model.training_info {
        // Training graphs see the initializers of the main graph.
        for graph in info.initialization.iter().chain(&info.algorithm) {
            scope::check_training_graph(graph, model.graph.as_deref(), &context, &mut report);
        }
    }
    cycle::check_functions(model, &functions, &mut report);
    for_each_tensor(model, |tensor, is_initializer| {
        check_tensor_fields(tensor, is_initializer, &mut report);
    });
    report.diagnostics
}

/// Versions of operator sets by domain.
type OpsetImports<'a> = HashMap<&'a str, i64, FxBuildHasher>;
/// Functions by domain, name and overload.
type FunctionTable<'a> = HashMap<(&'a [u8], &'a [u8], &'a [u8]), &'a Function, FxBuildHasher>;

/// The collected diagnostics.
#[derive(Default)]
struct VerifyReport {
    diagnostics: Diagnostics,
}

impl VerifyReport {
    fn push(
        &mut self,
        severity: Severity,
        what: &str,
        wire: &WireInfo,
        problem: impl std::fmt::Display,
    ) {
        let place = wire.offset().map(|offset| format!(" at byte {offset}")).unwrap_or_default();
        let message = format!("{what}{place}: {problem}");
        self.diagnostics.push(Diagnostic::new(severity, Span::unknown(), message));
    }

    fn error(&mut self, what: &str, wire: &WireInfo, problem: impl std::fmt::Display) {
        self.push(Severity::Error, what, wire, problem);
    }

    fn warning(&mut self, what: &str, wire: &WireInfo, problem: impl std::fmt::Display) {
        self.push(Severity::Warning, what, wire, problem);
    }

    fn node_error(&mut self, node: &Node, problem: impl std::fmt::Display) {
        self.error(&describe_node(node), &node.wire, problem);
    }
}

/// Returns the description of a node in a message.
fn describe_node(node: &Node) -> String {
    let op = str_or_empty(node.op_type.as_ref());
    match node.label() {
        Some(name) => format!("node `{name}` ({op})"),
        None => format!("a node without a name ({op})"),
    }
}

/// Returns a string, or the empty one where it is absent or not UTF-8.
fn str_or_empty(text: Option<&Text>) -> &str {
    text.and_then(Text::as_str).unwrap_or_default()
}

fn bytes_or_empty(text: Option<&Text>) -> &[u8] {
    text.map_or(&[], |text| text.bytes())
}

fn check_operator_sets<'a>(
    sets: &'a [OperatorSet],
    what: &str,
    wire: &WireInfo,
    report: &mut VerifyReport,
) -> OpsetImports<'a> {
    let mut imports = OpsetImports::default();
    for set in sets {
        let domain = normal_domain(str_or_empty(set.domain.as_ref()));
        let shown = if domain.is_empty() { "ai.onnx" } else { domain };
        let version = set.version.unwrap_or(0);
        if version < 1 {
            report.error(
                what,
                &set.wire,
                format!("opset {version} of {shown} does not exist; 1 is the first"),
            );
        }
        if let Some(newest) = newest_opset(domain).filter(|newest| version > *newest) {
            report.error(
                what,
                &set.wire,
                format!("opset {version} of {shown} is not known; {newest} is the newest"),
            );
        }
        if let Some(before) = imports.insert(domain, version) {
            report.error(
                what,
                &set.wire,
                format!("{shown} is imported twice, as opset {before} and as opset {version}"),
            );
        }
    }
    if sets.is_empty() {
        report.error(what, wire, "opset_import is empty; at least one operator set is needed");
    }
    imports
}

fn index_functions<'a>(model: &'a Model, report: &mut VerifyReport) -> FunctionTable<'a> {
    let mut functions = FunctionTable::default();
    for function in &model.functions {
        let key = (
            bytes_or_empty(function.domain.as_ref()),
            bytes_or_empty(function.name.as_ref()),
            bytes_or_empty(function.overload.as_ref()),
        );
        let what = format!("function `{}`", str_or_empty(function.name.as_ref()));
        if key.1.is_empty() {
            report.error("a function", &function.wire, "it has no name");
        }
        if let Some(before) = functions.insert(key, function) {
            let place = before.wire.offset().map(|at| format!(" at byte {at}")).unwrap_or_default();
            report.error(
                &what,
                &function.wire,
                format!("another function{place} has this domain, name and overload"),
            );
        }
    }
    functions
}

fn check_tensor_fields(tensor: &Tensor, is_initializer: bool, report: &mut VerifyReport) {
    let name = str_or_empty(tensor.name.as_ref());
    let what = match (is_initializer, name) {
        (true, name) => format!("initializer `{name}`"),
        (false, "") => "a tensor".to_owned(),
        (false, name) => format!("tensor `{name}`"),
    };
    if has_field(&tensor.wire, &[4, 5, 6, 7, 9, 10, 11]) {
        report.error(&what, &tensor.wire, "it has elements in several fields; one is needed");
    }
    if let Err(problem) = check_tensor(tensor) {
        report.error(&what, &tensor.wire, problem);
    }
}

/// Returns whether a field of one of these numbers is among the unknown ones: a second value of another kind.
fn has_field(wire: &WireInfo, numbers: &[u32]) -> bool {
    wire.unknown_fields().iter().any(|fields| crate::wire::has_field(fields, numbers))
}

/// Checks that no two names are the same.
fn check_unique<'a>(
    names: impl Iterator<Item = (&'a Text, &'a WireInfo)>,
    kind: &str,
    report: &mut VerifyReport,
) {
    let mut seen: HashSet<&[u8], FxBuildHasher> = HashSet::default();
    for (name, wire) in names {
        if !seen.insert(name.bytes()) {
            report.error(
                &format!("{kind} `{name}`"),
                wire,
                format!("another {kind} has this name"),
            );
        }
    }
}

fn is_element_type(code: Option<i32>) -> bool {
    code.is_some_and(|code| ElementType::from_code(code).is_some())
}
