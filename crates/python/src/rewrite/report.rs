//! Reports about pipeline runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::explorer::{PageOptions, Recording, RunRecorder, report_page};
use sapwood::ptir::Program;
use sapwood::rewrite::{GreedyStats, PassReport, RunReport};

use super::pipeline;
use crate::ptir::check::PyCheckReport;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyReport>()
}

/// A report about a pipeline run: times, counts, patterns, differences.
#[pyclass(frozen, name = "Report", module = "sapwood.rewrite")]
pub(crate) struct PyReport {
    report: RunReport,
    before: Arc<Program>,
    /// The steps of the run. Pipelines are recorded when a page is requested, by another run.
    recording: Mutex<Option<Recording>>,
}

impl PyReport {
    pub(crate) fn new(
        report: RunReport,
        before: &Arc<Program>,
        recording: Option<Recording>,
    ) -> Self {
        Self { report, before: before.clone(), recording: Mutex::new(recording) }
    }

    // Runs the passes again with a recorder.
    fn record(&self, py: Python<'_>) -> PyResult<Recording> {
        let names: Vec<&str> = self.report.passes.iter().map(|pass| pass.name.as_str()).collect();
        let text = names.join(",");
        let manager = pipeline::manager(py, &text)?.verify_each(false);
        let recorder = Arc::new(RunRecorder::new(&self.before));
        let manager = manager.trace(recorder.clone());
        let (_, outcome) = pipeline::run_detached(py, manager, (*self.before).clone())?;
        outcome.map_err(|failure| pipeline::pass_error(py, &failure))?;
        // The times are those of the first run.
        Ok(recorder.finish(&text, Ok(&self.report)))
    }
}

fn greedy<'py>(py: Python<'py>, stats: &GreedyStats) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("rewrites", stats.rewrites)?;
    result.set_item("folds", stats.folds)?;
    result.set_item("erased", stats.erased)?;
    result.set_item("merged", stats.merged)?;
    result.set_item("rounds", stats.rounds)?;
    result.set_item("attempts", stats.attempts)?;
    result.set_item("converged", stats.converged)?;
    let patterns = PyDict::new(py);
    for pattern in &stats.patterns {
        let one = PyDict::new(py);
        one.set_item("tried", pattern.tried)?;
        one.set_item("matched", pattern.matched)?;
        one.set_item("applied", pattern.applied)?;
        patterns.set_item(&pattern.name, one)?;
    }
    result.set_item("patterns", patterns)?;
    result
        .set_item("problems", stats.problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    Ok(result)
}

fn pass<'py>(py: Python<'py>, report: &PassReport) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("name", &report.name)?;
    result.set_item("seconds", report.time.as_secs_f64())?;
    result.set_item("verify_seconds", report.verify_time.as_secs_f64())?;
    result.set_item("changed", report.changed)?;
    let counters = PyDict::new(py);
    for (name, n) in &report.counters {
        counters.set_item(name, n)?;
    }
    result.set_item("counters", counters)?;
    let stats = report.greedy.as_ref().map(|stats| greedy(py, stats)).transpose()?;
    result.set_item("greedy", stats)?;
    result.set_item("diff", &report.diff)?;
    result.set_item("warnings", &report.warnings)?;
    Ok(result)
}

#[pymethods]
impl PyReport {
    /// True if a pass changed the program.
    #[getter]
    fn changed(&self) -> bool {
        self.report.changed()
    }

    /// The total time in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.report.time.as_secs_f64()
    }

    /// A dictionary for each pass: name, time, counters and statistics.
    #[getter]
    fn passes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.report.passes.iter().map(|one| pass(py, one));
        PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// Warnings, for example that a pass did not converge.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.report.warnings().collect()
    }

    /// Returns the times of the passes as a tree.
    fn timing(&self) -> String {
        self.report.timing()
    }

    /// Returns the counts and patterns as a table.
    fn statistics(&self) -> String {
        self.report.statistics()
    }

    /// The run as one HTML page that needs nothing else: the programs before and after, every step, statistics.
    ///
    /// With a path, it is also written there, whole or not at all. `check` is a report of `Program.check` to show on the page.
    #[pyo3(signature = (path = None, *, title = None, check = None))]
    fn to_html(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        title: Option<&str>,
        check: Option<&Bound<'_, PyCheckReport>>,
    ) -> PyResult<String> {
        let lock = || self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is not held while Python code may run.
        let taken = lock().take();
        let mut recording = match taken {
            Some(recording) => recording,
            None => self.record(py)?,
        };
        recording.set_check(check.map(|check| sapwood::check_section(&check.get().0)));
        let first = self.before.functions().first().map(|f| format!("@{}", f.name()));
        let title = title.or(first.as_deref()).unwrap_or("program");
        let (page, recording) = py.detach(move || {
            let page = report_page(&recording, &PageOptions::new(title));
            (page, recording)
        });
        *lock() = Some(recording);
        if let Some(path) = path {
            let write = || sapwood_types::write_atomically(&path, page.as_bytes(), &|| Ok(()));
            py.detach(write).map_err(std::io::Error::from)?;
        }
        Ok(page)
    }

    /// Returns the changes of each pass, if differences were requested.
    fn changes(&self) -> String {
        self.report.changes()
    }

    fn __str__(&self) -> String {
        self.report.statistics()
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = format!("{}\n{}", self.__repr__(), self.__str__());
        py.import("sapwood._notebook")?.call_method1("text_html", (text,))
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.report.passes.iter().map(|pass| pass.name.as_str()).collect();
        let changed = if self.report.changed() { "changed" } else { "nothing to do" };
        format!("<Report of {}: {changed}>", names.join(","))
    }
}
