//! Passes: what runs over whole programs. A pass is a struct whose fields are its options.

mod canonicalize;
mod cse;
mod dce;
mod each;
mod fixpoint;
mod fold;
mod inline;
mod simplify;
mod strip_spans;
mod symbol_dce;
mod verify;

use sapwood_ptir::Program;
use sapwood_types::Diagnostics;

use crate::greedy::GreedyStats;
use crate::pass_trace::PassTrace;
use crate::pipeline::PassInfo;

pub use canonicalize::CanonicalizePass;
pub use cse::CsePass;
pub use dce::DcePass;
pub(crate) use each::each_function;
pub use fixpoint::FixpointPass;
pub use fold::FoldPass;
pub use inline::{InlinePass, inline_calls};
pub use simplify::SimplifyPass;
pub use strip_spans::StripSpansPass;
pub use symbol_dce::SymbolDcePass;
pub use verify::VerifyPass;

/// Something that changes programs.
pub trait Pass: Send + Sync {
    /// The name it has in pipelines.
    fn name(&self) -> &'static str;

    /// Its options as a pipeline states them, defaults left out: `max-iterations=4`.
    fn options(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The passes it runs, if it is one that does.
    fn inner(&self) -> &[Box<dyn Pass>] {
        &[]
    }

    /// Changes a program that verifies. Whether something was changed.
    ///
    /// # Errors
    /// If it cannot do its work. What the program is then is not said; a [`PassManager`](crate::PassManager) gives the
    /// old one back.
    fn run_on_program(
        &self,
        program: &mut Program,
        cx: &mut PassContext,
    ) -> Result<bool, PassError>;
}

/// What a pass is told and what it tells.
#[derive(Debug, Default)]
pub struct PassContext {
    /// How many functions may be worked on at the same time; zero counts as one.
    pub threads: usize,
    /// What the pass counted, in order.
    pub counters: Vec<(&'static str, usize)>,
    /// What the greedy driver did, over all functions.
    pub greedy: Option<GreedyStats>,
    /// What is worth saying, such as that it did not converge.
    pub warnings: Vec<String>,
    // Who is told what happens; nobody most of the time.
    pub(crate) trace: Option<PassTrace>,
}

impl PassContext {
    /// A context for this many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { threads, ..Self::default() }
    }

    /// A pass starts, in the one that runs already if there is one.
    pub(crate) fn started(&mut self, pass: &dyn Pass, program: &Program) {
        if let Some(trace) = &mut self.trace {
            trace.start(pass, program);
        }
    }

    /// How many passes run, each in the one before, if somebody is told.
    pub(crate) fn depth(&self) -> usize {
        self.trace.as_ref().map_or(0, PassTrace::depth)
    }

    /// The pass that started last ends.
    pub(crate) fn ended(&mut self, program: &Program, result: Result<bool, &PassError>) {
        if let Some(trace) = &mut self.trace {
            trace.end(program, result);
        }
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

/// Why a pass failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// The program does not verify.
    #[error("the program does not verify:\n{0}")]
    Invalid(Diagnostics),
    /// The pass panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// It cannot do what its options ask for.
    #[error("{0}")]
    Refused(String),
}

/// All passes that pipelines know.
pub const PASSES: &[&PassInfo] = &[
    &canonicalize::INFO,
    &cse::INFO,
    &dce::INFO,
    &fold::INFO,
    &inline::INFO,
    &simplify::INFO,
    &strip_spans::INFO,
    &symbol_dce::INFO,
    &verify::INFO,
];
