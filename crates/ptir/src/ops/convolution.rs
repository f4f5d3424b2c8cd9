//! Convolution.

use super::support::{
    DtypeClass, WindowShape, axes_of_each, check_accumulate_dtype, check_at_least,
    check_same_dtype, one_result,
};
use crate::attr::{Axes, Int, Pairs};
use crate::cost::op_flops as cost;
use crate::eval::kernels;
use crate::op::{InferCx, InferResult, OpError, Value, unify_dims};
use crate::types::{Dim, Dims, TensorType};
use sapwood_types::DataType;
use smallvec::SmallVec;

crate::ops! {
    family "convolution", table convolution_ops, values ConvolutionValueOps, graph ConvolutionGraphOps;

    /// Slides a kernel over the spatial axes of the input and sums products over the window and the input features.
    /// The kernel is flipped only along the axes that `reversal` selects. Padding, and the gaps between elements that
    /// `input_dilation` inserts, are zeros that take part in the sums (multiplied by an infinite kernel element they
    /// give NaN). A window larger than the padded input gives an empty result. Sums are accumulated as in
    /// `dot_general`, over the window in row-major order, with features innermost.
    op convolution Convolution "convolution" (input: Value, kernel: Value) {
        /// Axes of the input: batch, feature, then the spatial axes.
        input_dims: Axes,
        /// Axes of the kernel: input feature, output feature, then the spatial axes.
        kernel_dims: Axes,
        /// Axes of the result: batch, feature, then the spatial axes.
        output_dims: Axes,
        /// Step per spatial axis; 1 by default.
        strides: Option<Axes>,
        /// Padding before and after each spatial axis, negative to crop; none by default.
        pads: Option<Pairs>,
        /// Distance between neighbouring input elements; 1 by default.
        input_dilation: Option<Axes>,
        /// Distance between neighbouring kernel elements; 1 by default.
        kernel_dilation: Option<Axes>,
        /// 1 for each spatial axis along which the kernel is flipped; none by default.
        reversal: Option<Axes>,
        /// Number of feature groups.
        feature_groups: Int = Int(1),
        /// Number of batch groups.
        batch_groups: Int = Int(1),
        /// Type in which products and sums are computed.
        accumulate: Option<DataType>,
    } -> one [
        omitted_entries(1, &["strides", "input_dilation", "kernel_dilation"]),
        omitted_entries(0, &["pads", "reversal"]),
        flops(cost::convolution),
    ] = infer_convolution, eval = kernels::convolution::convolution;
}

// Returns the axes of the input, of the kernel and of the result.
fn axis_layouts(cx: &InferCx<'_>, rank: usize) -> Result<[SmallVec<[usize; 4]>; 3], OpError> {
    let names = ["input_dims", "kernel_dims", "output_dims"];
    for name in names {
        if let Ok(axes) = cx.ints(name)
            && axes.len() != rank
        {
            return Err(OpError::new(format!("`{name}` has {} axes, expected {rank}", axes.len())));
        }
    }
    axes_of_each(cx, names.map(|name| (name, rank)))
}

fn divide_dim(what: &str, d: Dim, by: i64) -> Result<Dim, OpError> {
    match d {
        Dim::Known(n) if n % by as u64 == 0 => Ok(Dim::Known(n / by as u64)),
        Dim::Known(n) => {
            Err(OpError::new(format!("{what} is {n}, which is not divisible by {by} groups")))
        }
        Dim::Expr(_) | Dim::Unknown => Ok(d.map_expr(|extent| extent.floordiv(by))),
    }
}

fn infer_convolution(cx: &InferCx<'_>) -> InferResult {
    let pads = cx.pairs_or_zero("pads", cx.tensor(0)?.rank().saturating_sub(2))?;
    let dims = convolution_dims(cx, Some(&pads))?;
    one_result(TensorType { dtype: cx.tensor(0)?.dtype, dims })
}

/// Checks the attributes of a convolution and returns the dims of its result. Without padding, the spatial dims are unknown.
pub(super) fn convolution_dims(
    cx: &InferCx<'_>,
    pads: Option<&[[i64; 2]]>,
) -> Result<Dims, OpError> {
    let (input, kernel) = (cx.tensor(0)?, cx.tensor(1)?);
    check_same_dtype(0, input, 1, kernel)?;
    DtypeClass::NUMBER.check("the input", input.dtype)?;
    check_accumulate_dtype(cx, input.dtype)?;
    let rank = input.rank();
    if rank < 2 || kernel.rank() != rank {
        return Err(OpError::new(format!(
            "the input has rank {rank} and the kernel {}, expected the same, at least 2",
            kernel.rank()
        )));
    }
    let spatial = rank - 2;
    let strides = cx.ints_or("strides", 1, spatial)?;
    let base = cx.ints_or("input_dilation", 1, spatial)?;
    let dilation = cx.ints_or("kernel_dilation", 1, spatial)?;
    let [id, kd, od] = axis_layouts(cx, rank)?;
    let reversal = cx.ints_or("reversal", 0, spatial)?;
    if let Some(bad) = reversal.iter().find(|r| !matches!(r, 0 | 1)) {
        return Err(OpError::new(format!("`reversal` has the entry {bad}, expected 0 or 1")));
    }
    let (fg, bg) = (cx.int("feature_groups")?, cx.int("batch_groups")?);
    check_at_least("feature_groups", &[fg], 1)?;
    check_at_least("batch_groups", &[bg], 1)?;
    if fg > 1 && bg > 1 {
        return Err(OpError::new(format!(
            "`feature_groups` is {fg} and `batch_groups` is {bg}, one must be 1"
        )));
    }
    let features = divide_dim("the input feature axis", input.dims[id[1]], fg)?;
    unify_dims("the number of input features per group", features, kernel.dims[kd[0]])?;
    let batch = divide_dim("the batch axis", input.dims[id[0]], bg)?;
    let out_features = kernel.dims[kd[1]];
    divide_dim("the output feature axis", out_features, fg)?;
    divide_dim("the output feature axis", out_features, bg)?;
    check_at_least("strides", &strides, 1)?;
    check_at_least("input_dilation", &base, 1)?;
    check_at_least("kernel_dilation", &dilation, 1)?;
    let mut sizes: SmallVec<[i64; 4]> = SmallVec::new();
    let mut known = true;
    for &axis in &kd[2..] {
        match kernel.dims[axis] {
            Dim::Known(n) => sizes.push(i64::try_from(n).unwrap_or(i64::MAX)),
            Dim::Expr(_) | Dim::Unknown => known = false,
        }
    }
    let space: Dims = id[2..].iter().map(|&a| input.dims[a]).collect();
    let space = if let (true, Some(pads)) = (known, pads) {
        WindowShape {
            size: &sizes,
            strides: &strides,
            pads,
            base_dilation: &base,
            window_dilation: &dilation,
        }
        .output_dims(&space)?
    } else {
        SmallVec::from_elem(Dim::Unknown, spatial)
    };
    let mut dims: Dims = SmallVec::from_elem(Dim::Unknown, rank);
    dims[od[0]] = batch;
    dims[od[1]] = out_features;
    for (&axis, d) in od[2..].iter().zip(space) {
        dims[axis] = d;
    }
    Ok(dims)
}
