//! The tests of the lowering, in one program: each program takes seconds to link.

mod api;
mod common;
mod deep;
mod edges;
mod extents;
mod op_calls;
mod properties;
mod values;
mod variables;
