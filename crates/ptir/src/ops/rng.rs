//! Random numbers: explicit state in, new state out, so everything is pure.

use super::support::check_least;
use crate::attr::Axes;
use crate::eval::kernels::rng as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use crate::types::{Dim, TensorType, ValueType};
use sapwood_types::DataType;

crate::ops! {
    family "rng", table rng_ops, values RngValueOps, graph RngGraphOps;

    /// The state to use next, then random bits: two results in this order.
    /// The state is `u64[2]`: a key and a counter. A step is Threefry-2x32 with 20 rounds under the key, of the counter, both
    /// read as two words, low one first; it gives two words, and the counter grows by one and wraps. Elements in row-major
    /// order take the low bits of one word each, first word first; 64-bit ones take a whole step, low word first. A word
    /// that is left over is dropped.
    op rng_bits RngBits "rng_bits" (state: Value) {
        /// Integer type of the elements.
        dtype: DataType,
        /// Extents of the result.
        shape: Axes,
    } -> many [] = |cx| rng(cx, DataType::is_integer, "an integer type"), eval = k::rng_bits;

    /// The state to use next, then floats evenly spread over [0, 1): two results in this order.
    /// Each float takes the top bits of one element of `rng_bits` of
    /// its width (f16 and bf16 of 16 bits), as many as the fraction has, times a power of two: 1 is never reached.
    op rng_uniform RngUniform "rng_uniform" (state: Value) {
        /// Float type of the elements.
        dtype: DataType,
        /// Extents of the result.
        shape: Axes,
    } -> many [] = |cx| rng(cx, DataType::is_float, "a float type"), eval = k::rng_uniform;

    /// The state to use next, then floats of the standard normal distribution: two results in this order.
    /// Floats are `sqrt(2) * erf_inv(u)`, computed as f64 and rounded, for `u = (2 k + 1) / 2^F - 1`, where `k` are the `F`
    /// bits that `rng_uniform` takes: evenly spread over (-1, 1), never an end.
    op rng_normal RngNormal "rng_normal" (state: Value) {
        /// Float type of the elements.
        dtype: DataType,
        /// Extents of the result.
        shape: Axes,
    } -> many [] = |cx| rng(cx, DataType::is_float, "a float type"), eval = k::rng_normal;
}

fn rng(cx: &InferCx<'_>, fits: fn(DataType) -> bool, expected: &str) -> InferResult {
    let state = cx.tensor(0)?;
    let wanted = TensorType::new(DataType::U64, [2u64]);
    if !state.compatible(&wanted) {
        return Err(OpError::new(format!("the state is {state}, expected {wanted}")));
    }
    let dtype = cx.dtype("dtype")?.ok_or_else(|| OpError::new("`dtype` is missing"))?;
    if !fits(dtype) {
        return Err(OpError::new(format!("`dtype` is {dtype}, expected {expected}")));
    }
    let shape = cx.ints("shape")?;
    check_least("shape", shape, 0)?;
    let bits = TensorType { dtype, dims: shape.iter().map(|&n| Dim::Known(n as u64)).collect() };
    Ok([wanted, bits].into_iter().map(ValueType::Tensor).collect())
}
