//! What has been read of an expression so far.

use sapwood_types::{DataType, Span};

use super::{Failed, Parsed, Parser};
use crate::nodes::{Expr, ExprRef, Type, TypeRef};
use crate::print::PLAIN_FLOAT;

/// Something that was read.
#[derive(Clone)]
pub(super) struct Val {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// An operation that was written right here, so that `pi.typed` may change its type.
    pub(super) fresh: bool,
    /// Its type does not follow from its operands: `pi.typed` has to say it.
    pub(super) needs_type: bool,
}

#[derive(Clone)]
pub(super) enum Kind {
    /// A bare number: a sign before it belongs to it.
    Int(u128),
    Float(f32),
    Expr(ExprRef),
    Type(TypeRef),
    /// `[…]`, or several types in parentheses. Never holds another list.
    List(Vec<Val>),
    /// `pi.result(n)`
    Result(u32),
    /// Something that was complained about.
    Nothing,
}

impl Val {
    pub(super) fn new(kind: Kind, span: Span) -> Self {
        Self { kind, span, fresh: false, needs_type: false }
    }

    pub(super) fn fresh(expr: ExprRef, span: Span) -> Self {
        Self { kind: Kind::Expr(expr), span, fresh: true, needs_type: false }
    }

    pub(super) fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Int(_) | Kind::Float(_) => "a number",
            Kind::Expr(_) => "an expression",
            Kind::Type(_) => "a type",
            Kind::List(_) => "a list",
            Kind::Result(_) => "`pi.result`",
            Kind::Nothing => "nothing",
        }
    }
}

impl Parser<'_> {
    /// The value as an expression, its type known.
    pub(super) fn as_expr(&mut self, value: Val) -> Parsed<ExprRef> {
        match value.kind {
            Kind::Int(magnitude) => match i128::try_from(magnitude) {
                Ok(number) => self.const_int(number, DataType::I64, value.span),
                Err(_) => Err(self.too_large(value.span)),
            },
            Kind::Float(number) => self.const_float(f64::from(number), PLAIN_FLOAT, value.span),
            Kind::Expr(expr) => {
                if value.needs_type {
                    return Err(self.say_type(&expr, value.span));
                }
                Ok(expr)
            }
            Kind::Result(_) => Err(self.problem_with_help(
                value.span,
                "`pi.result` inside an expression",
                "after a block, write `name: type = pi.result(0)` on a line of its own",
            )),
            Kind::Nothing => Err(Failed),
            Kind::Type(_) | Kind::List(_) => {
                let message = format!("expected an expression, found {}", value.what());
                Err(self.problem(value.span, message))
            }
        }
    }

    pub(super) fn as_type(&mut self, value: Val) -> Parsed<TypeRef> {
        match value.kind {
            Kind::Type(ty) => Ok(ty),
            Kind::Nothing => Err(Failed),
            _ => {
                let message = format!("expected a type, found {}", value.what());
                let help = "types are written `pi.INT64`, `pi.TensorType(pi.FP32, [2, 3])`, …";
                Err(self.problem_with_help(value.span, message, help))
            }
        }
    }

    pub(super) fn const_int(
        &mut self,
        value: i128,
        dtype: DataType,
        span: Span,
    ) -> Parsed<ExprRef> {
        Expr::const_int(value, dtype, span).map_err(|error| self.problem(span, error.to_string()))
    }

    pub(super) fn const_float(
        &mut self,
        value: f64,
        dtype: DataType,
        span: Span,
    ) -> Parsed<ExprRef> {
        Expr::const_float(value, dtype, span).map_err(|error| self.problem(span, error.to_string()))
    }

    pub(super) fn too_large(&mut self, span: Span) -> Failed {
        self.problem(span, "the integer is out of range: it does not fit 128 bits with a sign")
    }

    fn say_type(&mut self, expr: &ExprRef, span: Span) -> Failed {
        use crate::verify::shown;
        let (truth, left, right) = match expr.as_binary() {
            Some((op, left, right)) => (op.is_truth(), left.ty(), right.ty()),
            None => (false, expr.ty(), expr.ty()),
        };
        // That of a tensor and a number is the tensor's.
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
            "the operands have the types {} and {}, so the type of the result does not follow",
            shown(left),
            shown(right)
        );
        self.problem_with_help(
            span,
            message,
            format!("say it: `pi.typed(…, {})`, or cast one operand", shown(&likely)),
        )
    }
}
