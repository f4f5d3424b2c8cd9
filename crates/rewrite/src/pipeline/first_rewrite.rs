//! Finding the first rewrite that makes a program bad, by bisection.

use std::sync::Arc;

use sapwood_ptir::{Name, Program};

use super::{PassManager, RunReport};
use crate::passes::Pass;

/// Finds the pattern whose rewrite is the first to make a program bad, in the first function that is bad on its own. `after` is the program
/// after the pass, which is bad. Returns none if the pass does not count rewrites, or if no single function is bad.
///
/// A program is bad if it differs from the first, does not verify, or the like.
pub fn find_first_rewrite(
    pass: &dyn Pass,
    before: &Program,
    after: &Program,
    is_bad: &dyn Fn(&Program) -> bool,
) -> Option<String> {
    let with_function = |name: Name, other: &Program| {
        let mut mixed = before.clone();
        mixed.replace(other.function(name)?.clone());
        Some(mixed)
    };
    let is_bad_with = |name: Name, other: &Program| Some(is_bad(&with_function(name, other)?));
    let mut names = before.functions().iter().map(|f| f.name());
    let name = names.find(|&name| is_bad_with(name, after) == Some(true))?;
    // The other functions are already rewritten, so that every rewrite is in this one.
    let mut start = after.clone();
    start.replace(before.function(name)?.clone());
    let limited = |rewrites| run_pass(&start, pass.with_max_rewrites(rewrites)?);
    let (mut good, mut bad) = (0, 1);
    while !is_bad_with(name, &limited(bad)?.0)? {
        good = bad;
        bad = bad.checked_mul(2).filter(|&n| n < 1 << 30)?;
    }
    while good + 1 < bad {
        let middle = good.midpoint(bad);
        if is_bad_with(name, &limited(middle)?.0)? { bad = middle } else { good = middle }
    }
    let (_, report) = limited(bad)?;
    let greedy = report.passes.iter().rev().find_map(|pass| pass.greedy.as_ref())?;
    greedy.last_fired.first().cloned()
}

fn run_pass(start: &Program, pass: Arc<dyn Pass>) -> Option<(Program, RunReport)> {
    let mut after = start.clone();
    let report = PassManager::from(vec![pass]).assume_verified(true).run(&mut after).ok()?;
    Some((after, report))
}
