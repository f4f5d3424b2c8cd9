//! Types of values.

use std::sync::LazyLock;

use sapwood_structural::{Node, Ref};
use sapwood_types::DataType;

use super::expr::{Expr, ExprRef};

/// A shared pointer to a type.
pub type TypeRef = Ref<Type>;

/// The type of a value. Types have no span: they are shared.
#[derive(Node)]
pub enum Type {
    /// A number or a truth value.
    #[node(key = "ir.ScalarType")]
    Scalar {
        /// Of which data type.
        dtype: DataType,
    },
    /// An array of numbers or truth values.
    #[node(key = "ir.TensorType")]
    Tensor {
        /// The data type of its elements.
        dtype: DataType,
        /// Its dims: constants, or expressions over variables.
        shape: Box<[ExprRef]>,
    },
    /// Several values.
    #[node(key = "ir.TupleType")]
    Tuple {
        /// The type of each.
        types: Box<[TypeRef]>,
    },
    /// A function.
    #[node(key = "ir.FunctionType")]
    Function {
        /// The types of its parameters.
        params: Box<[TypeRef]>,
        /// The types of what it returns.
        results: Box<[TypeRef]>,
    },
    /// Not known.
    #[node(key = "ir.UnknownType")]
    Unknown {},
}

static SCALARS: LazyLock<Vec<TypeRef>> =
    LazyLock::new(|| DataType::ALL.iter().map(|&dtype| Ref::new(Type::Scalar { dtype })).collect());
static UNKNOWN: LazyLock<TypeRef> = LazyLock::new(|| Ref::new(Type::Unknown {}));

impl Type {
    /// The scalar type of a data type: one object each, so that comparing two is comparing pointers.
    #[must_use]
    pub fn scalar(dtype: DataType) -> TypeRef {
        SCALARS[usize::from(dtype.code())].clone()
    }

    /// A tensor type.
    #[must_use]
    pub fn tensor(dtype: DataType, shape: impl IntoIterator<Item = ExprRef>) -> TypeRef {
        Ref::new(Self::Tensor { dtype, shape: shape.into_iter().collect() })
    }

    /// A tensor type whose dims are all known.
    #[must_use]
    pub fn tensor_of(dtype: DataType, shape: &[i64]) -> TypeRef {
        Self::tensor(dtype, shape.iter().map(|&dim| Expr::dim(dim)))
    }

    /// A tuple type.
    #[must_use]
    pub fn tuple(types: impl IntoIterator<Item = TypeRef>) -> TypeRef {
        Ref::new(Self::Tuple { types: types.into_iter().collect() })
    }

    /// A function type.
    #[must_use]
    pub fn function(
        params: impl IntoIterator<Item = TypeRef>,
        results: impl IntoIterator<Item = TypeRef>,
    ) -> TypeRef {
        Ref::new(Self::Function {
            params: params.into_iter().collect(),
            results: results.into_iter().collect(),
        })
    }

    /// The type of what is not known.
    #[must_use]
    pub fn unknown() -> TypeRef {
        UNKNOWN.clone()
    }

    /// The name of the node: `TensorType`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        super::expr::short_key(self.type_info())
    }

    /// The data type of a scalar or of the elements of a tensor.
    #[must_use]
    pub fn dtype(&self) -> Option<DataType> {
        match self {
            Self::Scalar { dtype } | Self::Tensor { dtype, .. } => Some(*dtype),
            Self::Tuple { .. } | Self::Function { .. } | Self::Unknown {} => None,
        }
    }

    /// The data type of a scalar.
    #[must_use]
    pub fn as_scalar(&self) -> Option<DataType> {
        match self {
            Self::Scalar { dtype } => Some(*dtype),
            _ => None,
        }
    }

    /// The types of the elements of a tuple.
    #[must_use]
    pub fn as_tuple(&self) -> Option<&[TypeRef]> {
        match self {
            Self::Tuple { types } => Some(types),
            _ => None,
        }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown {})
    }
}

/// What a constructor takes as a type: a type, or a data type for the scalar of it.
pub trait IntoType {
    /// The type.
    fn into_type(self) -> TypeRef;
}

impl IntoType for TypeRef {
    fn into_type(self) -> TypeRef {
        self
    }
}

impl IntoType for &TypeRef {
    fn into_type(self) -> TypeRef {
        self.clone()
    }
}

impl IntoType for DataType {
    fn into_type(self) -> TypeRef {
        Type::scalar(self)
    }
}

/// Types with more nodes than this are never taken to follow from operands: they are written out,
/// so that telling whether they follow takes a bounded time.
const MOST_NODES: usize = 64;

/// Whether two types are the same, and small enough to tell quickly. Depends on structure alone:
/// the printer leaves out a type exactly where the parser finds it again.
#[inline]
pub(crate) fn types_match(left: &TypeRef, right: &TypeRef) -> bool {
    left.same(right) && matches!(**left, Type::Scalar { .. }) || others_match(left, right)
}

fn others_match(left: &TypeRef, right: &TypeRef) -> bool {
    match (&**left, &**right) {
        (Type::Scalar { dtype }, Type::Scalar { dtype: other }) => dtype == other,
        (Type::Scalar { .. }, _) | (_, Type::Scalar { .. }) => false,
        (Type::Unknown {}, Type::Unknown {}) => true,
        _ => {
            is_small(left)
                && is_small(right)
                && sapwood_structural::equal(left, right).unwrap_or(false)
        }
    }
}

/// Whether a type has few nodes, counted along all paths.
fn is_small(root: &TypeRef) -> bool {
    enum Item<'a> {
        Type(&'a TypeRef),
        Expr(&'a ExprRef),
    }
    let mut stack = vec![Item::Type(root)];
    let mut seen = 0;
    while let Some(item) = stack.pop() {
        seen += 1;
        if seen + stack.len() > MOST_NODES {
            return false;
        }
        match item {
            Item::Type(ty) => match &**ty {
                Type::Scalar { .. } | Type::Unknown {} => {}
                Type::Tensor { shape, .. } => stack.extend(shape.iter().map(Item::Expr)),
                Type::Tuple { types } => stack.extend(types.iter().map(Item::Type)),
                Type::Function { params, results } => {
                    stack.extend(params.iter().chain(results).map(Item::Type));
                }
            },
            Item::Expr(expr) => {
                if !expr.is_var() {
                    stack.extend(expr.operands().map(Item::Expr));
                    if !matches!(&**expr.ty(), Type::Scalar { .. }) {
                        stack.push(Item::Type(expr.ty()));
                    }
                }
            }
        }
    }
    true
}
