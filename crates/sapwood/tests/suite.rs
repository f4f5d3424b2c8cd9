//! The tests of the façade and the command, in one program: each program takes seconds to link.

mod docs;
mod io_failures;
mod macros;
mod mycompiler;
mod onnx_bad_input;
mod onnx_memory;
mod own_parts;
mod run_profile;
mod scopes;
mod threads;
