//! Finding patterns: candidates from an index, bindings with a trail, one match per set of ops.

mod explain;
mod find;
mod found;
mod index;
mod instance;
mod possible;
mod regions;
mod search;
mod why;

use sapwood_ptir::{Name, Program};

pub use explain::{NearMiss, explain};
pub(crate) use find::{find_apart, find_some};
pub use found::{Exhausted, Found, Limit, Match};
pub(crate) use index::FunctionIndex;
pub(crate) use instance::is_instance;
pub(crate) use search::{Bound, Ended, Scene, Search, attr_at};

use crate::graph::{OpIx, PatternGraph};

/// How to look.
#[derive(Clone, Debug)]
pub struct FindOptions {
    /// Whether the types that patterns state count. A `?` in them is any dim, a named dim the same wherever it stands.
    pub typed: bool,
    /// Whether operands of commutative ops must stand in the order of the pattern.
    pub operand_order: bool,
    /// Whether two ops of a pattern may be one of the program, as in rewrite rules.
    pub share_ops: bool,
    /// Whether functions that were extracted are looked at.
    pub in_extracted: bool,
    /// How many candidates may be tried from one root.
    pub steps_per_root: u64,
    /// How many candidates may be tried for one pattern in one function; if not given, 64 per instruction and ten
    /// million.
    pub steps: Option<u64>,
    /// How many matches of one pattern in one function are kept; if not given, four per instruction and a hundred
    /// thousand.
    pub matches: Option<usize>,
    /// Only the patterns of these names are looked for, if there are any; the others say what calls of them are.
    pub only: Vec<Name>,
}

impl FindOptions {
    /// The numbers of the patterns that are looked for.
    pub(crate) fn wanted(&self, patterns: &[PatternGraph]) -> Vec<usize> {
        let wanted = |p: &PatternGraph| self.only.is_empty() || self.only.contains(&p.name);
        (0..patterns.len()).filter(|&n| wanted(&patterns[n])).collect()
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

/// Finds all matches of patterns. Legal or not is another question: [`legality`](crate::legality).
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
pub fn find_matches(program: &Program, patterns: &[PatternGraph], options: &FindOptions) -> Found {
    find_some(program, patterns, &options.wanted(patterns), options)
}

// The op of the pattern that the function has fewest of; none if it lacks one.
fn rarest(index: &FunctionIndex<'_>, pattern: &PatternGraph) -> Option<OpIx> {
    let count = |op: OpIx| index.of(pattern.ops[op].key).len();
    let root = (0..pattern.ops.len()).rev().min_by_key(|&op| count(op))?;
    (count(root) > 0).then_some(root)
}
