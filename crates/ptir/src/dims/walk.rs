//! A visitor that builds something else from an expression, such as instructions that compute it.

use super::expr::{DimExpr, Sum, Term};
use super::monomial::Atom;
use crate::name::Name;

/// The operations from which an expression is built.
pub trait DimBuilder {
    /// A value of an expression.
    type Value: Copy;
    /// Returns the value that was built for an expression before, if it was.
    fn known(&self, expr: DimExpr) -> Option<Self::Value>;
    /// Records the value of an expression.
    fn record(&mut self, expr: DimExpr, value: Self::Value);
    /// Builds a number.
    fn constant(&mut self, number: i64) -> Option<Self::Value>;
    /// Builds a symbol.
    fn symbol(&mut self, name: Name) -> Option<Self::Value>;
    /// Builds a sum.
    fn add(&mut self, a: Self::Value, b: Self::Value) -> Option<Self::Value>;
    /// Builds a difference.
    fn subtract(&mut self, a: Self::Value, b: Self::Value) -> Option<Self::Value>;
    /// Builds a product.
    fn multiply(&mut self, a: Self::Value, b: Self::Value) -> Option<Self::Value>;
    /// Builds a quotient, rounded down, of a value of an expression and a divisor of at least two.
    fn floordiv(&mut self, a: Self::Value, of: DimExpr, divisor: i64) -> Option<Self::Value>;
    /// Builds the positive part `max(a, 0)`.
    fn positive_part(&mut self, a: Self::Value) -> Option<Self::Value>;
}

impl DimExpr {
    /// Builds the value of the expression. Returns `None` if an operation does.
    pub fn build<B: DimBuilder>(self, builder: &mut B) -> Option<B::Value> {
        if let Some(value) = builder.known(self) {
            return Some(value);
        }
        let value = build_sum(self.sum(), builder)?;
        builder.record(self, value);
        Some(value)
    }
}

// The nesting of expressions is bounded, so that recursion is harmless.
fn build_sum<B: DimBuilder>(sum: &Sum, builder: &mut B) -> Option<B::Value> {
    // Positive terms come first, so that a difference needs no negation.
    let (positive, negative): (Vec<Term>, Vec<Term>) =
        sum.terms.iter().partition(|term| term.coefficient > 0);
    let mut total = None;
    for term in positive.into_iter().chain(negative) {
        let mut product = None;
        for &factor in term.factors.iter() {
            let value = match factor {
                Atom::Symbol(symbol) => builder.symbol(symbol.name)?,
                Atom::FloorDiv(inner, divisor) => {
                    let value = inner.build(builder)?;
                    builder.floordiv(value, inner, divisor)?
                }
                Atom::Positive(inner) => {
                    let value = inner.build(builder)?;
                    builder.positive_part(value)?
                }
            };
            product = Some(match product {
                None => value,
                Some(so_far) => builder.multiply(so_far, value)?,
            });
        }
        let product = product?;
        let size = term.coefficient.checked_abs()?;
        let scaled = match size {
            1 => product,
            _ => {
                let by = builder.constant(size)?;
                builder.multiply(product, by)?
            }
        };
        total = Some(match (total, term.coefficient > 0) {
            (None, true) => scaled,
            (None, false) => {
                let start = builder.constant(sum.constant)?;
                builder.subtract(start, scaled)?
            }
            (Some(so_far), true) => builder.add(so_far, scaled)?,
            (Some(so_far), false) => builder.subtract(so_far, scaled)?,
        });
    }
    let starts_with_constant = sum.terms.iter().all(|term| term.coefficient < 0);
    match total {
        None => builder.constant(sum.constant),
        Some(total) if sum.constant == 0 || starts_with_constant => Some(total),
        Some(total) if sum.constant > 0 => {
            let constant = builder.constant(sum.constant)?;
            builder.add(total, constant)
        }
        Some(total) => {
            let constant = builder.constant(sum.constant.checked_neg()?)?;
            builder.subtract(total, constant)
        }
    }
}
