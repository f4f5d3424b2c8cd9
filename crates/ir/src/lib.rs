//! The front-end IR: immutable, shareable nodes with a text form, a JSON form, a verifier and passes.
//!
//! - Nodes: [`Expr`], [`Stmt`], [`Type`], [`Callee`], [`Function`], [`Program`], behind
//!   [`sapwood_structural::Ref`]; [`Var`] and [`IterArg`] point to variables. Compare with
//!   [`sapwood_structural::equal`].
//! - Text: [`print_program`], [`parse_program`]; JSON: [`to_json`], [`from_json`].
//! - Build with [`FunctionBuilder`], check with [`verify`], run with [`interpret::Interpreter`].
//! - Transform with [`mutate`](fn@mutate), [`substitute`] and the [`passes`].
//!
//! ```
//! use sapwood_ir::{VerifyLevel, parse_program, print_program, verify};
//! use sapwood_types::Source;
//!
//! let text = "def add(x: pi.INT64, y: pi.INT64) -> pi.INT64:\n    return x + y\n";
//! let program = parse_program(&Source::new("add.ir", text)).map_err(|e| format!("{e:?}"))?;
//! assert!(verify(&program, VerifyLevel::WellFormed).is_empty());
//! assert_eq!(print_program(&program)?, text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `nodes/` | The nodes: `expr`, `stmt`, `types`, `function`, `program`, `vars`; `operators` is the table of operators; `compact` and `int` are small field types. |
//! | `parse/` | The parser of the text form, with explicit stacks: `lexer`, `function`, `stmt`, `assign`, `loops`, `expr`, `operand`, `calls`, `subscript`, `value`, `reduce` (construction of nodes), `name_scope`. |
//! | `print/` | The printer of the text form: `plan` (names), `stmt`, `expr`. |
//! | `call_types` | The types of calls that follow from signatures and op tables. |
//! | `ops/` | Calls of ops: `attrs` (attributes), `dims` (types as PTIR has them), `evaluate` (values). |
//! | `names` | Names and string literals of the text form. |
//! | `json` | The JSON form, which keeps sharing and spans. |
//! | `verify/` | The verifier: `stmt`, `expr`, `types` (compatibility), `defined_vars`. |
//! | `interpret/` | The interpreter, the reference for passes and lowering: `scalar` (operators), `tuple`, `extents` (shapes of arguments), `op_calls`. |
//! | `passes/` | The passes, one file each: `cse`, `fold`, `infer_types`, `inline`, `remove_dead_assignments`, `to_ssa`; the other files are their helpers. |
//! | `builder` | Builders that write programs with closures. |
//! | `mutate`, `rebuild` | Visitors and mutators with a method per node type; copies of expressions with a field replaced. |
//! | `float`, `body_size`, `error` | Rounding of floats; the size of a body; errors of the node constructors. |
//! | `testing/` | Random well-formed programs; only with the feature `testing`. |

mod body_size;
mod builder;
mod call_types;
mod error;
mod float;
pub mod interpret;
mod json;
mod mutate;
mod names;
mod nodes;
pub mod ops;
mod parse;
pub mod passes;
mod print;
mod rebuild;
#[cfg(feature = "testing")]
pub mod testing;
mod verify;

pub use builder::{BlockBuilder, FunctionBuilder};
pub use error::IrError;
pub use json::{FromJsonError, from_json, registry, to_json};
pub use mutate::{Mutate, SubstituteError, Visit, mutate, substitute, visit};
pub use nodes::{
    BinaryOp, Callee, CalleeRef, Expr, ExprRef, Function, FunctionRef, IntoType, IterArg,
    PackedInt, Program, ProgramRef, Stmt, StmtRef, ThinList, Type, TypeRef, UnaryOp, Var, VarName,
};
pub use parse::{
    parse_bytes, parse_expr, parse_function, parse_indented, parse_program, parse_type,
};
pub use print::{
    MAX_NESTED_BLOCKS, PrintError, print_expr, print_function, print_program, print_stmt,
    print_type,
};
pub use verify::{VerifyLevel, verify, verify_function};
