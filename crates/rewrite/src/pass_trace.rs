//! Trace events of passes.

use std::sync::Arc;
use std::time::Instant;

use sapwood_ptir::{Function, InstId, Program, ValueId};
use sapwood_trace::{ExecutionTraceSink, PassEvent, PassEventKind, global_sink, next_run_id};

use crate::passes::{Pass, PassError};
use crate::pipeline::print_pass;
use crate::rewriter::{Listener, NO_LISTENERS, StepKind};

/// The trace sinks of one run of a pipeline, and the passes that are running. It exists only if there is a sink.
pub(crate) struct PassTrace {
    sinks: Vec<Arc<dyn ExecutionTraceSink>>,
    run: u64,
    started: usize,
    // The running passes, each inside the one before.
    running: Vec<RunningPass>,
}

struct RunningPass {
    index: usize,
    pass: String,
    since: Instant,
}

impl PassTrace {
    /// Collects these sinks and the global one, each once; `None` if there are none.
    pub(crate) fn new(own: &[Arc<dyn ExecutionTraceSink>]) -> Option<Self> {
        if NO_LISTENERS {
            return None;
        }
        let mut sinks: Vec<Arc<dyn ExecutionTraceSink>> = Vec::new();
        for sink in own.iter().cloned().chain(global_sink()) {
            if !sinks.iter().any(|known| Arc::ptr_eq(known, &sink)) {
                sinks.push(sink);
            }
        }
        let tell = !sinks.is_empty();
        tell.then(|| Self { sinks, run: next_run_id(), started: 0, running: Vec::new() })
    }

    pub(crate) fn start(&mut self, pass: &dyn Pass, program: &Program) {
        let index = self.started;
        self.started += 1;
        self.running.push(RunningPass { index, pass: print_pass(pass), since: Instant::now() });
        self.send(PassEventKind::Start { program });
    }

    pub(crate) fn end(&mut self, program: &Program, result: Result<bool, &PassError>) {
        let Some(running) = self.running.last() else { return };
        let duration = running.since.elapsed();
        let error = result.err().map(ToString::to_string);
        let changed = result.unwrap_or(false);
        self.send(PassEventKind::End { program, changed, duration, error: error.as_deref() });
        self.running.pop();
    }

    /// Returns the number of running passes, each inside the one before.
    pub(crate) fn depth(&self) -> usize {
        self.running.len()
    }

    fn send(&self, kind: PassEventKind<'_>) {
        if !self.running.is_empty() {
            self.listener().send(kind);
        }
    }

    /// Returns a listener that sends edits of the pass that started last to the sinks.
    pub(crate) fn listener(&self) -> TraceListener<'_> {
        let (index, pass) = self.running.last().map_or((0, ""), |p| (p.index, p.pass.as_str()));
        let depth = self.running.len().saturating_sub(1);
        TraceListener { sinks: &self.sinks, run: self.run, index, depth, pass }
    }
}

impl std::fmt::Debug for PassTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassTrace").field("run", &self.run).finish_non_exhaustive()
    }
}

/// A listener that sends steps and edits to trace sinks, as events of one pass.
///
/// ```
/// use std::sync::Arc;
/// use sapwood_rewrite::{ProgramRewriter, TraceListener};
/// use sapwood_trace::{ExecutionTraceSink, StepLogSink};
///
/// let mut program = sapwood_ptir::parse(
///     "ptir 1 func @f(%x: f32[4]) -> f32[4] { %y = neg %x : f32[4] return %y }",
/// )?;
/// let f = program.function_mut("f").unwrap();
/// let x = f.params()[0];
/// let log = Arc::new(StepLogSink::new());
/// let sinks: [Arc<dyn ExecutionTraceSink>; 1] = [log.clone()];
/// let mut listener = TraceListener::new(&sinks, "by hand");
/// let mut rw = ProgramRewriter::new(f);
/// rw.listen(&mut listener);
/// let neg = rw.inst_of(rw.function().results()[0]).unwrap();
/// rw.replace_inst(neg, &[x])?;
/// assert_eq!(log.text(), "  @f\n      replaced %y by %x\n      erased neg %y\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct TraceListener<'a> {
    sinks: &'a [Arc<dyn ExecutionTraceSink>],
    run: u64,
    index: usize,
    depth: usize,
    pass: &'a str,
}

impl<'a> TraceListener<'a> {
    /// Returns a listener whose events belong to a pass of this name, the only one of its run.
    #[must_use]
    pub fn new(sinks: &'a [Arc<dyn ExecutionTraceSink>], pass: &'a str) -> Self {
        Self { sinks, run: next_run_id(), index: 0, depth: 0, pass }
    }

    fn send(&self, kind: PassEventKind<'_>) {
        let &Self { run, index, depth, pass, .. } = self;
        let event = PassEvent { run, index, depth, pass, kind };
        for sink in self.sinks {
            sink.pass(&event);
        }
    }
}

/// The trace listener of a pass, if anything traces it.
pub(crate) type PassListener<'a> = Option<TraceListener<'a>>;

/// Returns the trace listener as a listener of a rewriter.
pub(crate) fn as_listener<'a>(listener: &'a mut PassListener<'_>) -> Option<&'a mut dyn Listener> {
    listener.as_mut().map(|listener| listener as &mut dyn Listener)
}

impl Listener for TraceListener<'_> {
    fn inserted(&mut self, function: &Function, inst: InstId) {
        self.send(PassEventKind::Insert { function, inst });
    }

    fn replaced(&mut self, function: &Function, from: ValueId, to: ValueId) {
        self.send(PassEventKind::Replace { function, from, to });
    }

    fn operands_changed(&mut self, function: &Function, inst: InstId) {
        self.send(PassEventKind::Change { function, inst });
    }

    fn erased(&mut self, function: &Function, inst: InstId) {
        self.send(PassEventKind::Erase { function, inst });
    }

    fn step(&mut self, function: &Function, kind: StepKind<'_>, root: InstId) {
        self.send(match kind {
            StepKind::Fold => PassEventKind::Fold { function, inst: root },
            StepKind::Cse => PassEventKind::Merge { function, inst: root },
            // The erasure event that follows carries all the information.
            StepKind::Dce => return,
            StepKind::Pattern(_) | StepKind::Inline => {
                PassEventKind::Rewrite { pattern: kind.name(), function, inst: root }
            }
        });
    }
}
