//! Custom equality and hashing for types whose fields do not say it all.

use std::marker::PhantomData;

use crate::engine::{EqualCx, HashCx};
use crate::error::Error;
use crate::node::Node;
use crate::reference::NodeRef;

/// What a hook returns when it fails; [`Error::Hook`] carries it out.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

/// Hooks of a Rust type, in place of comparing and hashing it field by field. Equality and hash
/// come as a pair: what the first calls equal, the second must hash alike ([`crate::check_hooks`]
/// tells where a pair of values says otherwise). The kind of the type keeps its machinery around
/// them: a `var` is still bound, a `dag` node still paired.
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
    /// Whether the two are equal, given what [`EqualCx::equal`] says of their parts.
    ///
    /// # Errors
    /// What [`EqualCx::equal`] returned, or an [`Error::Hook`] of its own.
    fn s_equal(&self, other: &Self, cx: &mut EqualCx<'_>) -> Result<bool, Error>;

    /// The hash, starting from `init`, of what [`StructuralHooks::s_equal`] looks at.
    ///
    /// # Errors
    /// What [`HashCx::hash`] returned, or an [`Error::Hook`] of its own.
    fn s_hash(&self, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error>;
}

/// A pair of hooks for any type, however described.
pub trait Hooks: Send + Sync {
    /// Whether two nodes of the type are equal.
    ///
    /// # Errors
    /// As [`StructuralHooks::s_equal`].
    fn equal(
        &self,
        left: NodeRef<'_>,
        right: NodeRef<'_>,
        cx: &mut EqualCx<'_>,
    ) -> Result<bool, Error>;

    /// The hash of a node of the type.
    ///
    /// # Errors
    /// As [`StructuralHooks::s_hash`].
    fn hash(&self, node: NodeRef<'_>, init: u64, cx: &mut HashCx<'_>) -> Result<u64, Error>;
}

/// The hooks of a type that implements [`StructuralHooks`].
pub struct TypedHooks<T>(PhantomData<fn() -> T>);

impl<T> TypedHooks<T> {
    /// They hold no state.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: StructuralHooks> Hooks for TypedHooks<T> {
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

impl Hooks for HookPair {
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
