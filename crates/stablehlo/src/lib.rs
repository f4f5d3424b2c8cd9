//! A reader and a writer of StableHLO text, to and from PTIR.
//!
//! [`read`] accepts the text that JAX and other tools print, in the pretty and in the generic form, and returns a [`Module`]: a
//! program, and the parts of the text that a program cannot hold. [`write()`] returns text that StableHLO's own tools accept.
//! [`check_call_kernels()`] evaluates the `check.expect_…` calls of test programs.
//!
//! ```
//! use sapwood_types::Source;
//!
//! let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!   %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
//!   %y = stablehlo.maximum %x, %zero : tensor<2xf32>
//!   return %y : tensor<2xf32>
//! }";
//! let module = sapwood_stablehlo::read(&Source::new("relu.mlir", text))?;
//! assert!(module.program.to_string().contains("max %x, %zero"));
//!
//! let wrong = "func.func @main() -> tensor<2xf32> { return %x : tensor<2xf32> }";
//! let problems = sapwood_stablehlo::read(&Source::new("wrong.mlir", wrong)).unwrap_err();
//! assert!(problems.to_string().contains("wrong.mlir:1:45: error: %x is not defined"));
//! # Ok::<(), sapwood_types::Diagnostics>(())
//! ```
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `module`, `extras_json` | A module: a program and its extras, the parts of the text that a program cannot hold; extras as JSON. |
//! | `cursor`, `types`, `attr`, `literal` | The parts of the text: tokens, types, attributes, `dense<…>` literals. |
//! | `raw_op` | An op as it is written, before it is interpreted. |
//! | `read/` | The reader. `fast_path` is the silent builder: it reads ops in exactly their form, with `attr_cache`. `function`, `regions`, `pretty` and `generic` read all others for the reporting builder. `declared_types` compares types, `value_scope` resolves names, `line_index` finds lines. |
//! | `ops/` | The mappings between StableHLO ops and PTIR ops, one file per family, used by reader and writer. `form` has the parts that state an op's syntax; `converter` and `attributes` are the reporting builder; `decomposed` has ops that are read as several, `dynamic` ops whose shapes are operands, `unknown` ops without a mapping. |
//! | `write/` | The writer: `text_writer` (one function), `form` (ops by their forms), `value_names`. |
//! | `check_call_kernels` | Kernels of `check.expect_eq` and its variants. |

mod attr;
mod check_call_kernels;
mod cursor;
mod extras_json;
mod literal;
mod module;
mod ops;
mod raw_op;
mod read;
mod types;
mod write;

pub use check_call_kernels::{CheckCallKernels, check_call_kernels};
pub use module::{Extras, Module};
pub use read::{read, read_split, read_with};
pub use write::{WriteError, write, write_program};
