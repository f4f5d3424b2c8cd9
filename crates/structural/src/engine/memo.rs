//! Where hashes of nodes without variables, hooks and uncomparable nodes are kept: nothing is bound
//! there, so they hold wherever the node stands.

use super::Options;
use super::address::ByNode;
use crate::graph::Graph;
use crate::hasher::Hash128;

/// Keeps hashes in the nodes, or else, for shared ones, beside them.
pub(super) struct Memo {
    /// Whether these are other hashes than those that nodes keep.
    apart: bool,
    table: ByNode<Hash128>,
}

impl Memo {
    /// A memo for hashes with these options, in which singletons count by identity or not.
    pub(super) fn new(options: Options, identify: bool) -> Self {
        Self { apart: options.skip_tensor_content || identify, table: ByNode::default() }
    }

    /// Nodes keep the hash of the default options alone.
    #[inline]
    fn in_nodes<'a, G: Graph<'a>>(&self) -> bool {
        G::CACHES && !self.apart
    }

    #[inline]
    pub(super) fn get<'a, G: Graph<'a>>(&self, g: G, node: G::Node) -> Option<Hash128> {
        if self.in_nodes::<G>() {
            g.cached_hash(node)
        } else if g.shared(node) {
            self.table.get(&g.id(node)).copied()
        } else {
            None
        }
    }

    #[inline]
    pub(super) fn put<'a, G: Graph<'a>>(&mut self, g: G, node: G::Node, hash: Hash128) {
        if self.in_nodes::<G>() {
            g.cache_hash(node, hash);
        } else if g.shared(node) {
            self.table.insert(g.id(node), hash);
        }
    }
}
