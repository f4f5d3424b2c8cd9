//! The JSON form: the flat graph of the structural engine, sharing and spans kept.

use sapwood_structural::{
    JsonReadError, JsonWriteError, NodeWalk, TypeError, TypeRegistry, read_json, write_json,
};
use std::ops::ControlFlow;

use crate::nodes::{Callee, Expr, ExprRef, Function, Program, ProgramRef, Stmt, Type};

/// Why JSON could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FromJsonError {
    /// It is not the JSON form of a program.
    #[error(transparent)]
    Json(#[from] JsonReadError),
    /// A loop and its iteration arguments disagree.
    #[error("{path}: the initial values of the loop are not those of its iteration arguments")]
    InitValues {
        /// The loop.
        path: String,
    },
}

/// All node types of this crate, for readers of JSON.
///
/// # Errors
/// Never: the keys of this crate differ.
pub fn registry() -> Result<TypeRegistry, TypeError> {
    TypeRegistry::new()
        .with::<Expr>()?
        .with::<Callee>()?
        .with::<Type>()?
        .with::<Stmt>()?
        .with::<Function>()?
        .with::<Program>()
}

/// A program as JSON.
///
/// # Errors
/// If the program cannot be written; none that this crate makes.
pub fn to_json(program: &ProgramRef) -> Result<String, JsonWriteError> {
    write_json(program)
}

/// A program from JSON. Well-formedness is the verifier's.
///
/// # Errors
/// If the text is not the JSON form of a program.
pub fn from_json(text: &str) -> Result<ProgramRef, FromJsonError> {
    let registry = registry().unwrap_or_default();
    let program: ProgramRef = read_json(text, &registry)?;
    let found = NodeWalk::of(&program).pre_order(|at| {
        let stmt = at.node().downcast::<Stmt>();
        let fine = stmt.is_none_or(|stmt| stmt.init_values_agree(ExprRef::same));
        if fine {
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
