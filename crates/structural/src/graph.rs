//! The interface between the engine and a storage of nodes.

use sapwood_types::counted;

use crate::containers::{MapEntries, SetMembers};
use crate::engine::{FieldComparer, FieldHasher, Side};
use crate::hasher::{Hash128, HashSum};
use crate::kind::Facts;
use crate::reference::NodeRef;
use crate::type_info::{ChildLayout, TypeInfo};
use crate::values::Value;
use crate::view::{List, View};

/// A view whose handles belong to the graph `G`.
pub type ViewOf<'a, G> = View<'a, <G as Graph<'a>>::Node, <G as Graph<'a>>::List>;

/// A storage of nodes, as the engine sees it. [`HeapGraph`] is the storage of nodes behind a [`crate::Ref`]; an
/// arena implements its own, with any handle that identifies a node.
///
/// Graphs are finite and acyclic, and do not change while they are read.
pub trait Graph<'a>: Copy {
    /// True if [`Graph::cache_hash`] stores hashes.
    const CACHES_HASHES: bool = false;

    /// True if variables have slots for binding numbers, see [`Graph::slot`].
    const HAS_BINDING_SLOTS: bool = false;

    /// A handle to a node.
    type Node: Copy;
    /// A handle to a list without identity.
    type List: Copy;

    /// Returns a number that no other node of the graph has. Two graphs that are compared with each other share
    /// one numbering where they share nodes.
    fn id(self, node: Self::Node) -> usize;

    /// Returns the descriptor of the node's type.
    fn info(self, node: Self::Node) -> &'static TypeInfo;

    /// Returns the facts about the node and everything below it.
    fn facts(self, node: Self::Node) -> Facts;

    /// Returns whether the node can be reached in more than one way. `true` is always correct; `false` saves
    /// work.
    fn is_shared(self, node: Self::Node) -> bool;

    /// Returns the number of children (twice the number of entries of a map).
    fn len(self, node: Self::Node) -> usize;

    /// Returns the child at an index below [`Graph::len`].
    fn child(self, node: Self::Node, index: usize) -> ViewOf<'a, Self>;

    /// Returns the number of elements of a list.
    fn list_len(self, list: Self::List) -> usize;

    /// Returns the element of a list at an index below [`Graph::list_len`].
    fn list_item(self, list: Self::List, index: usize) -> ViewOf<'a, Self>;

    /// Compares all fields of two nodes of one record type; see [`FieldComparer`].
    fn compare_fields(
        self,
        left: Self::Node,
        right: Self::Node,
        comparer: &mut FieldComparer<'a, Self>,
    ) -> bool {
        comparer.compare_fields(left, right)
    }

    /// Compares all fields of two pure trees: no variables, dag nodes, hooks or uncomparable nodes below.
    #[inline]
    fn compare_fields_of_pure_trees(
        self,
        left: Self::Node,
        right: Self::Node,
        comparer: &mut FieldComparer<'a, Self>,
    ) -> bool {
        self.compare_fields(left, right, comparer)
    }

    /// Adds the contributions of all children of a node that are not ignored to `sum`; see [`FieldHasher`].
    fn hash_children(
        self,
        node: Self::Node,
        sum: HashSum,
        hasher: &mut FieldHasher<'_, '_, 'a, Self>,
    ) -> HashSum {
        hasher.hash_children(node, sum)
    }

    /// Returns the creation number of a variable: its contribution to a hash where nothing binds it.
    fn creation_number(self, node: Self::Node) -> u64;

    /// Returns the binding number last stored in a variable for a side, or any number if none was: the engine
    /// checks it. The two sides have separate numbers, also for one variable.
    fn slot(self, _variable: Self::Node, _side: Side) -> u32 {
        0
    }

    /// Stores a binding number in a variable. Of all walks, in all threads, only one at a time calls this.
    fn set_slot(self, _variable: Self::Node, _side: Side, _number: u32) {}

    /// Prefetches a node that will soon be visited.
    fn prefetch(self, _node: Self::Node) {}

    /// Returns the hash of the key of an entry, if it does not depend on the context of the map.
    fn key_hash(self, map: Self::Node, entry: usize) -> Option<Hash128>;

    /// Returns whether two keys of a map (or members of a set) may have the same [`Graph::key_hash`].
    fn has_tied_keys(self, map: Self::Node) -> bool {
        let entries = self.len(map) / self.info(map).layout().per_entry();
        (1..entries).any(|entry| self.key_hash(map, entry - 1) == self.key_hash(map, entry))
    }

    /// Returns the hash stored by [`Graph::cache_hash`].
    fn cached_hash(self, _node: Self::Node) -> Option<Hash128> {
        None
    }

    /// Stores the hash of a node without variables, hooks and uncomparable nodes below.
    fn cache_hash(self, _node: Self::Node, _hash: Hash128) {}

    /// Returns the node as hooks see it. Types with hooks exist only on the heap.
    fn heap_node(self, _node: Self::Node) -> Option<NodeRef<'a>> {
        None
    }

    /// Returns a value as it is shown in paths and messages.
    fn display_value(self, view: ViewOf<'a, Self>) -> Value {
        match view {
            View::None => Value::None,
            View::Bool(b) => Value::Bool(b),
            View::Int(i) => Value::Int(i),
            View::Wide(wide) => Value::of(View::Wide(wide)),
            View::Big(big) => Value::of(View::Big(big)),
            View::Float(f) => Value::Float(f),
            View::Str(s) => Value::from(s),
            View::Bytes(b) => Value::of(View::Bytes(b)),
            View::Tensor(t) => Value::of(View::Tensor(t)),
            View::Node(node) => Value::from(self.info(node).key()),
            View::List(list) => Value::from(counted(self.list_len(list), "element").to_string()),
        }
    }
}

/// The storage of nodes behind a [`crate::Ref`].
#[derive(Clone, Copy, Debug)]
pub struct HeapGraph;

impl<'a> Graph<'a> for HeapGraph {
    const CACHES_HASHES: bool = true;
    const HAS_BINDING_SLOTS: bool = true;

    type Node = NodeRef<'a>;
    type List = &'a dyn List;

    #[inline]
    fn id(self, node: NodeRef<'a>) -> usize {
        node.id()
    }

    #[inline]
    fn info(self, node: NodeRef<'a>) -> &'static TypeInfo {
        node.info()
    }

    #[inline]
    fn facts(self, node: NodeRef<'a>) -> Facts {
        node.facts()
    }

    #[inline]
    fn is_shared(self, node: NodeRef<'a>) -> bool {
        node.owners() > 1
    }

    #[inline]
    fn len(self, node: NodeRef<'a>) -> usize {
        node.len()
    }

    #[inline]
    fn child(self, node: NodeRef<'a>, index: usize) -> View<'a> {
        node.child(index)
    }

    #[inline]
    fn list_len(self, list: &'a dyn List) -> usize {
        list.len()
    }

    #[inline]
    fn list_item(self, list: &'a dyn List, index: usize) -> View<'a> {
        list.item(index)
    }

    #[inline]
    fn compare_fields(
        self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        comparer: &mut FieldComparer<'a>,
    ) -> bool {
        left.compare_fields(right, comparer)
    }

    #[inline]
    fn compare_fields_of_pure_trees(
        self,
        left: NodeRef<'a>,
        right: NodeRef<'a>,
        comparer: &mut FieldComparer<'a>,
    ) -> bool {
        left.compare_fields_of_pure_trees(right, comparer)
    }

    #[inline]
    fn hash_children(
        self,
        node: NodeRef<'a>,
        sum: HashSum,
        hasher: &mut FieldHasher<'_, '_, 'a>,
    ) -> HashSum {
        node.hash_children(sum, hasher)
    }

    fn creation_number(self, node: NodeRef<'a>) -> u64 {
        node.creation_number()
    }

    #[inline]
    fn prefetch(self, node: NodeRef<'a>) {
        node.prefetch();
    }

    #[inline]
    fn slot(self, variable: NodeRef<'a>, side: Side) -> u32 {
        variable.slot(side)
    }

    #[inline]
    fn set_slot(self, variable: NodeRef<'a>, side: Side, number: u32) {
        variable.set_slot(side, number);
    }

    fn key_hash(self, map: NodeRef<'a>, entry: usize) -> Option<Hash128> {
        match map.info().layout() {
            ChildLayout::Map => map.downcast::<MapEntries>()?.fixed_hash(entry),
            ChildLayout::Set => map.downcast::<SetMembers>()?.fixed_hash(entry),
            ChildLayout::Record | ChildLayout::List => None,
        }
    }

    fn has_tied_keys(self, map: NodeRef<'a>) -> bool {
        match map.info().layout() {
            ChildLayout::Map => map.downcast::<MapEntries>().is_some_and(MapEntries::has_ties),
            ChildLayout::Set => map.downcast::<SetMembers>().is_some_and(SetMembers::has_ties),
            ChildLayout::Record | ChildLayout::List => false,
        }
    }

    #[inline]
    fn cached_hash(self, node: NodeRef<'a>) -> Option<Hash128> {
        node.cached_hash()
    }

    #[inline]
    fn cache_hash(self, node: NodeRef<'a>, hash: Hash128) {
        node.cache_hash(hash);
    }

    fn heap_node(self, node: NodeRef<'a>) -> Option<NodeRef<'a>> {
        Some(node)
    }

    fn display_value(self, view: View<'a>) -> Value {
        Value::of(view)
    }
}
