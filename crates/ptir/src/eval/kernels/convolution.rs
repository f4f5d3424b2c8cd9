//! The kernel of `convolution`: the windows of the input form the rows of a matrix, which is multiplied by the kernel.

use std::convert::Infallible;

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::cast::cast;
use super::dot::accumulation;
use super::gemm::{Lane, Packed, dense, multiply, summed_in, with_lane};
use super::index::distances;
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::native::Native;
use crate::eval::tensor::{Shape, Tensor, count};

/// The number of window elements that are materialized at a time.
const MAX_WINDOW_ELEMENTS: usize = 1 << 18;

/// Evaluates `convolution`.
pub(crate) fn convolution(cx: &mut EvalCx<'_>) -> EvalResult {
    let (input, kernel) = (cx.take_tensor(0)?, cx.take_tensor(1)?);
    let dtype = input.dtype();
    let acc = accumulation(cx, dtype)?;
    let sum = summed_in(acc);
    let (input, kernel) = (cast(cx, input, sum)?, cast(cx, kernel, sum)?);
    let plan = ConvolutionPlan::new(cx, &input, &kernel)?;
    let out = with_lane!(sum, T => plan.run::<T>(cx, sum, &input, &kernel)?);
    one(cast(cx, cast(cx, out, acc)?, dtype)?)
}

// The parameters of one spatial axis.
struct SpatialAxis {
    stride: usize,
    slide: Slide,
    size: usize,
    out: usize,
    kernel_stride: usize,
    out_stride: usize,
    flip: bool,
}

struct ConvolutionPlan {
    shape: Shape,
    spaces: Vec<SpatialAxis>,
    // The strides of batch and feature.
    input: [usize; 2],
    output: [usize; 2],
    // The strides of input feature and output feature.
    kernel: [usize; 2],
    batch: usize,
    features: usize,
    outs: usize,
    feature_groups: usize,
    batch_groups: usize,
}

impl ConvolutionPlan {
    fn new(cx: &EvalCx<'_>, input: &Tensor, kernel: &Tensor) -> Result<Self, Fault> {
        let rank = input.shape().len();
        let shape = cx.result_shape(0)?;
        let [id, kd, od] = [
            cx.axes("input_dims", rank)?,
            cx.axes("kernel_dims", rank)?,
            cx.axes("output_dims", rank)?,
        ];
        let [is, ks, os] = [distances(input.shape()), distances(kernel.shape()), distances(&shape)];
        let space = rank - 2;
        let [steps, base, dilation] = [
            cx.ints_or("strides", 1, space)?,
            cx.ints_or("input_dilation", 1, space)?,
            cx.ints_or("kernel_dilation", 1, space)?,
        ];
        let (flips, pads) = (cx.ints_or("reversal", 0, space)?, cx.pairs_or_zero("pads", space)?);
        let mut spaces = Vec::new();
        for i in 0..space {
            let (extent, size, out) =
                (input.shape()[id[i + 2]], kernel.shape()[kd[i + 2]], shape[od[i + 2]]);
            let slide = Slide {
                extent,
                base: base[i],
                step: steps[i],
                dilation: dilation[i],
                low: pads[i][0],
            };
            spaces.push(SpatialAxis {
                stride: is[id[i + 2]],
                slide,
                size,
                out,
                kernel_stride: ks[kd[i + 2]],
                out_stride: os[od[i + 2]],
                flip: flips[i] == 1,
            });
        }
        let groups = |n: i64| usize::try_from(n).unwrap_or(1).max(1);
        Ok(Self {
            spaces,
            input: [is[id[0]], is[id[1]]],
            output: [os[od[0]], os[od[1]]],
            kernel: [ks[kd[0]], ks[kd[1]]],
            batch: shape[od[0]],
            features: kernel.shape()[kd[0]],
            outs: kernel.shape()[kd[1]],
            feature_groups: groups(cx.int("feature_groups")?),
            batch_groups: groups(cx.int("batch_groups")?),
            shape,
        })
    }

    fn run<T: Lane + Native>(
        &self,
        cx: &EvalCx<'_>,
        dtype: DataType,
        input: &Tensor,
        kernel: &Tensor,
    ) -> Result<Tensor, Fault> {
        let total =
            count(&self.shape).ok_or_else(|| Fault::TooLarge { shape: self.shape.to_vec() })?;
        let (input, kernel) = (dense::<T>(cx, input)?, dense::<T>(cx, kernel)?);
        let mut out = cx.alloc(total)?;
        out.resize(total, T::ZERO);
        let sizes: Shape = self.spaces.iter().map(|s| s.size).collect();
        let window = count(&sizes).unwrap_or(usize::MAX);
        let depth = window.saturating_mul(self.features);
        if total == 0 || depth == 0 {
            return Ok(Tensor::new(dtype, self.shape.clone(), out));
        }
        let groups = self.feature_groups * self.batch_groups;
        let per = self.outs / groups;
        let taps = self.taps(cx, window)?;
        for group in 0..groups {
            let element = |row: usize, column: usize| {
                let (w, f) = (row / self.features, row % self.features);
                kernel[taps[w] + f * self.kernel[0] + (group * per + column) * self.kernel[1]]
            };
            // With several feature groups each group has its own features, with several batch groups its own batches.
            let (feature, batch) = if self.feature_groups > 1 {
                (group * self.features, 0)
            } else {
                (0, group * self.batch)
            };
            let start = feature * self.input[1] + batch * self.input[0];
            let out_start = group * per * self.output[1];
            cx.scratch(|| {
                let weights = Packed::new(cx, depth, per, element)?;
                self.group(cx, &input, start, &weights, depth, &mut out, out_start)
            })?;
        }
        Ok(Tensor::new(dtype, self.shape.clone(), out))
    }

    // Returns the offset of the kernel element for each window index.
    fn taps(&self, cx: &EvalCx<'_>, window: usize) -> Result<Vec<usize>, Fault> {
        let mut taps = cx.alloc(window)?;
        let sizes: Shape = self.spaces.iter().map(|s| s.size).collect();
        each_index(&sizes, |index| {
            let at = self
                .spaces
                .iter()
                .zip(index)
                .map(|(s, &w)| (if s.flip { s.size - 1 - w } else { w }) * s.kernel_stride);
            taps.push(at.sum());
        });
        Ok(taps)
    }

    #[allow(clippy::too_many_arguments)]
    fn group<T: Lane>(
        &self,
        cx: &EvalCx<'_>,
        input: &[T],
        start: usize,
        weights: &Packed<T>,
        depth: usize,
        out: &mut [T],
        out_start: usize,
    ) -> Result<(), Fault> {
        let per = self.outs / (self.feature_groups * self.batch_groups);
        let outs: Shape = self.spaces.iter().map(|s| s.out).collect();
        let positions = outs.iter().product::<usize>() * self.batch;
        let most = (MAX_WINDOW_ELEMENTS / depth).clamp(1, positions.max(1));
        let mut rows: Vec<T> = cx.alloc(most * depth)?;
        let mut places: Vec<usize> = cx.alloc(most)?;
        let mut sums: Vec<T> = cx.alloc(most * per)?;
        let mut walk = BatchIndexWalk::new(self.batch, &outs);
        while walk.more() {
            rows.clear();
            places.clear();
            while places.len() < most && walk.more() {
                let (batch, index) = walk.get();
                self.window(input, start + batch * self.input[0], index, &mut rows);
                let at = self.spaces.iter().zip(index).map(|(s, &i)| i * s.out_stride);
                places.push(out_start + batch * self.output[0] + at.sum::<usize>());
                walk.step();
            }
            sums.clear();
            sums.resize(places.len() * per, T::ZERO);
            multiply(cx, &rows, weights, &mut sums)?;
            for (sums, &place) in sums.chunks(per.max(1)).zip(&places) {
                for (column, &sum) in sums.iter().enumerate() {
                    out[place + column * self.output[1]] = sum;
                }
            }
        }
        Ok(())
    }

    // Appends the elements under the window for an index of the result: window indices in row-major order, features innermost.
    fn window<T: Lane>(&self, input: &[T], start: usize, index: &[usize], rows: &mut Vec<T>) {
        let sizes: Shape = self.spaces.iter().map(|s| s.size).collect();
        each_index(&sizes, |at| {
            let place =
                self.spaces.iter().zip(index).zip(at).try_fold(start, |place, ((s, &i), &w)| {
                    s.slide.read(w, i).map(|n| place + n * s.stride)
                });
            match place {
                Some(place) => {
                    rows.extend((0..self.features).map(|f| input[place + f * self.input[1]]));
                }
                None => rows.extend(std::iter::repeat_n(T::ZERO, self.features)),
            }
        });
    }
}

/// The movement of a window along an axis.
pub(crate) struct Slide {
    pub(crate) extent: usize,
    pub(crate) base: i64,
    pub(crate) step: i64,
    pub(crate) dilation: i64,
    pub(crate) low: i64,
}

impl Slide {
    /// Returns the input index that window index `w` reads for result index `i`; `None` in the padding and between dilated
    /// elements.
    #[inline]
    pub(crate) fn read(&self, w: usize, i: usize) -> Option<usize> {
        let at = i as i128 * i128::from(self.step) + w as i128 * i128::from(self.dilation)
            - i128::from(self.low);
        let (at, rest) = match u64::try_from(at) {
            _ if self.base == 1 => (at, 0),
            // Faster than a division at twice the width.
            Ok(at) => {
                let base = self.base.cast_unsigned();
                (i128::from(at / base), i128::from(at % base))
            }
            Err(_) => (at / i128::from(self.base), at % i128::from(self.base)),
        };
        (rest == 0 && at >= 0 && at < self.extent as i128).then_some(at as usize)
    }
}

/// Calls `f` with every index below `shape`, in row-major order.
pub(crate) fn each_index(shape: &[usize], mut f: impl FnMut(&[usize])) {
    let Ok::<_, Infallible>(()) = try_each_index(shape, &mut |index| {
        f(index);
        Ok(())
    });
}

/// Calls `f` like [`each_index`] until it fails. `f` is called through a pointer, so that this loop is compiled once.
pub(crate) fn try_each_index<E>(
    shape: &[usize],
    f: &mut dyn FnMut(&[usize]) -> Result<(), E>,
) -> Result<(), E> {
    let mut walk = BatchIndexWalk::new(1, shape);
    while walk.more() {
        f(walk.get().1)?;
        walk.step();
    }
    Ok(())
}

// An iterator over batches and indices in row-major order.
struct BatchIndexWalk<'a> {
    batches: usize,
    batch: usize,
    shape: &'a [usize],
    index: SmallVec<[usize; 4]>,
}

impl<'a> BatchIndexWalk<'a> {
    fn new(batches: usize, shape: &'a [usize]) -> Self {
        let batches = if shape.contains(&0) { 0 } else { batches };
        Self { batches, batch: 0, shape, index: SmallVec::from_elem(0, shape.len()) }
    }

    fn more(&self) -> bool {
        self.batch < self.batches
    }

    fn get(&self) -> (usize, &[usize]) {
        (self.batch, &self.index)
    }

    fn step(&mut self) {
        for (index, &extent) in self.index.iter_mut().zip(self.shape).rev() {
            *index += 1;
            if *index < extent {
                return;
            }
            *index = 0;
        }
        self.batch += 1;
    }
}
