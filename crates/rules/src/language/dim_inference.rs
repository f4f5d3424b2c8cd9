//! The dims that the ops of a left side give their results, and require of their operands.
//!
//! Most ops are asked with a symbol for each dim whose number is not known. A result that is such a symbol has the same dim.

use std::cell::RefCell;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use sapwood_ptir::{
    Attr, AttrKind, Dim, InferCx, Name, OpDef, OperandKind, Registry, ResultCount, TensorType,
    ValueType, infer_checked,
};
use sapwood_types::DataType;
use smallvec::SmallVec;

use super::dim_classes::{DimClasses, DimConflict, DimFact};
use super::element_types::keeps_type;
use super::inferred_types::{Inferred, infer_op};
use super::reshape_dims::reshape_dims;
use super::type_check::MIXED_DIMS;
use crate::graph::{
    AttrCondition, AttrSlot, AxesOf, OpIx, OtherOps, PatternGraph, PatternOp, PatternOperand,
    ShapeTest, ValueIx, from_the_end,
};

/// The largest number of attributes that are tried for one op.
const MAX_ATTRIBUTES: usize = 64;

/// The largest rank for which axes that are not written are tried.
const MAX_TRIED_RANK: usize = 4;

/// The largest number of times that all ops are visited until no more follows.
const MAX_SWEEPS: usize = 64;

/// The number of an op, and the dims of its values.
type OpDims = (OpIx, Vec<Option<ShapeTest>>);

/// The ops of a left side, whose dims are solved for several choices of alternatives.
pub(super) struct DimInference<'a> {
    graph: &'a PatternGraph,
    registry: &'a Registry,
    /// The contradictions that were found by trying extents.
    tried: RefCell<HashMap<OpDims, Option<String>, FxBuildHasher>>,
    /// The dims of the values of one op, by value. It is empty between ops, so that an op costs no more in a larger pattern.
    of_op: RefCell<Vec<Option<ShapeTest>>>,
}

impl<'a> DimInference<'a> {
    pub(super) fn new(graph: &'a PatternGraph, registry: &'a Registry) -> Self {
        let of_op = RefCell::new(vec![None; graph.values.len()]);
        Self { graph, registry, tried: RefCell::default(), of_op }
    }

    /// Adds everything that follows from ops and from values that are equal.
    pub(super) fn solve(
        &self,
        dims: &mut DimClasses,
        ops: &[OpIx],
        equal: &[(ValueIx, ValueIx)],
    ) -> Result<(), DimConflict> {
        self.element_types(dims, ops, equal)?;
        for sweep in 0..MAX_SWEEPS {
            let before = dims.changes;
            for &(a, b) in equal {
                self.merge(dims, &[a, b])?;
            }
            self.same_captures(dims, ops)?;
            let visit = |&op: &OpIx| self.visit(dims, op);
            match sweep % 2 {
                0 => ops.iter().try_for_each(visit)?,
                _ => ops.iter().rev().try_for_each(visit)?,
            }
            if dims.changes == before {
                break;
            }
        }
        ops.iter().try_for_each(|&op| self.try_extents(dims, op))
    }

    fn element_types(
        &self,
        dims: &mut DimClasses,
        ops: &[OpIx],
        equal: &[(ValueIx, ValueIx)],
    ) -> Result<(), DimConflict> {
        for &(a, b) in
            equal.iter().filter(|(a, b)| ![a, b].iter().any(|&&v| self.graph.is_literal(v)))
        {
            dims.elements.equal(self.graph, a, b)?;
        }
        for &op in ops {
            let op = &self.graph.ops[op];
            let others = match &op.others {
                OtherOps::These(others) => others.as_slice(),
                _ => &[],
            };
            let all_keep = others.iter().all(|&key| self.registry.get(key).is_some_and(keeps_type));
            if let Some(def) = self.def(op)
                && (others.is_empty() || all_keep && keeps_type(def))
            {
                dims.elements.visit(self.graph, (op, def))?;
            }
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
    fn same_captures(&self, dims: &mut DimClasses, ops: &[OpIx]) -> Result<(), DimConflict> {
        let mut first: Vec<Option<ValueIx>> = vec![None; self.graph.captures.len()];
        for &op in ops {
            let op = &self.graph.ops[op];
            let capture = op.attrs.iter().find_map(|test| match (&test.slot, &test.test) {
                (AttrSlot::Shape, AttrCondition::Capture(capture)) => Some(*capture),
                _ => None,
            });
            if let (Some(capture), Some(&result)) = (capture, op.results.first()) {
                let first = *first[capture].get_or_insert(result);
                self.merge(dims, &[first, result])?;
            }
        }
        Ok(())
    }

    // Returns the definition of an op; of one of several elementwise ops, that of the first.
    fn def(&self, op: &PatternOp) -> Option<&'a OpDef> {
        let def = |key| self.registry.get(key).filter(|def| !def.name.contains('.'));
        let plain = |def: &OpDef| def.elementwise && !MIXED_DIMS.contains(&def.name);
        match &op.others {
            OtherOps::None => def(op.key),
            OtherOps::All => None,
            OtherOps::These(others) => {
                let all = others.iter().all(|&key| def(key).is_some_and(plain));
                def(op.key).filter(|def| all && plain(def))
            }
        }
    }

    fn visit(&self, dims: &mut DimClasses, op: OpIx) -> Result<(), DimConflict> {
        let op = &self.graph.ops[op];
        let (Some(def), Some(&result)) = (self.def(op), op.results.first()) else { return Ok(()) };
        let operands = operands(op);
        let one = |n: usize| operands.get(n).copied().flatten();
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
                let Some(operand) = one(0) else { return Ok(()) };
                self.broadcast(dims, op, def, (operand, result))
            }
            "transpose" => {
                self.transposed(dims, one(0), result)?;
                self.general(dims, op, def, result)
            }
            "reshape" => match one(0).and_then(|v| dims.closed(v)).zip(dims.closed(result)) {
                Some((from, to)) => reshape_dims(dims, &from, &to),
                None => Ok(()),
            },
            "dot_general" => {
                self.pairs(dims, op, def, (one(0), one(1)))?;
                self.general(dims, op, def, result)
            }
            "concat" => {
                self.parts(dims, op, def, result)?;
                self.general(dims, op, def, result)
            }
            _ => self.general(dims, op, def, result),
        }
    }

    // Returns the axes that an attribute names, if they are written and the rank of their value is known.
    fn axes(&self, op: &PatternOp, def: &OpDef, name: &str, rank: usize) -> Option<Vec<usize>> {
        let row = def.attrs.iter().position(|row| row.name == name)?;
        let test = op.attrs.iter().find(|test| test.slot == AttrSlot::Row(row))?;
        let (AttrCondition::Is(attr) | AttrCondition::Axes(_, attr)) = &test.test else {
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
        op: &PatternOp,
        def: &OpDef,
        (operand, result): (ValueIx, ValueIx),
    ) -> Result<(), DimConflict> {
        if def.name == "broadcast_to"
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
        let axes = match def.name {
            "broadcast_to" => {
                let Some(new) = to.len().checked_sub(from.len()) else {
                    let (m, n) = (from.len(), to.len());
                    return Err(DimConflict(format!(
                        "`broadcast_to` would reduce the rank from {m} to {n}"
                    )));
                };
                Some((new..to.len()).collect())
            }
            _ => self.axes(op, def, "dims", to.len()).filter(|axes| axes.len() == from.len()),
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
        op: &PatternOp,
        def: &OpDef,
        (left, right): (Option<ValueIx>, Option<ValueIx>),
    ) -> Result<(), DimConflict> {
        let closed = |value: Option<ValueIx>| dims.closed(value?);
        let (Some(left), Some(right)) = (closed(left), closed(right)) else { return Ok(()) };
        for (lhs, rhs) in [("lhs_batch", "rhs_batch"), ("lhs_contract", "rhs_contract")] {
            let lhs = self.axes(op, def, lhs, left.len()).unwrap_or_default();
            let rhs = self.axes(op, def, rhs, right.len()).unwrap_or_default();
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
        op: &PatternOp,
        def: &OpDef,
        result: ValueIx,
    ) -> Result<(), DimConflict> {
        let parts = operands(op).into_iter().flatten().filter(|&v| !self.graph.is_literal(v));
        let all: Vec<ValueIx> = parts.chain([result]).collect();
        let Some(first) = all.iter().find_map(|&v| dims.closed(v)) else { return Ok(()) };
        let axis = self.axes(op, def, "axis", first.len()).and_then(|axes| axes.first().copied());
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

    // Infers the result with a symbol for each dim that is not known, for all attributes that are possible.
    fn general(
        &self,
        dims: &mut DimClasses,
        op: &PatternOp,
        def: &OpDef,
        result: ValueIx,
    ) -> Result<(), DimConflict> {
        let declares = def.attrs.iter().any(|row| row.kind == AttrKind::ResultType);
        let fixed = def.operands.iter().all(|o| o.kind == OperandKind::One) || def.name == "concat";
        let one = def.results == ResultCount::One && def.regions.is_empty() && !def.terminator;
        if declares || !fixed || !one || op.operands.is_empty() {
            return Ok(());
        }
        let shapes = operands(op).into_iter().map(|v| dims.closed(v?));
        let Some(shapes) = shapes.collect::<Option<Vec<Vec<usize>>>>() else { return Ok(()) };
        let dtypes: Vec<Option<DataType>> =
            operands(op).into_iter().map(|v| self.dtype_of(v?)).collect();
        let Some(all) = possible_attrs(op, def, &shapes) else { return Ok(()) };
        let mut first_why = None;
        let mut possible: Option<DimClasses> = None;
        let count = all.len();
        for attrs in all {
            let symbolic = |&class: &usize| match dims.number(class) {
                Some(n) => Dim::Known(n),
                None => Dim::symbol(Name::new(&format!("d{class}"))),
            };
            let Some(found) = infer(def, &attrs, &shapes, &dtypes, symbolic) else {
                if infer(def, &attrs, &shapes, &dtypes, |_| Dim::Unknown).is_none() {
                    // The axes do not fit together.
                    continue;
                }
                if shapes.iter().flatten().all(|&dim| dims.number(dim).is_some()) {
                    // The dims do not fit together.
                    continue;
                }
                return Ok(());
            };
            let class = |dim: &Dim| {
                let name = dim.as_symbol()?;
                name.as_str().strip_prefix('d')?.parse::<usize>().ok()
            };
            let fact = |dim: &Dim| match (class(dim), dim.known()) {
                (Some(class), _) => DimFact::Class(class),
                (None, Some(n)) => DimFact::Known(n),
                (None, None) => DimFact::Any,
            };
            let found: Vec<DimFact> = found.iter().map(fact).collect();
            let in_words = |why: DimConflict| why.about(&self.graph.values[result].name);
            // Without a choice, the dims are not needed after a conflict.
            if count == 1 {
                return dims.require_dims(result, false, &found).map_err(in_words);
            }
            let mut trial = dims.clone();
            match trial.require_dims(result, false, &found) {
                Ok(()) if possible.is_some() => return Ok(()),
                Ok(()) => possible = Some(trial),
                Err(why) => {
                    first_why.get_or_insert_with(|| in_words(why));
                }
            }
        }
        match (possible, first_why) {
            (Some(only), _) => {
                *dims = only;
                Ok(())
            }
            (None, Some(why)) => Err(why),
            (None, None) => Ok(()),
        }
    }

    fn dtype_of(&self, value: ValueIx) -> Option<DataType> {
        self.graph.values[value].shape.as_ref()?.dtype
    }

    // Tries extents for the dims that are not known.
    fn try_extents(&self, dims: &DimClasses, number: OpIx) -> Result<(), DimConflict> {
        let op = &self.graph.ops[number];
        let Some(def) = self.def(op).filter(|_| op.is_one()) else { return Ok(()) };
        // Its number of elements was compared.
        if def.name == "reshape" {
            return Ok(());
        }
        let values = || operands(op).into_iter().flatten().chain(op.results.iter().copied());
        let mut known = self.of_op.borrow_mut();
        for value in values().filter(|&value| !self.graph.is_literal(value)) {
            let dtype = self.dtype_of(value);
            known[value] = dims.test(value).map(|test| ShapeTest { dtype, ..test });
        }
        let key = (number, values().map(|value| known[value].clone()).collect());
        let mut tried = self.tried.borrow_mut();
        let found = tried.entry(key).or_insert_with(|| {
            let Inferred::Contradiction(why) = infer_op(self.graph, op, def, &known) else {
                return None;
            };
            let show = |value: ValueIx| {
                Some(format!("`{}: {}`", self.graph.values[value].name, known[value].as_ref()?))
            };
            let all: Vec<String> = operands(op).into_iter().flatten().filter_map(show).collect();
            Some(format!("`{}` cannot have {}: {why}", def.name, all.join(", ")))
        });
        let found = found.clone();
        values().for_each(|value| known[value] = None);
        found.map_or(Ok(()), |why| Err(DimConflict(why)))
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

// Infers the dims of the result of an op, for the first element types for which that is possible.
fn infer(
    def: &OpDef,
    attrs: &[Attr],
    shapes: &[Vec<usize>],
    dtypes: &[Option<DataType>],
    dim: impl Fn(&usize) -> Dim,
) -> Option<Vec<Dim>> {
    DataType::ALL.iter().find_map(|&usual| {
        let types = shapes.iter().zip(dtypes).map(|(shape, dtype)| {
            let dims: SmallVec<[Dim; 4]> = shape.iter().map(&dim).collect();
            ValueType::from(TensorType { dtype: dtype.unwrap_or(usual), dims })
        });
        let types: Vec<ValueType> = types.collect();
        let cx = InferCx {
            def,
            attrs,
            operands: types.iter().collect(),
            regions: SmallVec::new(),
            declared_types: SmallVec::new(),
        };
        let found = infer_checked(&cx).ok()?;
        Some(found.first()?.as_tensor()?.dims.to_vec())
    })
}

// Returns the attributes that an op may have; none if there are too many.
fn possible_attrs(op: &PatternOp, def: &OpDef, shapes: &[Vec<usize>]) -> Option<Vec<Vec<Attr>>> {
    let mut all: Vec<Vec<Attr>> = vec![Vec::new()];
    for (n, row) in def.attrs.iter().enumerate() {
        let test = op.attrs.iter().find(|test| test.slot == AttrSlot::Row(n));
        let rank = match AxesOf::attr(row.name, Some(def)) {
            Some(AxesOf::Operand(n)) => shapes.get(n).map(Vec::len),
            _ => None,
        };
        let values = match (test.map(|test| &test.test), row.kind) {
            (Some(AttrCondition::Is(attr)), _) => vec![attr.clone()],
            (Some(AttrCondition::Axes(_, attr)), _) => vec![from_the_end(attr, rank?)],
            (_, AttrKind::Word(words)) => words.iter().map(|word| Attr::word(word)).collect(),
            (_, AttrKind::Bool) => vec![Attr::Bool(false), Attr::Bool(true)],
            // The dims do not depend on a type that may be omitted.
            (_, AttrKind::Type) => vec![row.default.clone()?],
            _ => possible_axes(row.name, rank?)?,
        };
        let with = |before: &Vec<Attr>| {
            let before = before.clone();
            let longer = move |value: &Attr| [&before[..], std::slice::from_ref(value)].concat();
            values.iter().map(longer).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
        if all.len() > MAX_ATTRIBUTES {
            return None;
        }
    }
    Some(all)
}

// Returns the axes that an attribute that is not written may name.
fn possible_axes(name: &str, rank: usize) -> Option<Vec<Attr>> {
    if rank > MAX_TRIED_RANK {
        return None;
    }
    let rank = rank as i64;
    // Lists of different axes in any order, the shortest first.
    let mut lists: Vec<Vec<i64>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(list) = lists.get(at).cloned() {
        at += 1;
        let next = (0..rank).filter(|axis| !list.contains(axis));
        lists.extend(next.map(|axis| [&list[..], &[axis]].concat()));
    }
    Some(match name {
        "axis" => (0..rank).map(Attr::Int).collect(),
        "perm" => {
            lists.retain(|list| list.len() as i64 == rank);
            lists.into_iter().map(|list| Attr::Ints(list.into())).collect()
        }
        "axes" => {
            lists.retain(|list| list.is_sorted());
            lists.into_iter().map(|list| Attr::Ints(list.into())).collect()
        }
        "lhs_batch" | "rhs_batch" | "lhs_contract" | "rhs_contract" => {
            lists.into_iter().map(|list| Attr::Ints(list.into())).collect()
        }
        _ => return None,
    })
}
