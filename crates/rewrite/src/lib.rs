//! Rewriting of PTIR to a fixpoint: a checked rewriter, patterns, a greedy driver, folding, CSE, DCE, passes.
//!
//! A pattern is a plain function that returns the replacement of its root; the driver makes the change.
//!
//! ```
//! use sapwood_ptir::{Value, ops::Neg};
//! use sapwood_rewrite::{GreedyConfig, PatternSet, Rewrite, apply_patterns_and_fold_greedily};
//!
//! /// `-(-x) = x`.
//! fn neg_of_neg(outer: Neg, rw: &mut Rewrite<'_>) -> Option<Value> {
//!     Some(rw.def::<Neg>(outer.input)?.input)
//! }
//!
//! let mut program = sapwood_ptir::parse(
//!     "ptir 1 func @f(%x: f32[4]) -> f32[4] { %a = neg %x : f32[4] %b = neg %a : f32[4] return %b }",
//! )?;
//! let mut set = PatternSet::new();
//! set.add(neg_of_neg);
//! let f = program.function_mut("f").unwrap();
//! let stats = apply_patterns_and_fold_greedily(f, &set.freeze(), &GreedyConfig::default())?;
//! assert_eq!((stats.rewrites, stats.erased, stats.converged), (1, 1, true));
//! assert_eq!(f.num_insts(), 1);
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `rewriter/` | The rewriter: `edit` (checked edits), `listener`, `change_tracker` (changes since the driver last asked), `constants`, `dim_bindings`, `effect_index`, `wide_inst_memo` (facts about wide instructions), `error`. |
//! | `pattern/` | Patterns: `rewrite` (the context of a pattern), `patch` and `patch_builder` (staged instructions), `moved_region`, `root_view`, `gate` (cheap conditions), `pattern_set`, `pattern_list` (registration), `into_pattern`, `early_return` (macros). |
//! | [`matchers/`](mod@matchers) | Matchers: descriptions of definitions for patterns. `op_matcher` and `ops` match ops, `constants` constants; `conditions`, `scope`. |
//! | `greedy/` | The greedy driver: `driver` (the loop), `worklist`, `attempt` (one pattern, with rollback), `failure_cache`, `merge_equal`, `rewrite_cycles`, `verify_changes`, `config`, `stats`. |
//! | [`optimize/`](mod@optimize) | The laws of the pass `optimize`, which lower the cost of a program. |
//! | `cost_goals` | The costs that `optimize` lowers, and the change of cost by one rewrite. |
//! | [`canonicalize/`](mod@canonicalize) | The shipped patterns, one file per op family. `commutative`, `movement` and `attributes` have patterns for several families; `tensor_views`, `numeric_constants`, `carried_values` and `reducer` are helpers. |
//! | `fold`, `dce` | Folding; dead code elimination. |
//! | `cse/` | Common subexpression elimination: `value_table`, `ordered_sets`. |
//! | `passes/` | The passes, one file each; `greedy` runs the greedy driver for several of them, and `each_function` runs a pass on each function, on one or several threads. |
//! | `pipeline/` | Pipelines: `parse` (as text), `pass_info` and `option_value` (names and options), `manager`, `report`, `program_diff`, `reproducer`. |
//! | `pass_trace` | Trace events of passes; the listener that sends edits to trace sinks. |

mod assumptions;
pub mod canonicalize;
mod cost_goals;
mod cse;
mod dce;
mod fold;
mod greedy;
pub mod matchers;
pub mod optimize;
mod pass_trace;
mod passes;
mod pattern;
mod pipeline;
mod rewriter;

pub use assumptions::{ASSUMPTIONS, Assumption};
pub use cost_goals::{CostGoal, CostGoals};
pub use cse::eliminate_common_subexpressions;
pub use dce::eliminate_dead_code;
pub use fold::{FoldResult, Folded};
pub use greedy::{
    CostModel, GreedyConfig, GreedyStats, Limit, PatternProblem, PatternStats, ProblemKind,
    apply_patterns_and_fold_greedily, apply_patterns_to_program, apply_with_listener,
};
pub use pass_trace::TraceListener;
pub use passes::{
    BasePatterns, CsePass, DcePass, FixpointPass, FunctionContext, GREEDY_OPTIONS, GreedyPass,
    InlinePass, PASSES, Pass, PassContext, PassError, StripSpansPass, SymbolDcePass, VerifyPass,
    inline_calls,
};
pub use pattern::{
    Binary, ConfiguredPattern, ElementClass, FrozenPatternSet, GateCondition, IntoPattern,
    MovedRegion, OpRef, OpRewritePattern, OpView, Pattern, PatternEntry, PatternFn, PatternId,
    PatternList, PatternSet, Replacement, Rewrite, RootView, Roots, Unary,
};
pub use pipeline::{
    AddPatterns, DEFAULT_PIPELINE, MakePass, MakePassClosure, MakePassFn, OptionInfo, OptionValue,
    PassInfo, PassManager, PassOptions, PassReport, PatternReader, PatternSources, PipelineFailure,
    PipelineParser, Reproducer, ReproducerError, RunReport, find_first_rewrite, parse_pipeline,
    print_pipeline,
};
pub use rewriter::{Listener, ProgramRewriter, RewriteError, StepKind, constant_of};
pub use sapwood_types::FloatMode;

/// Names used by the macros of this crate and by the mutated copies of its patterns.
#[doc(hidden)]
pub mod __private {
    pub use sapwood_ptir::{Op, Program};

    pub use crate::pattern::{is_elementwise, user_elementwise_keys};
    pub use crate::pipeline::option_name;
    pub use crate::rewriter::{LawEdits, refines};
}

/// The code of the guide, compiled as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rewriting.md")]
struct Guide;
