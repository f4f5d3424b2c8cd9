//! Steps on few elements, which run one after another in one kernel, without tensors and the interpreter between them: groups, copies at strides,
//! small products and reductions of any axes.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{DataType, EvalCx, Fault, Tensor};
use sapwood_ptir::{BodyId, Function, InstId, ValueDef, ValueId};
use smallvec::SmallVec;

use super::kernel::{GroupKernel, Storage, input_block};
use super::lanes::LaneType;
use super::program::{BlockRange, InputBlock, OutputBlock, Registers, run_blocks};
use super::small_ops::{SmallCopy, SmallProduct, SmallReduce, compile_inst};
use super::{FusedStep, Fuser, ValueState, extents};

/// The place of a value: a storage of the kernel, an operand of the kernel, or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Storage(usize),
    Outside(usize),
    Constant(usize),
}

/// The operation of a step.
pub(super) enum SmallOp {
    Group(Arc<GroupKernel>),
    Copy(Box<SmallCopy>),
    Product(SmallProduct),
    Reduce(SmallReduce),
}

/// A step of a kernel on few elements.
pub(super) struct SmallStep {
    op: SmallOp,
    inputs: SmallVec<[Place; 4]>,
    /// The storages of the outputs. That of an input which ends here may be among them.
    outputs: SmallVec<[usize; 2]>,
}

/// The instructions that a kernel runs.
pub(super) enum SmallPart {
    /// All instructions of bodies.
    Bodies([BodyId; 2]),
    /// Some instructions of a body, in order.
    Insts(Vec<InstId>),
}

/// A kernel on few elements while it is compiled.
pub(super) struct SmallBuilder<'f> {
    pub(super) f: &'f Function,
    pub(super) part: SmallPart,
    pub(super) max_elements: usize,
    pub(super) places: HashMap<ValueId, Place, FxBuildHasher>,
    /// The type and the number of elements of each storage.
    pub(super) storages: Vec<(DataType, usize)>,
    /// The values that the kernel takes.
    pub(super) inputs: Vec<ValueId>,
    pub(super) constants: Vec<Tensor>,
    /// The number of storages that outlive the steps, at the start.
    pub(super) pinned: usize,
    // The storages of values that no later step reads.
    free: Vec<usize>,
}

impl<'f> SmallBuilder<'f> {
    pub(super) fn new(f: &'f Function, part: SmallPart, max_elements: usize) -> Self {
        Self {
            f,
            part,
            max_elements,
            places: HashMap::default(),
            storages: Vec::new(),
            inputs: Vec::new(),
            constants: Vec::new(),
            pinned: 0,
            free: Vec::new(),
        }
    }

    /// Returns the type and the length of a value, if it has few elements.
    pub(super) fn small(&self, value: ValueId) -> Option<(DataType, usize)> {
        let (dtype, shape) = extents(self.f, value)?;
        let len = shape.iter().product();
        (LaneType::of(dtype).is_some() && len <= self.max_elements).then_some((dtype, len))
    }

    /// Compiles instructions of a body. The values of `needed` are kept, and those of `states` need not be computed. A value of `preferred`
    /// overwrites that storage if it can.
    pub(super) fn compile(
        &mut self,
        body: BodyId,
        insts: &[InstId],
        needed: &[ValueId],
        states: impl Iterator<Item = (ValueId, ValueState)>,
        preferred: &HashMap<ValueId, usize, FxBuildHasher>,
    ) -> Option<Vec<SmallStep>> {
        let f = self.f;
        let steps = Fuser::steps_of(f, body, insts, needed, states)?;
        let is_constant = |step: &FusedStep| matches!(step, FusedStep::Single(inst) if f.value_of(*inst).is_some_and(|v| f.constant_of(v).is_some()));
        let steps: Vec<FusedStep> = steps.into_iter().filter(|step| !is_constant(step)).collect();
        let mut last_use: HashMap<ValueId, usize, FxBuildHasher> = HashMap::default();
        for (number, step) in steps.iter().enumerate() {
            let (inputs, outputs) = step.values(f);
            last_use.extend(inputs.iter().chain(&outputs).map(|&v| (v, number)));
        }
        last_use.extend(needed.iter().map(|&v| (v, steps.len())));
        let mut compiled = Vec::with_capacity(steps.len());
        for (number, step) in steps.into_iter().enumerate() {
            let (inputs, outputs) = step.values(f);
            let ends = |v: &&ValueId| last_use.get(*v) == Some(&number);
            let op = match step {
                FusedStep::Group(_, kernel) => SmallOp::Group(kernel),
                FusedStep::Single(inst) => compile_inst(f, inst)?,
            };
            let mut places = SmallVec::new();
            for &value in &inputs {
                places.push(self.place(value)?);
            }
            // The storages that an output of this step may overwrite.
            let mut ended: SmallVec<[usize; 4]> = SmallVec::new();
            if let SmallOp::Group(kernel) = &op {
                for (index, value) in inputs.iter().enumerate() {
                    if let (true, Place::Storage(at)) = (ends(&value), places[index])
                        && kernel.program.reads_only_in_order(index)
                    {
                        ended.push(at);
                    }
                }
            }
            let mut written: SmallVec<[usize; 2]> = SmallVec::new();
            for &value in &outputs {
                let (dtype, len) = self.small(value)?;
                let fits = |&at: &usize| self.storages[at] == (dtype, len);
                let wanted = preferred.get(&value).filter(|at| ended.contains(at) && fits(at));
                // The first storages are left to their new values.
                let other = |&at: &usize| at >= self.pinned && fits(&at);
                let at = match wanted.copied().or_else(|| ended.iter().copied().find(other)) {
                    Some(at) => {
                        ended.retain(|e| *e != at);
                        at
                    }
                    None => self.storage(dtype, len, needed.contains(&value)),
                };
                self.places.insert(value, Place::Storage(at));
                written.push(at);
            }
            let values = inputs.iter().chain(&outputs).filter(ends);
            let gone: Vec<Place> = values.filter_map(|v| self.places.get(v).copied()).collect();
            let gone: Vec<Place> = gone
                .into_iter()
                .filter(|place| {
                    // An overwritten storage is free when the value in it ends.
                    let by = |v: &&ValueId| self.places.get(*v) == Some(place);
                    outputs.iter().find(by).is_none_or(|v| ends(&v))
                })
                .collect();
            self.release(&gone);
            compiled.push(SmallStep { op, inputs: places, outputs: written });
        }
        Some(compiled)
    }

    // Returns a storage that no later step reads, or a new one. A value that is kept needs one of its length.
    fn storage(&mut self, dtype: DataType, len: usize, kept: bool) -> usize {
        let fits = |&(_, &at): &(usize, &usize)| {
            let (ty, size) = self.storages[at];
            ty == dtype && (size == len || !kept && size > len)
        };
        let known = self.free.iter().enumerate().filter(fits);
        match known.min_by_key(|&(_, &at)| self.storages[at].1).map(|(position, _)| position) {
            Some(position) => self.free.swap_remove(position),
            None => {
                self.storages.push((dtype, len));
                self.storages.len() - 1
            }
        }
    }

    /// Lets later steps use storages again, except the first ones, which outlive the steps.
    pub(super) fn release(&mut self, places: &[Place]) {
        for &place in places {
            if let Place::Storage(index) = place
                && index >= self.pinned
                && !self.free.contains(&index)
            {
                self.free.push(index);
            }
        }
    }

    fn is_inside(&self, value: ValueId) -> bool {
        match (self.f.value_def(value), &self.part) {
            (ValueDef::Param(body, _), SmallPart::Bodies(bodies)) => bodies.contains(&body),
            (ValueDef::Param(..), SmallPart::Insts(_)) => false,
            (ValueDef::Result(inst, _), SmallPart::Bodies(bodies)) => {
                self.f.body_of(inst).is_some_and(|body| bodies.contains(&body))
            }
            (ValueDef::Result(inst, _), SmallPart::Insts(insts)) => insts.contains(&inst),
        }
    }

    /// Returns the place of a value; those from outside become operands.
    pub(super) fn place(&mut self, value: ValueId) -> Option<Place> {
        if let Some(&place) = self.places.get(&value) {
            return Some(place);
        }
        self.small(value)?;
        let place = if let Some(literal) = self.f.constant_of(value) {
            self.constants.push(Tensor::from_literal(literal).ok()?);
            Place::Constant(self.constants.len() - 1)
        } else if self.is_inside(value) {
            // A view that no step computes.
            return None;
        } else {
            self.inputs.push(value);
            Place::Outside(self.inputs.len() - 1)
        };
        self.places.insert(value, place);
        Some(place)
    }
}

/// Returns the elements at a place.
pub(super) fn block_at<'a>(
    place: Place,
    cx: &'a EvalCx<'_>,
    storages: &'a [Storage],
    constants: &'a [Tensor],
) -> Result<InputBlock<'a>, Fault> {
    let block = match place {
        Place::Storage(index) => return Ok(storages[index].as_input()),
        Place::Outside(index) => input_block(cx.tensor(index)?),
        Place::Constant(index) => input_block(&constants[index]),
    };
    block.ok_or_else(|| Fault::op("an operand cannot be fused"))
}

/// Returns the registers of steps, which a kernel keeps for its next run.
pub(super) fn registers_of(steps: &[SmallStep]) -> Vec<Registers> {
    steps.iter().map(|_| Registers::default()).collect()
}

/// Runs steps one after another.
pub(super) fn run_steps(
    steps: &[SmallStep],
    cx: &EvalCx<'_>,
    storages: &mut [Storage],
    constants: &[Tensor],
    registers: &mut [Registers],
) -> Result<(), Fault> {
    for (step, registers) in steps.iter().zip(registers) {
        let mut outputs: SmallVec<[Storage; 2]> = SmallVec::new();
        for &at in &step.outputs {
            outputs.push(std::mem::replace(&mut storages[at], Storage::Bool(Vec::new())));
        }
        let mut inputs: SmallVec<[InputBlock<'_>; 8]> = SmallVec::new();
        for &place in &step.inputs {
            let overwritten = step.outputs.iter().position(|&at| place == Place::Storage(at));
            inputs.push(match overwritten {
                Some(output) => InputBlock::TakenOver(output),
                None => block_at(place, cx, storages, constants)?,
            });
        }
        match &step.op {
            SmallOp::Group(kernel) => {
                let mut blocks: SmallVec<[OutputBlock<'_>; 4]> = SmallVec::new();
                for output in &mut outputs {
                    let block = output.whole();
                    blocks.push(block.ok_or_else(|| Fault::op("an output is shared"))?);
                }
                let (rows, columns) = (kernel.rows, kernel.columns);
                let range = BlockRange { first: 0, rows, columns, outputs_from: 0 };
                run_blocks(&kernel.program, registers, &inputs, &mut blocks, range, rows);
            }
            SmallOp::Copy(copy) => copy.run(&inputs, &mut outputs[0])?,
            SmallOp::Product(product) => product.run(&inputs, &mut outputs[0])?,
            SmallOp::Reduce(reduce) => reduce.run(&inputs, &mut outputs[0])?,
        }
        drop(inputs);
        for (&at, storage) in step.outputs.iter().zip(outputs) {
            storages[at] = storage;
        }
    }
    Ok(())
}
