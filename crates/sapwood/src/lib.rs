//! Sapwood: a compiler-IR toolkit for tensor programs.
//!
//! This crate re-exports the others, except `sapwood-onnx`, under one name and contains the `sapwood` command. Each re-exported crate has a page of
//! its own:
//!
//! | crate | contents |
//! | --- | --- |
//! | [`structural`] | nodes, and their comparison up to renaming |
//! | [`ir`] | the front-end IR: immutable nodes with a Python-like text form |
//! | [`ptir`] | tensor programs in SSA form, and their evaluation |
//! | [`lower`] | lowering of the front-end IR to PTIR |
//! | [`stablehlo`] | reader and writer of StableHLO text |
//! | [`rewrite`] | patterns, the greedy driver, passes |
//! | [`rules`] | declarative patterns and rules: matching, explanation, extraction, rewriting |
//! | [`check`] | comparison of the results of two programs |
//! | [`runtime`] | backends, lazy graphs, fast kernels |
//! | [`trace`] | events of runs and passes, and the sinks that receive them |
//! | [`explorer`] | programs and runs as HTML pages |
//!
//! ```
//! use sapwood::ptir;
//!
//! let a = ptir::parse("ptir 1 func @f(%x: f32[4]) -> f32[4] { %y = exp %x : f32[4] return %y }")?;
//! let b = ptir::parse("ptir 1 func @f(%a: f32[4]) -> f32[4] { %b = exp %a : f32[4] return %b }")?;
//! assert!(ptir::structural::equal(&a, &b, ptir::structural::Mode::DataFlow));
//! # Ok::<(), sapwood::Diagnostics>(())
//! ```
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `main.rs` | The `sapwood` command; calls [`command`]. |
//! | `command` | Arguments, and the choice of the verb. `status` and `cli_error` are the results of a verb; `console`, `color`, `diagnostics` (as text and JSON), `select_function`, `signals`. |
//! | `command/verbs/` | One file per verb, such as `run`, `diff` and `match_`. `opt/` has the parts of `opt`: `pipeline`, `equivalence_check` (`--check`), `first_bad_rewrite` (bisection), `report_page` (`--report`), `statistics`. |
//! | `command/io/` | Files: `files` (read; written atomically), `load` and `print` (programs in any format), `batch` (several inputs), `target` (outputs), `created_folder`, `program_pair`, `pattern_files`, `npy`, `trace_folder` (`--dump-dir`). |

pub mod command;

use sapwood_check::{CheckReport, Verdict};
use sapwood_explorer::{CheckSection, CheckSectionVerdict};

pub use sapwood_check as check;
pub use sapwood_explorer as explorer;
pub use sapwood_ir as ir;
pub use sapwood_lower as lower;
pub use sapwood_ptir as ptir;
pub use sapwood_rewrite as rewrite;
pub use sapwood_rules as rules;
pub use sapwood_runtime as runtime;
pub use sapwood_stablehlo as stablehlo;
pub use sapwood_structural as structural;
pub use sapwood_trace as trace;
pub use sapwood_types::{DataType, Diagnostic, Diagnostics, Severity, Source, Span};

/// Compiles and runs the Rust code of the front page as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;

/// The passes in front of `simplify` that turn a program of several functions into one: the preset `-O1` of the command, and
/// `inline=True` in Python.
pub const INLINE_PASSES: &str = "inline,symbol-dce";

/// Returns the report of a check as a section of a page.
#[must_use]
pub fn check_section(report: &CheckReport) -> CheckSection {
    let verdict = match report.verdict() {
        Verdict::Different => CheckSectionVerdict::Different,
        Verdict::NotChecked => CheckSectionVerdict::Unknown,
        _ => CheckSectionVerdict::Same,
    };
    let (summary, lines) = (report.summary(), report.messages());
    CheckSection { verdict, summary, culprit: None, lines }
}
