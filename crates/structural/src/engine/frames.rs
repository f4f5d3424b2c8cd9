//! Frames of the ordered comparison: what is being compared, how far, and what follows.

use super::Region;
use super::equal::Cause;
use super::state::Side;
use crate::graph::{Graph, ViewOf};
use crate::path::Step;
use crate::type_info::Layout;
use crate::view::View;

/// Something with children.
#[derive(Clone, Copy)]
pub(super) enum Cursor<N, L> {
    Node(N),
    List(L),
}

/// What to do when all children were found equal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Nothing,
    /// Remember that two shared nodes are equal.
    Join,
    /// The same, beside what is known of them elsewhere.
    JoinAnew,
    /// Pair two dag nodes.
    Pair,
    /// Bind two variables.
    Bind,
}

/// Entries of two maps that correspond, and those that have no counterpart.
#[derive(Default)]
pub(super) struct Matching {
    pub(super) pairs: Vec<[u32; 2]>,
    pub(super) missing: Vec<(Side, u32)>,
    /// Tied entries whose values hold variables, of either side, and the first pair of them.
    pub(super) held_back: Option<Box<(usize, [Vec<u32>; 2])>>,
}

impl Matching {
    /// Tied entries whose values hold variables are visited after all others.
    pub(super) fn hold_back(&mut self, tied: [Vec<u32>; 2]) {
        if tied.iter().all(Vec::is_empty) {
            return;
        }
        let is_tied = |pair: &[u32; 2]| {
            tied.iter().zip(pair).any(|(tied, entry)| tied.binary_search(entry).is_ok())
        };
        self.pairs.sort_by_key(is_tied);
        let first = self.pairs.partition_point(|pair| !is_tied(pair));
        self.held_back = Some(Box::new((first, tied)));
    }

    /// Whether the pair at an index is the first that was held back.
    pub(super) fn begins_held_back(&self, index: usize) -> bool {
        self.held_back.as_ref().is_some_and(|held_back| held_back.0 == index)
    }

    /// An entry has no counterpart.
    pub(super) fn miss(&mut self, side: Side, entry: u32) {
        self.missing.push((side, entry));
    }
}

pub(super) struct Frame<N, L> {
    pub(super) left: Cursor<N, L>,
    pub(super) right: Cursor<N, L>,
    /// The child to visit next, and how many there are.
    pub(super) next: usize,
    pub(super) len: usize,
    pub(super) region: Region,
    /// Whether this or something above it has more than one owner.
    pub(super) shared: bool,
    pub(super) scope: bool,
    pub(super) tracked: bool,
    /// Whether a difference was found below; only when all are asked for.
    pub(super) differs: bool,
    /// Whether it is a variable met below another one.
    pub(super) hidden: bool,
    pub(super) after: After,
    pub(super) epoch: u32,
    pub(super) matching: Option<Box<Matching>>,
    /// The difference that shows when all children are equal.
    pub(super) end: Option<Cause>,
}

impl<N: Copy, L: Copy> Frame<N, L> {
    fn cursor(&self, side: Side) -> Cursor<N, L> {
        match side {
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }

    /// The position, on one side, of child `index`: of a map, only values are children here.
    fn place(&self, side: Side, index: usize) -> usize {
        match &self.matching {
            Some(matching) => matching.pairs[index][side as usize] as usize * 2 + 1,
            None => index,
        }
    }

    pub(super) fn layout<'a, G: Graph<'a, Node = N, List = L>>(&self, g: G) -> Layout {
        match self.left {
            Cursor::Node(node) => g.info(node).layout(),
            Cursor::List(_) => Layout::List,
        }
    }

    /// Child `index` on one side.
    pub(super) fn child<'a, G: Graph<'a, Node = N, List = L>>(
        &self,
        g: G,
        side: Side,
        index: usize,
    ) -> ViewOf<'a, G> {
        let place = self.place(side, index);
        match self.cursor(side) {
            Cursor::Node(node) => g.child(node, place),
            Cursor::List(list) => g.list_item(list, place),
        }
    }

    /// The step from here to the child visited last, as seen from one side.
    pub(super) fn step<'a, G: Graph<'a, Node = N, List = L>>(
        &self,
        g: G,
        side: Side,
    ) -> Option<Step> {
        let index = self.next.checked_sub(1)?;
        Some(match self.layout(g) {
            Layout::Record => match self.left {
                Cursor::Node(node) => Step::Field(g.info(node).fields().get(index)?.name.into()),
                Cursor::List(_) => Step::Index(index),
            },
            Layout::List => Step::Index(index),
            Layout::Map | Layout::Set => match self.cursor(side) {
                Cursor::Node(node) => {
                    Step::Key(g.shown(g.child(node, self.place(side, index) - 1)))
                }
                Cursor::List(_) => Step::Index(index),
            },
        })
    }

    /// What is on one side alone, once all children were equal: entries of a map, or (nothing said)
    /// the elements beyond the end of the shorter sequence, which count as one.
    pub(super) fn missing(&self) -> Vec<Option<(Side, u32)>> {
        match &self.matching {
            Some(matching) => matching.missing.iter().copied().map(Some).collect(),
            None => vec![None],
        }
    }

    /// The step to what is missing.
    pub(super) fn end_step<'a, G: Graph<'a, Node = N, List = L>>(
        &self,
        g: G,
        missing: Option<(Side, u32)>,
    ) -> Option<Step> {
        let Some((side, entry)) = missing else { return Some(Step::Index(self.len)) };
        let Cursor::Node(node) = self.cursor(side) else { return None };
        Some(Step::Key(g.shown(g.child(node, entry as usize * self.per_entry(g)))))
    }

    /// What is missing on the other side, if it is on this one.
    pub(super) fn end_child<'a, G: Graph<'a, Node = N, List = L>>(
        &self,
        g: G,
        side: Side,
        missing: Option<(Side, u32)>,
    ) -> Option<ViewOf<'a, G>> {
        match (missing, self.cursor(side)) {
            (Some((on, entry)), Cursor::Node(node)) if on == side => {
                let per_entry = self.per_entry(g);
                Some(g.child(node, entry as usize * per_entry + per_entry - 1))
            }
            (Some(_), _) => None,
            (None, Cursor::Node(node)) => (self.len < g.len(node)).then(|| g.child(node, self.len)),
            (None, Cursor::List(list)) => {
                (self.len < g.list_len(list)).then(|| g.list_item(list, self.len))
            }
        }
    }

    fn per_entry<'a, G: Graph<'a, Node = N, List = L>>(&self, g: G) -> usize {
        self.layout(g).per_entry()
    }
}

/// A sequence and the number of its elements.
pub(super) type Sequence<'a, G> = (Cursor<<G as Graph<'a>>::Node, <G as Graph<'a>>::List>, usize);

/// The value as a sequence, where it is one.
pub(super) fn sequence<'a, G: Graph<'a>>(g: G, view: &ViewOf<'a, G>) -> Option<Sequence<'a, G>> {
    match view {
        View::List(list) => Some((Cursor::List(*list), g.list_len(*list))),
        View::Node(node) if g.info(*node).layout() == Layout::List => {
            Some((Cursor::Node(*node), g.len(*node)))
        }
        _ => None,
    }
}
