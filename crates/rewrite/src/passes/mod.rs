//! Passes: transformations of whole programs. A pass is a struct whose fields are its options.

mod canonicalize;
mod cse;
mod dce;
mod each_function;
mod fixpoint;
mod fold;
mod greedy;
mod inline;
mod optimize;
mod simplify;
mod strip_spans;
mod symbol_dce;
mod verify;

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use sapwood_ptir::Program;
use sapwood_types::{Diagnostics, FloatMode, Progress};

use crate::greedy::GreedyStats;
use crate::pass_trace::{PassTrace, TraceListener, as_listener};
use crate::pipeline::PassInfo;
use crate::rewriter::{ProgramRewriter, RewriteError};

pub use cse::CsePass;
pub use dce::DcePass;
pub use each_function::FunctionContext;
pub(crate) use each_function::each_function;
pub use fixpoint::FixpointPass;
pub use greedy::{BasePatterns, GREEDY_OPTIONS, GreedyPass};
pub use inline::{InlinePass, inline_calls};
pub use strip_spans::StripSpansPass;
pub use symbol_dce::SymbolDcePass;
pub use verify::VerifyPass;

/// The methods of a shipped pass whose description is `INFO` in the same file: its name, and that it reports each change.
macro_rules! shipped_pass_methods {
    () => {
        fn name(&self) -> &'static str {
            INFO.name
        }

        fn reports_changes(&self) -> bool {
            true
        }
    };
}
pub(crate) use shipped_pass_methods;

/// A transformation of programs.
pub trait Pass: Any + Send + Sync {
    /// Returns the name of the pass in pipelines.
    fn name(&self) -> &'static str;

    /// Returns the options that differ from their defaults, as a pipeline writes them: `max-iterations=4`.
    fn options(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns the passes that this pass runs, if it runs others.
    fn inner(&self) -> &[Arc<dyn Pass>] {
        &[]
    }

    /// Returns the loosest float mode of the pass and of the passes that it runs.
    fn float_mode(&self) -> FloatMode {
        loosest_float_mode(self.inner())
    }

    /// Returns true if the pass, or a pass that it runs, may remove public functions.
    fn may_remove_functions(&self) -> bool {
        self.inner().iter().any(|pass| pass.may_remove_functions())
    }

    /// Returns the files that the pass, or a pass that it runs, was read from, such as files of rules.
    fn files(&self) -> Vec<PathBuf> {
        self.inner().iter().flat_map(|pass| pass.files()).collect()
    }

    /// Returns true if the pass, and every pass that it runs, reports each change. Of any other pass, a
    /// [`PassManager`](crate::PassManager) compares the programs before and after a run that reports none.
    fn reports_changes(&self) -> bool {
        false
    }

    /// Returns this pass with a maximum number of rewrites, at most its own, or none if it does not count rewrites.
    fn with_max_rewrites(&self, _limit: usize) -> Option<Arc<dyn Pass>> {
        None
    }

    /// Changes a program that verifies. Returns true if something was changed.
    ///
    /// # Errors
    /// If the pass cannot do its work. The program is then unspecified; a [`PassManager`](crate::PassManager) restores the
    /// old one.
    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError>;
}

/// Returns the loosest float mode of passes.
pub(crate) fn loosest_float_mode(passes: &[Arc<dyn Pass>]) -> FloatMode {
    passes.iter().map(|pass| pass.float_mode()).max().unwrap_or_default()
}

/// The inputs and outputs of a pass besides the program.
#[derive(Debug, Default)]
pub struct PassContext {
    /// The number of functions that may be processed at the same time; zero counts as one.
    pub threads: usize,
    /// The counters of the pass, in order.
    pub counters: Vec<(&'static str, usize)>,
    /// The statistics of the greedy driver, over all functions.
    pub greedy: Option<GreedyStats>,
    /// Warnings, for example that the pass did not converge.
    pub warnings: Vec<String>,
    // The trace, if there is a sink.
    pub(crate) trace: Option<PassTrace>,
}

impl PassContext {
    /// Returns a context for this number of threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { threads, ..Self::default() }
    }

    /// Reports the start of a pass to the trace and to the progress; it is inside the pass that runs already, if there is one.
    pub(crate) fn pass_started(&mut self, pass: &dyn Pass, program: &Program) {
        Progress::enter_phase(pass.name());
        if let Some(trace) = &mut self.trace {
            trace.start(pass, program);
        }
    }

    /// Returns the number of running passes, each inside the one before, or 0 without a trace.
    pub(crate) fn trace_depth(&self) -> usize {
        self.trace.as_ref().map_or(0, PassTrace::depth)
    }

    /// Reports the end of the pass that started last to the trace.
    pub(crate) fn pass_ended(&mut self, program: &Program, result: Result<bool, &PassError>) {
        if let Some(trace) = &mut self.trace {
            trace.end(program, result);
        }
    }

    /// Runs a function on a rewriter of each function of a program, on several threads if there are functions enough. Edits
    /// through the rewriter are traced; counters are added up. `work` returns true if it changed something; a function for which
    /// it returns false stays shared with other programs.
    ///
    /// ```
    /// use sapwood_ptir::{Program, ops::Neg};
    /// use sapwood_rewrite::{Pass, PassContext, PassError, PassManager};
    ///
    /// /// Replaces `-(-x)` by `x`.
    /// struct DoubleNegation;
    ///
    /// impl Pass for DoubleNegation {
    ///     fn name(&self) -> &'static str { "double-negation" }
    ///     fn run_on_program(&self, program: &mut Program, cx: &mut PassContext) -> Result<bool, PassError> {
    ///         cx.each_function(program, |rw, cx| {
    ///             for inst in rw.function().walk().collect::<Vec<_>>() {
    ///                 let Some(outer) = rw.op::<Neg>(inst) else { continue };
    ///                 let Some(inner) = rw.def::<Neg>(outer.input) else { continue };
    ///                 rw.replace_inst(inst, &[inner.input])?;
    ///                 cx.count("replaced", 1);
    ///             }
    ///             Ok(cx.has_counted())
    ///         })
    ///     }
    /// }
    ///
    /// let mut program = sapwood_ptir::parse(
    ///     "ptir 1 func @f(%x: f32[4]) -> f32[4] { %a = neg %x : f32[4] %b = neg %a : f32[4] return %b }",
    /// )?;
    /// let mut manager = PassManager::new();
    /// manager.add(DoubleNegation);
    /// let report = manager.run(&mut program)?;
    /// assert_eq!(report.passes[0].counters, [("replaced", 1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `work` fails or panics for a function. It ran on all functions all the same, and the first error is returned.
    pub fn each_function(
        &mut self,
        program: &mut Program,
        work: impl Fn(&mut ProgramRewriter<'_>, &mut FunctionContext) -> Result<bool, PassError> + Sync,
    ) -> Result<bool, PassError> {
        each_function(program, self, &|f, mut listener| {
            let mut cx = FunctionContext::default();
            let mut rw = ProgramRewriter::new(f);
            if let Some(listener) = as_listener(&mut listener) {
                rw.listen(listener);
            }
            let changed = work(&mut rw, &mut cx)?;
            Ok(cx.outcome(changed, rw.has_edited()))
        })
    }

    /// Returns a listener for edits that are not made through a rewriter, if anything traces the pass.
    #[must_use]
    pub fn listener(&self) -> Option<TraceListener<'_>> {
        self.trace.as_ref().map(PassTrace::listener)
    }

    /// Adds to a counter.
    pub fn count(&mut self, name: &'static str, n: usize) {
        add_count(&mut self.counters, name, n);
    }
}

pub(crate) fn add_count(counters: &mut Vec<(&'static str, usize)>, name: &'static str, n: usize) {
    match counters.iter_mut().find(|(known, _)| *known == name) {
        Some((_, total)) => *total += n,
        None => counters.push((name, n)),
    }
}

/// The reason why a pass failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// The program does not verify.
    #[error("the program does not verify:\n{0}")]
    Invalid(Diagnostics),
    /// A rewrite of a pattern made the program invalid.
    #[error("pattern `{pattern}` left a program that does not verify:\n{problems}")]
    InvalidRewrite {
        /// The name of the pattern.
        pattern: String,
        /// The diagnostics of the verifier.
        problems: Box<Diagnostics>,
    },
    /// The pass reported no change, but changed the program.
    #[error("it changed the program but reported no change: {0}")]
    ChangedWithoutReporting(String),
    /// The pass panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// The options of the pass cannot be satisfied.
    #[error("{0}")]
    Refused(String),
}

impl From<RewriteError> for PassError {
    fn from(error: RewriteError) -> Self {
        Self::Refused(format!("an edit was refused: {error}"))
    }
}

/// All passes that pipelines know.
pub static PASSES: &[&PassInfo] = &[
    &canonicalize::INFO,
    &cse::INFO,
    &dce::INFO,
    &fixpoint::INFO,
    &fold::INFO,
    &inline::INFO,
    &optimize::INFO,
    &simplify::INFO,
    &strip_spans::INFO,
    &symbol_dce::INFO,
    &verify::INFO,
];
