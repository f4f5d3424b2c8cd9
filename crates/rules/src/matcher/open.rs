//! The parts of the search for patterns that are not plain: alternatives, wildcards, ops to look through, and types with named
//! dims. The search itself is the same, and all bindings are on its trail.

use sapwood_ptir::{BodyId, Dim, Function, InstId, ValueDef, ValueId, ValueType};
use smallvec::SmallVec;

use super::Match;
use super::index::Candidates;
use super::match_failure::MatchFailure;
use super::search::{Search, UndoEntry};
use crate::graph::{
    ChoiceIx, Connection, DimTest, Literal, MatchStep, OpIx, PatternGraph, PatternOp,
    PatternOperand, ShapeTest, ValueIx, ValueSource, constant_insts, is_constant, same_literal,
};
use crate::legality::is_legal_binding;

impl Search<'_> {
    /// Returns the candidates of a step of an open plan: branches of a choice, or definitions along a chain that is looked through.
    #[inline(never)]
    pub(super) fn open_candidates(&self, step: &MatchStep) -> Candidates {
        let (f, pattern) = (self.cx.f, self.pattern);
        if let Connection::Choice(choice) = step.reach {
            let choice = &pattern.choices[choice];
            let needed = self.bound.values[choice.value].is_some();
            return Candidates::Branches(if needed { choice.branches.len() } else { 0 });
        }
        let op = &pattern.ops[step.op];
        let Some(value) = op.results.iter().find_map(|&v| self.bound.values[v]) else {
            return Candidates::Branches(0);
        };
        let def = f.inst_of(value);
        if !def.is_some_and(|inst| pattern.through.contains(f.op_key(inst))) {
            return def.map_or(Candidates::None, Candidates::One);
        }
        let defs = pattern.through.chain(f, value).filter_map(|v| f.inst_of(v));
        let defs: Vec<InstId> = defs.filter(|&i| op.accepts(f.op_key(i))).collect();
        match defs[..] {
            // The first definition explains why there is no match.
            [] => def.map_or(Candidates::None, Candidates::One),
            [one] => Candidates::One(one),
            _ => Candidates::Few(defs),
        }
    }

    /// Takes the next branch of a choice, or skips a step that no chosen alternative needs. Returns whether to continue with the
    /// next step; at the end of the branches the frame is removed.
    #[inline(never)]
    pub(super) fn take_branch(&mut self, depth: usize) -> bool {
        let pattern = self.pattern;
        let frame = &mut self.frames[depth];
        let Candidates::Branches(count) = frame.candidates else { return false };
        let (branch, mark, found_before) = (frame.at, frame.mark, frame.found_before);
        frame.at += 1;
        self.undo(mark);
        let choice = match self.plan.steps[depth].reach {
            Connection::Choice(choice) if count > 0 => Some(choice),
            _ => None,
        };
        let last = choice.map_or(1, |_| count);
        let decided = choice.is_some_and(|c| pattern.choices[c].first_wins)
            && self.legal_found.get() > found_before;
        if branch >= last || decided {
            self.frames.pop();
            return false;
        }
        let Some(choice) = choice else { return true };
        self.steps += 1;
        let target = pattern.choices[choice].branches[branch];
        if self.deepest.is_none() && !self.may_be_result(choice, target) {
            return false;
        }
        self.bound.choices[choice] = Some(branch);
        self.trail.push(UndoEntry::Choice(choice));
        let Some(value) = self.bound.values[pattern.choices[choice].value] else { return true };
        if self.bind(target, value) {
            return true;
        }
        self.record_failure(depth, self.cx.f.inst_of(value), MatchFailure::Branch(target));
        false
    }

    // Returns whether the definition of a choice's value may be the op of a branch, or be looked through.
    fn may_be_result(&self, choice: ChoiceIx, target: ValueIx) -> bool {
        let (f, pattern) = (self.cx.f, self.pattern);
        let ValueSource::Result(op) = pattern.values[target].from else { return true };
        let def = self.bound.values[pattern.choices[choice].value].and_then(|v| f.inst_of(v));
        def.map(|inst| f.op_key(inst))
            .is_some_and(|key| pattern.ops[op].accepts(key) || pattern.through.contains(key))
    }

    /// Binds the parameters of regions, and the values that they yield.
    #[inline(never)]
    pub(super) fn bind_region_patterns(
        &mut self,
        ix: OpIx,
        inst: InstId,
    ) -> Result<(), MatchFailure> {
        let (f, pattern) = (self.cx.f, self.pattern);
        let wanted = &pattern.ops[ix].region_patterns;
        let found = f.regions(inst);
        if wanted.len() != found.len() {
            return Err(MatchFailure::Regions);
        }
        for (region, &body) in wanted.iter().zip(found) {
            let yields = f.terminator(body).map_or(&[][..], |end| f.operands(end));
            let params = f.body_params(body);
            if params.len() != region.params.len() || yields.len() != region.yields.len() {
                return Err(MatchFailure::Regions);
            }
            let params = region.params.iter().zip(params);
            for (&value, &found) in params.chain(region.yields.iter().zip(yields)) {
                if !self.bind(value, found) {
                    return Err(MatchFailure::Yields(value));
                }
            }
        }
        Ok(())
    }

    // Returns an instruction whose regions have others than those of the pattern. Constants and ops to look through may be there.
    #[inline(never)]
    fn uncovered_region(&self) -> Option<InstId> {
        let (f, pattern) = (self.cx.f, self.pattern);
        let is_end = |inst: InstId| f.op_def(inst).is_some_and(|def| def.terminator);
        let is_matched = |inst: InstId| self.bound.ops.contains(&Some(inst)) || is_end(inst);
        let with_regions = pattern.ops.iter().zip(&self.bound.ops);
        let mut with_regions = with_regions.filter(|(op, _)| !op.region_patterns.is_empty());
        with_regions.find_map(|(_, inst)| {
            let inst = (*inst)?;
            let inner = || f.regions(inst).iter().flat_map(|&body| f.walk_body(body));
            // An instruction to look through must be between others of the match; one that is unused may need other inputs.
            let between: SmallVec<[InstId; 8]> = inner()
                .filter(|&i| is_matched(i))
                .flat_map(|i| f.operands(i))
                .flat_map(|&v| pattern.through.chain(f, v))
                .filter_map(|v| Some(pattern.through.step(f, v)?.0))
                .collect();
            let covered = |i: InstId| {
                is_matched(i)
                    || between.contains(&i)
                    || f.value_of(i).is_some_and(|value| is_constant(f, value))
            };
            (!inner().all(covered)).then_some(inst)
        })
    }

    /// Counts a match of a pattern that is not plain, if its binding can be replaced.
    #[inline]
    pub(super) fn count_legal(&self, pattern: &PatternGraph, found: &Match) {
        if self.plan.open && is_legal_binding(self.cx.f, pattern, found) {
            self.legal_found.set(self.legal_found.get() + 1);
        }
    }

    /// Binds the choices that lead to the root.
    pub(super) fn bind_chosen(&mut self, root: OpIx) {
        let (pattern, plan) = (self.pattern, self.plan);
        let Some(value) = pattern.ops[root].results.first().and_then(|&v| self.bound.values[v])
        else {
            return;
        };
        for &(choice, branch) in &plan.chosen {
            self.bound.choices[choice] = Some(branch);
            self.trail.push(UndoEntry::Choice(choice));
            self.bind(pattern.choices[choice].value, value);
        }
    }

    #[inline(never)]
    pub(super) fn accepts_other(&self, op: &PatternOp, inst: InstId) -> bool {
        let f = self.cx.f;
        op.accepts(f.op_key(inst))
            && !f.op_def(inst).is_some_and(|def| def.terminator)
            && f.regions(inst).is_empty()
            && !f.is::<sapwood_ptir::ops::Constant>(inst)
    }

    /// Binds a value that is bound already to the first value from which both uses are reached.
    #[inline(never)]
    pub(super) fn rebind_to_common(
        &mut self,
        value: ValueIx,
        known: ValueId,
        found: ValueId,
    ) -> bool {
        let f = self.cx.f;
        let Some(common) = self.pattern.through.nearest_common(f, known, found) else {
            return false;
        };
        self.rebind_value(value, known, common);
        true
    }

    fn rebind_value(&mut self, value: ValueIx, old: ValueId, new: ValueId) {
        if new != old {
            self.bound.values[value] = Some(new);
            self.trail.push(UndoEntry::Rebound(value, old));
        }
    }

    /// Checks the parts of a complete binding that are only decided at its end: the regions, inputs of regions, and the types of values
    /// behind ops to look through. Returns the failed part and an instruction.
    #[inline(never)]
    pub(super) fn finish_open(&mut self) -> Result<(), (Option<InstId>, MatchFailure)> {
        if let Some(inst) = self.uncovered_region() {
            return Err((Some(inst), MatchFailure::Regions));
        }
        self.bind_inputs_of_regions()?;
        if self.pattern.through.is_empty() {
            return Ok(());
        }
        let (f, pattern) = (self.cx.f, self.pattern);
        for (value, data) in pattern.values.iter().enumerate() {
            if let (Some(shape), Some(bound)) = (&data.shape, self.bound.values[value])
                && !self.shape_fits(shape, f.value_type(bound))
            {
                return Err((self.inst_with(bound), MatchFailure::Type(value)));
            }
        }
        Ok(())
    }

    // Returns an instruction of the match that uses or computes a value, first of those that are bound to ops, or the root.
    fn inst_with(&self, value: ValueId) -> Option<InstId> {
        let f = self.cx.f;
        let mut bound = self.bound.ops.iter().flatten().copied();
        let has = |&i: &InstId| f.operands(i).contains(&value) || f.value_of(i) == Some(value);
        let between = || self.looked_through().into_iter().find(has);
        bound.clone().find(has).or_else(between).or_else(|| bound.next_back())
    }

    // Returns whether an instruction is bound to an op whose regions are patterns.
    fn is_owner(&self, inst: InstId) -> bool {
        let mut bound = self.pattern.ops.iter().zip(&self.bound.ops);
        bound.any(|(op, found)| !op.region_patterns.is_empty() && *found == Some(inst))
    }

    // Checks that ops of regions are in regions of the match. Binds inputs that are inside of one to the first value outside that they are
    // computed from by ops to look through.
    fn bind_inputs_of_regions(&mut self) -> Result<(), (Option<InstId>, MatchFailure)> {
        let (f, pattern) = (self.cx.f, self.pattern);
        let is_owner = |inst: InstId| self.is_owner(inst);
        if !pattern.ops.iter().any(|op| !op.region_patterns.is_empty()) {
            return Ok(());
        }
        let is_inside = |value: ValueId| nested_in(f, body_of_value(f, value), is_owner);
        // A region that yields a value from outside has no instruction for the op.
        let mut inner = pattern.ops.iter().zip(&self.bound.ops).filter(|(op, _)| op.in_region);
        let hoisted = |inst: InstId| !nested_in(f, f.body_of(inst), is_owner);
        if let Some(inst) = inner.find_map(|(_, inst)| inst.filter(|&i| hoisted(i))) {
            return Err((Some(inst), MatchFailure::Regions));
        }
        let mut moved: SmallVec<[(ValueIx, ValueId, ValueId); 4]> = SmallVec::new();
        for &param in &pattern.params {
            let Some(bound) = self.bound.values[param].filter(|&v| is_inside(v)) else { continue };
            let outside = pattern.through.chain(f, bound).find(|&v| !is_inside(v));
            let Some(outside) = outside else {
                return Err((self.inst_with(bound), MatchFailure::InnerInput(param)));
            };
            moved.push((param, bound, outside));
        }
        let mut lists = self.bound.lists.iter().flatten().flatten();
        if let Some(&value) = lists.find(|&&v| is_inside(v)) {
            return Err((self.inst_with(value), MatchFailure::Regions));
        }
        for (param, old, new) in moved {
            self.rebind_value(param, old, new);
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn is_constant_behind(&self, literal: &Literal, found: ValueId) -> bool {
        let through = &self.pattern.through;
        !through.is_empty()
            && constant_insts(through, self.cx.f, found)
                .is_some_and(|(constant, _)| literal.fits_constant(constant, false))
    }

    #[inline(never)]
    pub(super) fn same_constant_behind(&self, known: ValueId, found: ValueId) -> bool {
        let (through, f) = (&self.pattern.through, self.cx.f);
        if through.is_empty() {
            return false;
        }
        match (constant_insts(through, f, known), constant_insts(through, f, found)) {
            (Some((a, _)), Some((b, _))) => same_literal(a, b),
            _ => false,
        }
    }

    /// Returns whether a type has the required element type and dims; binds the names of dims.
    #[inline(never)]
    pub(super) fn shape_fits(&mut self, wanted: &ShapeTest, found: &ValueType) -> bool {
        let ValueType::Tensor(found) = found else { return false };
        if wanted.dtype.is_some_and(|dtype| dtype != found.dtype) {
            return false;
        }
        let Some(before) = found.dims.len().checked_sub(wanted.dims.len()) else { return false };
        if before > 0 && !wanted.open {
            return false;
        }
        wanted.dims.iter().zip(&found.dims[before..]).all(|(test, &dim)| match test {
            DimTest::Any => true,
            DimTest::Known(n) => dim == Dim::Known(*n),
            DimTest::Name(name) => match self.bound_dim(*name) {
                Some(known) => known.certainly_equal(dim),
                None => {
                    self.bound.dims.push((*name, dim));
                    self.trail.push(UndoEntry::Dim);
                    true
                }
            },
        })
    }

    /// Returns the instructions on the edges of the match that are no ops of the pattern, each once.
    pub(super) fn looked_through(&self) -> SmallVec<[InstId; 8]> {
        let (f, pattern) = (self.cx.f, self.pattern);
        let mut insts: SmallVec<[InstId; 8]> = SmallVec::new();
        if pattern.through.is_empty() {
            return insts;
        }
        // Instructions in regions belong to the instruction that has the region.
        let is_owner = |inst: InstId| self.is_owner(inst);
        let mut add = |from: Option<ValueId>, to: ValueIx| {
            let (Some(from), Some(to)) = (from, self.bound.values[to]) else { return };
            for inst in pattern.through.between(f, from, to).into_iter().flatten() {
                let known = insts.contains(&inst) || self.bound.ops.contains(&Some(inst));
                if !known && !nested_in(f, f.body_of(inst), is_owner) {
                    insts.push(inst);
                }
            }
        };
        for (ix, op) in pattern.ops.iter().enumerate() {
            let Some(inst) = self.bound.ops[ix] else { continue };
            for (region, &own) in op.region_patterns.iter().zip(f.regions(inst)) {
                let yields = f.terminator(own).map_or(&[][..], |end| f.operands(end));
                for (&value, &found) in region.yields.iter().zip(yields) {
                    if !pattern.is_literal(value) {
                        add(Some(found), value);
                    }
                }
            }
            for (n, operand) in op.operands.iter().enumerate() {
                let PatternOperand::One(value) = *operand else { continue };
                if !pattern.is_literal(value) {
                    let at = if self.bound.swapped[ix] && n < 2 { 1 - n } else { n };
                    add(f.operands(inst).get(at).copied(), value);
                }
            }
        }
        for (choice, branch) in pattern.choices.iter().zip(&self.bound.choices) {
            let Some(branch) = branch else { continue };
            let target = choice.branches[*branch];
            if !pattern.is_literal(target) {
                add(self.bound.values[choice.value], target);
            }
        }
        insts
    }

    /// Returns for each bound value that no op of the match computes a place where the match uses it.
    pub(super) fn input_places(&self, insts: &[InstId]) -> Vec<(ValueIx, InstId, usize)> {
        let f = self.cx.f;
        let mut places = Vec::new();
        for (ix, value) in self.pattern.values.iter().enumerate() {
            let Some(bound) = self.bound.values[ix] else { continue };
            if matches!(value.from, ValueSource::Result(_)) {
                continue;
            }
            let used = insts
                .iter()
                .find_map(|&i| Some((ix, i, f.operands(i).iter().position(|&v| v == bound)?)));
            places.extend(used);
        }
        places
    }
}

// Returns the body in which a value is defined.
fn body_of_value(f: &Function, value: ValueId) -> Option<BodyId> {
    match f.value_def(value) {
        ValueDef::Result(inst, _) => f.body_of(inst),
        ValueDef::Param(body, _) => Some(body),
    }
}

/// Returns whether a body is a region of one of these instructions, or in one.
pub(crate) fn nested_in(
    f: &Function,
    mut body: Option<BodyId>,
    is_owner: impl Fn(InstId) -> bool,
) -> bool {
    while let Some(owner) = body.and_then(|b| f.body_owner(b)) {
        if is_owner(owner) {
            return true;
        }
        body = f.body_of(owner);
    }
    false
}
