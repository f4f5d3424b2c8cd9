//! The search for one pattern from one root: candidates one after the other, with bindings undone on backtracking.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, AttrKind, Dim, Function, InstId, Name, ValueId, ValueType, Values};
use smallvec::SmallVec;

use super::explain::DeepestFailure;
use super::feasibility::Feasibility;
use super::index::{Candidates, FunctionIndex};
use super::match_failure::MatchFailure;
use super::matches::OpenMatch;
use super::{FindOptions, Match};
use crate::graph::{
    AttrCondition, AttrSlot, CalleeMatch, Callees, ChoiceIx, Connection, MatchPlan, OpIx,
    PatternGraph, PatternOperand, ValueIx, ValueSource, from_the_end, same_constant,
};

/// After this number of steps from one root the search checks feasibility first.
const STEPS_BEFORE_FEASIBILITY: u64 = 256;

/// The largest number of uses of a value through which a rule with several outputs finds another output.
const MAX_USES_IN_RULES: usize = 64;

/// The context of a search: the function, its index, the callees and the options.
#[derive(Clone, Copy)]
pub(crate) struct SearchContext<'a> {
    pub(crate) f: &'a Function,
    pub(crate) index: Option<&'a FunctionIndex<'a>>,
    pub(crate) callees: Option<&'a Callees<'a>>,
    pub(crate) options: &'a FindOptions,
}

/// The way in which a search from a root ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SearchEnd {
    /// All candidates were tried, or the caller stopped the search.
    Done,
    /// The step limit was reached.
    Exhausted,
}

/// A search for one pattern; reused from root to root.
pub(crate) struct Search<'a> {
    pub(crate) cx: SearchContext<'a>,
    pub(crate) pattern: &'a PatternGraph,
    pub(crate) plan: &'a MatchPlan,
    pub(crate) bound: Bindings,
    taken: MatchedInsts,
    pub(super) trail: Vec<UndoEntry>,
    pub(super) frames: Vec<SearchFrame>,
    /// The number of legal matches so far, of a pattern that is not plain.
    pub(super) legal_found: std::cell::Cell<u64>,
    /// The number of steps from this root.
    pub(crate) steps: u64,
    pub(crate) deepest: Option<DeepestFailure>,
    /// The instructions that must not be matched.
    pub(crate) avoid: Option<HashSet<InstId, FxBuildHasher>>,
    pub(super) feasibility: Feasibility,
}

/// The bindings of a search so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    pub(crate) ops: Vec<Option<InstId>>,
    pub(crate) swapped: Vec<bool>,
    pub(crate) values: Vec<Option<ValueId>>,
    pub(crate) captures: Vec<Option<Attr>>,
    pub(crate) lists: Vec<Option<Values>>,
    /// The alternatives that were chosen.
    pub(crate) choices: Vec<Option<usize>>,
    pub(super) dims: Vec<(Name, Dim)>,
}

impl Bindings {
    /// Returns the dim that a name is bound to.
    pub(crate) fn dim(&self, name: Name) -> Option<Dim> {
        self.dims.iter().find(|(known, _)| *known == name).map(|&(_, dim)| dim)
    }

    /// Returns all values that are bound or belong to a bound instruction.
    pub(crate) fn all_values<'a>(&'a self, f: &'a Function) -> impl Iterator<Item = ValueId> + 'a {
        let own = |i: InstId| f.inst_results(i).chain(f.operands(i).iter().copied());
        let values = self.values.iter().flatten().copied();
        values.chain(self.ops.iter().flatten().flat_map(move |&i| own(i)))
    }
}

#[derive(Clone, Copy)]
pub(super) enum UndoEntry {
    Op(OpIx),
    Value(ValueIx),
    /// The value was bound to this one before.
    Rebound(ValueIx, ValueId),
    Choice(ChoiceIx),
    Capture(usize),
    List(usize),
    Dim,
}

pub(super) struct SearchFrame {
    pub(super) candidates: Candidates,
    pub(super) at: usize,
    swapped: bool,
    pub(super) mark: usize,
    /// The number of legal matches that were found before this frame.
    pub(super) found_before: u64,
}

// The instructions that are bound to an op of the pattern: a list while they are few, then a set.
#[derive(Default)]
struct MatchedInsts {
    list: SmallVec<[InstId; 16]>,
    many: HashSet<InstId, FxBuildHasher>,
}

impl MatchedInsts {
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
        // If two ops may match one instruction, this set is not used.
        if let Some(inst) = self.list.pop().filter(|_| self.list.len() > Self::FEW) {
            self.many.remove(&inst);
        }
    }
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        cx: SearchContext<'a>,
        pattern: &'a PatternGraph,
        plan: &'a MatchPlan,
    ) -> Self {
        let bound = Bindings {
            ops: vec![None; pattern.ops.len()],
            swapped: vec![false; pattern.ops.len()],
            values: vec![None; pattern.values.len()],
            captures: vec![None; pattern.captures.len()],
            lists: vec![None; pattern.lists.len()],
            choices: vec![None; pattern.choices.len()],
            dims: Vec::new(),
        };
        Self {
            cx,
            pattern,
            plan,
            bound,
            taken: MatchedInsts::default(),
            trail: Vec::new(),
            frames: Vec::new(),
            legal_found: std::cell::Cell::new(0),
            steps: 0,
            deepest: None,
            avoid: None,
            feasibility: Feasibility::default(),
        }
    }

    /// Tries all candidates from a root. `found` receives each complete binding and returns whether to continue.
    pub(crate) fn run(&mut self, root: InstId, mut found: impl FnMut(&Self) -> bool) -> SearchEnd {
        let plan = self.plan;
        self.steps = 0;
        self.frames.clear();
        self.undo(0);
        self.push(Candidates::One(root));
        let ended = loop {
            let Some(depth) = self.frames.len().checked_sub(1) else { break SearchEnd::Done };
            let step = &plan.steps[depth];
            if plan.open && matches!(self.frames[depth].candidates, Candidates::Branches(_)) {
                if self.steps > self.cx.options.steps_per_root {
                    break SearchEnd::Exhausted;
                }
                if self.take_branch(depth) && !self.advance(depth, None, &mut found) {
                    break SearchEnd::Done;
                }
                continue;
            }
            let frame = &mut self.frames[depth];
            let mark = frame.mark;
            let next = frame.next(step.swap);
            self.undo(mark);
            let Some((inst, swapped)) = next else {
                self.frames.pop();
                continue;
            };
            if swapped && matches!(self.cx.f.operands(inst), [a, b, ..] if a == b) {
                continue;
            }
            self.steps += 1;
            if self.steps > self.cx.options.steps_per_root {
                break SearchEnd::Exhausted;
            }
            let op = step.op;
            if self.steps > STEPS_BEFORE_FEASIBILITY && !self.is_feasible(op, inst) {
                continue;
            }
            if let Err(why) = self.bind_op(op, inst, swapped) {
                self.record_failure(depth, Some(inst), why);
                continue;
            }
            if !self.advance(depth, Some(inst), &mut found) {
                break SearchEnd::Done;
            }
        };
        self.frames.clear();
        self.undo(0);
        ended
    }

    // Continues with the step after this one, or reports the binding if there is none. Returns false if the caller stops the search.
    #[inline(always)]
    fn advance(
        &mut self,
        depth: usize,
        inst: Option<InstId>,
        found: &mut impl FnMut(&Self) -> bool,
    ) -> bool {
        if depth + 1 < self.plan.steps.len() {
            let candidates = self.candidates(depth + 1);
            if matches!(candidates, Candidates::None) {
                self.record_failure(depth + 1, None, MatchFailure::NoCandidate);
            } else {
                self.push(candidates);
            }
            return true;
        }
        if self.plan.open
            && let Err((inst, why)) = self.finish_open()
        {
            self.record_failure(depth, inst, why);
            return true;
        }
        if let Err(n) = self.check_conditions() {
            let inst = inst.or(self.bound.ops.iter().flatten().last().copied());
            self.record_failure(depth + 1, inst, MatchFailure::Condition(n));
            return true;
        }
        found(self)
    }

    fn push(&mut self, candidates: Candidates) {
        let mark = self.trail.len();
        let found_before = self.legal_found.get();
        self.frames.push(SearchFrame { candidates, at: 0, swapped: false, mark, found_before });
    }

    pub(super) fn record_failure(&mut self, depth: usize, inst: Option<InstId>, why: MatchFailure) {
        if self.deepest.is_none() {
            return;
        }
        let mut deepest = self.deepest.take();
        if let Some(deepest) = &mut deepest {
            deepest.update(self, depth, inst, why);
        }
        self.deepest = deepest;
    }

    fn check_conditions(&self) -> Result<(), usize> {
        match self
            .pattern
            .conditions
            .iter()
            .position(|c| !c.holds(self.cx.f, self.pattern, &self.bound))
        {
            Some(n) => Err(n),
            None => Ok(()),
        }
    }

    /// Returns the candidates for the op of a step.
    pub(crate) fn candidates(&self, step: usize) -> Candidates {
        let (f, step) = (self.cx.f, &self.plan.steps[step]);
        let key = || self.pattern.ops[step.op].key;
        match &step.reach {
            Connection::Root => Candidates::None,
            Connection::Def(value) => match self.bound.values[*value].and_then(|v| f.inst_of(v)) {
                Some(inst) => Candidates::One(inst),
                None => Candidates::None,
            },
            Connection::Use(values) => {
                let bound = values.iter().filter_map(|(_, v)| self.bound.values[*v]);
                let Some(index) = self.cx.index else { return users_of_few(f, bound, key()) };
                match bound.min_by_key(|&v| index.width(v)) {
                    Some(value) => index.users(value, key()),
                    None => Candidates::None,
                }
            }
            Connection::Captures(value) => match (self.cx.index, self.bound.values[*value]) {
                (Some(index), Some(value)) => index.around_uses(value, key()),
                _ => Candidates::None,
            },
            Connection::AnyResult | Connection::Choice(_) => self.open_candidates(step),
        }
    }

    fn bind_op(&mut self, ix: OpIx, inst: InstId, swapped: bool) -> Result<(), MatchFailure> {
        let f = self.cx.f;
        let pattern = self.pattern;
        let op = &pattern.ops[ix];
        if f.op_key(inst) != op.key && (!self.plan.open || !self.accepts_other(op, inst)) {
            return Err(MatchFailure::Op);
        }
        if self.plan.open
            && swapped
            && !op.is_one()
            && !f.op_def(inst).is_some_and(|def| def.commutative)
        {
            return Err(MatchFailure::Operand(0, 1));
        }
        if !self.cx.options.share_ops && self.taken.contains(inst)
            || self.avoid.as_ref().is_some_and(|avoid| avoid.contains(&inst))
        {
            return Err(MatchFailure::Taken);
        }
        let results = f.inst_results(inst).len();
        if results < op.results.len() || (op.exact_results && results > op.results.len()) {
            return Err(MatchFailure::Results(results));
        }
        if let Some(wanted) = op.callee {
            let Some(Attr::Func(found)) = f.attr(inst, "callee") else {
                return Err(MatchFailure::Callee);
            };
            if !self.calls(wanted, *found) {
                return Err(MatchFailure::Callee);
            }
        }
        self.bind_attrs(ix, inst)?;
        for (n, &result) in op.results.iter().enumerate() {
            // A result may be reached from its users through other instructions.
            let bound = f.result(inst, n).is_some_and(|v| {
                self.bind(result, v) && (!self.plan.open || self.bound.values[result] == Some(v))
            });
            if !bound {
                return Err(MatchFailure::Result(n));
            }
        }
        self.bind_operands(ix, inst, swapped)?;
        if op.regions.is_some() {
            self.bind_regions(ix, inst)?;
        }
        if self.plan.open && !op.region_patterns.is_empty() {
            self.bind_region_patterns(ix, inst)?;
        }
        self.bound.ops[ix] = Some(inst);
        self.bound.swapped[ix] = swapped;
        self.taken.push(inst);
        self.trail.push(UndoEntry::Op(ix));
        if self.plan.open && self.frames.len() == 1 {
            self.bind_chosen(ix);
        }
        Ok(())
    }

    /// Returns whether a call of one function matches a call of another in a pattern.
    pub(super) fn calls(&self, wanted: Name, found: Name) -> bool {
        match self.cx.callees {
            Some(callees) => callees.fit(wanted, found) != CalleeMatch::No,
            None => found == wanted,
        }
    }

    /// Returns the length of the undo trail.
    pub(super) fn trail_len(&self) -> usize {
        self.trail.len()
    }

    fn bind_attrs(&mut self, ix: OpIx, inst: InstId) -> Result<(), MatchFailure> {
        let (f, pattern) = (self.cx.f, self.pattern);
        for (n, test) in pattern.ops[ix].attrs.iter().enumerate() {
            let fits = match (&test.slot, &test.test) {
                (AttrSlot::Row(row), AttrCondition::Is(attr)) => {
                    f.attrs(inst).get(*row) == Some(attr)
                }
                (slot, test) => match (attr_at(f, inst, slot), test) {
                    (Some(found), AttrCondition::Is(attr)) => found == *attr,
                    (Some(found), AttrCondition::Capture(capture)) => self.capture(*capture, found),
                    (Some(found), AttrCondition::Axes(of, axes)) => {
                        let rank = of.rank(f, inst);
                        rank.is_some_and(|n| from_the_end(axes, n) == from_the_end(&found, n))
                    }
                    (None, _) => false,
                },
            };
            if !fits {
                return Err(MatchFailure::Attr(n));
            }
        }
        Ok(())
    }

    fn bind_operands(&mut self, ix: OpIx, inst: InstId, swapped: bool) -> Result<(), MatchFailure> {
        let (f, pattern) = (self.cx.f, self.pattern);
        let wanted = &pattern.ops[ix].operands;
        let found = f.operands(inst);
        let rest = matches!(wanted.last(), Some(PatternOperand::Rest(_)));
        let fixed = wanted.len() - usize::from(rest);
        if found.len() < fixed || (!rest && found.len() > fixed) {
            return Err(MatchFailure::Operands(found.len()));
        }
        for (n, operand) in wanted.iter().enumerate() {
            match *operand {
                PatternOperand::One(value) => {
                    let at = if swapped && n < 2 { 1 - n } else { n };
                    if !self.bind(value, found[at]) {
                        return Err(MatchFailure::Operand(n, at));
                    }
                }
                PatternOperand::Rest(list) => {
                    if !self.bind_list(list, &found[fixed..]) {
                        return Err(MatchFailure::Operand(n, fixed));
                    }
                }
            }
        }
        Ok(())
    }

    /// Binds a value of the pattern. Returns false if it is bound to another value.
    pub(crate) fn bind(&mut self, value: ValueIx, found: ValueId) -> bool {
        let known = self.bound.values[value];
        if known == Some(found) {
            return true;
        }
        let (f, typed) = (self.cx.f, self.cx.options.typed);
        let data = &self.pattern.values[value];
        match (&data.from, known) {
            // Constants are compared by value, not by position.
            (ValueSource::Literal(_), Some(known)) if !same_constant(f, known, found) => {
                return self.plan.open && self.same_constant_behind(known, found);
            }
            (ValueSource::Literal(literal), None)
                if !(literal.fits(f, found, typed)
                    || self.plan.open && self.is_constant_behind(literal, found)) =>
            {
                return false;
            }
            (ValueSource::Param | ValueSource::Result(_) | ValueSource::Choice(_), Some(known)) => {
                return self.plan.open && self.rebind_to_common(value, known, found);
            }
            _ => {}
        }
        // A value behind ops to look through may still be rebound, so that its type is compared at the end.
        if let Some(shape) = &data.shape
            && self.pattern.through.is_empty()
            && !self.shape_fits(shape, f.value_type(found))
        {
            return false;
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
        self.trail.push(UndoEntry::Value(value));
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
            (ValueType::Token, ValueType::Token) | (ValueType::Opaque, ValueType::Opaque) => true,
            _ => false,
        }
    }

    // Compares dims: `?` matches any dim, a named dim the same dim everywhere.
    fn dim_fits(&mut self, wanted: Dim, found: Dim) -> bool {
        match wanted {
            Dim::Known(_) => wanted == found,
            Dim::Unknown => true,
            Dim::Expr(expr) => match expr.as_symbol() {
                Some(name) => match self.bound_dim(name) {
                    Some(known) => known.certainly_equal(found),
                    None => {
                        self.bound.dims.push((name, found));
                        self.trail.push(UndoEntry::Dim);
                        true
                    }
                },
                // The symbols of an expression must be bound before.
                None => wanted
                    .substitute(&mut |name| self.bound_dim(name).unwrap_or(Dim::Unknown))
                    .certainly_equal(found),
            },
        }
    }

    pub(super) fn bound_dim(&self, name: Name) -> Option<Dim> {
        self.bound.dim(name)
    }

    fn capture(&mut self, capture: usize, found: Attr) -> bool {
        match &self.bound.captures[capture] {
            Some(known) => *known == found,
            None => {
                self.bound.captures[capture] = Some(found);
                self.trail.push(UndoEntry::Capture(capture));
                true
            }
        }
    }

    fn bind_list(&mut self, list: usize, found: &[ValueId]) -> bool {
        match &self.bound.lists[list] {
            Some(known) => **known == *found,
            None => {
                self.bound.lists[list] = Some(Values::from_slice(found));
                self.trail.push(UndoEntry::List(list));
                true
            }
        }
    }

    pub(super) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(UndoEntry::Op(op)) => {
                    self.bound.ops[op] = None;
                    self.taken.pop();
                }
                Some(UndoEntry::Value(value)) => self.bound.values[value] = None,
                Some(UndoEntry::Rebound(value, old)) => self.bound.values[value] = Some(old),
                Some(UndoEntry::Choice(choice)) => self.bound.choices[choice] = None,
                Some(UndoEntry::Capture(capture)) => self.bound.captures[capture] = None,
                Some(UndoEntry::List(list)) => self.bound.lists[list] = None,
                Some(UndoEntry::Dim) => {
                    self.bound.dims.pop();
                }
                None => {}
            }
        }
    }

    /// Returns the bindings as a match. All ops must be bound that the chosen alternatives need.
    pub(crate) fn to_match(&self, number: usize) -> Match {
        // Instructions in regions are part of the instruction that has the region.
        let outside = self.pattern.ops.iter().zip(&self.bound.ops).filter(|(op, _)| !op.in_region);
        let mut ops: Vec<InstId> = outside.filter_map(|(_, inst)| *inst).collect();
        let by_name = self.pattern.ops.iter().zip(&self.bound.ops).any(|(op, inst)| {
            let (Some(wanted), Some(inst)) = (op.callee, *inst) else { return false };
            match (self.cx.f.attr(inst, "callee"), self.cx.callees) {
                (Some(Attr::Func(found)), Some(callees)) => {
                    callees.fit(wanted, *found) == CalleeMatch::ByName
                }
                _ => false,
            }
        });
        let mut captured = self.captured();
        let mut open = None;
        if self.plan.open {
            ops.extend(self.looked_through());
            captured.extend(self.input_places(&ops));
            open = Some(Box::new(OpenMatch {
                insts: self.bound.ops.clone(),
                choices: self.bound.choices.clone(),
                dims: self.bound.dims.clone(),
            }));
        }
        Match {
            pattern: number,
            function: self.cx.f.name(),
            ops,
            open,
            values: self.bound.values.as_slice().into(),
            attrs: self.bound.captures.clone(),
            lists: self.bound.lists.clone(),
            swapped: SmallVec::from_slice(&self.bound.swapped),
            captured,
            by_name,
        }
    }

    // Returns the uses in regions of outer values of the pattern.
    fn captured(&self) -> Vec<(ValueIx, InstId, usize)> {
        let (f, mut places) = (self.cx.f, Vec::new());
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

// Returns the instructions of an op that use one of several values, in program order. Without an index, only values with few uses are
// followed, so that rules at all users of one value take linear time.
fn users_of_few(
    f: &Function,
    values: impl Iterator<Item = ValueId>,
    key: sapwood_ptir::OpKey,
) -> Candidates {
    let few = |v: &ValueId| f.uses(*v).take(MAX_USES_IN_RULES + 1).count() <= MAX_USES_IN_RULES;
    let Some(value) = values.into_iter().find(few) else { return Candidates::None };
    let mut users: Vec<InstId> =
        f.uses(value).map(|u| u.user).filter(|&i| f.op_key(i) == key).collect();
    users.sort_unstable_by_key(|&inst| f.order_key(inst));
    users.dedup();
    if users.is_empty() { Candidates::None } else { Candidates::Few(users) }
}

impl SearchFrame {
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

/// Returns an attribute of an instruction, or its shape or element type, which rules treat like attributes.
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
        AttrSlot::Others(named) => other_attrs(f, inst, named),
    }
}

// Returns the attributes of an instruction that are not named, as a dictionary.
fn other_attrs(f: &Function, inst: InstId, named: &[Name]) -> Option<Attr> {
    let Some(def) = f.op_def(inst) else {
        let Some(Attr::Dict(entries)) = f.attrs(inst).first() else { return None };
        let others = entries.iter().filter(|(name, _)| !named.contains(name));
        return Some(Attr::dict(others.cloned().collect()));
    };
    let rows = def.attrs.iter().zip(f.attrs(inst).iter());
    let others = rows.filter(|(row, _)| {
        row.kind != AttrKind::ResultType && !named.iter().any(|n| n.as_str() == row.name)
    });
    Some(Attr::dict(others.map(|(row, attr)| (Name::new(row.name), attr.clone())).collect()))
}
