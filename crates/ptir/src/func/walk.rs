//! Iterators over instructions: of one body, and of nested regions in pre-order and post-order.

use super::{Layout, OrderMark};
use crate::ids::{BodyId, InstId};

/// An iterator over the instructions of one body.
#[derive(Clone)]
pub struct BodyInsts<'a> {
    layout: &'a Layout,
    next: InstId,
}

impl<'a> BodyInsts<'a> {
    pub(super) fn new(layout: &'a Layout, body: BodyId) -> Self {
        Self { layout, next: layout.bodies[body.index()].first }
    }
}

impl Iterator for BodyInsts<'_> {
    type Item = InstId;

    fn next(&mut self) -> Option<InstId> {
        let inst = self.next.some()?;
        self.next = self.layout.insts[inst.index()].next;
        Some(inst)
    }
}

/// An iterator over the instructions in and below a body, in the order of the text (pre-order). Uses constant memory,
/// however deep regions nest.
#[derive(Clone)]
pub struct PreOrderWalk<'a> {
    layout: &'a Layout,
    root: BodyId,
    next: InstId,
}

impl<'a> PreOrderWalk<'a> {
    pub(super) fn new(layout: &'a Layout, root: BodyId) -> Self {
        Self { layout, root, next: layout.bodies[root.index()].first }
    }
}

impl Iterator for PreOrderWalk<'_> {
    type Item = InstId;

    fn next(&mut self) -> Option<InstId> {
        let inst = self.next.some()?;
        let layout = self.layout;
        let data = &layout.insts[inst.index()];
        if data.region_len == 0 && !data.next.is_none() {
            self.next = data.next;
            return Some(inst);
        }
        let nested = layout.regions(inst).iter().find_map(|&b| layout.first_inst(b));
        self.next =
            nested.or_else(|| layout.next_after_subtree(inst, self.root)).unwrap_or(InstId::NONE);
        Some(inst)
    }
}

/// An iterator over the instructions of a function in post-order. Uses constant memory, however deep regions nest.
#[derive(Clone)]
pub struct PostOrderWalk<'a> {
    layout: &'a Layout,
    at: Option<OrderMark>,
}

impl<'a> PostOrderWalk<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        Self { layout, at: Some(OrderMark::Enter(BodyId::new(0))) }
    }
}

impl Iterator for PostOrderWalk<'_> {
    type Item = InstId;

    fn next(&mut self) -> Option<InstId> {
        if let Some(OrderMark::Inst(inst)) = self.at
            && let Some(next) = self.layout.insts[inst.index()].next.some()
            && self.layout.insts[next.index()].region_len == 0
        {
            self.at = Some(OrderMark::Inst(next));
            return Some(next);
        }
        loop {
            self.at = self.layout.next_mark(self.at?);
            if let Some(OrderMark::Inst(inst)) = self.at {
                return Some(inst);
            }
        }
    }
}

impl Layout {
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
                .find_map(|&b| self.first_inst(b));
            if later.is_some() {
                return later;
            }
            inst = owner;
        }
    }
}
