//! The traits [`Node`] and [`Field`], which `#[derive(Node)]` implements and uses.

use crate::engine::{FieldComparer, FieldHasher};
use crate::error::BuildError;
use crate::hasher::{ChildPosition, Hash128, HashSum};
use crate::kind::FieldRole;
use crate::reference::Ref;
use crate::type_info::TypeInfo;
use crate::values::Value;
use crate::view::View;

/// A type whose values are nodes. Derive it:
///
/// ```
/// use sapwood_structural::{Node, Ref};
///
/// #[derive(Node)]
/// #[node(kind = "var")]
/// struct Var {
///     #[node(ignore)]
///     name: String,
/// }
///
/// #[derive(Node)]
/// #[node(scope)]
/// struct Lambda {
///     #[node(def)]
///     params: Vec<Ref<Var>>,
///     body: Ref<Var>,
/// }
/// ```
///
/// On the type: `kind = "tree" | "const-tree" | "dag" | "var" | "singleton" | "none"` (default: `tree`), `key =
/// "dialect.Name"` (default: the name of the type), `scope`, `hooks` (the type implements
/// [`crate::StructuralHooks`]). On a field: either `def` or `ignore`, and `default`. No attribute may be given
/// twice. An enum gives one type per variant, called `Enum.Variant`; a variant takes the attributes of a type.
pub trait Node: Send + Sync + Sized + 'static {
    /// Returns the descriptor of this value's type. Every value of a struct returns the same one, an enum one
    /// per variant.
    fn type_info(&self) -> &'static TypeInfo;

    /// Returns the field at `index` in declaration order; [`View::None`] beyond the end.
    fn field(&self, index: usize) -> View<'_>;

    /// Returns the number of children: of fields, unless the type is a container.
    fn len(&self) -> usize {
        self.type_info().fields().len()
    }

    /// Returns whether there are no children.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Compares the fields of two values of one type that are not ignored, in order, def fields inside
    /// [`FieldComparer::with_def_region`]. The code that `#[derive(Node)]` writes compares numbers and text
    /// directly; this default goes through [`Node::field`].
    fn compare_fields<'a>(&'a self, other: &'a Self, comparer: &mut FieldComparer<'a>) -> bool {
        self.type_info().fields().iter().enumerate().all(|(index, field)| {
            field.role == FieldRole::Ignore
                || comparer.compare_field(field.role, &self.field(index), &other.field(index))
        })
    }

    /// Adds the contribution of every field that is not ignored to `sum`, at its position: from the first to
    /// the last or, if [`FieldHasher::backwards`], from the last to the first. Where a field halts, it
    /// [suspends](FieldHasher::suspend_at). Must agree with [`Node::field`], which this default goes through.
    fn hash_fields<'a>(
        &'a self,
        mut sum: HashSum,
        hasher: &mut FieldHasher<'_, '_, 'a>,
    ) -> HashSum {
        let (fields, len) = (self.type_info().fields(), self.len());
        for step in 0..len {
            let index = if hasher.backwards() { len - 1 - step } else { step };
            let role = fields.get(index).map_or(FieldRole::Usual, |field| field.role);
            if role == FieldRole::Ignore {
                continue;
            }
            let part = hasher.hash_field(role, &self.field(index));
            if hasher.halted() {
                return hasher.suspend_at(index, sum);
            }
            sum = sum.add(ChildPosition::of(index), part);
        }
        sum
    }

    /// Returns all descriptors this type can return, for registration.
    fn types() -> Vec<&'static TypeInfo>;

    /// Builds a value of the type `info` from its fields, in declaration order.
    ///
    /// # Errors
    /// If a field cannot hold its value.
    fn build(info: &'static TypeInfo, fields: Vec<Value>) -> Result<Self, BuildError>;
}

/// A type that a field of a node can have.
pub trait Field: Sized {
    /// Returns a view of the field, as the engine sees it.
    fn view(&self) -> View<'_>;

    /// Compares two fields of this type: scalars directly, nodes by handing them to `comparer` from the first
    /// to the last. Must agree with [`Field::view`].
    #[inline]
    fn compare<'a>(&'a self, other: &'a Self, comparer: &mut FieldComparer<'a>) -> bool {
        comparer.compare_values(&self.view(), &other.view())
    }

    /// Returns the contribution of the field to the hash of its node. Must agree with [`Field::view`].
    #[inline]
    fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
        hasher.hash_value(&self.view())
    }

    /// Converts an owned value to a field.
    ///
    /// # Errors
    /// If this type cannot hold the value.
    fn from_value(value: Value) -> Result<Self, BuildError>;
}

impl<T: Node> Field for Ref<T> {
    #[inline]
    fn view(&self) -> View<'_> {
        View::Node(self.node())
    }

    #[inline]
    fn compare<'a>(&'a self, other: &'a Self, comparer: &mut FieldComparer<'a>) -> bool {
        comparer.compare_nodes(self.node(), other.node())
    }

    #[inline]
    fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
        hasher.hash_node(self.node())
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        match value {
            Value::Node(node) => node
                .downcast()
                .map_err(|node| BuildError::expected(&type_names::<T>(), View::Node(node.node()))),
            other => Err(BuildError::expected(&type_names::<T>(), other.view())),
        }
    }
}

fn type_names<T: Node>() -> String {
    let keys: Vec<&str> = T::types().iter().map(|info| info.key()).collect();
    match *keys {
        [key] => format!("a {key}"),
        _ => format!("one of {}", keys.join(", ")),
    }
}
