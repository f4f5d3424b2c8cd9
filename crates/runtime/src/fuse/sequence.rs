//! Straight-line parts of few elements: one kernel runs their groups, copies and small products, without tensors between them.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, FusedGroup, FusedKernel, OperandMemory, ResultMemory,
    Results, ScheduledStep, StepMemory, Tensor,
};
use sapwood_ptir::{Function, InstId, ValueDef, ValueId, ops};
use smallvec::SmallVec;

use super::classify::classify;
use super::kernel::{Storage, is_unique};
use super::lanes::LaneType;
use super::program::Registers;
use super::small_ops::compile_inst;
use super::small_steps::{
    Place, SmallBuilder, SmallMemory, SmallPart, SmallStep, registers_of, run_steps, take_operands,
};
use super::{Fuser, ValueState, extents, view_change};

/// The most elements of a value of a sequence. Larger ones take longer than what a step costs, and a sequence keeps their memory until it ends:
/// with 512, k-means on 64 points needed twice XLA's memory.
const MAX_SEQUENCE_ELEMENTS: usize = 300;
/// The least instructions that compute, so that a sequence costs less than its steps on their own.
const MIN_SEQUENCE_OPS: usize = 8;
/// The most instructions of a sequence.
const MAX_SEQUENCE_INSTS: usize = 1024;

/// The kernel of a sequence.
struct Sequence {
    storages: Vec<(DataType, usize)>,
    constants: Vec<Tensor>,
    steps: Vec<SmallStep>,
    // The storages of the results.
    outputs: Vec<usize>,
    // Operands, and the storages that use their memory if nothing else does.
    overwritten: Vec<(usize, usize)>,
    registers: Mutex<Vec<Vec<Registers>>>,
}

impl Fuser<'_> {
    /// Returns the number of instructions from the first on that can be in one sequence.
    pub(super) fn few_elements(&self, insts: &[InstId]) -> usize {
        let fits = |&&inst: &&InstId| {
            let large_group = |value: &ValueId| match self.states.get(value) {
                Some(&ValueState::Member(group)) => self.groups[group]
                    .as_ref()
                    .is_none_or(|g| g.count(g.columns.is_some()) > MAX_SEQUENCE_ELEMENTS),
                _ => false,
            };
            has_few_elements(self.f, inst) && !self.f.operands(inst).iter().any(large_group)
        };
        insts.iter().take(MAX_SEQUENCE_INSTS).take_while(fits).count()
    }

    /// Emits instructions on few elements as one step; `None` if they are too few, or one of them cannot be part of a sequence.
    pub(super) fn emit_sequence(&mut self, insts: &[InstId]) -> Option<()> {
        let f = self.f;
        let computing = insts.iter().filter(|&&inst| !is_view(f, inst)).count();
        if computing < MIN_SEQUENCE_OPS {
            return None;
        }
        let inside: HashSet<InstId, FxBuildHasher> = insts.iter().copied().collect();
        let is_inside = |v: ValueId| matches!(f.value_def(v), ValueDef::Result(inst, _) if inside.contains(&inst));
        // Later instructions read through views, which are not computed here.
        let (mut needed, mut views) = (Vec::new(), Vec::new());
        let mut read: HashSet<ValueId, FxBuildHasher> = HashSet::default();
        for &inst in insts.iter().rev() {
            let value = f.value_of(inst)?;
            if !read.contains(&value) && f.uses(value).all(|u| inside.contains(&u.user)) {
                continue;
            }
            if is_view(f, inst) {
                views.push(inst);
                read.extend(f.operands(inst).iter().copied().filter(|&v| is_inside(v)));
            } else {
                needed.push(value);
            }
        }
        needed.reverse();
        let mut seen: HashSet<ValueId, FxBuildHasher> = HashSet::default();
        let operands = insts.iter().flat_map(|&inst| f.operands(inst)).copied();
        let outside: Vec<ValueId> =
            operands.filter(|&value| !is_inside(value) && seen.insert(value)).collect();
        for &value in &outside {
            if let Some(ValueState::Member(_)) = self.states.get(&value) {
                self.require(value);
            }
        }
        let states: Vec<_> =
            outside.iter().filter_map(|v| Some((*v, self.states.get(v)?.clone()))).collect();
        let mut builder =
            SmallBuilder::new(f, SmallPart::Insts(insts.to_vec()), MAX_SEQUENCE_ELEMENTS);
        let preferred = HashMap::default();
        let steps = builder.compile(self.body, insts, &needed, states.into_iter(), &preferred)?;
        let outputs = needed.iter().map(|value| match builder.places.get(value) {
            Some(&Place::Storage(at)) => Some(at),
            _ => None,
        });
        let outputs: Vec<usize> = outputs.collect::<Option<_>>()?;
        let overwritten = builder.overwritten_inputs(&steps);
        let SmallBuilder { storages, constants, inputs, .. } = builder;
        self.require_all(&inputs);
        let registers = Mutex::default();
        let kernel = Sequence { storages, constants, steps, outputs, overwritten, registers };
        if !needed.is_empty() {
            self.fused = true;
            self.steps.push(ScheduledStep::Group(FusedGroup {
                insts: insts.iter().copied().filter(|&inst| !is_view(f, inst)).collect(),
                inputs,
                outputs: needed,
                kernel: Arc::new(kernel),
            }));
        }
        for inst in views.into_iter().rev() {
            self.visit(inst);
        }
        Some(())
    }
}

// Returns whether an instruction moves no elements, so that others may read through it.
fn is_view(f: &Function, inst: InstId) -> bool {
    let result = f.value_of(inst);
    f.is::<ops::Constant>(inst)
        || result
            .and_then(|value| extents(f, value))
            .is_some_and(|(_, shape)| view_change(f, inst, &shape).is_some())
}

// Returns whether an instruction may be part of a sequence.
fn has_few_elements(f: &Function, inst: InstId) -> bool {
    let small = |value: ValueId| {
        let known = extents(f, value);
        known.is_some_and(|(dtype, shape)| {
            LaneType::of(dtype).is_some()
                && shape.iter().product::<usize>() <= MAX_SEQUENCE_ELEMENTS
        })
    };
    let operands = f.operands(inst);
    if f.value_of(inst).is_none_or(|v| !small(v)) || !operands.iter().copied().all(small) {
        return false;
    }
    if is_view(f, inst) {
        return true;
    }
    let main = operands.get(usize::from(operands.len() == 3));
    let dtype = main.and_then(|&v| extents(f, v)).map(|(dtype, _)| dtype);
    let elementwise = dtype.and_then(|dtype| classify(f, inst, dtype));
    match elementwise {
        Some(op) if !op.is_reduction() => true,
        _ => compile_inst(f, inst).is_some(),
    }
}

impl FusedKernel for Sequence {
    fn evaluate(&self, cx: &mut EvalCx<'_>) -> EvalResult {
        let mut operands = take_operands(cx)?;
        let unique = |&&(input, _): &&(usize, usize)| {
            let tensor = &mut operands[input];
            !tensor.is_splat() && is_unique(tensor)
        };
        let taken: SmallVec<[(usize, usize); 4]> =
            self.overwritten.iter().filter(unique).copied().collect();
        let mut storages = Vec::with_capacity(self.storages.len());
        for (at, &(dtype, len)) in self.storages.iter().enumerate() {
            storages.push(match taken.iter().find(|&&(_, storage)| storage == at) {
                Some(&(input, _)) => {
                    let none = Tensor::scalar(false);
                    Storage::Tensor(std::mem::replace(&mut operands[input], none))
                }
                None => Storage::new(cx, dtype, len)?,
            });
        }
        let memory = SmallMemory { operands: &operands, taken: &taken, constants: &self.constants };
        let spare = self.registers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut registers = spare.unwrap_or_else(|| registers_of(&self.steps));
        run_steps(&self.steps, &memory, &mut storages, &mut registers)?;
        self.registers.lock().unwrap_or_else(PoisonError::into_inner).push(registers);
        let mut results = Results::with_capacity(self.outputs.len());
        for (index, &at) in self.outputs.iter().enumerate() {
            let storage = std::mem::replace(&mut storages[at], Storage::Bool(Vec::new()));
            let tensor = storage.into_tensor(self.storages[at].0, &cx.result_shape(index)?);
            results.push(tensor.ok_or_else(|| Fault::op("a result has a wrong type"))?.into());
        }
        Ok(results)
    }

    fn memory(&self, operands: &[OperandMemory]) -> Option<StepMemory> {
        // The operand whose memory a storage uses.
        let operand = |at: usize| {
            let mut pairs = self.overwritten.iter().filter(|&&(_, storage)| storage == at);
            pairs.find_map(|&(input, _)| operands.get(input)?.is_unique.then_some(input))
        };
        let bytes = |at: usize| self.storages[at].0.byte_size() * self.storages[at].1;
        let temporary = (0..self.storages.len())
            .filter(|at| !self.outputs.contains(at) && operand(*at).is_none());
        let result = |&at: &usize| match operand(at) {
            Some(input) => ResultMemory::Operand(input),
            None => ResultMemory::New,
        };
        let results = self.outputs.iter().map(result).collect();
        Some(StepMemory { results, temporary: temporary.map(bytes).sum::<usize>() as u64 })
    }
}
