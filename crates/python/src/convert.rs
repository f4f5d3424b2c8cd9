//! Conversion between structural values and Python objects.

use hashbrown::{HashMap, HashSet};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};
use rustc_hash::FxBuildHasher;
use sapwood_structural::{
    AnyRef, BigInt, Bytes, Map, Node as DeriveNode, NodePath, NodeRef, Ref, Seq,
};
use sapwood_structural::{PathStep, Set, Value, View};
use sapwood_types::{DataType, Span};

use crate::arrays;
use crate::compare;
use crate::data_type::PyDataType;
use crate::errors;
use crate::instance;
use crate::items;
use crate::node::wrap;
use crate::span::PySpan;

/// A data type wrapped as a node, for fields that hold any value.
#[derive(DeriveNode)]
#[node(kind = "const-tree", key = "sapwood.DataType")]
pub(crate) struct DataTypeValue {
    dtype: DataType,
}

/// A span wrapped as a node, for fields that hold any value.
#[derive(DeriveNode)]
#[node(kind = "const-tree", key = "sapwood.Span")]
pub(crate) struct SpanValue {
    span: Span,
}

/// Returns the `DataType` or `Span` that a node wraps; `None` for other nodes.
pub(crate) fn unwrap_data_type_or_span<'py>(
    py: Python<'py>,
    node: NodeRef<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(value) = node.downcast::<DataTypeValue>() {
        return Ok(Some(PyDataType::object(py, value.dtype)?.clone().into_any()));
    }
    if let Some(value) = node.downcast::<SpanValue>() {
        return Ok(Some(Bound::new(py, PySpan(value.span))?.into_any()));
    }
    Ok(None)
}

/// Returns the Python object for a view. Lists without identity become tuples.
pub(crate) fn to_python<'py>(py: Python<'py>, view: View<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match view {
        View::None => py.None().into_bound(py),
        View::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        View::Int(value) => value.into_pyobject(py)?.into_any(),
        View::Wide(_) | View::Big(_) => {
            let hex = match Value::of(view) {
                Value::Big(big) => big.to_hex(),
                other => format!("{other:?}"),
            };
            py.get_type::<PyInt>().call1((hex, 16))?
        }
        View::Float(value) => PyFloat::new(py, value).into_any(),
        View::Str(text) => PyString::new(py, text).into_any(),
        View::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        View::Tensor(tensor) => arrays::to_array(py, tensor)?,
        View::Node(node) => wrap(py, node.to_owned())?,
        View::List(list) => {
            let items = (0..list.len()).map(|index| to_python(py, list.item(index)));
            PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
    })
}

/// An argument from Python to read: a node borrowed from its handle, which keeps its reference count as it is, or a converted value.
pub(crate) enum ValueArg<'a> {
    Node(&'a AnyRef),
    Value(Value),
}

impl<'a> ValueArg<'a> {
    /// Reads an argument; fails as [`to_value`] does.
    pub(crate) fn new(object: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        match instance::as_node(object) {
            Some(node) => Ok(Self::Node(&node.any)),
            None => to_value(object).map(Self::Value),
        }
    }

    /// Returns the node, if the argument is one.
    pub(crate) fn as_node(&self) -> Option<NodeRef<'_>> {
        match self {
            Self::Node(any) => Some(any.node()),
            Self::Value(value) => value.as_node().map(AnyRef::node),
        }
    }

    /// Returns a view of the argument.
    pub(crate) fn view(&self) -> View<'_> {
        match self {
            Self::Node(any) => View::Node(any.node()),
            Self::Value(value) => value.view(),
        }
    }
}

/// Converts a Python object to a value. Lists, tuples, dicts and sets are copied, without recursion.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    match atom_to_value(object)? {
        Some(value) => Ok(value),
        None => ContainerCopier::default().run(object),
    }
}

/// Converts an object other than a container to a value; returns `None` for a container.
fn atom_to_value(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if let Some(node) = instance::as_node(object) {
        return Ok(Some(Value::Node(node.any.clone())));
    }
    if object.is_none() {
        return Ok(Some(Value::None));
    }
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str().map_err(|error| {
            let py = object.py();
            if error.is_instance_of::<PyUnicodeEncodeError>(py) {
                errors::value_error(py, "text with lone surrogates is not valid Unicode")
            } else {
                error
            }
        })?;
        return Ok(Some(Value::from(text)));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Some(Value::Bool(value.is_true())));
    }
    if object.is_instance_of::<PyInt>() {
        return int_to_value(object).map(Some);
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Some(Value::Float(value.value())));
    }
    let container = object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PySet>()
        || object.is_instance_of::<PyFrozenSet>();
    if container {
        return Ok(None);
    }
    other_atom_to_value(object).map(Some)
}

fn int_to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok(Value::Int(value));
    }
    // The formatting of `int` itself, whatever a subclass overrides.
    let format = object.py().get_type::<PyInt>().getattr(intern!(object.py(), "__format__"))?;
    let hex: String = format.call1((object, "x"))?.extract()?;
    let value =
        BigInt::from_hex(&hex).ok_or_else(|| errors::value_error(object.py(), "not an integer"))?;
    Ok(Value::from(value))
}

fn other_atom_to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(dtype) = object.cast::<PyDataType>() {
        return Ok(Ref::new(DataTypeValue { dtype: dtype.get().get() }).into());
    }
    if let Ok(span) = object.cast::<PySpan>() {
        return Ok(Ref::new(SpanValue { span: span.get().0 }).into());
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Value::from(Bytes::new(bytes.as_bytes())));
    }
    if let Some(value) = arrays::to_value(object)? {
        return Ok(value);
    }
    let found = errors::type_name(object);
    Err(errors::argument_error(
        object.py(),
        format!(
            "expected a node, None, bool, int, float, str, bytes, DataType, Span, array, list, tuple, dict or set, found {found}"
        ),
    ))
}

enum PartialContainer<'py> {
    Seq(Vec<Value>),
    Set(Vec<Value>),
    /// Keys and values alternate; the keys are also kept as Python objects, for messages.
    Map(Vec<Value>, Bound<'py, PyTuple>),
}

/// A container whose items are being copied.
struct OpenContainer<'py> {
    /// The address of the container, to recognize it.
    address: usize,
    /// The items at the time it was opened.
    items: Bound<'py, PyTuple>,
    partial: PartialContainer<'py>,
}

impl OpenContainer<'_> {
    fn out(&mut self) -> &mut Vec<Value> {
        match &mut self.partial {
            PartialContainer::Seq(out)
            | PartialContainer::Set(out)
            | PartialContainer::Map(out, _) => out,
        }
    }

    fn len(&self) -> usize {
        match &self.partial {
            PartialContainer::Seq(out)
            | PartialContainer::Set(out)
            | PartialContainer::Map(out, _) => out.len(),
        }
    }

    fn step(&self) -> Option<PathStep> {
        Some(match &self.partial {
            PartialContainer::Seq(out) => PathStep::Index(out.len()),
            PartialContainer::Set(_) => return None,
            PartialContainer::Map(out, keys) => {
                let key = keys.get_item(out.len() / 2).ok()?;
                PathStep::Key(atom_to_value(&key).ok().flatten().unwrap_or_default())
            }
        })
    }
}

#[derive(Default)]
struct ContainerCopier<'py> {
    frames: Vec<OpenContainer<'py>>,
    open: HashSet<usize, FxBuildHasher>,
    /// A memo of copied containers, so that a shared one is copied once. It keeps them alive, so that no other object takes their address.
    done: HashMap<usize, (Value, Bound<'py, PyAny>), FxBuildHasher>,
}

impl<'py> ContainerCopier<'py> {
    fn run(mut self, root: &Bound<'py, PyAny>) -> PyResult<Value> {
        self.open(root)?;
        loop {
            let Some(top) = self.frames.last_mut() else { return Ok(Value::None) };
            let index = top.len();
            if index < top.items.len() {
                let item = top.items.get_item(index)?;
                let address = item.as_ptr().addr();
                if let Some(value) =
                    atom_to_value(&item).map_err(|error| self.with_path(item.py(), error))?
                {
                    if let Some(top) = self.frames.last_mut() {
                        top.out().push(value);
                    }
                } else if let Some((value, _)) = self.done.get(&address) {
                    let value = value.clone();
                    if let Some(top) = self.frames.last_mut() {
                        top.out().push(value);
                    }
                } else {
                    self.open(&item)?;
                }
                continue;
            }
            let Some(frame) = self.frames.pop() else { return Ok(Value::None) };
            self.open.remove(&frame.address);
            let value = self.close(root.py(), frame.partial)?;
            let Some(outer) = self.frames.last_mut() else { return Ok(value) };
            let source = outer.items.get_item(outer.len())?;
            outer.out().push(value.clone());
            self.done.insert(frame.address, (value, source));
        }
    }

    fn open(&mut self, container: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = container.py();
        let address = container.as_ptr().addr();
        if !self.open.insert(address) {
            let error =
                errors::value_error(py, "the container contains itself; graphs have no cycles");
            return Err(self.with_path(py, error));
        }
        let (items, partial) = if let Ok(dict) = container.cast::<PyDict>() {
            let entries = dict.items();
            let mut keys = Vec::with_capacity(entries.len());
            let mut items = Vec::with_capacity(2 * entries.len());
            for entry in &entries {
                let entry = entry.cast_into::<PyTuple>()?;
                let mut key = entry.get_item(0)?;
                if let Some(value) = compare::value_of_structural_key(&key)? {
                    key = to_python(py, value.view())?;
                }
                keys.push(key.clone());
                items.extend([key, entry.get_item(1)?]);
            }
            (PyTuple::new(py, items)?, PartialContainer::Map(Vec::new(), PyTuple::new(py, keys)?))
        } else if let Ok(list) = container.cast::<PyList>() {
            (list.to_tuple(), PartialContainer::Seq(Vec::new()))
        } else if let Ok(tuple) = container.cast::<PyTuple>() {
            (tuple.clone(), PartialContainer::Seq(Vec::new()))
        } else {
            // The iteration of `set` itself, whatever a subclass overrides.
            let class = if container.is_instance_of::<PySet>() {
                py.get_type::<PySet>()
            } else {
                py.get_type::<PyFrozenSet>()
            };
            let members = class.getattr(intern!(py, "__iter__"))?.call1((container,))?;
            (
                PyTuple::new(py, items::collect_iterator(&members)?)?,
                PartialContainer::Set(Vec::new()),
            )
        };
        self.frames.push(OpenContainer { address, items, partial });
        Ok(())
    }

    fn close(&self, py: Python<'_>, partial: PartialContainer<'_>) -> PyResult<Value> {
        let failed = |error| self.with_path(py, compare::compare_error(py, error));
        Ok(match partial {
            PartialContainer::Seq(items) => Seq::new(items).into(),
            PartialContainer::Set(items) => Set::new(items).map_err(failed)?.into(),
            PartialContainer::Map(items, _) => {
                let mut items = items.into_iter();
                let mut entries = Vec::with_capacity(items.len() / 2);
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    entries.push((key, value));
                }
                Map::new(entries).map_err(failed)?.into()
            }
        })
    }

    /// Prefixes the message of an error with the path to the current item.
    fn with_path(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let path: NodePath = self.frames.iter().filter_map(OpenContainer::step).collect();
        errors::with_prefix(py, error, &path.to_string())
    }
}
