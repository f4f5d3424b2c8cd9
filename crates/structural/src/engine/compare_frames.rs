//! Frames of the ordered comparison: two nodes or lists, the next child to compare, and the action that
//! follows.

use super::BindingRegion;
use super::compare_state::Side;
use super::ordered_equal::DifferenceCause;
use crate::child_cursor::ChildOwner;
use crate::path::PathStep;
use crate::type_info::ChildLayout;
use crate::view::View;

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
pub(super) struct CompareFrame<'a> {
    pub(super) left: ChildOwner<'a>,
    pub(super) right: ChildOwner<'a>,
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

impl<'a> CompareFrame<'a> {
    fn parent(&self, side: Side) -> ChildOwner<'a> {
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

    /// Returns child `index` of one side.
    pub(super) fn child(&self, side: Side, index: usize) -> View<'a> {
        self.parent(side).child(self.stored_index(side, index))
    }

    /// Returns the path step to the last visited child, as seen from one side.
    pub(super) fn step(&self, side: Side) -> Option<PathStep> {
        let index = self.next.checked_sub(1)?;
        Some(self.parent(side).step(self.stored_index(side, index)))
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
    pub(super) fn end_step(&self, missing: Option<(Side, u32)>) -> PathStep {
        let Some((side, entry)) = missing else { return PathStep::Index(self.len) };
        let parent = self.parent(side);
        parent.step(entry as usize * parent.layout().per_entry())
    }

    /// Returns the part that is missing on the other side, if this side has it.
    pub(super) fn end_child(&self, side: Side, missing: Option<(Side, u32)>) -> Option<View<'a>> {
        let parent = self.parent(side);
        let index = match missing {
            // The value of the entry; in a set, the member.
            Some((on, entry)) => {
                (on == side).then(|| (entry as usize + 1) * parent.layout().per_entry() - 1)
            }
            None => (self.len < parent.len()).then_some(self.len),
        };
        index.map(|index| parent.child(index))
    }
}

/// Returns the value as a sequence, if it is one.
pub(super) fn as_sequence<'a>(view: &View<'a>) -> Option<ChildOwner<'a>> {
    match view {
        View::List(list) => Some(ChildOwner::List(*list)),
        View::Node(node) if node.info().layout() == ChildLayout::List => {
            Some(ChildOwner::Node(*node))
        }
        _ => None,
    }
}
