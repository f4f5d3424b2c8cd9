//! The tests of PTIR, in one program: each program takes seconds to link.

mod build;
mod cost;
mod deep_and_wide;
mod diffs;
mod dim_inference;
mod dims;
mod edits;
mod edits_refused;
mod eval_limits;
mod eval_machine;
mod eval_properties;
mod eval_values;
mod garbled;
mod json;
mod literals;
mod locations;
mod mutations;
mod own_op_panics;
mod parts;
mod properties;
mod reference;
mod same_bytes;
mod text;
mod too_large;
mod where_clauses;
mod writer;
