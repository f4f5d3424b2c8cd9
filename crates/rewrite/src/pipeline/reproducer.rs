//! A failing run as one file: the program, the pipeline, the version.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use sapwood_ptir::Program;

use super::parse::parse_pipeline;
use crate::passes::Pass;

const LEAD: &str = "//! ";

/// A program and the pipeline that failed on it. Its text is a program with a header in comments, so every tool that
/// reads programs reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reproducer {
    /// The pipeline.
    pub pipeline: String,
    /// The version of Sapwood that made it.
    pub version: String,
    /// What went wrong.
    pub error: String,
    /// The program as text.
    pub program: String,
}

/// Why a reproducer could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReproducerError {
    /// A header line is missing.
    #[error("the header line `//! {0}: …` is missing")]
    Header(&'static str),
    /// The program or the pipeline does not read.
    #[error("{0}")]
    Unreadable(String),
}

impl Reproducer {
    pub(super) fn new(program: &Program, pipeline: String, error: &str) -> Self {
        Self {
            pipeline,
            version: env!("CARGO_PKG_VERSION").into(),
            error: error.lines().next().unwrap_or("").into(),
            program: program.to_string(),
        }
    }

    /// Takes the text of a reproducer apart.
    ///
    /// # Errors
    /// If a line of the header is missing.
    pub fn read(text: &str) -> Result<Self, ReproducerError> {
        let header = |name: &'static str| {
            let lead = format!("{LEAD}{name}: ");
            let line = text
                .lines()
                .take_while(|l| l.starts_with("//!"))
                .find_map(|l| l.strip_prefix(&lead));
            line.map(str::to_owned).ok_or(ReproducerError::Header(name))
        };
        let lines = text.lines().skip_while(|l| l.starts_with("//!"));
        Ok(Self {
            pipeline: header("pipeline")?,
            version: header("version")?,
            error: header("error").unwrap_or_default(),
            program: lines.map(|l| format!("{l}\n")).collect(),
        })
    }

    /// The program and the passes, ready to run again.
    ///
    /// # Errors
    /// If the program or the pipeline does not read.
    pub fn parts(&self) -> Result<(Program, Vec<Box<dyn Pass>>), ReproducerError> {
        let unreadable = |e: sapwood_types::Diagnostics| ReproducerError::Unreadable(e.to_string());
        let program = sapwood_ptir::parse(&self.program).map_err(unreadable)?;
        Ok((program, parse_pipeline(&self.pipeline).map_err(unreadable)?))
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        // Others may write to the same place at the same time.
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let half = path.with_extension(format!("{}-{number}.half", std::process::id()));
        std::fs::write(&half, self.to_string())
            .and_then(|()| std::fs::rename(&half, path))
            .inspect_err(|_| drop(std::fs::remove_file(&half)))
    }
}

impl fmt::Display for Reproducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{LEAD}pipeline: {}", self.pipeline)?;
        writeln!(f, "{LEAD}version: {}", self.version)?;
        writeln!(f, "{LEAD}error: {}", self.error)?;
        f.write_str(&self.program)
    }
}
