//! Merging of equal instructions while the driver runs: the value table follows the edits.

use rustc_hash::FxHashSet;
use sapwood_ptir::structural::RegionHashes;
use sapwood_ptir::{Function, InstId};
use smallvec::SmallVec;

use super::driver::{GreedyDriver, MANY_USES};
use crate::cse::{LOOKUP_BATCH, Lookup, ValueTable, merge_in_order};
use crate::rewriter::{ProgramRewriter, StepKind, WIDE_THRESHOLD};

/// Returns true if an instruction has too many operands or results to look it up whenever one of them changes, and not only
/// once a round: each lookup hashes all of them.
fn is_wide(f: &Function, inst: InstId) -> bool {
    f.operands(inst).len() > WIDE_THRESHOLD || f.inst_results(inst).len() > WIDE_THRESHOLD
}

/// The value table and the changed instructions that are not in it yet.
pub(super) struct MergeState {
    table: ValueTable,
    pending_lookups: Vec<InstId>,
    pending_wide_lookups: FxHashSet<InstId>,
    // Something changed since instructions with regions were compared.
    pub(super) regions_due: bool,
}

impl MergeState {
    /// Returns the number of results of wide instructions that were hashed so far.
    pub(super) fn hashed_wide_results(&self) -> usize {
        self.table.hashed_wide_results()
    }

    // Removes changed and erased instructions from the table, and queues those that still exist for lookup.
    fn remove_changed(&mut self, rw: &mut ProgramRewriter<'_>) {
        while let Some(inst) = rw.changes.pop_log() {
            self.table.remove(inst);
            self.regions_due = true;
            let f = rw.function();
            if !f.is_live(inst) {
                continue;
            }
            if is_wide(f, inst) {
                self.pending_wide_lookups.insert(inst);
            } else {
                self.pending_lookups.push(inst);
            }
        }
    }
}

impl GreedyDriver<'_> {
    /// Inserts everything into the table in program order, merges equal instructions, and starts to log all changes.
    pub(super) fn start_merging(&mut self) {
        let mut table = ValueTable::with_capacity(self.rw.function().num_insts());
        self.rw.changes.start_log();
        let order: Vec<InstId> = self.rw.function().walk_post_order().collect();
        self.stats.merged += merge_in_order(&mut self.rw, &order, &mut table, None);
        // Erased instructions were never in the table, and their users come later in this order, so they were looked up after.
        self.rw.changes.clear_log();
        self.merging = Some(MergeState {
            table,
            pending_lookups: Vec::new(),
            pending_wide_lookups: FxHashSet::default(),
            regions_due: true,
        });
    }

    /// Removes changed instructions from the table, and looks them up once there are enough for a batch.
    pub(super) fn update_value_table(&mut self) {
        let Some(merging) = &mut self.merging else { return };
        merging.remove_changed(&mut self.rw);
        if merging.pending_lookups.len() >= LOOKUP_BATCH {
            self.merge_changed();
        }
    }

    /// Looks up everything that changed, until nothing more can be merged and no unused definition is left.
    pub(super) fn merge_changed(&mut self) {
        let mut batch: SmallVec<[InstId; LOOKUP_BATCH]> = SmallVec::new();
        loop {
            self.erase_unused();
            let Some(merging) = &mut self.merging else { return };
            merging.remove_changed(&mut self.rw);
            let rest = merging.pending_lookups.len().saturating_sub(LOOKUP_BATCH);
            batch.extend(merging.pending_lookups.drain(rest..));
            if batch.is_empty() {
                return;
            }
            merging.table.prefetch(self.rw.function(), &batch);
            while let Some(inst) = batch.pop() {
                self.look_up_and_merge(inst);
            }
        }
    }

    /// Looks up the wide instructions that changed in this round, in program order.
    pub(super) fn merge_wide(&mut self) {
        while let Some(merging) =
            self.merging.as_mut().filter(|m| !m.pending_wide_lookups.is_empty())
        {
            let f = self.rw.function();
            let mut list: Vec<InstId> =
                merging.pending_wide_lookups.drain().filter(|&i| f.is_live(i)).collect();
            list.sort_unstable_by_key(|&i| f.order_key(i));
            for inst in list {
                self.look_up_and_merge(inst);
                self.merge_changed();
            }
        }
    }

    /// Asserts, if expensive checks are on, that the value table is up to date.
    pub(super) fn check_value_table(&self) {
        let Some(merging) = self.merging.as_ref().filter(|_| self.config.expensive_checks) else {
            return;
        };
        debug_assert!(
            merging.table.is_consistent(self.rw.function()),
            "the value table is not up to date"
        );
    }

    fn look_up_and_merge(&mut self, inst: InstId) {
        if let Some(merging) = &mut self.merging {
            merging.remove_changed(&mut self.rw);
        }
        if self.rw.function().is_live(inst)
            && let Some(known) = self.find_equal(inst)
            && self.merge_pair(known, inst) == inst
            && let Some(merging) = &mut self.merging
        {
            // The table still contains the erased one.
            merging.pending_lookups.push(inst);
        }
    }

    // Returns the equal instruction of the table that dominates this one. If this one dominates equal ones, they are merged.
    fn find_equal(&mut self, inst: InstId) -> Option<InstId> {
        if self.rw.op_key(inst) == self.constant_op() {
            self.stats.merged += usize::from(self.rw.deduplicate_constant(inst));
            return None;
        }
        let merging = self.merging.as_mut()?;
        match merging.table.find_or_insert(self.rw.function(), inst) {
            Lookup::New => None,
            Lookup::DominatedBy(other) => Some(other),
            Lookup::Dominates(others) => {
                others.into_iter().fold(inst, |kept, other| self.merge_pair(kept, other));
                None
            }
        }
    }

    // Merges two equal instructions of which the first dominates the other. If the second has many uses, it is moved up and the
    // first is erased: a long list of uses is not moved for each new dominating instruction. Returns the one that is left.
    fn merge_pair(&mut self, first: InstId, other: InstId) -> InstId {
        let f = self.rw.function();
        let same_body = f.body_of(first) == f.body_of(other);
        if same_body
            && has_more_uses(f, other, first)
            && self.rw.move_before_duplicate(other, first).is_ok()
        {
            self.replace_by_equal(first, other);
            return other;
        }
        self.replace_by_equal(other, first);
        first
    }

    fn replace_by_equal(&mut self, duplicate: InstId, kept: InstId) {
        let mut values: SmallVec<[_; 4]> = SmallVec::new();
        self.rw.function().inst_results(kept).for_each(|value| values.push(value));
        if self.rw.replace_inst_as_step(StepKind::Cse, duplicate, &values).is_ok() {
            self.stats.merged += 1;
        }
    }

    /// Merges equal instructions with regions. Returns true if there were any.
    pub(super) fn merge_regions(&mut self) -> bool {
        let Some(merging) = &mut self.merging else { return false };
        let due = std::mem::take(&mut merging.regions_due);
        if !due || self.rw.function().body_capacity() == 1 {
            return false;
        }
        merging.remove_changed(&mut self.rw);
        let regions = RegionHashes::new(self.rw.function());
        let order: Vec<InstId> = self.rw.function().walk_post_order().collect();
        let merged = merge_in_order(&mut self.rw, &order, &mut merging.table, Some(regions));
        self.stats.merged += merged;
        self.merge_changed();
        self.merge_wide();
        merged > 0
    }
}

// Returns true if an instruction has many uses, and more than another. Takes time linear in the shorter list.
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
