//! The assumption ledger: conventions that patterns take for granted instead of proving them, and how often a run relied on each.

use crate::pipeline::RunReport;

/// A convention that patterns take for granted.
#[derive(Debug)]
pub struct Assumption {
    /// The name, which disables the patterns that rely on the convention where the name of a pattern does.
    pub name: &'static str,
    /// The convention in words.
    pub doc: &'static str,
    /// The patterns that rely on it.
    pub patterns: &'static [&'static str],
    // The name of the counter in reports on passes.
    counter: &'static str,
}

/// The assumptions of the shipped patterns.
pub static ASSUMPTIONS: &[Assumption] = &[Assumption {
    name: "shape-arithmetic-fits",
    doc: "integers that a program computes from extents fit their element types",
    patterns: &[
        "shape_value_as_dims",
        "decided_by_facts",
        "dynamic_reshape_of_known",
        "dynamic_broadcast_of_known",
        "dynamic_iota_of_known",
        "dynamic_pad_of_known",
        "real_dynamic_slice_of_known",
        "real_dynamic_slice_of_offset",
        "dynamic_gather_of_known",
        "dynamic_conv_of_known",
    ],
    counter: "assumed: shape-arithmetic-fits",
}];

/// Returns names of patterns with the patterns of assumptions in place of the names of these. Patterns that do not exist are left out.
pub(crate) fn expand_assumptions(names: &[String], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut all = Vec::new();
    for name in names {
        match ASSUMPTIONS.iter().find(|assumption| assumption.name == name) {
            None => all.push(name.clone()),
            Some(assumption) => {
                let patterns = assumption.patterns.iter().filter(|pattern| exists(pattern));
                all.extend(patterns.map(|&pattern| pattern.to_owned()));
            }
        }
    }
    all
}

/// Returns a counter for each assumption that a pass relied on, given how often it applied each pattern.
pub(crate) fn assumption_counters(
    applied: impl Fn(&str) -> usize,
) -> impl Iterator<Item = (&'static str, usize)> {
    let uses = |assumption: &Assumption| assumption.patterns.iter().map(|name| applied(name)).sum();
    let counters = ASSUMPTIONS.iter().map(|assumption| (assumption.counter, uses(assumption)));
    counters.filter(|(_, uses)| *uses > 0).collect::<Vec<_>>().into_iter()
}

impl RunReport {
    /// Returns the assumptions that the run may have relied on, each with the number of rewrites by patterns that do.
    #[must_use]
    pub fn assumptions(&self) -> Vec<(&'static Assumption, usize)> {
        let uses = |assumption: &Assumption| {
            let counters = self.passes.iter().flat_map(|pass| &pass.counters);
            counters.filter(|(name, _)| *name == assumption.counter).map(|(_, n)| n).sum()
        };
        let all = ASSUMPTIONS.iter().map(|assumption| (assumption, uses(assumption)));
        all.filter(|(_, uses)| *uses > 0).collect()
    }
}
