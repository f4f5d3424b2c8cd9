//! Rules as they are written, before names are looked up.

use sapwood_ptir::Attr;
use sapwood_rewrite::FloatMode;
use sapwood_types::Span;

use crate::graph::Number;

/// Something with the place it was written at.
#[derive(Clone, Debug)]
pub(super) struct At<T> {
    pub(super) of: T,
    pub(super) span: Span,
}

pub(super) type Word = At<String>;

/// One rule or pattern.
#[derive(Clone, Debug)]
pub(super) struct RuleText {
    pub(super) name: Word,
    pub(super) doc: String,
    /// Written with `rule`, so it must have a right side.
    pub(super) is_rule: bool,
    pub(super) benefit: u16,
    pub(super) floats: FloatMode,
    pub(super) left: Side,
    pub(super) conditions: Vec<ConditionText>,
    pub(super) right: Option<Side>,
    pub(super) span: Span,
}

/// Shared values, then what is meant: several only on the right.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) lets: Vec<(Word, Expr)>,
    pub(super) roots: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(super) struct ConditionText {
    pub(super) not: bool,
    pub(super) name: Word,
    pub(super) arguments: Vec<AttrExpr>,
    pub(super) text: String,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Name(Word),
    /// `xs..`
    Rest(Word),
    Number(At<Number>),
    Op(Box<OpText>),
    /// `s.1`: a result of a shared op.
    Result(Word, usize),
}

#[derive(Clone, Debug)]
pub(super) struct OpText {
    pub(super) name: Word,
    pub(super) operands: Vec<Expr>,
    pub(super) attrs: Vec<(Word, AttrExpr)>,
    /// `op(…).1`
    pub(super) result: Option<At<usize>>,
    pub(super) span: Span,
}

impl Expr {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Name(word) | Self::Rest(word) | Self::Result(word, _) => word.span,
            Self::Number(number) => number.span,
            Self::Op(op) => op.span,
        }
    }
}

/// An attribute, or an argument of a predicate.
#[derive(Clone, Debug)]
pub(super) enum AttrExpr {
    /// A capture, a word, an element type, or a value.
    Name(Word),
    Literal(At<Attr>),
    Call(Word, Vec<AttrExpr>),
}

impl AttrExpr {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Name(word) | Self::Call(word, _) => word.span,
            Self::Literal(attr) => attr.span,
        }
    }
}
