//! The canonicalizations, one file per op family. A pattern is a function and one word in the list of its file.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

pub mod cast;
pub mod transpose;

use crate::pattern::{PatternList, PatternSet};

/// The lists of all files.
pub const LISTS: &[&PatternList] = &[&cast::LIST, &transpose::LIST];

/// Adds every canonicalization to a set.
pub fn populate_canonicalization(set: &mut PatternSet) {
    for list in LISTS {
        list.populate(set);
    }
}
