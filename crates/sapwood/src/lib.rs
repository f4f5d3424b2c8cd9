//! Sapwood: a compiler-IR toolkit for tensor programs.
//!
//! This crate re-exports the others under one name and contains the `sapwood` command. Each module is documented on its own
//! page:
//!
//! | module | content |
//! | --- | --- |
//! | [`structural`] | nodes, and their comparison up to renaming |
//! | [`ir`] | the front-end IR: immutable nodes with a Python-like text form |
//! | [`ptir`] | tensor programs in SSA form, and their evaluation |
//! | [`lower`] | lowering of the front-end IR to PTIR |
//! | [`stablehlo`] | reader and writer of StableHLO text |
//! | [`rewrite`] | patterns, the greedy driver, passes |
//! | [`rules`] | declarative patterns: find, explain, extract, rewrite |
//! | [`check`] | comparison of the results of two programs |
//! | [`runtime`] | backends, the lazy graph, fast kernels |
//! | [`trace`] | trace sinks, which record runs and passes |
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

pub mod command;

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
