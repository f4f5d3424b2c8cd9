//! A copy of the instructions of a match as a function with the parameters of the pattern.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::Return;
use sapwood_ptir::{
    BodyId, EditError, Function, InsertPoint, InstId, Name, Op, OpParts, ValueDef, ValueId,
    ValueType, Values,
};
use smallvec::SmallVec;

use crate::cut_symbols::CutSymbols;
use crate::graph::{PatternGraph, PatternOperand, constant_insts};
use crate::matcher::{Match, nested_in};

/// Builds the function that a match becomes.
pub(super) fn function_of(
    f: &Function,
    pattern: &PatternGraph,
    found: &Match,
    symbols: &CutSymbols,
    name: Name,
) -> Result<Function, EditError> {
    let mut copy = MatchCopier {
        f,
        symbols,
        new: Function::new(name, f.registry().clone()),
        values: vec![None; pattern.values.len()],
        by_old: HashMap::default(),
        bodies: HashMap::default(),
    };
    copy.new.set_extracted_from(Some(pattern.name));
    copy.new.set_span(pattern.span);
    copy.params(pattern, found);
    if let Some(facts) = &symbols.facts {
        copy.new.set_facts(facts.clone());
    }
    copy.literals(pattern, found)?;
    // The instructions in regions are copied with the one that has the region.
    let mut order: Vec<(InstId, Option<usize>)> = (0..pattern.ops.len())
        .filter(|&op| !pattern.ops[op].in_region)
        .filter_map(|op| Some((found.inst(op)?, Some(op))))
        .collect();
    // Instructions that were looked through come after those of the pattern.
    order.extend(found.ops[order.len()..].iter().map(|&inst| (inst, None)));
    order.sort_unstable_by_key(|&(inst, _)| f.order_key(inst));
    for (inst, op) in order {
        match op {
            Some(op) => copy.op(pattern, found, inst, op)?,
            None => copy.looked_through(inst)?,
        }
    }
    copy.finish(pattern, found)
}

struct MatchCopier<'a> {
    f: &'a Function,
    symbols: &'a CutSymbols,
    new: Function,
    // The new values, by value of the pattern.
    values: Vec<Option<ValueId>>,
    // The new values, by value of the function that contains the match, for uses in regions.
    by_old: HashMap<ValueId, ValueId, FxBuildHasher>,
    bodies: HashMap<BodyId, BodyId, FxBuildHasher>,
}

impl MatchCopier<'_> {
    fn params(&mut self, pattern: &PatternGraph, found: &Match) {
        for &param in &pattern.params {
            let Some(old) = found.values[param] else { continue };
            let new = self.new.push_param(self.new.body(), &self.value_type(old));
            self.new.set_hint(new, pattern.values[param].name.trim_start_matches('%'));
            self.values[param] = Some(new);
            self.by_old.entry(old).or_insert(new);
        }
        for &old in found.lists.iter().flatten().flatten().chain(&self.symbols.binders) {
            if !self.by_old.contains_key(&old) {
                let new = self.new.push_param(self.new.body(), &self.value_type(old));
                if let Some(hint) = self.f.hint(old) {
                    self.new.set_hint(new, hint);
                }
                self.by_old.insert(old, new);
            }
        }
    }

    // Returns the type of the copy of a value.
    fn value_type(&self, old: ValueId) -> ValueType {
        self.symbols.map_type(self.f.value_type(old))
    }

    // Constants are copied, since other instructions may use them too.
    fn literals(&mut self, pattern: &PatternGraph, found: &Match) -> Result<(), EditError> {
        for old in found.constants(self.f, pattern) {
            if !self.by_old.contains_key(&old)
                && let Some((_, insts)) = constant_insts(&pattern.through, self.f, old)
            {
                // Those in regions are copied with the region.
                let (f, is_matched) = (self.f, |inst| found.ops.contains(&inst));
                let outside = |i: &InstId| !nested_in(f, f.body_of(*i), is_matched);
                for inst in insts.into_iter().filter(outside) {
                    let place = InsertPoint::End(self.new.body());
                    let operands = self.f.operands(inst).iter();
                    let operands = operands.filter_map(|v| self.by_old.get(v).copied()).collect();
                    self.inst(inst, operands, place)?;
                }
            }
        }
        Ok(())
    }

    // Copies an instruction that is not an op of the pattern.
    fn looked_through(&mut self, inst: InstId) -> Result<(), EditError> {
        let copy =
            |&old: &ValueId| self.by_old.get(&old).copied().ok_or(EditError::NoSuchValue(old));
        let operands = self.f.operands(inst).iter().map(copy).collect::<Result<Values, _>>()?;
        let place = InsertPoint::End(self.new.body());
        self.inst(inst, operands, place)
    }

    fn op(
        &mut self,
        pattern: &PatternGraph,
        found: &Match,
        inst: InstId,
        op: usize,
    ) -> Result<(), EditError> {
        let data = &pattern.ops[op];
        let mut operands: Values = Values::new();
        for (n, &old) in self.f.operands(inst).iter().enumerate() {
            let at = if found.swapped[op] && n < 2 { 1 - n } else { n };
            let written = data.operands.get(at).and_then(|operand| match operand {
                PatternOperand::One(value) => Some(found.resolved(pattern, *value)),
                PatternOperand::Rest(_) => None,
            });
            // Two parameters may be bound to one value; what was looked through is between the operand and the bound value.
            let new = match written {
                Some(value) if !pattern.is_literal(value) && found.values[value] == Some(old) => {
                    self.values[value]
                }
                _ => self.by_old.get(&old).copied(),
            };
            operands.push(new.ok_or(EditError::NoSuchValue(old))?);
        }
        let place = InsertPoint::End(self.new.body());
        self.inst(inst, operands, place)?;
        for (n, &value) in data.results.iter().enumerate() {
            let old = self.f.result(inst, n);
            self.values[value] = old.and_then(|old| self.by_old.get(&old).copied());
        }
        Ok(())
    }

    // Copies an instruction with all its regions.
    fn inst(
        &mut self,
        inst: InstId,
        operands: Values,
        place: InsertPoint,
    ) -> Result<(), EditError> {
        let f = self.f;
        if !f.regions(inst).is_empty() {
            let mut nested: Vec<InstId> =
                f.regions(inst).iter().flat_map(|&b| f.walk_body(b)).collect();
            // Inner instructions come first: a region is complete before its owner is inserted.
            nested.sort_unstable_by_key(|&i| f.order_key(i));
            for &body in f.regions(inst) {
                self.body(body);
            }
            for inner in nested {
                let home = f.body_of(inner).map_or(self.new.body(), |b| self.body(b));
                let operands = (f.operands(inner).iter())
                    .map(|&v| self.old(v).ok_or(EditError::NoSuchValue(v)))
                    .collect::<Result<_, _>>()?;
                self.one(inner, operands, InsertPoint::End(home))?;
            }
        }
        self.one(inst, operands, place)
    }

    fn one(&mut self, inst: InstId, operands: Values, place: InsertPoint) -> Result<(), EditError> {
        let f = self.f;
        let regions = f.regions(inst).iter().map(|&b| self.body(b)).collect();
        let mut parts = OpParts { operands, regions, ..f.parts_of(inst) };
        self.symbols.map_parts(&mut parts);
        let made = self.new.insert(place, &parts, f.inst_span(inst))?;
        self.new.set_comment(made, f.comment(inst));
        let results: SmallVec<[ValueId; 2]> = self.new.inst_results(made).collect();
        for (old, new) in f.inst_results(inst).zip(results) {
            self.by_old.insert(old, new);
            if let Some(hint) = f.hint(old) {
                self.new.set_hint(new, hint);
            }
        }
        Ok(())
    }

    // Returns the copy of a value that a region uses; parameters of regions exist once their region does.
    fn old(&mut self, value: ValueId) -> Option<ValueId> {
        if let ValueDef::Param(body, _) = self.f.value_def(value)
            && !self.by_old.contains_key(&value)
        {
            self.body(body);
        }
        self.by_old.get(&value).copied()
    }

    fn body(&mut self, body: BodyId) -> BodyId {
        if let Some(&known) = self.bodies.get(&body) {
            return known;
        }
        let f = self.f;
        let params = f.body_params(body);
        let types: Vec<ValueType> = params.iter().map(|&p| self.value_type(p)).collect();
        let new = self.new.new_body(&types);
        let made = self.new.body_params(new).to_vec();
        for (&old, param) in params.iter().zip(made) {
            self.by_old.insert(old, param);
            if let Some(hint) = f.hint(old) {
                self.new.set_hint(param, hint);
            }
        }
        self.bodies.insert(body, new);
        new
    }

    fn finish(mut self, pattern: &PatternGraph, found: &Match) -> Result<Function, EditError> {
        let mut parts = OpParts::new(Return::key());
        for &output in &pattern.outputs {
            parts.operands.extend(self.values[found.resolved(pattern, output)]);
        }
        let types: Vec<ValueType> =
            found.outputs(pattern).iter().map(|&v| self.value_type(v)).collect();
        let span = found.ops.first().map_or(pattern.span, |&i| self.f.inst_span(i));
        self.new.insert(InsertPoint::End(self.new.body()), &parts, span)?;
        self.new.set_result_types(&types);
        Ok(self.new)
    }
}
