//! The native half of `sapwood.rewrite`: pipelines, rules, and patterns written in Python.

mod condition;
mod listener;
mod pattern;
mod pipeline;
mod report;
mod rules;
mod time_limit;
mod verify;

use pyo3::prelude::*;

pub(crate) use pipeline::float_mode;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    report::register(module)?;
    rules::register(module)?;
    pattern::register(module)?;
    pipeline::register(module)
}
