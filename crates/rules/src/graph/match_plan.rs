//! The order in which the ops of a pattern are searched for: each is reached from one that is bound already.

use super::{ChoiceIx, OpIx, PatternGraph, PatternOperand, PatternRoot, ValueIx, ValueSource};

/// The number of definitions behind the values of a match that a condition of a user may read.
const CONDITION_HOPS: u8 = 2;

/// A compiled pattern: a root, and the order of the other ops.
#[derive(Clone, Debug)]
pub(crate) struct MatchPlan {
    pub(crate) steps: Vec<MatchStep>,
    /// Set if there is at most one match per root, and no match is found twice.
    pub(crate) unique: bool,
    /// Set if every op contributes to the root, so that matches from different roots are different.
    pub(crate) rooted: bool,
    /// The alternatives that lead to the root.
    pub(crate) chosen: Vec<(ChoiceIx, usize)>,
    /// Set if the pattern is not plain.
    pub(crate) open: bool,
}

/// One op to be searched for, or one choice to be made.
#[derive(Clone, Debug)]
pub(crate) struct MatchStep {
    /// The op; the number of ops for a choice.
    pub(crate) op: OpIx,
    pub(crate) reach: Connection,
    /// Tries both orders of its first two operands.
    pub(crate) swap: bool,
}

/// The connection from bound values to an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Connection {
    /// The search starts at the op.
    Root,
    /// The op defines this value, which is bound.
    Def(ValueIx),
    /// The op uses these values, which are bound: operand number, value.
    Use(Vec<(usize, ValueIx)>),
    /// The regions of the op use this value, which is bound.
    Captures(ValueIx),
    /// The op defines one of its results that is bound; if none is, no chosen alternative needs the op.
    AnyResult,
    /// A choice between alternatives; not made if no chosen alternative needs its value.
    Choice(ChoiceIx),
}

impl MatchPlan {
    /// Plans a search from a root. Definitions come first, because each has one candidate.
    pub(crate) fn new(graph: &PatternGraph, root: OpIx, commute: bool) -> Self {
        Self::from(graph, root, commute, false)
    }

    /// Plans a search from a root that also swaps operands of symmetric ops.
    pub(crate) fn every_order(graph: &PatternGraph, root: OpIx) -> Self {
        Self::from(graph, root, true, true)
    }

    /// Plans a search for a pattern with alternatives, wildcards, or ops to look through. Users come before definitions, so that
    /// it is known at each op whether the chosen alternatives need it.
    fn open(graph: &PatternGraph, root: &PatternRoot, commute: bool) -> Self {
        let swap = |op: OpIx| {
            let data = &graph.ops[op];
            commute && data.commutative && !data.symmetric && has_two_operands(&data.operands)
        };
        let mut steps =
            vec![MatchStep { op: root.op, reach: Connection::Root, swap: swap(root.op) }];
        let decided = |c: ChoiceIx| root.chosen.iter().any(|&(own, _)| own == c);
        let mut choices = (0..graph.choices.len()).rev().peekable();
        for op in (0..=graph.ops.len()).rev() {
            while let Some(choice) = choices.next_if(|&c| graph.choices[c].after == op) {
                if !decided(choice) {
                    let reach = Connection::Choice(choice);
                    steps.push(MatchStep { op: graph.ops.len(), reach, swap: false });
                }
            }
            if let Some(before) = op.checked_sub(1).filter(|&before| before != root.op) {
                let reach = Connection::AnyResult;
                steps.push(MatchStep { op: before, reach, swap: swap(before) });
            }
        }
        Self { steps, unique: false, rooted: true, chosen: root.chosen.clone(), open: true }
    }

    fn from(graph: &PatternGraph, root: OpIx, commute: bool, symmetric: bool) -> Self {
        if !graph.is_plain() {
            let found = graph.roots.iter().find(|r| r.op == root);
            let only = PatternRoot { op: root, chosen: Vec::new() };
            return Self::open(graph, found.unwrap_or(&only), commute);
        }
        let mut visit = PlanBuilder {
            graph,
            seen: vec![false; graph.ops.len()],
            known: vec![false; graph.values.len()],
            defs: Vec::new(),
            users: users(graph),
            commute,
            symmetric,
            steps: Vec::new(),
        };
        visit.step(root, Connection::Root);
        while let Some((op, reach)) = visit.next() {
            visit.step(op, reach);
        }
        let steps = visit.steps;
        let rooted = steps.iter().all(|s| matches!(s.reach, Connection::Root | Connection::Def(_)));
        let unique = rooted && steps.iter().all(|s| !s.swap);
        Self { steps, unique, rooted, chosen: Vec::new(), open: false }
    }
}

impl MatchPlan {
    /// Returns the distance from the root to the furthest op along definitions; one more for broadcasts of constants.
    pub(crate) fn hops(&self, graph: &PatternGraph) -> u8 {
        let mut depth = vec![0u8; graph.ops.len()];
        let mut most = 1u8;
        let asked: Vec<ValueIx> =
            graph.conditions.iter().flat_map(crate::language::Condition::values).collect();
        for step in &self.steps {
            let Some(op) = graph.ops.get(step.op) else { continue };
            let reach = depth[step.op].saturating_add(1);
            for value in graph.without_choices(graph.used_by_operands(op)) {
                match graph.values[value].from {
                    ValueSource::Result(op) => {
                        depth[op] = depth[op].max(reach);
                        most = most.max(reach);
                    }
                    ValueSource::Literal(_) => most = most.max(reach.saturating_add(1)),
                    // A condition may inspect the definition of a parameter, and the operand of a broadcast there.
                    ValueSource::Param if asked.contains(&value) => {
                        most = most.max(reach.saturating_add(1));
                    }
                    ValueSource::Param | ValueSource::Choice(_) => {}
                }
            }
        }
        if graph.conditions.iter().any(crate::language::Condition::reads_definitions) {
            most = most.saturating_add(CONDITION_HOPS);
        }
        most
    }
}

/// Returns an op that is not connected to the first.
pub(super) fn unreached(graph: &PatternGraph) -> Option<OpIx> {
    let plan = MatchPlan::new(graph, 0, false);
    let mut seen = vec![false; graph.ops.len()];
    plan.steps.iter().for_each(|s| seen[s.op] = true);
    seen.iter().position(|seen| !seen)
}

// Returns the ops that use each value, in order.
fn users(graph: &PatternGraph) -> Vec<Vec<OpIx>> {
    let mut users = vec![Vec::new(); graph.values.len()];
    for (n, op) in graph.ops.iter().enumerate() {
        for value in graph.used_by(op) {
            if users[value].last() != Some(&n) {
                users[value].push(n);
            }
        }
    }
    users
}

// Returns whether the first two operands are different values of the pattern.
fn has_two_operands(operands: &[PatternOperand]) -> bool {
    matches!(operands, [PatternOperand::One(a), PatternOperand::One(b), ..] if a != b)
}

struct PlanBuilder<'a> {
    graph: &'a PatternGraph,
    seen: Vec<bool>,
    known: Vec<bool>,
    // The values that became known, and the position up to which their definitions and users were followed.
    defs: Vec<ValueIx>,
    users: Vec<Vec<OpIx>>,
    commute: bool,
    // Swaps operands of symmetric ops too.
    symmetric: bool,
    steps: Vec<MatchStep>,
}

impl PlanBuilder<'_> {
    fn step(&mut self, op: OpIx, reach: Connection) {
        let graph = self.graph;
        let data = &graph.ops[op];
        self.seen[op] = true;
        let two = has_two_operands(&data.operands);
        let swap = self.commute && data.commutative && two && (self.symmetric || !data.symmetric);
        self.steps.push(MatchStep { op, reach, swap });
        for value in graph.used_by(data).chain(data.results.iter().copied()) {
            if !self.known[value] {
                self.known[value] = true;
                self.defs.push(value);
            }
        }
    }

    fn next(&self) -> Option<(OpIx, Connection)> {
        let graph = self.graph;
        for &value in &self.defs {
            if let ValueSource::Result(op) = graph.values[value].from
                && !self.seen[op]
            {
                return Some((op, Connection::Def(value)));
            }
        }
        // Results of ops have fewer users than inputs.
        let computed = |v: &&ValueIx| matches!(graph.values[**v].from, ValueSource::Result(..));
        let inputs = self.defs.iter().filter(|v| !computed(v));
        for &value in self.defs.iter().filter(computed).chain(inputs) {
            if let Some(&op) = self.users[value].iter().find(|&&op| !self.seen[op]) {
                return Some((op, self.uses(op, value)));
            }
        }
        None
    }

    fn uses(&self, op: OpIx, value: ValueIx) -> Connection {
        let bound: Vec<(usize, ValueIx)> = (self.graph.ops[op].operands.iter().enumerate())
            .filter_map(|(n, operand)| match *operand {
                PatternOperand::One(v) if self.known[v] => Some((n, v)),
                _ => None,
            })
            .collect();
        if bound.is_empty() { Connection::Captures(value) } else { Connection::Use(bound) }
    }
}
