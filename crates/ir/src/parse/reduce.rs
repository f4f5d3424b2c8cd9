//! Making nodes of what was read.

use sapwood_types::{Span, counted};

use super::expr::{Frame, What};
use super::scope::Meaning;
use super::value::{Kind, Val};
use super::{Failed, Parsed, Parser};
use crate::nodes::{BinaryOp, Expr, ExprRef, Type, TypeRef, UnaryOp, natural_binary};

impl<'s> Parser<'s> {
    /// Makes a node of the operator on top.
    pub(super) fn reduce(&mut self) -> Parsed<()> {
        match self.frames.pop() {
            Some(Frame::Binary(op)) => {
                let (Some(right), Some(left)) = (self.values.pop(), self.values.pop()) else {
                    return Err(Failed);
                };
                let span = left.span.to(right.span);
                let value = self.binary(op, left, right, span)?;
                self.values.push(value);
            }
            Some(Frame::Unary(op, start)) => {
                let Some(operand) = self.values.pop() else { return Err(Failed) };
                let value = self.unary(op, operand, start)?;
                self.values.push(value);
            }
            Some(other) => self.frames.push(other),
            None => {}
        }
        Ok(())
    }

    fn binary(&mut self, op: BinaryOp, left: Val, right: Val, span: Span) -> Parsed<Val> {
        let nothing = matches!(left.kind, Kind::Nothing) || matches!(right.kind, Kind::Nothing);
        let (left, right) = (self.as_expr(left), self.as_expr(right));
        if nothing {
            return Ok(Val::new(Kind::Nothing, span));
        }
        let (left, right) = (left?, right?);
        let natural = natural_binary(op, &left, &right);
        let needs_type = natural.is_none();
        let expr = Expr::binary(op, &left, &right, natural.unwrap_or_else(Type::unknown), span);
        Ok(Val { needs_type, ..Val::fresh(expr, span) })
    }

    fn unary(&mut self, op: UnaryOp, operand: Val, start: Span) -> Parsed<Val> {
        let span = start.to(operand.span);
        let kind = match (op, &operand.kind) {
            (UnaryOp::Neg, Kind::Int(magnitude)) => {
                let value = 0i128.checked_sub_unsigned(*magnitude).unwrap_or(0);
                Kind::Expr(self.const_int(value, crate::print::PLAIN_INT, span)?)
            }
            (UnaryOp::Neg, Kind::Float(value)) => {
                Kind::Expr(self.const_float(-f64::from(*value), crate::print::PLAIN_FLOAT, span)?)
            }
            (_, Kind::Nothing) => Kind::Nothing,
            _ => {
                let operand = self.as_expr(operand)?;
                return Ok(Val::fresh(natural_unary(op, &operand, span), span));
            }
        };
        Ok(Val::new(kind, span))
    }

    /// Makes something of the bracket on top, which has just been closed.
    pub(super) fn close(&mut self) -> Parsed<()> {
        let value = match self.frames.pop() {
            Some(Frame::Paren { start, name, base, comma }) => {
                let values = self.values.split_off(base);
                self.paren_closed(start, name, values, comma)?
            }
            Some(Frame::List { start, base }) => {
                let values = self.values.split_off(base);
                if let Some(inner) = values.iter().find(|value| matches!(value.kind, Kind::List(_)))
                {
                    return Err(self.problem(inner.span, "a list inside a list"));
                }
                Val::new(Kind::List(values), start.to(self.last))
            }
            Some(Frame::Call { what, start, base }) => {
                let values = self.values.split_off(base);
                let span = start.to(self.last);
                if let Some((name, wanted)) = takes(&what)
                    && wanted != values.len()
                {
                    let wanted = counted(wanted, "argument");
                    let found = values.len();
                    let message = format!("{name} takes {wanted}, found {found}");
                    return Err(self.problem(span, message));
                }
                if values.iter().any(|value| matches!(value.kind, Kind::Nothing)) {
                    Val::new(Kind::Nothing, span)
                } else {
                    self.call_closed(what, values, span)?
                }
            }
            _ => return Err(Failed),
        };
        self.values.push(value);
        Ok(())
    }

    fn paren_closed(
        &mut self,
        start: Span,
        name: Option<&'s str>,
        mut values: Vec<Val>,
        comma: bool,
    ) -> Parsed<Val> {
        let span = start.to(self.last);
        if comma {
            if values.iter().any(|value| matches!(value.kind, Kind::Nothing)) {
                return Ok(Val::new(Kind::Nothing, span));
            }
            if !values.is_empty() && values.iter().all(|v| matches!(v.kind, Kind::Type(_))) {
                return Ok(Val::new(Kind::List(values), span));
            }
            let elements = self.exprs(values)?;
            return Ok(Val::fresh(Expr::make_tuple(elements, span), span));
        }
        let Some(value) = values.pop() else { return Err(Failed) };
        match name {
            None => Ok(value),
            Some(name) => {
                let meaning = match &value.kind {
                    Kind::Type(ty) => Meaning::Type(ty.clone()),
                    Kind::Nothing => Meaning::Nothing,
                    _ => Meaning::Expr(self.as_expr(value.clone())?),
                };
                let kind = match &meaning {
                    Meaning::Type(ty) => Kind::Type(ty.clone()),
                    Meaning::Expr(expr) | Meaning::Var(expr) => Kind::Expr(expr.clone()),
                    Meaning::Nothing => Kind::Nothing,
                };
                self.define(name, meaning, start)?;
                Ok(Val::new(kind, value.span))
            }
        }
    }

    fn exprs(&mut self, values: Vec<Val>) -> Parsed<Vec<ExprRef>> {
        let results: Vec<Parsed<ExprRef>> =
            values.into_iter().map(|value| self.as_expr(value)).collect();
        results.into_iter().collect()
    }

    pub(super) fn types(&mut self, values: Vec<Val>) -> Parsed<Vec<TypeRef>> {
        let results: Vec<Parsed<TypeRef>> =
            values.into_iter().map(|value| self.as_type(value)).collect();
        results.into_iter().collect()
    }

    fn list(&mut self, value: Val, what: &str) -> Parsed<Vec<Val>> {
        match value.kind {
            Kind::List(values) => Ok(values),
            _ => {
                let message = format!("expected a list of {what}, found {}", value.what());
                Err(self.problem(value.span, message))
            }
        }
    }

    pub(super) fn expr_list(&mut self, value: Val) -> Parsed<Vec<ExprRef>> {
        let values = self.list(value, "expressions")?;
        self.exprs(values)
    }

    pub(super) fn type_values(&mut self, value: Val) -> Parsed<Vec<TypeRef>> {
        let values = self.list(value, "types")?;
        self.types(values)
    }

    /// The types after `->`: one, or several in parentheses.
    pub(super) fn type_list(&mut self) -> Parsed<Vec<TypeRef>> {
        let value = self.value()?;
        match value.kind {
            Kind::List(values) => self.types(values),
            _ => Ok(vec![self.as_type(value)?]),
        }
    }

    /// Makes something of a call with as many arguments as it takes.
    fn call_closed(&mut self, what: What, values: Vec<Val>, span: Span) -> Parsed<Val> {
        match what {
            What::Callee(callee) => {
                let args = self.exprs(values)?;
                Ok(Val::fresh(Expr::call(&callee, args, Type::unknown(), span), span))
            }
            What::Binary(op) => {
                let [left, right] = all(values)?;
                self.binary(op, left, right, span)
            }
            What::Unary(UnaryOp::Cast) => {
                let [operand, ty] = all(values)?;
                let (operand, ty) = (self.as_expr(operand)?, self.as_type(ty)?);
                Ok(Val::new(Kind::Expr(Expr::cast(&operand, ty, span)), span))
            }
            What::Unary(op) => {
                let [operand] = all(values)?;
                let operand = self.as_expr(operand)?;
                Ok(Val::fresh(natural_unary(op, &operand, span), span))
            }
            What::Typed => {
                let [value, ty] = all(values)?;
                let ty = self.as_type(ty)?;
                match value.kind {
                    Kind::Expr(expr) if value.fresh => {
                        let typed = crate::rebuild::with_type(&expr, ty, expr.span());
                        Ok(Val::new(Kind::Expr(typed), span))
                    }
                    _ => {
                        let help =
                            "variables, constants, casts and named parts have their type already";
                        let message = "`pi.typed` says the type of an operation, a call or a tuple";
                        Err(self.problem_with_help(value.span, message, help))
                    }
                }
            }
            What::TensorType => {
                let [dtype, shape] = all(values)?;
                let place = dtype.span;
                let Some(dtype) = self.as_type(dtype)?.as_scalar() else {
                    return Err(self.problem(place, "expected a data type such as `pi.FP32`"));
                };
                let shape = self.expr_list(shape)?;
                Ok(Val::new(Kind::Type(Type::tensor(dtype, shape)), span))
            }
            What::TupleType => {
                let [types] = all(values)?;
                let types = self.type_values(types)?;
                Ok(Val::new(Kind::Type(Type::tuple(types)), span))
            }
            What::FunctionType => {
                let [params, results] = all(values)?;
                let (params, results) = (self.type_values(params)?, self.type_values(results)?);
                Ok(Val::new(Kind::Type(Type::function(params, results)), span))
            }
        }
    }
}

/// The arguments of what takes so many; how many there are was looked at before.
fn all<const N: usize>(values: Vec<Val>) -> Parsed<[Val; N]> {
    values.try_into().map_err(|_| Failed)
}

/// The name of what takes a fixed number of arguments, and that number.
fn takes(what: &What) -> Option<(&'static str, usize)> {
    match what {
        What::Callee(_) => None,
        What::Binary(BinaryOp::Min) => Some(("`min`", 2)),
        What::Binary(BinaryOp::Max) => Some(("`max`", 2)),
        What::Binary(_) => Some(("`pi.xor`", 2)),
        What::Unary(UnaryOp::Cast) => Some(("`pi.cast`", 2)),
        What::Unary(UnaryOp::Abs) => Some(("`abs`", 1)),
        What::Unary(_) => Some(("`pi.neg`", 1)),
        What::Typed => Some(("`pi.typed`", 2)),
        What::TensorType => Some(("`pi.TensorType`", 2)),
        What::TupleType => Some(("`pi.TupleType`", 1)),
        What::FunctionType => Some(("`pi.FunctionType`", 2)),
    }
}

fn natural_unary(op: UnaryOp, operand: &ExprRef, span: Span) -> ExprRef {
    let ty = match op {
        UnaryOp::Not => crate::nodes::truth_type(&[operand]),
        _ => operand.ty().clone(),
    };
    Expr::unary(op, operand, ty, span)
}
