//! The kernels of `sort` and `top_k`.

use std::cmp::Ordering;

use super::cast::Wide;
use super::elementwise::{no_kernel, view};
use super::order::{Compare, Comparison};
use super::window::{scalar_of, truth};
use crate::eval::context::{EvalCx, EvalResult};
use crate::eval::error::Fault;
use crate::eval::tensor::{Tensor, Value, count};
use crate::{with_computed, with_native};

/// Evaluates `sort`.
pub(crate) fn sort(cx: &mut EvalCx<'_>) -> EvalResult {
    let args = cx.take_args();
    let tensors: Vec<&Tensor> = args.iter().filter_map(Value::as_tensor).collect();
    let Some(first) = tensors.first() else { return Err(Fault::op("there is nothing to sort")) };
    let shape = first.shape();
    let axis = cx.axis("axis", shape.len())?;
    let n = shape[axis];
    let total = first.len();
    let inner = if total == 0 { 0 } else { shape[axis + 1..].iter().product() };
    // For each index of the result, the index its element comes from.
    let mut from: Vec<usize> = cx.alloc(total)?;
    from.resize(total, 0);
    let mut line: Vec<usize> = cx.alloc(n)?;
    let mut spare: Vec<usize> = cx.alloc(n)?;
    let comparison =
        Comparison::of(cx, 0).filter(|c| c.left / 2 == c.right / 2 && c.left != c.right);
    let mut keys: Vec<Wide> = cx.alloc(if comparison.is_some() { n } else { 0 })?;
    let lines = total.checked_div(n).unwrap_or(0);
    for number in 0..lines {
        let start = number / inner * n * inner + number % inner;
        line.clear();
        line.extend(0..n);
        let place = |k: usize| start + k * inner;
        cx.work(n as u64 * u64::from(usize::BITS - n.leading_zeros()))?;
        match comparison {
            Some(c) => {
                let sorted = tensors[c.left / 2];
                keys.clear();
                with_computed!(sorted.dtype(), T => {
                    let elements = view::<T>(sorted)?;
                    keys.extend((0..n).map(|k| c.key(elements.get(place(k)))));
                }, _ => no_kernel(sorted.dtype())?);
                // The left element has the even index.
                let straight = c.left.is_multiple_of(2);
                merge_sort(&mut line, &mut spare, |a, b| {
                    let (a, b) = (keys[a], keys[b]);
                    Ok(if straight { c.holds(a, b) } else { c.holds(b, a) })
                })?;
            }
            None => merge_sort(&mut line, &mut spare, |a, b| {
                let (a, b) = (place(a), place(b));
                let pairs = tensors.iter().flat_map(|t| [scalar_of(t, a), scalar_of(t, b)]);
                truth(cx.call_region(0, pairs.collect::<Vec<_>>()))
            })?,
        }
        for (k, &at) in line.iter().enumerate() {
            from[place(k)] = place(at);
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
            let mut out = cx.alloc_result(from.len())?;
            out.extend(from.iter().map(|&at| view.get(at)));
            Ok(Value::Tensor(Tensor::new::<T>(tensor.dtype(), shape, out)))
        }
        None => no_kernel(tensor.dtype()),
    })
}

// Sorts by merging runs of doubling length. A later element moves first only if it compares as less, so equal elements keep their
// order, and the result is a permutation for any comparator.
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

/// Evaluates `top_k`.
pub(crate) fn top_k(cx: &mut EvalCx<'_>) -> EvalResult {
    let input = cx.take_tensor(0)?;
    let shape = cx.result_shape(0)?;
    let (n, k) = (*input.shape().last().unwrap_or(&0), *shape.last().unwrap_or(&0));
    let total = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    // If k is zero, nothing is read, whatever the number of lines.
    let lines = total.checked_div(k).unwrap_or(0);
    let mut from: Vec<usize> = cx.alloc(total)?;
    let mut indices: Vec<i32> = cx.alloc(total)?;
    let mut line: Vec<usize> = cx.alloc(n)?;
    let mut keys: Vec<Wide> = cx.alloc(n)?;
    let total_order = cx.word("order")? == "total";
    for number in 0..lines {
        let start = number * n;
        line.clear();
        line.extend(0..n);
        cx.work(n as u64)?;
        keys.clear();
        with_computed!(input.dtype(), T => {
            let elements = view::<T>(&input)?;
            keys.extend((start..start + n).map(|at| elements.get(at).key(total_order)));
        }, _ => no_kernel(input.dtype())?);
        first_k(&keys, &mut line, k);
        from.extend(line[..k].iter().map(|&at| start + at));
        indices.extend(line[..k].iter().map(|&at| at as i32));
    }
    let values = taken(cx, &input, &from, &shape)?;
    let indices = Tensor::new(cx.result_dtype(1)?, shape, indices);
    Ok([values, Value::Tensor(indices)].into_iter().collect())
}

// Selects the k largest in descending order: NaN first, unless its key is ordered by its sign; equal elements by index.
fn first_k(keys: &[Wide], line: &mut [usize], k: usize) {
    let order = |&a: &usize, &b: &usize| {
        let (x, y) = (keys[a], keys[b]);
        let nan = |z: Wide| z.compare(z).is_none();
        let by_value = match (nan(x), nan(y)) {
            (false, false) => y.compare(x).unwrap_or(Ordering::Equal),
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        };
        by_value.then(a.cmp(&b))
    };
    if k > 0 && k < line.len() {
        line.select_nth_unstable_by(k - 1, order);
    }
    line[..k].sort_unstable_by(order);
}
