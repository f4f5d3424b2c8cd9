//! One attempt of one pattern: panics are caught, results are checked, and invalid changes are rolled back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sapwood_ptir::{InstId, ValueId};
use sapwood_types::panic_message;

use super::driver::GreedyDriver;
use super::verify_changes::verify_changes;
use super::{CostModel, PatternProblem, ProblemKind};
use crate::StepKind;
use crate::cost_goals::lowers_cost;
use crate::pattern::{MAX_GATED, PatchError, PatternBucket, PatternId, PatternKind, Rewrite};

impl GreedyDriver<'_> {
    /// Tries a pattern at a root. Returns true if it changed something.
    pub(super) fn attempt(&mut self, id: PatternId, root: InstId) -> bool {
        if self.disabled[id as usize] {
            return false;
        }
        self.stats.attempts += 1;
        self.stats.patterns[id as usize].tried += 1;
        match &self.set.entry(id).kind {
            PatternKind::Staged(_) => self.attempt_staged(id, root),
            PatternKind::Direct(_) => self.attempt_direct(id, root),
        }
    }

    fn attempt_staged(&mut self, id: PatternId, root: InstId) -> bool {
        let entry = self.set.entry(id);
        let PatternKind::Staged(stage) = &entry.kind else { return false };
        let checks = self.config.expensive_checks;
        let rw = &self.rw;
        let f = rw.function();
        if checks {
            self.reach.reset(f, root);
        }
        let (patch, reach) = (&mut self.patch, checks.then_some(&mut self.reach));
        let (floats, goals) = (self.modes.now, self.config.goals);
        let staged = catch_unwind(AssertUnwindSafe(|| {
            stage(f, root, &mut Rewrite::new(rw, root, patch, (floats, goals), reach))
        }));
        let values = match staged {
            Ok(values) => values,
            Err(panic) => {
                self.report_pattern(id, root, ProblemKind::Panicked(panic_message(&*panic)), true);
                return false;
            }
        };
        if checks && self.reach.furthest > entry.hops {
            let kind = ProblemKind::ExceedsHops { hops: self.reach.furthest, declared: entry.hops };
            self.report_pattern(id, root, kind, false);
        }
        if self.patch.search_ended_early {
            self.report_pattern(id, root, ProblemKind::SearchEndedEarly, false);
        }
        let Some(values) = values else {
            if let Some(needed) = self.patch.needed_float_mode
                && self.modes.now == self.modes.last
            {
                self.report_pattern(id, root, ProblemKind::NeedsFloatMode(needed), false);
            }
            self.waits_for_float_mode |= self.patch.asked_float_mode.get();
            if self.patch.refused.is_some() {
                self.report_refusal(id, root);
            }
            return false;
        };
        let checked = self.patch.check(self.rw.function(), root, &values);
        if checked.as_ref().is_err_and(PatchError::differs_only_in_dims) {
            return false;
        }
        if checked.is_ok() && !self.reaches_goals(root, entry.hops, &values) {
            return false;
        }
        self.stats.patterns[id as usize].matched += 1;
        let narrows = matches!(checked, Ok(true));
        if let Err(error) = checked {
            let kind = match error {
                PatchError::ReplacesItself(_) => ProblemKind::NothingChanged,
                PatchError::Type { expected, found } => ProblemKind::Type { expected, found },
                error => ProblemKind::Invalid(error.to_string()),
            };
            self.report_pattern(id, root, kind, true);
            return false;
        }
        let first_new = self.rw.function().inst_capacity();
        let parent = self.lineages.take_root(self.rw.function(), root);
        self.rw.notify_step(StepKind::Pattern(entry.name), root);
        let verify = checks || self.config.verify_rewrites;
        let careful = verify || narrows || !self.patch.has_no_regions();
        if careful {
            self.rw.begin();
        }
        let applied = self.patch.apply(&mut self.rw, root, &values);
        if applied.as_ref().is_err_and(PatchError::differs_only_in_dims) {
            // An instruction that uses the root refused: that is not part of what a pattern reads.
            self.failures.skip_next_record();
            self.rw.rollback();
            return false;
        }
        let outcome = match applied {
            Ok(()) if verify => verify_changes(&self.rw),
            Ok(()) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = outcome {
            // A patch without regions cannot fail once it is checked, so there is nothing to roll back.
            let op = self.rw.function().op_name(root);
            assert!(careful, "`{}` at `{op}` was checked and failed: {why}", entry.name);
            self.rw.rollback();
            self.report_pattern(id, root, ProblemKind::Invalid(why), true);
            return false;
        }
        if careful {
            self.rw.commit();
        }
        self.count_applied(id);
        self.fold_new_insts(first_new);
        self.detect_cycles(id, &parent, first_new, None);
        true
    }

    // Returns true if the staged rewrite reaches the cost goals, or if there are none.
    fn reaches_goals(&self, root: InstId, hops: u8, values: &[ValueId]) -> bool {
        let goals = self.config.goals;
        let (f, effects) = (self.rw.function(), &self.rw.effects);
        goals.is_empty() || lowers_cost(goals, f, effects, (root, hops), &self.patch, values)
    }

    /// Reports skipped patterns that would fire at a root.
    pub(super) fn check_skipped(
        &mut self,
        bucket: &PatternBucket,
        skipped: u64,
        root: InstId,
        problem: &ProblemKind,
    ) {
        for (n, &id) in bucket.ids.iter().take(MAX_GATED).enumerate() {
            if skipped >> n & 1 == 0 || self.disabled[id as usize] {
                continue;
            }
            let PatternKind::Staged(stage) = &self.set.entry(id).kind else { continue };
            let (f, modes) = (self.rw.function(), (self.modes.now, self.config.goals));
            let mut rewrite = Rewrite::new(&self.rw, root, &mut self.patch, modes, None);
            let staged = catch_unwind(AssertUnwindSafe(|| stage(f, root, &mut rewrite)));
            if let Ok(Some(values)) = staged
                && self.patch.check(self.rw.function(), root, &values).is_ok()
                && self.reaches_goals(root, self.set.entry(id).hops, &values)
            {
                self.report_pattern(id, root, problem.clone(), false);
            }
        }
    }

    fn attempt_direct(&mut self, id: PatternId, root: InstId) -> bool {
        let entry = self.set.entry(id);
        let PatternKind::Direct(rewrite) = &entry.kind else { return false };
        let first_new = self.rw.function().inst_capacity();
        let parent = self.lineages.take_root(self.rw.function(), root);
        self.rw.begin();
        let rw = &mut self.rw;
        let outcome = catch_unwind(AssertUnwindSafe(|| rewrite(root, rw)));
        let changed = self.rw.edits_since_begin() > 0;
        let problem = match outcome {
            Ok(false) if !changed => {
                self.rw.rollback();
                return false;
            }
            Ok(false) => Some(ProblemKind::ChangedWithoutReporting),
            Ok(true) if !changed => Some(ProblemKind::NothingChanged),
            Ok(true) if self.config.expensive_checks || self.config.verify_rewrites => {
                verify_changes(&self.rw).err().map(ProblemKind::Invalid)
            }
            Ok(true) => None,
            Err(panic) => Some(ProblemKind::Panicked(panic_message(&*panic))),
        };
        if reported_a_match(&problem) {
            self.stats.patterns[id as usize].matched += 1;
        }
        if let Some(kind) = problem {
            self.rw.rollback();
            self.report_pattern(id, root, kind, true);
            return false;
        }
        self.rw.notify_step(StepKind::Pattern(entry.name), root);
        self.rw.commit();
        self.count_applied(id);
        let changed_in_place = self.rw.function().is_live(root).then_some(root);
        self.detect_cycles(id, &parent, first_new, changed_in_place);
        true
    }

    // Freezes the new or changed instructions if the rewrite leads back to an earlier one, and reports the cycle.
    fn detect_cycles(
        &mut self,
        id: PatternId,
        parent: &super::rewrite_cycles::RootLineage,
        first_new: usize,
        in_place: Option<InstId>,
    ) {
        let new = (first_new..self.rw.function().inst_capacity()).map(InstId::from_index);
        for inst in new.chain(in_place) {
            let f = self.rw.function();
            if !f.is_live(inst) || f.op_key(inst) == self.constant_op() {
                continue;
            }
            if let Some(turns) = self.lineages.record_rewrite(f, parent, inst, id) {
                self.worklist.freeze(inst);
                let mut names: Vec<String> =
                    turns.iter().map(|&id| self.set.name(id).to_owned()).collect();
                names.sort();
                names.dedup();
                if !self.stats.cycles.contains(&names) {
                    self.stats.cycles.push(names);
                }
            }
        }
    }

    /// Calls the cost model. If it panics, that is reported, and it is not called again.
    pub(super) fn call_cost_model(
        &mut self,
        model: CostModel,
        inst: InstId,
        id: PatternId,
    ) -> Option<u16> {
        let name = "cost model";
        if self.is_disabled(name) {
            return None;
        }
        let rw = &self.rw;
        catch_unwind(AssertUnwindSafe(|| model(inst, id, rw)))
            .map_err(|panic| {
                let kind = ProblemKind::Panicked(panic_message(&*panic));
                self.report_problem(name.to_owned(), inst, kind, true);
            })
            .ok()
    }

    /// Returns true if this pattern, fold or cost model is not called again after a problem.
    pub(super) fn is_disabled(&self, name: &str) -> bool {
        self.stats.disabled.iter().any(|disabled| disabled == name)
    }

    fn report_pattern(&mut self, id: PatternId, root: InstId, kind: ProblemKind, disable: bool) {
        self.report_problem(self.set.name(id).to_owned(), root, kind, disable);
        self.disabled[id as usize] |= disable;
    }

    // Reports an instruction that a pattern could not stage.
    #[cold]
    fn report_refusal(&mut self, id: PatternId, root: InstId) {
        let entry = self.set.entry(id);
        let Some(refused) = self.patch.refused.take().filter(|_| !entry.expects_refusals) else {
            return;
        };
        let line = self.rw.function().inst_span(root).begin_line();
        let kind = ProblemKind::Refused { op: refused.op, reason: refused.reason, line };
        self.report_first_refusal(entry.name.to_owned(), root, kind);
    }

    /// Reports an instruction that does not fit, the first one of each pattern, because other roots give other reasons.
    pub(super) fn report_first_refusal(
        &mut self,
        pattern: String,
        root: InstId,
        kind: ProblemKind,
    ) {
        let is_refusal = |kind: &ProblemKind| matches!(kind, ProblemKind::Refused { .. });
        let mut problems = self.stats.problems.iter();
        if !problems.any(|problem| problem.pattern == pattern && is_refusal(&problem.kind)) {
            self.report_problem(pattern, root, kind, false);
        }
    }

    /// Reports a problem, once for each pattern and kind.
    pub(super) fn report_problem(
        &mut self,
        pattern: String,
        root: InstId,
        kind: ProblemKind,
        disable: bool,
    ) {
        let stats = &mut self.stats;
        if disable && !stats.disabled.contains(&pattern) {
            stats.disabled.push(pattern.clone());
        }
        if !stats.problems.iter().any(|p| p.pattern == pattern && p.kind == kind) {
            let op = self.rw.function().op_name(root);
            stats.problems.push(PatternProblem { pattern, op, kind });
        }
    }
}

fn reported_a_match(problem: &Option<ProblemKind>) -> bool {
    !matches!(problem, Some(ProblemKind::ChangedWithoutReporting | ProblemKind::Panicked(_)))
}
