//! The canonical order of the operands of commutative instructions.

use sapwood_ptir::structural::misordered_operands;

use super::driver::GreedyDriver;
use super::{GreedyStats, Limit};
use crate::rewriter::StepKind;

/// The name of the steps that order operands.
const ORDER_STEP: &str = "canonical_operand_order";

impl GreedyDriver<'_> {
    /// Swaps the operands that are not in canonical order, and starts a round if a pattern may read one of them. Returns false if there is
    /// nothing to do.
    pub(super) fn order_operands(&mut self) -> bool {
        let changes = |stats: &GreedyStats| stats.rewrites + stats.folds + stats.merged;
        if !self.config.order_operands || self.ordered_at == Some(changes(&self.stats)) {
            return false;
        }
        for inst in misordered_operands(self.rw.function()) {
            if self.stats.rewrites + self.stats.folds >= self.budget {
                self.record_limit(Limit::Rewrites(self.budget));
                return false;
            }
            self.rw.notify_step(StepKind::Pattern(ORDER_STEP), inst);
            self.stats.rewrites += usize::from(self.rw.swap_equivalent_operands(inst).is_ok());
        }
        self.ordered_at = Some(changes(&self.stats));
        self.requeue_swapped();
        self.merge_changed();
        self.requeue_changed();
        self.start_queued_round()
    }
}
