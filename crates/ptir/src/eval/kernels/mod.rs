//! The fixed-order kernels, one file per family of ops.

pub(crate) mod binary;
pub(crate) mod call;
pub(crate) mod cast;
pub(crate) mod compare;
pub(crate) mod constant;
pub(crate) mod dynamic;
pub(crate) mod elementwise;
pub(crate) mod index;
pub(crate) mod reduce;
pub(crate) mod rng;
pub(crate) mod shape;
pub(crate) mod unary;
