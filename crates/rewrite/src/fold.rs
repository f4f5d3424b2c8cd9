//! Folding: replaces instructions whose results are constants or values that exist already.

use rustc_hash::FxHashSet;
use sapwood_ptir::eval::{FoldLimits, fold_inst_counted};
use sapwood_ptir::{AttrList, Function, InstId, TensorLiteral, ValueId, Values};
use smallvec::SmallVec;

use crate::ProgramRewriter;
use crate::rewriter::one_user;

/// The result of folding one instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum FoldResult {
    /// The instruction does not fold.
    Nothing,
    /// A replacement for each result.
    Results(SmallVec<[Folded; 1]>),
    /// Other operands or attributes for the instruction; regions and result types stay. If they do not fit, nothing happens, and the
    /// run has a warning.
    InPlace {
        /// All operands of the instruction.
        operands: Values,
        /// All attributes of the instruction, in the order of the op's table.
        attrs: AttrList,
    },
}

/// The replacement for one result.
#[derive(Clone, PartialEq, Debug)]
pub enum Folded {
    /// A value that exists already.
    Value(ValueId),
    /// A constant.
    Constant(TensorLiteral),
}

/// A fold function of an op.
pub(crate) type FoldFn = dyn Fn(InstId, &ProgramRewriter<'_>) -> FoldResult + Send + Sync;

/// The number of elements a constant may have to replace an instruction of any kind: it takes about as much memory.
const MAX_FREE_ELEMENTS: u64 = 16;

/// Instructions with more instructions in their regions are not evaluated.
const MAX_REGION_INSTS: usize = 256;

/// The number of operations that all folds of a run may take, per element of the largest constant allowed (or of the default
/// limit, if that is larger).
const MAX_OPERATIONS_PER_ELEMENT: u64 = 1 << 12;

/// A fold that failed after more operations than this is not tried again until something changes.
const EXPENSIVE_FAILURE: u64 = 1 << 12;

/// The cost of the folds of a run so far, and the folds that are too expensive to retry.
#[derive(Default)]
pub(crate) struct FoldCost {
    operations: u64,
    // Instructions whose fold failed after many operations.
    expensive_failures: FxHashSet<InstId>,
    /// The limit on operations, if an instruction was not folded because of it.
    pub(crate) limit_reached: Option<u64>,
}

impl FoldCost {
    /// Allows a retry after an instruction changed: folding it, its owner or its users may be cheaper now.
    pub(crate) fn allow_retry(&mut self, f: &Function, inst: InstId) {
        if self.expensive_failures.is_empty() || !f.is_live(inst) {
            return;
        }
        self.expensive_failures.remove(&inst);
        if let Some(owner) = f.body_of(inst).and_then(|b| f.body_owner(b)) {
            self.expensive_failures.remove(&owner);
        }
        for value in f.inst_results(inst).filter(|&v| f.constant_of(v).is_some()) {
            for use_ in f.uses(value) {
                self.expensive_failures.remove(&use_.user);
            }
        }
    }

    fn fold_within_limits(
        &mut self,
        f: &Function,
        inst: InstId,
        limits: &FoldLimits,
    ) -> Option<SmallVec<[TensorLiteral; 1]>> {
        if self.expensive_failures.contains(&inst) {
            return None;
        }
        let elements = limits.max_elements.max(FoldLimits::default().max_elements);
        let most = elements.saturating_mul(MAX_OPERATIONS_PER_ELEMENT);
        if self.operations >= most {
            self.limit_reached = Some(most);
            return None;
        }
        let before = self.operations;
        let results = fold_inst_counted(f, inst, limits, &mut self.operations);
        if results.is_none() && self.operations - before > EXPENSIVE_FAILURE {
            self.expensive_failures.insert(inst);
        }
        results
    }
}

/// Evaluates a pure instruction whose operands are all constants. Returns `None` if it cannot be evaluated, is too large,
/// or would make the program grow. The program shrinks by the instruction and by the constants that only it uses. A
/// splat counts as one element.
pub(crate) fn fold_to_literals(
    f: &Function,
    inst: InstId,
    limits: &FoldLimits,
    cost: &mut FoldCost,
) -> Option<SmallVec<[TensorLiteral; 1]>> {
    let regions = f.regions(inst);
    // An instruction without operands, such as an iota, is smaller than the constant it would become.
    if f.operands(inst).is_empty() && regions.is_empty() {
        return None;
    }
    // A change deeper inside would not be noticed here, and looking for one would cost the depth at every level.
    let mut inside = regions.iter().flat_map(|&b| f.walk_body(b));
    if !regions.is_empty()
        && (inside.by_ref().take(MAX_REGION_INSTS).any(|i| !f.regions(i).is_empty())
            || inside.next().is_some())
    {
        return None;
    }
    let is_splat = |v: &ValueId| f.constant_of(*v).is_some_and(|c| c.as_splat().is_some());
    let mut known = None;
    if regions.is_empty() && f.operands(inst).iter().all(is_splat) {
        let results = cost.fold_within_limits(f, inst, limits)?;
        if results.iter().map(stored_elements).sum::<u64>() <= MAX_FREE_ELEMENTS {
            return Some(results);
        }
        known = Some(results);
    }
    let (mut freed, mut dense) = (MAX_FREE_ELEMENTS, false);
    for (n, &value) in f.operands(inst).iter().enumerate() {
        let size = stored_elements(f.constant_of(value)?);
        dense |= size > 1;
        if !f.operands(inst)[..n].contains(&value) && one_user(f, value) {
            freed = freed.saturating_add(size);
        }
    }
    let elements =
        |v: ValueId| f.value_type(v).as_tensor().and_then(sapwood_ptir::TensorType::num_elements);
    // Elements that differ seldom become equal, so the result is most likely as large as its type.
    if dense && f.inst_results(inst).filter_map(elements).sum::<u64>() > freed {
        return None;
    }
    let results = match known {
        Some(results) => results,
        None => cost.fold_within_limits(f, inst, limits)?,
    };
    (results.iter().map(stored_elements).sum::<u64>() <= freed).then_some(results)
}

/// Returns the number of elements a literal stores: one if they are all equal.
pub(crate) fn stored_elements(literal: &TensorLiteral) -> u64 {
    if literal.as_splat().is_some() { 1 } else { literal.num_elements() }
}
