//! Quantization.

use sapwood_ptir::Dim;
use sapwood_ptir::eval::DataType;

use super::builder::V;
use super::context::Cx;
use super::elementwise::cast_to;
use super::matrix::{convolve, matmul};

// Gives a scale or zero point the rank of the input: a scalar, a vector along an axis, or blocks along an axis.
fn spread<'b>(cx: &Cx<'b>, x: V<'b>, v: V<'b>) -> V<'b> {
    let rank = x.rank();
    match v.rank() {
        0 => v,
        1 if v.dim(0) == Dim::Known(1) && cx.int("block_size", 0) == 0 => v.reshape(&[]),
        1 if rank >= 1 && cx.int("block_size", 0) == 0 => {
            let axis = cx.axis("axis", 1, rank);
            let dims: Vec<Dim> =
                (0..rank).map(|a| if a == axis { v.dim(0) } else { Dim::Known(1) }).collect();
            v.reshape(&dims)
        }
        _ => {
            let axis = cx.axis("axis", 1, rank);
            if v.rank() != rank {
                return cx.fail("scales in blocks have the rank of the input");
            }
            let block = cx.int("block_size", 1).max(1) as u64;
            let dims = v.dims();
            let mut wide: Vec<Dim> = dims.to_vec();
            wide.insert(axis + 1, Dim::Known(block));
            let mut merged: Vec<Dim> = dims.to_vec();
            merged[axis] = dims[axis].times(Dim::Known(block));
            let repeated = v.unsqueeze(&[axis + 1]).expand(&wide).reshape(&merged);
            // The last block may be incomplete.
            match (repeated.dim(axis).known(), x.dim(axis).known()) {
                (Some(a), Some(b)) if a > b => repeated.slice_axis(axis, 0, b as i64),
                _ => repeated,
            }
        }
    }
}

fn saturated<'b>(cx: &Cx<'b>, x: V<'b>, dtype: DataType) -> V<'b> {
    match dtype.integer_range() {
        Some((low, high)) => x.max(x.number(low as f64)).min(x.number(high as f64)).cast(dtype),
        None => cast_to(cx, x, dtype),
    }
}

/// Returns `saturate(round(x / scale) + zero_point)`.
fn quantized<'b>(
    cx: &Cx<'b>,
    x: V<'b>,
    scale: V<'b>,
    zero: Option<V<'b>>,
    dtype: DataType,
) -> V<'b> {
    let ratio = x / scale;
    if !dtype.holds_integers() {
        return saturated(cx, ratio, dtype);
    }
    let rounded = ratio.unary("round_even");
    let moved = match zero {
        Some(zero) => rounded + zero.cast(rounded.dtype()),
        None => rounded,
    };
    saturated(cx, moved, dtype)
}

pub(super) fn quantize_linear<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let zero = cx.opt(2);
    let default = zero.map_or(DataType::U8, V::dtype);
    let dtype = cx.dtype("output_dtype", default);
    let (scale, zero) = (spread(cx, x, cx.x(1)), zero.map(|z| spread(cx, x, z)));
    // Integers and narrow floats are divided in single precision.
    let wide = match x.dtype() {
        DataType::F64 => DataType::F64,
        _ => DataType::F32,
    };
    quantized(cx, x.cast(wide), scale.cast(wide), zero, dtype)
}

pub(super) fn dequantize_linear<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let scale = cx.x(1);
    let dtype = cx.dtype("output_dtype", scale.dtype());
    let wide = DataType::F32;
    let mut value = x.cast(wide);
    if let Some(zero) = cx.opt(2) {
        value = value - spread(cx, x, zero).cast(wide);
    }
    (value * spread(cx, x, scale).cast(wide)).cast(dtype)
}

pub(super) fn dynamic_quantize_linear<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let x = cx.x(0);
    let all: Vec<usize> = (0..x.rank()).collect();
    let zero = x.number(0.0);
    let low = x.reduce("reduce_min", &all, false).min(zero);
    let high = x.reduce("reduce_max", &all, false).max(zero);
    let scale = (high - low) / 255.0;
    let point = (-(low / scale)).unary("round_even");
    let point = saturated(cx, point, DataType::U8);
    let result = quantized(cx, x, scale, Some(point), DataType::U8);
    vec![result, scale, point]
}

// Returns an integer tensor as i32 without its zero point. A vector of zero points runs along this axis.
fn centered<'b>(x: V<'b>, zero: Option<V<'b>>, axis: usize) -> V<'b> {
    let wide = x.cast(DataType::I32);
    let Some(zero) = zero else { return wide };
    let zero = zero.cast(DataType::I32);
    let rank = x.rank();
    if zero.rank() == 0 || zero.rank() > 1 {
        return wide - zero;
    }
    let dims: Vec<Dim> =
        (0..rank).map(|a| if a == axis { zero.dim(0) } else { Dim::Known(1) }).collect();
    wide - if zero.dim(0) == Dim::Known(1) { zero.reshape(&[]) } else { zero.reshape(&dims) }
}

pub(super) fn matmul_integer<'b>(cx: &Cx<'b>) -> V<'b> {
    let (a, b) = (cx.x(0), cx.x(1));
    let row = a.rank().saturating_sub(2);
    let column = b.rank().saturating_sub(1);
    matmul(centered(a, cx.opt(2), row), centered(b, cx.opt(3), column))
}

pub(super) fn qlinear_matmul<'b>(cx: &Cx<'b>) -> V<'b> {
    let (a, b) = (cx.x(0), cx.x(3));
    let row = a.rank().saturating_sub(2);
    let column = b.rank().saturating_sub(1);
    let product = matmul(centered(a, cx.opt(2), row), centered(b, cx.opt(5), column));
    requantized(cx, product, cx.x(1) * cx.x(4), cx.x(6), cx.x(7))
}

fn requantized<'b>(cx: &Cx<'b>, sum: V<'b>, scale: V<'b>, to: V<'b>, zero: V<'b>) -> V<'b> {
    let wide = DataType::F32;
    let one = |v: V<'b>| if v.ty().num_elements() == Some(1) { v.reshape(&[]) } else { v };
    let value = sum.cast(wide) * one(scale).cast(wide);
    quantized(cx, value, one(to).cast(wide), Some(one(zero)), zero.dtype())
}

pub(super) fn conv_integer<'b>(cx: &Cx<'b>) -> V<'b> {
    convolve(cx, centered(cx.x(0), cx.opt(2), 0), centered(cx.x(1), cx.opt(3), 0))
}

pub(super) fn qlinear_conv<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, w) = (cx.x(0), cx.x(3));
    let mut sum = convolve(cx, centered(x, cx.opt(2), 0), centered(w, cx.opt(5), 0));
    if let Some(bias) = cx.opt(8) {
        sum = super::matrix::add_channels(sum, bias);
    }
    let mut weights = cx.x(4);
    if weights.rank() == 1 && weights.dim(0) != Dim::Known(1) {
        weights = super::matrix::along_channels(sum, weights);
    }
    requantized(cx, sum, cx.x(1).reshape(&[]) * weights, cx.x(6), cx.x(7))
}
