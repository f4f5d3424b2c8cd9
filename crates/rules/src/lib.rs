//! Declarative patterns over PTIR: find them, explain why not, extract them, rewrite by them.
//!
//! A pattern is written as a function ([`patterns_from`]) or as a rule ([`rules_from`]); either becomes a
//! [`PatternGraph`]. [`find_matches`] finds all places, [`explain`] says why there are none, [`legality`] whether a match
//! can be replaced, [`extract`] replaces matches by calls.

mod check;
mod effects;
mod extract;
mod graph;
mod language;
mod legal;
mod matcher;
mod outline;
mod rewrite;
mod select;
mod show;

pub use check::{CheckOptions, Counterexample, Verdict, check_rule};
pub use extract::{ExtractOptions, Extracted, Extraction, Refused, extract};
pub use graph::{Literal, MAX_OPS, Number, OpIx, PatternGraph, ValueIx, pattern_of, patterns_from};
pub use language::{
    Argument, Asked, AttrFunction, Condition, Kind, Predicate, Rule, Vocabulary, rules_from,
};
pub use legal::{Illegal, legalities, legality};
pub use matcher::{Exhausted, FindOptions, Found, Limit, Match, NearMiss, explain, find_matches};
pub use outline::{OutlinePass, PASSES};
pub use select::{Prefer, select};
pub use show::show_attr;

/// The code of the guide is tested like any other.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rules.md")]
struct Guide;
