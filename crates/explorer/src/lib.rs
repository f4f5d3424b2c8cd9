//! Self-contained HTML pages that show a program, the differences of two programs, or the run of a pipeline on a program.
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
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `document` | The data of a page as JSON, and the functions that return pages. |
//! | `page`, `page.html` | Insertion of the data into the template; the template. |
//! | `program_rows`, `cost_rows`, `comparison` | Programs as rows; their costs; the marks on instructions that differ between two programs. |
//! | `recording`, `run_recorder`, `edit_recorder` | The record of a run; the trace sink that fills it, and its edits of one function. |
//! | `check_section` | The section about a check of the programs before and after a run. |
//! | `limits` | Limits of the data in a page. |

mod check_section;
mod comparison;
mod cost_rows;
mod document;
mod edit_recorder;
mod limits;
mod page;
mod program_rows;
mod recording;
mod run_recorder;

pub use check_section::{CheckSection, CheckSectionVerdict};
pub use document::{PageMatch, PageOptions, diff_page, graph_page, report_page};
pub use limits::MAX_GRAPH_OPS;
pub use recording::Recording;
pub use run_recorder::RunRecorder;
