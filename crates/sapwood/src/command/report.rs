//! `sapwood opt --report`: a page about a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sapwood_explorer::{Check, PageOptions, Recording, RunRecorder, report_page};
use sapwood_ptir as ptir;
use sapwood_rewrite::{PassManager, PipelineFailure, RunReport};
use sapwood_types::Source;

use super::answer::Trouble;
use super::files::{Input, write_whole};
use super::load::Program;

/// Where a page goes and what it is about.
pub(super) struct Page {
    pub(super) path: PathBuf,
    title: String,
    source: Source,
}

/// What is written beside the program needs a file: standard output has the program.
pub(super) fn check(option: &str, path: &Path) -> Result<(), Trouble> {
    if path.as_os_str() == "-" {
        let message = format!("{option} needs a file; standard output has the program");
        return Err(Trouble::new(message));
    }
    Ok(())
}

/// Where it goes: to this file, or if it is a directory to a file there that is called like the program.
pub(super) fn place(path: &Path, input: &Input, extension: &str) -> PathBuf {
    match input {
        Input::File(file) if path.is_dir() => {
            path.join(file.with_extension(extension).file_name().unwrap_or_default())
        }
        Input::Stdin if path.is_dir() => path.join("stdin").with_extension(extension),
        _ => path.to_owned(),
    }
}

impl Page {
    /// The page about a run over a program that was read. In a directory it is called like the program.
    pub(super) fn new(path: &Path, input: &Input, read: &Program) -> Self {
        Self {
            path: place(path, input, "html"),
            title: input.to_string(),
            source: read.source.clone(),
        }
    }

    /// Runs a pipeline. If it fails, the page is written at once.
    pub(super) fn run(
        &self,
        manager: PassManager,
        program: &mut ptir::Program,
        check: bool,
    ) -> Result<(Result<RunReport, PipelineFailure>, Recording), Trouble> {
        let recorder = Arc::new(RunRecorder::new(program));
        let pipeline = manager.pipeline();
        let ran = manager.trace(recorder.clone()).run(program);
        let message;
        let told = match &ran {
            Ok(report) => Ok(report),
            Err(failure) => {
                message = failure.error.to_string();
                Err((failure.pass.as_deref(), message.as_str()))
            }
        };
        let mut recording = recorder.finish(&pipeline, told);
        if ran.is_err() {
            self.write(&mut recording, check.then(|| Check::not_run("the run failed")))?;
        }
        Ok((ran, recording))
    }

    /// Writes the page, with what a check found.
    pub(super) fn write(
        &self,
        recording: &mut Recording,
        check: Option<Check>,
    ) -> Result<(), Trouble> {
        check.into_iter().for_each(|check| recording.checked(check));
        let options = PageOptions::new(&self.title).source(&self.source);
        write_whole(&self.path, &report_page(recording, &options))
    }
}
