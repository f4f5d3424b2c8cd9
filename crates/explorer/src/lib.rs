//! A program, and what passes did to it, as one HTML page that needs nothing else: no network, no other file.
//!
//! ```
//! let program = sapwood_ptir::parse(
//!     "ptir 1 func @f(%x: f32[4]) -> f32[4] { %y = exp %x : f32[4] return %y }",
//! )?;
//! let page = sapwood_explorer::graph_page(&program, &sapwood_explorer::PageOptions::new("f.ptir"));
//! assert!(page.starts_with("<!doctype html>"));
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```
//!
//! The page itself is written in TypeScript, in `explorer/`; what it builds to is in `page.html` and part of this crate.

mod check;
mod document;
mod limits;
mod marks;
mod page;
mod record;
mod run;
mod sink;
mod snapshot;

pub use check::{Check, Verdict};
pub use document::{PageOptions, graph_page, report_page};
pub use limits::MAX_GRAPH_OPS;
pub use record::Recorder;
pub use run::Recording;
pub use sink::RunRecorder;
