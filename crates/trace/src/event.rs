//! Trace sinks and the events they get.

use std::time::{Duration, SystemTime};

use sapwood_ptir::{Function, InstId, Name, Program, ValueId, ValueType};
use sapwood_structural::Hash128;

/// A receiver of events of runs and passes. All methods do nothing by default. They may be called from several threads at the
/// same time, and must not wait for the run or the pass they report.
pub trait ExecutionTraceSink: Send + Sync {
    /// Reports that a program is about to run.
    fn before(&self, execution: &Execution<'_>) {
        let _ = execution;
    }

    /// Reports that a program has run or failed. Called once for every [`before`](Self::before), on the same thread.
    fn after(&self, execution: &Execution<'_>, finished: &ExecutionResult) {
        let _ = (execution, finished);
    }

    /// Reports that a pass starts, changes something, or ends. The events of one run of a pipeline are in order.
    fn pass(&self, event: &PassEvent<'_>) {
        let _ = event;
    }
}

/// A run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// The number of the run, unique in this process.
    pub id: u64,
    /// The program.
    pub program: &'a Program,
    /// The function that runs.
    pub function: Name,
    /// The backend that runs it.
    pub backend: &'a str,
    /// The lazy graph that requested the run, if any.
    pub graph: Option<u64>,
    /// The requested values of the lazy graph.
    pub targets: &'a [u64],
    /// The structural hash of the program, independent of the order of independent instructions.
    pub hash: Hash128,
    /// True if an equal program was compiled before.
    pub cache_hit: bool,
    /// The time at which the run started.
    pub started: SystemTime,
}

/// The result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct ExecutionResult {
    /// The duration of the run.
    pub duration: Duration,
    /// The types of the results, or the error.
    pub outputs: Result<Vec<ValueType>, String>,
}

/// An event of a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassEvent<'a> {
    /// The number of the run of the pipeline, unique in this process.
    pub run: u64,
    /// The index of the pass in its run, in the order in which passes start.
    pub index: usize,
    /// The number of passes around this one: 0 for the passes of the pipeline itself.
    pub depth: usize,
    /// The pass with its options, as pipelines write it.
    pub pass: &'a str,
    /// The kind of event.
    pub kind: PassEventKind<'a>,
}

/// The kind of an event of a pass. Ids are those of the function at this moment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PassEventKind<'a> {
    /// The pass starts.
    Start {
        /// The program as it is given to the pass.
        program: &'a Program,
    },
    /// A pattern is applied; its edits follow.
    Rewrite {
        /// The name of the pattern.
        pattern: &'a str,
        /// The function.
        function: &'a Function,
        /// The root of the pattern.
        inst: InstId,
    },
    /// An instruction is folded; the edits follow.
    Fold {
        /// The function.
        function: &'a Function,
        /// The instruction.
        inst: InstId,
    },
    /// An instruction is replaced by an equal one; the edits follow.
    Merge {
        /// The function.
        function: &'a Function,
        /// The instruction that is replaced.
        inst: InstId,
    },
    /// An instruction was inserted.
    Insert {
        /// The function.
        function: &'a Function,
        /// The new instruction.
        inst: InstId,
    },
    /// All uses of one value are now uses of another.
    Replace {
        /// The function.
        function: &'a Function,
        /// The value that was used before.
        from: ValueId,
        /// The value that is used now.
        to: ValueId,
    },
    /// Operands or attributes of an instruction changed.
    Change {
        /// The function.
        function: &'a Function,
        /// The instruction.
        inst: InstId,
    },
    /// An instruction is about to be erased with its regions; it can still be read. The terminator of a region whose
    /// instructions move elsewhere is erased without an event.
    Erase {
        /// The function.
        function: &'a Function,
        /// The instruction.
        inst: InstId,
    },
    /// The pass ends.
    End {
        /// The program as the pass leaves it. After a failure functions may be missing.
        program: &'a Program,
        /// True if the pass changed something.
        changed: bool,
        /// The duration of the pass.
        duration: Duration,
        /// The error, if the pass failed.
        error: Option<&'a str>,
    },
}

impl<'a> PassEventKind<'a> {
    /// Returns the name of the event in traces.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start { .. } => "start",
            Self::Rewrite { .. } => "rewrite",
            Self::Fold { .. } => "fold",
            Self::Merge { .. } => "merge",
            Self::Insert { .. } => "insert",
            Self::Replace { .. } => "replace",
            Self::Change { .. } => "change",
            Self::Erase { .. } => "erase",
            Self::End { .. } => "end",
        }
    }

    /// Returns the instruction of the event with its function, if it has one.
    #[must_use]
    pub fn inst(&self) -> Option<(&'a Function, InstId)> {
        match *self {
            Self::Rewrite { function, inst, .. }
            | Self::Fold { function, inst }
            | Self::Merge { function, inst }
            | Self::Insert { function, inst }
            | Self::Change { function, inst }
            | Self::Erase { function, inst } => Some((function, inst)),
            Self::Start { .. } | Self::Replace { .. } | Self::End { .. } => None,
        }
    }

    /// Returns the function of the event; `None` for start and end.
    #[must_use]
    pub fn function(&self) -> Option<&'a Function> {
        match *self {
            Self::Replace { function, .. } => Some(function),
            _ => self.inst().map(|(function, _)| function),
        }
    }
}

/// Returns the names of a value and of its replacement. If they are equal because the name moved along, the second is the id.
pub(crate) fn replaced_names(function: &Function, from: ValueId, to: ValueId) -> (String, String) {
    let (old, new) = (value_name(function, from), value_name(function, to));
    if old == new { (old, to.to_string()) } else { (old, new) }
}

/// Returns the name of a value in traces: its name hint, or its id.
pub(crate) fn value_name(function: &Function, value: ValueId) -> String {
    match function.hint(value) {
        Some(hint) => format!("%{hint}"),
        None => value.to_string(),
    }
}
