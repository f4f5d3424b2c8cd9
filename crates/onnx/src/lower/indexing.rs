//! Ops that read and write at indices, and ops on the order of elements.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Direction;
use sapwood_ptir::{Dim, Dims, TensorType};

use super::builder::V;
use super::context::Cx;
use super::shape::reshape_ints;

pub(super) fn gather<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, indices) = (cx.x(0), cx.x(1));
    let rank = x.rank();
    let axis = cx.axis("axis", 0, rank);
    if cx.b.has_failed() {
        return x;
    }
    if cx.b.is_inference && x.dims().iter().any(|d| d.known().is_none()) {
        let mut dims: Dims = x.dims()[..axis].iter().copied().collect();
        dims.extend(indices.dims());
        dims.extend(x.dims().iter().skip(axis + 1).copied());
        return x.number(0.0).pretend(TensorType { dtype: x.dtype(), dims });
    }
    let wrapped = indices.wrap_negative(x.extent(axis));
    let mut front = vec![axis];
    front.extend((0..rank).filter(|&a| a != axis));
    let k = indices.rank();
    let picked = x.transpose(&front).gather_slices(wrapped.unsqueeze(&[k]), 1);
    // The axes of the indices come first; they belong where the axis was.
    let mut back: Vec<usize> = (k..k + axis).collect();
    back.extend(0..k);
    back.extend(k + axis..k + rank - 1);
    picked.transpose(&back)
}

// Returns index vectors `[…, rank]` for an index along one axis: the other entries are the position itself.
fn full_indices<'b>(cx: &Cx<'b>, indices: V<'b>, axis: usize, extent: i64) -> V<'b> {
    let dims = indices.dims();
    let rank = dims.len();
    let entries: Vec<V<'b>> = (0..rank)
        .map(|a| {
            let entry = match a == axis {
                true => indices.cast(DataType::I64).wrap_negative(extent),
                false => cx.b.iota(DataType::I64, &dims, a),
            };
            entry.unsqueeze(&[rank])
        })
        .collect();
    cx.b.concat(&entries, rank)
}

pub(super) fn gather_elements<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, indices) = (cx.x(0), cx.x(1));
    let axis = cx.axis("axis", 0, x.rank());
    if cx.b.is_inference {
        return x.number(0.0).pretend(TensorType { dtype: x.dtype(), dims: indices.dims() });
    }
    x.gather_points(full_indices(cx, indices, axis, x.extent(axis)))
}

// Returns index vectors with negative entries wrapped, and with the positions of batch axes in front.
fn nd_indices<'b>(cx: &Cx<'b>, x: V<'b>, indices: V<'b>, batch: usize) -> (V<'b>, usize) {
    let rank = indices.rank();
    let count = indices.extent(rank.saturating_sub(1)) as usize;
    if rank == 0 || batch >= rank || batch.saturating_add(count) > x.rank() {
        return (cx.fail("the index vectors do not fit the operand"), 0);
    }
    let extents: Vec<i64> = (batch..batch + count).map(|a| x.extent(a)).collect();
    let wrap = cx.b.i64s(&[count as u64], &extents);
    let indices = indices.cast(DataType::I64);
    let wrapped =
        indices.compare(indices.number(0.0), Direction::Lt).select(indices + wrap, indices);
    if batch == 0 {
        return (wrapped, count);
    }
    let mut dims = indices.dims();
    if let Some(last) = dims.last_mut() {
        *last = Dim::Known(1);
    }
    let mut entries: Vec<V<'b>> = (0..batch).map(|a| cx.b.iota(DataType::I64, &dims, a)).collect();
    entries.push(wrapped);
    (cx.b.concat(&entries, rank - 1), batch + count)
}

pub(super) fn gather_nd<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, indices) = (cx.x(0), cx.x(1));
    let batch = cx.int("batch_dims", 0).max(0) as usize;
    let (vectors, count) = nd_indices(cx, x, indices, batch);
    x.gather_slices(vectors, count)
}

fn combined<'b>(reduction: &str, old: V<'b>, new: V<'b>) -> V<'b> {
    match reduction {
        "add" => old + new,
        "mul" => old * new,
        "max" => old.max(new),
        "min" => old.min(new),
        _ => new,
    }
}

pub(super) fn scatter_elements<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, indices, updates) = (cx.x(0), cx.x(1), cx.x(2));
    let axis = cx.axis("axis", 0, x.rank());
    if cx.b.is_inference {
        return x;
    }
    let vectors = full_indices(cx, indices, axis, x.extent(axis));
    let reduction = cx.text("reduction", "none");
    x.scatter_slices(vectors, updates, x.rank(), |old, new| combined(reduction, old, new))
}

pub(super) fn scatter_nd<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, indices, updates) = (cx.x(0), cx.x(1), cx.x(2));
    if cx.b.is_inference {
        return x;
    }
    let (vectors, count) = nd_indices(cx, x, indices, 0);
    let reduction = cx.text("reduction", "none");
    x.scatter_slices(vectors, updates, count, |old, new| combined(reduction, old, new))
}

/// Writes new entries of a cache at positions that differ by batch.
pub(super) fn tensor_scatter<'b>(cx: &Cx<'b>) -> V<'b> {
    let (past, update) = (cx.x(0), cx.x(1));
    let rank = past.rank();
    let axis = cx.axis("axis", -2, rank);
    let dims = update.dims();
    let extent = past.extent(axis);
    let start = match cx.opt(2) {
        Some(start) => {
            let lead: Vec<Dim> =
                (0..rank).map(|a| if a == 0 { start.dim(0) } else { Dim::Known(1) }).collect();
            start.cast(DataType::I64).reshape(&lead)
        }
        None => cx.b.scalar(DataType::I64, 0.0),
    };
    let mut place = cx.b.iota(DataType::I64, &dims, axis) + start;
    if cx.text("mode", "linear") == "circular" {
        place = place.binary("rem", place.number(extent as f64));
    }
    past.scatter_slices(full_indices(cx, place, axis, extent), update, rank, |_, new| new)
}

pub(super) fn one_hot<'b>(cx: &Cx<'b>) -> V<'b> {
    let (indices, values) = (cx.x(0), cx.x(2));
    let depth = cx.const_number(1) as i64;
    let rank = indices.rank() + 1;
    let axis = cx.axis("axis", -1, rank);
    let indices = indices.cast(DataType::I64).wrap_negative(depth).unsqueeze(&[axis]);
    let mut dims = indices.dims();
    if let Some(dim) = dims.get_mut(axis) {
        *dim = Dim::Known(depth.max(0) as u64);
    }
    let hot = cx.b.iota(DataType::I64, &dims, axis).compare(indices, Direction::Eq);
    let value = |i: i64| values.at(0, i);
    hot.select(value(1), value(0))
}

pub(super) fn top_k<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let x = cx.x(0);
    let axis = cx.axis("axis", -1, x.rank());
    if cx.b.is_inference && cx.attr("k").is_none() && cx.numbers(1).is_none() {
        let mut ty = x.ty();
        ty.dims[axis] = Dim::Unknown;
        let index = ty.with_dtype(DataType::I64);
        let zero = cx.b.scalar(DataType::I64, 0.0);
        return vec![x.number(0.0).pretend(ty), zero.pretend(index)];
    }
    let k = match cx.attr("k") {
        Some(_) => cx.int("k", 1),
        None => cx.const_ints(1).first().copied().unwrap_or(0),
    };
    let index = cx.b.iota(DataType::I64, &x.dims(), axis);
    let before = if cx.flag("largest", true) { Direction::Gt } else { Direction::Lt };
    let sorted = cx.b.sort_by_first(&[x, index], axis, before);
    if sorted.is_empty() {
        return vec![x; 2];
    }
    let part = |v: V<'b>| {
        if cx.b.is_inference && v.dims().iter().any(|d| d.known().is_none()) {
            let mut ty = v.ty();
            ty.dims[axis] = Dim::Known(k.max(0) as u64);
            return v.number(0.0).pretend(ty);
        }
        v.slice_axis(axis, 0, k)
    };
    sorted.into_iter().map(part).collect()
}

/// Combines all elements up to each position, by doubling steps.
pub(super) fn cumulative<'b>(cx: &Cx<'b>, op: &str) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    if cx.b.is_inference {
        return x;
    }
    let axis = cx.wrap_axis(cx.const_ints(1).first().copied().unwrap_or(0), rank);
    let n = x.extent(axis);
    if cx.b.has_failed() {
        return x;
    }
    let reverse = cx.flag("reverse", false);
    let neutral = x.number(if op == "add" { 0.0 } else { 1.0 });
    // Moves elements by `k` towards the end, or towards the start if reversed.
    let shift = |v: V<'b>, k: i64| {
        let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
        (low[axis], high[axis]) = if reverse { (-k, k) } else { (k, -k) };
        v.pad(neutral, &low, &high)
    };
    let mut sum = if cx.flag("exclusive", false) && n > 0 { shift(x, 1) } else { x };
    let mut step = 1;
    while step < n {
        sum = sum.binary(op, shift(sum, step));
        step *= 2;
    }
    sum
}

pub(super) fn hardmax<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    let old = cx.since() < 13;
    let axis = cx.axis("axis", if old { 1 } else { -1 }, rank);
    let flat = match old {
        true => {
            let dims = x.dims();
            let product = |dims: &[Dim]| dims.iter().fold(Dim::Known(1), |n, &d| n.times(d));
            x.reshape(&[product(&dims[..axis]), product(&dims[axis..])])
        }
        false => x,
    };
    let axis = if old { 1 } else { axis };
    let first = flat.arg_extreme(true, axis, true);
    let index = cx.b.iota(DataType::I64, &flat.dims(), axis);
    index.compare(first, Direction::Eq).cast(x.dtype()).reshape(&x.dims())
}

pub(super) fn reverse_sequence<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, lengths) = (cx.x(0), cx.x(1));
    let rank = x.rank();
    let (time, batch) = (cx.axis("time_axis", 0, rank), cx.axis("batch_axis", 1, rank));
    let dims = x.dims();
    let along: Vec<Dim> =
        (0..rank).map(|a| if a == batch { dims[batch] } else { Dim::Known(1) }).collect();
    let length = lengths.cast(DataType::I64).reshape(&along);
    let step = cx.b.iota(DataType::I64, &dims, time);
    let mirrored = step.compare(length, Direction::Lt).select(length - 1.0 - step, step);
    x.gather_points(full_indices(cx, mirrored, time, x.extent(time)))
}

pub(super) fn col2im<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let (image, block) = (cx.const_ints(1), cx.const_ints(2));
    let n = image.len();
    let dilations = cx.ints_or("dilations", 1, n);
    let pads = cx.ints_or("pads", 0, 2 * n);
    let strides = cx.ints_or("strides", 1, n);
    if [block.len(), dilations.len(), strides.len()] != [n; 3]
        || pads.len() != 2 * n
        || x.rank() != 3
        || strides.contains(&0)
    {
        return cx.fail("the shapes do not fit");
    }
    let taps = cx.product(&block);
    let (batch, channels) = (x.extent(0), x.extent(1) / taps.max(1));
    let counts: Vec<i64> = (0..n)
        .map(|i| {
            (image[i] + pads[i] + pads[n + i] - (block[i] - 1) * dilations[i] - 1) / strides[i] + 1
        })
        .collect();
    // [batch, channels, block…, counts…] is added to the padded image at tap * dilation + position * stride.
    let mut shape = vec![batch, channels];
    shape.extend(&block);
    shape.extend(&counts);
    let blocks = reshape_ints(x, &shape);
    let padded: Vec<i64> = (0..n).map(|i| image[i] + pads[i] + pads[n + i]).collect();
    let mut target: Vec<u64> = vec![batch as u64, channels as u64];
    target.extend(padded.iter().map(|&k| k as u64));
    let dims = blocks.dims();
    let index = |axis: usize| cx.b.iota(DataType::I64, &dims, axis).unsqueeze(&[dims.len()]);
    let mut entries = vec![index(0), index(1)];
    for i in 0..n {
        entries.push(index(2 + i) * dilations[i] as f64 + index(2 + n + i) * strides[i] as f64);
    }
    let vectors = cx.b.concat(&entries, dims.len());
    let zeros = cx.b.filled(x.dtype(), &target, 0.0);
    let sum = zeros.scatter_slices(vectors, blocks, n + 2, |old, new| old + new);
    let crop = |k: usize| {
        [0, 0]
            .into_iter()
            .chain((0..n).map(move |i| (k, i)).map(|(k, i)| -pads[k * n + i]))
            .collect::<Vec<i64>>()
    };
    sum.pad(x.number(0.0), &crop(0), &crop(1))
}

pub(super) fn max_unpool<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, indices) = (cx.x(0), cx.x(1));
    let kernel = cx.ints("kernel_shape").unwrap_or_default();
    let n = kernel.len();
    let (strides, pads) = (cx.ints_or("strides", 1, n), cx.ints_or("pads", 0, 2 * n));
    if x.rank() != n + 2 || strides.len() != n || pads.len() != 2 * n {
        return cx.fail("the attributes do not fit");
    }
    let mut plain = vec![x.extent(0), x.extent(1)];
    plain.extend(
        (0..n).map(|i| (x.extent(i + 2) - 1) * strides[i] + kernel[i] - pads[i] - pads[n + i]),
    );
    let shape = match cx.opt(2) {
        Some(_) => cx.const_ints(2),
        None => plain.clone(),
    };
    // Indices count elements of the smaller shape, which is at the start of the larger one.
    let total = cx.product(&plain);
    let count = x.ty().num_elements().unwrap_or(0) as i64;
    let zeros = cx.b.filled(x.dtype(), &[total.max(0) as u64], 0.0);
    let places = reshape_ints(indices.cast(DataType::I64), &[count, 1]);
    let flat = zeros.scatter_slices(places, reshape_ints(x, &[count]), 1, |_, new| new);
    let small = reshape_ints(flat, &plain);
    let high: Vec<i64> = shape.iter().zip(&plain).map(|(a, b)| a - b).collect();
    small.pad(x.number(0.0), &vec![0; plain.len()], &high)
}
