//! The call graph of a program.

use crate::nodes::{Expr, ExprRef, Function, FunctionRef, Program};

/// The indices of the functions by name.
type FunctionIndices<'p> = hashbrown::HashMap<&'p str, usize, rustc_hash::FxBuildHasher>;

/// Returns the functions that a function calls, each once, in source order.
fn called_functions(function: &Function, indices: &FunctionIndices<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut listed = super::IdSet::default();
    let mut seen = super::IdSet::default();
    let mut worklist: Vec<&ExprRef> = Vec::new();
    super::for_each_stmt(&function.body, |stmt| {
        worklist.extend(stmt.expressions());
        while let Some(expr) = worklist.pop() {
            if expr.operands().len() > 0
                && expr.node().owners() > 1
                && !seen.insert(expr.node().id())
            {
                continue;
            }
            if let Expr::Call { callee, .. } = &**expr
                && callee.is_global()
                && let Some(&index) = indices.get(callee.name())
                && listed.insert(index)
            {
                found.push(index);
            }
            worklist.extend(expr.operands());
        }
    });
    found
}

/// The state of a function in Tarjan's search for strongly connected components.
#[derive(Clone, Copy)]
struct SearchState {
    /// The order of discovery, and the smallest one that is reachable.
    index: usize,
    low: usize,
    /// True while the component of the function is incomplete.
    on_stack: bool,
}

/// Returns the functions with callees before their callers where possible, and whether each can reach itself.
pub(super) fn callees_first(program: &Program) -> Vec<(FunctionRef, bool)> {
    let functions: Vec<&FunctionRef> = program.functions().collect();
    let indices: FunctionIndices<'_> =
        functions.iter().enumerate().map(|(index, function)| (&*function.name, index)).collect();
    let graph: Vec<Vec<usize>> =
        functions.iter().map(|function| called_functions(function, &indices)).collect();
    let mut states: Vec<Option<SearchState>> = vec![None; functions.len()];
    let (mut index, mut open, mut out) = (0, Vec::new(), Vec::new());
    for root in 0..functions.len() {
        if states[root].is_some() {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some(&mut (at, ref mut next)) = path.last_mut() {
            let state = states[at].get_or_insert_with(|| {
                index += 1;
                open.push(at);
                SearchState { index, low: index, on_stack: true }
            });
            let Some(&callee) = graph[at].get(*next) else {
                let SearchState { index, low, .. } = *state;
                path.pop();
                if let Some(&(caller, _)) = path.last() {
                    update_low(&mut states[caller], low);
                }
                if low == index {
                    pop_component(at, &mut open, &mut states, |index, alone| {
                        let in_cycle = !alone || graph[index].contains(&index);
                        out.push((functions[index].clone(), in_cycle));
                    });
                }
                continue;
            };
            *next += 1;
            match states[callee] {
                None => path.push((callee, 0)),
                Some(other) if other.on_stack => update_low(&mut states[at], other.index),
                Some(_) => {}
            }
        }
    }
    out
}

fn update_low(state: &mut Option<SearchState>, to: usize) {
    if let Some(state) = state {
        state.low = state.low.min(to);
    }
}

/// Pops the component that starts at `first`; calls `f` with each of its functions and whether it is the only one.
fn pop_component(
    first: usize,
    open: &mut Vec<usize>,
    states: &mut [Option<SearchState>],
    mut f: impl FnMut(usize, bool),
) {
    let start = open.iter().rposition(|&index| index == first).unwrap_or(0);
    let cycle = open.split_off(start);
    for &index in cycle.iter().rev() {
        if let Some(state) = &mut states[index] {
            state.on_stack = false;
        }
        f(index, cycle.len() == 1);
    }
}
