//! A log of the steps of passes, for reading.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use sapwood_ptir::{Function, InstId};

use crate::event::{ExecutionTraceSink, PassEvent, PassEventKind, replaced_names, value_name};

/// A sink that logs the steps of passes, one line each: the pass, the function, the step, its edits.
#[derive(Debug, Default)]
pub struct StepLogSink {
    log: Mutex<StepLogText>,
}

#[derive(Debug, Default)]
struct StepLogText {
    text: String,
    // The function of the last line, so that it is named only once.
    function: Option<String>,
}

impl StepLogSink {
    /// Returns an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the lines so far.
    #[must_use]
    pub fn text(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).text.clone()
    }
}

impl ExecutionTraceSink for StepLogSink {
    fn pass(&self, event: &PassEvent<'_>) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.add_event(event);
    }
}

impl StepLogText {
    fn add_event(&mut self, event: &PassEvent<'_>) {
        let margin = event.depth * 2;
        if let Some(function) = event.kind.function() {
            let name = function.name();
            if self.function.as_deref() != Some(name.as_str()) {
                self.function = Some(name.as_str().to_owned());
                let _ = writeln!(self.text, "{:margin$}  @{name}", "");
            }
        } else {
            self.function = None;
        }
        let line = match event.kind {
            PassEventKind::Start { .. } => event.pass.to_owned(),
            PassEventKind::Rewrite { pattern, function, inst } => {
                format!("    {pattern} at {}", with_scope(function, inst))
            }
            PassEventKind::Fold { function, inst } => {
                format!("    fold {}", with_scope(function, inst))
            }
            PassEventKind::Merge { function, inst } => {
                format!("    merge {}", with_scope(function, inst))
            }
            PassEventKind::Insert { function, inst } => {
                format!("      inserted {}", describe_inst(function, inst))
            }
            PassEventKind::Replace { function, from, to } => {
                let (from, to) = replaced_names(function, from, to);
                format!("      replaced {from} by {to}")
            }
            PassEventKind::Change { function, inst } => {
                format!("      changed {}", describe_inst(function, inst))
            }
            PassEventKind::Erase { function, inst } => {
                format!("      erased {}", with_scope(function, inst))
                    + &inner_ops(function, inst, margin)
            }
            PassEventKind::End { error: Some(error), .. } => {
                format!("{} failed: {}", event.pass, error.lines().next().unwrap_or_default())
            }
            PassEventKind::End { changed: false, .. } => "  nothing changed".into(),
            PassEventKind::End { .. } => return,
        };
        let _ = writeln!(self.text, "{:margin$}{line}", "");
    }
}

// Returns the op of an instruction with its first result, or with its id if it has no result.
fn describe_inst(function: &Function, inst: InstId) -> String {
    let op = function.op_name(inst);
    match function.value_of(inst) {
        Some(value) => format!("{op} {}", value_name(function, value)),
        None => format!("{op} {inst}"),
    }
}

// Returns the same, and the name of the op in the program that was read, such as that of an ONNX node.
fn with_scope(function: &Function, inst: InstId) -> String {
    let text = describe_inst(function, inst);
    match function.inst_span(inst).loc().scope() {
        Some(scope) => format!("{text} ({scope})"),
        None => text,
    }
}

// Returns a line for each op in the regions of an instruction that has a name in the program that was read: they are erased with it.
fn inner_ops(function: &Function, inst: InstId, margin: usize) -> String {
    let regions = function.regions(inst).iter();
    let inner = regions.flat_map(|&body| function.walk_body(body));
    let named = inner.filter(|&inst| function.inst_span(inst).loc().scope().is_some());
    named.fold(String::new(), |text, inst| {
        text + &format!("\n{:margin$}        with {}", "", with_scope(function, inst))
    })
}
