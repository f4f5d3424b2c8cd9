//! Conversion between attributes and Python objects.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use sapwood::ptir::{Attr, AttrKind, Ints, MAX_ATTR_DEPTH, Name, OpDef, TensorLiteral};
use smallvec::SmallVec;

use crate::arrays::{self, ArrayContent};
use crate::data_type::{self, PyDataType};
use crate::errors;
use crate::items::{CopyMemo, items};
use crate::ptir::dims::PyDim;

/// Converts a literal to an array.
pub(crate) fn literal_to_array<'py>(
    py: Python<'py>,
    literal: &TensorLiteral,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(element) = literal.as_splat() else {
        return arrays::array_from_bytes(
            py,
            literal.dtype(),
            literal.shape(),
            literal.stored_bytes(),
        );
    };
    let one = arrays::array_from_bytes(py, literal.dtype(), &[], element)?;
    let shape = PyTuple::new(py, literal.shape())?;
    // A view of one element, so a splat of a million elements costs one.
    arrays::numpy(py)?.getattr("broadcast_to")?.call1((one, shape))
}

/// Converts an array to a literal.
pub(crate) fn literal_from_array(object: &Bound<'_, PyAny>) -> PyResult<TensorLiteral> {
    let py = object.py();
    let Some(ArrayContent { dtype, shape, bytes }) = arrays::array_content(object)? else {
        let found = errors::type_name(object);
        return Err(errors::argument_error(
            py,
            format!("expected a NumPy array for a literal, found {found}"),
        ));
    };
    TensorLiteral::new(dtype, &shape, bytes.as_bytes())
        .map_err(|error| errors::value_error(py, error.to_string()))
}

/// Returns whether an object is a NumPy array or scalar, or converts to one.
pub(super) fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(arrays::as_array(object)?.is_some())
}

/// Converts an attribute to a Python object.
pub(crate) fn attr_to_python<'py>(py: Python<'py>, attr: &Attr) -> PyResult<Bound<'py, PyAny>> {
    Ok(match attr {
        Attr::Unit => py.None().into_bound(py),
        Attr::Bool(x) => PyBool::new(py, *x).to_owned().into_any(),
        Attr::Int(n) => PyInt::new(py, *n).into_any(),
        Attr::Float(x) => PyFloat::new(py, x.get()).into_any(),
        Attr::Str(text) => PyString::new(py, text).into_any(),
        Attr::Word(name) | Attr::Func(name) => PyString::new(py, name.as_str()).into_any(),
        Attr::Type(dtype) => PyDataType::object(py, *dtype)?.clone().into_any(),
        Attr::Ints(list) => PyTuple::new(py, list.iter())?.into_any(),
        Attr::Dim(expr) => Bound::new(py, PyDim(*expr))?.into_any(),
        Attr::List(items) => {
            let items = items.iter().map(|item| attr_to_python(py, item));
            PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Attr::Dict(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries.iter() {
                dict.set_item(name.as_str(), attr_to_python(py, value)?)?;
            }
            dict.into_any()
        }
        Attr::Literal(literal) => literal_to_array(py, literal)?,
    })
}

/// Returns the attributes of an instruction by name, without those that are absent.
pub(crate) fn attrs_to_dict<'py>(
    py: Python<'py>,
    def: Option<&OpDef>,
    attrs: &[Attr],
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    match (def, attrs) {
        (Some(def), _) => {
            for (row, attr) in def.attrs.iter().zip(attrs) {
                if *attr != Attr::Unit {
                    result.set_item(row.name, attr_to_python(py, attr)?)?;
                }
            }
        }
        (None, [Attr::Dict(entries)]) => {
            for (name, value) in entries.iter() {
                result.set_item(name.as_str(), attr_to_python(py, value)?)?;
            }
        }
        (None, _) => {}
    }
    Ok(result)
}

fn integer(object: &Bound<'_, PyAny>) -> Option<i64> {
    if object.is_instance_of::<PyBool>() {
        return None;
    }
    object.extract().ok()
}

fn items_unless_str<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if object.is_instance_of::<PyString>() { None } else { items(object).ok() }
}

fn integers(object: &Bound<'_, PyAny>) -> Option<Ints> {
    items_unless_str(object)?.iter().map(integer).collect()
}

fn text(object: &Bound<'_, PyAny>) -> Option<String> {
    object.cast::<PyString>().ok()?.extract().ok()
}

/// Converts an object to an attribute of this kind; `None` if it has another type.
pub(super) fn read_attr_of_kind(
    kind: AttrKind,
    object: &Bound<'_, PyAny>,
) -> PyResult<Option<Attr>> {
    Ok(match kind {
        AttrKind::Bool => object.cast::<PyBool>().ok().map(|x| Attr::Bool(x.is_true())),
        AttrKind::Int => integer(object).map(Attr::Int),
        AttrKind::Float if object.is_instance_of::<PyBool>() => None,
        AttrKind::Float => object.extract::<f64>().ok().map(Attr::float),
        AttrKind::Str => text(object).map(|text| Attr::Str(text.into())),
        AttrKind::Word(_) => text(object).map(|text| Attr::word(&text)),
        AttrKind::Func => {
            text(object).map(|text| Attr::Func(Name::new(text.strip_prefix('@').unwrap_or(&text))))
        }
        AttrKind::Type => Some(Attr::Type(data_type::read_data_type(object)?)),
        AttrKind::Ints => integers(object).map(Attr::Ints),
        AttrKind::Dims => match items_unless_str(object) {
            Some(items) => {
                let items = items.iter().map(|item| PyDim::read(item).map(Attr::dim));
                Some(Attr::list(items.collect::<PyResult<Vec<_>>>()?))
            }
            None => None,
        },
        AttrKind::IntLists(_) => items_unless_str(object).and_then(|rows| {
            let rows = rows.iter().map(|row| integers(row).map(Attr::Ints));
            rows.collect::<Option<Vec<_>>>().map(Attr::list)
        }),
        AttrKind::Literal => Some(Attr::Literal(literal_from_array(object)?)),
        AttrKind::Dict => match object.cast::<PyDict>() {
            Ok(dict) => Some(read_dict(dict)?),
            Err(_) => None,
        },
        AttrKind::Any => Some(AttrReader::default().read(object, 0)?.0),
        AttrKind::ResultType => {
            let message = "the type of the result is given as result_type=\"f32[2, 3]\"";
            return Err(errors::argument_error(object.py(), message));
        }
    })
}

/// A reader of the attributes of unregistered ops, which may be of any kind. A container that occurs many times is copied once and counted
/// at each occurrence, because printing and comparing attributes follow all paths.
#[derive(Default)]
struct AttrReader<'py> {
    /// The copies, each with its nesting depth.
    copies: CopyMemo<'py, (Attr, usize)>,
}

impl<'py> AttrReader<'py> {
    /// Converts an object to an attribute and returns its nesting depth.
    fn read(&mut self, object: &Bound<'py, PyAny>, depth: usize) -> PyResult<(Attr, usize)> {
        let py = object.py();
        if depth > MAX_ATTR_DEPTH {
            return Err(too_deep(py));
        }
        let dict = object.cast::<PyDict>();
        let list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        if dict.is_err() && !list {
            return Ok((read_leaf(object)?, 0));
        }
        if let Some(((copy, below), items)) = self.copies.get(object) {
            if depth + below > MAX_ATTR_DEPTH {
                return Err(too_deep(py));
            }
            self.charge(py, items)?;
            return Ok((copy, below));
        }
        let begun = self.copies.charged();
        let (made, below) = match dict {
            Ok(dict) => self.entries(dict, depth + 1)?,
            Err(_) => self.items(object, depth + 1)?,
        };
        let made = (made, below + 1);
        self.copies.add(object, &made, begun);
        Ok(made)
    }

    fn items(&mut self, list: &Bound<'py, PyAny>, depth: usize) -> PyResult<(Attr, usize)> {
        let items = items(list)?;
        self.charge(list.py(), items.len())?;
        let (mut made, mut deepest) = (Vec::with_capacity(items.len()), 0);
        for item in &items {
            let (item, below) = self.read(item, depth)?;
            made.push(item);
            deepest = deepest.max(below);
        }
        Ok((Attr::list(made), deepest))
    }

    fn entries(&mut self, dict: &Bound<'py, PyDict>, depth: usize) -> PyResult<(Attr, usize)> {
        // A snapshot of the entries, because reading a value may change the dict.
        let entries = dict.items();
        self.charge(dict.py(), entries.len())?;
        let (mut made, mut deepest) = (Vec::with_capacity(entries.len()), 0);
        for entry in entries {
            let (key, value): (Bound<'_, PyAny>, Bound<'py, PyAny>) = entry.extract()?;
            let Some(key) = text(&key) else {
                let found = errors::type_name(&key);
                let message = format!("the name of an attribute is a str, not {found}");
                return Err(errors::argument_error(dict.py(), message));
            };
            let (value, below) = self.read(&value, depth)?;
            made.push((Name::new(&key), value));
            deepest = deepest.max(below);
        }
        Ok((Attr::dict(made), deepest))
    }

    fn charge(&mut self, py: Python<'_>, items: usize) -> PyResult<()> {
        self.copies.charge(items).ok_or_else(|| {
            let most = CopyMemo::<()>::MAX_ITEMS;
            errors::value_error(py, format!("an attribute holds more than {most} items"))
        })
    }
}

/// Reads the attribute dictionary of an unregistered op.
fn read_dict(dict: &Bound<'_, PyDict>) -> PyResult<Attr> {
    Ok(AttrReader::default().entries(dict, 0)?.0)
}

fn too_deep(py: Python<'_>) -> PyErr {
    errors::value_error(py, format!("attributes nest at most {MAX_ATTR_DEPTH} deep"))
}

/// Converts an object without items to an attribute of the fitting kind.
fn read_leaf(object: &Bound<'_, PyAny>) -> PyResult<Attr> {
    let py = object.py();
    if object.is_none() {
        return Ok(Attr::Unit);
    }
    if let Ok(x) = object.cast::<PyBool>() {
        return Ok(Attr::Bool(x.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract() {
            Ok(n) => Ok(Attr::Int(n)),
            Err(_) => Err(errors::value_error(py, format!("{object} does not fit 64 bits"))),
        };
    }
    if let Ok(x) = object.cast::<PyFloat>() {
        return Ok(Attr::float(x.value()));
    }
    if let Some(text) = text(object) {
        return Ok(Attr::Str(text.into()));
    }
    if let Ok(dtype) = object.cast::<PyDataType>() {
        return Ok(Attr::Type(dtype.get().get()));
    }
    if let Some(ArrayContent { dtype, shape, bytes }) = arrays::array_content(object)? {
        let made = TensorLiteral::new(dtype, &shape, bytes.as_bytes());
        return made.map(Attr::Literal).map_err(|error| errors::value_error(py, error.to_string()));
    }
    let found = errors::type_name(object);
    Err(errors::argument_error(
        py,
        format!("an attribute is a bool, number, str, DataType, list, dict or array, not {found}"),
    ))
}

/// Reads keyword arguments as attributes in the order of the op's definition, with defaults for absent ones.
pub(crate) fn read_attrs(
    py: Python<'_>,
    op: &str,
    def: Option<&OpDef>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<SmallVec<[Attr; 4]>> {
    let Some(def) = def else {
        return Ok(match given {
            Some(given) => SmallVec::from_iter([read_dict(given)?]),
            None => SmallVec::new(),
        });
    };
    let mut found = 0;
    let mut attrs = SmallVec::new();
    for row in &def.attrs {
        let object = given.map(|given| given.get_item(row.name)).transpose()?.flatten();
        let attr = match object.filter(|object| !object.is_none()) {
            Some(object) => {
                found += 1;
                read_attr_of_kind(row.kind, &object)?.ok_or_else(|| {
                    let expected = row.kind.describe();
                    let got = errors::type_name(&object);
                    let message = format!("{op}: {} is {expected}, not {got}", row.name);
                    errors::argument_error(py, message)
                })?
            }
            None => {
                found += usize::from(given.is_some_and(|g| g.contains(row.name).unwrap_or(false)));
                row.default.clone().unwrap_or(Attr::Unit)
            }
        };
        attrs.push(attr);
    }
    if let Some(given) = given
        && found < given.len()
    {
        let names: Vec<&str> = def.attrs.iter().map(|row| row.name).collect();
        let wrong = given.keys().iter().filter_map(|key| text(&key));
        let wrong = wrong.into_iter().find(|key| !names.contains(&key.as_str()));
        let wrong = wrong.unwrap_or_default();
        let close = sapwood_types::did_you_mean(&wrong, names.iter().copied());
        let help = match close {
            Some(close) => format!("; did you mean {close}?"),
            None if names.is_empty() => "; it has none".to_owned(),
            None => format!("; it has {}", names.join(", ")),
        };
        return Err(errors::argument_error(py, format!("{op} has no attribute {wrong}{help}")));
    }
    Ok(attrs)
}
