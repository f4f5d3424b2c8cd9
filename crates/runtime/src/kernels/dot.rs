//! The fast kernel of `dot_general`, computed as matrix products.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use std::borrow::Cow;

use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, Native, Tensor, Value, View, bf16, cast, count, f16, one,
};
use smallvec::{SmallVec, smallvec};

use super::evaluate_in_fixed_order;
use super::gemm::{GemmElement, MatrixStrides, multiply_matrices};
use super::parallel::{CHUNK_ELEMENTS, for_each_chunk, for_each_chunk_of_work};
use super::vectors::vectorized;
use crate::fuse::Narrow;

/// The number of multiplications between two checks of the limits: large enough that packing the right side again for each panel costs little.
const MAX_PANEL_PRODUCTS: usize = 1 << 30;

/// The most multiplications of one product of a batch that a thread computes alone.
pub(crate) const MAX_BATCH_PRODUCTS: usize = 1 << 24;

pub(crate) type Axes = SmallVec<[usize; 4]>;

pub(super) fn dot_general(cx: &mut EvalCx<'_>) -> EvalResult {
    let dtype = cx.tensor(0)?.dtype();
    let narrow = matches!(dtype, DataType::F16 | DataType::Bf16);
    let usual = if narrow { DataType::F32 } else { dtype };
    let accumulate = cx.dtype("accumulate")?.unwrap_or(usual);
    let result = cx.result_dtype(0)?;
    if narrow && accumulate == DataType::F32 && cx.tensor(1)?.dtype() == dtype {
        // Products of narrow floats are exact in f32.
        let (a, b) = (cx.take_tensor(0)?, cx.take_tensor(1)?);
        let widened = [widened(cx, a)?, widened(cx, b)?];
        cx.put_args(widened.map(Value::Tensor));
        let sums = dot_general_of::<f32>(cx)?;
        let sums = sums.into_iter().next();
        let Some(Value::Tensor(sums)) = sums else { return Err(Fault::op("has no result")) };
        return one(narrowed(cx, sums, result)?);
    }
    match (dtype, accumulate, result) {
        (DataType::F32, DataType::F32, DataType::F32) => dot_general_of::<f32>(cx),
        (DataType::F64, DataType::F64, DataType::F64) => dot_general_of::<f64>(cx),
        _ => evaluate_in_fixed_order(cx),
    }
}

// Casts narrow floats to f32.
fn widened(cx: &EvalCx<'_>, tensor: Tensor) -> Result<Tensor, Fault> {
    let wide = match tensor.dtype() {
        DataType::F16 => converted(cx, &tensor, f16::widen)?,
        _ => converted(cx, &tensor, bf16::widen)?,
    };
    wide.map_or_else(|| cast(cx, tensor, DataType::F32), Ok)
}

// Casts f32 to a float type.
fn narrowed(cx: &EvalCx<'_>, tensor: Tensor, dtype: DataType) -> Result<Tensor, Fault> {
    let narrow = match dtype {
        DataType::F16 => converted(cx, &tensor, f16::narrow)?,
        DataType::Bf16 => converted(cx, &tensor, bf16::narrow)?,
        _ => None,
    };
    narrow.map_or_else(|| cast(cx, tensor, dtype), Ok)
}

// Converts the elements of a tensor that stores each of them.
fn converted<A: Native, B: Native>(
    cx: &EvalCx<'_>,
    tensor: &Tensor,
    convert: impl Fn(A) -> B + Sync,
) -> Result<Option<Tensor>, Fault> {
    let Some(View::Dense(all)) = tensor.view::<A>() else { return Ok(None) };
    let mut out = cx.buffer::<B>(all.len())?;
    for_each_chunk(cx.threads(), &mut out, CHUNK_ELEMENTS, |at, chunk| {
        let n = chunk.len();
        vectorized(
            #[inline(always)]
            || {
                let (from, chunk) = (&all[at..at + n], &mut chunk[..n]);
                for i in 0..n {
                    chunk[i] = convert(from[i]);
                }
            },
        );
    });
    Ok(Some(Tensor::new(B::DTYPE, tensor.shape(), out)))
}

fn dot_general_of<T: Native + GemmElement>(cx: &mut EvalCx<'_>) -> EvalResult {
    let shape = cx.result_shape(0)?;
    let total = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    let (lhs, rhs) = (cx.tensor(0)?, cx.tensor(1)?);
    // Without elements, the product of the extents may overflow.
    if total == 0 || lhs.len() == 0 || rhs.len() == 0 {
        return one(Tensor::splat(lhs.dtype(), shape, T::default()));
    }
    let (left, right) = (lhs.shape(), rhs.shape());
    let axes = ProductAxes::new(left, right, |name, rank| cx.axes(name, rank))?;
    let (batches, [m, k, n]) = axes.sizes(left, right);
    let (a, b) = (cx.elements::<T>(0)?, cx.elements::<T>(1)?);
    let a = MatrixOperand::new(cx, &a, left, &axes.left)?;
    let b = MatrixOperand::new(cx, &b, right, &axes.right)?;
    let mut out = cx.buffer::<T>(total)?;
    // Each thread computes whole products, if there are enough of them.
    let products = m.saturating_mul(n).saturating_mul(k);
    if batches > 1 && products <= MAX_BATCH_PRODUCTS && m > 0 && n > 0 {
        cx.work((products as u64).saturating_mul(batches as u64))?;
        // A product costs less than other operations.
        let operations = products.saturating_mul(batches) / 8;
        for_each_chunk_of_work(cx.threads(), operations, &mut out, m * n, |at, result| {
            let ((left, strides), right) = (a.matrix(at / (m * n)), b.matrix(at / (m * n)));
            multiply_matrices([m, k, n], (left, strides), right, result, 1);
        });
        return one(Tensor::new(lhs.dtype(), shape, out));
    }
    // The number of rows in a panel.
    let rows = (MAX_PANEL_PRODUCTS / n.saturating_mul(k).max(1)).max(1);
    for (batch, result) in (0..batches).zip(out.chunks_exact_mut(m * n)) {
        let ((left, strides), right) = (a.matrix(batch), b.matrix(batch));
        for (panel, result) in result.chunks_mut(rows.saturating_mul(n)).enumerate() {
            let m = result.len() / n;
            cx.work((m as u64).saturating_mul(n as u64).saturating_mul(k as u64))?;
            let left = &left[panel * rows * strides.row..];
            multiply_matrices([m, k, n], (left, strides), right, result, cx.threads());
        }
    }
    one(Tensor::new(lhs.dtype(), shape, out))
}

/// The axes of the operands of products: those of the batch, of the rows, and of the columns.
pub(crate) struct ProductAxes {
    pub(crate) left: [Axes; 3],
    pub(crate) right: [Axes; 3],
}

impl ProductAxes {
    /// Returns the axes of `dot_general`, whose attributes `axes` reads for an operand with this rank.
    pub(crate) fn new<E>(
        left: &[usize],
        right: &[usize],
        axes: impl Fn(&str, usize) -> Result<Axes, E>,
    ) -> Result<Self, E> {
        let (lb, rb) = (axes("lhs_batch", left.len())?, axes("rhs_batch", right.len())?);
        let (lc, rc) = (axes("lhs_contract", left.len())?, axes("rhs_contract", right.len())?);
        let free = |rank: usize, batch: &Axes, contract: &Axes| -> Axes {
            (0..rank).filter(|a| !batch.contains(a) && !contract.contains(a)).collect()
        };
        let (lf, rf) = (free(left.len(), &lb, &lc), free(right.len(), &rb, &rc));
        Ok(Self { left: [lb, lf, lc], right: [rb, rc, rf] })
    }

    /// Returns the number of products, and the rows of the left matrix, its columns and the columns of the right one.
    pub(crate) fn sizes(&self, left: &[usize], right: &[usize]) -> (usize, [usize; 3]) {
        let size = |shape: &[usize], axes: &Axes| axes.iter().map(|&a| shape[a]).product::<usize>();
        let [batches, m, k] = [0, 1, 2].map(|group| size(left, &self.left[group]));
        (batches, [m, k, size(right, &self.right[2])])
    }
}

/// An operand as one matrix per batch.
pub(crate) struct MatrixOperand<'a, T: Clone> {
    elements: Cow<'a, [T]>,
    // The extents and strides of the batch axes.
    batch: SmallVec<[(usize, usize); 4]>,
    strides: MatrixStrides,
}

impl<'a, T: Native> MatrixOperand<'a, T> {
    /// Returns the matrices whose batches, rows and columns run over these groups of axes; copies the elements if the strides of rows or columns are
    /// not uniform.
    pub(crate) fn new(
        cx: &EvalCx<'_>,
        elements: &'a [T],
        shape: &[usize],
        groups: &[Axes; 3],
    ) -> Result<Self, Fault> {
        let strides = row_major(shape);
        let size = |axes: &Axes| axes.iter().map(|&a| shape[a]).product::<usize>();
        let [batch, row, column] =
            [0, 1, 2].map(|group| uniform_stride(shape, &strides, &groups[group]));
        if let (Some(row), Some(column)) = (row, column) {
            let batch = match batch {
                Some(stride) => smallvec![(size(&groups[0]), stride)],
                None => groups[0].iter().map(|&a| (shape[a], strides[a])).collect(),
            };
            let strides = MatrixStrides { row, column };
            return Ok(Self { elements: elements.into(), batch, strides });
        }
        let order: Axes = groups.iter().flat_map(|g| g.iter().copied()).collect();
        let mut copy = cx.alloc::<T>(elements.len())?;
        copy_in_axis_order(elements, shape, &strides, &order, &mut copy);
        let column = size(&groups[2]);
        let batch = smallvec![(size(&groups[0]), size(&groups[1]) * column)];
        Ok(Self { elements: copy.into(), batch, strides: MatrixStrides { row: column, column: 1 } })
    }

    pub(crate) fn matrix(&self, mut batch: usize) -> (&[T], MatrixStrides) {
        let mut offset = 0;
        for &(extent, stride) in self.batch.iter().rev() {
            offset += batch % extent * stride;
            batch /= extent;
        }
        (self.elements.get(offset..).unwrap_or_default(), self.strides)
    }
}

pub(crate) fn row_major(shape: &[usize]) -> Axes {
    let mut strides: Axes = SmallVec::from_elem(1, shape.len());
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * shape[axis + 1];
    }
    strides
}

/// Returns the stride between neighbours when iterating over axes, the last fastest, if it is uniform.
pub(crate) fn uniform_stride(shape: &[usize], strides: &[usize], axes: &[usize]) -> Option<usize> {
    let mut distance = None;
    let mut expected = 0;
    for &axis in axes.iter().rev().filter(|&&a| shape[a] != 1) {
        match distance {
            None => distance = Some(strides[axis]),
            Some(_) if strides[axis] != expected => return None,
            Some(_) => {}
        }
        expected = strides[axis] * shape[axis];
    }
    Some(distance.unwrap_or(0))
}

fn copy_in_axis_order<T: Copy>(
    elements: &[T],
    shape: &[usize],
    strides: &[usize],
    order: &[usize],
    out: &mut Vec<T>,
) {
    let Some((&last, outer)) = order.split_last() else {
        out.extend_from_slice(elements);
        return;
    };
    let rows: usize = outer.iter().map(|&a| shape[a]).product();
    if elements.is_empty() {
        return;
    }
    let mut at: Axes = SmallVec::from_elem(0, outer.len());
    let mut start = 0;
    for _ in 0..rows {
        out.extend((0..shape[last]).map(|i| elements[start + i * strides[last]]));
        for (position, &axis) in outer.iter().enumerate().rev() {
            at[position] += 1;
            start += strides[axis];
            if at[position] < shape[axis] {
                break;
            }
            start -= strides[axis] * shape[axis];
            at[position] = 0;
        }
    }
}
