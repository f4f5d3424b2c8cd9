//! What is to be looked at: this round in program order, and what changed for the next.

use sapwood_ptir::{Function, InstId};

use crate::rewriter::WIDE;

const PENDING: u8 = 1;
const NEXT: u8 = 2;
const FROZEN: u8 = 4;
const LATE: u8 = 8;

/// The instructions of this round and of the next.
#[derive(Default)]
pub(super) struct Queue {
    state: Vec<u8>,
    now: Vec<InstId>,
    next: Vec<InstId>,
    // What patterns without benefit wait for: looked at when there is nothing else.
    late: Vec<InstId>,
    // Scratch for sorting.
    keys: Vec<(u64, InstId)>,
}

impl Queue {
    /// Everything but what `skip` says, in program order.
    pub(super) fn seed(f: &Function, skip: impl Fn(InstId) -> bool, top_down: bool) -> Self {
        let mut now: Vec<InstId> = Vec::with_capacity(f.num_insts());
        now.extend(f.walk_post_order().filter(|&i| !skip(i)));
        if top_down {
            now.reverse();
        }
        let mut state = vec![0; f.inst_capacity()];
        for inst in &now {
            state[inst.index()] = PENDING;
        }
        Self { state, now, ..Self::default() }
    }

    /// The next instruction of this round: the last one, or the first if top-down.
    pub(super) fn pop(&mut self) -> Option<InstId> {
        while let Some(inst) = self.now.pop() {
            if self.state[inst.index()] & PENDING != 0 {
                return Some(inst);
            }
        }
        None
    }

    /// The instruction is being looked at.
    pub(super) fn visited(&mut self, inst: InstId) {
        self.state[inst.index()] &= !PENDING;
    }

    /// Whether the instruction is still to be looked at in this round.
    pub(super) fn is_pending(&self, inst: InstId) -> bool {
        self.state.get(inst.index()).is_some_and(|s| s & PENDING != 0)
    }

    /// The instruction is looked at in the next round.
    pub(super) fn push(&mut self, inst: InstId) {
        let state = self.state_of(inst);
        if *state & (NEXT | FROZEN) == 0 {
            *state |= NEXT;
            self.next.push(inst);
        }
    }

    /// The instruction is looked at once more when nothing else is left.
    pub(super) fn push_late(&mut self, inst: InstId) {
        let state = self.state_of(inst);
        if *state & (LATE | FROZEN) == 0 {
            *state |= LATE;
            self.late.push(inst);
        }
    }

    fn state_of(&mut self, inst: InstId) -> &mut u8 {
        if self.state.len() <= inst.index() {
            self.state.resize(inst.index() + 1, 0);
        }
        &mut self.state[inst.index()]
    }

    /// The instruction is never looked at again.
    pub(super) fn freeze(&mut self, inst: InstId) {
        *self.state_of(inst) |= FROZEN;
    }

    /// Starts the next round. Whether there is one.
    pub(super) fn turn(&mut self, f: &Function, top_down: bool) -> bool {
        let mut list = std::mem::take(&mut self.next);
        self.start(f, top_down, &list, NEXT);
        list.clear();
        self.next = list;
        !self.now.is_empty()
    }

    /// Starts a round of what waited until nothing else was left. Whether there is any.
    pub(super) fn turn_late(&mut self, f: &Function, top_down: bool) -> bool {
        let list = std::mem::take(&mut self.late);
        self.start(f, top_down, &list, LATE);
        !self.now.is_empty()
    }

    fn start(&mut self, f: &Function, top_down: bool, list: &[InstId], bit: u8) {
        self.keys.clear();
        for &inst in list {
            self.state[inst.index()] &= !bit;
            if f.is_live(inst) && self.state[inst.index()] & FROZEN == 0 {
                self.keys.push((f.order_key(inst), inst));
            }
        }
        self.keys.sort_unstable_by_key(|&(key, _)| key);
        if top_down {
            self.keys.reverse();
        }
        self.now.clear();
        for &(_, inst) in &self.keys {
            self.state[inst.index()] |= PENDING;
            self.now.push(inst);
        }
    }
}

/// Finds who may have looked at what changed.
#[derive(Default)]
pub(super) struct Readers {
    seen: Vec<bool>,
    reached: Vec<InstId>,
}

impl Readers {
    /// Gives each instruction that reads one of `changed` along at most `hops` definitions, the changed ones included,
    /// once, with how many definitions it is away. The owner of a region reads what is in it. If `wide` is given,
    /// wide instructions are added to it, and those that read them are deferred.
    pub(super) fn each(
        &mut self,
        f: &Function,
        changed: &[InstId],
        hops: u8,
        mut wide: Option<&mut Vec<InstId>>,
        mut found: impl FnMut(InstId, u8),
    ) {
        if self.seen.len() < f.inst_capacity() {
            self.seen.resize(f.inst_capacity(), false);
        }
        self.reached.clear();
        for &inst in changed {
            if f.is_live(inst) && !std::mem::replace(&mut self.seen[inst.index()], true) {
                self.reached.push(inst);
            }
        }
        let mut start = 0;
        for hop in 0..=hops {
            let end = self.reached.len();
            for at in start..end {
                let inst = self.reached[at];
                found(inst, hop);
                if hop == hops {
                    continue;
                }
                let results = f.inst_results(inst);
                let deferred = wide.as_mut().filter(|_| results.len() > WIDE);
                if let Some(wide) = deferred {
                    wide.push(inst);
                } else {
                    for value in results {
                        for u in f.uses(value) {
                            if !std::mem::replace(&mut self.seen[u.user.index()], true) {
                                self.reached.push(u.user);
                            }
                        }
                    }
                }
                let owner = f.body_of(inst).and_then(|b| f.body_owner(b));
                if let Some(owner) = owner
                    && !std::mem::replace(&mut self.seen[owner.index()], true)
                {
                    self.reached.push(owner);
                }
            }
            start = end;
        }
        for inst in &self.reached {
            self.seen[inst.index()] = false;
        }
    }
}
