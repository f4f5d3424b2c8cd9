//! The nodes: expressions, types, statements, functions, programs.

mod expr;
mod int;
mod function;
pub(crate) mod operators;
mod program;
mod stmt;
mod types;
mod vars;

pub use expr::{Callee, CalleeRef, Expr, ExprRef};
pub use function::{Function, FunctionRef};
pub use int::Int;
pub use operators::{BinaryOp, UnaryOp};
pub use program::{Program, ProgramRef};
pub use stmt::{Stmt, StmtRef};
pub use types::{IntoType, Type, TypeRef};
pub use vars::{IterArg, Var};
pub(crate) use expr::natural_binary;
pub(crate) use types::types_match;
