//! Uses of values: a doubly linked list through the operands, so that adding and removing a use is O(1).

use super::dfg::{Dfg, NO_HINT, ValueData};
use crate::ids::{InstId, TypeId, ValueId};

pub(crate) const NUM_FREE_LISTS: usize = 9;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
pub(crate) struct UseLink {
    pub(crate) user: InstId,
    pub(crate) prev: u32,
    pub(crate) next: u32,
}

/// A use of a value: one operand of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The instruction that uses the value.
    pub user: InstId,
    /// The position of the operand.
    pub index: usize,
}

/// The uses of one value, most recent first.
#[derive(Clone)]
pub struct Uses<'a> {
    dfg: &'a Dfg,
    next: u32,
}

impl Iterator for Uses<'_> {
    type Item = Use;

    #[inline]
    fn next(&mut self) -> Option<Use> {
        if self.next == NONE {
            return None;
        }
        let slot = self.next;
        let link = self.dfg.use_links[slot as usize];
        self.next = link.next;
        let start = self.dfg.insts[link.user.index()].operands;
        Some(Use { user: link.user, index: (slot - start) as usize })
    }
}

impl Dfg {
    #[inline]
    pub(crate) fn uses(&self, value: ValueId) -> Uses<'_> {
        Uses { dfg: self, next: self.values[value.index()].first_use }
    }

    #[inline]
    pub(crate) fn unused(&self, value: ValueId) -> bool {
        self.values[value.index()].first_use == NONE
    }

    #[inline]
    pub(crate) fn one_use(&self, value: ValueId) -> bool {
        let first = self.values[value.index()].first_use;
        first != NONE && self.use_links[first as usize].next == NONE
    }

    // Returns the first operand slot that uses a value.
    pub(super) fn first_use(&self, value: ValueId) -> Option<u32> {
        let slot = self.values[value.index()].first_use;
        (slot != NONE).then_some(slot)
    }

    // Returns the operand slots of an instruction.
    pub(super) fn operand_slots(&self, inst: InstId) -> std::ops::Range<u32> {
        let data = &self.insts[inst.index()];
        data.operands..data.operands + data.operand_len
    }

    // Replaces the value in an operand slot.
    pub(super) fn set_operand(&mut self, slot: u32, user: InstId, value: ValueId) {
        self.unlink_use(slot);
        self.operand_pool[slot as usize] = value;
        self.link_use(slot, user);
    }

    // Replaces all operands of an instruction; their number may change.
    pub(crate) fn set_operands(&mut self, inst: InstId, operands: &[ValueId]) {
        let start = if operands.len() <= self.operands(inst).len() {
            self.shrink_operands(inst, operands)
        } else {
            self.free_operands(inst);
            self.alloc_operands(inst, operands)
        };
        let data = &mut self.insts[inst.index()];
        (data.operands, data.operand_len) = (start, operands.len() as u32);
    }

    pub(crate) fn new_value(&mut self, ty: TypeId, def: u32, index: u32) -> ValueId {
        let id = ValueId::new(self.values.len());
        self.values.push(ValueData { ty, def, index, first_use: NONE, hint: NO_HINT });
        id
    }

    #[inline]
    pub(crate) fn link_use(&mut self, slot: u32, user: InstId) {
        let value = self.operand_pool[slot as usize];
        let head = &mut self.values[value.index()].first_use;
        let next = std::mem::replace(head, slot);
        self.use_links[slot as usize] = UseLink { user, prev: NONE, next };
        if next != NONE {
            self.use_links[next as usize].prev = slot;
        }
    }

    #[inline]
    pub(crate) fn unlink_use(&mut self, slot: u32) {
        let UseLink { prev, next, .. } = self.use_links[slot as usize];
        if prev == NONE {
            let value = self.operand_pool[slot as usize];
            self.values[value.index()].first_use = next;
        } else {
            self.use_links[prev as usize].next = next;
        }
        if next != NONE {
            self.use_links[next as usize].prev = prev;
        }
    }

    // Prepends all uses of one value to those of another.
    pub(super) fn move_uses(&mut self, from: ValueId, to: ValueId) {
        let first = std::mem::replace(&mut self.values[from.index()].first_use, NONE);
        let (mut slot, mut last) = (first, NONE);
        while slot != NONE {
            self.operand_pool[slot as usize] = to;
            last = slot;
            slot = self.use_links[slot as usize].next;
        }
        if last == NONE {
            return;
        }
        let next = std::mem::replace(&mut self.values[to.index()].first_use, first);
        self.use_links[last as usize].next = next;
        if next != NONE {
            self.use_links[next as usize].prev = last;
        }
    }

    // Allocates operands in the pool and links them as uses by `user`.
    #[inline]
    pub(crate) fn alloc_operands(&mut self, user: InstId, operands: &[ValueId]) -> u32 {
        let len = operands.len();
        let reused =
            if len < NUM_FREE_LISTS && len > 0 { self.free_operands[len].pop() } else { None };
        let Some(start) = reused else { return self.push_operands(user, operands) };
        self.operand_pool[start as usize..start as usize + len].copy_from_slice(operands);
        for slot in start..start + len as u32 {
            self.link_use(slot, user);
        }
        start
    }

    // Appends operands to the pool and links them as uses by `user`.
    #[inline]
    fn push_operands(&mut self, user: InstId, operands: &[ValueId]) -> u32 {
        let start = self.operand_pool.len() as u32;
        self.operand_pool.extend_from_slice(operands);
        self.use_links.reserve(operands.len());
        for (slot, value) in (start..).zip(operands) {
            let next = std::mem::replace(&mut self.values[value.index()].first_use, slot);
            self.use_links.push(UseLink { user, prev: NONE, next });
            if next != NONE {
                self.use_links[next as usize].prev = slot;
            }
        }
        start
    }

    // Overwrites the operands of an instruction, which has at least this number of them. The remaining slots become
    // free.
    pub(crate) fn shrink_operands(&mut self, inst: InstId, operands: &[ValueId]) -> u32 {
        let data = &self.insts[inst.index()];
        let (start, before) = (data.operands, data.operand_len);
        let len = operands.len() as u32;
        for slot in start..start + before {
            self.unlink_use(slot);
        }
        self.operand_pool[start as usize..(start + len) as usize].copy_from_slice(operands);
        for slot in start..start + len {
            self.link_use(slot, inst);
        }
        let mut left = start + len;
        while left < start + before {
            let run = (start + before - left).min(NUM_FREE_LISTS as u32 - 1);
            self.free_operands[run as usize].push(left);
            left += run;
        }
        start
    }

    pub(crate) fn free_operands(&mut self, inst: InstId) {
        let (start, len) = {
            let data = &mut self.insts[inst.index()];
            (data.operands, std::mem::take(&mut data.operand_len))
        };
        for slot in start..start + len {
            self.unlink_use(slot);
        }
        self.push_free_slots(start, len);
    }

    // Frees the slots of operands whose uses are already unlinked.
    pub(super) fn release_operands(&mut self, inst: InstId) {
        let data = &mut self.insts[inst.index()];
        let (start, len) = (data.operands, std::mem::take(&mut data.operand_len));
        self.push_free_slots(start, len);
    }

    fn push_free_slots(&mut self, start: u32, len: u32) {
        if len > 0 && (len as usize) < NUM_FREE_LISTS {
            self.free_operands[len as usize].push(start);
        }
    }
}
