//! Declarative patterns over PTIR: finds them, explains near misses, extracts matches, and rewrites with rules.
//!
//! A pattern is written as a function ([`patterns_from`]) or as a rule ([`rules_from`]); either becomes a
//! [`PatternGraph`]. [`find_matches`] finds all matches, [`explain`] explains why there are none, [`legality`] checks whether a
//! match can be replaced, [`extract`] replaces matches by calls, and [`check_rule`] checks a rule on random inputs.

mod attr_text;
mod effects;
mod extract;
mod graph;
mod language;
mod legality;
mod matcher;
mod outline_pass;
mod overlap;
mod rule_check;
mod rule_pattern;

pub use attr_text::show_attr;
pub use extract::{ExtractOptions, ExtractReport, ExtractedCall, RefusedMatch, extract};
pub use graph::{Literal, MAX_OPS, Number, OpIx, PatternGraph, ValueIx, pattern_of, patterns_from};
pub use language::{
    Argument, ArgumentKind, AttrFunction, Condition, Predicate, Rule, Vocabulary, WordArguments,
    rules_from,
};
pub use legality::{IllegalMatch, legalities, legality};
pub use matcher::{
    Exhausted, FindOptions, FindReport, Match, NearMiss, SearchLimit, explain, find_matches,
};
pub use outline_pass::{OutlinePass, PASSES};
pub use overlap::{OverlapPreference, select};
pub use rule_check::{RuleCheckOptions, RuleCounterexample, RuleVerdict, check_rule};

/// Compiles and runs the code of the guide as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rules.md")]
struct Guide;
