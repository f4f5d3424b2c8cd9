//! The JSON form: the flat graph of the structural engine, which keeps sharing and spans.

use sapwood_structural::{
    JsonReadError, JsonWriteError, NodeWalk, TypeError, TypeRegistry, read_json, write_json,
};
use std::ops::ControlFlow;

use crate::nodes::{Callee, Expr, ExprRef, Function, Program, ProgramRef, Stmt, Type};

/// The reason why JSON could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FromJsonError {
    /// The text is not the JSON form of a program.
    #[error(transparent)]
    Json(#[from] JsonReadError),
    /// The initial values of a loop differ from those of its iteration arguments.
    #[error("{path}: the initial values of the loop are not those of its iteration arguments")]
    InitValues {
        /// The path of the loop.
        path: String,
    },
}

/// Returns a registry of all node types of this crate, for JSON readers.
///
/// # Errors
/// Never fails, since all keys of this crate differ.
pub fn registry() -> Result<TypeRegistry, TypeError> {
    TypeRegistry::new()
        .with::<Expr>()?
        .with::<Callee>()?
        .with::<Type>()?
        .with::<Stmt>()?
        .with::<Function>()?
        .with::<Program>()
}

/// Converts a program to JSON.
///
/// # Errors
/// Fails if the program cannot be written, which does not happen for programs of this crate.
pub fn to_json(program: &ProgramRef) -> Result<String, JsonWriteError> {
    write_json(program)
}

/// Reads a program from JSON, without verifying that it is well-formed.
///
/// # Errors
/// Fails if the text is not the JSON form of a program.
pub fn from_json(text: &str) -> Result<ProgramRef, FromJsonError> {
    let registry = registry().unwrap_or_default();
    let program: ProgramRef = read_json(text, &registry)?;
    let found = NodeWalk::of(&program).pre_order(|at| {
        let stmt = at.node().downcast::<Stmt>();
        let agrees = stmt.is_none_or(|stmt| stmt.init_values_agree(ExprRef::same));
        if agrees {
            ControlFlow::Continue(sapwood_structural::WalkAction::Into)
        } else {
            ControlFlow::Break(at.path().to_string())
        }
    });
    match found {
        ControlFlow::Break(path) => Err(FromJsonError::InitValues { path }),
        ControlFlow::Continue(()) => Ok(program),
    }
}
