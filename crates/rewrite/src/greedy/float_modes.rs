//! The float modes of a run. It starts in the exact mode; a freer mode starts from the fixpoint of the stricter one, so that more freedom does
//! not lead to a worse fixpoint.

use sapwood_ptir::InstId;

use super::driver::GreedyDriver;
use crate::FloatMode;
use crate::pattern::PatternId;

/// The patterns of an instruction to try again in a freer float mode.
#[derive(Clone, Copy, Default)]
pub(super) struct ModeRetries {
    // A bit for each gated pattern of the bucket.
    pub(super) gated: u64,
    // The patterns that are not gated.
    pub(super) others: bool,
}

impl ModeRetries {
    fn add(&mut self, more: Self) {
        self.gated |= more.gated;
        self.others |= more.others;
    }
}

impl GreedyDriver<'_> {
    /// Starts a round in the next float mode, of the instructions at which it may enable a pattern.
    pub(super) fn start_next_mode(&mut self) -> bool {
        while self.modes.now != self.modes.last {
            self.modes.now = match self.modes.now {
                FloatMode::Exact => FloatMode::Nsz,
                _ => FloatMode::Fast,
            };
            self.mode_retries.clear();
            for (inst, retries) in std::mem::take(&mut self.waiting_for_mode) {
                if self.rw.function().is_live(inst) {
                    self.mode_retries.entry(inst).or_default().add(retries);
                    self.worklist.push(inst);
                }
            }
            if self.start_queued_round() {
                return true;
            }
        }
        false
    }

    /// Tries a pattern, and returns true if it fired. If it did not, and might in a freer mode, it is noted.
    pub(super) fn attempt_in_mode(
        &mut self,
        id: PatternId,
        inst: InstId,
        retry: &mut bool,
    ) -> bool {
        self.waits_for_float_mode = false;
        let fired = self.attempt(id, inst);
        *retry |= !fired && self.waits_for_float_mode && self.modes.now != self.modes.last;
        fired
    }
}
