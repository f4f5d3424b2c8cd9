//! Canonicalizations of `while`.

use sapwood_ptir::ops::While;
use sapwood_ptir::{Value, ValueDef, Values};

use super::carries::{invariant_carries, live_carries, narrowed};
use crate::pattern::Rewrite;

crate::patterns! { "while_loop":
    while_never benefit 3,
    while_invariant benefit 2,
    while_unused benefit 0,
}

/// `while(x, cond, body) = x` if `cond` is false at once.
///
/// It is a constant, or a carried value that starts as one.
///
/// Floats: exact.
fn while_never(op: While, rw: &mut Rewrite<'_>) -> Option<Values> {
    let &[asked] = rw.yields(op.cond) else { return None };
    let first = match rw.function().value_def(asked) {
        ValueDef::Param(of, n) if of == op.cond => op.inits[n],
        _ => asked,
    };
    (rw.is_zero(first) && !rw.is_ordered(rw.root())).then_some(op.inits)
}

// Whether the initial value can stand for both parameters: those of `cond` and of `body` may know less of their dims.
fn stands_for_params(op: &While, n: usize, rw: &Rewrite<'_>) -> bool {
    let f = rw.function();
    let ty = f.type_id(op.inits[n]);
    f.type_id(rw.params(op.cond)[n]) == ty && f.type_id(rw.params(op.body)[n]) == ty
}

/// `while(x, …)` with a body that yields the carried `x` itself uses `x` from outside and gives it.
///
/// Carried values that start the same may change places. The loop carries `x` until `while_unused` comes.
///
/// Floats: exact.
fn while_invariant(op: While, rw: &mut Rewrite<'_>) -> Option<Values> {
    let (asks, takes) = (rw.params(op.cond), rw.params(op.body));
    let f = rw.function();
    let results = f.inst_results(rw.root());
    let same = |v: Value, n: usize| f.type_id(v) == f.type_id(op.inits[n]);
    let may_go = |n| stands_for_params(&op, n, rw) && rw.result(n).is_some_and(|r| same(r, n));
    let stays = invariant_carries(rw, op.body, &op.inits, may_go);
    let all = asks.iter().zip(takes).zip(results).zip(&op.inits).zip(stays);
    let all = all.filter(|(_, stays)| *stays);
    rw.forward(all.flat_map(|((((&a, &b), c), &init), _)| [a, b, c].map(|v| (v, init))))
}

/// `while(x, y, …)` does not carry `y` if its result is not used and nothing else depends on it.
///
/// Floats: exact.
fn while_unused(op: While, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let results: Values = f.inst_results(rw.root()).collect();
    let asks = rw.params(op.cond);
    let wanted: Vec<bool> =
        (0..results.len()).map(|n| !rw.unused(results[n]) || !rw.unused(asks[n])).collect();
    if !wanted.contains(&false) {
        return None;
    }
    let live = live_carries(rw, op.body, wanted.len(), &wanted);
    let leaves: Vec<bool> =
        (0..live.len()).map(|n| !live[n] && stands_for_params(&op, n, rw)).collect();
    if !leaves.contains(&true) {
        return None;
    }
    let params: Vec<(usize, Value)> =
        (0..leaves.len()).filter(|&n| leaves[n]).map(|n| (n, op.inits[n])).collect();
    let gone: Vec<usize> = params.iter().map(|&(n, _)| n).collect();
    let regions = [narrowed(op.cond, &params, &[]), narrowed(op.body, &params, &gone)];
    let inits = (0..leaves.len()).filter(|&n| !leaves[n]).map(|n| op.inits[n]).collect();
    let left = rw.emit_with_regions(While { inits, ..op }, &regions)?;
    let mut left = left.into_iter();
    (0..leaves.len()).map(|n| if leaves[n] { Some(results[n]) } else { left.next() }).collect()
}
