//! Instances of the left side of a rule: random types, shapes and attributes that fit together.

use std::sync::Arc;

use sapwood_ptir::ops::Return;
use sapwood_ptir::{
    Attr, AttrKind, Dim, Function, Op, OpDef, OpParts, Place, Registry, TensorLiteral, TensorType,
    ValueId, ValueType, Values,
};
use sapwood_types::{DataType, Span};

use super::attrs::{random_attr, stated_type};
use super::numbers::random_literal;
use crate::graph::{AttrSlot, Literal, Operand, PatternGraph, Source, Test};
use crate::language::{Condition, Rule};

/// Random numbers, the same from the same seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `n`; zero if that is zero.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ x >> 31).checked_rem(n).unwrap_or(0)
    }
}

const DTYPES: [DataType; 10] = [
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
];

/// The left side as a function `@left`.
pub(super) struct Instance {
    pub(super) function: Function,
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
        let rank = random.below(4);
        let shape: Vec<u64> = (0..rank).map(|_| 1 + random.below(size)).collect();
        let dtype = DTYPES[random.below(DTYPES.len() as u64) as usize];
        let mut maker = Maker {
            pattern,
            registry,
            random,
            size,
            base: TensorType::new(dtype, shape),
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

struct Maker<'a> {
    pattern: &'a PatternGraph,
    registry: &'a Arc<Registry>,
    random: &'a mut Random,
    size: u64,
    base: TensorType,
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
            let mut ty = stated_type(
                self.random,
                def.name,
                &base,
                &parts.attrs,
                shape.flatten(),
                self.size,
            )?;
            ty.dtype = dtype.unwrap_or(base.dtype);
            parts.given = vec![ValueType::Tensor(ty)];
        }
        let spec = self.f.resolve(&parts).ok()?;
        let inst = self.f.insert(Place::End(self.f.body()), &spec).ok()?;
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
        // A type that is known already says what the others are.
        let known = wanted.iter().find_map(|o| match *o {
            Operand::One(v) => self.values[v].filter(|_| !pattern.is_literal(v)),
            Operand::Rest(_) => None,
        });
        let known = known.and_then(|v| self.f.value_type(v).as_tensor().cloned());
        let mut beside = known;
        let mut operands = Values::new();
        for (n, operand) in wanted.iter().enumerate() {
            match *operand {
                Operand::Rest(list) => operands.extend(self.list(list, beside.as_ref())?),
                Operand::One(value) => {
                    if self.values[value].is_none() && !pattern.is_literal(value) {
                        let ty = self.param_type(def, n, beside.as_ref());
                        let constant =
                            pattern.conditions.iter().filter_map(Condition::wants_constant);
                        self.values[value] = Some(match constant.into_iter().any(|v| v == value) {
                            true => {
                                let literal = random_literal(self.random, &ty, true)?;
                                let place = Place::End(self.f.body());
                                self.f.constant(&literal, place, Span::unknown())
                            }
                            false => self.param(&ty, &pattern.values[value].name),
                        });
                        beside.get_or_insert(ty);
                    }
                    operands.push(self.values[value].unwrap_or(ValueId::from_index(0)));
                }
            }
        }
        // Constants last: they take the type of what stands beside them.
        let beside = beside.unwrap_or_else(|| self.base.clone());
        for (n, operand) in wanted.iter().enumerate() {
            if let Operand::One(value) = *operand
                && let Source::Literal(Literal::Number(number)) = pattern.values[value].from
            {
                let shape = beside.known_shape().filter(|_| def.elementwise).unwrap_or_default();
                let literal = TensorLiteral::filled(beside.dtype, &shape, number).ok()?;
                let place = Place::End(self.f.body());
                operands[n] = self.f.constant(&literal, place, Span::unknown());
            }
        }
        Some(operands)
    }

    fn list(&mut self, list: usize, beside: Option<&TensorType>) -> Option<Values> {
        if let Some(known) = &self.lists[list] {
            return Some(known.clone());
        }
        let ty = beside.unwrap_or(&self.base).clone();
        let count = 1 + self.random.below(3);
        let values: Values = (0..count).map(|n| self.param(&ty, &format!("x{n}"))).collect();
        self.lists[list] = Some(values.clone());
        Some(values)
    }

    fn param(&mut self, ty: &TensorType, name: &str) -> ValueId {
        let value = self.f.push_param(self.f.body(), &ValueType::Tensor(ty.clone()));
        self.f.set_hint(value, name);
        value
    }

    // The type of a value that anything may be: as its neighbour where that is needed, else random.
    fn param_type(&mut self, def: &OpDef, n: usize, beside: Option<&TensorType>) -> TensorType {
        let name = def.name;
        if name == "select" && n == 0 {
            return beside.unwrap_or(&self.base).with_dtype(DataType::Bool);
        }
        if let Some(beside) = beside {
            return match name {
                "pad" => TensorType::scalar(beside.dtype),
                "dot_general" => self.factor(beside),
                _ if beside.dtype == DataType::Bool && name == "select" => {
                    beside.with_dtype(self.base.dtype)
                }
                _ => beside.clone(),
            };
        }
        if self.random.below(6) > 0 {
            return self.base.clone();
        }
        let rank = self.random.below(4);
        let dims: Vec<u64> = (0..rank).map(|_| 1 + self.random.below(self.size)).collect();
        TensorType::new(self.base.dtype, dims)
    }

    // Something a matrix product can be taken with: some extent of it is one of the other's.
    fn factor(&mut self, other: &TensorType) -> TensorType {
        let rank = 1 + self.random.below(2) as usize;
        let mut dims: Vec<Dim> =
            (0..rank).map(|_| Dim::Known(1 + self.random.below(self.size))).collect();
        if let Some(&last) = other.dims.last() {
            dims[0] = last;
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
        let spec = self.f.resolve(&parts).ok()?;
        self.f.insert(Place::End(self.f.body()), &spec).ok()?;
        self.f.set_result_types(&types);
        sapwood_ptir::verify_function(&self.f).ok()?;
        Some(Instance { function: self.f })
    }
}
