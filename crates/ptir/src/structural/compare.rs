//! The comparison of two functions or of parts of them: one walk over both sides that pairs instructions and bodies.

use super::Mode;
use super::equivalence::{Equivalence, compare_heads, compare_operands};
use super::mismatch::{BodyPart, InstPart, Unequal};
use super::scope::{IndexTable, Scope, comparison_roots, ordered_flags};
use crate::func::{Function, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};

const NONE: u32 = u32::MAX;

pub(super) struct FunctionComparer<'a, E> {
    scopes: (Scope, Scope),
    mode: Mode,
    pairs: Pairs<'a>,
    pub(super) equivalence: &'a mut E,
}

/// The instructions and bodies that were paired so far. By index: the counterpart on the other side.
struct Pairs<'a> {
    a: &'a Function,
    b: &'a Function,
    insts: IndexTable<u32>,
    // Only used by data flow.
    insts_back: IndexTable<u32>,
    bodies: IndexTable<u32>,
    bodies_back: IndexTable<u32>,
}

type CompareResult = Result<(), Unequal>;

enum CompareTask {
    Values(InstId, InstId, usize),
    Body(BodyId, BodyId),
}

impl<'a, E: Equivalence> FunctionComparer<'a, E> {
    pub(super) fn new(
        (a, left): (&'a Function, Scope),
        (b, right): (&'a Function, Scope),
        mode: Mode,
        equivalence: &'a mut E,
    ) -> Self {
        let (whole_a, whole_b) = (left.is_whole_function(a), right.is_whole_function(b));
        let pairs = Pairs {
            a,
            b,
            insts: IndexTable::new(whole_a, a.inst_capacity(), NONE),
            insts_back: IndexTable::new(whole_b, b.inst_capacity(), NONE),
            bodies: IndexTable::new(whole_a, a.body_capacity(), NONE),
            bodies_back: IndexTable::new(whole_b, b.body_capacity(), NONE),
        };
        Self { scopes: (left, right), mode, pairs, equivalence }
    }

    /// Compares two instructions with their regions.
    pub(super) fn compare_insts(mut self, x: InstId, y: InstId) -> CompareResult {
        self.compare_inst(x, y)?;
        self.compare_operands(x, y)?;
        self.compare_paired_regions(x, y)
    }

    /// Compares the regions of two instructions.
    pub(super) fn compare_regions(mut self, x: InstId, y: InstId) -> CompareResult {
        if self.pairs.a.regions(x).len() != self.pairs.b.regions(y).len() {
            return Err(Unequal::Insts(x, y, InstPart::Regions));
        }
        self.pair_regions(x, y)?;
        self.compare_paired_regions(x, y)
    }

    fn compare_paired_regions(&mut self, x: InstId, y: InstId) -> CompareResult {
        let regions = self.pairs.a.regions(x).iter().zip(self.pairs.b.regions(y));
        let regions: Vec<(BodyId, BodyId)> = regions.map(|(&r, &s)| (r, s)).collect();
        self.compare_paired_bodies(&regions)
    }

    /// Compares bodies that are paired already.
    pub(super) fn compare_paired_bodies(&mut self, bodies: &[(BodyId, BodyId)]) -> CompareResult {
        match self.mode {
            Mode::Ordered => bodies.iter().try_for_each(|&(x, y)| self.compare_in_order(x, y)),
            Mode::DataFlow => self.compare_data_flow(bodies),
        }
    }

    // Compares the instructions of two bodies pairwise, in the order of the text.
    fn compare_in_order(&mut self, left: BodyId, right: BodyId) -> CompareResult {
        let (mut xs, mut ys) = (self.pairs.a.walk_body(left), self.pairs.b.walk_body(right));
        loop {
            match (xs.next(), ys.next()) {
                (None, None) => return Ok(()),
                (Some(x), Some(y)) => {
                    self.compare_inst(x, y)?;
                    self.compare_parent_body(x, y)?;
                    self.compare_operands(x, y)?;
                }
                (Some(x), None) => {
                    return Err(Unequal::Bodies(left, right, BodyPart::OnlyLeft(x)));
                }
                (None, Some(y)) => {
                    return Err(Unequal::Bodies(left, right, BodyPart::OnlyRight(y)));
                }
            }
        }
    }

    // Compares two bodies from their terminators and ordered instructions backwards to the operands.
    fn compare_data_flow(&mut self, bodies: &[(BodyId, BodyId)]) -> CompareResult {
        let (a, b) = (self.pairs.a, self.pairs.b);
        let ordered_a = ordered_flags(a, self.scopes.0);
        let ordered_b = ordered_flags(b, self.scopes.1);
        let mut tasks: Vec<CompareTask> =
            bodies.iter().rev().map(|&(x, y)| CompareTask::Body(x, y)).collect();
        while let Some(task) = tasks.pop() {
            match task {
                CompareTask::Body(x, y) => {
                    let xs = comparison_roots(a, x, &ordered_a);
                    let ys = comparison_roots(b, y, &ordered_b);
                    for (&i, &j) in xs.iter().zip(&ys) {
                        self.compare_and_queue(i, j, &mut tasks)?;
                    }
                    if xs.len() != ys.len() {
                        let part = BodyPart::Roots(xs.len(), ys.len());
                        return Err(Unequal::Bodies(x, y, part));
                    }
                }
                CompareTask::Values(x, y, n) => {
                    let Some(&u) = a.operands(x).get(n) else { continue };
                    let v = b.operands(y)[n];
                    tasks.push(CompareTask::Values(x, y, n + 1));
                    if self.pairs.same_value(self.equivalence, u, v) {
                        continue;
                    }
                    match (a.value_def(u), b.value_def(v)) {
                        (ValueDef::Result(i, p), ValueDef::Result(j, q))
                            if p == q
                                && self.pairs.both_inside_and_new(i, j)
                                && !ordered_a.get(i.index())
                                && !ordered_b.get(j.index()) =>
                        {
                            self.compare_and_queue(i, j, &mut tasks)?;
                        }
                        _ => return Err(Unequal::Insts(x, y, InstPart::Operand(n))),
                    }
                }
            }
        }
        Ok(())
    }

    fn compare_and_queue(
        &mut self,
        x: InstId,
        y: InstId,
        tasks: &mut Vec<CompareTask>,
    ) -> CompareResult {
        if self.pairs.insts.get(x.index()) == y.index() as u32 {
            return Ok(());
        }
        self.compare_inst(x, y)?;
        self.compare_parent_body(x, y)?;
        self.pairs.insts_back.set(y.index(), x.index() as u32);
        for (&r, &s) in self.pairs.a.regions(x).iter().zip(self.pairs.b.regions(y)).rev() {
            tasks.push(CompareTask::Body(r, s));
        }
        tasks.push(CompareTask::Values(x, y, 0));
        Ok(())
    }

    // Compares everything but operands and regions, and pairs the instructions and their regions.
    fn compare_inst(&mut self, x: InstId, y: InstId) -> CompareResult {
        compare_heads(self.equivalence, (self.pairs.a, x), (self.pairs.b, y))
            .map_err(|part| Unequal::Insts(x, y, part))?;
        self.pairs.insts.set(x.index(), y.index() as u32);
        self.pair_regions(x, y)
    }

    fn compare_parent_body(&self, x: InstId, y: InstId) -> CompareResult {
        let same = match (self.pairs.a.body_of(x), self.pairs.b.body_of(y)) {
            (Some(left), Some(right)) => {
                self.pairs.bodies.get(left.index()) == right.index() as u32
            }
            _ => false,
        };
        if same { Ok(()) } else { Err(Unequal::Insts(x, y, InstPart::Body)) }
    }

    fn compare_operands(&mut self, x: InstId, y: InstId) -> CompareResult {
        let pairs = &self.pairs;
        compare_operands(self.equivalence, (pairs.a, x), (pairs.b, y), |equivalence, u, v| {
            pairs.same_value(equivalence, u, v)
        })
        .map_err(|part| Unequal::Insts(x, y, part))
    }

    fn pair_regions(&mut self, x: InstId, y: InstId) -> CompareResult {
        let (a, b) = (self.pairs.a, self.pairs.b);
        let mut regions = a.regions(x).iter().zip(b.regions(y));
        regions.try_for_each(|(&r, &s)| self.pair_bodies(r, s))
    }

    /// Compares the parameters of two bodies, and pairs the bodies.
    pub(super) fn pair_bodies(&mut self, x: BodyId, y: BodyId) -> CompareResult {
        self.pairs.bodies.set(x.index(), y.index() as u32);
        self.pairs.bodies_back.set(y.index(), x.index() as u32);
        let (us, vs) = (self.pairs.a.body_params(x), self.pairs.b.body_params(y));
        if us.len() != vs.len() {
            return Err(Unequal::Bodies(x, y, BodyPart::Params));
        }
        let mut types = us.iter().zip(vs);
        match types.position(|(&u, &v)| !self.equivalence.same_type(u, v)) {
            Some(n) => Err(Unequal::Bodies(x, y, BodyPart::ParamType(n))),
            None => Ok(()),
        }
    }
}

impl Pairs<'_> {
    // Returns whether two values correspond: their definitions are paired, or both are from outside and correspond.
    fn same_value<E: Equivalence>(&self, equivalence: &mut E, u: ValueId, v: ValueId) -> bool {
        let (left, right) = (self.a.value_def(u), self.b.value_def(v));
        match (left, right) {
            (ValueDef::Result(i, p), ValueDef::Result(j, q))
                if self.insts.get(i.index()) == j.index() as u32 =>
            {
                return p == q;
            }
            (ValueDef::Param(x, p), ValueDef::Param(y, q))
                if self.bodies.get(x.index()) == y.index() as u32 =>
            {
                return p == q;
            }
            _ => {}
        }
        !is_inside(&self.bodies, self.a, left)
            && !is_inside(&self.bodies_back, self.b, right)
            && equivalence.same_outside(u, v)
    }

    // Returns whether two instructions are in paired bodies and not paired yet.
    fn both_inside_and_new(&self, x: InstId, y: InstId) -> bool {
        self.insts.get(x.index()) == NONE
            && self.insts_back.get(y.index()) == NONE
            && is_inside(&self.bodies, self.a, ValueDef::Result(x, 0))
            && is_inside(&self.bodies_back, self.b, ValueDef::Result(y, 0))
    }
}

// Returns whether a value is defined in a body that is paired already. The bodies around an instruction are paired
// before it, and only values of these are available to it.
fn is_inside(bodies: &IndexTable<u32>, f: &Function, def: ValueDef) -> bool {
    let body = match def {
        ValueDef::Param(body, _) => Some(body),
        ValueDef::Result(inst, _) => f.body_of(inst),
    };
    body.is_some_and(|body| bodies.get(body.index()) != NONE)
}
