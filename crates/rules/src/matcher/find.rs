//! The search for many patterns in one walk: each root is visited once, and tried for every pattern that starts there.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Function, InstId, Name, OpKey, Program, ValueId};
use smallvec::SmallVec;

use super::matches::SearchLimit;
use super::{
    Exhausted, FindOptions, FindReport, FunctionIndex, Match, Search, SearchContext, SearchEnd,
    search_roots,
};
use crate::graph::{Callees, MatchPlan, OpIx, PatternGraph, PatternOperand, ValueSource};
use crate::legality::is_legal_binding;

/// The largest number of matches with one output that are compared with each other; more are all reported.
const MAX_COMPARED_MATCHES: usize = 2000;

/// Finds the matches of some of the patterns; the others are used only for calls in these patterns.
pub(crate) fn find_selected(
    program: &Program,
    patterns: &[PatternGraph],
    numbers: &[usize],
    options: &FindOptions,
) -> FindReport {
    search_functions(program, patterns, options, |cx, _, found| {
        let start = found.matches.len();
        find_in_function(cx, patterns, numbers, found);
        keep_largest(cx.f, patterns, &mut found.matches, start);
        sort_matches(cx.f, &mut found.matches[start..]);
    })
}

// Searches each function, except extracted ones if the options leave them out.
fn search_functions(
    program: &Program,
    patterns: &[PatternGraph],
    options: &FindOptions,
    mut search: impl FnMut(SearchContext<'_>, &FunctionIndex<'_>, &mut FindReport),
) -> FindReport {
    let callees = Callees::new(program, patterns);
    let mut found = FindReport::default();
    for f in program.functions() {
        if f.extracted_from().is_some() && !options.in_extracted {
            continue;
        }
        let index = FunctionIndex::new(f);
        let cx = SearchContext { f, index: Some(&index), callees: Some(&callees), options };
        search(cx, &index, &mut found);
    }
    found
}

/// Finds matches of a pattern that share no instruction, the first accepted one at each root. Used where there are too many
/// matches to list.
pub(crate) fn find_disjoint(
    program: &Program,
    patterns: &[PatternGraph],
    number: usize,
    options: &FindOptions,
    mut accept: impl FnMut(&Match) -> bool,
) -> FindReport {
    search_functions(program, patterns, options, |cx, index, found| {
        let mut avoid: HashSet<InstId, FxBuildHasher> = HashSet::default();
        for mut run in PatternSearch::all(cx, patterns, number) {
            let (pattern, plan) = (&patterns[number], run.plan.clone());
            let mut search = Search::new(cx, pattern, &plan);
            search.avoid = Some(std::mem::take(&mut avoid));
            for &at in index.candidates(&pattern.ops[run.root]).iter() {
                if !run.root_filter.accepts(cx.f, at) {
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
                run.record_steps(cx, search.steps, (ended, at), &mut found.exhausted);
                if run.done {
                    break;
                }
            }
            avoid = search.avoid.take().unwrap_or_default();
            found.steps += run.steps;
        }
    })
}

fn find_in_function(
    cx: SearchContext<'_>,
    patterns: &[PatternGraph],
    numbers: &[usize],
    found: &mut FindReport,
) {
    let Some(index) = cx.index else { return };
    let mut runs: Vec<PatternSearch> =
        numbers.iter().flat_map(|&n| PatternSearch::all(cx, patterns, n)).collect();
    let plans: Vec<MatchPlan> = runs.iter().map(|run| run.plan.clone()).collect();
    let mut searches: Vec<Search<'_>> = (runs.iter().zip(&plans))
        .map(|(run, plan)| Search::new(cx, &patterns[run.number], plan))
        .collect();
    let mut by_key: Vec<SmallVec<[u32; 4]>> = Vec::new();
    for (n, run) in runs.iter().enumerate() {
        for key in index.keys_of(&patterns[run.number].ops[run.root]) {
            if by_key.len() <= key {
                by_key.resize_with(key + 1, SmallVec::new);
            }
            by_key[key].push(n as u32);
        }
    }
    // In a list of their own, which stays in the cache.
    let masks: Vec<OperandMasks> =
        runs.iter().map(|run| OperandMasks::new(&run.root_filter)).collect();
    let mut visit = |at: InstId, bucket: &[u32]| {
        let bits = operand_bits(cx.f, at);
        for &n in bucket.iter().filter(|&&n| masks[n as usize].may_accept(bits)) {
            let run = &mut runs[n as usize];
            if !run.done && run.root_filter.accepts(cx.f, at) {
                run.search_root(at, &mut searches[n as usize], found);
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
    found.steps += runs.iter().map(|run| run.steps).sum::<u64>();
}

// Of two matches of a pattern that is not plain, with the same output and one a part of the other, keeps the one that can be
// replaced; if both can or both cannot, the larger one, or the first of those with the same instructions.
fn keep_largest(f: &Function, patterns: &[PatternGraph], matches: &mut Vec<Match>, start: usize) {
    let is_open = |m: &Match| m.open.is_some();
    if !matches[start..].iter().any(is_open) {
        return;
    }
    let mut by_output: BTreeMap<(usize, Option<ValueId>), Vec<usize>> = BTreeMap::new();
    for (n, m) in matches.iter().enumerate().skip(start).filter(|(_, m)| is_open(m)) {
        let output = m.outputs(&patterns[m.pattern]).first().copied();
        by_output.entry((m.pattern, output)).or_default().push(n);
    }
    let mut keep = vec![true; matches.len()];
    let compared = |group: &&Vec<usize>| (2..=MAX_COMPARED_MATCHES).contains(&group.len());
    for group in by_output.values().filter(compared) {
        let sets: Vec<SmallVec<[InstId; 8]>> =
            group.iter().map(|&n| sorted(matches[n].ops.iter())).collect();
        let legal: Vec<bool> = group
            .iter()
            .map(|&n| is_legal_binding(f, &patterns[matches[n].pattern], &matches[n]))
            .collect();
        let is_part = |a: usize, b: usize| sets[a].iter().all(|i| sets[b].binary_search(i).is_ok());
        for a in 0..group.len() {
            keep[group[a]] = !(0..group.len()).filter(|&b| b != a).any(|b| {
                match (is_part(a, b), is_part(b, a), legal[a] == legal[b]) {
                    (true, true, true) => b < a,
                    (true, false, true) => true,
                    (true, _, false) | (_, true, false) => legal[b],
                    (false, _, _) => false,
                }
            });
        }
    }
    let mut n = 0;
    matches.retain(|_| {
        n += 1;
        keep[n - 1]
    });
}

/// The state of one pattern during the walk over a function.
struct PatternSearch {
    number: usize,
    name: Name,
    root: OpIx,
    plan: MatchPlan,
    root_filter: RootFilter,
    // The indices of matches, by their instructions.
    seen: HashMap<SmallVec<[InstId; 8]>, usize, FxBuildHasher>,
    steps: u64,
    most_steps: u64,
    matches: usize,
    most_matches: usize,
    cut: bool,
    done: bool,
}

impl PatternSearch {
    /// Returns the searches for a pattern, one for each op at which it may start.
    fn all(cx: SearchContext<'_>, patterns: &[PatternGraph], number: usize) -> Vec<Self> {
        let Some(index) = cx.index else { return Vec::new() };
        let roots = search_roots(index, &patterns[number]);
        roots.into_iter().map(|root| Self::new(cx, patterns, number, root)).collect()
    }

    fn new(cx: SearchContext<'_>, patterns: &[PatternGraph], number: usize, root: OpIx) -> Self {
        let pattern = &patterns[number];
        let commute = !cx.options.operand_order;
        let insts = cx.f.num_insts();
        Self {
            number,
            name: pattern.name,
            root,
            plan: MatchPlan::new(pattern, root, commute),
            root_filter: RootFilter::new(pattern, root, commute),
            seen: HashMap::default(),
            steps: 0,
            most_steps: cx.options.steps.unwrap_or(64 * insts as u64 + 10_000_000),
            matches: 0,
            most_matches: cx.options.matches.unwrap_or(4 * insts + 100_000),
            cut: false,
            done: false,
        }
    }

    // Finds all matches from a root.
    fn search_root(&mut self, at: InstId, search: &mut Search<'_>, found: &mut FindReport) {
        let cx = search.cx;
        let (number, most, pattern) = (self.number, self.most_matches, search.pattern);
        let (seen, plan, count) = (&mut self.seen, &self.plan, &mut self.matches);
        let matches = &mut found.matches;
        let start = matches.len();
        let ended = search.run(at, |search| {
            let next = matches.len();
            if plan.unique || (plan.rooted && next == start) {
                let new = search.to_match(number);
                search.count_legal(pattern, &new);
                matches.push(new);
                *count += 1;
                return *count < most;
            }
            // Most roots have one match, which need not be stored.
            if plan.rooted && next == start + 1 {
                seen.clear();
                seen.insert(sorted(matches[start].ops.iter()), start);
            }
            let new = search.to_match(number);
            let known = *seen.entry(sorted(new.ops.iter())).or_insert(next);
            search.count_legal(pattern, &new);
            if known == next {
                matches.push(new);
                *count += 1;
            } else if is_preferred(cx.f, pattern, &new, &matches[known]) {
                matches[known] = new;
            }
            *count < most
        });
        self.record_steps(cx, search.steps, (ended, at), &mut found.exhausted);
    }

    fn record_steps(
        &mut self,
        cx: SearchContext<'_>,
        steps: u64,
        (ended, at): (SearchEnd, InstId),
        exhausted: &mut Vec<Exhausted>,
    ) {
        self.steps += steps;
        let (pattern, function) = (self.name, cx.f.name());
        if ended == SearchEnd::Exhausted && !self.cut {
            self.cut = true;
            let limit = SearchLimit::Root(at, cx.options.steps_per_root);
            exhausted.push(Exhausted { pattern, function, limit });
        }
        let limit = if self.matches >= self.most_matches {
            SearchLimit::Matches(self.most_matches)
        } else if self.steps > self.most_steps {
            SearchLimit::Steps(self.most_steps)
        } else {
            return;
        };
        self.done = true;
        exhausted.push(Exhausted { pattern, function, limit });
    }
}

// Returns whether the new of two bindings of the same instructions is preferred: a legal one to an illegal one, else the first in
// written order.
fn is_preferred(f: &Function, pattern: &PatternGraph, new: &Match, known: &Match) -> bool {
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

/// A quick test of the definitions of a root's operands, before a search is set up.
struct RootFilter {
    tests: SmallVec<[(usize, OpKey); 2]>,
    /// The tests of a pattern that is not plain: an operand, and the ops that may define it.
    open_tests: Vec<(usize, Vec<OpKey>)>,
    /// Allows the first two operands in either order.
    either: bool,
}

impl RootFilter {
    fn new(pattern: &PatternGraph, root: OpIx, commute: bool) -> Self {
        let op = &pattern.ops[root];
        let either = commute && op.commutative;
        let operands = op.operands.iter().enumerate().filter_map(|(n, operand)| match *operand {
            PatternOperand::One(value) => Some((n, value)),
            PatternOperand::Rest(_) => None,
        });
        if !pattern.is_plain() {
            let tests = operands.filter_map(|(n, v)| Some((n, pattern.defining_keys(v)?)));
            return Self { tests: SmallVec::new(), open_tests: tests.collect(), either };
        }
        let tests = operands.filter_map(|(n, value)| match pattern.values[value].from {
            ValueSource::Result(def) => Some((n, pattern.ops[def].key)),
            ValueSource::Param | ValueSource::Literal(_) | ValueSource::Choice(_) => None,
        });
        Self { tests: tests.collect(), open_tests: Vec::new(), either }
    }

    fn accepts(&self, f: &Function, inst: InstId) -> bool {
        if self.tests.is_empty() {
            return self.open_tests.is_empty() || self.accepts_open(f, inst);
        }
        let operands = f.operands(inst);
        let is = |n: usize, key: OpKey| {
            operands.get(n).and_then(|&v| f.inst_of(v)).is_some_and(|i| f.op_key(i) == key)
        };
        self.tests.iter().all(|&(n, key)| is(n, key))
            || (self.either
                && self.tests.iter().all(|&(n, key)| is(if n < 2 { 1 - n } else { n }, key)))
    }

    fn accepts_open(&self, f: &Function, inst: InstId) -> bool {
        let operands = f.operands(inst);
        let is = |n: usize, keys: &[OpKey]| {
            let def = operands.get(n).and_then(|&v| f.inst_of(v));
            def.is_some_and(|i| keys.contains(&f.op_key(i)))
        };
        self.open_tests.iter().all(|(n, keys)| is(*n, keys))
            || (self.either
                && self
                    .open_tests
                    .iter()
                    .all(|(n, keys)| is(if *n < 2 { 1 - n } else { *n }, keys)))
    }
}

/// The ops that may define the first two operands of a root, as sets of bits: a test that is faster than that of [`RootFilter`], and
/// accepts more.
struct OperandMasks {
    masks: [u128; 2],
    /// Allows the operands in either order.
    either: bool,
}

impl OperandMasks {
    fn new(filter: &RootFilter) -> Self {
        let mut masks = [u128::MAX; 2];
        let plain = filter.tests.iter().map(|(n, key)| (*n, std::slice::from_ref(key)));
        let open = filter.open_tests.iter().map(|(n, keys)| (*n, &keys[..]));
        for (n, keys) in plain.chain(open) {
            if let Some(mask) = masks.get_mut(n) {
                *mask = keys.iter().fold(0, |all, key| all | key_bit(Some(*key)));
            }
        }
        Self { masks, either: filter.either }
    }

    fn may_accept(&self, [x, y]: [u128; 2]) -> bool {
        let [a, b] = self.masks;
        a & x != 0 && b & y != 0 || self.either && a & y != 0 && b & x != 0
    }
}

// Returns the definitions of the first two operands, each as one bit.
fn operand_bits(f: &Function, inst: InstId) -> [u128; 2] {
    let operands = f.operands(inst);
    let def = |n: usize| operands.get(n).and_then(|&v| f.inst_of(v)).map(|i| f.op_key(i));
    [key_bit(def(0)), key_bit(def(1))]
}

// Returns the bit of an op, which several may share; the last one is that of values without a definition.
fn key_bit(key: Option<OpKey>) -> u128 {
    let last = u128::BITS as usize - 1;
    1 << key.map_or(last, |key| key.index() % last)
}

// Sorts by the position of the first instruction, then by pattern, then by the other positions.
fn sort_matches(f: &Function, found: &mut [Match]) {
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
    // Permutes cycle by cycle, so that each match is moved once.
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
