//! The report of `run --profile`.

use std::fmt::Write as _;

use sapwood_ptir::eval::{Prepared, ProfileEntry, RunProfile};
use serde_json::{Value as Json, json};

/// The most steps that the text shows; JSON has all of them.
const MAX_TEXT_STEPS: usize = 40;
/// The most ops of a group that the text names.
const MAX_TEXT_OPS: usize = 8;

/// The profile of a finished run.
pub(crate) struct RunReport {
    steps: Vec<ProfileEntry>,
    peak: Option<u64>,
    predicted_peak: Option<u64>,
}

impl RunReport {
    /// Returns the report of a profile, with the peak memory of the program that ran.
    pub(crate) fn new(profile: &RunProfile, prepared: Option<&Prepared>) -> Self {
        Self {
            steps: profile.by_time().into_iter().cloned().collect(),
            peak: prepared.map(Prepared::peak_bytes),
            predicted_peak: prepared.and_then(Prepared::predicted_peak_bytes),
        }
    }

    fn seconds(&self) -> f64 {
        self.steps.iter().map(|step| step.time.as_secs_f64()).sum()
    }

    /// Returns the report as a table, the slowest steps first.
    pub(crate) fn text(&self) -> String {
        let total = self.seconds();
        let mut text = String::from("        ms      %     calls          MB  step\n");
        for step in self.steps.iter().take(MAX_TEXT_STEPS) {
            let seconds = step.time.as_secs_f64();
            let share = if total > 0.0 { 100.0 * seconds / total } else { 0.0 };
            let megabytes = step.bytes as f64 / 1e6;
            let shown = step.ops.len().min(MAX_TEXT_OPS);
            let mut ops = step.ops[..shown].join(" + ");
            if step.ops.len() > shown {
                let _ = write!(ops, " + {} more", step.ops.len() - shown);
            }
            let _ = writeln!(
                text,
                "{:10.3} {share:6.1} {:9} {megabytes:11.3}  @{}: {ops}",
                seconds * 1e3,
                step.calls,
                step.function
            );
        }
        let left = self.steps.len().saturating_sub(MAX_TEXT_STEPS);
        if left > 0 {
            let _ = writeln!(text, "{left} more steps; --format json has all of them");
        }
        let _ = write!(text, "{:10.3} ms in kernels", total * 1e3);
        if let Some(peak) = self.peak {
            let _ = write!(text, ", {:.3} MB at most at a time, without inputs", peak as f64 / 1e6);
        }
        if let Some(predicted) = self.predicted_peak {
            let _ = write!(text, " ({:.3} MB predicted)", predicted as f64 / 1e6);
        }
        text.push('\n');
        text
    }

    /// Returns the report as JSON.
    pub(crate) fn json(&self) -> Json {
        let steps: Vec<Json> = self
            .steps
            .iter()
            .map(|step| {
                json!({
                    "function": step.function.as_str(),
                    "ops": step.ops,
                    "calls": step.calls,
                    "seconds": step.time.as_secs_f64(),
                    "bytes": step.bytes,
                })
            })
            .collect();
        json!({
            "seconds": self.seconds(),
            "peak_bytes": self.peak,
            "predicted_peak_bytes": self.predicted_peak,
            "steps": steps,
        })
    }
}
