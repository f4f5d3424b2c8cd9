//! Merging equal instructions along the way: the value table follows the rewriter.

use rustc_hash::FxHashSet;
use sapwood_ptir::{Function, InstId};
use smallvec::SmallVec;

use super::driver::{Driver, MANY_USES};
use crate::cse::{Found, TOGETHER, ValueTable, merge_equal};
use crate::rewriter::{ProgramRewriter, WIDE};

/// Whether an instruction has so many operands or results that it is looked up once a round, not whenever one of them
/// changes: each time its hash costs their number.
fn is_wide(f: &Function, inst: InstId) -> bool {
    f.operands(inst).len() > WIDE || f.inst_results(inst).len() > WIDE
}

/// The value table and what it has not seen yet.
pub(super) struct Merging {
    table: ValueTable,
    unseen: Vec<InstId>,
    wide: FxHashSet<InstId>,
    // Whether something changed since instructions with regions were compared.
    pub(super) regions_due: bool,
}

impl Merging {
    /// How many results of wide instructions were hashed so far.
    pub(super) fn hashed(&self) -> usize {
        self.table.hashed()
    }

    // What changed or went is not in the table any more; what is still there is to be looked up.
    fn strike_off(&mut self, rw: &mut ProgramRewriter<'_>) {
        while let Some(inst) = rw.agenda.pop_log() {
            self.table.remove(inst);
            self.regions_due = true;
            let f = rw.function();
            if !f.is_live(inst) {
                continue;
            }
            if is_wide(f, inst) {
                self.wide.insert(inst);
            } else {
                self.unseen.push(inst);
            }
        }
    }
}

impl Driver<'_> {
    /// Lists everything in program order, merging what is equal, and follows all changes from now on.
    pub(super) fn start_merging(&mut self) {
        let insts = self.rw.function().num_insts();
        self.rw.agenda.keep_log();
        self.merging = Some(Merging {
            table: ValueTable::with_capacity(insts),
            unseen: Vec::new(),
            wide: FxHashSet::default(),
            regions_due: true,
        });
        let order: Vec<InstId> = self.rw.function().walk_post_order().collect();
        let constant = self.constant_key();
        for (n, &inst) in order.iter().enumerate() {
            let f = self.rw.function();
            if n % TOGETHER == 0
                && let Some(merging) = &self.merging
            {
                merging.table.warm(f, &order[n..order.len().min(n + TOGETHER)]);
            }
            // Of equal constants one is left already.
            if f.is_live(inst)
                && f.op_key(inst) != constant
                && let Some(known) = self.find_equal(inst)
            {
                self.merge(inst, known);
            }
        }
        // What went was never listed, and what used it came later in this order and was looked up then.
        self.rw.agenda.clear_log();
    }

    /// Strikes off what changed, and looks it up once there is enough of it: then the reads wait for memory together.
    pub(super) fn follow_changes(&mut self) {
        let Some(merging) = &mut self.merging else { return };
        merging.strike_off(&mut self.rw);
        if merging.unseen.len() >= TOGETHER {
            self.merge_changed();
        }
    }

    /// Looks up everything that changed, until nothing more can be merged and nothing is left that nobody uses.
    pub(super) fn merge_changed(&mut self) {
        let mut batch: SmallVec<[InstId; TOGETHER]> = SmallVec::new();
        loop {
            self.drop_unused();
            let Some(merging) = &mut self.merging else { return };
            merging.strike_off(&mut self.rw);
            let rest = merging.unseen.len().saturating_sub(TOGETHER);
            batch.extend(merging.unseen.drain(rest..));
            if batch.is_empty() {
                return;
            }
            merging.table.warm(self.rw.function(), &batch);
            while let Some(inst) = batch.pop() {
                self.look_up(inst);
            }
        }
    }

    /// Looks up the wide instructions that changed in this round, in program order.
    pub(super) fn merge_wide(&mut self) {
        while let Some(merging) = self.merging.as_mut().filter(|m| !m.wide.is_empty()) {
            let f = self.rw.function();
            let mut list: Vec<InstId> = merging.wide.drain().filter(|&i| f.is_live(i)).collect();
            list.sort_unstable_by_key(|&i| f.order_key(i));
            for inst in list {
                self.look_up(inst);
                self.merge_changed();
            }
        }
    }

    /// In expensive checks: the value table knows of everything that changed or went.
    pub(super) fn check_table(&self) {
        let Some(merging) = self.merging.as_ref().filter(|_| self.config.expensive_checks) else {
            return;
        };
        debug_assert!(
            merging.table.is_true(self.rw.function()),
            "the value table is not up to date"
        );
    }

    fn look_up(&mut self, inst: InstId) {
        if let Some(merging) = &mut self.merging {
            merging.strike_off(&mut self.rw);
        }
        if self.rw.function().is_live(inst)
            && let Some(known) = self.find_equal(inst)
            && self.take_over(known, inst) == inst
            && let Some(merging) = &mut self.merging
        {
            // The table still has the one that went.
            merging.unseen.push(inst);
        }
    }

    // The instruction of the table that can stand for this one. If this one can stand for those of the table, it does.
    fn find_equal(&mut self, inst: InstId) -> Option<InstId> {
        if self.rw.op_key(inst) == self.constant_key() {
            self.stats.merged += usize::from(self.rw.unify_constant(inst));
            return None;
        }
        let merging = self.merging.as_mut()?;
        match merging.table.find(self.rw.function(), inst) {
            Found::New => None,
            Found::Known(other) => Some(other),
            Found::Serves(others) => {
                others.into_iter().fold(inst, |kept, other| self.take_over(kept, other));
                None
            }
        }
    }

    // One that can see another gives way to it. If it has many uses, it is moved up and the other gives way: a long list
    // of uses is not moved for each that comes to stand before it. Gives the one that is left.
    fn take_over(&mut self, first: InstId, other: InstId) -> InstId {
        let f = self.rw.function();
        let beside = f.body_of(first) == f.body_of(other);
        if beside && has_more_uses(f, other, first) && self.rw.take_place(other, first).is_ok() {
            self.merge(first, other);
            return other;
        }
        self.merge(other, first);
        first
    }

    fn merge(&mut self, gone: InstId, kept: InstId) {
        let mut values: SmallVec<[_; 4]> = SmallVec::new();
        self.rw.function().inst_results(kept).for_each(|value| values.push(value));
        self.rw.step("cse", gone);
        if self.rw.replace_inst(gone, &values).is_ok() {
            self.stats.merged += 1;
        }
    }

    /// Merges equal instructions with regions. Whether there were any.
    pub(super) fn merge_regions(&mut self) -> bool {
        let due = self.merging.as_mut().is_some_and(|m| std::mem::take(&mut m.regions_due));
        if !due || self.rw.function().body_capacity() == 1 {
            return false;
        }
        let merged = merge_equal(&mut self.rw);
        self.stats.merged += merged;
        self.merge_changed();
        self.merge_wide();
        merged > 0
    }
}

// Whether an instruction has many uses, and more than another. As long as the shorter list.
fn has_more_uses(f: &Function, inst: InstId, than: InstId) -> bool {
    let uses = |inst| f.inst_results(inst).flat_map(|v| f.uses(v));
    let mut more = uses(inst).skip(MANY_USES);
    more.next().is_some() && {
        let (mut more, mut fewer) = (uses(inst), uses(than));
        loop {
            match (more.next(), fewer.next()) {
                (None, _) => break false,
                (Some(_), None) => break true,
                (Some(_), Some(_)) => {}
            }
        }
    }
}
