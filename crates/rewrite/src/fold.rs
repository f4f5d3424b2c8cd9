//! Folding: what an instruction gives is known, or is a value that is there already.

use rustc_hash::FxHashSet;
use sapwood_ptir::eval::{FoldLimits, fold_inst_counted};
use sapwood_ptir::{AttrList, Function, InstId, TensorLiteral, ValueId, Values};
use smallvec::SmallVec;

use crate::ProgramRewriter;
use crate::rewriter::one_user;

/// What folding found out about an instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum FoldResult {
    /// Nothing.
    Nothing,
    /// What each result is.
    Results(SmallVec<[Folded; 1]>),
    /// The same instruction with other operands or attributes; regions and result types stay. If they do not fit,
    /// nothing happens.
    InPlace {
        /// All its operands.
        operands: Values,
        /// All its attributes, in the order of the op's table.
        attrs: AttrList,
    },
}

/// What one result is.
#[derive(Clone, PartialEq, Debug)]
pub enum Folded {
    /// A value that is there already.
    Value(ValueId),
    /// A constant.
    Constant(TensorLiteral),
}

/// The fold of an op.
pub type FoldFn = dyn Fn(InstId, &ProgramRewriter<'_>) -> FoldResult + Send + Sync;

/// What a constant may hold that takes the place of an instruction: about as much as the instruction took.
const FREE_ELEMENTS: u64 = 16;

/// Instructions with more in their regions are not evaluated.
const MOST_INSIDE: usize = 256;

/// All folds of a run together take this many operations per element that a constant may have, and as many for the
/// default limit if that is less.
const MOST_WORK: u64 = 1 << 12;

/// A fold that failed and took more operations than this is not tried again until something changes.
const DEAR: u64 = 1 << 12;

/// What the folds of a run cost.
#[derive(Default)]
pub(crate) struct FoldWork {
    spent: u64,
    // Those that cost much for nothing.
    dear: FxHashSet<InstId>,
    /// If something was not folded because all together took too much: how much they may.
    pub(crate) refused: Option<u64>,
}

impl FoldWork {
    /// An instruction changed: it may be cheaper now, and so may what reads it.
    pub(crate) fn changed(&mut self, f: &Function, inst: InstId) {
        if self.dear.is_empty() || !f.is_live(inst) {
            return;
        }
        self.dear.remove(&inst);
        if let Some(owner) = f.body_of(inst).and_then(|b| f.body_owner(b)) {
            self.dear.remove(&owner);
        }
        for value in f.inst_results(inst).filter(|&v| f.constant_of(v).is_some()) {
            for use_ in f.uses(value) {
                self.dear.remove(&use_.user);
            }
        }
    }

    fn fold(
        &mut self,
        f: &Function,
        inst: InstId,
        limits: &FoldLimits,
    ) -> Option<SmallVec<[TensorLiteral; 1]>> {
        if self.dear.contains(&inst) {
            return None;
        }
        let elements = limits.max_elements.max(FoldLimits::default().max_elements);
        let most = elements.saturating_mul(MOST_WORK);
        if self.spent >= most {
            self.refused = Some(most);
            return None;
        }
        let before = self.spent;
        let results = fold_inst_counted(f, inst, limits, &mut self.spent);
        if results.is_none() && self.spent - before > DEAR {
            self.dear.insert(inst);
        }
        results
    }
}

/// Evaluates a pure instruction whose operands are all constants. `None` if it cannot be, is too large, or would make
/// the program grow by more than goes away: constants that only this instruction uses, and itself. One element repeated
/// counts as one.
pub(crate) fn evaluate(
    f: &Function,
    inst: InstId,
    limits: &FoldLimits,
    work: &mut FoldWork,
) -> Option<SmallVec<[TensorLiteral; 1]>> {
    let regions = f.regions(inst);
    // What comes out of nothing, an iota say, is smaller than the constant it would become.
    if f.operands(inst).is_empty() && regions.is_empty() {
        return None;
    }
    // A change deeper inside would not be noticed here, and looking for one would cost the depth at every level.
    let mut inside = regions.iter().flat_map(|&b| f.walk_body(b));
    if !regions.is_empty()
        && (inside.by_ref().take(MOST_INSIDE).any(|i| !f.regions(i).is_empty())
            || inside.next().is_some())
    {
        return None;
    }
    let is_splat = |v: &ValueId| f.constant_of(*v).is_some_and(|c| c.as_splat().is_some());
    let mut known = None;
    if regions.is_empty() && f.operands(inst).iter().all(is_splat) {
        let results = work.fold(f, inst, limits)?;
        if results.iter().map(stored_elements).sum::<u64>() <= FREE_ELEMENTS {
            return Some(results);
        }
        known = Some(results);
    }
    let (mut freed, mut dense) = (FREE_ELEMENTS, false);
    for (n, &value) in f.operands(inst).iter().enumerate() {
        let size = stored_elements(f.constant_of(value)?);
        dense |= size > 1;
        if !f.operands(inst)[..n].contains(&value) && one_user(f, value) {
            freed = freed.saturating_add(size);
        }
    }
    let elements =
        |v: ValueId| f.value_type(v).as_tensor().and_then(sapwood_ptir::TensorType::num_elements);
    // Elements that differ seldom become equal ones; then it is not worth finding out.
    if dense && f.inst_results(inst).filter_map(elements).sum::<u64>() > freed {
        return None;
    }
    let results = match known {
        Some(results) => results,
        None => work.fold(f, inst, limits)?,
    };
    (results.iter().map(stored_elements).sum::<u64>() <= freed).then_some(results)
}

/// How many elements a literal keeps: one if they are all the same.
pub(crate) fn stored_elements(literal: &TensorLiteral) -> u64 {
    if literal.as_splat().is_some() { 1 } else { literal.num_elements() }
}
