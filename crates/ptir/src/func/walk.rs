//! Iterators over instructions: of one body, and of nested regions in pre-order and post-order.

use super::{Function, OrderMark};
use crate::ids::{BodyId, InstId};

/// An iterator over the instructions of one body.
#[derive(Clone)]
pub struct BodyInsts<'a> {
    function: &'a Function,
    next: InstId,
}

impl<'a> BodyInsts<'a> {
    pub(super) fn new(function: &'a Function, body: BodyId) -> Self {
        Self { function, next: function.bodies[body.index()].first }
    }
}

impl Iterator for BodyInsts<'_> {
    type Item = InstId;

    fn next(&mut self) -> Option<InstId> {
        let inst = self.next.some()?;
        self.next = self.function.insts[inst.index()].next;
        Some(inst)
    }
}

/// An iterator over the instructions in and below a body, in the order of the text (pre-order). Uses constant memory,
/// however deep regions nest.
#[derive(Clone)]
pub struct PreOrderWalk<'a> {
    function: &'a Function,
    root: BodyId,
    next: InstId,
}

impl<'a> PreOrderWalk<'a> {
    pub(super) fn new(function: &'a Function, root: BodyId) -> Self {
        Self { function, root, next: function.bodies[root.index()].first }
    }
}

impl Iterator for PreOrderWalk<'_> {
    type Item = InstId;

    fn next(&mut self) -> Option<InstId> {
        let inst = self.next.some()?;
        let f = self.function;
        let data = &f.insts[inst.index()];
        if data.region_len == 0 && !data.next.is_none() {
            self.next = data.next;
            return Some(inst);
        }
        let nested = f.regions(inst).iter().find_map(|b| f.bodies[b.index()].first.some());
        self.next =
            nested.or_else(|| f.next_after_subtree(inst, self.root)).unwrap_or(InstId::NONE);
        Some(inst)
    }
}

/// An iterator over the instructions of a function in post-order. Uses constant memory, however deep regions nest.
#[derive(Clone)]
pub struct PostOrderWalk<'a> {
    function: &'a Function,
    at: Option<OrderMark>,
}

impl<'a> PostOrderWalk<'a> {
    pub(super) fn new(function: &'a Function) -> Self {
        Self { function, at: Some(OrderMark::Enter(function.body())) }
    }
}

impl Iterator for PostOrderWalk<'_> {
    type Item = InstId;

    fn next(&mut self) -> Option<InstId> {
        if let Some(OrderMark::Inst(inst)) = self.at
            && let Some(next) = self.function.insts[inst.index()].next.some()
            && self.function.insts[next.index()].region_len == 0
        {
            self.at = Some(OrderMark::Inst(next));
            return Some(next);
        }
        loop {
            self.at = self.function.next_mark(self.at?);
            if let Some(OrderMark::Inst(inst)) = self.at {
                return Some(inst);
            }
        }
    }
}

impl Function {
    // Returns the instruction that follows `inst` and all its regions, within `root`.
    fn next_after_subtree(&self, mut inst: InstId, root: BodyId) -> Option<InstId> {
        loop {
            let data = &self.insts[inst.index()];
            if let Some(next) = data.next.some() {
                return Some(next);
            }
            if data.parent == root || data.parent.is_none() {
                return None;
            }
            let body = &self.bodies[data.parent.index()];
            let owner = body.owner.some()?;
            let later = self.regions(owner)[body.slot as usize + 1..]
                .iter()
                .find_map(|b| self.bodies[b.index()].first.some());
            if later.is_some() {
                return later;
            }
            inst = owner;
        }
    }
}
