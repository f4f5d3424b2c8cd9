//! Events of passes as JSON lines, and programs after passes.

use std::fs;
use std::path::Path;

use sapwood_ptir::Program;
use serde_json::{Value, json};

use super::file_names::sanitized_file_name;
use super::{FileSinkState, TraceError, write_file};
use crate::event::{PassEvent, PassEventKind, replaced_names, value_name};

/// Writes the line of an event, and the program if it is the end of a pass.
pub(super) fn write_pass_event(
    state: &mut FileSinkState,
    folder: &Path,
    all: bool,
    event: &PassEvent<'_>,
) -> Result<(), TraceError> {
    let mut line = json!({
        "run": event.run,
        "index": event.index,
        "depth": event.depth,
        "pass": event.pass,
        "event": event.kind.name(),
    });
    add_event_fields(&mut line, &event.kind);
    if let (PassEventKind::Start { .. }, Some(input)) = (&event.kind, &state.input) {
        line["input"] = json!(input);
    }
    let PassEventKind::End { program, changed, error, .. } = event.kind else {
        return state.passes.push(&line);
    };
    let mut written = Ok(());
    if (changed || all) && error.is_none() {
        let number = state.next_pass;
        state.next_pass += 1;
        let short = event.pass.split(['{', '(']).next().unwrap_or_default();
        let name = format!("passes/{number:04}_{}.ptir", sanitized_file_name(short));
        written = write_program(folder, &name, program);
        if written.is_ok() {
            line["file"] = json!(name);
        }
    }
    // The line is written even if the program could not be.
    state.passes.push(&line)?;
    state.passes.flush()?;
    written
}

fn write_program(folder: &Path, name: &str, program: &Program) -> Result<(), TraceError> {
    let passes = folder.join("passes");
    fs::create_dir_all(&passes).map_err(|error| TraceError::new(&passes, error))?;
    write_file(&folder.join(name), program.to_string().as_bytes())
}

fn add_event_fields(line: &mut Value, kind: &PassEventKind<'_>) {
    if let Some(function) = kind.function() {
        line["function"] = json!(function.name().as_str());
    }
    if let Some((function, inst)) = kind.inst() {
        line["op"] = json!(function.op_name(inst));
        line["inst"] = json!(inst.index());
        line["result"] = json!(function.value_of(inst).map(|value| value_name(function, value)));
    }
    match *kind {
        PassEventKind::Start { program } => line["insts"] = json!(program.num_insts()),
        PassEventKind::Rewrite { pattern, .. } => line["pattern"] = json!(pattern),
        PassEventKind::Replace { function, from, to } => {
            let (from, to) = replaced_names(function, from, to);
            line["from"] = json!(from);
            line["to"] = json!(to);
        }
        PassEventKind::End { program, changed, duration, error } => {
            line["insts"] = json!(program.num_insts());
            line["changed"] = json!(changed);
            line["seconds"] = json!(duration.as_secs_f64());
            line["error"] = json!(error);
        }
        _ => {}
    }
}
