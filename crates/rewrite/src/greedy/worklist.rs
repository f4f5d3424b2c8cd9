//! The worklist of the driver: the instructions of this round in program order, and those of the next.

use sapwood_ptir::{Function, InstId};

use crate::rewriter::WIDE_THRESHOLD;

const IN_THIS_ROUND: u8 = 1;
const IN_NEXT_ROUND: u8 = 2;
const FROZEN: u8 = 4;
const IN_LATE_ROUND: u8 = 8;

/// The instructions of this round and of the next.
#[derive(Default)]
pub(super) struct Worklist {
    state: Vec<u8>,
    this_round: Vec<InstId>,
    next_round: Vec<InstId>,
    // The instructions with patterns without benefit: visited when nothing else is left.
    late_round: Vec<InstId>,
    // A buffer for sorting.
    sort_buffer: Vec<(u64, InstId)>,
}

impl Worklist {
    /// Fills the worklist with all instructions except those that `skip` selects, in program order.
    pub(super) fn filled(f: &Function, skip: impl Fn(InstId) -> bool, top_down: bool) -> Self {
        let mut this_round: Vec<InstId> = Vec::with_capacity(f.num_insts());
        this_round.extend(f.walk_post_order().filter(|&i| !skip(i)));
        if top_down {
            this_round.reverse();
        }
        let mut state = vec![0; f.inst_capacity()];
        for inst in &this_round {
            state[inst.index()] = IN_THIS_ROUND;
        }
        Self { state, this_round, ..Self::default() }
    }

    /// Takes the next instruction of this round: the last one, or the first if top-down.
    pub(super) fn pop(&mut self) -> Option<InstId> {
        while let Some(inst) = self.this_round.pop() {
            if self.state[inst.index()] & IN_THIS_ROUND != 0 {
                return Some(inst);
            }
        }
        None
    }

    /// Returns the number of instructions that are left in this round, at most.
    pub(super) fn len(&self) -> usize {
        self.this_round.len()
    }

    /// Returns whether an instruction waits for the next round.
    pub(super) fn has_next(&self) -> bool {
        !self.next_round.is_empty()
    }

    /// Marks an instruction as visited in this round.
    pub(super) fn mark_visited(&mut self, inst: InstId) {
        self.state[inst.index()] &= !IN_THIS_ROUND;
    }

    /// Returns true if an instruction is still to be visited in this round.
    pub(super) fn is_pending(&self, inst: InstId) -> bool {
        self.state.get(inst.index()).is_some_and(|s| s & IN_THIS_ROUND != 0)
    }

    /// Adds an instruction to the next round.
    pub(super) fn push(&mut self, inst: InstId) {
        let state = self.state_of(inst);
        if *state & (IN_NEXT_ROUND | FROZEN) == 0 {
            *state |= IN_NEXT_ROUND;
            self.next_round.push(inst);
        }
    }

    /// Adds an instruction to the round that runs when nothing else is left.
    pub(super) fn push_late(&mut self, inst: InstId) {
        let state = self.state_of(inst);
        if *state & (IN_LATE_ROUND | FROZEN) == 0 {
            *state |= IN_LATE_ROUND;
            self.late_round.push(inst);
        }
    }

    fn state_of(&mut self, inst: InstId) -> &mut u8 {
        if self.state.len() <= inst.index() {
            self.state.resize(inst.index() + 1, 0);
        }
        &mut self.state[inst.index()]
    }

    /// Excludes an instruction from all later rounds.
    pub(super) fn freeze(&mut self, inst: InstId) {
        *self.state_of(inst) |= FROZEN;
    }

    /// Starts the next round. Returns false if it is empty.
    pub(super) fn start_next_round(&mut self, f: &Function, top_down: bool) -> bool {
        let mut list = std::mem::take(&mut self.next_round);
        self.start_round(f, top_down, &list, IN_NEXT_ROUND);
        list.clear();
        self.next_round = list;
        !self.this_round.is_empty()
    }

    /// Starts the round of patterns without benefit. Returns false if it is empty.
    pub(super) fn start_late_round(&mut self, f: &Function, top_down: bool) -> bool {
        let list = std::mem::take(&mut self.late_round);
        self.start_round(f, top_down, &list, IN_LATE_ROUND);
        !self.this_round.is_empty()
    }

    fn start_round(&mut self, f: &Function, top_down: bool, list: &[InstId], bit: u8) {
        self.sort_buffer.clear();
        for &inst in list {
            self.state[inst.index()] &= !bit;
            if f.is_live(inst) && self.state[inst.index()] & FROZEN == 0 {
                self.sort_buffer.push((f.order_key(inst), inst));
            }
        }
        self.sort_buffer.sort_unstable_by_key(|&(key, _)| key);
        if top_down {
            self.sort_buffer.reverse();
        }
        self.this_round.clear();
        for &(_, inst) in &self.sort_buffer {
            self.state[inst.index()] |= IN_THIS_ROUND;
            self.this_round.push(inst);
        }
    }
}

/// A search for the instructions whose patterns may have read something that changed.
#[derive(Default)]
pub(super) struct ReaderSearch {
    seen: Vec<bool>,
    reached: Vec<InstId>,
}

impl ReaderSearch {
    /// Calls `found` once with each instruction that reads one of `changed` through at most `hops` definitions, and with the
    /// number of definitions between them; the changed instructions come first, with zero. The owner of a region reads
    /// everything in it. If `wide` is given, wide instructions are added to it, and their readers are deferred.
    pub(super) fn for_each_reader(
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
                let deferred = wide.as_mut().filter(|_| results.len() > WIDE_THRESHOLD);
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
