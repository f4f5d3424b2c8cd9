//! Expressions and types: operator precedence parsing with an explicit stack of open constructs.

use sapwood_types::Span;

use super::lexer::TokenKind;
use super::value::ParsedValue;
use super::{ParseResult, Parser};
use crate::nodes::operators::precedence;
use crate::nodes::{BinaryOp, CalleeRef, ExprRef, TypeRef, UnaryOp};

/// An operator or bracket whose operands are not complete.
pub(super) enum OpenConstruct<'s> {
    Binary(BinaryOp),
    /// `@`, the product of matrices.
    MatMul,
    Unary(UnaryOp, Span),
    /// `(`, with the name of a `:=` definition, and whether a comma was read.
    Paren {
        start: Span,
        name: Option<&'s str>,
        base: usize,
        comma: bool,
    },
    /// `[`
    List {
        start: Span,
        base: usize,
    },
    /// `x[`, while its items are read.
    Subscript,
    /// `target(`
    Call {
        target: CallTarget,
        start: Span,
        base: usize,
        /// The attributes of an op: name, span, and the place of the value on the stack.
        keywords: Vec<(&'s str, Span, usize)>,
    },
}

/// The callee, operator or type constructor before an open parenthesis.
#[derive(Clone)]
pub(super) enum CallTarget {
    Callee(CalleeRef),
    Op { name: String, span: Span },
    Binary(BinaryOp),
    Unary(UnaryOp),
    Typed,
    TensorType,
    TupleType,
    FunctionType,
}

impl<'s> Parser<'s> {
    /// Reads an expression.
    pub(super) fn read_expr(&mut self) -> ParseResult<ExprRef> {
        let value = self.read_value()?;
        self.as_expr(value)
    }

    pub(super) fn read_type(&mut self) -> ParseResult<TypeRef> {
        let value = self.read_value()?;
        self.as_type(value)
    }

    /// Reads an expression, a type or a list.
    pub(super) fn read_value(&mut self) -> ParseResult<ParsedValue> {
        let base = self.open_constructs.len();
        self.read_operand(None)?;
        self.read_after_operand(base)
    }

    /// Reads a value like [`Self::read_value`], whose first name is already read.
    pub(super) fn read_value_after_name(
        &mut self,
        first: super::Token,
    ) -> ParseResult<ParsedValue> {
        let base = self.open_constructs.len();
        self.read_operand(Some(first))?;
        self.read_after_operand(base)
    }

    /// Reads a value like [`Self::read_value`], whose `pi.name` is already read.
    pub(super) fn read_value_after_pi(
        &mut self,
        name: &'s str,
        start: Span,
        place: Span,
    ) -> ParseResult<ParsedValue> {
        let base = self.open_constructs.len();
        if self.read_pi_name(name, start, place)? {
            if self.eat(")") {
                self.close_bracket()?;
            } else {
                self.read_operand(None)?;
            }
        }
        self.read_after_operand(base)
    }

    /// Reads operators and brackets until the value is complete.
    fn read_after_operand(&mut self, base: usize) -> ParseResult<ParsedValue> {
        loop {
            if self.eat("[") {
                stacker::maybe_grow(128 << 10, 4 << 20, || self.read_subscript())?;
                continue;
            }
            if self.at(".") {
                self.read_attribute()?;
                continue;
            }
            if self.at("@") {
                self.reduce_tighter(base, precedence::PRODUCT, false)?;
                self.advance();
                self.open_constructs.push(OpenConstruct::MatMul);
                self.read_operand(None)?;
                continue;
            }
            if let Some(op) = self.peek_binary_operator() {
                self.reduce_tighter_than(base, op)?;
                self.advance();
                self.open_constructs.push(OpenConstruct::Binary(op));
                self.read_operand(None)?;
                continue;
            }
            if self.open_constructs.len() > base {
                let closes = match self.open_constructs[base..].iter().rev().find(|frame| {
                    !matches!(
                        frame,
                        OpenConstruct::Binary(_) | OpenConstruct::MatMul | OpenConstruct::Unary(..)
                    )
                }) {
                    Some(OpenConstruct::Paren { .. } | OpenConstruct::Call { .. }) => Some(")"),
                    Some(OpenConstruct::List { .. }) => Some("]"),
                    _ => None,
                };
                if let Some(close) = closes {
                    if self.at(",") || self.at(close) {
                        self.reduce_operators(base)?;
                        if self.eat(",") {
                            self.note_comma();
                            if !self.at(close) {
                                self.read_operand(None)?;
                                continue;
                            }
                        }
                        self.advance();
                        self.close_bracket()?;
                        continue;
                    }
                    return Err(self.report_expected(&format!("`,`, an operator or `{close}`")));
                }
            }
            self.reduce_operators(base)?;
            return self.value_stack.pop().ok_or(super::ParseFailed);
        }
    }

    fn note_comma(&mut self) {
        if let Some(OpenConstruct::Paren { comma, .. }) = self.open_constructs.last_mut() {
            *comma = true;
        }
    }

    fn peek_binary_operator(&self) -> Option<BinaryOp> {
        match self.token.kind {
            TokenKind::Symbol(_) | TokenKind::Keyword => {
                BinaryOp::from_symbol(self.text(self.token))
            }
            _ => None,
        }
    }

    /// Reduces the open operators that bind tighter than `next`.
    fn reduce_tighter_than(&mut self, base: usize, next: BinaryOp) -> ParseResult<()> {
        self.reduce_tighter(base, next.precedence(), next.is_comparison())
    }

    /// Reduces the open operators that bind at least as tight as the next one, of precedence `own`.
    fn reduce_tighter(&mut self, base: usize, own: u8, is_comparison: bool) -> ParseResult<()> {
        while self.open_constructs.len() > base {
            let closes = match self.open_constructs.last() {
                // `a ** b ** c` is `a ** (b ** c)`; all other operators are left-associative.
                Some(OpenConstruct::Binary(BinaryOp::Pow)) => own < precedence::POWER,
                Some(OpenConstruct::Binary(op)) => {
                    if op.is_comparison() && is_comparison {
                        let help =
                            "`x < y < z` would mean something else in Python; write `(x < y) < z`";
                        return Err(self.report_with_help(
                            self.here(),
                            "chained comparisons",
                            help,
                        ));
                    }
                    op.precedence() >= own
                }
                Some(OpenConstruct::MatMul) => precedence::PRODUCT >= own,
                Some(OpenConstruct::Unary(op, _)) => op.precedence() >= own,
                _ => false,
            };
            if !closes {
                break;
            }
            self.reduce()?;
        }
        Ok(())
    }

    fn reduce_operators(&mut self, base: usize) -> ParseResult<()> {
        while self.open_constructs.len() > base
            && matches!(
                self.open_constructs.last(),
                Some(OpenConstruct::Binary(_) | OpenConstruct::MatMul | OpenConstruct::Unary(..))
            )
        {
            self.reduce()?;
        }
        Ok(())
    }
}
