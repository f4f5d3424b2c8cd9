//! Execution of IR programs with the interpreter.

use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple};
use sapwood_ir::interpret::scalar::Scalar;
use sapwood_ir::interpret::{Interpreter, RunError, RunValue, TupleElements};
use sapwood_ir::{Program, Type, TypeRef};
use sapwood_types::{DataType, counted};

use super::text::program;
use crate::callback_cause::NativeCall;
use crate::errors::{self, ErrorKind};
use crate::items::Items;
use crate::numbers;
use crate::ptir::own_ops;
use crate::signals;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ir_interpret, module)?)
}

/// The deepest nesting of tuples in arguments and results.
const MAX_TUPLE_NESTING: usize = 200;

/// The number of steps, and of elements per tensor, that run without a check for Ctrl-C: they end before the user can press it.
const MAX_QUICK_STEPS: u64 = 10_000;
const MAX_QUICK_ELEMENTS: usize = 100;

/// A value that can be sent to another thread.
enum SendValue {
    Scalar(Scalar),
    Tuple(Vec<SendValue>),
    Tensor(Vec<i64>, Vec<Scalar>),
}

impl SendValue {
    fn to_run_value(&self) -> RunValue {
        match self {
            Self::Scalar(value) => RunValue::Scalar(*value),
            Self::Tuple(items) => {
                RunValue::Tuple(items.iter().map(Self::to_run_value).collect::<TupleElements>())
            }
            Self::Tensor(shape, items) => {
                RunValue::Tensor(Rc::from(shape.as_slice()), Rc::from(items.as_slice()))
            }
        }
    }

    /// Returns whether a step on this value may take long.
    fn is_large(&self) -> bool {
        match self {
            Self::Scalar(_) => false,
            Self::Tuple(items) => items.iter().any(Self::is_large),
            Self::Tensor(_, items) => items.len() > MAX_QUICK_ELEMENTS,
        }
    }

    /// Converts a result; returns `None` if tuples nest too deeply.
    fn from_run_value(value: &RunValue, depth: usize) -> Option<Self> {
        Some(match value {
            RunValue::Scalar(value) => Self::Scalar(*value),
            RunValue::Tensor(shape, items) => Self::Tensor(shape.to_vec(), items.to_vec()),
            RunValue::Tuple(_) if depth == 0 => return None,
            RunValue::Tuple(items) => {
                let items = items.iter().map(|item| Self::from_run_value(item, depth - 1));
                Self::Tuple(items.collect::<Option<_>>()?)
            }
        })
    }
}

/// The reason why a run has no results.
struct RunFailure {
    out_of_steps: bool,
    family: ErrorKind,
    message: String,
}

impl RunFailure {
    fn new(message: String) -> Self {
        Self { out_of_steps: false, family: ErrorKind::Run, message }
    }
}

fn interpret(
    program: &Program,
    name: &str,
    given: &[SendValue],
    steps: u64,
) -> Result<Vec<SendValue>, RunFailure> {
    let given: Vec<RunValue> = given.iter().map(SendValue::to_run_value).collect();
    let mut interpreter = Interpreter::new(program, steps).with_registry(&own_ops::registry());
    interpreter.check_arguments(name, &given).map_err(|error| match error {
        RunError::Argument { message, .. } => {
            RunFailure { family: ErrorKind::Argument, ..RunFailure::new(message) }
        }
        other => RunFailure::new(other.to_string()),
    })?;
    let results = interpreter.run(name, &given).map_err(|error| {
        let out_of_steps = error == RunError::OutOfSteps;
        RunFailure { out_of_steps, ..RunFailure::new(error.to_string()) }
    })?;
    let plain = results.iter().map(|value| SendValue::from_run_value(value, MAX_TUPLE_NESTING));
    let too_deep = || RunFailure::new(format!("tuples nest deeper than {MAX_TUPLE_NESTING}"));
    plain.collect::<Option<Vec<_>>>().ok_or_else(too_deep)
}

/// Runs a function of a program for at most `steps` statements and loop trips, and returns its results.
#[pyfunction]
fn ir_interpret<'py>(
    program: &Bound<'py, PyAny>,
    name: &str,
    args: &Bound<'py, PyTuple>,
    steps: u64,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = args.py();
    let program = self::program(program)?;
    let Some(function) = program.get_function(name) else {
        let names: Vec<&str> = program.functions().map(|function| &*function.name).collect();
        let more = match sapwood_types::did_you_mean(name, names.iter().copied()) {
            Some(hint) => format!("did you mean {hint}?"),
            None => format!("it has {}", names.join(", ")),
        };
        let message = format!("the program has no function called {name}; {more}");
        return Err(errors::new_error(py, ErrorKind::Run, message));
    };
    if args.len() != function.params.len() {
        let takes = counted(function.params.len(), "argument");
        let message = format!("{name} takes {takes}, {} given", args.len());
        return Err(errors::argument_error(py, message));
    }
    let given = args.iter().zip(&function.params);
    let given =
        given.map(|(object, param)| argument(&object, param.ty(), param.name(), MAX_TUPLE_NESTING));
    let given = given.collect::<PyResult<Vec<SendValue>>>()?;
    let quick_steps =
        if given.iter().any(SendValue::is_large) { 0 } else { steps.min(MAX_QUICK_STEPS) };
    let _call = NativeCall::enter();
    let mut results = py.detach(|| interpret(&program, name, &given, quick_steps));
    if quick_steps < steps && results.as_ref().is_err_and(|stopped| stopped.out_of_steps) {
        // The quick run was not enough: start again on a thread that can be interrupted.
        let name = name.to_owned();
        let retry = move || interpret(&program, &name, &given, steps);
        results = signals::interruptible(py, retry)?;
    }
    let results =
        results.map_err(|stopped| errors::new_error(py, stopped.family, stopped.message))?;
    let results = results.iter().map(|value| to_python(py, value));
    PyTuple::new(py, results.collect::<PyResult<Vec<_>>>()?)
}

fn argument(
    object: &Bound<'_, PyAny>,
    ty: &TypeRef,
    name: &str,
    depth: usize,
) -> PyResult<SendValue> {
    match &**ty {
        Type::Tuple { types, .. } => {
            if depth == 0 {
                let message = format!("{name}: tuples nest deeper than {MAX_TUPLE_NESTING}");
                return Err(errors::argument_error(object.py(), message));
            }
            let items = Items::extract(object.as_borrowed())
                .map_err(|error| errors::with_prefix(object.py(), error, name))?
                .0;
            if items.len() != types.len() {
                let message =
                    format!("{name}: expected a tuple of {}, found {}", types.len(), items.len());
                return Err(errors::argument_error(object.py(), message));
            }
            let items = items.iter().zip(types);
            let items = items.map(|(item, ty)| argument(item, ty, name, depth - 1));
            Ok(SendValue::Tuple(items.collect::<PyResult<_>>()?))
        }
        Type::Tensor { dtype, .. } => {
            let (shape, items) = tensor(object, *dtype, name)?;
            Ok(SendValue::Tensor(shape, items))
        }
        Type::Scalar { dtype, .. } => scalar(object, *dtype, name).map(SendValue::Scalar),
        _ => scalar(object, default_dtype(object), name).map(SendValue::Scalar),
    }
}

/// Returns the data type of a number whose parameter has no scalar type.
fn default_dtype(object: &Bound<'_, PyAny>) -> DataType {
    if object.is_instance_of::<PyBool>() {
        DataType::Bool
    } else if object.is_instance_of::<PyFloat>() {
        DataType::F64
    } else {
        DataType::I64
    }
}

fn scalar(object: &Bound<'_, PyAny>, dtype: DataType, name: &str) -> PyResult<Scalar> {
    let wrong = |_| {
        let (wanted, found) = (dtype.document_name(), errors::type_name(object));
        errors::argument_error(
            object.py(),
            format!("{name}: expected a number for {wanted}, found {found}"),
        )
    };
    if dtype.is_complex() {
        let message =
            format!("{name}: the interpreter has no complex numbers; lower the program and run it");
        return Err(errors::argument_error(object.py(), message));
    }
    // NumPy would drop the imaginary part of its complex numbers.
    if is_complex_number(object) {
        return Err(wrong(errors::value_error(object.py(), String::new())));
    }
    if dtype.is_bool() {
        Ok(Scalar::Bool(object.extract::<bool>().map_err(wrong)?))
    } else if dtype.is_integer() {
        let number: i128 = object.extract().map_err(wrong)?;
        if dtype.integer_range().is_some_and(|(least, most)| number < least || number > most) {
            let message = format!("{name}: {number} does not fit {}", dtype.document_name());
            return Err(errors::value_error(object.py(), message));
        }
        Ok(Scalar::int(dtype, number))
    } else {
        Ok(Scalar::float(dtype, object.extract::<f64>().map_err(wrong)?))
    }
}

/// Returns whether an object is a complex number of NumPy.
fn is_complex_number(object: &Bound<'_, PyAny>) -> bool {
    if object.is_instance_of::<PyFloat>() || object.is_instance_of::<PyInt>() {
        return false;
    }
    let kind = object.getattr("dtype").and_then(|dtype| dtype.getattr("kind"));
    kind.is_ok_and(|kind| kind.extract::<String>().is_ok_and(|kind| kind == "c"))
}

fn tensor(
    object: &Bound<'_, PyAny>,
    dtype: DataType,
    name: &str,
) -> PyResult<(Vec<i64>, Vec<Scalar>)> {
    let py = object.py();
    let array = numbers::numbers_to_array(object, None)
        .map_err(|error| errors::with_prefix(py, error, name))?;
    let shape: Vec<i64> = array.getattr("shape")?.extract()?;
    let items: Vec<Bound<'_, PyAny>> =
        array.call_method0("ravel")?.call_method0("tolist")?.extract()?;
    let items = items.iter().map(|item| scalar(item, dtype, name)).collect::<PyResult<_>>()?;
    Ok((shape, items))
}

fn to_python<'py>(py: Python<'py>, value: &SendValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        SendValue::Scalar(value) => scalar_to_python(py, *value)?,
        SendValue::Tuple(items) => {
            let items = items.iter().map(|item| to_python(py, item));
            PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        SendValue::Tensor(shape, items) => {
            let numpy = crate::arrays::numpy(py)?;
            let dtype = items.first().map_or(DataType::F32, |first| first.dtype());
            let items = items
                .iter()
                .map(|item| scalar_to_python(py, *item))
                .collect::<PyResult<Vec<_>>>()?;
            let dtype = crate::arrays::dtype_to_numpy(py, dtype)?;
            let flat = numpy.getattr("array")?.call1((items, dtype))?;
            flat.call_method1("reshape", (PyTuple::new(py, shape)?,))?
        }
    })
}

fn scalar_to_python(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Scalar::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Scalar::Int(_, value) => value.into_pyobject(py)?.into_any(),
        Scalar::Float(_, value) => value.into_pyobject(py)?.into_any(),
    })
}
