//! The interface of backends.

use std::time::{Duration, Instant, SystemTime};

use sapwood_ptir::{Name, Program, TensorLiteral, ValueType};
use sapwood_trace::{Execution, ExecutionResult, ExecutionTraceSink, global_sink, next_run_id};

use crate::cache::{CacheLookup, ProgramCache};

/// A device that holds tensors and runs programs on them.
///
/// A backend defines how a program is compiled and how the compiled program runs. [`run_program`](Self::run_program) combines the
/// two: it looks up programs in the cache before it compiles them, and notifies the global trace sink before and after the run.
pub trait Backend: Send + Sync {
    /// A value on the backend; cloning one copies no elements.
    type Buffer: Clone + Send + Sync;
    /// A compiled program.
    type Compiled: Send + Sync;
    /// The errors of the backend.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Returns the name of the backend, for traces.
    fn name(&self) -> &str;

    /// Copies a tensor to the backend.
    ///
    /// # Errors
    /// If the backend has not enough memory.
    fn materialize(&self, literal: &TensorLiteral) -> Result<Self::Buffer, Self::Error>;

    /// Copies a tensor back from the backend.
    ///
    /// # Errors
    /// If the value is not a tensor, or a literal cannot hold it.
    fn to_literal(&self, buffer: &Self::Buffer) -> Result<TensorLiteral, Self::Error>;

    /// Returns the type of a value, with all extents known.
    fn type_of(&self, buffer: &Self::Buffer) -> ValueType;

    /// Compiles a function of a program.
    ///
    /// # Errors
    /// If the function does not exist, or the program does not verify.
    fn compile(&self, program: &Program, function: &str) -> Result<Self::Compiled, Self::Error>;

    /// Runs a compiled program.
    ///
    /// # Errors
    /// If the inputs have wrong types, a limit is reached, or an op cannot be run.
    fn execute(
        &self,
        compiled: &Self::Compiled,
        inputs: &[Self::Buffer],
    ) -> Result<Vec<Self::Buffer>, Self::Error>;

    /// Returns the cache of compiled programs.
    fn cache(&self) -> &ProgramCache<Self::Compiled>;

    /// Runs a function of a program. If an equal program was compiled before, that one runs, and errors use its names for
    /// values.
    ///
    /// # Errors
    /// If the program cannot be compiled or run.
    fn run_program(
        &self,
        program: &Program,
        request: &RunRequest<'_>,
        inputs: &[Self::Buffer],
    ) -> Result<Vec<Self::Buffer>, Self::Error> {
        let found = self.cache().find(program, Name::new(request.function));
        let hit = found.is_compiled();
        let run = || {
            let compile = || self.compile(program, request.function);
            self.execute(&*found.get_or_compile(compile)?, inputs)
        };
        match global_sink() {
            None => run(),
            Some(sink) => run_traced(self, &*sink, program, request, &found, hit, run),
        }
    }
}

/// A request to run a function, with its origin for traces.
#[derive(Clone, Copy, Debug)]
pub struct RunRequest<'a> {
    /// The function.
    pub function: &'a str,
    /// The lazy graph that makes the request.
    pub graph: Option<u64>,
    /// The values of the lazy graph that are requested.
    pub targets: &'a [u64],
}

impl<'a> RunRequest<'a> {
    /// Returns a request to run a function that does not come from a lazy graph.
    #[must_use]
    pub fn new(function: &'a str) -> Self {
        Self { function, graph: None, targets: &[] }
    }
}

// Runs a program and notifies a sink before and after.
#[cold]
fn run_traced<B: Backend + ?Sized>(
    backend: &B,
    sink: &dyn ExecutionTraceSink,
    program: &Program,
    request: &RunRequest<'_>,
    found: &CacheLookup<B::Compiled>,
    cache_hit: bool,
    run: impl FnOnce() -> Result<Vec<B::Buffer>, B::Error>,
) -> Result<Vec<B::Buffer>, B::Error> {
    let execution = Execution {
        id: next_run_id(),
        program,
        function: Name::new(request.function),
        backend: backend.name(),
        graph: request.graph,
        targets: request.targets,
        hash: found.hash(),
        cache_hit,
        started: SystemTime::now(),
    };
    sink.before(&execution);
    let mut reporter = ExecutionReporter { sink, execution, since: Instant::now(), outputs: None };
    let results = run();
    reporter.outputs = Some(match &results {
        Ok(buffers) => Ok(buffers.iter().map(|buffer| backend.type_of(buffer)).collect()),
        Err(error) => Err(error.to_string()),
    });
    results
}

// A guard that reports the outcome of a run to a sink, also after a panic.
struct ExecutionReporter<'a> {
    sink: &'a dyn ExecutionTraceSink,
    execution: Execution<'a>,
    since: Instant,
    outputs: Option<Result<Vec<ValueType>, String>>,
}

impl Drop for ExecutionReporter<'_> {
    fn drop(&mut self) {
        let duration: Duration = self.since.elapsed();
        let outputs = self.outputs.take().unwrap_or_else(|| Err("it panicked".into()));
        self.sink.after(&self.execution, &ExecutionResult { duration, outputs });
    }
}
