//! The canonicalizations, one file per op family. A pattern is a function and one word in the list of its file.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

pub mod add;
pub mod analytic;
pub mod attributes;
pub mod branch;
pub mod broadcast;
mod carried_values;
pub mod cast;
pub mod commutative;
pub mod compare;
pub mod complex;
pub mod concat;
pub mod constant;
pub mod dims;
pub mod div;
pub mod dot;
pub mod dynamic;
pub mod gather;
pub mod int_range;
pub mod iota;
pub mod logic;
pub mod min_max;
pub mod movement;
pub mod mul;
mod numeric_constants;
pub mod pad;
pub mod pow;
pub mod reduce;
pub(crate) mod reducer;
pub mod rem;
pub mod reshape;
pub mod reverse;
pub mod rounding;
pub mod scan;
pub mod select;
pub mod shape_values;
pub mod shift;
pub mod sign;
pub mod slice;
pub mod sort;
pub mod sub;
pub(crate) mod tensor_views;
pub mod transpose;
pub mod tuple;
pub mod while_loop;
pub mod window;

use crate::pattern::{PatternList, PatternSet};

/// The pattern lists of all files.
pub static LISTS: &[&PatternList] = &[
    &commutative::LIST,
    &attributes::LIST,
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
    &reshape::LIST,
    &broadcast::LIST,
    &slice::LIST,
    &pad::LIST,
    &concat::LIST,
    &reverse::LIST,
    &movement::LIST,
    &iota::LIST,
    &constant::LIST,
    &int_range::LIST,
    &dims::LIST,
    &shape_values::LIST,
    &dynamic::LIST,
    &reduce::LIST,
    &window::LIST,
    &sort::LIST,
    &dot::LIST,
    &gather::LIST,
    &branch::LIST,
    &while_loop::LIST,
    &scan::LIST,
    &tuple::LIST,
];

/// Adds all canonicalization patterns to a set.
pub fn populate_canonicalization(set: &mut PatternSet) {
    set.add_expecting_refusals(|set| LISTS.iter().for_each(|list| list.populate(set)));
}
