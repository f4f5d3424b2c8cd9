//! The Python class `Cost`: the operations, the memory traffic and the peak memory of a function.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use sapwood::ptir::cost::{self, Amount, FunctionCost};

use super::dims::PyDim;
use super::program::PyProgram;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCost>()
}

/// The cost of one run of a function, with those of the functions that it calls. Amounts are integers, `Dim`s if they depend on symbols, or
/// `None` if they are not known.
#[pyclass(frozen, name = "Cost", module = "sapwood.ptir")]
pub(crate) struct PyCost(FunctionCost);

/// Returns the cost of a function; without a name, of the only function or `main`.
pub(super) fn cost_of(program: &Bound<'_, PyProgram>, name: Option<&str>) -> PyResult<PyCost> {
    let py = program.py();
    let program = program.get();
    let name = program.find_function(py, name)?.name();
    let costs = py.detach(|| cost::of_program(program.get()));
    let found = costs.into_iter().find(|cost| cost.name == name);
    found.map(PyCost).ok_or_else(|| crate::errors::value_error(py, format!("no function @{name}")))
}

fn amount(py: Python<'_>, amount: Amount) -> PyResult<Bound<'_, PyAny>> {
    Ok(match amount {
        Amount::Known(number) => PyInt::new(py, number).into_any(),
        Amount::Expr(expr) => Bound::new(py, PyDim(expr))?.into_any(),
        Amount::Unknown => py.None().into_bound(py),
    })
}

#[pymethods]
impl PyCost {
    /// Operations on elements of any type.
    #[getter]
    fn flops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        amount(py, self.0.flops)
    }

    /// Bytes that the ops read and write.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        amount(py, self.0.bytes)
    }

    /// The largest number of bytes that are alive at the same time.
    #[getter]
    fn peak_memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        amount(py, self.0.peak_memory)
    }

    /// For each family of ops, a dictionary with `ops`, `flops` and `bytes`.
    #[getter]
    fn families<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let families = PyDict::new(py);
        for row in &self.0.families {
            let entry = PyDict::new(py);
            entry.set_item("ops", row.ops)?;
            entry.set_item("flops", amount(py, row.cost.flops)?)?;
            entry.set_item("bytes", amount(py, row.cost.bytes)?)?;
            families.set_item(row.family, entry)?;
        }
        Ok(families)
    }

    /// The number of instructions whose cost is not known; they are not part of the sums.
    #[getter]
    fn not_counted(&self) -> usize {
        self.0.not_counted
    }

    /// The number of loops with an unknown number of iterations; they count as one iteration.
    #[getter]
    fn open_loops(&self) -> usize {
        self.0.open_loops
    }

    fn __repr__(&self) -> String {
        let FunctionCost { name, flops, bytes, peak_memory, .. } = &self.0;
        format!("<Cost of @{name}: flops={flops}, bytes={bytes}, peak_memory={peak_memory}>")
    }
}
