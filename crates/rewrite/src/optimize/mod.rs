//! The laws of `optimize`: rewrites that lower the cost of a program.
//!
//! | module | contents |
//! | --- | --- |
//! | `product_axes` | The axes of products and of their operands. |
//! | `chain` | The order of the products of a chain of matrices. |
//! | `reduced_product` | Parts and sums of products: the operands are reduced first. |
//! | `masks`, `diagonal` | Masks that compare indices; diagonals of products, and products with diagonal matrices. |
//! | `repeated_operand` | Products with operands that repeat their elements. |
//! | `structured_operand` | Products with padded and one-hot operands. |
//! | `common_factor` | Sums of products with a common factor, and products of sums. |
//! | `smaller_side` | Elementwise work on the smaller side of a slice, a sum or a product. |
//! | `batch`, `unrolled`, `loops` | Isomorphic computations as one: unrolled loops, maps and reductions that are written as loops. |
//! | `invariant` | Loop-invariant code. |
//! | `branches` | Instructions that branches have in common, and neighbouring branches with one condition. |
//!
//! A law proposes a replacement; the driver compares its cost with that of the instructions that it replaces, and applies it only if it
//! [reaches the goals](crate::CostGoals). So a law needs no cost model of its own, and the pass ends. Unlike canonicalizations, the laws may replace few instructions by many.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

mod batch;
pub mod branches;
pub mod chain;
pub mod common_factor;
pub mod diagonal;
pub mod invariant;
pub mod loops;
mod masks;
mod product_axes;
pub mod reduced_product;
pub mod repeated_operand;
pub mod smaller_side;
pub mod structured_operand;
pub mod unrolled;

use crate::canonicalize::broadcast;
use crate::pattern::{PatternList, PatternSet};

/// The lists of laws.
pub static LISTS: &[&PatternList] = &[
    &chain::LIST,
    &reduced_product::LIST,
    &diagonal::LIST,
    &repeated_operand::LIST,
    &structured_operand::LIST,
    &common_factor::LIST,
    &smaller_side::LIST,
    &unrolled::LIST,
    &loops::LIST,
    &invariant::LIST,
    &branches::LIST,
];

/// The patterns that are not used if memory is a goal: what they move out of a loop or a branch is alive during all of it.
pub(crate) const NOT_FOR_MEMORY: [&str; 3] = [
    invariant::INVARIANT_OUT_OF_LOOP,
    branches::COMMON_OUT_OF_BRANCHES,
    branches::NEIGHBOURING_BRANCHES,
];

/// Canonicalizations that are laws, too: elementwise ops before a broadcast.
const SHARED_PATTERNS: [&str; 2] = ["unary_of_broadcast", "elementwise_of_broadcasts"];

/// Adds all laws to a set.
pub fn populate_optimization(set: &mut PatternSet) {
    set.add_expecting_refusals(|set| {
        for list in LISTS {
            list.populate(set);
        }
        for entry in broadcast::LIST.entries.iter().filter(|e| SHARED_PATTERNS.contains(&e.name)) {
            (entry.add)(set);
        }
    });
}
