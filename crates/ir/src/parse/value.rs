//! Values on the stack of the expression parser.

use sapwood_structural::{Seq, Value};
use sapwood_types::{DataType, Span};

use super::{ParseFailed, ParseResult, Parser};
use crate::nodes::{Expr, ExprRef, Type, TypeRef};
use crate::print::{BARE_FLOAT_TYPE, BARE_INT_TYPE};

/// A number literal without a type, whose type depends on its context.
#[derive(Clone, Copy)]
pub(super) struct ParsedNumber {
    pub(super) magnitude: Magnitude,
    pub(super) is_negative: bool,
}

/// The absolute value of a number literal.
#[derive(Clone, Copy)]
pub(super) enum Magnitude {
    Int(u128),
    /// A float, rounded to 64 and to 32 bits.
    Float(f64, f32),
}

impl ParsedNumber {
    /// Returns the data type that the number takes next to a value of this data type.
    pub(super) fn dtype_next_to(self, other: Option<DataType>) -> DataType {
        bare_number_type(matches!(self.magnitude, Magnitude::Int(_)), other)
    }

    fn integer(self) -> Option<i128> {
        match self.magnitude {
            Magnitude::Int(magnitude) if self.is_negative => 0i128.checked_sub_unsigned(magnitude),
            Magnitude::Int(magnitude) => i128::try_from(magnitude).ok(),
            Magnitude::Float(..) => None,
        }
    }

    fn float(self, dtype: DataType) -> f64 {
        let magnitude = match self.magnitude {
            Magnitude::Int(magnitude) => magnitude as f64,
            Magnitude::Float(_, single) if dtype == DataType::F32 => f64::from(single),
            Magnitude::Float(wide, _) => wide,
        };
        if self.is_negative { -magnitude } else { magnitude }
    }
}

/// Returns the data type of a number without a type next to a value of another: that of the value if it can hold the number.
pub(crate) fn bare_number_type(is_int: bool, other: Option<DataType>) -> DataType {
    match other {
        Some(dtype) if dtype.is_float() || (is_int && dtype.is_integer()) => dtype,
        _ if is_int => BARE_INT_TYPE,
        _ => BARE_FLOAT_TYPE,
    }
}

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
    Number(ParsedNumber),
    /// A text, only in attributes.
    Str(String),
    Expr(ExprRef),
    Type(TypeRef),
    /// `[…]`, or several types in parentheses, with the depth of its nesting.
    List(Vec<ParsedValue>, usize),
    /// `pi.result(n)`
    Result(u32),
    /// A value whose error is already reported.
    Invalid,
}

impl ParsedValue {
    pub(super) fn new(kind: ParsedValueKind, span: Span) -> Self {
        Self { kind, span, is_new_operation: false, needs_type: false }
    }

    /// Creates the value of a type that is written at this place.
    pub(super) fn ty(ty: &TypeRef, span: Span) -> Self {
        Self::new(ParsedValueKind::Type(Type::with_span(ty, span)), span)
    }

    pub(super) fn operation(expr: ExprRef, span: Span) -> Self {
        Self { kind: ParsedValueKind::Expr(expr), span, is_new_operation: true, needs_type: false }
    }

    pub(super) fn describe(&self) -> &'static str {
        match &self.kind {
            ParsedValueKind::Number(_) => "a number",
            ParsedValueKind::Str(_) => "a string",
            ParsedValueKind::Expr(_) => "an expression",
            ParsedValueKind::Type(_) => "a type",
            ParsedValueKind::List(..) => "a list",
            ParsedValueKind::Result(_) => "`pi.result`",
            ParsedValueKind::Invalid => "nothing",
        }
    }
}

impl Parser<'_> {
    /// Converts the value to an expression; fails if its type is missing.
    pub(super) fn as_expr(&mut self, value: ParsedValue) -> ParseResult<ExprRef> {
        self.as_expr_like(value, None)
    }

    /// Converts the value to an expression; a number takes this data type if it can.
    pub(super) fn as_expr_like(
        &mut self,
        value: ParsedValue,
        dtype: Option<DataType>,
    ) -> ParseResult<ExprRef> {
        match value.kind {
            ParsedValueKind::Number(number) => self.number_as_expr(number, dtype, value.span),
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
            ParsedValueKind::Type(_) | ParsedValueKind::List(..) | ParsedValueKind::Str(_) => {
                let message = format!("expected an expression, found {}", value.describe());
                Err(match value.kind {
                    ParsedValueKind::List(..) => {
                        let help = "values are tuples, as in `(x, y)`; attributes of an op have names, as in `axes=[0]`, and its operands are written one by one";
                        self.report_with_help(value.span, message, help)
                    }
                    _ => self.report(value.span, message),
                })
            }
        }
    }

    fn number_as_expr(
        &mut self,
        number: ParsedNumber,
        other: Option<DataType>,
        span: Span,
    ) -> ParseResult<ExprRef> {
        let dtype = number.dtype_next_to(other);
        if dtype.is_integer() {
            let Some(value) = number.integer() else {
                return Err(self.report_int_too_large(span));
            };
            let out_of_range = |(least, most): (i128, i128)| value < least || value > most;
            if other.is_some() && dtype.integer_range().is_some_and(out_of_range) {
                let name = dtype.document_name();
                let message = format!("{value} is out of the range of {name}");
                let help = "the number takes the type of the other operand; cast that first";
                return Err(self.report_with_help(span, message, help));
            }
            return self.const_int(value, dtype, span);
        }
        let value = number.float(dtype);
        if !crate::float::round_to_dtype(dtype, value).is_finite() {
            let name = dtype.document_name();
            let message = format!("the number is out of the range of {name}");
            let help = format!("write `pi.FP64(…)` for a larger type, or `pi.{name}(\"inf\")`");
            return Err(self.report_with_help(span, message, help));
        }
        self.const_float(value, dtype, span)
    }

    /// Converts the value of an attribute: a constant, a text, a data type, or a list of these.
    pub(super) fn as_attr(&mut self, value: ParsedValue) -> ParseResult<Value> {
        let span = value.span;
        match value.kind {
            ParsedValueKind::Number(number) => match number.magnitude {
                Magnitude::Float(wide, _) if wide.is_infinite() => {
                    let help = "write `pi.FP64(\"inf\")` for infinity";
                    Err(self.report_with_help(span, "the number is out of the range of FP64", help))
                }
                Magnitude::Float(..) => Ok(Value::Float(number.float(DataType::F64))),
                Magnitude::Int(_) => match number.integer().and_then(|n| i64::try_from(n).ok()) {
                    Some(integer) => Ok(Value::Int(integer)),
                    None => {
                        Err(self.report(span, "the integer of an attribute does not fit 64 bits"))
                    }
                },
            },
            ParsedValueKind::Str(text) => Ok(Value::from(text)),
            ParsedValueKind::Type(ty) => {
                match ty.as_scalar() {
                    Some(dtype) => Ok(Value::from(dtype.document_name())),
                    None => Err(self
                        .report(span, "an attribute is a data type such as `pi.FP32`, not a type")),
                }
            }
            ParsedValueKind::List(values, _) => {
                // Lists nest at most `MAX_LIST_DEPTH` deep.
                let items: Vec<ParseResult<Value>> =
                    values.into_iter().map(|value| self.as_attr(value)).collect();
                Ok(Value::from(items.into_iter().collect::<ParseResult<Seq>>()?))
            }
            ParsedValueKind::Expr(expr) => match constant_attr(&expr, 0) {
                Some(value) => Ok(value),
                None => {
                    let message = "the value of an attribute is not a constant";
                    let help = "attributes are numbers, texts, data types and lists of these";
                    Err(self.report_with_help(span, message, help))
                }
            },
            ParsedValueKind::Invalid => Err(ParseFailed),
            ParsedValueKind::Result(_) => Err(self.report(span, "`pi.result` in an attribute")),
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
        if let Expr::Call { callee, args, .. } = &**expr {
            let registry = sapwood_ptir::Registry::builtin();
            let Err(error) = crate::ops::op_call_type(&registry, callee, args) else {
                return self.report(span, "the type of the call is not known");
            };
            let message = format!("{}: {}", callee.name(), error.message);
            return match error.help {
                Some(help) => self.report_with_help(span, message, help),
                None => self.report(span, message),
            };
        }
        let (truth, left, right) = match expr.as_binary() {
            Some((op, left, right)) => (op.is_predicate(), left.ty(), right.ty()),
            None => (false, expr.ty(), expr.ty()),
        };
        // For a tensor and a scalar, the tensor's type is more likely.
        let likely = match (&**left, &**right) {
            (_, Type::Tensor { .. }) | (Type::Unknown { .. }, _) => right,
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
        let help = expr.as_binary().and_then(|(_, left, right)| operand_help(left, right));
        let help = help.unwrap_or_else(|| {
            format!("state it with `pi.typed(…, {})`, or cast one operand", display_type(&likely))
        });
        self.report_with_help(span, message, help)
    }
}

/// Returns how to write an operator whose operands have different types, if both types are known.
fn operand_help(left: &ExprRef, right: &ExprRef) -> Option<String> {
    let (from, to) = (left.ty().dtype()?, right.ty().dtype()?);
    let shown = |expr: &ExprRef| crate::print::expr_prefix(expr, 40);
    if from != to {
        // Integers become floats, and narrow types wide ones.
        let rank = |dtype: DataType| (dtype.is_float(), dtype.is_integer(), dtype.bit_width());
        let (expr, dtype) = if rank(from) < rank(to) { (left, to) } else { (right, from) };
        let (expr, dtype) = (shown(expr), dtype.document_name());
        return Some(format!("cast one operand: `pi.cast({expr}, pi.{dtype})`"));
    }
    let (Type::Tensor { shape: one, .. }, Type::Tensor { shape: other, .. }) =
        (&**left.ty(), &**right.ty())
    else {
        return None;
    };
    let (small, shape) = if one.len() < other.len() { (left, other) } else { (right, one) };
    let shape: Vec<String> = shape.iter().map(shown).collect();
    let (small, shape) = (shown(small), shape.join(", "));
    Some(format!("tensors are not broadcast; write `pi.op.broadcast_to({small}, shape=[{shape}])`"))
}

/// Returns the value of a constant expression, or of a tuple of constants that nests as deep as an attribute may.
fn constant_attr(expr: &ExprRef, depth: usize) -> Option<Value> {
    if let Expr::MakeTuple { elements, .. } = &**expr {
        if depth >= sapwood_ptir::MAX_ATTR_DEPTH {
            return None;
        }
        let items = elements.iter().map(|element| constant_attr(element, depth + 1));
        return items.collect::<Option<Seq>>().map(Value::from);
    }
    let folded = crate::passes::fold_expr(expr).ok()?;
    match &*folded {
        Expr::ConstInt { value, .. } => i64::try_from(value.get()).ok().map(Value::Int),
        Expr::ConstFloat { value, .. } => Some(Value::Float(*value)),
        Expr::ConstBool { value, .. } => Some(Value::Bool(*value)),
        _ => None,
    }
}
