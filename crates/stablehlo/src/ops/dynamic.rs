//! Ops whose shapes are operands: converted if those are constant, kept as unknown ops otherwise.

use sapwood_ptir::ops::{BroadcastInDim, Iota, Pad, Reshape, Slice};
use sapwood_ptir::{Axes, Dim, Int, ResultType, TensorType};

use sapwood_types::counted;

use super::index::emit_gather;
use super::{OpConverter, OpMapping, ResultValues, read_only};
use crate::attr::{Ints, literal_ints};

pub(super) const MAPPINGS: &[OpMapping] = &[
    read_only("stablehlo.dynamic_reshape", build_dynamic_reshape),
    read_only("stablehlo.dynamic_broadcast_in_dim", build_dynamic_broadcast_in_dim),
    read_only("stablehlo.dynamic_iota", build_dynamic_iota),
    read_only("stablehlo.dynamic_pad", build_dynamic_pad),
    read_only("stablehlo.real_dynamic_slice", build_real_dynamic_slice),
    read_only("stablehlo.dynamic_gather", build_dynamic_gather),
];

// Returns the integers of an operand, if it is constant.
fn constant_operand(cx: &OpConverter<'_, '_>, operand: usize) -> Result<Option<Ints>, String> {
    let value = cx.operand(operand)?;
    Ok(cx.constant_of(value).and_then(literal_ints))
}

// Returns the result type with the extents of a shape operand.
fn result_type_with_extents(
    cx: &OpConverter<'_, '_>,
    extents: &[i64],
) -> Result<ResultType, String> {
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

// Keeps the op as an unknown op, because its shape is not known.
fn keep_dynamic_op(
    cx: &mut OpConverter<'_, '_>,
    lists: &[(&[&'static str], &str)],
) -> Result<ResultValues, String> {
    let mut text = String::new();
    for (names, name) in lists {
        if cx.attr(names).is_none() {
            continue;
        }
        let list = cx.ints(names)?;
        text.push_str(if text.is_empty() { "{" } else { ", " });
        text.push_str(name);
        text.push_str(" = ");
        if *name == "iota_dimension" {
            text.push_str(&format!("{} : i64", list.first().copied().unwrap_or(0)));
        } else {
            crate::write::write_array(&mut text, &list);
        }
    }
    if !text.is_empty() {
        text.push('}');
    }
    super::unknown::keep_unknown_op(cx, text, true)
}

fn build_dynamic_reshape(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, _] = cx.operands()?;
    match constant_operand(cx, 1)? {
        Some(extents) => {
            let ty = result_type_with_extents(cx, &extents)?;
            cx.emit_op(Reshape { input, ty })
        }
        None => keep_dynamic_op(cx, &[]),
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
        return keep_dynamic_op(
            cx,
            &[
                (&["broadcast_dimensions", "dims"], "broadcast_dimensions"),
                (&["known_expanding_dimensions"], "known_expanding_dimensions"),
                (&["known_nonexpanding_dimensions"], "known_nonexpanding_dimensions"),
            ],
        );
    };
    let (dims, ty) = (Axes(dims), result_type_with_extents(cx, &extents)?);
    let _ = cx.attr(&["known_expanding_dimensions"]);
    let _ = cx.attr(&["known_nonexpanding_dimensions"]);
    cx.emit_op(BroadcastInDim { input, dims, ty })
}

fn build_dynamic_iota(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let rank = cx.declared_result_tensor()?.rank();
    let axis = Int(cx.axis(&["iota_dimension", "dim"], rank)?);
    let Some(extents) = constant_operand(cx, 0)? else {
        return keep_dynamic_op(cx, &[(&["iota_dimension", "dim"], "iota_dimension")]);
    };
    let ty = result_type_with_extents(cx, &extents)?;
    cx.emit_op(Iota { axis, ty })
}

// Returns a list of `count` integers; `None` if all entries are the default.
fn axes_unless_all(
    list: Ints,
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
        return keep_dynamic_op(cx, &[]);
    };
    let interior = axes_unless_all(interior, 0, low.len(), "interior")?;
    cx.emit_op(Pad { input, value, low: Axes(low), high: Axes(high), interior })
}

fn build_real_dynamic_slice(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, ..] = cx.operands::<4>()?;
    let (Some(starts), Some(limits), Some(strides)) =
        (constant_operand(cx, 1)?, constant_operand(cx, 2)?, constant_operand(cx, 3)?)
    else {
        return keep_dynamic_op(cx, &[]);
    };
    let strides = axes_unless_all(strides, 1, starts.len(), "strides")?;
    cx.emit_op(Slice { input, starts: Axes(starts), limits: Axes(limits), strides })
}

fn build_dynamic_gather(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [_, _, _] = cx.operands()?;
    match constant_operand(cx, 2)? {
        Some(sizes) => emit_gather(cx, sizes),
        None => super::unknown::build(cx),
    }
}
