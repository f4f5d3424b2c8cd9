//! The cost of programs: operations, bytes moved and memory, counted from the types.
//!
//! - *Flops* are operations on elements, whatever their type: an elementwise op takes one per element of its result (comparisons, selections,
//!   conversions and `exp` count alike), a product of matrices two per product, a sum of `n` elements
//!   `n - 1`. Ops that only move elements take none.
//! - *Bytes* are those that ops read and write, if each op reads its operands once and writes its results once. Reshapes and the like move nothing;
//!   ops that read a part of their operand (`slice`, `gather`) count that part.
//! - *Peak memory* is the largest number of bytes of values that are alive at the same time in the order of the program, its parameters and constants
//!   included.
//!
//! Amounts are numbers, or expressions over the symbols of the function. Of the branches of `cond` and `case` the most expensive one counts. A loop counts as often as it
//! runs; a `while` whose number of iterations is not evident counts once, and is listed in [`FunctionCost::open_loops`].
//!
//! ```
//! let text = "\
//! ptir 1
//!
//! func @f(%x: f32[?B, 8], %w: f32[8, 4]) -> f32[?B, 4] {
//!   %y = dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]} : f32[?B, 4]
//!   %z = tanh %y : f32[?B, 4]
//!   return %z
//! }
//! ";
//! let program = sapwood_ptir::parse(text)?;
//! let cost = sapwood_ptir::cost::of_program(&program);
//! assert_eq!(cost[0].flops.to_string(), "68*?B");
//! assert_eq!(cost[0].bytes.to_string(), "80*?B + 128");
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```

mod amount;
mod function;
pub(crate) mod op_flops;
mod peak_memory;
mod trip_count;

pub use amount::Amount;
pub use function::{
    Cost, CostAnalysis, FamilyCost, FunctionCost, InstCost, ProgramCost, of_inst, of_parts,
    of_program, of_public_functions,
};
pub use op_flops::FlopsFn;
pub use peak_memory::peak_memory_without_calls;
pub use trip_count::trip_count;

/// The memory traffic of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Traffic {
    /// It reads its operands and writes its results.
    #[default]
    All,
    /// It reads as much of its first operand as it writes, and its other operands.
    Part,
    /// It moves nothing: its result is its operand in another shape.
    View,
}
