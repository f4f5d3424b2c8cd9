//! The front-end IR: immutable nodes that can be shared, compared, printed, read back and changed.

mod error;
mod float;
mod names;
mod nodes;
mod parse;
mod print;
mod rebuild;
mod size;
mod verify;

pub use error::IrError;
pub use nodes::{
    BinaryOp, Callee, CalleeRef, Expr, ExprRef, Function, FunctionRef, IntoType, IterArg, Program, ProgramRef,
    Stmt, StmtRef, Type, TypeRef, UnaryOp, Var, Int,
};
pub use print::{MOST_NESTED_BLOCKS, PrintError, print_expr, print_function, print_program, print_stmt, print_type};
pub use parse::{parse_bytes, parse_expr, parse_function, parse_program, parse_type};
pub use verify::{Level, verify, verify_function};
