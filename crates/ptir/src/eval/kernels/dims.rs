//! The kernels of ops whose shape is an operand: each runs the kernel of the op whose shape is an attribute.

use std::borrow::Cow;
use std::cell::Cell;

use crate::attr::{Axes, Int, Pairs, ResultType};
use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::machine::NoRegions;
use crate::eval::native::Int as _;
use crate::eval::tensor::{Tensor, Value};
use crate::ids::ValueId;
use crate::op::{InferCx, Op, infer_checked};
use crate::ops::{BroadcastInDim, Convolution, Gather, Iota, Pad, Reshape, Slice};
use crate::types::{Dim, TensorType, ValueType};
use crate::with_int;

pub(crate) fn dims(cx: &mut EvalCx<'_>) -> EvalResult {
    let (dtype, shape) = (cx.result_dtype(0)?, cx.result_shape(0)?);
    let values = cx.ints("values")?;
    with_int!(dtype, T => {
        let elements: Vec<T> = values.iter().map(|&n| T::wrap(n.into())).collect();
        one(Tensor::new(dtype, shape, elements))
    }, _ => Err(Fault::op(format!("the result has element type {dtype}"))))
}

// Returns the integers of an operand.
fn list(cx: &EvalCx<'_>, index: usize) -> Result<Axes, Fault> {
    let dtype = cx.tensor(index)?.dtype();
    with_int!(dtype, T => {
        let fits = |n: &T| i64::try_from(n.to_i128()).ok();
        let list: Option<Vec<i64>> = cx.elements::<T>(index)?.iter().map(fits).collect();
        list.map(Axes::from).ok_or_else(|| Fault::op(format!("operand {index} does not fit i64")))
    }, _ => Err(Fault::op(format!("operand {index} has element type {dtype}, expected integers"))))
}

// Returns the type of the result with the extents that an operand lists.
fn requested_type(cx: &EvalCx<'_>, index: usize) -> Result<ResultType, Fault> {
    let negative = |n: i64| Fault::op(format!("`shape` has the extent {n}"));
    let extent = |&n: &i64| u64::try_from(n).map(Dim::Known).map_err(|_| negative(n));
    let dims = list(cx, index)?.iter().map(extent).collect::<Result<_, _>>()?;
    Ok(TensorType { dtype: cx.result_dtype(0)?, dims }.into())
}

// Returns the number of bytes of all elements of a tensor.
fn dense_bytes(ty: &TensorType) -> u64 {
    ty.num_elements().unwrap_or(u64::MAX).saturating_mul(ty.dtype.byte_size() as u64)
}

// Runs an op on some of the operands. The operands in `op` are not used.
fn run_as<T: Op>(cx: &mut EvalCx<'_>, op: T, operands: &[usize]) -> EvalResult {
    let (def, parts) = (T::def(), op.into_parts());
    let args = operands.iter().map(|&index| cx.arg(index).cloned()).collect::<Result<_, _>>()?;
    let args: smallvec::SmallVec<[Value; 4]> = args;
    let types: Vec<ValueType> = args.iter().map(Value::ty).collect();
    let inferred = infer_checked(&InferCx {
        def: &def,
        attrs: &parts.attrs,
        operands: types.iter().collect(),
        regions: smallvec::SmallVec::new(),
        declared_types: parts.result_types.iter().collect(),
    })?;
    // Operands may ask for any shape. Even a result that is stored as one element is refused if its elements do not fit: its reader needs
    // them all.
    let bytes = inferred.iter().filter_map(ValueType::as_tensor).map(dense_bytes);
    cx.budget.check_memory_beyond(cx.granted.get(), bytes.fold(0, u64::saturating_add))?;
    let Some(kernel) = def.evaluation() else { return Err(Fault::NoEvaluation { op: def.name }) };
    kernel(&mut EvalCx {
        def: &def,
        attrs: &parts.attrs,
        args,
        types: Cow::Owned(inferred.into_vec()),
        budget: cx.budget,
        regions: &mut NoRegions,
        threads: cx.threads,
        granted: Cell::new(cx.granted.get()),
    })
}

pub(crate) fn dynamic_reshape(cx: &mut EvalCx<'_>) -> EvalResult {
    let ty = requested_type(cx, 1)?;
    run_as(cx, Reshape { input: ValueId::NONE, ty }, &[0])
}

pub(crate) fn dynamic_broadcast_in_dim(cx: &mut EvalCx<'_>) -> EvalResult {
    let (dims, ty) = (cx.ints("dims")?.into(), requested_type(cx, 1)?);
    run_as(cx, BroadcastInDim { input: ValueId::NONE, dims, ty }, &[0])
}

pub(crate) fn dynamic_iota(cx: &mut EvalCx<'_>) -> EvalResult {
    let (axis, ty) = (Int(cx.int("axis")?), requested_type(cx, 0)?);
    run_as(cx, Iota { axis, ty }, &[])
}

pub(crate) fn dynamic_pad(cx: &mut EvalCx<'_>) -> EvalResult {
    let (low, high, interior) = (list(cx, 2)?, list(cx, 3)?, Some(list(cx, 4)?));
    let (input, value) = (ValueId::NONE, ValueId::NONE);
    run_as(cx, Pad { input, value, low, high, interior }, &[0, 1])
}

pub(crate) fn real_dynamic_slice(cx: &mut EvalCx<'_>) -> EvalResult {
    let (starts, limits, strides) = (list(cx, 1)?, list(cx, 2)?, Some(list(cx, 3)?));
    run_as(cx, Slice { input: ValueId::NONE, starts, limits, strides }, &[0])
}

pub(crate) fn dynamic_gather(cx: &mut EvalCx<'_>) -> EvalResult {
    let axes = |name: &str| cx.ints(name).map(Axes::from);
    let op = Gather {
        input: ValueId::NONE,
        indices: ValueId::NONE,
        offset_dims: axes("offset_dims")?,
        collapsed_dims: axes("collapsed_dims")?,
        input_batch_dims: axes("input_batch_dims")?,
        index_batch_dims: axes("index_batch_dims")?,
        start_index_map: axes("start_index_map")?,
        index_vector_dim: Int(cx.int("index_vector_dim")?),
        slice_sizes: list(cx, 2)?,
    };
    run_as(cx, op, &[0, 1])
}

pub(crate) fn dynamic_conv(cx: &mut EvalCx<'_>) -> EvalResult {
    let axes = |name: &str| cx.ints(name).map(Axes::from);
    let rank = cx.tensor(0)?.shape().len().saturating_sub(2);
    let optional =
        |name: &str, default: i64| cx.ints_or(name, default, rank).map(|list| Some(Axes(list)));
    let pads = list(cx, 2)?;
    let op = Convolution {
        input: ValueId::NONE,
        kernel: ValueId::NONE,
        input_dims: axes("input_dims")?,
        kernel_dims: axes("kernel_dims")?,
        output_dims: axes("output_dims")?,
        strides: optional("strides", 1)?,
        pads: Some(Pairs(pads.chunks_exact(2).map(|row| [row[0], row[1]]).collect())),
        input_dilation: optional("input_dilation", 1)?,
        kernel_dilation: optional("kernel_dilation", 1)?,
        reversal: optional("reversal", 0)?,
        feature_groups: Int(cx.int("feature_groups")?),
        batch_groups: Int(cx.int("batch_groups")?),
        accumulate: cx.dtype("accumulate")?,
    };
    run_as(cx, op, &[0, 1])
}
