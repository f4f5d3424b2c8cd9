//! The fast kernel of `convolution` for `f32` with features innermost. The elements under each window form a row of a matrix, which is multiplied by
//! the kernel; a convolution of single positions needs no such matrix, and one with a group per feature multiplies directly.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Fault, Shape, Tensor, View, count, one};
use smallvec::SmallVec;

use super::evaluate_in_fixed_order;
use super::gemm::{MatrixStrides, multiply_matrices};
use super::parallel::for_each_chunk_of_work;
use super::vectors::vectorized;

/// The number of window elements that a thread collects at a time: half of a usual L2 cache.
const MAX_WINDOW_ELEMENTS: usize = 1 << 16;
/// The most numbers in the tables of a convolution.
const MAX_TABLE: usize = 1 << 13;
/// The number of multiplications between two checks of the limits.
const PRODUCTS_PER_CHECK: usize = 1 << 28;

/// The movement of the window along one spatial axis.
struct SpatialAxis {
    extent: usize,
    size: usize,
    out: usize,
    step: i64,
    low: i64,
    input_dilation: i64,
    kernel_dilation: i64,
    flip: bool,
    /// The distance of neighbours in the input, and in the kernel.
    stride: usize,
    kernel_stride: usize,
}

impl SpatialAxis {
    // Returns the input index that a window index reads for a result index; `None` outside of the input and between dilated elements.
    fn read(&self, window: usize, index: usize) -> Option<usize> {
        let at = index as i64 * self.step + window as i64 * self.kernel_dilation - self.low;
        let inside = at >= 0 && at % self.input_dilation == 0;
        inside.then(|| (at / self.input_dilation) as usize).filter(|&at| at < self.extent)
    }
}

/// The places that the window reads, known before: computing them takes as long as the products of few features.
struct TapTable {
    /// For each axis and index of the result, the distances from the start of the input of what a row of the window reads; [`OUTSIDE`] in the padding.
    reads: SmallVec<[Vec<usize>; 2]>,
    /// For each window element, its index along each axis.
    indices: Vec<usize>,
}

/// The distance of nothing.
const OUTSIDE: usize = usize::MAX;

impl TapTable {
    // Returns the table, if it is not large.
    fn new(axes: &[SpatialAxis], window: usize) -> Option<Self> {
        let reads = axes.iter().map(|axis| axis.size.saturating_mul(axis.out));
        let numbers = reads.fold(window.saturating_mul(axes.len()), usize::saturating_add);
        if axes.is_empty() || numbers > MAX_TABLE {
            return None;
        }
        let reads = axes.iter().map(|axis| {
            let all = (0..axis.out).flat_map(|index| (0..axis.size).map(move |tap| (tap, index)));
            let read = |(tap, index)| axis.read(tap, index).map_or(OUTSIDE, |at| at * axis.stride);
            all.map(read).collect()
        });
        let mut indices = vec![0; window * axes.len()];
        for (tap, indices) in indices.chunks_exact_mut(axes.len()).enumerate() {
            let mut rest = tap;
            for (index, axis) in indices.iter_mut().zip(axes).rev() {
                *index = rest % axis.size;
                rest /= axis.size;
            }
        }
        Some(Self { reads: reads.collect(), indices })
    }
}

/// A convolution whose input, kernel and result have their features innermost.
struct Convolution {
    shape: Shape,
    axes: SmallVec<[SpatialAxis; 2]>,
    taps: Option<TapTable>,
    batch_stride: usize,
    /// The number of input features, also the distance of neighbouring positions in the input.
    features: usize,
    /// The number of features that the kernel combines.
    depth: usize,
    outs: usize,
    /// The numbers of window elements, and of result positions per batch.
    window: usize,
    positions: usize,
    kernel_feature_stride: usize,
}

pub(super) fn convolution(cx: &mut EvalCx<'_>) -> EvalResult {
    let Some(plan) = Convolution::new(cx)? else { return evaluate_in_fixed_order(cx) };
    let (Some(View::Dense(input)), Some(View::Dense(kernel))) =
        (cx.tensor(0)?.view::<f32>(), cx.tensor(1)?.view::<f32>())
    else {
        return evaluate_in_fixed_order(cx);
    };
    let total = count(&plan.shape).ok_or_else(|| Fault::TooLarge { shape: plan.shape.to_vec() })?;
    let mut out = cx.buffer::<f32>(total)?;
    // Parts of the result between which the limits are checked: whole positions.
    let products = plan.depth * plan.window;
    let per_check = (PRODUCTS_PER_CHECK / (products * plan.outs).max(1)).max(1) * plan.outs;
    for (number, part) in out.chunks_mut(per_check).enumerate() {
        cx.work((part.len() as u64).saturating_mul(products as u64))?;
        let first = number * per_check / plan.outs;
        let part = Part { threads: cx.threads(), input, kernel, first, out: part };
        if plan.depth == 1 && plan.features == plan.outs && plan.features > 1 {
            plan.run_per_feature(part);
        } else {
            plan.run_as_product(part);
        }
    }
    one(Tensor::new(DataType::F32, plan.shape, out))
}

// A part of the result to compute, from the position `first` on.
struct Part<'a> {
    threads: usize,
    input: &'a [f32],
    kernel: &'a [f32],
    first: usize,
    out: &'a mut [f32],
}

impl Convolution {
    // Returns the plan, if this kernel covers the convolution.
    fn new(cx: &EvalCx<'_>) -> Result<Option<Self>, Fault> {
        let (input, kernel) = (cx.tensor(0)?, cx.tensor(1)?);
        let rank = input.shape().len();
        let shape = cx.result_shape(0)?;
        let accumulate = cx.dtype("accumulate")?.unwrap_or(DataType::F32);
        let [id, kd, od] = [
            cx.axes("input_dims", rank)?,
            cx.axes("kernel_dims", rank)?,
            cx.axes("output_dims", rank)?,
        ];
        let space = rank.saturating_sub(2);
        // Batch first, spatial axes in order, features last; in the kernel, result features last and input features before them.
        let in_order = |dims: &[usize]| dims.iter().skip(2).enumerate().all(|(i, &d)| d == i + 1);
        let kernel_in_order = kd.iter().skip(2).enumerate().all(|(i, &d)| d == i);
        let usual = rank >= 2
            && [&id, &od].iter().all(|d| d[0] == 0 && d[1] == rank - 1 && in_order(d))
            && kd[1] == rank - 1
            && kd[0] == rank - 2
            && kernel_in_order;
        let f32s = input.dtype() == DataType::F32 && accumulate == DataType::F32;
        let groups = cx.int("feature_groups")?;
        let (depth, outs) = (kernel.shape()[kd[0]], kernel.shape()[kd[1]]);
        let features = input.shape()[id[1]];
        let per_feature = depth == 1 && groups == features as i64 && outs == features;
        if !usual || !f32s || cx.int("batch_groups")? != 1 || !(groups == 1 || per_feature) {
            return Ok(None);
        }
        if input.len() == 0 || kernel.len() == 0 || shape.contains(&0) {
            return Ok(None);
        }
        let [steps, base, dilation] = [
            cx.ints_or("strides", 1, space)?,
            cx.ints_or("input_dilation", 1, space)?,
            cx.ints_or("kernel_dilation", 1, space)?,
        ];
        let (flips, pads) = (cx.ints_or("reversal", 0, space)?, cx.pairs_or_zero("pads", space)?);
        let mut axes: SmallVec<[SpatialAxis; 2]> = SmallVec::new();
        let (mut stride, mut kernel_stride) = (features, depth * outs);
        for i in (0..space).rev() {
            let (extent, size) = (input.shape()[i + 1], kernel.shape()[i]);
            // Positions are computed in i64.
            let small = |n: i64| n.unsigned_abs() < 1 << 30;
            if ![steps[i], base[i], dilation[i], pads[i][0]].into_iter().all(small)
                || extent >= 1 << 30
                || size >= 1 << 30
                || shape[i + 1] >= 1 << 30
            {
                return Ok(None);
            }
            axes.insert(
                0,
                SpatialAxis {
                    extent,
                    size,
                    out: shape[i + 1],
                    step: steps[i],
                    low: pads[i][0],
                    input_dilation: base[i].max(1),
                    kernel_dilation: dilation[i],
                    flip: flips[i] == 1,
                    stride,
                    kernel_stride,
                },
            );
            stride *= extent;
            kernel_stride *= size;
        }
        let window = axes.iter().map(|a| a.size).product();
        Ok(Some(Self {
            taps: TapTable::new(&axes, window),
            batch_stride: stride,
            features,
            depth,
            outs,
            window,
            positions: axes.iter().map(|a| a.out).product(),
            kernel_feature_stride: outs,
            shape,
            axes,
        }))
    }

    // Calls `f` with the input position under each window element of a result position, and the window element; `None` in the padding.
    #[inline(always)]
    fn for_each_tap(&self, position: usize, mut f: impl FnMut(usize, Option<usize>)) {
        let start = position / self.positions * self.batch_stride;
        let mut rest = position % self.positions;
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.axes.len());
        for (i, axis) in self.axes.iter().enumerate().rev() {
            index[i] = rest % axis.out;
            rest /= axis.out;
        }
        if let Some(table) = &self.taps {
            let mut rows: SmallVec<[&[usize]; 4]> = SmallVec::new();
            for ((axis, reads), &index) in self.axes.iter().zip(&table.reads).zip(&index) {
                rows.push(&reads[index * axis.size..][..axis.size]);
            }
            for (tap, indices) in table.indices.chunks_exact(rows.len()).enumerate() {
                let (mut at, mut inside) = (start, true);
                for (row, &index) in rows.iter().zip(indices) {
                    inside &= row[index] != OUTSIDE;
                    at = at.wrapping_add(row[index]);
                }
                f(tap, inside.then_some(at));
            }
            return;
        }
        for tap in 0..self.window {
            let mut rest = tap;
            let mut at = Some(start);
            for (axis, &index) in self.axes.iter().zip(&index).rev() {
                let read = axis.read(rest % axis.size, index);
                at = at.zip(read).map(|(at, read)| at + read * axis.stride);
                rest /= axis.size;
            }
            f(tap, at);
        }
    }

    // Returns the offset of the kernel elements of a window element.
    fn kernel_offset(&self, tap: usize) -> usize {
        let mut rest = tap;
        let mut at = 0;
        for axis in self.axes.iter().rev() {
            let index = rest % axis.size;
            at += if axis.flip { axis.size - 1 - index } else { index } * axis.kernel_stride;
            rest /= axis.size;
        }
        at
    }

    // Each feature has its own kernel: result features are computed side by side.
    fn run_per_feature(&self, Part { threads, input, kernel, first, out }: Part<'_>) {
        let operations = out.len().saturating_mul(self.window) / 4;
        let offsets: Vec<usize> = (0..self.window).map(|tap| self.kernel_offset(tap)).collect();
        let rows = (MAX_WINDOW_ELEMENTS / 4 / self.outs).max(1);
        for_each_chunk_of_work(threads, operations, out, rows * self.outs, |at, chunk| {
            vectorized(
                #[inline(always)]
                || {
                    let position = first + at / self.outs;
                    for (row, result) in chunk.chunks_exact_mut(self.outs).enumerate() {
                        result.fill(0.0);
                        let result = &mut result[..self.outs];
                        self.for_each_tap(
                            position + row,
                            #[inline(always)]
                            |tap, at| {
                                let weights = &kernel[offsets[tap]..offsets[tap] + self.outs];
                                let Some(at) = at else {
                                    // Zeros of the padding take part: weights may be infinite or NaN.
                                    for i in 0..weights.len() {
                                        result[i] += 0.0 * weights[i];
                                    }
                                    return;
                                };
                                let elements = &input[at..at + weights.len()];
                                for i in 0..weights.len() {
                                    result[i] += elements[i] * weights[i];
                                }
                            },
                        );
                    }
                },
            );
        });
    }

    // Multiplies the matrix of windows by the kernel.
    fn run_as_product(&self, Part { threads, input, kernel, first, out }: Part<'_>) {
        let depth = self.window * self.depth;
        let (n, strides) =
            (self.outs, MatrixStrides { row: self.kernel_feature_stride, column: 1 });
        let flipped: Vec<f32>;
        let mut kernel = kernel;
        if self.axes.iter().any(|axis| axis.flip && axis.size > 1) {
            let block = self.depth * self.outs;
            let taps = (0..self.window).map(|tap| self.kernel_offset(tap));
            flipped = taps.flat_map(|at| kernel[at..at + block].iter().copied()).collect();
            kernel = &flipped;
        }
        let single = self.axes.iter().all(|a| {
            a.size == 1 && a.step == 1 && a.low == 0 && a.input_dilation == 1 && a.out == a.extent
        });
        if single {
            let rows = &input[first * self.features..][..out.len() / n * self.features];
            let at = MatrixStrides { row: self.features, column: 1 };
            multiply_matrices(
                [out.len() / n, depth, n],
                (rows, at),
                (kernel, strides),
                out,
                threads,
            );
            return;
        }
        // A product costs less than other operations.
        let operations = out.len().saturating_mul(depth) / 16;
        // The division into chunks does not depend on the number of threads, so neither do the results.
        let rows = (MAX_WINDOW_ELEMENTS / depth).clamp(1, 512);
        for_each_chunk_of_work(threads, operations, out, rows * n, |at, chunk| {
            let position = first + at / n;
            let rows = chunk.len() / n;
            let mut windows = vec![0f32; rows * depth];
            for (row, window) in windows.chunks_exact_mut(depth).enumerate() {
                self.for_each_tap(position + row, |tap, at| {
                    if let Some(at) = at {
                        window[tap * self.depth..(tap + 1) * self.depth]
                            .copy_from_slice(&input[at..at + self.depth]);
                    }
                });
            }
            let at = MatrixStrides { row: depth, column: 1 };
            multiply_matrices([rows, depth, n], (&windows, at), (kernel, strides), chunk, 1);
        });
    }
}
