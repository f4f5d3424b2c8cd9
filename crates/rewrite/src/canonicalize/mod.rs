//! The canonicalizations, one file per op family. A pattern is a function and one word in the list of its file.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

pub mod add;
pub mod analytic;
pub mod cast;
pub mod commutative;
pub mod compare;
pub mod complex;
pub mod div;
pub mod logic;
pub mod min_max;
pub mod mul;
mod numbers;
pub mod pow;
pub mod rem;
pub mod rounding;
pub mod select;
pub mod shift;
pub mod sign;
pub mod sub;
pub mod transpose;

use crate::pattern::{PatternList, PatternSet};

/// The lists of all files.
pub const LISTS: &[&PatternList] = &[
    &commutative::LIST,
    &add::LIST,
    &analytic::LIST,
    &cast::LIST,
    &compare::LIST,
    &complex::LIST,
    &div::LIST,
    &logic::LIST,
    &min_max::LIST,
    &mul::LIST,
    &pow::LIST,
    &rem::LIST,
    &rounding::LIST,
    &select::LIST,
    &shift::LIST,
    &sign::LIST,
    &sub::LIST,
    &transpose::LIST,
];

/// Adds every canonicalization to a set.
pub fn populate_canonicalization(set: &mut PatternSet) {
    for list in LISTS {
        list.populate(set);
    }
}
