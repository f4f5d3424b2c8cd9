//! Canonicalizations of `cond` and `case`.

use sapwood_ptir::ops::{Case, Cast, Cond, Constant, Not, Select};
use sapwood_ptir::{BodyId, Function, Op, Value, ValueDef, Values};

use super::carried_values::narrowed_region;
use super::tensor_views::int_element_at;
use crate::pattern::{OpRef, Rewrite};

/// Branches with more instructions than this are not examined for being only constants.
const MAX_BRANCH_INSTS: usize = 16;

crate::patterns! { "branch":
    branch_known on [Cond, Case] benefit 3,
    branch_in_branch on [Cond, Case] benefit 3,
    select_in_branch,
    branch_of_same on [Cond, Case],
    branch_unused on [Cond, Case] benefit 0,
    cond_as_select,
    cond_of_not,
    case_of_bool when 0 in [Cast],
}

/// `cond(true, f, g) = f`, `cond(false, f, g) = g`, and `case(n, f, g, …)` is its branch `n`, counted from 0.
///
/// The branch is inlined. A `case` with one branch always takes it; an `n` out of range takes the last one.
///
/// Floats: exact.
fn branch_known(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let regions = f.regions(op.root);
    let &asked = f.operands(op.root).first()?;
    let last = regions.len().checked_sub(1)?;
    let chosen = match f.is::<Cond>(op.root) {
        _ if last == 0 => 0,
        true if rw.is_one(asked) => 0,
        true if rw.is_zero(asked) => 1,
        true => return None,
        false => {
            let index = int_element_at(&rw.constant_of(asked)?, 0)?;
            usize::try_from(index).map_or(last, |n| n.min(last))
        }
    };
    rw.inline(*regions.get(chosen)?, &[])
}

/// The number of enclosing instructions among which a branch on the same condition is looked for.
const MAX_ENCLOSING: usize = 8;

/// `cond(p, f, g) = f` inside a branch that is taken if `p` is true, and `g` inside one that is taken if it is false; also for `case`.
///
/// Floats: exact.
fn branch_in_branch(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let regions = f.regions(op.root);
    let &asked = f.operands(op.root).first()?;
    let last = regions.len().checked_sub(1)?;
    let mut body = f.body_of(op.root)?;
    for _ in 0..MAX_ENCLOSING {
        let owner = f.body_owner(body)?;
        if f.op_key(owner) == f.op_key(op.root) && f.operands(owner).first() == Some(&asked) {
            let around = f.regions(owner);
            let taken = around.iter().position(|&region| region == body)?;
            // The last branch of a `case` is taken for all other indices, too.
            let is_known = taken + 1 < around.len() || last < around.len();
            return rw.inline(*regions.get(taken.min(last)).filter(|_| is_known)?, &[]);
        }
        body = f.body_of(owner)?;
    }
    None
}

/// `select(p, x, y) = x` inside of a branch that is taken if `p` is true, and `y` inside of one that is taken if it is false.
///
/// Floats: exact.
fn select_in_branch(op: Select, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let mut body = f.body_of(rw.root())?;
    for _ in 0..MAX_ENCLOSING {
        let owner = f.body_owner(body)?;
        if let Some(cond) = f.view::<Cond>(owner).filter(|cond| cond.pred == op.pred) {
            return Some(if cond.then == body { op.on_true } else { op.on_false });
        }
        body = f.body_of(owner)?;
    }
    None
}

/// `cond(p, yield x, yield x) = x` for `x` from outside; also for `case`, and for one of several results.
///
/// Floats: exact.
fn branch_of_same(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let regions = f.regions(op.root);
    let first = rw.yields(*regions.first()?);
    let same = |n: usize| {
        let value = first[n];
        regions.iter().all(|&b| f.body_results(b)[n] == value)
            && f.is_available_to(value, op.root)
            && f.result(op.root, n).is_some_and(|r| f.type_id(r) == f.type_id(value))
    };
    let results = f.inst_results(op.root).zip(first).enumerate();
    rw.forward(results.filter(|&(n, _)| same(n)).map(|(_, (result, &value))| (result, value)))
}

/// `cond(p, yield x and y, …) = cond(p, yield x, …)` if the result for `y` is unused; also for `case`.
///
/// Floats: exact.
fn branch_unused(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let results: Values = f.inst_results(op.root).collect();
    let gone: Vec<usize> = (0..results.len()).filter(|&n| rw.unused(results[n])).collect();
    if gone.is_empty() {
        return None;
    }
    let regions: Vec<_> =
        f.regions(op.root).iter().map(|&b| narrowed_region(b, &[], &gone)).collect();
    let left = match f.view::<Cond>(op.root) {
        Some(cond) => rw.emit_with_regions(cond, &regions),
        None => rw.emit_with_regions(f.view::<Case>(op.root)?, &regions),
    };
    let mut left = left?.into_iter();
    results.iter().map(|&r| if rw.unused(r) { Some(r) } else { left.next() }).collect()
}

// Returns true if a region computes nothing.
fn only_yields(f: &Function, body: BodyId) -> bool {
    let insts = f.body_insts(body).take(MAX_BRANCH_INSTS + 2);
    let plain = |i| Some(i) == f.terminator(body) || f.op_key(i) == Constant::key();
    insts.clone().count() <= MAX_BRANCH_INSTS + 1 && insts.into_iter().all(plain)
}

/// `cond(p, yield x, yield y) = select(p, x, y)` if the branches compute nothing.
///
/// The dims of `x` and `y` must certainly be equal: `select` requires that, `cond` does not.
///
/// Cost: one selection per element instead of a branch.
///
/// Floats: exact.
fn cond_as_select(op: Cond, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    if !only_yields(f, op.then) || !only_yields(f, op.otherwise) {
        return None;
    }
    let tensors = rw.yields(op.then).iter().chain(rw.yields(op.otherwise));
    if tensors.clone().next().is_none() || !tensors.clone().all(|&v| rw.tensor(v).is_some()) {
        return None;
    }
    let mut pairs = rw.yields(op.then).iter().zip(rw.yields(op.otherwise));
    if !pairs.all(|(&x, &y)| rw.same_type(x, y)) {
        return None;
    }
    let (on_true, on_false) = (rw.inline(op.then, &[])?, rw.inline(op.otherwise, &[])?);
    let mut values = Values::new();
    for (&on_true, &on_false) in on_true.iter().zip(&on_false) {
        values.push(rw.emit(Select { pred: op.pred, on_true, on_false })?);
    }
    Some(values)
}

/// `cond(not p, f, g) = cond(p, g, f)`.
///
/// Floats: exact.
fn cond_of_not(op: Cond, rw: &mut Rewrite<'_>) -> Option<Values> {
    let inner = rw.def::<Not>(op.pred)?;
    rw.emit_many(Cond { pred: inner.input, then: op.otherwise, otherwise: op.then })
}

/// `case(cast(p), f, g) = cond(p, g, f)` for a bool `p`.
///
/// Further branches are never taken.
///
/// Floats: exact.
fn case_of_bool(op: Case, rw: &mut Rewrite<'_>) -> Option<Values> {
    let cast = rw.def::<Cast>(op.index)?;
    let &[otherwise, then, ..] = &op.branches[..] else { return None };
    if !rw.dtype(cast.input)?.is_bool() {
        return None;
    }
    rw.emit_many(Cond { pred: cast.input, then, otherwise })
}

/// Returns true if a value comes from outside a body that the root owns.
pub(super) fn is_outside(f: &Function, body: BodyId, value: Value) -> bool {
    match f.value_def(value) {
        ValueDef::Param(of, _) => of != body,
        ValueDef::Result(inst, _) => f.body_of(inst) != Some(body),
    }
}
