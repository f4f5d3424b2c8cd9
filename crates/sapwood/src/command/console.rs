//! Standard output and standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use serde_json::Value;

use super::cli_error::CliError;
use super::{ColorChoice, GlobalArgs, OutputFormat};
use crate::toolkit::Toolkit;

/// Standard output and standard error, with the global options that decide how to write to them, and the toolkit of the command.
#[derive(Clone)]
pub(crate) struct Console {
    /// True if results are written as JSON.
    pub(crate) json: bool,
    /// True if messages on standard error are coloured.
    pub(crate) color: bool,
    /// True if results on standard output are coloured.
    pub(crate) color_results: bool,
    /// The number of files, or functions of one file, to process in parallel.
    pub(crate) jobs: usize,
    /// True if the progress of long work is shown on standard error.
    pub(crate) progress: bool,
    /// The ops, patterns, passes and backends that the command knows.
    pub(crate) toolkit: Arc<Toolkit>,
}

impl Console {
    pub(crate) fn new(global: &GlobalArgs, toolkit: Toolkit) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        let color = |is_terminal: bool| match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                is_terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && !is_dumb
            }
        };
        let json = global.format == OutputFormat::Json;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = if global.jobs == 0 { cores() } else { usize::from(global.jobs) };
        let color_results = !json && color(io::stdout().is_terminal());
        let on_terminal = io::stderr().is_terminal();
        let progress = on_terminal && !is_dumb && !global.quiet;
        let (color, toolkit) = (color(on_terminal), Arc::new(toolkit));
        Self { json, color, color_results, jobs, progress, toolkit }
    }

    /// Writes a result to standard output.
    pub(crate) fn write(&self, text: &str) -> Result<(), CliError> {
        io::stdout().write_all(text.as_bytes()).map_err(|e| stdout_error(&e))
    }

    /// Writes a JSON result to standard output, as one line.
    pub(crate) fn write_json(&self, value: &Value) -> Result<(), CliError> {
        self.write(&format!("{value}\n"))
    }

    /// Flushes standard output.
    pub(crate) fn flush(&self) -> Result<(), CliError> {
        io::stdout().flush().map_err(|e| stdout_error(&e))
    }

    /// Writes a message to standard error. A failure to do so is ignored, because it cannot be reported anywhere.
    pub(crate) fn message(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Prints the error that ends the command.
    pub(crate) fn report_error(&self, error: &CliError) {
        if matches!(error, CliError::ClosedPipe) {
            return;
        }
        self.message(&error.text(self.color));
        if self.json {
            let _ = self.write_json(&error.json()).and_then(|()| self.flush());
        }
    }
}

/// Converts an error of writing to standard output.
pub(crate) fn stdout_error(error: &io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::ClosedPipe,
        _ => CliError::new(format!("cannot write to standard output: {error}")),
    }
}
