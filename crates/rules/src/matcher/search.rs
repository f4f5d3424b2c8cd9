//! The search for one pattern from one root: candidates one after the other, bindings undone on the way back.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, Dim, Function, InstId, Name, ValueId, ValueType, Values};
use smallvec::SmallVec;

use super::explain::Nearest;
use super::index::{Candidates, FunctionIndex};
use super::possible::Possible;
use super::why::Why;
use super::{FindOptions, Match};
use crate::graph::{
    AttrSlot, Callees, Fit, OpIx, Operand, PatternGraph, Plan, Reach, Source, Test, ValueIx,
    same_constant,
};

/// After so many steps from one root it is worth asking what is possible at all.
const MANY: u64 = 256;

/// What a search works on.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) f: &'a Function,
    pub(crate) index: Option<&'a FunctionIndex<'a>>,
    pub(crate) callees: Option<&'a Callees<'a>>,
    pub(crate) options: &'a FindOptions,
}

/// How a search from a root ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Everything was tried, or nobody wants more.
    Done,
    /// The budget of steps was used up.
    Exhausted,
}

/// A search; reused from root to root.
pub(crate) struct Search<'a> {
    pub(crate) scene: Scene<'a>,
    pub(crate) pattern: &'a PatternGraph,
    pub(crate) plan: &'a Plan,
    pub(crate) bound: Bound,
    taken: Taken,
    trail: Vec<Undo>,
    frames: Vec<Frame>,
    /// Steps taken from this root.
    pub(crate) steps: u64,
    pub(crate) nearest: Option<Nearest>,
    /// Instructions that are not to be matched.
    pub(crate) avoid: Option<HashSet<InstId, FxBuildHasher>>,
    pub(super) possible: Possible,
}

/// What is bound so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound {
    pub(crate) ops: Vec<Option<InstId>>,
    pub(crate) swapped: Vec<bool>,
    pub(crate) values: Vec<Option<ValueId>>,
    pub(crate) captures: Vec<Option<Attr>>,
    pub(crate) lists: Vec<Option<Values>>,
    dims: Vec<(Name, Dim)>,
}

impl Bound {
    /// All values that are bound or belong to a bound instruction.
    pub(crate) fn all_values<'a>(&'a self, f: &'a Function) -> impl Iterator<Item = ValueId> + 'a {
        let own = |i: InstId| f.inst_results(i).chain(f.operands(i).iter().copied());
        let values = self.values.iter().flatten().copied();
        values.chain(self.ops.iter().flatten().flat_map(move |&i| own(i)))
    }
}

#[derive(Clone, Copy)]
enum Undo {
    Op(OpIx),
    Value(ValueIx),
    Capture(usize),
    List(usize),
    Dim,
}

struct Frame {
    candidates: Candidates,
    at: usize,
    swapped: bool,
    mark: usize,
}

// The instructions that are bound to an op of the pattern. Few are, mostly, so a list will do until they are many.
#[derive(Default)]
struct Taken {
    list: SmallVec<[InstId; 16]>,
    many: HashSet<InstId, FxBuildHasher>,
}

impl Taken {
    const FEW: usize = 16;

    fn contains(&self, inst: InstId) -> bool {
        if self.list.len() <= Self::FEW {
            self.list.contains(&inst)
        } else {
            self.many.contains(&inst)
        }
    }

    fn push(&mut self, inst: InstId) {
        self.list.push(inst);
        if self.list.len() == Self::FEW + 1 {
            self.many.clear();
            self.many.extend(self.list.iter().copied());
        } else if self.list.len() > Self::FEW {
            self.many.insert(inst);
        }
    }

    fn pop(&mut self) {
        // Where two ops may be one instruction nobody asks what is taken.
        if let Some(inst) = self.list.pop().filter(|_| self.list.len() > Self::FEW) {
            self.many.remove(&inst);
        }
    }
}

impl<'a> Search<'a> {
    pub(crate) fn new(scene: Scene<'a>, pattern: &'a PatternGraph, plan: &'a Plan) -> Self {
        let bound = Bound {
            ops: vec![None; pattern.ops.len()],
            swapped: vec![false; pattern.ops.len()],
            values: vec![None; pattern.values.len()],
            captures: vec![None; pattern.captures.len()],
            lists: vec![None; pattern.lists.len()],
            dims: Vec::new(),
        };
        Self {
            scene,
            pattern,
            plan,
            bound,
            taken: Taken::default(),
            trail: Vec::new(),
            frames: Vec::new(),
            steps: 0,
            nearest: None,
            avoid: None,
            possible: Possible::default(),
        }
    }

    /// Tries everything from a root. `found` sees each complete binding and says whether to go on.
    pub(crate) fn run(&mut self, root: InstId, mut found: impl FnMut(&Self) -> bool) -> Ended {
        let plan = self.plan;
        self.steps = 0;
        self.frames.clear();
        self.undo(0);
        self.push(Candidates::One(root));
        let ended = loop {
            let Some(depth) = self.frames.len().checked_sub(1) else { break Ended::Done };
            let step = &plan.steps[depth];
            let frame = &mut self.frames[depth];
            let mark = frame.mark;
            let next = frame.next(step.swap);
            self.undo(mark);
            let Some((inst, swapped)) = next else {
                self.frames.pop();
                continue;
            };
            if swapped && matches!(self.scene.f.operands(inst), [a, b, ..] if a == b) {
                continue;
            }
            self.steps += 1;
            if self.steps > self.scene.options.steps_per_root {
                break Ended::Exhausted;
            }
            let op = step.op;
            if self.steps > MANY && !self.possible(op, inst) {
                continue;
            }
            if let Err(why) = self.bind_op(op, inst, swapped) {
                self.note(depth, Some(inst), why);
                continue;
            }
            if depth + 1 < plan.steps.len() {
                let candidates = self.candidates(depth + 1);
                if matches!(candidates, Candidates::None) {
                    self.note(depth + 1, None, Why::NoCandidate);
                    continue;
                }
                self.push(candidates);
                continue;
            }
            if let Err(n) = self.conditions() {
                self.note(depth + 1, Some(inst), Why::Condition(n));
            } else if !found(self) {
                break Ended::Done;
            }
        };
        self.frames.clear();
        self.undo(0);
        ended
    }

    fn push(&mut self, candidates: Candidates) {
        let mark = self.trail.len();
        self.frames.push(Frame { candidates, at: 0, swapped: false, mark });
    }

    fn note(&mut self, depth: usize, inst: Option<InstId>, why: Why) {
        if self.nearest.is_none() {
            return;
        }
        let mut nearest = self.nearest.take();
        if let Some(nearest) = &mut nearest {
            nearest.note(self, depth, inst, why);
        }
        self.nearest = nearest;
    }

    fn conditions(&self) -> Result<(), usize> {
        match self
            .pattern
            .conditions
            .iter()
            .position(|c| !c.holds(self.scene.f, self.pattern, &self.bound))
        {
            Some(n) => Err(n),
            None => Ok(()),
        }
    }

    /// The instructions that may be the op of a step.
    pub(crate) fn candidates(&self, step: usize) -> Candidates {
        let (f, step) = (self.scene.f, &self.plan.steps[step]);
        let key = self.pattern.ops[step.op].key;
        match &step.reach {
            Reach::Root => Candidates::None,
            Reach::Def(value) => match self.bound.values[*value].and_then(|v| f.inst_of(v)) {
                Some(inst) => Candidates::One(inst),
                None => Candidates::None,
            },
            Reach::Use(values) => {
                let Some(index) = self.scene.index else { return Candidates::None };
                let bound = values.iter().filter_map(|(_, v)| self.bound.values[*v]);
                match bound.min_by_key(|&v| index.width(v)) {
                    Some(value) => index.users(value, key),
                    None => Candidates::None,
                }
            }
            Reach::Captures(value) => match (self.scene.index, self.bound.values[*value]) {
                (Some(index), Some(value)) => index.around_uses(value, key),
                _ => Candidates::None,
            },
        }
    }

    fn bind_op(&mut self, ix: OpIx, inst: InstId, swapped: bool) -> Result<(), Why> {
        let f = self.scene.f;
        let pattern = self.pattern;
        let op = &pattern.ops[ix];
        if f.op_key(inst) != op.key {
            return Err(Why::Op);
        }
        if !self.scene.options.share_ops && self.taken.contains(inst)
            || self.avoid.as_ref().is_some_and(|avoid| avoid.contains(&inst))
        {
            return Err(Why::Taken);
        }
        let results = f.inst_results(inst).len();
        if results < op.results.len() || (op.exact_results && results > op.results.len()) {
            return Err(Why::Results(results));
        }
        if let Some(wanted) = op.callee {
            let Some(Attr::Func(found)) = f.attr(inst, "callee") else { return Err(Why::Callee) };
            if !self.calls(wanted, *found) {
                return Err(Why::Callee);
            }
        }
        self.bind_attrs(ix, inst)?;
        for (n, &result) in op.results.iter().enumerate() {
            if !f.result(inst, n).is_some_and(|v| self.bind(result, v)) {
                return Err(Why::Result(n));
            }
        }
        self.bind_operands(ix, inst, swapped)?;
        if op.regions.is_some() {
            self.bind_regions(ix, inst)?;
        }
        self.bound.ops[ix] = Some(inst);
        self.bound.swapped[ix] = swapped;
        self.taken.push(inst);
        self.trail.push(Undo::Op(ix));
        Ok(())
    }

    /// Whether a call of one function is what a call of another in a pattern stands for.
    pub(super) fn calls(&self, wanted: Name, found: Name) -> bool {
        match self.scene.callees {
            Some(callees) => callees.fit(wanted, found) != Fit::No,
            None => found == wanted,
        }
    }

    /// Where the trail ends, to come back to.
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    fn bind_attrs(&mut self, ix: OpIx, inst: InstId) -> Result<(), Why> {
        let (f, pattern) = (self.scene.f, self.pattern);
        for (n, test) in pattern.ops[ix].attrs.iter().enumerate() {
            let fits = match (&test.slot, &test.test) {
                (AttrSlot::Row(row), Test::Is(attr)) => f.attrs(inst).get(*row) == Some(attr),
                (slot, test) => match (attr_at(f, inst, slot), test) {
                    (Some(found), Test::Is(attr)) => found == *attr,
                    (Some(found), Test::Capture(capture)) => self.capture(*capture, found),
                    (None, _) => false,
                },
            };
            if !fits {
                return Err(Why::Attr(n));
            }
        }
        Ok(())
    }

    fn bind_operands(&mut self, ix: OpIx, inst: InstId, swapped: bool) -> Result<(), Why> {
        let (f, pattern) = (self.scene.f, self.pattern);
        let wanted = &pattern.ops[ix].operands;
        let found = f.operands(inst);
        let rest = matches!(wanted.last(), Some(Operand::Rest(_)));
        let fixed = wanted.len() - usize::from(rest);
        if found.len() < fixed || (!rest && found.len() > fixed) {
            return Err(Why::Operands(found.len()));
        }
        for (n, operand) in wanted.iter().enumerate() {
            match *operand {
                Operand::One(value) => {
                    let at = if swapped && n < 2 { 1 - n } else { n };
                    if !self.bind(value, found[at]) {
                        return Err(Why::Operand(n, at));
                    }
                }
                Operand::Rest(list) => {
                    if !self.bind_list(list, &found[fixed..]) {
                        return Err(Why::Operand(n, fixed));
                    }
                }
            }
        }
        Ok(())
    }

    /// Binds a value of the pattern, or says whether it is bound to this one.
    pub(crate) fn bind(&mut self, value: ValueIx, found: ValueId) -> bool {
        let known = self.bound.values[value];
        if known == Some(found) {
            return true;
        }
        let (f, typed) = (self.scene.f, self.scene.options.typed);
        let data = &self.pattern.values[value];
        match (&data.from, known) {
            // A constant is what it is, not where it stands.
            (Source::Literal(_), Some(known)) if !same_constant(f, known, found) => return false,
            (Source::Literal(literal), None) if !literal.fits(f, found, typed) => return false,
            (Source::Param | Source::Result(_), Some(_)) => return false,
            _ => {}
        }
        if typed
            && let Some(ty) = &data.ty
            && !self.type_fits(ty, f.value_type(found))
        {
            return false;
        }
        if known.is_some() {
            return true;
        }
        self.bound.values[value] = Some(found);
        self.trail.push(Undo::Value(value));
        true
    }

    pub(super) fn type_fits(&mut self, wanted: &ValueType, found: &ValueType) -> bool {
        match (wanted, found) {
            (ValueType::Tensor(a), ValueType::Tensor(b)) => {
                a.dtype == b.dtype
                    && a.dims.len() == b.dims.len()
                    && a.dims.iter().zip(&b.dims).all(|(a, b)| self.dim_fits(*a, *b))
            }
            (ValueType::Tuple(a), ValueType::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| self.type_fits(a, b))
            }
            (ValueType::Token, ValueType::Token) => true,
            _ => false,
        }
    }

    // `?` is any dim, a name the same wherever it stands.
    fn dim_fits(&mut self, wanted: Dim, found: Dim) -> bool {
        match wanted {
            Dim::Known(_) => wanted == found,
            Dim::Unknown => true,
            Dim::Named(name) => match self.bound.dims.iter().find(|(n, _)| *n == name) {
                Some((_, known)) => known.certainly_equal(found),
                None => {
                    self.bound.dims.push((name, found));
                    self.trail.push(Undo::Dim);
                    true
                }
            },
        }
    }

    fn capture(&mut self, capture: usize, found: Attr) -> bool {
        match &self.bound.captures[capture] {
            Some(known) => *known == found,
            None => {
                self.bound.captures[capture] = Some(found);
                self.trail.push(Undo::Capture(capture));
                true
            }
        }
    }

    fn bind_list(&mut self, list: usize, found: &[ValueId]) -> bool {
        match &self.bound.lists[list] {
            Some(known) => **known == *found,
            None => {
                self.bound.lists[list] = Some(Values::from_slice(found));
                self.trail.push(Undo::List(list));
                true
            }
        }
    }

    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Undo::Op(op)) => {
                    self.bound.ops[op] = None;
                    self.taken.pop();
                }
                Some(Undo::Value(value)) => self.bound.values[value] = None,
                Some(Undo::Capture(capture)) => self.bound.captures[capture] = None,
                Some(Undo::List(list)) => self.bound.lists[list] = None,
                Some(Undo::Dim) => {
                    self.bound.dims.pop();
                }
                None => {}
            }
        }
    }

    /// What is bound, as a match. All ops must be.
    pub(crate) fn to_match(&self, number: usize) -> Match {
        let ops: Vec<InstId> = self.bound.ops.iter().flatten().copied().collect();
        let by_name = self.pattern.ops.iter().zip(&ops).any(|(op, &inst)| {
            let Some(wanted) = op.callee else { return false };
            match (self.scene.f.attr(inst, "callee"), self.scene.callees) {
                (Some(Attr::Func(found)), Some(callees)) => {
                    callees.fit(wanted, *found) == Fit::ByName
                }
                _ => false,
            }
        });
        Match {
            pattern: number,
            function: self.scene.f.name(),
            ops,
            values: self.bound.values.as_slice().into(),
            attrs: self.bound.captures.clone(),
            lists: self.bound.lists.clone(),
            swapped: SmallVec::from_slice(&self.bound.swapped),
            captured: self.captured(),
            by_name,
        }
    }

    // Where regions use the values of the pattern that they take from outside.
    fn captured(&self) -> Vec<(ValueIx, InstId, usize)> {
        let (f, mut places) = (self.scene.f, Vec::new());
        for (op, inst) in self.pattern.ops.iter().zip(&self.bound.ops) {
            let (Some(inst), false) = (*inst, op.captured.is_empty()) else { continue };
            let inner = f.regions(inst).iter().flat_map(|&b| f.walk_body(b));
            let uses: Vec<(InstId, usize, ValueId)> = inner
                .flat_map(|i| f.operands(i).iter().enumerate().map(move |(n, &v)| (i, n, v)))
                .collect();
            for &value in &op.captured {
                let bound = self.bound.values[value];
                let used = uses.iter().find(|(_, _, v)| Some(*v) == bound);
                places.extend(used.map(|&(i, n, _)| (value, i, n)));
            }
        }
        places
    }
}

impl Frame {
    fn next(&mut self, swap: bool) -> Option<(InstId, bool)> {
        let inst = self.candidates.get(self.at)?;
        let swapped = self.swapped;
        if swap && !swapped {
            self.swapped = true;
        } else {
            self.swapped = false;
            self.at += 1;
        }
        Some((inst, swapped))
    }
}

/// An attribute of an instruction, or what rules treat like one.
pub(crate) fn attr_at(f: &Function, inst: InstId, slot: &AttrSlot) -> Option<Attr> {
    let tensor = || f.value_type(f.value_of(inst)?).as_tensor();
    match slot {
        AttrSlot::Row(row) => f.attrs(inst).get(*row).cloned(),
        AttrSlot::Entry(name) => f.attr(inst, name.as_str()).cloned(),
        AttrSlot::Shape => {
            let shape = tensor()?.known_shape()?;
            Some(Attr::Ints(shape.iter().map(|&n| n as i64).collect()))
        }
        AttrSlot::Dtype => Some(Attr::Type(tensor()?.dtype)),
    }
}
