//! `strip-spans`: where things were written is forgotten.

use sapwood_ptir::{Function, InstId};
use sapwood_types::Span;

use super::each::{Outcome, Worked, function_pass};
use crate::pass_trace::PassListener;
use crate::pipeline::PassInfo;

/// Forgets the spans of functions and instructions.
#[derive(Clone, Copy, Debug, Default)]
pub struct StripSpansPass;

function_pass!(StripSpansPass, strip);

fn strip(_: &StripSpansPass, f: &mut Function, _: PassListener<'_>) -> Worked {
    let known: Vec<InstId> = f.walk().filter(|&i| !f.inst_span(i).is_unknown()).collect();
    let changed = !known.is_empty() || !f.span().is_unknown();
    for &inst in &known {
        f.set_inst_span(inst, Span::unknown());
    }
    f.set_span(Span::unknown());
    Ok(Outcome { changed, ..Outcome::counted("stripped", known.len()) })
}

pub(super) const INFO: PassInfo = PassInfo {
    name: "strip-spans",
    doc: "Forgets where functions and instructions were written.",
    options: &[],
    make: |_| Ok(Box::new(StripSpansPass)),
};
