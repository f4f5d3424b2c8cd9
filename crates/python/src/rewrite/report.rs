//! Reports about pipeline runs.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::rewrite::{GreedyStats, PassReport, RunReport};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyReport>()
}

/// A report about a pipeline run: times, counts, patterns, differences.
#[pyclass(frozen, name = "Report", module = "sapwood.rewrite")]
pub(crate) struct PyReport(pub(crate) RunReport);

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
        self.0.changed()
    }

    /// The total time in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.0.time.as_secs_f64()
    }

    /// A dictionary for each pass: name, time, counters and statistics.
    #[getter]
    fn passes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.0.passes.iter().map(|one| pass(py, one));
        PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// Warnings, for example that a pass did not converge.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings().collect()
    }

    /// Returns the times of the passes as a tree.
    fn timing(&self) -> String {
        self.0.timing()
    }

    /// Returns the counts and patterns as a table.
    fn statistics(&self) -> String {
        self.0.statistics()
    }

    /// Returns the changes of each pass, if differences were requested.
    fn changes(&self) -> String {
        self.0.changes()
    }

    fn __str__(&self) -> String {
        self.0.statistics()
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.0.passes.iter().map(|pass| pass.name.as_str()).collect();
        let changed = if self.0.changed() { "changed" } else { "nothing to do" };
        format!("<Report of {}: {changed}>", names.join(","))
    }
}
