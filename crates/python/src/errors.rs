//! The exceptions of the package. Their classes are written in Python, in `sapwood/errors.py`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use sapwood::ptir::eval::EvalError;
use sapwood::{Diagnostic, Diagnostics, Source, SourceErrors};

use crate::callback_cause;
use crate::diagnostic::PyDiagnostic;

macro_rules! error_kinds {
    ($($(#[$doc:meta])* $name:ident = $class:literal;)*) => {
        /// The kinds of errors, one exception class for each.
        #[derive(Clone, Copy, Debug)]
        #[allow(dead_code, reason = "the kinds mirror errors.py")]
        pub(crate) enum ErrorKind { $($(#[$doc])* $name,)* }

        impl ErrorKind {
            /// Returns the exception class.
            pub(crate) fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
                match self {
                    $(Self::$name => {
                        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
                        CLASS.import(py, "sapwood.errors", $class)
                    })*
                }
            }
        }
    };
}

error_kinds! {
    /// A value of the wrong type, or the wrong number of them.
    Argument = "ArgumentError";
    /// A value of the right type that is not valid.
    Value = "InvalidValueError";
    /// Text that cannot be parsed.
    Parse = "ParseError";
    /// A program that is not well-formed.
    Verify = "VerifyError";
    /// Two graphs that cannot be compared, or one that cannot be hashed.
    Compare = "CompareError";
    /// Two graphs that should be equal and are not.
    NotEqual = "NotEqualError";
    /// A program that cannot be run.
    Run = "RunError";
    /// A pass or a pattern that failed.
    Rewrite = "RewriteError";
    /// A package that is not installed.
    Missing = "MissingPackageError";
    /// A callback that was called after its hook returned.
    Callback = "CallbackError";
}

/// Returns an exception of a kind with a message.
pub(crate) fn new_error(py: Python<'_>, kind: ErrorKind, message: impl Into<String>) -> PyErr {
    let message = message.into();
    match kind.class(py) {
        Ok(class) => {
            let raised = PyErr::from_type(class.clone(), (message.clone(),));
            callback_cause::add(py, &message, raised)
        }
        Err(failed) => failed,
    }
}

/// Returns the exception for an argument of the wrong type.
pub(crate) fn argument_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    new_error(py, ErrorKind::Argument, message)
}

/// Returns the exception for an argument with an invalid value.
pub(crate) fn value_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    new_error(py, ErrorKind::Value, message)
}

/// Returns the exception for diagnostics. Its message shows the source lines if the source is available.
pub(crate) fn diagnostics_error(
    py: Python<'_>,
    kind: ErrorKind,
    diagnostics: &Diagnostics,
    source: Option<&Source>,
) -> PyErr {
    let text = match source {
        Some(source) => diagnostics.render(source),
        None => diagnostics.to_string(),
    };
    rendered_error(py, kind, text, diagnostics)
}

/// Returns the exception for errors in texts, with the lines they are in.
pub(crate) fn source_errors(py: Python<'_>, kind: ErrorKind, errors: &SourceErrors) -> PyErr {
    rendered_error(py, kind, errors.render(), &errors.diagnostics)
}

/// Returns the exception for an error of a run, with the location of the instruction.
pub(crate) fn run_error(py: Python<'_>, error: &EvalError) -> PyErr {
    let mut diagnostics = Diagnostics::new();
    if !error.span.is_unknown() {
        diagnostics.push(Diagnostic::error(error.span, error.to_string()));
    }
    rendered_error(py, ErrorKind::Run, error.to_string(), &diagnostics)
}

fn rendered_error(
    py: Python<'_>,
    kind: ErrorKind,
    text: String,
    diagnostics: &Diagnostics,
) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let shown: Vec<&Diagnostic> = diagnostics.iter().collect();
        let shown = shown.into_iter().map(|one| Bound::new(py, PyDiagnostic::from(one)));
        let shown = PyTuple::new(py, shown.collect::<PyResult<Vec<_>>>()?)?;
        let raised = PyErr::from_value(kind.class(py)?.call1((&text, shown))?);
        Ok(callback_cause::add(py, &text, raised))
    };
    build().unwrap_or_else(|failed| failed)
}

/// Returns the name of a Python object's type, for messages.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// Returns an exception with a place before its message. Exceptions of other packages are returned unchanged.
pub(crate) fn with_prefix(py: Python<'_>, error: PyErr, place: &str) -> PyErr {
    let ours = PyOnceLock::new();
    let base: PyResult<&Bound<'_, PyType>> = ours.import(py, "sapwood.errors", "SapwoodError");
    if !base.is_ok_and(|base| error.is_instance(py, base)) {
        return error;
    }
    let message = format!("{place}: {}", error.value(py));
    match error.value(py).getattr("diagnostics") {
        Ok(diagnostics) => PyErr::from_type(error.get_type(py), (message, diagnostics.unbind())),
        Err(failed) => failed,
    }
}
