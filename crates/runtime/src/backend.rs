//! What runs programs.

use std::time::{Duration, Instant, SystemTime};

use sapwood_ptir::{Name, Program, TensorLiteral, ValueType};
use sapwood_trace::{Execution, ExecutionResult, ExecutionTraceSink, global_sink, next_run_id};

use crate::cache::{Lookup, ProgramCache};

/// Something that holds tensors and runs programs on them.
///
/// A backend says how a program is compiled and how what was compiled runs. [`run_program`](Self::run_program) puts the
/// two together: programs that were compiled before are not compiled again, and the sink of the process is told before
/// and after.
pub trait Backend: Send + Sync {
    /// A value on the backend; cloning one copies no elements.
    type Buffer: Clone + Send + Sync;
    /// A program made ready to run.
    type Compiled: Send + Sync;
    /// What goes wrong.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Its name, for traces.
    fn name(&self) -> &str;

    /// A tensor on the backend.
    ///
    /// # Errors
    /// If the backend has no room for it.
    fn materialize(&self, literal: &TensorLiteral) -> Result<Self::Buffer, Self::Error>;

    /// A tensor back from the backend.
    ///
    /// # Errors
    /// If it is no tensor, or a literal cannot hold it.
    fn to_literal(&self, buffer: &Self::Buffer) -> Result<TensorLiteral, Self::Error>;

    /// The type of a value, all extents known.
    fn type_of(&self, buffer: &Self::Buffer) -> ValueType;

    /// Makes a function of a program ready to run.
    ///
    /// # Errors
    /// If there is no such function, or the program does not verify.
    fn compile(&self, program: &Program, function: &str) -> Result<Self::Compiled, Self::Error>;

    /// Runs what was compiled.
    ///
    /// # Errors
    /// If the inputs do not fit, a limit is reached, or an op cannot be run.
    fn execute(
        &self,
        compiled: &Self::Compiled,
        inputs: &[Self::Buffer],
    ) -> Result<Vec<Self::Buffer>, Self::Error>;

    /// The programs that were compiled.
    fn cache(&self) -> &ProgramCache<Self::Compiled>;

    /// Runs a function of a program. An equal program that was compiled before is taken in its place: errors then name
    /// values as that one does.
    ///
    /// # Errors
    /// If it cannot be compiled or run.
    fn run_program(
        &self,
        program: &Program,
        call: &Call<'_>,
        inputs: &[Self::Buffer],
    ) -> Result<Vec<Self::Buffer>, Self::Error> {
        let found = self.cache().find(program, Name::new(call.function));
        let hit = found.is_compiled();
        let run = || {
            let compile = || self.compile(program, call.function);
            self.execute(&*found.get_or_compile(compile)?, inputs)
        };
        match global_sink() {
            None => run(),
            Some(sink) => traced(self, &*sink, program, call, &found, hit, run),
        }
    }
}

/// Which function of a program runs, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The function.
    pub function: &'a str,
    /// The lazy graph that asks for it.
    pub graph: Option<u64>,
    /// The values of the lazy graph that are asked for.
    pub targets: &'a [u64],
}

impl<'a> Call<'a> {
    /// A call of a function, for nobody in particular.
    #[must_use]
    pub fn new(function: &'a str) -> Self {
        Self { function, graph: None, targets: &[] }
    }
}

// Tells a sink before and after.
#[cold]
fn traced<B: Backend + ?Sized>(
    backend: &B,
    sink: &dyn ExecutionTraceSink,
    program: &Program,
    call: &Call<'_>,
    found: &Lookup<B::Compiled>,
    cache_hit: bool,
    run: impl FnOnce() -> Result<Vec<B::Buffer>, B::Error>,
) -> Result<Vec<B::Buffer>, B::Error> {
    let execution = Execution {
        id: next_run_id(),
        program,
        function: Name::new(call.function),
        backend: backend.name(),
        graph: call.graph,
        targets: call.targets,
        hash: found.hash(),
        cache_hit,
        started: SystemTime::now(),
    };
    sink.before(&execution);
    let mut told = Told { sink, execution, since: Instant::now(), outputs: None };
    let results = run();
    told.outputs = Some(match &results {
        Ok(buffers) => Ok(buffers.iter().map(|buffer| backend.type_of(buffer)).collect()),
        Err(error) => Err(error.to_string()),
    });
    results
}

// Tells the sink how a run ended, even if it ended in a panic.
struct Told<'a> {
    sink: &'a dyn ExecutionTraceSink,
    execution: Execution<'a>,
    since: Instant,
    outputs: Option<Result<Vec<ValueType>, String>>,
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        let duration: Duration = self.since.elapsed();
        let outputs = self.outputs.take().unwrap_or_else(|| Err("it panicked".into()));
        self.sink.after(&self.execution, &ExecutionResult { duration, outputs });
    }
}
