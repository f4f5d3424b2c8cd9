//! Expressions.

use std::sync::Arc;

use sapwood_structural::{Node, Ref, TypeInfo};
use sapwood_types::{DataType, Span};

use super::int::Int;
use super::operators::{BinaryOp, UnaryOp, all_operators};
use super::thin::Name;
use super::types::{IntoType, Type, TypeRef, types_match};
use crate::error::IrError;

/// A shared pointer to an expression.
pub type ExprRef = Ref<Expr>;

/// A shared pointer to what a call calls.
pub type CalleeRef = Ref<Callee>;

/// What a call calls, told apart by class and name.
#[derive(Node)]
#[node(key = "ir")]
pub enum Callee {
    /// An operation known by its name.
    Op {
        /// The name.
        name: Arc<str>,
    },
    /// A function of the same program.
    GlobalVar {
        /// The name of the function.
        name: Arc<str>,
    },
}

impl Callee {
    /// An operation.
    #[must_use]
    pub fn op(name: &str) -> CalleeRef {
        Ref::new(Self::Op { name: name.into() })
    }

    /// A function of the same program.
    #[must_use]
    pub fn global_var(name: &str) -> CalleeRef {
        Ref::new(Self::GlobalVar { name: name.into() })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Op { name } | Self::GlobalVar { name } => name,
        }
    }

    /// Whether this is a function of the same program.
    #[must_use]
    pub fn is_global(&self) -> bool {
        matches!(self, Self::GlobalVar { .. })
    }
}

/// The name of a node type without the prefix of this crate.
pub(crate) fn short_key(info: &'static TypeInfo) -> &'static str {
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
        /// An expression. Every one has a span, which is not compared, and a type, which is.
        #[derive(Node)]
        #[node(key = "ir")]
        pub enum Expr {
            /// A variable.
            #[node(kind = "var")]
            Var {
                /// Where it was written.
                #[node(ignore)]
                span: Span,
                /// The type of its values.
                r#type: TypeRef,
                /// For people.
                #[node(ignore)]
                name: Name,
            },
            /// A variable of a loop.
            #[node(kind = "var")]
            IterArg {
                /// Where it was written.
                #[node(ignore)]
                span: Span,
                /// The type of its values.
                r#type: TypeRef,
                /// For people.
                #[node(ignore)]
                name: Box<Box<str>>,
                /// What it holds in the first iteration; the loop compares it.
                #[node(ignore)]
                init_value: ExprRef,
            },
            /// An integer.
            ConstInt {
                /// Where it was written.
                #[node(ignore)]
                span: Span,
                /// A scalar of an integer type.
                r#type: TypeRef,
                /// The integer.
                value: Int,
            },
            /// A floating-point number.
            ConstFloat {
                /// Where it was written.
                #[node(ignore)]
                span: Span,
                /// A scalar of a float type.
                r#type: TypeRef,
                /// The number.
                value: f64,
            },
            /// A truth value.
            ConstBool {
                /// Where it was written.
                #[node(ignore)]
                span: Span,
                /// The scalar `BOOL`.
                r#type: TypeRef,
                /// The truth value.
                value: bool,
            },
            $(
                #[doc = concat!("The operator [`BinaryOp::", stringify!($binary), "`].")]
                $binary {
                    /// Where it was written.
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
                    /// Where it was written.
                    #[node(ignore)]
                    span: Span,
                    /// The type of the result.
                    r#type: TypeRef,
                    /// The operand.
                    operand: ExprRef,
                },
            )*
            /// A call of an operation or of a function of the program.
            Call {
                /// Where it was written.
                #[node(ignore)]
                span: Span,
                /// The type of the result.
                r#type: TypeRef,
                /// What is called.
                callee: CalleeRef,
                /// With what.
                args: Box<Box<[ExprRef]>>,
            },
            /// An element of a tuple.
            TupleGetItemExpr {
                /// Where it was written.
                #[node(ignore)]
                span: Span,
                /// The type of the element.
                r#type: TypeRef,
                /// The tuple.
                tuple: ExprRef,
                /// Which element, counted from 0.
                index: u32,
            },
            /// A tuple.
            MakeTuple {
                /// Where it was written.
                #[node(ignore)]
                span: Span,
                /// The type of the tuple.
                r#type: TypeRef,
                /// The elements.
                elements: Box<[ExprRef]>,
            },
        }

        impl Expr {
            /// Where it was written.
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

            /// The type of its value.
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

            /// Operator and operands, if it is one of the 23.
            #[must_use]
            #[inline]
            pub fn as_binary(&self) -> Option<(BinaryOp, &ExprRef, &ExprRef)> {
                match self {
                    $(Self::$binary { left, right, .. } => Some((BinaryOp::$binary, left, right)),)*
                    _ => None,
                }
            }

            /// Operator and operand, if it is one of the five.
            #[must_use]
            #[inline]
            pub fn as_unary(&self) -> Option<(UnaryOp, &ExprRef)> {
                match self {
                    $(Self::$unary { operand, .. } => Some((UnaryOp::$unary, operand)),)*
                    _ => None,
                }
            }

            /// An operator with two operands.
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

            /// An operator with one operand.
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
    /// An integer.
    ///
    /// # Errors
    /// If the data type is not one of integers.
    pub fn const_int(
        value: impl Into<i128>,
        dtype: DataType,
        span: Span,
    ) -> Result<ExprRef, IrError> {
        if !dtype.is_integer() {
            let needs = "an integer type such as INT64";
            return Err(IrError::ConstantType { constant: "ConstInt", dtype, needs });
        }
        let value = Int::new(value.into());
        Ok(Ref::new(Self::ConstInt { span, r#type: Type::scalar(dtype), value }))
    }

    /// A floating-point number, rounded to what its data type can hold.
    ///
    /// # Errors
    /// If the data type is not one of floats.
    pub fn const_float(value: f64, dtype: DataType, span: Span) -> Result<ExprRef, IrError> {
        if !dtype.is_float() {
            let needs = "a float type such as FP32";
            return Err(IrError::ConstantType { constant: "ConstFloat", dtype, needs });
        }
        let value = crate::float::round_to(dtype, value);
        Ok(Ref::new(Self::ConstFloat { span, r#type: Type::scalar(dtype), value }))
    }

    /// A truth value.
    #[must_use]
    pub fn const_bool(value: bool, span: Span) -> ExprRef {
        Ref::new(Self::ConstBool { span, r#type: Type::scalar(DataType::Bool), value })
    }

    /// An `INT64` constant without a span, as the dims of tensors are.
    #[must_use]
    pub fn dim(value: i64) -> ExprRef {
        let (r#type, value) = (Type::scalar(DataType::I64), Int::new(value.into()));
        Ref::new(Self::ConstInt { span: Span::unknown(), r#type, value })
    }

    /// A call.
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

    /// An element of a tuple; its type is that of the element.
    ///
    /// # Errors
    /// If the value is known not to be a tuple, or has too few elements.
    pub fn tuple_get_item(tuple: &ExprRef, index: usize, span: Span) -> Result<ExprRef, IrError> {
        let r#type = match &**tuple.ty() {
            Type::Tuple { types } => {
                let out_of_range = || IrError::TupleIndex { index, len: types.len() };
                types.get(index).ok_or_else(out_of_range)?.clone()
            }
            Type::Unknown {} => Type::unknown(),
            other => {
                let found = other.type_name().to_owned();
                return Err(IrError::NotATuple { index, found });
            }
        };
        let index = u32::try_from(index)
            .map_err(|_| IrError::TupleIndex { index, len: u32::MAX as usize })?;
        Ok(Ref::new(Self::TupleGetItemExpr { span, r#type, tuple: tuple.clone(), index }))
    }

    /// A tuple; its type follows from its elements.
    #[must_use]
    pub fn make_tuple(elements: impl IntoIterator<Item = ExprRef>, span: Span) -> ExprRef {
        let elements: Box<[ExprRef]> = elements.into_iter().collect();
        let r#type = Type::tuple(elements.iter().map(|element| element.ty().clone()));
        Ref::new(Self::MakeTuple { span, r#type, elements })
    }

    /// The name of the node: `Add`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        short_key(self.type_info())
    }

    /// The name of a variable.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Var { name, .. } => Some(name),
            Self::IterArg { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Whether this is a `Var` or an `IterArg`.
    #[must_use]
    #[inline]
    pub fn is_var(&self) -> bool {
        matches!(self, Self::Var { .. } | Self::IterArg { .. })
    }

    /// Whether this is an integer, a float or a truth value.
    #[must_use]
    #[inline]
    pub fn is_const(&self) -> bool {
        matches!(self, Self::ConstInt { .. } | Self::ConstFloat { .. } | Self::ConstBool { .. })
    }

    /// The integer, if it is one.
    #[must_use]
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Self::ConstInt { value, .. } => Some(value.get()),
            _ => None,
        }
    }

    /// The expressions it is made from, in order; a variable has none.
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

    /// The type that follows from the operands, if one does. The text form says the type of an
    /// expression exactly where it is another.
    #[must_use]
    pub fn natural_type(&self) -> Option<TypeRef> {
        if let Some((op, left, right)) = self.as_binary() {
            return natural_binary(op, left, right);
        }
        if let Some((op, operand)) = self.as_unary() {
            return match op {
                UnaryOp::Not => Some(truth_type(&[operand])),
                UnaryOp::Cast => Some(self.ty().clone()),
                UnaryOp::Abs | UnaryOp::Neg | UnaryOp::BitNot => Some(operand.ty().clone()),
            };
        }
        match self {
            Self::Call { .. } => Some(Type::unknown()),
            Self::TupleGetItemExpr { tuple, index, .. } => match &**tuple.ty() {
                Type::Tuple { types } => types.get(*index as usize).cloned(),
                Type::Unknown {} => Some(Type::unknown()),
                _ => None,
            },
            Self::MakeTuple { elements, .. } => {
                Some(Type::tuple(elements.iter().map(|element| element.ty().clone())))
            }
            _ => Some(self.ty().clone()),
        }
    }

    /// Whether its type follows from its operands.
    #[must_use]
    pub(crate) fn has_natural_type(&self) -> bool {
        let ty = self.ty();
        if let Some((op, left, right)) = self.as_binary() {
            if op.is_truth() {
                return is_truth_type(ty, &[left, right]);
            }
            return types_match(left.ty(), ty) && types_match(right.ty(), ty);
        }
        match self {
            Self::Var { .. } | Self::IterArg { .. } => true,
            Self::MakeTuple { elements, .. } => match &**ty {
                Type::Tuple { types } => {
                    types.len() == elements.len()
                        && types.iter().zip(elements).all(|(ty, element)| {
                            ty.same(element.ty()) || types_match(ty, element.ty())
                        })
                }
                _ => false,
            },
            Self::TupleGetItemExpr { .. } => self
                .natural_type()
                .is_some_and(|natural| natural.same(ty) || types_match(&natural, ty)),
            Self::Call { .. } => ty.is_unknown(),
            _ => match self.as_unary() {
                Some((UnaryOp::Not, operand)) => is_truth_type(ty, &[operand]),
                Some((UnaryOp::Cast, _)) | None => true,
                Some((_, operand)) => types_match(operand.ty(), ty),
            },
        }
    }
}

/// The type of a binary operator that follows from its operands.
pub(crate) fn natural_binary(op: BinaryOp, left: &ExprRef, right: &ExprRef) -> Option<TypeRef> {
    if op.is_truth() {
        Some(truth_type(&[left, right]))
    } else {
        types_match(left.ty(), right.ty()).then(|| left.ty().clone())
    }
}

/// The type of truth values about these operands: of tensors, a tensor of the first one's shape.
pub(crate) fn truth_type(operands: &[&ExprRef]) -> TypeRef {
    let shape = operands.iter().find_map(|operand| match &**operand.ty() {
        Type::Tensor { shape, .. } => Some(shape),
        _ => None,
    });
    match shape {
        Some(shape) => Type::tensor(DataType::Bool, shape.iter().cloned()),
        None => Type::scalar(DataType::Bool),
    }
}

/// Whether it is that type.
fn is_truth_type(ty: &TypeRef, operands: &[&ExprRef]) -> bool {
    match &**ty {
        Type::Scalar { dtype } => {
            dtype.is_bool()
                && !operands.iter().any(|operand| matches!(&**operand.ty(), Type::Tensor { .. }))
        }
        Type::Tensor { .. } => types_match(ty, &truth_type(operands)),
        _ => false,
    }
}

/// The operands of an expression.
pub enum Operands<'a> {
    /// At most two.
    Few(Option<&'a ExprRef>, Option<&'a ExprRef>),
    /// Any number.
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
