//! Sets of instructions in program order, with O(log n) insertion, removal and search.
//!
//! Treaps. Instructions are compared by where they stand now, which edits of the function never change for two that
//! stay; removal needs no comparison, so what is gone can still be taken out.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId};

const NONE: u32 = u32::MAX;

struct Node {
    inst: InstId,
    parent: u32,
    // Left and right.
    children: [u32; 2],
}

/// The root of one set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Root(u32);

/// Storage of many sets. An instruction is in at most one of them.
#[derive(Default)]
pub(super) struct OrderedSets {
    nodes: Vec<Node>,
    free: Vec<u32>,
    by_inst: HashMap<InstId, u32, FxBuildHasher>,
}

// Any fixed function of the id makes the tree balanced in expectation; the order of its elements does not depend on it.
fn priority(inst: InstId) -> u32 {
    let mut x = inst.index() as u32 ^ 0x9e37_79b9;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

impl OrderedSets {
    /// A set of one.
    pub(super) fn single(&mut self, inst: InstId) -> Root {
        let node = Node { inst, parent: NONE, children: [NONE; 2] };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.by_inst.insert(inst, id);
        Root(id)
    }

    /// Adds an instruction.
    pub(super) fn insert(&mut self, f: &Function, root: &mut Root, inst: InstId) {
        let Root(new) = self.single(inst);
        let mut at = root.0;
        loop {
            let side = usize::from(f.is_before(self.nodes[at as usize].inst, inst));
            match self.nodes[at as usize].children[side] {
                NONE => {
                    self.nodes[at as usize].children[side] = new;
                    self.nodes[new as usize].parent = at;
                    break;
                }
                child => at = child,
            }
        }
        while self.nodes[new as usize].parent != NONE {
            let parent = self.nodes[new as usize].parent;
            if priority(self.nodes[parent as usize].inst) >= priority(inst) {
                return;
            }
            self.rotate_up(new);
        }
        root.0 = new;
    }

    /// Takes an instruction out. Gives what is left of its set, whose root was `root`.
    pub(super) fn remove(&mut self, root: Root, inst: InstId) -> Option<Root> {
        let Some(node) = self.by_inst.remove(&inst) else { return Some(root) };
        let mut root = root.0;
        loop {
            let [left, right] = self.nodes[node as usize].children;
            let child = match (left, right) {
                (NONE, NONE) => break,
                (NONE, child) | (child, NONE) => child,
                (a, b) => {
                    let up = priority(self.nodes[a as usize].inst)
                        > priority(self.nodes[b as usize].inst);
                    if up { a } else { b }
                }
            };
            self.rotate_up(child);
            if root == node {
                root = child;
            }
        }
        let parent = self.nodes[node as usize].parent;
        self.free.push(node);
        if parent == NONE {
            return None;
        }
        let side = usize::from(self.nodes[parent as usize].children[1] == node);
        self.nodes[parent as usize].children[side] = NONE;
        Some(Root(root))
    }

    /// The last one before an instruction, and the first one after it.
    pub(super) fn neighbours(
        &self,
        f: &Function,
        root: Root,
        inst: InstId,
    ) -> (Option<InstId>, Option<InstId>) {
        let (mut before, mut after) = (None, None);
        let mut at = root.0;
        while at != NONE {
            let node = &self.nodes[at as usize];
            if f.is_before(node.inst, inst) {
                before = Some(node.inst);
                at = node.children[1];
            } else {
                if node.inst != inst {
                    after = Some(node.inst);
                }
                at = node.children[0];
            }
        }
        (before, after)
    }

    /// The root of the set an instruction is in.
    pub(super) fn root_of(&self, inst: InstId) -> Option<Root> {
        let mut at = *self.by_inst.get(&inst)?;
        while self.nodes[at as usize].parent != NONE {
            at = self.nodes[at as usize].parent;
        }
        Some(Root(at))
    }

    /// The only one of a set, if there is only one.
    pub(super) fn only(&self, root: Root) -> Option<InstId> {
        let node = &self.nodes[root.0 as usize];
        (node.children == [NONE; 2]).then_some(node.inst)
    }

    /// The one at the root of a set.
    pub(super) fn any(&self, root: Root) -> InstId {
        self.nodes[root.0 as usize].inst
    }

    fn rotate_up(&mut self, node: u32) {
        let parent = self.nodes[node as usize].parent;
        let above = self.nodes[parent as usize].parent;
        let side = usize::from(self.nodes[parent as usize].children[1] == node);
        let inner = self.nodes[node as usize].children[1 - side];
        self.nodes[parent as usize].children[side] = inner;
        if inner != NONE {
            self.nodes[inner as usize].parent = parent;
        }
        self.nodes[node as usize].children[1 - side] = parent;
        self.nodes[parent as usize].parent = node;
        self.nodes[node as usize].parent = above;
        if above != NONE {
            let side = usize::from(self.nodes[above as usize].children[1] == parent);
            self.nodes[above as usize].children[side] = node;
        }
    }
}
