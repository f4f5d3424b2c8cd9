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

    /// Returns the report as an HTML page of its own, which loads nothing.
    pub(crate) fn page(&self, title: &str) -> String {
        let total = self.seconds();
        let mut rows = String::new();
        for step in &self.steps {
            let seconds = step.time.as_secs_f64();
            let share = if total > 0.0 { 100.0 * seconds / total } else { 0.0 };
            let ops = match step.ops.len() {
                1 => escaped(step.ops[0]),
                n => format!("group of {n}: {}", escaped(&step.ops.join(" + "))),
            };
            let _ = writeln!(
                rows,
                "<tr><td class=n>{:.3}</td><td class=n>{share:.1}</td><td class=n>{}</td><td class=n>{:.3}</td>\
                 <td>@{}</td><td><meter min=0 max=100 value={share:.1}></meter> {ops}</td></tr>",
                seconds * 1e3,
                step.calls,
                step.bytes as f64 / 1e6,
                escaped(step.function.as_str()),
            );
        }
        let megabytes = |bytes: Option<u64>| match bytes {
            Some(bytes) => format!("{:.3} MB", bytes as f64 / 1e6),
            None => "not known".to_owned(),
        };
        PAGE.replace("{peak}", &megabytes(self.peak))
            .replace("{predicted}", &megabytes(self.predicted_peak))
            .replace("{total}", &format!("{:.3}", total * 1e3))
            .replace("{title}", &escaped(title))
            .replace("{rows}", &rows)
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

/// The page of a profile.
const PAGE: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Profile of {title}</title><style>
:root { color-scheme: light dark; font: 14px system-ui, sans-serif; }
body { margin: 2rem; } table { border-collapse: collapse; width: 100%; }
th { text-align: left; } td, th { padding: .2rem .6rem; vertical-align: top; border-bottom: 1px solid #8884; }
.n { text-align: right; font-variant-numeric: tabular-nums; } meter { width: 8rem; }
</style></head><body>
<h1>Profile of {title}</h1>
<p>{total} ms in kernels. Values took at most {peak} at a time, without inputs; predicted: {predicted}.</p>
<table><thead><tr><th class=n>ms</th><th class=n>%</th><th class=n>calls</th><th class=n>MB</th><th>function</th><th>step</th></tr></thead>
<tbody>
{rows}</tbody></table>
</body></html>
"#;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_show_each_step_and_escape_names() {
        let program = sapwood_ptir::parse(
            "ptir 1 func @f(%x: f32[64, 64]) -> f32[64, 64] {
               %y = exp %x : f32[64, 64] %z = neg %y : f32[64, 64] return %z }",
        )
        .unwrap();
        let profile = std::sync::Arc::new(std::sync::Mutex::new(RunProfile::default()));
        let options = sapwood_ptir::eval::RunOptions {
            profile: Some(profile.clone()),
            ..sapwood_ptir::eval::RunOptions::default()
        };
        let prepared = Prepared::new(&program, "f", Some(&sapwood_runtime::FastKernels)).unwrap();
        let x = sapwood_ptir::eval::Tensor::new(
            sapwood_ptir::eval::DataType::F32,
            [64, 64],
            (0u16..4096).map(f32::from).collect(),
        );
        prepared.run(&[x.into()], &options).unwrap();
        let report = RunReport::new(&profile.lock().unwrap(), Some(&prepared));
        let page = report.page("a<b.ptir");
        assert!(page.contains("<title>Profile of a&lt;b.ptir</title>"), "{page}");
        assert!(page.contains("group of 2: exp + neg"), "{page}");
        assert!(page.contains("at most 0.016 MB"), "{page}");
        assert!(!page.contains("not known"), "{page}");
    }
}
