//! The tests of the façade and the command, in one program: each program takes seconds to link.

mod docs;
mod io_failures;
mod macros;
mod mycompiler;
mod scopes;
mod threads;
