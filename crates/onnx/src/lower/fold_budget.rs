//! The nodes that may become constants, so that the file of a model grows by no more than a limit.
//!
//! The constants that stay are those that other nodes need. Large ones in between, such as the steps in which a filter is computed, are not
//! counted, and initializers that only a computed node uses are subtracted.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{FoldLimits, fold_inst};
use sapwood_ptir::{Effects, Function, InstId, TensorLiteral, TensorType, ValueId};

/// Ops that repeat their operands: their result takes more bytes than they do.
const REPEATING: &[&str] = &["onnx.Expand", "onnx.Tile", "onnx.ConstantOfShape", "onnx.Range"];
/// The most elements of a constant that repeats others: zeros for the state of a recurrent op, which have a node less than their shape.
const MAX_REPEATED_ELEMENTS: u64 = 1 << 12;

/// The number of elements by which the constants of a function may grow.
pub(super) struct FoldBudget {
    limit: u64,
    /// The elements that were added so far, without those that became unused.
    grown: i64,
    /// The nodes that can be computed, and whether they are.
    plan: HashMap<InstId, Decision, FxBuildHasher>,
}

#[derive(Clone, Copy)]
struct Decision {
    is_folded: bool,
    /// The elements of constants that only the node uses, itself or through other nodes.
    freed: i64,
}

impl FoldBudget {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, grown: 0, plan: HashMap::default() }
    }

    /// Decides which of some instructions, given in order, become constants. Later ones come first: they do without those before them.
    pub(super) fn plan(&mut self, f: &Function, insts: &[InstId]) {
        self.plan.clear();
        let mut order = Vec::new();
        for &inst in insts {
            if self.can_be_computed(f, inst) {
                let freed = self.freed(f, inst);
                self.plan.insert(inst, Decision { is_folded: true, freed });
                order.push(inst);
            }
        }
        for &inst in order.iter().rev() {
            let is_needed = f.inst_results(inst).any(|result| {
                let mut users = f.uses(result).map(|one| one.user);
                users.any(|user| self.plan.get(&user).is_none_or(|user| !user.is_folded))
            });
            let Some(decision) = self.plan.get_mut(&inst).filter(|_| is_needed) else { continue };
            let growth = elements_of_results(f, inst)
                .and_then(|all| i64::try_from(all).ok()?.checked_sub(decision.freed));
            match growth.filter(|&growth| fits(self.grown, growth, self.limit)) {
                Some(growth) => self.grown = self.grown.saturating_add(growth),
                None => decision.is_folded = false,
            }
        }
    }

    // Returns whether an instruction can be computed when those that were planned before it are constants.
    fn can_be_computed(&self, f: &Function, inst: InstId) -> bool {
        let is_known = |&v: &ValueId| {
            let is_planned = |inst| self.plan.contains_key(&inst);
            f.constant_of(v).is_some() || f.inst_of(v).is_some_and(is_planned)
        };
        let operands = f.operands(inst);
        let is_pure = f.op_def(inst).is_some_and(|def| {
            def.foldable && def.evaluation().is_some() && f.own_effects(inst) == Effects::Pure
        });
        let most = self.max_elements(f, inst);
        is_pure
            && !operands.is_empty()
            && f.regions(inst).is_empty()
            && operands.iter().all(is_known)
            && elements_of_results(f, inst).is_some_and(|all| all <= most)
    }

    fn max_elements(&self, f: &Function, inst: InstId) -> u64 {
        let repeats = REPEATING.contains(&f.op_name(inst));
        if repeats { self.limit.min(MAX_REPEATED_ELEMENTS) } else { self.limit }
    }

    // Returns the elements of the constants that are no longer needed when an instruction and those before it that only it uses are computed.
    fn freed(&self, f: &Function, inst: InstId) -> i64 {
        let operands = f.operands(inst);
        let mut freed = 0i64;
        for (n, &operand) in operands.iter().enumerate() {
            if operands[..n].contains(&operand) || !f.one_user(operand) {
                continue;
            }
            let planned = || self.plan.get(&f.inst_of(operand)?).map(|one| one.freed);
            let elements = match f.constant_of(operand) {
                Some(literal) => i64::try_from(literal.num_elements()).unwrap_or(i64::MAX),
                None => planned().unwrap_or(0),
            };
            freed = freed.saturating_add(elements);
        }
        freed
    }

    /// Computes an instruction whose operands are constants by now, if it may become constants.
    pub(super) fn fold(&mut self, f: &Function, inst: InstId) -> Option<Vec<TensorLiteral>> {
        let planned = self.plan.get(&inst).copied();
        if planned.is_some_and(|decision| !decision.is_folded) {
            return None;
        }
        let limits =
            FoldLimits { max_elements: self.max_elements(f, inst), ..FoldLimits::default() };
        let Some(literals) = fold_inst(f, inst, &limits) else {
            if planned.is_some() {
                // The constants before it stay, which were not counted.
                let elements = |&v: &ValueId| Some(f.constant_of(v)?.num_elements());
                let all = f.operands(inst).iter().filter_map(elements).fold(0, u64::saturating_add);
                self.grown = self.grown.saturating_add_unsigned(all);
            }
            return None;
        };
        if planned.is_none() {
            // Its operands became constants since the plan was made.
            let all = literals.iter().map(TensorLiteral::num_elements).fold(0, u64::saturating_add);
            let growth = i64::try_from(all).ok()?.saturating_sub(self.freed(f, inst));
            if !fits(self.grown, growth, self.limit) {
                return None;
            }
            self.grown = self.grown.saturating_add(growth);
        }
        Some(literals.into_vec())
    }
}

// Returns whether constants that grew by a number of elements may grow by more.
fn fits(grown: i64, growth: i64, limit: u64) -> bool {
    growth <= 0 || u64::try_from(grown.saturating_add(growth)).map_or(true, |all| all <= limit)
}

fn elements_of_results(f: &Function, inst: InstId) -> Option<u64> {
    let elements = |v: ValueId| f.value_type(v).as_tensor().and_then(TensorType::num_elements);
    f.inst_results(inst).map(elements).try_fold(0u64, |all, n| all.checked_add(n?))
}
