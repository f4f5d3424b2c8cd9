//! One attempt of one pattern: contained, checked, and taken back if it did not keep its word.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sapwood_ptir::InstId;

use super::check::check_touched;
use super::driver::Driver;
use super::{CostModel, PatternProblem, ProblemKind};
use crate::ProgramRewriter;
use crate::fold::{FoldFn, FoldResult};
use crate::pattern::{Bucket, GATED, Kind, PatchError, PatternId, Rewrite};

impl Driver<'_> {
    /// Tries a pattern at a root. Whether it changed something.
    pub(super) fn attempt(&mut self, id: PatternId, root: InstId) -> bool {
        if self.disabled[id as usize] {
            return false;
        }
        self.stats.attempts += 1;
        self.stats.patterns[id as usize].tried += 1;
        match &self.set.entry(id).kind {
            Kind::Staged(_) => self.attempt_staged(id, root),
            Kind::Direct(_) => self.attempt_direct(id, root),
        }
    }

    fn attempt_staged(&mut self, id: PatternId, root: InstId) -> bool {
        let entry = self.set.entry(id);
        let Kind::Staged(stage) = &entry.kind else { return false };
        let checks = self.config.expensive_checks;
        let rw = &self.rw;
        let f = rw.function();
        if checks {
            self.reach.reset(f, root);
        }
        let (patch, reach) = (&mut self.patch, checks.then_some(&mut self.reach));
        let floats = self.config.floats;
        let staged = catch_unwind(AssertUnwindSafe(|| {
            stage(f, root, &mut Rewrite::new(rw, root, patch, floats, reach))
        }));
        let values = match staged {
            Ok(values) => values,
            Err(panic) => {
                self.blame(id, root, ProblemKind::Panicked(panic_message(&*panic)), true);
                return false;
            }
        };
        if checks && self.reach.furthest > entry.hops {
            let kind = ProblemKind::LooksTooFar { hops: self.reach.furthest, stated: entry.hops };
            self.blame(id, root, kind, false);
        }
        let Some(values) = values else { return false };
        let checked = self.patch.check(self.rw.function(), root, &values);
        if checked.as_ref().is_err_and(PatchError::is_only_dims) {
            return false;
        }
        self.stats.patterns[id as usize].matched += 1;
        if let Err(error) = checked {
            let kind = match error {
                PatchError::Itself(_) => ProblemKind::NothingChanged,
                PatchError::Type { expected, found } => ProblemKind::Type { expected, found },
                error => ProblemKind::Invalid(error.to_string()),
            };
            self.blame(id, root, kind, true);
            return false;
        }
        let first_new = self.rw.function().inst_capacity();
        let parent = self.lineages.before(self.rw.function(), root);
        self.rw.step(&entry.name, root);
        let verify = checks || self.config.verify_rewrites;
        let careful = verify || !self.patch.is_simple();
        if careful {
            self.rw.begin();
        }
        let mut patch = std::mem::take(&mut self.patch);
        let applied = patch.apply(&mut self.rw, root, &values);
        self.patch = patch;
        let outcome = match applied {
            Ok(()) if verify => check_touched(&self.rw),
            Ok(()) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = outcome {
            // A patch without regions cannot fail once it is checked; there would be nothing to take back.
            let op = self.rw.function().op_name(root);
            assert!(careful, "`{}` at `{op}` was checked and failed: {why}", entry.name);
            self.rw.take_back();
            self.blame(id, root, ProblemKind::Invalid(why), true);
            return false;
        }
        if careful {
            self.rw.keep();
        }
        self.fired(id);
        self.fold_new(first_new);
        self.follow(id, &parent, first_new, None);
        true
    }

    /// Looks for patterns that would do something where they say that they are not worth a try.
    pub(super) fn check_gate(&mut self, bucket: &Bucket, open: u64, root: InstId) {
        for (n, &id) in bucket.ids.iter().take(GATED).enumerate() {
            if open >> n & 1 != 0 || self.disabled[id as usize] {
                continue;
            }
            let Kind::Staged(stage) = &self.set.entry(id).kind else { continue };
            let (f, floats) = (self.rw.function(), self.config.floats);
            let mut rewrite = Rewrite::new(&self.rw, root, &mut self.patch, floats, None);
            let staged = catch_unwind(AssertUnwindSafe(|| stage(f, root, &mut rewrite)));
            if let Ok(Some(values)) = staged
                && self.patch.check(self.rw.function(), root, &values).is_ok()
            {
                self.blame(id, root, ProblemKind::NotTried, false);
            }
        }
    }

    fn attempt_direct(&mut self, id: PatternId, root: InstId) -> bool {
        let entry = self.set.entry(id);
        let Kind::Direct(rewrite) = &entry.kind else { return false };
        let first_new = self.rw.function().inst_capacity();
        let parent = self.lineages.before(self.rw.function(), root);
        self.rw.begin();
        let rw = &mut self.rw;
        let said = catch_unwind(AssertUnwindSafe(|| rewrite(root, rw)));
        let changed = self.rw.edits() > 0;
        let problem = match said {
            Ok(false) if !changed => {
                self.rw.take_back();
                return false;
            }
            Ok(false) => Some(ProblemKind::ChangedAndSaidNo),
            Ok(true) if !changed => Some(ProblemKind::NothingChanged),
            Ok(true) if self.config.expensive_checks || self.config.verify_rewrites => {
                check_touched(&self.rw).err().map(ProblemKind::Invalid)
            }
            Ok(true) => None,
            Err(panic) => Some(ProblemKind::Panicked(panic_message(&*panic))),
        };
        if said_yes(&problem) {
            self.stats.patterns[id as usize].matched += 1;
        }
        if let Some(kind) = problem {
            self.rw.take_back();
            self.blame(id, root, kind, true);
            return false;
        }
        self.rw.step(&entry.name, root);
        self.rw.keep();
        self.fired(id);
        let changed_in_place = self.rw.function().is_live(root).then_some(root);
        self.follow(id, &parent, first_new, changed_in_place);
        true
    }

    // Whether what the pattern made has been here before; then it is left alone from now on.
    fn follow(
        &mut self,
        id: PatternId,
        parent: &super::lineage::Parent,
        first_new: usize,
        in_place: Option<InstId>,
    ) {
        let new = (first_new..self.rw.function().inst_capacity()).map(InstId::from_index);
        for inst in new.chain(in_place) {
            let f = self.rw.function();
            if !f.is_live(inst) || f.op_key(inst) == self.constant_key() {
                continue;
            }
            if let Some(turns) = self.lineages.after(f, parent, inst, id) {
                self.queue.freeze(inst);
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

    /// Calls a fold that somebody registered. One that panicked is named, and no fold of its op is called again.
    pub(super) fn call_fold(&mut self, fold: &FoldFn, inst: InstId) -> FoldResult {
        let name = |rw: &ProgramRewriter<'_>| format!("fold of {}", rw.function().op_name(inst));
        if !self.stats.problems.is_empty() && self.panicked(&name(&self.rw)) {
            return FoldResult::Nothing;
        }
        let rw = &self.rw;
        catch_unwind(AssertUnwindSafe(|| fold(inst, rw))).unwrap_or_else(|panic| {
            self.report(name(&self.rw), inst, ProblemKind::Panicked(panic_message(&*panic)), true);
            FoldResult::Nothing
        })
    }

    /// Asks the cost model. One that panicked is named and not asked again.
    pub(super) fn call_cost_model(
        &mut self,
        model: CostModel,
        inst: InstId,
        id: PatternId,
    ) -> Option<u16> {
        let name = "cost model";
        if self.panicked(name) {
            return None;
        }
        let rw = &self.rw;
        catch_unwind(AssertUnwindSafe(|| model(inst, id, rw)))
            .map_err(|panic| {
                let kind = ProblemKind::Panicked(panic_message(&*panic));
                self.report(name.to_owned(), inst, kind, true);
            })
            .ok()
    }

    fn panicked(&self, name: &str) -> bool {
        let problems = &self.stats.problems;
        problems.iter().any(|p| p.pattern == name && matches!(p.kind, ProblemKind::Panicked(_)))
    }

    fn blame(&mut self, id: PatternId, root: InstId, kind: ProblemKind, disable: bool) {
        self.report(self.set.name(id).to_owned(), root, kind, disable);
        self.disabled[id as usize] |= disable;
    }

    fn report(&mut self, pattern: String, root: InstId, kind: ProblemKind, disable: bool) {
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

fn said_yes(problem: &Option<ProblemKind>) -> bool {
    !matches!(problem, Some(ProblemKind::ChangedAndSaidNo | ProblemKind::Panicked(_)))
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
