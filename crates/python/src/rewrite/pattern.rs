//! Patterns written in Python as functions of an op and a rewriter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::ptir::{BodyId, InstId, OpKey, Registry, TensorLiteral, TensorType, ValueId, Values};
use sapwood::rewrite::{OpRef, PatternFn as _, PatternSet, Rewrite};

use crate::data_type::PyDataType;
use crate::errors::{self, ErrorKind};
use crate::items::{Items, items};
use crate::ptir::attrs;
use crate::ptir::emit::{self, EmitTarget};
use crate::ptir::types::PyType;
use crate::scoped_borrow::ScopedRewrite;
use crate::span::PySpan;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPattern>()?;
    module.add_class::<PyRewriter>()?;
    module.add_class::<PyRewriterOpMethod>()?;
    module.add_class::<PyOp>()?;
    module.add_class::<PyOperand>()
}

/// The first exception of a pattern or listener; no pattern is called after it.
pub(crate) type FirstException = Arc<Mutex<Option<PyErr>>>;

/// A pattern: `function(op, rw)` is called at each instruction of its ops and returns the replacements of the results, or `None`.
#[pyclass(frozen, name = "Pattern", module = "sapwood.rewrite")]
pub(crate) struct PyPattern {
    function: Py<PyAny>,
    #[pyo3(get)]
    name: String,
    roots: Vec<OpKey>,
    #[pyo3(get)]
    benefit: u16,
    hops: u8,
}

#[pymethods]
impl PyPattern {
    #[new]
    #[pyo3(signature = (function, ops, *, name, benefit = 1, hops = 2))]
    fn new(
        py: Python<'_>,
        function: Py<PyAny>,
        ops: Items<'_>,
        name: String,
        benefit: u16,
        hops: u8,
    ) -> PyResult<Self> {
        if !function.bind(py).is_callable() {
            let found = errors::type_name(function.bind(py));
            return Err(errors::argument_error(py, format!("expected a function, found {found}")));
        }
        let ops = ops.strings()?;
        if ops.is_empty() {
            return Err(errors::value_error(py, "a pattern needs at least one op"));
        }
        let registry = Registry::builtin();
        let roots = ops.iter().map(|op| emit::find_op(py, &registry, op).map(|(key, _)| key));
        Ok(Self { function, name, roots: roots.collect::<PyResult<_>>()?, benefit, hops })
    }

    /// The names of the ops at which the pattern is tried.
    #[getter]
    fn ops(&self) -> Vec<&'static str> {
        self.roots.iter().map(|key| key.name()).collect()
    }

    /// The Python function.
    #[getter]
    fn function(&self, py: Python<'_>) -> Py<PyAny> {
        self.function.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!("<Pattern {} at {}>", self.name, self.ops().join(", "))
    }
}

impl PyPattern {
    /// Adds the pattern to a set.
    pub(crate) fn add(&self, py: Python<'_>, set: &mut PatternSet, raised: &FirstException) {
        let function = self.function.clone_ref(py);
        let (raised, cx) = (raised.clone(), Arc::new(PatternContext::new()));
        let tried = move |root: OpRef, rw: &mut Rewrite<'_>| -> Option<Values> {
            if raised.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return None;
            }
            Python::attach(|py| match call_pattern(py, &function, &cx, root.root, rw) {
                Ok(values) => values,
                Err(error) => {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    None
                }
            })
        };
        let roots = self.roots.iter().copied();
        set.add(tried.on(roots).benefit(self.benefit).named(&self.name).hops(self.hops));
    }
}

/// The state that the handles of one pattern share: the current rewrite and the number of the call.
struct PatternContext {
    rewrite: ScopedRewrite,
    call: AtomicU64,
}

impl PatternContext {
    fn new() -> Self {
        Self { rewrite: ScopedRewrite::new(), call: AtomicU64::new(0) }
    }
}

/// A context and the call for which it is valid: a handle from an earlier call is rejected.
#[derive(Clone)]
struct CallScope {
    cx: Arc<PatternContext>,
    call: u64,
}

impl CallScope {
    fn with<R>(&self, py: Python<'_>, f: impl FnOnce(&mut Rewrite<'_>) -> R) -> PyResult<R> {
        let ours = self.cx.call.load(Ordering::Relaxed) == self.call;
        let done = if ours { self.cx.rewrite.with(f) } else { None };
        done.ok_or_else(|| {
            let message =
                "an op, value or rewriter was used after its pattern returned; it is valid for one call only";
            errors::new_error(py, ErrorKind::Callback, message)
        })
    }
}

fn call_pattern(
    py: Python<'_>,
    function: &Py<PyAny>,
    cx: &Arc<PatternContext>,
    root: InstId,
    rw: &mut Rewrite<'_>,
) -> PyResult<Option<Values>> {
    let call = cx.call.fetch_add(1, Ordering::Relaxed) + 1;
    let scope = CallScope { cx: cx.clone(), call };
    let results = cx.rewrite.scope(rw, || {
        let op = Bound::new(py, PyOp { scope: scope.clone(), id: root })?;
        let rewriter = Bound::new(py, PyRewriter { scope: scope.clone() })?;
        function.bind(py).call1((op, rewriter))
    })?;
    if results.is_none() {
        return Ok(None);
    }
    if let Ok(one) = results.cast::<PyOperand>() {
        return Ok(Some(Values::from_iter([value_of_call(&scope, one.get(), py)?])));
    }
    let mut values = Values::new();
    if !results.hasattr(intern!(py, "__iter__"))? {
        return Err(wrong_return_type(py, &results));
    }
    for item in items(&results)? {
        let Ok(one) = item.cast::<PyOperand>() else { return Err(wrong_return_type(py, &item)) };
        values.push(value_of_call(&scope, one.get(), py)?);
    }
    Ok(Some(values))
}

fn wrong_return_type(py: Python<'_>, found: &Bound<'_, PyAny>) -> PyErr {
    let found = errors::type_name(found);
    errors::argument_error(
        py,
        format!("a pattern must return None, a value, or one value per result, found {found}"),
    )
}

fn value_of_call(scope: &CallScope, value: &PyOperand, py: Python<'_>) -> PyResult<ValueId> {
    if Arc::ptr_eq(&scope.cx, &value.scope.cx) && scope.call == value.scope.call {
        return Ok(value.id);
    }
    Err(errors::new_error(
        py,
        ErrorKind::Callback,
        "the value belongs to another call of a pattern",
    ))
}

/// The builder of a pattern's replacement. Every op is a method: operands are positional, attributes are keywords.
#[pyclass(frozen, name = "Rewriter", module = "sapwood.rewrite")]
pub(crate) struct PyRewriter {
    scope: CallScope,
}

/// A rewriter's method for one op, which emits an instruction when it is called.
#[pyclass(frozen, name = "RewriterOpMethod", module = "sapwood.rewrite")]
pub(crate) struct PyRewriterOpMethod {
    scope: CallScope,
    op: String,
}

/// An instruction that a pattern inspects.
#[pyclass(frozen, name = "Op", module = "sapwood.rewrite")]
pub(crate) struct PyOp {
    scope: CallScope,
    id: InstId,
}

/// A value that a pattern inspects.
#[pyclass(frozen, name = "Operand", module = "sapwood.rewrite")]
pub(crate) struct PyOperand {
    scope: CallScope,
    id: ValueId,
}

struct RewriteTarget<'a> {
    scope: &'a CallScope,
    registry: Arc<Registry>,
}

impl EmitTarget for RewriteTarget<'_> {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn value(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<ValueId>> {
        let Ok(value) = object.cast::<PyOperand>() else { return Ok(None) };
        value_of_call(self.scope, value.get(), object.py()).map(Some)
    }

    fn region(&mut self, _: &Bound<'_, PyAny>) -> PyResult<Option<BodyId>> {
        Ok(None)
    }

    fn tensor(&self, value: ValueId) -> Option<TensorType> {
        Python::attach(|py| self.scope.with(py, |rw| rw.tensor(value).cloned()).ok().flatten())
    }

    fn constant(&mut self, py: Python<'_>, literal: TensorLiteral) -> PyResult<ValueId> {
        self.scope.with(py, |rw| rw.constant(literal))
    }
}

fn emit_op<'py>(
    py: Python<'py>,
    scope: &CallScope,
    op: &str,
    operands: &Bound<'py, PyTuple>,
    attributes: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut target = RewriteTarget { scope, registry: Registry::builtin() };
    let parts = emit::read_call(py, op, &mut target, operands, attributes)?;
    let made = scope.with(py, |rw| {
        // The reason is computed only after a failure.
        rw.emit_parts_many(&parts).ok_or_else(|| rw.function().resolve_parts(&parts).err())
    })?;
    let values = made.map_err(|why| {
        let why = why.map_or_else(
            || "operands, attributes and regions do not match".to_owned(),
            |why| why.to_string(),
        );
        errors::value_error(py, format!("{op}: {why}"))
    })?;
    let mut handles =
        values.iter().map(|&id| Bound::new(py, PyOperand { scope: scope.clone(), id }));
    match values.len() {
        1 => match handles.next() {
            Some(one) => one.map(Bound::into_any),
            None => Ok(py.None().into_bound(py)),
        },
        _ => Ok(PyTuple::new(py, handles.collect::<PyResult<Vec<_>>>()?)?.into_any()),
    }
}

#[pymethods]
impl PyRewriter {
    /// Emits an instruction of any op. Unregistered ops have a dot in their name and need `result_types`.
    #[pyo3(signature = (op, *operands, **attributes))]
    fn emit<'py>(
        &self,
        py: Python<'py>,
        op: &str,
        operands: &Bound<'py, PyTuple>,
        attributes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        emit_op(py, &self.scope, op, operands, attributes)
    }

    /// Returns a constant with the content of an array.
    fn constant(&self, array: &Bound<'_, PyAny>) -> PyResult<PyOperand> {
        let literal = attrs::literal_from_array(array)?;
        let id = self.scope.with(array.py(), |rw| rw.constant(literal))?;
        Ok(PyOperand { scope: self.scope.clone(), id })
    }

    /// The float mode: `"exact"`, `"nsz"` or `"fast"`.
    #[getter]
    fn float_mode(&self, py: Python<'_>) -> PyResult<String> {
        self.scope.with(py, |rw| rw.floats().to_string())
    }

    fn __dir__(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        emit::attribute_names(slf)
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<PyRewriterOpMethod> {
        let op = name.strip_suffix('_').unwrap_or(name);
        if op.starts_with('_') || op.contains('.') {
            return Err(PyAttributeError::new_err(name.to_owned()));
        }
        match emit::find_op(py, &Registry::builtin(), op) {
            Ok(_) => Ok(PyRewriterOpMethod { scope: self.scope.clone(), op: op.to_owned() }),
            Err(error) => Err(PyAttributeError::new_err(error.value(py).to_string())),
        }
    }
}

#[pymethods]
impl PyRewriterOpMethod {
    #[pyo3(signature = (*operands, **attributes))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        operands: &Bound<'py, PyTuple>,
        attributes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        emit_op(py, &self.scope, &self.op, operands, attributes)
    }
}

impl PyOp {
    fn values<'py>(
        &self,
        py: Python<'py>,
        list: impl FnOnce(&mut Rewrite<'_>) -> Values,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let ids = self.scope.with(py, list)?;
        let handles =
            ids.iter().map(|&id| Bound::new(py, PyOperand { scope: self.scope.clone(), id }));
        PyTuple::new(py, handles.collect::<PyResult<Vec<_>>>()?)
    }
}

#[pymethods]
impl PyOp {
    /// The name of the op.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.scope.with(py, |rw| rw.function().op_name(self.id))
    }

    /// The operands.
    #[getter]
    fn operands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.values(py, |rw| rw.function().operands(self.id).iter().copied().collect())
    }

    /// The results.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.values(py, |rw| rw.function().inst_results(self.id).collect())
    }

    /// The attributes by name, defaults included.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (registry, key, list) = self.scope.with(py, |rw| {
            let f = rw.function();
            (f.registry().clone(), f.op_key(self.id), f.attrs(self.id).clone())
        })?;
        attrs::attrs_to_dict(py, registry.get(key), &list)
    }

    /// The source location.
    #[getter]
    fn span(&self, py: Python<'_>) -> PyResult<PySpan> {
        self.scope.with(py, |rw| PySpan(rw.function().inst_span(self.id)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Op {}>", self.name(py)?))
    }
}

#[pymethods]
impl PyOperand {
    /// The type of the value.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> PyResult<Option<PyType>> {
        self.scope.with(py, |rw| rw.ty(self.id).cloned().map(PyType))
    }

    /// The element type; `None` unless the value is a tensor.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, PyDataType>>> {
        let dtype = self.scope.with(py, |rw| rw.dtype(self.id))?;
        dtype.map(|dtype| PyDataType::object(py, dtype)).transpose()
    }

    /// The instruction that defines the value; `None` for parameters and for values that the pattern has just created.
    #[getter]
    fn definition(&self, py: Python<'_>) -> PyResult<Option<PyOp>> {
        let id = self.scope.with(py, |rw| rw.def_inst(self.id))?;
        Ok(id.map(|id| PyOp { scope: self.scope.clone(), id }))
    }

    /// The value as an array if it is a constant or a broadcast of one, otherwise `None`.
    #[getter]
    fn constant<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let literal = self.scope.with(py, |rw| rw.constant_of(self.id))?;
        literal.map(|literal| attrs::literal_to_array(py, &literal)).transpose()
    }

    /// True if the value has no uses.
    #[getter]
    fn unused(&self, py: Python<'_>) -> PyResult<bool> {
        self.scope.with(py, |rw| rw.unused(self.id))
    }

    /// True if the value has exactly one use.
    #[getter]
    fn one_use(&self, py: Python<'_>) -> PyResult<bool> {
        self.scope.with(py, |rw| rw.one_use(self.id))
    }

    /// True if exactly one instruction uses the value.
    #[getter]
    fn one_user(&self, py: Python<'_>) -> PyResult<bool> {
        self.scope.with(py, |rw| rw.one_user(self.id))
    }

    /// Returns whether both are the same value.
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.scope.cx, &other.scope.cx)
            && self.scope.call == other.scope.call
            && self.id == other.id
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.is_same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        self.id.index() as u64
    }

    fn __repr__(&self) -> String {
        format!("<Operand {}>", self.id)
    }
}
