//! Patterns written in Python: a function of an op and a rewriter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::ptir::{BodyId, InstId, OpKey, Registry, TensorLiteral, TensorType, ValueId, Values};
use sapwood::rewrite::{OpRef, PatternFn as _, PatternSet, Rewrite};

use crate::data_type::PyDataType;
use crate::errors::{self, Family};
use crate::items::{Items, items};
use crate::lend::LentRewrite;
use crate::ptir::attrs;
use crate::ptir::emit::{self, Target};
use crate::ptir::types::PyType;
use crate::span::PySpan;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPattern>()?;
    module.add_class::<PyRewriter>()?;
    module.add_class::<PyStage>()?;
    module.add_class::<PyOp>()?;
    module.add_class::<PyOperand>()
}

/// The first exception of a pattern; no pattern is called after it.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// A pattern: at each instruction of its ops, `function(op, rw)` gives the values that replace the results, or `None`.
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
            return Err(errors::argument(py, format!("a pattern is a function, not {found}")));
        }
        let ops = ops.texts()?;
        if ops.is_empty() {
            return Err(errors::value(py, "a pattern is tried at one op at least"));
        }
        let registry = Registry::builtin();
        let roots = ops.iter().map(|op| emit::op(py, &registry, op).map(|(key, _)| key));
        Ok(Self { function, name, roots: roots.collect::<PyResult<_>>()?, benefit, hops })
    }

    /// The ops it is tried at.
    #[getter]
    fn ops(&self) -> Vec<&'static str> {
        self.roots.iter().map(|key| key.name()).collect()
    }

    /// The function itself.
    #[getter]
    fn function(&self, py: Python<'_>) -> Py<PyAny> {
        self.function.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!("<Pattern {} at {}>", self.name, self.ops().join(", "))
    }
}

impl PyPattern {
    /// Adds it to a set.
    pub(crate) fn add(&self, py: Python<'_>, set: &mut PatternSet, raised: &Raised) {
        let function = self.function.clone_ref(py);
        let (raised, cx) = (raised.clone(), Arc::new(Context::new()));
        let tried = move |root: OpRef, rw: &mut Rewrite<'_>| -> Option<Values> {
            if raised.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return None;
            }
            Python::attach(|py| match attempt(py, &function, &cx, root.root, rw) {
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

/// What the handles of one pattern share: what is lent to it, and for which call.
struct Context {
    lent: LentRewrite,
    call: AtomicU64,
}

impl Context {
    fn new() -> Self {
        Self { lent: LentRewrite::new(), call: AtomicU64::new(0) }
    }
}

/// A context and the call it is good for: a handle that is kept is refused in a later call.
#[derive(Clone)]
struct Here {
    cx: Arc<Context>,
    call: u64,
}

impl Here {
    fn with<R>(&self, py: Python<'_>, f: impl FnOnce(&mut Rewrite<'_>) -> R) -> PyResult<R> {
        let ours = self.cx.call.load(Ordering::Relaxed) == self.call;
        let done = if ours { self.cx.lent.with(f) } else { None };
        done.ok_or_else(|| {
            let message =
                "an op, value or rewriter was kept: it is good for one call of its pattern";
            errors::error(py, Family::Callback, message)
        })
    }
}

fn attempt(
    py: Python<'_>,
    function: &Py<PyAny>,
    cx: &Arc<Context>,
    root: InstId,
    rw: &mut Rewrite<'_>,
) -> PyResult<Option<Values>> {
    let call = cx.call.fetch_add(1, Ordering::Relaxed) + 1;
    let here = Here { cx: cx.clone(), call };
    let results = cx.lent.lend(rw, || {
        let op = Bound::new(py, PyOp { here: here.clone(), id: root })?;
        let rewriter = Bound::new(py, PyRewriter { here: here.clone() })?;
        function.bind(py).call1((op, rewriter))
    })?;
    if results.is_none() {
        return Ok(None);
    }
    if let Ok(one) = results.cast::<PyOperand>() {
        return Ok(Some(Values::from_iter([owned(&here, one.get(), py)?])));
    }
    let mut values = Values::new();
    if !results.hasattr(intern!(py, "__iter__"))? {
        return Err(not_values(py, &results));
    }
    for item in items(&results)? {
        let Ok(one) = item.cast::<PyOperand>() else { return Err(not_values(py, &item)) };
        values.push(owned(&here, one.get(), py)?);
    }
    Ok(Some(values))
}

fn not_values(py: Python<'_>, found: &Bound<'_, PyAny>) -> PyErr {
    let found = errors::type_name(found);
    errors::argument(
        py,
        format!("a pattern gives None, a value, or one value per result, not {found}"),
    )
}

fn owned(here: &Here, value: &PyOperand, py: Python<'_>) -> PyResult<ValueId> {
    if Arc::ptr_eq(&here.cx, &value.here.cx) && here.call == value.here.call {
        return Ok(value.id);
    }
    Err(errors::error(py, Family::Callback, "the value is of another call of a pattern"))
}

/// What a pattern makes its replacement with. Every op is a method: operands are positional, attributes are keywords.
#[pyclass(frozen, name = "Rewriter", module = "sapwood.rewrite")]
pub(crate) struct PyRewriter {
    here: Here,
}

/// A method of a rewriter: an op waiting for its operands.
#[pyclass(frozen, name = "Stage", module = "sapwood.rewrite")]
pub(crate) struct PyStage {
    here: Here,
    op: String,
}

/// An instruction, while a pattern looks at it.
#[pyclass(frozen, name = "Op", module = "sapwood.rewrite")]
pub(crate) struct PyOp {
    here: Here,
    id: InstId,
}

/// A value, while a pattern looks at it.
#[pyclass(frozen, name = "Operand", module = "sapwood.rewrite")]
pub(crate) struct PyOperand {
    here: Here,
    id: ValueId,
}

struct Staging<'a> {
    here: &'a Here,
    registry: Arc<Registry>,
}

impl Target for Staging<'_> {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn value(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<ValueId>> {
        let Ok(value) = object.cast::<PyOperand>() else { return Ok(None) };
        owned(self.here, value.get(), object.py()).map(Some)
    }

    fn region(&mut self, _: &Bound<'_, PyAny>) -> PyResult<Option<BodyId>> {
        Ok(None)
    }

    fn tensor(&self, value: ValueId) -> Option<TensorType> {
        Python::attach(|py| self.here.with(py, |rw| rw.tensor(value).cloned()).ok().flatten())
    }

    fn constant(&mut self, py: Python<'_>, literal: TensorLiteral) -> PyResult<ValueId> {
        self.here.with(py, |rw| rw.constant(literal))
    }
}

fn stage<'py>(
    py: Python<'py>,
    here: &Here,
    op: &str,
    operands: &Bound<'py, PyTuple>,
    attributes: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut target = Staging { here, registry: Registry::builtin() };
    let parts = emit::parts(py, op, &mut target, operands, attributes)?;
    let made = here.with(py, |rw| {
        // Why it does not fit is only asked for when it does not.
        rw.emit_parts_many(&parts).ok_or_else(|| rw.function().resolve_parts(&parts).err())
    })?;
    let values = made.map_err(|why| {
        let why = why.map_or_else(|| "it does not fit together".to_owned(), |why| why.to_string());
        errors::value(py, format!("{op}: {why}"))
    })?;
    let mut handles = values.iter().map(|&id| Bound::new(py, PyOperand { here: here.clone(), id }));
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
    /// An instruction of any op. Ops without a table have a dot in their name and need `result_types`.
    #[pyo3(signature = (op, *operands, **attributes))]
    fn emit<'py>(
        &self,
        py: Python<'py>,
        op: &str,
        operands: &Bound<'py, PyTuple>,
        attributes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        stage(py, &self.here, op, operands, attributes)
    }

    /// The value of an array.
    fn constant(&self, array: &Bound<'_, PyAny>) -> PyResult<PyOperand> {
        let literal = attrs::literal(array)?;
        let id = self.here.with(array.py(), |rw| rw.constant(literal))?;
        Ok(PyOperand { here: self.here.clone(), id })
    }

    /// How freely floats may be treated: `"exact"`, `"nsz"` or `"fast"`.
    #[getter]
    fn float_mode(&self, py: Python<'_>) -> PyResult<String> {
        self.here.with(py, |rw| rw.floats().to_string())
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<PyStage> {
        let op = name.strip_suffix('_').unwrap_or(name);
        if op.starts_with('_') || op.contains('.') {
            return Err(PyAttributeError::new_err(name.to_owned()));
        }
        match emit::op(py, &Registry::builtin(), op) {
            Ok(_) => Ok(PyStage { here: self.here.clone(), op: op.to_owned() }),
            Err(error) => Err(PyAttributeError::new_err(error.value(py).to_string())),
        }
    }
}

#[pymethods]
impl PyStage {
    #[pyo3(signature = (*operands, **attributes))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        operands: &Bound<'py, PyTuple>,
        attributes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        stage(py, &self.here, &self.op, operands, attributes)
    }
}

impl PyOp {
    fn values<'py>(
        &self,
        py: Python<'py>,
        list: impl FnOnce(&mut Rewrite<'_>) -> Values,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let ids = self.here.with(py, list)?;
        let handles =
            ids.iter().map(|&id| Bound::new(py, PyOperand { here: self.here.clone(), id }));
        PyTuple::new(py, handles.collect::<PyResult<Vec<_>>>()?)
    }
}

#[pymethods]
impl PyOp {
    /// The name of the op.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.here.with(py, |rw| rw.function().op_name(self.id))
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
        let (registry, key, list) = self.here.with(py, |rw| {
            let f = rw.function();
            (f.registry().clone(), f.op_key(self.id), f.attrs(self.id).clone())
        })?;
        attrs::dict(py, registry.get(key), &list)
    }

    /// Where it was written.
    #[getter]
    fn span(&self, py: Python<'_>) -> PyResult<PySpan> {
        self.here.with(py, |rw| PySpan(rw.function().inst_span(self.id)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Op {}>", self.name(py)?))
    }
}

#[pymethods]
impl PyOperand {
    /// The type.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> PyResult<Option<PyType>> {
        self.here.with(py, |rw| rw.ty(self.id).cloned().map(PyType))
    }

    /// The element type; `None` unless it is a tensor.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, PyDataType>>> {
        let dtype = self.here.with(py, |rw| rw.dtype(self.id))?;
        dtype.map(|dtype| PyDataType::object(py, dtype)).transpose()
    }

    /// The instruction it is a result of; `None` for parameters and for what the pattern has just made.
    #[getter]
    fn definition(&self, py: Python<'_>) -> PyResult<Option<PyOp>> {
        let id = self.here.with(py, |rw| rw.def_inst(self.id))?;
        Ok(id.map(|id| PyOp { here: self.here.clone(), id }))
    }

    /// What it is, as an array, if it is a constant or a broadcast of one.
    #[getter]
    fn constant<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let literal = self.here.with(py, |rw| rw.constant_of(self.id))?;
        literal.map(|literal| attrs::array(py, &literal)).transpose()
    }

    /// Whether nothing uses it.
    #[getter]
    fn unused(&self, py: Python<'_>) -> PyResult<bool> {
        self.here.with(py, |rw| rw.unused(self.id))
    }

    /// Whether it is used exactly once.
    #[getter]
    fn one_use(&self, py: Python<'_>) -> PyResult<bool> {
        self.here.with(py, |rw| rw.one_use(self.id))
    }

    /// Whether exactly one instruction uses it.
    #[getter]
    fn one_user(&self, py: Python<'_>) -> PyResult<bool> {
        self.here.with(py, |rw| rw.one_user(self.id))
    }

    /// Whether both are one value.
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.here.cx, &other.here.cx)
            && self.here.call == other.here.call
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
