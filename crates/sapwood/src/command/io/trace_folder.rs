//! `--dump-dir`: a trace in a folder of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_trace::{FileTraceSink, TraceError};

use super::created_folder::CreatedFolder;
use crate::command::cli_error::CliError;

/// The folder of `--dump-dir` and the sink that writes to it. If it is new and nothing was traced, it is removed again.
pub(crate) struct TraceFolder {
    sink: Arc<FileTraceSink>,
    path: PathBuf,
    /// Removes the folder if it is empty in the end.
    created: CreatedFolder,
}

/// The files that a sink creates when it starts.
const LIST_FILES: [&str; 2] = ["executions.jsonl", "passes.jsonl"];

impl TraceFolder {
    /// Opens the folder of `--dump-dir`, if the option is given.
    pub(crate) fn open(path: Option<&Path>, all_passes: bool) -> Result<Option<Self>, CliError> {
        let Some(path) = path else { return Ok(None) };
        let created = CreatedFolder::before_creation(path);
        let sink = FileTraceSink::new(path).map_err(|error| trace_error(&error))?;
        let sink = Arc::new(sink.all_passes(all_passes));
        Ok(Some(Self { sink, path: path.to_owned(), created }))
    }

    /// Returns the sink that writes to the folder.
    pub(crate) fn sink(&self) -> &Arc<FileTraceSink> {
        &self.sink
    }

    /// Writes all that was traced, and returns the first error of writing.
    pub(crate) fn finish(&self) -> Result<(), CliError> {
        self.sink.finish().map_err(|error| trace_error(&error))
    }
}

impl Drop for TraceFolder {
    fn drop(&mut self) {
        let _ = self.finish();
        let lists = LIST_FILES.map(|name| self.path.join(name));
        let is_empty = |path: &PathBuf| fs::metadata(path).is_ok_and(|m| m.len() == 0);
        if self.created.is_new() && lists.iter().all(is_empty) {
            for list in lists {
                let _ = fs::remove_file(list);
            }
        }
    }
}

fn trace_error(error: &TraceError) -> CliError {
    CliError::new(format!("--dump-dir: {error}"))
}
