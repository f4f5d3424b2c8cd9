//! Normalizations and softmax.

use sapwood_ptir::Dim;
use sapwood_ptir::eval::DataType;

use super::builder::V;
use super::context::Cx;
use super::matrix::along_channels;

/// Returns the softmax along an axis, or its logarithm.
pub(super) fn softmax<'b>(x: V<'b>, axes: &[usize], log: bool) -> V<'b> {
    let shifted = x - x.reduce("reduce_max", axes, true);
    let exp = shifted.unary("exp");
    let sum = exp.sum(axes, true);
    if log { shifted - sum.unary("log") } else { exp / sum }
}

pub(super) fn softmax_op<'b>(cx: &Cx<'b>, log: bool) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    if rank == 0 {
        return softmax(x.reshape(&[Dim::Known(1)]), &[0], log).reshape(&[]);
    }
    if cx.since() >= 13 {
        return softmax(x, &[cx.axis("axis", -1, rank)], log);
    }
    // Older versions treat the axes from this one on as one.
    let axis = cx.axis("axis", 1, rank + 1);
    softmax(x, &(axis..rank).collect::<Vec<_>>(), log)
}

pub(super) fn batch<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let x = cx.x(0);
    let (scale, bias, mean, var) = (cx.x(1), cx.x(2), cx.x(3), cx.x(4));
    let (epsilon, momentum) = (cx.float("epsilon", 1e-5), cx.float("momentum", 0.9));
    let per_channel = |v: V<'b>| if x.rank() < 2 { v } else { along_channels(x, v) };
    let apply = |mean: V<'b>, var: V<'b>| {
        let (mean, var) = (per_channel(mean.cast(x.dtype())), per_channel(var.cast(x.dtype())));
        let spread = (var + epsilon).unary("sqrt");
        per_channel(scale.cast(x.dtype())) * ((x - mean) / spread)
            + per_channel(bias.cast(x.dtype()))
    };
    let is_training = match cx.since() {
        since if since >= 14 => cx.flag("training_mode", false),
        since if since >= 7 => cx.outputs() > 1,
        _ => !cx.flag("is_test", false),
    };
    if !is_training {
        return vec![apply(mean, var)];
    }
    let axes: Vec<usize> = (0..x.rank()).filter(|&a| a != 1).collect();
    let now = x.mean(&axes, false);
    let off = x - per_channel(now);
    let spread = (off * off).mean(&axes, false);
    let blend = |old: V<'b>, new: V<'b>| old * momentum + new.cast(old.dtype()) * (1.0 - momentum);
    vec![apply(now, spread), blend(mean, now), blend(var, spread)]
}

/// Returns values with mean zero and variance one over axes.
fn standardized<'b>(x: V<'b>, axes: &[usize], epsilon: f64) -> V<'b> {
    let off = x - x.mean(axes, true);
    off / ((off * off).mean(axes, true) + epsilon).unary("sqrt")
}

pub(super) fn instance<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let axes: Vec<usize> = (2..x.rank()).collect();
    let normal = standardized(x, &axes, cx.float("epsilon", 1e-5));
    normal * along_channels(x, cx.x(1)) + along_channels(x, cx.x(2))
}

pub(super) fn group<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let dims = x.dims();
    let groups = cx.int("num_groups", 1).max(1);
    if dims.len() < 2 {
        return cx.fail("there are no channels");
    }
    let channels = x.extent(1);
    let mut split: Vec<Dim> =
        vec![dims[0], Dim::Known(groups as u64), Dim::Known((channels / groups) as u64)];
    split.extend(dims.iter().skip(2));
    let dtype = if cx.int("stash_type", 1) == 1 && x.dtype().bit_width() < 32 {
        DataType::F32
    } else {
        x.dtype()
    };
    let parts = x.cast(dtype).reshape(&split);
    let axes: Vec<usize> = (2..parts.rank()).collect();
    let normal = standardized(parts, &axes, cx.float("epsilon", 1e-5)).cast(x.dtype());
    let (mut scale, mut bias) = (cx.x(1), cx.x(2));
    if cx.since() < 21 {
        // One number per group.
        let one = |v: V<'b>| {
            let dims: Vec<Dim> =
                (1..normal.rank()).map(|a| if a == 1 { v.dim(0) } else { Dim::Known(1) }).collect();
            v.reshape(&dims)
        };
        return (normal * one(scale) + one(bias)).reshape(&dims);
    }
    scale = along_channels(x, scale);
    bias = along_channels(x, bias);
    normal.reshape(&dims) * scale + bias
}

fn stash<'b>(cx: &Cx<'b>, x: V<'b>) -> V<'b> {
    match cx.int("stash_type", 1) {
        1 if x.dtype() != DataType::F64 => x.cast(DataType::F32),
        _ => x,
    }
}

pub(super) fn layer<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let x = cx.x(0);
    let axes: Vec<usize> = (cx.axis("axis", -1, x.rank())..x.rank()).collect();
    let wide = stash(cx, x);
    let epsilon = cx.float("epsilon", 1e-5);
    if cx.b.is_inference && axes.iter().any(|&a| x.dim(a).known().is_none()) {
        let sum = wide.sum(&axes, true);
        return vec![x, sum, sum];
    }
    let mean = wide.mean(&axes, true);
    let off = wide - mean;
    let inverse = ((off * off).mean(&axes, true) + epsilon).unary("sqrt");
    let inverse = inverse.number(1.0) / inverse;
    let mut result = (off * inverse).cast(x.dtype()) * cx.x(1);
    if let Some(bias) = cx.opt(2) {
        result = result + bias;
    }
    vec![result, mean, inverse]
}

pub(super) fn rms<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let axes: Vec<usize> = (cx.axis("axis", -1, x.rank())..x.rank()).collect();
    let wide = stash(cx, x);
    let spread = ((wide * wide).mean(&axes, true) + cx.float("epsilon", 1e-5)).unary("sqrt");
    (wide / spread).cast(x.dtype()) * cx.x(1)
}

pub(super) fn lp<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let axis = cx.axis("axis", -1, x.rank());
    let norm = match cx.int("p", 2) {
        1 => x.unary("abs").sum(&[axis], true),
        _ => (x * x).sum(&[axis], true).unary("sqrt"),
    };
    // A norm of zero divides nothing.
    let is_zero = norm.compare(norm.number(0.0), sapwood_ptir::ops::Direction::Eq);
    is_zero.select(x.number(0.0), x / is_zero.select(norm.number(1.0), norm))
}

/// The most channels in a sum of `LRN`, which is written out.
const MAX_LRN_SIZE: i64 = 1 << 12;

pub(super) fn lrn<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let size = cx.int("size", 1).max(1);
    let (alpha, beta, bias) =
        (cx.float("alpha", 0.0001), cx.float("beta", 0.75), cx.float("bias", 1.0));
    let rank = x.rank();
    if rank < 2 || size > MAX_LRN_SIZE {
        return cx.fail("there are no channels, or too many in a sum");
    }
    let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
    (low[1], high[1]) = ((size - 1) / 2, size - 1 - (size - 1) / 2);
    let squares = (x * x).pad(x.number(0.0), &low, &high);
    let channels = x.extent(1);
    let windows = (0..size).map(|i| squares.slice_axis(1, i, i + channels));
    let Some(sum) = windows.reduce(|a, b| a + b) else { return x };
    let base = sum * (alpha / size as f64) + bias;
    x / base.binary("pow", x.number(beta))
}

pub(super) fn mean_variance<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let axes = cx.ints("axes").unwrap_or_else(|| vec![0, 2, 3]);
    let axes: Vec<usize> = axes.into_iter().map(|a| cx.wrap_axis(a, x.rank())).collect();
    let mean = x.mean(&axes, true);
    let spread = ((x * x).mean(&axes, true) - mean * mean).unary("sqrt") + 1e-9;
    (x - mean) / spread
}
