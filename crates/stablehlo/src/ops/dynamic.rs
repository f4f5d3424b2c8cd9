//! Ops whose shapes are operands. If those are constant, the op is read as the one whose shape is an attribute.

use std::fmt::Write as _;

use sapwood_ptir::ops::{BroadcastInDim, DynamicConv, Iota, Pad, Reshape, Slice};
use sapwood_ptir::{
    Axes, Dim, Int as IntAttr, Ints as IntList, Pairs, ResultType as ResultTypeAttr, TensorType,
};
use sapwood_types::counted;

use super::contract::{read_convolution, write_conv_layouts};
use super::form;
use super::form::Part::{self, Close, Int, Ints, Open, Operands, ResultType, Struct, Types};
use super::form::TypeSyntax::{Function, Generic};
use super::index::{GATHER_FIELDS, emit_gather};
use super::{OpConverter, OpMapping, PrintedOp, ResultValues, WriteResult, row};
use crate::attr::literal_ints;
use crate::write::{TextWriter, write_array};

pub(super) const MAPPINGS: &[OpMapping] = &[
    row("stablehlo.dynamic_reshape", "dynamic_reshape", RESHAPE).build(build_dynamic_reshape),
    row("stablehlo.dynamic_broadcast_in_dim", "dynamic_broadcast_in_dim", BROADCAST)
        .build(build_dynamic_broadcast_in_dim),
    row("stablehlo.dynamic_iota", "dynamic_iota", IOTA).build(build_dynamic_iota),
    row("stablehlo.dynamic_pad", "dynamic_pad", RESHAPE).build(build_dynamic_pad),
    row("stablehlo.real_dynamic_slice", "real_dynamic_slice", RESHAPE)
        .build(build_real_dynamic_slice),
    row("stablehlo.dynamic_gather", "dynamic_gather", GATHER).build(build_dynamic_gather),
    row("stablehlo.dynamic_conv", "dynamic_conv", &[Open, Operands, Close, Types(Function)])
        .build(build_dynamic_conv)
        .print(print_dynamic_conv),
];

const RESHAPE: &[Part] = &[Operands, ResultType, Types(Function)];

const BROADCAST: &[Part] =
    &[Operands, Ints("dims", "broadcast_dimensions"), ResultType, Types(Function)];

const IOTA: &[Part] = &[Operands, Int("dim", "iota_dimension"), ResultType, Types(Function)];

const GATHER: &[Part] =
    &[Operands, Struct("dimension_numbers", "gather", GATHER_FIELDS), ResultType, Types(Generic)];

// Returns the integers of an operand, if it is constant.
fn constant_operand(cx: &OpConverter<'_, '_>, operand: usize) -> Result<Option<IntList>, String> {
    let value = cx.operand(operand)?;
    Ok(cx.constant_of(value).and_then(literal_ints))
}

// Returns the result type with the extents of a shape operand.
fn result_type_with_extents(
    cx: &OpConverter<'_, '_>,
    extents: &[i64],
) -> Result<ResultTypeAttr, String> {
    let declared = cx.declared_result_tensor()?;
    if declared.rank() != extents.len() {
        let (rank, n) = (declared.rank(), extents.len());
        let n = counted(n, "entry");
        return Err(format!("the shape has {n}, but the result has rank {rank}"));
    }
    let dims = extents.iter().map(|&n| u64::try_from(n).ok().map(Dim::Known));
    let dims = dims.collect::<Option<_>>().ok_or("an extent is negative")?;
    Ok(TensorType { dtype: declared.dtype, dims }.into())
}

fn build_dynamic_reshape(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, _] = cx.operands()?;
    match constant_operand(cx, 1)? {
        Some(extents) => {
            let ty = result_type_with_extents(cx, &extents)?;
            cx.emit_op(Reshape { input, ty })
        }
        None => form::build(cx, RESHAPE),
    }
}

fn build_dynamic_broadcast_in_dim(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, _] = cx.operands()?;
    let dims = cx.ints(&["broadcast_dimensions", "dims"])?;
    cx.check_count(&["broadcast_dimensions", "dims"], dims.len(), cx.tensor_type(input)?.rank())?;
    let (result, own) = (cx.declared_result_tensor()?, cx.tensor_type(input)?.dtype);
    let rank = result.rank();
    if result.dtype != own {
        return Err(format!("the operand has elements {own}, the result {}", result.dtype));
    }
    if let Some(axis) = dims.iter().find(|&&n| !usize::try_from(n).is_ok_and(|n| n < rank)) {
        return Err(format!("`dims` has {axis}, out of range for rank {rank}"));
    }
    if let Some((_, axis)) = dims.iter().enumerate().find(|(i, n)| dims[..*i].contains(n)) {
        return Err(format!("`dims` has {axis} twice"));
    }
    let Some(extents) = constant_operand(cx, 1)? else {
        return form::build(cx, BROADCAST);
    };
    let (dims, ty) = (Axes(dims), result_type_with_extents(cx, &extents)?);
    let _ = cx.attr(&["known_expanding_dimensions"]);
    let _ = cx.attr(&["known_nonexpanding_dimensions"]);
    cx.emit_op(BroadcastInDim { input, dims, ty })
}

fn build_dynamic_iota(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let rank = cx.declared_result_tensor()?.rank();
    let axis = IntAttr(cx.axis(&["iota_dimension", "dim"], rank)?);
    let Some(extents) = constant_operand(cx, 0)? else {
        return form::build(cx, IOTA);
    };
    let ty = result_type_with_extents(cx, &extents)?;
    cx.emit_op(Iota { axis, ty })
}

// Returns a list of `count` integers; `None` if all entries are the default.
fn axes_unless_all(
    list: IntList,
    default: i64,
    count: usize,
    what: &str,
) -> Result<Option<Axes>, String> {
    if list.len() != count {
        let found = counted(list.len(), "entry");
        return Err(format!("the operand of {what} has {found}, expected {count}"));
    }
    Ok(list.iter().any(|&n| n != default).then(|| Axes(list)))
}

fn build_dynamic_pad(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, value, ..] = cx.operands::<5>()?;
    let (Some(low), Some(high), Some(interior)) =
        (constant_operand(cx, 2)?, constant_operand(cx, 3)?, constant_operand(cx, 4)?)
    else {
        return form::build(cx, RESHAPE);
    };
    let interior = axes_unless_all(interior, 0, low.len(), "interior")?;
    cx.emit_op(Pad { input, value, low: Axes(low), high: Axes(high), interior })
}

fn build_real_dynamic_slice(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, ..] = cx.operands::<4>()?;
    let (Some(starts), Some(limits), Some(strides)) =
        (constant_operand(cx, 1)?, constant_operand(cx, 2)?, constant_operand(cx, 3)?)
    else {
        return form::build(cx, RESHAPE);
    };
    let strides = axes_unless_all(strides, 1, starts.len(), "strides")?;
    cx.emit_op(Slice { input, starts: Axes(starts), limits: Axes(limits), strides })
}

fn build_dynamic_gather(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [_, _, _] = cx.operands()?;
    match constant_operand(cx, 2)? {
        Some(sizes) => emit_gather(cx, sizes),
        None => form::build(cx, GATHER),
    }
}

fn build_dynamic_conv(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [_, _, pads] = cx.operands()?;
    let known = constant_operand(cx, 2)?;
    let ty = cx.declared_result_tensor()?.clone();
    let mut op = read_convolution(cx)?;
    if let Some(list) = known {
        op.pads = Some(Pairs(list.chunks_exact(2).map(|row| [row[0], row[1]]).collect()));
        return cx.emit_op(op);
    }
    cx.emit_op(DynamicConv {
        input: op.input,
        kernel: op.kernel,
        pads,
        input_dims: op.input_dims,
        kernel_dims: op.kernel_dims,
        output_dims: op.output_dims,
        strides: op.strides,
        input_dilation: op.input_dilation,
        kernel_dilation: op.kernel_dilation,
        reversal: op.reversal,
        feature_groups: op.feature_groups,
        batch_groups: op.batch_groups,
        accumulate: op.accumulate,
        ty: ty.into(),
    })
}

// Writes a convolution in the generic form, the only one that it has.
fn print_dynamic_conv(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<DynamicConv>(inst)?;
    w.start_generic_op(inst, mapping.name);
    let batch_groups = op.batch_groups.0;
    let _ = write!(w.out, " <{{batch_group_count = {batch_groups} : i64, dimension_numbers = ");
    w.out.push_str("#stablehlo.conv<");
    write_conv_layouts(w, [&op.input_dims, &op.kernel_dims, &op.output_dims]);
    let _ = write!(w.out, ">, feature_group_count = {} : i64", op.feature_groups.0);
    let lists = [
        ("lhs_dilation", &op.input_dilation),
        ("rhs_dilation", &op.kernel_dilation),
        ("window_strides", &op.strides),
    ];
    for (name, list) in lists {
        if let Some(list) = list {
            let _ = write!(w.out, ", {name} = ");
            write_array(&mut w.out, list);
        }
    }
    if let Some(list) = &op.reversal {
        let words: Vec<&str> =
            list.iter().map(|&n| if n == 0 { "false" } else { "true" }).collect();
        let _ = write!(w.out, ", window_reversal = array<i1: {}>", words.join(", "));
    }
    w.out.push_str("}>");
    w.end_generic_op(inst, mapping.name);
    Ok(())
}
