//! Reproducers: a failing run as one file with the program, the pipeline and the version.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use sapwood_ptir::Program;
use sapwood_types::write_atomically;

use super::parse::PipelineParser;
use crate::passes::Pass;

const HEADER_PREFIX: &str = "//! ";

/// A program and the pipeline that failed on it. Its text is a program with a header in comments, so every tool that
/// reads programs reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reproducer {
    /// The pipeline.
    pub pipeline: String,
    /// The version of Sapwood that wrote it.
    pub version: String,
    /// The error of the failing pass.
    pub error: String,
    /// The program as text.
    pub program: String,
}

/// The reason why a reproducer cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReproducerError {
    /// A header line is missing.
    #[error("the header line `//! {0}: …` is missing")]
    Header(&'static str),
    /// The program or the pipeline cannot be parsed.
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

    /// Parses the text of a reproducer.
    ///
    /// # Errors
    /// If a line of the header is missing.
    pub fn read(text: &str) -> Result<Self, ReproducerError> {
        let header = |name: &'static str| {
            let lead = format!("{HEADER_PREFIX}{name}: ");
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

    /// Returns the program and the passes, ready to run. The parser must know the passes of the pipeline
    /// and the ops of the program.
    ///
    /// # Errors
    /// If the program or the pipeline cannot be parsed.
    pub fn parts(
        &self,
        parser: &PipelineParser<'_>,
    ) -> Result<(Program, Vec<Arc<dyn Pass>>), ReproducerError> {
        let program = sapwood_ptir::parse_with(&self.program, &parser.ops())
            .map_err(|e| ReproducerError::Unreadable(e.to_string()))?;
        let passes = parser.parse(&self.pipeline);
        Ok((program, passes.map_err(|e| ReproducerError::Unreadable(e.to_string()))?))
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        Ok(write_atomically(path, self.to_string().as_bytes(), &|| Ok(()))?)
    }
}

impl fmt::Display for Reproducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER_PREFIX}pipeline: {}", self.pipeline)?;
        writeln!(f, "{HEADER_PREFIX}version: {}", self.version)?;
        writeln!(f, "{HEADER_PREFIX}error: {}", self.error)?;
        f.write_str(&self.program)
    }
}
