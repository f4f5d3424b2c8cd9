//! The nodes: expressions, types, statements, functions, programs.

mod expr;
mod function;
mod int;
pub(crate) mod operators;
mod program;
mod stmt;
mod thin;
mod types;
mod vars;

pub use expr::{Callee, CalleeRef, Expr, ExprRef};
pub(crate) use expr::{natural_binary, truth_type};
pub use function::{Function, FunctionRef};
pub use int::Int;
pub use operators::{BinaryOp, UnaryOp};
pub use program::{Program, ProgramRef};
pub use stmt::{Stmt, StmtRef};
pub use thin::{Name, Thin};
pub(crate) use types::types_match;
pub use types::{IntoType, Type, TypeRef};
pub use vars::{IterArg, Var};
