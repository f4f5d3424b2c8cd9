//! A lazy graph, which captures computations and runs them when a value is requested.

mod capture;
mod compose;
mod tensor;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{EditError, GraphError, OpError, Program, Registry, TensorLiteral, ValueId};
use sapwood_types::Diagnostics;

use crate::backend::{Backend, RunRequest};
use compose::compose;
use tensor::{Fragment, FragmentResult};

pub use capture::CaptureContext;
pub use tensor::LazyTensor;

/// A graph of computations that run when a value is requested.
///
/// [`capture`](Self::capture) records a computation and returns its value, not yet computed. [`flush`](Self::flush) collects all
/// instructions that the requested values depend on and that have not run yet into one program, and runs it. Programs of the same
/// structure are compiled once. A value references its origin but not its users, so values without handles are freed.
///
/// ```
/// use std::sync::Arc;
/// use sapwood_ptir::prelude::*;
/// use sapwood_runtime::{CpuBackend, LazyGraph};
///
/// let graph = LazyGraph::new(Arc::new(CpuBackend::exact()));
/// let x = graph.import(&TensorLiteral::filled(DataType::F32, &[2, 3], 1.0)?)?;
/// let sum = graph.capture(|ctx| {
///     let x = ctx.import(&x)?;
///     let mut ptir = PtirGraph::new(ctx);
///     let x = ptir.import(x)?;
///     Ok(x.reduce_sum(&mut ptir, [1], false, None)?.id())
/// })?;
/// assert!(!sum.is_computed());
/// assert_eq!(graph.literal(&sum)?.shape(), [2]);
/// assert!(sum.is_computed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LazyGraph<B: Backend> {
    backend: Arc<B>,
    id: u64,
    name: String,
    registry: Arc<Registry>,
}

// A value that was not computed when its origin was read, and that origin.
type PendingTarget<'a, B> =
    (&'a LazyTensor<<B as Backend>::Buffer>, FragmentResult<<B as Backend>::Buffer>);

/// An error of a lazy graph. The graph is unchanged.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LazyError<E> {
    /// A value belongs to another graph.
    #[error(
        "value {value} belongs to graph {found}, not to this graph {expected}; import it with `import_buffer`"
    )]
    Foreign {
        /// The value.
        value: u64,
        /// This graph.
        expected: u64,
        /// Its graph.
        found: u64,
    },
    /// An instruction has effects, but a lazy graph decides whether and when instructions run.
    #[error(
        "{0} has effects, but a lazy graph neither orders instructions nor runs them exactly once; run it as a program"
    )]
    Ordered(&'static str),
    /// The builder rejected an instruction.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The captured fragments could not be composed.
    #[error("{0}")]
    Compose(String),
    /// The backend failed.
    #[error(transparent)]
    Backend(E),
}

impl<E> From<EditError> for LazyError<E> {
    fn from(error: EditError) -> Self {
        Self::Graph(error.into())
    }
}

impl<E> From<OpError> for LazyError<E> {
    fn from(error: OpError) -> Self {
        Self::Compose(error.to_string())
    }
}

impl<E> From<Diagnostics> for LazyError<E> {
    fn from(problems: Diagnostics) -> Self {
        Self::Compose(problems.to_string())
    }
}

impl<B: Backend> LazyGraph<B> {
    /// Returns a graph that runs on this backend. Several graphs may share a backend and its compiled programs.
    #[must_use]
    pub fn new(backend: Arc<B>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { backend, id, name: "main".into(), registry: Registry::builtin() }
    }

    /// Sets the name of the graph's programs, for traces.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the op registry.
    #[must_use]
    pub fn with_registry(mut self, registry: Arc<Registry>) -> Self {
        self.registry = registry;
        self
    }

    /// Returns the number of the graph, which is unique in the process.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the backend.
    #[must_use]
    pub fn backend(&self) -> &Arc<B> {
        &self.backend
    }

    /// Adds a tensor to the graph as a value.
    ///
    /// # Errors
    /// If the backend has not enough memory.
    pub fn import(
        &self,
        literal: &TensorLiteral,
    ) -> Result<LazyTensor<B::Buffer>, LazyError<B::Error>> {
        let buffer = self.backend.materialize(literal).map_err(LazyError::Backend)?;
        Ok(self.import_buffer(buffer))
    }

    /// Adds a value on the backend to the graph.
    pub fn import_buffer(&self, buffer: B::Buffer) -> LazyTensor<B::Buffer> {
        let ty = self.backend.type_of(&buffer);
        LazyTensor::computed(self.id, ty, buffer)
    }

    /// Records a computation: `build` imports values, records instructions, and returns the resulting value.
    ///
    /// # Errors
    /// If `build` fails, returns an unknown value, or records an instruction with effects. Nothing is captured
    /// then.
    pub fn capture(
        &self,
        build: impl FnOnce(&mut CaptureContext<'_, B>) -> Result<ValueId, LazyError<B::Error>>,
    ) -> Result<LazyTensor<B::Buffer>, LazyError<B::Error>> {
        let mut values = self.capture_many(|ctx| Ok(vec![build(ctx)?]))?;
        values.pop().ok_or_else(|| LazyError::Compose("nothing was captured".into()))
    }

    /// Records a computation with several results, like [`capture`](Self::capture).
    ///
    /// # Errors
    /// As [`capture`](Self::capture).
    pub fn capture_many(
        &self,
        build: impl FnOnce(&mut CaptureContext<'_, B>) -> Result<Vec<ValueId>, LazyError<B::Error>>,
    ) -> Result<Vec<LazyTensor<B::Buffer>>, LazyError<B::Error>> {
        let mut ctx = CaptureContext::new(self, &self.registry);
        let results = build(&mut ctx)?;
        let fragment = Arc::new(ctx.finish(&results)?);
        let made = fragment.function.result_types().into_iter().cloned().enumerate();
        Ok(made.map(|(n, ty)| LazyTensor::pending(self.id, ty, fragment.clone(), n)).collect())
    }

    /// Computes values: runs all instructions that they depend on and that have not run yet, as one program. Values that are already
    /// computed are its inputs.
    ///
    /// # Errors
    /// If a value belongs to another graph, or the backend fails; then nothing is computed.
    pub fn flush(
        &self,
        targets: &[&LazyTensor<B::Buffer>],
    ) -> Result<Vec<B::Buffer>, LazyError<B::Error>> {
        for target in targets {
            self.check_owner(target)?;
        }
        // The origins are read only once, because another thread may compute the values meanwhile.
        let mut pending: Vec<PendingTarget<'_, B>> = Vec::new();
        let mut seen: HashSet<u64, FxBuildHasher> = HashSet::default();
        for target in targets {
            if seen.insert(target.id()) {
                pending.extend(target.pending_result().map(|result| (*target, result)));
            }
        }
        if !pending.is_empty() {
            self.run_pending(&pending)?;
        }
        let computed = targets.iter().filter_map(|target| target.buffer());
        let buffers: Vec<B::Buffer> = computed.collect();
        if buffers.len() != targets.len() {
            return Err(LazyError::Compose("the backend gave fewer results than asked for".into()));
        }
        Ok(buffers)
    }

    /// Computes a value and copies it from the backend.
    ///
    /// # Errors
    /// As [`flush`](Self::flush), and if the value is not a tensor.
    pub fn literal(
        &self,
        target: &LazyTensor<B::Buffer>,
    ) -> Result<TensorLiteral, LazyError<B::Error>> {
        let buffer = self.flush(&[target])?;
        self.backend.to_literal(&buffer[0]).map_err(LazyError::Backend)
    }

    // Runs the program that computes pending values, and stores the results.
    fn run_pending(&self, pending: &[PendingTarget<'_, B>]) -> Result<(), LazyError<B::Error>> {
        let (function, inputs) = compose(&self.name, &self.registry, pending)?;
        let mut program = Program::new(self.registry.clone());
        program.replace(function);
        let targets: Vec<u64> = pending.iter().map(|(target, _)| target.id()).collect();
        let request = RunRequest { function: &self.name, graph: Some(self.id), targets: &targets };
        let buffers =
            self.backend.run_program(&program, &request, &inputs).map_err(LazyError::Backend)?;
        for ((target, _), buffer) in pending.iter().zip(buffers) {
            target.set_computed(buffer);
        }
        Ok(())
    }

    fn check_owner(&self, value: &LazyTensor<B::Buffer>) -> Result<(), LazyError<B::Error>> {
        if value.graph() == self.id {
            return Ok(());
        }
        Err(LazyError::Foreign { value: value.id(), expected: self.id, found: value.graph() })
    }
}
