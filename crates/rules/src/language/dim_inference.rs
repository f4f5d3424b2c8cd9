//! The types that the ops of a left side give their results, and require of their operands.
//!
//! Equal dims are in one class, and the ops' own inference is asked with a symbol for each class whose number is not known.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use rustc_hash::FxBuildHasher;
use sapwood_ptir::{Attr, AttrKind, OpDef, OpKey, Registry};

use super::condition::Condition;
use super::dim_classes::{DimClasses, DimConflict, DimFact};
use super::op_trial::{MIXED_DIMS, TrialKey, TrialOutcome};
use super::reshape_dims::reshape_dims;
use crate::graph::{
    AttrCondition, AttrSlot, OpIx, OtherOps, PatternGraph, PatternOp, PatternOperand, ValueIx,
    from_the_end,
};

/// The largest number of times that all ops are visited until no more follows.
const MAX_SWEEPS: usize = 64;

/// The ops whose result has the elements of the operand, besides elementwise ones.
const KEEP_COUNT: [&str; 4] = ["reshape", "refine", "reverse", "transpose"];

/// An op of a left side, with the attributes that are required of it.
pub(super) struct OpTests<'a> {
    pub(super) number: OpIx,
    pub(super) op: &'a PatternOp,
    pub(super) def: &'a OpDef,
    /// The tests of the attributes, by row.
    pub(super) attrs: Vec<Option<&'a AttrCondition>>,
    /// Set if its inference may be asked: it is one op and not one of several.
    pub(super) is_one: bool,
}

impl OpTests<'_> {
    /// Returns the attributes that are required to be a certain word or element type, by row.
    pub(super) fn types_and_words(&self) -> Vec<Option<Attr>> {
        let written = |(row, test): (usize, &Option<&AttrCondition>)| match test {
            Some(AttrCondition::Is(attr))
                if matches!(self.def.attrs[row].kind, AttrKind::Word(_) | AttrKind::Type) =>
            {
                Some(attr.clone())
            }
            _ => None,
        };
        self.attrs.iter().enumerate().map(written).collect()
    }
}

/// The part of a left side whose types are solved.
pub(super) struct Scope<'a> {
    pub(super) ops: Vec<OpTests<'a>>,
    /// Values that are the same.
    pub(super) equal: &'a [(ValueIx, ValueIx)],
    pub(super) conditions: Vec<&'a Condition>,
}

/// The ops of a left side, whose types are solved for several choices of alternatives.
pub(super) struct DimInference<'a> {
    pub(super) graph: &'a PatternGraph,
    registry: &'a Registry,
    /// The outcomes of the inference of ops. It is asked once for each op and types of its values.
    pub(super) tried: RefCell<HashMap<TrialKey, Rc<TrialOutcome>, FxBuildHasher>>,
    /// The op that was visited last.
    pub(super) at: Cell<Option<OpIx>>,
}

impl<'a> DimInference<'a> {
    pub(super) fn new(graph: &'a PatternGraph, registry: &'a Registry) -> Self {
        Self { graph, registry, tried: RefCell::default(), at: Cell::new(None) }
    }

    /// Returns the part with these ops. An attribute is only required if `required` holds for the op and the number of its test.
    pub(super) fn scope(
        &self,
        ops: &[OpIx],
        equal: &'a [(ValueIx, ValueIx)],
        required: &dyn Fn(OpIx, usize) -> bool,
        conditions: Vec<&'a Condition>,
    ) -> Scope<'a> {
        let tests = |&number: &OpIx| {
            let op = &self.graph.ops[number];
            let (def, is_one) = self.def(op)?;
            let mut attrs = vec![None; def.attrs.len()];
            for (n, test) in op.attrs.iter().enumerate().filter(|_| is_one) {
                if let (AttrSlot::Row(row), true) = (&test.slot, required(number, n))
                    && !matches!(test.test, AttrCondition::Capture(_))
                {
                    attrs[*row] = Some(&test.test);
                }
            }
            Some(OpTests { number, op, def, attrs, is_one })
        };
        Scope { ops: ops.iter().filter_map(tests).collect(), equal, conditions }
    }

    /// Adds everything that follows from ops, from values that are equal, and from conditions.
    pub(super) fn solve(
        &self,
        dims: &mut DimClasses,
        scope: &Scope<'_>,
    ) -> Result<(), DimConflict> {
        for condition in &scope.conditions {
            self.require_condition(dims, condition)?;
        }
        dims.elements.solve(self.graph, scope, &self.at)?;
        let counts = self.same_counts(scope);
        for sweep in 0..MAX_SWEEPS {
            let before = dims.changes;
            for &(a, b) in scope.equal {
                self.merge(dims, &[a, b])?;
            }
            self.same_captures(dims, scope)?;
            let mut visit = |op: &OpTests<'_>| self.visit(dims, op);
            match sweep % 2 {
                0 => scope.ops.iter().try_for_each(&mut visit)?,
                _ => scope.ops.iter().rev().try_for_each(&mut visit)?,
            }
            for values in &counts {
                self.same_count(dims, values)?;
            }
            for condition in &scope.conditions {
                self.require_condition(dims, condition)?;
            }
            if dims.changes == before {
                self.compare_dims(dims, scope)?;
            }
            if dims.changes == before {
                break;
            }
        }
        scope.conditions.iter().try_for_each(|condition| self.check_condition(dims, condition))
    }

    // Returns the values that have the same number of elements, where that does not follow from their dims.
    fn same_counts(&self, scope: &Scope<'_>) -> Vec<Vec<ValueIx>> {
        if !scope.ops.iter().any(|op| op.def.name == "reshape") {
            return Vec::new();
        }
        let mut parent: Vec<ValueIx> = (0..self.graph.values.len()).collect();
        fn find(parent: &mut [ValueIx], mut value: ValueIx) -> ValueIx {
            while parent[value] != value {
                parent[value] = parent[parent[value]];
                value = parent[value];
            }
            value
        }
        let mut pairs: Vec<(ValueIx, ValueIx)> = scope.equal.to_vec();
        for op in &scope.ops {
            let elementwise = op.def.elementwise && !MIXED_DIMS.contains(&op.def.name);
            if (elementwise || KEEP_COUNT.contains(&op.def.name))
                && let Some(&result) = op.op.results.first()
            {
                pairs.extend(operands(op.op).into_iter().flatten().map(|value| (value, result)));
            }
        }
        for (a, b) in pairs {
            // A constant may have any dims.
            if !self.graph.is_literal(a) && !self.graph.is_literal(b) {
                let (a, b) = (find(&mut parent, a), find(&mut parent, b));
                parent[a] = b;
            }
        }
        let mut groups: BTreeMap<ValueIx, Vec<ValueIx>> = BTreeMap::new();
        for value in 0..parent.len() {
            groups.entry(find(&mut parent, value)).or_default().push(value);
        }
        groups.into_values().filter(|group| group.len() > 1).collect()
    }

    // Compares the numbers of elements of values that have the same.
    fn same_count(&self, dims: &mut DimClasses, values: &[ValueIx]) -> Result<(), DimConflict> {
        let mut last: Option<Vec<usize>> = None;
        for &value in values {
            let Some(shape) = dims.closed(value) else { continue };
            if let Some(last) = last.filter(|last| *last != shape) {
                reshape_dims(dims, &last, &shape)?;
            }
            last = Some(shape);
        }
        Ok(())
    }

    // Gives values the same dims; a constant may have any.
    fn merge(&self, dims: &mut DimClasses, values: &[ValueIx]) -> Result<(), DimConflict> {
        let mut values = values.iter().copied().filter(|&value| !self.graph.is_literal(value));
        let Some(first) = values.next() else { return Ok(()) };
        let name = &self.graph.values[first].name;
        values.try_for_each(|value| dims.merge(first, value)).map_err(|why| why.about(name))
    }

    // Results whose `shape` is the same name have the same dims.
    fn same_captures(&self, dims: &mut DimClasses, scope: &Scope<'_>) -> Result<(), DimConflict> {
        let mut first: Vec<Option<ValueIx>> = vec![None; self.graph.captures.len()];
        for op in &scope.ops {
            let capture = op.op.attrs.iter().find_map(|test| match (&test.slot, &test.test) {
                (AttrSlot::Shape, AttrCondition::Capture(capture)) => Some(*capture),
                _ => None,
            });
            if let (Some(capture), Some(&result)) = (capture, op.op.results.first()) {
                let first = *first[capture].get_or_insert(result);
                self.merge(dims, &[first, result])?;
            }
        }
        Ok(())
    }

    /// Returns the definition of a built-in op. An op of a user may require anything.
    pub(super) fn builtin(&self, key: OpKey) -> Option<&'a OpDef> {
        self.registry.get(key).filter(|def| !def.name.contains('.'))
    }

    // Returns the definition of an op; of one of several elementwise ops, that of the first. The second is whether it is only this op.
    fn def(&self, op: &PatternOp) -> Option<(&'a OpDef, bool)> {
        let def = |key| self.builtin(key);
        let plain = |def: &OpDef| def.elementwise && !MIXED_DIMS.contains(&def.name);
        match &op.others {
            OtherOps::None => def(op.key).map(|def| (def, true)),
            OtherOps::All => None,
            OtherOps::These(others) => {
                let all = others.iter().all(|&key| def(key).is_some_and(plain));
                def(op.key).filter(|def| all && plain(def)).map(|def| (def, false))
            }
        }
    }

    fn visit(&self, dims: &mut DimClasses, tests: &OpTests<'_>) -> Result<(), DimConflict> {
        self.at.set(Some(tests.number));
        let (op, def) = (tests.op, tests.def);
        let Some(&result) = op.results.first() else { return Ok(()) };
        let operands = operands(op);
        let one = |n: usize| operands.get(n).copied().flatten();
        if !def.elementwise {
            self.try_op(dims, tests)?;
        }
        match def.name {
            "clamp" | "select" => {
                let main = if def.name == "clamp" { [one(1), None] } else { [one(1), one(2)] };
                let mut same: Vec<ValueIx> = main.into_iter().flatten().chain([result]).collect();
                // The others may be scalars.
                let others = if def.name == "clamp" { [one(0), one(2)] } else { [one(0), None] };
                same.extend(others.into_iter().flatten().filter(|&v| dims.is_no_scalar(v)));
                self.merge(dims, &same)
            }
            _ if def.elementwise => {
                let same: Vec<ValueIx> = operands.into_iter().flatten().chain([result]).collect();
                self.merge(dims, &same)
            }
            "broadcast_to" | "broadcast_in_dim" => {
                match one(0).filter(|&v| !self.graph.is_literal(v)) {
                    Some(operand) => self.broadcast(dims, tests, (operand, result)),
                    None => Ok(()),
                }
            }
            "transpose" => self.transposed(dims, one(0), result),
            "dot_general" => self.pairs(dims, tests, (one(0), one(1))),
            "concat" => self.parts(dims, tests, result),
            _ => Ok(()),
        }
    }

    // Returns the axes that an attribute names, if they are written and the rank of their value is known.
    fn axes(&self, tests: &OpTests<'_>, name: &str, rank: usize) -> Option<Vec<usize>> {
        let row = tests.def.attrs.iter().position(|row| row.name == name)?;
        let (AttrCondition::Is(attr) | AttrCondition::Axes(_, attr)) = tests.attrs[row]? else {
            return None;
        };
        let attr = from_the_end(attr, rank);
        let list = match &attr {
            Attr::Int(axis) => std::slice::from_ref(axis),
            other => other.as_ints()?,
        };
        let axis = |&axis: &i64| usize::try_from(axis).ok().filter(|&axis| axis < rank);
        list.iter().map(axis).collect()
    }

    // A dim of the operand is 1, or that of the result.
    fn broadcast(
        &self,
        dims: &mut DimClasses,
        tests: &OpTests<'_>,
        (operand, result): (ValueIx, ValueIx),
    ) -> Result<(), DimConflict> {
        if tests.def.name == "broadcast_to"
            && let Some((_, last)) = dims.last_dims(operand)
        {
            let fact = |&dim: &usize| match dims.number(dim) {
                Some(n) if n != 1 => DimFact::Class(dim),
                _ => DimFact::Any,
            };
            let facts: Vec<DimFact> = last.iter().map(fact).collect();
            if dims.closed(result).is_none_or(|to| to.len() >= facts.len()) {
                dims.require_dims(result, true, &facts)?;
            }
        }
        let (Some(from), Some(to)) = (dims.closed(operand), dims.closed(result)) else {
            return Ok(());
        };
        let axes = match tests.def.name {
            "broadcast_to" => {
                let Some(new) = to.len().checked_sub(from.len()) else {
                    let (m, n) = (from.len(), to.len());
                    return Err(DimConflict(format!(
                        "`broadcast_to` would reduce the rank from {m} to {n}"
                    )));
                };
                Some((new..to.len()).collect())
            }
            _ => self.axes(tests, "dims", to.len()).filter(|axes| axes.len() == from.len()),
        };
        for (&dim, axis) in from.iter().zip(axes.unwrap_or_default()) {
            if dims.number(dim).is_some_and(|n| n != 1) || dims.number(to[axis]) == Some(1) {
                dims.union(dim, to[axis])?;
            }
        }
        Ok(())
    }

    // Both values of `transpose` have the same rank, and the same dims if all of one are equal.
    fn transposed(
        &self,
        dims: &mut DimClasses,
        operand: Option<ValueIx>,
        result: ValueIx,
    ) -> Result<(), DimConflict> {
        let Some(operand) = operand.filter(|&v| !self.graph.is_literal(v)) else { return Ok(()) };
        for (from, to) in [(operand, result), (result, operand)] {
            let Some(all) = dims.closed(from) else { continue };
            let is_square = all.windows(2).all(|pair| {
                let number = dims.number(pair[0]);
                pair[0] == pair[1] || number.is_some() && number == dims.number(pair[1])
            });
            let fact = |&dim: &usize| if is_square { DimFact::Class(dim) } else { DimFact::Any };
            let facts: Vec<DimFact> = all.iter().map(fact).collect();
            dims.require_dims(to, false, &facts)
                .map_err(|why| why.about(&self.graph.values[to].name))?;
        }
        Ok(())
    }

    // The axes that `dot_general` pairs have the same extent.
    fn pairs(
        &self,
        dims: &mut DimClasses,
        tests: &OpTests<'_>,
        (left, right): (Option<ValueIx>, Option<ValueIx>),
    ) -> Result<(), DimConflict> {
        let closed = |value: Option<ValueIx>| dims.closed(value?);
        let (Some(left), Some(right)) = (closed(left), closed(right)) else { return Ok(()) };
        for (lhs, rhs) in [("lhs_batch", "rhs_batch"), ("lhs_contract", "rhs_contract")] {
            let lhs = self.axes(tests, lhs, left.len()).unwrap_or_default();
            let rhs = self.axes(tests, rhs, right.len()).unwrap_or_default();
            for (i, j) in lhs.into_iter().zip(rhs) {
                dims.union(left[i], right[j])?;
            }
        }
        Ok(())
    }

    // The parts of a concatenation have the same rank, and the same dims except along its axis.
    fn parts(
        &self,
        dims: &mut DimClasses,
        tests: &OpTests<'_>,
        result: ValueIx,
    ) -> Result<(), DimConflict> {
        let parts = operands(tests.op).into_iter().flatten().filter(|&v| !self.graph.is_literal(v));
        let all: Vec<ValueIx> = parts.chain([result]).collect();
        let Some(first) = all.iter().find_map(|&v| dims.closed(v)) else { return Ok(()) };
        let axis = self.axes(tests, "axis", first.len()).and_then(|axes| axes.first().copied());
        for value in all {
            let fact = |n: usize| match axis {
                Some(axis) if n != axis => DimFact::Class(first[n]),
                _ => DimFact::Any,
            };
            let facts: Vec<DimFact> = (0..first.len()).map(fact).collect();
            dims.require_dims(value, false, &facts)
                .map_err(|why| why.about(&self.graph.values[value].name))?;
        }
        Ok(())
    }
}

/// Returns the operands of an op; none for a list of them.
pub(super) fn operands(op: &PatternOp) -> Vec<Option<ValueIx>> {
    let one = |operand: &PatternOperand| match *operand {
        PatternOperand::One(value) => Some(value),
        PatternOperand::Rest(_) => None,
    };
    op.operands.iter().map(one).collect()
}

/// Returns whether the types of an op follow from those of its operands, which are tensors, and from its attributes.
pub(super) fn has_own_inference(def: &OpDef) -> bool {
    def.regions.is_empty() && !def.terminator && def.control.is_none() && def.family != "call"
}
