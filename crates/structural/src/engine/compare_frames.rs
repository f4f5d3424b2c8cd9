//! Frames of the ordered comparison: two nodes or lists, the next child to compare, and the action that
//! follows.

use super::BindingRegion;
use super::compare_state::Side;
use super::ordered_equal::DifferenceCause;
use crate::graph::{Graph, ViewOf};
use crate::path::PathStep;
use crate::type_info::ChildLayout;
use crate::view::View;

/// A handle to something with children: a node or a list.
#[derive(Clone, Copy)]
pub(super) enum ParentHandle<N, L> {
    Node(N),
    List(L),
}

/// The action that closes a frame once all children were found equal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CompareOnClose {
    Nothing,
    /// Join the equality classes of two shared nodes.
    Join,
    /// Join two shared nodes in fresh classes, because their known classes hold in another context.
    JoinFresh,
    /// Pair two dag nodes with each other.
    Pair,
    /// Bind two variables to each other.
    Bind,
}

/// The entries of two maps that correspond, and those without a counterpart.
#[derive(Default)]
pub(super) struct EntryMatching {
    pub(super) pairs: Vec<[u32; 2]>,
    pub(super) missing: Vec<(Side, u32)>,
    /// Tied entries of either side whose values hold variables, and the index of the first pair of them.
    pub(super) deferred: Option<Box<(usize, [Vec<u32>; 2])>>,
}

impl EntryMatching {
    /// Moves tied entries whose values hold variables behind all others.
    pub(super) fn defer_tied(&mut self, tied: [Vec<u32>; 2]) {
        if tied.iter().all(Vec::is_empty) {
            return;
        }
        let is_tied = |pair: &[u32; 2]| {
            tied.iter().zip(pair).any(|(tied, entry)| tied.binary_search(entry).is_ok())
        };
        self.pairs.sort_by_key(is_tied);
        let first = self.pairs.partition_point(|pair| !is_tied(pair));
        self.deferred = Some(Box::new((first, tied)));
    }

    /// Returns whether the pair at `index` is the first deferred one.
    pub(super) fn begins_deferred(&self, index: usize) -> bool {
        self.deferred.as_ref().is_some_and(|deferred| deferred.0 == index)
    }

    /// Records that an entry has no counterpart.
    pub(super) fn add_missing(&mut self, side: Side, entry: u32) {
        self.missing.push((side, entry));
    }
}

/// A frame of the ordered comparison: two nodes or lists whose children are being compared.
pub(super) struct CompareFrame<N, L> {
    pub(super) left: ParentHandle<N, L>,
    pub(super) right: ParentHandle<N, L>,
    /// The index of the next child, and the number of children.
    pub(super) next: usize,
    pub(super) len: usize,
    pub(super) region: BindingRegion,
    /// True if this node, or one above it, has more than one owner.
    pub(super) shared: bool,
    pub(super) scope: bool,
    pub(super) tracked: bool,
    /// True if a difference was found below. Only set when all differences are collected.
    pub(super) differs: bool,
    /// True if this is a variable that first occurs below another variable.
    pub(super) hidden: bool,
    pub(super) on_close: CompareOnClose,
    pub(super) epoch: u32,
    pub(super) matching: Option<Box<EntryMatching>>,
    /// The difference to report when all children are equal, such as a length.
    pub(super) end_cause: Option<DifferenceCause>,
}

impl<N: Copy, L: Copy> CompareFrame<N, L> {
    fn parent(&self, side: Side) -> ParentHandle<N, L> {
        match side {
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }

    /// Returns the index, in the parent on `side`, of the child that is compared as number `index`. In a map, only the values of
    /// matched entries are compared.
    fn stored_index(&self, side: Side, index: usize) -> usize {
        match &self.matching {
            Some(matching) => matching.pairs[index][side as usize] as usize * 2 + 1,
            None => index,
        }
    }

    pub(super) fn layout<'a, G: Graph<'a, Node = N, List = L>>(&self, g: G) -> ChildLayout {
        match self.left {
            ParentHandle::Node(node) => g.info(node).layout(),
            ParentHandle::List(_) => ChildLayout::List,
        }
    }

    /// Returns child `index` of one side.
    pub(super) fn child<'a, G: Graph<'a, Node = N, List = L>>(
        &self,
        g: G,
        side: Side,
        index: usize,
    ) -> ViewOf<'a, G> {
        let index_stored = self.stored_index(side, index);
        match self.parent(side) {
            ParentHandle::Node(node) => g.child(node, index_stored),
            ParentHandle::List(list) => g.list_item(list, index_stored),
        }
    }

    /// Returns the path step to the last visited child, as seen from one side.
    pub(super) fn step<'a, G: Graph<'a, Node = N, List = L>>(
        &self,
        g: G,
        side: Side,
    ) -> Option<PathStep> {
        let index = self.next.checked_sub(1)?;
        Some(match self.layout(g) {
            ChildLayout::Record => match self.left {
                ParentHandle::Node(node) => {
                    PathStep::Field(g.info(node).fields().get(index)?.name.into())
                }
                ParentHandle::List(_) => PathStep::Index(index),
            },
            ChildLayout::List => PathStep::Index(index),
            ChildLayout::Map | ChildLayout::Set => match self.parent(side) {
                ParentHandle::Node(node) => PathStep::Key(
                    g.display_value(g.child(node, self.stored_index(side, index) - 1)),
                ),
                ParentHandle::List(_) => PathStep::Index(index),
            },
        })
    }

    /// Returns the parts that exist on one side only: entries of a map, or `None` for the elements beyond the
    /// end of the shorter sequence, which count as one part.
    pub(super) fn missing(&self) -> Vec<Option<(Side, u32)>> {
        match &self.matching {
            Some(matching) => matching.missing.iter().copied().map(Some).collect(),
            None => vec![None],
        }
    }

    /// Returns the path step to a missing part.
    pub(super) fn end_step<'a, G: Graph<'a, Node = N, List = L>>(
        &self,
        g: G,
        missing: Option<(Side, u32)>,
    ) -> Option<PathStep> {
        let Some((side, entry)) = missing else { return Some(PathStep::Index(self.len)) };
        let ParentHandle::Node(node) = self.parent(side) else { return None };
        Some(PathStep::Key(g.display_value(g.child(node, entry as usize * self.per_entry(g)))))
    }

    /// Returns the part that is missing on the other side, if this side has it.
    pub(super) fn end_child<'a, G: Graph<'a, Node = N, List = L>>(
        &self,
        g: G,
        side: Side,
        missing: Option<(Side, u32)>,
    ) -> Option<ViewOf<'a, G>> {
        match (missing, self.parent(side)) {
            (Some((on, entry)), ParentHandle::Node(node)) if on == side => {
                let per_entry = self.per_entry(g);
                Some(g.child(node, entry as usize * per_entry + per_entry - 1))
            }
            (Some(_), _) => None,
            (None, ParentHandle::Node(node)) => {
                (self.len < g.len(node)).then(|| g.child(node, self.len))
            }
            (None, ParentHandle::List(list)) => {
                (self.len < g.list_len(list)).then(|| g.list_item(list, self.len))
            }
        }
    }

    fn per_entry<'a, G: Graph<'a, Node = N, List = L>>(&self, g: G) -> usize {
        self.layout(g).per_entry()
    }
}

/// A sequence and the number of its elements.
pub(super) type SizedSequence<'a, G> =
    (ParentHandle<<G as Graph<'a>>::Node, <G as Graph<'a>>::List>, usize);

/// Returns the value as a sequence, if it is one.
pub(super) fn as_sequence<'a, G: Graph<'a>>(
    g: G,
    view: &ViewOf<'a, G>,
) -> Option<SizedSequence<'a, G>> {
    match view {
        View::List(list) => Some((ParentHandle::List(*list), g.list_len(*list))),
        View::Node(node) if g.info(*node).layout() == ChildLayout::List => {
            Some((ParentHandle::Node(*node), g.len(*node)))
        }
        _ => None,
    }
}
