//! The lazy graph: computations are captured, and run when a value is asked for.

mod capture;
mod compose;
mod tensor;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{EditError, GraphError, OpError, Program, Registry, TensorLiteral, ValueId};
use sapwood_types::Diagnostics;

use crate::backend::{Backend, Call};
use compose::compose;
use tensor::{Fragment, Piece};

pub use capture::CaptureContext;
pub use tensor::LazyTensor;

/// Computations that wait until somebody asks for a value.
///
/// [`capture`](Self::capture) records a computation and gives its value, not yet computed; [`flush`](Self::flush) puts
/// all that values need and that was not computed yet into one program and runs it. Programs of the same structure are
/// compiled once. Values know what they come from, not what is made of them: what nobody holds any more is gone.
///
/// ```
/// use std::sync::Arc;
/// use sapwood_ptir::prelude::*;
/// use sapwood_runtime::{CpuBackend, LazyError, LazyGraph};
///
/// let graph = LazyGraph::new(Arc::new(CpuBackend::exact()));
/// let x = graph.import(&TensorLiteral::filled(DataType::F32, &[2, 3], 1.0)?)?;
/// let sum = graph.capture(|ctx| {
///     let x = ctx.import(&x)?;
///     let mut ptir = PtirGraph::new(ctx);
///     let x = ptir.import(x)?;
///     Ok::<_, LazyError<_>>(x.reduce_sum(&mut ptir, [1], false, None)?.id())
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

// A value that was not computed when somebody looked, and what it came from.
type Missing<'a, B> = (&'a LazyTensor<<B as Backend>::Buffer>, Piece<<B as Backend>::Buffer>);

/// Why a lazy graph refused something. It is as it was before.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LazyError<E> {
    /// A value belongs to another graph.
    #[error(
        "value {value} belongs to graph {found}, this is graph {expected}; take it over with `import_buffer`"
    )]
    Foreign {
        /// The value.
        value: u64,
        /// This graph.
        expected: u64,
        /// Its graph.
        found: u64,
    },
    /// An instruction has effects: a lazy graph decides whether and when instructions run.
    #[error(
        "{0} has effects, which a lazy graph neither keeps in order nor runs once; run it as a program"
    )]
    Ordered(&'static str),
    /// The builder refused something.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// What was captured could not be put together.
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
    /// A graph that runs on this backend. Several graphs may share one, and its compiled programs.
    #[must_use]
    pub fn new(backend: Arc<B>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { backend, id, name: "main".into(), registry: Registry::builtin() }
    }

    /// The same with another name for its programs, for traces.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// The same with ops of your own.
    #[must_use]
    pub fn with_registry(mut self, registry: Arc<Registry>) -> Self {
        self.registry = registry;
        self
    }

    /// Its number: no other graph of this process has it.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The backend.
    #[must_use]
    pub fn backend(&self) -> &Arc<B> {
        &self.backend
    }

    /// A tensor as a value of the graph.
    ///
    /// # Errors
    /// If the backend has no room for it.
    pub fn import(
        &self,
        literal: &TensorLiteral,
    ) -> Result<LazyTensor<B::Buffer>, LazyError<B::Error>> {
        let buffer = self.backend.materialize(literal).map_err(LazyError::Backend)?;
        Ok(self.import_buffer(buffer))
    }

    /// A value on the backend as a value of the graph.
    pub fn import_buffer(&self, buffer: B::Buffer) -> LazyTensor<B::Buffer> {
        let ty = self.backend.type_of(&buffer);
        LazyTensor::computed(self.id, ty, buffer)
    }

    /// Records a computation: `build` imports values, records instructions, and gives the value it is about.
    ///
    /// # Errors
    /// If `build` fails, gives a value that is not there, or records an instruction with effects. Nothing is captured
    /// then.
    pub fn capture<E: From<LazyError<B::Error>>>(
        &self,
        build: impl FnOnce(&mut CaptureContext<'_, B>) -> Result<ValueId, E>,
    ) -> Result<LazyTensor<B::Buffer>, E> {
        let mut values = self.capture_many(|ctx| Ok::<_, E>(vec![build(ctx)?]))?;
        values.pop().ok_or_else(|| LazyError::Compose("nothing was captured".into()).into())
    }

    /// The same for several values at once.
    ///
    /// # Errors
    /// As [`capture`](Self::capture).
    pub fn capture_many<E: From<LazyError<B::Error>>>(
        &self,
        build: impl FnOnce(&mut CaptureContext<'_, B>) -> Result<Vec<ValueId>, E>,
    ) -> Result<Vec<LazyTensor<B::Buffer>>, E> {
        let mut ctx = CaptureContext::new(self, &self.registry);
        let results = build(&mut ctx)?;
        let fragment = Arc::new(ctx.finish(&results)?);
        let made = fragment.function.result_types().into_iter().cloned().enumerate();
        Ok(made.map(|(n, ty)| LazyTensor::pending(self.id, ty, fragment.clone(), n)).collect())
    }

    /// Computes values: what they need and what was not computed yet, as one program. Values that are computed already
    /// are its inputs.
    ///
    /// # Errors
    /// If a value belongs to another graph, or the backend fails; then nothing is computed.
    pub fn flush(
        &self,
        targets: &[&LazyTensor<B::Buffer>],
    ) -> Result<Vec<B::Buffer>, LazyError<B::Error>> {
        for target in targets {
            self.own(target)?;
        }
        // What they came from is asked once: another thread may compute them meanwhile.
        let mut missing: Vec<Missing<'_, B>> = Vec::new();
        let mut seen: HashSet<u64, FxBuildHasher> = HashSet::default();
        for target in targets {
            if seen.insert(target.id()) {
                missing.extend(target.piece().map(|piece| (*target, piece)));
            }
        }
        if !missing.is_empty() {
            self.run(&missing)?;
        }
        let computed = targets.iter().filter_map(|target| target.buffer());
        let buffers: Vec<B::Buffer> = computed.collect();
        if buffers.len() != targets.len() {
            return Err(LazyError::Compose("the backend gave fewer results than asked for".into()));
        }
        Ok(buffers)
    }

    /// Computes a value and takes it from the backend.
    ///
    /// # Errors
    /// As [`flush`](Self::flush), and if it is no tensor.
    pub fn literal(
        &self,
        target: &LazyTensor<B::Buffer>,
    ) -> Result<TensorLiteral, LazyError<B::Error>> {
        let buffer = self.flush(&[target])?;
        self.backend.to_literal(&buffer[0]).map_err(LazyError::Backend)
    }

    // Runs the program of values that are not computed, and keeps what it gives.
    fn run(&self, missing: &[Missing<'_, B>]) -> Result<(), LazyError<B::Error>> {
        let (function, inputs) = compose(&self.name, &self.registry, missing)?;
        let mut program = Program::new(self.registry.clone());
        program.replace(function);
        let targets: Vec<u64> = missing.iter().map(|(target, _)| target.id()).collect();
        let call = Call { function: &self.name, graph: Some(self.id), targets: &targets };
        let buffers =
            self.backend.run_program(&program, &call, &inputs).map_err(LazyError::Backend)?;
        for ((target, _), buffer) in missing.iter().zip(buffers) {
            target.set(buffer);
        }
        Ok(())
    }

    fn own(&self, value: &LazyTensor<B::Buffer>) -> Result<(), LazyError<B::Error>> {
        if value.graph() == self.id {
            return Ok(());
        }
        Err(LazyError::Foreign { value: value.id(), expected: self.id, found: value.graph() })
    }
}
