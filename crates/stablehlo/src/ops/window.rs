//! Reductions over windows.

use std::fmt::Write as _;

use sapwood_ptir::ops::{ReduceWindow, SelectAndScatter};
use sapwood_ptir::{Axes, InstId, Op as _, Pairs};

use super::reduce::inputs_and_inits;
use super::{OpConverter, OpMapping, ResultValues};
use crate::write::{TextWriter, WriteError, unwritable};

pub(super) const MAPPINGS: &[OpMapping] = &[
    OpMapping::new(
        "stablehlo.reduce_window",
        "reduce_window",
        read_reduce_window,
        write_reduce_window,
    ),
    OpMapping::new(
        "stablehlo.select_and_scatter",
        "select_and_scatter",
        read_select_and_scatter,
        write_select_and_scatter,
    ),
];

fn read_reduce_window(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let (inputs, inits) = inputs_and_inits(cx)?;
    let [body] = cx.regions()?;
    let window = Axes(cx.ints(&["window_dimensions"])?);
    let rank = window.len();
    let op = ReduceWindow {
        inputs,
        inits,
        body,
        window,
        strides: cx.optional_ints_unless(&["window_strides"], 1, rank)?,
        pads: cx.int_pairs(&["padding"], rank)?,
        base_dilation: cx.optional_ints_unless(&["base_dilations"], 1, rank)?,
        window_dilation: cx.optional_ints_unless(&["window_dilations"], 1, rank)?,
    };
    cx.emit(&op.into_parts())
}

fn read_select_and_scatter(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [input, source, init] = cx.operands()?;
    let [select, scatter] = cx.regions()?;
    let rank = cx.tensor_type(input)?.rank();
    let window = Axes(cx.ints(&["window_dimensions"])?);
    cx.check_count(&["window_dimensions"], window.len(), rank)?;
    let op = SelectAndScatter {
        input,
        source,
        init,
        select,
        scatter,
        window,
        strides: cx.optional_ints_unless(&["window_strides"], 1, rank)?,
        pads: cx.int_pairs(&["padding"], rank)?,
    };
    cx.emit(&op.into_parts())
}

fn push_i64_array(out: &mut String, list: &[i64]) {
    out.push_str("array<i64");
    for (i, n) in list.iter().enumerate() {
        out.push_str(if i == 0 { ": " } else { ", " });
        let _ = write!(out, "{n}");
    }
    out.push('>');
}

/// Writes `, name = array<i64: …>` if it is present.
fn write_optional_array(w: &mut TextWriter<'_>, name: &str, list: Option<&Axes>) {
    if let Some(list) = list {
        let _ = write!(w.out, ", {name} = ");
        push_i64_array(&mut w.out, list);
    }
}

fn write_padding(w: &mut TextWriter<'_>, pads: Option<&Pairs>) {
    if let Some(pads) = pads {
        let rows: Vec<String> = pads.iter().map(|[a, b]| format!("[{a}, {b}]")).collect();
        let _ = write!(
            w.out,
            ", padding = dense<[{}]> : tensor<{}x2xi64>",
            rows.join(", "),
            pads.len()
        );
    }
}

fn write_reduce_window(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<ReduceWindow>(inst) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    w.start_generic_op(inst, mapping.name);
    w.out.push_str(" <{window_dimensions = ");
    push_i64_array(&mut w.out, &op.window);
    write_optional_array(w, "window_strides", op.strides.as_ref());
    write_optional_array(w, "base_dilations", op.base_dilation.as_ref());
    write_optional_array(w, "window_dilations", op.window_dilation.as_ref());
    write_padding(w, op.pads.as_ref());
    w.out.push_str("}>");
    w.write_generic_regions(inst, mapping.name);
    Ok(())
}

fn write_select_and_scatter(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<SelectAndScatter>(inst) else {
        return Err(unwritable(w, inst, "malformed"));
    };
    w.start_generic_op(inst, mapping.name);
    w.out.push_str(" <{window_dimensions = ");
    push_i64_array(&mut w.out, &op.window);
    write_optional_array(w, "window_strides", op.strides.as_ref());
    write_padding(w, op.pads.as_ref());
    w.out.push_str("}>");
    w.write_generic_regions(inst, mapping.name);
    Ok(())
}

/// Writes `array<i64: 1, 2>`.
pub(super) fn write_array(out: &mut String, list: &[i64]) {
    push_i64_array(out, list);
}
