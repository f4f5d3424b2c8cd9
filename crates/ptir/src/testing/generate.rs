//! Random well-typed programs: every op, regions, captures, named dims.

use std::sync::Arc;

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::literals::{random_attr, random_literal};
use crate::attr::Attr;
use crate::func::{Function, InsertPoint};
use crate::ids::{BodyId, ValueId};
use crate::name::Name;
use crate::op::{Op, OpKey, OpParts, Registry};
use crate::program::Program;
use crate::types::{Dim, Dims, TensorType, ValueType};
use sapwood_types::{Rng, Span};

/// The parameters of random programs.
#[derive(Clone, Debug)]
pub struct RandomProgramConfig {
    /// The number of functions.
    pub functions: usize,
    /// The approximate number of instructions of each function.
    pub insts: usize,
    /// The ops to use, each as often as it is listed; all ops if empty. Other ops still appear where an operand needs
    /// one.
    pub only: Vec<&'static str>,
    /// True if each function returns all unused values.
    pub return_unused: bool,
}

impl Default for RandomProgramConfig {
    fn default() -> Self {
        Self { functions: 2, insts: 24, only: Vec::new(), return_unused: false }
    }
}

/// Generates a random program that verifies. The same seed gives the same program.
#[must_use]
pub fn random_program(seed: u64, config: &RandomProgramConfig) -> Program {
    add_random_functions(&mut Rng::new(seed), config, Program::new(Registry::builtin()))
}

/// Generates random functions that verify and may call another one, one for each seed below `count`, with random numbers for edits of it.
pub fn random_functions(count: u32) -> impl Iterator<Item = (u64, Function, Rng)> {
    (0..u64::from(count)).map(|seed| {
        let program = random_program(seed, &RandomProgramConfig::default());
        (seed, (*program.functions()[1]).clone(), Rng::new(seed))
    })
}

/// Adds random functions to a program, which may call the existing ones. Their names are `f0` and so on; a function
/// whose name is taken is not added.
#[must_use]
pub fn add_random_functions(
    rng: &mut Rng,
    config: &RandomProgramConfig,
    mut program: Program,
) -> Program {
    let registry = program.registry().clone();
    let names: Vec<&'static str> = if config.only.is_empty() {
        registry.defs().filter(|d| !d.terminator).map(|d| d.name).chain(["demo.thing"]).collect()
    } else {
        config.only.clone()
    };
    for n in 0..config.functions {
        let function = ProgramGenerator::new(rng, &format!("f{n}"), &registry, &program, &names)
            .function(config.insts, config.return_unused);
        let _ = program.add(function);
    }
    program
}

pub(super) struct ProgramGenerator<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) f: Function,
    pub(super) program: &'a Program,
    names: &'a [&'static str],
    // The values that may be used, per open body.
    pub(super) scopes: Vec<(BodyId, Vec<ValueId>)>,
    pub(super) depth: usize,
}

pub(super) const NUMERIC_DTYPES: &[DataType] = &[
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

impl<'a> ProgramGenerator<'a> {
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
            let ty = self.random_tensor_type();
            self.add_param(&ty.into());
        }
        let mut tries = 0;
        while self.f.num_insts() < insts && tries < insts * 4 {
            tries += 1;
            self.emit_random_op();
        }
        self.bind_symbols();
        let values = self.visible_values();
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

    // Adds parameters for symbols that several regions have: without a parameter, a symbol exists only in one body.
    fn bind_symbols(&mut self) {
        let mut problems = sapwood_types::Diagnostics::new();
        crate::symbol_scope::check_symbol_scopes(&self.f, &mut problems);
        if problems.is_empty() {
            return;
        }
        for name in ["N", "M", "B"] {
            let dims = Dims::from_slice(&[Dim::symbol(Name::new(name))]);
            self.add_param(&TensorType { dtype: DataType::F32, dims }.into());
        }
    }

    pub(super) fn emit_random_op(&mut self) {
        if let Some(name) = self.rng.pick(self.names) {
            self.emit_op(name);
        }
    }

    /// Tries to add an instruction of this op; operands are generated as needed.
    pub(super) fn emit_op(&mut self, name: &'static str) -> Option<()> {
        let parts =
            if name == "demo.thing" { self.unregistered_parts() } else { self.random_parts(name)? };
        self.emit(&parts).map(|_| ())
    }

    fn unregistered_parts(&mut self) -> OpParts {
        let mut parts = OpParts::new(OpKey::of("demo.thing"));
        let entries = (0..self.rng.below(4))
            .map(|i| (Name::new(["k", "pure", "m n", "z"][i]), random_attr(self.rng, 0)));
        parts.attrs.push(Attr::dict(entries.collect()));
        let values = self.visible_values();
        parts.operands = (0..self.rng.below(3)).filter_map(|_| self.rng.pick(&values)).collect();
        parts.result_types =
            (0..self.rng.below(3)).map(|_| ValueType::from(self.random_tensor_type())).collect();
        if self.depth < 3 && self.rng.one_in(4) {
            let ty = self.random_tensor_type();
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
            self.f.resolve_parts(parts).ok().and_then(|parts| {
                self.f.insert(InsertPoint::End(body), &parts, Span::unknown()).ok()
            });
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

    /// Returns all values that may be used at the current place.
    pub(super) fn visible_values(&self) -> Vec<ValueId> {
        self.scopes.iter().flat_map(|(_, values)| values.iter().copied()).collect()
    }

    pub(super) fn add_param(&mut self, ty: &ValueType) -> ValueId {
        let value = self.f.push_param(self.f.body(), ty);
        if self.rng.one_in(2) {
            self.f.set_hint(value, ["p", "x", "q"][self.rng.below(3)]);
        }
        self.scopes[0].1.push(value);
        value
    }

    /// Returns a value of exactly this type: an existing one, a constant, or a new parameter of the function.
    pub(super) fn value(&mut self, ty: &ValueType) -> ValueId {
        let fitting: Vec<ValueId> =
            self.visible_values().into_iter().filter(|&v| self.f.value_type(v) == ty).collect();
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
                let here =
                    InsertPoint::End(self.scopes.last().map_or(self.f.body(), |(body, _)| *body));
                return self.f.constant(&literal, here, Span::unknown());
            }
            let mut parts = OpParts::new(crate::ops::Constant::key());
            parts.attrs.push(Attr::Literal(literal));
            if let Some(results) = self.emit(&parts) {
                return results[0];
            }
        }
        self.add_param(ty)
    }

    /// Returns a value of a tensor type.
    pub(super) fn tensor(&mut self, ty: TensorType) -> ValueId {
        self.value(&ty.into())
    }

    /// Returns a scalar of an element type.
    pub(super) fn scalar(&mut self, dtype: DataType) -> ValueId {
        self.tensor(TensorType::scalar(dtype))
    }

    /// Builds a region with these parameters; `build` returns the values to yield and may use values from outside.
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

    pub(super) fn random_dtype(&mut self) -> DataType {
        if self.rng.one_in(8) {
            DataType::Bool
        } else {
            NUMERIC_DTYPES[self.rng.below(NUMERIC_DTYPES.len())]
        }
    }

    /// Returns random dims, some of them named or unknown.
    pub(super) fn random_dims(&mut self) -> Dims {
        let rank = self.rng.below(4);
        let dim = |rng: &mut Rng| match rng.below(12) {
            0 => Dim::symbol(Name::new("N")),
            1 => Dim::symbol(Name::new("M")),
            2 => Dim::Unknown,
            3 => Dim::Known(0),
            n => Dim::Known(n as u64 % 4 + 1),
        };
        (0..rank).map(|_| dim(self.rng)).collect()
    }

    /// Returns random known dims of at least this rank.
    pub(super) fn random_known_dims(&mut self, least: usize) -> Vec<u64> {
        let rank = least + self.rng.below(3);
        (0..rank).map(|_| self.rng.below(4) as u64 + 1).collect()
    }

    pub(super) fn random_tensor_type(&mut self) -> TensorType {
        TensorType { dtype: self.random_dtype(), dims: self.random_dims() }
    }

    pub(super) fn random_known_type(&mut self, least: usize) -> TensorType {
        let dims = self.random_known_dims(least);
        TensorType::new(self.random_dtype(), dims)
    }
}
