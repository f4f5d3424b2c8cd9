//! The kernels of `gather` and `scatter`.

use smallvec::SmallVec;

use super::elementwise::no_kernel;
use super::index::{distances, for_each_offset};
use super::reduce::recognized_op;
use super::window::{own_copy, put, scalar_of};
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::{Int, Num};
use crate::eval::tensor::{Shape, Tensor, Value, View, count};
use crate::{with_computed, with_int, with_native};

type Axes = SmallVec<[usize; 4]>;

// The index vectors of `gather` and `scatter`, and the axes they start.
struct Starts {
    // One row of `map.len()` numbers per index vector, in row-major order of the other axes.
    numbers: Vec<i128>,
    // The input axes to which the entries of an index vector apply.
    map: Axes,
    // The batch axes of the input, each with its axis among the index vectors' dims.
    batch: SmallVec<[(usize, usize); 4]>,
    // The dims of the indices without the vector axis.
    dims: Shape,
}

impl Starts {
    fn new(cx: &EvalCx<'_>, input: usize, at: usize, map: &str) -> Result<Self, Fault> {
        let indices = cx.tensor(at)?;
        let shape = indices.shape();
        let vector = usize::try_from(cx.int("index_vector_dim")?).unwrap_or(usize::MAX);
        let map = cx.axes(map, input)?;
        let strides = distances(shape);
        let others: Axes = (0..shape.len()).filter(|&a| a != vector).collect();
        let dims: Shape = others.iter().map(|&a| shape[a]).collect();
        let mut walk = dims.clone();
        let mut steps: SmallVec<[isize; 4]> =
            others.iter().map(|&a| strides[a].cast_signed()).collect();
        if let Some(&entries) = shape.get(vector) {
            walk.push(entries);
            steps.push(strides[vector].cast_signed());
        }
        let mut numbers = cx.alloc(indices.len())?;
        with_int!(indices.dtype(), T => {
            let elements = cx.elements::<T>(at)?;
            for_each_offset(&walk, 0, &steps, |i| numbers.push(elements[i].to_i128()));
        }, _ => return no_kernel(indices.dtype()));
        let (inputs, places) =
            (cx.axes("input_batch_dims", input)?, cx.axes("index_batch_dims", shape.len())?);
        let batch = inputs.into_iter().zip(places.iter().map(|&p| p - usize::from(p > vector)));
        Ok(Self { numbers, map, batch: batch.collect(), dims })
    }

    fn row(&self, number: usize) -> &[i128] {
        &self.numbers[number * self.map.len()..(number + 1) * self.map.len()]
    }
}

/// Evaluates `gather`.
pub(crate) fn gather(cx: &mut EvalCx<'_>) -> EvalResult {
    let (input, shape) = (cx.tensor(0)?, cx.result_shape(0)?);
    let rank = input.shape().len();
    let total = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    let dtype = input.dtype();
    // This holds for all indices.
    if total == 0 || input.is_splat() {
        return one(with_native!(dtype, T => match cx.view::<T>(0)? {
            View::Splat(x) => Tensor::splat(dtype, shape, x),
            View::Dense(_) => Tensor::new::<T>(dtype, shape, Vec::new()),
        }));
    }
    let starts = Starts::new(cx, rank, 1, "start_index_map")?;
    let sizes: Shape =
        cx.ints("slice_sizes")?.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
    let (offsets, collapsed) =
        (cx.axes("offset_dims", shape.len())?, cx.axes("collapsed_dims", rank)?);
    let in_strides = distances(input.shape());
    let out_strides = distances(&shape);
    let window: Axes = (0..rank)
        .filter(|a| !collapsed.contains(a) && starts.batch.iter().all(|(b, _)| b != a))
        .collect();
    let batch_axes: Axes = (0..shape.len()).filter(|a| !offsets.contains(a)).collect();
    let walk: Shape = window.iter().map(|&a| sizes[a]).collect();
    let mut reads: Vec<usize> = cx.alloc(count(&walk).unwrap_or(usize::MAX))?;
    let mut writes: Vec<usize> = cx.alloc(count(&walk).unwrap_or(usize::MAX))?;
    let steps = |strides: &Shape, axes: &[usize]| -> SmallVec<[isize; 4]> {
        axes.iter().map(|&a| strides[a].cast_signed()).collect()
    };
    for_each_offset(&walk, 0, &steps(&in_strides, &window), |at| reads.push(at));
    for_each_offset(&walk, 0, &steps(&out_strides, &offsets), |at| writes.push(at));
    // The offset of each slice in the input and in the result.
    let mut places: Vec<(usize, usize)> = cx.alloc(count(&starts.dims).unwrap_or(usize::MAX))?;
    let mut number = 0;
    super::convolution::each_index(&starts.dims, |index| {
        let mut from = 0;
        for (&axis, &start) in starts.map.iter().zip(starts.row(number)) {
            let most = (input.shape()[axis] - sizes[axis]) as i128;
            from += start.clamp(0, most) as usize * in_strides[axis];
        }
        from += starts.batch.iter().map(|&(a, p)| index[p] * in_strides[a]).sum::<usize>();
        let to = index.iter().zip(&batch_axes).map(|(&i, &a)| i * out_strides[a]).sum();
        places.push((from, to));
        number += 1;
    });
    one(with_native!(dtype, T => {
        let elements = cx.elements::<T>(0)?;
        let mut out: Vec<T> = cx.alloc_result(total)?;
        out.resize(total, T::default());
        for &(from, to) in &places {
            for (&r, &w) in reads.iter().zip(&writes) {
                out[to + w] = elements[from + r];
            }
        }
        Tensor::new(dtype, shape, out)
    }))
}

/// Evaluates `scatter`.
pub(crate) fn scatter(cx: &mut EvalCx<'_>) -> EvalResult {
    let (inputs, updates) = (cx.group("inputs"), cx.group("updates"));
    let places = places(cx, inputs.end, updates.start)?;
    if inputs.len() == 1
        && let Some(known) = recognized_op(cx, 0)
    {
        let dtype = cx.tensor(0)?.dtype();
        return with_computed!(dtype, T => {
            one(scatter_typed::<T>(cx, &places, known.function())?)
        }, _ => no_kernel(dtype));
    }
    let args = cx.take_args();
    let tensors: Vec<&Tensor> = args.iter().filter_map(Value::as_tensor).collect();
    let (targets, updates) = (&tensors[inputs], &tensors[updates]);
    let mut out: Vec<Tensor> = targets.iter().map(|t| own_copy(cx, t)).collect::<Result<_, _>>()?;
    for (number, place) in places.iter().enumerate() {
        let &Some(place) = place else { continue };
        let current: Vec<Value> = out.iter().map(|t| scalar_of(t, place)).collect();
        let news = updates.iter().map(|u| scalar_of(u, number));
        let found = cx.call_region(0, current.into_iter().chain(news).collect::<Vec<_>>())?;
        for (target, value) in out.iter_mut().zip(&found) {
            put(target, place, value)?;
        }
    }
    Ok(out.into_iter().map(Value::Tensor).collect())
}

// Returns the destination of each element of the updates, in row-major order; `None` if it is out of range.
fn places(cx: &EvalCx<'_>, at: usize, update: usize) -> Result<Vec<Option<usize>>, Fault> {
    let (input, updates) = (cx.tensor(0)?, cx.tensor(update)?);
    let (rank, shape) = (input.shape().len(), updates.shape());
    let starts = Starts::new(cx, rank, at, "scatter_dims")?;
    let window_axes = cx.axes("update_window_dims", shape.len())?;
    let inserted = cx.axes("inserted_window_dims", rank)?;
    let batch_axes: Axes = (0..shape.len()).filter(|a| !window_axes.contains(a)).collect();
    let window: Axes = (0..rank)
        .filter(|a| !inserted.contains(a) && starts.batch.iter().all(|(b, _)| b != a))
        .collect();
    let in_strides = distances(input.shape());
    let start_strides = distances(&starts.dims);
    let mut places = cx.alloc(updates.len())?;
    let mut place: SmallVec<[i128; 4]> = SmallVec::from_elem(0, rank);
    super::convolution::each_index(shape, |index| {
        place.fill(0);
        let number = batch_axes.iter().zip(&start_strides).map(|(&a, s)| index[a] * s).sum();
        for (&axis, &start) in starts.map.iter().zip(starts.row(number)) {
            place[axis] = start;
        }
        for &(axis, p) in &starts.batch {
            place[axis] = index[batch_axes[p]] as i128;
        }
        for (&axis, &a) in window.iter().zip(&window_axes) {
            place[axis] += index[a] as i128;
        }
        let inside = place.iter().zip(input.shape()).all(|(&p, &n)| p >= 0 && p < n as i128);
        let offset = place.iter().zip(&in_strides).map(|(&p, &s)| p as usize * s);
        places.push(if inside { Some(offset.sum()) } else { None });
    });
    Ok(places)
}

fn scatter_typed<T: Num>(
    cx: &EvalCx<'_>,
    places: &[Option<usize>],
    f: impl Fn(T, T) -> T,
) -> Result<Tensor, Fault> {
    let (input, updates) = (cx.tensor(0)?, cx.elements::<T>(2)?);
    let mut out = cx.alloc_result(input.len())?;
    out.extend_from_slice(&cx.elements::<T>(0)?);
    for (&place, &update) in places.iter().zip(updates.iter()) {
        if let Some(place) = place {
            out[place] = f(out[place], update);
        }
    }
    Ok(Tensor::new(input.dtype(), input.shape(), out))
}
