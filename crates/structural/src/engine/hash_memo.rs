//! A memo of hashes that do not depend on context. Nothing is bound inside a node without variables, hooks and
//! uncomparable nodes, so its hash is the same wherever it occurs.

use super::StructuralOptions;
use super::node_map::NodeMap;
use crate::graph::Graph;
use crate::hasher::Hash128;

/// A memo that stores hashes in the nodes themselves or, for shared nodes, in a table.
pub(super) struct HashMemo {
    /// True if the hashes differ from those that nodes store, so that a table is needed.
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

    /// Returns whether hashes are stored in nodes. Nodes only store the hash of the default options.
    #[inline]
    fn uses_nodes<'a, G: Graph<'a>>(&self) -> bool {
        G::CACHES_HASHES && !self.needs_table
    }

    #[inline]
    pub(super) fn get<'a, G: Graph<'a>>(&self, g: G, node: G::Node) -> Option<Hash128> {
        if self.uses_nodes::<G>() {
            g.cached_hash(node)
        } else if g.is_shared(node) {
            self.table.get(&g.id(node)).copied()
        } else {
            None
        }
    }

    #[inline]
    pub(super) fn put<'a, G: Graph<'a>>(&mut self, g: G, node: G::Node, hash: Hash128) {
        if self.uses_nodes::<G>() {
            g.cache_hash(node, hash);
        } else if g.is_shared(node) {
            self.table.insert(g.id(node), hash);
        }
    }
}
