//! The kernels of ops that move elements.

use sapwood_types::counted;
use smallvec::SmallVec;

use super::elementwise::view;
use super::index::{Steps, for_each_row_pair, strided, strides};
use crate::attr::Attr;
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::Native;
use crate::eval::tensor::{Shape, Tensor, View, count};
use crate::func::Function;
use crate::ids::InstId;
use crate::ops::{BroadcastInDim, BroadcastTo, Reshape};
use crate::types::{Dim, TensorType};
use crate::with_native;

/// Fills in the dims `?` of a declared result type that follow from the operand.
pub(crate) fn fill_unknown_dims(
    f: &Function,
    inst: InstId,
    input: &Tensor,
    stated: &mut TensorType,
) {
    let shape = input.shape();
    let known = |axis: usize| shape.get(axis).map(|&n| Dim::Known(n as u64));
    if f.is::<Reshape>(inst) {
        let open = stated.dims.iter().filter(|d| d.known().is_none()).count();
        let operand = f.operands(inst).first().and_then(|&v| f.value_type(v).as_tensor());
        let rest: Shape = stated.dims.iter().filter_map(|d| Some(d.known()? as usize)).collect();
        let left = count(&rest).map(|n| input.len().checked_div(n).unwrap_or(0));
        // Several dims are unknown only if nothing changes.
        let unchanged = open > 1 && operand.is_some_and(|t| t.rank() == stated.rank());
        for (axis, dim) in stated.dims.iter_mut().enumerate().filter(|(_, d)| d.known().is_none()) {
            let found = match open {
                1 => left.map(|n| Dim::Known(n as u64)),
                _ if unchanged => known(axis),
                // The number of elements does not determine two unknown dims, unless one remains.
                _ => left.filter(|&n| n <= 1).map(|n| Dim::Known(n as u64)),
            };
            *dim = found.unwrap_or(*dim);
        }
    } else if f.is::<BroadcastTo>(inst) {
        let extra = stated.rank().saturating_sub(shape.len());
        for (axis, dim) in stated.dims.iter_mut().enumerate().filter(|(_, d)| **d == Dim::Unknown) {
            *dim = axis.checked_sub(extra).and_then(known).unwrap_or(*dim);
        }
    } else if f.is::<BroadcastInDim>(inst) {
        let axes = f.attr(inst, "dims").and_then(Attr::as_ints).unwrap_or_default();
        for (axis, dim) in stated.dims.iter_mut().enumerate().filter(|(_, d)| **d == Dim::Unknown) {
            let from = axes.iter().position(|&to| to == axis as i64);
            *dim = from.and_then(known).unwrap_or(*dim);
        }
    }
}

pub(crate) fn reshape(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let len = input.len();
    let shape = cx.result_shape(0)?;
    let ty = input.ty();
    match input.reshaped(&shape) {
        Some(output) => one(output),
        None => {
            let wanted = count(&shape).unwrap_or(0);
            Err(Fault::op(format!("{ty} has {}, {shape:?} has {wanted}", counted(len, "element"))))
        }
    }
}

pub(crate) fn transpose(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let perm = cx.axes("perm", input.shape().len())?;
    let from = strides(input.shape());
    let shape: Shape = perm.iter().map(|&a| input.shape()[a]).collect();
    let steps: Steps = perm.iter().map(|&a| from[a]).collect();
    one(strided(cx, &input, &shape, 0, &steps)?)
}

// Broadcasts: each axis of the operand becomes an axis of the result, and the others repeat.
fn broadcast(cx: &mut EvalCx<'_>, axes: &[usize]) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let shape = cx.result_shape(0)?;
    let from = strides(input.shape());
    let mut steps: Steps = SmallVec::from_elem(0, shape.len());
    for (axis, &to) in axes.iter().enumerate() {
        let (have, want) = (input.shape()[axis], shape[to]);
        if have == want {
            steps[to] = from[axis];
        } else if have != 1 {
            return Err(Fault::op(format!(
                "axis {axis} of the operand is {have}, which cannot become {want}"
            )));
        }
    }
    one(strided(cx, &input, &shape, 0, &steps)?)
}

pub(crate) fn broadcast_to(cx: &mut EvalCx<'_>) -> EvalResult {
    let (from, to) = (cx.tensor(0)?.shape().len(), cx.result_tensor(0)?.rank());
    let extra = to.checked_sub(from);
    let extra =
        extra.ok_or_else(|| Fault::op(format!("rank {from} cannot be broadcast to {to}")))?;
    let axes: Shape = (extra..to).collect();
    broadcast(cx, &axes)
}

pub(crate) fn broadcast_in_dim(cx: &mut EvalCx<'_>) -> EvalResult {
    let axes = cx.axes("dims", cx.result_tensor(0)?.rank())?;
    if axes.len() != cx.tensor(0)?.shape().len() {
        return Err(Fault::op(format!("`dims` has {} entries", axes.len())));
    }
    broadcast(cx, &axes)
}

pub(crate) fn slice(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let rank = input.shape().len();
    let (starts, by) = (cx.ints("starts")?, cx.ints_or("strides", 1, rank)?);
    let shape = cx.result_shape(0)?;
    let limits = cx.ints("limits")?;
    let from = strides(input.shape());
    let mut steps: Steps = SmallVec::new();
    let mut start = 0usize;
    for axis in 0..rank {
        if limits[axis] as u64 > input.shape()[axis] as u64 {
            return Err(Fault::op(format!(
                "the limit of axis {axis} is {}, but its extent is {}",
                limits[axis],
                input.shape()[axis]
            )));
        }
        // The step along an axis with one element is never used.
        steps.push(from[axis].wrapping_mul(by[axis] as isize));
        start = start.wrapping_add((from[axis] as usize).wrapping_mul(starts[axis] as usize));
    }
    one(strided(cx, &input, &shape, start, &steps)?)
}

pub(crate) fn reverse(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let axes = cx.axes("axes", input.shape().len())?;
    let mut steps = strides(input.shape());
    let mut start = 0usize;
    for &axis in &axes {
        let last = input.shape()[axis].saturating_sub(1);
        start = start.wrapping_add((steps[axis] as usize).wrapping_mul(last));
        steps[axis] = -steps[axis];
    }
    one(strided(cx, &input, input.shape(), start, &steps)?)
}

pub(crate) fn concat(cx: &mut EvalCx<'_>) -> EvalResult {
    let rank = cx.tensor(0)?.shape().len();
    let axis = cx.axis("axis", rank)?;
    let mut shape = Shape::from_slice(cx.tensor(0)?.shape());
    let mut joined = 0usize;
    for i in 0..cx.args().len() {
        let other = cx.tensor(i)?.shape();
        let fits = other.len() == rank && (0..rank).all(|a| a == axis || other[a] == shape[a]);
        if !fits {
            return Err(Fault::op(format!("operand {i} is {}", cx.tensor(i)?.ty())));
        }
        joined = joined.saturating_add(other[axis]);
    }
    shape[axis] = joined;
    let len = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    let dtype = cx.tensor(0)?.dtype();
    with_native!(dtype, T => {
        let mut out: Vec<T> = cx.alloc_result(len)?;
        if len > 0 {
            let outer: usize = shape[..axis].iter().product();
            let inner: usize = shape[axis + 1..].iter().product();
            let mut parts = Vec::with_capacity(cx.args().len());
            for i in 0..cx.args().len() {
                parts.push((cx.view::<T>(i)?, cx.tensor(i)?.shape()[axis] * inner));
            }
            for row in 0..outer {
                for (part, size) in &parts {
                    match part {
                        View::Splat(x) => out.resize(out.len() + size, *x),
                        View::Dense(all) => out.extend_from_slice(&all[row * size..(row + 1) * size]),
                    }
                }
            }
        }
        one(Tensor::new(dtype, shape, out))
    })
}

pub(crate) fn pad(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let rank = input.shape().len();
    let (low, interior) = (cx.ints("low")?, cx.ints_or("interior", 0, rank)?);
    let shape = cx.result_shape(0)?;
    let len = count(&shape).unwrap_or(0);
    let (from, to) = (strides(input.shape()), strides(&shape));
    // Per axis: the first input index whose destination is inside, and the number of such indices.
    let (mut kept, mut read, mut write) = (Shape::new(), 0usize, 0usize);
    let mut steps: Steps = SmallVec::new();
    for axis in 0..rank {
        let (low, gap) = (i128::from(low[axis]), i128::from(interior[axis]) + 1);
        let (n, size) = (input.shape()[axis] as i128, shape[axis] as i128);
        let first = if low >= 0 { 0 } else { (-low + gap - 1) / gap };
        let end = if size <= low { 0 } else { ((size - low + gap - 1) / gap).min(n) };
        kept.push(usize::try_from(end - first).unwrap_or(0));
        if end > first {
            // Without elements the distances may overflow; then nothing is moved.
            read = read.wrapping_add((first as usize).wrapping_mul(from[axis] as usize));
            let place = (low + first * gap) as usize;
            write = write.wrapping_add(place.wrapping_mul(to[axis] as usize));
            steps.push(to[axis].wrapping_mul(gap as isize));
        } else {
            steps.push(0);
        }
    }
    let dtype = input.dtype();
    with_native!(dtype, T => {
        let value = cx.scalar::<T>(1)?;
        let same = |x: T| x.pack() == value.pack();
        if input.as_splat::<T>().is_some_and(same) || count(&kept) == Some(0) || len == 0 {
            return one(Tensor::splat(dtype, shape, value));
        }
        let mut out: Vec<T> = cx.alloc_result(len)?;
        out.resize(len, value);
        let elements = view::<T>(&input)?;
        let (length, step) = super::index::innermost(&kept, &steps);
        for_each_row_pair(&kept, [read, write], [&from, &steps], |[source, row]| {
            let mut at = row;
            for i in 0..length {
                out[at] = elements.get(source + i);
                at = at.wrapping_add_signed(step);
            }
        });
        one(Tensor::new(dtype, shape, out))
    })
}

pub(crate) fn get_dimension_size(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.tensor(0)?;
    let axis = cx.axis("axis", input.shape().len())?;
    one(Tensor::scalar(input.shape()[axis] as i32))
}
