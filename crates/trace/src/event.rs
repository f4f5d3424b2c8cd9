//! What sinks are told.

use std::time::{Duration, SystemTime};

use sapwood_ptir::{Function, InstId, Name, Program, ValueId, ValueType};
use sapwood_structural::Hash128;

/// Somebody who is told about runs and passes. All methods do nothing unless written. They may be called from several
/// threads at the same time, and must not wait for what they are told about.
pub trait ExecutionTraceSink: Send + Sync {
    /// A program is about to run.
    fn before(&self, execution: &Execution<'_>) {
        let _ = execution;
    }

    /// It has run, or failed. Comes once for every [`before`](Self::before), on the same thread.
    fn after(&self, execution: &Execution<'_>, finished: &Finished) {
        let _ = (execution, finished);
    }

    /// A pass starts, changes something, or ends. Events of one run of a pipeline come in order.
    fn pass(&self, event: &PassEvent<'_>) {
        let _ = event;
    }
}

/// A run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// Its number: no other run of this process has it.
    pub id: u64,
    /// The program.
    pub program: &'a Program,
    /// The function that runs.
    pub function: Name,
    /// The backend that runs it.
    pub backend: &'a str,
    /// The lazy graph that asked for it, if one did.
    pub graph: Option<u64>,
    /// The values of the lazy graph that were asked for.
    pub targets: &'a [u64],
    /// The structural hash of the program, the order of independent instructions left out.
    pub hash: Hash128,
    /// Whether an equal program was compiled before.
    pub cache_hit: bool,
    /// When it started.
    pub started: SystemTime,
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// How long it took.
    pub duration: Duration,
    /// The types of its results, or why there are none.
    pub outputs: Result<Vec<ValueType>, String>,
}

/// Something that happens in a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassEvent<'a> {
    /// The run of a pipeline: no other run of this process has this number.
    pub run: u64,
    /// The pass among those of its run, in the order in which they started.
    pub index: usize,
    /// How many passes it runs in: 0 for those of the pipeline itself.
    pub depth: usize,
    /// The pass with its options, as pipelines state it.
    pub pass: &'a str,
    /// What happens.
    pub kind: PassEventKind<'a>,
}

/// What happens in a pass. Ids are those of the function as it stands at this moment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PassEventKind<'a> {
    /// It starts.
    Start {
        /// The program as it is given to the pass.
        program: &'a Program,
    },
    /// A pattern is applied; the edits that follow are its.
    Rewrite {
        /// Its name.
        pattern: &'a str,
        /// Where.
        function: &'a Function,
        /// Its root.
        inst: InstId,
    },
    /// An instruction is folded; the edits that follow are its.
    Fold {
        /// Where.
        function: &'a Function,
        /// The instruction.
        inst: InstId,
    },
    /// An instruction gives way to an equal one; the edits that follow are its.
    Merge {
        /// Where.
        function: &'a Function,
        /// The instruction that goes.
        inst: InstId,
    },
    /// An instruction was inserted.
    Insert {
        /// Where.
        function: &'a Function,
        /// The new instruction.
        inst: InstId,
    },
    /// All uses of one value are now uses of another.
    Replace {
        /// Where.
        function: &'a Function,
        /// The value that was used.
        from: ValueId,
        /// The value that is.
        to: ValueId,
    },
    /// Operands or attributes of an instruction are others now.
    Change {
        /// Where.
        function: &'a Function,
        /// The instruction.
        inst: InstId,
    },
    /// An instruction goes, with its regions; it can be looked at a last time. The terminator of a region whose
    /// instructions move elsewhere goes without an event of its own.
    Erase {
        /// Where.
        function: &'a Function,
        /// The instruction.
        inst: InstId,
    },
    /// It ends.
    End {
        /// The program as the pass leaves it. After a failure functions may be missing.
        program: &'a Program,
        /// Whether it changed something.
        changed: bool,
        /// How long it took.
        duration: Duration,
        /// Why it failed, if it did.
        error: Option<&'a str>,
    },
}

impl<'a> PassEventKind<'a> {
    /// Its name, as traces write it.
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

    /// The instruction it is about, if it is about one, with its function.
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

    /// The function it happens in; `None` for start and end.
    #[must_use]
    pub fn function(&self) -> Option<&'a Function> {
        match *self {
            Self::Replace { function, .. } => Some(function),
            _ => self.inst().map(|(function, _)| function),
        }
    }
}

/// A value and what took its place. A name that moved along says which of the two it is only with the id.
pub(crate) fn replaced_names(function: &Function, from: ValueId, to: ValueId) -> (String, String) {
    let (old, new) = (value_name(function, from), value_name(function, to));
    if old == new { (old, to.to_string()) } else { (old, new) }
}

/// A value as a trace calls it: by the name it was given, or by its id.
pub(crate) fn value_name(function: &Function, value: ValueId) -> String {
    match function.hint(value) {
        Some(hint) => format!("%{hint}"),
        None => value.to_string(),
    }
}
