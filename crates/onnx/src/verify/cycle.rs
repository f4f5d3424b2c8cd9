//! Cycles: of nodes in a graph, of functions that call one another.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Functions, Report, bytes, describe, text};
use crate::{Function, Model, Node};

/// Reports a cycle among nodes, if there is one.
pub(super) fn check_nodes(nodes: &[Node], report: &mut Report) {
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
    if let Some(cycle) = find(nodes.len(), next) {
        // Each node uses the one after it in the list.
        let names = list(cycle.iter().rev().map(|&position| describe(&nodes[position])));
        report.node_error(&nodes[cycle[0]], format!("nodes form a cycle: {names}"));
    }
}

/// Reports functions that call themselves, directly or through others.
pub(super) fn check_functions(model: &Model, functions: &Functions<'_>, report: &mut Report) {
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
                    bytes(node.domain.as_ref()),
                    bytes(node.op_type.as_ref()),
                    bytes(node.overload.as_ref()),
                );
                called
                    .extend(functions.get(&key).and_then(|&f| numbers.get(&std::ptr::from_ref(f))));
                let graphs = node.attribute.iter().flat_map(crate::Attribute::graphs);
                pending.extend(graphs.map(|graph| graph.node.as_slice()));
            }
        }
        called
    };
    if let Some(cycle) = find(model.functions.len(), next) {
        let name = |number: usize| format!("`{}`", text(model.functions[number].name.as_ref()));
        let names = list(cycle.iter().map(|&number| name(number)));
        let function = &model.functions[cycle[0]];
        report.error(
            &format!("function {}", name(cycle[0])),
            &function.wire,
            format!("functions call one another in a cycle: {names}"),
        );
    }
}

/// Shows a few names of a cycle.
fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let mut shown = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    shown
}

/// Returns the vertices of a cycle in a graph, each followed by a neighbour of it. Depth costs no stack.
fn find(count: usize, next: impl Fn(usize) -> Vec<usize>) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        OnPath,
        Done,
    }
    let mut marks = vec![Mark::New; count];
    for start in 0..count {
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        if marks[start] == Mark::New {
            marks[start] = Mark::OnPath;
            path.push((start, next(start)));
        }
        while let Some((vertex, neighbours)) = path.last_mut() {
            let Some(neighbour) = neighbours.pop() else {
                marks[*vertex] = Mark::Done;
                path.pop();
                continue;
            };
            match marks[neighbour] {
                Mark::New => {
                    marks[neighbour] = Mark::OnPath;
                    path.push((neighbour, next(neighbour)));
                }
                Mark::OnPath => {
                    let begin = path.iter().position(|(vertex, _)| *vertex == neighbour)?;
                    return Some(path[begin..].iter().map(|(vertex, _)| *vertex).collect());
                }
                Mark::Done => {}
            }
        }
    }
    None
}
