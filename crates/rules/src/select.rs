//! A set of matches that do not overlap.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{InstId, Name};

use crate::graph::PatternGraph;
use crate::matcher::Match;

/// Which of two overlapping matches is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Prefer {
    /// The one whose first instruction stands first; of those, the pattern given first.
    #[default]
    Earliest,
    /// The one with more instructions, then as above.
    Largest,
    /// The one whose pattern has the higher benefit, then as above.
    Benefit,
}

/// Takes matches that share no instruction, in the order of preference, and gives their numbers in the order they had.
/// What `accept` refuses blocks nothing.
#[must_use]
pub fn select(
    matches: &[Match],
    patterns: &[PatternGraph],
    prefer: Prefer,
    accept: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..matches.len()).collect();
    match prefer {
        Prefer::Earliest => {}
        Prefer::Largest => order.sort_by_key(|&n| std::cmp::Reverse(matches[n].ops.len())),
        Prefer::Benefit => {
            order.sort_by_key(|&n| std::cmp::Reverse(patterns[matches[n].pattern].benefit));
        }
    }
    let mut taken: HashSet<(Name, InstId), FxBuildHasher> = HashSet::default();
    let mut chosen = Vec::new();
    for n in order {
        let found = &matches[n];
        if found.ops.iter().any(|&i| taken.contains(&(found.function, i))) || !accept(n) {
            continue;
        }
        taken.extend(found.ops.iter().map(|&i| (found.function, i)));
        chosen.push(n);
    }
    chosen.sort_unstable();
    chosen
}
