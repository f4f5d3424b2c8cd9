//! What the quick comparison puts off.

use super::Region;
use super::frames::Cursor;

/// What was put off, and memory for it.
pub(super) struct Room<N, L> {
    pub(super) todo: Vec<Todo<N>>,
    /// Pairs below which nothing needs care.
    pub(super) pairs: Vec<(N, N)>,
    /// Lists, the innermost last.
    pub(super) lists: Vec<Lists<N, L>>,
    /// What the epoch was when the open pairs of shared nodes were met.
    pub(super) epochs: Vec<u32>,
}

impl<N, L> Room<N, L> {
    pub(super) fn clear(&mut self) {
        self.todo.clear();
        self.pairs.clear();
        self.lists.clear();
        self.epochs.clear();
    }
}

impl<N, L> Default for Room<N, L> {
    fn default() -> Self {
        Self { todo: Vec::new(), pairs: Vec::new(), lists: Vec::new(), epochs: Vec::new() }
    }
}

/// A pair, and what is still to be done with it.
#[derive(Clone, Copy)]
pub(super) struct Todo<N> {
    pub(super) left: N,
    pub(super) right: N,
    pub(super) region: Region,
    pub(super) what: What,
    pub(super) below_shared: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Compare them.
    Visit,
    /// Go on with the innermost of the lists that were put off, which they hold.
    List,
    /// They are variables and their fields are equal: bind them.
    Bind,
    /// The same, met below another variable.
    BindHidden,
    /// All inside is equal: end the scope.
    Scope,
    /// All inside is equal: remember the pair.
    Join,
    /// The same, beside what is known of them elsewhere.
    JoinAnew,
    /// All inside is equal: pair two dag nodes.
    Pair,
}

/// Two lists of one length, and how far they are compared.
pub(super) struct Lists<N, L> {
    pub(super) left: Cursor<N, L>,
    pub(super) right: Cursor<N, L>,
    pub(super) next: usize,
    pub(super) len: usize,
}
