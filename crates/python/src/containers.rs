//! `Seq`, `Map` and `Set`: the immutable containers.

use hashbrown::{HashMap, HashSet};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple, PyType};
use rustc_hash::FxBuildHasher;
use sapwood_structural::{AnyRef, ChildLayout, Map, Seq, Set, Value, View, abridged};

use crate::compare;
use crate::convert::{to_python, to_value};
use crate::errors::{self, ErrorKind};
use crate::items;
use crate::node::Node;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySeq>()?;
    module.add_class::<PyMap>()?;
    module.add_class::<PySet>()?;
    // These methods of abstract sets need no others than those of `PySet`.
    let (set, abstract_set) =
        (module.py().get_type::<PySet>(), abstract_class(module.py(), "Set")?);
    for name in [
        "__and__",
        "__rand__",
        "__or__",
        "__ror__",
        "__sub__",
        "__rsub__",
        "__xor__",
        "__rxor__",
        "isdisjoint",
    ] {
        set.setattr(name, abstract_set.getattr(name)?)?;
    }
    Ok(())
}

/// Returns the Python object for a container node.
pub(crate) fn wrap(py: Python<'_>, any: AnyRef) -> PyResult<Bound<'_, PyAny>> {
    let layout = any.info().layout();
    let node = PyClassInitializer::from(Node::from(any));
    Ok(match layout {
        ChildLayout::List => Bound::new(py, node.add_subclass(PySeq))?.into_any(),
        ChildLayout::Map => Bound::new(py, node.add_subclass(PyMap))?.into_any(),
        ChildLayout::Set => Bound::new(py, node.add_subclass(PySet))?.into_any(),
        ChildLayout::Record => Bound::new(py, node)?.into_any(),
    })
}

/// An immutable sequence.
///
/// >>> from sapwood.structural import Seq
/// >>> items = Seq([1, 2, 3])
/// >>> items[1:], items.index(3)
/// (Seq([2, 3]), 2)
#[pyclass(frozen, extends = Node, sequence, name = "Seq", module = "sapwood.structural")]
pub(crate) struct PySeq;

/// An immutable map whose keys are compared by structure.
///
/// >>> from sapwood.structural import Map
/// >>> table = Map({"a": 1, (1, 2): 2})
/// >>> table["a"], table[[1, 2]], 3 in table
/// (1, 2, False)
#[pyclass(frozen, extends = Node, mapping, name = "Map", module = "sapwood.structural")]
pub(crate) struct PyMap;

/// An immutable set whose members are compared by structure.
///
/// >>> from sapwood.structural import Set
/// >>> Set([1, 1, 2]) & Set([2, 3])
/// Set({2})
#[pyclass(frozen, extends = Node, name = "Set", module = "sapwood.structural")]
pub(crate) struct PySet;

/// Returns the container node of a Python object; fails unless it has the wanted layout.
fn container(object: &Bound<'_, PyAny>, layout: ChildLayout, wanted: &str) -> PyResult<Node> {
    match to_value(object)? {
        Value::Node(any) if any.info().layout() == layout => Ok(any.into()),
        other => {
            let message =
                format!("expected {wanted}, found {} {other:?}", other.view().sort_name());
            Err(errors::argument_error(object.py(), message))
        }
    }
}

/// Returns a class of `collections.abc`.
fn abstract_class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("collections.abc")?.getattr(name)
}

/// Calls a method that `collections.abc.Set` implements in terms of `in`, iteration and length.
fn unhashable(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "unhashable type: '{name}'; use StructuralKey to compare keys by structure"
    ))
}

fn children<'py>(py: Python<'py>, any: &AnyRef) -> PyResult<Bound<'py, PyTuple>> {
    let node = any.node();
    let items = (0..node.len()).map(|index| to_python(py, node.child(index)));
    PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)
}

/// Returns whether two values are equal in the sense of Python's `==`: containers by their items, nodes by identity.
fn same_items(py: Python<'_>, left: &Value, right: &Value) -> bool {
    let mut stack = vec![(left.clone(), right.clone())];
    // A shared pair is compared once. The roots keep all nodes alive, so addresses stay unique.
    let mut seen = HashSet::<(usize, usize), FxBuildHasher>::default();
    while let Some((left, right)) = stack.pop() {
        let same = match (left.view(), right.view()) {
            (View::Float(a), View::Float(b)) => a == b,
            (a, b) if is_number(a) && is_number(b) => same_numbers(py, a, b),
            (View::Node(a), View::Node(b)) => {
                a.id() == b.id()
                    || !seen.insert((a.id(), b.id()))
                    || compare_items(a.to_owned(), b.to_owned(), &mut stack)
            }
            (View::Node(_), _) | (_, View::Node(_)) => false,
            (a, b) => sapwood_structural::equal(a, b).unwrap_or(false),
        };
        if !same {
            return false;
        }
    }
    true
}

fn is_number(view: View<'_>) -> bool {
    use View::{Big, Bool, Float, Int, Wide};
    matches!(view, Bool(_) | Int(_) | Wide(_) | Big(_) | Float(_))
}

/// Compares numbers as Python does: `1 == True == 1.0`, and large numbers are compared exactly.
fn same_numbers(py: Python<'_>, left: View<'_>, right: View<'_>) -> bool {
    if let (View::Int(a), View::Int(b)) = (left, right) {
        return a == b;
    }
    let compared = || to_python(py, left)?.eq(to_python(py, right)?);
    compared().unwrap_or(false)
}

fn compare_items(left: AnyRef, right: AnyRef, stack: &mut Vec<(Value, Value)>) -> bool {
    if left.node().len() != right.node().len() {
        return false;
    }
    match (left.info().layout(), right.info().layout()) {
        (ChildLayout::List, ChildLayout::List) => {
            let (Ok(left), Ok(right)) = (Seq::try_from(left), Seq::try_from(right)) else {
                return false;
            };
            let pairs = left.as_slice().iter().zip(right.as_slice());
            stack.extend(pairs.map(|(a, b)| (a.clone(), b.clone())));
            true
        }
        (ChildLayout::Map, ChildLayout::Map) => {
            let (Ok(left), Ok(right)) = (Map::try_from(left), Map::try_from(right)) else {
                return false;
            };
            left.iter().all(|(key, value)| match right.get(key) {
                Ok(Some(other)) => {
                    stack.push((value.clone(), other.clone()));
                    true
                }
                _ => false,
            })
        }
        (ChildLayout::Set, ChildLayout::Set) => {
            let (Ok(left), Ok(right)) = (Set::try_from(left), Set::try_from(right)) else {
                return false;
            };
            left.iter().all(|member| right.contains(member).unwrap_or(false))
        }
        // Other nodes are equal only if they are identical, and these are not.
        _ => false,
    }
}

/// Implements `==` of a container, with our containers and with Python's.
fn equals(this: &AnyRef, other: &Bound<'_, PyAny>) -> bool {
    match to_value(other) {
        Ok(given) => same_items(other.py(), &Value::Node(this.clone()), &given),
        Err(_) => false,
    }
}

/// Returns `Seq[int]` and the like, which annotations of fields use.
fn generic_alias<'py>(
    class: &Bound<'py, PyType>,
    arguments: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    class.py().import("types")?.getattr("GenericAlias")?.call1((class, arguments))
}

/// Returns the sequence of the items of two sequences, or `NotImplemented` if a value is not a sequence.
fn join<'py>(left: &Bound<'py, PyAny>, right: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = left.py();
    let mut items: Vec<Value> = Vec::new();
    for side in [left, right] {
        let is_sequence = side.is_instance_of::<PySeq>()
            || side.is_instance_of::<PyList>()
            || side.is_instance_of::<PyTuple>();
        let value = if is_sequence { to_value(side)? } else { Value::None };
        let seq = value.as_node().and_then(|any| Seq::try_from(any.clone()).ok());
        let Some(seq) = seq else { return Ok(py.NotImplemented().into_bound(py)) };
        items.extend_from_slice(seq.as_slice());
    }
    wrap(py, Seq::new(items).into_any())
}

#[pymethods]
impl PySeq {
    #[new]
    #[pyo3(signature = (values = None, /))]
    fn new(
        py: Python<'_>,
        values: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let node = match values {
            None => Seq::new([]).into_any().into(),
            Some(values) if values.is_instance_of::<Node>() => {
                container(values, ChildLayout::List, "a sequence")?
            }
            Some(values) => {
                let items = PyTuple::new(py, items::items(values)?)?;
                container(&items.into_any(), ChildLayout::List, "a sequence")?
            }
        };
        Ok(PyClassInitializer::from(node).add_subclass(Self))
    }

    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        arguments: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        generic_alias(class, arguments)
    }

    fn __len__(slf: &Bound<'_, Self>) -> usize {
        slf.as_super().get().any.node().len()
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let any = &slf.as_super().get().any;
        if index.is_instance_of::<PySlice>() {
            let items = children(slf.py(), any)?.into_any().get_item(index)?;
            return slf.get_type().call1((items,));
        }
        let len = any.node().len();
        let place: isize = index.extract()?;
        let place = if place < 0 { place + len as isize } else { place };
        match usize::try_from(place) {
            Ok(place) if place < len => to_python(slf.py(), any.node().child(place)),
            _ => Err(PyIndexError::new_err(format!(
                "index {index} is out of range for a sequence of length {len}"
            ))),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(children(slf.py(), &slf.as_super().get().any)?.try_iter()?.into_any())
    }

    fn __reversed__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::new(slf.py(), children(slf.py(), &slf.as_super().get().any)?)?;
        list.reverse()?;
        Ok(list.try_iter()?.into_any())
    }

    fn __contains__(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        children(slf.py(), &slf.as_super().get().any)?.contains(value)
    }

    fn __add__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        join(slf.as_any(), other)
    }

    fn __radd__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        join(other, slf.as_any())
    }

    /// Returns the index of the first item that equals `value`, between `start` and `stop`.
    #[pyo3(signature = (value, start = 0, stop = None))]
    fn index(
        slf: &Bound<'_, Self>,
        value: &Bound<'_, PyAny>,
        start: isize,
        stop: Option<isize>,
    ) -> PyResult<usize> {
        let items = children(slf.py(), &slf.as_super().get().any)?;
        let stop = stop.unwrap_or(isize::MAX);
        items.call_method1("index", (value, start, stop))?.extract()
    }

    /// Returns the number of items that equal `value`.
    fn count(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        children(slf.py(), &slf.as_super().get().any)?.call_method1("count", (value,))?.extract()
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        equals(&slf.as_super().get().any, other)
    }

    fn __hash__(&self) -> PyResult<usize> {
        Err(unhashable("Seq"))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("Seq({})", abridged(View::Node(slf.as_super().get().any.node())))
    }
}

fn to_map(slf: &Bound<'_, PyMap>) -> PyResult<Map> {
    Map::try_from(slf.as_super().get().any.clone())
        .map_err(|_| errors::argument_error(slf.py(), "not a map"))
}

impl PyMap {
    fn key_tuple<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let map = to_map(slf)?;
        let keys = map.iter().map(|(key, _)| to_python(slf.py(), key.view()));
        PyTuple::new(slf.py(), keys.collect::<PyResult<Vec<_>>>()?)
    }

    fn find<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (map, wrapped) = (to_map(slf)?, compare::value_of_structural_key(key)?);
        let key = wrapped.map_or_else(|| to_value(key), Ok)?;
        let found = map.get(&key).map_err(|error| compare::compare_error(slf.py(), error))?;
        found.map(|value| to_python(slf.py(), value.view())).transpose()
    }
}

#[pymethods]
impl PyMap {
    #[new]
    #[pyo3(signature = (entries = None, /))]
    fn new(
        py: Python<'_>,
        entries: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let node = match entries {
            None => container(&PyDict::new(py).into_any(), ChildLayout::Map, "a map")?,
            Some(entries) => container(entries, ChildLayout::Map, "a dict")?,
        };
        Ok(PyClassInitializer::from(node).add_subclass(Self))
    }

    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        arguments: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        generic_alias(class, arguments)
    }

    fn __len__(slf: &Bound<'_, Self>) -> usize {
        slf.as_super().get().any.node().len() / 2
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::find(slf, key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    /// Returns the value at `key`, or `default` if the key is absent.
    #[pyo3(signature = (key, default = None))]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(Self::find(slf, key)?.or(default))
    }

    fn __contains__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(Self::find(slf, key)?.is_some())
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Ok(Self::key_tuple(slf)?.try_iter()?.into_any())
    }

    /// Returns a view of the keys in insertion order.
    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        abstract_class(slf.py(), "KeysView")?.call1((slf,))
    }

    /// Returns a view of the values in insertion order.
    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        abstract_class(slf.py(), "ValuesView")?.call1((slf,))
    }

    /// Returns a view of the pairs of key and value in insertion order.
    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        abstract_class(slf.py(), "ItemsView")?.call1((slf,))
    }

    fn __reversed__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let keys = PyList::new(slf.py(), Self::key_tuple(slf)?)?;
        keys.reverse()?;
        Ok(keys.try_iter()?.into_any())
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> bool {
        equals(&slf.as_super().get().any, other)
    }

    fn __hash__(&self) -> PyResult<usize> {
        Err(unhashable("Map"))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("Map({})", abridged(View::Node(slf.as_super().get().any.node())))
    }
}

#[pymethods]
impl PySet {
    #[new]
    #[pyo3(signature = (members = None, /))]
    fn new(
        py: Python<'_>,
        members: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let node = match members {
            None => {
                container(&pyo3::types::PySet::empty(py)?.into_any(), ChildLayout::Set, "a set")?
            }
            Some(members) if members.is_instance_of::<Self>() => {
                container(members, ChildLayout::Set, "a set")?
            }
            Some(members) => {
                let mut distinct: Vec<Value> = Vec::new();
                // A member that equals an earlier one is left out, as in Python's sets.
                let mut keys = HashMap::<u64, Vec<usize>, FxBuildHasher>::default();
                let failed = |error| compare::compare_error(py, error);
                for item in items::items(members)? {
                    let value = to_value(&item)?;
                    let hash = sapwood_structural::hash(&value).map_err(failed)?.lo;
                    let places = keys.entry(hash).or_default();
                    let mut known = false;
                    for &place in &*places {
                        known |=
                            sapwood_structural::equal(&distinct[place], &value).map_err(failed)?;
                    }
                    if !known {
                        places.push(distinct.len());
                        distinct.push(value);
                    }
                }
                Set::new(distinct).map_err(failed)?.into_any().into()
            }
        };
        Ok(PyClassInitializer::from(node).add_subclass(Self))
    }

    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        arguments: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        generic_alias(class, arguments)
    }

    fn __len__(slf: &Bound<'_, Self>) -> usize {
        slf.as_super().get().any.node().len()
    }

    fn __contains__(slf: &Bound<'_, Self>, member: &Bound<'_, PyAny>) -> PyResult<bool> {
        let member = match to_value(member) {
            Ok(member) => member,
            // An object that a set cannot hold is no member.
            Err(error) if error.is_instance(slf.py(), ErrorKind::Argument.class(slf.py())?) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        match Set::try_from(slf.as_super().get().any.clone()) {
            Ok(set) => {
                set.contains(&member).map_err(|error| compare::compare_error(slf.py(), error))
            }
            Err(_) => Ok(false),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(set) = Set::try_from(slf.as_super().get().any.clone()) else {
            return Err(errors::argument_error(slf.py(), "not a set"));
        };
        let members = set.iter().map(|member| to_python(slf.py(), member.view()));
        let members = PyTuple::new(slf.py(), members.collect::<PyResult<Vec<_>>>()?)?;
        Ok(members.try_iter()?.into_any())
    }

    #[classmethod]
    fn _from_iterable<'py>(
        cls: &Bound<'py, PyType>,
        members: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        cls.call1((members,))
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let name = match op {
            CompareOp::Eq | CompareOp::Ne => {
                let equal = equals(&slf.as_super().get().any, other);
                let holds = equal == matches!(op, CompareOp::Eq);
                return Ok(holds.into_pyobject(slf.py())?.to_owned().into_any());
            }
            CompareOp::Le => "__le__",
            CompareOp::Lt => "__lt__",
            CompareOp::Ge => "__ge__",
            CompareOp::Gt => "__gt__",
        };
        abstract_class(slf.py(), "Set")?.call_method1(name, (slf, other))
    }

    fn __hash__(&self) -> PyResult<usize> {
        Err(unhashable("Set"))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("Set({})", abridged(View::Node(slf.as_super().get().any.node())))
    }
}
