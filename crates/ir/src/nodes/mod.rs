//! The nodes: expressions, types, statements, functions, programs.

mod compact;
mod expr;
mod function;
mod int;
pub(crate) mod operators;
mod program;
mod stmt;
mod types;
mod vars;

pub use compact::{ThinList, VarName};
pub use expr::{Callee, CalleeRef, Expr, ExprRef};
pub(crate) use expr::{cast_data_type, cast_type, inferred_binary_type, predicate_type};
pub use function::{Function, FunctionRef};
pub use int::PackedInt;
pub use operators::{BinaryOp, UnaryOp};
pub use program::{Program, ProgramRef};
pub use stmt::{Stmt, StmtRef};
pub use types::{IntoType, Type, TypeRef};
pub(crate) use types::{has_few_nodes, small_types_equal, type_nodes_within};
pub use vars::{IterArg, Var};
