//! `gather` and `scatter` of slices that are contiguous in the slices' own tensor: whole rows are copied or combined at a time.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, Native, Shape, Tensor, View, count, one,
};
use sapwood_ptir::{Op as _, ops, with_native};
use smallvec::SmallVec;

use super::evaluate_in_fixed_order;
use super::parallel::for_each_chunk_of_work;
use super::vectors::vectorized;

type Axes = SmallVec<[usize; 4]>;

/// The least number of elements in a row that is copied at a time; shorter ones take as long element by element.
const MIN_RUN: usize = 4;

/// The slices that index vectors select in a tensor.
struct Slices {
    /// The index vectors, one after the other.
    starts: Vec<i64>,
    /// The axis of each entry of an index vector.
    map: Axes,
    /// The largest start, and the stride, if index vectors have one entry.
    one_axis: Option<(i64, usize)>,
    shape: Shape,
    strides: Axes,
    /// The extents of a slice, one per axis of the tensor.
    sizes: Shape,
    /// The number of adjacent elements in a slice, and the offsets at which such rows start.
    run: usize,
    rows: Vec<usize>,
}

impl Slices {
    // Returns the slices, if the index vectors are rows of `indices` and no axis is a batch axis.
    fn new(
        cx: &EvalCx<'_>,
        at: usize,
        map: &str,
        shape: &[usize],
        sizes: Shape,
        min_run: usize,
    ) -> Result<Option<Self>, Fault> {
        let indices = cx.tensor(at)?;
        let rank = indices.shape().len();
        let vector = usize::try_from(cx.int("index_vector_dim")?).unwrap_or(usize::MAX);
        let batch = cx.axes("input_batch_dims", shape.len())?;
        if !batch.is_empty() || vector.checked_add(1).is_none_or(|next| next < rank) {
            return Ok(None);
        }
        let Some(starts) = index_numbers(cx, at)? else { return Ok(None) };
        let mut strides = Axes::from_elem(1, shape.len());
        for axis in (0..shape.len().saturating_sub(1)).rev() {
            strides[axis] = strides[axis + 1] * shape[axis + 1];
        }
        // Trailing axes that a slice covers whole, and one more, are adjacent.
        let whole = (0..shape.len()).rev().take_while(|&a| sizes[a] == shape[a]).count();
        let split = shape.len().saturating_sub(whole + 1);
        let run: usize = sizes[split..].iter().product();
        let mut rows = vec![0];
        for axis in 0..split {
            let steps = |at: usize| (0..sizes[axis]).map(move |i| (at, i));
            rows = rows.into_iter().flat_map(steps).map(|(at, i)| at + i * strides[axis]).collect();
        }
        let map = cx.axes(map, shape.len())?;
        if run < min_run || map.is_empty() {
            return Ok(None);
        }
        let one_axis = match map[..] {
            [axis] => Some(((shape[axis] - sizes[axis]) as i64, strides[axis])),
            _ => None,
        };
        let shape = shape.into();
        Ok(Some(Self { starts, map, one_axis, shape, strides, sizes, run, rows }))
    }

    fn number(&self) -> usize {
        self.starts.len() / self.map.len()
    }

    // Returns the number of elements in a slice.
    fn len(&self) -> usize {
        self.run * self.rows.len()
    }

    // Returns the offset of a slice, with its start moved so that it is inside the tensor.
    #[inline(always)]
    fn clamped_offset(&self, number: usize) -> usize {
        if let Some((most, stride)) = self.one_axis {
            return self.starts[number].clamp(0, most) as usize * stride;
        }
        let starts = &self.starts[number * self.map.len()..];
        let offset = |(&axis, &start): (&usize, &i64)| {
            let most = (self.shape[axis] - self.sizes[axis]) as i64;
            start.clamp(0, most) as usize * self.strides[axis]
        };
        self.map.iter().zip(starts).map(offset).sum()
    }

    // Returns whether a slice is inside the tensor.
    #[inline(always)]
    fn is_inside(&self, number: usize) -> bool {
        if let Some((most, _)) = self.one_axis {
            return (0..=most).contains(&self.starts[number]);
        }
        let starts = &self.starts[number * self.map.len()..];
        self.map.iter().zip(starts).all(|(&axis, &start)| {
            start >= 0 && start <= self.shape[axis] as i64 - self.sizes[axis] as i64
        })
    }
}

// Returns the elements of an operand as numbers, if it has one of the usual index types.
fn index_numbers(cx: &EvalCx<'_>, at: usize) -> Result<Option<Vec<i64>>, Fault> {
    let mut all = cx.alloc(cx.tensor(at)?.len())?;
    match cx.tensor(at)?.dtype() {
        DataType::I32 => all.extend(cx.elements::<i32>(at)?.iter().map(|&n| i64::from(n))),
        DataType::U32 => all.extend(cx.elements::<u32>(at)?.iter().map(|&n| i64::from(n))),
        DataType::I64 | DataType::Index => all.extend_from_slice(&cx.elements::<i64>(at)?),
        _ => return Ok(None),
    }
    Ok(Some(all))
}

// Returns whether axes are the last ones of a tensor of this rank, in order.
fn are_last(axes: &[usize], rank: usize) -> bool {
    axes.iter().rev().enumerate().all(|(i, &axis)| axis + i + 1 == rank)
}

pub(super) fn gather(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.tensor(0)?;
    let shape = cx.result_shape(0)?;
    let total = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    let offsets = cx.axes("offset_dims", shape.len())?;
    if total == 0 || input.is_splat() || !are_last(&offsets, shape.len()) {
        return evaluate_in_fixed_order(cx);
    }
    let sizes: Shape =
        cx.ints("slice_sizes")?.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
    let Some(slices) = Slices::new(cx, 1, "start_index_map", input.shape(), sizes, MIN_RUN)? else {
        return evaluate_in_fixed_order(cx);
    };
    let dtype = input.dtype();
    with_native!(dtype, T => {
        let Some(View::Dense(all)) = input.view::<T>() else {
            return evaluate_in_fixed_order(cx);
        };
        let mut out = cx.buffer::<T>(total)?;
        cx.work(total as u64)?;
        copy_slices(cx.threads(), &slices, all, &mut out);
        one(Tensor::new(dtype, shape, out))
    })
}

fn copy_slices<T: Native>(threads: usize, slices: &Slices, all: &[T], out: &mut [T]) {
    let slice = slices.len();
    let chunk = (super::parallel::CHUNK_ELEMENTS / slice).max(1) * slice;
    for_each_chunk_of_work(threads, out.len(), out, chunk, |at, chunk| {
        for (number, to) in chunk.chunks_exact_mut(slice).enumerate() {
            let from = slices.clamped_offset(at / slice + number);
            for (row, to) in slices.rows.iter().zip(to.chunks_exact_mut(slices.run)) {
                to.copy_from_slice(&all[from + row..][..slices.run]);
            }
        }
    });
}

pub(super) fn scatter(cx: &mut EvalCx<'_>) -> EvalResult {
    let simple = cx.simple_region(0).filter(|r| matches!(r.operands, [0, 1] | [1, 0]));
    let op = simple.map(|region| region.op);
    let dtype = cx.tensor(0)?.dtype();
    if cx.group("inputs").len() != 1 {
        return evaluate_in_fixed_order(cx);
    }
    // An update that replaces the element runs the region per element in the fixed order, so any slice is faster here.
    if cx.yielded_parameter(0) == Some(1) {
        return match dtype {
            DataType::F32 => scatter_by::<f32>(cx, 1, |_, y| y),
            DataType::F64 => scatter_by::<f64>(cx, 1, |_, y| y),
            DataType::I32 => scatter_by::<i32>(cx, 1, |_, y| y),
            DataType::U32 => scatter_by::<u32>(cx, 1, |_, y| y),
            DataType::I64 => scatter_by::<i64>(cx, 1, |_, y| y),
            DataType::Bool => scatter_by::<bool>(cx, 1, |_, y| y),
            _ => evaluate_in_fixed_order(cx),
        };
    }
    match dtype {
        DataType::F32 if op == Some(ops::Add::key()) => {
            scatter_by::<f32>(cx, MIN_RUN, |x, y| x + y)
        }
        DataType::F64 if op == Some(ops::Add::key()) => {
            scatter_by::<f64>(cx, MIN_RUN, |x, y| x + y)
        }
        DataType::I32 if op == Some(ops::Add::key()) => scatter_by(cx, MIN_RUN, i32::wrapping_add),
        DataType::I64 if op == Some(ops::Add::key()) => scatter_by(cx, MIN_RUN, i64::wrapping_add),
        _ => evaluate_in_fixed_order(cx),
    }
}

// Combines updates in row-major order, as the fixed order does.
fn scatter_by<T: Native>(
    cx: &mut EvalCx<'_>,
    min_run: usize,
    f: impl Fn(T, T) -> T + Copy + Sync,
) -> EvalResult {
    let (shape, updates) = (Shape::from_slice(cx.tensor(0)?.shape()), cx.tensor(2)?);
    let window_axes = cx.axes("update_window_dims", updates.shape().len())?;
    let inserted = cx.axes("inserted_window_dims", shape.len())?;
    let (len, rank) = (updates.len(), updates.shape().len());
    if len == 0 || cx.tensor(0)?.len() == 0 || !are_last(&window_axes, rank) {
        return evaluate_in_fixed_order(cx);
    }
    let mut window = window_axes.iter().map(|&a| updates.shape()[a]);
    let sizes: Option<Shape> = (0..shape.len())
        .map(|axis| if inserted.contains(&axis) { Some(1) } else { window.next() })
        .collect();
    let fits = |sizes: &Shape| sizes.iter().zip(&shape).all(|(size, extent)| size <= extent);
    let Some(sizes) = sizes.filter(fits) else { return evaluate_in_fixed_order(cx) };
    let Some(slices) = Slices::new(cx, 1, "scatter_dims", &shape, sizes, min_run)? else {
        return evaluate_in_fixed_order(cx);
    };
    // Only parts of other slices are used.
    if !(0..slices.number()).all(|number| slices.is_inside(number)) {
        return evaluate_in_fixed_order(cx);
    }
    cx.work(len as u64)?;
    let mut target = cx.take_tensor(0)?;
    let threads = cx.threads();
    let updates = cx.elements::<T>(2)?;
    if target.unique_mut::<T>().is_none() {
        let mut copy = cx.buffer::<T>(target.len())?;
        match target.view::<T>() {
            Some(View::Dense(all)) => copy.copy_from_slice(all),
            Some(View::Splat(x)) => copy.fill(x),
            None => return Err(Fault::op("an operand has a wrong type")),
        }
        // A tensor of one element is a splat and cannot be changed in place.
        combine_slices(threads, &slices, &mut copy, &updates, f);
        return one(Tensor::new(target.dtype(), shape, copy));
    }
    if let Some(all) = target.unique_mut::<T>() {
        combine_slices(threads, &slices, all, &updates, f);
    }
    one(target)
}

// Combines updates with the elements of `all`, on several threads if each slice has one index of the first axis: a thread then has some
// of these indices. So the order for each element does not depend on the number of threads.
fn combine_slices<T: Native>(
    threads: usize,
    slices: &Slices,
    all: &mut [T],
    updates: &[T],
    f: impl Fn(T, T) -> T + Copy + Sync,
) {
    let divisible = slices.sizes[0] == 1 && slices.map.contains(&0);
    let threads = if divisible { threads } else { 1 };
    let stride = slices.strides[0];
    let chunk = slices.shape[0].div_ceil(threads.max(1)).max(1) * stride;
    for_each_chunk_of_work(threads, updates.len(), all, chunk, |first, part| {
        vectorized(
            #[inline(always)]
            || {
                let end = first + part.len();
                for (number, update) in updates.chunks_exact(slices.len()).enumerate() {
                    let to = slices.clamped_offset(number);
                    if to < first || to >= end {
                        continue;
                    }
                    for (row, update) in slices.rows.iter().zip(update.chunks_exact(slices.run)) {
                        let place = &mut part[to - first + row..][..slices.run];
                        let update = &update[..slices.run];
                        for i in 0..slices.run {
                            place[i] = f(place[i], update[i]);
                        }
                    }
                }
            },
        );
    });
}
