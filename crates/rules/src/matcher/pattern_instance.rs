//! A test whether a function is an instance of a pattern.

use sapwood_ptir::{Function, InstId};

use super::{FindOptions, FunctionIndex, Search, SearchContext, search_roots};
use crate::graph::{Callees, MatchPlan, OpIx, PatternGraph, ValueIx, constant_behind};

/// Returns whether the body of a function is a pattern: all its instructions, with parameters and results in the same order.
pub(crate) fn is_instance(callees: &Callees<'_>, pattern: usize, f: &Function) -> bool {
    let pattern = &callees.patterns[pattern];
    // Constants and broadcasts of them are not ops of the pattern.
    let constant = |i: InstId| f.value_of(i).is_some_and(|v| constant_behind(f, v).is_some());
    let body = f.body_insts(f.body()).filter(|&i| !constant(i)).count().saturating_sub(1);
    let sizes_fit = body == pattern.ops.len() && pattern.params.len() == f.params().len();
    if pattern.roots.is_empty() && !sizes_fit {
        return false;
    }
    let options = FindOptions::default();
    let index = FunctionIndex::new(f);
    let cx = SearchContext { f, index: Some(&index), callees: Some(callees), options: &options };
    search_roots(&index, pattern).into_iter().any(|root| is_instance_at(cx, pattern, root, body))
}

// Returns whether all instructions match, if the search starts at this op.
fn is_instance_at(cx: SearchContext<'_>, pattern: &PatternGraph, root: OpIx, body: usize) -> bool {
    let (Some(index), f) = (cx.index, cx.f) else { return false };
    // The order of parameters matters here, so both orders of operands are tried even in symmetric ops.
    let plan = MatchPlan::every_order(pattern, root);
    let mut search = Search::new(cx, pattern, &plan);
    let mut instance = false;
    for &at in index.candidates(&pattern.ops[root]).iter() {
        search.run(at, |search| {
            let bound = |v: &ValueIx| search.bound.values[*v];
            let params = pattern.params.iter().map(bound).filter(Option::is_some);
            instance |= search.to_match(0).ops.len() == body
                && params.eq(f.params().iter().map(|&v| Some(v)))
                && pattern.outputs.iter().map(bound).eq(f.results().iter().map(|&v| Some(v)));
            !instance
        });
        if instance {
            return true;
        }
    }
    false
}
