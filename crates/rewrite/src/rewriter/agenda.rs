//! What changed since it was last looked at: the driver's listener.

use sapwood_ptir::{Function, InstId, ValueDef, ValueId};

/// Bits of the state of an instruction.
const CHANGED: u8 = 1;

/// Notes changed instructions, each once, and definitions that lost their last use.
#[derive(Default)]
pub(crate) struct Agenda {
    enabled: bool,
    state: Vec<u8>,
    changed: Vec<InstId>,
    unused: Vec<InstId>,
    // Every change, erased instructions included, in order: for the value table.
    log: Option<Vec<InstId>>,
}

impl Agenda {
    /// One that takes notes; the default one does not.
    pub(crate) fn enabled(capacity: usize) -> Self {
        Self { enabled: true, state: vec![0; capacity], ..Self::default() }
    }

    /// Whether it takes notes.
    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The instruction is new or other than before.
    pub(crate) fn mark(&mut self, inst: InstId) {
        if !self.enabled {
            return;
        }
        if let Some(log) = &mut self.log {
            log.push(inst);
        }
        self.touch(inst);
    }

    /// The instruction is what it was, but sees something else: nothing for the log.
    pub(crate) fn touch(&mut self, inst: InstId) {
        if self.state.len() <= inst.index() {
            self.state.resize(inst.index() + 1, 0);
        }
        let state = &mut self.state[inst.index()];
        if *state & CHANGED == 0 {
            *state |= CHANGED;
            self.changed.push(inst);
        }
    }

    /// The instruction is going, or stands elsewhere now: for the log alone.
    pub(crate) fn note(&mut self, inst: InstId) {
        if let Some(log) = &mut self.log {
            log.push(inst);
        }
    }

    /// From now on every change is logged.
    pub(crate) fn keep_log(&mut self) {
        self.log.get_or_insert_with(Vec::new);
    }

    /// Whether every change is logged.
    pub(crate) fn keeps_log(&self) -> bool {
        self.log.is_some()
    }

    /// Forgets the changes that were not taken from the log yet.
    pub(crate) fn clear_log(&mut self) {
        self.log.iter_mut().for_each(Vec::clear);
    }

    /// The latest change that was not taken from the log yet.
    pub(crate) fn pop_log(&mut self) -> Option<InstId> {
        self.log.as_mut()?.pop()
    }

    /// A value has fewer uses than before: at most one use, or one user, is something a pattern may ask for.
    pub(crate) fn fewer_uses(&mut self, f: &Function, value: ValueId) {
        if !self.enabled || !f.is_live_value(value) {
            return;
        }
        // The owner of a loop asks what depends on a carried value, however deep inside.
        let owner = match f.value_def(value) {
            ValueDef::Param(body, _) => f.body_owner(body),
            ValueDef::Result(inst, _) => f.body_of(inst).and_then(|b| f.body_owner(b)),
        };
        if let Some(owner) = owner {
            self.mark(owner);
        }
        let unused = f.unused(value);
        if !unused && !one_user(f, value) {
            return;
        }
        match f.value_def(value) {
            ValueDef::Result(inst, _) if unused => self.unused.push(inst),
            ValueDef::Result(inst, _) => self.mark(inst),
            // The one user that is left may ask for that.
            ValueDef::Param(..) => {
                if let Some(left) = f.uses(value).next() {
                    self.mark(left.user);
                }
            }
        }
    }

    /// A definition that lost its last use, if there is one not looked at yet.
    pub(crate) fn pop_unused(&mut self) -> Option<InstId> {
        self.unused.pop()
    }

    /// Takes the instructions that changed since the last call.
    pub(crate) fn take_changed(&mut self, into: &mut Vec<InstId>) {
        into.clear();
        std::mem::swap(into, &mut self.changed);
        for inst in into {
            self.state[inst.index()] &= !CHANGED;
        }
    }
}

/// How many uses are looked at to tell whether one instruction is the only user.
const MOST_USES_OF_ONE: usize = 8;

/// Whether exactly one instruction uses a value, in at most eight operands. Bounded, so that asking it after every edit
/// costs nothing on values with many uses.
pub(crate) fn one_user(f: &Function, value: ValueId) -> bool {
    let mut uses = f.uses(value);
    let Some(first) = uses.next() else { return false };
    for _ in 0..MOST_USES_OF_ONE {
        match uses.next() {
            None => return true,
            Some(u) if u.user != first.user => return false,
            Some(_) => {}
        }
    }
    false
}
