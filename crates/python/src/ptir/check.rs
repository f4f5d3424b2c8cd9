//! The Python class `CheckReport`: the comparison of the results of two programs.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::check::{self, CheckOptions, CheckReport, FunctionReport};
use sapwood::stablehlo;

use super::program::PyProgram;
use super::run::read_input;
use crate::callback_cause::NativeCall;
use crate::errors;
use crate::items::Items;
use crate::rewrite::float_mode;
use crate::signals;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCheckReport>()
}

/// The verdict on two programs that were run on the same inputs. It is true if nothing differs and every result was checked.
#[pyclass(frozen, name = "CheckReport", module = "sapwood.ptir")]
pub(crate) struct PyCheckReport(pub(crate) CheckReport);

/// Runs both programs on the same inputs and compares the results.
pub(super) fn check_programs(
    before: &Bound<'_, PyProgram>,
    after: &Bound<'_, PyProgram>,
    float: &str,
    seed: u64,
    inputs: Option<Items<'_>>,
) -> PyResult<PyCheckReport> {
    let py = before.py();
    let floats = float_mode(py, float)?;
    let mut given = Vec::new();
    if let Some(inputs) = inputs {
        let f = before.get().find_function(py, None)?;
        if inputs.0.len() != f.params().len() {
            let (name, expected, found) = (f.name(), f.params().len(), inputs.0.len());
            let message =
                format!("@{name} takes {expected} inputs, but `inputs` has {found} of them");
            return Err(errors::argument_error(py, message));
        }
        let values = f.params().iter().zip(&inputs.0).enumerate();
        let values = values.map(|(n, (&param, object))| read_input(n, f.value_type(param), object));
        given.push((f.name(), values.collect::<PyResult<Vec<_>>>()?));
    }
    let options = CheckOptions {
        floats,
        seed,
        inputs: given,
        kernels: Some(stablehlo::check_call_kernels(None)),
        ..CheckOptions::default()
    };
    let (before, after) = (before.get().present(), after.get().present());
    // Runs take a time that does not follow from the number of instructions, so Ctrl-C always works.
    let run = move || check::compare(&before, &after, &options);
    let call = NativeCall::enter();
    let report = signals::interruptible(py, run)?;
    call.check_exits(py)?;
    Ok(PyCheckReport(report))
}

fn function<'py>(py: Python<'py>, report: &FunctionReport) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("name", report.name.as_str())?;
    result.set_item("verdict", report.verdict().as_str())?;
    result.set_item("runs", report.runs)?;
    result.set_item("not_run", report.not_run)?;
    let results = report.results.iter().map(|one| {
        let row = PyDict::new(py);
        row.set_item("verdict", one.verdict.as_str())?;
        row.set_item("reason", &one.reason)?;
        row.set_item("compared", one.compared)?;
        row.set_item("worst", one.max_difference)?;
        Ok(row)
    });
    result.set_item("results", PyTuple::new(py, results.collect::<PyResult<Vec<_>>>()?)?)?;
    Ok(result)
}

#[pymethods]
impl PyCheckReport {
    /// The verdict: "same", "within tolerance", "not comparable", "not checked" or "different".
    #[getter]
    fn verdict(&self) -> &'static str {
        self.0.verdict().as_str()
    }

    /// The number of inputs on which functions were run and compared.
    #[getter]
    fn runs(&self) -> usize {
        self.0.runs()
    }

    /// The largest difference of floats that was within tolerance, as a part of the largest element that differs.
    #[getter]
    fn worst(&self) -> f64 {
        self.0.max_difference()
    }

    /// The messages besides the summary, one line each; a difference has its inputs and results.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.0.messages()
    }

    /// A dictionary for each function: name, verdict, number of runs, and the verdict on each result.
    #[getter]
    fn functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.0.functions.iter().map(|one| function(py, one));
        PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    fn __bool__(&self) -> bool {
        self.0.passes()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<CheckReport: {}>", self.0.summary())
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("sapwood._notebook")?.call_method1("text_html", (self.__str__(),))
    }
}
