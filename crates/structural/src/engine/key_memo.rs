//! What is remembered of nodes inside keys.
//!
//! Every key is hashed as things stand before its container, and keys may hold containers again, so
//! the same node is met under many bindings. What is remembered of it says which bindings it was
//! found under, and is used only where they are the same.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use super::scopes::Kept;
use crate::hasher::Hash128;

/// A variable that a node uses and does not bind: what bound it (nothing if it is free), and its
/// creation number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Use {
    pub(super) variable: usize,
    pub(super) bound: Option<(u32, u32)>,
    pub(super) serial: u64,
}

/// What a node uses and what scopes inside it bind.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    pub(super) uses: Vec<Use>,
    pub(super) scoped: Vec<usize>,
}

impl Variables {
    pub(super) fn add(&mut self, other: &Self) {
        self.uses.extend(&other.uses);
        self.scoped.extend(&other.scoped);
    }

    /// Each once.
    pub(super) fn tidy(&mut self) {
        self.uses.sort_unstable();
        self.uses.dedup();
        self.scoped.sort_unstable();
        self.scoped.dedup();
    }
}

/// The hash of a node at a depth.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) hash: Hash128,
    pub(super) kept: Kept,
    pub(super) variables: Rc<Variables>,
}

/// Hashes by node and depth, shared by all keys of a walk.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyMemo(Rc<RefCell<Table>>);

type Table = hashbrown::HashMap<(usize, u32), Entry, FxBuildHasher>;

impl KeyMemo {
    pub(super) fn get(&self, node: usize, depth: u32) -> Option<Entry> {
        self.0.borrow().get(&(node, depth)).cloned()
    }

    pub(super) fn put(&self, node: usize, depth: u32, entry: Entry) {
        self.0.borrow_mut().insert((node, depth), entry);
    }
}
