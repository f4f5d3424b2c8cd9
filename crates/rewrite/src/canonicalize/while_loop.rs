//! Canonicalizations of `while`.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::cost::{Amount, trip_count};
use sapwood_ptir::ops::While;
use sapwood_ptir::{
    BodyId, Effects, Function, InstId, Value, ValueDef, ValueId, ValueType, Values,
};

use super::carried_values::{invariant_carries, live_carries, narrowed_region};
use crate::pattern::{Rewrite, RootView, Roots};
use crate::rewriter::refines;

crate::patterns! { "while_loop":
    while_never benefit 3,
    while_once benefit 3,
    while_invariant benefit 2,
    while_twins,
    while_unused benefit 0,
    while_dims benefit 0,
}

/// A view of a `while` without a copy of its operands: there may be many, and it is visited whenever one of them changes.
struct WhileView {
    cond: BodyId,
    body: BodyId,
}

impl RootView for WhileView {
    fn roots() -> Roots {
        Roots::of::<While>()
    }

    fn read(function: &Function, inst: InstId) -> Option<Self> {
        let &[cond, body] = function.regions(inst) else { return None };
        Some(Self { cond, body })
    }
}

/// `while(x, cond, body) = x` if `cond` is false at once.
///
/// The condition is a constant, or a carried value whose initial value is one.
///
/// Floats: exact.
fn while_never(op: WhileView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let &[asked] = rw.yields(op.cond) else { return None };
    let inits = rw.function().operands(rw.root());
    let first = match rw.function().value_def(asked) {
        ValueDef::Param(of, n) if of == op.cond => inits[n],
        _ => asked,
    };
    (rw.is_zero(first) && !rw.is_ordered(rw.root())).then(|| inits.iter().copied().collect())
}

// Returns true if the initial value has the type of both parameters: those of `cond` and `body` may have fewer known dims.
fn init_fits_params(cond: BodyId, body: BodyId, n: usize, rw: &Rewrite<'_>) -> bool {
    let f = rw.function();
    let ty = f.type_id(f.operands(rw.root())[n]);
    f.type_id(rw.params(cond)[n]) == ty && f.type_id(rw.params(body)[n]) == ty
}

/// `while(x, cond, body) = body(x)` for one step, inlined.
///
/// The loop counts from one constant to another.
///
/// Floats: exact.
fn while_once(op: WhileView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let (f, root) = (rw.function(), rw.root());
    if trip_count(f, root) != Amount::Known(1) || rw.is_ordered(root) {
        return None;
    }
    let inits: Values = f.operands(root).iter().copied().collect();
    let fits = (0..inits.len()).all(|n| init_fits_params(op.cond, op.body, n, rw));
    if fits { rw.inline(op.body, &inits) } else { None }
}

/// `while(x, …)` with a body that yields the carried `x` itself uses `x` from outside and returns it.
///
/// Carried values with the same initial value may be swapped. The loop carries `x` until `while_unused` removes it.
///
/// Floats: exact.
fn while_invariant(op: WhileView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let (asks, takes) = (rw.params(op.cond), rw.params(op.body));
    let (f, root) = (rw.function(), rw.root());
    let inits = f.operands(root);
    let same = |v: Value, n: usize| f.type_id(v) == f.type_id(inits[n]);
    let may_remove =
        |n| init_fits_params(op.cond, op.body, n, rw) && rw.result(n).is_some_and(|r| same(r, n));
    let stay = invariant_carries(rw, op.body, inits, may_remove);
    let pairs = stay.into_iter().flat_map(|n| {
        let carried = [Some(asks[n]), Some(takes[n]), f.result(root, n)];
        carried.into_iter().flatten().map(move |v| (v, inits[n]))
    });
    rw.forward(pairs)
}

/// The number of carried values that are compared with each other.
const MAX_TWIN_CARRIES: usize = 32;

/// `while(x, x, …)` uses one carried value in place of two that have the same initial value and are computed alike.
///
/// The new values are equal, or results of one op whose operands are the carried values themselves or equal. The loop carries both until
/// `while_unused` removes one.
///
/// Floats: exact.
fn while_twins(op: WhileView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let (f, root) = (rw.function(), rw.root());
    let (inits, asks, takes) = (f.operands(root), rw.params(op.cond), rw.params(op.body));
    let yields = rw.yields(op.body);
    if inits.len() > MAX_TWIN_CARRIES {
        return None;
    }
    let same_type = |a: Option<Value>, b: Option<Value>| {
        a.zip(b).is_some_and(|(a, b)| f.type_id(a) == f.type_id(b))
    };
    let computed_alike = |a: usize, b: usize| {
        let equal = |x: Value, y: Value| x == y || (x, y) == (takes[a], takes[b]);
        if equal(yields[a], yields[b]) {
            return true;
        }
        let (Some(x), Some(y)) = (f.inst_of(yields[a]), f.inst_of(yields[b])) else { return false };
        f.op_key(x) == f.op_key(y)
            && f.attr_id(x) == f.attr_id(y)
            && f.own_effects(x) == Effects::Pure
            && !f.has_regions(x)
            && f.inst_results(x).len() == 1
            && f.operands(x).len() == f.operands(y).len()
            && f.operands(x).iter().zip(f.operands(y)).all(|(&x, &y)| equal(x, y))
            && f.type_id(yields[a]) == f.type_id(yields[b])
    };
    let are_twins = |a: usize, b: usize| {
        inits[a] == inits[b]
            && f.type_id(asks[a]) == f.type_id(asks[b])
            && f.type_id(takes[a]) == f.type_id(takes[b])
            && same_type(f.result(root, a), f.result(root, b))
            && computed_alike(a, b)
    };
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    for n in 1..inits.len() {
        let Some(first) = (0..n).find(|&first| are_twins(first, n)) else { continue };
        pairs.extend([(asks[n], asks[first]), (takes[n], takes[first])]);
        pairs.extend(f.result(root, n).zip(f.result(root, first)));
    }
    rw.forward(pairs)
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
        (0..live.len()).map(|n| !live[n] && init_fits_params(op.cond, op.body, n, rw)).collect();
    if !leaves.contains(&true) {
        return None;
    }
    let params: Vec<(usize, Value)> =
        (0..leaves.len()).filter(|&n| leaves[n]).map(|n| (n, op.inits[n])).collect();
    let gone: Vec<usize> = params.iter().map(|&(n, _)| n).collect();
    let regions =
        [narrowed_region(op.cond, &params, &[]), narrowed_region(op.body, &params, &gone)];
    let inits = (0..leaves.len()).filter(|&n| !leaves[n]).map(|n| op.inits[n]).collect();
    let left = rw.emit_with_regions(While { inits, ..op }, &regions)?;
    let mut left = left.into_iter();
    (0..leaves.len()).map(|n| if leaves[n] { Some(results[n]) } else { left.next() }).collect()
}

/// `while(x : t, …)` carries `x` as `t` if its parameters have fewer known dims than `t`, and the body keeps the dims of `t`.
///
/// Floats: exact.
fn while_dims(op: WhileView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let (inits, params) = (f.operands(rw.root()), rw.params(op.body));
    let wanted = |n: usize| {
        let (init, param) = (f.value_type(inits[n]), f.value_type(params[n]));
        (init != param && refines(init, param)).then(|| (n, init.clone()))
    };
    let mut wanted: Vec<(usize, ValueType)> = (0..params.len()).filter_map(wanted).collect();
    let next = rw.yields(op.body);
    while !wanted.is_empty() {
        // The types of the body if the carried values had the wanted types.
        let mut types: HashMap<ValueId, ValueType, FxBuildHasher> = HashMap::default();
        types.extend(wanted.iter().map(|(n, ty)| (params[*n], ty.clone())));
        for inst in f.body_insts(op.body) {
            if !f.operands(inst).iter().any(|v| types.contains_key(v)) {
                continue;
            }
            let parts = f.parts_of(inst);
            let type_of = |v: ValueId| Some(types.get(&v).unwrap_or_else(|| f.value_type(v)));
            let Ok(found) = f.infer_parts(&parts, type_of, |b| Some(f.region_signature(b))) else {
                continue;
            };
            types.extend(f.inst_results(inst).zip(found));
        }
        let kept = |(n, ty): &(usize, ValueType)| {
            let found = types.get(&next[*n]).unwrap_or_else(|| f.value_type(next[*n]));
            refines(found, ty)
        };
        let before = wanted.len();
        wanted.retain(kept);
        if wanted.len() == before {
            break;
        }
    }
    let asks = rw.params(op.cond);
    let both = wanted.into_iter().flat_map(|(n, ty)| [(params[n], ty.clone()), (asks[n], ty)]);
    rw.narrow(both.collect())
}
