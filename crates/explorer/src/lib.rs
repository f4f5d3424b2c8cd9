//! Self-contained HTML pages that show a program, or the run of a pipeline on a program.
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
//! The page needs no network and no other file. Its TypeScript source is in `explorer/`; the build result is `page.html` in
//! this crate.

mod check_section;
mod comparison;
mod document;
mod edit_recorder;
mod limits;
mod page;
mod program_rows;
mod recording;
mod run_recorder;

pub use check_section::{CheckSection, CheckSectionVerdict};
pub use document::{PageOptions, graph_page, report_page};
pub use edit_recorder::EditRecorder;
pub use limits::MAX_GRAPH_OPS;
pub use recording::Recording;
pub use run_recorder::RunRecorder;
