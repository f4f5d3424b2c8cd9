//! Hooks: custom equality and hashing for types that are not compared field by field.

use std::marker::PhantomData;

use crate::engine::{EqualCx, HashCx};
use crate::error::Error;
use crate::node::Node;
use crate::reference::NodeRef;

/// The error of a failed hook; [`Error::Hook`] carries it.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

/// The hooks of a Rust type, in place of comparing and hashing it field by field. Equality and hash come as a
/// pair: values that the first compares as equal, the second must hash alike ([`crate::check_hooks`] finds
/// violations). The kind of the type still applies: a `var` is still bound, a `dag` node still paired.
///
/// Declare them with `#[node(hooks)]`.
///
/// ```
/// use sapwood_structural::{EqualCx, Error, HashCx, Node, Ref, StructuralHooks, equal, hash};
///
/// /// Two numbers, compared without regard to their order.
/// #[derive(Node)]
/// #[node(hooks)]
/// struct Pair(i64, i64);
///
/// impl StructuralHooks for Pair {
///     fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error> {
///         Ok(cx.equal(&self.0, &other.0, false, "0")? && cx.equal(&self.1, &other.1, false, "1")?
///             || cx.equal(&self.0, &other.1, false, "0")? && cx.equal(&self.1, &other.0, false, "1")?)
///     }
///
///     fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
///         let low = cx.hash(&self.0.min(self.1), init, false)?;
///         cx.hash(&self.0.max(self.1), low, false)
///     }
/// }
///
/// let (a, b) = (Ref::new(Pair(1, 2)), Ref::new(Pair(2, 1)));
/// assert!(equal(&a, &b)?);
/// assert_eq!(hash(&a)?, hash(&b)?);
/// # Ok::<(), Error>(())
/// ```
pub trait StructuralHooks: Node {
    /// Returns whether two values are equal, using [`EqualCx::equal`] for their parts.
    ///
    /// # Errors
    /// The errors of [`EqualCx::equal`], or an [`Error::Hook`] of its own.
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error>;

    /// Returns the hash, starting from `init`, of everything that [`StructuralHooks::s_equal`] compares.
    ///
    /// # Errors
    /// The errors of [`HashCx::hash`], or an [`Error::Hook`] of its own.
    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error>;
}

/// A pair of hooks with the node type erased, for any type.
pub trait ErasedHooks: Send + Sync {
    /// Returns whether two nodes of the type are equal.
    ///
    /// # Errors
    /// As [`StructuralHooks::s_equal`].
    fn equal(
        &self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        cx: &mut EqualCx<'_>,
    ) -> Result<bool, Error>;

    /// Returns the hash of a node of the type, starting from `init`.
    ///
    /// # Errors
    /// As [`StructuralHooks::s_hash`].
    fn hash(&self, node: NodeRef<'_>, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error>;
}

/// The hooks of a type that implements [`StructuralHooks`].
pub struct TypedHooks<T>(PhantomData<fn() -> T>);

impl<T> TypedHooks<T> {
    /// The only value; hooks hold no state.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: StructuralHooks> ErasedHooks for TypedHooks<T> {
    fn equal(
        &self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        cx: &mut EqualCx<'_>,
    ) -> Result<bool, Error> {
        match (left.downcast::<T>(), right.downcast::<T>()) {
            (Some(left), Some(right)) => left.s_equal(right, cx),
            _ => Ok(false),
        }
    }

    fn hash(&self, node: NodeRef<'_>, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        node.downcast::<T>().map_or(Ok(init), |node| node.s_hash(init, cx))
    }
}

/// Hooks given as two functions, for types described at run time.
pub(crate) struct HookPair {
    pub(crate) equal: EqualHook,
    pub(crate) hash: HashHook,
}

/// An equality hook as a function.
pub type EqualHook =
    Box<dyn Fn(NodeRef<'_>, NodeRef<'_>, &mut EqualCx<'_>) -> Result<bool, Error> + Send + Sync>;

/// A hash hook as a function.
pub type HashHook =
    Box<dyn Fn(NodeRef<'_>, u64, &mut HashCx<'_>) -> Result<u64, Error> + Send + Sync>;

impl ErasedHooks for HookPair {
    fn equal(
        &self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        cx: &mut EqualCx<'_>,
    ) -> Result<bool, Error> {
        (self.equal)(left, right, cx)
    }

    fn hash(&self, node: NodeRef<'_>, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error> {
        (self.hash)(node, init, cx)
    }
}
