//! The pass manager, which runs passes one after the other.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sapwood_ptir::structural::{Mode, first_mismatch};
use sapwood_ptir::{Program, verify};
use sapwood_trace::ExecutionTraceSink;
use sapwood_types::{FloatMode, Progress, SourceErrors, panic_message};

use super::first_rewrite::find_first_rewrite;
use super::parse::{PipelineParser, parse_pipeline, print_pass, print_pipeline};
use super::program_diff::ProgramSnapshot;
use super::report::{PassReport, RunReport};
use super::reproducer::Reproducer;
use crate::assumptions::assumption_counters;
use crate::pass_trace::PassTrace;
use crate::passes::{Pass, PassContext, PassError, loosest_float_mode};

/// A list of passes and the settings of their run.
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
    passes: Vec<Arc<dyn Pass>>,
    threads: usize,
    verify_each: bool,
    print_changes: bool,
    assume_verified: bool,
    in_place: bool,
    reproducer: Option<PathBuf>,
    sinks: Vec<Arc<dyn ExecutionTraceSink>>,
}

/// The failure of a run. The program is as it was before the run.
#[derive(thiserror::Error)]
#[error("{}{error}", .pass.as_ref().map(|p| format!("pass `{p}`: ")).unwrap_or_default())]
pub struct PipelineFailure {
    /// The pass that failed; `None` if the program did not verify before the first.
    pub pass: Option<String>,
    /// The reason.
    pub error: PassError,
    /// The reproducer: running it fails again.
    pub reproducer: Option<Box<Reproducer>>,
    /// The path of the written reproducer, or the reason why it could not be written; `None` if no path was given.
    pub written: Option<Result<PathBuf, String>>,
}

impl fmt::Debug for PipelineFailure {
    /// Writes the failure as `Display` does: `main` prints the error that it returns in this form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Vec<Arc<dyn Pass>>> for PassManager {
    fn from(passes: Vec<Arc<dyn Pass>>) -> Self {
        Self { passes, ..Self::default() }
    }
}

impl PassManager {
    /// Returns a manager without passes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a manager with the passes of a pipeline.
    ///
    /// # Errors
    /// If the pipeline cannot be parsed, with all diagnostics.
    pub fn parse(pipeline: &str) -> Result<Self, SourceErrors> {
        Ok(parse_pipeline(pipeline)?.into())
    }

    /// Returns a manager with the passes of a pipeline that may name more passes than those of this crate, and files of rules.
    ///
    /// # Errors
    /// If the pipeline cannot be parsed, with all diagnostics.
    pub fn parse_with(pipeline: &str, parser: &PipelineParser<'_>) -> Result<Self, SourceErrors> {
        Ok(parser.parse(pipeline)?.into())
    }

    /// Adds a pass at the end.
    pub fn add(&mut self, pass: impl Pass + 'static) {
        self.passes.push(Arc::new(pass));
    }

    /// Returns the passes.
    #[must_use]
    pub fn passes(&self) -> &[Arc<dyn Pass>] {
        &self.passes
    }

    /// Returns the loosest float mode of the passes.
    #[must_use]
    pub fn float_mode(&self) -> FloatMode {
        loosest_float_mode(&self.passes)
    }

    /// Returns true if a pass may remove public functions.
    #[must_use]
    pub fn may_remove_functions(&self) -> bool {
        self.passes.iter().any(|pass| pass.may_remove_functions())
    }

    /// Sets the number of functions to process at the same time. The result does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Enables verification after each pass that changed something.
    #[must_use]
    pub fn verify_each(mut self, yes: bool) -> Self {
        self.verify_each = yes;
        self
    }

    /// Enables a diff of the program for each pass.
    #[must_use]
    pub fn print_changes(mut self, yes: bool) -> Self {
        self.print_changes = yes;
        self
    }

    /// Sets the file to which a reproducer is written when a pass fails.
    #[must_use]
    pub fn reproducer(mut self, path: impl Into<PathBuf>) -> Self {
        self.reproducer = Some(path.into());
        self
    }

    /// Skips the verification before the first pass, for programs that were just parsed or come from another run.
    #[must_use]
    pub fn assume_verified(mut self, yes: bool) -> Self {
        self.assume_verified = yes;
        self
    }

    /// Changes functions in place instead of keeping a snapshot of the program: less memory, no copies. After a failure the
    /// program may lack functions.
    #[must_use]
    pub fn in_place(mut self, yes: bool) -> Self {
        self.in_place = yes;
        self
    }

    /// Adds a trace sink for the passes and every edit they make. The global sink
    /// ([`install_global_sink`](sapwood_trace::install_global_sink)) gets the events in any case. With a sink, functions are
    /// processed one after the other.
    #[must_use]
    pub fn trace(mut self, sink: Arc<dyn ExecutionTraceSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Returns the passes as text.
    #[must_use]
    pub fn pipeline(&self) -> String {
        print_pipeline(&self.passes)
    }

    /// Runs all passes on a program.
    ///
    /// # Errors
    /// If the program does not verify, or a pass fails. Then the program is as it was.
    pub fn run(&self, program: &mut Program) -> Result<RunReport, PipelineFailure> {
        let start = Instant::now();
        let mut report = RunReport::default();
        if !self.assume_verified {
            verify(program).map_err(|problems| PipelineFailure {
                pass: None,
                error: PassError::Invalid(problems),
                reproducer: None,
                written: None,
            })?;
            report.verify_time = start.elapsed();
        }
        let snapshot = (!self.in_place).then(|| program.clone());
        let mut trace = PassTrace::new(&self.sinks);
        for (n, pass) in self.passes.iter().enumerate() {
            match self.run_pass(&**pass, program, &mut trace) {
                Ok(done) => report.passes.push(done),
                Err(error) => return Err(self.restore_and_report(n, error, program, snapshot)),
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
        cx.pass_started(pass, program);
        let depth = cx.trace_depth();
        let result = self.run_and_verify(pass, program, &mut cx);
        // If a nested pass panicked, the passes around it did not report their end.
        while cx.trace_depth() > depth {
            cx.pass_ended(program, result.as_ref().map(|report| report.changed));
        }
        cx.pass_ended(program, result.as_ref().map(|report| report.changed));
        *trace = cx.trace;
        result
    }

    fn run_and_verify(
        &self,
        pass: &dyn Pass,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<PassReport, PassError> {
        let before = self.print_changes.then(|| ProgramSnapshot::new(program));
        let old = (!pass.reports_changes()).then(|| program.clone());
        let start = Instant::now();
        let ran = catch_unwind(AssertUnwindSafe(|| pass.run_on_program(program, cx)));
        let changed = ran.map_err(|p| PassError::Panicked(panic_message(&*p)))??;
        let time = start.elapsed();
        if let Some(old) = old.filter(|_| !changed)
            && let Some(mismatch) = unreported_change(&old, program)
        {
            return Err(PassError::ChangedWithoutReporting(mismatch));
        }
        let start = Instant::now();
        // A valid program that did not change is still valid; debug builds do not rely on the pass for that.
        let verify_now = self.verify_each && (changed || cfg!(debug_assertions));
        if verify_now {
            Progress::enter_phase("verify");
            verify(program).map_err(PassError::Invalid)?;
        }
        let verify_time = if verify_now { start.elapsed() } else { Duration::ZERO };
        let mut counters = std::mem::take(&mut cx.counters);
        if let Some(greedy) = &cx.greedy {
            // Few of all patterns fire.
            let fired: Vec<_> = greedy.patterns.iter().filter(|p| p.applied > 0).collect();
            let applied = |name: &str| {
                fired.iter().find(|pattern| pattern.name == name).map_or(0, |p| p.applied)
            };
            counters.extend(assumption_counters(applied));
        }
        Ok(PassReport {
            name: print_pass(pass),
            time,
            verify_time,
            changed,
            counters,
            greedy: cx.greedy.take(),
            diff: before.filter(|_| changed).map(|before| before.diff(program)),
            warnings: std::mem::take(&mut cx.warnings),
        })
    }

    // Finds the pattern whose rewrite made the program invalid, by running the passes up to the one that failed again.
    fn find_invalid_rewrite(&self, n: usize, old: &Program) -> Option<String> {
        let mut before = old.clone();
        Self::from(self.passes[..n].to_vec()).assume_verified(true).run(&mut before).ok()?;
        let mut after = before.clone();
        let failed = vec![self.passes[n].clone()];
        Self::from(failed).assume_verified(true).run(&mut after).ok()?;
        find_first_rewrite(&*self.passes[n], &before, &after, &|p| verify(p).is_err())
    }

    fn restore_and_report(
        &self,
        n: usize,
        error: PassError,
        program: &mut Program,
        snapshot: Option<Program>,
    ) -> PipelineFailure {
        let mut failure = PipelineFailure {
            pass: Some(print_pass(&*self.passes[n])),
            error,
            reproducer: None,
            written: None,
        };
        let Some(old) = snapshot else { return failure };
        if let PassError::Invalid(problems) = &failure.error
            && let Some(pattern) = self.find_invalid_rewrite(n, &old)
        {
            let problems = Box::new(problems.clone());
            failure.error = PassError::InvalidRewrite { pattern, problems };
        }
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

// Returns the first difference between two programs. Functions that they share are not compared.
fn unreported_change(old: &Program, new: &Program) -> Option<String> {
    let (a, b) = (old.functions(), new.functions());
    if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b)) {
        return None;
    }
    first_mismatch(old, new, Mode::Ordered).map(|mismatch| mismatch.to_string())
}
