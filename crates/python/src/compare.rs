//! Structural equality, hashing, mismatches, and keys for dicts.

use std::fmt::Display;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sapwood_structural::{
    AnyRef, ConstructError, Error, Facts, Mismatch, MismatchReason, NodePath, NodeRef, PathStep,
    StructuralOptions, Value, View, check_hooks, sharing_hash,
};

use crate::convert::{ValueArg, to_python, to_value};
use crate::errors::{self, ErrorKind};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<StructuralKey>()?;
    module.add_function(wrap_pyfunction!(structural_equal, module)?)?;
    module.add_function(wrap_pyfunction!(structural_hash, module)?)?;
    module.add_function(wrap_pyfunction!(mismatches, module)?)?;
    module.add_function(wrap_pyfunction!(hook_disagreement, module)?)?;
    module.add_function(wrap_pyfunction!(abridged, module)?)
}

/// Returns the exception for a failed comparison. An exception that a hook raised is returned unchanged.
pub(crate) fn compare_error(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Hook { key, path, error } => match error.downcast::<PyErr>() {
            Ok(raised) => *raised,
            Err(error) => {
                let message = format!("{path}: a hook of {key} failed: {error}");
                errors::new_error(py, ErrorKind::Compare, message)
            }
        },
        Error::DuplicateKey { .. } => errors::value_error(py, error.to_string()),
        other => errors::new_error(py, ErrorKind::Compare, other.to_string()),
    }
}

/// Returns the exception for a singleton that cannot be built.
pub(crate) fn singleton_error(py: Python<'_>, failed: ConstructError) -> PyErr {
    match failed {
        ConstructError::Fields(failed) => compare_error(py, failed),
        other => errors::value_error(py, other.to_string()),
    }
}

/// Returns the exception for a node at `location` that cannot be built from its fields. An exception that a `__post_init__` raised is
/// returned unchanged.
pub(crate) fn build_error_at(
    py: Python<'_>,
    failed: impl Into<ConstructError>,
    location: &dyn Display,
) -> PyErr {
    let failed = failed.into();
    let user = matches!(failed, ConstructError::Fields(Error::Hook { .. }));
    let raised = singleton_error(py, failed);
    let ours = ErrorKind::Argument.class(py).is_ok_and(|class| raised.get_type(py).is(class));
    if user && !ours { raised } else { errors::with_prefix(py, raised, &location.to_string()) }
}

/// Runs `work` on the structural engine. Other Python threads run meanwhile, unless a hook may be called. Arguments that are not nodes are `None`.
pub(crate) fn run_engine<const N: usize, R: Send>(
    py: Python<'_>,
    nodes: [Option<NodeRef<'_>>; N],
    work: impl FnOnce() -> R + Send,
) -> R {
    let nodes = || nodes.iter().flatten();
    let hooked = nodes().any(|node| node.facts().any(Facts::HOOK));
    if hooked || nodes().all(|node| is_small(*node)) { work() } else { py.detach(work) }
}

/// Returns true if visiting a node costs less than releasing the interpreter lock: it has few fields and no node below it.
fn is_small(node: NodeRef<'_>) -> bool {
    const MAX_SMALL_FIELDS: usize = 8;
    node.len() <= MAX_SMALL_FIELDS
        && (0..node.len()).all(|index| !matches!(node.child(index), View::Node(_) | View::List(_)))
}

/// Returns whether two values are structurally equal, up to renaming of bound variables.
///
/// With `map_free_vars`, free variables correspond in the order of their first occurrence. With `skip_tensor_content`, only the data
/// type and shape of tensors are compared. Never calls `__eq__`.
///
/// >>> from sapwood import DataType, ir, structural_equal
/// >>> x, y = (ir.Var(name, ir.ScalarType(DataType.INT64)) for name in "xy")
/// >>> structural_equal(x + 1, y + 1), structural_equal(x + 1, y + 1, map_free_vars=True)
/// (False, True)
#[pyfunction]
#[pyo3(signature = (lhs, rhs, map_free_vars = false, skip_tensor_content = false))]
fn structural_equal(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> PyResult<bool> {
    equal_with_options(lhs, rhs, StructuralOptions { map_free_vars, skip_tensor_content })
}

/// Implements the Python function with `Options` instead of flags.
pub(crate) fn equal_with_options(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    options: StructuralOptions,
) -> PyResult<bool> {
    let py = lhs.py();
    let (left, right) = (ValueArg::new(lhs)?, ValueArg::new(rhs)?);
    let work = || options.equal(left.view(), right.view());
    let equal = run_engine(py, [left.as_node(), right.as_node()], work);
    equal.map_err(|failed| compare_error(py, failed))
}

/// Returns the 64-bit structural hash, which equal values share under the same flags. Never calls `__hash__`.
///
/// Nodes of kind `"dag"` that are shared in other places are not equal, but have the same hash unless `hash_sharing` is set.
///
/// >>> from sapwood import structural_hash
/// >>> structural_hash({"a": 1, "b": [2]}) == structural_hash({"b": (2,), "a": 1})
/// True
#[pyfunction]
#[pyo3(signature = (value, map_free_vars = false, skip_tensor_content = false, *, hash_sharing = false))]
fn structural_hash(
    value: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
    hash_sharing: bool,
) -> PyResult<u64> {
    let hash = hash_with_options(value, StructuralOptions { map_free_vars, skip_tensor_content })?;
    if !hash_sharing {
        return Ok(hash);
    }
    let (py, value) = (value.py(), to_value(value)?);
    let sharing = run_engine(py, [value.as_node().map(AnyRef::node)], || sharing_hash(&value));
    Ok(hash ^ sharing.rotate_left(1))
}

/// Implements the Python function with `StructuralOptions` instead of flags.
pub(crate) fn hash_with_options(
    value: &Bound<'_, PyAny>,
    options: StructuralOptions,
) -> PyResult<u64> {
    let py = value.py();
    let value = ValueArg::new(value)?;
    let hash = run_engine(py, [value.as_node()], || options.hash(value.view()));
    hash.map(|hash| hash.lo).map_err(|failed| compare_error(py, failed))
}

/// Returns at most `limit` mismatches, none of them below another, each as
/// `(left steps, right steps, kind, message, left value, right value)`.
#[pyfunction]
fn mismatches<'py>(
    lhs: &Bound<'py, PyAny>,
    rhs: &Bound<'py, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
    limit: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = lhs.py();
    let options = StructuralOptions { map_free_vars, skip_tensor_content };
    let (left, right) = (ValueArg::new(lhs)?, ValueArg::new(rhs)?);
    let work = || options.diff(left.view(), right.view(), limit);
    let found = run_engine(py, [left.as_node(), right.as_node()], work);
    let found = found.map_err(|failed| compare_error(py, failed))?;
    let shown = found.iter().map(|mismatch| mismatch_row(py, mismatch));
    PyList::new(py, shown.collect::<PyResult<Vec<_>>>()?)
}

fn mismatch_row<'py>(py: Python<'py>, mismatch: &Mismatch) -> PyResult<Bound<'py, PyTuple>> {
    let kind = match mismatch.reason {
        MismatchReason::Type => "type",
        MismatchReason::Value => "value",
        MismatchReason::Length => "length",
        MismatchReason::Missing => "missing",
        MismatchReason::Binding(_) => "binding",
        MismatchReason::Sharing => "sharing",
        _ => "hook",
    };
    let value = |value: &Option<Value>| match value {
        Some(value) => to_python(py, value.view()),
        None => Ok(py.None().into_bound(py)),
    };
    let parts = (
        path_steps(py, &mismatch.left)?,
        path_steps(py, &mismatch.right)?,
        kind,
        mismatch.to_string(),
        value(&mismatch.left_value)?,
        value(&mismatch.right_value)?,
    );
    parts.into_pyobject(py)
}

/// Returns the steps of a path: `("field", name)`, `("index", number)`, `("key", value)`.
pub(crate) fn path_steps<'py>(py: Python<'py>, path: &NodePath) -> PyResult<Bound<'py, PyTuple>> {
    let step = |step: &PathStep| -> PyResult<Bound<'py, PyTuple>> {
        match step {
            PathStep::Field(name) => ("field", &**name).into_pyobject(py),
            PathStep::Index(index) => ("index", *index).into_pyobject(py),
            PathStep::Key(key) => ("key", to_python(py, key.view())?).into_pyobject(py),
        }
    };
    PyTuple::new(py, path.steps().map(step).collect::<PyResult<Vec<_>>>()?)
}

/// Describes a pair of nodes that a hook compares as equal but hashes differently; `None` if these values contain no such pair.
#[pyfunction]
fn hook_disagreement(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let found = check_hooks(&to_value(lhs)?, &to_value(rhs)?);
    let found = found.map_err(|failed| compare_error(lhs.py(), failed))?;
    Ok(found.map(|disagreement| disagreement.to_string()))
}

/// Prints a value in at most a few hundred characters.
#[pyfunction]
fn abridged(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(sapwood_structural::abridged(to_value(value)?.view()).to_string())
}

/// Returns the value of a `StructuralKey` that is a key of a `Map`, whose keys are compared by structure; none for other objects.
pub(crate) fn value_of_structural_key(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let Ok(key) = object.cast::<StructuralKey>() else { return Ok(None) };
    let key = key.get();
    if key.options != StructuralOptions::default() {
        let message = "a StructuralKey with map_free_vars or skip_tensor_content cannot be a key of a Map, which compares all of its keys alike";
        return Err(errors::value_error(object.py(), message));
    }
    Ok(Some(key.value.clone()))
}

/// A dict key or set member that wraps a value: compared by structure, hashed once.
///
/// >>> from sapwood import StructuralKey
/// >>> table = {StructuralKey([1, 2]): "found"}
/// >>> table[StructuralKey((1, 2))]
/// 'found'
#[pyclass(frozen, module = "sapwood.structural")]
struct StructuralKey {
    value: Value,
    hash: u64,
    options: StructuralOptions,
}

#[pymethods]
impl StructuralKey {
    #[new]
    #[pyo3(signature = (value, map_free_vars = false, skip_tensor_content = false))]
    fn new(
        value: &Bound<'_, PyAny>,
        map_free_vars: bool,
        skip_tensor_content: bool,
    ) -> PyResult<Self> {
        let options = StructuralOptions { map_free_vars, skip_tensor_content };
        let hash = hash_with_options(value, options)?;
        Ok(Self { value: to_value(value)?, hash, options })
    }

    /// The wrapped value.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.value.view())
    }

    /// The wrapped value, under the name that tvm-ffi uses.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = other.py();
        let Ok(other) = other.cast::<Self>() else { return Ok(false) };
        let other = other.get();
        if self.hash != other.hash || self.options != other.options {
            return Ok(false);
        }
        let work = || self.options.equal(&self.value, &other.value);
        let nodes = [&self.value, &other.value].map(|value| value.as_node().map(AnyRef::node));
        run_engine(py, nodes, work).map_err(|failed| compare_error(py, failed))
    }

    fn __hash__(&self) -> u64 {
        self.hash
    }

    fn __repr__(&self) -> String {
        format!("StructuralKey({:?})", self.value)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let StructuralOptions { map_free_vars, skip_tensor_content } = this.options;
        let arguments = (this.value(slf.py())?, map_free_vars, skip_tensor_content);
        Ok((slf.get_type(), arguments).into_pyobject(slf.py())?.into_any())
    }
}
