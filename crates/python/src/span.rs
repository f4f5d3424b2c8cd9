//! The Python class `Span`: a range of source text.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use pyo3::prelude::*;
use sapwood::Span;
use sapwood_types::LocError;

use crate::errors;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySpan>()
}

/// A range of source text: a file, the position where it begins, and the position just after its end.
#[pyclass(frozen, eq, from_py_object, name = "Span", module = "sapwood.ir")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PySpan(pub(crate) Span);

/// The arguments of the constructor.
type SpanArguments = (&'static str, u32, u32, u32, u32, Option<String>);

fn checked_position(py: Python<'_>, name: &str, number: i64) -> PyResult<u32> {
    u32::try_from(number).map_err(|_| {
        errors::value_error(
            py,
            format!("{name} is {number}; lines and columns are 0 (unknown) to {}", u32::MAX),
        )
    })
}

#[pymethods]
impl PySpan {
    #[new]
    #[pyo3(signature = (filename, begin_line, begin_column, end_line = 0, end_column = 0, loc = None))]
    fn new(
        py: Python<'_>,
        filename: &str,
        begin_line: i64,
        begin_column: i64,
        end_line: i64,
        end_column: i64,
        loc: Option<&str>,
    ) -> PyResult<Self> {
        let span = Span::new(
            filename,
            checked_position(py, "begin_line", begin_line)?,
            checked_position(py, "begin_column", begin_column)?,
            checked_position(py, "end_line", end_line)?,
            checked_position(py, "end_column", end_column)?,
        );
        let Some(loc) = loc else { return Ok(Self(span)) };
        match loc.parse() {
            Ok(loc) => Ok(Self(span.with_loc(loc))),
            Err(LocError { message, .. }) => {
                Err(errors::value_error(py, format!("{message}: {loc}")))
            }
        }
    }

    /// Returns the span of code without a source.
    #[staticmethod]
    fn unknown() -> Self {
        Self(Span::unknown())
    }

    /// The name of the file.
    #[getter]
    fn filename(&self) -> &'static str {
        self.0.filename()
    }

    /// The line of the first character, from 1; 0 if the span is unknown.
    #[getter]
    fn begin_line(&self) -> u32 {
        self.0.begin_line()
    }

    /// The column of the first character, from 1.
    #[getter]
    fn begin_column(&self) -> u32 {
        self.0.begin_column()
    }

    /// The line of the place after the last character.
    #[getter]
    fn end_line(&self) -> u32 {
        self.0.end_line()
    }

    /// The column after the last character.
    #[getter]
    fn end_column(&self) -> u32 {
        self.0.end_column()
    }

    /// The location that MLIR's `loc(…)` gives, as text without `loc`; `None` if there is none.
    #[getter]
    fn loc(&self) -> Option<String> {
        let loc = self.0.loc();
        (!loc.is_unknown()).then(|| loc.to_string())
    }

    /// The names of the location, outermost first: `jit(f)/layer_3/add`; `None` if it has none.
    #[getter]
    fn scope(&self) -> Option<String> {
        self.0.loc().scope()
    }

    /// Returns whether the span is unknown.
    fn is_unknown(&self) -> bool {
        self.0.is_unknown()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        if self.0.is_unknown() && self.0.loc().is_unknown() {
            return "Span.unknown()".to_owned();
        }
        let Self(span) = self;
        let loc = self.loc().map_or_else(String::new, |loc| format!(", loc={loc:?}"));
        format!(
            "Span({:?}, {}, {}, {}, {}{loc})",
            span.filename(),
            span.begin_line(),
            span.begin_column(),
            span.end_line(),
            span.end_column()
        )
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, SpanArguments) {
        let span = slf.get().0;
        let parts = (
            span.filename(),
            span.begin_line(),
            span.begin_column(),
            span.end_line(),
            span.end_column(),
            slf.get().loc(),
        );
        (slf.get_type().into_any(), parts)
    }
}
