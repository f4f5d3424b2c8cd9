//! Patterns written in Python as functions of an op and a rewriter.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::ptir::{
    BodyId, Function, InstId, OpKey, Registry, TensorLiteral, TensorType, ValueId, ValueType,
    Values,
};
use sapwood::rewrite::{OpRef, PatternFn as _, PatternSet, Rewrite, constant_of};

use crate::data_type::PyDataType;
use crate::errors::{self, ErrorKind};
use crate::items::{Items, items};
use crate::ptir::attrs;
use crate::ptir::emit::{self, EmitTarget};
use crate::ptir::own_ops;
use crate::ptir::types::PyType;
use crate::scoped_borrow::{FunctionView, ScopedFunction, ScopedRewrite};
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
    /// The name, as in reports.
    #[pyo3(get)]
    name: String,
    roots: Vec<OpKey>,
    /// Patterns of larger benefit are tried first.
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
        let registry = own_ops::registry();
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
        let pattern = tried.on(roots).benefit(self.benefit).named(&self.name).hops(self.hops);
        // An instruction that does not fit raises an exception.
        set.add(pattern.expects_refusals());
    }
}

/// The state that the handles of one pattern or condition share: the current rewrite, or the function that a condition reads, and the
/// number of the call.
struct PatternContext {
    rewrite: ScopedRewrite,
    function: ScopedFunction,
    call: AtomicU64,
}

impl PatternContext {
    fn new() -> Self {
        Self {
            rewrite: ScopedRewrite::new(),
            function: ScopedFunction::new(),
            call: AtomicU64::new(0),
        }
    }
}

/// A context and the call for which it is valid: a handle from an earlier call is rejected.
#[derive(Clone)]
pub(super) struct CallScope {
    cx: Arc<PatternContext>,
    call: u64,
}

/// The program as a pattern or a condition sees it.
enum CallView<'a, 'r> {
    Rewrite(&'a mut Rewrite<'r>),
    Function(&'a Function),
}

impl CallView<'_, '_> {
    fn function(&self) -> &Function {
        match self {
            Self::Rewrite(rw) => rw.function(),
            Self::Function(f) => f,
        }
    }

    fn ty(&self, value: ValueId) -> Option<&ValueType> {
        match self {
            Self::Rewrite(rw) => rw.ty(value),
            Self::Function(f) => Some(f.value_type(value)),
        }
    }

    fn def_inst(&mut self, value: ValueId) -> Option<InstId> {
        match self {
            Self::Rewrite(rw) => rw.def_inst(value),
            Self::Function(f) => f.inst_of(value),
        }
    }

    fn constant_of(&mut self, value: ValueId) -> Option<TensorLiteral> {
        match self {
            Self::Rewrite(rw) => rw.constant_of(value),
            Self::Function(f) => constant_of(f, value),
        }
    }

    fn unused(&self, value: ValueId) -> bool {
        match self {
            Self::Rewrite(rw) => rw.unused(value),
            Self::Function(f) => f.unused(value),
        }
    }

    fn one_use(&self, value: ValueId) -> bool {
        match self {
            Self::Rewrite(rw) => rw.one_use(value),
            Self::Function(f) => f.one_use(value),
        }
    }

    fn one_user(&self, value: ValueId) -> bool {
        match self {
            Self::Rewrite(rw) => rw.one_user(value),
            Self::Function(f) => f.one_user(value),
        }
    }
}

impl CallScope {
    /// Calls `body` with a new scope, in which handles read a function.
    pub(super) fn reading<R>(f: &Function, body: impl FnOnce(&Self) -> R) -> R {
        let scope = Self { cx: Arc::new(PatternContext::new()), call: 0 };
        scope.cx.function.scope(&mut FunctionView(f), || body(&scope))
    }

    /// Returns a handle of a value.
    pub(super) fn operand(&self, id: ValueId) -> PyOperand {
        PyOperand { scope: self.clone(), id }
    }

    // Reads the program.
    fn read<R>(&self, py: Python<'_>, f: impl FnOnce(&mut CallView<'_, '_>) -> R) -> PyResult<R> {
        let mut f = Some(f);
        let done = match self.cx.call.load(Ordering::Relaxed) == self.call {
            true => {
                let done = self.cx.rewrite.with(|rw| Some(f.take()?(&mut CallView::Rewrite(rw))));
                let view =
                    |view: &mut FunctionView<'_>| Some(f.take()?(&mut CallView::Function(view.0)));
                done.or_else(|| self.cx.function.with(view)).flatten()
            }
            false => None,
        };
        done.ok_or_else(|| outside_of_call(py))
    }

    fn with<R>(&self, py: Python<'_>, f: impl FnOnce(&mut Rewrite<'_>) -> R) -> PyResult<R> {
        let ours = self.cx.call.load(Ordering::Relaxed) == self.call;
        let done = if ours { self.cx.rewrite.with(f) } else { None };
        done.ok_or_else(|| outside_of_call(py))
    }
}

fn outside_of_call(py: Python<'_>) -> PyErr {
    let message = "an op, value or rewriter was used after its pattern returned; it is valid for one call only";
    errors::new_error(py, ErrorKind::Callback, message)
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

// A rewriter's method for one op, which emits an instruction when it is called. The documentation of the class is that of the op.
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
    let mut target = RewriteTarget { scope, registry: own_ops::registry() };
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
        match emit::find_op(py, &own_ops::registry(), op) {
            Ok(_) => Ok(PyRewriterOpMethod { scope: self.scope.clone(), op: op.to_owned() }),
            Err(error) => Err(PyAttributeError::new_err(error.value(py).to_string())),
        }
    }
}

#[pymethods]
impl PyRewriterOpMethod {
    /// The name of the op.
    #[getter]
    fn __name__(&self) -> &str {
        &self.op
    }

    /// The operands, regions and attributes of the op, for `inspect.signature`.
    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        emit::op_help(py, "method_signature", &self.op)
    }

    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        emit::op_help(py, "call_documentation", &self.op)
    }

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
        list: impl FnOnce(&mut CallView<'_, '_>) -> Values,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let ids = self.scope.read(py, list)?;
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
        self.scope.read(py, |view| view.function().op_name(self.id))
    }

    /// The operands.
    #[getter]
    fn operands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.values(py, |view| view.function().operands(self.id).iter().copied().collect())
    }

    /// The results.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.values(py, |view| view.function().inst_results(self.id).collect())
    }

    /// The attributes by name, defaults included.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (registry, key, list) = self.scope.read(py, |view| {
            let f = view.function();
            (f.registry().clone(), f.op_key(self.id), f.attrs(self.id).clone())
        })?;
        attrs::attrs_to_dict(py, registry.get(key), &list)
    }

    /// The source location.
    #[getter]
    fn span(&self, py: Python<'_>) -> PyResult<PySpan> {
        self.scope.read(py, |view| PySpan(view.function().inst_span(self.id)))
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
        self.scope.read(py, |view| view.ty(self.id).cloned().map(PyType))
    }

    /// The element type; `None` unless the value is a tensor.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, PyDataType>>> {
        let dtype = self.scope.read(py, |view| Some(view.ty(self.id)?.as_tensor()?.dtype))?;
        dtype.map(|dtype| PyDataType::object(py, dtype)).transpose()
    }

    /// The rewriter of the call that the value belongs to.
    #[getter]
    fn rewriter(&self) -> PyRewriter {
        PyRewriter { scope: self.scope.clone() }
    }

    /// The instruction that defines the value; `None` for parameters and for values that the pattern has just created.
    #[getter]
    fn definition(&self, py: Python<'_>) -> PyResult<Option<PyOp>> {
        let id = self.scope.read(py, |view| view.def_inst(self.id))?;
        Ok(id.map(|id| PyOp { scope: self.scope.clone(), id }))
    }

    /// The value as an array if it is a constant or a broadcast of one, otherwise `None`.
    #[getter]
    fn constant<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let literal = self.scope.read(py, |view| view.constant_of(self.id))?;
        literal.map(|literal| attrs::literal_to_array(py, &literal)).transpose()
    }

    /// True if the value has no uses.
    #[getter]
    fn unused(&self, py: Python<'_>) -> PyResult<bool> {
        self.scope.read(py, |view| view.unused(self.id))
    }

    /// True if the value has exactly one use.
    #[getter]
    fn one_use(&self, py: Python<'_>) -> PyResult<bool> {
        self.scope.read(py, |view| view.one_use(self.id))
    }

    /// True if exactly one instruction uses the value.
    #[getter]
    fn one_user(&self, py: Python<'_>) -> PyResult<bool> {
        self.scope.read(py, |view| view.one_user(self.id))
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
