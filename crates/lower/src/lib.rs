//! The lowering from the front-end IR to PTIR; [`lower`] is the entry point.
//!
//! Statements become SSA: a variable is the value it was assigned last. `if` becomes `cond`. A loop becomes `scan` if its
//! number of trips is a constant, and `while` otherwise. Both yield the variables that they assign. Operators become
//! elementwise ops with explicit casts and broadcasts. Calls become `call` or the op of that name. A construct that cannot
//! be lowered is reported as an error at its span; all errors are collected.
//!
//! ```
//! use sapwood_ir::parse_program;
//! use sapwood_types::Source;
//!
//! let text = "def f(x: pi.FP32, n: pi.INT64) -> pi.FP32:\n    for i in range(0, n, 1):\n        x = x * x\n    return x\n";
//! let program = parse_program(&Source::new("f.py", text))?;
//! let lowered = sapwood_lower::lower(&program)?;
//! assert_eq!(lowered.to_string(), "\
//! ptir 1
//!
//! func @f(%x: f32[], %n: i64[]) -> f32[] {
//!   %0 = constant 0 : i64[]
//!   %1 = constant 1 : i64[]
//!   %i, %x_1 = while %0, %x (%i_1: i64[], %x_2: f32[]) {
//!     %2 = compare %i_1, %n {direction = lt} : bool[]
//!     yield %2
//!   } (%i_2: i64[], %x_3: f32[]) {
//!     %x_4 = mul %x_3, %x_3 : f32[]
//!     %3 = add %i_2, %1 : i64[]
//!     yield %3, %x_4
//!   } : i64[], f32[]
//!   return %x_1
//! }
//! ");
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```
//!
//! Time and memory are linear in the nodes of the program: a shared expression is lowered once while its value stays
//! valid. Only calls with effects are lowered once per occurrence.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `function`, `signature`, `summary` | Functions; their signatures as callers see them; facts collected before a function is lowered. |
//! | `stmt`, `assign`, `if_stmt` | Sequences of statements; assignments; `if`. |
//! | `for_stmt`, `while_stmt`, `loops` | Loops; the carried values and regions that both kinds share. |
//! | `early_return` | A `return` in a loop or in a branch from which other paths continue. |
//! | `expr` | Expressions, with an explicit stack. |
//! | `unary`, `binary`, `floor`, `broadcast` | Operators and casts; `//` and `%`, which round down; explicit broadcasts of scalars. |
//! | `call`, `constant`, `tuple` | Calls; constants; tuples. |
//! | `open_dims` | Ops whose result has extents that are computed when the program runs. |
//! | `types` | Conversion of types. |
//! | `arguments` | Parameters that are dims of other parameters, and the arguments for them. |
//! | `scope` | The values of variables and of shared expressions at the current point. |
//! | `emit` | Helpers that emit instructions and report errors. |

mod arguments;
mod assign;
mod binary;
mod broadcast;
mod call;
mod constant;
mod early_return;
mod emit;
mod expr;
mod floor;
mod for_stmt;
mod function;
mod if_stmt;
mod loops;
mod open_dims;
mod scope;
mod signature;
mod stmt;
mod summary;
mod tuple;
mod types;
mod unary;
mod while_stmt;

use std::sync::Arc;

use sapwood_ir::{Program, VerifyLevel};
use sapwood_ptir::{Function, Registry};
use sapwood_types::{Diagnostic, Diagnostics, did_you_mean};

pub use arguments::{bind_extent_arguments, check_extent_arguments};
use signature::ProgramSignatures;

/// A map from node ids.
type IdMap<V> = hashbrown::HashMap<usize, V, rustc_hash::FxBuildHasher>;
/// A set of node ids.
type IdSet = hashbrown::HashSet<usize, rustc_hash::FxBuildHasher>;

/// Lowers a program; a call of an `Op` may name any built-in op.
///
/// # Errors
/// Returns all errors: those of a program that is not well-formed, or one for each construct that cannot be lowered.
pub fn lower(program: &Program) -> Result<sapwood_ptir::Program, Diagnostics> {
    lower_with(program, &Registry::builtin())
}

/// Lowers a program; a call of an `Op` may name any op of the registry.
///
/// # Errors
/// Returns all errors: those of a program that is not well-formed, or one for each construct that cannot be lowered.
pub fn lower_with(
    program: &Program,
    registry: &Arc<Registry>,
) -> Result<sapwood_ptir::Program, Diagnostics> {
    let mut problems = sapwood_ir::verify(program, VerifyLevel::WellFormed);
    if problems.has_errors() {
        return Err(problems);
    }
    let signatures = ProgramSignatures::new(program, registry);
    let mut lowered = sapwood_ptir::Program::new(registry.clone());
    for function in program.functions() {
        match function::lower(function, &signatures) {
            Ok(lowered_function) => {
                if let Err(error) = lowered.add(lowered_function) {
                    problems.error(function.span, error.to_string());
                }
            }
            Err(found) => problems.append(found),
        }
    }
    problems.sort();
    problems.into_result(lowered)
}

/// Lowers one function of a program; of the functions it calls only the signatures are used.
///
/// # Errors
/// Returns all errors of this function, or one error if the program has no function of this name.
pub fn lower_function(
    program: &Program,
    name: &str,
    registry: &Arc<Registry>,
) -> Result<Function, Diagnostics> {
    let Some(function) = program.get_function(name) else {
        let message = format!("the program has no function called `{name}`");
        let diagnostic = Diagnostic::error(program.span(), message);
        let names = program.functions().map(|function| &*function.name);
        return Err(match did_you_mean(name, names) {
            Some(close) => diagnostic.with_help(format!("did you mean `{close}`?")),
            None => diagnostic,
        }
        .into());
    };
    let problems = sapwood_ir::verify_function(function, Some(program), VerifyLevel::WellFormed);
    if problems.has_errors() {
        return Err(problems);
    }
    function::lower(function, &ProgramSignatures::new(program, registry))
}

/// Runs `work` with enough stack for one more level of nested statements.
fn with_grown_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 4 << 20, work)
}

/// The code blocks of the lowering guide, run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/lowering.md")]
struct LoweringGuide;
