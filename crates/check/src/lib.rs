//! Checks that two programs compute the same: both are run on the same inputs, and their results are compared.
//!
//! [`compare`] checks all functions that two programs have in common; [`compare_function`] checks one. The report has a
//! [`Verdict`] for each result of each function. [`FunctionPair`] runs two functions on given inputs, [`InputGenerator`] draws inputs.
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
//! The [`FloatMode`](sapwood_types::FloatMode) decides which differences are allowed. Where elements differ, both programs are run
//! again with changes that the mode allows at every op. A difference that such changes cause too is rounding, or
//! [`Verdict::NotComparable`] if it is large; every other difference is [`Verdict::Different`].
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `function` | The check of functions and of whole programs. |
//! | `function_pair` | Runs of two functions on the same inputs, and the comparison of their results. |
//! | `input_generator`, `input_ranges` | Random inputs; a search for ranges with few infinities and NaN. |
//! | `suitable_extents` | A search for extents with which a program runs, where small ones do not suit it. |
//! | `shape_operands` | The extents that operands of ops with a run-time shape may ask for. |
//! | `perturbation` | Runs in which every op changes its results as far as the float mode allows. |
//! | `perturbed_runs` | Decides whether such a change explains a difference. |
//! | `recorded_calls` | A record of the custom calls that only have effects. |
//! | `elements` | Elements as `f64`, and the tolerance for comparing them. |
//! | `verdict` | Verdicts and reports. |
//! | [`show`] | Values as text and as JSON. |

mod elements;
mod function;
mod function_pair;
mod input_generator;
mod input_ranges;
mod perturbation;
mod perturbed_runs;
mod recorded_calls;
mod shape_operands;
pub mod show;
mod suitable_extents;
mod verdict;

pub use elements::{NumberTolerance, elements_as_f64, paired_elements};
pub use function::{CheckOptions, compare, compare_function, notable_constants};
pub use function_pair::{FunctionPair, PairOutcome, ResultComparison, RetryAdvice, RunLimits};
pub use input_generator::{ElementKind, InputGenerator, OpenExtents};
pub use input_ranges::InputRange;
pub use shape_operands::ExtentList;
pub use verdict::{CheckReport, Counterexample, FunctionReport, ResultReport, Verdict};
