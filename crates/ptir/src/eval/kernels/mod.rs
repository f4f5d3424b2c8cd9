//! The fixed-order kernels, one file per family of ops.

pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod elementwise;
pub(crate) mod index;
