//! A test whether a function is an instance of a pattern.

use sapwood_ptir::{Function, InstId};

use super::{FindOptions, FunctionIndex, Search, SearchContext, rarest_op};
use crate::graph::{Callees, MatchPlan, ValueIx, constant_behind};

/// Returns whether the body of a function is a pattern: all its instructions, with parameters and results in the same order.
pub(crate) fn is_instance(callees: &Callees<'_>, pattern: usize, f: &Function) -> bool {
    let pattern = &callees.patterns[pattern];
    // Constants and broadcasts of them are not ops of the pattern.
    let constant = |i: InstId| f.value_of(i).is_some_and(|v| constant_behind(f, v).is_some());
    let body = f.body_insts(f.body()).filter(|&i| !constant(i)).count().saturating_sub(1);
    if body != pattern.ops.len() || pattern.params.len() != f.params().len() {
        return false;
    }
    let options = FindOptions::default();
    let index = FunctionIndex::new(f);
    let cx = SearchContext { f, index: Some(&index), callees: Some(callees), options: &options };
    let Some(root) = rarest_op(&index, pattern) else { return false };
    // The order of parameters matters here, so both orders of operands are tried even in symmetric ops.
    let plan = MatchPlan::every_order(pattern, root);
    let mut search = Search::new(cx, pattern, &plan);
    let mut instance = false;
    for &at in index.of(pattern.ops[root].key) {
        search.run(at, |search| {
            let bound = |v: &ValueIx| search.bound.values[*v];
            instance |= pattern.params.iter().map(bound).eq(f.params().iter().map(|&v| Some(v)))
                && pattern.outputs.iter().map(bound).eq(f.results().iter().map(|&v| Some(v)));
            !instance
        });
        if instance {
            return true;
        }
    }
    false
}
