//! `sapwood.ptir`: tensor programs in SSA form.

pub(crate) mod attrs;
mod builder;
pub(crate) mod check;
mod compare;
mod cost;
pub(crate) mod dims;
pub(crate) mod emit;
pub(crate) mod function;
mod ops;
pub(crate) mod own_ops;
pub(crate) mod program;
mod run;
pub(crate) mod types;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    dims::register(module)?;
    types::register(module)?;
    program::register(module)?;
    function::register(module)?;
    builder::register(module)?;
    check::register(module)?;
    compare::register(module)?;
    cost::register(module)?;
    ops::register(module)?;
    own_ops::register(module)?;
    run::register(module)
}
