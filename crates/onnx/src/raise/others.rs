//! Ops whose counterparts differ in the type of a result, in the layout of an operand, or in what they do at the borders.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{
    ArgMax, ArgMin, CompareOrder, Direction, ReduceAnd, ReduceOr, ReduceWindow, Rem, Shl, TopK,
};
use sapwood_ptir::{Attr, Dim, InstId, TensorType, ValueType};

use super::{ints, node, one};
use crate::lower::{Builder, V};

/// Indices are i64 in ONNX.
pub(super) fn top_k(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let Some(op) = b.f.borrow().view::<TopK>(inst) else { return vec![b.fail("it is no top_k")] };
    if op.order != CompareOrder::Partial {
        return vec![b.fail("ONNX does not tell the zeros apart")];
    }
    let input = b.value(op.input);
    let k = b.i64s(&[1], &[op.k.0]);
    let mut dims = input.dims();
    match dims.last_mut() {
        Some(last) => *last = Dim::Known(op.k.0 as u64),
        None => return vec![b.fail("the input has no axis")],
    }
    let values = TensorType { dtype: input.dtype(), dims };
    let indices = values.with_dtype(DataType::I64);
    let made = node(b, "onnx.TopK", &[input, k], &[], &[values.into(), indices.into()]);
    match made[..] {
        [values, indices] => vec![values, indices.cast(DataType::I32)],
        _ => Vec::new(),
    }
}

pub(super) fn arg_extreme(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let f = b.f.borrow();
    let found = match f.view::<ArgMax>(inst) {
        Some(op) => Some(("onnx.ArgMax", op.input, op.axis, op.keepdims, op.index)),
        None => f
            .view::<ArgMin>(inst)
            .map(|op| ("onnx.ArgMin", op.input, op.axis, op.keepdims, op.index)),
    };
    let result = f.value_of(inst).map(|v| f.value_type(v).clone());
    drop(f);
    let (Some((name, input, axis, keepdims, index)), Some(ValueType::Tensor(ty))) = (found, result)
    else {
        return vec![b.fail("it has no tensor")];
    };
    if b.value(input).dim(axis.0 as usize) == Dim::Known(0) {
        return vec![b.fail("ONNX finds no element along an empty axis")];
    }
    let attrs = [("axis", Attr::Int(axis.0)), ("keepdims", Attr::Int(i64::from(keepdims)))];
    vec![one(b, name, &[b.value(input)], &attrs, ty.with_dtype(DataType::I64)).cast(index)]
}

/// Runtimes reduce numbers, not bools.
pub(super) fn reduce_bools(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let f = b.f.borrow();
    let found = match f.view::<ReduceAnd>(inst) {
        Some(op) => Some(("reduce_min", op.input, op.axes, op.keepdims)),
        None => f.view::<ReduceOr>(inst).map(|op| ("reduce_max", op.input, op.axes, op.keepdims)),
    };
    drop(f);
    let Some((op, input, axes, keepdims)) = found else {
        return vec![b.fail("it is no reduction")];
    };
    let input = b.value(input);
    if !input.dtype().is_bool() || input.dims().contains(&Dim::Known(0)) {
        return vec![b.fail("ONNX has no reduction by bits")];
    }
    let axes: Vec<usize> = axes.iter().map(|&a| a as usize).collect();
    vec![input.cast(DataType::I32).reduce(op, &axes, keepdims).cast(DataType::Bool)]
}

pub(super) fn rem(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let Some(op) = b.f.borrow().view::<Rem>(inst) else {
        return vec![b.fail("it is no remainder")];
    };
    let (x, y) = (b.value(op.lhs), b.value(op.rhs));
    if !x.dtype().is_float() {
        let f = b.f.borrow();
        // Division by zero stops a runtime; here it is a number.
        let is_safe = f.constant_of(op.rhs).is_some_and(|literal| {
            (0..literal.num_elements())
                .all(|i| literal.element(i).is_some_and(|e| e.iter().any(|&b| b != 0)))
        });
        drop(f);
        if !is_safe {
            return vec![b.fail("ONNX does not say what a division by zero is")];
        }
    }
    vec![one(b, "onnx.Mod", &[x, y], &[("fmod", Attr::Int(1))], x.ty())]
}

/// Shifts by the number of bits or more give zero here, and anything in ONNX.
pub(super) fn shift(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let f = b.f.borrow();
    let &[x, by] = f.operands(inst) else { return vec![b.fail("it is no shift")] };
    let direction = if f.is::<Shl>(inst) { "LEFT" } else { "RIGHT" };
    drop(f);
    let (x, by) = (b.value(x), b.value(by));
    let width = match x.dtype() {
        DataType::U8 => 8.0,
        DataType::U16 => 16.0,
        DataType::U32 => 32.0,
        DataType::U64 => 64.0,
        _ => return vec![b.fail("ONNX shifts numbers without a sign")],
    };
    let is_inside = by.compare(by.number(width), Direction::Lt);
    let attrs = [("direction", Attr::Str(direction.into()))];
    let bounded = by.min(by.number(width - 1.0));
    let shifted = one(b, "onnx.BitShift", &[x, bounded], &attrs, x.ty());
    vec![is_inside.select(shifted, x.number(0.0))]
}

pub(super) fn is_finite(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let f = b.f.borrow();
    let Some(&x) = f.operands(inst).first() else { return vec![b.fail("it has no operand")] };
    drop(f);
    let x = b.value(x);
    // Zero for finite numbers, NaN for others.
    vec![(x * 0.0).compare(x.number(0.0), Direction::Eq)]
}

pub(super) fn erfc(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let f = b.f.borrow();
    let Some(&x) = f.operands(inst).first() else { return vec![b.fail("it has no operand")] };
    drop(f);
    let x = b.value(x);
    vec![x.number(1.0) - x.unary("erf")]
}

/// Windows of the greatest element and of sums are pools, which have two axes in front of those of the window.
pub(super) fn reduce_window(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let Some(op) = b.f.borrow().view::<ReduceWindow>(inst) else {
        return vec![b.fail("it is no window")];
    };
    let (&[input], &[init]) = (&op.inputs[..], &op.inits[..]) else {
        return vec![b.fail("ONNX has windows over one tensor")];
    };
    let Some(kind) = window_kind(b, inst) else {
        return vec![b.fail("ONNX has no such combination of elements")];
    };
    let input = b.value(input);
    let rank = input.rank();
    let list = |list: &Option<sapwood_ptir::Axes>, axis: usize| {
        list.as_ref().and_then(|l| l.get(axis).copied()).unwrap_or(1)
    };
    let pads: Vec<[i64; 2]> = match &op.pads {
        Some(pads) => pads.iter().copied().collect(),
        None => vec![[0, 0]; rank],
    };
    let dtype = input.dtype();
    let start = b.f.borrow().constant_of(init).cloned();
    let start = start.and_then(|literal| crate::lower::floats_of(&literal)?.first().copied());
    let is_neutral = match kind {
        "max" => start == Some(f64::NEG_INFINITY),
        _ => start == Some(0.0),
    };
    if !is_neutral || !matches!(dtype, DataType::F32 | DataType::F16 | DataType::F64) {
        return vec![b.fail("ONNX has no windows with this start")];
    }
    let moves = |axis: usize| {
        op.window[axis] != 1 || list(&op.strides, axis) != 1 || pads.get(axis) != Some(&[0, 0])
    };
    let spatial: Vec<usize> = (0..rank).filter(|&axis| moves(axis)).collect();
    let plain: Vec<usize> = (0..rank).filter(|axis| !spatial.contains(axis)).collect();
    if (0..rank).any(|axis| list(&op.base_dilation, axis) != 1) || spatial.is_empty() {
        return vec![b.fail("ONNX has no gaps between elements")];
    }
    let result = b.f.borrow().inst_results(inst).next();
    let Some(result) = result.map(|v| b.value(v)) else { return vec![b.fail("it has no result")] };
    let (shape, to) = (input.shape(), result.shape());
    if b.has_failed() || pads.iter().flatten().any(|&n| n < 0) {
        return vec![b.fail("ONNX has no windows with negative pads")];
    }
    // One axis in front of the others, and an empty one.
    let order: Vec<usize> = plain.iter().chain(&spatial).copied().collect();
    let front: u64 = plain.iter().map(|&a| shape[a]).product();
    let flat = |shape: &[u64]| -> Vec<u64> {
        [1, front].into_iter().chain(spatial.iter().map(|&a| shape[a])).collect()
    };
    let of = |pick: &dyn Fn(usize) -> i64| ints(spatial.iter().map(|&a| pick(a)));
    let mut attrs = vec![
        ("kernel_shape", of(&|a| op.window[a])),
        ("strides", of(&|a| list(&op.strides, a))),
        (
            "pads",
            ints(spatial.iter().map(|&a| pads[a][0]).chain(spatial.iter().map(|&a| pads[a][1]))),
        ),
    ];
    if (0..rank).any(|a| list(&op.window_dilation, a) != 1) {
        attrs.push(("dilations", of(&|a| list(&op.window_dilation, a))));
    }
    let pooled = TensorType::new(dtype, flat(&to));
    let moved = input.transpose(&order).reshape_to(&flat(&shape));
    let pooled = match kind {
        "max" => one(b, "onnx.MaxPool", &[moved], &attrs, pooled),
        _ => {
            attrs.push(("count_include_pad", Attr::Int(1)));
            let count: f64 = op.window.iter().map(|&n| n as f64).product();
            one(b, "onnx.AveragePool", &[moved], &attrs, pooled) * count
        }
    };
    let sorted: Vec<u64> = order.iter().map(|&a| to[a]).collect();
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(i, &a)| back[a] = i);
    vec![pooled.reshape_to(&sorted).transpose(&back)]
}

// Returns the op by which a region combines its two parameters.
fn window_kind(b: &Builder, inst: InstId) -> Option<&'static str> {
    let f = b.f.borrow();
    let &body = f.regions(inst).first()?;
    let (&[x, y], &[result]) = (f.body_params(body), f.body_results(body)) else { return None };
    let made = f.inst_of(result)?;
    let operands = f.operands(made);
    if operands != [x, y] && operands != [y, x] {
        return None;
    }
    ["max", "add"].into_iter().find(|name| *name == f.op_name(made))
}
