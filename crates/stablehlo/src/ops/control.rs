//! Control flow.

use std::fmt::Write as _;

use sapwood_ptir::ops::While;

use super::form::Part::{Loop, Operands, Types};
use super::form::TypeSyntax::Generic;
use super::{OpMapping, PrintedOp, Silent, WriteResult, row};
use crate::write::{TextWriter, unwritable};

pub(super) const MAPPINGS: &[OpMapping] = &[
    row("stablehlo.if", "cond", &[Operands, Types(Generic)]),
    row("stablehlo.case", "case", &[Operands, Types(Generic)]),
    row("stablehlo.while", "while", &[Loop]).silent(Silent::Never).print(print_while),
    row("stablehlo.while", "scan", &[Loop]).print(print_scan),
];

fn print_while(w: &mut TextWriter<'_>, (inst, mapping): PrintedOp) -> WriteResult {
    let op = w.view::<While>(inst)?;
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

fn print_scan(w: &mut TextWriter<'_>, (inst, _): PrintedOp) -> WriteResult {
    Err(unwritable(w, inst, "StableHLO has no scan; write it as a `while` that slices"))
}
