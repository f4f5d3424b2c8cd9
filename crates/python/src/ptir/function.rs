//! What a program is made of: handles that hold on to their function.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sapwood::ptir::{self, BodyId, InstId, ValueDef, ValueId};

use super::attrs;
use super::program::Held;
use super::types::PyType;
use crate::data_type::PyDataType;
use crate::span::PySpan;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyFunction>()?;
    module.add_class::<PyBody>()?;
    module.add_class::<PyInstruction>()?;
    module.add_class::<PyValue>()
}

fn tuple<'py, T>(py: Python<'py>, all: impl Iterator<Item = T>) -> PyResult<Bound<'py, PyTuple>>
where
    T: pyo3::PyClass + Into<PyClassInitializer<T>>,
{
    PyTuple::new(py, all.map(|one| Bound::new(py, one)).collect::<PyResult<Vec<_>>>()?)
}

fn address(function: &Arc<Held>) -> usize {
    Arc::as_ptr(function.arc()).addr()
}

/// A function of a program.
#[pyclass(frozen, weakref, eq, hash, name = "Function", module = "sapwood.ptir")]
pub(crate) struct PyFunction {
    held: Arc<Held>,
}

impl PartialEq for PyFunction {
    fn eq(&self, other: &Self) -> bool {
        address(&self.held) == address(&other.held)
    }
}

impl std::hash::Hash for PyFunction {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        address(&self.held).hash(state);
    }
}

impl PyFunction {
    pub(crate) fn new(held: Arc<Held>) -> Self {
        Self { held }
    }

    /// The function.
    pub(crate) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    fn value(&self, id: ValueId) -> PyValue {
        PyValue { held: self.held.clone(), id }
    }
}

#[pymethods]
impl PyFunction {
    /// The name, without the `@`.
    #[getter]
    fn name(&self) -> &'static str {
        self.held.name().as_str()
    }

    /// The parameters.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.held.params().iter().map(|&id| self.value(id)))
    }

    /// The values it returns.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.held.results().iter().map(|&id| self.value(id)))
    }

    /// The types of what it returns.
    #[getter]
    fn result_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.held.result_types().into_iter().map(|ty| PyType(ty.clone())))
    }

    /// The body.
    #[getter]
    fn body(&self) -> PyBody {
        PyBody { held: self.held.clone(), id: self.held.body() }
    }

    /// The instructions of its body, in order; those in regions are not among them.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.body().instructions(py)
    }

    /// All instructions, each before those in its regions.
    fn walk<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.held.walk().map(|id| PyInstruction { held: self.held.clone(), id }))
    }

    /// How many instructions there are, those in regions included.
    #[getter]
    fn num_instructions(&self) -> usize {
        self.held.num_insts()
    }

    /// Where it was written.
    #[getter]
    fn span(&self) -> PySpan {
        PySpan(self.held.span())
    }

    /// The same function under another name.
    fn with_name(&self, name: &str) -> Self {
        let name = name.strip_prefix('@').unwrap_or(name);
        Self { held: Held::new(Arc::new((**self.held.arc()).clone().with_name(name))) }
    }

    fn __str__(&self, py: Python<'_>) -> String {
        py.detach(|| ptir::print_function(&self.held))
    }

    fn __repr__(&self) -> String {
        format!("<Function @{}: {} instructions>", self.held.name(), self.held.num_insts())
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("sapwood._notebook")?.call_method1("highlighted", (self.__str__(py),))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let mut program = ptir::Program::new(self.held.registry().clone());
        // A program without functions has none of this name.
        let _ = program.add(self.held.arc().clone());
        let read = py.import("sapwood.ptir")?.getattr("_function_from_json")?;
        Ok((read, (py.detach(|| ptir::to_json(&program)),)))
    }
}

macro_rules! part {
    ($(#[$doc:meta])* $class:ident, $name:literal, $id:ident) => {
        $(#[$doc])*
        #[pyclass(frozen, weakref, eq, hash, name = $name, module = "sapwood.ptir")]
        pub(crate) struct $class {
            held: Arc<Held>,
            id: $id,
        }

        impl $class {
            /// The handle of this one.
            #[allow(dead_code, reason = "bodies are made here only")]
            pub(crate) fn new(held: Arc<Held>, id: $id) -> Self {
                Self { held, id }
            }
        }

        impl PartialEq for $class {
            fn eq(&self, other: &Self) -> bool {
                self.id == other.id && address(&self.held) == address(&other.held)
            }
        }

        impl std::hash::Hash for $class {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                (address(&self.held), self.id).hash(state);
            }
        }
    };
}

part!(
    /// A list of instructions with parameters: that of a function, or a region of an instruction.
    PyBody,
    "Body",
    BodyId
);
part!(
    /// An instruction.
    PyInstruction,
    "Instruction",
    InstId
);
part!(
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
        let held = &self.held;
        let params = held.body_params(self.id).iter();
        tuple(py, params.map(|&id| PyValue { held: held.clone(), id }))
    }

    /// The instructions, in order.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let held = &self.held;
        let all = held.body_insts(self.id);
        tuple(py, all.map(|id| PyInstruction { held: held.clone(), id }))
    }

    /// The values it ends with.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let held = &self.held;
        let results = held.body_results(self.id).iter();
        tuple(py, results.map(|&id| PyValue { held: held.clone(), id }))
    }

    /// The instruction it is a region of; `None` for the body of a function.
    #[getter]
    fn owner(&self) -> Option<PyInstruction> {
        let id = self.held.body_owner(self.id)?;
        Some(PyInstruction { held: self.held.clone(), id })
    }

    fn __len__(&self) -> usize {
        self.held.body_insts(self.id).count()
    }

    fn __repr__(&self) -> String {
        format!("<Body of @{}: {} instructions>", self.held.name(), self.__len__())
    }
}

#[pymethods]
impl PyInstruction {
    /// The name of the op.
    #[getter]
    fn op(&self) -> &'static str {
        self.held.op_name(self.id)
    }

    /// The operands.
    #[getter]
    fn operands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let held = &self.held;
        tuple(py, held.operands(self.id).iter().map(|&id| PyValue { held: held.clone(), id }))
    }

    /// The results.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let held = &self.held;
        tuple(py, held.inst_results(self.id).map(|id| PyValue { held: held.clone(), id }))
    }

    /// The attributes by name, defaults included.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attrs::dict(py, self.held.op_def(self.id), self.held.attrs(self.id))
    }

    /// The regions.
    #[getter]
    fn regions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let held = &self.held;
        tuple(py, held.regions(self.id).iter().map(|&id| PyBody { held: held.clone(), id }))
    }

    /// The body it stands in.
    #[getter]
    fn body(&self) -> Option<PyBody> {
        let id = self.held.body_of(self.id)?;
        Some(PyBody { held: self.held.clone(), id })
    }

    /// The function it stands in.
    #[getter]
    fn function(&self) -> PyFunction {
        PyFunction::new(self.held.clone())
    }

    /// Where it was written.
    #[getter]
    fn span(&self) -> PySpan {
        PySpan(self.held.inst_span(self.id))
    }

    fn __str__(&self) -> &str {
        self.held.text(self.id)
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.held.text(self.id))
    }
}

#[pymethods]
impl PyValue {
    /// The name in the text, with its `%`.
    #[getter]
    fn name(&self) -> &str {
        self.held.value_name(self.id)
    }

    /// The type.
    #[getter]
    fn r#type(&self) -> PyType {
        PyType(self.held.value_type(self.id).clone())
    }

    /// The element type; `None` unless it is a tensor.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, PyDataType>>> {
        let tensor = self.held.value_type(self.id).as_tensor();
        tensor.map(|t| PyDataType::object(py, t.dtype)).transpose()
    }

    /// The dims: extents, names, `None` where nothing is known. `None` unless it is a tensor.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.r#type().shape(py)
    }

    /// The instruction it is a result of; `None` for parameters.
    #[getter]
    fn definition(&self) -> Option<PyInstruction> {
        let id = self.held.inst_of(self.id)?;
        Some(PyInstruction { held: self.held.clone(), id })
    }

    /// Which result or parameter it is.
    #[getter]
    fn index(&self) -> usize {
        match self.held.value_def(self.id) {
            ValueDef::Result(_, n) | ValueDef::Param(_, n) => n,
        }
    }

    /// The instructions that use it, in the order of the program, once for each use.
    #[getter]
    fn users<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let held = &self.held;
        let users = held.users_of(self.id).into_iter();
        tuple(py, users.map(|id| PyInstruction { held: held.clone(), id }))
    }

    /// What it is, as an array, if it is a constant.
    #[getter]
    fn constant<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.held.constant_of(self.id).map(|literal| attrs::array(py, literal)).transpose()
    }

    fn __repr__(&self) -> String {
        format!("<{} : {}>", self.held.value_name(self.id), self.held.value_type(self.id))
    }
}
