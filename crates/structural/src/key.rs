//! Values as keys of hash tables, compared and hashed by structure.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::engine::StructuralOptions;
use crate::error::Error;
use crate::hasher::Hash128;
use crate::node::Field;
use crate::values::Value;
use crate::view::View;

/// A value as the key of a hash table: compared by structure, hashed once.
///
/// A lookup compares the 128-bit hashes first and confirms a match with a full comparison, so a collision costs
/// time and never gives a wrong result. Keys with different [`StructuralOptions`] differ.
///
/// Common subexpressions, merged into one node each:
///
/// ```
/// use std::collections::HashMap;
///
/// use sapwood_structural::{Node, StructuralOptions, Ref, StructuralKey, map};
///
/// #[derive(Node)]
/// enum Expr {
///     Input(String),
///     Mul(Ref<Expr>, Ref<Expr>),
/// }
///
/// let x = || Ref::new(Expr::Input("x".into()));
/// let square = || Ref::new(Expr::Mul(x(), x()));
/// let fourth = Ref::new(Expr::Mul(square(), square()));
///
/// let mut first = HashMap::new();
/// let merged = map(&fourth, |node| {
///     let key = StructuralKey::new(node.clone(), StructuralOptions::default()).ok()?;
///     Some(first.entry(key).or_insert_with(|| node.clone()).clone().into())
/// })?;
///
/// let Expr::Mul(a, b) = &*merged else { panic!("a product was given") };
/// assert!(a.same(b));
/// assert_eq!(first.len(), 3); // x, its square, and the square of that
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StructuralKey<T: Field = Value> {
    value: T,
    hash: Hash128,
    options: StructuralOptions,
}

impl<T: Field> StructuralKey<T> {
    /// Creates the key for `value`, to be compared and hashed with `options`.
    ///
    /// # Errors
    /// If the value cannot be hashed: see [`crate::hash`].
    pub fn new(value: T, options: StructuralOptions) -> Result<Self, Error> {
        let hash = options.hash(&value)?;
        Ok(Self { value, hash, options })
    }

    /// Returns the value.
    #[must_use]
    pub fn value(&self) -> &T {
        &self.value
    }

    /// Returns the value by move.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }

    /// Returns the hash of the value.
    #[must_use]
    pub fn hash_128(&self) -> Hash128 {
        self.hash
    }

    /// Returns the options for comparing and hashing.
    #[must_use]
    pub fn options(&self) -> StructuralOptions {
        self.options
    }
}

impl<T: Field> PartialEq for StructuralKey<T> {
    /// Returns whether the values are equal. If the comparison fails although hashing did not (only a hook can
    /// do that), only the same node is equal.
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (self.value.view(), other.value.view());
        self.hash == other.hash
            && self.options == other.options
            && self.options.equal(left, right).unwrap_or_else(|_| same_node(left, right))
    }
}

fn same_node(left: View<'_>, right: View<'_>) -> bool {
    matches!((left, right), (View::Node(left), View::Node(right)) if left.id() == right.id())
}

impl<T: Field> Eq for StructuralKey<T> {}

impl<T: Field> Hash for StructuralKey<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash.lo);
    }
}

impl<T: Field> fmt::Debug for StructuralKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} #{}", crate::abridged(self.value.view()), self.hash)
    }
}
