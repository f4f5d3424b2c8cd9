//! What a check said: whether the program computes the same as before.

use serde::Serialize;

use crate::limits::{MAX_CHECK_LINES, MAX_TEXT, shortened};

/// Whether two programs gave the same results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// They did, or as nearly as was allowed.
    Same,
    /// They did not.
    Different,
    /// Nothing was compared.
    Unknown,
}

/// What came of running the programs before and after on the same inputs.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in words: on how many inputs, or why nothing was run.
    pub words: String,
    /// What made them differ, in words, if that was found.
    pub culprit: Option<String>,
    /// What else was said: inputs and both outputs, what could not be run.
    pub lines: Vec<String>,
}

impl Check {
    /// Nothing was run, for this reason.
    #[must_use]
    pub fn not_run(why: &str) -> Self {
        let words = format!("not run: {why}");
        Self { verdict: Verdict::Unknown, words, culprit: None, lines: Vec::new() }
    }

    // The same, as much of it as goes into a page.
    pub(crate) fn row(&self) -> Self {
        let lines = self.lines.iter().take(MAX_CHECK_LINES).map(|line| shortened(line, MAX_TEXT));
        let mut lines: Vec<String> = lines.collect();
        if self.lines.len() > MAX_CHECK_LINES {
            lines.push(format!("and {} lines more", self.lines.len() - MAX_CHECK_LINES));
        }
        Self { lines, ..self.clone() }
    }
}
