//! Rebuilding a graph from its leaves up, where something changed.

use std::convert::Infallible;

use rustc_hash::FxBuildHasher;

use crate::children::{Children, Parent};
use crate::intern::GetError;
use crate::kind::Kind;
use crate::node::Field;
use crate::path::Path;
use crate::reference::{AnyRef, NodeRef};
use crate::values::Value;
use crate::view::View;

/// Why a graph could not be mapped. The place is in the graph that was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError<E> {
    /// The callback failed.
    #[error("{path}: {error}")]
    Callback {
        /// The node it was called for.
        path: Path,
        /// What it returned.
        error: E,
    },
    /// A node cannot hold what its children were mapped to.
    #[error("{path}: {error}")]
    Build {
        /// The node.
        path: Path,
        /// What it cannot hold.
        error: GetError,
    },
}

/// Replaces nodes from the leaves up. `f` is called once for every distinct node, with the node
/// whose children are replaced already, and returns what to put in its place, or nothing to keep it.
///
/// Only what changed is rebuilt: a node none of whose children changed is passed to `f` and kept as
/// the same pointer. What was shared is shared in the result. Ignored fields are mapped too;
/// singletons are rebuilt through their `get`, and maps and sets keep their order of insertion.
/// Nothing recurses.
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
/// If a node, or the field type `T` itself, cannot hold what its children were mapped to; a map or
/// set also if two of its keys become equal.
pub fn map<T: Field>(
    root: &T,
    mut f: impl FnMut(&AnyRef) -> Option<Value>,
) -> Result<T, MapError<Infallible>> {
    try_map(root, |node| Ok(f(node)))
}

/// As [`map`], with a callback that can fail.
///
/// # Errors
/// As [`map`], and if the callback fails.
pub fn try_map<T: Field, E>(
    root: &T,
    f: impl FnMut(&AnyRef) -> Result<Option<Value>, E>,
) -> Result<T, MapError<E>> {
    let value = Mapping { f, done: Done::default(), frames: Vec::new() }.run(root.view())?;
    // Going through a value would lose the identity of a list, and nothing needs it if nothing changed.
    let value = value.unwrap_or_else(|| Value::of(root.view()));
    T::from_value(value)
        .map_err(|error| MapError::Build { path: Path::root(), error: error.into() })
}

/// What became of nodes that can be met again; nothing for those that stay.
type Done = hashbrown::HashMap<usize, Option<Value>, FxBuildHasher>;

struct Mapping<'a, F> {
    f: F,
    done: Done,
    frames: Vec<Rebuild<'a>>,
}

/// A node or list whose children are being replaced.
pub(crate) struct Rebuild<'a> {
    pub(crate) children: Children<'a>,
    /// The children so far, from the first change on.
    changed: Option<Vec<Value>>,
}

impl<'a> Rebuild<'a> {
    pub(crate) fn new(children: Children<'a>) -> Self {
        Self { children, changed: None }
    }

    /// Takes note of what the child visited last became; nothing if it stays.
    pub(crate) fn put(&mut self, index: usize, child: Option<Value>) {
        let children = &self.children;
        match (&mut self.changed, child) {
            (None, None) => {}
            (Some(changed), child) => {
                changed.push(child.unwrap_or_else(|| children.owned(index)));
            }
            (slot @ None, Some(child)) => {
                let mut values = Vec::with_capacity(children.len());
                values.extend((0..index).map(|earlier| children.owned(earlier)));
                values.push(child);
                *slot = Some(values);
            }
        }
    }

    /// What the node or list became; nothing if it stays.
    pub(crate) fn finish(self) -> Result<Option<Value>, GetError> {
        let Some(values) = self.changed else { return Ok(None) };
        let values = self.children.as_inserted(values);
        match self.children.of {
            Parent::List(_) => Ok(Some(crate::Seq::new(values).into())),
            Parent::Node(node) => rebuilt(node, values).map(|node| Some(node.into())),
        }
    }
}

/// A node like `node` with other children.
pub(crate) fn rebuilt(node: NodeRef<'_>, children: Vec<Value>) -> Result<AnyRef, GetError> {
    let info = node.info();
    let interned = info.kind() == Kind::Singleton && node.interned();
    info.construct(children, interned)
}

impl<'a, F, E> Mapping<'a, F>
where
    F: FnMut(&AnyRef) -> Result<Option<Value>, E>,
{
    fn run(&mut self, root: View<'a>) -> Result<Option<Value>, MapError<E>> {
        let Some(children) = Children::of_view(root) else { return Ok(None) };
        self.frames.push(Rebuild::new(children));
        loop {
            let Some(top) = self.frames.last_mut() else { return Ok(None) };
            if let Some(index) = top.children.advance() {
                let child = top.children.child(index);
                let known = match child {
                    View::Node(node) if node.owners() > 1 => self.done.get(&node.id()).cloned(),
                    View::Node(_) | View::List(_) => None,
                    _ => Some(None),
                };
                match (known, Children::of_view(child)) {
                    (None, Some(children)) => self.frames.push(Rebuild::new(children)),
                    (known, _) => top.put(index, known.flatten()),
                }
                continue;
            }
            let value = self.close()?;
            match self.frames.last_mut() {
                None => return Ok(value),
                Some(outer) => {
                    let index = outer.children.current().unwrap_or(0);
                    outer.put(index, value);
                }
            }
        }
    }

    /// Ends the innermost frame: all its children are replaced.
    fn close(&mut self) -> Result<Option<Value>, MapError<E>> {
        let Some(frame) = self.frames.pop() else { return Ok(None) };
        let of = frame.children.of;
        let rebuilt =
            frame.finish().map_err(|error| MapError::Build { path: self.path(), error })?;
        let Parent::Node(original) = of else { return Ok(rebuilt) };
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
        // A node with one owner is not met again.
        if original.owners() > 1 {
            self.done.insert(original.id(), result.clone());
        }
        Ok(result)
    }

    /// Where the node is that was taken off the frames.
    fn path(&self) -> Path {
        let step = |frame: &Rebuild<'a>| Some(frame.children.step(frame.children.current()?));
        self.frames.iter().filter_map(step).collect()
    }
}
