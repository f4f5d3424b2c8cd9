//! The backend for the CPU.

use std::sync::Arc;

use sapwood_ptir::eval::{EvalError, Prepared, RunOptions, Value};
use sapwood_ptir::{LiteralError, Program, TensorLiteral, ValueType};

use crate::FastKernels;
use crate::backend::Backend;
use crate::cache::ProgramCache;

/// A backend that runs programs on the CPU, with fast kernels or with the fixed-order kernels.
///
/// ```
/// use sapwood_ptir::eval::{DataType, Tensor};
/// use sapwood_runtime::{Backend, RunRequest, CpuBackend};
///
/// let program = sapwood_ptir::parse(
///     "ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = neg %x : f32[2] return %y }",
/// )?;
/// let backend = CpuBackend::exact();
/// let x = Tensor::new(DataType::F32, [2], vec![1.0f32, -2.0]);
/// let y = backend.run_program(&program, &RunRequest::new("f"), &[x.into()])?;
/// assert_eq!(y[0].to_string(), "[-1.0, 2.0] : f32[2]");
/// assert_eq!(backend.cache().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CpuBackend {
    name: &'static str,
    options: RunOptions,
    cache: ProgramCache<Prepared>,
}

/// An error of the CPU backend.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CpuError {
    /// A program could not be compiled or run.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A literal has too many elements.
    #[error(transparent)]
    Literal(#[from] LiteralError),
    /// A tuple or a token has no literal.
    #[error("{0} is not a tensor")]
    NotATensor(ValueType),
}

impl CpuBackend {
    /// Returns a backend with the fast kernels: results are within the tolerance of each op and may differ between machines.
    #[must_use]
    pub fn fast() -> Self {
        let kernels = Some(Arc::new(FastKernels) as _);
        Self::new("cpu", RunOptions { kernels, ..RunOptions::default() })
    }

    /// Returns a backend with the fixed-order kernels: results are the same bytes on every machine.
    #[must_use]
    pub fn exact() -> Self {
        Self::new("cpu-exact", RunOptions::default())
    }

    /// Returns a backend with the given kernels, threads and limits.
    #[must_use]
    pub fn new(name: &'static str, options: RunOptions) -> Self {
        Self { name, options, cache: ProgramCache::default() }
    }

    /// Replaces the number of threads and the limits; the kernels stay.
    #[must_use]
    pub fn with_limits(mut self, mut limits: RunOptions) -> Self {
        limits.kernels = self.options.kernels.take();
        self.options = limits;
        self
    }

    /// Replaces the cache by one for this number of compiled programs.
    #[must_use]
    pub fn with_cache(mut self, capacity: usize) -> Self {
        self.cache = ProgramCache::with_capacity(capacity);
        self
    }
}

impl Backend for CpuBackend {
    type Buffer = Value;
    type Compiled = Prepared;
    type Error = CpuError;

    fn name(&self) -> &str {
        self.name
    }

    fn materialize(&self, literal: &TensorLiteral) -> Result<Value, CpuError> {
        Ok(Value::try_from(literal)?)
    }

    fn to_literal(&self, value: &Value) -> Result<TensorLiteral, CpuError> {
        let tensor = value.as_tensor().ok_or_else(|| CpuError::NotATensor(value.ty()))?;
        Ok(tensor.to_literal()?)
    }

    fn type_of(&self, value: &Value) -> ValueType {
        value.ty()
    }

    fn compile(&self, program: &Program, function: &str) -> Result<Prepared, CpuError> {
        Ok(Prepared::new(program, function, self.options.kernels.as_deref())?)
    }

    fn execute(&self, compiled: &Prepared, inputs: &[Value]) -> Result<Vec<Value>, CpuError> {
        Ok(compiled.run(inputs, &self.options)?)
    }

    fn cache(&self) -> &ProgramCache<Prepared> {
        &self.cache
    }
}
