//! A memo of hashes that do not depend on context. Nothing is bound inside a node without variables, hooks and
//! uncomparable nodes, so its hash is the same wherever it occurs.

use super::StructuralOptions;
use super::node_map::NodeMap;
use crate::hasher::Hash128;
use crate::reference::NodeRef;

/// A memo that stores hashes in the nodes themselves or, for shared nodes, in a table.
pub(super) struct HashMemo {
    /// True if the hashes differ from those that nodes store, which are the hashes of the default options.
    needs_table: bool,
    table: NodeMap<Hash128>,
}

impl HashMemo {
    /// Creates a memo for hashes with `options`, in which singletons count by identity or by their fields.
    pub(super) fn new(options: StructuralOptions, singletons_by_identity: bool) -> Self {
        Self {
            needs_table: options.skip_tensor_content || singletons_by_identity,
            table: NodeMap::default(),
        }
    }

    #[inline]
    pub(super) fn get(&self, node: NodeRef<'_>) -> Option<Hash128> {
        if !self.needs_table {
            node.cached_hash()
        } else if node.is_shared() {
            self.table.get(&node.id()).copied()
        } else {
            None
        }
    }

    #[inline]
    pub(super) fn put(&mut self, node: NodeRef<'_>, hash: Hash128) {
        if !self.needs_table {
            node.cache_hash(hash);
        } else if node.is_shared() {
            self.table.insert(node.id(), hash);
        }
    }
}
