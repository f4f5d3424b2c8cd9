//! Assignments with an operator, such as `x += 1`, and of several variables.

use sapwood_types::Span;

use super::lexer::TokenKind;
use super::name_scope::NamedEntity;
use super::stmt::BlockState;
use super::value::{ParsedValue, ParsedValueKind};
use super::{ParseFailed, ParseResult, Parser, Token};
use crate::nodes::{BinaryOp, Expr, ExprRef, Stmt, Type, TypeRef, Var};

/// The most names of variables in the name of the tuple that they are unpacked from.
const MAX_JOINED_NAMES: usize = 3;

impl<'s> Parser<'s> {
    /// Converts the value of an assignment; a number takes the annotated type, or that of the existing variable.
    pub(super) fn as_assigned(
        &mut self,
        value: ParsedValue,
        name: &str,
        annotation: Option<&TypeRef>,
    ) -> ParseResult<ExprRef> {
        let known = match self.scope.get(name) {
            Some(NamedEntity::Var(var)) => Some(var.ty()),
            _ => None,
        };
        let dtype = annotation.or(known).and_then(|ty| ty.as_scalar());
        self.as_expr_like(value, dtype)
    }

    /// Notes the assignment of an existing variable whose new value changes the meaning of dims.
    pub(super) fn note_assignment(&mut self, name: &str, natural: &TypeRef, span: Span) {
        let Some(NamedEntity::Var(var)) = self.scope.get(name) else { return };
        let var = var.clone();
        let changes = match &**var.ty() {
            Type::Scalar { .. } => true,
            Type::Tensor { shape, .. } => {
                matches!(**natural, Type::Tensor { .. })
                    && shape.iter().any(|dim| dim.as_int().is_none())
                    && !sapwood_structural::equal(var.ty(), natural).unwrap_or(false)
            }
            _ => false,
        };
        if changes && !self.scope.note_reassigned(&var) {
            let message =
                format!("`{name}` is a dim of a tensor with a subscript, so it keeps its value");
            let help = "assign the new value to another variable, such as `m = n - 1`";
            self.report_with_help(span, message, help);
        }
    }

    /// Returns the operator of `+=` and its kin, if that is the next token.
    pub(super) fn augmented_operator(&self) -> Option<&'s str> {
        let TokenKind::Symbol(_) = self.token.kind else { return None };
        let text = self.text(self.token);
        let op = text.strip_suffix('=')?;
        let is_operator = op == "@" || BinaryOp::from_symbol(op).is_some();
        (is_operator && !matches!(text, "==" | "<=" | ">=" | "!=")).then_some(op)
    }

    /// Reads `x += value`, which means `x = x + value`.
    pub(super) fn read_augmented(
        &mut self,
        block: &mut BlockState,
        first: Token,
        op: &'s str,
        start: Span,
    ) -> ParseResult<()> {
        self.advance();
        let name = self.text(first);
        let Some(NamedEntity::Var(var)) = self.scope.get(name) else {
            self.report_unknown_name(name, start);
            return Err(ParseFailed);
        };
        let left = ParsedValue::new(ParsedValueKind::Expr(var.clone()), start);
        let right = self.read_value()?;
        self.expect_newline()?;
        let span = start.to(right.span);
        let value = match BinaryOp::from_symbol(op) {
            Some(op) => self.make_binary(op, left, right, span)?,
            None => self.make_matmul(left, right)?,
        };
        let value = self.as_expr(value)?;
        let var = self.target_var(name, None, value.ty(), start)?;
        block.finish_compound();
        block.stmts.push(Stmt::assign(&var, &value, span));
        Ok(())
    }

    /// Returns whether the line begins with targets in brackets: `(a, b) = …` or `[a, b] = …`.
    pub(super) fn at_enclosed_targets(&self) -> bool {
        let close = match self.text(self.token) {
            "(" => ')',
            "[" => ']',
            _ => return false,
        };
        let inside = &self.lexer.text_from(self.token)[1..];
        let in_names = |c: char| matches!(c, '_' | ',') || c.is_alphanumeric() || c.is_whitespace();
        let rest = inside.trim_start_matches(in_names);
        let after = rest.strip_prefix(close).map(|rest| rest.trim_start_matches([' ', '\t']));
        inside[..inside.len() - rest.len()].contains(',')
            && after.is_some_and(|rest| rest.starts_with('=') && !rest.starts_with("=="))
    }

    /// Reads `a, b = value`: an assignment of each element of a tuple, or of the values in the list. The first name is already read,
    /// and so is the bracket before it, if there is one.
    pub(super) fn read_unpacking(
        &mut self,
        block: &mut BlockState,
        first: (&'s str, Span),
        start: Span,
        close: Option<&str>,
    ) -> ParseResult<()> {
        let mut targets = vec![first];
        let values = self.read_unpacked_values(&mut targets, close);
        let Ok(value) = values else {
            targets.iter().for_each(|(name, _)| self.mark_invalid(name));
            return Err(ParseFailed);
        };
        let span = start.to(self.last_span);
        self.expect_newline()?;
        block.finish_compound();
        let elements = match &**value.ty() {
            Type::Tuple { types, .. } => types.len(),
            _ => targets.len(),
        };
        if elements != targets.len() {
            let message = format!("{} variables for a tuple of {elements}", targets.len());
            self.report(span, message);
            block.failed = true;
            return Ok(());
        }
        // The tuple is computed before the first variable changes.
        let is_target = |expr: &ExprRef| targets.iter().any(|(name, _)| expr.name() == Some(name));
        let tuple = if value.is_var() && !is_target(&value) {
            value
        } else {
            let names = targets.iter().take(MAX_JOINED_NAMES).map(|(name, _)| *name);
            let name = names.collect::<Vec<_>>().join("_");
            let var = Var::new(&name, value.ty(), span);
            block.stmts.push(Stmt::assign(&var, &value, span));
            var.expr().clone()
        };
        for (index, (name, place)) in targets.into_iter().enumerate() {
            let element = match Expr::tuple_get_item(&tuple, index, span) {
                Ok(element) => element,
                Err(error) => {
                    self.report(span, error.to_string());
                    block.failed = true;
                    return Ok(());
                }
            };
            let Ok(var) = self.target_var(name, None, element.ty(), place) else {
                block.failed = true;
                return Ok(());
            };
            block.stmts.push(Stmt::assign(&var, &element, span));
        }
        Ok(())
    }

    /// Reads the other targets of `a, b = …` and the value; several values become a tuple.
    fn read_unpacked_values(
        &mut self,
        targets: &mut Vec<(&'s str, Span)>,
        close: Option<&str>,
    ) -> ParseResult<ExprRef> {
        while self.eat(",") {
            if self.at(close.unwrap_or("=")) {
                break;
            }
            let (name, span) = self.expect_name("the name of a variable")?;
            targets.push((name, span));
        }
        if let Some(close) = close {
            self.expect(close, "after the variables")?;
        }
        self.expect("=", "after the variables")?;
        let begin = self.here();
        let first = self.read_value()?;
        if !self.at(",") {
            return self.as_expr(first);
        }
        // A number takes the type of its variable.
        let mut values = vec![self.as_assigned(first, targets[0].0, None)?];
        while self.eat(",") {
            if matches!(self.token.kind, TokenKind::Newline | TokenKind::End) {
                break;
            }
            let value = self.read_value()?;
            values.push(match targets.get(values.len()) {
                Some((name, _)) => self.as_assigned(value, name, None)?,
                None => self.as_expr(value)?,
            });
        }
        Ok(Expr::make_tuple(values, begin.to(self.last_span)))
    }
}
