//! The fixed-order kernels, one file per family of ops.

pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod combine;
pub(crate) mod convolution;
pub(crate) mod dot;
pub(crate) mod elementwise;
pub(crate) mod fft;
pub(crate) mod gather;
pub(crate) mod gemm;
pub(crate) mod index;
pub(crate) mod linalg;
pub(crate) mod sort;
pub(crate) mod window;
