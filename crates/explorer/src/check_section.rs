//! The section of a page about a check: the comparison of the programs before and after a run.

use serde::Serialize;

use crate::limits::{MAX_CHECK_LINES, MAX_INST_BYTES, truncate};

/// The verdict that a page shows about a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckSectionVerdict {
    /// The results are the same, or within the tolerance.
    Same,
    /// The results differ.
    Different,
    /// Nothing was compared.
    Unknown,
}

/// The result of running the programs before and after on the same inputs.
#[derive(Clone, Debug, Serialize)]
pub struct CheckSection {
    /// The verdict.
    pub verdict: CheckSectionVerdict,
    /// The verdict in words: the number of inputs, or the reason why nothing was run.
    pub summary: String,
    /// The rewrite or pass that first changed results, in words, if it was found.
    pub culprit: Option<String>,
    /// The other messages: inputs and both outputs, functions that could not be run.
    pub lines: Vec<String>,
}

impl CheckSection {
    /// Creates the section for a check that was not run.
    #[must_use]
    pub fn not_run(reason: &str) -> Self {
        let summary = format!("not run: {reason}");
        let verdict = CheckSectionVerdict::Unknown;
        Self { verdict, summary, culprit: None, lines: Vec::new() }
    }

    /// Returns the section with as many lines as a page shows.
    pub(crate) fn truncated(&self) -> Self {
        let lines =
            self.lines.iter().take(MAX_CHECK_LINES).map(|line| truncate(line, MAX_INST_BYTES));
        let mut lines: Vec<String> = lines.collect();
        if self.lines.len() > MAX_CHECK_LINES {
            lines.push(format!("and {} more lines", self.lines.len() - MAX_CHECK_LINES));
        }
        Self { lines, ..self.clone() }
    }
}
