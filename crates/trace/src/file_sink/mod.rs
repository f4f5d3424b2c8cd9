//! Traces as files in a folder.

mod file_names;
mod json_lines;
mod pass_events;
mod timestamp;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use sapwood_ptir::structural::{Mode, hash};
use sapwood_ptir::to_json;
use sapwood_types::write_atomically;
use serde_json::{Value, json};

use crate::event::{Execution, ExecutionResult, ExecutionTraceSink, PassEvent};
use file_names::{next_free_number, sanitized_file_name};
use json_lines::JsonLines;
use timestamp::rfc3339;

/// A sink that writes every run and every pass to a folder:
///
/// ```text
/// 00001_main/program.ptir     the program that ran
///            program.json     the program as JSON
///            meta.json        its origin: graph, targets, backend, hashes, cache, time
///            stats.json       its result: status, duration, outputs
/// executions.jsonl            one line per run
/// passes.jsonl                one line per event of a pass
/// passes/0001_simplify.ptir   the program after a pass that changed it
/// ```
///
/// Every file is written atomically; lists grow by whole lines. If the folder contains a trace, it is continued with the next
/// number. Only one sink writes to a folder at a time. A write error does not stop the run:
/// [`finish`](FileTraceSink::finish) returns it.
pub struct FileTraceSink {
    folder: PathBuf,
    all_passes: bool,
    state: Mutex<FileSinkState>,
}

/// The first error of writing a trace.
#[derive(Clone, Debug)]
pub struct TraceError {
    path: PathBuf,
    source: Arc<io::Error>,
}

impl TraceError {
    fn new(path: &Path, source: io::Error) -> Self {
        Self { path: path.to_owned(), source: Arc::new(source) }
    }

    /// Returns the file or folder that could not be written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl std::fmt::Display for TraceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.source)
    }
}

struct FileSinkState {
    executions: JsonLines,
    passes: JsonLines,
    next_execution: u64,
    next_pass: u64,
    // The folders of runs that have not ended.
    running: BTreeMap<u64, String>,
    // The file from which the program that passes work on was read.
    input: Option<String>,
    error: Option<TraceError>,
}

impl FileTraceSink {
    /// Returns a sink that writes to this folder, which is created if it does not exist.
    ///
    /// # Errors
    /// If the folder cannot be created or written to, or another sink writes to it.
    pub fn new(folder: impl Into<PathBuf>) -> Result<Self, TraceError> {
        let folder = folder.into();
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |error| TraceError::new(&path, error)
        };
        if folder.exists() && !folder.is_dir() {
            let why = io::Error::new(io::ErrorKind::NotADirectory, "a file, not a directory");
            return Err(TraceError::new(&folder, why));
        }
        fs::create_dir_all(&folder).map_err(fail(&folder))?;
        // The lists are locked as long as the sink lives: two writers would use the same numbers.
        let executions = JsonLines::open(folder.join("executions.jsonl"))?;
        let passes = folder.join("passes");
        let state = FileSinkState {
            next_execution: next_free_number(&folder).map_err(fail(&folder))?,
            next_pass: if passes.is_dir() {
                next_free_number(&passes).map_err(fail(&passes))?
            } else {
                1
            },
            executions,
            passes: JsonLines::open(folder.join("passes.jsonl"))?,
            running: BTreeMap::new(),
            input: None,
            error: None,
        };
        Ok(Self { folder, all_passes: false, state: Mutex::new(state) })
    }

    /// Also writes the program after passes that changed nothing.
    #[must_use]
    pub fn all_passes(mut self, yes: bool) -> Self {
        self.all_passes = yes;
        self
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets the name of the file from which the program was read. The `start` events of later passes contain it as `input`.
    pub fn input(&self, name: &str) {
        self.state().input = Some(name.to_owned());
    }

    /// Writes all buffered events to the files.
    ///
    /// # Errors
    /// If anything could not be written since the sink was created, with the first error.
    pub fn finish(&self) -> Result<(), TraceError> {
        let mut state = self.state();
        for written in [state.executions.flush(), state.passes.flush()] {
            state.record_error(written);
        }
        state.error.clone().map_or(Ok(()), Err)
    }

    fn state(&self) -> MutexGuard<'_, FileSinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_started(&self, execution: &Execution<'_>) -> Result<(), TraceError> {
        let name = execution.function.as_str();
        // The number is taken under the lock, the rest is written without it: runs may start at the same time.
        let (number, name) = {
            let mut state = self.state();
            let number = state.next_execution;
            state.next_execution += 1;
            let name = format!("{number:05}_{}", sanitized_file_name(name));
            state.running.insert(execution.id, name.clone());
            (number, name)
        };
        let folder = self.folder.join(&name);
        fs::create_dir(&folder).map_err(|error| TraceError::new(&folder, error))?;
        let program = execution.program;
        write_file(&folder.join("program.ptir"), program.to_string().as_bytes())?;
        write_file(&folder.join("program.json"), to_json(program).as_bytes())?;
        let meta = json!({
            "number": number,
            "function": execution.function.as_str(),
            "graph": execution.graph,
            "targets": execution.targets,
            "backend": execution.backend,
            "hash": execution.hash.to_string(),
            "ordered_hash": hash(program, Mode::Ordered).to_string(),
            "cache_hit": execution.cache_hit,
            "started": rfc3339(execution.started),
        });
        write_json(&folder.join("meta.json"), &meta)
    }

    fn write_finished(
        &self,
        execution: &Execution<'_>,
        finished: &ExecutionResult,
    ) -> Result<(), TraceError> {
        let Some(name) = self.state().running.remove(&execution.id) else { return Ok(()) };
        let (status, outputs, error) = match &finished.outputs {
            Ok(types) => {
                ("ok", types.iter().map(|ty| json!({ "type": ty.to_string() })).collect(), None)
            }
            Err(why) => ("failed", Vec::new(), Some(why)),
        };
        let seconds = finished.duration.as_secs_f64();
        let stats = json!({
            "status": status,
            "error": error,
            "seconds": seconds,
            "outputs": outputs,
            "finished": rfc3339(SystemTime::now()),
        });
        write_json(&self.folder.join(&name).join("stats.json"), &stats)?;
        let line = json!({
            "folder": name,
            "function": execution.function.as_str(),
            "graph": execution.graph,
            "backend": execution.backend,
            "hash": execution.hash.to_string(),
            "cache_hit": execution.cache_hit,
            "started": rfc3339(execution.started),
            "status": status,
            "error": error,
            "seconds": seconds,
        });
        let mut state = self.state();
        state.executions.push(&line)?;
        state.executions.flush()
    }
}

impl FileSinkState {
    // Only the first error is kept: later ones usually follow from it.
    fn record_error(&mut self, written: Result<(), TraceError>) {
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }
}

impl ExecutionTraceSink for FileTraceSink {
    fn before(&self, execution: &Execution<'_>) {
        let written = self.write_started(execution);
        self.state().record_error(written);
    }

    fn after(&self, execution: &Execution<'_>, finished: &ExecutionResult) {
        let written = self.write_finished(execution, finished);
        self.state().record_error(written);
    }

    fn pass(&self, event: &PassEvent<'_>) {
        let mut state = self.state();
        let written =
            pass_events::write_pass_event(&mut state, &self.folder, self.all_passes, event);
        state.record_error(written);
    }
}

impl Drop for FileTraceSink {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

fn write_json(path: &Path, value: &Value) -> Result<(), TraceError> {
    write_file(path, format!("{value:#}\n").as_bytes())
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), TraceError> {
    write_atomically(path, bytes, &|| Ok(())).map_err(|error| TraceError::new(path, error.into()))
}
