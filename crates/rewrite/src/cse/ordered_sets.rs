//! Sets of instructions in program order, with O(log n) insertion, removal and search.
//!
//! The sets are treaps. Instructions are compared by their current position. Edits never swap two instructions that stay,
//! and removal needs no comparison, so that erased instructions can still be removed.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId};

const NONE: u32 = u32::MAX;

struct TreapNode {
    inst: InstId,
    parent: u32,
    // The left and the right child.
    children: [u32; 2],
}

/// The root of one set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SetRoot(u32);

/// The storage of many ordered sets. An instruction is in at most one of them.
#[derive(Default)]
pub(super) struct OrderedSets {
    nodes: Vec<TreapNode>,
    free: Vec<u32>,
    by_inst: HashMap<InstId, u32, FxBuildHasher>,
}

// Any fixed function of the id balances the tree in expectation; the order of the elements does not depend on it.
fn priority(inst: InstId) -> u32 {
    let mut x = inst.index() as u32 ^ 0x9e37_79b9;
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

impl OrderedSets {
    /// Creates a set of one instruction.
    pub(super) fn new_set(&mut self, inst: InstId) -> SetRoot {
        let node = TreapNode { inst, parent: NONE, children: [NONE; 2] };
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
        SetRoot(id)
    }

    /// Adds an instruction to a set.
    pub(super) fn insert(&mut self, f: &Function, root: &mut SetRoot, inst: InstId) {
        let SetRoot(new) = self.new_set(inst);
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

    /// Removes an instruction from the set with this root, and returns the root of the rest.
    pub(super) fn remove(&mut self, root: SetRoot, inst: InstId) -> Option<SetRoot> {
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
        Some(SetRoot(root))
    }

    /// Returns the last element before an instruction, and the first one after it.
    pub(super) fn neighbours(
        &self,
        f: &Function,
        root: SetRoot,
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

    /// Returns the root of the set that contains an instruction.
    pub(super) fn root_of(&self, inst: InstId) -> Option<SetRoot> {
        let mut at = *self.by_inst.get(&inst)?;
        while self.nodes[at as usize].parent != NONE {
            at = self.nodes[at as usize].parent;
        }
        Some(SetRoot(at))
    }

    /// Returns the only element of a set, if it has one element.
    pub(super) fn only_element(&self, root: SetRoot) -> Option<InstId> {
        let node = &self.nodes[root.0 as usize];
        (node.children == [NONE; 2]).then_some(node.inst)
    }

    /// Returns the element at the root of a set.
    pub(super) fn root_element(&self, root: SetRoot) -> InstId {
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
