//! The laws of `optimize`: rewrites that lower the number of operations of a program.
//!
//! | module | contents |
//! | --- | --- |
//! | `dot_cost` | The operations of products. |
//! | `chain` | The order of the products of a chain of matrices. |
//! | `reduced_product` | Parts and sums of products: the operands are reduced first. |
//! | `repeated_operand` | Products with operands that repeat their elements. |
//! | `common_factor` | Sums of products with a common factor. |
//!
//! A law applies only if the number of operations certainly becomes smaller, so that the pass ends. Unlike canonicalizations, the laws may replace few instructions by many.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

pub mod chain;
pub mod common_factor;
mod dot_cost;
pub mod reduced_product;
pub mod repeated_operand;

use crate::pattern::{PatternList, PatternSet};

/// The lists of laws.
pub static LISTS: &[&PatternList] =
    &[&chain::LIST, &reduced_product::LIST, &repeated_operand::LIST, &common_factor::LIST];

/// Adds all laws to a set.
pub fn populate_optimization(set: &mut PatternSet) {
    for list in LISTS {
        list.populate(set);
    }
}
