//! Detection of cycles: of nodes in a graph, of functions that call one another.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{FunctionTable, VerifyReport, bytes_or_empty, describe_node, str_or_empty};
use crate::{Function, Model, Node};

/// Reports a cycle among nodes, if there is one.
pub(super) fn check_nodes(nodes: &[Node], report: &mut VerifyReport) {
    let mut definitions: HashMap<&[u8], usize, FxBuildHasher> = HashMap::default();
    for (position, node) in nodes.iter().enumerate() {
        for output in node.output.iter().filter(|name| !name.is_empty()) {
            definitions.insert(output.bytes(), position);
        }
    }
    let next = |position: usize| -> Vec<usize> {
        let inputs = nodes[position].input.iter();
        inputs.filter_map(|name| definitions.get(&name.bytes()[..]).copied()).collect()
    };
    if let Some(cycle) = find_cycle(nodes.len(), next) {
        // Each node uses the one after it in the list.
        let names = join_names(cycle.iter().rev().map(|&position| describe_node(&nodes[position])));
        report.node_error(&nodes[cycle[0]], format!("nodes form a cycle: {names}"));
    }
}

/// Reports functions that call themselves, directly or through others.
pub(super) fn check_functions(
    model: &Model,
    functions: &FunctionTable<'_>,
    report: &mut VerifyReport,
) {
    let mut numbers: HashMap<*const Function, usize, FxBuildHasher> = HashMap::default();
    for (number, function) in model.functions.iter().enumerate() {
        numbers.insert(function, number);
    }
    let next = |number: usize| -> Vec<usize> {
        let mut called = Vec::new();
        let mut pending = vec![model.functions[number].node.as_slice()];
        while let Some(nodes) = pending.pop() {
            for node in nodes {
                let key = (
                    bytes_or_empty(node.domain.as_ref()),
                    bytes_or_empty(node.op_type.as_ref()),
                    bytes_or_empty(node.overload.as_ref()),
                );
                called
                    .extend(functions.get(&key).and_then(|&f| numbers.get(&std::ptr::from_ref(f))));
                let graphs = node.attribute.iter().flat_map(crate::Attribute::graphs);
                pending.extend(graphs.map(|graph| graph.node.as_slice()));
            }
        }
        called
    };
    if let Some(cycle) = find_cycle(model.functions.len(), next) {
        let name =
            |number: usize| format!("`{}`", str_or_empty(model.functions[number].name.as_ref()));
        let names = join_names(cycle.iter().map(|&number| name(number)));
        let function = &model.functions[cycle[0]];
        report.error(
            &format!("function {}", name(cycle[0])),
            &function.wire,
            format!("functions call one another in a cycle: {names}"),
        );
    }
}

/// Joins the first names of a cycle for a message.
fn join_names(names: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let mut shown = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    shown
}

/// Returns the vertices of a cycle in a graph, each followed by one of its neighbours. Uses no recursion.
fn find_cycle(count: usize, next: impl Fn(usize) -> Vec<usize>) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        New,
        OnPath,
        Done,
    }
    let mut marks = vec![VisitState::New; count];
    for start in 0..count {
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        if marks[start] == VisitState::New {
            marks[start] = VisitState::OnPath;
            path.push((start, next(start)));
        }
        while let Some((vertex, neighbours)) = path.last_mut() {
            let Some(neighbour) = neighbours.pop() else {
                marks[*vertex] = VisitState::Done;
                path.pop();
                continue;
            };
            match marks[neighbour] {
                VisitState::New => {
                    marks[neighbour] = VisitState::OnPath;
                    path.push((neighbour, next(neighbour)));
                }
                VisitState::OnPath => {
                    let begin = path.iter().position(|(vertex, _)| *vertex == neighbour)?;
                    return Some(path[begin..].iter().map(|(vertex, _)| *vertex).collect());
                }
                VisitState::Done => {}
            }
        }
    }
    None
}
