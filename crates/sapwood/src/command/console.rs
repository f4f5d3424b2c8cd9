//! Where results and messages go.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

use super::answer::Trouble;
use super::{Color, Global, OutputFormat};

/// Standard output and standard error, and how to write to them.
pub(super) struct Console {
    pub(super) json: bool,
    /// Whether messages have colours.
    pub(super) color: bool,
    pub(super) jobs: usize,
}

impl Console {
    pub(super) fn new(global: &Global) -> Self {
        let color = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                io::stderr().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                    && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
            }
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = if global.jobs == 0 { cores() } else { usize::from(global.jobs) };
        Self { json: global.format == OutputFormat::Json, color, jobs }
    }

    /// Writes a result.
    pub(super) fn write(&self, text: &str) -> Result<(), Trouble> {
        io::stdout().write_all(text.as_bytes()).map_err(|e| stdout_trouble(&e))
    }

    /// Writes a result for programs: one line.
    pub(super) fn write_json(&self, value: &Value) -> Result<(), Trouble> {
        self.write(&format!("{value}\n"))
    }

    /// What was written is out.
    pub(super) fn flush(&self) -> Result<(), Trouble> {
        io::stdout().flush().map_err(|e| stdout_trouble(&e))
    }

    /// Writes a message. If even that fails there is nobody left to tell.
    pub(super) fn message(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Says why there is no answer.
    pub(super) fn trouble(&self, trouble: &Trouble) {
        if matches!(trouble, Trouble::ClosedPipe) {
            return;
        }
        self.message(&trouble.text(self.color));
        if self.json {
            let _ = self.write_json(&trouble.json()).and_then(|()| self.flush());
        }
    }
}

/// Says that standard output takes nothing more.
pub(super) fn stdout_trouble(error: &io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Trouble::ClosedPipe,
        _ => Trouble::new(format!("cannot write to standard output: {error}")),
    }
}
