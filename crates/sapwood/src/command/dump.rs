//! `--dump-dir`: a trace in files.

use std::path::Path;
use std::sync::Arc;

use sapwood_trace::{FileTraceSink, TraceError};

use super::answer::Trouble;

/// The trace that was asked for, if one was.
pub(super) fn open(
    folder: Option<&Path>,
    all_passes: bool,
) -> Result<Option<Arc<FileTraceSink>>, Trouble> {
    let Some(folder) = folder else { return Ok(None) };
    let sink = FileTraceSink::new(folder).map_err(|error| trouble(&error))?;
    Ok(Some(Arc::new(sink.all_passes(all_passes))))
}

/// All of it is written.
pub(super) fn close(sink: Option<&FileTraceSink>) -> Result<(), Trouble> {
    sink.map_or(Ok(()), FileTraceSink::finish).map_err(|error| trouble(&error))
}

fn trouble(error: &TraceError) -> Trouble {
    Trouble::new(format!("--dump-dir: {error}"))
}
