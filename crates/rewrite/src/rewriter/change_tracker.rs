//! The change tracker: the instructions that changed since the driver last asked.

use sapwood_ptir::{Function, InstId, ValueDef, ValueId};

/// A bit of the state of an instruction: it is in `changed`. The other bits are the time of its last change.
const IN_CHANGED_LIST: u32 = 1;

/// The step of the clock: the lowest bit of a state is not part of the time.
const TICK: u32 = 2;

/// The last time. From then on, everything counts as just changed.
const END_OF_TIME: u32 = u32::MAX - 1;

/// The number of definitions away from an instruction up to which changes are searched. Patterns that read further are tried
/// again whenever their root is visited.
pub(crate) const MAX_CACHED_HOPS: u8 = 2;

/// The number of operands of one instruction whose definitions are examined to find the nearest change.
const MAX_EXAMINED_OPERANDS: usize = 4;

/// A list of the changed instructions, each once, and of the definitions that lost their last use.
#[derive(Default)]
pub(crate) struct ChangeTracker {
    enabled: bool,
    // Advances with every change, also if changes are not recorded.
    clock: u32,
    state: Vec<u32>,
    changed: Vec<InstId>,
    unused: Vec<InstId>,
    // Every change in order, erased instructions included: the value table reads it.
    log: Option<Vec<InstId>>,
}

impl ChangeTracker {
    /// Returns a tracker that records changes; the default one records nothing.
    pub(crate) fn enabled(capacity: usize) -> Self {
        Self { enabled: true, clock: TICK, state: vec![0; capacity], ..Self::default() }
    }

    /// Returns true if changes are recorded.
    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Records that an instruction is new or changed, in the list and in the log.
    pub(crate) fn mark_changed(&mut self, inst: InstId) {
        if !self.enabled {
            return;
        }
        if let Some(log) = &mut self.log {
            log.push(inst);
        }
        self.mark_affected(inst);
    }

    /// Records an instruction that did not change but reads a changed definition: in the list only, not in the log.
    pub(crate) fn mark_affected(&mut self, inst: InstId) {
        if self.state.len() <= inst.index() {
            self.state.resize(inst.index() + 1, 0);
        }
        self.tick();
        let state = &mut self.state[inst.index()];
        if *state & IN_CHANGED_LIST == 0 {
            self.changed.push(inst);
        }
        *state = self.clock | IN_CHANGED_LIST;
    }

    /// Advances the clock: something changes.
    #[inline]
    pub(crate) fn tick(&mut self) {
        self.clock = self.clock.saturating_add(TICK).min(END_OF_TIME);
    }

    /// Returns the time of the latest change; it is not 0 if changes are recorded.
    #[inline]
    pub(crate) fn clock(&self) -> u32 {
        self.clock
    }

    // Returns the time of the last change of an instruction.
    #[inline]
    fn changed_at(&self, inst: InstId) -> u32 {
        self.state.get(inst.index()).map_or(0, |state| state & !IN_CHANGED_LIST)
    }

    /// Returns the latest change of an instruction and of the definitions at most [`MAX_CACHED_HOPS`] away; of everything if there
    /// is too much to examine, or a region.
    pub(crate) fn last_change_near(&self, f: &Function, inst: InstId) -> u32 {
        let mut last = self.changed_at(inst);
        let nearest = nearest_change(f, inst, MAX_CACHED_HOPS, |def| {
            last = last.max(self.changed_at(def));
            false
        });
        if nearest > MAX_CACHED_HOPS { last } else { self.clock }
    }

    /// Returns the distance from an instruction, in definitions, of the nearest change after a time, or a smaller number if there is
    /// too much to examine. It is more than `hops`, or than [`MAX_CACHED_HOPS`], if nothing within them changed.
    #[inline]
    pub(crate) fn distance_of_change(
        &self,
        f: &Function,
        inst: InstId,
        since: u32,
        hops: u8,
    ) -> u8 {
        if self.changed_at(inst) > since || since >= END_OF_TIME {
            return 0;
        }
        nearest_change(f, inst, hops, |def| self.changed_at(def) > since)
    }

    /// Records an instruction that is erased or moved: in the log only.
    pub(crate) fn log_only(&mut self, inst: InstId) {
        if let Some(log) = &mut self.log {
            log.push(inst);
        }
    }

    /// Starts logging every change.
    pub(crate) fn start_log(&mut self) {
        self.log.get_or_insert_with(Vec::new);
    }

    /// Returns true if every change is logged.
    pub(crate) fn is_logging(&self) -> bool {
        self.log.is_some()
    }

    /// Drops the changes that were not taken from the log yet.
    pub(crate) fn clear_log(&mut self) {
        self.log.iter_mut().for_each(Vec::clear);
    }

    /// Takes the latest change from the log.
    pub(crate) fn pop_log(&mut self) -> Option<InstId> {
        self.log.as_mut()?.pop()
    }

    /// Records that a value lost uses: patterns may test for at most one use, or for a single user.
    pub(crate) fn mark_uses_removed(&mut self, f: &Function, value: ValueId) {
        if !self.enabled || !f.is_live_value(value) {
            return;
        }
        // Patterns on a loop ask for everything that depends on a carried value, at any depth of regions.
        let owner = match f.value_def(value) {
            ValueDef::Param(body, _) => f.body_owner(body),
            ValueDef::Result(inst, _) => f.body_of(inst).and_then(|b| f.body_owner(b)),
        };
        if let Some(owner) = owner {
            self.mark_changed(owner);
        }
        let unused = f.unused(value);
        if !unused && !one_user(f, value) {
            return;
        }
        match f.value_def(value) {
            ValueDef::Result(inst, _) if unused => self.unused.push(inst),
            ValueDef::Result(inst, _) => self.mark_changed(inst),
            // A pattern at the one remaining user may test for this.
            ValueDef::Param(..) => {
                if let Some(left) = f.uses(value).next() {
                    self.mark_changed(left.user);
                }
            }
        }
    }

    /// Takes a definition that lost its last use.
    pub(crate) fn pop_unused(&mut self) -> Option<InstId> {
        self.unused.pop()
    }

    /// Takes the instructions that changed since the last call.
    pub(crate) fn take_changed(&mut self, into: &mut Vec<InstId>) {
        into.clear();
        std::mem::swap(into, &mut self.changed);
        for inst in into {
            self.state[inst.index()] &= !IN_CHANGED_LIST;
        }
    }
}

// Returns the distance, in definitions, of the nearest definition that has changed, or a smaller one if there is too much to
// examine. It is one more than `hops`, or than `MAX_CACHED_HOPS`, if none changed. The owner of a region reads everything in it,
// one further away, which is not examined.
fn nearest_change(
    f: &Function,
    inst: InstId,
    hops: u8,
    mut has_changed: impl FnMut(InstId) -> bool,
) -> u8 {
    let has_regions = |inst| f.body_capacity() > 1 && !f.regions(inst).is_empty();
    let operands = f.operands(inst);
    if operands.len() > MAX_EXAMINED_OPERANDS || has_regions(inst) {
        return 1;
    }
    let def = |value: &ValueId| f.inst_of(*value);
    if operands.iter().filter_map(def).any(&mut has_changed) {
        return 1;
    }
    if hops < 2 {
        return 2;
    }
    for near in operands.iter().filter_map(def) {
        let further = f.operands(near);
        let unknown = further.len() > MAX_EXAMINED_OPERANDS || has_regions(near);
        if unknown || further.iter().filter_map(def).any(&mut has_changed) {
            return 2;
        }
    }
    3
}

/// The number of uses that are examined to find out whether a value has a single user.
const MAX_EXAMINED_USES: usize = 8;

/// Returns true if exactly one instruction uses a value, in at most eight operands. The bound makes the test cheap after
/// every edit, also for values with many uses.
pub(crate) fn one_user(f: &Function, value: ValueId) -> bool {
    let mut uses = f.uses(value);
    let Some(first) = uses.next() else { return false };
    for _ in 0..MAX_EXAMINED_USES {
        match uses.next() {
            None => return true,
            Some(u) if u.user != first.user => return false,
            Some(_) => {}
        }
    }
    false
}
