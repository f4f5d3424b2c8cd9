//! Parsing, printing, verification, passes and comparison of the front-end IR, under the documents' names.

use pyo3::prelude::*;
use pyo3::types::PyList;
use sapwood_ir::passes::PASSES;
use sapwood_ir::{
    Callee, Expr, Function, FunctionRef, Program, ProgramRef, Stmt, Type, Var, VerifyLevel,
    parse_expr, parse_indented, parse_program, parse_type, print_expr, print_function,
    print_program, print_stmt, print_type, verify, verify_function,
};
use sapwood_structural::{AnyRef, Node as StructuralNode, Ref, StructuralOptions};
use sapwood_types::{Diagnostics, Source};

use super::arguments::Argument;
use crate::compare;
use crate::diagnostic::PyDiagnostic;
use crate::errors::{self, ErrorKind};
use crate::items::Items;
use crate::node::{Node, wrap};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ir_parse, module)?)?;
    module.add_function(wrap_pyfunction!(ir_parse_indented, module)?)?;
    module.add_function(wrap_pyfunction!(ir_parse_expr, module)?)?;
    module.add_function(wrap_pyfunction!(ir_parse_type, module)?)?;
    module.add_function(wrap_pyfunction!(ir_text, module)?)?;
    module.add_function(wrap_pyfunction!(ir_verify, module)?)?;
    module.add_function(wrap_pyfunction!(ir_passes, module)?)?;
    module.add_function(wrap_pyfunction!(ir_run_pass, module)?)?;
    module.add_function(wrap_pyfunction!(ir_structural_equal, module)?)?;
    module.add_function(wrap_pyfunction!(ir_structural_hash, module)?)
}

fn downcast<T: StructuralNode>(any: &AnyRef) -> Option<Ref<T>> {
    any.downcast_ref::<T>()?;
    any.clone().downcast().ok()
}

/// Returns the program in a Python object.
pub(crate) fn program(object: &Bound<'_, PyAny>) -> PyResult<ProgramRef> {
    let given = Argument { class: "ir", name: "program", object };
    given.node::<Program>().ok_or_else(|| given.type_error("a Program"))
}

/// Parses a program.
#[pyfunction]
fn ir_parse<'py>(py: Python<'py>, text: &str, filename: &str) -> PyResult<Bound<'py, PyAny>> {
    let source = Source::new(filename, text);
    let parsed = py.detach(|| parse_program(&source));
    let program = parsed
        .map_err(|found| errors::diagnostics_error(py, ErrorKind::Parse, &found, Some(&source)))?;
    wrap(py, program.into_any())
}

/// Parses functions whose lines are indented by `indent` columns, and which may call `others`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
fn ir_parse_indented<'py>(
    py: Python<'py>,
    text: &str,
    filename: &str,
    indent: usize,
    others: Items<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let source = Source::new(filename, text);
    let function = |object: &Bound<'py, PyAny>| {
        let given = Argument { class: "parse", name: "others", object };
        given.node::<Function>().ok_or_else(|| given.type_error("a Function"))
    };
    let others = others.0.iter().map(function).collect::<PyResult<Vec<FunctionRef>>>()?;
    let parsed = py.detach(|| parse_indented(&source, indent, &others));
    let program = parsed
        .map_err(|found| errors::diagnostics_error(py, ErrorKind::Parse, &found, Some(&source)))?;
    wrap(py, program.into_any())
}

// Parses a text in which variables occur.
fn parse_with_vars<'py>(
    py: Python<'py>,
    text: &str,
    vars: &Items<'py>,
    filename: &str,
    parse: impl FnOnce(&Source, &[Var]) -> Result<AnyRef, Diagnostics>,
) -> PyResult<Bound<'py, PyAny>> {
    let source = Source::new(filename, text);
    let var = |object| Argument { class: "parse", name: "variables", object }.var();
    let vars = vars.0.iter().map(var).collect::<PyResult<Vec<Var>>>()?;
    let parsed = parse(&source, &vars)
        .map_err(|found| errors::diagnostics_error(py, ErrorKind::Parse, &found, Some(&source)))?;
    wrap(py, parsed)
}

/// Parses an expression.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
fn ir_parse_expr<'py>(
    py: Python<'py>,
    text: &str,
    vars: Items<'py>,
    filename: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let parse = |source: &Source, vars: &[Var]| parse_expr(source, vars).map(Ref::into_any);
    parse_with_vars(py, text, &vars, filename, parse)
}

/// Parses a type.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]
fn ir_parse_type<'py>(
    py: Python<'py>,
    text: &str,
    vars: Items<'py>,
    filename: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let parse = |source: &Source, vars: &[Var]| parse_type(source, vars).map(Ref::into_any);
    parse_with_vars(py, text, &vars, filename, parse)
}

/// Prints a node.
#[pyfunction]
fn ir_text(py: Python<'_>, node: &Bound<'_, Node>) -> PyResult<String> {
    let any = &node.get().any;
    let text = if let Some(program) = downcast::<Program>(any) {
        py.detach(|| print_program(&program))
    } else if let Some(function) = downcast::<Function>(any) {
        py.detach(|| print_function(&function))
    } else if let Some(stmt) = downcast::<Stmt>(any) {
        py.detach(|| print_stmt(&stmt))
    } else if let Some(expr) = downcast::<Expr>(any) {
        Ok(py.detach(|| print_expr(&expr)))
    } else if let Some(ty) = downcast::<Type>(any) {
        Ok(py.detach(|| print_type(&ty)))
    } else if let Some(callee) = any.downcast_ref::<Callee>() {
        Ok(callee.name().to_owned())
    } else {
        return Err(errors::argument_error(py, "expected a node of the IR"));
    };
    text.map_err(|error| errors::value_error(py, error.to_string()))
}

/// Verifies a program or a function and returns its diagnostics. With `raise_`, raises an exception if there are any, which shows the
/// lines of `source` (file name and text).
#[pyfunction]
#[pyo3(signature = (node, level, raise_ = false, source = None))]
fn ir_verify<'py>(
    node: &Bound<'py, PyAny>,
    level: &str,
    raise_: bool,
    source: Option<(String, String)>,
) -> PyResult<Bound<'py, PyList>> {
    let py = node.py();
    let level = match level {
        "well-formed" => VerifyLevel::WellFormed,
        "ssa" => VerifyLevel::Ssa,
        other => {
            let message = format!("level is \"well-formed\" or \"ssa\", not {other:?}");
            return Err(errors::value_error(py, message));
        }
    };
    let given = Argument { class: "verify", name: "node", object: node };
    let found: Diagnostics = if let Some(program) = given.node::<Program>() {
        py.detach(|| verify(&program, level))
    } else if let Some(function) = given.node::<Function>() {
        let function: FunctionRef = function;
        py.detach(|| verify_function(&function, None, level))
    } else {
        return Err(given.type_error("a Program or a Function"));
    };
    if raise_ && !found.is_empty() {
        let source = source.map(|(name, text)| Source::new(&name, text));
        return Err(errors::diagnostics_error(py, ErrorKind::Verify, &found, source.as_ref()));
    }
    let found = found.iter().map(|one| Bound::new(py, PyDiagnostic::from(one)));
    PyList::new(py, found.collect::<PyResult<Vec<_>>>()?)
}

/// Returns the names of the passes.
#[pyfunction]
fn ir_passes() -> Vec<&'static str> {
    PASSES.iter().map(|(name, _)| *name).collect()
}

/// Runs a pass and returns the new program.
#[pyfunction]
fn ir_run_pass<'py>(program: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = program.py();
    let before = self::program(program)?;
    let Some((_, pass)) = PASSES.iter().find(|(known, _)| *known == name) else {
        let names = PASSES.iter().map(|(known, _)| *known);
        let more = match sapwood_types::did_you_mean(name, names.clone()) {
            Some(hint) => format!("did you mean {hint}?"),
            None => format!("expected one of {}", names.collect::<Vec<_>>().join(", ")),
        };
        return Err(errors::value_error(py, format!("unknown pass {name}; {more}")));
    };
    let after = py.detach(|| pass(&before));
    let after =
        after.map_err(|error| errors::new_error(py, ErrorKind::Rewrite, error.to_string()))?;
    wrap(py, after.into_any())
}

fn options(enable_auto_mapping: bool) -> StructuralOptions {
    StructuralOptions { map_free_vars: enable_auto_mapping, skip_tensor_content: false }
}

/// Returns whether two nodes are structurally equal. With `enable_auto_mapping`, free variables correspond in the order of their first
/// occurrence; variables that are bound inside always do.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, enable_auto_mapping = false))]
fn ir_structural_equal(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    enable_auto_mapping: bool,
) -> PyResult<bool> {
    compare::equal_with_options(lhs, rhs, options(enable_auto_mapping))
}

/// Returns the structural hash, which equal nodes share under the same flag.
#[pyfunction]
#[pyo3(signature = (node, enable_auto_mapping = false))]
fn ir_structural_hash(node: &Bound<'_, PyAny>, enable_auto_mapping: bool) -> PyResult<u64> {
    compare::hash_with_options(node, options(enable_auto_mapping))
}
