//! Offsets in row-major storage, and strided copies.

use std::convert::Infallible;

use smallvec::SmallVec;

use crate::eval::context::EvalCx;
use crate::eval::error::Fault;
use crate::eval::tensor::{Shape, Tensor, Value, View, count};
use crate::with_native;
use sapwood_types::DataType;

/// The change of an offset per step along each axis.
pub(crate) type Steps = SmallVec<[isize; 4]>;

/// Returns the strides of a row-major tensor.
pub(crate) fn strides(shape: &[usize]) -> Steps {
    let mut strides: Steps = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis] as isize);
    }
    strides
}

/// Returns the strides of a row-major tensor like [`strides`], as unsigned numbers.
pub(crate) fn distances(shape: &[usize]) -> Shape {
    strides(shape).iter().map(|&step| step.cast_unsigned()).collect()
}

/// Calls `f` with the offset of the first index of each innermost row of `shape`, in row-major order, where a step
/// along axis `i` moves the offset by `steps[i]`. The row itself is `shape`'s last extent, stepped by the last of
/// `steps`; a scalar is one row of one element.
pub(crate) fn for_each_row(
    shape: &[usize],
    start: usize,
    steps: &[isize],
    mut f: impl FnMut(usize),
) {
    for_each_row_pair(shape, [start, 0], [steps, steps], |[at, _]| f(at));
}

/// Calls `f` for each row like [`for_each_row`], with two offsets.
pub(crate) fn for_each_row_pair(
    shape: &[usize],
    start: [usize; 2],
    steps: [&[isize]; 2],
    mut f: impl FnMut([usize; 2]),
) {
    let Ok::<_, Infallible>(()) = try_each_row_pair(shape, start, steps, &mut |at| {
        f(at);
        Ok(())
    });
}

/// Calls `f` for each row like [`for_each_row_pair`] until it fails. `f` is called once per row through a pointer, so that this loop is
/// compiled once instead of once per kernel and element type.
pub(crate) fn try_each_row_pair<E>(
    shape: &[usize],
    start: [usize; 2],
    steps: [&[isize]; 2],
    f: &mut dyn FnMut([usize; 2]) -> Result<(), E>,
) -> Result<(), E> {
    if shape.contains(&0) {
        return Ok(());
    }
    let outer = shape.split_last().map_or(&[][..], |(_, outer)| outer);
    let mut index: Shape = SmallVec::from_elem(0, outer.len());
    let mut at = start;
    loop {
        f(at)?;
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return Ok(());
            }
            axis -= 1;
            index[axis] += 1;
            let (extent, done) = (outer[axis] as isize, index[axis] >= outer[axis]);
            for (at, steps) in at.iter_mut().zip(steps) {
                let step = steps[axis];
                *at = at.wrapping_add_signed(step);
                if done {
                    *at = at.wrapping_add_signed(step.wrapping_mul(-extent));
                }
            }
            if !done {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// Calls `f` with the offset of each index of `shape`, in row-major order, until it fails.
pub(crate) fn try_each_offset<E>(
    shape: &[usize],
    start: usize,
    steps: &[isize],
    mut f: impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    let (length, step) = innermost(shape, steps);
    try_each_row_pair(shape, [start, 0], [steps, steps], &mut |[row, _]| {
        let mut at = row;
        for _ in 0..length {
            f(at)?;
            at = at.wrapping_add_signed(step);
        }
        Ok(())
    })
}

/// Calls `f` with each offset like [`try_each_offset`], without failure.
pub(crate) fn for_each_offset(
    shape: &[usize],
    start: usize,
    steps: &[isize],
    mut f: impl FnMut(usize),
) {
    let Ok::<_, Infallible>(()) = try_each_offset(shape, start, steps, |at| {
        f(at);
        Ok(())
    });
}

/// Returns the extent and step of the innermost axis.
pub(crate) fn innermost(shape: &[usize], steps: &[isize]) -> (usize, isize) {
    (shape.last().copied().unwrap_or(1), steps.last().copied().unwrap_or(1))
}

/// Copies elements along strides: the element at each index of the result is that of the input at the offset given by the steps.
pub(crate) fn strided(
    cx: &EvalCx<'_>,
    input: &Tensor,
    shape: &[usize],
    start: usize,
    steps: &[isize],
) -> Result<Tensor, Fault> {
    let dtype = input.dtype();
    let len = count(shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    with_native!(dtype, T => match input.view::<T>() {
        Some(View::Splat(x)) => Ok(Tensor::splat(dtype, shape, x)),
        Some(View::Dense(all)) => {
            let mut out: Vec<T> = cx.alloc_result(len)?;
            let (length, step) = innermost(shape, steps);
            for_each_row(shape, start, steps, |row| match step {
                1 => out.extend_from_slice(&all[row..row + length]),
                0 => out.resize(out.len() + length, all[row]),
                _ => {
                    let at = |i: usize| all[row.wrapping_add_signed(step.wrapping_mul(i as isize))];
                    out.extend((0..length).map(at));
                }
            });
            Ok(Tensor::new(dtype, shape, out))
        }
        None => Err(Fault::op("elements of another type")),
    })
}

/// A column of elements that grows by one scalar at a time, with a known capacity.
pub(crate) struct Column {
    tensor: Tensor,
    next: usize,
}

impl Column {
    pub(crate) fn new(cx: &EvalCx<'_>, dtype: DataType, len: usize) -> Result<Self, Fault> {
        with_native!(dtype, T => {
            let mut room: Vec<T> = cx.alloc(len)?;
            room.resize(len, T::default());
            Ok(Self { tensor: Tensor::new(dtype, [len], room), next: 0 })
        })
    }

    pub(crate) fn push(&mut self, value: &Value) -> Result<(), Fault> {
        let fits = value.as_tensor().filter(|t| t.len() == 1);
        if !fits.is_some_and(|t| self.tensor.overwrite(self.next, t)) {
            return Err(Fault::op(format!(
                "the region yields {}, expected a {} scalar",
                value.ty(),
                self.tensor.dtype()
            )));
        }
        self.next += 1;
        Ok(())
    }

    /// Returns the elements as a tensor with these extents.
    pub(crate) fn finish(self, shape: &[usize]) -> Result<Tensor, Fault> {
        let ty = self.tensor.ty();
        self.tensor.reshaped(shape).ok_or_else(|| Fault::op(format!("{ty} cannot be {shape:?}")))
    }
}
