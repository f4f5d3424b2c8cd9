//! Who calls whom.

use crate::nodes::{Expr, ExprRef, Function, FunctionRef, Program};

type Indices<'p> = hashbrown::HashMap<&'p str, usize, rustc_hash::FxBuildHasher>;

/// The functions that a function calls, each once, in the order of the text.
fn callees(function: &Function, indices: &Indices<'_>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut known = super::Set::default();
    let mut seen = super::Set::default();
    let mut todo: Vec<&ExprRef> = Vec::new();
    super::each_stmt(&function.body, |stmt| {
        todo.extend(stmt.expressions());
        while let Some(expr) = todo.pop() {
            if expr.operands().len() > 0
                && expr.node().owners() > 1
                && !seen.insert(expr.node().id())
            {
                continue;
            }
            if let Expr::Call { callee, .. } = &**expr
                && callee.is_global()
                && let Some(&index) = indices.get(callee.name())
                && known.insert(index)
            {
                found.push(index);
            }
            todo.extend(expr.operands());
        }
    });
    found
}

/// How far the search for cycles has come with a function.
#[derive(Clone, Copy)]
struct Place {
    /// When it was met, and the earliest that it leads back to.
    met: usize,
    low: usize,
    /// Whether its cycle is still open.
    open: bool,
}

/// The functions, callees before their callers where that can be, and whether each leads back to
/// itself.
pub(super) fn callees_first(program: &Program) -> Vec<(FunctionRef, bool)> {
    let functions: Vec<&FunctionRef> = program.functions().collect();
    let indices: Indices<'_> =
        functions.iter().enumerate().map(|(index, function)| (&*function.name, index)).collect();
    let graph: Vec<Vec<usize>> =
        functions.iter().map(|function| callees(function, &indices)).collect();
    let mut places: Vec<Option<Place>> = vec![None; functions.len()];
    let (mut met, mut open, mut out) = (0, Vec::new(), Vec::new());
    for root in 0..functions.len() {
        if places[root].is_some() {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some(&mut (at, ref mut next)) = path.last_mut() {
            let place = places[at].get_or_insert_with(|| {
                met += 1;
                open.push(at);
                Place { met, low: met, open: true }
            });
            let Some(&callee) = graph[at].get(*next) else {
                let Place { met, low, .. } = *place;
                path.pop();
                if let Some(&(caller, _)) = path.last() {
                    lower(&mut places[caller], low);
                }
                if low == met {
                    close(at, &mut open, &mut places, |index, alone| {
                        let in_cycle = !alone || graph[index].contains(&index);
                        out.push((functions[index].clone(), in_cycle));
                    });
                }
                continue;
            };
            *next += 1;
            match places[callee] {
                None => path.push((callee, 0)),
                Some(other) if other.open => lower(&mut places[at], other.met),
                Some(_) => {}
            }
        }
    }
    out
}

fn lower(place: &mut Option<Place>, to: usize) {
    if let Some(place) = place {
        place.low = place.low.min(to);
    }
}

/// Ends the cycle that was entered at a function; `f` is told each of its functions, and whether it
/// is the only one.
fn close(
    first: usize,
    open: &mut Vec<usize>,
    places: &mut [Option<Place>],
    mut f: impl FnMut(usize, bool),
) {
    let start = open.iter().rposition(|&index| index == first).unwrap_or(0);
    let cycle = open.split_off(start);
    for &index in cycle.iter().rev() {
        if let Some(place) = &mut places[index] {
            place.open = false;
        }
        f(index, cycle.len() == 1);
    }
}
