//! Functions of real and complex numbers on `f64`, in pure Rust.

pub(crate) mod complex;
pub(crate) mod special_functions;
