//! Loops over few elements: both regions of a `while` become groups, which one kernel runs until the condition fails, without the interpreter between them.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, FusedKernel, OperandMemory, ResultMemory, Results, Shape,
    StepMemory,
};
use sapwood_ptir::{BodyId, Function, InstId, ValueDef, ValueId};
use smallvec::SmallVec;

use super::kernel::{BLOCK_ELEMENTS, GroupKernel, Storage, input_block};
use super::lanes::{LaneType, Source};
use super::program::{BlockRange, InputBlock, OutputBlock, Registers, run_blocks};
use super::{Fuser, extents};

/// The element operations that count as one step of a run.
const WORK_PER_STEP: u64 = 4096;
/// The most instructions of the regions of a loop.
const MAX_LOOP_INSTS: usize = 256;

/// The place of a value: a storage of the loop, or an operand of the kernel from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Storage(usize),
    Outside(usize),
}

struct LoopGroup {
    kernel: Arc<GroupKernel>,
    inputs: SmallVec<[Place; 4]>,
    outputs: SmallVec<[usize; 2]>,
}

/// A region as groups.
struct LoopRegion {
    groups: Vec<LoopGroup>,
    results: SmallVec<[Place; 4]>,
    insts: u64,
}

/// The kernel of a loop. The first storages are the carried values.
pub(super) struct SmallLoop {
    storages: Vec<(DataType, usize)>,
    carried: usize,
    condition: LoopRegion,
    body: LoopRegion,
}

/// A loop while it is compiled.
struct LoopBuilder<'f> {
    f: &'f Function,
    places: HashMap<ValueId, Place, FxBuildHasher>,
    storages: Vec<(DataType, usize)>,
    // The storages of outputs that no later group reads.
    free: Vec<usize>,
    inputs: Vec<ValueId>,
    regions: [BodyId; 2],
}

/// Returns the kernel of a loop over few elements, and its operands; `None` if an instruction of the loop cannot be part of a group.
pub(super) fn loop_kernel(f: &Function, inst: InstId) -> Option<(SmallLoop, Vec<ValueId>)> {
    let (&[condition, body], carried) = (f.regions(inst), f.operands(inst)) else { return None };
    let insts = |body: BodyId| f.body_insts(body).take(MAX_LOOP_INSTS + 1).count();
    if f.op_name(inst) != "while" || insts(condition) + insts(body) > MAX_LOOP_INSTS {
        return None;
    }
    let mut builder = LoopBuilder {
        f,
        places: HashMap::default(),
        storages: Vec::new(),
        free: Vec::new(),
        inputs: carried.to_vec(),
        regions: [condition, body],
    };
    for (index, &value) in carried.iter().enumerate() {
        let (dtype, len) = builder.small(value)?;
        builder.storages.push((dtype, len));
        for region in [condition, body] {
            let param = *f.body_params(region).get(index)?;
            builder.places.insert(param, Place::Storage(index));
        }
    }
    let condition = builder.region(condition, carried.len())?;
    // The condition is read before the body runs.
    builder.release(&condition.results, carried.len());
    let body = builder.region(body, carried.len())?;
    let LoopBuilder { storages, inputs, .. } = builder;
    Some((SmallLoop { storages, carried: carried.len(), condition, body }, inputs))
}

impl LoopBuilder<'_> {
    // Returns the type and the length of a value that fits one block.
    fn small(&self, value: ValueId) -> Option<(DataType, usize)> {
        let (dtype, shape) = extents(self.f, value)?;
        let len = shape.iter().product();
        (LaneType::of(dtype).is_some() && len <= BLOCK_ELEMENTS).then_some((dtype, len))
    }

    fn region(&mut self, body: BodyId, carried: usize) -> Option<LoopRegion> {
        let f = self.f;
        for inst in f.body_insts(body) {
            for value in f.operands(inst).iter().copied().chain(f.inst_results(inst)) {
                self.small(value)?;
            }
        }
        let groups = Fuser::groups_of(f, body)?;
        let mut last_use: HashMap<ValueId, usize, FxBuildHasher> = HashMap::default();
        for (number, (group, _)) in groups.iter().enumerate() {
            last_use.extend(group.inputs.iter().chain(&group.outputs).map(|&v| (v, number)));
        }
        last_use.extend(f.body_results(body).iter().map(|&v| (v, groups.len())));
        let mut compiled = Vec::with_capacity(groups.len());
        for (number, (group, kernel)) in groups.into_iter().enumerate() {
            let inputs =
                group.inputs.iter().map(|&v| self.place(v)).collect::<Option<SmallVec<_>>>()?;
            let mut outputs = SmallVec::new();
            for &value in &group.outputs {
                let (dtype, len) = self.small(value)?;
                let storage = self.storage(dtype, len);
                self.places.insert(value, Place::Storage(storage));
                outputs.push(storage);
            }
            let values = group.inputs.iter().chain(&group.outputs);
            let ended = values.filter(|v| last_use[*v] == number);
            let ended: Vec<Place> = ended.filter_map(|v| self.places.get(v).copied()).collect();
            self.release(&ended, carried);
            compiled.push(LoopGroup { kernel, inputs, outputs });
        }
        let results = f.body_results(body).iter().map(|&v| self.place(v));
        let results = results.collect::<Option<SmallVec<_>>>()?;
        let insts = f.body_insts(body).count() as u64;
        Some(LoopRegion { groups: compiled, results, insts })
    }

    // Returns a storage that no later group reads, or a new one.
    fn storage(&mut self, dtype: DataType, len: usize) -> usize {
        match self.free.iter().position(|&index| self.storages[index] == (dtype, len)) {
            Some(at) => self.free.swap_remove(at),
            None => {
                self.storages.push((dtype, len));
                self.storages.len() - 1
            }
        }
    }

    // Lets later groups use storages again, except those of the carried values.
    fn release(&mut self, places: &[Place], carried: usize) {
        for &place in places {
            if let Place::Storage(index) = place
                && index >= carried
                && !self.free.contains(&index)
            {
                self.free.push(index);
            }
        }
    }

    // Returns the place of a value; those from outside of the loop become operands.
    fn place(&mut self, value: ValueId) -> Option<Place> {
        if let Some(&place) = self.places.get(&value) {
            return Some(place);
        }
        // A value of the loop that no group computes is a constant or a view.
        let home = match self.f.value_def(value) {
            ValueDef::Param(body, _) => body,
            ValueDef::Result(inst, _) => self.f.body_of(inst)?,
        };
        if self.regions.contains(&home) {
            return None;
        }
        self.small(value)?;
        self.inputs.push(value);
        let place = Place::Outside(self.inputs.len() - 1);
        self.places.insert(value, place);
        Some(place)
    }
}

impl LoopRegion {
    // Returns registers for the groups, which the loop keeps until it ends.
    fn take_registers(&self) -> Vec<Registers> {
        self.groups.iter().map(|group| group.kernel.take_registers()).collect()
    }

    fn return_registers(&self, registers: Vec<Registers>) {
        for (group, registers) in self.groups.iter().zip(registers) {
            group.kernel.return_registers(registers);
        }
    }

    fn run(
        &self,
        cx: &EvalCx<'_>,
        storages: &mut [Storage],
        registers: &mut [Registers],
    ) -> Result<(), Fault> {
        cx.work((self.insts + 1) * WORK_PER_STEP)?;
        for (group, registers) in self.groups.iter().zip(registers) {
            let take = |&output: &usize| {
                std::mem::replace(&mut storages[output], Storage::Bool(Vec::new()))
            };
            let mut outputs: SmallVec<[Storage; 2]> = group.outputs.iter().map(take).collect();
            let mut inputs: SmallVec<[InputBlock<'_>; 4]> = SmallVec::new();
            for &place in &group.inputs {
                inputs.push(match place {
                    Place::Storage(index) => storages[index].as_input(),
                    Place::Outside(index) => input_block(cx.tensor(index)?)
                        .ok_or_else(|| Fault::op("an operand cannot be fused"))?,
                });
            }
            let blocks = outputs.iter_mut().map(Storage::whole);
            let blocks: Option<SmallVec<[OutputBlock<'_>; 2]>> = blocks.collect();
            let mut blocks = blocks.ok_or_else(|| Fault::op("an output is shared"))?;
            let kernel = &group.kernel;
            let (rows, columns) = (kernel.rows, kernel.columns);
            let range = BlockRange { first: 0, rows, columns, outputs_from: 0 };
            run_blocks(&kernel.program, registers, &inputs, &mut blocks, range, rows);
            drop((inputs, blocks));
            for (&output, storage) in group.outputs.iter().zip(outputs) {
                storages[output] = storage;
            }
        }
        Ok(())
    }
}

impl FusedKernel for SmallLoop {
    fn evaluate(&self, cx: &mut EvalCx<'_>) -> EvalResult {
        let shapes: SmallVec<[Shape; 4]> =
            (0..cx.num_results()).map(|i| cx.result_shape(i)).collect::<Result<_, _>>()?;
        let new = |&(dtype, len): &(DataType, usize)| Storage::new(cx, dtype, len);
        let mut storages = self.storages.iter().map(new).collect::<Result<Vec<_>, Fault>>()?;
        let spare = (0..self.carried).map(|index| match self.is_copied(index) {
            true => new(&self.storages[index]),
            false => Ok(Storage::Bool(Vec::new())),
        });
        let mut spare = spare.collect::<Result<Vec<_>, Fault>>()?;
        for (index, storage) in storages[..self.carried].iter_mut().enumerate() {
            let len = self.storages[index].1;
            storage.fill(cx.tensor(index)?, 0, &[(len, 1)], 0, len)?;
        }
        let Some(&proceeds) = self.condition.results.first() else {
            return Err(Fault::op("a loop has no condition"));
        };
        let mut condition_registers = self.condition.take_registers();
        let mut body_registers = self.body.take_registers();
        loop {
            self.condition.run(cx, &mut storages, &mut condition_registers)?;
            if !is_true(cx, &storages, proceeds)? {
                break;
            }
            self.body.run(cx, &mut storages, &mut body_registers)?;
            // First the new values that are copied, because others replace values that are read here.
            for (index, &place) in self.body.results.iter().enumerate() {
                let (_, len) = self.storages[index];
                match place {
                    _ if !self.is_copied(index) => {}
                    Place::Storage(from) => spare[index].copy_block(0, &storages[from], len),
                    Place::Outside(from) => {
                        spare[index].fill(cx.tensor(from)?, 0, &[(len, 1)], 0, len)?;
                    }
                }
            }
            for (index, &place) in self.body.results.iter().enumerate() {
                match place {
                    Place::Storage(from) if from == index => {}
                    Place::Storage(from) if self.is_moved(index, from) => {
                        storages.swap(index, from);
                    }
                    _ => std::mem::swap(&mut storages[index], &mut spare[index]),
                }
            }
        }
        self.condition.return_registers(condition_registers);
        self.body.return_registers(body_registers);
        let mut results = Results::new();
        let carried = storages.into_iter().zip(&self.storages).zip(shapes);
        for ((storage, &(dtype, _)), shape) in carried {
            let tensor = storage.into_tensor(dtype, &shape);
            results.push(tensor.ok_or_else(|| Fault::op("a result has a wrong type"))?.into());
        }
        Ok(results)
    }

    fn memory(&self, _: &[OperandMemory]) -> Option<StepMemory> {
        let bytes = |&(dtype, len): &(DataType, usize)| dtype.byte_size() * len;
        // The carried values become the results.
        let copied = (0..self.carried).filter(|&index| self.is_copied(index));
        let copied = copied.map(|index| bytes(&self.storages[index])).sum::<usize>();
        let temporary = copied + self.storages[self.carried..].iter().map(bytes).sum::<usize>();
        let results = (0..self.carried).map(|_| ResultMemory::New).collect();
        Some(StepMemory { results, temporary: temporary as u64 })
    }
}

impl SmallLoop {
    // Returns whether a new value is copied to memory of its own.
    fn is_copied(&self, index: usize) -> bool {
        match self.body.results[index] {
            Place::Storage(from) => from != index && !self.is_moved(index, from),
            Place::Outside(_) => true,
        }
    }

    // Returns whether a new value is the first that takes the storage of a group's output.
    fn is_moved(&self, index: usize, from: usize) -> bool {
        let before = &self.body.results[..index];
        from >= self.carried && !before.contains(&Place::Storage(from))
    }
}

// Returns the value of a condition.
fn is_true(cx: &EvalCx<'_>, storages: &[Storage], place: Place) -> Result<bool, Fault> {
    let block = match place {
        Place::Storage(index) => Some(storages[index].as_input()),
        Place::Outside(index) => input_block(cx.tensor(index)?),
    };
    match block {
        Some(InputBlock::Bool(Source::Splat(x))) => Ok(x),
        Some(InputBlock::Bool(Source::Dense(&[x]))) => Ok(x),
        _ => Err(Fault::op("the condition must be a bool scalar")),
    }
}
