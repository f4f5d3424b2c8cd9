//! The Python-like text form: writing it. `docs/reference/ir-text.md` has the grammar.
//!
//! Two walks per function: [`survey`] gives every variable its name and finds the expressions that
//! need one, the second writes. Neither recurses over expressions.

mod expr;
mod stmt;
mod survey;

use std::fmt;

pub(crate) use expr::{PLAIN_FLOAT, PLAIN_INT};

use crate::nodes::{ExprRef, FunctionRef, Program, StmtRef, TypeRef};
use crate::print::survey::Survey;

/// How deep blocks may nest in text; what CPython takes.
pub const MOST_NESTED_BLOCKS: usize = 99;

/// Why something has no text form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrintError {
    /// Blocks within blocks within blocks.
    #[error(
        "function `{function}`: blocks nest deeper than {MOST_NESTED_BLOCKS}, which text cannot hold; use the JSON form"
    )]
    TooDeep {
        /// Where.
        function: String,
    },
    /// Statements that are shared again and again.
    #[error(
        "function `{function}`: statements are shared so much that their text would be {times} times as long; use the JSON form"
    )]
    TooShared {
        /// Where.
        function: String,
        /// How many times.
        times: u64,
    },
}

/// A program as text.
///
/// # Errors
/// If blocks nest too deep, or statements are shared beyond measure.
pub fn print_program(program: &Program) -> Result<String, PrintError> {
    let mut printer = Printer::default();
    if !program.name().is_empty() {
        printer.out.push_str("pi.program(");
        printer.out.push_str(&crate::names::quoted(program.name()));
        printer.out.push_str(")\n");
    }
    // Names for shared parts without variables hold for the whole text.
    for function in program.functions() {
        stmt::check_size(function)?;
        printer.survey.function(function);
    }
    for function in program.functions() {
        if !printer.out.is_empty() {
            printer.out.push('\n');
        }
        printer.function(function);
    }
    Ok(printer.out)
}

/// A function as text.
///
/// # Errors
/// If blocks nest too deep, or statements are shared beyond measure.
pub fn print_function(function: &FunctionRef) -> Result<String, PrintError> {
    stmt::check_size(function)?;
    let mut printer = Printer::default();
    printer.survey.function(function);
    printer.function(function);
    Ok(printer.out)
}

/// A statement as text, its variables named by themselves.
///
/// # Errors
/// If blocks nest too deep, or statements are shared beyond measure.
pub fn print_stmt(stmt: &StmtRef) -> Result<String, PrintError> {
    stmt::check_body("", stmt)?;
    let mut printer = Printer::default();
    printer.survey.stmt(stmt);
    printer.block(stmt, 0, false);
    Ok(printer.out)
}

/// An expression as text, its variables named by themselves.
#[must_use]
pub fn print_expr(expr: &ExprRef) -> String {
    let mut printer = Printer::default();
    printer.survey.expr(expr);
    printer.inline(expr);
    printer.out
}

/// A type as text.
#[must_use]
pub fn print_type(ty: &TypeRef) -> String {
    let mut printer = Printer::default();
    printer.survey.ty(ty);
    printer.ty(ty);
    printer.out
}

/// The first `most` characters of a type as text, in a time that does not depend on its size.
pub(crate) fn start_of_type(ty: &TypeRef, most: usize) -> String {
    start(most, |printer| printer.ty(ty))
}

/// The first `most` characters of an expression as text, in a time that does not depend on its size.
pub(crate) fn start_of_expr(expr: &ExprRef, most: usize) -> String {
    start(most, |printer| printer.inline(expr))
}

fn start<'a>(most: usize, print: impl FnOnce(&mut Printer<'a>)) -> String {
    // No part is named: what is shared is written again and again, up to the limit.
    let mut printer = Printer { most: Some(most), ..Printer::default() };
    print(&mut printer);
    let mut text = printer.out;
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Writes.
#[derive(Default)]
struct Printer<'a> {
    out: String,
    survey: Survey<'a>,
    tasks: Vec<expr::Task<'a>>,
    next_local: u32,
    next_closed: u32,
    /// How many characters are wanted, if not all.
    most: Option<usize>,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match print_program(self) {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "# {error}"),
        }
    }
}
