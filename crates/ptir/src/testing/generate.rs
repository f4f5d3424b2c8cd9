//! Random well-typed programs: every op, regions, captures, named dims.

use std::sync::Arc;

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::literals::{random_attr, random_literal};
use crate::attr::Attr;
use crate::func::{Function, Place};
use crate::ids::{BodyId, ValueId};
use crate::name::Name;
use crate::op::{Op, OpKey, OpParts, Registry};
use crate::program::Program;
use crate::types::{Dim, Dims, TensorType, ValueType};
use sapwood_types::Rng;

/// What a random program is like.
#[derive(Clone, Debug)]
pub struct Config {
    /// How many functions.
    pub functions: usize,
    /// How many instructions each function aims at.
    pub insts: usize,
    /// Only these ops, if any are named, each as often as it is named. Others still appear where one is needed for an
    /// operand.
    pub only: Vec<&'static str>,
    /// Whether each function returns all that nothing uses.
    pub return_unused: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { functions: 2, insts: 24, only: Vec::new(), return_unused: false }
    }
}

/// A random program that verifies: the same one for the same seed.
#[must_use]
pub fn random_program(seed: u64, config: &Config) -> Program {
    random_program_by(&mut Rng::new(seed), config, Program::new(Registry::builtin()))
}

/// A program with random functions more, which may call those that are there. Their names are `f0` and so on; if one has
/// such a name, it stays the only one of that name.
#[must_use]
pub fn random_program_by(rng: &mut Rng, config: &Config, mut program: Program) -> Program {
    let registry = program.registry().clone();
    let names: Vec<&'static str> = if config.only.is_empty() {
        registry.defs().filter(|d| !d.terminator).map(|d| d.name).chain(["demo.thing"]).collect()
    } else {
        config.only.clone()
    };
    for n in 0..config.functions {
        let function = Generator::new(rng, &format!("f{n}"), &registry, &program, &names)
            .function(config.insts, config.return_unused);
        let _ = program.add(function);
    }
    program
}

pub(super) struct Generator<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) f: Function,
    pub(super) program: &'a Program,
    names: &'a [&'static str],
    // The values that may be used, per open body.
    scopes: Vec<(BodyId, Vec<ValueId>)>,
    pub(super) depth: usize,
}

pub(super) const NUMBERS: &[DataType] = &[
    DataType::F32,
    DataType::I32,
    DataType::F64,
    DataType::Bf16,
    DataType::F16,
    DataType::C64,
    DataType::C128,
    DataType::I64,
    DataType::U8,
    DataType::U64,
    DataType::I4,
    DataType::U4,
    DataType::F8E4M3Fn,
    DataType::F8E5M2,
    DataType::Index,
    DataType::I8,
    DataType::I16,
    DataType::U16,
    DataType::U32,
];

impl<'a> Generator<'a> {
    fn new(
        rng: &'a mut Rng,
        name: &str,
        registry: &Arc<Registry>,
        program: &'a Program,
        names: &'a [&'static str],
    ) -> Self {
        let f = Function::new(name, registry.clone());
        let scopes = vec![(f.body(), Vec::new())];
        Self { rng, f, program, names, scopes, depth: 0 }
    }

    fn function(mut self, insts: usize, return_unused: bool) -> Function {
        for _ in 0..1 + self.rng.below(3) {
            let ty = self.tensor_type();
            self.param(&ty.into());
        }
        let mut tries = 0;
        while self.f.num_insts() < insts && tries < insts * 4 {
            tries += 1;
            self.any_op();
        }
        let values = self.visible();
        let mut results: SmallVec<[ValueId; 4]> =
            (0..self.rng.below(4)).filter_map(|_| self.rng.pick(&values)).collect();
        if return_unused {
            results.extend(values.iter().copied().filter(|&v| self.f.unused(v)));
        }
        let types: Vec<ValueType> = results.iter().map(|&v| self.f.value_type(v).clone()).collect();
        let mut parts = OpParts::new(crate::ops::Return::key());
        parts.operands = results;
        self.emit(&parts);
        self.f.set_result_types(&types);
        self.f
    }

    pub(super) fn any_op(&mut self) {
        if let Some(name) = self.rng.pick(self.names) {
            self.op(name);
        }
    }

    /// Tries to add an instruction of this op. Operands are made as needed.
    pub(super) fn op(&mut self, name: &'static str) -> Option<()> {
        let parts = if name == "demo.thing" { self.unregistered() } else { self.parts(name)? };
        self.emit(&parts).map(|_| ())
    }

    fn unregistered(&mut self) -> OpParts {
        let mut parts = OpParts::new(OpKey::of("demo.thing"));
        let entries = (0..self.rng.below(4))
            .map(|i| (Name::new(["k", "pure", "m n", "z"][i]), random_attr(self.rng, 0)));
        parts.attrs.push(Attr::dict(entries.collect()));
        let values = self.visible();
        parts.operands = (0..self.rng.below(3)).filter_map(|_| self.rng.pick(&values)).collect();
        parts.given = (0..self.rng.below(3)).map(|_| ValueType::from(self.tensor_type())).collect();
        if self.depth < 3 && self.rng.one_in(4) {
            let ty = self.tensor_type();
            let body = self
                .region(&[ty.into()], |g, args| vec![args[0], g.rng.pick(args).unwrap_or(args[0])]);
            parts.regions.extend(body);
        }
        parts
    }

    /// Adds an instruction if it fits.
    pub(super) fn emit(&mut self, parts: &OpParts) -> Option<SmallVec<[ValueId; 2]>> {
        let (body, _) = *self.scopes.last().map(|(b, v)| (*b, v.len())).as_ref()?;
        let inserted =
            self.f.resolve(parts).ok().and_then(|spec| self.f.insert(Place::End(body), &spec).ok());
        let Some(inst) = inserted else {
            for &region in &parts.regions {
                if self.f.body_owner(region).is_none() {
                    let _ = self.f.drop_body(region);
                }
            }
            return None;
        };
        let results: SmallVec<[ValueId; 2]> = self.f.inst_results(inst).collect();
        for &value in &results {
            if self.rng.one_in(2) {
                let name = ["x", "y", "long_name", "a.b", "0z", "x_1"][self.rng.below(6)];
                self.f.set_hint(value, name);
            }
        }
        if let Some((_, values)) = self.scopes.last_mut() {
            values.extend(results.iter().copied());
        }
        Some(results)
    }

    /// All values that may be used here.
    pub(super) fn visible(&self) -> Vec<ValueId> {
        self.scopes.iter().flat_map(|(_, values)| values.iter().copied()).collect()
    }

    fn param(&mut self, ty: &ValueType) -> ValueId {
        let value = self.f.push_param(self.f.body(), ty);
        if self.rng.one_in(2) {
            self.f.set_hint(value, ["p", "x", "q"][self.rng.below(3)]);
        }
        self.scopes[0].1.push(value);
        value
    }

    /// A value of exactly this type: one that is there, a constant, or a new parameter of the function.
    pub(super) fn value(&mut self, ty: &ValueType) -> ValueId {
        let fitting: Vec<ValueId> =
            self.visible().into_iter().filter(|&v| self.f.value_type(v) == ty).collect();
        if !self.rng.one_in(4)
            && let Some(value) = self.rng.pick(&fitting)
        {
            return value;
        }
        if !self.rng.one_in(3)
            && let Some(tensor) = ty.as_tensor()
            && let Some(literal) = random_literal(self.rng, tensor)
        {
            if self.rng.one_in(2) {
                let here = Place::End(self.scopes.last().map_or(self.f.body(), |(body, _)| *body));
                return self.f.constant(&literal, here, sapwood_types::Span::unknown());
            }
            let mut parts = OpParts::new(crate::ops::Constant::key());
            parts.attrs.push(Attr::Literal(literal));
            if let Some(results) = self.emit(&parts) {
                return results[0];
            }
        }
        self.param(ty)
    }

    /// A value that is a tensor of some type.
    pub(super) fn tensor(&mut self, ty: TensorType) -> ValueId {
        self.value(&ty.into())
    }

    /// A scalar of an element type.
    pub(super) fn scalar(&mut self, dtype: DataType) -> ValueId {
        self.tensor(TensorType::scalar(dtype))
    }

    /// A region over these parameters; `build` gives what it yields. Inside, values from outside may be used.
    pub(super) fn region(
        &mut self,
        params: &[ValueType],
        build: impl FnOnce(&mut Self, &[ValueId]) -> Vec<ValueId>,
    ) -> Option<BodyId> {
        let body = self.f.new_body(params);
        let args = self.f.body_params(body).to_vec();
        self.scopes.push((body, args.clone()));
        self.depth += 1;
        let yielded = build(self, &args);
        let mut parts = OpParts::new(crate::ops::Yield::key());
        parts.operands.extend(yielded);
        let done = self.emit(&parts);
        self.depth -= 1;
        self.scopes.pop();
        if done.is_none() {
            let _ = self.f.drop_body(body);
            return None;
        }
        Some(body)
    }

    pub(super) fn dtype(&mut self) -> DataType {
        if self.rng.one_in(8) { DataType::Bool } else { NUMBERS[self.rng.below(NUMBERS.len())] }
    }

    /// Dims with names and unknowns among them.
    pub(super) fn dims(&mut self) -> Dims {
        let rank = self.rng.below(4);
        let dim = |rng: &mut Rng| match rng.below(12) {
            0 => Dim::Named(Name::new("N")),
            1 => Dim::Named(Name::new("M")),
            2 => Dim::Unknown,
            3 => Dim::Known(0),
            n => Dim::Known(n as u64 % 4 + 1),
        };
        (0..rank).map(|_| dim(self.rng)).collect()
    }

    /// Known dims of at least this rank.
    pub(super) fn known_dims(&mut self, least: usize) -> Vec<u64> {
        let rank = least + self.rng.below(3);
        (0..rank).map(|_| self.rng.below(4) as u64 + 1).collect()
    }

    pub(super) fn tensor_type(&mut self) -> TensorType {
        TensorType { dtype: self.dtype(), dims: self.dims() }
    }

    pub(super) fn known_type(&mut self, least: usize) -> TensorType {
        let dims = self.known_dims(least);
        TensorType::new(self.dtype(), dims)
    }
}
