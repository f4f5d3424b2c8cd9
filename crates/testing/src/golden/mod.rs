//! Golden files: a program and, right under it, the exact output it must give.
//!
//! ```text
//! //! test: patterns
//! //! fires: add_zero
//! func @f(%x: i32) { … }
//! //> func @f(%x: i32) { … }
//! ```
//!
//! Header lines start with the kind's comment lead and `!`, expected lines with the lead and `>`.
//! A file may hold several programs, each followed by its output. Diagnostics about a line of the program may be written on that
//! line, after the lead and `~`. With `BLESS=1` in the environment the expected lines and diagnostics, and nothing else, are
//! replaced by the output.
//!
//! A test target with `harness = false` registers its [`Kind`]s and runs them:
//!
//! ```no_run
//! use sapwood_testing::golden::{Kind, Runner};
//!
//! fn main() -> std::process::ExitCode {
//!     Runner::new(sapwood_testing::repository().join("tests/golden"))
//!         .kind(Kind::new("upper", "txt", |case| Ok(case.program.to_uppercase())))
//!         .main()
//! }
//! ```
//!
//! `docs/reference/golden-tests.md` describes the format and how to add a kind.

mod diagnostics;
mod file;
mod functions;
mod kind;
mod runner;

pub use kind::{Case, Failure, Kind};
pub use runner::Runner;
