//! Execution of PTIR programs on arrays.

use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sapwood::ptir::eval::{Kernels, Prepared, RunOptions, StopCheck, Tensor, Value};
use sapwood::ptir::{TensorLiteral, ValueType};
use sapwood::runtime::FastKernels;
use sapwood_types::counted;

use super::attrs;
use super::program::PyProgram;
use super::types::PyType;
use crate::arrays::{self, ArrayContent};
use crate::callback_cause::NativeCall;
use crate::errors::{self, ErrorKind};
use crate::numbers;
use crate::signals::Signals;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyExecutable>()
}

/// A function prepared to run: checked and planned once, called many times, also from several threads.
#[pyclass(frozen, name = "Executable", module = "sapwood.ptir")]
pub(crate) struct PyExecutable {
    prepared: Prepared,
    options: RunOptions,
}

/// Converts an argument to a value.
pub(super) fn read_input(n: usize, ty: &ValueType, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = object.py();
    let Some(tensor) = ty.as_tensor() else {
        return read_tuple(n, ty, object);
    };
    let parts = match arrays::array_content(object)? {
        Some(parts) => Some(parts),
        // Numbers and lists of numbers take the type of the parameter.
        None => {
            let made = numbers::numbers_to_array(object, Some(tensor.dtype)).map_err(|error| {
                let found = errors::type_name(object);
                errors::with_prefix(py, error, &format!("argument {n} is {ty}, found {found}"))
            })?;
            arrays::array_content(&made)?
        }
    };
    let Some(ArrayContent { dtype, shape, bytes }) = parts else {
        let found = errors::type_name(object);
        return Err(errors::argument_error(py, format!("argument {n} is {ty}, found {found}")));
    };
    let made = TensorLiteral::new(dtype, &shape, bytes.as_bytes());
    made.and_then(|literal| Tensor::from_literal(&literal))
        .map(Value::Tensor)
        .map_err(|error| errors::value_error(py, format!("argument {n}: {error}")))
}

fn read_tuple(n: usize, ty: &ValueType, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = object.py();
    let Some(elements) = ty.as_tuple() else {
        if object.is_none() {
            return Ok(Value::Token);
        }
        return Err(errors::argument_error(py, format!("argument {n} is {ty}: expected None")));
    };
    let given: Vec<Bound<'_, PyAny>> = match object.cast::<PyTuple>() {
        Ok(given) => given.iter().collect(),
        Err(_) => {
            let found = errors::type_name(object);
            return Err(errors::argument_error(py, format!("argument {n} is {ty}, found {found}")));
        }
    };
    if given.len() != elements.len() {
        let message = format!(
            "argument {n} is {ty}: {} expected, {} found",
            counted(elements.len(), "element"),
            given.len()
        );
        return Err(errors::argument_error(py, message));
    }
    let values = elements.iter().zip(&given).map(|(ty, object)| read_input(n, ty, object));
    Ok(Value::Tuple(values.collect::<PyResult<Vec<_>>>()?.into()))
}

/// Converts a result to an array, a tuple of arrays, or `None` for a token.
fn write_output<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Tensor(tensor) => {
            let literal = tensor
                .to_literal()
                .map_err(|error| errors::new_error(py, ErrorKind::Run, error.to_string()))?;
            attrs::literal_to_array(py, &literal)
        }
        Value::Tuple(elements) => {
            let elements = elements.iter().map(|element| write_output(py, element));
            Ok(PyTuple::new(py, elements.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        Value::Token => Ok(py.None().into_bound(py)),
    }
}

#[pymethods]
impl PyExecutable {
    #[new]
    #[pyo3(signature = (program, function = None, *, exact = false, threads = 1, max_steps = None, time_limit = None, max_bytes = None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    pub(super) fn new(
        program: &Bound<'_, PyProgram>,
        function: Option<&str>,
        exact: bool,
        threads: usize,
        max_steps: Option<u64>,
        time_limit: Option<f64>,
        max_bytes: Option<u64>,
    ) -> PyResult<Self> {
        let py = program.py();
        let name = program.get().find_function(py, function)?.name();
        let time_limit = match time_limit.map(Duration::try_from_secs_f64) {
            None => None,
            Some(Ok(limit)) => Some(limit),
            Some(Err(why)) => return Err(errors::value_error(py, format!("time_limit: {why}"))),
        };
        let kernels = (!exact).then(|| Arc::new(FastKernels) as Arc<dyn Kernels>);
        let mut options = RunOptions {
            kernels,
            threads: threads.max(1),
            max_steps,
            time_limit,
            ..RunOptions::default()
        };
        if let Some(bytes) = max_bytes {
            options.max_bytes = bytes;
        }
        let program = program.get().present();
        let prepared = py
            .detach(|| Prepared::new(&program, name.as_str(), options.kernels.as_deref()))
            .map_err(|error| errors::run_error(py, &error))?;
        Ok(Self { prepared, options })
    }

    /// The types of the parameters.
    #[getter]
    fn parameter_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let f = self.prepared.function();
        let types = f.params().iter().map(|&p| Bound::new(py, PyType(f.value_type(p).clone())));
        PyTuple::new(py, types.collect::<PyResult<Vec<_>>>()?)
    }

    /// Runs the function with one array per parameter, and returns one read-only array per result.
    #[pyo3(signature = (*inputs))]
    pub(super) fn __call__<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let f = self.prepared.function();
        if inputs.len() != f.params().len() {
            return Err(errors::argument_error(
                py,
                format!(
                    "@{} takes {}, {} given",
                    f.name(),
                    counted(f.params().len(), "argument"),
                    inputs.len()
                ),
            ));
        }
        let values = f.params().iter().zip(inputs).enumerate();
        let values = values.map(|(n, (&p, object))| read_input(n, f.value_type(p), &object));
        let values = values.collect::<PyResult<Vec<_>>>()?;
        let _call = NativeCall::enter();
        let signals = Signals::new();
        let polled = signals.clone();
        let stop: StopCheck = Arc::new(move || polled.poll());
        let options = RunOptions { stop: Some(stop), ..self.options.clone() };
        let results = py.detach(|| self.prepared.run(&values, &options));
        if let Some(raised) = signals.take() {
            return Err(raised);
        }
        let results = results.map_err(|error| errors::run_error(py, &error))?;
        let results = results.iter().map(|value| write_output(py, value));
        PyTuple::new(py, results.collect::<PyResult<Vec<_>>>()?)
    }

    fn __repr__(&self) -> String {
        format!("<Executable @{}>", self.prepared.function().name())
    }
}
