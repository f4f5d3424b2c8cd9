//! Random instances of the left side of a rule: types, shapes and attributes that fit together.

use std::collections::BTreeMap;
use std::sync::Arc;

use sapwood_check::{InputGenerator, InputRange};
use sapwood_ptir::ops::{BroadcastTo, Return};
use sapwood_ptir::{
    Attr, AttrKind, BodyId, Dim, Function, InsertPoint, InstId, Name, Op, OpDef, OpKey, OpParts,
    Registry, TensorType, ValueId, ValueType, Values,
};
use sapwood_types::{DataType, Rng, Span};

use super::attrs::{random_attr, random_result_type};
use super::convolution::ConvolutionLayout;
use super::regions::{OpenRegions, region_owners};
use crate::graph::{
    AttrCondition, AttrSlot, AxesOf, Literal, Number, OpIx, OtherOps, PatternGraph, PatternOp,
    PatternOperand, ValueSource, from_the_end,
};
use crate::language::{Condition, Rule};

/// A generator of random choices, determined by a seed.
pub(super) struct InstanceRng(Rng);

impl InstanceRng {
    pub(super) fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    /// Returns a number below `n`; zero if `n` is zero.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0.below(n as usize) as u64
    }

    /// Returns a seed for other random numbers.
    pub(super) fn seed(&mut self) -> u64 {
        self.0.bits()
    }

    /// Draws the extent of a dim, at most `size`; sometimes zero, once larger ones are drawn.
    pub(super) fn extent(&mut self, size: u64) -> u64 {
        if size > 1 && self.below(16) == 0 { 0 } else { 1 + self.below(size) }
    }

    // Draws a rank, mostly a small one.
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

/// An instance of a left side, as a function `@left`.
pub(super) struct RuleInstance {
    pub(super) function: Function,
    /// The extents that its parameters are run with.
    pub(super) shapes: Vec<Vec<u64>>,
}

impl RuleInstance {
    /// Returns a measure of size for comparing instances: instructions, elements, ranks, and unusual element types.
    pub(super) fn size(&self) -> u64 {
        // An empty tensor is harder to read than one element.
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

impl RuleInstance {
    /// Builds an instance whose extents are at most `size`; `None` if the random choices do not fit together.
    pub(super) fn new(
        rule: &Rule,
        registry: &Arc<Registry>,
        random: &mut InstanceRng,
        size: u64,
    ) -> Option<Self> {
        let pattern = &rule.pattern;
        let mut ranks = pattern.conditions.iter().filter_map(Condition::wants_rank);
        let rank = match ranks.next() {
            Some((_, rank)) if random.below(8) > 0 => rank.min(8) as u64,
            _ => random.rank(),
        };
        let mut shape: Vec<u64> = (0..rank).map(|_| random.extent(size)).collect();
        // Equal extents, with which axes that are confused still fit.
        if random.below(4) == 0 {
            let extent = shape.first().copied().unwrap_or_default();
            shape.fill(extent);
        }
        let fits = |dtype: &DataType| pattern.conditions.iter().all(|c| c.may_have(*dtype));
        let mut dtypes: Vec<DataType> = DTYPES.into_iter().filter(fits).collect();
        // Conditions on several values may require different ones.
        if dtypes.is_empty() || random.below(16) == 0 {
            dtypes = DTYPES.to_vec();
        }
        let dtype = dtypes[random.below(dtypes.len() as u64) as usize];
        let base = with_open_dims(random, &TensorType::new(dtype, shape.iter().copied()), size);
        let f = Function::new("left", registry.clone());
        let place = f.body();
        let mut builder = InstanceBuilder {
            pattern,
            registry,
            random,
            size,
            base,
            extents: shape,
            shapes: Vec::new(),
            f,
            values: vec![None; pattern.values.len()],
            captures: vec![None; pattern.captures.len()],
            lists: vec![None; pattern.lists.len()],
            branches: Vec::new(),
            place,
            owners: region_owners(pattern),
            regions: BTreeMap::new(),
        };
        builder.draw_branches();
        let other_outputs = rule.other_plans.iter().filter(|_| rule.several_outputs);
        let root = pattern.op_of(builder.drawn(pattern.outputs[0])).unwrap_or(rule.root);
        let roots: Vec<usize> =
            std::iter::once(root).chain(other_outputs.map(|(op, _)| *op)).collect();
        let needed = builder.needed_ops(&roots);
        for op in (0..pattern.ops.len()).filter(|&op| needed[op]) {
            builder.op(op)?;
        }
        builder.finish(&roots)
    }
}

// Returns whether an attribute names axes of a matrix product, of which those of both operands must fit together.
fn is_axis_of_dot(name: &str) -> bool {
    ["lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract"].contains(&name)
}

// Makes some dims named or unknown, once larger ones are drawn.
fn with_open_dims(random: &mut InstanceRng, ty: &TensorType, size: u64) -> TensorType {
    if size < 2 || random.below(8) > 0 {
        return ty.clone();
    }
    let open = |(n, dim): (usize, &Dim)| match random.below(3) {
        0 => Dim::symbol(Name::new(&format!("d{n}"))),
        1 => Dim::Unknown,
        _ => *dim,
    };
    TensorType { dtype: ty.dtype, dims: ty.dims.iter().enumerate().map(open).collect() }
}

/// A builder of an instance.
pub(super) struct InstanceBuilder<'a> {
    pub(super) pattern: &'a PatternGraph,
    pub(super) registry: &'a Arc<Registry>,
    random: &'a mut InstanceRng,
    size: u64,
    pub(super) base: TensorType,
    // The extents that the dims of the base have when run.
    extents: Vec<u64>,
    shapes: Vec<Vec<u64>>,
    pub(super) f: Function,
    pub(super) values: Vec<Option<ValueId>>,
    captures: Vec<Option<Attr>>,
    lists: Vec<Option<Values>>,
    // The alternatives that were drawn.
    branches: Vec<usize>,
    /// The body in which instructions are created.
    pub(super) place: BodyId,
    /// The op and the number of the region that each op is in.
    pub(super) owners: Vec<Option<(OpIx, usize)>>,
    /// The bodies of ops with regions, by op.
    pub(super) regions: BTreeMap<OpIx, OpenRegions>,
}

impl InstanceBuilder<'_> {
    // Draws a branch of each choice.
    fn draw_branches(&mut self) {
        let counts = self.pattern.choices.iter().map(|c| c.branches.len() as u64);
        self.branches = counts.map(|n| self.random.below(n) as usize).collect();
    }

    // Returns the ops that the drawn branches need.
    fn needed_ops(&self, roots: &[usize]) -> Vec<bool> {
        let pattern = self.pattern;
        let mut needed = vec![false; pattern.ops.len()];
        let mut open = roots.to_vec();
        while let Some(op) = open.pop() {
            if std::mem::replace(&mut needed[op], true) {
                continue;
            }
            let regions = pattern.ops[op].region_patterns.iter();
            let yields = regions.flat_map(|region| region.yields.iter().copied());
            for value in pattern.used_by_operands(&pattern.ops[op]).chain(yields) {
                if let ValueSource::Result(def) = pattern.values[self.drawn(value)].from {
                    open.push(def);
                }
            }
        }
        needed
    }

    /// Returns the value that stands for a choice.
    pub(super) fn drawn(&self, mut value: usize) -> usize {
        while let ValueSource::Choice(choice) = self.pattern.values[value].from {
            value = self.pattern.choices[choice].branches[self.branches[choice]];
        }
        value
    }

    // Draws one of the ops that an op of the pattern stands for.
    fn key_of(&mut self, op: usize) -> Option<OpKey> {
        let data = &self.pattern.ops[op];
        match &data.others {
            OtherOps::None => Some(data.key),
            OtherOps::These(keys) => match self.random.below(1 + keys.len() as u64) {
                0 => Some(data.key),
                n => Some(keys[n as usize - 1]),
            },
            OtherOps::All => {
                let count = data.operands.len();
                let fits = |def: &&OpDef| {
                    def.elementwise
                        && def.operands.len() == count
                        && def.attrs.iter().all(|a| a.default.is_some())
                        && def.evaluation().is_some()
                };
                let all: Vec<OpKey> = self.registry.defs().filter(fits).map(|d| d.key).collect();
                all.get(self.random.below(all.len() as u64) as usize).copied()
            }
        }
    }

    fn op(&mut self, op: usize) -> Option<()> {
        let pattern = self.pattern;
        let data = &pattern.ops[op];
        let key = self.key_of(op)?;
        let def = self.registry.get(key)?;
        if def.evaluation().is_none() && def.control.is_none() {
            return None;
        }
        self.enter_body_of(op)?;
        let mut parts = OpParts::new(key);
        parts.operands = match data.region_patterns.is_empty() {
            true => self.operands(op, def)?,
            false => {
                self.open_regions(op)?;
                self.regions.get(&op)?.operands.clone()
            }
        };
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
            let named = AttrSlot::Entry(Name::new(row.name));
            let written = self.required_attr(op, &AttrSlot::Row(n), &types);
            let written = written.or_else(|| self.required_attr(op, &named, &types));
            let attr = match written.or_else(|| self.carried_attr(op, row.name)) {
                Some(attr) => attr,
                None if row.default.is_some()
                    && !is_axis_of_dot(row.name)
                    && self.random.below(3) > 0 =>
                {
                    row.default.clone()?
                }
                None => random_attr(self.random, def, row, &types, &parts.attrs)?,
            };
            self.bind_captures(op, &AttrSlot::Row(n), &attr);
            parts.attrs.push(attr);
        }
        if def.attrs.iter().any(|a| a.kind == AttrKind::ResultType) {
            let shape = self.required_attr(op, &AttrSlot::Shape, &types);
            let dtype = match self.required_attr(op, &AttrSlot::Dtype, &types) {
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
            let type_of_other_operand =
                self.type_of_other_operand(op).filter(|_| shape.is_none() && def.name != "cast");
            let mut ty = match type_of_other_operand.filter(|_| self.random.below(4) > 0) {
                Some(type_of_other_operand) => type_of_other_operand,
                None => {
                    let attrs = &parts.attrs;
                    random_result_type(self.random, def.name, &base, attrs, shape, self.size)?
                }
            };
            ty.dtype = dtype.unwrap_or(base.dtype);
            parts.result_types.push(ty.into());
        }
        self.close_regions(op, &mut parts)?;
        let inst = self.append(&parts)?;
        let others =
            data.attrs.iter().map(|a| &a.slot).filter(|s| matches!(s, AttrSlot::Others(_)));
        for slot in [AttrSlot::Shape, AttrSlot::Dtype].iter().chain(others) {
            if let Some(attr) = crate::matcher::attr_at(&self.f, inst, slot) {
                self.bind_captures(op, slot, &attr);
            }
        }
        for (n, &value) in data.results.iter().enumerate() {
            self.values[value] = Some(self.f.result(inst, n)?);
        }
        Some(())
    }

    // Returns the type of the other operand of an elementwise op that uses the result of this op, if that type is known already.
    fn type_of_other_operand(&self, op: usize) -> Option<TensorType> {
        let own = PatternOperand::One(*self.pattern.ops[op].results.first()?);
        let neighbour_type = |user: &PatternOp| {
            let elementwise = self.registry.get(user.key).is_some_and(|d| d.elementwise);
            let others = user.operands.iter().filter(|&&o| elementwise && o != own);
            let known = |o: &PatternOperand| match *o {
                PatternOperand::One(v) => {
                    let v = self.drawn(v);
                    self.values[v].filter(|_| !self.pattern.is_literal(v))
                }
                PatternOperand::Rest(_) => None,
            };
            self.f.value_type(others.into_iter().find_map(known)?).as_tensor().cloned()
        };
        self.pattern.ops.iter().filter(|user| user.operands.contains(&own)).find_map(neighbour_type)
    }

    // Returns the type that the operand of a broadcast needs so that the result fits the other operand of its user.
    fn broadcast_operand_type(&mut self, op: usize, def: &OpDef) -> Option<TensorType> {
        if def.name != "broadcast_in_dim" || self.random.below(4) == 0 {
            return None;
        }
        let type_of_other_operand = self.type_of_other_operand(op)?;
        let row = def.attrs.iter().position(|a| a.name == "dims")?;
        let dims = self.required_attr(op, &AttrSlot::Row(row), &[])?;
        let own = |&d: &i64| type_of_other_operand.dims.get(usize::try_from(d).ok()?).copied();
        let dims = dims.as_ints()?.iter().map(own).collect::<Option<_>>()?;
        Some(TensorType { dtype: type_of_other_operand.dtype, dims })
    }

    fn required_rank(&self, value: usize) -> Option<usize> {
        let mut ranks = self.pattern.conditions.iter().filter_map(Condition::wants_rank);
        ranks.find(|(v, _)| *v == value).map(|(_, rank)| rank.min(8))
    }

    // Returns the value that the pattern requires for an attribute, written or captured before.
    fn required_attr(&self, op: usize, slot: &AttrSlot, operands: &[TensorType]) -> Option<Attr> {
        let test = self.pattern.ops[op].attrs.iter().find(|t| t.slot == *slot)?;
        match &test.test {
            AttrCondition::Is(attr) => Some(attr.clone()),
            AttrCondition::Axes(of, axes) => {
                let operand = match of {
                    AxesOf::Operand(n) => operands.get(*n)?,
                    // Of the same rank in convolutions; a broadcast is rejected unless its result has this rank, too.
                    AxesOf::Result => operands.first()?,
                };
                Some(from_the_end(axes, operand.rank()))
            }
            AttrCondition::Capture(capture) => self.captures[*capture].clone(),
        }
    }

    // Returns an attribute that the pattern does not name, if all such attributes are those of an op before.
    fn carried_attr(&self, op: usize, name: &str) -> Option<Attr> {
        let name = Name::new(name);
        let mut tests = self.pattern.ops[op].attrs.iter();
        let captured = tests.find_map(|test| match (&test.slot, &test.test) {
            (AttrSlot::Others(named), AttrCondition::Capture(capture))
                if !named.contains(&name) =>
            {
                self.captures[*capture].as_ref()
            }
            _ => None,
        });
        let Attr::Dict(entries) = captured? else { return None };
        entries.iter().find(|(own, _)| *own == name).map(|(_, attr)| attr.clone())
    }

    // Returns a type for an operand of a convolution that fits the other operand.
    fn convolution_operand_type(&mut self, op: usize, def: &OpDef, n: usize) -> Option<TensorType> {
        if def.name != "convolution" {
            return None;
        }
        let other = self.neighbour_type(op, def, n)?;
        let layout = ConvolutionLayout::new(other.rank(), |name| {
            let row = def.attrs.iter().position(|a| a.name == name)?;
            let types = [other.clone(), other.clone()];
            self.required_attr(op, &AttrSlot::Row(row), &types)
                .or_else(|| self.carried_attr(op, name))
        });
        if n == 0 {
            return layout.input(self.random, &other, &self.base, self.size);
        }
        let key = self.pattern.ops[op].key;
        let mut kernels =
            self.pattern.ops.iter().filter(|data| data.key == key).filter_map(|data| {
                let &PatternOperand::One(kernel) = data.operands.get(1)? else { return None };
                self.f.value_type(self.values[self.drawn(kernel)]?).as_tensor().cloned()
            });
        let similar = kernels.next();
        drop(kernels);
        layout.kernel(self.random, &other, similar.as_ref(), self.size)
    }

    fn bind_captures(&mut self, op: usize, slot: &AttrSlot, attr: &Attr) {
        for test in self.pattern.ops[op].attrs.iter().filter(|t| t.slot == *slot) {
            if let AttrCondition::Capture(capture) = test.test {
                self.captures[capture].get_or_insert_with(|| attr.clone());
            }
        }
    }

    /// Draws the operands of an op.
    pub(super) fn operands(&mut self, op: usize, def: &OpDef) -> Option<Values> {
        let pattern = self.pattern;
        let required_attr = &pattern.ops[op].operands;
        let mut operands = Values::new();
        for (n, operand) in required_attr.iter().enumerate() {
            match *operand {
                PatternOperand::Rest(list) => {
                    let neighbour_type = self.neighbour_type(op, def, n);
                    operands.extend(self.list(list, neighbour_type.as_ref())?);
                }
                PatternOperand::One(value) => {
                    let value = self.drawn(value);
                    if self.values[value].is_none() && !pattern.is_literal(value) {
                        let neighbour_type = self.neighbour_type(op, def, n);
                        let ty = self.broadcast_operand_type(op, def).filter(|_| n == 0);
                        let ty = ty.or_else(|| self.convolution_operand_type(op, def, n));
                        let ty = ty.unwrap_or_else(|| {
                            let rank = self.required_rank(value);
                            self.param_type(def, n, neighbour_type.as_ref(), rank)
                        });
                        let constant =
                            pattern.conditions.iter().filter_map(Condition::wants_constant);
                        self.values[value] = Some(match constant.into_iter().any(|v| v == value) {
                            true => {
                                let shape = ty.known_shape()?;
                                let literal = InputGenerator::default()
                                    .tensor(&mut self.random.0, ty.dtype, &shape, InputRange::Any)
                                    .ok()?;
                                let place = InsertPoint::End(self.place);
                                self.f.constant(&literal, place, Span::unknown())
                            }
                            false => self.param(&ty, &pattern.values[value].name)?,
                        });
                    }
                    operands.push(self.values[value].unwrap_or(ValueId::from_index(0)));
                }
            }
        }
        // Constants come last: they take the type of the operands next to them.
        for (n, operand) in required_attr.iter().enumerate() {
            if let PatternOperand::One(value) = *operand
                && let Some(number) = self.number_of(self.drawn(value))
            {
                let neighbour_type =
                    self.neighbour_type(op, def, n).unwrap_or_else(|| self.base.clone());
                let dtype = match (def.name, n) {
                    ("select", 0) => DataType::Bool,
                    _ => neighbour_type.dtype,
                };
                operands[n] =
                    self.number(number, &neighbour_type.with_dtype(dtype), def.elementwise)?;
            }
        }
        Some(operands)
    }

    /// Returns the number that a value of the pattern is; for any constant, one that a condition names or a random one.
    pub(super) fn number_of(&mut self, value: usize) -> Option<Number> {
        match self.pattern.values[value].from {
            ValueSource::Literal(Literal::Number(number)) => Some(number),
            ValueSource::Literal(Literal::Any) => {
                let mut wanted =
                    self.pattern.conditions.iter().filter_map(|c| c.wants_number(value));
                match (wanted.next(), self.random.below(8)) {
                    (Some(number), 2..) => Some(number),
                    // Beyond a bound: `low < -1e30`.
                    (Some(number), 1) => {
                        let x = number.as_float();
                        let all = [2.0 * x, x / 2.0, f64::INFINITY, f64::NEG_INFINITY];
                        Some(Number::Float(all[self.random.below(4) as usize]))
                    }
                    _ => Some(Number::Int(i128::from(self.random.below(4)))),
                }
            }
            _ => None,
        }
    }

    /// Inserts a constant, or a broadcast of one.
    pub(super) fn number(
        &mut self,
        number: Number,
        ty: &TensorType,
        elementwise: bool,
    ) -> Option<ValueId> {
        let whole = ty.known_shape().filter(|_| elementwise && self.random.below(4) > 0);
        let literal = number.filled(ty.dtype, whole.as_deref().unwrap_or_default())?;
        let place = InsertPoint::End(self.place);
        let constant = self.f.constant(&literal, place, Span::unknown());
        if !elementwise || whole.is_some() {
            return Some(constant);
        }
        let mut parts = OpParts::new(BroadcastTo::key());
        parts.operands.push(constant);
        parts.attrs.push(Attr::Unit);
        parts.result_types.push(ty.clone().into());
        let inst = self.append(&parts)?;
        self.f.value_of(inst)
    }

    /// Appends an instruction, if its parts fit together.
    pub(super) fn append(&mut self, parts: &OpParts) -> Option<InstId> {
        let parts = self.f.resolve_parts(parts).ok()?;
        self.f.insert(InsertPoint::End(self.place), &parts, Span::unknown()).ok()
    }

    // Returns the type of an operand that is known already and determines the others. In `select` the two branches determine each
    // other, and the predicate only their shape.
    fn neighbour_type(&self, op: usize, def: &OpDef, own: usize) -> Option<TensorType> {
        let required_attr = self.pattern.ops[op].operands.iter().enumerate();
        let known = |o: &PatternOperand| match *o {
            PatternOperand::One(v) => {
                let v = self.drawn(v);
                self.values[v].filter(|_| !self.pattern.is_literal(v))
            }
            PatternOperand::Rest(list) => self.lists[list].as_ref()?.first().copied(),
        };
        let all: Vec<(usize, TensorType)> = required_attr
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

    fn list(&mut self, list: usize, neighbour_type: Option<&TensorType>) -> Option<Values> {
        if let Some(known) = &self.lists[list] {
            return Some(known.clone());
        }
        let ty = neighbour_type.unwrap_or(&self.base).clone();
        let count = 1 + self.random.below(3);
        let values: Values =
            (0..count).map(|n| self.param(&ty, &format!("x{n}"))).collect::<Option<_>>()?;
        self.lists[list] = Some(values.clone());
        Some(values)
    }

    /// Adds a parameter.
    pub(super) fn param(&mut self, ty: &TensorType, name: &str) -> Option<ValueId> {
        let own = ty.dims == self.base.dims;
        let extent = |(n, dim): (usize, &Dim)| match dim {
            Dim::Known(extent) => Some(*extent),
            // Symbols are dims of the base.
            Dim::Expr(_) => dim.evaluate(&|name| {
                let base = self.base.dims.iter().position(|d| d.as_symbol() == Some(name))?;
                self.extents.get(base).copied()
            }),
            Dim::Unknown => self.extents.get(n).copied().filter(|_| own),
        };
        self.shapes.push(ty.dims.iter().enumerate().map(extent).collect::<Option<_>>()?);
        let value = self.f.push_param(self.f.body(), &ValueType::Tensor(ty.clone()));
        self.f.set_hint(value, name);
        Some(value)
    }

    // Draws the type of an unconstrained value: that of its neighbour where the op requires it, else a random one.
    fn param_type(
        &mut self,
        def: &OpDef,
        n: usize,
        neighbour_type: Option<&TensorType>,
        rank: Option<usize>,
    ) -> TensorType {
        let name = def.name;
        if name == "select" && n == 0 {
            return neighbour_type.unwrap_or(&self.base).with_dtype(DataType::Bool);
        }
        match name {
            "cond" => return TensorType::scalar(DataType::Bool),
            "while" if self.random.below(4) > 0 => return TensorType::scalar(self.base.dtype),
            _ => {}
        }
        if let Some(neighbour_type) = neighbour_type {
            return match name {
                "pad" | "reduce" | "reduce_window" => TensorType::scalar(neighbour_type.dtype),
                "dot_general" => self.dot_operand_type(neighbour_type, rank),
                _ => neighbour_type.clone(),
            };
        }
        if self.random.below(6) > 0 && rank.is_none_or(|rank| rank == self.base.rank()) {
            return self.base.clone();
        }
        let rank = rank.map_or_else(|| self.random.rank(), |rank| rank as u64);
        let dims: Vec<u64> = (0..rank).map(|_| self.random.extent(self.size)).collect();
        TensorType::new(self.base.dtype, dims)
    }

    // Draws a type that a matrix product with `other` accepts: at least one of its extents is one of the other's.
    fn dot_operand_type(&mut self, other: &TensorType, rank: Option<usize>) -> TensorType {
        let rank = rank.unwrap_or_else(|| 1 + self.random.below(3) as usize).max(1);
        let mut dims: Vec<Dim> =
            (0..rank).map(|_| Dim::Known(self.random.extent(self.size))).collect();
        if self.random.below(3) == 0 && !other.dims.is_empty() {
            for dim in &mut dims {
                *dim = other.dims[self.random.below(other.rank() as u64) as usize];
            }
        } else if let Some(&last) = other.dims.last() {
            dims[0] = last;
            // Sometimes with a batch dim.
            if rank > 1 && self.random.below(4) == 0 {
                dims[0] = other.dims[0];
                dims[1] = last;
            }
        }
        TensorType { dtype: other.dtype, dims: dims.into_iter().collect() }
    }

    fn finish(mut self, roots: &[usize]) -> Option<RuleInstance> {
        let mut results = Values::new();
        for &root in roots {
            let first = self.values[*self.pattern.ops[root].results.first()?]?;
            results.extend(self.f.inst_results(self.f.inst_of(first)?));
        }
        let types: Vec<ValueType> = results.iter().map(|&v| self.f.value_type(v).clone()).collect();
        let mut parts = OpParts::new(Return::key());
        parts.operands = results;
        self.place = self.f.body();
        self.append(&parts)?;
        self.f.set_result_types(&types);
        sapwood_ptir::verify_function(&self.f).ok()?;
        Some(RuleInstance { function: self.f, shapes: self.shapes })
    }
}
