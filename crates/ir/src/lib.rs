//! The front-end IR: immutable nodes that can be shared, compared, printed, read back and changed.
//!
//! - Nodes: [`Expr`], [`Stmt`], [`Type`], [`Callee`], [`Function`], [`Program`], behind
//!   [`sapwood_structural::Ref`]; [`Var`] and [`IterArg`] point to variables. Compare with
//!   [`sapwood_structural::equal`].
//! - Text: [`print_program`], [`parse_program`]; JSON: [`to_json`], [`from_json`].
//! - Build with [`FunctionBuilder`], check with [`verify`], run with [`interpret::Interpreter`].
//! - Change with [`mutate`](fn@mutate), [`substitute`] and the [`passes`].
//!
//! ```
//! use sapwood_ir::{Level, parse_program, print_program, verify};
//! use sapwood_types::Source;
//!
//! let text = "def add(x: pi.INT64, y: pi.INT64) -> pi.INT64:\n    return x + y\n";
//! let program = parse_program(&Source::new("add.ir", text)).map_err(|e| format!("{e:?}"))?;
//! assert!(verify(&program, Level::WellFormed).is_empty());
//! assert_eq!(print_program(&program)?, text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod error;
mod float;
pub mod interpret;
mod json;
mod mutate;
mod names;
mod nodes;
mod parse;
pub mod passes;
mod print;
mod rebuild;
mod size;
#[cfg(feature = "testing")]
pub mod testing;
mod verify;

pub use builder::{BlockBuilder, FunctionBuilder};
pub use error::IrError;
pub use json::{FromJsonError, from_json, registry, to_json};
pub use mutate::{Mutate, SubstituteError, Visit, mutate, substitute, visit};
pub use nodes::{
    BinaryOp, Callee, CalleeRef, Expr, ExprRef, Function, FunctionRef, Int, IntoType, IterArg,
    Name, Program, ProgramRef, Stmt, StmtRef, Thin, Type, TypeRef, UnaryOp, Var,
};
pub use parse::{parse_bytes, parse_expr, parse_function, parse_program, parse_type};
pub use print::{
    MOST_NESTED_BLOCKS, PrintError, print_expr, print_function, print_program, print_stmt,
    print_type,
};
pub use verify::{Level, verify, verify_function};
