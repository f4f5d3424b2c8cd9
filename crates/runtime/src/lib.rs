//! Running programs.
//!
//! A [`Backend`] holds tensors and runs programs on them; [`CpuBackend`] is the one on the processor. Compiled programs
//! are kept by structure in a [`ProgramCache`]. A [`LazyGraph`] captures computations and runs them when a value is asked
//! for. Every run tells the sink of the process (`sapwood_trace`) if one is installed.
//!
//! [`FastKernels`] replaces kernels of `sapwood_ptir::eval` by faster ones: loops over vectors of the machine, `gemm`
//! for products, several threads. What they compute stays within its [`Tolerance`] of the fixed-order kernels, which
//! remain the definition of every op; ops without a fast kernel run on those.
//!
//! ```
//! use std::sync::Arc;
//! use sapwood_ptir::eval::{self, RunOptions, Tensor};
//! use sapwood_runtime::FastKernels;
//!
//! let program = sapwood_ptir::parse(
//!     "ptir 1 func @f(%x: f32[4]) -> f32[4] { %y = exp %x : f32[4] return %y }",
//! )?;
//! let options = RunOptions { kernels: Some(Arc::new(FastKernels)), threads: 2, ..RunOptions::default() };
//! let x = Tensor::new(eval::DataType::F32, [4], vec![0.0f32, 1.0, -1.0, 2.0]);
//! let y = eval::run(&program, "f", &[x.into()], &options)?;
//! let y = y[0].as_tensor().unwrap().elements::<f32>().unwrap().into_owned();
//! assert!((y[1] - 1.0f32.exp()).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backend;
mod cache;
mod cpu;
mod kernels;
mod lazy;
mod tolerance;

pub use backend::{Backend, Call};
pub use cache::{CacheStats, DEFAULT_CAPACITY, Lookup, ProgramCache};
pub use cpu::{CpuBackend, CpuError};
pub use kernels::FastKernels;
pub use lazy::{CaptureContext, LazyError, LazyGraph, LazyTensor};
pub use tolerance::Tolerance;
