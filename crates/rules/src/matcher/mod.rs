//! Finding patterns: candidates from an index, bindings with a trail, one match per set of ops.

mod explain;
mod index;
mod regions;
mod search;
mod why;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, Function, InstId, Name, Program, ValueId, Values};
use smallvec::SmallVec;

pub use explain::{NearMiss, explain};
pub(crate) use index::FunctionIndex;
pub(crate) use search::{Bound, Ended, Scene, Search, attr_at};

use crate::graph::{Callees, OpIx, PatternGraph, Plan, Source, ValueIx};

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
        }
    }
}

/// A place where a pattern was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Match {
    /// The number of the pattern.
    pub pattern: usize,
    /// The function.
    pub function: Name,
    /// The instructions, in the order of the pattern's ops. Constants are values and not among them.
    pub ops: Vec<InstId>,
    /// The values, in the order of the pattern's.
    pub(crate) values: Vec<Option<ValueId>>,
    pub(crate) attrs: Vec<Option<Attr>>,
    pub(crate) lists: Vec<Option<Values>>,
    /// Which instructions have their first two operands the other way round.
    pub(crate) swapped: Vec<bool>,
    /// Whether a call was taken for an instance of another pattern because of its name alone.
    pub by_name: bool,
}

impl Match {
    /// What the values of the pattern are bound to, by the names they are printed with.
    pub fn bindings<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, ValueId)> {
        pattern.values.iter().zip(&self.values).filter_map(|(v, found)| Some((&*v.name, (*found)?)))
    }

    /// What lists of operands are bound to, by the names they are written with.
    pub fn lists<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, &'a [ValueId])> {
        pattern.lists.iter().zip(&self.lists).filter_map(|(n, l)| Some((&**n, &**l.as_ref()?)))
    }

    /// What attributes of the pattern are bound to, by the names they are written with.
    pub fn attributes<'a>(
        &'a self,
        pattern: &'a PatternGraph,
    ) -> impl Iterator<Item = (&'a str, &'a Attr)> {
        pattern.captures.iter().zip(&self.attrs).filter_map(|(n, a)| Some((&**n, a.as_ref()?)))
    }

    /// What the parameters of the pattern are bound to, in their order.
    #[must_use]
    pub fn inputs(&self, pattern: &PatternGraph) -> Vec<ValueId> {
        pattern.params.iter().filter_map(|&v| self.values[v]).collect()
    }

    /// What the outputs of the pattern are bound to, in their order.
    #[must_use]
    pub fn outputs(&self, pattern: &PatternGraph) -> Vec<ValueId> {
        pattern.outputs.iter().filter_map(|&v| self.values[v]).collect()
    }

    // The first in written order among bindings of the same ops.
    fn rank<'a>(&'a self, f: &'a Function) -> (&'a [bool], SmallVec<[u64; 8]>) {
        (&self.swapped, self.ops.iter().map(|&i| f.order_key(i)).collect())
    }

    /// Binds the values anew after the program was changed around the instructions.
    pub(crate) fn rebind(&mut self, f: &Function, pattern: &PatternGraph) {
        for (ix, op) in pattern.ops.iter().enumerate() {
            let inst = self.ops[ix];
            for (n, &result) in op.results.iter().enumerate() {
                self.values[result] = f.result(inst, n);
            }
            for (n, operand) in op.operands.iter().enumerate() {
                if let crate::graph::Operand::One(value) = *operand {
                    let at = if self.swapped[ix] && n < 2 { 1 - n } else { n };
                    self.values[value] = f.operands(inst).get(at).copied();
                }
            }
            for &value in &op.captured {
                self.values[value] = self.captured(f, pattern, ix, value).or(self.values[value]);
            }
        }
    }

    // Regions stand in the order of the pattern's, so the same use is the same value.
    fn captured(
        &self,
        f: &Function,
        pattern: &PatternGraph,
        op: OpIx,
        value: ValueIx,
    ) -> Option<ValueId> {
        let (source, wanted) = (pattern.source.as_ref()?, pattern.ops[op].regions?);
        let inner = |f: &Function, inst: InstId| -> Vec<ValueId> {
            let bodies = f.regions(inst).iter();
            bodies.flat_map(|&b| f.walk_body(b)).flat_map(|i| f.operands(i).to_vec()).collect()
        };
        let at =
            inner(source, wanted).iter().position(|v| pattern.by_value.get(v) == Some(&value))?;
        inner(f, self.ops[op]).get(at).copied()
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The matches: by function, then by the position of the earliest instruction, then by pattern.
    pub matches: Vec<Match>,
    /// Searches that were cut short, so that matches may be missing.
    pub exhausted: Vec<Exhausted>,
}

/// A search that took more steps than it may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exhausted {
    /// The pattern.
    pub pattern: Name,
    /// The function.
    pub function: Name,
    /// The root from which it took them; none if it was all roots together.
    pub root: Option<InstId>,
    /// How many steps there are.
    pub steps: u64,
}

impl std::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pattern, function, steps, .. } = self;
        match self.root {
            Some(_) => write!(
                f,
                "@{function}: `{pattern}` was given up at a root after {steps} steps; matches may be missing"
            ),
            None => write!(
                f,
                "@{function}: `{pattern}` was given up after {steps} steps; matches may be missing"
            ),
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
    let numbers: Vec<usize> = (0..patterns.len()).collect();
    find_some(program, patterns, &numbers, options)
}

/// Finds the matches of some of the patterns; the others say what calls of them are.
pub(crate) fn find_some(
    program: &Program,
    patterns: &[PatternGraph],
    numbers: &[usize],
    options: &FindOptions,
) -> Found {
    let callees = Callees::new(program, patterns);
    let mut found = Found::default();
    for f in program.functions() {
        if f.extracted_from().is_some() && !options.in_extracted {
            continue;
        }
        let index = FunctionIndex::new(f);
        let scene = Scene { f, index: Some(&index), callees: Some(&callees), options };
        let start = found.matches.len();
        for &number in numbers {
            find_in(scene, &patterns[number], number, &mut found);
        }
        sort(f, &mut found.matches, start);
    }
    found
}

// By the position of the first instruction, then by pattern, then by the other positions.
fn sort(f: &Function, matches: &mut Vec<Match>, start: usize) {
    let found = matches.split_off(start);
    let places = |n: u32| {
        let ops = &found[n as usize].ops;
        let mut places: SmallVec<[u64; 8]> = ops.iter().map(|&i| f.order_key(i)).collect();
        places.sort_unstable();
        places
    };
    let first = |m: &Match| m.ops.iter().map(|&i| f.order_key(i)).min().unwrap_or(0);
    let mut order: Vec<(u64, u32, u32)> =
        found.iter().enumerate().map(|(n, m)| (first(m), m.pattern as u32, n as u32)).collect();
    order.sort_unstable_by(|a, b| {
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| places(a.2).cmp(&places(b.2)))
    });
    let mut found: Vec<Option<Match>> = found.into_iter().map(Some).collect();
    matches.extend(order.into_iter().filter_map(|(_, _, n)| found[n as usize].take()));
}

fn find_in(scene: Scene<'_>, pattern: &PatternGraph, number: usize, found: &mut Found) {
    let Some(index) = scene.index else { return };
    let Some(root) = rarest(index, pattern) else { return };
    let plan = Plan::new(pattern, root, !scene.options.operand_order);
    let mut search = Search::new(scene, pattern, &plan);
    let mut seen: HashMap<SmallVec<[InstId; 8]>, usize, FxBuildHasher> = HashMap::default();
    let most = scene.options.steps.unwrap_or(64 * scene.f.num_insts() as u64 + 10_000_000);
    let (mut steps, mut cut) = (0u64, false);
    for &at in index.of(pattern.ops[root].key) {
        let matches = &mut found.matches;
        let ended = search.run(at, |search| {
            if plan.unique {
                matches.push(search.to_match(number));
                return true;
            }
            let mut ops: SmallVec<[InstId; 8]> =
                search.bound.ops.iter().flatten().copied().collect();
            ops.sort_unstable();
            let next = matches.len();
            let known = *seen.entry(ops).or_insert(next);
            let new = search.to_match(number);
            if known == next {
                matches.push(new);
            } else if new.rank(scene.f) < matches[known].rank(scene.f) {
                matches[known] = new;
            }
            true
        });
        steps += search.steps;
        let exhausted = |root, steps| Exhausted {
            pattern: pattern.name,
            function: scene.f.name(),
            root,
            steps,
        };
        if ended == Ended::Exhausted && !cut {
            cut = true;
            found.exhausted.push(exhausted(Some(at), scene.options.steps_per_root));
        }
        if steps > most {
            found.exhausted.push(exhausted(None, most));
            return;
        }
    }
}

// The op of the pattern that the function has fewest of; none if it lacks one.
fn rarest(index: &FunctionIndex<'_>, pattern: &PatternGraph) -> Option<OpIx> {
    let count = |op: OpIx| index.of(pattern.ops[op].key).len();
    let root = (0..pattern.ops.len()).rev().min_by_key(|&op| count(op))?;
    (count(root) > 0).then_some(root)
}

/// Whether the body of a function is a pattern: all its instructions, its parameters and results in their order.
pub(crate) fn is_instance(callees: &Callees<'_>, pattern: usize, f: &Function) -> bool {
    let pattern = &callees.patterns[pattern];
    let insts = f.body_insts(f.body()).filter(|&i| !f.is::<sapwood_ptir::ops::Constant>(i));
    let literals = pattern.values.iter().filter(|v| matches!(v.from, Source::Literal(_))).count();
    let (own, body) = (pattern.ops.len(), insts.count().saturating_sub(1));
    // Broadcasts of constants are no ops of the pattern.
    if body < own || body > own + literals || pattern.params.len() != f.params().len() {
        return false;
    }
    let options = FindOptions::default();
    let index = FunctionIndex::new(f);
    let scene = Scene { f, index: Some(&index), callees: Some(callees), options: &options };
    let Some(root) = rarest(&index, pattern) else { return false };
    let plan = Plan::new(pattern, root, true);
    let mut search = Search::new(scene, pattern, &plan);
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
