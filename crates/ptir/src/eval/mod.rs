//! The fixed-order evaluator, which defines the results of every op: one order of operations, one NaN, the same bytes on every machine.
//!
//! [`run`] runs a function of a program on inputs; [`Prepared`] prepares a function for many runs. [`fold_inst`] computes one
//! instruction whose operands are constants. The evaluation of an op is part of its definition (`eval = …` in
//! [`ops!`](crate::ops!)): a function from an [`EvalCx`] to values.
//!
//! ```
//! use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
//!
//! let program = sapwood_ptir::parse(
//!     "ptir 1 func @f(%x: f32[?N]) -> f32[] { %y = reduce_sum %x {axes = [0]} : f32[] return %y }",
//! )?;
//! let x = Tensor::new(eval::DataType::F32, [3], vec![1.0f32, 2.0, 4.0]);
//! let results = eval::run(&program, "f", &[x.into()], &RunOptions::default())?;
//! assert_eq!(results[0].as_tensor().and_then(Tensor::as_splat::<f32>), Some(7.0));
//!
//! let wrong = eval::run(&program, "f", &[Value::Token], &RunOptions::default()).unwrap_err();
//! assert_eq!(wrong.to_string(), "@f: input 0 is token, expected f32[?N]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How elements are computed
//! - Integers wrap. `i4` and `u4` wrap at four bits.
//! - `f32` and `f64` follow IEEE 754; sums and products are never fused or reordered. `f16`, `bf16` and the 8-bit
//!   floats are computed as `f32` (other functions than `+ - * /` as `f64`) and rounded to nearest even.
//! - Functions such as `exp` come from one pure-Rust implementation. For `f32` and narrower floats they are computed
//!   as `f64` and rounded, so nearly all results are the nearest number; for `f64` they are within a few units in the
//!   last place.
//! - Every NaN that is computed is positive, quiet and has no payload. Ops that move elements keep their bits.
//!
//! Other kernels, given as [`Kernels`], may be faster; they stay within the tolerance that the documentation of the op allows.

mod arith;
mod bound_dims;
mod budget;
mod context;
mod control;
mod error;
mod fold;
mod inlined;
pub(crate) mod kernels;
mod machine;
pub(crate) mod math;
mod memory;
pub(crate) mod narrow;
mod native;
mod options;
mod plan;
mod pool;
mod prepared;
mod profile;
mod scan;
mod schedule;
mod shape_values;
pub(crate) mod stored;
mod tensor;

pub use context::{EvalCx, EvalResult, Evaluate, Results, SimpleRegion, one};
pub use error::{EvalError, Fault};
pub use fold::{FoldLimits, fold_inst, fold_inst_counted};
pub use half::{bf16, f16};
pub use memory::{OperandMemory, PredictMemory, ResultMemory, StepMemory, fixed_order_memory};
pub use native::{Cplx, F8E4M3Fn, F8E5M2, Float, I4, Int, Native, Num, StoredByte, U4};
pub use num_complex::Complex;
pub use options::{Kernels, RunOptions, StopCheck};
pub use prepared::{Prepared, run};
pub use profile::{ProfileEntry, RunProfile};
pub use sapwood_types::DataType;
pub use schedule::{FusedGroup, FusedKernel, ScheduledStep};
pub use shape_values::{
    MAX_SHAPE_VALUE, SHAPE_VALUE_OPS, ShapeValue, evaluate_shape_value, shape_value_as_literal,
    shape_value_len, shape_value_of_literal,
};
pub use tensor::{Block, Buffer, Shape, Tensor, Value, View, count};

// The conversion that `cast` performs, for reference and fast kernels.
pub use kernels::cast::cast;
