//! Where hashes of nodes without variables, hooks and uncomparable nodes are kept: nothing is bound
//! there, so they hold wherever the node stands.

use super::Options;
use super::address::ByNode;
use crate::graph::Graph;
use crate::hasher::Hash128;

/// Keeps hashes in the nodes, or else, for shared ones, beside them.
pub(super) struct Memo {
    skip_tensor_content: bool,
    table: ByNode<Hash128>,
}

impl Memo {
    pub(super) fn new(options: Options) -> Self {
        Self { skip_tensor_content: options.skip_tensor_content, table: ByNode::default() }
    }

    /// Nodes keep the hash of the default options alone.
    #[inline]
    fn in_nodes<'a, G: Graph<'a>>(&self) -> bool {
        G::CACHES && !self.skip_tensor_content
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
