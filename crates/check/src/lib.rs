//! Checks that two programs compute the same: both are run on the same inputs, and their results are compared.
//!
//! [`compare`] checks all functions that two programs have in common; [`compare_function`] checks one. The report has a
//! [`Verdict`] for each result of each function. [`Pair`] runs two functions on given inputs, [`Draw`] draws them.
//!
//! ```
//! use sapwood_check::{CheckOptions, Verdict, compare};
//!
//! let program = |body: &str| {
//!     sapwood_ptir::parse(&format!("ptir 1 func @f(%v: f32[8]) -> f32[8] {{ {body} return %y }}"))
//! };
//! let before = program("%y = rsqrt %v : f32[8]")?;
//! let after = program("%y = tanh %v : f32[8]")?;
//! let report = compare(&before, &after, &CheckOptions::default());
//! assert_eq!(report.verdict(), Verdict::Different);
//! assert!(report.messages()[0].starts_with("@f, result 0, element [0]: "));
//!
//! let nan = program("%c = constant nan : f32[8] %y = add %v, %c : f32[8]")?;
//! let report = compare(&nan, &nan, &CheckOptions::default());
//! assert_eq!(report.messages(), ["not checked: @f: every element of result 0 was NaN"]);
//! assert!(!report.passes());
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```
//!
//! What may differ is up to the [`FloatMode`](sapwood_types::FloatMode). Where elements differ, both programs are run again with
//! changes of the kind that the mode allows at every op. A difference that such changes make too is rounding, or
//! [`Verdict::NotComparable`] if it is large; every other difference is [`Verdict::Different`].

mod draw;
mod freedom;
mod function;
mod numbers;
mod pair;
mod ranges;
mod recorded_calls;
pub mod show;
mod verdict;

pub use draw::{Draw, Elements, Extents, Range};
pub use function::{CheckOptions, compare, compare_function, known_numbers};
pub use numbers::{Closeness, numbers, pairs};
pub use pair::{Case, CaseResult, Limits, OtherInputs, Pair};
pub use verdict::{CheckReport, Counterexample, FunctionReport, ResultReport, Verdict};
