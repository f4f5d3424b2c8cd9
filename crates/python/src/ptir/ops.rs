//! The list of registered ops for Python.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sapwood::ptir::{OpDef, OperandKind, Registry};

use super::{attrs, own_ops};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ptir_ops, module)?)
}

fn row<'py>(py: Python<'py>, def: &OpDef) -> PyResult<Bound<'py, PyDict>> {
    let operands = |list: &[sapwood::ptir::OperandDef]| -> PyResult<Bound<'py, PyList>> {
        let names = list.iter().map(|operand| match operand.kind {
            OperandKind::One | OperandKind::Region => operand.name.to_owned(),
            OperandKind::Optional => format!("{}?", operand.name),
            OperandKind::Variadic | OperandKind::Regions => format!("{}...", operand.name),
        });
        PyList::new(py, names)
    };
    let attributes = PyDict::new(py);
    for attr in &def.attrs {
        let one = PyDict::new(py);
        one.set_item("kind", attr.kind.describe())?;
        one.set_item("doc", &attr.doc)?;
        one.set_item("required", attr.default.is_none())?;
        let default =
            attr.default.as_ref().map(|value| attrs::attr_to_python(py, value)).transpose()?;
        one.set_item("default", default)?;
        attributes.set_item(attr.name, one)?;
    }
    let result = PyDict::new(py);
    result.set_item("name", def.name)?;
    result.set_item("family", def.family)?;
    result.set_item("doc", &def.doc)?;
    result.set_item("operands", operands(&def.operands)?)?;
    result.set_item("regions", operands(&def.regions)?)?;
    result.set_item("attributes", attributes)?;
    result.set_item("commutative", def.commutative)?;
    result.set_item("elementwise", def.elementwise)?;
    Ok(result)
}

/// Returns the registered ops, one dictionary for each.
#[pyfunction]
fn ptir_ops(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = Registry::builtin()
        .defs()
        .chain(&own_ops::own_defs())
        .map(|def| row(py, def))
        .collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, rows)
}
