//! Classes of nodes that were found equal: a union-find structure with undo.
//!
//! A node is two elements, one per side, because a fact about a node on the left says nothing about it on the
//! right. Every pair that is compared in full joins two classes, so there are at most as many full comparisons
//! as shared nodes, however differently the two graphs share.

use super::compare_state::Side;
use super::node_map::NodeMap;
use super::scopes::{ScopeId, ScopeStack, StoredDependencies};

/// A node on one side, as an element of a class.
#[derive(Debug)]
struct ClassElement {
    parent: u32,
    size: u32,
    owner: ScopeId,
    epoch: u32,
    dependencies: StoredDependencies,
}

/// The classes of nodes that were found equal.
#[derive(Debug, Default)]
pub(crate) struct EqualityClasses {
    elements: Vec<ClassElement>,
    of_node: [NodeMap<u32>; 2],
    epoch: u32,
}

/// The result of looking up two nodes.
pub(crate) enum ClassLookup<'c> {
    Unknown,
    /// They are equal, with the dependencies of each node.
    Equal(&'c StoredDependencies, &'c StoredDependencies),
    /// A class is known, but not in the current context: a variable hidden in it is bound here.
    OtherContext,
}

/// An undo entry for one change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClassUndo {
    Element(Side, usize, Option<u32>),
    Union(u32),
}

impl EqualityClasses {
    /// Forgets all classes.
    pub(crate) fn clear(&mut self) {
        self.epoch += 1;
    }

    /// Returns the number of times all classes were forgotten. Pairs opened in an earlier epoch must not be
    /// joined.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Looks up whether `left` and `right` are known to be equal. `bound` tells whether a variable is bound
    /// now.
    pub(crate) fn look_up(
        &self,
        scopes: &ScopeStack,
        left: usize,
        right: usize,
        bound: impl Fn(Side, usize) -> bool,
    ) -> ClassLookup<'_> {
        let elements =
            (self.element(scopes, Side::Left, left), self.element(scopes, Side::Right, right));
        let hides = |element: Option<u32>, side: Side| {
            element.is_some_and(|element| {
                let hidden = self.elements[element as usize].dependencies.hidden(side as usize);
                hidden.iter().any(|&variable| bound(side, variable))
            })
        };
        if hides(elements.0, Side::Left) || hides(elements.1, Side::Right) {
            return ClassLookup::OtherContext;
        }
        match elements {
            (Some(left), Some(right)) if self.root(left) == self.root(right) => ClassLookup::Equal(
                &self.elements[left as usize].dependencies,
                &self.elements[right as usize].dependencies,
            ),
            _ => ClassLookup::Unknown,
        }
    }

    /// Records that `left` and `right` are equal while the scope `owner` is open. With `fresh`, classes known
    /// before are left alone, because they hold in another context. Returns whether the classes were not joined
    /// before.
    pub(crate) fn join(
        &mut self,
        scopes: &ScopeStack,
        (left, right): (usize, usize),
        (owner, dependencies): (ScopeId, &StoredDependencies),
        fresh: bool,
        mut undo: impl FnMut(ClassUndo),
    ) -> bool {
        let mut root = |this: &mut Self, side, node| {
            let known = this.element(scopes, side, node).filter(|_| !fresh);
            if let Some(element) = known {
                return this.root(element);
            }
            let element = this.elements.len() as u32;
            this.elements.push(ClassElement {
                parent: element,
                size: 1,
                owner,
                epoch: this.epoch,
                dependencies: dependencies.clone(),
            });
            let old = this.of_node[side as usize].insert(node, element);
            undo(ClassUndo::Element(side, node, old));
            element
        };
        let mut upper = root(self, Side::Left, left);
        let mut lower = root(self, Side::Right, right);
        if upper == lower {
            return false;
        }
        if self.elements[upper as usize].size < self.elements[lower as usize].size {
            std::mem::swap(&mut upper, &mut lower);
        }
        self.elements[upper as usize].size += self.elements[lower as usize].size;
        self.elements[lower as usize].parent = upper;
        undo(ClassUndo::Union(lower));
        true
    }

    pub(crate) fn undo(&mut self, undo: ClassUndo) {
        match undo {
            ClassUndo::Element(side, node, Some(old)) => {
                self.of_node[side as usize].insert(node, old);
            }
            ClassUndo::Element(side, node, None) => {
                self.of_node[side as usize].remove(&node);
            }
            ClassUndo::Union(lower) => {
                let upper = self.elements[lower as usize].parent;
                self.elements[upper as usize].size -= self.elements[lower as usize].size;
                self.elements[lower as usize].parent = lower;
            }
        }
    }

    /// Returns the element of a node, if it still holds.
    fn element(&self, scopes: &ScopeStack, side: Side, node: usize) -> Option<u32> {
        let element = *self.of_node[side as usize].get(&node)?;
        let found = &self.elements[element as usize];
        (found.epoch == self.epoch && scopes.is_open(found.owner)).then_some(element)
    }

    fn root(&self, mut element: u32) -> u32 {
        while self.elements[element as usize].parent != element {
            element = self.elements[element as usize].parent;
        }
        element
    }
}
