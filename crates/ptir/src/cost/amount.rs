//! Amounts: numbers of operations or bytes, which may depend on symbols.

use std::collections::HashMap;
use std::fmt;

use rustc_hash::FxBuildHasher;

use crate::dims::DimExpr;
use crate::name::Name;
use crate::types::{Dim, TensorType, ValueType};

/// The extent that estimates assume for every symbol.
const ASSUMED_EXTENT: u64 = 64;

/// A number of operations or bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// A known number.
    Known(u128),
    /// An expression over the symbols of the function. It is not a number.
    Expr(DimExpr),
    /// A number that is not known, or too large to be represented.
    Unknown,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self::Known(0);
    /// One.
    pub const ONE: Self = Self::Known(1);

    /// Returns the value of an expression. A negative number is zero.
    #[must_use]
    pub fn from_expr(expr: DimExpr) -> Self {
        match expr.as_constant() {
            None => Self::Expr(expr),
            Some(number) => Self::Known(u128::try_from(number).unwrap_or(0)),
        }
    }

    /// Returns the number of elements of a tensor.
    #[must_use]
    pub fn elements(ty: &TensorType) -> Self {
        Self::product(&ty.dims)
    }

    /// Returns the product of some extents.
    #[must_use]
    pub fn product(dims: &[Dim]) -> Self {
        if dims.contains(&Dim::Known(0)) {
            return Self::ZERO;
        }
        dims.iter().fold(Self::ONE, |product, &dim| product.times(dim.into()))
    }

    /// Returns the number of bytes of a value in memory.
    #[must_use]
    pub fn bytes(ty: &ValueType) -> Self {
        // Types nest at most `MAX_TYPE_DEPTH` deep.
        match ty {
            ValueType::Tensor(tensor) => {
                Self::elements(tensor).times(Self::Known(tensor.dtype.byte_size() as u128))
            }
            ValueType::Tuple(parts) => {
                parts.iter().fold(Self::ZERO, |sum, part| sum.plus(Self::bytes(part)))
            }
            _ => Self::ZERO,
        }
    }

    /// Returns the number, if it is known.
    #[must_use]
    pub fn known(self) -> Option<u128> {
        match self {
            Self::Known(number) => Some(number),
            Self::Expr(_) | Self::Unknown => None,
        }
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a.checked_add(b).map_or(Self::Unknown, Self::Known),
            (Self::Known(0), amount) | (amount, Self::Known(0)) => amount,
            _ => self.combine(other, DimExpr::checked_add),
        }
    }

    /// Returns the difference, or zero if it is negative.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => Self::Known(a.saturating_sub(b)),
            _ => self.combine(other, |a, b| a.checked_sub(b)?.max(DimExpr::constant(0)?)),
        }
    }

    /// Returns the product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => a.checked_mul(b).map_or(Self::Unknown, Self::Known),
            (Self::Known(0), _) | (_, Self::Known(0)) => Self::ZERO,
            (Self::Known(1), amount) | (amount, Self::Known(1)) => amount,
            _ => self.combine(other, DimExpr::checked_mul),
        }
    }

    /// Returns the larger of two amounts.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => Self::Known(a.max(b)),
            (Self::Known(0), amount) | (amount, Self::Known(0)) => amount,
            _ if self == other => self,
            _ => self.combine(other, DimExpr::max),
        }
    }

    /// Returns whether this amount is smaller than or equal to another for all values of the symbols. Returns `None` if that is not known.
    #[must_use]
    pub fn at_most(self, other: Self) -> Option<bool> {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => Some(a <= b),
            _ if self == other => (self != Self::Unknown).then_some(true),
            _ => {
                let difference = other.to_expr()?.checked_sub(self.to_expr()?)?;
                let bounds = crate::dims::Facts::new().bounds(difference);
                match (bounds.is_at_least(0), bounds.is_at_most(-1)) {
                    (true, _) => Some(true),
                    (_, true) => Some(false),
                    _ => None,
                }
            }
        }
    }

    /// Returns the number for some values of the symbols, or `None` if a symbol has no value.
    #[must_use]
    pub fn evaluate(self, value: &dyn Fn(Name) -> Option<u64>) -> Option<u128> {
        match self {
            Self::Known(number) => Some(number),
            Self::Unknown => None,
            Self::Expr(expr) => {
                let number = expr.evaluate(&|name| i64::try_from(value(name)?).ok())?;
                Some(u128::try_from(number).unwrap_or(0))
            }
        }
    }

    /// Returns the number if every symbol is 64, so that amounts with symbols have an order. Returns `None` if it is not known.
    #[must_use]
    pub fn estimate(self) -> Option<u128> {
        self.evaluate(&|_| Some(ASSUMED_EXTENT))
    }

    /// Returns the amount with dims in place of its symbols.
    #[must_use]
    pub fn substitute(self, replacement: &mut dyn FnMut(Name) -> Dim) -> Self {
        let Self::Expr(expr) = self else { return self };
        expr.substitute_dims(replacement).map_or(Self::Unknown, Self::from_expr)
    }

    pub(super) fn to_expr(self) -> Option<DimExpr> {
        match self {
            Self::Known(number) => DimExpr::constant(i64::try_from(number).ok()?),
            Self::Expr(expr) => Some(expr),
            Self::Unknown => None,
        }
    }

    fn combine(self, other: Self, operation: impl Fn(DimExpr, DimExpr) -> Option<DimExpr>) -> Self {
        let result = self.to_expr().zip(other.to_expr()).and_then(|(a, b)| operation(a, b));
        result.map_or(Self::Unknown, Self::from_expr)
    }
}

impl From<Dim> for Amount {
    fn from(dim: Dim) -> Self {
        match dim {
            Dim::Known(number) => Self::Known(u128::from(number)),
            Dim::Expr(expr) => Self::Expr(expr),
            Dim::Unknown => Self::Unknown,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(number) => f.pad(&number.to_string()),
            Self::Expr(expr) => f.pad(&expr.to_string()),
            Self::Unknown => f.pad("?"),
        }
    }
}

/// A sum of many amounts. Partial sums are not interned, because expressions are never freed.
#[derive(Clone, Default, Debug)]
pub(super) struct AmountSum {
    known: u128,
    terms: HashMap<DimExpr, u128, FxBuildHasher>,
    unknown: bool,
}

impl AmountSum {
    /// Adds an amount.
    pub(super) fn add(&mut self, amount: Amount) {
        match amount {
            Amount::Known(number) => self.add_known(number),
            Amount::Expr(expr) => self.add_term(expr, 1),
            Amount::Unknown => self.unknown = true,
        }
    }

    /// Adds a sum, multiplied by a number of repetitions.
    pub(super) fn add_repeated(&mut self, other: &Self, repetitions: Amount) {
        match repetitions {
            Amount::Known(times) => {
                let Some(known) = other.known.checked_mul(times) else {
                    self.unknown = true;
                    return;
                };
                self.add_known(known);
                for (expr, count) in other.sorted_terms() {
                    match count.checked_mul(times) {
                        Some(count) => self.add_term(expr, count),
                        None => self.unknown = true,
                    }
                }
                self.unknown |= other.unknown && times > 0;
            }
            Amount::Expr(_) | Amount::Unknown => self.add(other.total().times(repetitions)),
        }
    }

    /// Returns the sum as an amount.
    pub(super) fn total(&self) -> Amount {
        if self.unknown {
            return Amount::Unknown;
        }
        self.sorted_terms().into_iter().fold(Amount::Known(self.known), |total, (expr, count)| {
            total.plus(Amount::Expr(expr).times(Amount::Known(count)))
        })
    }

    fn add_known(&mut self, number: u128) {
        match self.known.checked_add(number) {
            Some(sum) => self.known = sum,
            None => self.unknown = true,
        }
    }

    fn add_term(&mut self, expr: DimExpr, count: u128) {
        let entry = self.terms.entry(expr).or_default();
        match entry.checked_add(count) {
            Some(sum) => *entry = sum,
            None => self.unknown = true,
        }
    }

    fn sorted_terms(&self) -> Vec<(DimExpr, u128)> {
        let mut terms: Vec<_> = self.terms.iter().map(|(&expr, &count)| (expr, count)).collect();
        terms.sort_unstable();
        terms
    }
}
