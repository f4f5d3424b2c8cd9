//! Finding many patterns in one walk: each root is visited once, and tried for every pattern that starts there.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId, Name, OpKey, Program};
use smallvec::SmallVec;

use super::found::Limit;
use super::{Ended, Exhausted, FindOptions, Found, FunctionIndex, Match, Scene, Search, rarest};
use crate::graph::{Callees, OpIx, Operand, PatternGraph, Plan, Source};
use crate::legal::is_legal_binding;

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
        find_in(scene, patterns, numbers, &mut found);
        sort(f, &mut found.matches[start..]);
    }
    found
}

/// Finds matches of a pattern that share no instruction, the first that is accepted at each root: what to do where all
/// matches are too many.
pub(crate) fn find_apart(
    program: &Program,
    patterns: &[PatternGraph],
    number: usize,
    options: &FindOptions,
    mut accept: impl FnMut(&Match) -> bool,
) -> Found {
    let callees = Callees::new(program, patterns);
    let mut found = Found::default();
    for f in program.functions() {
        if f.extracted_from().is_some() && !options.in_extracted {
            continue;
        }
        let index = FunctionIndex::new(f);
        let scene = Scene { f, index: Some(&index), callees: Some(&callees), options };
        let Some(mut run) = Running::plan(scene, patterns, number) else { continue };
        let (pattern, plan) = (&patterns[number], run.plan.clone());
        let mut search = Search::new(scene, pattern, &plan);
        search.avoid = Some(HashSet::default());
        for &at in index.of(run.root) {
            if !run.gate.open(f, at) {
                continue;
            }
            let mut taken: Option<Match> = None;
            let ended = search.run(at, |search| {
                taken = Some(search.to_match(number)).filter(&mut accept);
                taken.is_none()
            });
            if let (Some(taken), Some(avoid)) = (taken, &mut search.avoid) {
                avoid.extend(taken.ops.iter().copied());
                found.matches.push(taken);
            }
            run.count(scene, search.steps, (ended, at), &mut found.exhausted);
            if run.done {
                break;
            }
        }
    }
    found
}

fn find_in(scene: Scene<'_>, patterns: &[PatternGraph], numbers: &[usize], found: &mut Found) {
    let Some(index) = scene.index else { return };
    let mut runs: Vec<Running> =
        numbers.iter().filter_map(|&n| Running::plan(scene, patterns, n)).collect();
    let plans: Vec<Plan> = runs.iter().map(|run| run.plan.clone()).collect();
    let mut searches: Vec<Search<'_>> = (runs.iter().zip(&plans))
        .map(|(run, plan)| Search::new(scene, &patterns[run.number], plan))
        .collect();
    let mut by_key: Vec<SmallVec<[u32; 4]>> = Vec::new();
    for (n, run) in runs.iter().enumerate() {
        let key = run.root.index();
        if by_key.len() <= key {
            by_key.resize_with(key + 1, SmallVec::new);
        }
        by_key[key].push(n as u32);
    }
    let mut visit = |at: InstId, bucket: &[u32]| {
        for &n in bucket {
            let run = &mut runs[n as usize];
            if !run.done && run.gate.open(scene.f, at) {
                run.at(at, &mut searches[n as usize], found);
            }
        }
    };
    let mut used = by_key.iter().enumerate().filter(|(_, bucket)| !bucket.is_empty());
    match (used.next(), used.next()) {
        (None, _) => {}
        (Some((key, bucket)), None) => {
            index.of_number(key).iter().for_each(|&at| visit(at, bucket));
        }
        _ => {
            for &(at, key) in index.in_order() {
                if let Some(bucket) = by_key.get(key as usize)
                    && !bucket.is_empty()
                {
                    visit(at, bucket);
                }
            }
        }
    }
}

/// One pattern on its way through a function.
struct Running {
    number: usize,
    name: Name,
    root: OpKey,
    plan: Plan,
    gate: Gate,
    // Which match has these instructions.
    seen: HashMap<SmallVec<[InstId; 8]>, usize, FxBuildHasher>,
    steps: u64,
    most_steps: u64,
    matches: usize,
    most_matches: usize,
    cut: bool,
    done: bool,
}

impl Running {
    fn plan(scene: Scene<'_>, patterns: &[PatternGraph], number: usize) -> Option<Self> {
        let pattern = &patterns[number];
        let root = rarest(scene.index?, pattern)?;
        let commute = !scene.options.operand_order;
        let insts = scene.f.num_insts();
        Some(Self {
            number,
            name: pattern.name,
            root: pattern.ops[root].key,
            plan: Plan::new(pattern, root, commute),
            gate: Gate::new(pattern, root, commute),
            seen: HashMap::default(),
            steps: 0,
            most_steps: scene.options.steps.unwrap_or(64 * insts as u64 + 10_000_000),
            matches: 0,
            most_matches: scene.options.matches.unwrap_or(4 * insts + 100_000),
            cut: false,
            done: false,
        })
    }

    // Everything that is found from a root.
    fn at(&mut self, at: InstId, search: &mut Search<'_>, found: &mut Found) {
        let scene = search.scene;
        let (number, most, pattern) = (self.number, self.most_matches, search.pattern);
        let (seen, plan, count) = (&mut self.seen, &self.plan, &mut self.matches);
        let matches = &mut found.matches;
        let start = matches.len();
        let ended = search.run(at, |search| {
            let next = matches.len();
            if plan.unique || (plan.rooted && next == start) {
                matches.push(search.to_match(number));
                *count += 1;
                return *count < most;
            }
            // Most roots have one match, which need not be remembered.
            if plan.rooted && next == start + 1 {
                seen.clear();
                seen.insert(sorted(matches[start].ops.iter()), start);
            }
            let known = *seen.entry(sorted(search.bound.ops.iter().flatten())).or_insert(next);
            let new = search.to_match(number);
            if known == next {
                matches.push(new);
                *count += 1;
            } else if comes_before(scene.f, pattern, &new, &matches[known]) {
                matches[known] = new;
            }
            *count < most
        });
        self.count(scene, search.steps, (ended, at), &mut found.exhausted);
    }

    fn count(
        &mut self,
        scene: Scene<'_>,
        steps: u64,
        (ended, at): (Ended, InstId),
        exhausted: &mut Vec<Exhausted>,
    ) {
        self.steps += steps;
        let (pattern, function) = (self.name, scene.f.name());
        if ended == Ended::Exhausted && !self.cut {
            self.cut = true;
            let limit = Limit::Root(at, scene.options.steps_per_root);
            exhausted.push(Exhausted { pattern, function, limit });
        }
        let limit = if self.matches >= self.most_matches {
            Limit::Matches(self.most_matches)
        } else if self.steps > self.most_steps {
            Limit::Steps(self.most_steps)
        } else {
            return;
        };
        self.done = true;
        exhausted.push(Exhausted { pattern, function, limit });
    }
}

// Whether one of two bindings of the same instructions is kept rather than the other: one that can be replaced, and of
// two that can be or cannot the first in written order.
fn comes_before(f: &Function, pattern: &PatternGraph, new: &Match, known: &Match) -> bool {
    let legal = |found: &Match| is_legal_binding(f, pattern, found);
    if new.rank(f) < known.rank(f) {
        legal(new) || !legal(known)
    } else {
        !legal(known) && legal(new)
    }
}

fn sorted<'a>(ops: impl Iterator<Item = &'a InstId>) -> SmallVec<[InstId; 8]> {
    let mut ops: SmallVec<[InstId; 8]> = ops.copied().collect();
    ops.sort_unstable();
    ops
}

/// A look at the definitions of a root's operands, before anything is set up.
struct Gate {
    tests: SmallVec<[(usize, OpKey); 2]>,
    /// Whether the first two operands may stand the other way round.
    either: bool,
}

impl Gate {
    fn new(pattern: &PatternGraph, root: OpIx, commute: bool) -> Self {
        let op = &pattern.ops[root];
        let tests = op.operands.iter().enumerate().filter_map(|(n, operand)| match *operand {
            Operand::One(value) => match pattern.values[value].from {
                Source::Result(def) => Some((n, pattern.ops[def].key)),
                Source::Param | Source::Literal(_) => None,
            },
            Operand::Rest(_) => None,
        });
        Self { tests: tests.collect(), either: commute && op.commutative }
    }

    fn open(&self, f: &Function, inst: InstId) -> bool {
        if self.tests.is_empty() {
            return true;
        }
        let operands = f.operands(inst);
        let is = |n: usize, key: OpKey| {
            operands.get(n).and_then(|&v| f.inst_of(v)).is_some_and(|i| f.op_key(i) == key)
        };
        self.tests.iter().all(|&(n, key)| is(n, key))
            || (self.either
                && self.tests.iter().all(|&(n, key)| is(if n < 2 { 1 - n } else { n }, key)))
    }
}

// By the position of the first instruction, then by pattern, then by the other positions.
fn sort(f: &Function, found: &mut [Match]) {
    let places = |n: u32| {
        let ops = &found[n as usize].ops;
        let mut places: SmallVec<[u64; 8]> = ops.iter().map(|&i| f.order_key(i)).collect();
        places.sort_unstable();
        places
    };
    let first = |m: &Match| m.ops.iter().map(|&i| f.order_key(i)).min().unwrap_or(0);
    let mut order: Vec<(u64, u32, u32)> =
        found.iter().enumerate().map(|(n, m)| (first(m), m.pattern as u32, n as u32)).collect();
    let before = |a: &(u64, u32, u32), b: &(u64, u32, u32)| {
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| places(a.2).cmp(&places(b.2)))
    };
    if order.is_sorted_by(|a, b| before(a, b).is_lt()) {
        return;
    }
    order.sort_unstable_by(before);
    // Cycle by cycle: each match is moved once.
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at].2, u32::MAX);
            if from == u32::MAX || from as usize == start {
                order[at].2 = u32::MAX;
                break;
            }
            found.swap(at, from as usize);
            at = from as usize;
        }
    }
}
