//! The Python class `Diagnostic`: one problem in a program.

use pyo3::prelude::*;
use sapwood::{Diagnostic, Severity};

use crate::span::PySpan;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDiagnostic>()
}

/// A problem in a program: severity, message, span, notes, help.
#[pyclass(frozen, eq, name = "Diagnostic", module = "sapwood")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyDiagnostic(Diagnostic);

impl From<&Diagnostic> for PyDiagnostic {
    fn from(diagnostic: &Diagnostic) -> Self {
        Self(diagnostic.clone())
    }
}

type Reduced = (String, String, PySpan, Vec<(PySpan, String)>, Option<String>);

#[pymethods]
impl PyDiagnostic {
    #[new]
    #[pyo3(signature = (severity, message, span, notes = Vec::new(), help = None))]
    fn new(
        py: Python<'_>,
        severity: &str,
        message: String,
        span: PySpan,
        notes: Vec<(PySpan, String)>,
        help: Option<String>,
    ) -> PyResult<Self> {
        let all = [Severity::Note, Severity::Warning, Severity::Error];
        let Some(severity) = all.into_iter().find(|one| one.to_string() == severity) else {
            let message = format!("a severity is note, warning or error, not {severity:?}");
            return Err(crate::errors::value_error(py, message));
        };
        let notes = notes.into_iter().map(|(span, text)| (span.0, text)).collect();
        Ok(Self(Diagnostic { severity, span: span.0, message, notes, help }))
    }

    /// `"note"`, `"warning"` or `"error"`.
    #[getter]
    fn severity(&self) -> String {
        self.0.severity.to_string()
    }

    /// The problem, in one line.
    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    /// The place in the source.
    #[getter]
    fn span(&self) -> PySpan {
        PySpan(self.0.span)
    }

    /// Further locations, each with a remark: pairs of span and text.
    #[getter]
    fn notes(&self) -> Vec<(PySpan, String)> {
        self.0.notes.iter().map(|(span, text)| (PySpan(*span), text.clone())).collect()
    }

    /// A suggestion of a correct form, if there is one.
    #[getter]
    fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Diagnostic {}>", self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, Reduced) {
        let this = slf.get();
        let help = this.0.help.clone();
        let parts = (this.severity(), this.0.message.clone(), this.span(), this.notes(), help);
        (slf.get_type().into_any(), parts)
    }
}
