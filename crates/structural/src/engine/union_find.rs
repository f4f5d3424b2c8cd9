//! Classes of nodes found equal, with undo.
//!
//! A node is two elements, one per side: what `x` is on the left says nothing of `x` on the right.
//! Every pair that is compared in full joins two classes, so there are at most as many of those as
//! there are shared nodes, however differently the two graphs share.

use super::address::ByNode;
use super::scopes::{Kept, Owner, Scopes};
use super::state::Side;

#[derive(Debug)]
struct Element {
    parent: u32,
    size: u32,
    owner: Owner,
    epoch: u32,
    kept: Kept,
}

#[derive(Debug, Default)]
pub(crate) struct Classes {
    elements: Vec<Element>,
    of_node: [ByNode<u32>; 2],
    epoch: u32,
}

/// What is known of two nodes.
pub(crate) enum Known<'c> {
    Nothing,
    /// They are equal, and that rests on this.
    Equal(&'c Kept),
    /// Something, but not where the walk is: a variable hidden in them is bound here.
    NotHere,
}

/// How to take back one change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Undo {
    Element(Side, usize, Option<u32>),
    Union(u32),
}

impl Classes {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.epoch += 1;
    }

    /// How often everything was forgotten: what was begun before must not be remembered.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// What is known of `left` and `right`. `bound` says whether a variable is bound now.
    pub(crate) fn known(
        &self,
        scopes: &Scopes,
        left: usize,
        right: usize,
        bound: impl Fn(Side, usize) -> bool,
    ) -> Known<'_> {
        let elements =
            (self.element(scopes, Side::Left, left), self.element(scopes, Side::Right, right));
        let hides = |element: Option<u32>, side: Side| {
            element.is_some_and(|element| {
                self.elements[element as usize].kept.hidden(side as usize).any(|v| bound(side, v))
            })
        };
        if hides(elements.0, Side::Left) || hides(elements.1, Side::Right) {
            return Known::NotHere;
        }
        match elements {
            (Some(left), Some(right)) if self.root(left) == self.root(right) => {
                Known::Equal(&self.elements[left as usize].kept)
            }
            _ => Known::Nothing,
        }
    }

    /// `left` and `right` are equal as long as `owner` is open. With `anew`, whatever was known of
    /// them holds elsewhere. Whether this is news.
    pub(crate) fn join(
        &mut self,
        scopes: &Scopes,
        (left, right): (usize, usize),
        (owner, kept): (Owner, &Kept),
        anew: bool,
        mut undo: impl FnMut(Undo),
    ) -> bool {
        let mut root = |this: &mut Self, side, node| {
            let known = this.element(scopes, side, node).filter(|_| !anew);
            if let Some(element) = known {
                return this.root(element);
            }
            let element = this.elements.len() as u32;
            this.elements.push(Element {
                parent: element,
                size: 1,
                owner,
                epoch: this.epoch,
                kept: kept.clone(),
            });
            let old = this.of_node[side as usize].insert(node, element);
            undo(Undo::Element(side, node, old));
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
        undo(Undo::Union(lower));
        true
    }

    pub(crate) fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Element(side, node, Some(old)) => {
                self.of_node[side as usize].insert(node, old);
            }
            Undo::Element(side, node, None) => {
                self.of_node[side as usize].remove(&node);
            }
            Undo::Union(lower) => {
                let upper = self.elements[lower as usize].parent;
                self.elements[upper as usize].size -= self.elements[lower as usize].size;
                self.elements[lower as usize].parent = lower;
            }
        }
    }

    /// The element of a node, if what it says still holds.
    fn element(&self, scopes: &Scopes, side: Side, node: usize) -> Option<u32> {
        let element = *self.of_node[side as usize].get(&node)?;
        let found = &self.elements[element as usize];
        (found.epoch == self.epoch && scopes.current(found.owner)).then_some(element)
    }

    fn root(&self, mut element: u32) -> u32 {
        while self.elements[element as usize].parent != element {
            element = self.elements[element as usize].parent;
        }
        element
    }
}
