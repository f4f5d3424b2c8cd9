//! Reading expressions and types: operands and operators, with a stack of what is still open.

use sapwood_types::Span;

use super::lexer::Tok;
use super::value::Val;
use super::{Parsed, Parser};
use crate::nodes::operators::precedence;
use crate::nodes::{BinaryOp, CalleeRef, ExprRef, TypeRef, UnaryOp};

/// Something that is open.
pub(super) enum Frame<'s> {
    Binary(BinaryOp),
    Unary(UnaryOp, Span),
    /// `(`; with the name of a definition, and whether a comma was seen.
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
    /// `what(`
    Call {
        what: What,
        start: Span,
        base: usize,
    },
}

/// What stands before an open parenthesis.
#[derive(Clone)]
pub(super) enum What {
    Callee(CalleeRef),
    Binary(BinaryOp),
    Unary(UnaryOp),
    Typed,
    TensorType,
    TupleType,
    FunctionType,
}

impl<'s> Parser<'s> {
    /// An expression with its type.
    pub(super) fn expr(&mut self) -> Parsed<ExprRef> {
        let value = self.value()?;
        self.as_expr(value)
    }

    pub(super) fn ty(&mut self) -> Parsed<TypeRef> {
        let value = self.value()?;
        self.as_type(value)
    }

    /// Anything that can be written where an expression can.
    pub(super) fn value(&mut self) -> Parsed<Val> {
        let base = self.frames.len();
        self.operand(None)?;
        self.after_operand(base)
    }

    /// As [`Self::value`], where the first name is read already.
    pub(super) fn value_after(&mut self, first: super::Token) -> Parsed<Val> {
        let base = self.frames.len();
        self.operand(Some(first))?;
        self.after_operand(base)
    }

    /// As [`Self::value`], after `pi.name`.
    pub(super) fn value_after_pi(
        &mut self,
        name: &'s str,
        start: Span,
        place: Span,
    ) -> Parsed<Val> {
        let base = self.frames.len();
        if self.pi_name(name, start, place)? {
            if self.eat(")") {
                self.close()?;
            } else {
                self.operand(None)?;
            }
        }
        self.after_operand(base)
    }

    /// Operators and brackets, until nothing continues what was read.
    fn after_operand(&mut self, base: usize) -> Parsed<Val> {
        loop {
            if self.eat("[") {
                self.index()?;
                continue;
            }
            if let Some(op) = self.binary_operator() {
                self.reduce_down_to(base, op)?;
                self.advance();
                self.frames.push(Frame::Binary(op));
                self.operand(None)?;
                continue;
            }
            if self.frames.len() > base {
                let closes = match self.frames[base..]
                    .iter()
                    .rev()
                    .find(|frame| !matches!(frame, Frame::Binary(_) | Frame::Unary(..)))
                {
                    Some(Frame::Paren { .. } | Frame::Call { .. }) => Some(")"),
                    Some(Frame::List { .. }) => Some("]"),
                    _ => None,
                };
                if let Some(close) = closes {
                    if self.at(",") || self.at(close) {
                        self.reduce_operators(base)?;
                        if self.eat(",") {
                            self.comma();
                            if !self.at(close) {
                                self.operand(None)?;
                                continue;
                            }
                        }
                        self.advance();
                        self.close()?;
                        continue;
                    }
                    return Err(self.expected(&format!("`,`, an operator or `{close}`")));
                }
            }
            self.reduce_operators(base)?;
            return self.values.pop().ok_or(super::Failed);
        }
    }

    fn comma(&mut self) {
        if let Some(Frame::Paren { comma, .. }) = self.frames.last_mut() {
            *comma = true;
        }
    }

    fn binary_operator(&self) -> Option<BinaryOp> {
        match self.token.tok {
            Tok::Sign(_) | Tok::Keyword => BinaryOp::of_sign(self.text(self.token)),
            _ => None,
        }
    }

    /// Closes the operators that bind what was just read tighter than `next` does.
    fn reduce_down_to(&mut self, base: usize, next: BinaryOp) -> Parsed<()> {
        let own = next.precedence();
        while self.frames.len() > base {
            let closes = match self.frames.last() {
                // `a ** b ** c` is `a ** (b ** c)`, all others go from the left.
                Some(Frame::Binary(BinaryOp::Pow)) => own < precedence::POWER,
                Some(Frame::Binary(op)) => {
                    if op.is_comparison() && next.is_comparison() {
                        let help =
                            "`x < y < z` would mean something else in Python; write `(x < y) < z`";
                        return Err(self.problem_with_help(
                            self.here(),
                            "comparisons in a row",
                            help,
                        ));
                    }
                    op.precedence() >= own
                }
                Some(Frame::Unary(op, _)) => op.precedence() >= own,
                _ => false,
            };
            if !closes {
                break;
            }
            self.reduce()?;
        }
        Ok(())
    }

    fn reduce_operators(&mut self, base: usize) -> Parsed<()> {
        while self.frames.len() > base
            && matches!(self.frames.last(), Some(Frame::Binary(_) | Frame::Unary(..)))
        {
            self.reduce()?;
        }
        Ok(())
    }

    /// `[0]` after an operand.
    fn index(&mut self) -> Parsed<()> {
        if self.token.tok != Tok::Int {
            let help = "an element of a tuple is written `t[0]`";
            let found = self.found();
            return Err(self.problem_with_help(
                self.here(),
                format!("expected the number of an element, found {found}"),
                help,
            ));
        }
        let token = self.advance();
        let span = self.lexer.span(token);
        let Ok(index) = self.text(token).parse::<usize>() else {
            return Err(self.problem(span, "the number of the element is out of range"));
        };
        self.expect("]", "after the number of the element")?;
        let Some(tuple) = self.values.pop() else { return Err(super::Failed) };
        let whole = tuple.span.to(self.last);
        let tuple = self.as_expr(tuple)?;
        match crate::nodes::Expr::tuple_get_item(&tuple, index, whole) {
            Ok(expr) => self.values.push(Val::fresh(expr, whole)),
            Err(error) => return Err(self.problem(span, error.to_string())),
        }
        Ok(())
    }
}
