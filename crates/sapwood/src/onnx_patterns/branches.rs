//! Patterns on `If`, one branch of which is taken.

use sapwood_ptir::ops::Refine;
use sapwood_ptir::{InstId, ResultType, Value, Values};
use sapwood_rewrite::{OpRef, Rewrite};

use super::is_kept;

/// `If(true, f, g) = f`, `If(false, f, g) = g`: the branch is inlined.
///
/// Floats: exact.
pub(super) fn if_known(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    let &condition = rw.function().operands(op.root).first()?;
    let is_true = rw.is_one(condition);
    if !is_true && !rw.is_zero(condition) {
        return None;
    }
    // Regions are in the order of attribute names: `else_branch`, `then_branch`.
    inline_branch(op.root, usize::from(is_true), rw)
}

/// `If(c, f, g) = f` if `g` yields a value of another rank than the result has: the branch is inlined.
///
/// The reader of models finds such ranks: of a value with two possible ranks, one can make every later node fail.
///
/// Floats: exact.
pub(super) fn if_of_one_rank(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let &[otherwise, then] = f.regions(op.root) else { return None };
    let results: Vec<Value> = f.inst_results(op.root).collect();
    let chosen = results.iter().enumerate().find_map(|(i, &result)| {
        let rank = rw.rank(result)?;
        let rank_of = |branch| rw.rank(*rw.yields(branch).get(i)?);
        match (rank_of(otherwise)? == rank, rank_of(then)? == rank) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    })?;
    inline_branch(op.root, chosen, rw)
}

// Inlines a branch of an `If`.
fn inline_branch(inst: InstId, chosen: usize, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    if is_kept(f, inst) {
        return None;
    }
    let results: Vec<Value> = f.inst_results(inst).collect();
    let &branch = f.regions(inst).get(chosen)?;
    // A value of unknown rank can only be replaced by another.
    let fits = |(&value, &result): (&Value, &Value)| {
        rw.tensor(result).is_some() || rw.ty(value) == rw.ty(result)
    };
    if !rw.yields(branch).iter().zip(&results).all(fits) {
        return None;
    }
    let values = rw.inline(branch, &[])?;
    // The type of the result may know less than that of the branch, or name other symbols.
    let refined = values.iter().zip(&results).map(|(&value, &result)| {
        let ty = f.value_type(result).clone();
        match rw.ty(value) == Some(&ty) {
            true => Some(value),
            false => rw.emit(Refine { input: value, ty: ResultType(ty) }),
        }
    });
    refined.collect()
}
