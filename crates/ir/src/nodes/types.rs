//! Types of values.

use std::sync::LazyLock;

use sapwood_structural::{Node, Ref};
use sapwood_types::{DataType, Span};

use super::expr::{Expr, ExprRef};

/// A shared pointer to a type.
pub type TypeRef = Ref<Type>;

/// The type of a value. A type that is written in a text has a span, which is not compared; scalar types without a span are shared.
#[derive(Node)]
pub enum Type {
    /// A number or a bool.
    #[node(key = "ir.ScalarType")]
    Scalar {
        /// The source span.
        #[node(ignore, default)]
        span: Span,
        /// The data type.
        dtype: DataType,
    },
    /// A tensor of numbers or bools.
    #[node(key = "ir.TensorType")]
    Tensor {
        /// The source span.
        #[node(ignore, default)]
        span: Span,
        /// The data type of the elements.
        dtype: DataType,
        /// The dims: constants, or expressions over variables.
        shape: Box<[ExprRef]>,
    },
    /// A tuple.
    #[node(key = "ir.TupleType")]
    Tuple {
        /// The source span.
        #[node(ignore, default)]
        span: Span,
        /// The types of the elements.
        types: Box<[TypeRef]>,
    },
    /// A function.
    #[node(key = "ir.FunctionType")]
    Function {
        /// The source span.
        #[node(ignore, default)]
        span: Span,
        /// The types of the parameters.
        params: Box<[TypeRef]>,
        /// The types of the results.
        results: Box<[TypeRef]>,
    },
    /// An unknown type.
    #[node(key = "ir.UnknownType")]
    Unknown {
        /// The source span.
        #[node(ignore, default)]
        span: Span,
    },
}

/// The shared scalar types, by the code of their data type.
static SCALARS: LazyLock<Vec<TypeRef>> = LazyLock::new(|| {
    let scalar = |&dtype| Ref::new(Type::Scalar { span: Span::unknown(), dtype });
    DataType::ALL.iter().map(scalar).collect()
});
/// The shared unknown type.
static UNKNOWN: LazyLock<TypeRef> =
    LazyLock::new(|| Ref::new(Type::Unknown { span: Span::unknown() }));

impl Type {
    /// Returns the scalar type of a data type, without a span. Each is one shared object.
    #[must_use]
    pub fn scalar(dtype: DataType) -> TypeRef {
        SCALARS[usize::from(dtype.code())].clone()
    }

    /// Creates a tensor type.
    #[must_use]
    pub fn tensor(dtype: DataType, shape: impl IntoIterator<Item = ExprRef>) -> TypeRef {
        Ref::new(Self::Tensor { span: Span::unknown(), dtype, shape: shape.into_iter().collect() })
    }

    /// Creates a tensor type with constant dims.
    #[must_use]
    pub fn static_tensor(dtype: DataType, shape: &[i64]) -> TypeRef {
        Self::tensor(dtype, shape.iter().map(|&dim| Expr::dim(dim)))
    }

    /// Creates a tuple type.
    #[must_use]
    pub fn tuple(types: impl IntoIterator<Item = TypeRef>) -> TypeRef {
        Ref::new(Self::Tuple { span: Span::unknown(), types: types.into_iter().collect() })
    }

    /// Creates a function type.
    #[must_use]
    pub fn function(
        params: impl IntoIterator<Item = TypeRef>,
        results: impl IntoIterator<Item = TypeRef>,
    ) -> TypeRef {
        Ref::new(Self::Function {
            span: Span::unknown(),
            params: params.into_iter().collect(),
            results: results.into_iter().collect(),
        })
    }

    /// Returns the unknown type.
    #[must_use]
    pub fn unknown() -> TypeRef {
        UNKNOWN.clone()
    }

    /// Returns the type with a span; the types in it keep theirs.
    #[must_use]
    pub fn with_span(ty: &TypeRef, span: Span) -> TypeRef {
        if ty.span() == span {
            return ty.clone();
        }
        Ref::new(match &**ty {
            Self::Scalar { dtype, .. } => Self::Scalar { span, dtype: *dtype },
            Self::Tensor { dtype, shape, .. } => {
                Self::Tensor { span, dtype: *dtype, shape: shape.clone() }
            }
            Self::Tuple { types, .. } => Self::Tuple { span, types: types.clone() },
            Self::Function { params, results, .. } => {
                Self::Function { span, params: params.clone(), results: results.clone() }
            }
            Self::Unknown { .. } => Self::Unknown { span },
        })
    }

    /// Returns the type of an expression that follows from the type of its operand: a scalar type does not keep the span of the
    /// operand's, so that most expressions share one object.
    #[must_use]
    pub fn inferred(ty: &TypeRef) -> TypeRef {
        match &**ty {
            Self::Scalar { dtype, .. } => Self::scalar(*dtype),
            Self::Unknown { .. } => Self::unknown(),
            _ => ty.clone(),
        }
    }

    /// Returns the source span, which is unknown for types that are not written in a text.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Scalar { span, .. }
            | Self::Tensor { span, .. }
            | Self::Tuple { span, .. }
            | Self::Function { span, .. }
            | Self::Unknown { span } => *span,
        }
    }

    /// Returns the name of the node type: `TensorType`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        super::expr::key_without_prefix(self.type_info())
    }

    /// Returns the data type of a scalar or of the elements of a tensor.
    #[must_use]
    pub fn dtype(&self) -> Option<DataType> {
        match self {
            Self::Scalar { dtype, .. } | Self::Tensor { dtype, .. } => Some(*dtype),
            Self::Tuple { .. } | Self::Function { .. } | Self::Unknown { .. } => None,
        }
    }

    /// Returns the data type of a scalar.
    #[must_use]
    pub fn as_scalar(&self) -> Option<DataType> {
        match self {
            Self::Scalar { dtype, .. } => Some(*dtype),
            _ => None,
        }
    }

    /// Returns the types of the elements of a tuple.
    #[must_use]
    pub fn as_tuple(&self) -> Option<&[TypeRef]> {
        match self {
            Self::Tuple { types, .. } => Some(types),
            _ => None,
        }
    }

    /// Returns whether the type is unknown.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}

/// A conversion to a type, for arguments of constructors: a data type is converted to its scalar type.
pub trait IntoType {
    /// Converts the value to a type.
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

/// The maximum number of nodes of a type that is compared with an inferred one.
///
/// Larger types are always written out, so that the comparison takes bounded time.
const MAX_COMPARED_NODES: usize = 64;

/// Returns whether two types are equal and small enough to compare quickly.
///
/// The result depends on structure alone, so that the printer omits a type exactly if the parser can infer it.
#[inline]
pub(crate) fn small_types_equal(left: &TypeRef, right: &TypeRef) -> bool {
    left.same(right) && matches!(**left, Type::Scalar { .. }) || non_scalar_types_equal(left, right)
}

fn non_scalar_types_equal(left: &TypeRef, right: &TypeRef) -> bool {
    match (&**left, &**right) {
        (Type::Scalar { dtype, .. }, Type::Scalar { dtype: other, .. }) => dtype == other,
        (Type::Scalar { .. }, _) | (_, Type::Scalar { .. }) => false,
        (Type::Unknown { .. }, Type::Unknown { .. }) => true,
        _ => {
            has_few_nodes(left)
                && has_few_nodes(right)
                && sapwood_structural::equal(left, right).unwrap_or(false)
        }
    }
}

/// Returns whether a type has few nodes, shared ones counted once per occurrence.
pub(crate) fn has_few_nodes(root: &TypeRef) -> bool {
    type_nodes_within(root, MAX_COMPARED_NODES)
}

/// Returns whether a type has at most this number of nodes, shared ones counted once per occurrence.
pub(crate) fn type_nodes_within(root: &TypeRef, limit: usize) -> bool {
    enum TypeOrExpr<'a> {
        Type(&'a TypeRef),
        Expr(&'a ExprRef),
    }
    let mut stack = vec![TypeOrExpr::Type(root)];
    let mut seen = 0;
    while let Some(item) = stack.pop() {
        seen += 1;
        if seen + stack.len() > limit {
            return false;
        }
        match item {
            TypeOrExpr::Type(ty) => match &**ty {
                Type::Scalar { .. } | Type::Unknown { .. } => {}
                Type::Tensor { shape, .. } => stack.extend(shape.iter().map(TypeOrExpr::Expr)),
                Type::Tuple { types, .. } => stack.extend(types.iter().map(TypeOrExpr::Type)),
                Type::Function { params, results, .. } => {
                    stack.extend(params.iter().chain(results).map(TypeOrExpr::Type));
                }
            },
            TypeOrExpr::Expr(expr) => {
                if !expr.is_var() {
                    stack.extend(expr.operands().map(TypeOrExpr::Expr));
                    if !matches!(&**expr.ty(), Type::Scalar { .. }) {
                        stack.push(TypeOrExpr::Type(expr.ty()));
                    }
                }
            }
        }
    }
    true
}
