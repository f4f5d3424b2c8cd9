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

    #[inline]
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

    #[inline]
    fn next(&mut self) -> Option<InstId> {
        let inst = self.next.some()?;
        let data = &self.layout.insts[inst.index()];
        let simple = data.region_len == 0 && !data.next.is_none();
        self.next = if simple { data.next } else { self.layout.next_in_pre_order(inst, self.root) };
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

    #[inline]
    fn next(&mut self) -> Option<InstId> {
        if let Some(OrderMark::Inst(inst)) = self.at
            && let Some(next) = self.layout.insts[inst.index()].next.some()
            && self.layout.insts[next.index()].region_len == 0
        {
            self.at = Some(OrderMark::Inst(next));
            return Some(next);
        }
        self.at = self.layout.next_inst_mark(self.at?);
        match self.at {
            Some(OrderMark::Inst(inst)) => Some(inst),
            _ => None,
        }
    }
}

impl Layout {
    // Returns the mark of the first instruction after a mark, in post-order.
    #[inline(never)]
    fn next_inst_mark(&self, mut mark: OrderMark) -> Option<OrderMark> {
        loop {
            mark = self.next_mark(mark)?;
            if let OrderMark::Inst(_) = mark {
                return Some(mark);
            }
        }
    }

    // Returns the instruction after `inst` in pre-order, within `root`.
    #[inline(never)]
    fn next_in_pre_order(&self, inst: InstId, root: BodyId) -> InstId {
        let nested = self.regions(inst).iter().find_map(|&b| self.first_inst(b));
        nested.or_else(|| self.next_after_subtree(inst, root)).unwrap_or(InstId::NONE)
    }

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
