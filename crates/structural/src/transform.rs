//! Mapping a graph: replacing nodes from the leaves up, and rebuilding only what changed.

use std::convert::Infallible;

use rustc_hash::FxBuildHasher;

use crate::child_cursor::{ChildCursor, ChildOwner};
use crate::kind::NodeKind;
use crate::node::Field;
use crate::path::NodePath;
use crate::reference::{AnyRef, NodeRef};
use crate::singletons::ConstructError;
use crate::type_info::ChildLayout;
use crate::values::Value;
use crate::view::View;

/// An error of mapping a graph. The path is in the original graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError<E> {
    /// The callback failed.
    #[error("{path}: {error}")]
    Callback {
        /// The path of the node it was called for.
        path: NodePath,
        /// The error it returned.
        error: E,
    },
    /// A node cannot hold its new children.
    #[error("{path}: {error}")]
    Build {
        /// The path of the node.
        path: NodePath,
        /// The reason.
        error: ConstructError,
    },
}

/// Replaces nodes from the leaves up. `f` is called once for every distinct node, after its children were
/// replaced, and returns the replacement, or `None` to keep the node.
///
/// Only changed nodes are rebuilt: a node none of whose children changed is passed to `f` and kept as the same
/// pointer. Shared nodes stay shared in the result. Ignored fields are mapped too; singletons are rebuilt
/// through their `get`, and maps and sets keep their insertion order. Nothing recurses.
///
/// ```
/// use sapwood_structural::{Node, Ref, Value, equal, map};
///
/// #[derive(Node)]
/// enum Expr {
///     Number(i64),
///     Add(Ref<Expr>, Ref<Expr>),
/// }
///
/// let number = |n| Ref::new(Expr::Number(n));
/// let sum = Ref::new(Expr::Add(number(1), Ref::new(Expr::Add(number(2), number(3)))));
///
/// // The sum of two numbers is a number.
/// let folded: Ref<Expr> = map(&sum, |node| {
///     let Expr::Add(a, b) = node.downcast_ref()? else { return None };
///     let (Expr::Number(a), Expr::Number(b)) = (&**a, &**b) else { return None };
///     Some(number(a + b).into())
/// })?;
/// assert!(equal(&folded, &number(6))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a node, or the field type `T` itself, cannot hold its new children; for a map or set also if two keys
/// become equal.
pub fn map<T: Field>(
    root: &T,
    mut f: impl FnMut(&AnyRef) -> Option<Value>,
) -> Result<T, MapError<Infallible>> {
    try_map(root, |node| Ok(f(node)))
}

/// Replaces nodes from the leaves up, like [`map`], with a callback that can fail.
///
/// # Errors
/// As [`map`], and if the callback fails.
pub fn try_map<T: Field, E>(
    root: &T,
    mut f: impl FnMut(&AnyRef) -> Result<Option<Value>, E>,
) -> Result<T, MapError<E>> {
    let edit = |node: &AnyRef| Ok(f(node)?.map_or(NodeEdit::Keep, NodeEdit::Replace));
    try_edit(root, |_| Ok(None), edit)
}

/// The edit of a node in [`try_edit`].
#[derive(Clone, Debug)]
pub enum NodeEdit {
    /// The node stays, with its new children.
    Keep,
    /// Another value replaces the node.
    Replace(Value),
    /// The node is removed from the list, set or map that has it: with a key or value, the entry is removed. A field becomes none.
    Delete,
}

/// Edits nodes from the leaves up, like [`map`]. `enter` is called before the children of a node are edited; if it returns an edit of the
/// node, its children are skipped. `leave` is called afterwards, but not for skipped nodes. Both are called once for every distinct node.
///
/// ```
/// use std::convert::Infallible;
///
/// use sapwood_structural::{Node, NodeEdit, Ref, equal, try_edit};
///
/// #[derive(Node)]
/// enum Expr {
///     Number(i64),
///     Sum(Vec<Ref<Expr>>),
/// }
///
/// let number = |n| Ref::new(Expr::Number(n));
/// let sum = Ref::new(Expr::Sum(vec![number(1), number(0), number(2)]));
/// let shorter: Ref<Expr> = try_edit(&sum, |_| Ok::<_, Infallible>(None), |node| {
///     Ok(match node.downcast_ref() {
///         Some(Expr::Number(0)) => NodeEdit::Delete,
///         _ => NodeEdit::Keep,
///     })
/// })?;
/// assert!(equal(&shorter, &Ref::new(Expr::Sum(vec![number(1), number(2)])))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`map`], and if a callback fails. A field whose type does not allow none cannot lose its node.
pub fn try_edit<T: Field, E>(
    root: &T,
    enter: impl FnMut(NodeRef<'_>) -> Result<Option<NodeEdit>, E>,
    leave: impl FnMut(&AnyRef) -> Result<NodeEdit, E>,
) -> Result<T, MapError<E>> {
    let memo = MapMemo::default();
    let edit = EditTraversal { enter, leave, memo, frames: Vec::new() }.run(root.view())?;
    let value = match edit {
        // Converting through a value would lose the identity of a list, and is not needed if nothing changed.
        NodeEdit::Keep => Value::of(root.view()),
        NodeEdit::Replace(value) => value,
        NodeEdit::Delete => Value::None,
    };
    T::from_value(value)
        .map_err(|error| MapError::Build { path: NodePath::root(), error: error.into() })
}

/// The results for shared nodes.
type MapMemo = hashbrown::HashMap<usize, NodeEdit, FxBuildHasher>;

/// A traversal that edits nodes from the leaves up.
struct EditTraversal<'a, F, G> {
    enter: F,
    leave: G,
    memo: MapMemo,
    frames: Vec<NodeRebuild<'a>>,
}

/// A node or list whose children are being replaced.
pub(crate) struct NodeRebuild<'a> {
    pub(crate) children: ChildCursor<'a>,
    /// The children so far, from the first change on.
    changed: Option<Vec<Value>>,
    /// The positions of the children that are removed.
    deleted: Vec<usize>,
}

impl<'a> NodeRebuild<'a> {
    pub(crate) fn new(children: ChildCursor<'a>) -> Self {
        Self { children, changed: None, deleted: Vec::new() }
    }

    /// Adds the result for the last visited child; `None` if it stays.
    pub(crate) fn push_child(&mut self, index: usize, child: Option<Value>) {
        let children = &self.children;
        match (&mut self.changed, child) {
            (None, None) => {}
            (Some(changed), child) => {
                changed.push(child.unwrap_or_else(|| children.owned_child(index)));
            }
            (slot @ None, Some(child)) => {
                let mut values = Vec::with_capacity(children.len());
                values.extend((0..index).map(|earlier| children.owned_child(earlier)));
                values.push(child);
                *slot = Some(values);
            }
        }
    }

    /// Removes the last visited child.
    fn delete_child(&mut self, index: usize) {
        self.push_child(index, Some(Value::None));
        if self.children.parent.layout() != ChildLayout::Record {
            self.deleted.push(index);
        }
    }

    /// Rebuilds the node or list. Returns `None` if nothing changed.
    pub(crate) fn finish(self) -> Result<Option<Value>, ConstructError> {
        let Some(values) = self.changed else { return Ok(None) };
        let mut values = self.children.in_insertion_order(values);
        if !self.deleted.is_empty() {
            // The key and the value of an entry are neighbours.
            let entry = if self.children.parent.layout() == ChildLayout::Map { 2 } else { 1 };
            let mut stays = vec![true; values.len()];
            for &index in &self.deleted {
                let first = index - index % entry;
                stays[first..first + entry].fill(false);
            }
            let mut stays = stays.into_iter();
            values.retain(|_| stays.next().unwrap_or(true));
        }
        match self.children.parent {
            ChildOwner::List(_) => Ok(Some(crate::Seq::new(values).into())),
            ChildOwner::Node(node) => rebuild_node(node, values).map(|node| Some(node.into())),
        }
    }
}

/// Returns the edit, or `Keep` if it replaces the node by itself.
fn unless_same(edit: NodeEdit, node: NodeRef<'_>) -> NodeEdit {
    match edit {
        NodeEdit::Replace(Value::Node(same)) if same.node().id() == node.id() => NodeEdit::Keep,
        edit => edit,
    }
}

/// Builds a node of the same type with other children.
pub(crate) fn rebuild_node(
    node: NodeRef<'_>,
    children: Vec<Value>,
) -> Result<AnyRef, ConstructError> {
    let info = node.info();
    let interned = info.kind() == NodeKind::Singleton && node.interned();
    info.construct(children, interned)
}

impl<'a, F, G, E> EditTraversal<'a, F, G>
where
    F: FnMut(NodeRef<'_>) -> Result<Option<NodeEdit>, E>,
    G: FnMut(&AnyRef) -> Result<NodeEdit, E>,
{
    fn run(&mut self, root: View<'a>) -> Result<NodeEdit, MapError<E>> {
        let mut met = Some(root);
        loop {
            if let Some(view) = met.take() {
                let edit = match view {
                    View::Node(node) => match self.known_edit(node)? {
                        Some(edit) => edit,
                        None => {
                            self.frames.push(NodeRebuild::new(ChildCursor::of_node(node)));
                            continue;
                        }
                    },
                    View::List(list) => {
                        self.frames.push(NodeRebuild::new(ChildCursor::of_list(list)));
                        continue;
                    }
                    _ => NodeEdit::Keep,
                };
                if self.frames.is_empty() {
                    return Ok(edit);
                }
                self.push_edit(edit);
                continue;
            }
            let Some(top) = self.frames.last_mut() else { return Ok(NodeEdit::Keep) };
            if let Some(index) = top.children.advance() {
                met = Some(top.children.child(index));
                continue;
            }
            let edit = self.close_frame()?;
            if self.frames.is_empty() {
                return Ok(edit);
            }
            self.push_edit(edit);
        }
    }

    /// Returns the edit of a node that was visited before, or whose children are skipped.
    fn known_edit(&mut self, node: NodeRef<'a>) -> Result<Option<NodeEdit>, MapError<E>> {
        if node.owners() > 1
            && let Some(edit) = self.memo.get(&node.id())
        {
            return Ok(Some(edit.clone()));
        }
        let edit = (self.enter)(node);
        let edit = edit.map_err(|error| MapError::Callback { path: self.path(), error })?;
        let edit = edit.map(|edit| unless_same(edit, node));
        if node.owners() > 1
            && let Some(edit) = &edit
        {
            self.memo.insert(node.id(), edit.clone());
        }
        Ok(edit)
    }

    /// Adds the edit of the last visited child to the innermost frame.
    fn push_edit(&mut self, edit: NodeEdit) {
        let Some(outer) = self.frames.last_mut() else { return };
        let index = outer.children.current().unwrap_or(0);
        match edit {
            NodeEdit::Keep => outer.push_child(index, None),
            NodeEdit::Replace(value) => outer.push_child(index, Some(value)),
            NodeEdit::Delete => outer.delete_child(index),
        }
    }

    /// Closes the innermost frame once all its children are edited.
    fn close_frame(&mut self) -> Result<NodeEdit, MapError<E>> {
        let Some(frame) = self.frames.pop() else { return Ok(NodeEdit::Keep) };
        let of = frame.children.parent;
        let rebuilt =
            frame.finish().map_err(|error| MapError::Build { path: self.path(), error })?;
        let ChildOwner::Node(original) = of else {
            return Ok(rebuilt.map_or(NodeEdit::Keep, NodeEdit::Replace));
        };
        let node = match &rebuilt {
            Some(Value::Node(node)) => node.clone(),
            _ => original.to_owned(),
        };
        let edit =
            (self.leave)(&node).map_err(|error| MapError::Callback { path: self.path(), error })?;
        let edit = match (edit, rebuilt) {
            (NodeEdit::Keep, Some(rebuilt)) => NodeEdit::Replace(rebuilt),
            (edit, _) => edit,
        };
        let edit = unless_same(edit, original);
        drop(node);
        // A node with one owner is not visited again.
        if original.owners() > 1 {
            self.memo.insert(original.id(), edit.clone());
        }
        Ok(edit)
    }

    /// Returns the path of the node whose frame was just popped.
    fn path(&self) -> NodePath {
        let step = |frame: &NodeRebuild<'a>| Some(frame.children.step(frame.children.current()?));
        self.frames.iter().filter_map(step).collect()
    }
}
