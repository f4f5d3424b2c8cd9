//! Functions of real and complex numbers, on `f64`, in Rust alone.

pub(crate) mod complex;
pub(crate) mod special;
