//! The backend on the processor.

use std::sync::Arc;

use sapwood_ptir::eval::{EvalError, Prepared, RunOptions, Value};
use sapwood_ptir::{LiteralError, Program, TensorLiteral, ValueType};

use crate::FastKernels;
use crate::backend::Backend;
use crate::cache::ProgramCache;

/// Runs programs on the processor: with fast kernels, or in the fixed order.
///
/// ```
/// use sapwood_ptir::eval::{DataType, Tensor};
/// use sapwood_runtime::{Backend, Call, CpuBackend};
///
/// let program = sapwood_ptir::parse(
///     "ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = neg %x : f32[2] return %y }",
/// )?;
/// let backend = CpuBackend::exact();
/// let x = Tensor::new(DataType::F32, [2], vec![1.0f32, -2.0]);
/// let y = backend.run_program(&program, &Call::new("f"), &[x.into()])?;
/// assert_eq!(backend.to_literal(&y[0])?.to_string(), "[-1.0, 2.0]");
/// assert_eq!(backend.cache().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CpuBackend {
    name: &'static str,
    options: RunOptions,
    cache: ProgramCache<Prepared>,
}

/// Why the CPU backend could not do something.
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
    #[error("{0} is no tensor")]
    NoTensor(ValueType),
}

impl CpuBackend {
    /// With the fast kernels: within the tolerance of each op, not the same bytes on every machine.
    #[must_use]
    pub fn fast() -> Self {
        let kernels = Some(Arc::new(FastKernels) as _);
        Self::new("cpu", RunOptions { kernels, ..RunOptions::default() })
    }

    /// In the fixed order: the same bytes on every machine.
    #[must_use]
    pub fn exact() -> Self {
        Self::new("cpu-exact", RunOptions::default())
    }

    /// With kernels, threads and limits of your own.
    #[must_use]
    pub fn new(name: &'static str, options: RunOptions) -> Self {
        Self { name, options, cache: ProgramCache::default() }
    }

    /// The same with other threads and limits; the kernels stay.
    #[must_use]
    pub fn with_limits(mut self, mut limits: RunOptions) -> Self {
        limits.kernels = self.options.kernels.take();
        self.options = limits;
        self
    }

    /// The same with room for this many compiled programs.
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
        let tensor = value.as_tensor().ok_or_else(|| CpuError::NoTensor(value.ty()))?;
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
