//! `opt --report`: an HTML page about a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_explorer::{CheckSection, PageOptions, Recording, RunRecorder, report_page};
use sapwood_ptir as ptir;
use sapwood_rewrite::{PassManager, PipelineFailure, RunReport};
use sapwood_types::Source;

use crate::command::cli_error::CliError;
use crate::command::io::files::{Input, write_file};
use crate::command::io::load::LoadedFile;
use crate::command::io::target::companion_path;

/// The page about the run of a pipeline on one file.
pub(super) struct ReportPage {
    pub(super) path: PathBuf,
    title: String,
    source: Source,
}

impl ReportPage {
    /// Creates the page about a loaded program. In a folder it is named after the input.
    pub(super) fn new(path: &Path, input: &Input, file: &LoadedFile) -> Self {
        Self {
            path: companion_path(path, input, "html"),
            title: input.to_string(),
            source: file.source.clone(),
        }
    }

    /// Runs a pipeline and records it. If it fails, writes the page at once.
    pub(super) fn run(
        &self,
        manager: PassManager,
        program: &mut ptir::Program,
        check: bool,
    ) -> Result<(Result<RunReport, PipelineFailure>, Recording), CliError> {
        let recorder = Arc::new(RunRecorder::new(program));
        let pipeline = manager.pipeline();
        let ran = manager.trace(recorder.clone()).run(program);
        let message;
        let outcome = match &ran {
            Ok(report) => Ok(report),
            Err(failure) => {
                message = failure.error.to_string();
                Err((failure.pass.as_deref(), message.as_str()))
            }
        };
        let recording = recorder.finish(&pipeline, outcome);
        if ran.is_err() {
            let not_run = check.then(|| CheckSection::not_run("the run failed"));
            self.write(&recording, not_run.as_ref())?;
        }
        Ok((ran, recording))
    }

    /// Writes the page, with the report of a check.
    pub(super) fn write(
        &self,
        recording: &Recording,
        check: Option<&CheckSection>,
    ) -> Result<(), CliError> {
        let options = PageOptions::new(&self.title).source(&self.source).check(check);
        write_file(&self.path, report_page(recording, &options))
    }
}
