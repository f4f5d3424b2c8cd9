//! The printer of the Python-like text form. `docs/reference/ir-text.md` has the grammar.
//!
//! A function is visited twice: the first visit makes a [`plan`] with the names of variables and of shared parts, the second
//! writes the text. Neither recurses over expressions.

mod expr;
mod plan;
mod stmt;

use std::fmt;

pub(crate) use expr::{BARE_FLOAT_TYPE, BARE_INT_TYPE};

use crate::nodes::{ExprRef, FunctionRef, Program, StmtRef, TypeRef};
use crate::print::plan::PrintPlan;

/// The maximum depth of nested blocks in text, which is the limit of CPython.
pub const MAX_NESTED_BLOCKS: usize = 99;

/// The reason why a program has no text form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrintError {
    /// Blocks nest too deep.
    #[error(
        "function `{function}`: blocks nest deeper than {MAX_NESTED_BLOCKS}, the limit of the text form; use the JSON form"
    )]
    TooDeep {
        /// The name of the function.
        function: String,
    },
    /// Statements are shared too often.
    #[error(
        "function `{function}`: statements are shared so much that their text would be {times} times as long; use the JSON form"
    )]
    TooShared {
        /// The name of the function.
        function: String,
        /// The ratio of the text's length to that without sharing.
        times: u64,
    },
}

/// Prints a program as text.
///
/// # Errors
/// Fails if blocks nest too deep or statements are shared too often.
pub fn print_program(program: &Program) -> Result<String, PrintError> {
    let mut printer = Printer::default();
    printer.plan.program = Some(program);
    if !program.name().is_empty() {
        printer.out.push_str("pi.program(");
        printer.out.push_str(&crate::names::python_string_literal(program.name()));
        printer.out.push_str(")\n");
    }
    // Names of shared parts without variables are valid in the whole text.
    for function in program.functions() {
        stmt::check_function_size(function)?;
        printer.plan.plan_function(function);
    }
    for function in program.functions() {
        if !printer.out.is_empty() {
            printer.out.push('\n');
        }
        printer.write_function(function);
    }
    Ok(printer.out)
}

/// Prints a function as text.
///
/// # Errors
/// Fails if blocks nest too deep or statements are shared too often.
pub fn print_function(function: &FunctionRef) -> Result<String, PrintError> {
    stmt::check_function_size(function)?;
    // The types of calls of itself follow from its signature.
    let program = Program::new([function.clone()], "", function.span).ok();
    let mut printer = Printer::default();
    printer.plan.program = program.as_deref();
    printer.plan.plan_function(function);
    printer.write_function(function);
    Ok(printer.out)
}

/// Prints a statement as text; its free variables keep their own names.
///
/// # Errors
/// Fails if blocks nest too deep or statements are shared too often.
pub fn print_stmt(stmt: &StmtRef) -> Result<String, PrintError> {
    stmt::check_body_size("", stmt)?;
    let mut printer = Printer::default();
    printer.plan.plan_stmt(stmt);
    printer.write_block(stmt, 0, false);
    Ok(printer.out)
}

/// Prints an expression as text; its free variables keep their own names.
#[must_use]
pub fn print_expr(expr: &ExprRef) -> String {
    let mut printer = Printer::default();
    printer.plan.plan_expr(expr);
    printer.write_expr(expr);
    printer.out
}

/// Prints a type as text.
#[must_use]
pub fn print_type(ty: &TypeRef) -> String {
    let mut printer = Printer::default();
    printer.plan.plan_type(ty);
    printer.write_type(ty);
    printer.out
}

/// Prints the first `max_chars` characters of a type, in time independent of its size.
pub(crate) fn type_prefix(ty: &TypeRef, max_chars: usize) -> String {
    print_prefix(max_chars, |printer| printer.write_type(ty))
}

/// Prints the first `max_chars` characters of an expression, in time independent of its size.
pub(crate) fn expr_prefix(expr: &ExprRef, max_chars: usize) -> String {
    print_prefix(max_chars, |printer| printer.write_expr(expr))
}

fn print_prefix<'a>(max_chars: usize, print: impl FnOnce(&mut Printer<'a>)) -> String {
    // Without a plan no part is named: shared parts are repeated, up to the limit.
    let mut printer = Printer { max_chars: Some(max_chars), ..Printer::default() };
    print(&mut printer);
    let mut text = printer.out;
    if let Some((end, _)) = text.char_indices().nth(max_chars) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The state of the printer.
#[derive(Default)]
struct Printer<'a> {
    out: String,
    plan: PrintPlan<'a>,
    tasks: Vec<expr::PrintTask<'a>>,
    /// The result types of the function that is written.
    return_types: &'a [TypeRef],
    next_local: u32,
    next_closed: u32,
    /// The maximum number of characters to write, if limited.
    max_chars: Option<usize>,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match print_program(self) {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "# {error}"),
        }
    }
}
