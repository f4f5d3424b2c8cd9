//! The kernels of slices whose starts are operands.

use super::elementwise::{copied, view};
use super::index::{for_each_row, innermost, strided, strides};
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::{Int, Native};
use crate::eval::tensor::{Shape, View, count};
use crate::{with_int, with_native};

// Returns the starts, clamped so that a slice of these extents is inside.
fn starts(
    cx: &EvalCx<'_>,
    first: usize,
    extents: &[usize],
    sizes: &[usize],
) -> Result<Shape, Fault> {
    let mut starts = Shape::new();
    for (axis, (&n, &size)) in extents.iter().zip(sizes).enumerate() {
        let Some(room) = n.checked_sub(size) else {
            return Err(Fault::op(format!(
                "the slice of axis {axis} is {size}, but its extent is {n}"
            )));
        };
        let dtype = cx.tensor(first + axis)?.dtype();
        let start = with_int!(dtype, T => cx.scalar::<T>(first + axis)?.to_i128(), _ => {
            return Err(Fault::op(format!("start {axis} has element type {dtype}")));
        });
        starts.push(start.clamp(0, room as i128) as usize);
    }
    Ok(starts)
}

fn offset(starts: &[usize], strides: &[isize]) -> usize {
    starts
        .iter()
        .zip(strides)
        .fold(0, |at: usize, (&s, &by)| at.wrapping_add(s.wrapping_mul(by as usize)))
}

pub(crate) fn dynamic_slice(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let sizes = cx.result_shape(0)?;
    let starts = starts(cx, 1, input.shape(), &sizes)?;
    let steps = strides(input.shape());
    one(strided(cx, &input, &sizes, offset(&starts, &steps), &steps)?)
}

pub(crate) fn dynamic_update_slice(cx: &mut EvalCx<'_>) -> EvalResult {
    let (mut input, update) = (cx.take_tensor(0)?, cx.take_tensor(1)?);
    if input.shape().len() != update.shape().len() {
        return Err(Fault::op(format!("the input is {}, the update {}", input.ty(), update.ty())));
    }
    let starts = starts(cx, 2, input.shape(), update.shape())?;
    if update.shape() == input.shape() {
        return one(update);
    }
    if count(update.shape()) == Some(0) {
        return one(input);
    }
    let steps = strides(input.shape());
    let from = offset(&starts, &steps);
    let dtype = input.dtype();
    with_native!(dtype, T => {
        let new = view::<T>(&update)?;
        if let (View::Splat(x), Some(y)) = (new, input.as_splat::<T>())
            && x.pack() == y.pack()
        {
            return one(input);
        }
        if input.unique_mut::<T>().is_none() {
            input = copied::<T>(cx, &input)?;
        }
        let Some(all) = input.unique_mut::<T>() else {
            return Err(Fault::op("the input cannot be changed"));
        };
        cx.work(update.len() as u64)?;
        // Rows of the update are adjacent; both sides are contiguous along the last axis.
        let (length, _) = innermost(update.shape(), &steps);
        let mut row = 0;
        for_each_row(update.shape(), from, &steps, |at| {
            match new {
                View::Splat(x) => all[at..at + length].fill(x),
                View::Dense(new) => all[at..at + length].copy_from_slice(&new[row..row + length]),
            }
            row += length;
        });
        one(input)
    })
}
