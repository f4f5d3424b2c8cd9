//! Handles of functions, bodies, instructions and values. Each keeps its function alive.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::ptir::{self, BodyId, InstId, ValueDef, ValueId};

use super::program::SharedFunction;
use super::types::PyType;
use super::{attrs, own_ops};
use crate::data_type::PyDataType;
use crate::span::PySpan;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyFunction>()?;
    module.add_class::<PyBody>()?;
    module.add_class::<PyInstruction>()?;
    module.add_class::<PyValue>()
}

fn handle_tuple<'py, T>(
    py: Python<'py>,
    all: impl Iterator<Item = T>,
) -> PyResult<Bound<'py, PyTuple>>
where
    T: pyo3::PyClass + Into<PyClassInitializer<T>>,
{
    PyTuple::new(py, all.map(|one| Bound::new(py, one)).collect::<PyResult<Vec<_>>>()?)
}

fn function_address(function: &Arc<SharedFunction>) -> usize {
    Arc::as_ptr(function.arc()).addr()
}

/// A function of a program.
#[pyclass(frozen, weakref, eq, hash, name = "Function", module = "sapwood.ptir")]
pub(crate) struct PyFunction {
    shared: Arc<SharedFunction>,
}

impl PartialEq for PyFunction {
    fn eq(&self, other: &Self) -> bool {
        function_address(&self.shared) == function_address(&other.shared)
    }
}

impl std::hash::Hash for PyFunction {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        function_address(&self.shared).hash(state);
    }
}

impl PyFunction {
    pub(crate) fn new(shared: Arc<SharedFunction>) -> Self {
        Self { shared }
    }

    /// Returns the function.
    pub(crate) fn shared(&self) -> &Arc<SharedFunction> {
        &self.shared
    }

    fn value(&self, id: ValueId) -> PyValue {
        PyValue { shared: self.shared.clone(), id }
    }
}

#[pymethods]
impl PyFunction {
    /// The name, without the `@`.
    #[getter]
    fn name(&self) -> &'static str {
        self.shared.name().as_str()
    }

    /// The parameters.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        handle_tuple(py, self.shared.params().iter().map(|&id| self.value(id)))
    }

    /// The values that the function returns.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        handle_tuple(py, self.shared.results().iter().map(|&id| self.value(id)))
    }

    /// The types of the results.
    #[getter]
    fn result_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        handle_tuple(py, self.shared.result_types().into_iter().map(|ty| PyType(ty.clone())))
    }

    /// The body.
    #[getter]
    fn body(&self) -> PyBody {
        PyBody { shared: self.shared.clone(), id: self.shared.body() }
    }

    /// The instructions of the body in order, without those in regions.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.body().instructions(py)
    }

    /// Returns all instructions, each before those in its regions.
    fn walk<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        handle_tuple(
            py,
            self.shared.walk().map(|id| PyInstruction { shared: self.shared.clone(), id }),
        )
    }

    /// The number of instructions, including those in regions.
    #[getter]
    fn num_instructions(&self) -> usize {
        self.shared.num_insts()
    }

    /// The source location.
    #[getter]
    fn span(&self) -> PySpan {
        PySpan(self.shared.span())
    }

    /// Returns a copy of the function with another name.
    fn with_name(&self, name: &str) -> Self {
        let name = name.strip_prefix('@').unwrap_or(name);
        Self {
            shared: SharedFunction::new(Arc::new((**self.shared.arc()).clone().with_name(name))),
        }
    }

    fn __str__(&self, py: Python<'_>) -> String {
        py.detach(|| ptir::print_function(&self.shared))
    }

    fn __repr__(&self) -> String {
        format!("<Function @{}: {} instructions>", self.shared.name(), self.shared.num_insts())
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("sapwood._notebook")?.call_method1("highlight_program", (self.__str__(py),))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut program = ptir::Program::new(self.shared.registry().clone());
        // Adding cannot fail: the program is empty, so the name is free.
        let _ = program.add(self.shared.arc().clone());
        let read = py.import("sapwood.ptir")?.getattr("_function_from_json")?;
        let ops = own_ops::own_ops_in(&program);
        (read, (py.detach(|| ptir::to_json(&program)), ops)).into_pyobject(py)
    }
}

macro_rules! handle_class {
    ($(#[$doc:meta])* $class:ident, $name:literal, $id:ident) => {
        $(#[$doc])*
        #[pyclass(frozen, weakref, eq, hash, name = $name, module = "sapwood.ptir")]
        pub(crate) struct $class {
            shared: Arc<SharedFunction>,
            id: $id,
        }

        impl $class {
            /// Returns a handle.
            #[allow(dead_code, reason = "bodies are made here only")]
            pub(crate) fn new(shared: Arc<SharedFunction>, id: $id) -> Self {
                Self { shared, id }
            }
        }

        impl PartialEq for $class {
            fn eq(&self, other: &Self) -> bool {
                self.id == other.id && function_address(&self.shared) == function_address(&other.shared)
            }
        }

        impl std::hash::Hash for $class {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                (function_address(&self.shared), self.id).hash(state);
            }
        }
    };
}

handle_class!(
    /// A list of instructions with parameters: that of a function, or a region of an instruction.
    PyBody,
    "Body",
    BodyId
);
handle_class!(
    /// An instruction.
    PyInstruction,
    "Instruction",
    InstId
);
handle_class!(
    /// A value: a parameter, or a result of an instruction.
    PyValue,
    "Value",
    ValueId
);

#[pymethods]
impl PyBody {
    /// The parameters.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shared = &self.shared;
        let params = shared.body_params(self.id).iter();
        handle_tuple(py, params.map(|&id| PyValue { shared: shared.clone(), id }))
    }

    /// The instructions, in order.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shared = &self.shared;
        let all = shared.body_insts(self.id);
        handle_tuple(py, all.map(|id| PyInstruction { shared: shared.clone(), id }))
    }

    /// The values that the body yields or returns.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shared = &self.shared;
        let results = shared.body_results(self.id).iter();
        handle_tuple(py, results.map(|&id| PyValue { shared: shared.clone(), id }))
    }

    /// The instruction it is a region of; `None` for the body of a function.
    #[getter]
    fn owner(&self) -> Option<PyInstruction> {
        let id = self.shared.body_owner(self.id)?;
        Some(PyInstruction { shared: self.shared.clone(), id })
    }

    fn __len__(&self) -> usize {
        self.shared.body_insts(self.id).count()
    }

    fn __repr__(&self) -> String {
        format!("<Body of @{}: {} instructions>", self.shared.name(), self.__len__())
    }
}

#[pymethods]
impl PyInstruction {
    /// The name of the op.
    #[getter]
    fn op(&self) -> &'static str {
        self.shared.op_name(self.id)
    }

    /// The operands.
    #[getter]
    fn operands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shared = &self.shared;
        handle_tuple(
            py,
            shared.operands(self.id).iter().map(|&id| PyValue { shared: shared.clone(), id }),
        )
    }

    /// The results.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shared = &self.shared;
        handle_tuple(
            py,
            shared.inst_results(self.id).map(|id| PyValue { shared: shared.clone(), id }),
        )
    }

    /// The attributes by name, defaults included.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attrs::attrs_to_dict(py, self.shared.op_def(self.id), self.shared.attrs(self.id))
    }

    /// The regions.
    #[getter]
    fn regions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shared = &self.shared;
        handle_tuple(
            py,
            shared.regions(self.id).iter().map(|&id| PyBody { shared: shared.clone(), id }),
        )
    }

    /// The body that contains the instruction.
    #[getter]
    fn body(&self) -> Option<PyBody> {
        let id = self.shared.body_of(self.id)?;
        Some(PyBody { shared: self.shared.clone(), id })
    }

    /// The function that contains the instruction.
    #[getter]
    fn function(&self) -> PyFunction {
        PyFunction::new(self.shared.clone())
    }

    /// The source location.
    #[getter]
    fn span(&self) -> PySpan {
        PySpan(self.shared.inst_span(self.id))
    }

    fn __str__(&self) -> &str {
        self.shared.text(self.id)
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.shared.text(self.id))
    }
}

#[pymethods]
impl PyValue {
    /// The name in the text, with its `%`.
    #[getter]
    fn name(&self) -> &str {
        self.shared.value_name(self.id)
    }

    /// The type.
    #[getter]
    fn r#type(&self) -> PyType {
        PyType(self.shared.value_type(self.id).clone())
    }

    /// The element type; `None` unless the value is a tensor.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, PyDataType>>> {
        let tensor = self.shared.value_type(self.id).as_tensor();
        tensor.map(|t| PyDataType::object(py, t.dtype)).transpose()
    }

    /// The dims: an extent, a name, or `None` where a dim is unknown. `None` unless the value is a tensor.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.r#type().shape(py)
    }

    /// The instruction that defines the value; `None` for parameters.
    #[getter]
    fn definition(&self) -> Option<PyInstruction> {
        let id = self.shared.inst_of(self.id)?;
        Some(PyInstruction { shared: self.shared.clone(), id })
    }

    /// The index of the value among the results of its instruction or the parameters of its body.
    #[getter]
    fn index(&self) -> usize {
        match self.shared.value_def(self.id) {
            ValueDef::Result(_, n) | ValueDef::Param(_, n) => n,
        }
    }

    /// The instructions that use the value, in program order, once for each use.
    #[getter]
    fn users<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let shared = &self.shared;
        let users = shared.users_of(self.id).into_iter();
        handle_tuple(py, users.map(|id| PyInstruction { shared: shared.clone(), id }))
    }

    /// The value as an array if it is a constant, otherwise `None`.
    #[getter]
    fn constant<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.shared
            .constant_of(self.id)
            .map(|literal| attrs::literal_to_array(py, literal))
            .transpose()
    }

    fn __repr__(&self) -> String {
        format!("<{} : {}>", self.shared.value_name(self.id), self.shared.value_type(self.id))
    }
}
