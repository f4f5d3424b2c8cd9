//! Values on the stack of the expression parser.

use sapwood_types::{DataType, Span};

use super::{ParseFailed, ParseResult, Parser};
use crate::nodes::{Expr, ExprRef, Type, TypeRef};
use crate::print::BARE_FLOAT_TYPE;

/// A parsed value: an expression, a type, a list or a number.
#[derive(Clone)]
pub(super) struct ParsedValue {
    pub(super) kind: ParsedValueKind,
    pub(super) span: Span,
    /// True for an operation that was written here, so that `pi.typed` may change its type.
    pub(super) is_new_operation: bool,
    /// True if the type cannot be inferred from the operands, so that `pi.typed` is required.
    pub(super) needs_type: bool,
}

/// The kind of a parsed value.
#[derive(Clone)]
pub(super) enum ParsedValueKind {
    /// A number without a type; a minus before it becomes part of the constant.
    Int(u128),
    Float(f32),
    Expr(ExprRef),
    Type(TypeRef),
    /// `[…]`, or several types in parentheses. Never contains another list.
    List(Vec<ParsedValue>),
    /// `pi.result(n)`
    Result(u32),
    /// A value whose error is already reported.
    Invalid,
}

impl ParsedValue {
    pub(super) fn new(kind: ParsedValueKind, span: Span) -> Self {
        Self { kind, span, is_new_operation: false, needs_type: false }
    }

    pub(super) fn operation(expr: ExprRef, span: Span) -> Self {
        Self { kind: ParsedValueKind::Expr(expr), span, is_new_operation: true, needs_type: false }
    }

    pub(super) fn describe(&self) -> &'static str {
        match &self.kind {
            ParsedValueKind::Int(_) | ParsedValueKind::Float(_) => "a number",
            ParsedValueKind::Expr(_) => "an expression",
            ParsedValueKind::Type(_) => "a type",
            ParsedValueKind::List(_) => "a list",
            ParsedValueKind::Result(_) => "`pi.result`",
            ParsedValueKind::Invalid => "nothing",
        }
    }
}

impl Parser<'_> {
    /// Converts the value to an expression; fails if its type is missing.
    pub(super) fn as_expr(&mut self, value: ParsedValue) -> ParseResult<ExprRef> {
        match value.kind {
            ParsedValueKind::Int(magnitude) => match i128::try_from(magnitude) {
                Ok(number) => self.const_int(number, DataType::I64, value.span),
                Err(_) => Err(self.report_int_too_large(value.span)),
            },
            ParsedValueKind::Float(number) => {
                self.const_float(f64::from(number), BARE_FLOAT_TYPE, value.span)
            }
            ParsedValueKind::Expr(expr) => {
                if value.needs_type {
                    return Err(self.report_type_needed(&expr, value.span));
                }
                Ok(expr)
            }
            ParsedValueKind::Result(_) => Err(self.report_with_help(
                value.span,
                "`pi.result` inside an expression",
                "after a block, write `name: type = pi.result(0)` on a line of its own",
            )),
            ParsedValueKind::Invalid => Err(ParseFailed),
            ParsedValueKind::Type(_) | ParsedValueKind::List(_) => {
                let message = format!("expected an expression, found {}", value.describe());
                Err(self.report(value.span, message))
            }
        }
    }

    pub(super) fn as_type(&mut self, value: ParsedValue) -> ParseResult<TypeRef> {
        match value.kind {
            ParsedValueKind::Type(ty) => Ok(ty),
            ParsedValueKind::Invalid => Err(ParseFailed),
            _ => {
                let message = format!("expected a type, found {}", value.describe());
                let help = "types are written `pi.INT64`, `pi.TensorType(pi.FP32, [2, 3])`, …";
                Err(self.report_with_help(value.span, message, help))
            }
        }
    }

    pub(super) fn const_int(
        &mut self,
        value: i128,
        dtype: DataType,
        span: Span,
    ) -> ParseResult<ExprRef> {
        Expr::const_int(value, dtype, span).map_err(|error| self.report(span, error.to_string()))
    }

    pub(super) fn const_float(
        &mut self,
        value: f64,
        dtype: DataType,
        span: Span,
    ) -> ParseResult<ExprRef> {
        Expr::const_float(value, dtype, span).map_err(|error| self.report(span, error.to_string()))
    }

    pub(super) fn report_int_too_large(&mut self, span: Span) -> ParseFailed {
        self.report(span, "the integer is out of range: it does not fit 128 bits with a sign")
    }

    fn report_type_needed(&mut self, expr: &ExprRef, span: Span) -> ParseFailed {
        use crate::verify::display_type;
        let (truth, left, right) = match expr.as_binary() {
            Some((op, left, right)) => (op.is_predicate(), left.ty(), right.ty()),
            None => (false, expr.ty(), expr.ty()),
        };
        // For a tensor and a scalar, the tensor's type is more likely.
        let likely = match (&**left, &**right) {
            (_, Type::Tensor { .. }) | (Type::Unknown {}, _) => right,
            _ => left,
        };
        let likely = match &**likely {
            Type::Tensor { shape, .. } if truth => Type::tensor(DataType::Bool, shape.clone()),
            Type::Scalar { .. } if truth => Type::scalar(DataType::Bool),
            Type::Tensor { .. } | Type::Scalar { .. } => likely.clone(),
            _ => Type::scalar(DataType::I64),
        };
        let message = format!(
            "the operands have the types {} and {}, so the type of the result cannot be inferred",
            display_type(left),
            display_type(right)
        );
        self.report_with_help(
            span,
            message,
            format!("state it with `pi.typed(…, {})`, or cast one operand", display_type(&likely)),
        )
    }
}
