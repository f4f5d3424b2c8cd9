//! The kernel of `dot_general`.

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::cast::cast;
use super::gemm::{Lane, Packed, dense, multiply, summed_in, with_lane};
use super::index::{distances, for_each_offset};
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::Native;
use crate::eval::tensor::{Shape, Tensor, count};

/// Returns the type in which sums are accumulated.
pub(crate) fn accumulation(cx: &EvalCx<'_>, dtype: DataType) -> Result<DataType, Fault> {
    let narrow = dtype.is_float() && dtype.bit_width() < 32;
    Ok(cx.dtype("accumulate")?.unwrap_or(if narrow { DataType::F32 } else { dtype }))
}

/// Evaluates `dot_general`.
pub(crate) fn dot_general(cx: &mut EvalCx<'_>) -> EvalResult {
    let (lhs, rhs) = (cx.take_tensor(0)?, cx.take_tensor(1)?);
    let acc = accumulation(cx, lhs.dtype())?;
    let sum = summed_in(acc);
    let (lhs, rhs) = (cast(cx, lhs, sum)?, cast(cx, rhs, sum)?);
    let shape = cx.result_shape(0)?;
    let axes = [Axes::new(cx, "lhs", lhs.shape())?, Axes::new(cx, "rhs", rhs.shape())?];
    let product = with_lane!(sum, T => contract::<T>(cx, sum, [&lhs, &rhs], &axes, shape)?);
    one(cast(cx, cast(cx, product, acc)?, cx.result_dtype(0)?)?)
}

// The axes of one operand by their role, with their extents and strides.
struct Axes {
    batch: Group,
    free: Group,
    contract: Group,
}

#[derive(Default)]
struct Group {
    shape: Shape,
    steps: SmallVec<[isize; 4]>,
}

impl Group {
    fn of(axes: &[usize], shape: &[usize], strides: &[usize]) -> Self {
        Self {
            shape: axes.iter().map(|&a| shape[a]).collect(),
            steps: axes.iter().map(|&a| strides[a].cast_signed()).collect(),
        }
    }

    fn len(&self) -> usize {
        count(&self.shape).unwrap_or(usize::MAX)
    }

    // Returns the offset of every index, in row-major order.
    fn offsets(&self, cx: &EvalCx<'_>) -> Result<Vec<usize>, Fault> {
        let mut offsets = cx.alloc(self.len())?;
        for_each_offset(&self.shape, 0, &self.steps, |at| offsets.push(at));
        Ok(offsets)
    }
}

impl Axes {
    fn new(cx: &EvalCx<'_>, side: &str, shape: &[usize]) -> Result<Self, Fault> {
        let strides = distances(shape);
        let batch = cx.axes(&format!("{side}_batch"), shape.len())?;
        let contract = cx.axes(&format!("{side}_contract"), shape.len())?;
        let free: SmallVec<[usize; 4]> =
            (0..shape.len()).filter(|a| !batch.contains(a) && !contract.contains(a)).collect();
        Ok(Self {
            batch: Group::of(&batch, shape, &strides),
            free: Group::of(&free, shape, &strides),
            contract: Group::of(&contract, shape, &strides),
        })
    }
}

fn contract<T: Lane + Native>(
    cx: &EvalCx<'_>,
    dtype: DataType,
    sides: [&Tensor; 2],
    axes: &[Axes; 2],
    shape: Shape,
) -> Result<Tensor, Fault> {
    let total = count(&shape).ok_or_else(|| Fault::TooLarge { shape: shape.to_vec() })?;
    let (left, right) = (dense::<T>(cx, sides[0])?, dense::<T>(cx, sides[1])?);
    let mut out = cx.alloc(total)?;
    out.resize(total, T::ZERO);
    let (depth, columns) = (axes[0].contract.len(), axes[1].free.len());
    if total == 0 || depth == 0 {
        return Ok(Tensor::new(dtype, shape, out));
    }
    let [left_rows, left_depth] = [axes[0].free.offsets(cx)?, axes[0].contract.offsets(cx)?];
    let [right_columns, right_depth] = [axes[1].free.offsets(cx)?, axes[1].contract.offsets(cx)?];
    let batches = axes[0].batch.offsets(cx)?.into_iter().zip(axes[1].batch.offsets(cx)?);
    let mut packed_left = cx.alloc(left_rows.len().saturating_mul(depth))?;
    // If whole rows are contiguous already, they are not copied.
    let plain = left_depth.iter().enumerate().all(|(k, &at)| k == at)
        && left_rows.iter().enumerate().all(|(m, &at)| m * depth == at);
    for ((l, r), out) in batches.zip(out.chunks_mut(left_rows.len() * columns)) {
        let element = |k: usize, n: usize| right[r + right_depth[k] + right_columns[n]];
        let rows = if plain {
            &left[l..l + left_rows.len() * depth]
        } else {
            packed_left.clear();
            for &m in &left_rows {
                packed_left.extend(left_depth.iter().map(|&k| left[l + m + k]));
            }
            &packed_left
        };
        cx.scratch(|| multiply(cx, rows, &Packed::new(cx, depth, columns, element)?, out))?;
    }
    Ok(Tensor::new(dtype, shape, out))
}
