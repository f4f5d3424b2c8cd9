//! The memo of hashes of nodes inside keys.
//!
//! Every key is hashed under the bindings that exist before its container, and keys may hold containers
//! themselves, so the same node occurs under many bindings. A memo entry lists the bindings it was found under,
//! and is used only where they are the same.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

use super::BindingRegion;
use super::scopes::StoredDependencies;
use crate::hasher::Hash128;

/// The index of a variable that was already known to be free.
pub(super) const KNOWN_FREE: u32 = u32::MAX;

/// A variable that a node uses and does not bind: the depth and the index of its binding, and its creation
/// number. `bound` is `None` if the variable was found to be free in the node. If it was already known to be
/// free, so that a scope inside the node could not bind it, its index is [`KNOWN_FREE`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct VariableUse {
    pub(super) variable: usize,
    pub(super) bound: Option<(u32, u32)>,
    pub(super) serial: u64,
}

/// A variable that a value of tied entries binds in a scope around it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct OuterBinding {
    pub(super) variable: usize,
    pub(super) depth: u32,
    /// True if the scope binds it only because no outer scope does.
    pub(super) hidden: bool,
    /// The hash of its fields.
    pub(super) hash: Hash128,
}

/// The variables that a node uses, that scopes inside it bind, and that it binds in scopes around the value
/// that is hashed in isolation.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyVariables {
    pub(super) uses: Vec<VariableUse>,
    pub(super) scoped: Vec<usize>,
    pub(super) bound: Vec<OuterBinding>,
}

impl KeyVariables {
    pub(super) fn extend_from(&mut self, other: &Self) {
        self.uses.extend(&other.uses);
        self.scoped.extend(&other.scoped);
        self.bound.extend(&other.bound);
    }

    /// Sorts the variables and removes duplicates.
    pub(super) fn sort_and_dedup(&mut self) {
        self.uses.sort_unstable();
        // A variable that was found to be free is known to be free afterwards.
        self.uses.dedup_by(|next, one| {
            next == one || next.variable == one.variable && one.bound.is_none()
        });
        self.scoped.sort_unstable();
        self.scoped.dedup();
        self.bound.sort_unstable();
        self.bound.dedup();
    }
}

/// The hash of a node at a scope depth, and the variables and scopes that it depends on.
#[derive(Clone, Debug)]
pub(super) struct KeyMemoEntry {
    pub(super) hash: Hash128,
    pub(super) dependencies: StoredDependencies,
    pub(super) variables: Rc<KeyVariables>,
}

/// Hashes by node, scope depth and region, shared by all keys of a walk.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyMemo(Rc<KeyMemoData>);

/// The data that all clones of a [`KeyMemo`] share.
#[derive(Debug, Default)]
struct KeyMemoData {
    table: RefCell<KeyMemoTable>,
    /// The number of values of tied entries that were hashed.
    tied_values_hashed: Cell<u32>,
}

/// Node id, scope depth and region.
type KeyMemoKey = (usize, u32, BindingRegion);

type KeyMemoTable = hashbrown::HashMap<KeyMemoKey, KeyMemoEntry, FxBuildHasher>;

impl KeyMemo {
    pub(super) fn get(&self, key: KeyMemoKey) -> Option<KeyMemoEntry> {
        self.0.table.borrow().get(&key).cloned()
    }

    pub(super) fn put(&self, key: KeyMemoKey, entry: KeyMemoEntry) {
        self.0.table.borrow_mut().insert(key, entry);
    }

    /// Counts values of tied entries that are about to be hashed. Returns whether the total is at most `limit`.
    pub(super) fn charge_tied_values(&self, values: u32, limit: u32) -> bool {
        self.0.tied_values_hashed.set(self.0.tied_values_hashed.get().saturating_add(values));
        self.0.tied_values_hashed.get() <= limit
    }
}
