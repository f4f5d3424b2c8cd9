//! Control flow.

use std::fmt::Write as _;

use sapwood_ptir::ops::{Case, Cond, While};
use sapwood_ptir::{InstId, Op as _};

use super::{Convert, Made, Row};
use crate::write::{WriteError, Writer, refuse};

pub(super) const ROWS: &[Row] = &[
    Row::new("stablehlo.if", "cond", read_if, write_generic),
    Row::new("stablehlo.case", "case", read_case, write_generic),
    Row::new("stablehlo.while", "while", read_while, write_while),
    Row::new("stablehlo.while", "scan", read_while, write_scan),
];

fn read_if(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [pred] = cx.operands()?;
    let [then, otherwise] = cx.regions()?;
    cx.emit(&Cond { pred, then, otherwise }.into_parts())
}

fn read_case(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let [index] = cx.operands()?;
    let branches = cx.op.regions.clone();
    cx.regions_asked = true;
    cx.emit(&Case { index, branches }.into_parts())
}

fn read_while(cx: &mut Convert<'_, '_>) -> Result<Made, String> {
    let inits = cx.op.operands.iter().copied().collect();
    let [cond, body] = cx.regions()?;
    cx.emit(&While { inits, cond, body }.into_parts())
}

fn write_generic(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    w.start_generic(inst, row.name);
    w.generic_regions(inst, row.name);
    Ok(())
}

fn write_while(w: &mut Writer<'_>, inst: InstId, row: &'static Row) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<While>(inst) else { return Err(refuse(w, inst, "malformed")) };
    w.start(inst, row.name);
    w.out.push('(');
    let (cond, body) = (w.f.body_params(op.cond), w.f.body_params(op.body));
    for (i, &init) in op.inits.iter().enumerate() {
        if i > 0 {
            w.out.push_str(", ");
        }
        w.define(body[i]);
        w.define_same(cond[i], body[i]);
        w.value(body[i]);
        w.out.push_str(" = ");
        w.value(init);
    }
    w.out.push(')');
    if !body.is_empty() {
        w.out.push_str(" : ");
        w.types(body);
    }
    if let Some(text) = w.extras_text(inst, row.name) {
        let _ = write!(w.out, " attributes {{{text}}}");
    }
    w.out.push('\n');
    w.indent();
    w.out.push_str(" cond ");
    w.then_bare_region(op.cond);
    w.then(" do ");
    w.then_bare_region(op.body);
    w.then("\n");
    Ok(())
}

fn write_scan(w: &mut Writer<'_>, inst: InstId, _: &'static Row) -> Result<(), WriteError> {
    Err(refuse(w, inst, "StableHLO has no scan; write it as a `while` that slices"))
}
