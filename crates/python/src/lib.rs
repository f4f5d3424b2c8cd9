//! The native half of the Python package `sapwood`: it converts between Python and Rust, and nothing else.
//! Python sees one private module, `sapwood._native`; users import the modules in `python/sapwood`. Each file here covers one subject,
//! and its `register` function adds that subject's classes and functions to the module.
//!
//! ## Modules
//! | module | contents |
//! | --- | --- |
//! | `classes`, `fields`, `args`, `node` | Node classes: the table of classes, their fields, constructor arguments, the base class `Node`. |
//! | `instance`, `handle_pool` | Fast paths around PyO3 for node handles, hooks and ints (**contains unsafe code**); pools of handles. |
//! | `scoped_borrow` | Slots that give Python objects access to a borrowed context while one call runs (**contains unsafe code**). |
//! | `convert`, `containers`, `items`, `numbers`, `arrays` | Conversion between Python and Rust: values, `Seq`, `Map` and `Set`, lists, numbers, NumPy arrays. |
//! | `compare`, `hooks`, `traverse`, `pickle` | Structural comparison; `__s_equal__` and `__s_hash__`; walks, maps and substitution; pickling. |
//! | `data_type`, `span`, `diagnostic`, `errors`, `callback_cause` | The classes `DataType`, `Span` and `Diagnostic`; the exceptions and their causes. |
//! | `ir/` | The front-end IR: `constructors`, `arguments`, `text` (parsing, printing, passes), `run`. |
//! | `ptir/` | PTIR: `program`, `function` (handles), `builder`, `emit`, `attrs`, `types`, `ops`, `own_ops` (ops that are defined in Python), `compare`, `run`. |
//! | `rewrite/` | Rewriting: `pipeline`, `pattern` (patterns in Python), `rules`, `listener`, `verify`, `report`. |
//! | `lowering` | Lowering, and rewriting with selected patterns. |
//! | `command` | The entry point of the `sapwood` command. |
//! | `signals`, `fork_hooks` | Ctrl-C while native code runs; locks of the process-wide tables during `fork`. |

#![allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments by value")]

mod args;
mod arrays;
mod callback_cause;
mod classes;
mod command;
mod compare;
mod containers;
mod convert;
mod data_type;
mod diagnostic;
mod errors;
mod fields;
mod fork_hooks;
mod handle_pool;
mod hooks;
mod instance;
mod ir;
mod items;
mod lowering;
mod node;
mod numbers;
mod pickle;
mod ptir;
mod rewrite;
mod scoped_borrow;
mod signals;
mod span;
mod traverse;

use pyo3::prelude::*;

/// The module `sapwood._native`.
#[pymodule(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    data_type::register(module)?;
    span::register(module)?;
    diagnostic::register(module)?;
    command::register(module)?;
    node::register(module)?;
    containers::register(module)?;
    fields::register(module)?;
    compare::register(module)?;
    traverse::register(module)?;
    pickle::register(module)?;
    ir::register(module)?;
    lowering::register(module)?;
    ptir::register(module)?;
    rewrite::register(module)?;
    fork_hooks::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
