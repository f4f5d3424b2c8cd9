//! Building functions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use sapwood::Span;
use sapwood::ptir::{
    BodyId, FunctionWriter, Op as _, OpParts, Registry, TensorLiteral, TensorType, ValueId,
    ValueType, ops,
};

use super::attrs;
use super::emit::{self, Target};
use super::function::PyFunction;
use super::program::Held;
use super::types::PyType;
use crate::errors::{self, Family};
use crate::items::{Items, items};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyBuilder>()?;
    module.add_class::<PyEmit>()?;
    module.add_class::<PyBuilderValue>()?;
    module.add_class::<PyRegion>()
}

struct State {
    writer: FunctionWriter,
    // Bodies that are being written, the innermost last.
    open: Vec<BodyId>,
}

/// A function under construction: `b = Builder("f"); x = b.parameter("x", "f32[4]"); f = b.finish(b.exp(x))`.
///
/// Every op is a method: operands and regions are positional, attributes are keywords.
#[pyclass(frozen, name = "Builder", module = "sapwood.ptir")]
pub(crate) struct PyBuilder {
    state: Mutex<Option<State>>,
}

/// A value of a function under construction.
#[pyclass(frozen, name = "BuilderValue", module = "sapwood.ptir")]
pub(crate) struct PyBuilderValue {
    builder: Py<PyBuilder>,
    id: ValueId,
    ty: ValueType,
}

/// A region of an instruction to be made.
#[pyclass(frozen, name = "Region", module = "sapwood.ptir")]
pub(crate) struct PyRegion {
    builder: Py<PyBuilder>,
    id: BodyId,
}

/// A method of a builder: an op waiting for its operands.
#[pyclass(frozen, name = "Emit", module = "sapwood.ptir")]
pub(crate) struct PyEmit {
    builder: Py<PyBuilder>,
    op: String,
}

fn lock(builder: &PyBuilder) -> MutexGuard<'_, Option<State>> {
    builder.state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PyBuilder {
    fn with<R>(&self, py: Python<'_>, f: impl FnOnce(&mut State) -> PyResult<R>) -> PyResult<R> {
        match lock(self).as_mut() {
            Some(state) => f(state),
            None => Err(errors::value(py, "the function is finished; make a new Builder")),
        }
    }

    fn emit<'py>(
        slf: &Bound<'py, Self>,
        op: &str,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        // Python runs while arguments are read (iterators, arrays), so the lock is taken only for each step.
        let mut target = Building { builder: slf, registry: Registry::builtin() };
        let parts = emit::parts(py, op, &mut target, arguments, keywords)?;
        let made = slf.get().with(py, |state| append(py, state, op, &parts))?;
        let mut values = made.into_iter().map(|(id, ty)| value(slf, id, ty));
        match values.len() {
            1 => values
                .next()
                .map_or_else(|| Ok(py.None().into_bound(py)), |v| v.map(Bound::into_any)),
            _ => Ok(PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any()),
        }
    }
}

fn append(
    py: Python<'_>,
    state: &mut State,
    op: &str,
    parts: &OpParts,
) -> PyResult<Vec<(ValueId, ValueType)>> {
    let body = state.open.last().copied().unwrap_or_else(|| state.writer.function().body());
    let inst = state
        .writer
        .append(body, parts, Span::unknown())
        .map_err(|error| errors::value(py, format!("{op}: {error}")))?;
    let f = state.writer.function();
    Ok(f.inst_results(inst).map(|id| (id, f.value_type(id).clone())).collect())
}

fn value<'py>(
    builder: &Bound<'py, PyBuilder>,
    id: ValueId,
    ty: ValueType,
) -> PyResult<Bound<'py, PyBuilderValue>> {
    Bound::new(builder.py(), PyBuilderValue { builder: builder.clone().unbind(), id, ty })
}

struct Building<'a, 'py> {
    builder: &'a Bound<'py, PyBuilder>,
    registry: std::sync::Arc<Registry>,
}

impl Target for Building<'_, '_> {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn value(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<ValueId>> {
        let Ok(value) = object.cast::<PyBuilderValue>() else { return Ok(None) };
        if !value.get().builder.is(self.builder) {
            let message = format!("{} belongs to another builder", value.get().id);
            return Err(errors::value(object.py(), message));
        }
        Ok(Some(value.get().id))
    }

    fn region(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<BodyId>> {
        let Ok(region) = object.cast::<PyRegion>() else { return Ok(None) };
        if !region.get().builder.is(self.builder) {
            return Err(errors::value(object.py(), "the region belongs to another builder"));
        }
        Ok(Some(region.get().id))
    }

    fn tensor(&self, value: ValueId) -> Option<TensorType> {
        let state = lock(self.builder.get());
        state.as_ref()?.writer.function().value_type(value).as_tensor().cloned()
    }

    fn constant(&mut self, py: Python<'_>, literal: TensorLiteral) -> PyResult<ValueId> {
        let constant = |state: &mut State| Ok(state.writer.constant(&literal, Span::unknown()));
        self.builder.get().with(py, constant)
    }
}

#[pymethods]
impl PyBuilder {
    #[new]
    #[pyo3(signature = (name = "main"))]
    fn new(name: &str) -> Self {
        let writer = FunctionWriter::new(name, &Registry::builtin());
        Self { state: Mutex::new(Some(State { writer, open: Vec::new() })) }
    }

    /// Adds a parameter to the function.
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
        value(slf, id, ty)
    }

    /// The value of an array: one constant for each literal.
    fn constant<'py>(
        slf: &Bound<'py, Self>,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBuilderValue>> {
        let literal = attrs::literal(array)?;
        let ty = ValueType::Tensor(literal.ty());
        let made = slf
            .get()
            .with(slf.py(), |state| Ok(state.writer.constant(&literal, Span::unknown())))?;
        value(slf, made, ty)
    }

    /// Names a value for the text.
    fn name(slf: &Bound<'_, Self>, value: &Bound<'_, PyBuilderValue>, name: &str) -> PyResult<()> {
        if !value.get().builder.is(slf) {
            return Err(errors::value(slf.py(), "the value belongs to another builder"));
        }
        slf.get().with(slf.py(), |state| {
            state.writer.set_hint(value.get().id, name);
            Ok(())
        })
    }

    /// An instruction of any op. Ops without a table have a dot in their name and need `result_types`.
    #[pyo3(name = "emit", signature = (op, *operands, **attributes))]
    fn emit_any<'py>(
        slf: &Bound<'py, Self>,
        op: &str,
        operands: &Bound<'py, PyTuple>,
        attributes: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::emit(slf, op, operands, attributes)
    }

    /// A region: `build` gets its parameters and gives what it yields. Values from outside may be used in it.
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
            let params = ids.into_iter().zip(types).map(|(id, ty)| value(slf, id, ty));
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
                // What is left of a region that failed is of no use to anybody.
                state.writer.discard_body(body);
            }
            Ok(innermost)
        });
        built?;
        if !ended? {
            return Err(errors::value(py, "regions are built one inside the other, on one thread"));
        }
        Ok(PyRegion { builder: slf.clone().unbind(), id: body })
    }

    /// Ends the function with these results and verifies it. The builder is spent then, whatever comes out.
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
        let mut target = Building { builder: slf, registry: Registry::builtin() };
        let parts = emit::parts(py, ops::Return::key().name(), &mut target, &results, None)?;
        slf.get().with(py, |state| {
            if !state.open.is_empty() {
                return Err(errors::value(py, "a region is still being built"));
            }
            append(py, state, "return", &parts).map(drop)
        })?;
        let Some(state) = lock(slf.get()).take() else {
            return Err(errors::value(py, "the function is finished; make a new Builder"));
        };
        let f = state.writer.function();
        let types: Vec<ValueType> =
            parts.operands.iter().map(|&v| f.value_type(v).clone()).collect();
        let function = state
            .writer
            .finish(&types)
            .map_err(|problems| errors::diagnosed(py, Family::Verify, &problems, None))?;
        Ok(PyFunction::new(Held::new(function.into())))
    }

    fn __getattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<PyEmit> {
        let py = slf.py();
        // `not` and its like are words of Python: `not_` is `not`.
        let op = name.strip_suffix('_').unwrap_or(name);
        if op.starts_with('_') || op.contains('.') {
            return Err(PyAttributeError::new_err(name.to_owned()));
        }
        match emit::op(py, &Registry::builtin(), op) {
            Ok(_) => Ok(PyEmit { builder: slf.clone().unbind(), op: op.to_owned() }),
            Err(error) => Err(PyAttributeError::new_err(error.value(py).to_string())),
        }
    }

    fn __repr__(&self) -> String {
        match lock(self).as_ref() {
            Some(state) => {
                let f = state.writer.function();
                format!("<Builder of @{}: {} instructions>", f.name(), f.num_insts())
            }
            None => "<Builder, finished>".to_owned(),
        }
    }
}

#[pymethods]
impl PyEmit {
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
    /// The type.
    #[getter]
    fn r#type(&self) -> PyType {
        PyType(self.ty.clone())
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
