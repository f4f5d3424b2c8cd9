//! Construction of nodes from parsed operators and brackets.

use sapwood_types::{Span, counted};

use super::expr::{CallTarget, OpenConstruct};
use super::lexer::TokenKind;
use super::name_scope::NamedEntity;
use super::value::{ParsedNumber, ParsedValue, ParsedValueKind};
use super::{ParseFailed, ParseResult, Parser};
use crate::nodes::{
    BinaryOp, Expr, ExprRef, Type, TypeRef, UnaryOp, cast_type, inferred_binary_type,
};

/// The deepest nesting of lists, that of attributes.
const MAX_LIST_DEPTH: usize = sapwood_ptir::MAX_ATTR_DEPTH;

impl<'s> Parser<'s> {
    /// Builds the node of the innermost open operator.
    pub(super) fn reduce(&mut self) -> ParseResult<()> {
        match self.open_constructs.pop() {
            Some(OpenConstruct::Binary(op)) => {
                let (Some(right), Some(left)) = (self.value_stack.pop(), self.value_stack.pop())
                else {
                    return Err(ParseFailed);
                };
                let span = left.span.to(right.span);
                let value = self.make_binary(op, left, right, span)?;
                self.value_stack.push(value);
            }
            Some(OpenConstruct::MatMul) => {
                let (Some(right), Some(left)) = (self.value_stack.pop(), self.value_stack.pop())
                else {
                    return Err(ParseFailed);
                };
                let value = self.make_matmul(left, right)?;
                self.value_stack.push(value);
            }
            Some(OpenConstruct::Unary(op, start)) => {
                let Some(operand) = self.value_stack.pop() else { return Err(ParseFailed) };
                let value = self.make_unary(op, operand, start)?;
                self.value_stack.push(value);
            }
            Some(other) => self.open_constructs.push(other),
            None => {}
        }
        Ok(())
    }

    pub(super) fn make_binary(
        &mut self,
        op: BinaryOp,
        left: ParsedValue,
        right: ParsedValue,
        span: Span,
    ) -> ParseResult<ParsedValue> {
        let nothing = matches!(left.kind, ParsedValueKind::Invalid)
            || matches!(right.kind, ParsedValueKind::Invalid);
        let dtype_of = |value: &ParsedValue| match &value.kind {
            ParsedValueKind::Expr(expr) => expr.ty().dtype(),
            _ => None,
        };
        // A number takes the type of the other operand.
        let (left_dtype, right_dtype) = (dtype_of(&left), dtype_of(&right));
        let (left, right) =
            (self.as_expr_like(left, right_dtype), self.as_expr_like(right, left_dtype));
        if nothing {
            return Ok(ParsedValue::new(ParsedValueKind::Invalid, span));
        }
        let (left, right) = (left?, right?);
        let natural = inferred_binary_type(op, &left, &right);
        let needs_type = natural.is_none();
        let expr = Expr::binary(op, &left, &right, natural.unwrap_or_else(Type::unknown), span);
        Ok(ParsedValue { needs_type, ..ParsedValue::operation(expr, span) })
    }

    fn make_unary(
        &mut self,
        op: UnaryOp,
        operand: ParsedValue,
        start: Span,
    ) -> ParseResult<ParsedValue> {
        let span = start.to(operand.span);
        let kind = match (op, &operand.kind) {
            (UnaryOp::Neg, ParsedValueKind::Number(number)) if !number.is_negative => {
                ParsedValueKind::Number(ParsedNumber { is_negative: true, ..*number })
            }
            (_, ParsedValueKind::Invalid) => ParsedValueKind::Invalid,
            _ => {
                let operand = self.as_expr(operand)?;
                return Ok(ParsedValue::operation(
                    unary_with_inferred_type(op, &operand, span),
                    span,
                ));
            }
        };
        Ok(ParsedValue::new(kind, span))
    }

    /// Builds the value of the innermost open bracket, which was just closed.
    pub(super) fn close_bracket(&mut self) -> ParseResult<()> {
        let value = match self.open_constructs.pop() {
            Some(OpenConstruct::Paren { start, name, base, comma }) => {
                let values = self.value_stack.split_off(base);
                self.make_paren(start, name, values, comma)?
            }
            Some(OpenConstruct::List { start, base }) => {
                let values = self.value_stack.split_off(base);
                let depth = |value: &ParsedValue| match &value.kind {
                    ParsedValueKind::List(_, depth) => *depth,
                    _ => 0,
                };
                let depth = 1 + values.iter().map(depth).max().unwrap_or(0);
                let span = start.to(self.last_span);
                if depth > MAX_LIST_DEPTH {
                    let message = format!("lists nest deeper than {MAX_LIST_DEPTH}");
                    return Err(self.report(span, message));
                }
                ParsedValue::new(ParsedValueKind::List(values, depth), span)
            }
            Some(OpenConstruct::Call { target, start, base, keywords }) => {
                let values = self.value_stack.split_off(base);
                let span = start.to(self.last_span);
                if let Some((name, wanted)) = fixed_arity(&target)
                    && wanted != values.len()
                {
                    let wanted = counted(wanted, "argument");
                    let found = values.len();
                    let message = format!("{name} takes {wanted}, found {found}");
                    return Err(self.report(span, message));
                }
                if values.iter().any(|value| matches!(value.kind, ParsedValueKind::Invalid)) {
                    ParsedValue::new(ParsedValueKind::Invalid, span)
                } else {
                    self.make_call(target, values, &keywords, base, span)?
                }
            }
            _ => return Err(ParseFailed),
        };
        self.value_stack.push(value);
        Ok(())
    }

    fn make_paren(
        &mut self,
        start: Span,
        name: Option<&'s str>,
        mut values: Vec<ParsedValue>,
        comma: bool,
    ) -> ParseResult<ParsedValue> {
        let span = start.to(self.last_span);
        if comma {
            if values.iter().any(|value| matches!(value.kind, ParsedValueKind::Invalid)) {
                return Ok(ParsedValue::new(ParsedValueKind::Invalid, span));
            }
            if !values.is_empty()
                && values.iter().all(|v| matches!(v.kind, ParsedValueKind::Type(_)))
            {
                return Ok(ParsedValue::new(ParsedValueKind::List(values, 1), span));
            }
            let elements = self.as_exprs(values)?;
            return Ok(ParsedValue::operation(Expr::make_tuple(elements, span), span));
        }
        let Some(value) = values.pop() else { return Err(ParseFailed) };
        match name {
            None => Ok(value),
            Some(name) => {
                let meaning = match &value.kind {
                    ParsedValueKind::Type(ty) => NamedEntity::Type(ty.clone()),
                    ParsedValueKind::Invalid => NamedEntity::Invalid,
                    _ => NamedEntity::Expr(self.as_expr(value.clone())?),
                };
                let kind = match &meaning {
                    NamedEntity::Type(ty) => ParsedValueKind::Type(ty.clone()),
                    NamedEntity::Expr(expr) | NamedEntity::Var(expr) => {
                        ParsedValueKind::Expr(expr.clone())
                    }
                    NamedEntity::Invalid => ParsedValueKind::Invalid,
                };
                self.define_part(name, meaning, start)?;
                Ok(ParsedValue::new(kind, value.span))
            }
        }
    }

    pub(super) fn as_exprs(&mut self, values: Vec<ParsedValue>) -> ParseResult<Vec<ExprRef>> {
        let results: Vec<ParseResult<ExprRef>> =
            values.into_iter().map(|value| self.as_expr(value)).collect();
        results.into_iter().collect()
    }

    pub(super) fn as_types(&mut self, values: Vec<ParsedValue>) -> ParseResult<Vec<TypeRef>> {
        let results: Vec<ParseResult<TypeRef>> =
            values.into_iter().map(|value| self.as_type(value)).collect();
        results.into_iter().collect()
    }

    pub(super) fn expect_list(
        &mut self,
        value: ParsedValue,
        content: &str,
    ) -> ParseResult<Vec<ParsedValue>> {
        match value.kind {
            ParsedValueKind::List(values, _) => Ok(values),
            // A tuple is accepted for a list of expressions.
            ParsedValueKind::Expr(expr)
                if value.is_new_operation && matches!(&*expr, Expr::MakeTuple { .. }) =>
            {
                let elements = expr.operands().map(|element| {
                    ParsedValue::new(ParsedValueKind::Expr(element.clone()), element.span())
                });
                Ok(elements.collect())
            }
            _ => {
                let message = format!("expected a list of {content}, found {}", value.describe());
                Err(self.report(value.span, message))
            }
        }
    }

    pub(super) fn as_expr_list(&mut self, value: ParsedValue) -> ParseResult<Vec<ExprRef>> {
        let values = self.expect_list(value, "expressions")?;
        self.as_exprs(values)
    }

    pub(super) fn as_type_list(&mut self, value: ParsedValue) -> ParseResult<Vec<TypeRef>> {
        let values = self.expect_list(value, "types")?;
        self.as_types(values)
    }

    /// Reads the types after `->`: one, or several in parentheses.
    pub(super) fn read_return_types(&mut self) -> ParseResult<Vec<TypeRef>> {
        let is_word = matches!(self.token.kind, TokenKind::Keyword | TokenKind::Name);
        if is_word && self.text(self.token) == "None" {
            self.advance();
            return Ok(Vec::new());
        }
        let value = self.read_value()?;
        match value.kind {
            ParsedValueKind::List(values, _) => self.as_types(values),
            _ => Ok(vec![self.as_type(value)?]),
        }
    }

    /// Builds the value of a call with the right number of arguments.
    fn make_call(
        &mut self,
        target: CallTarget,
        values: Vec<ParsedValue>,
        keywords: &[(&'s str, Span, usize)],
        base: usize,
        span: Span,
    ) -> ParseResult<ParsedValue> {
        match target {
            CallTarget::Callee(callee) => self.make_function_call(&callee, values, span),
            CallTarget::Op { name, span: name_span } => {
                let keywords = keywords.iter().map(|&(name, span, at)| (name, span, at - base));
                let keywords: Vec<_> = keywords.collect();
                self.make_op_call(&name, name_span, values, &keywords, span)
            }
            CallTarget::Binary(op) => {
                let [left, right] = exact_args(values)?;
                self.make_binary(op, left, right, span)
            }
            CallTarget::Unary(UnaryOp::Cast) => {
                let [operand, ty] = exact_args(values)?;
                let (operand, ty) = (self.as_expr(operand)?, self.as_type(ty)?);
                let ty = cast_type(&operand, ty);
                Ok(ParsedValue::operation(Expr::cast(&operand, ty, span), span))
            }
            CallTarget::Unary(op) => {
                let [operand] = exact_args(values)?;
                let operand = self.as_expr(operand)?;
                Ok(ParsedValue::operation(unary_with_inferred_type(op, &operand, span), span))
            }
            CallTarget::Typed => {
                let [value, ty] = exact_args(values)?;
                let ty = self.as_type(ty)?;
                match value.kind {
                    ParsedValueKind::Expr(expr) if value.is_new_operation => {
                        let typed = crate::rebuild::with_type(&expr, ty, expr.span());
                        Ok(ParsedValue::new(ParsedValueKind::Expr(typed), span))
                    }
                    _ => {
                        let help = "variables, constants and named parts already have a type";
                        let message = "expected an operation, a call or a tuple in `pi.typed`";
                        Err(self.report_with_help(value.span, message, help))
                    }
                }
            }
            CallTarget::TensorType => {
                let [mut dtype, mut shape] = exact_args(values)?;
                // The constructor takes both in either order.
                if matches!(shape.kind, ParsedValueKind::Type(_)) {
                    std::mem::swap(&mut dtype, &mut shape);
                }
                let place = dtype.span;
                let Some(dtype) = self.as_type(dtype)?.as_scalar() else {
                    return Err(self.report(place, "expected a data type such as `pi.FP32`"));
                };
                let shape = self.as_expr_list(shape)?;
                Ok(ParsedValue::ty(&Type::tensor(dtype, shape), span))
            }
            CallTarget::TupleType => {
                let [types] = exact_args(values)?;
                let types = self.as_type_list(types)?;
                Ok(ParsedValue::ty(&Type::tuple(types), span))
            }
            CallTarget::FunctionType => {
                let [params, results] = exact_args(values)?;
                let (params, results) = (self.as_type_list(params)?, self.as_type_list(results)?);
                Ok(ParsedValue::ty(&Type::function(params, results), span))
            }
        }
    }
}

/// Returns the arguments as an array; the number was checked before.
fn exact_args<const N: usize>(values: Vec<ParsedValue>) -> ParseResult<[ParsedValue; N]> {
    values.try_into().map_err(|_| ParseFailed)
}

/// Returns the name and the number of arguments of a call target with a fixed arity.
fn fixed_arity(target: &CallTarget) -> Option<(&'static str, usize)> {
    match target {
        CallTarget::Callee(_) | CallTarget::Op { .. } => None,
        CallTarget::Binary(BinaryOp::Min) => Some(("`min`", 2)),
        CallTarget::Binary(BinaryOp::Max) => Some(("`max`", 2)),
        CallTarget::Binary(_) => Some(("`pi.xor`", 2)),
        CallTarget::Unary(UnaryOp::Cast) => Some(("`pi.cast`", 2)),
        CallTarget::Unary(UnaryOp::Abs) => Some(("`abs`", 1)),
        CallTarget::Unary(_) => Some(("`pi.neg`", 1)),
        CallTarget::Typed => Some(("`pi.typed`", 2)),
        CallTarget::TensorType => Some(("`pi.TensorType`", 2)),
        CallTarget::TupleType => Some(("`pi.TupleType`", 1)),
        CallTarget::FunctionType => Some(("`pi.FunctionType`", 2)),
    }
}

fn unary_with_inferred_type(op: UnaryOp, operand: &ExprRef, span: Span) -> ExprRef {
    let ty = match op {
        UnaryOp::Not => crate::nodes::predicate_type(&[operand]),
        _ => Type::inferred(operand.ty()),
    };
    Expr::unary(op, operand, ty, span)
}
