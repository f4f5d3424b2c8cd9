//! The numbers of operations of ops that are not elementwise, named in their rows by `flops(…)`.
//!
//! Each function returns `None` where inference would fail; the cost is then not known.

use super::amount::Amount;
use crate::dims::DimExpr;
use crate::op::{InferCx, OpError};
use crate::types::{Dim, TensorType};

/// A function that returns the number of operations of an instruction from its types, its attributes and the operations of each of its regions.
pub type FlopsFn = fn(&InferCx<'_>, &[Amount]) -> Result<Amount, OpError>;

type Flops = Result<Amount, OpError>;

fn result<'a>(cx: &InferCx<'a>, index: usize) -> Result<&'a TensorType, OpError> {
    let tensor = cx.declared_types.get(index).and_then(|ty| ty.as_tensor());
    tensor.ok_or_else(|| OpError::new(format!("result {index} is not a tensor")))
}

fn region(regions: &[Amount], index: usize) -> Amount {
    regions.get(index).copied().unwrap_or(Amount::Unknown)
}

/// One operation less than elements for each element of the result.
pub(crate) fn reduction(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    Ok(Amount::elements(cx.tensor(0)?).minus(Amount::elements(result(cx, 0)?)))
}

/// One operation for each element of the last result.
pub(crate) fn per_result_element(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    Ok(Amount::elements(result(cx, cx.declared_types.len().saturating_sub(1))?))
}

/// One application of the region for each element of the first operand.
pub(crate) fn region_per_input_element(cx: &InferCx<'_>, regions: &[Amount]) -> Flops {
    Ok(Amount::elements(cx.tensor(0)?).times(region(regions, 0)))
}

/// A multiplication and an addition for each element of the result and each contracted index.
pub(crate) fn dot_general(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    let lhs = cx.tensor(0)?;
    let contracted = cx.axes("lhs_contract", lhs.rank())?;
    let depth: Vec<Dim> = contracted.iter().map(|&axis| lhs.dims[axis]).collect();
    let products = Amount::elements(result(cx, 0)?).times(Amount::product(&depth));
    Ok(products.times(Amount::Known(2)))
}

/// A multiplication and an addition for each element of the result, each input feature of a group and each window position that is not padding.
pub(crate) fn convolution(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    let (input, kernel, output) = (cx.tensor(0)?, cx.tensor(1)?, result(cx, 0)?);
    let input_axes = cx.axes("input_dims", input.rank())?;
    let kernel_axes = cx.axes("kernel_dims", kernel.rank())?;
    let output_axes = cx.axes("output_dims", output.rank())?;
    let spatial = input.rank().saturating_sub(2);
    let strides = cx.ints_or("strides", 1, spatial)?;
    let pads = cx.pairs_or_zero("pads", spatial)?;
    let input_dilation = cx.ints_or("input_dilation", 1, spatial)?;
    let kernel_dilation = cx.ints_or("kernel_dilation", 1, spatial)?;
    // Elements of the result without the spatial axes, times the input features of a group.
    let mut products = Amount::product(&[
        output.dims[output_axes[0]],
        output.dims[output_axes[1]],
        kernel.dims[kernel_axes[0]],
    ]);
    for axis in 0..spatial {
        let positions = WindowAxis {
            input: input.dims[input_axes[axis + 2]],
            window: kernel.dims[kernel_axes[axis + 2]],
            output: output.dims[output_axes[axis + 2]],
            stride: strides[axis],
            low_pad: pads[axis][0],
            input_dilation: input_dilation[axis],
            window_dilation: kernel_dilation[axis],
        };
        products = products.times(positions.count());
    }
    Ok(products.times(Amount::Known(2)))
}

/// A multiplication and an addition for each position of the window, without regard to padding, whose extents are operands.
pub(crate) fn dynamic_conv(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    let (kernel, output) = (cx.tensor(1)?, result(cx, 0)?);
    let kernel_axes = cx.axes("kernel_dims", kernel.rank())?;
    let window: Vec<Dim> = kernel_axes
        .iter()
        .enumerate()
        .filter(|&(position, _)| position != 1)
        .map(|(_, &axis)| kernel.dims[axis])
        .collect();
    Ok(Amount::elements(output).times(Amount::product(&window)).times(Amount::Known(2)))
}

/// One application of the region for each element of the result and each position of the window.
pub(crate) fn reduce_window(cx: &InferCx<'_>, regions: &[Amount]) -> Flops {
    let positions = window_positions(cx, result(cx, 0)?)?;
    Ok(positions.times(region(regions, 0)))
}

/// One selection for each element of the source and each position of the window, and one combination for each element of the source.
pub(crate) fn select_and_scatter(cx: &InferCx<'_>, regions: &[Amount]) -> Flops {
    let source = cx.tensor(1)?;
    let selections = window_positions(cx, source)?.times(region(regions, 0));
    Ok(selections.plus(Amount::elements(source).times(region(regions, 1))))
}

fn window_positions(cx: &InferCx<'_>, output: &TensorType) -> Flops {
    let window = cx.ints("window")?.iter().map(|&extent| extent.max(0) as u128);
    Ok(window.fold(Amount::elements(output), |n, extent| n.times(Amount::Known(extent))))
}

/// One combination for each element of the first update.
pub(crate) fn scatter(cx: &InferCx<'_>, regions: &[Amount]) -> Flops {
    let updates = cx.operand_range("updates");
    Ok(Amount::elements(cx.tensor(updates.start)?).times(region(regions, 0)))
}

/// As many comparisons as a merge sort takes: the logarithm of the extent, rounded up, for each element.
pub(crate) fn sort(cx: &InferCx<'_>, regions: &[Amount]) -> Flops {
    let input = cx.tensor(0)?;
    let axis = cx.axis("axis", input.rank())?;
    Ok(Amount::elements(input).times(log2(input.dims[axis])).times(region(regions, 0)))
}

/// As many comparisons as a sort of the last axis takes.
pub(crate) fn top_k(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    let input = cx.tensor(0)?;
    let last = input.dims.last().copied().unwrap_or(Dim::Known(1));
    Ok(Amount::elements(input).times(log2(last)))
}

/// `n^2` operations for each right-hand side of a system of `n` equations.
pub(crate) fn triangular_solve(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    let (a, b) = (cx.tensor(0)?, cx.tensor(1)?);
    let n = a.dims.last().copied().unwrap_or(Dim::Known(1));
    Ok(Amount::elements(b).times(n.into()))
}

/// `n^3 / 3` operations for each matrix.
pub(crate) fn cholesky(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    let a = cx.tensor(0)?;
    let n = a.dims.last().copied().unwrap_or(Dim::Known(1));
    Ok(third(Amount::elements(a).times(n.into())))
}

fn third(amount: Amount) -> Amount {
    match amount {
        Amount::Known(number) => Amount::Known(number / 3),
        Amount::Expr(expr) => expr.floordiv(3).map_or(Amount::Unknown, Amount::from_expr),
        Amount::Unknown => Amount::Unknown,
    }
}

/// `5 n log2(n)` operations for a transform of `n` elements.
pub(crate) fn fft(cx: &InferCx<'_>, _: &[Amount]) -> Flops {
    let lengths = cx.ints("lengths")?;
    // Of a real and a complex tensor, the real one has the full number of elements.
    let (input, output) = (cx.tensor(0)?, result(cx, 0)?);
    let full = if input.dtype.is_complex() { output } else { input };
    let steps: u128 = lengths.iter().map(|&n| log2_of(n.max(1) as u64)).sum();
    Ok(Amount::elements(full).times(Amount::Known(5 * steps)))
}

fn log2(dim: Dim) -> Amount {
    dim.known().map_or(Amount::Unknown, |n| Amount::Known(log2_of(n)))
}

fn log2_of(n: u64) -> u128 {
    u128::from(n.max(1).next_power_of_two().trailing_zeros())
}

/// One spatial axis of a convolution.
struct WindowAxis {
    input: Dim,
    window: Dim,
    output: Dim,
    stride: i64,
    low_pad: i64,
    input_dilation: i64,
    window_dilation: i64,
}

/// The largest window extent whose positions are counted one by one; a larger window counts as if there were no padding.
const MAX_COUNTED_WINDOW: u64 = 1 << 16;
/// The largest window extent over a symbolic axis, whose count is a sum of one expression per position.
const MAX_SYMBOLIC_WINDOW: u64 = 8;

impl WindowAxis {
    /// Returns the number of pairs of an output position and a window position that read an element of the input.
    fn count(&self) -> Amount {
        let all = Amount::from(self.output).times(self.window.into());
        let Some(window) = self.window.known() else {
            return if self.reads_no_padding() { all } else { Amount::Unknown };
        };
        if let (Some(input), Some(output)) = (self.input.known(), self.output.known()) {
            if window > MAX_COUNTED_WINDOW {
                return all;
            }
            let count = (0..window).try_fold(0u128, |sum, k| {
                sum.checked_add(self.reads(k, i128::from(input), i128::from(output)))
            });
            return count.map_or(Amount::Unknown, Amount::Known);
        }
        if self.reads_no_padding() {
            return all;
        }
        if window > MAX_SYMBOLIC_WINDOW || self.input_dilation != 1 {
            return Amount::Unknown;
        }
        let positions = (0..window).map(|k| self.symbolic_reads(k));
        let sum = positions.reduce(|a, b| a?.checked_add(b?)).unwrap_or(DimExpr::constant(0));
        sum.map_or(Amount::Unknown, Amount::from_expr)
    }

    // Without padding and gaps, every position of a window is an element of the input.
    fn reads_no_padding(&self) -> bool {
        let extent_one = self.window == Dim::Known(1) && self.stride == 1;
        self.input_dilation == 1
            && self.low_pad == 0
            && (extent_one && self.output == self.input || self.output_fits())
    }

    // Returns whether the last window ends within the input.
    fn output_fits(&self) -> bool {
        let fits = || {
            let output = self.output.to_expr()?.checked_sub(DimExpr::constant(1)?)?;
            let window = self.window.to_expr()?.checked_sub(DimExpr::constant(1)?)?;
            let last = output
                .checked_mul(DimExpr::constant(self.stride)?)?
                .checked_add(window.checked_mul(DimExpr::constant(self.window_dilation)?)?)?;
            let room = self.input.to_expr()?.checked_sub(last)?;
            Some(crate::dims::Facts::new().bounds(room).is_at_least(1))
        };
        fits() == Some(true)
    }

    // Returns how many output positions read an element of the input at position `k` of the window: those `o` in `0..output` for which
    // `o*stride + offset` is a multiple of the dilation in `0..=(input - 1)*dilation`.
    fn reads(&self, k: u64, input: i128, output: i128) -> u128 {
        let (stride, dilation) = (i128::from(self.stride), i128::from(self.input_dilation));
        let offset = i128::from(k) * i128::from(self.window_dilation) - i128::from(self.low_pad);
        if input == 0 || output == 0 || stride < 1 || dilation < 1 {
            return 0;
        }
        // The positions that satisfy the bounds.
        let first = (-offset).div_euclid(stride) + i128::from((-offset).rem_euclid(stride) != 0);
        let first = first.max(0);
        let last = ((input - 1) * dilation - offset).div_euclid(stride).min(output - 1);
        if last < first {
            return 0;
        }
        // Of these, every `period`-th one is a multiple of the dilation, if any is.
        let period = dilation / gcd(stride, dilation);
        let aligned = (first..=last.min(first + period - 1))
            .take(MAX_COUNTED_WINDOW as usize)
            .find(|o| (o * stride + offset).rem_euclid(dilation) == 0);
        aligned.map_or(0, |o| ((last - o) / period + 1) as u128)
    }

    fn symbolic_reads(&self, k: u64) -> Option<DimExpr> {
        let constant = |number: i64| DimExpr::constant(number);
        let offset =
            i64::try_from(k).ok()?.checked_mul(self.window_dilation)?.checked_sub(self.low_pad)?;
        let first = offset.checked_neg()?.max(0);
        let first = first.div_euclid(self.stride) + i64::from(first.rem_euclid(self.stride) != 0);
        let end = self.input.to_expr()?.checked_sub(constant(1i64.checked_add(offset)?)?)?;
        let end = if self.stride == 1 { end } else { end.floordiv(self.stride)? };
        let end = end.checked_add(constant(1)?)?.min(self.output.to_expr()?)?;
        end.checked_sub(constant(first)?)?.max(constant(0)?)
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
