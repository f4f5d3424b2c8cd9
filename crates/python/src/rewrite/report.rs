//! Reports about pipeline runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::explorer::{PageOptions, Recording, RunRecorder, report_page};
use sapwood::ptir::Program;
use sapwood::ptir::structural::{Mode, equal};
use sapwood::rewrite::{GreedyStats, Pass, PassManager, PassReport, RunReport};

use super::condition;
use super::pattern::FirstException;
use super::pipeline;
use crate::errors::{self, ErrorKind};
use crate::ptir::check::PyCheckReport;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyReport>()
}

/// A report about a pipeline run: times, counts, patterns, differences.
#[pyclass(frozen, name = "Report", module = "sapwood.rewrite")]
pub(crate) struct PyReport {
    report: RunReport,
    before: Arc<Program>,
    after: Arc<Program>,
    run: RepeatableRun,
    /// The steps of the run. They are recorded when a page is requested, by another run, unless the first run was recorded.
    recording: Mutex<Option<Arc<Recording>>>,
}

/// The passes of a run, for running them again.
pub(super) struct RepeatableRun {
    pub(super) passes: Vec<Arc<dyn Pass>>,
    /// The pipeline as the page shows it.
    pub(super) pipeline: String,
    /// The place of the first exception of Python patterns; none if the passes call no Python code.
    pub(super) raised: Option<FirstException>,
}

impl PyReport {
    pub(super) fn new(
        report: RunReport,
        (before, after): (&Arc<Program>, &Arc<Program>),
        run: RepeatableRun,
        recorder: Option<&RunRecorder>,
    ) -> Self {
        let recording = recorder.map(|r| Arc::new(r.finish(&run.pipeline, Ok(&report))));
        let recording = Mutex::new(recording);
        Self { report, before: before.clone(), after: after.clone(), run, recording }
    }

    fn lock_recording(&self) -> MutexGuard<'_, Option<Arc<Recording>>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Returns the recording, of another run if the first was not recorded.
    fn recording(&self, py: Python<'_>) -> PyResult<Arc<Recording>> {
        let recorded = self.lock_recording().clone();
        if let Some(recording) = recorded {
            return Ok(recording);
        }
        // The lock is not held here, because Python code may run. If two threads record, the first recording is kept.
        let recorder = Arc::new(RunRecorder::new(&self.before));
        let manager = PassManager::from(self.run.passes.clone()).verify_each(false);
        let manager = manager.trace(recorder.clone());
        let mut after = (*self.before).clone();
        let outcome;
        match &self.run.raised {
            None => (after, outcome) = pipeline::run_detached(py, manager, after)?,
            Some(raised) => {
                outcome = manager.run(&mut after);
                condition::take_exception()?;
                if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    return Err(error);
                }
            }
        }
        outcome.map_err(|failure| pipeline::pass_error(py, &failure))?;
        if !equal(&after, &self.after, Mode::Ordered) {
            let message = "the patterns gave another program when they ran again for the page; record their first run with apply(…, record=True)";
            return Err(errors::new_error(py, ErrorKind::Rewrite, message.to_owned()));
        }
        // The times are those of the first run.
        let recording = Arc::new(recorder.finish(&self.run.pipeline, Ok(&self.report)));
        Ok(self.lock_recording().get_or_insert(recording).clone())
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
    result.set_item("attempts_saved", stats.attempts_saved)?;
    result.set_item("converged", stats.converged)?;
    let patterns = PyDict::new(py);
    for pattern in &stats.patterns {
        let one = PyDict::new(py);
        one.set_item("tried", pattern.tried)?;
        one.set_item("matched", pattern.matched)?;
        one.set_item("applied", pattern.applied)?;
        patterns.set_item(pattern.name, one)?;
    }
    result.set_item("patterns", patterns)?;
    result
        .set_item("problems", stats.problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    result.set_item("cycles", &stats.cycles)?;
    result.set_item("switched_off", &stats.disabled)?;
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
    /// With a path, it is also written there, whole or not at all. `check` is a report of `Program.check` to show on the page. The first
    /// page of a report runs the passes again, with the patterns in them, unless the run was recorded.
    #[pyo3(signature = (path = None, *, title = None, check = None))]
    fn to_html(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        title: Option<&str>,
        check: Option<&Bound<'_, PyCheckReport>>,
    ) -> PyResult<String> {
        let recording = self.recording(py)?;
        let check = check.map(|check| sapwood::check_section(&check.get().0));
        let first = self.before.functions().first().map(|f| format!("@{}", f.name()));
        let title = title.or(first.as_deref()).unwrap_or("program");
        let options = PageOptions::new(title).check(check.as_ref());
        let page = py.detach(|| report_page(&recording, &options));
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
        let warnings = self.report.warnings().map(|warning| format!("warning: {warning}\n"));
        self.report.statistics() + &warnings.collect::<String>()
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
