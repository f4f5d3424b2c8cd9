//! Products with operands that consist mostly of zeros: padded tensors and one-hot rows. Products without a sum.

use sapwood_ptir::ops::{
    And, Cast, Compare, CompareOrder, Direction, DotGeneral, Gather, Mul, Pad, Select, Slice,
};
use sapwood_ptir::{Axes, Dim, Int, TensorLiteral, TensorType, Value};

use super::masks::one_hot;
use super::product_axes::{ProductAxis, Side, may_reorder, product_axes};
use crate::FloatMode;
use crate::canonicalize::tensor_views::{emit_broadcast, emit_reshape};
use crate::pattern::Rewrite;

crate::patterns! { "structured_operand":
    dot_of_padded when any in [Pad] floats fast,
    dot_over_ones floats nsz,
    dot_of_one_hot hops 6 when any in [Cast] floats fast,
}

/// `dot_general(x, pad(y, 0))`: padding of a contracted axis is cut off from `x`, padding of a free axis becomes padding of the product.
///
/// Floats: fast.
fn dot_of_padded(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !may_reorder(rw, op.lhs) {
        return None;
    }
    Side::BOTH.into_iter().find_map(|side| {
        let pad = rw.def::<Pad>(side.value(&op))?;
        let is_plain = rw.is_zero(pad.value)
            && pad.low.iter().chain(pad.high.iter()).all(|&n| n >= 0)
            && pad.interior.as_ref().is_none_or(|list| list.iter().all(|&n| n == 0));
        let (batch, contract) = side.lists(&op);
        // A padded batch axis would be a padded product too, but both operands would have to be cut.
        let is_padded = |&axis: &i64| pad.low[axis as usize] != 0 || pad.high[axis as usize] != 0;
        if !is_plain || batch.iter().any(is_padded) {
            return None;
        }
        let other = side.other();
        let input = other.value(&op);
        let shape = rw.shape(input)?;
        let (mut starts, mut limits) =
            (vec![0; shape.len()], shape.iter().map(|&n| n as i64).collect::<Vec<_>>());
        for (&own, &theirs) in contract.iter().zip(other.lists(&op).1.iter()) {
            starts[theirs as usize] = pad.low[own as usize];
            limits[theirs as usize] -= pad.high[own as usize];
        }
        let is_whole = !contract.iter().any(is_padded);
        let input = match is_whole {
            true => input,
            false => rw.emit(Slice {
                input,
                starts: starts.into(),
                limits: limits.into(),
                strides: None,
            })?,
        };
        let axes = product_axes(rw, &op)?;
        let new = other.with(&side.with(&op, pad.input), input);
        let product = rw.emit(new)?;
        let amount = |list: &Axes| -> Axes {
            let of = |axis: &ProductAxis| match axis {
                ProductAxis::Batch(_) => 0,
                _ => side.axis_of(&op, *axis).map_or(0, |own| list[own]),
            };
            axes.iter().map(of).collect()
        };
        let (low, high) = (amount(&pad.low), amount(&pad.high));
        if low.iter().chain(high.iter()).all(|&n| n == 0) {
            return Some(product);
        }
        let zero = TensorLiteral::filled(rw.dtype(product)?, &[], 0.0).ok()?;
        let value = rw.constant(zero);
        rw.emit(Pad { input: product, value, low, high, interior: None })
    })
}

/// `dot_general(one_hot(i), y)` picks rows of `y`: it is a gather, with zeros where `i` is not an index.
///
/// Floats: fast.
fn dot_of_one_hot(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    let is_plain = op.lhs_batch.is_empty() && op.lhs_contract.len() == 1;
    if !is_plain || !may_reorder(rw, op.lhs) || op.accumulate.or(op.out).is_some() {
        return None;
    }
    Side::BOTH.into_iter().find_map(|side| {
        let hot = one_hot(rw, side.value(&op))?;
        if side.lists(&op).1[..] != [hot.class_axis as i64] {
            return None;
        }
        let other = side.other();
        let table = other.value(&op);
        let axis = other.lists(&op).1[0] as usize;
        let shape = rw.shape(table)?;
        let (rank, rows) = (rw.rank(hot.indices)?, shape[axis]);
        let rest: Vec<usize> = (0..shape.len()).filter(|&at| at != axis).collect();
        // The axes of the indices come first in a product from the left, and last in one from the right.
        let offset_dims: Axes = match side {
            Side::Left => (rank..rank + rest.len()).collect(),
            Side::Right => (0..rest.len()).collect(),
        };
        let sizes = shape.iter().enumerate();
        let sizes = sizes.map(|(at, &extent)| if at == axis { 1 } else { extent as i64 });
        let picked = rw.emit(Gather {
            input: table,
            indices: hot.indices,
            offset_dims,
            collapsed_dims: Axes::from([axis as i64]),
            input_batch_dims: Axes::default(),
            index_batch_dims: Axes::default(),
            start_index_map: Axes::from([axis as i64]),
            index_vector_dim: Int::from(rank),
            slice_sizes: sizes.collect(),
        })?;
        let is_index = in_range(rw, hot.indices, rows)?;
        let result = rw.tensor(picked)?.clone();
        let first = if side == Side::Left { 0 } else { rest.len() };
        let dims: Vec<usize> = (first..first + rank).collect();
        let mask = TensorType { dtype: rw.dtype(is_index)?, dims: result.dims.clone() };
        let pred = emit_broadcast(rw, is_index, &dims, &mask)?;
        let on_false = rw.filled(&result, 0.0)?;
        rw.emit(Select { pred, on_true: picked, on_false })
    })
}

// Emits a bool tensor that is true where an integer is an index of an axis.
fn in_range(rw: &mut Rewrite<'_>, indices: Value, extent: u64) -> Option<Value> {
    let ty = rw.tensor(indices)?.clone();
    let (_, largest) = ty.dtype.integer_range()?;
    let mut compare = |number: u64, direction: Direction| {
        let rhs = rw.filled(&ty, number as f64)?;
        rw.emit(Compare { lhs: indices, rhs, direction, order: CompareOrder::Partial })
    };
    // Every value of a narrow type may be an index.
    let below = match i128::from(extent) <= largest {
        true => Some(compare(extent, Direction::Lt)?),
        false => None,
    };
    let above = match ty.dtype.is_signed() {
        true => Some(compare(0, Direction::Ge)?),
        false => None,
    };
    match (below, above) {
        (Some(lhs), Some(rhs)) => rw.emit(And { lhs, rhs }),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) => None,
    }
}

/// `dot_general(x, y) = broadcast(x) * broadcast(y)` if the contracted axes have extent one.
///
/// All dims must be known.
///
/// Floats: nsz, for complex numbers fast.
fn dot_over_ones(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = rw.result_tensor()?.clone();
    let same = |value: Value| rw.dtype(value) == Some(ty.dtype);
    let mode = if ty.dtype.is_complex() { FloatMode::Fast } else { FloatMode::Nsz };
    let shape = rw.shape(op.lhs)?;
    let ones = op.lhs_contract.iter().all(|&axis| shape[axis as usize] == 1);
    if !ones
        || !same(op.lhs)
        || !same(op.rhs)
        || op.accumulate.is_some()
        || !rw.allows(mode, op.lhs)
    {
        return None;
    }
    let axes = product_axes(rw, &op)?;
    let mut factors = Vec::new();
    for side in Side::BOTH {
        let value = side.value(&op);
        let shape = rw.shape(value)?;
        let contract = side.lists(&op).1;
        let kept = (0..shape.len()).filter(|&own| !contract.contains(&(own as i64)));
        let kept: Vec<usize> = kept.collect();
        let dims = kept.iter().map(|&own| Dim::Known(shape[own])).collect();
        let small = emit_reshape(rw, value, &TensorType { dtype: ty.dtype, dims })?;
        let place = |&own: &usize| axes.iter().position(|&a| side.axis_of(&op, a) == Some(own));
        let places: Vec<usize> = kept.iter().map(place).collect::<Option<_>>()?;
        factors.push(emit_broadcast(rw, small, &places, &ty)?);
    }
    rw.emit(Mul { lhs: factors[0], rhs: factors[1] })
}
