//! Control flow.

use std::fmt::Write as _;

use sapwood_ptir::ops::{Case, Cond, While};
use sapwood_ptir::{InstId, Op as _};

use super::{OpConverter, OpMapping, ResultValues};
use crate::write::{TextWriter, WriteError, unwritable};

pub(super) const MAPPINGS: &[OpMapping] = &[
    OpMapping::new("stablehlo.if", "cond", read_if, write_generic_op),
    OpMapping::new("stablehlo.case", "case", read_case, write_generic_op),
    OpMapping::new("stablehlo.while", "while", read_while, write_while),
    OpMapping::new("stablehlo.while", "scan", read_while, write_scan),
];

fn read_if(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [pred] = cx.operands()?;
    let [then, otherwise] = cx.regions()?;
    cx.emit(&Cond { pred, then, otherwise }.into_parts())
}

fn read_case(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let [index] = cx.operands()?;
    let branches = cx.op.regions.clone();
    cx.regions_used = true;
    cx.emit(&Case { index, branches }.into_parts())
}

fn read_while(cx: &mut OpConverter<'_, '_>) -> Result<ResultValues, String> {
    let inits = cx.op.operands.iter().copied().collect();
    let [cond, body] = cx.regions()?;
    cx.emit(&While { inits, cond, body }.into_parts())
}

fn write_generic_op(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    w.start_generic_op(inst, mapping.name);
    w.write_generic_regions(inst, mapping.name);
    Ok(())
}

fn write_while(
    w: &mut TextWriter<'_>,
    inst: InstId,
    mapping: &'static OpMapping,
) -> Result<(), WriteError> {
    let Some(op) = w.f.view::<While>(inst) else { return Err(unwritable(w, inst, "malformed")) };
    w.start_op(inst, mapping.name);
    w.out.push('(');
    let (cond, body) = (w.f.body_params(op.cond), w.f.body_params(op.body));
    for (i, &init) in op.inits.iter().enumerate() {
        if i > 0 {
            w.out.push_str(", ");
        }
        w.name_value(body[i]);
        w.name_like(cond[i], body[i]);
        w.write_value(body[i]);
        w.out.push_str(" = ");
        w.write_value(init);
    }
    w.out.push(')');
    if !body.is_empty() {
        w.out.push_str(" : ");
        w.write_types(body);
    }
    if let Some(text) = w.extras_of(inst, mapping.name) {
        let _ = write!(w.out, " attributes {{{text}}}");
    }
    w.out.push('\n');
    w.write_indent();
    w.out.push_str(" cond ");
    w.queue_region_without_params(op.cond);
    w.queue_text(" do ");
    w.queue_region_without_params(op.body);
    w.queue_text("\n");
    Ok(())
}

fn write_scan(
    w: &mut TextWriter<'_>,
    inst: InstId,
    _: &'static OpMapping,
) -> Result<(), WriteError> {
    Err(unwritable(w, inst, "StableHLO has no scan; write it as a `while` that slices"))
}
