//! Patterns on ops of ONNX, which `canonicalize` and `simplify` apply with the shipped ones.
//!
//! Weights are computed here and not by folding, whose limit on elements they often exceed.

#![allow(clippy::needless_pass_by_value, reason = "a pattern takes its root by value")]

mod branches;
mod slices;
mod transposes;

use sapwood_ptir::ops::{Add, BroadcastInDim, BroadcastTo, Concat, Mul, Reshape};
use sapwood_ptir::{
    Attr, Dim, Function, InstId, OpKey, OpParts, TensorLiteral, TensorType, Value, Values,
};
use sapwood_rewrite::{
    FloatMode, GateCondition, OpRef, PatternEntry, PatternFn as _, PatternList, Rewrite, Roots,
};
use sapwood_types::DataType;

use branches::{if_known, if_of_one_rank};
use slices::{slice_node_of_all, slice_node_of_slice_node};
use transposes::{
    binary_of_transpose_and_weights, node_of_transpose, reshape_of_transpose_of_reshape,
    reshape_of_unit_transpose, transpose_of_reshape_of_transpose, unit_transpose_of_reshape,
};

/// Registers patterns: the name, the ops at which they are tried (by default those that the type of the root has), how many definitions away from these they read, the ops of which one must
/// compute an operand, and the float mode that they need.
macro_rules! entries {
    ($($name:ident $(on [$($op:literal),*])? hops $hops:literal $(when any in [$($operand:literal),*])? $(floats $mode:ident)?),* $(,)?) => {
        &[$(PatternEntry {
            name: stringify!($name),
            add: |set| {
                set.add($name.named(stringify!($name))
                    $(.on([$(OpKey::of($op)),*]))?
                    .hops($hops)
                    $(.when([GateCondition::Operand(None, Roots::Keys([$(OpKey::of($operand)),*].into_iter().collect()))]))?
                    $(.floats(FloatMode::$mode))?);
            },
        }),*]
    };
}

/// The patterns on ops of ONNX.
pub(crate) static LIST: PatternList = PatternList {
    family: "onnx",
    entries: entries! {
        batch_normalization_of_conv on ["onnx.BatchNormalization"] hops 2,
        mul_of_conv on ["mul"] hops 2 when any in ["onnx.Conv", "onnx.ConvTranspose"] floats Fast,
        add_of_conv on ["add"] hops 2 when any in ["onnx.Conv", "onnx.ConvTranspose"] floats Fast,
        conv_of_mul on ["onnx.Conv"] hops 3,
        conv_of_pad on ["onnx.Conv"] hops 2,
        if_known on ["onnx.If"] hops 1,
        if_of_one_rank on ["onnx.If"] hops 1,
        reshape_of_gather on ["reshape"] hops 1 when any in ["onnx.Gather"],
        concat_of_gathers on ["concat"] hops 1 when any in ["onnx.Gather"],
        gather_of_all on ["onnx.Gather"] hops 1,
        zero_state on ["onnx.LSTM", "onnx.GRU", "onnx.RNN"] hops 6,
        slice_node_of_all on ["onnx.Slice"] hops 1,
        slice_node_of_slice_node on ["onnx.Slice"] hops 2,
        node_of_transpose on [
            "onnx.Celu", "onnx.Elu", "onnx.Gelu", "onnx.HardSigmoid", "onnx.HardSwish", "onnx.LeakyRelu", "onnx.Mish", "onnx.Reciprocal",
            "onnx.Relu", "onnx.Selu", "onnx.Shrink", "onnx.Softplus", "onnx.Softsign", "onnx.Swish", "onnx.ThresholdedRelu"
        ] hops 1 when any in ["transpose"],
        binary_of_transpose_and_weights hops 2 when any in ["transpose"],
        transpose_of_reshape_of_transpose hops 2 when any in ["reshape"],
        reshape_of_unit_transpose hops 1 when any in ["transpose"],
        unit_transpose_of_reshape hops 1 when any in ["reshape"],
        reshape_of_transpose_of_reshape on ["reshape", "onnx.Reshape"] hops 2 when any in ["transpose"],
    },
};

/// A convolution with constant weights.
struct Conv {
    inst: InstId,
    weights: TensorLiteral,
    /// The bias; none if the convolution has none.
    bias: Option<TensorLiteral>,
    /// The number of output channels.
    channels: usize,
    is_transposed: bool,
}

impl Conv {
    /// Reads the convolution that computes a value, if nothing else uses the value.
    fn of(rw: &mut Rewrite<'_>, value: Value) -> Option<Self> {
        if !rw.one_use(value) {
            return None;
        }
        let inst = rw.def_inst(value)?;
        let f = rw.function();
        if is_kept(f, inst) {
            return None;
        }
        let is_transposed = match f.op_name(inst) {
            "onnx.Conv" => false,
            "onnx.ConvTranspose" => true,
            _ => return None,
        };
        let operands = f.operands(inst);
        let weights = f.constant_of(*operands.get(1)?)?.clone();
        let bias = match operands.get(2) {
            Some(&bias) => Some(f.constant_of(bias)?.clone()),
            None => None,
        };
        let extent = |axis: usize| usize::try_from(*weights.shape().get(axis)?).ok();
        let channels = match is_transposed {
            false => extent(0)?,
            true => extent(1)?.checked_mul(usize::try_from(groups(f, inst)).ok()?)?,
        };
        let fits = bias.as_ref().is_none_or(|bias| bias.shape() == [channels as u64]);
        fits.then_some(Self { inst, weights, bias, channels, is_transposed })
    }

    /// Emits the convolution whose results are `factors * y + terms`, one of each per channel.
    fn scaled(
        &self,
        rw: &mut Rewrite<'_>,
        factors: Option<&[f64]>,
        terms: &[f64],
    ) -> Option<Value> {
        let f = rw.function();
        let dtype = self.weights.dtype();
        let ones = vec![1.0; self.channels];
        let factors_or_ones = factors.unwrap_or(&ones);
        let weights = match factors {
            Some(factors) => self.scaled_weights(f, factors)?,
            None => self.weights.clone(),
        };
        let bias = match &self.bias {
            Some(bias) => numbers(bias)?,
            None => vec![0.0; self.channels],
        };
        let bias: Vec<f64> =
            bias.iter().zip(factors_or_ones).zip(terms).map(|((b, s), t)| b * s + t).collect();
        let is_zero = self.bias.is_none() && bias.iter().all(|&b| b == 0.0);
        let bias = literal(dtype, &[self.channels as u64], &bias)?;
        let mut parts = OpParts::new(f.op_key(self.inst));
        parts.attrs = f.attrs(self.inst).iter().cloned().collect();
        parts.operands.push(*f.operands(self.inst).first()?);
        parts.operands.push(rw.constant(weights));
        if !is_zero {
            parts.operands.push(rw.constant(bias));
            // No input is left out any more.
            let def = f.op_def(self.inst)?;
            let absent = def.attrs.iter().position(|row| row.name == "absent")?;
            *parts.attrs.get_mut(absent)? = Attr::Unit;
        }
        parts.result_types.push(rw.result_type()?.clone());
        rw.emit_parts(&parts)
    }

    // Multiplies the weights of each output channel with its factor.
    fn scaled_weights(&self, f: &Function, factors: &[f64]) -> Option<TensorLiteral> {
        let shape: Vec<usize> =
            self.weights.shape().iter().map(|&n| usize::try_from(n).ok()).collect::<Option<_>>()?;
        let window: usize = shape.get(2..)?.iter().product();
        let channel_of = |index: usize| match self.is_transposed {
            false => index / (shape[1] * window),
            // Weights are [input channels, output channels per group, …].
            true => {
                let per_group = shape[0] / usize::try_from(groups(f, self.inst)).unwrap_or(1);
                let (input, output) = (index / window / shape[1], index / window % shape[1]);
                input / per_group.max(1) * shape[1] + output
            }
        };
        let old = numbers(&self.weights)?;
        let new: Option<Vec<f64>> =
            old.iter().enumerate().map(|(i, w)| Some(w * factors.get(channel_of(i))?)).collect();
        literal(self.weights.dtype(), self.weights.shape(), &new?)
    }
}

// Returns whether the user wants a node to stay as it is.
fn is_kept(f: &Function, inst: InstId) -> bool {
    f.attr(inst, "keep") == Some(&Attr::Bool(true))
}

fn groups(f: &Function, inst: InstId) -> i64 {
    f.attr(inst, "group").and_then(Attr::as_int).unwrap_or(1).max(1)
}

// Returns the elements of a literal of single or double precision.
fn numbers(literal: &TensorLiteral) -> Option<Vec<f64>> {
    let count = usize::try_from(literal.num_elements()).ok()?;
    let number: fn(&[u8]) -> f64 = match literal.dtype() {
        DataType::F32 => |b| b.try_into().map_or(f64::NAN, |b| f64::from(f32::from_le_bytes(b))),
        DataType::F64 => |b| b.try_into().map_or(f64::NAN, f64::from_le_bytes),
        _ => return None,
    };
    Some(match literal.as_splat() {
        Some(one) => vec![number(one); count],
        None => {
            let size = literal.stored_bytes().len() / count.max(1);
            literal.stored_bytes().chunks_exact(size.max(1)).map(number).collect()
        }
    })
}

fn literal(dtype: DataType, shape: &[u64], numbers: &[f64]) -> Option<TensorLiteral> {
    // Infinities and NaN would spread to other results.
    if numbers.iter().any(|x| !x.is_finite()) {
        return None;
    }
    match dtype {
        DataType::F32 => {
            let numbers: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
            TensorLiteral::from_slice(shape, &numbers).ok()
        }
        DataType::F64 => TensorLiteral::from_slice(shape, numbers).ok(),
        _ => None,
    }
}

// Returns the constants that a value repeats along all axes but the channels, axis 1: one per channel.
fn per_channel(rw: &mut Rewrite<'_>, value: Value, channels: usize) -> Option<Vec<f64>> {
    let rank = rw.rank(value)?;
    let (source, axes): (Value, Vec<usize>) = match rw.def::<BroadcastInDim>(value) {
        Some(op) => {
            let axes = op.dims.iter().map(|&a| usize::try_from(a).ok()).collect::<Option<_>>()?;
            (op.input, axes)
        }
        None => match rw.def::<BroadcastTo>(value) {
            Some(op) => {
                let own = rw.rank(op.input)?;
                (op.input, (rank - own..rank).collect())
            }
            None => (value, (0..rank).collect()),
        },
    };
    let literal = rw.constant_of(source)?;
    if let Some(one) = literal.as_splat() {
        let one = numbers(&TensorLiteral::splat(literal.dtype(), &[], one).ok()?)?;
        return Some(vec![*one.first()?; channels]);
    }
    let varies_by_channel = literal
        .shape()
        .iter()
        .zip(axes)
        .all(|(&n, axis)| n == 1 || axis == 1 && n == channels as u64);
    varies_by_channel.then(|| numbers(&literal))?.filter(|list| list.len() == channels)
}

/// `BatchNormalization(Conv(x, w, b), s, t, m, v) = Conv(x, w * k, (b - m) * k + t)` with `k = s / sqrt(v + epsilon)`.
///
/// Weights and statistics must be constants, nothing else may use the convolution, and the normalization must not be in training.
/// `ConvTranspose` likewise.
///
/// Floats: fast.
fn batch_normalization_of_conv(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let &[x, scale, bias, mean, variance] = f.operands(op.root) else { return None };
    let int = |name: &str| f.attr(op.root, name).and_then(Attr::as_int).unwrap_or(0);
    if f.inst_results(op.root).len() != 1
        || is_kept(f, op.root)
        || int("training_mode") != 0
        || f.attr(op.root, "spatial").and_then(Attr::as_int) == Some(0)
        || !rw.allows(FloatMode::Fast, x)
    {
        return None;
    }
    let epsilon = f.attr(op.root, "epsilon").and_then(Attr::as_float).unwrap_or(f64::from(1e-5f32));
    let conv = Conv::of(rw, x)?;
    let mut list = |value: Value| numbers(&rw.constant_of(value)?);
    let (scale, bias, mean, variance) = (list(scale)?, list(bias)?, list(mean)?, list(variance)?);
    if [&scale, &bias, &mean, &variance].iter().any(|list| list.len() != conv.channels) {
        return None;
    }
    let factors: Vec<f64> =
        scale.iter().zip(&variance).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
    let terms: Vec<f64> =
        bias.iter().zip(&mean).zip(&factors).map(|((t, m), k)| t - m * k).collect();
    conv.scaled(rw, Some(&factors), &terms)
}

/// `Conv(x, w, b) * k = Conv(x, w * k, b * k)` for constants `k`, one per channel.
///
/// Weights must be constants, and nothing else may use the convolution. `ConvTranspose` likewise.
///
/// Floats: fast.
fn mul_of_conv(op: Mul, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let (conv, other) = conv_and_other(rw, op.lhs, op.rhs)?;
    let factors = per_channel(rw, other, conv.channels)?;
    let terms = vec![0.0; conv.channels];
    conv.scaled(rw, Some(&factors), &terms)
}

/// `Conv(x, w, b) + k = Conv(x, w, b + k)` for constants `k`, one per channel.
///
/// Weights must be constants, and nothing else may use the convolution. `ConvTranspose` likewise.
///
/// Floats: fast.
fn add_of_conv(op: Add, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let (conv, other) = conv_and_other(rw, op.lhs, op.rhs)?;
    let terms = per_channel(rw, other, conv.channels)?;
    conv.scaled(rw, None, &terms)
}

fn conv_and_other(rw: &mut Rewrite<'_>, lhs: Value, rhs: Value) -> Option<(Conv, Value)> {
    match Conv::of(rw, lhs) {
        Some(conv) => Some((conv, rhs)),
        None => Some((Conv::of(rw, rhs)?, lhs)),
    }
}

/// `Conv(x * k, w, b) = Conv(x, w * k, b)` for a constant number `k`.
///
/// Weights must be constants, and nothing else may use the product.
///
/// Floats: fast.
fn conv_of_mul(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let operands = f.operands(op.root);
    let &[scaled, weights, ..] = operands else { return None };
    if !rw.one_use(scaled) || !rw.allows(FloatMode::Fast, scaled) || is_kept(f, op.root) {
        return None;
    }
    let product = rw.def::<Mul>(scaled)?;
    let weights = rw.constant_of(weights)?;
    let (x, factor) = match per_channel(rw, product.rhs, 1) {
        Some(factor) => (product.lhs, factor),
        None => (product.rhs, per_channel(rw, product.lhs, 1)?),
    };
    let &[factor] = &factor[..] else { return None };
    let scaled: Vec<f64> = numbers(&weights)?.iter().map(|w| w * factor).collect();
    let scaled = literal(weights.dtype(), weights.shape(), &scaled)?;
    let mut parts = OpParts::new(f.op_key(op.root));
    parts.attrs = f.attrs(op.root).iter().cloned().collect();
    parts.operands.extend([x, rw.constant(scaled)]);
    parts.operands.extend(operands[2..].iter().copied());
    parts.result_types.push(rw.result_type()?.clone());
    rw.emit_parts(&parts)
}

/// `Conv(Pad(x, p), w, b) = Conv(x, w, b)` with the pads `p` added to its own.
///
/// Only for constant padding with zeros of spatial axes, if nothing else uses the padded value.
///
/// Floats: exact.
fn conv_of_pad(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let operands = f.operands(op.root);
    let padded = *operands.first()?;
    let rank = rw.rank(padded)?;
    let spatial = rank.checked_sub(2)?;
    if !matches!(f.attr(op.root, "auto_pad"), None | Some(Attr::Unit))
        && !matches!(f.attr(op.root, "auto_pad"), Some(Attr::Str(text)) if &**text == "NOTSET")
    {
        return None;
    }
    let pad = rw.def_inst(padded)?;
    if !rw.one_use(padded) || is_kept(f, op.root) || is_kept(f, pad) {
        return None;
    }
    let (input, low, high) = zero_padding(rw, pad)?;
    let is_plain = |list: &[i64]| list[..2] == [0, 0] && list.iter().all(|&n| n >= 0);
    if low.len() != rank || !is_plain(&low) || !is_plain(&high) {
        return None;
    }
    let own = f.attr(op.root, "pads").and_then(Attr::as_ints).map(<[i64]>::to_vec);
    let own = own.unwrap_or_else(|| vec![0; 2 * spatial]);
    let added: Vec<i64> = low[2..].iter().chain(&high[2..]).copied().collect();
    if own.len() != added.len() {
        return None;
    }
    let sums: Option<Vec<i64>> = own.iter().zip(&added).map(|(a, b)| a.checked_add(*b)).collect();
    let def = f.op_def(op.root)?;
    let mut parts = OpParts::new(f.op_key(op.root));
    parts.attrs = f.attrs(op.root).iter().cloned().collect();
    let pads = def.attrs.iter().position(|row| row.name == "pads")?;
    *parts.attrs.get_mut(pads)? = Attr::Ints(sums?.into_iter().collect());
    parts.operands.push(input);
    parts.operands.extend(operands[1..].iter().copied());
    parts.result_types.push(rw.result_type()?.clone());
    rw.emit_parts(&parts)
}

/// A gather of elements of a vector, with constant indices.
struct VectorGather {
    inst: InstId,
    vector: Value,
    indices: Vec<i64>,
}

impl VectorGather {
    // Reads the gather that computes a value.
    fn of(rw: &mut Rewrite<'_>, value: Value) -> Option<Self> {
        let inst = rw.def_inst(value)?;
        let f = rw.function();
        if f.op_name(inst) != "onnx.Gather" || is_kept(f, inst) {
            return None;
        }
        let &[vector, indices] = f.operands(inst) else { return None };
        let axis = f.attr(inst, "axis").and_then(Attr::as_int).unwrap_or(0);
        if rw.rank(vector)? != 1 || !matches!(axis, 0 | -1) {
            return None;
        }
        let indices = integers(&rw.constant_of(indices)?)?;
        Some(Self { inst, vector, indices })
    }

    // Emits a gather of a vector of elements.
    fn emit(rw: &mut Rewrite<'_>, like: InstId, vector: Value, indices: &[i64]) -> Option<Value> {
        let f = rw.function();
        let count = indices.len() as u64;
        let dtype = rw.dtype(vector)?;
        let mut parts = OpParts::new(f.op_key(like));
        parts.attrs = f.attrs(like).iter().cloned().collect();
        let indices = rw.constant(TensorLiteral::from_slice(&[count], indices).ok()?);
        parts.operands.extend([vector, indices]);
        parts.result_types.push(TensorType::new(dtype, [count]).into());
        rw.emit_parts(&parts)
    }
}

// Returns the elements of a short literal of integers.
fn integers(literal: &TensorLiteral) -> Option<Vec<i64>> {
    const MAX_INDICES: u64 = 1 << 10;
    if literal.num_elements() > MAX_INDICES {
        return None;
    }
    let number = |i: u64| match literal.dtype() {
        DataType::I64 => literal.element(i)?.try_into().ok().map(i64::from_le_bytes),
        DataType::I32 => literal.element(i)?.try_into().ok().map(|b| i32::from_le_bytes(b).into()),
        _ => None,
    };
    (0..literal.num_elements()).map(number).collect()
}

/// `reshape(Gather(x, i)) = Gather(x, [i])` for one element of a vector `x`.
///
/// Only if nothing else uses the element.
///
/// Floats: exact.
fn reshape_of_gather(op: Reshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    if rw.rank(op.input)? != 0 || !rw.one_use(op.input) {
        return None;
    }
    let is_vector = rw.result_type()?.as_tensor()?.dims[..] == [Dim::Known(1)];
    let gather = VectorGather::of(rw, op.input).filter(|_| is_vector)?;
    VectorGather::emit(rw, gather.inst, gather.vector, &gather.indices)
}

/// `concat(Gather(x, i), Gather(x, j)) = Gather(x, concat(i, j))` for constant indices of a vector `x`.
///
/// Only if nothing else uses the gathered elements. Other operands of the concatenation stay.
///
/// Floats: exact.
fn concat_of_gathers(op: Concat, rw: &mut Rewrite<'_>) -> Option<Value> {
    let mut parts: Vec<(Value, Option<VectorGather>)> = Vec::new();
    let mut changed = false;
    for &input in &op.inputs {
        if rw.rank(input)? != 1 {
            return None;
        }
        let gather = if rw.one_use(input) { VectorGather::of(rw, input) } else { None };
        match (parts.last_mut(), gather) {
            (Some((_, Some(last))), Some(next)) if last.vector == next.vector => {
                last.indices.extend(next.indices);
                changed = true;
            }
            (_, gather) => parts.push((input, gather)),
        }
    }
    if !changed {
        return None;
    }
    let mut inputs = Values::new();
    for (input, gather) in parts {
        inputs.push(match gather {
            Some(gather) => VectorGather::emit(rw, gather.inst, gather.vector, &gather.indices)?,
            None => input,
        });
    }
    match inputs[..] {
        [one] => Some(one),
        _ => rw.emit(Concat { inputs, axis: op.axis }),
    }
}

/// `Gather(x, [0, 1, …, n - 1]) = x` for a vector `x` of `n` elements.
///
/// Floats: exact.
fn gather_of_all(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let result = rw.function().inst_results(op.root).next()?;
    let gather = VectorGather::of(rw, result)?;
    let is_all = gather.indices.iter().zip(0..).all(|(&index, i)| index == i);
    (is_all && rw.same_type(gather.vector, result)).then_some(gather.vector)
}

/// `LSTM(x, …, h, c) = LSTM(x, …)` if the initial states `h` and `c` are zero. `GRU` and `RNN` likewise.
///
/// Floats: exact.
fn zero_state(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    const INITIAL_STATES: std::ops::Range<usize> = 5..7;
    let f = rw.function();
    if is_kept(f, op.root) {
        return None;
    }
    let absent = f.attr(op.root, "absent").and_then(Attr::as_ints).unwrap_or_default();
    let mut operands = f.operands(op.root).iter().copied();
    let count = f.operands(op.root).len() + absent.len();
    let mut inputs: Vec<Option<Value>> = (0..count)
        .map(|i| if absent.contains(&(i as i64)) { None } else { operands.next() })
        .collect();
    let mut changed = false;
    for slot in inputs.iter_mut().take(INITIAL_STATES.end).skip(INITIAL_STATES.start) {
        if slot.is_some_and(|value| is_zeros(rw, value, MAX_MOVES)) {
            *slot = None;
            changed = true;
        }
    }
    if !changed {
        return None;
    }
    while inputs.last().is_some_and(Option::is_none) {
        inputs.pop();
    }
    let left_out: Vec<i64> =
        (0..inputs.len()).filter(|&i| inputs[i].is_none()).map(|i| i as i64).collect();
    let mut parts = OpParts::new(f.op_key(op.root));
    parts.attrs = f.attrs(op.root).iter().cloned().collect();
    let row = f.op_def(op.root)?.attrs.iter().position(|row| row.name == "absent")?;
    *parts.attrs.get_mut(row)? = match left_out.is_empty() {
        true => Attr::Unit,
        false => Attr::Ints(left_out.into_iter().collect()),
    };
    parts.operands.extend(inputs.into_iter().flatten());
    parts.result_types.extend(f.inst_results(op.root).map(|v| f.value_type(v).clone()));
    rw.emit_parts_many(&parts)
}

/// The most ops that move zeros and are looked through.
const MAX_MOVES: usize = 4;
/// Ops that move elements of their first operand.
const MOVING: &[&str] = &[
    "broadcast_to",
    "broadcast_in_dim",
    "reshape",
    "slice",
    "transpose",
    "onnx.Expand",
    "onnx.Gather",
    "onnx.Slice",
    "onnx.Squeeze",
    "onnx.Unsqueeze",
];

// Returns whether a value consists of zeros, through at most `moves` ops that move elements.
fn is_zeros(rw: &mut Rewrite<'_>, value: Value, moves: usize) -> bool {
    if rw.is_zero(value) {
        return true;
    }
    let Some(inst) = rw.def_inst(value) else { return false };
    let f = rw.function();
    match f.op_name(inst) {
        "onnx.ConstantOfShape" => {
            f.attr(inst, "value").and_then(Attr::as_literal).is_none_or(TensorLiteral::is_zero)
        }
        op if MOVING.contains(&op) && moves > 0 => {
            f.operands(inst).first().is_some_and(|&source| is_zeros(rw, source, moves - 1))
        }
        _ => false,
    }
}

// Returns the input and the pads of an op that pads with zeros.
fn zero_padding(rw: &mut Rewrite<'_>, pad: InstId) -> Option<(Value, Vec<i64>, Vec<i64>)> {
    let f = rw.function();
    if let Some(op) = f.view::<sapwood_ptir::ops::Pad>(pad) {
        let is_plain = op.interior.as_ref().is_none_or(|list| list.iter().all(|&n| n == 0));
        let is_zero = f.constant_of(op.value)?.is_zero();
        return (is_plain && is_zero).then(|| (op.input, op.low.to_vec(), op.high.to_vec()));
    }
    if f.op_name(pad) != "onnx.Pad" || f.attr(pad, "absent").is_some_and(|a| *a != Attr::Unit) {
        return None;
    }
    let is_constant = match f.attr(pad, "mode") {
        Some(Attr::Str(mode)) => &**mode == "constant",
        _ => true,
    };
    let operands = f.operands(pad);
    let is_zero = match operands.get(2) {
        Some(&value) => f.constant_of(value)?.is_zero(),
        None => f.attr(pad, "value").and_then(Attr::as_float).unwrap_or(0.0) == 0.0,
    };
    let pads = match f.attr(pad, "pads").and_then(Attr::as_ints) {
        Some(pads) => pads.to_vec(),
        None => {
            let literal = f.constant_of(*operands.get(1)?)?;
            let int = |i| Some(i64::from_le_bytes(literal.element(i)?.try_into().ok()?));
            (0..literal.num_elements()).map(int).collect::<Option<_>>()?
        }
    };
    let count = pads.len() / 2;
    let is_whole = operands.len() <= 3;
    (is_constant && is_zero && is_whole)
        .then(|| (operands[0], pads[..count].to_vec(), pads[count..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::LIST;

    #[test]
    fn every_pattern_has_a_case_where_it_fires_and_one_where_it_does_not() {
        let path = sapwood_testing::repository().join("tests/golden/command/onnx_patterns.txt");
        let text = std::fs::read_to_string(path).unwrap();
        for entry in LIST.entries {
            let file = format!("--- {}.ptir\n", entry.name);
            let program = text.split(&file).nth(1).unwrap_or_else(|| panic!("no {file}"));
            let program = program.split("\n---").next().unwrap();
            assert!(program.contains("func @fires") && program.contains("func @stays"), "{file}");
            assert!(text.contains(&format!("--only {}", entry.name)), "{file}");
        }
    }
}
