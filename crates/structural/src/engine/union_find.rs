//! Classes of nodes found equal, with undo.
//!
//! A node is two elements, one per side: what `x` is on the left says nothing of `x` on the right.
//! Every pair that is compared in full joins two classes, so there are at most as many of those as
//! there are shared nodes, however differently the two graphs share.

use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use super::scopes::{Owner, Scopes};
use super::state::Side;

type HashMap<K, V> = hashbrown::HashMap<K, V, FxBuildHasher>;

#[derive(Debug)]
struct Element {
    parent: u32,
    size: u32,
    owner: Owner,
    epoch: u32,
    touched: Option<Rc<[u32]>>,
}

#[derive(Debug, Default)]
pub(crate) struct Classes {
    elements: Vec<Element>,
    of_node: [HashMap<usize, u32>; 2],
    epoch: u32,
}

/// How to take back one change.
#[derive(Debug)]
pub(crate) enum Undo {
    Element(Side, usize, Option<u32>),
    Union(u32),
}

impl Classes {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.epoch += 1;
    }

    /// The scopes that the equality of `left` and `right` rests on, if it is known.
    pub(crate) fn known(&self, scopes: &Scopes, left: usize, right: usize) -> Option<&[u32]> {
        let left = self.root(scopes, Side::Left, left)?;
        let right = self.root(scopes, Side::Right, right)?;
        (left == right).then(|| self.elements[left as usize].touched.as_deref().unwrap_or(&[]))
    }

    /// `left` and `right` are equal as long as `owner` is open.
    pub(crate) fn join(
        &mut self,
        scopes: &Scopes,
        (left, right): (usize, usize),
        owner: Owner,
        touched: Option<Rc<[u32]>>,
        mut undo: impl FnMut(Undo),
    ) -> bool {
        let mut root = |this: &mut Self, side, node| {
            this.root(scopes, side, node).unwrap_or_else(|| {
                let element = this.elements.len() as u32;
                this.elements.push(Element {
                    parent: element,
                    size: 1,
                    owner,
                    epoch: this.epoch,
                    touched: touched.clone(),
                });
                let old = this.of_node[side as usize].insert(node, element);
                undo(Undo::Element(side, node, old));
                element
            })
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

    fn root(&self, scopes: &Scopes, side: Side, node: usize) -> Option<u32> {
        let mut element = *self.of_node[side as usize].get(&node)?;
        let found = &self.elements[element as usize];
        if found.epoch != self.epoch || !scopes.current(found.owner) {
            return None;
        }
        while self.elements[element as usize].parent != element {
            element = self.elements[element as usize].parent;
        }
        Some(element)
    }
}
