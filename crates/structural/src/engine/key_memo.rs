//! What is remembered of nodes inside keys.
//!
//! Every key is hashed as things stand before its container, and keys may hold containers again, so
//! the same node is met under many bindings. What is remembered of it says which bindings it was
//! found under, and is used only where they are the same.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use super::Region;
use super::scopes::Kept;
use crate::hasher::Hash128;

/// The index of a variable that was known to be free before.
pub(super) const KNOWN_FREE: u32 = u32::MAX;

/// A variable that a node uses and does not bind: the depth and the index of what bound it, and its
/// creation number. Nothing bound it if it was found to be free in the node; if it was known to be
/// free, a scope inside the node could not bind it, and [`KNOWN_FREE`] is its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Use {
    pub(super) variable: usize,
    pub(super) bound: Option<(u32, u32)>,
    pub(super) serial: u64,
}

/// A variable that a value of tied entries binds in a scope around it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct OuterBinding {
    pub(super) variable: usize,
    pub(super) depth: u32,
    /// Whether the scope binds it only because none around it does.
    pub(super) hidden: bool,
    /// The hash of its fields.
    pub(super) hash: Hash128,
}

/// What a node uses, what scopes inside it bind, and what it binds in scopes around what is hashed
/// apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    pub(super) uses: Vec<Use>,
    pub(super) scoped: Vec<usize>,
    pub(super) bound: Vec<OuterBinding>,
}

impl Variables {
    pub(super) fn add(&mut self, other: &Self) {
        self.uses.extend(&other.uses);
        self.scoped.extend(&other.scoped);
        self.bound.extend(&other.bound);
    }

    /// Each once.
    pub(super) fn tidy(&mut self) {
        self.uses.sort_unstable();
        // After it was found to be free it is known to be.
        self.uses.dedup_by(|next, one| {
            next == one || next.variable == one.variable && one.bound.is_none()
        });
        self.scoped.sort_unstable();
        self.scoped.dedup();
        self.bound.sort_unstable();
        self.bound.dedup();
    }
}

/// The hash of a node at a depth.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) hash: Hash128,
    pub(super) kept: Kept,
    pub(super) variables: Rc<Variables>,
}

/// Hashes by node, depth and region, shared by all keys of a walk.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyMemo(Rc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    table: RefCell<Table>,
    /// How many values of tied entries were hashed.
    spent: Cell<u32>,
}

type Place = (usize, u32, Region);

type Table = hashbrown::HashMap<Place, Entry, FxBuildHasher>;

impl KeyMemo {
    pub(super) fn get(&self, place: Place) -> Option<Entry> {
        self.0.table.borrow().get(&place).cloned()
    }

    pub(super) fn put(&self, place: Place, entry: Entry) {
        self.0.table.borrow_mut().insert(place, entry);
    }

    /// Counts values of tied entries that are about to be hashed. Whether there are at most `limit`.
    pub(super) fn spend(&self, values: u32, limit: u32) -> bool {
        self.0.spent.set(self.0.spent.get().saturating_add(values));
        self.0.spent.get() <= limit
    }
}
