//! Mapping a graph: replacing nodes from the leaves up, and rebuilding only what changed.

use std::convert::Infallible;

use rustc_hash::FxBuildHasher;

use crate::child_cursor::{ChildCursor, ChildOwner};
use crate::kind::NodeKind;
use crate::node::Field;
use crate::path::NodePath;
use crate::reference::{AnyRef, NodeRef};
use crate::singletons::ConstructError;
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
    f: impl FnMut(&AnyRef) -> Result<Option<Value>, E>,
) -> Result<T, MapError<E>> {
    let value =
        MapTraversal { f, memo: MapMemo::default(), frames: Vec::new() }.run(root.view())?;
    // Converting through a value would lose the identity of a list, and is not needed if nothing changed.
    let value = value.unwrap_or_else(|| Value::of(root.view()));
    T::from_value(value)
        .map_err(|error| MapError::Build { path: NodePath::root(), error: error.into() })
}

/// The results for shared nodes; `None` for nodes that stay.
type MapMemo = hashbrown::HashMap<usize, Option<Value>, FxBuildHasher>;

/// A traversal that replaces nodes from the leaves up.
struct MapTraversal<'a, F> {
    f: F,
    memo: MapMemo,
    frames: Vec<NodeRebuild<'a>>,
}

/// A node or list whose children are being replaced.
pub(crate) struct NodeRebuild<'a> {
    pub(crate) children: ChildCursor<'a>,
    /// The children so far, from the first change on.
    changed: Option<Vec<Value>>,
}

impl<'a> NodeRebuild<'a> {
    pub(crate) fn new(children: ChildCursor<'a>) -> Self {
        Self { children, changed: None }
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

    /// Rebuilds the node or list. Returns `None` if nothing changed.
    pub(crate) fn finish(self) -> Result<Option<Value>, ConstructError> {
        let Some(values) = self.changed else { return Ok(None) };
        let values = self.children.in_insertion_order(values);
        match self.children.parent {
            ChildOwner::List(_) => Ok(Some(crate::Seq::new(values).into())),
            ChildOwner::Node(node) => rebuild_node(node, values).map(|node| Some(node.into())),
        }
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

impl<'a, F, E> MapTraversal<'a, F>
where
    F: FnMut(&AnyRef) -> Result<Option<Value>, E>,
{
    fn run(&mut self, root: View<'a>) -> Result<Option<Value>, MapError<E>> {
        let Some(children) = ChildCursor::of_view(root) else { return Ok(None) };
        self.frames.push(NodeRebuild::new(children));
        loop {
            let Some(top) = self.frames.last_mut() else { return Ok(None) };
            if let Some(index) = top.children.advance() {
                let child = top.children.child(index);
                let known = match child {
                    View::Node(node) if node.owners() > 1 => self.memo.get(&node.id()).cloned(),
                    View::Node(_) | View::List(_) => None,
                    _ => Some(None),
                };
                match (known, ChildCursor::of_view(child)) {
                    (None, Some(children)) => self.frames.push(NodeRebuild::new(children)),
                    (known, _) => top.push_child(index, known.flatten()),
                }
                continue;
            }
            let value = self.close_frame()?;
            match self.frames.last_mut() {
                None => return Ok(value),
                Some(outer) => {
                    let index = outer.children.current().unwrap_or(0);
                    outer.push_child(index, value);
                }
            }
        }
    }

    /// Closes the innermost frame once all its children are replaced.
    fn close_frame(&mut self) -> Result<Option<Value>, MapError<E>> {
        let Some(frame) = self.frames.pop() else { return Ok(None) };
        let of = frame.children.parent;
        let rebuilt =
            frame.finish().map_err(|error| MapError::Build { path: self.path(), error })?;
        let ChildOwner::Node(original) = of else { return Ok(rebuilt) };
        let node = match &rebuilt {
            Some(Value::Node(node)) => node.clone(),
            _ => original.to_owned(),
        };
        let replaced =
            (self.f)(&node).map_err(|error| MapError::Callback { path: self.path(), error })?;
        let result = match replaced.or(rebuilt) {
            Some(Value::Node(node)) if node.node().id() == original.id() => None,
            result => result,
        };
        drop(node);
        // A node with one owner is not visited again.
        if original.owners() > 1 {
            self.memo.insert(original.id(), result.clone());
        }
        Ok(result)
    }

    /// Returns the path of the node whose frame was just popped.
    fn path(&self) -> NodePath {
        let step = |frame: &NodeRebuild<'a>| Some(frame.children.step(frame.children.current()?));
        self.frames.iter().filter_map(step).collect()
    }
}
