//! Convolution.

use super::support::{Class, Window, check_accumulate, check_least, one, same_dtype};
use crate::attr::{Axes, Int, Pairs};
use crate::eval::kernels;
use crate::op::{InferCx, InferResult, OpError, Value, meet};
use crate::types::{Dim, Dims, TensorType};
use sapwood_types::DataType;
use smallvec::SmallVec;

crate::ops! {
    family "convolution", table convolution_ops, values ConvolutionValueOps, graph ConvolutionGraphOps;

    /// Slides a kernel over the spatial axes of the input and sums products over the window and the input features. The
    /// kernel is not flipped unless `reversal` says so. Padding, and what lies between elements that `input_dilation` draws
    /// apart, are zeros that take part (times an infinite kernel they give NaN); a window larger than the padded input
    /// gives an empty result. Accumulation as in `dot_general`, over the window in row-major order, features inside.
    op convolution Convolution "convolution" (input: Value, kernel: Value) {
        /// Axes of the input: batch, feature, then the spatial ones.
        input_dims: Axes,
        /// Axes of the kernel: input feature, output feature, then the spatial ones.
        kernel_dims: Axes,
        /// Axes of the result: batch, feature, then the spatial ones.
        output_dims: Axes,
        /// Step per spatial axis; all 1 if left out.
        strides: Option<Axes>,
        /// Padding per spatial axis, negative to crop; none if left out.
        pads: Option<Pairs>,
        /// Distance of neighbouring input elements; all 1 if left out.
        input_dilation: Option<Axes>,
        /// Distance of neighbouring kernel elements; all 1 if left out.
        kernel_dilation: Option<Axes>,
        /// 1 for spatial axes along which the kernel is flipped; none if left out.
        reversal: Option<Axes>,
        /// Groups of features.
        feature_groups: Int = Int(1),
        /// Groups of batches.
        batch_groups: Int = Int(1),
        /// Type of products and sums.
        accumulate: Option<DataType>,
    } -> one [] = convolution, eval = kernels::convolution::convolution;
}

fn layout(cx: &InferCx<'_>, name: &str, rank: usize) -> Result<SmallVec<[usize; 4]>, OpError> {
    let axes = cx.axes(name, rank)?;
    if axes.len() != rank {
        return Err(OpError::new(format!("`{name}` names {} axes of {rank}", axes.len())));
    }
    Ok(axes)
}

fn divide(what: &str, d: Dim, by: i64) -> Result<Dim, OpError> {
    match d {
        Dim::Known(n) if n % by as u64 == 0 => Ok(Dim::Known(n / by as u64)),
        Dim::Known(n) => {
            Err(OpError::new(format!("{what} is {n}, which {by} groups do not divide")))
        }
        Dim::Named(_) | Dim::Unknown if by == 1 => Ok(d),
        Dim::Named(_) | Dim::Unknown => Ok(Dim::Unknown),
    }
}

fn convolution(cx: &InferCx<'_>) -> InferResult {
    let (input, kernel) = (cx.tensor(0)?, cx.tensor(1)?);
    same_dtype(0, input, 1, kernel)?;
    Class::NUMBER.check("the input", input.dtype)?;
    check_accumulate(cx, input.dtype)?;
    let rank = input.rank();
    if rank < 2 || kernel.rank() != rank {
        return Err(OpError::new(format!(
            "the input has rank {rank} and the kernel {}, expected the same, at least 2",
            kernel.rank()
        )));
    }
    let (id, kd, od) = (
        layout(cx, "input_dims", rank)?,
        layout(cx, "kernel_dims", rank)?,
        layout(cx, "output_dims", rank)?,
    );
    let spatial = rank - 2;
    let strides = cx.ints_or("strides", 1, spatial)?;
    let pads = cx.pairs_or_zero("pads", spatial)?;
    let base = cx.ints_or("input_dilation", 1, spatial)?;
    let dilation = cx.ints_or("kernel_dilation", 1, spatial)?;
    let reversal = cx.ints_or("reversal", 0, spatial)?;
    if let Some(bad) = reversal.iter().find(|r| !matches!(r, 0 | 1)) {
        return Err(OpError::new(format!("`reversal` has the entry {bad}, expected 0 or 1")));
    }
    let (fg, bg) = (cx.int("feature_groups")?, cx.int("batch_groups")?);
    check_least("feature_groups", &[fg], 1)?;
    check_least("batch_groups", &[bg], 1)?;
    if fg > 1 && bg > 1 {
        return Err(OpError::new(format!(
            "`feature_groups` is {fg} and `batch_groups` is {bg}, one must be 1"
        )));
    }
    let features = divide("the input feature axis", input.dims[id[1]], fg)?;
    meet("the number of input features per group", features, kernel.dims[kd[0]])?;
    let batch = divide("the batch axis", input.dims[id[0]], bg)?;
    let out_features = kernel.dims[kd[1]];
    divide("the output feature axis", out_features, fg)?;
    divide("the output feature axis", out_features, bg)?;
    check_least("strides", &strides, 1)?;
    check_least("input_dilation", &base, 1)?;
    check_least("kernel_dilation", &dilation, 1)?;
    let mut sizes: SmallVec<[i64; 4]> = SmallVec::new();
    let mut known = true;
    for &axis in &kd[2..] {
        match kernel.dims[axis] {
            Dim::Known(n) => sizes.push(i64::try_from(n).unwrap_or(i64::MAX)),
            Dim::Named(_) | Dim::Unknown => known = false,
        }
    }
    let space: Dims = id[2..].iter().map(|&a| input.dims[a]).collect();
    let space = if known {
        Window {
            size: &sizes,
            strides: &strides,
            pads: &pads,
            base_dilation: &base,
            window_dilation: &dilation,
        }
        .dims(&space)?
    } else {
        SmallVec::from_elem(Dim::Unknown, spatial)
    };
    let mut dims: Dims = SmallVec::from_elem(Dim::Unknown, rank);
    dims[od[0]] = batch;
    dims[od[1]] = out_features;
    for (&axis, d) in od[2..].iter().zip(space) {
        dims[axis] = d;
    }
    one(TensorType { dtype: input.dtype, dims })
}
