//! What is to be looked at: this round in program order, and what changed for the next.

use sapwood_ptir::{Function, InstId};

const PENDING: u8 = 1;
const NEXT: u8 = 2;
const FROZEN: u8 = 4;

/// The instructions of this round and of the next.
#[derive(Default)]
pub(super) struct Queue {
    state: Vec<u8>,
    now: Vec<InstId>,
    next: Vec<InstId>,
    // Scratch for sorting.
    keys: Vec<(u64, InstId)>,
}

impl Queue {
    /// Everything but what `skip` says, in program order.
    pub(super) fn seed(f: &Function, skip: impl Fn(InstId) -> bool, top_down: bool) -> Self {
        let mut now: Vec<InstId> = Vec::with_capacity(f.num_insts());
        now.extend(f.walk_completed().filter(|&i| !skip(i)));
        if top_down {
            now.reverse();
        }
        let mut state = vec![0; f.inst_capacity()];
        for inst in &now {
            state[inst.index()] = PENDING;
        }
        Self { state, now, next: Vec::new(), keys: Vec::new() }
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

    /// The instruction is looked at in the next round. Whether it was not going to be.
    pub(super) fn push(&mut self, inst: InstId) -> bool {
        if self.state.len() <= inst.index() {
            self.state.resize(inst.index() + 1, 0);
        }
        let state = &mut self.state[inst.index()];
        if *state & (NEXT | FROZEN) != 0 {
            return false;
        }
        *state |= NEXT;
        self.next.push(inst);
        true
    }

    /// The instruction is never looked at again.
    pub(super) fn freeze(&mut self, inst: InstId) {
        if self.state.len() <= inst.index() {
            self.state.resize(inst.index() + 1, 0);
        }
        self.state[inst.index()] |= FROZEN;
    }

    /// Starts the next round. Whether there is one.
    pub(super) fn turn(&mut self, f: &Function, top_down: bool) -> bool {
        self.keys.clear();
        for &inst in &self.next {
            self.state[inst.index()] &= !NEXT;
            if f.is_live(inst) && self.state[inst.index()] & FROZEN == 0 {
                self.keys.push((f.order_key(inst), inst));
            }
        }
        self.next.clear();
        self.keys.sort_unstable_by_key(|&(key, _)| key);
        if top_down {
            self.keys.reverse();
        }
        self.now.clear();
        for &(_, inst) in &self.keys {
            self.state[inst.index()] |= PENDING;
            self.now.push(inst);
        }
        !self.now.is_empty()
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
    /// once, with how many definitions it is away. The owner of a region reads what is in it.
    pub(super) fn each(
        &mut self,
        f: &Function,
        changed: &[InstId],
        hops: u8,
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
                for value in f.inst_results(inst) {
                    for u in f.uses(value) {
                        if !std::mem::replace(&mut self.seen[u.user.index()], true) {
                            self.reached.push(u.user);
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
