//! Running programs of the IR with its interpreter.

use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use sapwood_ir::interpret::scalar::Scalar;
use sapwood_ir::interpret::{Elements, Interpreter, RunValue};
use sapwood_ir::{Type, TypeRef};
use sapwood_types::DataType;

use super::text::program;
use crate::errors::{self, Family};
use crate::items::items;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ir_interpret, module)?)
}

/// Tuples of arguments and results nest at most this deep.
const DEEPEST: usize = 200;

/// A value that can go to another thread.
enum Plain {
    Scalar(Scalar),
    Tuple(Vec<Plain>),
    Tensor(Vec<i64>, Vec<Scalar>),
}

impl Plain {
    fn into_run(self) -> RunValue {
        match self {
            Self::Scalar(value) => RunValue::Scalar(value),
            Self::Tuple(items) => {
                RunValue::Tuple(items.into_iter().map(Self::into_run).collect::<Elements>())
            }
            Self::Tensor(shape, items) => RunValue::Tensor(Rc::from(shape), Rc::from(items)),
        }
    }

    /// Nothing if tuples nest too deep.
    fn from_run(value: &RunValue, depth: usize) -> Option<Self> {
        Some(match value {
            RunValue::Scalar(value) => Self::Scalar(*value),
            RunValue::Tensor(shape, items) => Self::Tensor(shape.to_vec(), items.to_vec()),
            RunValue::Tuple(_) if depth == 0 => return None,
            RunValue::Tuple(items) => {
                let items = items.iter().map(|item| Self::from_run(item, depth - 1));
                Self::Tuple(items.collect::<Option<_>>()?)
            }
        })
    }
}

/// Runs a function of a program, `steps` statements and loop trips at most, and gives its results.
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
        return Err(errors::error(py, Family::Run, message));
    };
    if args.len() != function.params.len() {
        let message =
            format!("{name} takes {} arguments, {} were given", function.params.len(), args.len());
        return Err(errors::argument(py, message));
    }
    let given = args.iter().zip(&function.params);
    let given = given.map(|(object, param)| argument(&object, param.ty(), param.name(), DEEPEST));
    let given = given.collect::<PyResult<Vec<Plain>>>()?;
    let results = py.detach(|| {
        let given: Vec<RunValue> = given.into_iter().map(Plain::into_run).collect();
        let results = Interpreter::new(&program, steps).run(name, &given);
        let results = results.map_err(|error| error.to_string())?;
        let plain = results.iter().map(|value| Plain::from_run(value, DEEPEST));
        plain
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| format!("tuples nest deeper than {DEEPEST}"))
    });
    let results = results.map_err(|message| errors::error(py, Family::Run, message))?;
    let results = results.iter().map(|value| to_python(py, value));
    PyTuple::new(py, results.collect::<PyResult<Vec<_>>>()?)
}

fn argument(object: &Bound<'_, PyAny>, ty: &TypeRef, name: &str, depth: usize) -> PyResult<Plain> {
    match &**ty {
        Type::Tuple { types } => {
            let items = items(object)?;
            if depth == 0 || items.len() != types.len() {
                let message =
                    format!("{name}: expected a tuple of {}, found {}", types.len(), items.len());
                return Err(errors::argument(object.py(), message));
            }
            let items = items.iter().zip(types);
            let items = items.map(|(item, ty)| argument(item, ty, name, depth - 1));
            Ok(Plain::Tuple(items.collect::<PyResult<_>>()?))
        }
        Type::Tensor { dtype, .. } => tensor(object, *dtype, name),
        Type::Scalar { dtype } => scalar(object, *dtype, name).map(Plain::Scalar),
        _ => scalar(object, guess(object), name).map(Plain::Scalar),
    }
}

/// The data type of a number where the parameter does not say it.
fn guess(object: &Bound<'_, PyAny>) -> DataType {
    if object.is_instance_of::<PyBool>() {
        DataType::Bool
    } else if object.is_instance_of::<pyo3::types::PyFloat>() {
        DataType::F64
    } else {
        DataType::I64
    }
}

fn scalar(object: &Bound<'_, PyAny>, dtype: DataType, name: &str) -> PyResult<Scalar> {
    let wrong = |_| {
        let (wanted, found) = (dtype.document_name(), errors::type_name(object));
        errors::argument(
            object.py(),
            format!("{name}: expected a number for {wanted}, found {found}"),
        )
    };
    if dtype.is_bool() {
        Ok(Scalar::Bool(object.extract::<bool>().map_err(wrong)?))
    } else if dtype.is_integer() {
        let number: i128 = object.extract().map_err(wrong)?;
        if dtype.integer_range().is_some_and(|(least, most)| number < least || number > most) {
            let message = format!("{name}: {number} does not fit {}", dtype.document_name());
            return Err(errors::value(object.py(), message));
        }
        Ok(Scalar::int(dtype, number))
    } else {
        Ok(Scalar::float(dtype, object.extract::<f64>().map_err(wrong)?))
    }
}

fn tensor(object: &Bound<'_, PyAny>, dtype: DataType, name: &str) -> PyResult<Plain> {
    let array = crate::arrays::numpy(object.py())?.getattr("asarray")?.call1((object,))?;
    let shape: Vec<i64> = array.getattr("shape")?.extract()?;
    let items: Vec<Bound<'_, PyAny>> =
        array.call_method0("ravel")?.call_method0("tolist")?.extract()?;
    let items = items.iter().map(|item| scalar(item, dtype, name)).collect::<PyResult<_>>()?;
    Ok(Plain::Tensor(shape, items))
}

fn to_python<'py>(py: Python<'py>, value: &Plain) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Plain::Scalar(value) => number(py, *value)?,
        Plain::Tuple(items) => {
            let items = items.iter().map(|item| to_python(py, item));
            PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Plain::Tensor(shape, items) => {
            let numpy = crate::arrays::numpy(py)?;
            let dtype = items.first().map_or(DataType::F32, |first| first.dtype());
            let items = items.iter().map(|item| number(py, *item)).collect::<PyResult<Vec<_>>>()?;
            let dtype = crate::arrays::dtype_to_numpy(py, dtype)?;
            let flat = numpy.getattr("array")?.call1((items, dtype))?;
            flat.call_method1("reshape", (PyTuple::new(py, shape)?,))?
        }
    })
}

fn number(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Scalar::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Scalar::Int(_, value) => value.into_pyobject(py)?.into_any(),
        Scalar::Float(_, value) => value.into_pyobject(py)?.into_any(),
    })
}
