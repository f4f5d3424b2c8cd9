//! `strip-spans`: removes spans, and the locations that they have.

use sapwood_ptir::{Function, InstId};
use sapwood_types::Span;

use super::each_function::{FunctionOutcome, FunctionResult, function_pass};
use crate::pass_trace::PassListener;
use crate::pipeline::{MakePass, PassInfo};

/// A pass that removes the spans of functions and instructions, and the locations (`loc`) that they have.
#[derive(Clone, Copy, Debug, Default)]
pub struct StripSpansPass;

function_pass!(StripSpansPass, strip_spans);

fn strip_spans(_: &StripSpansPass, f: &mut Function, _: PassListener<'_>) -> FunctionResult {
    let known: Vec<InstId> = f.walk().filter(|&i| f.inst_span(i) != Span::unknown()).collect();
    let changed = !known.is_empty() || f.span() != Span::unknown();
    for &inst in &known {
        f.set_inst_span(inst, Span::unknown());
    }
    f.set_span(Span::unknown());
    Ok(FunctionOutcome { changed, ..FunctionOutcome::counted("stripped", known.len()) })
}

pub(super) static INFO: PassInfo = PassInfo {
    name: "strip-spans",
    doc: "Removes the spans and the locations (`loc`) of functions and instructions.",
    options: &[],
    make: MakePass::Plain(|options| options.fill(StripSpansPass)),
};
