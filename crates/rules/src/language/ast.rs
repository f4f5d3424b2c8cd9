//! The syntax tree of rules, before names are resolved.

use sapwood_ptir::Attr;
use sapwood_rewrite::FloatMode;
use sapwood_types::Span;

use crate::graph::Number;

/// A syntax element with its span.
#[derive(Clone, Debug)]
pub(super) struct Spanned<T> {
    pub(super) of: T,
    pub(super) span: Span,
}

pub(super) type Word = Spanned<String>;

/// A rule or pattern as it is written.
#[derive(Clone, Debug)]
pub(super) struct RuleText {
    pub(super) name: Word,
    pub(super) doc: String,
    /// Written with `rule`, so that it must have a right side.
    pub(super) is_rule: bool,
    pub(super) benefit: u16,
    pub(super) floats: FloatMode,
    /// The ops that may be on any edge: `through [reshape, cast]`.
    pub(super) through: Vec<Word>,
    pub(super) left: RuleSide,
    pub(super) conditions: Vec<ConditionText>,
    pub(super) right: Option<RuleSide>,
    pub(super) span: Span,
}

/// One side of a rule: shared values bound by `let`, then the roots; several roots only on the right side.
#[derive(Clone, Debug)]
pub(super) struct RuleSide {
    pub(super) lets: Vec<(Word, Expr)>,
    pub(super) roots: Vec<Expr>,
}

/// A condition; a comparison such as `c > 0` has the operator as its name.
#[derive(Clone, Debug)]
pub(super) struct ConditionText {
    pub(super) not: bool,
    pub(super) name: Word,
    pub(super) arguments: Vec<AttrExpr>,
    pub(super) text: String,
}

/// An expression for a value.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Name(Word),
    /// `xs..`
    Rest(Word),
    Number(Spanned<Number>),
    Op(Box<OpText>),
    /// `s.1`: a result of a shared op.
    Result(Word, usize),
    /// `const c`: any constant.
    Const(Word),
    /// `x: f32[n, d]`: a value with a type.
    Typed(Word, TypeText),
    /// `(a | b)`: one of several values.
    Alternatives(Vec<Expr>, Span),
}

/// A type of a value: `f32[n, d]`, `[.., d]`.
#[derive(Clone, Debug)]
pub(super) struct TypeText {
    pub(super) dtype: Option<Word>,
    /// Any dims may precede the written ones: `[.., d]`.
    pub(super) open: bool,
    pub(super) dims: Vec<DimText>,
    pub(super) span: Span,
}

/// A dim of a type.
#[derive(Clone, Debug)]
pub(super) enum DimText {
    /// `_`: any dim.
    Any,
    Known(u64),
    Name(Word),
}

#[derive(Clone, Debug)]
pub(super) struct OpText {
    pub(super) name: Word,
    /// The other ops of `(tanh | erf)(x)`.
    pub(super) more: Vec<Word>,
    /// `cast?(x)`: the op, or its first operand alone.
    pub(super) optional: bool,
    /// `..a`: all attributes that are not named.
    pub(super) carried: Option<Word>,
    pub(super) operands: Vec<Expr>,
    pub(super) attrs: Vec<(Word, AttrExpr)>,
    /// `{ (a, b) => max(a, b) }`
    pub(super) regions: Vec<RegionText>,
    /// `op(…).1`
    pub(super) result: Option<Spanned<usize>>,
    pub(super) span: Span,
}

/// A region of an op: its parameters, and the values that it yields.
#[derive(Clone, Debug)]
pub(super) struct RegionText {
    pub(super) params: Vec<Word>,
    pub(super) yields: Vec<Expr>,
    pub(super) span: Span,
}

impl Expr {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Name(word)
            | Self::Rest(word)
            | Self::Result(word, _)
            | Self::Const(word)
            | Self::Typed(word, _) => word.span,
            Self::Alternatives(_, span) => *span,
            Self::Number(number) => number.span,
            Self::Op(op) => op.span,
        }
    }
}

/// An expression for an attribute, or an argument of a predicate.
#[derive(Clone, Debug)]
pub(super) enum AttrExpr {
    /// A capture, a word, an element type, or a value.
    Name(Word),
    Literal(Spanned<Attr>),
    Call(Word, Vec<AttrExpr>),
    /// A list of integers, some of which have names: `[n, 1]`.
    List(Vec<AttrExpr>, Span),
}

impl AttrExpr {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Name(word) | Self::Call(word, _) => word.span,
            Self::Literal(attr) => attr.span,
            Self::List(_, span) => *span,
        }
    }

    /// Returns the names in the expression.
    pub(super) fn names(&self) -> Vec<&Word> {
        let (mut names, mut open) = (Vec::new(), vec![self]);
        while let Some(expr) = open.pop() {
            match expr {
                Self::Name(word) => names.push(word),
                Self::Call(_, inner) | Self::List(inner, _) => open.extend(inner.iter().rev()),
                Self::Literal(_) => {}
            }
        }
        names
    }
}
