//! What passes tell the sinks of a trace.

use std::sync::Arc;
use std::time::Instant;

use sapwood_ptir::{Function, InstId, Program, ValueId};
use sapwood_trace::{ExecutionTraceSink, PassEvent, PassEventKind, current, next_number};

use crate::passes::{Pass, PassError};
use crate::pipeline::print_pass;
use crate::rewriter::{DEAF, Listener};

/// Who is told about a run of a pipeline, and which passes are running. There is none if nobody is to be told.
pub(crate) struct PassTrace {
    sinks: Vec<Arc<dyn ExecutionTraceSink>>,
    run: u64,
    started: usize,
    // The passes that run, each in the one before.
    running: Vec<Running>,
}

struct Running {
    index: usize,
    pass: String,
    since: Instant,
}

impl PassTrace {
    /// For these sinks and that of the process, each once, if there are any.
    pub(crate) fn new(own: &[Arc<dyn ExecutionTraceSink>]) -> Option<Self> {
        if DEAF {
            return None;
        }
        let mut sinks: Vec<Arc<dyn ExecutionTraceSink>> = Vec::new();
        for sink in own.iter().cloned().chain(current()) {
            if !sinks.iter().any(|known| Arc::ptr_eq(known, &sink)) {
                sinks.push(sink);
            }
        }
        let tell = !sinks.is_empty();
        tell.then(|| Self { sinks, run: next_number(), started: 0, running: Vec::new() })
    }

    pub(crate) fn start(&mut self, pass: &dyn Pass, program: &Program) {
        let index = self.started;
        self.started += 1;
        self.running.push(Running { index, pass: print_pass(pass), since: Instant::now() });
        self.tell(PassEventKind::Start { program });
    }

    pub(crate) fn end(&mut self, program: &Program, result: Result<bool, &PassError>) {
        let Some(running) = self.running.last() else { return };
        let duration = running.since.elapsed();
        let error = result.err().map(ToString::to_string);
        let changed = result.unwrap_or(false);
        self.tell(PassEventKind::End { program, changed, duration, error: error.as_deref() });
        self.running.pop();
    }

    /// How many passes run, each in the one before.
    pub(crate) fn depth(&self) -> usize {
        self.running.len()
    }

    fn tell(&self, kind: PassEventKind<'_>) {
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

    /// Somebody for a rewriter to tell.
    pub(crate) fn listener(&self) -> TraceListener<'_> {
        TraceListener { trace: self }
    }
}

impl std::fmt::Debug for PassTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassTrace").field("run", &self.run).finish_non_exhaustive()
    }
}

/// Turns what a rewriter tells into events.
pub(crate) struct TraceListener<'a> {
    trace: &'a PassTrace,
}

/// The one who is told, if there is one.
pub(crate) type Listening<'a> = Option<TraceListener<'a>>;

/// The same as somebody for a rewriter to tell.
pub(crate) fn told<'a>(listener: &'a mut Listening<'_>) -> Option<&'a mut dyn Listener> {
    listener.as_mut().map(|listener| listener as &mut dyn Listener)
}

impl Listener for TraceListener<'_> {
    fn inserted(&mut self, function: &Function, inst: InstId) {
        self.trace.tell(PassEventKind::Insert { function, inst });
    }

    fn replaced(&mut self, function: &Function, from: ValueId, to: ValueId) {
        self.trace.tell(PassEventKind::Replace { function, from, to });
    }

    fn operands_changed(&mut self, function: &Function, inst: InstId) {
        self.trace.tell(PassEventKind::Change { function, inst });
    }

    fn erased(&mut self, function: &Function, inst: InstId) {
        self.trace.tell(PassEventKind::Erase { function, inst });
    }

    fn step(&mut self, function: &Function, name: &str, root: InstId) {
        self.trace.tell(match name {
            "fold" => PassEventKind::Fold { function, inst: root },
            "cse" => PassEventKind::Merge { function, inst: root },
            // The erasure that follows says it all.
            "dce" => return,
            pattern => PassEventKind::Rewrite { pattern, function, inst: root },
        });
    }
}
