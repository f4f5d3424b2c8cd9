//! Declarative patterns over PTIR: finds them, explains near misses, extracts matches, and rewrites with rules.
//!
//! A rule has a name, a left side to match, conditions, and a right side that replaces it. A rule is checked by running both
//! sides on random inputs, and applied together with the patterns written in Rust:
//!
//! ```
//! use sapwood_ptir::Registry;
//! use sapwood_rewrite::{GreedyConfig, PatternSet, apply_patterns_and_fold_greedily};
//! use sapwood_rules::{RuleCheckOptions, RuleVerdict, Vocabulary, check_rule, rules_from};
//! use sapwood_types::Source;
//!
//! let text = "rule exp_of_difference float fast: div(exp(x), exp(y)) where float(x) => exp(sub(x, y))";
//! let (registry, words) = (Registry::builtin(), Vocabulary::builtin());
//! let rules = rules_from(&Source::new("my.rules", text), &registry, &words)?;
//! let options = RuleCheckOptions { instances: 5, ..RuleCheckOptions::default() };
//! assert!(matches!(check_rule(&rules[0], &registry, &options), RuleVerdict::Holds(_)));
//!
//! let mut program = sapwood_ptir::parse("ptir 1 func @f(%a: f32[4], %b: f32[4]) -> f32[4] {
//!   %x = exp %a : f32[4] %y = exp %b : f32[4] %z = div %x, %y : f32[4] return %z }")?;
//! let mut set = PatternSet::new();
//! rules[0].add_to(&mut set);
//! let config = GreedyConfig { floats: sapwood_types::FloatMode::Fast, ..GreedyConfig::default() };
//! let f = program.function_mut("f").unwrap();
//! let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &config)?;
//! assert_eq!((stats.rewrites, f.num_insts()), (1, 3));
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```
//!
//! A pattern without a right side is searched for: it is the left side of a rule, or a function ([`patterns_from`]). Either is a
//! [`PatternGraph`].
//!
//! ```
//! use sapwood_ptir::Registry;
//! use sapwood_rules::{ExtractOptions, FindOptions, extract, find_matches, patterns_from};
//! use sapwood_types::Source;
//!
//! let text = "ptir 1 func @exp_exp(%x: f32[4]) -> f32[4] { %a = exp %x : f32[4] %b = exp %a : f32[4] return %b }";
//! let patterns = patterns_from(&Source::new("exp_exp.ptir", text), &Registry::builtin())?;
//! let mut program = sapwood_ptir::parse(
//!     "ptir 1 func @f(%x: f32[8]) -> f32[8] { %a = exp %x : f32[8] %b = exp %a : f32[8] return %b }",
//! )?;
//! let found = find_matches(&program, &patterns, &FindOptions::default());
//! assert_eq!((found.matches.len(), found.matches[0].ops.len()), (1, 2));
//! extract(&mut program, &patterns, &ExtractOptions::default())?;
//! assert!(program.function("exp_exp_0").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`explain`] gives the reasons why there is no match, and [`legality`] those why a match cannot be replaced. In pipelines
//! ([`pipeline_parser`]), `rules{file=my.rules}` applies rules and `outline{patterns=softmax.ptir}` extracts.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `language/` | The rule language: `lexer`, `parse`, `ast`, `resolve` (names; builds the pattern graph), `alternatives` (choices, wildcards, types), `terms` and `condition` (`where`), `rhs` (the replacement), `vocabulary` (predicates and functions), `axis_map` (axes through broadcasts), `dim_conflicts` with `dim_classes`, `dim_inference` and `element_types` (types that contradict each other), `attr_check` and `condition_check` (attributes and conditions that never hold). |
//! | `graph/` | The pattern graph, the form in which all patterns are matched: `function` (patterns written as functions), `literal`, `look_through`, `shape`, `callees`, `match_plan` (the order of search), `symmetry`. |
//! | `matcher/` | The matcher: `find` (many patterns in one walk), `search` (one pattern from one root), `open` (alternatives, wildcards and look-through in it), `index`, `feasibility`, `regions`, `matches`, `pattern_instance`; `explain`, `match_failure` and `failure_text` give reasons for missing matches. |
//! | `legality`, `effects`, `overlap` | Conditions for replacing a match; effects in the context of the program; selection of matches that do not overlap. |
//! | `extract/` | Extraction: `copy` (a match as a function), `replace` (by a call). |
//! | `passes` | The passes `outline` and `rules`. |
//! | `pattern_files` | Reading files of patterns and rules; the parser of pipelines that name them. |
//! | `rule_pattern` | Rules as rewrite patterns. |
//! | `rule_check/` | The check of rules: `instance` (random instances), `attrs`, `simpler_elements` (for shrinking). |
//! | `attr_text` | Attributes as text for messages. |

mod attr_text;
mod cut_symbols;
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
pub use graph::{MAX_OPS, PatternGraph, pattern_of, patterns_from, patterns_of_program};
pub use language::{
    Argument, ArgumentKind, AttrFunction, Predicate, Rule, Vocabulary, WordArguments, WordPlace,
    rules_from,
};
pub use legality::{IllegalMatch, legalities, legality};
pub use matcher::{
    Exhausted, FindOptions, FindReport, Match, NearMiss, SearchLimit, explain, find_matches,
};
pub use overlap::{OverlapPreference, select};
pub use passes::{OutlinePass, PASSES};
pub use pattern_files::{PatternFiles, ProgramReader, SourceReader, pipeline_parser};
pub use rule_check::{RuleCheckOptions, RuleCounterexample, RuleVerdict, check_rule};

/// Compiles and runs the code of the guide as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rules.md")]
struct Guide;
