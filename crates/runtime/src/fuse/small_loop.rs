//! Loops over few elements: both regions of a `while` become steps on few elements, which one kernel runs until the condition fails.

use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, FusedKernel, OperandMemory, ResultMemory, Results, Shape,
    StepMemory, Tensor,
};
use sapwood_ptir::{BodyId, Function, InstId, ValueId};
use smallvec::SmallVec;

use super::kernel::{BLOCK_ELEMENTS, Storage};
use super::lanes::Source;
use super::program::{InputBlock, Registers};
use super::small_steps::{
    Place, SmallBuilder, SmallMemory, SmallPart, SmallStep, registers_of, run_steps, take_operands,
};

/// The element operations that count as one step of a run.
const WORK_PER_STEP: u64 = 4096;
/// The most instructions of the regions of a loop.
const MAX_LOOP_INSTS: usize = 256;

/// The steps of a region.
struct LoopRegion {
    steps: Vec<SmallStep>,
    results: SmallVec<[Place; 4]>,
    insts: u64,
}

/// The kernel of a loop. The first storages are the carried values.
pub(super) struct SmallLoop {
    storages: Vec<(DataType, usize)>,
    constants: Vec<Tensor>,
    carried: usize,
    condition: LoopRegion,
    body: LoopRegion,
    // The registers of the condition and the body.
    registers: Mutex<Vec<[Vec<Registers>; 2]>>,
}

/// Returns the kernel of a loop over few elements, and its operands; `None` if an instruction of the loop cannot be part of such a kernel.
pub(super) fn loop_kernel(f: &Function, inst: InstId) -> Option<(SmallLoop, Vec<ValueId>)> {
    let (&[condition, body], carried) = (f.regions(inst), f.operands(inst)) else { return None };
    let insts = |body: BodyId| f.body_insts(body).take(MAX_LOOP_INSTS + 1).count();
    if f.op_name(inst) != "while" || insts(condition) + insts(body) > MAX_LOOP_INSTS {
        return None;
    }
    let mut builder = SmallBuilder::new(f, SmallPart::Bodies([condition, body]), BLOCK_ELEMENTS);
    builder.inputs = carried.to_vec();
    builder.pinned = carried.len();
    for (index, &value) in carried.iter().enumerate() {
        let (dtype, len) = builder.small(value)?;
        builder.storages.push((dtype, len));
        for region in [condition, body] {
            let param = *f.body_params(region).get(index)?;
            builder.places.insert(param, Place::Storage(index));
        }
    }
    let condition = region(&mut builder, condition, &HashMap::default())?;
    // The condition is read before the body runs.
    builder.release(&condition.results);
    // A new value overwrites the old one where no later step reads it.
    let mut preferred: HashMap<ValueId, usize, FxBuildHasher> = HashMap::default();
    for (index, &value) in f.body_results(body).iter().enumerate() {
        preferred.entry(value).or_insert(index);
    }
    let body = region(&mut builder, body, &preferred)?;
    let SmallBuilder { storages, inputs, constants, .. } = builder;
    let (carried, registers) = (carried.len(), Mutex::default());
    Some((SmallLoop { storages, constants, carried, condition, body, registers }, inputs))
}

// Compiles a region of a loop.
fn region(
    builder: &mut SmallBuilder<'_>,
    body: BodyId,
    preferred: &HashMap<ValueId, usize, FxBuildHasher>,
) -> Option<LoopRegion> {
    let f = builder.f;
    let end = f.terminator(body);
    let insts: Vec<InstId> = f.body_insts(body).filter(|&inst| Some(inst) != end).collect();
    for &inst in &insts {
        for value in f.operands(inst).iter().copied().chain(f.inst_results(inst)) {
            builder.small(value)?;
        }
    }
    let results = f.body_results(body);
    let steps = builder.compile(body, &insts, results, std::iter::empty(), preferred)?;
    let results = results.iter().map(|&v| builder.place(v)).collect::<Option<_>>()?;
    Some(LoopRegion { steps, results, insts: insts.len() as u64 + 1 })
}

impl FusedKernel for SmallLoop {
    fn evaluate(&self, cx: &mut EvalCx<'_>) -> EvalResult {
        let shapes: SmallVec<[Shape; 4]> =
            (0..cx.num_results()).map(|i| cx.result_shape(i)).collect::<Result<_, _>>()?;
        let operands = take_operands(cx)?;
        let new = |&(dtype, len): &(DataType, usize)| Storage::new(cx, dtype, len);
        let mut storages = self.storages.iter().map(new).collect::<Result<Vec<_>, Fault>>()?;
        let spare = (0..self.carried).map(|index| match self.is_copied(index) {
            true => new(&self.storages[index]),
            false => Ok(Storage::Bool(Vec::new())),
        });
        let mut spare = spare.collect::<Result<Vec<_>, Fault>>()?;
        for (index, storage) in storages[..self.carried].iter_mut().enumerate() {
            let len = self.storages[index].1;
            storage.fill(&operands[index], 0, &[(len, 1)], 0, len)?;
        }
        let memory = SmallMemory { operands: &operands, taken: &[], constants: &self.constants };
        let Some(&proceeds) = self.condition.results.first() else {
            return Err(Fault::op("a loop has no condition"));
        };
        let kept = self.registers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut registers = kept.unwrap_or_else(|| {
            [&self.condition, &self.body].map(|region| registers_of(&region.steps))
        });
        loop {
            self.run(&self.condition, cx, &memory, &mut storages, &mut registers[0])?;
            if !is_true(memory.block_at(proceeds, &storages)?)? {
                break;
            }
            self.run(&self.body, cx, &memory, &mut storages, &mut registers[1])?;
            // First the new values that are copied, because others replace values that are read here.
            for (index, &place) in self.body.results.iter().enumerate() {
                let (_, len) = self.storages[index];
                match place {
                    _ if !self.is_copied(index) => {}
                    Place::Storage(from) => spare[index].copy_block(0, &storages[from], len),
                    Place::Outside(from) => {
                        spare[index].fill(&operands[from], 0, &[(len, 1)], 0, len)?;
                    }
                    Place::Constant(from) => {
                        spare[index].fill(&self.constants[from], 0, &[(len, 1)], 0, len)?;
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
        self.registers.lock().unwrap_or_else(PoisonError::into_inner).push(registers);
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
    fn run(
        &self,
        region: &LoopRegion,
        cx: &EvalCx<'_>,
        memory: &SmallMemory<'_>,
        storages: &mut [Storage],
        registers: &mut [Registers],
    ) -> Result<(), Fault> {
        cx.work((region.insts + 1) * WORK_PER_STEP)?;
        run_steps(&region.steps, memory, storages, registers)
    }

    // Returns whether a new value is copied to memory of its own.
    fn is_copied(&self, index: usize) -> bool {
        match self.body.results[index] {
            Place::Storage(from) => from != index && !self.is_moved(index, from),
            Place::Outside(_) | Place::Constant(_) => true,
        }
    }

    // Returns whether a new value is the first that takes the storage of a group's output.
    fn is_moved(&self, index: usize, from: usize) -> bool {
        let before = &self.body.results[..index];
        from >= self.carried && !before.contains(&Place::Storage(from))
    }
}

// Returns the value of a condition.
fn is_true(block: InputBlock<'_>) -> Result<bool, Fault> {
    match block {
        InputBlock::Bool(Source::Splat(x) | Source::Dense(&[x, ..])) => Ok(x),
        _ => Err(Fault::op("the condition must be a bool scalar")),
    }
}
