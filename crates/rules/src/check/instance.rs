//! Instances of the left side of a rule: random types, shapes and attributes that fit together.

use std::sync::Arc;

use sapwood_check::{Draw, Range};
use sapwood_ptir::ops::{BroadcastTo, Return};
use sapwood_ptir::{
    Attr, AttrKind, Dim, Function, InsertPoint, Name, Op, OpDef, OpParts, Registry, TensorType,
    ValueId, ValueType, Values,
};
use sapwood_types::{DataType, Rng, Span};

use super::attrs::{random_attr, stated_type};
use crate::graph::{AttrSlot, Literal, Number, Operand, PatternGraph, PatternOp, Source, Test};
use crate::language::{Condition, Rule};

/// Random choices, equal for equal seeds.
pub(super) struct Random(Rng);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    /// Returns a number below `n`; zero if that is zero.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0.below(n as usize) as u64
    }

    /// Returns a seed for other random numbers.
    pub(super) fn seed(&mut self) -> u64 {
        self.0.bits()
    }

    /// The extent of a dim, at most so large; nothing at all now and then, once larger ones are made.
    pub(super) fn extent(&mut self, size: u64) -> u64 {
        if size > 1 && self.below(16) == 0 { 0 } else { 1 + self.below(size) }
    }

    // How many dims: few, mostly.
    fn rank(&mut self) -> u64 {
        match self.below(8) {
            0 => self.below(6),
            _ => self.below(4),
        }
    }
}

const DTYPES: [DataType; 15] = [
    DataType::F32,
    DataType::I32,
    DataType::Bool,
    DataType::F64,
    DataType::U8,
    DataType::I64,
    DataType::Bf16,
    DataType::F16,
    DataType::C64,
    DataType::I8,
    DataType::U16,
    DataType::U32,
    DataType::U64,
    DataType::I16,
    DataType::C128,
];

/// The left side as a function `@left`.
pub(super) struct Instance {
    pub(super) function: Function,
    /// The extents that its parameters are run with.
    pub(super) shapes: Vec<Vec<u64>>,
}

impl Instance {
    /// How much there is to look at.
    pub(super) fn size(&self) -> u64 {
        // Nothing at all is harder to read than one element.
        let of = |shape: &Vec<u64>| match shape.iter().product::<u64>() {
            0 => 4 + shape.len() as u64,
            n => n + shape.len() as u64,
        };
        let f = &self.function;
        let usual = [DataType::F32, DataType::I32, DataType::Bool];
        let dtype = |&v: &ValueId| f.value_type(v).as_tensor().map(|t| t.dtype);
        let rare = f.params().iter().filter(|v| !dtype(v).is_some_and(|t| usual.contains(&t)));
        let insts = f.num_insts() as u64;
        self.shapes.iter().map(of).sum::<u64>() + insts + rare.count() as u64
    }
}

impl Instance {
    /// One whose dims are at most so large; `None` if what was made up does not fit together.
    pub(super) fn new(
        rule: &Rule,
        registry: &Arc<Registry>,
        random: &mut Random,
        size: u64,
    ) -> Option<Self> {
        let pattern = &rule.pattern;
        let mut ranks = pattern.conditions.iter().filter_map(Condition::wants_rank);
        let rank = match ranks.next() {
            Some((_, rank)) if random.below(8) > 0 => rank.min(8) as u64,
            _ => random.rank(),
        };
        let shape: Vec<u64> = (0..rank).map(|_| random.extent(size)).collect();
        let fits = |dtype: &DataType| pattern.conditions.iter().all(|c| c.may_have(*dtype));
        let mut dtypes: Vec<DataType> = DTYPES.into_iter().filter(fits).collect();
        // Conditions on several values may ask for different ones.
        if dtypes.is_empty() || random.below(16) == 0 {
            dtypes = DTYPES.to_vec();
        }
        let dtype = dtypes[random.below(dtypes.len() as u64) as usize];
        let base = with_open_dims(random, &TensorType::new(dtype, shape.iter().copied()), size);
        let mut maker = Maker {
            pattern,
            registry,
            random,
            size,
            base,
            extents: shape,
            shapes: Vec::new(),
            f: Function::new("left", registry.clone()),
            values: vec![None; pattern.values.len()],
            captures: vec![None; pattern.captures.len()],
            lists: vec![None; pattern.lists.len()],
        };
        for op in 0..pattern.ops.len() {
            maker.op(op)?;
        }
        maker.finish(rule.root)
    }
}

// Some dims by name or not at all, once larger ones are made.
fn with_open_dims(random: &mut Random, ty: &TensorType, size: u64) -> TensorType {
    if size < 2 || random.below(8) > 0 {
        return ty.clone();
    }
    let open = |(n, dim): (usize, &Dim)| match random.below(3) {
        0 => Dim::Named(Name::new(&format!("d{n}"))),
        1 => Dim::Unknown,
        _ => *dim,
    };
    TensorType { dtype: ty.dtype, dims: ty.dims.iter().enumerate().map(open).collect() }
}

struct Maker<'a> {
    pattern: &'a PatternGraph,
    registry: &'a Arc<Registry>,
    random: &'a mut Random,
    size: u64,
    base: TensorType,
    // What the dims of the base are when run.
    extents: Vec<u64>,
    shapes: Vec<Vec<u64>>,
    f: Function,
    values: Vec<Option<ValueId>>,
    captures: Vec<Option<Attr>>,
    lists: Vec<Option<Values>>,
}

impl Maker<'_> {
    fn op(&mut self, op: usize) -> Option<()> {
        let pattern = self.pattern;
        let data = &pattern.ops[op];
        let def = self.registry.get(data.key)?;
        def.evaluation()?;
        let mut parts = OpParts::new(data.key);
        parts.operands = self.operands(op, def)?;
        let types: Vec<TensorType> = parts
            .operands
            .iter()
            .map(|&v| self.f.value_type(v).as_tensor().cloned())
            .collect::<Option<_>>()?;
        for (n, row) in def.attrs.iter().enumerate() {
            if row.kind == AttrKind::ResultType {
                parts.attrs.push(Attr::Unit);
                continue;
            }
            let attr = match self.wanted(op, &AttrSlot::Row(n)) {
                Some(attr) => attr,
                None if row.default.is_some() && self.random.below(3) > 0 => row.default.clone()?,
                None => random_attr(self.random, def, row, &types, &parts.attrs)?,
            };
            self.remember(op, &AttrSlot::Row(n), &attr);
            parts.attrs.push(attr);
        }
        if def.attrs.iter().any(|a| a.kind == AttrKind::ResultType) {
            let shape = self.wanted(op, &AttrSlot::Shape);
            let dtype = match self.wanted(op, &AttrSlot::Dtype) {
                Some(Attr::Type(dtype)) => Some(dtype),
                Some(_) => return None,
                None if def.name == "cast" => {
                    Some(DTYPES[self.random.below(DTYPES.len() as u64) as usize])
                }
                None => None,
            };
            let shape = shape.as_ref().map(|a| a.as_ints().map(<[i64]>::to_vec));
            let base = types.first().unwrap_or(&self.base).clone();
            let shape = shape.flatten();
            let partner = self.partner(op).filter(|_| shape.is_none() && def.name != "cast");
            let mut ty = match partner.filter(|_| self.random.below(4) > 0) {
                Some(partner) => partner,
                None => {
                    let attrs = &parts.attrs;
                    stated_type(self.random, def.name, &base, attrs, shape, self.size)?
                }
            };
            ty.dtype = dtype.unwrap_or(base.dtype);
            parts.declared_types = vec![ValueType::Tensor(ty)];
        }
        let spec = self.f.resolve_parts(&parts).ok()?;
        let inst = self.f.insert(InsertPoint::End(self.f.body()), &spec).ok()?;
        for slot in [AttrSlot::Shape, AttrSlot::Dtype] {
            if let Some(attr) = crate::matcher::attr_at(&self.f, inst, &slot) {
                self.remember(op, &slot, &attr);
            }
        }
        for (n, &value) in data.results.iter().enumerate() {
            self.values[value] = Some(self.f.result(inst, n)?);
        }
        Some(())
    }

    // The type of what stands beside the result of an op in an elementwise one, if it is there already.
    fn partner(&self, op: usize) -> Option<TensorType> {
        let own = Operand::One(*self.pattern.ops[op].results.first()?);
        let beside = |user: &PatternOp| {
            let elementwise = self.registry.get(user.key).is_some_and(|d| d.elementwise);
            let others = user.operands.iter().filter(|&&o| elementwise && o != own);
            let known = |o: &Operand| match *o {
                Operand::One(v) => self.values[v].filter(|_| !self.pattern.is_literal(v)),
                Operand::Rest(_) => None,
            };
            self.f.value_type(others.into_iter().find_map(known)?).as_tensor().cloned()
        };
        self.pattern.ops.iter().filter(|user| user.operands.contains(&own)).find_map(beside)
    }

    // The type that the operand of a broadcast needs so that its result fits to what it stands beside.
    fn fitting(&mut self, op: usize, def: &OpDef) -> Option<TensorType> {
        if def.name != "broadcast_in_dim" || self.random.below(4) == 0 {
            return None;
        }
        let partner = self.partner(op)?;
        let row = def.attrs.iter().position(|a| a.name == "dims")?;
        let dims = self.wanted(op, &AttrSlot::Row(row))?;
        let own = |&d: &i64| partner.dims.get(usize::try_from(d).ok()?).copied();
        let dims = dims.as_ints()?.iter().map(own).collect::<Option<_>>()?;
        Some(TensorType { dtype: partner.dtype, dims })
    }

    fn wanted_rank(&self, value: usize) -> Option<usize> {
        let mut ranks = self.pattern.conditions.iter().filter_map(Condition::wants_rank);
        ranks.find(|(v, _)| *v == value).map(|(_, rank)| rank.min(8))
    }

    // What the pattern says an attribute is, if it says it or said it before.
    fn wanted(&self, op: usize, slot: &AttrSlot) -> Option<Attr> {
        let test = self.pattern.ops[op].attrs.iter().find(|t| t.slot == *slot)?;
        match &test.test {
            Test::Is(attr) => Some(attr.clone()),
            Test::Capture(capture) => self.captures[*capture].clone(),
        }
    }

    fn remember(&mut self, op: usize, slot: &AttrSlot, attr: &Attr) {
        for test in self.pattern.ops[op].attrs.iter().filter(|t| t.slot == *slot) {
            if let Test::Capture(capture) = test.test {
                self.captures[capture].get_or_insert_with(|| attr.clone());
            }
        }
    }

    fn operands(&mut self, op: usize, def: &OpDef) -> Option<Values> {
        let pattern = self.pattern;
        let wanted = &pattern.ops[op].operands;
        let mut operands = Values::new();
        for (n, operand) in wanted.iter().enumerate() {
            match *operand {
                Operand::Rest(list) => {
                    let beside = self.beside(op, def, n);
                    operands.extend(self.list(list, beside.as_ref())?);
                }
                Operand::One(value) => {
                    if self.values[value].is_none() && !pattern.is_literal(value) {
                        let beside = self.beside(op, def, n);
                        let ty = self.fitting(op, def).filter(|_| n == 0);
                        let ty = ty.unwrap_or_else(|| {
                            let rank = self.wanted_rank(value);
                            self.param_type(def, n, beside.as_ref(), rank)
                        });
                        let constant =
                            pattern.conditions.iter().filter_map(Condition::wants_constant);
                        self.values[value] = Some(match constant.into_iter().any(|v| v == value) {
                            true => {
                                let shape = ty.known_shape()?;
                                let literal = Draw::default()
                                    .tensor(&mut self.random.0, ty.dtype, &shape, Range::Any)
                                    .ok()?;
                                let place = InsertPoint::End(self.f.body());
                                self.f.constant(&literal, place, Span::unknown())
                            }
                            false => self.param(&ty, &pattern.values[value].name)?,
                        });
                    }
                    operands.push(self.values[value].unwrap_or(ValueId::from_index(0)));
                }
            }
        }
        // Constants last: they take the type of what stands beside them.
        for (n, operand) in wanted.iter().enumerate() {
            if let Operand::One(value) = *operand
                && let Source::Literal(Literal::Number(number)) = pattern.values[value].from
            {
                let beside = self.beside(op, def, n).unwrap_or_else(|| self.base.clone());
                let dtype = match (def.name, n) {
                    ("select", 0) => DataType::Bool,
                    _ => beside.dtype,
                };
                operands[n] = self.number(number, &beside.with_dtype(dtype), def.elementwise)?;
            }
        }
        Some(operands)
    }

    // A constant, or a broadcast of one.
    fn number(&mut self, number: Number, ty: &TensorType, elementwise: bool) -> Option<ValueId> {
        let whole = ty.known_shape().filter(|_| elementwise && self.random.below(4) > 0);
        let literal = number.filled(ty.dtype, whole.as_deref().unwrap_or_default())?;
        let place = InsertPoint::End(self.f.body());
        let constant = self.f.constant(&literal, place, Span::unknown());
        if !elementwise || whole.is_some() {
            return Some(constant);
        }
        let mut parts = OpParts::new(BroadcastTo::key());
        parts.operands.push(constant);
        parts.attrs.push(Attr::Unit);
        parts.declared_types = vec![ValueType::Tensor(ty.clone())];
        let spec = self.f.resolve_parts(&parts).ok()?;
        let inst = self.f.insert(InsertPoint::End(self.f.body()), &spec).ok()?;
        self.f.value_of(inst)
    }

    // The type of an operand that is known already, which says what the others are. Only the branches of `select` speak
    // for each other, and they say nothing of the predicate's elements.
    fn beside(&self, op: usize, def: &OpDef, own: usize) -> Option<TensorType> {
        let wanted = self.pattern.ops[op].operands.iter().enumerate();
        let known = |o: &Operand| match *o {
            Operand::One(v) => self.values[v].filter(|_| !self.pattern.is_literal(v)),
            Operand::Rest(list) => self.lists[list].as_ref()?.first().copied(),
        };
        let all: Vec<(usize, TensorType)> = wanted
            .filter_map(|(n, o)| Some((n, self.f.value_type(known(o)?).as_tensor()?.clone())))
            .collect();
        if def.name != "select" {
            return all.into_iter().next().map(|(_, ty)| ty);
        }
        let branch = all.iter().find(|(n, _)| *n > 0).map(|(_, ty)| ty.clone());
        let predicate = all.iter().find(|(n, _)| *n == 0).map(|(_, ty)| ty);
        match own {
            0 => branch,
            _ => branch.or_else(|| Some(predicate?.with_dtype(self.base.dtype))),
        }
    }

    fn list(&mut self, list: usize, beside: Option<&TensorType>) -> Option<Values> {
        if let Some(known) = &self.lists[list] {
            return Some(known.clone());
        }
        let ty = beside.unwrap_or(&self.base).clone();
        let count = 1 + self.random.below(3);
        let values: Values =
            (0..count).map(|n| self.param(&ty, &format!("x{n}"))).collect::<Option<_>>()?;
        self.lists[list] = Some(values.clone());
        Some(values)
    }

    fn param(&mut self, ty: &TensorType, name: &str) -> Option<ValueId> {
        let own = ty.dims == self.base.dims;
        let extent = |(n, dim): (usize, &Dim)| match dim {
            Dim::Known(extent) => Some(*extent),
            // Dims of this name are those of the base.
            Dim::Named(_) => {
                let base = self.base.dims.iter().position(|d| d == dim)?;
                self.extents.get(base).copied()
            }
            Dim::Unknown => self.extents.get(n).copied().filter(|_| own),
        };
        self.shapes.push(ty.dims.iter().enumerate().map(extent).collect::<Option<_>>()?);
        let value = self.f.push_param(self.f.body(), &ValueType::Tensor(ty.clone()));
        self.f.set_hint(value, name);
        Some(value)
    }

    // The type of a value that anything may be: as its neighbour where that is needed, else random.
    fn param_type(
        &mut self,
        def: &OpDef,
        n: usize,
        beside: Option<&TensorType>,
        rank: Option<usize>,
    ) -> TensorType {
        let name = def.name;
        if name == "select" && n == 0 {
            return beside.unwrap_or(&self.base).with_dtype(DataType::Bool);
        }
        if let Some(beside) = beside {
            return match name {
                "pad" => TensorType::scalar(beside.dtype),
                "dot_general" => self.factor(beside, rank),
                _ => beside.clone(),
            };
        }
        if self.random.below(6) > 0 && rank.is_none_or(|rank| rank == self.base.rank()) {
            return self.base.clone();
        }
        let rank = rank.map_or_else(|| self.random.rank(), |rank| rank as u64);
        let dims: Vec<u64> = (0..rank).map(|_| self.random.extent(self.size)).collect();
        TensorType::new(self.base.dtype, dims)
    }

    // Something a matrix product can be taken with: some extent of it is one of the other's.
    fn factor(&mut self, other: &TensorType, rank: Option<usize>) -> TensorType {
        let rank = rank.unwrap_or_else(|| 1 + self.random.below(3) as usize).max(1);
        let mut dims: Vec<Dim> =
            (0..rank).map(|_| Dim::Known(self.random.extent(self.size))).collect();
        if let Some(&last) = other.dims.last() {
            dims[0] = last;
            // Batches, sometimes.
            if rank > 1 && self.random.below(4) == 0 {
                dims[0] = other.dims[0];
                dims[1] = last;
            }
        }
        TensorType { dtype: other.dtype, dims: dims.into_iter().collect() }
    }

    fn finish(mut self, root: usize) -> Option<Instance> {
        let first = self.values[*self.pattern.ops[root].results.first()?]?;
        let inst = self.f.inst_of(first)?;
        let results: Values = self.f.inst_results(inst).collect();
        let types: Vec<ValueType> = results.iter().map(|&v| self.f.value_type(v).clone()).collect();
        let mut parts = OpParts::new(Return::key());
        parts.operands = results;
        let spec = self.f.resolve_parts(&parts).ok()?;
        self.f.insert(InsertPoint::End(self.f.body()), &spec).ok()?;
        self.f.set_result_types(&types);
        sapwood_ptir::verify_function(&self.f).ok()?;
        Some(Instance { function: self.f, shapes: self.shapes })
    }
}
