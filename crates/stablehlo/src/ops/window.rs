//! Reductions over windows.

use std::fmt::Write as _;

use sapwood_ptir::ops::{ReduceWindow, SelectAndScatter};
use sapwood_ptir::{Axes, InstId, Op as _, Pairs};

use super::reduce::halves;
use super::{Convert, Made, Row};
use crate::write::{WriteError, Writer, refuse};

pub(super) const ROWS: &[Row] = &[
    Row::new("stablehlo.reduce_window", "reduce_window", read_window, write_window),
    Row::new("stablehlo.select_and_scatter", "select_and_scatter", read_select, write_select),
];

fn read_window(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let (inputs, inits) = halves(cx)?;
    let [body] = cx.regions()?;
    let window = Axes(cx.ints(&["window_dimensions"])?);
    let rank = window.len();
    let op = ReduceWindow {
        inputs,
        inits,
        body,
        window,
        strides: cx.optional_ints(&["window_strides"], 1, rank)?,
        pads: cx.pairs(&["padding"], rank)?,
        base_dilation: cx.optional_ints(&["base_dilations"], 1, rank)?,
        window_dilation: cx.optional_ints(&["window_dilations"], 1, rank)?,
    };
    cx.emit(&op.into_parts())
}

fn read_select(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [input, source, init] = cx.operands()?;
    let [select, scatter] = cx.regions()?;
    let rank = cx.tensor(input)?.rank();
    let window = match cx.attr(&["window_dimensions"]).is_some() {
        true => Axes(cx.ints(&["window_dimensions"])?),
        false => std::iter::repeat_n(1i64, rank).collect(),
    };
    cx.count(&["window_dimensions"], window.len(), rank)?;
    let op = SelectAndScatter {
        input,
        source,
        init,
        select,
        scatter,
        window,
        strides: cx.optional_ints(&["window_strides"], 1, rank)?,
        pads: cx.pairs(&["padding"], rank)?,
    };
    cx.emit(&op.into_parts())
}

fn array(out: &mut String, list: &[i64]) {
    out.push_str("array<i64");
    for (i, n) in list.iter().enumerate() {
        out.push_str(if i == 0 { ": " } else { ", " });
        let _ = write!(out, "{n}");
    }
    out.push('>');
}

/// Writes `, name = array<i64: …>` if it is there.
fn entry(w: &mut Writer<'_>, name: &str, list: Option<&Axes>) {
    if let Some(list) = list {
        let _ = write!(w.out, ", {name} = ");
        array(&mut w.out, list);
    }
}

fn pads(w: &mut Writer<'_>, pads: Option<&Pairs>) {
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

fn write_window(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<ReduceWindow>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start_generic(inst, row.name);
    w.out.push_str(" <{window_dimensions = ");
    array(&mut w.out, &op.window);
    entry(w, "window_strides", op.strides.as_ref());
    entry(w, "base_dilations", op.base_dilation.as_ref());
    entry(w, "window_dilations", op.window_dilation.as_ref());
    pads(w, op.pads.as_ref());
    w.out.push_str("}>");
    w.generic_regions(inst, row.name);
    Ok(())
}

fn write_select(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<SelectAndScatter>(inst) else {
        return Err(refuse(w, inst, "malformed"));
    };
    w.start_generic(inst, row.name);
    w.out.push_str(" <{window_dimensions = ");
    array(&mut w.out, &op.window);
    entry(w, "window_strides", op.strides.as_ref());
    pads(w, op.pads.as_ref());
    w.out.push_str("}>");
    w.generic_regions(inst, row.name);
    Ok(())
}

/// `array<i64: 1, 2>`.
pub(super) fn write_array(out: &mut String, list: &[i64]) {
    array(out, list);
}
