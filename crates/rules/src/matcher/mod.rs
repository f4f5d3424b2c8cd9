//! The matcher: candidates from an index, bindings with an undo trail, one match per set of ops.

mod explain;
mod failure_text;
mod feasibility;
mod find;
mod index;
mod match_failure;
mod matches;
mod open;
mod pattern_instance;
mod regions;
mod search;

use sapwood_ptir::{Name, Program};

pub use explain::{NearMiss, explain};
pub(crate) use find::{find_disjoint, find_selected};
pub(crate) use index::FunctionIndex;
pub use matches::{Exhausted, FindReport, Match, SearchLimit};
pub(crate) use open::nested_in;
pub(crate) use pattern_instance::is_instance;
pub(crate) use search::{Bindings, Search, SearchContext, SearchEnd, attr_at};

use crate::graph::{OpIx, PatternGraph};

/// The options of a search.
#[derive(Clone, Debug)]
pub struct FindOptions {
    /// Compares the written types. A `?` in them matches any dim, a named dim the same dim everywhere.
    pub typed: bool,
    /// Requires operands of commutative ops in the order of the pattern.
    pub operand_order: bool,
    /// Allows two ops of a pattern to match one instruction, as in rewrite rules.
    pub share_ops: bool,
    /// Searches extracted functions too.
    pub in_extracted: bool,
    /// The largest number of candidates from one root.
    pub steps_per_root: u64,
    /// The largest number of candidates for one pattern in one function; by default 64 per instruction and ten million.
    pub steps: Option<u64>,
    /// The largest number of matches of one pattern in one function; by default four per instruction and a hundred thousand.
    pub matches: Option<usize>,
    /// The names of the patterns to search for; all if it is empty. The others are used only for calls in these patterns.
    pub only: Vec<Name>,
}

impl FindOptions {
    /// Returns the indices of the patterns to search for.
    pub(crate) fn selected(&self, patterns: &[PatternGraph]) -> Vec<usize> {
        let is_selected = |p: &PatternGraph| self.only.is_empty() || self.only.contains(&p.name);
        (0..patterns.len()).filter(|&n| is_selected(&patterns[n])).collect()
    }
}

impl Default for FindOptions {
    fn default() -> Self {
        Self {
            typed: false,
            operand_order: false,
            share_ops: false,
            in_extracted: true,
            steps_per_root: 100_000,
            steps: None,
            matches: None,
            only: Vec::new(),
        }
    }
}

/// Finds all matches of patterns, legal or not; [`legality`](crate::legality) checks that.
///
/// ```
/// use sapwood_ptir::{Registry, parse};
/// use sapwood_rules::{FindOptions, find_matches, patterns_from};
/// use sapwood_types::Source;
///
/// let pattern = "ptir 1 func @square(%a: f32[4]) -> f32[4] { %m = mul %a, %a : f32[4] return %m }";
/// let patterns = patterns_from(&Source::new("square.ptir", pattern), &Registry::builtin())?;
/// let program = parse(
///     "ptir 1 func @f(%x: f32[2], %y: f32[2]) -> (f32[2], f32[2]) {
///        %p = mul %x, %x : f32[2] %q = mul %x, %y : f32[2] return %p, %q
///      }",
/// )?;
/// let found = find_matches(&program, &patterns, &FindOptions::default());
/// assert_eq!(found.matches.len(), 1);
/// # Ok::<(), sapwood_types::Diagnostics>(())
/// ```
#[must_use]
pub fn find_matches(
    program: &Program,
    patterns: &[PatternGraph],
    options: &FindOptions,
) -> FindReport {
    find_selected(program, patterns, &options.selected(patterns), options)
}

// Returns the ops at which to start the search: the op of the pattern with the fewest instructions in the function, or the roots of
// a pattern that is not plain. None if an op is missing that every match has.
fn search_roots(index: &FunctionIndex<'_>, pattern: &PatternGraph) -> Vec<OpIx> {
    if !pattern.roots.is_empty() {
        let there = |op: &OpIx| index.count(&pattern.ops[*op]) > 0;
        return pattern.roots.iter().map(|root| root.op).filter(there).collect();
    }
    rarest_op(index, pattern).into_iter().collect()
}

// Returns the op of a plain pattern with the fewest instructions in the function; none if one of the ops is missing.
fn rarest_op(index: &FunctionIndex<'_>, pattern: &PatternGraph) -> Option<OpIx> {
    let count = |op: OpIx| index.of(pattern.ops[op].key).len();
    let root = (0..pattern.ops.len()).rev().min_by_key(|&op| count(op))?;
    (count(root) > 0).then_some(root)
}
