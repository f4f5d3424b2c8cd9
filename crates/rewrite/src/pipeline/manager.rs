//! Running passes one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sapwood_ptir::{Program, verify};
use sapwood_trace::ExecutionTraceSink;

use super::changes::Before;
use super::info::PassInfo;
use super::parse::{parse_pipeline, parse_pipeline_with, print_pass, print_pipeline};
use super::report::{PassReport, RunReport};
use super::reproducer::Reproducer;
use crate::greedy::panic_message;
use crate::pass_trace::PassTrace;
use crate::passes::{Pass, PassContext, PassError};

/// Passes and how they are run.
///
/// ```
/// use sapwood_rewrite::PassManager;
///
/// let mut program = sapwood_ptir::parse(
///     "ptir 1 func @f(%x: f32[4]) -> (f32[4], f32[4]) { %a = exp %x : f32[4] %b = exp %x : f32[4] return %a, %b }",
/// )?;
/// let report = PassManager::parse("canonicalize,cse,dce")?.run(&mut program)?;
/// assert!(report.changed());
/// assert_eq!(program.num_insts(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct PassManager {
    passes: Vec<Box<dyn Pass>>,
    threads: usize,
    verify_each: bool,
    print_changes: bool,
    unchecked: bool,
    in_place: bool,
    reproducer: Option<PathBuf>,
    sinks: Vec<Arc<dyn ExecutionTraceSink>>,
}

/// Why a run failed. The program is as it was before the run.
#[derive(Debug, thiserror::Error)]
#[error("{}{error}", .pass.as_ref().map(|p| format!("pass `{p}`: ")).unwrap_or_default())]
pub struct Failure {
    /// The pass that failed; `None` if the program did not verify before the first.
    pub pass: Option<String>,
    /// Why.
    pub error: PassError,
    /// What makes it fail again.
    pub reproducer: Option<Box<Reproducer>>,
    /// Where the reproducer was written, if that was asked for; or why it could not be.
    pub written: Option<Result<PathBuf, String>>,
}

impl PassManager {
    /// Without passes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The passes of a pipeline.
    ///
    /// # Errors
    /// With everything that is wrong with the text.
    pub fn parse(pipeline: &str) -> Result<Self, sapwood_types::Diagnostics> {
        Ok(Self { passes: parse_pipeline(pipeline)?, ..Self::default() })
    }

    /// The passes of a pipeline that may name more passes than those of this crate.
    ///
    /// # Errors
    /// With everything that is wrong with the text.
    pub fn parse_with(
        pipeline: &str,
        more: &[&PassInfo],
    ) -> Result<Self, sapwood_types::Diagnostics> {
        Ok(Self { passes: parse_pipeline_with(pipeline, more)?, ..Self::default() })
    }

    /// Adds a pass at the end.
    pub fn add(&mut self, pass: impl Pass + 'static) {
        self.passes.push(Box::new(pass));
    }

    /// Works on this many functions at the same time. What comes out is the same.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Verifies after each pass that changed something.
    #[must_use]
    pub fn verify_each(mut self, yes: bool) -> Self {
        self.verify_each = yes;
        self
    }

    /// Keeps a diff of what each pass changed.
    #[must_use]
    pub fn print_changes(mut self, yes: bool) -> Self {
        self.print_changes = yes;
        self
    }

    /// Writes a reproducer to this file when a pass fails.
    #[must_use]
    pub fn reproducer(mut self, path: impl Into<PathBuf>) -> Self {
        self.reproducer = Some(path.into());
        self
    }

    /// Leaves out the verification before the first pass, for programs that were just read or made by another run.
    #[must_use]
    pub fn assume_verified(mut self, yes: bool) -> Self {
        self.unchecked = yes;
        self
    }

    /// Changes functions in place instead of keeping the old program for a failure: less memory, no copies. After a
    /// failure the program may lack functions.
    #[must_use]
    pub fn in_place(mut self, yes: bool) -> Self {
        self.in_place = yes;
        self
    }

    /// Tells somebody about passes and every edit they make; the sink of the process
    /// ([`install_global_sink`](sapwood_trace::install_global_sink)) is told in any case. Functions are then worked on
    /// one after the other.
    #[must_use]
    pub fn trace(mut self, sink: Arc<dyn ExecutionTraceSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// The passes as text.
    #[must_use]
    pub fn pipeline(&self) -> String {
        print_pipeline(&self.passes)
    }

    /// Runs all passes.
    ///
    /// # Errors
    /// If the program does not verify, or a pass fails. Then the program is as it was.
    pub fn run(&self, program: &mut Program) -> Result<RunReport, Failure> {
        let start = Instant::now();
        let mut report = RunReport::default();
        if !self.unchecked {
            verify(program).map_err(|problems| Failure {
                pass: None,
                error: PassError::Invalid(problems),
                reproducer: None,
                written: None,
            })?;
            report.verify_time = start.elapsed();
        }
        let kept = (!self.in_place).then(|| program.clone());
        let mut trace = PassTrace::new(&self.sinks);
        for (n, pass) in self.passes.iter().enumerate() {
            match self.run_pass(&**pass, program, &mut trace) {
                Ok(done) => report.passes.push(done),
                Err(error) => return Err(self.fail(n, error, program, kept)),
            }
        }
        report.time = start.elapsed();
        Ok(report)
    }

    fn run_pass(
        &self,
        pass: &dyn Pass,
        program: &mut Program,
        trace: &mut Option<PassTrace>,
    ) -> Result<PassReport, PassError> {
        let mut cx = PassContext { trace: trace.take(), ..PassContext::new(self.threads) };
        cx.started(pass, program);
        let depth = cx.depth();
        let result = self.run_in(pass, program, &mut cx);
        // One that panicked ran in others, which did not get to say that they ended.
        while cx.depth() > depth {
            cx.ended(program, result.as_ref().map(|report| report.changed));
        }
        cx.ended(program, result.as_ref().map(|report| report.changed));
        *trace = cx.trace;
        result
    }

    fn run_in(
        &self,
        pass: &dyn Pass,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<PassReport, PassError> {
        let before = self.print_changes.then(|| Before::new(program));
        let start = Instant::now();
        let ran = catch_unwind(AssertUnwindSafe(|| pass.run_on_program(program, cx)));
        let changed = ran.map_err(|p| PassError::Panicked(panic_message(&*p)))??;
        let time = start.elapsed();
        let start = Instant::now();
        // A program that was right and did not change is right; where checks are on, passes are not taken at their word.
        let verify_now = self.verify_each && (changed || cfg!(debug_assertions));
        if verify_now {
            verify(program).map_err(PassError::Invalid)?;
        }
        let verify_time = if verify_now { start.elapsed() } else { Duration::ZERO };
        Ok(PassReport {
            name: print_pass(pass),
            time,
            verify_time,
            changed,
            counters: std::mem::take(&mut cx.counters),
            greedy: cx.greedy.take(),
            diff: before.filter(|_| changed).map(|before| before.diff(program)),
            warnings: std::mem::take(&mut cx.warnings),
        })
    }

    fn fail(
        &self,
        n: usize,
        error: PassError,
        program: &mut Program,
        kept: Option<Program>,
    ) -> Failure {
        let mut failure = Failure {
            pass: Some(print_pass(&*self.passes[n])),
            error,
            reproducer: None,
            written: None,
        };
        let Some(old) = kept else { return failure };
        let pipeline = print_pipeline(&self.passes[..=n]);
        let reproducer = Reproducer::new(&old, pipeline, &failure.error.to_string());
        failure.written = self.reproducer.as_ref().map(|path| match reproducer.write(path) {
            Ok(()) => Ok(path.clone()),
            Err(error) => Err(format!("{}: {error}", path.display())),
        });
        failure.reproducer = Some(Box::new(reproducer));
        *program = old;
        failure
    }
}
