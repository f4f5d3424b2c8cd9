//! The fixed-order kernels, one file per family of ops.

pub(crate) mod binary;
pub(crate) mod call;
pub(crate) mod cast;
pub(crate) mod compare;
pub(crate) mod constant;
pub(crate) mod convolution;
pub(crate) mod dims;
pub(crate) mod dot;
pub(crate) mod dynamic;
pub(crate) mod elementwise;
pub(crate) mod fft;
pub(crate) mod gather;
pub(crate) mod gemm;
pub(crate) mod index;
pub(crate) mod linalg;
pub(crate) mod order;
pub(crate) mod reduce;
pub(crate) mod rng;
pub(crate) mod shape;
pub(crate) mod sort;
pub(crate) mod unary;
pub(crate) mod window;
