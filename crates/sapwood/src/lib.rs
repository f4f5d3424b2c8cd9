//! Sapwood: a compiler-IR toolkit for tensor programs.
//!
//! This crate re-exports the others under one name and contains the `sapwood` command. Each re-exported crate has a page of
//! its own:
//!
//! | crate | contents |
//! | --- | --- |
//! | [`structural`] | nodes, and their comparison up to renaming |
//! | [`ir`] | the front-end IR: immutable nodes with a Python-like text form |
//! | [`ptir`] | tensor programs in SSA form, and their evaluation |
//! | [`lower`] | lowering of the front-end IR to PTIR |
//! | [`stablehlo`] | reader and writer of StableHLO text |
//! | [`onnx`] | reader and writer of ONNX models |
//! | [`rewrite`] | patterns, the greedy driver, passes |
//! | [`rules`] | declarative patterns and rules: matching, explanation, extraction, rewriting |
//! | [`check`] | comparison of the results of two programs |
//! | [`runtime`] | backends, lazy graphs, fast kernels |
//! | [`trace`] | events of runs and passes, and the sinks that receive them |
//! | [`explorer`] | programs and runs as HTML pages |
//!
//! Read a program, simplify it, check that it computes the same, run it, and write it:
//!
//! ```
//! use sapwood::check::{CheckOptions, compare};
//! use sapwood::ptir::eval;
//! use sapwood::rewrite::PassManager;
//! use sapwood::rules::pipeline_parser;
//! use sapwood::{DataType, Source, stablehlo};
//!
//! let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   %a = stablehlo.negate %x : tensor<4xf32>
//!   %b = stablehlo.negate %a : tensor<4xf32>
//!   %c = stablehlo.exponential %b : tensor<4xf32>
//!   return %c : tensor<4xf32>
//! }";
//! let module = stablehlo::read(&Source::new("model.mlir", text))?;
//! let mut program = module.program.clone();
//! PassManager::parse_with("simplify,dce", &pipeline_parser())?.run(&mut program)?;
//! assert_eq!((module.program.num_insts(), program.num_insts()), (4, 2));
//! assert!(compare(&module.program, &program, &CheckOptions::default()).passes());
//!
//! let x = eval::Tensor::new(DataType::F32, [4], vec![0.0f32; 4]);
//! let y = eval::run(&program, "main", &[x.into()], &eval::RunOptions::default())?;
//! assert_eq!(y[0].as_tensor().unwrap().elements::<f32>().unwrap()[0], 1.0);
//! let written = stablehlo::write_program(&program, &module.extras)?;
//! assert!(written.contains("stablehlo.exponential %x : tensor<4xf32>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Features
//! | feature | adds |
//! | --- | --- |
//! | `command` (default) | the `sapwood` command, [`Toolkit::main`], and all the other features |
//! | `stablehlo` | [`stablehlo`], and `.mlir` files |
//! | `ir` | [`ir`] and [`lower`], and `.py` files |
//! | `onnx` | [`onnx`], `.onnx` files, the passes `onnx-to-core` and `decompose`, and the patterns on ops of ONNX |
//! | `runtime` | [`runtime`], and [`Toolkit::backend`] |
//! | `check` | [`check`], and [`Toolkit::check`] |
//! | `rules` | `check`, [`rules`], and [`Toolkit::rules`] |
//! | `explorer` | [`explorer`] |
//!
//! `default-features = false` leaves PTIR, patterns, passes, pipelines and traces: it depends on none of the crates for arguments, threads, progress bars
//! and fast kernels.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `toolkit` | [`Toolkit`]: ops, patterns, rules, passes and backends of your own, for the command and as a library. |
//! | `formats` | Reading and printing programs of every format. |
//! | `onnx_passes`, `onnx_patterns` | The passes and patterns on ops of ONNX. |
//! | `main.rs` | The `sapwood` command; calls [`command`]. |
//! | `command` | Arguments, and the choice of the verb. `status` and `cli_error` are the results of a verb; `console`, `color`, `diagnostics` (as text and JSON), `select_function`, `signals`. |
//! | `command/verbs/` | One file per verb, such as `run`, `diff` and `match_`. `opt/` has the parts of `opt`: `pipeline`, `equivalence_check` (`--check`), `first_bad_rewrite` (bisection), `report_page` (`--report`), `statistics`. |
//! | `command/io/` | Files: `files` (read; written atomically), `load` and `print` (programs in any format), `batch` (several inputs), `target` (outputs), `created_folder`, `program_pair`, `pattern_files`, `npy`, `trace_folder` (`--dump-dir`). |

#[cfg(feature = "command")]
pub mod command;
mod formats;
#[cfg(feature = "onnx")]
mod onnx_passes;
#[cfg(feature = "onnx")]
mod onnx_patterns;
mod toolkit;

#[cfg(all(feature = "check", feature = "explorer"))]
use sapwood_check::{CheckReport, Verdict};
#[cfg(all(feature = "check", feature = "explorer"))]
use sapwood_explorer::{CheckSection, CheckSectionVerdict};

pub use formats::FormatExtras;
#[cfg(feature = "check")]
pub use sapwood_check as check;
#[cfg(feature = "explorer")]
pub use sapwood_explorer as explorer;
#[cfg(feature = "ir")]
pub use sapwood_ir as ir;
#[cfg(feature = "ir")]
pub use sapwood_lower as lower;
#[cfg(feature = "onnx")]
pub use sapwood_onnx as onnx;
pub use sapwood_ptir as ptir;
pub use sapwood_rewrite as rewrite;
#[cfg(feature = "rules")]
pub use sapwood_rules as rules;
#[cfg(feature = "runtime")]
pub use sapwood_runtime as runtime;
#[cfg(feature = "stablehlo")]
pub use sapwood_stablehlo as stablehlo;
pub use sapwood_trace as trace;
pub use sapwood_types::{
    DataType, Diagnostic, Diagnostics, Loc, LocKind, Severity, Source, SourceErrors, Span,
};
#[cfg(feature = "runtime")]
pub use toolkit::RunError;
pub use toolkit::{OptimizeError, ProgramFile, Toolkit};

/// Nodes, and their comparison up to renaming: the crate `sapwood-structural`.
pub mod structural {
    pub use sapwood_structural::*;
    // In place of the derive macro of that crate, which needs a dependency on it.
    pub use sapwood_structural::__private::SapwoodNode as Node;
}

/// Compiles and runs the Rust code of the front page as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../README.md")]
struct FrontPage;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/own-op.md")]
struct OwnOpGuide;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/own-op-types.md")]
struct OwnOpTypesGuide;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/matchers.md")]
struct MatchersGuide;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/fusion.md")]
struct FusionGuide;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/folding.md")]
struct FoldingGuide;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/own-pass.md")]
struct OwnPassGuide;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/own-backend.md")]
struct OwnBackendGuide;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/embedding.md")]
struct EmbeddingGuide;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/reference/design-document-api.md")]
struct DesignDocumentPage;

/// Compiles and runs the code of the guide as tests.
#[cfg(all(doctest, feature = "command"))]
#[doc = include_str!("../../../docs/guide/toolkit.md")]
struct Guide;

/// The passes in front of `simplify` that turn a program of several functions into one: the preset `-O1` of the command, and
/// `inline=True` in Python.
pub const INLINE_PASSES: &str = "inline,symbol-dce";

/// Returns the report of a check as a section of a page.
#[must_use]
#[cfg(all(feature = "check", feature = "explorer"))]
pub fn check_section(report: &CheckReport) -> CheckSection {
    let verdict = match report.verdict() {
        Verdict::Different => CheckSectionVerdict::Different,
        Verdict::NotChecked => CheckSectionVerdict::Unknown,
        _ => CheckSectionVerdict::Same,
    };
    let (summary, lines) = (report.summary(), report.messages());
    CheckSection { verdict, summary, culprit: None, lines }
}
