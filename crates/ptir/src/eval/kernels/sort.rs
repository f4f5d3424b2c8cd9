//! `sort`, `top_k`.

use std::cmp::Ordering;

use super::order::{Compare, Comparison};
use super::window::{scalar_of, truth};
use crate::eval::context::{EvalCx, EvalResult};
use crate::eval::error::Fault;
use crate::eval::native::Native;
use crate::eval::tensor::{Tensor, Value, count};
use crate::with_native;

/// `sort`.
pub(crate) fn sort(cx: &mut EvalCx<'_>) -> EvalResult {
    let args = cx.take_args();
    let tensors: Vec<&Tensor> = args.iter().filter_map(Value::as_tensor).collect();
    let Some(first) = tensors.first() else { return Err(Fault::op("there is nothing to sort")) };
    let shape = first.shape();
    let axis = cx.axis("axis", shape.len())?;
    let n = shape[axis];
    let total = first.len();
    let inner = if total == 0 { 0 } else { shape[axis + 1..].iter().product() };
    // For each place the place its element comes from.
    let mut from: Vec<usize> = cx.alloc(total)?;
    from.resize(total, 0);
    let mut line: Vec<usize> = cx.alloc(n)?;
    let mut spare: Vec<usize> = cx.alloc(n)?;
    let comparison =
        Comparison::of(cx, 0).filter(|c| c.left / 2 == c.right / 2 && c.left != c.right);
    let lines = total.checked_div(n).unwrap_or(0);
    for number in 0..lines {
        let start = number / inner * n * inner + number % inner;
        line.clear();
        line.extend((0..n).map(|k| start + k * inner));
        cx.work(n as u64 * u64::from(usize::BITS - n.leading_zeros()))?;
        match comparison {
            Some(c) => {
                let keys = tensors[c.left / 2];
                with_native!(keys.dtype(), T => sort_typed::<T>(keys, &c, &mut line, &mut spare)?);
            }
            None => merge_sort(&mut line, &mut spare, |a, b| {
                let pairs = tensors.iter().flat_map(|t| [scalar_of(t, a), scalar_of(t, b)]);
                truth(cx.call_region(0, pairs.collect::<Vec<_>>()))
            })?,
        }
        for (k, &at) in line.iter().enumerate() {
            from[start + k * inner] = at;
        }
    }
    tensors.iter().map(|t| taken(cx, t, &from, t.shape())).collect()
}

fn taken(
    cx: &EvalCx<'_>,
    tensor: &Tensor,
    from: &[usize],
    shape: &[usize],
) -> Result<Value, Fault> {
    with_native!(tensor.dtype(), T => match tensor.view::<T>() {
        Some(view) => {
            let mut out = cx.alloc(from.len())?;
            out.extend(from.iter().map(|&at| view.get(at)));
            Ok(Value::Tensor(Tensor::new::<T>(tensor.dtype(), shape, out)))
        }
        None => super::elementwise::no_kernel(tensor.dtype()),
    })
}

fn sort_typed<T: Compare>(
    keys: &Tensor,
    comparison: &Comparison,
    line: &mut [usize],
    spare: &mut Vec<usize>,
) -> Result<(), Fault> {
    let Some(keys) = keys.view::<T>() else { return Ok(()) };
    // The left element stands at the even position.
    let straight = comparison.left.is_multiple_of(2);
    merge_sort(line, spare, |a, b| {
        let (a, b) = (keys.get(a), keys.get(b));
        Ok(if straight { comparison.holds(a, b) } else { comparison.holds(b, a) })
    })
}

// Merges runs of doubling length. What comes later goes first only if it is before; so equals keep their order, and
// whatever the comparator says, the result is a permutation.
fn merge_sort(
    line: &mut [usize],
    spare: &mut Vec<usize>,
    mut before: impl FnMut(usize, usize) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let n = line.len();
    let mut run = 1;
    while run < n {
        spare.clear();
        for block in line.chunks(2 * run) {
            let (left, right) = block.split_at(run.min(block.len()));
            let (mut i, mut j) = (0, 0);
            while i < left.len() && j < right.len() {
                if before(right[j], left[i])? {
                    spare.push(right[j]);
                    j += 1;
                } else {
                    spare.push(left[i]);
                    i += 1;
                }
            }
            spare.extend_from_slice(&left[i..]);
            spare.extend_from_slice(&right[j..]);
        }
        line.copy_from_slice(spare);
        run *= 2;
    }
    Ok(())
}

/// `top_k`.
pub(crate) fn top_k(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let shape = cx.result_shape(0)?;
    let (n, k) = (*input.shape().last().unwrap_or(&0), *shape.last().unwrap_or(&0));
    let total = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    // However many lines there are, nothing is taken from them if k is zero.
    let lines = total.checked_div(k).unwrap_or(0);
    let mut from: Vec<usize> = cx.alloc(total)?;
    let mut indices: Vec<i32> = cx.alloc(total)?;
    let mut line: Vec<usize> = cx.alloc(n)?;
    let total_order = cx.word("order")? == "total";
    for number in 0..lines {
        let start = number * n;
        line.clear();
        line.extend(start..start + n);
        cx.work(n as u64)?;
        with_native!(input.dtype(), T => first_k::<T>(&input, &mut line, k, total_order));
        from.extend_from_slice(&line[..k]);
        indices.extend(line[..k].iter().map(|&at| (at - start) as i32));
    }
    let values = taken(cx, &input, &from, &shape)?;
    let indices = Tensor::new(cx.result_dtype(1)?, shape, indices);
    Ok([values, Value::Tensor(indices)].into_iter().collect())
}

// The largest first, NaN before all unless its sign says otherwise, equals by index.
fn first_k<T: Compare + Native>(input: &Tensor, line: &mut [usize], k: usize, total: bool) {
    let Some(view) = input.view::<T>() else { return };
    let order = |&a: &usize, &b: &usize| {
        let (x, y) = (view.get(a), view.get(b));
        if total {
            return y.total(x).unwrap_or(Ordering::Equal).then(a.cmp(&b));
        }
        let nan = |z: T| z.partial(z).is_none();
        let by_value = match (nan(x), nan(y)) {
            (false, false) => y.partial(x).unwrap_or(Ordering::Equal),
            (true, true) => Ordering::Equal,
            (x_nan, _) => {
                if x_nan {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        };
        by_value.then(a.cmp(&b))
    };
    if k > 0 && k < line.len() {
        line.select_nth_unstable_by(k - 1, order);
    }
    line[..k].sort_unstable_by(order);
}
