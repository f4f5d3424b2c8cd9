//! The Python class `Builder`, which constructs functions.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use sapwood::Span;
use sapwood::ptir::{
    BodyId, FunctionWriter, Op as _, OpParts, Registry, TensorLiteral, TensorType, ValueId,
    ValueType, ops,
};

use super::emit::{self, EmitTarget};
use super::function::PyFunction;
use super::program::SharedFunction;
use super::types::PyType;
use super::{attrs, own_ops};
use crate::errors::{self, ErrorKind};
use crate::items::{Items, items};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyBuilder>()?;
    module.add_class::<PyBuilderOpMethod>()?;
    module.add_class::<PyBuilderValue>()?;
    module.add_class::<PyRegion>()
}

struct BuilderState {
    writer: FunctionWriter,
    // The bodies under construction, innermost last.
    open: Vec<BodyId>,
}

/// A function under construction: `b = Builder("f"); x = b.parameter("x", "f32[4]"); f = b.finish(b.exp(x))`.
///
/// Every op is a method: operands and regions are positional, attributes are keywords.
#[pyclass(frozen, name = "Builder", module = "sapwood.ptir")]
pub(crate) struct PyBuilder {
    state: Mutex<Option<BuilderState>>,
}

/// A value of a function under construction.
#[pyclass(frozen, name = "BuilderValue", module = "sapwood.ptir")]
pub(crate) struct PyBuilderValue {
    builder: Py<PyBuilder>,
    id: ValueId,
    ty: ValueType,
}

/// A region for an instruction that is not built yet.
#[pyclass(frozen, name = "Region", module = "sapwood.ptir")]
pub(crate) struct PyRegion {
    builder: Py<PyBuilder>,
    id: BodyId,
}

// A builder's method for one op, which appends an instruction when it is called. The documentation of the class is that of the op.
#[pyclass(frozen, name = "BuilderOpMethod", module = "sapwood.ptir")]
pub(crate) struct PyBuilderOpMethod {
    builder: Py<PyBuilder>,
    op: String,
}

// Returns the state, or `None` while the builder calls the inference function of an op, which may not use the builder.
fn lock_state(builder: &PyBuilder) -> Option<MutexGuard<'_, Option<BuilderState>>> {
    match builder.state.try_lock() {
        Ok(state) => Some(state),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn in_use(py: Python<'_>) -> PyErr {
    let message = "the builder is in use: by the inference of an op, or by another thread";
    errors::value_error(py, message)
}

impl PyBuilder {
    fn with<R>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut BuilderState) -> PyResult<R>,
    ) -> PyResult<R> {
        match lock_state(self).ok_or_else(|| in_use(py))?.as_mut() {
            Some(state) => f(state),
            None => Err(errors::value_error(py, "the function is finished; create a new Builder")),
        }
    }

    fn emit<'py>(
        slf: &Bound<'py, Self>,
        op: &str,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        // Python code runs while arguments are read (iterators, arrays), so the lock is held only for short steps.
        let mut target = BuilderTarget { builder: slf, registry: own_ops::registry() };
        let parts = emit::read_call(py, op, &mut target, arguments, keywords)?;
        let registry = target.registry;
        let made = slf.get().with(py, |state| {
            if !Arc::ptr_eq(state.writer.function().registry(), &registry) {
                // An op was defined since the builder was created.
                state.writer.set_registry(&registry);
            }
            append_inst(py, state, op, &parts)
        })?;
        let mut values = made.into_iter().map(|(id, ty)| new_value(slf, id, ty));
        match values.len() {
            1 => values
                .next()
                .map_or_else(|| Ok(py.None().into_bound(py)), |v| v.map(Bound::into_any)),
            _ => Ok(PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any()),
        }
    }
}

fn append_inst(
    py: Python<'_>,
    state: &mut BuilderState,
    op: &str,
    parts: &OpParts,
) -> PyResult<Vec<(ValueId, ValueType)>> {
    let body = state.open.last().copied().unwrap_or_else(|| state.writer.function().body());
    let inst = state
        .writer
        .append(body, parts, Span::unknown())
        .map_err(|error| errors::value_error(py, format!("{op}: {error}")))?;
    let f = state.writer.function();
    Ok(f.inst_results(inst).map(|id| (id, f.value_type(id).clone())).collect())
}

fn new_value<'py>(
    builder: &Bound<'py, PyBuilder>,
    id: ValueId,
    ty: ValueType,
) -> PyResult<Bound<'py, PyBuilderValue>> {
    Bound::new(builder.py(), PyBuilderValue { builder: builder.clone().unbind(), id, ty })
}

struct BuilderTarget<'a, 'py> {
    builder: &'a Bound<'py, PyBuilder>,
    registry: Arc<Registry>,
}

impl EmitTarget for BuilderTarget<'_, '_> {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn value(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<ValueId>> {
        let Ok(value) = object.cast::<PyBuilderValue>() else { return Ok(None) };
        if !value.get().builder.is(self.builder) {
            let message = format!("{} belongs to another builder", value.get().id);
            return Err(errors::value_error(object.py(), message));
        }
        Ok(Some(value.get().id))
    }

    fn region(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<BodyId>> {
        let Ok(region) = object.cast::<PyRegion>() else { return Ok(None) };
        if !region.get().builder.is(self.builder) {
            return Err(errors::value_error(object.py(), "the region belongs to another builder"));
        }
        Ok(Some(region.get().id))
    }

    fn tensor(&self, value: ValueId) -> Option<TensorType> {
        let state = lock_state(self.builder.get())?;
        state.as_ref()?.writer.function().value_type(value).as_tensor().cloned()
    }

    fn constant(&mut self, py: Python<'_>, literal: TensorLiteral) -> PyResult<ValueId> {
        let constant =
            |state: &mut BuilderState| Ok(state.writer.constant(&literal, Span::unknown()));
        self.builder.get().with(py, constant)
    }
}

#[pymethods]
impl PyBuilder {
    #[new]
    #[pyo3(signature = (name = "main"))]
    fn new(name: &str) -> Self {
        let writer = FunctionWriter::new(name, &own_ops::registry());
        Self { state: Mutex::new(Some(BuilderState { writer, open: Vec::new() })) }
    }

    /// Adds a parameter to the function and returns its value.
    fn parameter<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        r#type: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBuilderValue>> {
        let ty = PyType::read(r#type)?;
        let id = slf.get().with(slf.py(), |state| {
            let body = state.writer.function().body();
            let id = state.writer.param(body, &ty);
            state.writer.set_hint(id, name);
            Ok(id)
        })?;
        new_value(slf, id, ty)
    }

    /// Returns a constant with the content of an array. Equal arrays share one constant.
    fn constant<'py>(
        slf: &Bound<'py, Self>,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBuilderValue>> {
        let literal = attrs::literal_from_array(array)?;
        let ty = ValueType::Tensor(literal.ty());
        let made = slf
            .get()
            .with(slf.py(), |state| Ok(state.writer.constant(&literal, Span::unknown())))?;
        new_value(slf, made, ty)
    }

    /// Sets the name of a value in the text.
    fn name(slf: &Bound<'_, Self>, value: &Bound<'_, PyBuilderValue>, name: &str) -> PyResult<()> {
        if !value.get().builder.is(slf) {
            return Err(errors::value_error(slf.py(), "the value belongs to another builder"));
        }
        slf.get().with(slf.py(), |state| {
            state.writer.set_hint(value.get().id, name);
            Ok(())
        })
    }

    /// Appends an instruction of any op. Unregistered ops have a dot in their name and need `result_types`.
    #[pyo3(name = "emit", signature = (op, *operands, **attributes))]
    fn emit_any<'py>(
        slf: &Bound<'py, Self>,
        op: &str,
        operands: &Bound<'py, PyTuple>,
        attributes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::emit(slf, op, operands, attributes)
    }

    /// Builds a region: `build` receives its parameters and returns the values it yields. It may use values from outside.
    fn region<'py>(
        slf: &Bound<'py, Self>,
        params: Items<'py>,
        build: &Bound<'py, PyAny>,
    ) -> PyResult<PyRegion> {
        let py = slf.py();
        let types = params.0.iter().map(PyType::read).collect::<PyResult<Vec<_>>>()?;
        let (body, ids) = slf.get().with(py, |state| {
            let body = state.writer.new_body();
            let ids: Vec<_> = types.iter().map(|ty| state.writer.param(body, ty)).collect();
            state.open.push(body);
            Ok((body, ids))
        })?;
        let built = (|| {
            let params = ids.into_iter().zip(types).map(|(id, ty)| new_value(slf, id, ty));
            let params = PyTuple::new(py, params.collect::<PyResult<Vec<_>>>()?)?;
            let yielded = build.call1(params)?;
            let yielded = match yielded.cast_into::<PyBuilderValue>() {
                Ok(one) => PyTuple::new(py, [one])?,
                Err(other) => PyTuple::new(py, items(&other.into_inner())?)?,
            };
            Self::emit(slf, ops::Yield::key().name(), &yielded, None)
        })();
        let ended = slf.get().with(py, |state| {
            let innermost = state.open.pop() == Some(body);
            if built.is_err() || !innermost {
                // A region that failed is discarded.
                state.writer.discard_body(body);
            }
            Ok(innermost)
        });
        built?;
        if !ended? {
            return Err(errors::value_error(
                py,
                "regions overlap; build each region inside the one around it, on one thread",
            ));
        }
        Ok(PyRegion { builder: slf.clone().unbind(), id: body })
    }

    /// Ends the function with these results, verifies it and returns it. The builder cannot be used afterwards, even if this fails.
    #[pyo3(signature = (*results))]
    fn finish<'py>(slf: &Bound<'py, Self>, results: &Bound<'py, PyTuple>) -> PyResult<PyFunction> {
        let py = slf.py();
        let results = match results.len() {
            1 if results.get_item(0)?.is_instance_of::<PyList>()
                || results.get_item(0)?.is_instance_of::<PyTuple>() =>
            {
                PyTuple::new(py, items(&results.get_item(0)?)?)?
            }
            _ => results.clone(),
        };
        let mut target = BuilderTarget { builder: slf, registry: own_ops::registry() };
        let parts = emit::read_call(py, ops::Return::key().name(), &mut target, &results, None)?;
        slf.get().with(py, |state| {
            if !state.open.is_empty() {
                return Err(errors::value_error(py, "a region is not finished yet"));
            }
            append_inst(py, state, "return", &parts).map(drop)
        })?;
        let taken = lock_state(slf.get()).ok_or_else(|| in_use(py))?.take();
        let Some(state) = taken else {
            return Err(errors::value_error(py, "the function is finished; create a new Builder"));
        };
        let f = state.writer.function();
        let types: Vec<ValueType> =
            parts.operands.iter().map(|&v| f.value_type(v).clone()).collect();
        let function = state.writer.finish(&types).map_err(|problems| {
            errors::diagnostics_error(py, ErrorKind::Verify, &problems, None)
        })?;
        Ok(PyFunction::new(SharedFunction::new(function.into())))
    }

    fn __dir__(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        emit::attribute_names(slf)
    }

    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<PyBuilderOpMethod> {
        let py = slf.py();
        // `not` and a few other op names are keywords of Python: `not_` means `not`.
        let op = name.strip_suffix('_').unwrap_or(name);
        if op.starts_with('_') || op.contains('.') {
            return Err(PyAttributeError::new_err(name.to_owned()));
        }
        match emit::find_op(py, &own_ops::registry(), op) {
            Ok(_) => Ok(PyBuilderOpMethod { builder: slf.clone().unbind(), op: op.to_owned() }),
            Err(error) => Err(PyAttributeError::new_err(error.value(py).to_string())),
        }
    }

    fn __repr__(&self) -> String {
        let Some(state) = lock_state(self) else { return "<Builder, in use>".to_owned() };
        match state.as_ref() {
            Some(state) => {
                let f = state.writer.function();
                format!("<Builder of @{}: {} instructions>", f.name(), f.num_insts())
            }
            None => "<Builder, finished>".to_owned(),
        }
    }
}

#[pymethods]
impl PyBuilderOpMethod {
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
        PyBuilder::emit(self.builder.bind(py), &self.op, operands, attributes)
    }
}

impl PyBuilderValue {
    fn binary<'py>(
        slf: &Bound<'py, Self>,
        op: &str,
        left: &Bound<'py, PyAny>,
        right: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let operands = PyTuple::new(py, [left, right])?;
        PyBuilder::emit(slf.get().builder.bind(py), op, &operands, None)
    }
}

#[pymethods]
impl PyBuilderValue {
    /// The type of the value.
    #[getter]
    fn r#type(&self) -> PyType {
        PyType(self.ty.clone())
    }

    /// The builder that the value belongs to.
    #[getter]
    fn builder<'py>(&self, py: Python<'py>) -> &Bound<'py, PyBuilder> {
        self.builder.bind(py)
    }

    fn __add__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::binary(slf, "add", slf, other)
    }

    fn __radd__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::binary(slf, "add", other, slf)
    }

    fn __sub__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::binary(slf, "sub", slf, other)
    }

    fn __rsub__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::binary(slf, "sub", other, slf)
    }

    fn __mul__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::binary(slf, "mul", slf, other)
    }

    fn __rmul__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::binary(slf, "mul", other, slf)
    }

    fn __truediv__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::binary(slf, "div", slf, other)
    }

    fn __rtruediv__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::binary(slf, "div", other, slf)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let operands = PyTuple::new(py, [slf])?;
        PyBuilder::emit(slf.get().builder.bind(py), "neg", &operands, None)
    }

    fn __repr__(&self) -> String {
        format!("<{} : {}>", self.id, self.ty)
    }
}
