//! The trait behind `#[derive(Node)]`.

use crate::engine::{Feed, Meet};
use crate::error::BuildError;
use crate::hasher::{Hash128, Position, Sum};
use crate::kind::Role;
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
/// On the type: `kind = "tree" | "const-tree" | "dag" | "var" | "singleton" | "none"` (`tree` if
/// not said), `key = "dialect.Name"` (the name of the type if not said), `scope`, `hooks` (the type
/// implements [`crate::StructuralHooks`]). On a field: either `def` or `ignore`, and `default`.
/// Nothing is said twice. An enum gives one type per variant, called `Enum.Variant`; a variant may
/// carry the attributes of a type.
pub trait Node: Send + Sync + Sized + 'static {
    /// The descriptor of this value's type. Every value of a struct returns the same one, an enum
    /// one per variant.
    fn type_info(&self) -> &'static TypeInfo;

    /// The field at `index` in declaration order; [`View::None`] beyond the end.
    fn field(&self, index: usize) -> View<'_>;

    /// Number of children: of fields, unless the type is a container.
    fn len(&self) -> usize {
        self.type_info().fields().len()
    }

    /// Whether there are no children.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes in the fields of two values of one type that count, side by side and in order, def
    /// fields inside [`Meet::define`]. What
    /// `#[derive(Node)]` writes compares numbers and text as they are; this default goes through
    /// [`Node::field`].
    fn meet<'a>(&'a self, other: &'a Self, meet: &mut Meet<'a>) -> bool {
        self.type_info().fields().iter().enumerate().all(|(index, field)| {
            field.role == Role::Ignore
                || meet.field(field.role, &self.field(index), &other.field(index))
        })
    }

    /// `sum` with what every field contributes that counts, at its position: from the first to the
    /// last or, if [`Feed::backwards`], from the last to the first. Where one halts, it
    /// [leaves](Feed::leave). Must agree with what [`Node::field`] shows, which this default goes
    /// through.
    fn feed<'a>(&'a self, mut sum: Sum, feed: &mut Feed<'_, '_, 'a>) -> Sum {
        let (fields, len) = (self.type_info().fields(), self.len());
        for step in 0..len {
            let index = if feed.backwards() { len - 1 - step } else { step };
            let role = fields.get(index).map_or(Role::Usual, |field| field.role);
            if role == Role::Ignore {
                continue;
            }
            let part = feed.field(role, &self.field(index));
            if feed.halted() {
                return feed.leave(index, sum);
            }
            sum = sum.add(Position::of(index), part);
        }
        sum
    }

    /// The descriptors this type can return, for registration.
    fn types() -> Vec<&'static TypeInfo>;

    /// A value of the type `info` from its fields, in declaration order.
    ///
    /// # Errors
    /// If a field is given what it cannot hold.
    fn build(info: &'static TypeInfo, fields: Vec<Value>) -> Result<Self, BuildError>;
}

/// A type that a field of a node can have.
pub trait Field: Sized {
    /// The field as the engine sees it.
    fn view(&self) -> View<'_>;

    /// Takes in two such fields side by side: compares what has no identity, and hands nodes to
    /// `meet` from the first to the last. Must agree with what [`Field::view`] shows.
    #[inline]
    fn meet<'a>(&'a self, other: &'a Self, meet: &mut Meet<'a>) -> bool {
        meet.values(&self.view(), &other.view())
    }

    /// What the field contributes to the hash of its node. Must agree with what [`Field::view`]
    /// shows.
    #[inline]
    fn part<'a>(&'a self, feed: &mut Feed<'_, '_, 'a>) -> Hash128 {
        feed.value(&self.view())
    }

    /// The field from an owned value.
    ///
    /// # Errors
    /// If the value is not one this type can hold.
    fn from_value(value: Value) -> Result<Self, BuildError>;
}

impl<T: Node> Field for Ref<T> {
    #[inline]
    fn view(&self) -> View<'_> {
        View::Node(self.node())
    }

    #[inline]
    fn meet<'a>(&'a self, other: &'a Self, meet: &mut Meet<'a>) -> bool {
        meet.nodes(self.node(), other.node())
    }

    #[inline]
    fn part<'a>(&'a self, feed: &mut Feed<'_, '_, 'a>) -> Hash128 {
        feed.node(self.node())
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
