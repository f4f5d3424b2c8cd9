//! Expressions.

use std::sync::Arc;

use sapwood_structural::{Map, Node, Ref, TypeInfo, Value};
use sapwood_types::{DataType, Span};

use super::compact::VarName;
use super::int::PackedInt;
use super::operators::{BinaryOp, UnaryOp, all_operators};
use super::program::Program;
use super::types::{IntoType, Type, TypeRef, small_types_equal};
use crate::call_types::{SignatureTypes, natural_call_type};
use crate::error::IrError;

/// A shared pointer to an expression.
pub type ExprRef = Ref<Expr>;

/// A shared pointer to a callee.
pub type CalleeRef = Ref<Callee>;

/// The callee of a call, compared by variant and name.
#[derive(Node)]
#[node(key = "ir")]
pub enum Callee {
    /// An op, with the attributes of the call.
    Op {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The name of the op.
        name: Arc<str>,
        /// The attributes by name: constants, texts and lists of these. None if there are none.
        attrs: Option<Map>,
    },
    /// A function of the same program.
    GlobalVar {
        /// The source span.
        #[node(ignore)]
        span: Span,
        /// The name of the function.
        name: Arc<str>,
    },
}

impl Callee {
    /// Creates a reference to an op without attributes.
    #[must_use]
    pub fn op(name: &str) -> CalleeRef {
        Self::op_with_attrs(name, Vec::new(), Span::unknown())
    }

    /// Creates a reference to an op with attributes; if a name occurs twice, the first is kept.
    ///
    /// The attributes are kept in the order of the op's definition if it is built in, and in the order of names otherwise.
    #[must_use]
    pub fn op_with_attrs(name: &str, mut attrs: Vec<(String, Value)>, span: Span) -> CalleeRef {
        if attrs.len() > 1 {
            let registry = sapwood_ptir::Registry::builtin();
            let rows = registry.by_name(name).map_or(&[][..], |def| &def.attrs);
            let place = |name: &str| rows.iter().position(|row| row.name == name);
            attrs.sort_by(|(a, _), (b, _)| {
                let key = |name| place(name).unwrap_or(usize::MAX);
                key(a).cmp(&key(b)).then_with(|| a.cmp(b))
            });
            attrs.dedup_by(|(a, _), (b, _)| a == b);
        }
        let entries = attrs.into_iter().map(|(name, value)| (Value::from(name), value));
        let attrs = Map::new(entries).ok().filter(|map| !map.is_empty());
        Ref::new(Self::Op { span, name: name.into(), attrs })
    }

    /// Creates a reference to a function of the same program.
    #[must_use]
    pub fn global_var(name: &str) -> CalleeRef {
        Self::global_var_at(name, Span::unknown())
    }

    /// Creates a reference to a function of the same program, with a span.
    #[must_use]
    pub fn global_var_at(name: &str, span: Span) -> CalleeRef {
        Ref::new(Self::GlobalVar { span, name: name.into() })
    }

    /// Returns the name of the op or function.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Op { name, .. } | Self::GlobalVar { name, .. } => name,
        }
    }

    /// Returns the source span.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Op { span, .. } | Self::GlobalVar { span, .. } => *span,
        }
    }

    /// Returns the attributes of an op.
    #[must_use]
    pub fn attrs(&self) -> Option<&Map> {
        match self {
            Self::Op { attrs, .. } => attrs.as_ref(),
            Self::GlobalVar { .. } => None,
        }
    }

    /// Returns whether the callee is a function of the same program.
    #[must_use]
    pub fn is_global(&self) -> bool {
        matches!(self, Self::GlobalVar { .. })
    }
}

/// Returns the key of a node type without the prefix of this crate.
pub(crate) fn key_without_prefix(info: &'static TypeInfo) -> &'static str {
    info.key().strip_prefix("ir.").unwrap_or(info.key())
}

macro_rules! expressions {
    (
        binary {$(
            $(#[$doc:meta])* $binary:ident, $new_binary:ident, $spelling:ident($text:literal),
            $precedence:ident, $truth:literal, $class:ident;
        )*}
        unary {$(
            $(#[$one_doc:meta])* $unary:ident, $new_unary:ident, $one_spelling:ident($one_text:literal),
            $one_precedence:ident, $one_truth:literal, $one_class:ident;
        )*}
    ) => {
        /// An expression. Each has a span, which is not compared, and a type, which is compared.
        #[derive(Node)]
        #[node(key = "ir")]
        pub enum Expr {
            /// A variable.
            #[node(kind = "var")]
            Var {
                /// The source span.
                #[node(ignore)]
                span: Span,
                /// The type of its values.
                r#type: TypeRef,
                /// The name, which is not compared.
                #[node(ignore)]
                name: VarName,
            },
            /// An iteration argument: a variable that a loop carries.
            #[node(kind = "var")]
            IterArg {
                /// The source span.
                #[node(ignore)]
                span: Span,
                /// The type of its values.
                r#type: TypeRef,
                /// The name, which is not compared.
                #[node(ignore)]
                name: Box<Box<str>>,
                /// The value in the first iteration; compared as a field of the loop.
                #[node(ignore)]
                init_value: ExprRef,
            },
            /// An integer constant.
            ConstInt {
                /// The source span.
                #[node(ignore)]
                span: Span,
                /// A scalar of an integer type.
                r#type: TypeRef,
                /// The integer.
                value: PackedInt,
            },
            /// A float constant.
            ConstFloat {
                /// The source span.
                #[node(ignore)]
                span: Span,
                /// A scalar of a float type.
                r#type: TypeRef,
                /// The number.
                value: f64,
            },
            /// A bool constant.
            ConstBool {
                /// The source span.
                #[node(ignore)]
                span: Span,
                /// The scalar `BOOL`.
                r#type: TypeRef,
                /// The bool.
                value: bool,
            },
            $(
                #[doc = concat!("The operator [`BinaryOp::", stringify!($binary), "`].")]
                $binary {
                    /// The source span.
                    #[node(ignore)]
                    span: Span,
                    /// The type of the result.
                    r#type: TypeRef,
                    /// The first operand.
                    left: ExprRef,
                    /// The second operand.
                    right: ExprRef,
                },
            )*
            $(
                #[doc = concat!("The operator [`UnaryOp::", stringify!($unary), "`].")]
                $unary {
                    /// The source span.
                    #[node(ignore)]
                    span: Span,
                    /// The type of the result.
                    r#type: TypeRef,
                    /// The operand.
                    operand: ExprRef,
                },
            )*
            /// A call of an op or of a function of the program.
            Call {
                /// The source span.
                #[node(ignore)]
                span: Span,
                /// The type of the result.
                r#type: TypeRef,
                /// The called op or function.
                callee: CalleeRef,
                /// The arguments.
                args: Box<Box<[ExprRef]>>,
            },
            /// An element of a tuple.
            TupleGetItemExpr {
                /// The source span.
                #[node(ignore)]
                span: Span,
                /// The type of the element.
                r#type: TypeRef,
                /// The tuple.
                tuple: ExprRef,
                /// The index of the element, counted from 0.
                index: u32,
            },
            /// A tuple.
            MakeTuple {
                /// The source span.
                #[node(ignore)]
                span: Span,
                /// The type of the tuple.
                r#type: TypeRef,
                /// The elements.
                elements: Box<[ExprRef]>,
            },
        }

        impl Expr {
            /// Returns the source span.
            #[must_use]
            pub fn span(&self) -> Span {
                match self {
                    Self::Var { span, .. } | Self::IterArg { span, .. }
                    | Self::ConstInt { span, .. } | Self::ConstFloat { span, .. }
                    | Self::ConstBool { span, .. } | Self::Call { span, .. }
                    | Self::TupleGetItemExpr { span, .. } | Self::MakeTuple { span, .. }
                    $(| Self::$binary { span, .. })* $(| Self::$unary { span, .. })* => *span,
                }
            }

            /// Returns the type of the value.
            #[must_use]
            #[inline]
            pub fn ty(&self) -> &TypeRef {
                match self {
                    Self::Var { r#type, .. } | Self::IterArg { r#type, .. }
                    | Self::ConstInt { r#type, .. } | Self::ConstFloat { r#type, .. }
                    | Self::ConstBool { r#type, .. } | Self::Call { r#type, .. }
                    | Self::TupleGetItemExpr { r#type, .. } | Self::MakeTuple { r#type, .. }
                    $(| Self::$binary { r#type, .. })* $(| Self::$unary { r#type, .. })* => r#type,
                }
            }

            /// Returns the operator and the operands of a binary operator.
            #[must_use]
            #[inline]
            pub fn as_binary(&self) -> Option<(BinaryOp, &ExprRef, &ExprRef)> {
                match self {
                    $(Self::$binary { left, right, .. } => Some((BinaryOp::$binary, left, right)),)*
                    _ => None,
                }
            }

            /// Returns the operator and the operand of a unary operator.
            #[must_use]
            #[inline]
            pub fn as_unary(&self) -> Option<(UnaryOp, &ExprRef)> {
                match self {
                    $(Self::$unary { operand, .. } => Some((UnaryOp::$unary, operand)),)*
                    _ => None,
                }
            }

            /// Creates a binary operator.
            #[must_use]
            pub fn binary(
                op: BinaryOp,
                left: &ExprRef,
                right: &ExprRef,
                ty: impl IntoType,
                span: Span,
            ) -> ExprRef {
                let (left, right, r#type) = (left.clone(), right.clone(), ty.into_type());
                Ref::new(match op {
                    $(BinaryOp::$binary => Self::$binary { span, r#type, left, right },)*
                })
            }

            /// Creates a unary operator.
            #[must_use]
            pub fn unary(op: UnaryOp, operand: &ExprRef, ty: impl IntoType, span: Span) -> ExprRef {
                let (operand, r#type) = (operand.clone(), ty.into_type());
                Ref::new(match op {
                    $(UnaryOp::$unary => Self::$unary { span, r#type, operand },)*
                })
            }

            $(
                #[doc = concat!("The operator [`BinaryOp::", stringify!($binary), "`].")]
                #[must_use]
                pub fn $new_binary(
                    left: &ExprRef,
                    right: &ExprRef,
                    ty: impl IntoType,
                    span: Span,
                ) -> ExprRef {
                    Self::binary(BinaryOp::$binary, left, right, ty, span)
                }
            )*

            $(
                #[doc = concat!("The operator [`UnaryOp::", stringify!($unary), "`].")]
                #[must_use]
                pub fn $new_unary(operand: &ExprRef, ty: impl IntoType, span: Span) -> ExprRef {
                    Self::unary(UnaryOp::$unary, operand, ty, span)
                }
            )*
        }
    };
}

all_operators!(expressions);

impl Expr {
    /// Creates an integer constant.
    ///
    /// # Errors
    /// Fails if the data type is not an integer type.
    pub fn const_int(
        value: impl Into<i128>,
        dtype: DataType,
        span: Span,
    ) -> Result<ExprRef, IrError> {
        if !dtype.is_integer() {
            let needs = "an integer type such as INT64";
            return Err(IrError::ConstantType { constant: "ConstInt", dtype, needs });
        }
        let value = PackedInt::new(value.into());
        Ok(Ref::new(Self::ConstInt { span, r#type: Type::scalar(dtype), value }))
    }

    /// Creates a float constant, rounded to its data type.
    ///
    /// # Errors
    /// Fails if the data type is not a float type.
    pub fn const_float(value: f64, dtype: DataType, span: Span) -> Result<ExprRef, IrError> {
        if !dtype.is_float() {
            let needs = "a float type such as FP32";
            return Err(IrError::ConstantType { constant: "ConstFloat", dtype, needs });
        }
        let value = crate::float::round_to_dtype(dtype, value);
        Ok(Ref::new(Self::ConstFloat { span, r#type: Type::scalar(dtype), value }))
    }

    /// Creates a bool constant.
    #[must_use]
    pub fn const_bool(value: bool, span: Span) -> ExprRef {
        Ref::new(Self::ConstBool { span, r#type: Type::scalar(DataType::Bool), value })
    }

    /// Creates an `INT64` constant without a span, such as a dim of a tensor type.
    #[must_use]
    pub fn dim(value: i64) -> ExprRef {
        let (r#type, value) = (Type::scalar(DataType::I64), PackedInt::new(value.into()));
        Ref::new(Self::ConstInt { span: Span::unknown(), r#type, value })
    }

    /// Creates a call.
    #[must_use]
    pub fn call(
        callee: &CalleeRef,
        args: impl IntoIterator<Item = ExprRef>,
        ty: impl IntoType,
        span: Span,
    ) -> ExprRef {
        Ref::new(Self::Call {
            span,
            r#type: ty.into_type(),
            callee: callee.clone(),
            args: Box::new(args.into_iter().collect()),
        })
    }

    /// Creates an element access of a tuple, with the type of the element.
    ///
    /// # Errors
    /// Fails if the value is known not to be a tuple, or has too few elements.
    pub fn tuple_get_item(tuple: &ExprRef, index: usize, span: Span) -> Result<ExprRef, IrError> {
        let r#type = match &**tuple.ty() {
            Type::Tuple { types, .. } => {
                let out_of_range = || IrError::TupleIndex { index, len: types.len() };
                Type::inferred(types.get(index).ok_or_else(out_of_range)?)
            }
            Type::Unknown { .. } => Type::unknown(),
            other => {
                let found = other.type_name().to_owned();
                return Err(IrError::NotATuple { index, found });
            }
        };
        let index = u32::try_from(index)
            .map_err(|_| IrError::TupleIndex { index, len: u32::MAX as usize })?;
        Ok(Ref::new(Self::TupleGetItemExpr { span, r#type, tuple: tuple.clone(), index }))
    }

    /// Creates a tuple, with the type inferred from its elements.
    #[must_use]
    pub fn make_tuple(elements: impl IntoIterator<Item = ExprRef>, span: Span) -> ExprRef {
        let elements: Box<[ExprRef]> = elements.into_iter().collect();
        let r#type = Type::tuple(elements.iter().map(|element| Type::inferred(element.ty())));
        Ref::new(Self::MakeTuple { span, r#type, elements })
    }

    /// Returns the name of the node type: `Add`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        key_without_prefix(self.type_info())
    }

    /// Returns the name of a variable.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Var { name, .. } => Some(name),
            Self::IterArg { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Returns whether this is a `Var` or an `IterArg`.
    #[must_use]
    #[inline]
    pub fn is_var(&self) -> bool {
        matches!(self, Self::Var { .. } | Self::IterArg { .. })
    }

    /// Returns whether this is an integer, float or bool constant.
    #[must_use]
    #[inline]
    pub fn is_const(&self) -> bool {
        matches!(self, Self::ConstInt { .. } | Self::ConstFloat { .. } | Self::ConstBool { .. })
    }

    /// Returns the value of an integer constant.
    #[must_use]
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Self::ConstInt { value, .. } => Some(value.get()),
            _ => None,
        }
    }

    /// Returns the operands in order; a variable has none.
    #[must_use]
    #[inline]
    pub fn operands(&self) -> Operands<'_> {
        match self {
            Self::Call { args, .. } => Operands::Many(args.iter()),
            Self::MakeTuple { elements, .. } => Operands::Many(elements.iter()),
            Self::TupleGetItemExpr { tuple, .. } => Operands::Few(Some(tuple), None),
            other => match (other.as_binary(), other.as_unary()) {
                (Some((_, left, right)), _) => Operands::Few(Some(left), Some(right)),
                (_, Some((_, operand))) => Operands::Few(Some(operand), None),
                _ => Operands::Few(None, None),
            },
        }
    }

    /// Returns the type that can be inferred from the operands.
    ///
    /// The text form states the type of an expression only if it differs from this.
    #[must_use]
    pub fn inferred_type(&self) -> Option<TypeRef> {
        if let Some((op, left, right)) = self.as_binary() {
            return inferred_binary_type(op, left, right);
        }
        if let Some((op, operand)) = self.as_unary() {
            return match op {
                UnaryOp::Not => Some(predicate_type(&[operand])),
                UnaryOp::Cast => Some(self.ty().clone()),
                UnaryOp::Abs | UnaryOp::Neg | UnaryOp::BitNot => Some(Type::inferred(operand.ty())),
            };
        }
        match self {
            Self::Call { callee, args, .. } => natural_call_type(callee, args, None),
            Self::TupleGetItemExpr { tuple, index, .. } => match &**tuple.ty() {
                Type::Tuple { types, .. } => types.get(*index as usize).map(Type::inferred),
                Type::Unknown { .. } => Some(Type::unknown()),
                _ => None,
            },
            Self::MakeTuple { elements, .. } => {
                Some(Type::tuple(elements.iter().map(|element| Type::inferred(element.ty()))))
            }
            _ => Some(self.ty().clone()),
        }
    }

    /// Returns whether the type is the one that can be inferred from the operands.
    #[must_use]
    pub(crate) fn has_inferred_type(&self, program: Option<&Program>) -> bool {
        let ty = self.ty();
        if let Some((op, left, right)) = self.as_binary() {
            if op.is_predicate() {
                return is_predicate_type(ty, &[left, right]);
            }
            if small_types_equal(left.ty(), ty) && small_types_equal(right.ty(), ty) {
                return true;
            }
            return inferred_binary_type(op, left, right)
                .is_some_and(|natural| small_types_equal(&natural, ty));
        }
        match self {
            Self::Var { .. } | Self::IterArg { .. } => true,
            Self::MakeTuple { elements, .. } => match &**ty {
                Type::Tuple { types, .. } => {
                    types.len() == elements.len()
                        && types.iter().zip(elements).all(|(ty, element)| {
                            ty.same(element.ty()) || small_types_equal(ty, element.ty())
                        })
                }
                _ => false,
            },
            Self::TupleGetItemExpr { .. } => self
                .inferred_type()
                .is_some_and(|natural| natural.same(ty) || small_types_equal(&natural, ty)),
            Self::Call { callee, args, .. } => {
                let signature =
                    program.and_then(|program| SignatureTypes::of(program, callee.name()));
                natural_call_type(callee, args, signature)
                    .is_some_and(|natural| small_types_equal(&natural, ty))
            }
            _ => match self.as_unary() {
                Some((UnaryOp::Not, operand)) => is_predicate_type(ty, &[operand]),
                // In text, a cast of a tensor to a data type keeps its shape.
                Some((UnaryOp::Cast, operand)) => {
                    !matches!((&**operand.ty(), &**ty), (Type::Tensor { .. }, Type::Scalar { .. }))
                }
                None => true,
                Some((_, operand)) => small_types_equal(operand.ty(), ty),
            },
        }
    }
}

/// Returns the type of `pi.cast(operand, ty)`: a cast of a tensor to a data type keeps its shape.
pub(crate) fn cast_type(operand: &ExprRef, ty: TypeRef) -> TypeRef {
    match (&**operand.ty(), &*ty) {
        (Type::Tensor { shape, .. }, Type::Scalar { dtype, .. }) => {
            Type::tensor(*dtype, shape.iter().cloned())
        }
        _ => ty,
    }
}

/// Returns the data type of a cast that keeps the shape of its tensor; text states nothing else.
pub(crate) fn cast_data_type(expr: &Expr) -> Option<DataType> {
    let Some((UnaryOp::Cast, operand)) = expr.as_unary() else { return None };
    let (Type::Tensor { dtype, .. }, Type::Tensor { .. }) = (&**expr.ty(), &**operand.ty()) else {
        return None;
    };
    let kept = cast_type(operand, Type::scalar(*dtype));
    small_types_equal(expr.ty(), &kept).then_some(*dtype)
}

/// Returns the type of a binary operator that can be inferred from its operands.
pub(crate) fn inferred_binary_type(
    op: BinaryOp,
    left: &ExprRef,
    right: &ExprRef,
) -> Option<TypeRef> {
    if op.is_predicate() {
        Some(predicate_type(&[left, right]))
    } else {
        let (left, right) = (left.ty(), right.ty());
        match (&**left, &**right) {
            // An operator applies to each element of a tensor and a scalar.
            (Type::Tensor { dtype, .. }, Type::Scalar { dtype: other, .. }) => {
                (dtype == other).then(|| left.clone())
            }
            (Type::Scalar { dtype, .. }, Type::Tensor { dtype: other, .. }) => {
                (dtype == other).then(|| right.clone())
            }
            _ => (small_types_equal(left, right) || crate::ops::are_same_tensor_types(left, right))
                .then(|| Type::inferred(left)),
        }
    }
}

/// Returns the inferred type of a predicate: `BOOL`, or a tensor of `BOOL` with the shape of the first tensor operand.
pub(crate) fn predicate_type(operands: &[&ExprRef]) -> TypeRef {
    let shape = operands.iter().find_map(|operand| match &**operand.ty() {
        Type::Tensor { shape, .. } => Some(shape),
        _ => None,
    });
    match shape {
        Some(shape) => Type::tensor(DataType::Bool, shape.iter().cloned()),
        None => Type::scalar(DataType::Bool),
    }
}

/// Returns whether a type is the inferred type of a predicate with these operands.
fn is_predicate_type(ty: &TypeRef, operands: &[&ExprRef]) -> bool {
    match &**ty {
        Type::Scalar { dtype, .. } => {
            dtype.is_bool()
                && !operands.iter().any(|operand| matches!(&**operand.ty(), Type::Tensor { .. }))
        }
        Type::Tensor { .. } => small_types_equal(ty, &predicate_type(operands)),
        _ => false,
    }
}

/// An iterator over the operands of an expression.
pub enum Operands<'a> {
    /// At most two operands.
    Few(Option<&'a ExprRef>, Option<&'a ExprRef>),
    /// Any number of operands.
    Many(std::slice::Iter<'a, ExprRef>),
}

impl<'a> Iterator for Operands<'a> {
    type Item = &'a ExprRef;

    #[inline]
    fn next(&mut self) -> Option<&'a ExprRef> {
        match self {
            Self::Few(first, second) => first.take().or_else(|| second.take()),
            Self::Many(items) => items.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = match self {
            Self::Few(first, second) => {
                usize::from(first.is_some()) + usize::from(second.is_some())
            }
            Self::Many(items) => items.len(),
        };
        (len, Some(len))
    }
}

impl ExactSizeIterator for Operands<'_> {}

impl<'a> DoubleEndedIterator for Operands<'a> {
    #[inline]
    fn next_back(&mut self) -> Option<&'a ExprRef> {
        match self {
            Self::Few(first, second) => second.take().or_else(|| first.take()),
            Self::Many(items) => items.next_back(),
        }
    }
}
