//! Rules as rewrite patterns, in the same sets as patterns written in Rust.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use sapwood_ptir::ops::Select;
use sapwood_ptir::{
    Attr, AttrKind, Dim, Effects, Function, InstId, Op, OpDef, OpKey, OpParts, TensorLiteral,
    TensorType, ValueId, ValueType, Values,
};
use sapwood_rewrite::{OpRef, PatternFn, PatternId, PatternSet, Rewrite};
use sapwood_types::{DataType, Diagnostic, Diagnostics};
use smallvec::SmallVec;

use crate::graph::{
    AxesOf, MatchPlan, Number, OpIx, OtherOps, PatternGraph, PatternOperand, ValueSource,
    from_the_end, has_negative,
};
use crate::language::{NewOp, NewOperand, NewValue, Rhs, Rule, resolve_attr};
use crate::matcher::{Bindings, FindOptions, Search, SearchContext, SearchEnd};

/// An op or a constant that a rule created, with its values while it is not yet in the function.
pub(crate) enum StagedItem {
    Op(Box<OpParts>, Values),
    Constant(TensorLiteral, ValueId),
}

/// The right side that a rule created last.
pub(crate) struct ObservedRhs {
    pub(crate) staged: Vec<StagedItem>,
    pub(crate) values: Values,
    pub(crate) types: String,
}

impl Rule {
    /// Adds the rule to a set of patterns. Returns `None` if it has no right side.
    pub fn add_to(&self, set: &mut PatternSet) -> Option<PatternId> {
        self.add_pattern(set, None)
    }

    /// Adds rules to a set of patterns.
    ///
    /// # Errors
    /// If a rule has the name of a pattern that is in the set; then none is added.
    pub fn add_all(rules: &[Self], set: &mut PatternSet) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::new();
        let taken: HashSet<&str> = set.names().collect();
        for rule in rules.iter().filter(|rule| taken.contains(rule.name())) {
            let message = format!("`{}` is already the name of another pattern", rule.name());
            let clash = Diagnostic::error(rule.pattern().span(), message);
            problems.push(clash.with_help("rename the rule"));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        for rule in rules {
            rule.add_to(set);
        }
        Ok(())
    }

    /// Adds the rule, and stores the right side that it created last in `seen`.
    pub(crate) fn add_observed(&self, set: &mut PatternSet, seen: Arc<Mutex<Option<ObservedRhs>>>) {
        self.add_pattern(set, Some(seen));
    }

    fn add_pattern(
        &self,
        set: &mut PatternSet,
        seen: Option<Arc<Mutex<Option<ObservedRhs>>>>,
    ) -> Option<PatternId> {
        let right = self.right.clone()?;
        let rule = self.clone();
        let keys = self.root_keys();
        let options = FindOptions { share_ops: true, ..FindOptions::default() };
        let rewrite = move |op: OpRef, rw: &mut Rewrite<'_>| -> Option<Values> {
            let mut staged = seen.as_ref().map(|_| Vec::new());
            let starts = std::iter::once((rule.root, &rule.plan))
                .chain(rule.other_plans.iter().map(|(op, plan)| (*op, plan)));
            let mut values = None;
            for start in starts {
                values = rule.apply(&right, &options, start, op.root, rw, &mut staged);
                if values.is_some() {
                    break;
                }
            }
            let values = values?;
            if let (Some(seen), Some(staged)) = (&seen, staged) {
                let types: Vec<String> =
                    values.iter().filter_map(|&v| rw.ty(v)).map(ToString::to_string).collect();
                let last = ObservedRhs { staged, values: values.clone(), types: types.join(", ") };
                *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
            }
            Some(values)
        };
        let pattern =
            PatternFn::named(rewrite, self.name()).benefit(self.pattern.benefit()).hops(self.hops);
        Some(set.add(match keys {
            Some(keys) => pattern.on(keys),
            None => pattern,
        }))
    }

    // Returns the ops at which the rule is tried; `None` if it is tried at all ops.
    fn root_keys(&self) -> Option<Vec<OpKey>> {
        let mut keys = Vec::new();
        let starts = std::iter::once(self.root).chain(self.other_plans.iter().map(|(op, _)| *op));
        for op in starts.map(|op| &self.pattern.ops[op]) {
            let others = match &op.others {
                OtherOps::None => &[][..],
                OtherOps::These(others) => others,
                OtherOps::All => return None,
            };
            for key in std::iter::once(&op.key).chain(others) {
                if !keys.contains(key) {
                    keys.push(*key);
                }
            }
        }
        Some(keys)
    }

    fn apply(
        &self,
        right: &Rhs,
        options: &FindOptions,
        (start, plan): (OpIx, &MatchPlan),
        root: InstId,
        rw: &mut Rewrite<'_>,
        staged: &mut Option<Vec<StagedItem>>,
    ) -> Option<Values> {
        let f = rw.function();
        if !self.pattern.ops[start].accepts(f.op_key(root))
            || !may_match(&self.pattern, start, f, root)
        {
            return None;
        }
        // The ops that a wildcard or alternatives stand for have different numbers of results.
        let is_fixed = self.pattern.ops[start].is_one() && self.pattern.roots.len() <= 1;
        let same_op = right.same_op(start);
        if !is_fixed && same_op.is_none() && f.inst_results(root).len() != right.outputs.len() {
            return None;
        }
        let too_strict = rw.floats() < self.floats();
        let cx = SearchContext { f, index: None, callees: None, options };
        let mut search = Search::new(cx, &self.pattern, plan);
        let mut bound: Option<Bindings> = None;
        let ended = search.run(root, |search| {
            bound = Some(search.bound.clone());
            false
        });
        if ended == SearchEnd::Exhausted {
            rw.end_search_early();
        }
        let bound = bound?;
        if too_strict && bound.all_values(f).any(|v| has_floats(f, v)) {
            rw.report_needed_float_mode(self.floats());
            return None;
        }
        // Only the root is erased, so an effect of another instruction would be duplicated.
        let inner = |&&inst: &&InstId| inst != root && rw.is_ordered(inst);
        if bound.ops.iter().flatten().find(inner).is_some() {
            return None;
        }
        let had = rw.is_ordered(root);
        let several = self.several_outputs;
        let outputs: Values = match several {
            true => self.pattern.outputs.iter().map(|&v| bound.values[v]).collect::<Option<_>>()?,
            false => f.inst_results(root).collect(),
        };
        let mut emitter = RhsEmitter {
            f,
            rw,
            bound: &bound,
            outputs,
            same_op,
            created: Vec::new(),
            staged,
            ordered: false,
        };
        let values = emitter.emit_rhs(right)?;
        // A rule neither adds nor drops an effect.
        if emitter.ordered != had {
            return None;
        }
        if several {
            let outputs = std::mem::take(&mut emitter.outputs);
            return replace_several(
                f,
                rw,
                root,
                &outputs,
                &values,
                &self.inputs_of(right, &bound)?,
            );
        }
        Some(values)
    }

    // Returns the values of the match that the right side uses.
    fn inputs_of(&self, right: &Rhs, bound: &Bindings) -> Option<Vec<ValueId>> {
        let operands = right.ops.iter().flat_map(|op| &op.operands);
        let mut inputs = Vec::new();
        for operand in operands {
            match operand {
                NewOperand::One(NewValue::Old(value)) => inputs.push(bound.values[*value]?),
                NewOperand::Rest(list) => inputs.extend(bound.lists[*list].clone()?),
                NewOperand::One(_) => {}
            }
        }
        for output in &right.outputs {
            if let NewValue::Old(value) = output {
                inputs.push(bound.values[*value]?);
            }
        }
        Some(inputs)
    }
}

// Replaces several outputs of a match: the new instructions come before the first output if all inputs are defined there, otherwise before the
// last one if no output is used before it. Returns the replacement of the root.
fn replace_several(
    f: &Function,
    rw: &mut Rewrite<'_>,
    root: InstId,
    outputs: &[ValueId],
    values: &[ValueId],
    inputs: &[ValueId],
) -> Option<Values> {
    let insts: Vec<InstId> = outputs.iter().map(|&v| f.inst_of(v)).collect::<Option<_>>()?;
    let body = f.body_of(root);
    let fits = |(n, &inst): (usize, &InstId)| {
        f.body_of(inst) == body
            && f.inst_results(inst).len() == 1
            && !rw.is_ordered(inst)
            && !insts[..n].contains(&inst)
    };
    // The replacement of an output would read the other output, which is replaced too.
    let reads_output = || inputs.iter().any(|v| outputs.contains(v));
    if !insts.iter().enumerate().all(fits) || reads_output() {
        return None;
    }
    let first = insts.iter().copied().min_by_key(|&i| f.order_key(i))?;
    let last = insts.iter().copied().max_by_key(|&i| f.order_key(i))?;
    let available = |place: InstId| inputs.iter().all(|&v| f.is_available_to(v, place));
    let used_before_last = || {
        let end = f.order_key(last);
        outputs
            .iter()
            .any(|&v| f.uses(v).any(|u| f.order_key(u.user) < end && !insts.contains(&u.user)))
    };
    let place = if available(first) {
        first
    } else if available(last) && !used_before_last() {
        last
    } else {
        return None;
    };
    let at_root = insts.iter().position(|&inst| inst == root)?;
    let others = insts.iter().zip(values).enumerate().filter(|(n, _)| *n != at_root);
    rw.replace_also(place, others.map(|(_, (&inst, &value))| (inst, value)).collect());
    Some(Values::from_slice(&values[at_root..=at_root]))
}

// Returns whether elements of a value are floats or complex numbers.
fn has_floats(f: &Function, value: ValueId) -> bool {
    let mut open = vec![f.value_type(value)];
    while let Some(ty) = open.pop() {
        match ty {
            ValueType::Tensor(t) if t.dtype.is_float() || t.dtype.is_complex() => return true,
            ValueType::Tuple(parts) => open.extend(parts.iter()),
            _ => {}
        }
    }
    false
}

// Compares the definitions of the root's operands with the pattern, before a search is set up.
fn may_match(pattern: &PatternGraph, root: usize, f: &Function, inst: InstId) -> bool {
    let op = &pattern.ops[root];
    let found = f.operands(inst);
    let fits = |operand: &PatternOperand, value: Option<&ValueId>| match (operand, value) {
        (PatternOperand::One(wanted), Some(&value)) => match &pattern.values[*wanted].from {
            ValueSource::Result(def) => {
                f.inst_of(value).is_some_and(|i| pattern.ops[*def].accepts(f.op_key(i)))
            }
            ValueSource::Literal(_) => f.inst_of(value).is_some(),
            ValueSource::Param | ValueSource::Choice(_) => true,
        },
        (PatternOperand::Rest(_), _) => true,
        (PatternOperand::One(_), None) => false,
    };
    let plain = op.operands.iter().enumerate().all(|(n, o)| fits(o, found.get(n)));
    plain
        || (op.commutative
            && op.operands.len() == 2
            && fits(&op.operands[0], found.get(1))
            && fits(&op.operands[1], found.first()))
}

struct RhsEmitter<'a, 'r, 'f> {
    f: &'f Function,
    rw: &'a mut Rewrite<'r>,
    bound: &'a Bindings,
    // The values that are replaced.
    outputs: Values,
    // The op of the right side whose results replace all of them.
    same_op: Option<usize>,
    created: Vec<Values>,
    // The created items, if they are observed.
    staged: &'a mut Option<Vec<StagedItem>>,
    // Set if a created op has an effect.
    ordered: bool,
}

impl RhsEmitter<'_, '_, '_> {
    fn emit_rhs(&mut self, right: &Rhs) -> Option<Values> {
        for (n, op) in right.ops.iter().enumerate() {
            let results = self.op(op, n, right)?;
            self.created.push(results);
        }
        if let Some(op) = self.same_op {
            return self.created.get(op).cloned();
        }
        let outputs: Vec<NewValue> = right.outputs.clone();
        let mut values = Values::new();
        for (n, output) in outputs.into_iter().enumerate() {
            values.push(match output {
                NewValue::Number(number) => {
                    let ty = self.f.value_type(*self.outputs.get(n)?).as_tensor()?;
                    self.constant(ty, number)?
                }
                other => self.value(other)?,
            });
        }
        Some(values)
    }

    fn value(&self, value: NewValue) -> Option<ValueId> {
        match value {
            NewValue::Old(value) => self.bound.values[value],
            NewValue::Made(op, n) => self.created.get(op)?.get(n).copied(),
            NewValue::Number(_) => None,
        }
    }

    fn op(&mut self, op: &NewOp, number: usize, right: &Rhs) -> Option<Values> {
        if let Some(like) = op.like {
            return self.op_like(op, like, number, right);
        }
        let mut parts = OpParts::new(op.key);
        parts.operands = self.operands(op, number, right)?;
        let carried = match op.carried {
            Some(capture) => self.bound.captures[capture].clone(),
            None => None,
        };
        let Some(def) = self.f.registry().get(op.key) else {
            let entries = op.entries.iter();
            let entries =
                entries.map(|(name, t)| Some((*name, resolve_attr(t, self.f, self.bound)?)));
            let mut entries = entries.collect::<Option<Vec<_>>>()?;
            if let Some(Attr::Dict(others)) = &carried {
                entries.extend(others.iter().cloned());
            }
            parts.attrs.push(Attr::dict(entries));
            parts.result_types = self.output_types(number, right)?.into();
            let pure = parts.attrs.first().and_then(|a| a.get("pure").cloned());
            self.ordered |= pure != Some(Attr::Bool(true));
            return self.emit(&parts);
        };
        let mut stated = false;
        for (n, row) in def.attrs.iter().enumerate() {
            let given = op.attrs.iter().find(|(r, _)| *r == n);
            stated |= row.kind == AttrKind::ResultType;
            parts.attrs.push(match given {
                Some((_, term)) => match resolve_attr(term, self.f, self.bound)? {
                    // An optional attribute that is absent stays absent.
                    Attr::Unit if row.default == Some(Attr::Unit) => Attr::Unit,
                    attr if has_negative(&attr) => {
                        let operands = &parts.operands;
                        let attr = self.absolute_axes(attr, def, row.name, operands, number, right);
                        row.kind.coerce(attr)?
                    }
                    attr => row.kind.coerce(attr)?,
                },
                None => match carried.as_ref().and_then(|c| c.get(row.name)) {
                    Some(attr) => attr.clone(),
                    None => row.default.clone().unwrap_or(Attr::Unit),
                },
            });
        }
        if stated {
            let types = self.declared_types(op, number, right, &parts, def.elementwise)?;
            parts.result_types = types.into();
        }
        self.ordered |= def.effects.resolve(def, &parts.attrs) == Effects::Ordered;
        self.emit(&parts)
    }

    // Returns axes that count from the start, as ops have them.
    fn absolute_axes(
        &self,
        attr: Attr,
        def: &OpDef,
        name: &str,
        operands: &[ValueId],
        number: usize,
        right: &Rhs,
    ) -> Attr {
        let rank = match AxesOf::attr(name, Some(def)) {
            Some(AxesOf::Operand(n)) => {
                operands.get(n).and_then(|&v| self.rw.tensor(v)).map(TensorType::rank)
            }
            Some(AxesOf::Result) => self
                .output_types(number, right)
                .and_then(|types| types.first()?.as_tensor().map(TensorType::rank)),
            None => None,
        };
        match rank {
            Some(rank) => from_the_end(&attr, rank),
            None => attr,
        }
    }

    // Creates the op that a wildcard matched, with its attributes and other operands.
    fn op_like(&mut self, op: &NewOp, like: usize, number: usize, right: &Rhs) -> Option<Values> {
        let inst = self.bound.ops[like]?;
        let mut parts = self.f.parts_of(inst);
        parts.operands = self.operands(op, number, right)?;
        let declared = match self.f.op_def(inst) {
            Some(def) if def.attrs.iter().any(|a| a.kind == AttrKind::ResultType) => {
                match self.output_types(number, right)? {
                    types if !types.is_empty() => types,
                    // The op keeps its element type, and has the dims of its operand.
                    _ if def.elementwise => {
                        let old = self.f.value_type(self.f.value_of(inst)?).as_tensor()?;
                        let input = self.rw.tensor(*parts.operands.first()?)?;
                        vec![ValueType::Tensor(input.with_dtype(old.dtype))]
                    }
                    _ => return None,
                }
            }
            Some(_) => Vec::new(),
            None => self.output_types(number, right)?,
        };
        parts.result_types = declared.into();
        self.ordered |= self.f.own_effects(inst) == Effects::Ordered;
        self.emit(&parts)
    }

    fn emit(&mut self, parts: &OpParts) -> Option<Values> {
        let values = self.rw.emit_parts_many(parts)?;
        if let Some(staged) = self.staged.as_mut() {
            staged.push(StagedItem::Op(Box::new(parts.clone()), values.clone()));
        }
        Some(values)
    }

    // Creates a constant of a known type.
    fn constant(&mut self, ty: &TensorType, number: Number) -> Option<ValueId> {
        let literal = number.filled(ty.dtype, &ty.known_shape()?)?;
        let watched = self.staged.is_some().then(|| literal.clone());
        let value = self.rw.constant(literal);
        if let (Some(staged), Some(literal)) = (self.staged.as_mut(), watched) {
            staged.push(StagedItem::Constant(literal, value));
        }
        Some(value)
    }

    // Returns an operand whose type a number takes; in `select` not that of the predicate.
    fn typed_operand(&self, op: &NewOp, own: usize, select: bool) -> Option<ValueId> {
        let others =
            op.operands.iter().enumerate().filter(|(n, _)| !(select && own > 0 && *n == 0));
        others.map(|(_, o)| o).find_map(|o| match o {
            NewOperand::One(NewValue::Number(_)) => None,
            NewOperand::One(value) => self.value(*value),
            NewOperand::Rest(list) => self.bound.lists[*list].as_ref()?.first().copied(),
        })
    }

    fn operands(&mut self, op: &NewOp, number: usize, right: &Rhs) -> Option<Values> {
        let def = self.f.registry().get(op.key);
        let elementwise = def.is_some_and(|d| d.elementwise);
        let select = op.key == Select::key();
        let mut operands: Values = SmallVec::new();
        for (n, operand) in op.operands.iter().enumerate() {
            match operand {
                NewOperand::One(NewValue::Number(literal)) => {
                    let mut ty = match self.typed_operand(op, n, select) {
                        Some(value) => self.rw.tensor(value)?.clone(),
                        None => self.output_types(number, right)?.first()?.as_tensor()?.clone(),
                    };
                    if select && n == 0 {
                        ty.dtype = DataType::Bool;
                    }
                    let ty = if elementwise { ty } else { TensorType::scalar(ty.dtype) };
                    operands.push(self.constant(&ty, *literal)?);
                }
                NewOperand::One(value) => operands.push(self.value(*value)?),
                NewOperand::Rest(list) => operands.extend(self.bound.lists[*list].clone()?),
            }
        }
        Some(operands)
    }

    // Returns the types of the root's results that an op of the right side replaces.
    fn output_types(&self, number: usize, right: &Rhs) -> Option<Vec<ValueType>> {
        if self.same_op == Some(number) {
            return Some(self.outputs.iter().map(|&v| self.f.value_type(v).clone()).collect());
        }
        let own = right.outputs.iter().enumerate();
        let own = own.filter(|(_, o)| matches!(o, NewValue::Made(op, _) if *op == number));
        own.map(|(n, _)| Some(self.f.value_type(*self.outputs.get(n)?).clone())).collect()
    }

    // Returns the result types of an op that declares them: as written, those of the results it replaces, or that of its operand.
    fn declared_types(
        &self,
        op: &NewOp,
        number: usize,
        right: &Rhs,
        parts: &OpParts,
        elementwise: bool,
    ) -> Option<Vec<ValueType>> {
        let input = parts.operands.first().and_then(|&v| self.rw.tensor(v)).cloned();
        let outputs = self.output_types(number, right)?;
        if op.shape.is_none() && op.dtype.is_none() && !outputs.is_empty() {
            return Some(outputs);
        }
        let output = outputs.first().and_then(ValueType::as_tensor);
        let dims = match &op.shape {
            Some(term) => {
                let shape = resolve_attr(term, self.f, self.bound)?;
                let dims = shape.as_ints()?.iter().map(|&n| u64::try_from(n).ok().map(Dim::Known));
                dims.collect::<Option<_>>()?
            }
            None if elementwise => input.as_ref()?.dims.clone(),
            None => output?.dims.clone(),
        };
        let dtype = match &op.dtype {
            Some(term) => match resolve_attr(term, self.f, self.bound)? {
                Attr::Type(dtype) => dtype,
                _ => return None,
            },
            None => input.or_else(|| output.cloned())?.dtype,
        };
        Some(vec![ValueType::Tensor(TensorType { dtype, dims })])
    }
}
