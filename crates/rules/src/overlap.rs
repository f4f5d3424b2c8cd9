//! Selection of matches that do not overlap.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{InstId, Name};

use crate::graph::PatternGraph;
use crate::matcher::Match;

/// The preference between two overlapping matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OverlapPreference {
    /// The match whose first instruction comes first, then the pattern given first.
    #[default]
    Earliest,
    /// The match with more instructions, then as above.
    Largest,
    /// The match whose pattern has the higher benefit, then as above.
    Benefit,
}

/// Selects matches that share no instruction, in the order of preference, and returns their indices in the original order. A match
/// that `accept` refuses does not block others.
#[must_use]
pub fn select(
    matches: &[Match],
    patterns: &[PatternGraph],
    prefer: OverlapPreference,
    accept: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..matches.len()).collect();
    match prefer {
        OverlapPreference::Earliest => {}
        OverlapPreference::Largest => {
            order.sort_by_key(|&n| std::cmp::Reverse(matches[n].ops.len()));
        }
        OverlapPreference::Benefit => {
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
