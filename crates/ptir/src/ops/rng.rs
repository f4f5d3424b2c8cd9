//! Random numbers. The state is an operand and a result, so every op is pure.

use super::support::check_at_least;
use crate::attr::Axes;
use crate::cost::op_flops as cost;
use crate::eval::kernels::rng as k;
use crate::op::{InferCx, InferResult, OpError, Value};
use crate::types::{Dim, TensorType, ValueType};
use sapwood_types::DataType;

crate::ops! {
    family "rng", table rng_ops, values RngValueOps, graph RngGraphOps;

    /// Generates random bits. The two results are the next state and the bits.
    /// The state is `u64[2]`: a key and a counter. One step applies Threefry-2x32 with 20 rounds to the counter under
    /// the key, each read as two 32-bit words, low word first. It gives two words, and the counter is incremented,
    /// wrapping. Elements, in row-major order, take the low bits of one word each, first word first; a 64-bit element
    /// takes a whole step, low word first. A word that is left over is dropped.
    op rng_bits RngBits "rng_bits" (state: Value) {
        /// Integer type of the elements.
        dtype: DataType,
        /// Extents of the result.
        shape: Axes,
    } -> many [flops(cost::per_result_element)] = |cx| infer_rng(cx, DataType::is_integer, "an integer type"), eval = k::rng_bits;

    /// Generates floats uniformly distributed over [0, 1). The two results are the next state and the floats.
    /// Each float takes the top bits of one element of `rng_bits` of its width (16 bits for f16 and bf16), as many
    /// bits as its fraction has, times a power of two; 1 is never reached.
    op rng_uniform RngUniform "rng_uniform" (state: Value) {
        /// Float type of the elements.
        dtype: DataType,
        /// Extents of the result.
        shape: Axes,
    } -> many [flops(cost::per_result_element)] = |cx| infer_rng(cx, DataType::is_float, "a float type"), eval = k::rng_uniform;

    /// Generates floats of the standard normal distribution. The two results are the next state and the floats.
    /// Each float is `sqrt(2) * erf_inv(u)`, computed as f64 and rounded, for `u = (2 k + 1) / 2^F - 1`, where `k`
    /// are the `F` bits that `rng_uniform` takes; `u` is uniformly distributed over (-1, 1) and never reaches an end.
    op rng_normal RngNormal "rng_normal" (state: Value) {
        /// Float type of the elements.
        dtype: DataType,
        /// Extents of the result.
        shape: Axes,
    } -> many [flops(cost::per_result_element)] = |cx| infer_rng(cx, DataType::is_float, "a float type"), eval = k::rng_normal;
}

fn infer_rng(cx: &InferCx<'_>, fits: fn(DataType) -> bool, expected: &str) -> InferResult {
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
    check_at_least("shape", shape, 0)?;
    let bits = TensorType { dtype, dims: shape.iter().map(|&n| Dim::Known(n as u64)).collect() };
    Ok([wanted, bits].into_iter().map(ValueType::Tensor).collect())
}
