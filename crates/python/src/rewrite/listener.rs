//! Trace sinks that pass the events of passes to a Python function.

use std::sync::{Arc, PoisonError};

use pyo3::prelude::*;
use sapwood::ptir::{Function, ValueId};
use sapwood::rewrite::PassManager;
use sapwood::trace::{ExecutionTraceSink, PassEvent, PassEventKind};

use super::pattern::FirstException;

/// A Python function that is called with `(kind, pass, depth, function, pattern, text)`.
struct PythonListener {
    function: Py<PyAny>,
    raised: FirstException,
}

impl ExecutionTraceSink for PythonListener {
    fn pass(&self, event: &PassEvent<'_>) {
        let raised = || self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        if raised().is_some() {
            return;
        }
        let kind = &event.kind;
        let pattern = match kind {
            PassEventKind::Rewrite { pattern, .. } => Some(*pattern),
            _ => None,
        };
        let function = kind.function().map(|f| f.name().as_str());
        let arguments = (kind.name(), event.pass, event.depth, function, pattern, event_text(kind));
        let done = Python::attach(|py| self.function.bind(py).call1(arguments).map(drop));
        if let Err(error) = done {
            *raised() = Some(error);
        }
    }
}

/// Describes the subject of an event: an instruction by its op and first result, or a replaced value and its replacement. Values have the
/// names from the source, or their numbers, because assigning names to all values would take time linear in the function.
fn event_text(kind: &PassEventKind<'_>) -> String {
    if let PassEventKind::End { error: Some(error), .. } = kind {
        return (*error).to_owned();
    }
    if let PassEventKind::Replace { function, from, to } = kind {
        return format!("{} by {}", value_name(function, *from), value_name(function, *to));
    }
    let Some((function, inst)) = kind.inst() else { return String::new() };
    let op = function.op_name(inst);
    match function.value_of(inst) {
        Some(value) => format!("{op} {}", value_name(function, value)),
        None => op.to_owned(),
    }
}

fn value_name(function: &Function, value: ValueId) -> String {
    function.hint(value).map_or_else(|| value.to_string(), |hint| format!("%{hint}"))
}

/// Attaches a listener to a pass manager, which then runs on this thread only. `raised` receives the listener's first exception.
pub(super) fn attach_listener(
    manager: PassManager,
    listener: Py<PyAny>,
    raised: &FirstException,
) -> PassManager {
    let sink = Arc::new(PythonListener { function: listener, raised: raised.clone() });
    manager.threads(1).trace(sink)
}
