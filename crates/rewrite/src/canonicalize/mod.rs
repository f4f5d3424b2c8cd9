//! The canonicalizations, one file per op family. A pattern is a function and one word in the list of its file.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

pub mod branch;
pub mod broadcast;
mod carries;
pub mod cast;
pub mod concat;
pub mod dims;
pub mod dot;
pub mod dynamic;
pub mod gather;
pub mod iota;
pub mod movement;
pub mod pad;
pub mod reduce;
mod reducer;
pub mod reshape;
pub mod reverse;
pub mod scan;
pub mod slice;
pub mod sort;
mod support;
pub mod transpose;
pub mod tuple;
pub mod while_loop;
pub mod window;

use crate::pattern::{PatternList, PatternSet};

/// The lists of all files.
pub const LISTS: &[&PatternList] = &[
    &cast::LIST,
    &reshape::LIST,
    &transpose::LIST,
    &broadcast::LIST,
    &slice::LIST,
    &pad::LIST,
    &concat::LIST,
    &reverse::LIST,
    &movement::LIST,
    &iota::LIST,
    &dims::LIST,
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

/// Adds every canonicalization to a set.
pub fn populate_canonicalization(set: &mut PatternSet) {
    for list in LISTS {
        list.populate(set);
    }
}
