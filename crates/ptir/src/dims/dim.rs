//! One extent of a tensor: a number, an expression, or unknown.

use std::fmt;

use super::expr::DimExpr;
use super::facts::{Facts, Verdict};
use crate::name::Name;
use crate::types::MAX_EXTENT;

/// One extent of a tensor.
///
/// Numbers are compared first everywhere, so that programs without symbols do not pay for expressions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// A known number.
    Known(u64),
    /// An expression over the symbols of the function: `?B`, `2*?S + 1`. It is not a number; [`Dim::from_expr`] ensures this.
    Expr(DimExpr),
    /// An unknown number, which is checked at run time: `?`.
    Unknown,
}

impl Dim {
    /// Returns a symbol of the function, which is the same number wherever it occurs: `?B`. The dim is unknown if the process has too many
    /// expressions.
    #[must_use]
    pub fn symbol(name: Name) -> Self {
        DimExpr::symbol(name).map_or(Self::Unknown, Self::Expr)
    }

    /// Returns the value of an expression: a number if the expression is one. A negative number is unknown, because it is not an extent.
    #[must_use]
    pub fn from_expr(expr: DimExpr) -> Self {
        match expr.as_constant() {
            None => Self::Expr(expr),
            Some(number) => u64::try_from(number).map_or(Self::Unknown, Self::Known),
        }
    }

    /// Returns the number, if it is known.
    #[must_use]
    #[inline]
    pub fn known(self) -> Option<u64> {
        match self {
            Self::Known(n) => Some(n),
            Self::Expr(_) | Self::Unknown => None,
        }
    }

    /// Returns the symbol, if the dim is one: `?B`, and not `2*?B`.
    #[must_use]
    pub fn as_symbol(self) -> Option<Name> {
        match self {
            Self::Expr(expr) => expr.as_symbol(),
            Self::Known(_) | Self::Unknown => None,
        }
    }

    /// Returns the number or the expression as an expression. Returns `None` if the dim is unknown.
    #[must_use]
    pub fn to_expr(self) -> Option<DimExpr> {
        match self {
            Self::Known(n) => DimExpr::constant(i64::try_from(n).ok()?),
            Self::Expr(expr) => Some(expr),
            Self::Unknown => None,
        }
    }

    /// Returns whether both may be the same number. Numbers may not if they differ, expressions if they differ whatever their symbols
    /// are.
    #[must_use]
    pub fn compatible(self, other: Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a == b,
            (Self::Unknown, _) | (_, Self::Unknown) => true,
            _ => self == other || self.compare(other) != Verdict::Different,
        }
    }

    /// Returns whether both are certainly the same number: equal numbers, or equal expressions.
    #[must_use]
    pub fn certainly_equal(self, other: Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a == b,
            (Self::Expr(a), Self::Expr(b)) => a == b,
            _ => false,
        }
    }

    /// Returns the more specific of two dims that must be the same number, or `None` if they certainly differ. A number is more specific
    /// than an expression.
    #[must_use]
    pub fn unify(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => (a == b).then_some(self),
            (Self::Unknown, _) => Some(other),
            (_, Self::Unknown) => Some(self),
            (Self::Expr(_), Self::Known(_)) => self.compatible(other).then_some(other),
            (Self::Known(_) | Self::Expr(_), Self::Expr(_)) => {
                self.compatible(other).then_some(self)
            }
        }
    }

    // Compares two dims for all values of their symbols.
    fn compare(self, other: Self) -> Verdict {
        match (self.to_expr(), other.to_expr()) {
            (Some(a), Some(b)) => Facts::new().compare(a, b),
            _ => Verdict::Unknown,
        }
    }

    /// Returns the sum. It is unknown if either dim is, or if it is too large.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combine(other, DimExpr::checked_add)
    }

    /// Returns the product. It is unknown if either dim is, or if it is too large.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        self.combine(other, DimExpr::checked_mul)
    }

    fn combine(self, other: Self, operation: impl Fn(DimExpr, DimExpr) -> Option<DimExpr>) -> Self {
        let result = self.to_expr().zip(other.to_expr()).and_then(|(a, b)| operation(a, b));
        result.map_or(Self::Unknown, Self::from_expr)
    }

    /// Returns the dim that a function computes of its expression. It is unknown if the dim is, or if the function returns `None`.
    #[must_use]
    pub fn map_expr(self, f: impl FnOnce(DimExpr) -> Option<DimExpr>) -> Self {
        self.to_expr().and_then(f).map_or(Self::Unknown, Self::from_expr)
    }

    /// Calls `f` with each symbol of the dim, each once.
    pub fn for_each_symbol(self, f: &mut dyn FnMut(Name)) {
        let Self::Expr(expr) = self else { return };
        match expr.as_symbol() {
            Some(name) => f(name),
            None => expr.symbols().iter().copied().for_each(f),
        }
    }

    /// Returns the dim with other dims in place of its symbols. It is unknown if one of these is.
    #[must_use]
    pub fn substitute(self, replacement: &mut dyn FnMut(Name) -> Self) -> Self {
        let Self::Expr(expr) = self else { return self };
        if let Some(name) = expr.as_symbol() {
            return replacement(name);
        }
        expr.substitute_dims(replacement).map_or(Self::Unknown, Self::from_expr)
    }

    /// Returns the extent for some values of the symbols, or `None` if a symbol has no value or the result is not an extent.
    #[must_use]
    pub fn evaluate(self, value: &dyn Fn(Name) -> Option<u64>) -> Option<u64> {
        match self {
            Self::Known(n) => Some(n),
            Self::Unknown => None,
            Self::Expr(expr) => {
                let number = expr.evaluate(&|name| i64::try_from(value(name)?).ok())?;
                u64::try_from(number).ok().filter(|&n| n <= MAX_EXTENT)
            }
        }
    }
}

impl From<u64> for Dim {
    fn from(n: u64) -> Self {
        Self::Known(n)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(n) => write!(f, "{n}"),
            Self::Expr(expr) => write!(f, "{expr}"),
            Self::Unknown => f.write_str("?"),
        }
    }
}
