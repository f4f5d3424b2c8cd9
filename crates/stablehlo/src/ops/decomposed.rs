//! Ops that are read as several PTIR ops.

use sapwood_ptir::ops::{BroadcastInDim, Compare, CompareOrder, Direction, Reduce};
use sapwood_ptir::{Axes, Dim, TensorType, ValueId};
use smallvec::smallvec;

use super::reduce::combiner_region;
use super::{OpConverter, OpMapping, ResultValues, read_only};

pub(super) const MAPPINGS: &[OpMapping] = &[
    read_only("chlo.conj", build_conj),
    read_only("chlo.is_inf", |cx| build_is_infinite(cx, &[f64::INFINITY, f64::NEG_INFINITY])),
    read_only("chlo.is_pos_inf", |cx| build_is_infinite(cx, &[f64::INFINITY])),
    read_only("chlo.is_neg_inf", |cx| build_is_infinite(cx, &[f64::NEG_INFINITY])),
    read_only("chlo.broadcast_add", |cx| build_broadcast(cx, "add")),
    read_only("chlo.broadcast_subtract", |cx| build_broadcast(cx, "sub")),
    read_only("chlo.broadcast_multiply", |cx| build_broadcast(cx, "mul")),
    read_only("chlo.broadcast_divide", |cx| build_broadcast(cx, "div")),
    read_only("chlo.broadcast_maximum", |cx| build_broadcast(cx, "max")),
    read_only("chlo.broadcast_minimum", |cx| build_broadcast(cx, "min")),
    read_only("chlo.broadcast_power", |cx| build_broadcast(cx, "pow")),
    read_only("chlo.broadcast_remainder", |cx| build_broadcast(cx, "rem")),
    read_only("chlo.broadcast_and", |cx| build_broadcast(cx, "and")),
    read_only("chlo.broadcast_or", |cx| build_broadcast(cx, "or")),
    read_only("chlo.broadcast_xor", |cx| build_broadcast(cx, "xor")),
    read_only("stablehlo.batch_norm_inference", build_batch_norm_inference),
    read_only("stablehlo.batch_norm_training", build_batch_norm_training),
    read_only("stablehlo.batch_norm_grad", build_batch_norm_grad),
];

fn single_result(value: ValueId) -> Result<ResultValues, String> {
    Ok(ResultValues::from_slice(&[value]))
}

fn build_conj(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [x] = cx.operands()?;
    let (re, im) = (cx.emit_plain("real", &[x])?, cx.emit_plain("imag", &[x])?);
    let im = cx.emit_plain("neg", &[im])?;
    single_result(cx.emit_plain("complex", &[re, im])?)
}

fn build_is_infinite(cx: &mut OpConverter<'_, '_>, values: &[f64]) -> Result<ResultValues, String> {
    let [x] = cx.operands()?;
    let ty = cx.tensor_type(x)?.clone();
    let mut found = None;
    for &value in values {
        let scalar = cx.emit_scalar(ty.dtype, value)?;
        let rhs = broadcast_in_dims(cx, scalar, &[], &ty)?;
        let (direction, order) = (Direction::Eq, CompareOrder::Partial);
        let equal = cx.emit_one(Compare { lhs: x, rhs, direction, order })?;
        found = Some(match found {
            None => equal,
            Some(before) => cx.emit_plain("or", &[before, equal])?,
        });
    }
    found.map_or_else(|| Err("no value to compare with".into()), single_result)
}

// Broadcasts a value to the shape of `like`; its axes become the axes `dims`.
fn broadcast_in_dims(
    cx: &mut OpConverter<'_, '_>,
    input: ValueId,
    dims: &[i64],
    like: &TensorType,
) -> Result<ValueId, String> {
    let ty = like.with_dtype(cx.tensor_type(input)?.dtype);
    if cx.tensor_type(input)?.dims == ty.dims {
        return Ok(input);
    }
    cx.emit_one(BroadcastInDim { input, dims: Axes::from(dims), ty: ty.into() })
}

// Reads a binary op with implicit broadcasting: axes are aligned at the right, extents of one are repeated.
fn build_broadcast(cx: &mut OpConverter<'_, '_>, name: &str) -> Result<ResultValues, String> {
    let [lhs, rhs] = cx.operands()?;
    let (l, r) = (cx.tensor_type(lhs)?.clone(), cx.tensor_type(rhs)?.clone());
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
    let lhs = broadcast_in_dims(cx, lhs, &axes(&l), &like)?;
    let rhs = broadcast_in_dims(cx, rhs, &axes(&r), &like)?;
    single_result(cx.emit_plain(name, &[lhs, rhs])?)
}

/// The operands and attributes that all batch norm ops have.
struct BatchNorm {
    input: ValueId,
    ty: TensorType,
    feature: i64,
    epsilon: f64,
}

fn batch_norm_of(cx: &mut OpConverter<'_, '_>) -> Result<BatchNorm, String> {
    let input = cx.operand(0)?;
    let ty = cx.tensor_type(input)?.clone();
    let feature = cx.int(&["feature_index"])?;
    if !usize::try_from(feature).is_ok_and(|f| f < ty.rank()) {
        return Err(format!("`feature_index` is {feature}, but the rank is {}", ty.rank()));
    }
    Ok(BatchNorm { input, ty, feature, epsilon: cx.float(&["epsilon"])? })
}

impl BatchNorm {
    // Broadcasts one value per feature over the other axes.
    fn broadcast_feature(
        &self,
        cx: &mut OpConverter<'_, '_>,
        value: ValueId,
    ) -> Result<ValueId, String> {
        broadcast_in_dims(cx, value, &[self.feature], &self.ty)
    }

    // Emits the sum over all axes but the feature axis.
    fn sum_per_feature(
        &self,
        cx: &mut OpConverter<'_, '_>,
        value: ValueId,
    ) -> Result<ValueId, String> {
        let dtype = self.ty.dtype;
        let init = cx.emit_scalar(dtype, 0.0)?;
        let body = combiner_region(cx.writer, "stablehlo.add", dtype, cx.span)?;
        let axes: Axes = (0..self.ty.rank() as i64).filter(|&a| a != self.feature).collect();
        cx.emit_one(Reduce { inputs: smallvec![value], inits: smallvec![init], body, axes })
    }

    // Emits the number of elements of a feature, as one value per feature.
    fn elements_per_feature(&self, cx: &mut OpConverter<'_, '_>) -> Result<ValueId, String> {
        let mut count = 1u64;
        for (axis, dim) in self.ty.dims.iter().enumerate() {
            if axis as i64 != self.feature {
                let n = dim.known().ok_or("batch norm needs known extents")?;
                count = count.saturating_mul(n);
            }
        }
        self.splat_per_feature(cx, count as f64)
    }

    fn splat_per_feature(&self, cx: &mut OpConverter<'_, '_>, x: f64) -> Result<ValueId, String> {
        let scalar = cx.emit_scalar(self.ty.dtype, x)?;
        let like = TensorType {
            dtype: self.ty.dtype,
            dims: smallvec![self.ty.dims[self.feature as usize]],
        };
        broadcast_in_dims(cx, scalar, &[], &like)
    }

    fn mean_per_feature(
        &self,
        cx: &mut OpConverter<'_, '_>,
        value: ValueId,
    ) -> Result<ValueId, String> {
        let (sum, count) = (self.sum_per_feature(cx, value)?, self.elements_per_feature(cx)?);
        cx.emit_plain("div", &[sum, count])
    }

    // Emits the standard deviation of a variance, with epsilon.
    fn standard_deviation(
        &self,
        cx: &mut OpConverter<'_, '_>,
        variance: ValueId,
    ) -> Result<ValueId, String> {
        let epsilon = self.splat_per_feature(cx, self.epsilon)?;
        let sum = cx.emit_plain("add", &[variance, epsilon])?;
        cx.emit_plain("sqrt", &[sum])
    }

    // Emits `scale * (input - mean) / deviation + offset`.
    fn normalize(
        &self,
        cx: &mut OpConverter<'_, '_>,
        [scale, offset, mean, variance]: [ValueId; 4],
    ) -> Result<ValueId, String> {
        let deviation = self.standard_deviation(cx, variance)?;
        let (scale, offset) =
            (self.broadcast_feature(cx, scale)?, self.broadcast_feature(cx, offset)?);
        let (mean, deviation) =
            (self.broadcast_feature(cx, mean)?, self.broadcast_feature(cx, deviation)?);
        let centred = cx.emit_plain("sub", &[self.input, mean])?;
        let normal = cx.emit_plain("div", &[centred, deviation])?;
        let scaled = cx.emit_plain("mul", &[normal, scale])?;
        cx.emit_plain("add", &[scaled, offset])
    }
}

fn build_batch_norm_inference(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [_, scale, offset, mean, variance] = cx.operands()?;
    let n = batch_norm_of(cx)?;
    single_result(n.normalize(cx, [scale, offset, mean, variance])?)
}

fn build_batch_norm_training(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [_, scale, offset] = cx.operands()?;
    let n = batch_norm_of(cx)?;
    let mean = n.mean_per_feature(cx, n.input)?;
    let mean_like = n.broadcast_feature(cx, mean)?;
    let centred = cx.emit_plain("sub", &[n.input, mean_like])?;
    let squares = cx.emit_plain("mul", &[centred, centred])?;
    let variance = n.mean_per_feature(cx, squares)?;
    let output = n.normalize(cx, [scale, offset, mean, variance])?;
    Ok(ResultValues::from_slice(&[output, mean, variance]))
}

fn build_batch_norm_grad(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [_, scale, mean, variance, grad] = cx.operands()?;
    let n = batch_norm_of(cx)?;
    let mean_like = n.broadcast_feature(cx, mean)?;
    let centred = cx.emit_plain("sub", &[n.input, mean_like])?;
    let epsilon = n.splat_per_feature(cx, n.epsilon)?;
    let shifted = cx.emit_plain("add", &[variance, epsilon])?;
    let deviation = cx.emit_plain("sqrt", &[shifted])?;
    let product = cx.emit_plain("mul", &[grad, centred])?;
    let (grad_offset, along) = (n.sum_per_feature(cx, grad)?, n.sum_per_feature(cx, product)?);
    let grad_scale = cx.emit_plain("div", &[along, deviation])?;
    // (scale / deviation / count) * (count * grad - sum(grad) - centred * along / (variance + epsilon)).
    let count = n.elements_per_feature(cx)?;
    let ratio = cx.emit_plain("div", &[scale, deviation])?;
    let factor = cx.emit_plain("div", &[ratio, count])?;
    let slope = cx.emit_plain("div", &[along, shifted])?;
    let (count, factor) = (n.broadcast_feature(cx, count)?, n.broadcast_feature(cx, factor)?);
    let (sum, slope) = (n.broadcast_feature(cx, grad_offset)?, n.broadcast_feature(cx, slope)?);
    let whole = cx.emit_plain("mul", &[count, grad])?;
    let less = cx.emit_plain("sub", &[whole, sum])?;
    let bent = cx.emit_plain("mul", &[centred, slope])?;
    let less = cx.emit_plain("sub", &[less, bent])?;
    let grad_operand = cx.emit_plain("mul", &[factor, less])?;
    Ok(ResultValues::from_slice(&[grad_operand, grad_scale, grad_offset]))
}
