//! Rules as rewrite patterns, in the same set as those written in Rust.

use std::sync::{Arc, Mutex, PoisonError};

use sapwood_ptir::{
    Attr, AttrKind, Dim, Function, InstId, OpParts, TensorType, ValueId, ValueType, Values,
};
use sapwood_rewrite::{OpRef, PatternFn, PatternId, PatternSet, Rewrite};
use smallvec::SmallVec;

use crate::graph::{Operand, PatternGraph, Source};
use crate::language::{NewOp, NewOperand, NewValue, Right, Rule, attr_of};
use crate::matcher::{Bound, FindOptions, Scene, Search};

impl Rule {
    /// Adds the rule to a set of patterns. `None` if it has no right side.
    pub fn add_to(&self, set: &mut PatternSet) -> Option<PatternId> {
        self.add_seen(set, |_, _| {})
    }

    /// Adds the rule, and keeps the types of what it last gave.
    pub(crate) fn add_watched(&self, set: &mut PatternSet, seen: Arc<Mutex<Option<String>>>) {
        self.add_seen(set, move |rw, values| {
            let types: Vec<String> =
                values.iter().filter_map(|&v| rw.ty(v)).map(ToString::to_string).collect();
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            *seen = Some(types.join(", "));
        });
    }

    fn add_seen(
        &self,
        set: &mut PatternSet,
        seen: impl Fn(&Rewrite<'_>, &[ValueId]) + Send + Sync + 'static,
    ) -> Option<PatternId> {
        let right = self.right.clone()?;
        let rule = self.clone();
        let key = self.pattern.ops[self.root].key;
        let options = FindOptions { share_ops: true, ..FindOptions::default() };
        let rewrite = move |op: OpRef, rw: &mut Rewrite<'_>| -> Option<Values> {
            let values = rule.apply(&right, &options, op.root, rw)?;
            seen(rw, &values);
            Some(values)
        };
        let tuned = PatternFn::named(rewrite, self.name())
            .on([key])
            .benefit(self.pattern.benefit())
            .hops(self.hops);
        Some(set.add(tuned))
    }

    fn apply(
        &self,
        right: &Right,
        options: &FindOptions,
        root: InstId,
        rw: &mut Rewrite<'_>,
    ) -> Option<Values> {
        let f = rw.function();
        if !may_match(&self.pattern, self.root, f, root) {
            return None;
        }
        if let Some(result) = f.value_of(root)
            && !rw.allows(self.floats(), result)
        {
            return None;
        }
        let scene = Scene { f, index: None, callees: None, options };
        let mut search = Search::new(scene, &self.pattern, &self.plan);
        let mut bound: Option<Bound> = None;
        search.run(root, |search| {
            bound = Some(search.bound.clone());
            false
        });
        Making { f, rw, bound: &bound?, made: Vec::new() }.right(right)
    }
}

// A look at the definitions of the root's operands, before anything is set up.
fn may_match(pattern: &PatternGraph, root: usize, f: &Function, inst: InstId) -> bool {
    let op = &pattern.ops[root];
    let found = f.operands(inst);
    let fits = |operand: &Operand, value: Option<&ValueId>| match (operand, value) {
        (Operand::One(wanted), Some(&value)) => match &pattern.values[*wanted].from {
            Source::Result(def) => {
                f.inst_of(value).is_some_and(|i| f.op_key(i) == pattern.ops[*def].key)
            }
            Source::Literal(_) => f.inst_of(value).is_some(),
            Source::Param => true,
        },
        (Operand::Rest(_), _) => true,
        (Operand::One(_), None) => false,
    };
    let plain = op.operands.iter().enumerate().all(|(n, o)| fits(o, found.get(n)));
    plain
        || (op.commutative
            && op.operands.len() == 2
            && fits(&op.operands[0], found.get(1))
            && fits(&op.operands[1], found.first()))
}

struct Making<'a, 'r, 'f> {
    f: &'f Function,
    rw: &'a mut Rewrite<'r>,
    bound: &'a Bound,
    made: Vec<Values>,
}

impl Making<'_, '_, '_> {
    fn right(mut self, right: &Right) -> Option<Values> {
        for (n, op) in right.ops.iter().enumerate() {
            let results = self.op(op, n, right)?;
            self.made.push(results);
        }
        let outputs: Vec<NewValue> = right.outputs.clone();
        let mut values = Values::new();
        for (n, output) in outputs.into_iter().enumerate() {
            values.push(match output {
                NewValue::Number(number) => {
                    let ty = self.f.value_type(self.rw.result(n)?).as_tensor()?;
                    self.rw.filled(ty, number)?
                }
                other => self.value(other)?,
            });
        }
        Some(values)
    }

    fn value(&self, value: NewValue) -> Option<ValueId> {
        match value {
            NewValue::Old(value) => self.bound.values[value],
            NewValue::Made(op, n) => self.made.get(op)?.get(n).copied(),
            NewValue::Number(_) => None,
        }
    }

    fn op(&mut self, op: &NewOp, number: usize, right: &Right) -> Option<Values> {
        let mut parts = OpParts::new(op.key);
        parts.operands = self.operands(op)?;
        let Some(def) = self.f.registry().get(op.key) else {
            let entries = op.entries.iter();
            let entries = entries.map(|(name, t)| Some((*name, attr_of(t, self.f, self.bound)?)));
            parts.attrs.push(Attr::dict(entries.collect::<Option<_>>()?));
            parts.given = self.output_types(number, right)?;
            return self.rw.emit_parts_many(&parts);
        };
        let mut stated = false;
        for (n, row) in def.attrs.iter().enumerate() {
            let given = op.attrs.iter().find(|(r, _)| *r == n);
            stated |= row.kind == AttrKind::ResultType;
            parts.attrs.push(match given {
                Some((_, term)) => match attr_of(term, self.f, self.bound)? {
                    // An optional attribute that is not there stays so.
                    Attr::Unit if row.default == Some(Attr::Unit) => Attr::Unit,
                    attr => row.kind.accept(attr)?,
                },
                None => row.default.clone().unwrap_or(Attr::Unit),
            });
        }
        if stated {
            parts.given = self.stated(op, number, right, &parts, def.elementwise)?;
        }
        self.rw.emit_parts_many(&parts)
    }

    fn operands(&mut self, op: &NewOp) -> Option<Values> {
        // Numbers take the type of the values beside them.
        let beside = op.operands.iter().find_map(|o| match o {
            NewOperand::One(NewValue::Number(_)) => None,
            NewOperand::One(value) => self.value(*value),
            NewOperand::Rest(list) => self.bound.lists[*list].as_ref()?.first().copied(),
        });
        let elementwise = self.f.registry().get(op.key).is_some_and(|d| d.elementwise);
        let mut operands: Values = SmallVec::new();
        for operand in &op.operands {
            match operand {
                NewOperand::One(NewValue::Number(number)) => {
                    let ty = self.rw.tensor(beside?)?.clone();
                    let ty = if elementwise { ty } else { TensorType::scalar(ty.dtype) };
                    operands.push(self.rw.filled(&ty, *number)?);
                }
                NewOperand::One(value) => operands.push(self.value(*value)?),
                NewOperand::Rest(list) => operands.extend(self.bound.lists[*list].clone()?),
            }
        }
        Some(operands)
    }

    // The results of the root that an op of the right side stands for.
    fn output_types(&self, number: usize, right: &Right) -> Option<Vec<ValueType>> {
        let own = right.outputs.iter().enumerate();
        let own = own.filter(|(_, o)| matches!(o, NewValue::Made(op, _) if *op == number));
        own.map(|(n, _)| Some(self.f.value_type(self.rw.result(n)?).clone())).collect()
    }

    // The type an op states: as written, or that of the result it stands for, or that of its operand.
    fn stated(
        &self,
        op: &NewOp,
        number: usize,
        right: &Right,
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
                let shape = attr_of(term, self.f, self.bound)?;
                let dims = shape.as_ints()?.iter().map(|&n| u64::try_from(n).ok().map(Dim::Known));
                dims.collect::<Option<_>>()?
            }
            None if elementwise => input.as_ref()?.dims.clone(),
            None => output?.dims.clone(),
        };
        let dtype = match &op.dtype {
            Some(term) => match attr_of(term, self.f, self.bound)? {
                Attr::Type(dtype) => dtype,
                _ => return None,
            },
            None => input.or_else(|| output.cloned())?.dtype,
        };
        Some(vec![ValueType::Tensor(TensorType { dtype, dims })])
    }
}
