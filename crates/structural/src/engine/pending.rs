//! The deferred work of the fast comparison.

use super::BindingRegion;
use crate::child_cursor::ChildOwner;
use crate::reference::NodeRef;

/// The worklists of the fast comparison. One instance is reused by many calls, so that its memory is allocated
/// once.
#[derive(Default)]
pub(super) struct PendingComparisons<'a> {
    pub(super) tasks: Vec<CompareTask<'a>>,
    /// Pairs of pure trees: no variables, dag nodes, hooks or uncomparable nodes at or below them.
    pub(super) pure_tree_pairs: Vec<(NodeRef<'a>, NodeRef<'a>)>,
    /// Partly compared lists, the innermost last.
    pub(super) lists: Vec<ListPair<'a>>,
    /// The epochs at which the open pairs of shared nodes were opened.
    pub(super) epochs: Vec<u32>,
}

impl PendingComparisons<'_> {
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
        self.pure_tree_pairs.clear();
        self.lists.clear();
        self.epochs.clear();
    }
}

/// A pair of nodes and the work that is left for it.
#[derive(Clone, Copy)]
pub(super) struct CompareTask<'a> {
    pub(super) left: NodeRef<'a>,
    pub(super) right: NodeRef<'a>,
    pub(super) region: BindingRegion,
    pub(super) kind: CompareTaskKind,
    pub(super) below_shared: bool,
}

/// The kind of work that is left for a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CompareTaskKind {
    /// Compare the pair.
    Visit,
    /// Continue with the innermost deferred lists, which are children of the pair.
    List,
    /// Bind two variables whose fields are equal.
    Bind,
    /// Bind two variables that first occur below another variable.
    BindHidden,
    /// End the scope: all children are equal.
    Scope,
    /// Join the equality classes of the pair: all children are equal.
    Join,
    /// Join the pair in fresh equality classes, because its known classes hold in another context.
    JoinFresh,
    /// Pair two dag nodes: all children are equal.
    Pair,
}

/// Two lists of equal length, and the index of the next elements to compare.
pub(super) struct ListPair<'a> {
    pub(super) left: ChildOwner<'a>,
    pub(super) right: ChildOwner<'a>,
    pub(super) next: usize,
    pub(super) len: usize,
}
