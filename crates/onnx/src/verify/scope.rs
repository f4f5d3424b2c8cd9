//! Checks of names: defined once, before they are used, visible in inner graphs.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_types::Severity;

use super::{
    FunctionTable, OpsetImports, VerifyReport, check_unique, cycle, describe_node, is_element_type,
    node, str_or_empty,
};
use crate::{Attribute, Function, Graph, Model, Node, Text, TypeValue, ValueInfo};

/// The parts of the model that nodes refer to.
pub(super) struct VerifyContext<'a> {
    pub(super) model: &'a Model,
    pub(super) imports: &'a OpsetImports<'a>,
    pub(super) functions: &'a FunctionTable<'a>,
    /// The function the nodes are in.
    pub(super) function: Option<&'a Function>,
}

/// Names that are defined at a point, with the level of the graph that defines them.
#[derive(Default)]
struct VisibleNames<'a> {
    names: HashMap<&'a [u8], usize, FxBuildHasher>,
    /// Names to remove at the end of a level, and the levels that had them before.
    undo: Vec<(&'a [u8], Option<usize>)>,
}

impl<'a> VisibleNames<'a> {
    /// Defines a name and returns the level that had it before.
    fn define(&mut self, name: &'a Text, level: usize) -> Option<usize> {
        let before = self.names.insert(name.bytes(), level);
        self.undo.push((name.bytes(), before));
        before
    }

    fn contains(&self, name: &Text) -> bool {
        self.names.contains_key(&name.bytes()[..])
    }

    fn roll_back_to(&mut self, length: usize) {
        for (name, before) in self.undo.drain(length..).rev() {
            match before {
                Some(level) => drop(self.names.insert(name, level)),
                None => drop(self.names.remove(name)),
            }
        }
    }
}

/// A graph or function body that is being checked.
struct GraphLevel<'a> {
    nodes: &'a [Node],
    /// `None` for the body of a function.
    graph: Option<&'a Graph>,
    next: usize,
    /// Graphs of the node before `next` that are still to be checked.
    pending: Vec<&'a Graph>,
    undo: usize,
    /// The node that defines each name; computed when a name is first used before its definition.
    definitions: Option<HashMap<&'a [u8], &'a Node, FxBuildHasher>>,
    /// True if a name was used before its definition.
    is_unsorted: bool,
}

impl<'a> GraphLevel<'a> {
    fn new(nodes: &'a [Node], graph: Option<&'a Graph>, undo: usize) -> Self {
        Self {
            nodes,
            graph,
            next: 0,
            pending: Vec::new(),
            undo,
            definitions: None,
            is_unsorted: false,
        }
    }

    fn definition(&mut self, name: &Text) -> Option<&'a Node> {
        let outputs =
            |node: &'a Node| node.output.iter().map(move |name| (&name.bytes()[..], node));
        let nodes = self.nodes;
        let definitions =
            self.definitions.get_or_insert_with(|| nodes.iter().rev().flat_map(outputs).collect());
        definitions.get(&name.bytes()[..]).copied()
    }
}

pub(super) fn check_graph(graph: &Graph, context: &VerifyContext<'_>, report: &mut VerifyReport) {
    let mut visible = VisibleNames::default();
    let level = enter_graph(graph, 0, &mut visible, context, report);
    check_levels(level, &mut visible, context, report);
}

/// Checks a graph that sees the initializers of another one.
pub(super) fn check_training_graph(
    graph: &Graph,
    main: Option<&Graph>,
    context: &VerifyContext<'_>,
    report: &mut VerifyReport,
) {
    let mut visible = VisibleNames::default();
    for name in main.iter().flat_map(|main| initializers(main)) {
        visible.define(name.0, 0);
    }
    let level = enter_graph(graph, 1, &mut visible, context, report);
    check_levels(level, &mut visible, context, report);
}

pub(super) fn check_function(
    function: &Function,
    model: &Model,
    functions: &FunctionTable<'_>,
    report: &mut VerifyReport,
) {
    let what = format!("function `{}`", str_or_empty(function.name.as_ref()));
    let imports = super::check_operator_sets(&function.opset_import, &what, &function.wire, report);
    let context = VerifyContext { model, imports: &imports, functions, function: Some(function) };
    let mut visible = VisibleNames::default();
    check_unique(
        function.input.iter().map(|name| (name, &function.wire)),
        "function input",
        report,
    );
    for name in &function.input {
        visible.define(name, 0);
    }
    let attributes = function.attribute_proto.iter().filter_map(|a| a.name.as_ref());
    let attributes = function.attribute.iter().chain(attributes);
    check_unique(attributes.map(|name| (name, &function.wire)), "function attribute", report);
    let level = GraphLevel::new(&function.node, None, visible.undo.len());
    check_levels(level, &mut visible, &context, report);
    for output in function.output.iter().filter(|name| !visible.contains(name)) {
        report.error(&what, &function.wire, format!("output `{output}` is not defined"));
    }
}

/// Checks nodes and the graphs in their attributes, with a stack of levels instead of recursion.
fn check_levels<'a>(
    first: GraphLevel<'a>,
    visible: &mut VisibleNames<'a>,
    context: &VerifyContext<'a>,
    report: &mut VerifyReport,
) {
    let mut levels = vec![first];
    loop {
        let depth_inside = levels.len();
        let Some(level) = levels.last_mut() else { return };
        if let Some(graph) = level.pending.pop() {
            levels.push(enter_graph(graph, depth_inside, visible, context, report));
            continue;
        }
        if level.next > 0 {
            define_outputs(&level.nodes[level.next - 1], depth_inside - 1, visible, report);
        }
        let Some(node) = level.nodes.get(level.next) else {
            leave_graph(level, visible, context, report);
            // The names of a function stay, so that its outputs can be looked up.
            if level.graph.is_some() {
                visible.roll_back_to(level.undo);
            }
            levels.pop();
            continue;
        };
        level.next += 1;
        node::check_node(node, context, report);
        for input in node.input.iter().filter(|name| !name.is_empty() && !visible.contains(name)) {
            match level.definition(input) {
                Some(definition) => {
                    let place = definition.wire.offset();
                    let place = place.map(|at| format!(" at byte {at}")).unwrap_or_default();
                    report.node_error(
                        node,
                        format!("input `{input}` is used before {}{place} defines it", describe_node(definition)),
                    );
                    level.is_unsorted = true;
                }
                None => report.node_error(
                    node,
                    format!("input `{input}` is not defined: no graph or function input, initializer or node output has this name"),
                ),
            }
        }
        let graphs = node.attribute.iter().flat_map(Attribute::graphs);
        level.pending.extend(graphs);
        level.pending.reverse();
    }
}

fn define_outputs<'a>(
    node: &'a Node,
    level: usize,
    visible: &mut VisibleNames<'a>,
    report: &mut VerifyReport,
) {
    for output in node.output.iter().filter(|name| !name.is_empty()) {
        match visible.define(output, level) {
            Some(before) if before == level => {
                report.node_error(node, format!("output `{output}` is defined a second time"));
            }
            Some(_) => report.warning(
                &describe_node(node),
                &node.wire,
                format!("output `{output}` shadows a value of an outer graph"),
            ),
            None => {}
        }
    }
}

/// Defines the inputs and initializers of a graph.
fn enter_graph<'a>(
    graph: &'a Graph,
    level: usize,
    visible: &mut VisibleNames<'a>,
    context: &VerifyContext<'_>,
    report: &mut VerifyReport,
) -> GraphLevel<'a> {
    let undo = visible.undo.len();
    let inputs = || graph.input.iter().filter_map(|info| Some((info.name.as_ref()?, &info.wire)));
    check_unique(inputs(), "graph input", report);
    check_unique(initializers(graph), "initializer", report);
    for info in graph.input.iter().chain(&graph.output).chain(&graph.value_info) {
        check_value_info(info, report);
    }
    for (name, _) in inputs() {
        visible.define(name, level);
    }
    let mut defaults = 0;
    for (name, wire) in initializers(graph) {
        if name.is_empty() {
            report.error("an initializer", wire, "it has no name");
        }
        let is_input = visible.define(name, level) == Some(level);
        defaults += usize::from(is_input);
        if !is_input && level == 0 && context.model.ir_version.is_some_and(|version| version < 4) {
            report.warning(
                &format!("initializer `{name}`"),
                wire,
                "it is not a graph input, which files below IR version 4 require",
            );
        }
    }
    if defaults > 0 && context.model.ir_version.is_some_and(|version| version >= 4) {
        report.push(
            Severity::Note,
            &format!("graph `{}`", str_or_empty(graph.name.as_ref())),
            &graph.wire,
            format!(
                "{defaults} initializers are also graph inputs; they are taken for constants, although a caller may replace them"
            ),
        );
    }
    GraphLevel::new(&graph.node, Some(graph), undo)
}

/// Checks the outputs of a graph, and looks for a cycle if its nodes are not sorted.
fn leave_graph(
    level: &GraphLevel<'_>,
    visible: &VisibleNames<'_>,
    context: &VerifyContext<'_>,
    report: &mut VerifyReport,
) {
    if level.is_unsorted {
        cycle::check_nodes(level.nodes, report);
    }
    let Some(graph) = level.graph else { return };
    let outputs = || graph.output.iter().filter_map(|info| Some((info.name.as_ref()?, &info.wire)));
    for (name, wire) in outputs().filter(|(name, _)| !visible.contains(name)) {
        report.error(
            &format!("graph output `{name}`"),
            wire,
            "it is not defined: no graph or function input, initializer or node output has this name",
        );
    }
    // Several outputs may be one value in the body of a loop, but not in the main graph.
    if level.undo == 0 && context.function.is_none() {
        check_unique(outputs(), "graph output", report);
    }
}

fn initializers(graph: &Graph) -> impl Iterator<Item = (&Text, &crate::WireInfo)> {
    let dense = graph.initializer.iter().filter_map(|t| Some((t.name.as_ref()?, &t.wire)));
    let sparse = graph.sparse_initializer.iter();
    let sparse = sparse.filter_map(|s| Some((s.values.as_ref()?.name.as_ref()?, &s.wire)));
    dense.chain(sparse)
}

fn check_value_info(info: &ValueInfo, report: &mut VerifyReport) {
    let name = str_or_empty(info.name.as_ref());
    if name.is_empty() {
        report.error("a value", &info.wire, "it has no name");
    }
    let mut r#type = info.r#type.as_deref();
    while let Some(inner) = r#type {
        r#type = None;
        match &inner.value {
            Some(TypeValue::Tensor(tensor) | TypeValue::SparseTensor(tensor)) => {
                if !is_element_type(tensor.elem_type) {
                    let code = tensor.elem_type.unwrap_or(0);
                    report.error(
                        &format!("value `{name}`"),
                        &info.wire,
                        format!("element type {code} is not known"),
                    );
                }
            }
            Some(TypeValue::Sequence(of) | TypeValue::Optional(of)) => {
                r#type = of.elem_type.as_deref();
            }
            Some(TypeValue::Map(map)) => r#type = map.value_type.as_deref(),
            Some(TypeValue::Opaque(_)) | None => {}
        }
    }
}
