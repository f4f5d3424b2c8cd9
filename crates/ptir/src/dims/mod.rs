//! Dim expressions: integer arithmetic over the symbols of a function, in a normal form.
//!
//! A [`DimExpr`] is a polynomial with integer coefficients. Its variables are symbols (`?S`), which are at least zero, floor divisions by a
//! constant, and the positive part `max(e, 0)` of an expression. `mod`, `min` and `max` are written in these terms:
//!
//! - `mod(e, d) = e - d*floordiv(e, d)`
//! - `max(a, b) = b + max(a - b, 0)`, and `max(-e, 0) = max(e, 0) - e` gives `e` one sign
//! - `min(a, b) = a - max(a - b, 0)`
//!
//! So `d*floordiv(e, d) + mod(e, d)` is `e`, and `min(a, b) + max(a, b)` is `a + b`, without a rule for it. Text has `mod`, `min` and `max`
//! again wherever they make it shorter. Expressions are interned: two have the same normal form if they are the same pointer.
//!
//! The normal form uses only facts that are always true. [`Facts`] are what a function assumes (`where ?B >= 1`); [`Facts::compare`] takes them
//! into account. An operation whose result would overflow, or be larger than the limits, returns `None`: the extent is then unknown.
//!
//! ```
//! use sapwood_ptir::dims::{DimExpr, Facts, Verdict};
//!
//! let e: DimExpr = "4*floordiv(?S, 4) + mod(?S, 4)".parse()?;
//! assert_eq!(e.to_string(), "?S");
//!
//! let (s, eight): (DimExpr, DimExpr) = ("?S".parse()?, "8".parse()?);
//! let mut facts = Facts::new();
//! assert_eq!(facts.compare(s, eight), Verdict::Unknown);
//! facts.assume_at_least("?S - 9".parse()?)?;
//! assert_eq!(facts.compare(s, eight), Verdict::Different);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arith;
mod bind;
mod bounds;
mod dim;
mod expr;
mod facts;
mod monomial;
mod recent;
mod relation;
mod renaming;
mod shorten;
mod signature;
mod solving_order;
mod text;
mod walk;

pub use bounds::Interval;
pub use dim::Dim;
pub use expr::{DimExpr, MAX_DEPTH, MAX_EXPRESSIONS, MAX_MONOMIALS, MAX_WEIGHT};
pub use facts::{Contradiction, Facts, Verdict};
pub use relation::Relation;
pub use signature::{SymbolBindings, bound_symbols, determined_symbols, symbols_with_dims};
pub use text::DimTextError;
pub use walk::DimBuilder;

pub(crate) use expr::{Interned, hold};
pub(crate) use monomial::{Product, hold as hold_monomials};
pub(crate) use signature::binding_order;
pub(crate) use solving_order::{SolvingOrder, Unbound, only_unbound};
