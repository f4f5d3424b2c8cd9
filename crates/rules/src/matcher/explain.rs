//! Explanations of missing matches: the deepest failure per root, near misses first.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{InstId, InstPrinter, Name, Program, ValueId};
use sapwood_types::Span;

use super::failure_text::FailureExplainer;
use super::index::FunctionIndex;
use super::match_failure::MatchFailure;
use super::search::{Bindings, Search, SearchContext};
use super::{FindOptions, search_roots};
use crate::graph::{
    Callees, MatchPlan, OpIx, OtherOps, PatternGraph, PatternOperand, ValueIx, ValueSource,
};

/// The largest number of ops of a pattern from which searches start.
const MAX_STARTS: usize = 64;

/// The largest number of steps of all searches in one function.
const DEFAULT_STEPS: u64 = 10_000_000;

/// A place where a pattern was nearly found.
#[derive(Clone, PartialEq, Debug)]
pub struct NearMiss {
    /// The index of the pattern.
    pub pattern: usize,
    /// The function.
    pub function: Name,
    /// The instruction at which the search started; none if the function has no candidate.
    pub root: Option<InstId>,
    /// The number of ops of the pattern that were matched.
    pub matched: usize,
    /// The number of ops of the pattern, with the alternatives that were taken.
    pub of: usize,
    /// The op of the pattern that was not found.
    pub op: String,
    /// The reason.
    pub reason: String,
    /// The span of the instruction that the reason is about.
    pub span: Span,
}

/// The deepest failure of a search.
#[derive(Default)]
pub(crate) struct DeepestFailure {
    depth: usize,
    // For plans that skip steps: the number of ops that were found, and whether the instruction has the right op.
    ops: (usize, bool),
    // Set if the failed operand is a constant on both sides or on neither. Such a failure is preferred to that of the other order.
    alike: bool,
    last: Option<(Option<InstId>, MatchFailure, Bindings)>,
}

impl DeepestFailure {
    pub(super) fn update(
        &mut self,
        search: &Search<'_>,
        depth: usize,
        inst: Option<InstId>,
        why: MatchFailure,
    ) {
        let ops = match search.plan.open {
            true => {
                let other_op = matches!(why, MatchFailure::Op | MatchFailure::NoCandidate);
                (search.bound.ops.iter().flatten().count(), !other_op)
            }
            false => (0, false),
        };
        let deepest = (self.ops, self.depth);
        let alike = (ops, depth) >= deepest && alike(search, depth, inst, &why);
        if self.last.is_none() || (ops, depth, alike) > (self.ops, self.depth, self.alike) {
            (self.ops, self.depth, self.alike) = (ops, depth, alike);
            self.last = Some((inst, why, search.bound.clone()));
        }
    }
}

// Returns whether an operand and its counterpart in the pattern are both constants, or both are not.
fn alike(search: &Search<'_>, depth: usize, inst: Option<InstId>, why: &MatchFailure) -> bool {
    let (Some(inst), MatchFailure::Operand(n, at)) = (inst, why) else { return false };
    let pattern = search.pattern;
    let operands = search.plan.steps.get(depth).map(|step| &pattern.ops[step.op].operands);
    let Some(PatternOperand::One(value)) = operands.and_then(|list| list.get(*n)) else {
        return false;
    };
    let literal = matches!(pattern.values[*value].from, ValueSource::Literal(_));
    let f = search.cx.f;
    f.operands(inst).get(*at).is_some_and(|&v| f.constant_of(v).is_some() == literal)
}

/// A place where a search failed.
pub(super) struct FailedRoot {
    pub(super) root: InstId,
    /// The step of the plan that failed.
    pub(super) depth: usize,
    pub(super) inst: Option<InstId>,
    pub(super) why: MatchFailure,
    pub(super) bound: Bindings,
    // The index of the plan.
    plan: usize,
}

impl FailedRoot {
    /// Returns the value that is bound to the value of the pattern that the failure is about.
    pub(super) fn bound_value(&self) -> Option<ValueId> {
        match self.why {
            MatchFailure::Type(value) | MatchFailure::InnerInput(value) => self.bound.values[value],
            _ => None,
        }
    }

    // Returns whether an instruction with the right op was reached, but differs otherwise.
    fn is_other_use(&self) -> bool {
        use MatchFailure as F;
        self.inst != Some(self.root)
            && matches!(self.why, F::Operand(..) | F::Attr(_) | F::Result(_) | F::Operands(_))
    }

    // Returns the number of ops that were found.
    fn matched(&self, plan: &MatchPlan) -> usize {
        let bound = self.bound.ops.iter().flatten().count();
        if plan.open { bound } else { bound.max(self.depth) }
    }
}

/// Explains for every pattern and function why roots have no match: at most `limit` near misses per pattern and function, those
/// first where most of the pattern was found.
#[must_use]
pub fn explain(
    program: &Program,
    patterns: &[PatternGraph],
    options: &FindOptions,
    limit: usize,
) -> Vec<NearMiss> {
    let callees = Callees::new(program, patterns);
    let mut misses: Vec<NearMiss> = Vec::new();
    let mut matched = vec![false; patterns.len()];
    for number in options.selected(patterns) {
        let pattern = &patterns[number];
        for f in program.functions() {
            if f.extracted_from().is_some() && !options.in_extracted {
                continue;
            }
            let index = FunctionIndex::new(f);
            let cx = SearchContext { f, index: Some(&index), callees: Some(&callees), options };
            matched[number] |= explain_in_function(cx, pattern, number, limit, &mut misses);
        }
    }
    // A function without any op of a pattern is only reported if no other function has a nearer miss.
    let near: Vec<usize> = misses.iter().filter(|m| m.root.is_some()).map(|m| m.pattern).collect();
    misses.retain(|m| m.root.is_some() || !(near.contains(&m.pattern) || matched[m.pattern]));
    misses.sort_by_key(|m: &NearMiss| (m.pattern, std::cmp::Reverse(m.matched)));
    misses
}

// Explains why a function has no match, or no other match. Returns whether it has one.
fn explain_in_function(
    cx: SearchContext<'_>,
    pattern: &PatternGraph,
    number: usize,
    limit: usize,
    misses: &mut Vec<NearMiss>,
) -> bool {
    let (Some(index), f) = (cx.index, cx.f) else { return false };
    let starts = starts(index, pattern);
    if starts.is_empty() {
        let op = pattern.show(0);
        let reason = format!("@{} has no `{op}`", f.name());
        misses.push(NearMiss {
            pattern: number,
            function: f.name(),
            root: None,
            matched: 0,
            of: pattern.ops.len(),
            op,
            reason,
            span: f.span(),
        });
        return false;
    }
    let plans: Vec<MatchPlan> =
        starts.iter().map(|&op| MatchPlan::new(pattern, op, !cx.options.operand_order)).collect();
    let mut failures = FailureCollector::new(cx, pattern);
    for (n, (&start, plan)) in starts.iter().zip(&plans).enumerate() {
        failures.search_from(index, start, plan, n);
    }
    let any = !failures.matched.is_empty();
    let found = failures.nearest(&plans, limit);
    if found.is_empty() {
        return any;
    }
    let mut names = InstPrinter::new(f);
    for miss in &found {
        let plan = &plans[miss.plan];
        let mut explainer =
            FailureExplainer { f, pattern, plan, callees: cx.callees, names: &mut names };
        let step = plan.steps.get(miss.depth);
        let op = match (&miss.why, step) {
            (MatchFailure::NoUser(value), _) => explainer.users_in_pattern(*value).join(" | "),
            (MatchFailure::Type(value) | MatchFailure::InnerInput(value), _) => {
                pattern.values[*value].name.clone()
            }
            (_, None) => "where".into(),
            (_, Some(step)) if step.op < pattern.ops.len() => pattern.show(step.op),
            _ => "|".into(),
        };
        misses.push(NearMiss {
            pattern: number,
            function: f.name(),
            root: Some(miss.root),
            matched: miss.matched(plan),
            of: ops_on_path(pattern, &miss.bound).max(miss.matched(plan)),
            op,
            reason: explainer.reason(miss),
            span: f.inst_span(explainer.reason_inst(miss)),
        });
    }
    any
}

// Returns the number of ops that a match with the chosen alternatives has. Of a choice that was not made, the alternative with the
// fewest ops counts.
fn ops_on_path(pattern: &PatternGraph, bound: &Bindings) -> usize {
    if pattern.choices.is_empty() {
        return pattern.ops.len();
    }
    let used = |op: OpIx| {
        let op = &pattern.ops[op];
        let yields = op.region_patterns.iter().flat_map(|region| region.yields.iter().copied());
        pattern.used_by_operands(op).chain(yields)
    };
    // The alternative of each choice; values are created after those that they depend on.
    let mut taken = vec![0; pattern.choices.len()];
    let mut counts = vec![0usize; pattern.values.len()];
    for (value, data) in pattern.values.iter().enumerate() {
        counts[value] = match data.from {
            ValueSource::Param | ValueSource::Literal(_) => 0,
            ValueSource::Result(op) => used(op).map(|v| counts[v]).fold(1, usize::saturating_add),
            ValueSource::Choice(choice) => {
                let branches = &pattern.choices[choice].branches;
                let fewest = (0..branches.len()).min_by_key(|&n| counts[branches[n]]);
                taken[choice] = bound.choices[choice].or(fewest).unwrap_or(0);
                counts[branches[taken[choice]]]
            }
        };
    }
    let mut seen = vec![false; pattern.values.len()];
    let mut open: Vec<ValueIx> = pattern.outputs.clone();
    let mut ops: HashSet<OpIx, FxBuildHasher> = HashSet::default();
    while let Some(value) = open.pop() {
        if std::mem::replace(&mut seen[value], true) {
            continue;
        }
        match pattern.values[value].from {
            ValueSource::Param | ValueSource::Literal(_) => {}
            ValueSource::Choice(choice) => {
                open.push(pattern.choices[choice].branches[taken[choice]]);
            }
            ValueSource::Result(op) => {
                ops.insert(op);
                open.extend(used(op));
            }
        }
    }
    ops.len()
}

// Returns the ops at which to start: the root or the rarest op first, then all others that the function has, rare ones first.
fn starts(index: &FunctionIndex<'_>, pattern: &PatternGraph) -> Vec<OpIx> {
    let count = |op: &OpIx| index.count(&pattern.ops[*op]);
    let mut starts = search_roots(index, pattern);
    let mut others: Vec<OpIx> = (0..pattern.ops.len()).rev().collect();
    others.retain(|op| count(op) > 0 && !starts.contains(op) && !pattern.ops[*op].in_region);
    others.sort_by_key(count);
    starts.extend(others);
    starts.truncate(MAX_STARTS);
    starts
}

/// Collects the failures of searches from all ops of a pattern.
struct FailureCollector<'a> {
    cx: SearchContext<'a>,
    pattern: &'a PatternGraph,
    found: Vec<FailedRoot>,
    /// The instructions of complete matches.
    matched: HashSet<InstId, FxBuildHasher>,
    /// The number of steps that all searches together may still take.
    steps_left: u64,
}

impl<'a> FailureCollector<'a> {
    fn new(cx: SearchContext<'a>, pattern: &'a PatternGraph) -> Self {
        let steps_left = cx.options.steps.unwrap_or(DEFAULT_STEPS);
        Self { cx, pattern, found: Vec::new(), matched: HashSet::default(), steps_left }
    }

    // Searches from all instructions of an op. In a pattern that is not plain, a search from another op than the root finds only the
    // ops that it is computed from; then its users are missing.
    fn search_from(
        &mut self,
        index: &FunctionIndex<'_>,
        start: OpIx,
        plan: &MatchPlan,
        number: usize,
    ) {
        let pattern = self.pattern;
        let partial = plan.open && !pattern.roots.iter().any(|root| root.op == start);
        let output = pattern.ops[start].results.first().copied();
        let wildcard = matches!(pattern.ops[start].others, OtherOps::All);
        for &at in index.candidates(&pattern.ops[start]).iter() {
            // An instruction of a match is no near miss, except as the root of another one.
            if number > 0 && self.matched.contains(&at) || self.steps_left == 0 {
                continue;
            }
            let mut search = Search::new(self.cx, pattern, plan);
            search.deepest = Some(DeepestFailure::default());
            let mut complete = None;
            search.run(at, |search| {
                complete = Some(search.bound.clone());
                false
            });
            self.steps_left = self.steps_left.saturating_sub(search.steps);
            match (complete, output) {
                (Some(bound), Some(value)) if partial => {
                    let (why, depth) = (MatchFailure::NoUser(value), plan.steps.len());
                    let inst = Some(at);
                    self.found.push(FailedRoot { root: at, depth, inst, why, bound, plan: number });
                }
                (Some(bound), _) => self.matched.extend(bound.ops.iter().flatten()),
                (None, _) => {
                    let Some(DeepestFailure { depth, last: Some((inst, why, bound)), .. }) =
                        search.deepest
                    else {
                        continue;
                    };
                    // Every instruction is a candidate for a wildcard, so that one without any op is no near miss.
                    if wildcard && bound.ops.iter().all(Option::is_none) {
                        continue;
                    }
                    self.found.push(FailedRoot { root: at, depth, inst, why, bound, plan: number });
                }
            }
        }
    }

    // Returns the failures with the most ops, at most `limit`, of those at one place only the first. Searches from other ops than the
    // first only count where they found more of the pattern than all searches from the first.
    fn nearest(mut self, plans: &[MatchPlan], limit: usize) -> Vec<FailedRoot> {
        let matched = |m: &FailedRoot| m.matched(&plans[m.plan]);
        let from_first = self.found.iter().filter(|m| m.plan == 0).map(matched).max();
        // A search from a user may have reached the instruction. Then its reason is nearer than that no user was found.
        let reached: HashSet<InstId, FxBuildHasher> =
            self.found.iter().filter(|m| m.is_other_use()).filter_map(|m| m.inst).collect();
        self.found
            .retain(|m| !matches!(m.why, MatchFailure::NoUser(_)) || !reached.contains(&m.root));
        self.found.retain(|m| m.plan == 0 || Some(matched(m)) > from_first);
        self.found.sort_by_key(|m| std::cmp::Reverse(matched(m)));
        // The instructions of failures so far, with the op that the search started from.
        let mut taken: HashMap<InstId, usize, FxBuildHasher> = HashMap::default();
        let mut nearest = Vec::new();
        for miss in self.found {
            if nearest.len() == limit {
                break;
            }
            let found = || miss.bound.ops.iter().flatten().copied();
            let insts = || found().chain([miss.root]).chain(miss.inst);
            // Failures from one op have different roots, and are different places.
            if insts().any(|inst| taken.get(&inst).is_some_and(|&plan| plan != miss.plan)) {
                continue;
            }
            for inst in insts() {
                taken.insert(inst, miss.plan);
            }
            nearest.push(miss);
        }
        nearest
    }
}
