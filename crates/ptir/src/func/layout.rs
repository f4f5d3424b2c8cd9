//! The layout half of a function: in which order and where its instructions are.
//!
//! It holds the order of the instructions of each body, the body that contains each instruction, the regions of each
//! instruction with the owner of each body, and the order labels (see `order`). It does not know what an instruction
//! computes: that is the [`Dfg`](super::dfg::Dfg). Both halves use the same ids.

use smallvec::SmallVec;

use super::InsertPoint;
use super::walk::{BodyInsts, PreOrderWalk};
use crate::ids::{BodyId, InstId};

/// The layout of a function.
#[derive(Clone)]
pub(crate) struct Layout {
    pub(super) insts: Vec<InstNode>,
    pub(super) bodies: Vec<BodyNode>,
    region_pool: Vec<BodyId>,
    // The number of bodies that belong to no instruction. The function's own body does not count.
    pub(super) detached: u32,
}

/// The place of an instruction.
#[derive(Clone)]
pub(super) struct InstNode {
    pub(super) label: u64,
    pub(super) parent: BodyId,
    pub(super) prev: InstId,
    pub(super) next: InstId,
    regions: u32,
    pub(super) region_len: u32,
}

/// The place and contents of a body.
#[derive(Clone)]
pub(super) struct BodyNode {
    pub(super) enter: u64,
    pub(super) exit: u64,
    pub(super) owner: InstId,
    // The position of this body among the regions of its owner.
    pub(super) slot: u32,
    pub(super) first: InstId,
    pub(super) last: InstId,
}

impl Layout {
    pub(super) fn with_capacity(insts: usize) -> Self {
        Self {
            insts: Vec::with_capacity(insts),
            bodies: Vec::new(),
            region_pool: Vec::new(),
            detached: 0,
        }
    }

    /// Creates the node of a new instruction, which is in no body yet.
    #[inline]
    pub(super) fn create_inst(&mut self, regions: &[BodyId]) {
        let inst = InstId::new(self.insts.len());
        let start = self.region_pool.len() as u32;
        if !regions.is_empty() {
            self.region_pool.extend_from_slice(regions);
            self.own_regions(inst, regions);
        }
        self.insts.push(InstNode {
            label: 0,
            parent: BodyId::NONE,
            prev: InstId::NONE,
            next: InstId::NONE,
            regions: start,
            region_len: regions.len() as u32,
        });
    }

    /// Removes the node created last, which is in no body. Its regions lose their owner.
    pub(super) fn uncreate_inst(&mut self) {
        let Some(node) = self.insts.pop() else { return };
        for body in self.region_pool.drain(node.regions as usize..) {
            self.bodies[body.index()].owner = InstId::NONE;
        }
    }

    pub(super) fn create_body(&mut self) {
        self.bodies.push(BodyNode {
            enter: 0,
            exit: 0,
            owner: InstId::NONE,
            slot: 0,
            first: InstId::NONE,
            last: InstId::NONE,
        });
    }

    #[inline]
    pub(crate) fn regions(&self, inst: InstId) -> &[BodyId] {
        let node = &self.insts[inst.index()];
        &self.region_pool[node.regions as usize..(node.regions + node.region_len) as usize]
    }

    #[inline]
    pub(crate) fn has_regions(&self, inst: InstId) -> bool {
        self.insts[inst.index()].region_len > 0
    }

    #[inline]
    pub(crate) fn body_of(&self, inst: InstId) -> Option<BodyId> {
        self.insts[inst.index()].parent.some()
    }

    #[inline]
    pub(crate) fn next_inst(&self, inst: InstId) -> Option<InstId> {
        self.insts[inst.index()].next.some()
    }

    #[inline]
    pub(crate) fn prev_inst(&self, inst: InstId) -> Option<InstId> {
        self.insts[inst.index()].prev.some()
    }

    // Returns the body of an instruction and the instruction before it there.
    pub(super) fn position(&self, inst: InstId) -> (BodyId, InstId) {
        let node = &self.insts[inst.index()];
        (node.parent, node.prev)
    }

    #[inline]
    pub(crate) fn body_owner(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].owner.some()
    }

    #[inline]
    pub(crate) fn first_inst(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].first.some()
    }

    #[inline]
    pub(crate) fn last_inst(&self, body: BodyId) -> Option<InstId> {
        self.bodies[body.index()].last.some()
    }

    /// Returns the position of a region among those of its owner.
    pub(crate) fn region_index(&self, body: BodyId) -> usize {
        self.bodies[body.index()].slot as usize
    }

    pub(crate) fn body_insts(&self, body: BodyId) -> BodyInsts<'_> {
        BodyInsts::new(self, body)
    }

    pub(crate) fn walk_body(&self, body: BodyId) -> PreOrderWalk<'_> {
        PreOrderWalk::new(self, body)
    }

    pub(crate) fn insert_point_body(&self, place: InsertPoint) -> BodyId {
        match place {
            InsertPoint::Before(at) | InsertPoint::After(at) => self.insts[at.index()].parent,
            InsertPoint::Start(body) | InsertPoint::End(body) => body,
        }
    }

    /// Returns the body without owner in which a body is nested.
    #[inline]
    pub(crate) fn root_body(&self, mut body: BodyId) -> BodyId {
        if self.detached == 0 {
            return BodyId::new(0);
        }
        while let Some(owner) = self.body_owner(body) {
            match self.body_of(owner) {
                Some(parent) => body = parent,
                None => break,
            }
        }
        body
    }

    /// Returns whether a body is one of the regions of an instruction or nested in one.
    pub(super) fn is_body_inside(&self, body: BodyId, owner: InstId) -> bool {
        self.regions(owner).iter().any(|&region| self.contains_body(region, body))
    }

    /// Returns whether a body is `outer` or nested in it.
    pub(super) fn contains_body(&self, outer: BodyId, body: BodyId) -> bool {
        let at = self.bodies[body.index()].enter;
        let node = &self.bodies[outer.index()];
        node.enter <= at && at < node.exit && self.root_body(outer) == self.root_body(body)
    }

    /// Returns the instructions and bodies nested in the regions of an instruction.
    pub(super) fn nested(&self, inst: InstId) -> (Vec<InstId>, Vec<BodyId>) {
        let mut insts = Vec::new();
        let mut bodies = self.regions(inst).to_vec();
        let mut at = 0;
        while at < bodies.len() {
            for nested in self.body_insts(bodies[at]) {
                insts.push(nested);
                bodies.extend_from_slice(self.regions(nested));
            }
            at += 1;
        }
        (insts, bodies)
    }

    /// Returns the body with fewer instructions, or the second if the numbers are equal.
    pub(super) fn smaller_body(&self, a: BodyId, b: BodyId) -> BodyId {
        let (mut first, mut second) = (self.walk_body(a), self.walk_body(b));
        loop {
            match (first.next(), second.next()) {
                (_, None) => return b,
                (None, _) => return a,
                (Some(_), Some(_)) => {}
            }
        }
    }

    /// Appends an instruction that is in no body to the end of a body.
    #[inline]
    pub(crate) fn link_last(&mut self, inst: InstId, body: BodyId) {
        let node = &mut self.bodies[body.index()];
        let prev = std::mem::replace(&mut node.last, inst);
        if prev.is_none() {
            node.first = inst;
        } else {
            self.insts[prev.index()].next = inst;
        }
        let node = &mut self.insts[inst.index()];
        (node.parent, node.prev) = (body, prev);
    }

    /// Inserts an instruction that is in no body at a place, without a label.
    pub(crate) fn link(&mut self, inst: InstId, place: InsertPoint) {
        let (body, prev, next) = match place {
            InsertPoint::Before(at) => {
                let node = &self.insts[at.index()];
                (node.parent, node.prev, at)
            }
            InsertPoint::After(at) => {
                let node = &self.insts[at.index()];
                (node.parent, at, node.next)
            }
            InsertPoint::Start(body) => (body, InstId::NONE, self.bodies[body.index()].first),
            InsertPoint::End(body) => return self.link_last(inst, body),
        };
        let node = &mut self.insts[inst.index()];
        (node.parent, node.prev, node.next) = (body, prev, next);
        match prev.some() {
            Some(prev) => self.insts[prev.index()].next = inst,
            None => self.bodies[body.index()].first = inst,
        }
        match next.some() {
            Some(next) => self.insts[next.index()].prev = inst,
            None => self.bodies[body.index()].last = inst,
        }
    }

    /// Removes an instruction from its body, if it is in one.
    pub(super) fn unlink(&mut self, inst: InstId) {
        let node = &mut self.insts[inst.index()];
        let (body, prev, next) = (node.parent, node.prev, node.next);
        if body.is_none() {
            return;
        }
        (node.parent, node.prev, node.next) = (BodyId::NONE, InstId::NONE, InstId::NONE);
        match prev.some() {
            Some(prev) => self.insts[prev.index()].next = next,
            None => self.bodies[body.index()].first = next,
        }
        match next.some() {
            Some(next) => self.insts[next.index()].prev = prev,
            None => self.bodies[body.index()].last = prev,
        }
    }

    /// Sets the regions of an instruction. There may be at most the number that it was created with.
    pub(super) fn set_regions(&mut self, inst: InstId, regions: &[BodyId]) {
        let start = self.insts[inst.index()].regions as usize;
        self.insts[inst.index()].region_len = regions.len() as u32;
        self.region_pool[start..start + regions.len()].copy_from_slice(regions);
        self.own_regions(inst, regions);
    }

    /// Takes the regions of an instruction. They become detached bodies with labels of their own.
    pub(super) fn detach_regions(&mut self, inst: InstId) -> Vec<BodyId> {
        let bodies = self.regions(inst).to_vec();
        self.insts[inst.index()].region_len = 0;
        self.detached += bodies.len() as u32;
        for &body in &bodies {
            self.bodies[body.index()].owner = InstId::NONE;
            self.relabel_body(body);
        }
        bodies
    }

    /// Gives an instruction the regions back that were detached from it.
    pub(super) fn reattach_regions(&mut self, inst: InstId, count: u32) {
        self.insts[inst.index()].region_len = count;
        self.detached -= count;
        let regions: SmallVec<[BodyId; 2]> = SmallVec::from_slice(self.regions(inst));
        self.own_regions(inst, &regions);
        self.label_inserted(inst);
    }

    fn own_regions(&mut self, inst: InstId, regions: &[BodyId]) {
        for (slot, body) in regions.iter().enumerate() {
            let node = &mut self.bodies[body.index()];
            (node.owner, node.slot) = (inst, slot as u32);
        }
    }

    /// Forgets the regions of an erased instruction.
    pub(super) fn clear_regions(&mut self, inst: InstId) {
        self.insts[inst.index()].region_len = 0;
    }

    /// Forgets the instructions of an erased body.
    pub(super) fn clear_body(&mut self, body: BodyId) {
        let node = &mut self.bodies[body.index()];
        (node.first, node.last) = (InstId::NONE, InstId::NONE);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.insts.capacity() * size_of::<InstNode>()
            + self.bodies.capacity() * size_of::<BodyNode>()
            + self.region_pool.capacity() * size_of::<BodyId>()
    }
}
