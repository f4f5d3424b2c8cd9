//! Trace events of passes.

use std::sync::Arc;
use std::time::Instant;

use sapwood_ptir::{Function, InstId, Program, ValueId};
use sapwood_trace::{ExecutionTraceSink, PassEvent, PassEventKind, global_sink, next_run_id};

use crate::passes::{Pass, PassError};
use crate::pipeline::print_pass;
use crate::rewriter::{Listener, NO_LISTENERS};

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
        let Some(running) = self.running.last() else { return };
        let event = PassEvent {
            run: self.run,
            index: running.index,
            depth: self.running.len() - 1,
            pass: &running.pass,
            kind,
        };
        for sink in &self.sinks {
            sink.pass(&event);
        }
    }

    /// Returns a listener that sends edits to the sinks.
    pub(crate) fn listener(&self) -> TraceListener<'_> {
        TraceListener { trace: self }
    }
}

impl std::fmt::Debug for PassTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassTrace").field("run", &self.run).finish_non_exhaustive()
    }
}

/// A listener that turns edits into trace events.
pub(crate) struct TraceListener<'a> {
    trace: &'a PassTrace,
}

/// The trace listener of a pass, if anything traces it.
pub(crate) type PassListener<'a> = Option<TraceListener<'a>>;

/// Returns the trace listener as a listener of a rewriter.
pub(crate) fn as_listener<'a>(listener: &'a mut PassListener<'_>) -> Option<&'a mut dyn Listener> {
    listener.as_mut().map(|listener| listener as &mut dyn Listener)
}

impl Listener for TraceListener<'_> {
    fn inserted(&mut self, function: &Function, inst: InstId) {
        self.trace.send(PassEventKind::Insert { function, inst });
    }

    fn replaced(&mut self, function: &Function, from: ValueId, to: ValueId) {
        self.trace.send(PassEventKind::Replace { function, from, to });
    }

    fn operands_changed(&mut self, function: &Function, inst: InstId) {
        self.trace.send(PassEventKind::Change { function, inst });
    }

    fn erased(&mut self, function: &Function, inst: InstId) {
        self.trace.send(PassEventKind::Erase { function, inst });
    }

    fn step(&mut self, function: &Function, name: &str, root: InstId) {
        self.trace.send(match name {
            "fold" => PassEventKind::Fold { function, inst: root },
            "cse" => PassEventKind::Merge { function, inst: root },
            // The erasure event that follows carries all the information.
            "dce" => return,
            pattern => PassEventKind::Rewrite { pattern, function, inst: root },
        });
    }
}
