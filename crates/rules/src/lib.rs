//! Declarative patterns over PTIR: finds them, explains near misses, extracts matches, and rewrites with rules.
//!
//! A pattern is written as a function ([`patterns_from`]) or as a rule ([`rules_from`]); either becomes a
//! [`PatternGraph`]. [`find_matches`] finds all matches, [`explain`] explains why there are none, [`legality`] checks whether a
//! match can be replaced, [`extract`] replaces matches by calls, and [`check_rule`] checks a rule on random inputs.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `language/` | The rule language: `lexer`, `parse`, `ast`, `resolve` (names; builds the pattern graph), `condition` (`where`), `rhs` (the replacement), `vocabulary` (predicates and functions). |
//! | `graph/` | The pattern graph, the form in which all patterns are matched: `function` (patterns written as functions), `literal`, `callees`, `match_plan` (the order of search), `symmetry`. |
//! | `matcher/` | The matcher: `find` (many patterns in one walk), `search` (one pattern from one root), `index`, `feasibility`, `regions`, `matches`, `pattern_instance`; `explain` and `match_failure` give reasons for missing matches. |
//! | `legality`, `effects`, `overlap` | Conditions for replacing a match; effects in the context of the program; selection of matches that do not overlap. |
//! | `extract/` | Extraction: `copy` (a match as a function), `replace` (by a call). |
//! | `passes` | The passes `outline` and `rules`. |
//! | `pattern_files` | Reading files of patterns and rules; the parser of pipelines that name them. |
//! | `rule_pattern` | Rules as rewrite patterns. |
//! | `rule_check/` | The check of rules: `instance` (random instances), `attrs`, `simpler_elements` (for shrinking). |
//! | `attr_text` | Attributes as text for messages. |

mod attr_text;
mod effects;
mod extract;
mod graph;
mod language;
mod legality;
mod matcher;
mod overlap;
mod passes;
mod pattern_files;
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
pub use overlap::{OverlapPreference, select};
pub use passes::{OutlinePass, PASSES};
pub use pattern_files::{
    SourceReader, add_rule_files, pipeline_parser, read_pattern_files, read_rule_files,
};
pub use rule_check::{RuleCheckOptions, RuleCounterexample, RuleVerdict, check_rule};

/// Compiles and runs the code of the guide as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rules.md")]
struct Guide;
