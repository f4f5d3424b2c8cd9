//! Ops that are read as several others.

use sapwood_ptir::ops::{BroadcastInDim, Compare, CompareOrder, Direction, Mul, Reduce};
use sapwood_ptir::{Axes, Dim, Op as _, TensorType, ValueId};
use smallvec::smallvec;

use super::reduce::applied_region;
use super::{Convert, Made, Row};
use crate::read::Direct;

pub(super) const ROWS: &[Row] = &[
    Row::read_only("chlo.square", read_square).direct(direct_square),
    Row::read_only("chlo.conj", read_conj),
    Row::read_only("chlo.is_inf", |cx| read_infinite(cx, &[f64::INFINITY, f64::NEG_INFINITY])),
    Row::read_only("chlo.is_pos_inf", |cx| read_infinite(cx, &[f64::INFINITY])),
    Row::read_only("chlo.is_neg_inf", |cx| read_infinite(cx, &[f64::NEG_INFINITY])),
    Row::read_only("chlo.broadcast_add", |cx| read_broadcast(cx, "add")),
    Row::read_only("chlo.broadcast_subtract", |cx| read_broadcast(cx, "sub")),
    Row::read_only("chlo.broadcast_multiply", |cx| read_broadcast(cx, "mul")),
    Row::read_only("chlo.broadcast_divide", |cx| read_broadcast(cx, "div")),
    Row::read_only("chlo.broadcast_maximum", |cx| read_broadcast(cx, "max")),
    Row::read_only("chlo.broadcast_minimum", |cx| read_broadcast(cx, "min")),
    Row::read_only("chlo.broadcast_power", |cx| read_broadcast(cx, "pow")),
    Row::read_only("chlo.broadcast_remainder", |cx| read_broadcast(cx, "rem")),
    Row::read_only("chlo.broadcast_and", |cx| read_broadcast(cx, "and")),
    Row::read_only("chlo.broadcast_or", |cx| read_broadcast(cx, "or")),
    Row::read_only("chlo.broadcast_xor", |cx| read_broadcast(cx, "xor")),
    Row::read_only("stablehlo.batch_norm_inference", read_norm_inference),
    Row::read_only("stablehlo.batch_norm_training", read_norm_training),
    Row::read_only("stablehlo.batch_norm_grad", read_norm_grad),
];

fn alone(value: ValueId) -> Result<Made, String> {
    Ok(Made::from_slice(&[value]))
}

fn read_square(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [x] = cx.operands()?;
    alone(cx.plain("mul", &[x, x])?)
}

// `%x : T`.
fn direct_square(cx: &mut Direct<'_, '_>) -> Option<()> {
    cx.key = Mul::key();
    cx.value()?;
    cx.types()?;
    cx.twice()?;
    cx.append([])
}

fn read_conj(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [x] = cx.operands()?;
    let (re, im) = (cx.plain("real", &[x])?, cx.plain("imag", &[x])?);
    let im = cx.plain("neg", &[im])?;
    alone(cx.plain("complex", &[re, im])?)
}

fn read_infinite(cx: &mut Convert<'_, '_>, values: &[f64]) -> Result<Made, String> {
    let [x] = cx.operands()?;
    let ty = cx.tensor(x)?.clone();
    let mut found = None;
    for &value in values {
        let scalar = cx.number(ty.dtype, value)?;
        let rhs = in_dims(cx, scalar, &[], &ty)?;
        let (direction, order) = (Direction::Eq, CompareOrder::Partial);
        let equal = cx.make(Compare { lhs: x, rhs, direction, order })?;
        found = Some(match found {
            None => equal,
            Some(before) => cx.plain("or", &[before, equal])?,
        });
    }
    found.map_or_else(|| Err("nothing is asked".into()), alone)
}

// The value repeated to these dims; its axes become those of `dims`.
fn in_dims(
    cx: &mut Convert<'_, '_>,
    input: ValueId,
    dims: &[i64],
    like: &TensorType,
) -> Result<ValueId, String> {
    let ty = like.with_dtype(cx.tensor(input)?.dtype);
    if cx.tensor(input)?.dims == ty.dims {
        return Ok(input);
    }
    cx.make(BroadcastInDim { input, dims: Axes::from(dims), ty: ty.into() })
}

// Axes are aligned at the right, extents of one are repeated.
fn read_broadcast(cx: &mut Convert<'_, '_>, name: &str) -> Result<Made, String> {
    let [lhs, rhs] = cx.operands()?;
    let (l, r) = (cx.tensor(lhs)?.clone(), cx.tensor(rhs)?.clone());
    let rank = l.rank().max(r.rank());
    let dim = |t: &TensorType, axis: usize| {
        (axis + t.rank()).checked_sub(rank).map_or(Dim::Known(1), |a| t.dims[a])
    };
    let dims = (0..rank)
        .map(|axis| match (dim(&l, axis), dim(&r, axis)) {
            (Dim::Known(1), other) => other,
            (other, _) => other,
        })
        .collect();
    let like = TensorType { dtype: l.dtype, dims };
    let _ = cx.attr(&["broadcast_dimensions"]);
    let axes = |t: &TensorType| -> Vec<i64> { (rank - t.rank()..rank).map(|a| a as i64).collect() };
    let lhs = in_dims(cx, lhs, &axes(&l), &like)?;
    let rhs = in_dims(cx, rhs, &axes(&r), &like)?;
    alone(cx.plain(name, &[lhs, rhs])?)
}

struct Norm {
    input: ValueId,
    ty: TensorType,
    feature: i64,
    epsilon: f64,
}

fn norm(cx: &mut Convert<'_, '_>) -> Result<Norm, String> {
    let input = cx.operand(0)?;
    let ty = cx.tensor(input)?.clone();
    let feature = cx.int(&["feature_index"])?;
    if !usize::try_from(feature).is_ok_and(|f| f < ty.rank()) {
        return Err(format!("`feature_index` is {feature}, but the rank is {}", ty.rank()));
    }
    Ok(Norm { input, ty, feature, epsilon: cx.float(&["epsilon"])? })
}

impl Norm {
    // A value per feature, repeated over the other axes.
    fn spread(&self, cx: &mut Convert<'_, '_>, value: ValueId) -> Result<ValueId, String> {
        in_dims(cx, value, &[self.feature], &self.ty)
    }

    // The sum over all axes but that of the features.
    fn sum(&self, cx: &mut Convert<'_, '_>, value: ValueId) -> Result<ValueId, String> {
        let dtype = self.ty.dtype;
        let init = cx.number(dtype, 0.0)?;
        let body = applied_region(cx.writer, "stablehlo.add", dtype, cx.span)?;
        let axes: Axes = (0..self.ty.rank() as i64).filter(|&a| a != self.feature).collect();
        cx.make(Reduce { inputs: smallvec![value], inits: smallvec![init], body, axes })
    }

    // How many elements a feature has, as a value per feature.
    fn count(&self, cx: &mut Convert<'_, '_>) -> Result<ValueId, String> {
        let mut count = 1u64;
        for (axis, dim) in self.ty.dims.iter().enumerate() {
            if axis as i64 != self.feature {
                let n = dim.known().ok_or("batch norm needs known extents")?;
                count = count.saturating_mul(n);
            }
        }
        self.per_feature(cx, count as f64)
    }

    fn per_feature(&self, cx: &mut Convert<'_, '_>, x: f64) -> Result<ValueId, String> {
        let scalar = cx.number(self.ty.dtype, x)?;
        let like = TensorType {
            dtype: self.ty.dtype,
            dims: smallvec![self.ty.dims[self.feature as usize]],
        };
        in_dims(cx, scalar, &[], &like)
    }

    fn mean(&self, cx: &mut Convert<'_, '_>, value: ValueId) -> Result<ValueId, String> {
        let (sum, count) = (self.sum(cx, value)?, self.count(cx)?);
        cx.plain("div", &[sum, count])
    }

    // The standard deviation from a variance, with epsilon.
    fn deviation(&self, cx: &mut Convert<'_, '_>, variance: ValueId) -> Result<ValueId, String> {
        let epsilon = self.per_feature(cx, self.epsilon)?;
        let sum = cx.plain("add", &[variance, epsilon])?;
        cx.plain("sqrt", &[sum])
    }

    // `scale * (input - mean) / deviation + offset`.
    fn apply(
        &self,
        cx: &mut Convert<'_, '_>,
        [scale, offset, mean, variance]: [ValueId; 4],
    ) -> Result<ValueId, String> {
        let deviation = self.deviation(cx, variance)?;
        let (scale, offset) = (self.spread(cx, scale)?, self.spread(cx, offset)?);
        let (mean, deviation) = (self.spread(cx, mean)?, self.spread(cx, deviation)?);
        let centred = cx.plain("sub", &[self.input, mean])?;
        let normal = cx.plain("div", &[centred, deviation])?;
        let scaled = cx.plain("mul", &[normal, scale])?;
        cx.plain("add", &[scaled, offset])
    }
}

fn read_norm_inference(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [_, scale, offset, mean, variance] = cx.operands()?;
    let n = norm(cx)?;
    alone(n.apply(cx, [scale, offset, mean, variance])?)
}

fn read_norm_training(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [_, scale, offset] = cx.operands()?;
    let n = norm(cx)?;
    let mean = n.mean(cx, n.input)?;
    let spread = n.spread(cx, mean)?;
    let centred = cx.plain("sub", &[n.input, spread])?;
    let squares = cx.plain("mul", &[centred, centred])?;
    let variance = n.mean(cx, squares)?;
    let output = n.apply(cx, [scale, offset, mean, variance])?;
    Ok(Made::from_slice(&[output, mean, variance]))
}

fn read_norm_grad(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [_, scale, mean, variance, grad] = cx.operands()?;
    let n = norm(cx)?;
    let spread = n.spread(cx, mean)?;
    let centred = cx.plain("sub", &[n.input, spread])?;
    let epsilon = n.per_feature(cx, n.epsilon)?;
    let shifted = cx.plain("add", &[variance, epsilon])?;
    let deviation = cx.plain("sqrt", &[shifted])?;
    let product = cx.plain("mul", &[grad, centred])?;
    let (grad_offset, along) = (n.sum(cx, grad)?, n.sum(cx, product)?);
    let grad_scale = cx.plain("div", &[along, deviation])?;
    // (scale / deviation / count) * (count * grad - sum(grad) - centred * along / (variance + epsilon)).
    let count = n.count(cx)?;
    let ratio = cx.plain("div", &[scale, deviation])?;
    let factor = cx.plain("div", &[ratio, count])?;
    let slope = cx.plain("div", &[along, shifted])?;
    let (count, factor) = (n.spread(cx, count)?, n.spread(cx, factor)?);
    let (sum, slope) = (n.spread(cx, grad_offset)?, n.spread(cx, slope)?);
    let whole = cx.plain("mul", &[count, grad])?;
    let less = cx.plain("sub", &[whole, sum])?;
    let bent = cx.plain("mul", &[centred, slope])?;
    let less = cx.plain("sub", &[less, bent])?;
    let grad_operand = cx.plain("mul", &[factor, less])?;
    Ok(Made::from_slice(&[grad_operand, grad_scale, grad_offset]))
}
