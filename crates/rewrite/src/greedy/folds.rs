//! Folding within the greedy driver: constants are evaluated, and registered folds are called and checked.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sapwood_ptir::{AttrList, InstId, ValueId};
use sapwood_types::{counted, panic_message};
use smallvec::SmallVec;

use super::driver::{FiredRewrite, GreedyDriver};
use super::{Limit, ProblemKind};
use crate::fold::{FoldFn, FoldResult, Folded, fold_to_literals, stored_elements};
use crate::rewriter::{RewriteError, StepKind};

/// The limit on the elements of all folded constants together, as a multiple of the largest one.
const MAX_TOTAL_FOLDED: u64 = 256;

impl GreedyDriver<'_> {
    /// Folds constants once in program order, so that operands are folded before the instructions that use them. The rounds go
    /// in the other direction and would need one round per level.
    pub(super) fn fold_in_program_order(&mut self) {
        if !self.config.enable_constant_fold {
            return;
        }
        let f = self.rw.function();
        let (constant, set) = (self.constant_op(), self.set);
        let is_constant = |v: ValueId| f.inst_of(v).is_some_and(|i| f.op_key(i) == constant);
        // Folding must start at an instruction whose operands are constants.
        let starts = |inst: InstId| f.operands(inst).iter().all(|&v| is_constant(v));
        let Some(first) = f.walk_post_order().position(|i| f.op_key(i) != constant && starts(i))
        else {
            return;
        };
        let order: Vec<InstId> = f.walk_post_order().skip(first).collect();
        for inst in order {
            let f = self.rw.function();
            if !f.is_live(inst) || f.op_key(inst) == constant || f.results_unused(inst) {
                continue;
            }
            if self.stats.rewrites + self.stats.folds >= self.budget {
                return;
            }
            // Registered folds have priority over evaluation; they are called during the rounds.
            let registered = set.has_folds() && set.folds(f.op_key(inst)).next().is_some();
            if !registered && self.fold_constants(inst) {
                self.erase_unused();
            }
        }
    }

    /// Folds the new instructions with constant operands, so that the next pattern finds a constant.
    pub(super) fn fold_new_insts(&mut self, first_new: usize) {
        let (constant, set) = (self.constant_op(), self.set);
        for inst in (first_new..self.rw.function().inst_capacity()).map(InstId::from_index) {
            let f = self.rw.function();
            if !self.config.enable_constant_fold || !f.is_live(inst) || f.op_key(inst) == constant {
                continue;
            }
            let registered = set.has_folds() && set.folds(f.op_key(inst)).next().is_some();
            if !registered && self.fold_constants(inst) {
                self.erase_unused();
            }
        }
    }

    /// Calls the folds that are registered for the op of an instruction, and evaluates it if its operands are constants. Returns true if
    /// something changed.
    pub(super) fn fold_inst(&mut self, inst: InstId) -> bool {
        let key = self.rw.op_key(inst);
        if self.set.has_folds() {
            let set = self.set;
            for fold in set.folds(key) {
                let done = match self.call_fold(fold, inst) {
                    FoldResult::Nothing => false,
                    FoldResult::Results(results) => {
                        let done = self.replace_folded(inst, &results);
                        if !done {
                            self.report_misfit(inst, &results);
                        }
                        done
                    }
                    FoldResult::InPlace { operands, attrs } => {
                        self.change_in_place(inst, &operands, &attrs)
                    }
                };
                if done {
                    return true;
                }
            }
        }
        self.config.enable_constant_fold && key != self.constant_op() && self.fold_constants(inst)
    }

    // Evaluates an instruction whose operands are constants.
    fn fold_constants(&mut self, inst: InstId) -> bool {
        let f = self.rw.function();
        let is_constant =
            |v: &ValueId| f.inst_of(*v).is_some_and(|i| f.op_key(i) == self.constant_op());
        if !f.operands(inst).iter().all(is_constant) {
            return false;
        }
        let literals = fold_to_literals(f, inst, &self.config.fold_limits, &mut self.fold_cost);
        if let Some(most) = self.fold_cost.limit_reached {
            self.record_limit(Limit::FoldWork(most));
        }
        let Some(literals) = literals else { return false };
        let size: u64 = literals.iter().map(stored_elements).sum();
        let most = self.config.fold_limits.max_elements.saturating_mul(MAX_TOTAL_FOLDED);
        if size > 1 && self.folded_elements.saturating_add(size) > most {
            self.record_limit(Limit::FoldedElements(most));
            return false;
        }
        self.folded_elements += size;
        let results: SmallVec<[Folded; 1]> = literals.into_iter().map(Folded::Constant).collect();
        self.replace_folded(inst, &results)
    }

    fn replace_folded(&mut self, inst: InstId, results: &[Folded]) -> bool {
        let f = self.rw.function();
        let own = f.inst_results(inst);
        let fits = |(value, folded): (ValueId, &Folded)| match folded {
            Folded::Value(v) => {
                f.is_live_value(*v)
                    && f.type_id(*v) == f.type_id(value)
                    && f.is_available_to(*v, inst)
            }
            Folded::Constant(literal) => {
                f.value_type(value).as_tensor().is_some_and(|ty| literal.has_type(ty))
            }
        };
        let may_be_erased = f.check_erasable(inst).is_ok();
        if !may_be_erased || own.len() != results.len() || !own.zip(results).all(fits) {
            return false;
        }
        self.rw.notify_step(StepKind::Fold, inst);
        if let [Folded::Constant(literal)] = results {
            let done = self.rw.replace_with_constant(inst, literal);
            self.stats.folds += usize::from(done);
            return done;
        }
        let mut values: SmallVec<[ValueId; 4]> = SmallVec::new();
        for folded in results {
            values.push(match folded {
                Folded::Value(v) => *v,
                Folded::Constant(literal) => self.rw.materialize_constant(inst, literal),
            });
        }
        let done = self.rw.replace_inst(inst, &values).is_ok();
        self.stats.folds += usize::from(done);
        done
    }

    // Sets other operands and attributes of an instruction. If they do not fit, nothing is changed.
    fn change_in_place(&mut self, inst: InstId, operands: &[ValueId], attrs: &AttrList) -> bool {
        let f = self.rw.function();
        if f.operands(inst) == operands && f.attrs(inst) == attrs {
            return false;
        }
        let before: SmallVec<[ValueId; 4]> = SmallVec::from_slice(f.operands(inst));
        let attrs_before = f.attr_id(inst);
        self.rw.begin();
        let mut done = self.rw.set_operands(inst, operands);
        if done.is_ok() && self.rw.function().attrs(inst) != attrs {
            done = self.rw.set_attrs(inst, attrs);
        }
        let f = self.rw.function();
        // Attributes get their canonical form when they are set, so only now it is known if something changed.
        if done.is_err() || f.operands(inst) == &before[..] && f.attr_id(inst) == attrs_before {
            self.rw.rollback();
            if let Err(error) = done {
                self.report_refused_change(inst, &error);
            }
            return false;
        }
        self.rw.notify_step(StepKind::Fold, inst);
        self.rw.commit();
        self.stats.folds += 1;
        let key = self.rw.op_key(inst);
        self.record_fired(FiredRewrite::Fold(key));
        true
    }

    // Calls a registered fold. If it panics, that is reported, and no fold of its op is called again.
    fn call_fold(&mut self, fold: &FoldFn, inst: InstId) -> FoldResult {
        if !self.stats.disabled.is_empty() && self.is_disabled(&self.name_of_fold(inst)) {
            return FoldResult::Nothing;
        }
        let rw = &self.rw;
        catch_unwind(AssertUnwindSafe(|| fold(inst, rw))).unwrap_or_else(|panic| {
            let kind = ProblemKind::Panicked(panic_message(&*panic));
            self.report_problem(self.name_of_fold(inst), inst, kind, true);
            FoldResult::Nothing
        })
    }

    fn name_of_fold(&self, inst: InstId) -> String {
        format!("fold of {}", self.rw.function().op_name(inst))
    }

    // Reports results of a registered fold that cannot replace those of its instruction. Types that differ only in the dims that are known
    // depend on the program, not on the fold.
    #[cold]
    fn report_misfit(&mut self, inst: InstId, results: &[Folded]) {
        let f = self.rw.function();
        let own = f.inst_results(inst);
        let mut kind = None;
        if let Err(error) = f.check_erasable(inst) {
            kind = Some(ProblemKind::Invalid(error.to_string()));
        } else if own.len() != results.len() {
            let (found, expected) = (counted(results.len(), "value"), counted(own.len(), "result"));
            kind = Some(ProblemKind::Invalid(format!("it returns {found} for {expected}")));
        }
        for (value, folded) in own.zip(results) {
            let expected = f.value_type(value);
            let found = match folded {
                Folded::Value(v) if !f.is_live_value(*v) || !f.is_available_to(*v, inst) => {
                    let reason = format!("it uses {v}, which is not available at the instruction");
                    kind = kind.or(Some(ProblemKind::Invalid(reason)));
                    continue;
                }
                Folded::Value(v) => f.value_type(*v).clone(),
                Folded::Constant(literal) => literal.ty().into(),
            };
            if !expected.compatible(&found) {
                let (expected, found) = (Box::new(expected.clone()), Box::new(found));
                kind = kind.or(Some(ProblemKind::Type { expected, found }));
            }
        }
        if let Some(kind) = kind {
            self.report_problem(self.name_of_fold(inst), inst, kind, true);
        }
    }

    // Reports operands or attributes of a registered fold that do not fit its instruction.
    #[cold]
    fn report_refused_change(&mut self, inst: InstId, error: &RewriteError) {
        let f = self.rw.function();
        let (op, line) = (Some(f.op_name(inst)), f.inst_span(inst).begin_line());
        let reason = match error {
            RewriteError::Op { error, .. } => error.message.clone(),
            error => error.to_string(),
        };
        let kind = ProblemKind::Refused { op, reason, line };
        self.report_first_refusal(self.name_of_fold(inst), inst, kind);
    }
}
