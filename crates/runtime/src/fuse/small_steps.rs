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

impl SmallStep {
    // Returns whether an output may take over the storage of an operand, which this step reads for the last time.
    fn may_overwrite(&self, input: usize) -> bool {
        let once = self.inputs.iter().filter(|place| **place == self.inputs[input]).count() == 1;
        once && match &self.op {
            SmallOp::Group(kernel) => kernel.program.reads_only_in_order(input),
            SmallOp::Copy(copy) => input == 0 && copy.updates_in_place(),
            _ => false,
        }
    }
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
    // For each storage, the lengths of the values that the steps write to it, and the first of these steps.
    writes: HashMap<usize, StorageWrites, FxBuildHasher>,
}

/// The values in a storage.
#[derive(Clone, Copy)]
struct StorageWrites {
    first: usize,
    /// The length of the first value.
    len: usize,
    /// True if only groups write.
    by_groups: bool,
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
            writes: HashMap::default(),
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
            let mut step = SmallStep { op, inputs: places, outputs: SmallVec::new() };
            // The storages that an output of this step may overwrite, with their values.
            let mut ended: SmallVec<[(usize, (DataType, usize)); 4]> = SmallVec::new();
            for (index, value) in inputs.iter().enumerate() {
                if let (true, Place::Storage(at)) = (ends(&value), step.inputs[index])
                    && step.may_overwrite(index)
                {
                    ended.push((at, self.small(*value)?));
                }
            }
            let mut written: SmallVec<[usize; 2]> = SmallVec::new();
            for &value in &outputs {
                let (dtype, len) = self.small(value)?;
                let fits = |&&(at, held): &&(usize, (DataType, usize))| {
                    held == (dtype, len) && self.storages[at] == held
                };
                let wanted = preferred.get(&value);
                let wanted =
                    ended.iter().filter(fits).find(|(at, _)| wanted.is_some_and(|w| w == at));
                // The first storages are left to their new values.
                let other = || ended.iter().filter(fits).find(|(at, _)| *at >= self.pinned);
                let at = match wanted.or_else(other).map(|&(at, _)| at) {
                    Some(at) => {
                        ended.retain(|(e, _)| *e != at);
                        at
                    }
                    None => self.storage(dtype, len, needed.contains(&value)),
                };
                self.places.insert(value, Place::Storage(at));
                let is_group = matches!(step.op, SmallOp::Group(_));
                let writes = StorageWrites { first: number, len, by_groups: true };
                self.writes.entry(at).or_insert(writes).by_groups &= is_group;
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
            step.outputs = written;
            compiled.push(step);
        }
        Some(compiled)
    }

    // Returns a storage that no later step reads, or a new one. A value that is kept needs one of its length; for others, a short one is made longer.
    fn storage(&mut self, dtype: DataType, len: usize, kept: bool) -> usize {
        let known = self.free.iter().enumerate().filter_map(|(position, &at)| {
            let (ty, size) = self.storages[at];
            // How much longer it must be, and how much longer than needed it is.
            let rank = (len.saturating_sub(size), size.saturating_sub(len));
            (ty == dtype && (size == len || !kept)).then_some((rank, position))
        });
        match known.min() {
            Some((_, position)) => {
                let at = self.free.swap_remove(position);
                self.storages[at].1 = self.storages[at].1.max(len);
                at
            }
            None => {
                self.storages.push((dtype, len));
                self.storages.len() - 1
            }
        }
    }

    /// Returns operands whose memory may be that of a storage, if nothing else uses it: they have been read when the storage is written.
    pub(super) fn overwritten_inputs(&self, steps: &[SmallStep]) -> Vec<(usize, usize)> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (input, &value) in self.inputs.iter().enumerate() {
            let Some(held) = self.small(value) else { continue };
            let place = Place::Outside(input);
            let Some(last) = steps.iter().rposition(|step| step.inputs.contains(&place)) else {
                continue;
            };
            let step = &steps[last];
            let read = step.inputs.iter().position(|p| *p == place);
            let in_place = read.is_some_and(|read| step.may_overwrite(read));
            let fits = |&at: &usize| {
                let Some(writes) = self.writes.get(&at) else { return false };
                let before = writes.first > last || writes.first == last && in_place;
                let free = at >= self.pinned && pairs.iter().all(|&(_, other)| other != at);
                let same_len = self.storages[at] == held && writes.len == held.1;
                held.1 > 1 && before && free && writes.by_groups && same_len
            };
            if let Some(at) = (0..self.storages.len()).find(fits) {
                pairs.push((input, at));
            }
        }
        pairs
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

/// The elements that steps read and write: operands, those of them whose memory is that of a storage, and constants.
pub(super) struct SmallMemory<'a> {
    pub(super) operands: &'a [Tensor],
    pub(super) taken: &'a [(usize, usize)],
    pub(super) constants: &'a [Tensor],
}

impl SmallMemory<'_> {
    // Returns the place where the elements are.
    fn actual(&self, place: Place) -> Place {
        let Place::Outside(index) = place else { return place };
        let taken = self.taken.iter().find(|&&(input, _)| input == index);
        taken.map_or(place, |&(_, at)| Place::Storage(at))
    }

    /// Returns the elements at a place.
    pub(super) fn block_at<'a>(
        &'a self,
        place: Place,
        storages: &'a [Storage],
    ) -> Result<InputBlock<'a>, Fault> {
        let block = match place {
            Place::Storage(index) => return Ok(storages[index].as_input()),
            Place::Outside(index) => self.operands.get(index).and_then(input_block),
            Place::Constant(index) => input_block(&self.constants[index]),
        };
        block.ok_or_else(|| Fault::op("an operand cannot be fused"))
    }
}

/// Takes the operands of a kernel.
pub(super) fn take_operands(cx: &mut EvalCx<'_>) -> Result<SmallVec<[Tensor; 4]>, Fault> {
    (0..cx.args().len()).map(|index| cx.take_tensor(index)).collect()
}

/// Returns the registers of steps, which a kernel keeps for its next run.
pub(super) fn registers_of(steps: &[SmallStep]) -> Vec<Registers> {
    steps.iter().map(|_| Registers::default()).collect()
}

/// Runs steps one after another.
pub(super) fn run_steps(
    steps: &[SmallStep],
    memory: &SmallMemory<'_>,
    storages: &mut [Storage],
    registers: &mut [Registers],
) -> Result<(), Fault> {
    for (step, registers) in steps.iter().zip(registers) {
        let mut outputs: SmallVec<[Storage; 2]> = SmallVec::new();
        for &at in &step.outputs {
            outputs.push(std::mem::replace(&mut storages[at], Storage::Bool(Vec::new())));
        }
        let mut inputs: SmallVec<[InputBlock<'_>; 8]> = SmallVec::new();
        for &place in &step.inputs {
            let place = memory.actual(place);
            let overwritten = step.outputs.iter().position(|&at| place == Place::Storage(at));
            inputs.push(match overwritten {
                Some(output) => InputBlock::TakenOver(output),
                None => memory.block_at(place, storages)?,
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
