//! The failure cache: the patterns of an instruction that failed are not tried again until something that they may read changes.

use sapwood_ptir::InstId;

use crate::rewriter::ProgramRewriter;

/// For each instruction, the version of the program at which all its patterns failed; 0 if they did not.
///
/// A pattern reads the root and the definitions at most `hops` away from it. So an entry is kept per instruction, not per
/// pattern: what a pattern may read follows from the distance of the nearest change and from the hops of the pattern.
pub(super) struct FailureCache {
    // `None` if the cache is disabled.
    failed_at: Option<Vec<u32>>,
    skips_next: bool,
}

impl FailureCache {
    /// Returns an empty cache for this number of instructions; a disabled one finds nothing.
    pub(super) fn new(enabled: bool, capacity: usize) -> Self {
        Self { failed_at: enabled.then(|| vec![0; capacity]), skips_next: false }
    }

    /// Ignores the next record: an attempt failed for a reason that a pattern does not read.
    pub(super) fn skip_next_record(&mut self) {
        self.skips_next = true;
    }

    /// Records that all patterns of an instruction have failed in the current state.
    #[inline]
    pub(super) fn record(&mut self, rw: &ProgramRewriter<'_>, inst: InstId) {
        let Some(failed_at) = &mut self.failed_at else { return };
        if std::mem::take(&mut self.skips_next) {
            return;
        }
        if failed_at.len() <= inst.index() {
            failed_at.resize(rw.function().inst_capacity(), 0);
        }
        failed_at[inst.index()] = rw.changes.clock();
    }

    /// Returns the distance of the nearest change, in definitions from an instruction, since its patterns failed: patterns of
    /// fewer hops fail again. Returns 0 if they did not fail before.
    #[inline]
    pub(super) fn distance_of_change(
        &self,
        rw: &ProgramRewriter<'_>,
        inst: InstId,
        hops: u8,
    ) -> u8 {
        match self.failed_at.as_ref().and_then(|failed_at| failed_at.get(inst.index())) {
            Some(&failed) if failed != 0 => rw.distance_of_change(inst, failed, hops),
            _ => 0,
        }
    }
}
