//! In which order the ops of a pattern are looked for: each is reached from one that is bound already.

use super::{OpIx, Operand, PatternGraph, Source, ValueIx};

/// A compiled pattern: where to start, and how to go on.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// Whether there is at most one match per root, and none twice.
    pub(crate) unique: bool,
    /// Whether everything is computed for the root, so that matches from different roots are different.
    pub(crate) rooted: bool,
}

/// One op to be found.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) op: OpIx,
    pub(crate) reach: Reach,
    /// Whether both orders of its first two operands are tried.
    pub(crate) swap: bool,
}

/// How an op is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// It is where the search starts.
    Root,
    /// It defines this value, which is bound.
    Def(ValueIx),
    /// It uses these values, which are bound: operand, value.
    Use(Vec<(usize, ValueIx)>),
    /// Its regions use this value, which is bound.
    Captures(ValueIx),
}

impl Plan {
    /// The order from a root on. Definitions come first: there is one candidate for each.
    pub(crate) fn new(graph: &PatternGraph, root: OpIx, commute: bool) -> Self {
        Self::from(graph, root, commute, false)
    }

    /// The order from a root on, where operands are swapped even if that cannot matter.
    pub(crate) fn every_order(graph: &PatternGraph, root: OpIx) -> Self {
        Self::from(graph, root, true, true)
    }

    fn from(graph: &PatternGraph, root: OpIx, commute: bool, symmetric: bool) -> Self {
        let mut visit = Visit {
            graph,
            seen: vec![false; graph.ops.len()],
            known: vec![false; graph.values.len()],
            defs: Vec::new(),
            users: users(graph),
            commute,
            symmetric,
            steps: Vec::new(),
        };
        visit.step(root, Reach::Root);
        while let Some((op, reach)) = visit.next() {
            visit.step(op, reach);
        }
        let steps = visit.steps;
        let rooted = steps.iter().all(|s| matches!(s.reach, Reach::Root | Reach::Def(_)));
        let unique = rooted && steps.iter().all(|s| !s.swap);
        Self { steps, unique, rooted }
    }
}

impl Plan {
    /// How far from the root the furthest op is, along definitions; one more for broadcasts of constants.
    pub(crate) fn hops(&self, graph: &PatternGraph) -> u8 {
        let mut depth = vec![0u8; graph.ops.len()];
        let mut most = 1u8;
        let asked: Vec<ValueIx> =
            graph.conditions.iter().flat_map(crate::language::Condition::values).collect();
        for step in &self.steps {
            let own = depth[step.op];
            for operand in &graph.ops[step.op].operands {
                let Operand::One(value) = *operand else { continue };
                let reach = own.saturating_add(1);
                match graph.values[value].from {
                    Source::Result(op) => {
                        depth[op] = depth[op].max(reach);
                        most = most.max(reach);
                    }
                    Source::Literal(_) => most = most.max(reach.saturating_add(1)),
                    // A condition may look at what a parameter is, and at what that is a broadcast of.
                    Source::Param if asked.contains(&value) => {
                        most = most.max(reach.saturating_add(1));
                    }
                    Source::Param => {}
                }
            }
        }
        most
    }
}

/// An op that is not connected to the first.
pub(super) fn unreached(graph: &PatternGraph) -> Option<OpIx> {
    let plan = Plan::new(graph, 0, false);
    let mut seen = vec![false; graph.ops.len()];
    plan.steps.iter().for_each(|s| seen[s.op] = true);
    seen.iter().position(|seen| !seen)
}

// The ops that use each value, in order.
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

struct Visit<'a> {
    graph: &'a PatternGraph,
    seen: Vec<bool>,
    known: Vec<bool>,
    // Values that became known, and how far their definitions and users were followed.
    defs: Vec<ValueIx>,
    users: Vec<Vec<OpIx>>,
    commute: bool,
    // Whether operands of symmetric ops are swapped too.
    symmetric: bool,
    steps: Vec<Step>,
}

impl Visit<'_> {
    fn step(&mut self, op: OpIx, reach: Reach) {
        let graph = self.graph;
        let data = &graph.ops[op];
        self.seen[op] = true;
        let two = matches!(data.operands[..], [Operand::One(a), Operand::One(b), ..] if a != b);
        let swap = self.commute && data.commutative && two && (self.symmetric || !data.symmetric);
        self.steps.push(Step { op, reach, swap });
        for value in graph.used_by(data).chain(data.results.iter().copied()) {
            if !self.known[value] {
                self.known[value] = true;
                self.defs.push(value);
            }
        }
    }

    fn next(&self) -> Option<(OpIx, Reach)> {
        let graph = self.graph;
        for &value in &self.defs {
            if let Source::Result(op) = graph.values[value].from
                && !self.seen[op]
            {
                return Some((op, Reach::Def(value)));
            }
        }
        // Results of ops have fewer users than inputs.
        let computed = |v: &&ValueIx| matches!(graph.values[**v].from, Source::Result(..));
        let inputs = self.defs.iter().filter(|v| !computed(v));
        for &value in self.defs.iter().filter(computed).chain(inputs) {
            if let Some(&op) = self.users[value].iter().find(|&&op| !self.seen[op]) {
                return Some((op, self.uses(op, value)));
            }
        }
        None
    }

    fn uses(&self, op: OpIx, value: ValueIx) -> Reach {
        let bound: Vec<(usize, ValueIx)> = (self.graph.ops[op].operands.iter().enumerate())
            .filter_map(|(n, operand)| match *operand {
                Operand::One(v) if self.known[v] => Some((n, v)),
                _ => None,
            })
            .collect();
        if bound.is_empty() { Reach::Captures(value) } else { Reach::Use(bound) }
    }
}
