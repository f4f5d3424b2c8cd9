//! Ops whose shapes are operands: read where those are constant, kept as they are otherwise.

use sapwood_ptir::ops::{BroadcastInDim, Iota, Pad, Reshape, Slice};
use sapwood_ptir::{Axes, Dim, Int, ResultType, TensorType};

use sapwood_types::counted;

use super::index::gather;
use super::{Convert, Made, Row};
use crate::attr::{Ints, literal_ints};

pub(super) const ROWS: &[Row] = &[
    Row::read_only("stablehlo.dynamic_reshape", read_reshape),
    Row::read_only("stablehlo.dynamic_broadcast_in_dim", read_broadcast),
    Row::read_only("stablehlo.dynamic_iota", read_iota),
    Row::read_only("stablehlo.dynamic_pad", read_pad),
    Row::read_only("stablehlo.real_dynamic_slice", read_slice),
    Row::read_only("stablehlo.dynamic_gather", read_gather),
];

// The numbers of an operand, if it is constant.
fn constant(cx: &mut Convert<'_, '_>, operand: usize) -> Result<Option<Ints>, String> {
    let value = cx.operand(operand)?;
    Ok(cx.constant_of(value).and_then(literal_ints))
}

// The result's type with the extents that an operand says.
fn shaped(cx: &Convert<'_, '_>, extents: &[i64]) -> Result<ResultType, String> {
    let stated = cx.result_tensor()?;
    if stated.rank() != extents.len() {
        let (rank, n) = (stated.rank(), extents.len());
        let n = counted(n, "entry");
        return Err(format!("the shape has {n}, but the result has rank {rank}"));
    }
    let dims = extents.iter().map(|&n| u64::try_from(n).ok().map(Dim::Known));
    let dims = dims.collect::<Option<_>>().ok_or("an extent is negative")?;
    Ok(TensorType { dtype: stated.dtype, dims }.into())
}

// The op as it is: nothing here can say its shape.
fn keep(cx: &mut Convert<'_, '_>, lists: &[(&[&'static str], &str)]) -> Result<Made, String> {
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
            super::window::write_array(&mut text, &list);
        }
    }
    if !text.is_empty() {
        text.push('}');
    }
    super::unknown::keep(cx, text, true)
}

fn read_reshape(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input, _] = cx.operands()?;
    match constant(cx, 1)? {
        Some(extents) => {
            let ty = shaped(cx, &extents)?;
            cx.one(Reshape { input, ty })
        }
        None => keep(cx, &[]),
    }
}

fn read_broadcast(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input, _] = cx.operands()?;
    let dims = cx.ints(&["broadcast_dimensions", "dims"])?;
    cx.count(&["broadcast_dimensions", "dims"], dims.len(), cx.tensor(input)?.rank())?;
    let rank = cx.result_tensor()?.rank();
    if let Some(axis) = dims.iter().find(|&&n| !usize::try_from(n).is_ok_and(|n| n < rank)) {
        return Err(format!("`dims` has {axis}, out of range for rank {rank}"));
    }
    let Some(extents) = constant(cx, 1)? else {
        return keep(
            cx,
            &[
                (&["broadcast_dimensions", "dims"], "broadcast_dimensions"),
                (&["known_expanding_dimensions"], "known_expanding_dimensions"),
                (&["known_nonexpanding_dimensions"], "known_nonexpanding_dimensions"),
            ],
        );
    };
    let (dims, ty) = (Axes(dims), shaped(cx, &extents)?);
    let _ = cx.attr(&["known_expanding_dimensions"]);
    let _ = cx.attr(&["known_nonexpanding_dimensions"]);
    cx.one(BroadcastInDim { input, dims, ty })
}

fn read_iota(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let rank = cx.result_tensor()?.rank();
    let axis = Int(cx.axis(&["iota_dimension", "dim"], rank)?);
    let Some(extents) = constant(cx, 0)? else {
        return keep(cx, &[(&["iota_dimension", "dim"], "iota_dimension")]);
    };
    let ty = shaped(cx, &extents)?;
    cx.one(Iota { axis, ty })
}

// A list of so many that is left out if all its entries are the usual one.
fn unless_all(list: Ints, usual: i64, count: usize, what: &str) -> Result<Option<Axes>, String> {
    if list.len() != count {
        let found = counted(list.len(), "entry");
        return Err(format!("the operand of {what} has {found}, expected {count}"));
    }
    Ok(list.iter().any(|&n| n != usual).then(|| Axes(list)))
}

fn read_pad(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input, value, ..] = cx.operands::<5>()?;
    let (Some(low), Some(high), Some(interior)) =
        (constant(cx, 2)?, constant(cx, 3)?, constant(cx, 4)?)
    else {
        return keep(cx, &[]);
    };
    let interior = unless_all(interior, 0, low.len(), "interior")?;
    cx.one(Pad { input, value, low: Axes(low), high: Axes(high), interior })
}

fn read_slice(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input, ..] = cx.operands::<4>()?;
    let (Some(starts), Some(limits), Some(strides)) =
        (constant(cx, 1)?, constant(cx, 2)?, constant(cx, 3)?)
    else {
        return keep(cx, &[]);
    };
    let strides = unless_all(strides, 1, starts.len(), "strides")?;
    cx.one(Slice { input, starts: Axes(starts), limits: Axes(limits), strides })
}

fn read_gather(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [_, _, _] = cx.operands()?;
    match constant(cx, 2)? {
        Some(sizes) => gather(cx, Axes(sizes)),
        None => super::unknown::read(cx),
    }
}
