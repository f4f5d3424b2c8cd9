//! What the engine asks of a storage.

use sapwood_types::counted;

use crate::containers::{Entries, Members};
use crate::engine::{Feed, Meet, Side};
use crate::hasher::{Hash128, Sum};
use crate::kind::Facts;
use crate::reference::NodeRef;
use crate::type_info::{Layout, TypeInfo};
use crate::values::Value;
use crate::view::{List, View};

/// A view whose handles belong to the graph `G`.
pub type ViewOf<'a, G> = View<'a, <G as Graph<'a>>::Node, <G as Graph<'a>>::List>;

/// A storage of nodes, seen by the engine. [`Heap`] is the one of nodes behind a [`crate::Ref`];
/// an arena brings its own: handles are whatever identifies a node there.
///
/// Graphs are finite and without cycles, and nothing changes while they are looked at.
pub trait Graph<'a>: Copy {
    /// Whether [`Graph::cache_hash`] keeps anything.
    const CACHES: bool = false;

    /// Whether variables have room for numbers, see [`Graph::slot`].
    const SLOTS: bool = false;

    /// A handle to a node.
    type Node: Copy;
    /// A handle to a list without identity.
    type List: Copy;

    /// A number that no other node of the graph has. Two graphs that are compared with each other
    /// share one numbering where they share nodes.
    fn id(self, node: Self::Node) -> usize;

    /// The descriptor of the node's type.
    fn info(self, node: Self::Node) -> &'static TypeInfo;

    /// What lies at or below the node.
    fn facts(self, node: Self::Node) -> Facts;

    /// Whether the node can be reached in more than one way. `true` is always right; `false` saves
    /// work.
    fn shared(self, node: Self::Node) -> bool;

    /// Number of children (twice the number of entries of a map).
    fn len(self, node: Self::Node) -> usize;

    /// The child at an index below [`Graph::len`].
    fn child(self, node: Self::Node, index: usize) -> ViewOf<'a, Self>;

    /// Number of elements of a list.
    fn list_len(self, list: Self::List) -> usize;

    /// The element of a list at an index below [`Graph::list_len`].
    fn list_item(self, list: Self::List, index: usize) -> ViewOf<'a, Self>;

    /// Takes in all fields of two nodes of one record type, side by side; see [`Meet`].
    fn meet_fields(self, left: Self::Node, right: Self::Node, meet: &mut Meet<'a, Self>) -> bool {
        meet.fields(left, right)
    }

    /// The same where nothing below needs care: no variables, no dag nodes.
    #[inline]
    fn meet_bare(self, left: Self::Node, right: Self::Node, meet: &mut Meet<'a, Self>) -> bool {
        self.meet_fields(left, right, meet)
    }

    /// `sum` with what all children of a node contribute that count; see [`Feed`].
    fn feed_children(self, node: Self::Node, sum: Sum, feed: &mut Feed<'_, '_, 'a, Self>) -> Sum {
        feed.children(node, sum)
    }

    /// The creation number of a variable: its contribution to a hash where nothing binds it.
    fn serial(self, node: Self::Node) -> u64;

    /// The number last given to a variable on a side, or anything else if none was: what is read
    /// here is checked. Two sides are two numbers, also for one variable.
    fn slot(self, _variable: Self::Node, _side: Side) -> u32 {
        0
    }

    /// Gives a variable a number. Of all walks, in all threads, one at a time does this.
    fn set_slot(self, _variable: Self::Node, _side: Side, _number: u32) {}

    /// The node will soon be looked at.
    fn prefetch(self, _node: Self::Node) {}

    /// The hash of the key of an entry, where that does not depend on what surrounds the map.
    fn key_hash(self, map: Self::Node, entry: usize) -> Option<Hash128>;

    /// Whether two keys of a map (or members of a set) may have the same [`Graph::key_hash`].
    fn has_tied_keys(self, map: Self::Node) -> bool {
        let entries = self.len(map) / self.info(map).layout().per_entry();
        (1..entries).any(|entry| self.key_hash(map, entry - 1) == self.key_hash(map, entry))
    }

    /// A hash stored by [`Graph::cache_hash`].
    fn cached_hash(self, _node: Self::Node) -> Option<Hash128> {
        None
    }

    /// Keeps the hash of a node without variables, hooks and uncomparable nodes below.
    fn cache_hash(self, _node: Self::Node, _hash: Hash128) {}

    /// The node as hooks see it. Types with hooks exist only on the heap.
    fn heap(self, _node: Self::Node) -> Option<NodeRef<'a>> {
        None
    }

    /// A value as it is shown in paths and messages.
    fn shown(self, view: ViewOf<'a, Self>) -> Value {
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

/// Nodes behind a [`crate::Ref`].
#[derive(Clone, Copy, Debug)]
pub struct Heap;

impl<'a> Graph<'a> for Heap {
    const CACHES: bool = true;
    const SLOTS: bool = true;

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
    fn shared(self, node: NodeRef<'a>) -> bool {
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
    fn meet_fields(self, left: NodeRef<'a>, right: NodeRef<'a>, meet: &mut Meet<'a>) -> bool {
        left.meet(right, meet)
    }

    #[inline]
    fn meet_bare(self, left: NodeRef<'a>, right: NodeRef<'a>, meet: &mut Meet<'a>) -> bool {
        left.meet_bare(right, meet)
    }

    #[inline]
    fn feed_children(self, node: NodeRef<'a>, sum: Sum, feed: &mut Feed<'_, '_, 'a>) -> Sum {
        node.feed(sum, feed)
    }

    fn serial(self, node: NodeRef<'a>) -> u64 {
        node.serial()
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
            Layout::Map => map.downcast::<Entries>()?.fixed_hash(entry),
            Layout::Set => map.downcast::<Members>()?.fixed_hash(entry),
            Layout::Record | Layout::List => None,
        }
    }

    fn has_tied_keys(self, map: NodeRef<'a>) -> bool {
        match map.info().layout() {
            Layout::Map => map.downcast::<Entries>().is_some_and(Entries::has_ties),
            Layout::Set => map.downcast::<Members>().is_some_and(Members::has_ties),
            Layout::Record | Layout::List => false,
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

    fn heap(self, node: NodeRef<'a>) -> Option<NodeRef<'a>> {
        Some(node)
    }

    fn shown(self, view: View<'a>) -> Value {
        Value::of(view)
    }
}
