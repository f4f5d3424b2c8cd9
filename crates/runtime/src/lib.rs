//! Execution of tensor programs.
//!
//! A [`Backend`] holds tensors and runs programs on them; [`CpuBackend`] runs them on the CPU. A [`ProgramCache`] keeps compiled
//! programs by structure. A [`LazyGraph`] captures computations and runs them when a value is requested. Every run notifies the
//! global trace sink (`sapwood_trace`), if one is installed.
//!
//! [`FastKernels`] replaces kernels of `sapwood_ptir::eval` by faster ones, with vector instructions, `gemm` for products and several
//! threads. Their results stay within a [`Tolerance`] of the fixed-order kernels, which define every op. Ops without a fast kernel
//! run on the fixed-order kernels.
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
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `backend`, `cpu` | The trait [`Backend`]; the CPU backend. |
//! | `cache` | The cache of compiled programs. |
//! | `lazy/` | Lazy graphs: `capture`, `compose` (fragments into one function), `tensor`. |
//! | `kernels/` | The fast kernels: `elementwise`, `broadcast`, `reduce`, `dot`, `convolution`, `transpose`, `gather`, `sort`, `window`; `math` (vectorized functions), `parallel` (threads), `gemm` (matrix products; **contains the unsafe code of this crate**). |
//! | `fuse/` | Fusion: groups of instructions that run block by block, in one pass over memory. |
//! | `tolerance` | The tolerances of the fast kernels. |

mod backend;
mod cache;
mod cpu;
mod fuse;
mod kernels;
mod lazy;
mod tolerance;

pub use backend::{Backend, RunRequest};
pub use cache::{CacheLookup, CacheStats, ProgramCache};
pub use cpu::{CpuBackend, CpuError};
pub use kernels::FastKernels;
pub use lazy::{CaptureContext, LazyError, LazyGraph, LazyTensor};
pub use tolerance::Tolerance;

/// The code in the guide, included so that it is tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/running.md")]
struct Guide;
