//! Profiles of runs: the time and the memory traffic of each step.

use std::time::Duration;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::func::Function;
use crate::ids::InstId;
use crate::name::Name;

/// The profile of the runs that were given it: one entry per step of the plan that ran.
#[derive(Clone, Default, Debug)]
pub struct RunProfile {
    entries: Vec<ProfileEntry>,
    index: HashMap<(Name, InstId), usize, FxBuildHasher>,
}

/// The time and the memory traffic of one step: an instruction, or a group of instructions that run together.
#[derive(Clone, Debug)]
pub struct ProfileEntry {
    /// The function of the step.
    pub function: Name,
    /// The last instruction of the step.
    pub inst: InstId,
    /// The names of its ops, in order.
    pub ops: Vec<&'static str>,
    /// The number of times it ran.
    pub calls: u64,
    /// The time it took in total.
    pub time: Duration,
    /// The bytes of the elements that it read and wrote in total. Splats count as nothing.
    pub bytes: u64,
}

impl RunProfile {
    /// Returns the entries, those that took the most time first.
    #[must_use]
    pub fn by_time(&self) -> Vec<&ProfileEntry> {
        let mut all: Vec<&ProfileEntry> = self.entries.iter().collect();
        all.sort_by_key(|entry| std::cmp::Reverse(entry.time));
        all
    }

    /// Records one call of a step.
    pub(crate) fn record(
        &mut self,
        (f, inst): (&Function, InstId),
        ops: impl Iterator<Item = &'static str>,
        time: Duration,
        bytes: u64,
    ) {
        let at = *self.index.entry((f.name(), inst)).or_insert_with(|| {
            self.entries.push(ProfileEntry {
                function: f.name(),
                inst,
                ops: ops.collect(),
                calls: 0,
                time: Duration::ZERO,
                bytes: 0,
            });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[at];
        entry.calls += 1;
        entry.time += time;
        entry.bytes = entry.bytes.saturating_add(bytes);
    }
}
