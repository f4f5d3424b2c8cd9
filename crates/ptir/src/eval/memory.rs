//! The peak memory of a run, known before it starts: the plan is followed with sizes in the place of elements.

use sapwood_types::DataType;
use smallvec::{SmallVec, smallvec};

use super::plan::{Action, BodyPlan, FunctionPlan, NO_SLOT, PlanStep};
use super::tensor::{Value, count};
use crate::attr::Attr;
use crate::func::Function;
use crate::ids::InstId;
use crate::op::Control;
use crate::types::ValueType;

/// An operand of a kernel whose memory is predicted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandMemory {
    /// The element type.
    pub dtype: DataType,
    /// The number of elements.
    pub len: usize,
    /// True if only one element is stored.
    pub is_splat: bool,
    /// True if the kernel may overwrite the elements.
    pub is_unique: bool,
}

impl OperandMemory {
    /// Returns the bytes of the stored elements.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        if self.is_splat { 0 } else { bytes(self.dtype, self.len) }
    }
}

/// The place of the elements of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultMemory {
    /// In memory of its own.
    New,
    /// In one element.
    Splat,
    /// In the memory of an operand.
    Operand(usize),
}

/// The memory that a kernel uses on given operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepMemory {
    /// The memory of each result.
    pub results: SmallVec<[ResultMemory; 1]>,
    /// The bytes of temporary memory that exist together with the results.
    pub temporary: u64,
}

impl StepMemory {
    /// Returns the memory of a kernel with one result and without temporary memory.
    #[must_use]
    pub fn of(result: ResultMemory) -> Self {
        Self { results: smallvec![result], temporary: 0 }
    }
}

/// The function that predicts the memory of the kernel of an instruction; it returns `None` if that is not known.
pub type PredictMemory = fn(&Function, InstId, &[OperandMemory]) -> Option<StepMemory>;

/// The most steps that are followed; loops are followed twice.
const MAX_FOLLOWED_STEPS: usize = 1 << 20;
/// The most bodies and calls within each other.
const MAX_NESTING: usize = 64;

/// Returns the most bytes that a run of the first function will use at a time, without its inputs; `None` if the size of a value depends on the
/// inputs, or the memory of a kernel is not known.
pub(crate) fn predict_peak(functions: &[&Function], plans: &[FunctionPlan]) -> Option<u64> {
    let mut run = PredictedRun {
        functions,
        plans,
        state: MemoryState::default(),
        peak: 0,
        steps: 0,
        nesting: 0,
    };
    let params = functions.first()?.params();
    // The caller owns the inputs.
    let inputs = params.iter().map(|&p| run.state.shared(functions[0].value_type(p)));
    let inputs: Option<Vec<Held>> = inputs.collect();
    run.call(0, inputs?)?;
    Some(run.peak)
}

fn bytes(dtype: DataType, len: usize) -> u64 {
    (len as u64).saturating_mul(dtype.byte_size() as u64)
}

fn extent(ty: &ValueType) -> Option<(DataType, usize)> {
    let ty = ty.as_tensor()?;
    let known = |d: &crate::types::Dim| d.known().and_then(|n| usize::try_from(n).ok());
    let shape: SmallVec<[usize; 6]> = ty.dims.iter().map(known).collect::<Option<_>>()?;
    Some((ty.dtype, count(&shape)?))
}

/// A value without its elements.
#[derive(Clone)]
enum Held {
    Splat(DataType, usize),
    Dense(usize, DataType, usize),
    Tuple(Vec<Held>),
    Token,
}

#[derive(Clone, Copy)]
struct HeldBuffer {
    owners: usize,
    bytes: u64,
    counted: bool,
}

/// The buffers and the slots of a run.
#[derive(Clone, Default)]
struct MemoryState {
    buffers: Vec<HeldBuffer>,
    // The buffers without owners, which are used again: a branch copies the state, whose size must not grow with the steps before.
    free: Vec<usize>,
    frames: Vec<Vec<Option<Held>>>,
    live: u64,
}

impl MemoryState {
    fn add(&mut self, dtype: DataType, len: usize, owners: usize) -> Held {
        // A tensor of one element is stored as a splat.
        if len == 1 {
            return Held::Splat(dtype, len);
        }
        let buffer = HeldBuffer { owners, bytes: bytes(dtype, len), counted: false };
        let place = match self.free.pop() {
            Some(place) => {
                self.buffers[place] = buffer;
                place
            }
            None => {
                self.buffers.push(buffer);
                self.buffers.len() - 1
            }
        };
        Held::Dense(place, dtype, len)
    }

    // Returns a value that also has an owner outside of the run.
    fn shared(&mut self, ty: &ValueType) -> Option<Held> {
        Some(match ty {
            ValueType::Tensor(_) => {
                let (dtype, len) = extent(ty)?;
                self.add(dtype, len, 2)
            }
            ValueType::Tuple(all) => {
                Held::Tuple(all.iter().map(|ty| self.shared(ty)).collect::<Option<_>>()?)
            }
            ValueType::Token => Held::Token,
            ValueType::Opaque => return None,
        })
    }

    fn cloned(&mut self, held: &Held) -> Held {
        match held {
            Held::Dense(buffer, ..) => self.buffers[*buffer].owners += 1,
            Held::Tuple(all) => {
                for held in all {
                    self.cloned(held);
                }
            }
            _ => {}
        }
        held.clone()
    }

    fn release(&mut self, held: &Held) {
        match held {
            &Held::Dense(place, ..) => {
                let buffer = &mut self.buffers[place];
                buffer.owners -= 1;
                if buffer.owners == 0 {
                    if buffer.counted {
                        self.live -= buffer.bytes;
                    }
                    self.free.push(place);
                }
            }
            Held::Tuple(all) => all.iter().for_each(|held| self.release(held)),
            _ => {}
        }
    }

    fn release_all(&mut self, all: &[Held]) {
        for held in all {
            self.release(held);
        }
    }

    // Counts the memory of a tensor without another owner.
    fn charge(&mut self, held: &Held) {
        if let Held::Dense(buffer, ..) = held {
            let buffer = &mut self.buffers[*buffer];
            if buffer.owners == 1 && !buffer.counted {
                buffer.counted = true;
                self.live += buffer.bytes;
            }
        }
    }

    fn operand(&self, held: &Held) -> Option<OperandMemory> {
        Some(match *held {
            Held::Splat(dtype, len) => {
                OperandMemory { dtype, len, is_splat: true, is_unique: false }
            }
            Held::Dense(buffer, dtype, len) => {
                let is_unique = self.buffers[buffer].owners == 1;
                OperandMemory { dtype, len, is_splat: false, is_unique }
            }
            Held::Tuple(_) | Held::Token => return None,
        })
    }
}

struct PredictedRun<'p> {
    functions: &'p [&'p Function],
    plans: &'p [FunctionPlan],
    state: MemoryState,
    peak: u64,
    steps: usize,
    nesting: usize,
}

impl<'p> PredictedRun<'p> {
    fn record(&mut self, more: u64) {
        self.peak = self.peak.max(self.state.live.saturating_add(more));
    }

    fn call(&mut self, plan: usize, args: Vec<Held>) -> Option<Vec<Held>> {
        self.state.frames.push(vec![None; self.plans[plan].slots]);
        let results = self.body(plan, 0, args)?;
        for held in self.state.frames.pop()?.into_iter().flatten() {
            self.state.release(&held);
        }
        Some(results)
    }

    fn set_slot(&mut self, slot: u32, held: Option<Held>) {
        let Some(place) = self.state.frames.last_mut().and_then(|f| f.get_mut(slot as usize))
        else {
            return;
        };
        if let Some(before) = std::mem::replace(place, held) {
            self.state.release(&before);
        }
    }

    fn body(&mut self, plan: usize, body: usize, args: Vec<Held>) -> Option<Vec<Held>> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return None;
        }
        let plans = self.plans;
        let here: &'p BodyPlan = &plans[plan].bodies[body];
        for (held, &slot) in args.into_iter().zip(&here.params) {
            match slot {
                NO_SLOT => self.state.release(&held),
                slot => self.set_slot(slot, Some(held)),
            }
        }
        for step in &here.steps {
            self.step(plan, step)?;
        }
        self.nesting -= 1;
        self.read(plan, here.yields.clone())
    }

    fn read(&mut self, plan: usize, range: std::ops::Range<u32>) -> Option<Vec<Held>> {
        let operands = &self.plans[plan].operands[range.start as usize..range.end as usize];
        let mut all = Vec::with_capacity(operands.len());
        for operand in operands {
            let place = self.state.frames.last_mut()?.get_mut(operand.slot as usize)?;
            let held = if operand.take { place.take()? } else { place.clone()? };
            if !operand.take {
                self.state.cloned(&held);
            }
            all.push(held);
        }
        Some(all)
    }

    fn step(&mut self, plan: usize, step: &'p PlanStep) -> Option<()> {
        self.steps += 1;
        if self.steps > MAX_FOLLOWED_STEPS {
            return None;
        }
        let results = match &step.action {
            Action::Constant(value) => vec![self.constant(value)?],
            Action::Kernel(_) | Action::Group { .. } => self.kernel(plan, step)?,
            Action::Call(callee) => {
                let args = self.read(plan, step.operands.clone())?;
                self.call(*callee, args)?
            }
            Action::Control(control) => self.control(plan, step, *control)?,
            Action::Fault(_) => return None,
        };
        let plans = self.plans;
        let range = step.results.start as usize..step.results.end as usize;
        for (held, &slot) in results.into_iter().zip(&plans[plan].results[range]) {
            if slot == NO_SLOT {
                self.state.release(&held);
                continue;
            }
            if !matches!(step.action, Action::Constant(_)) {
                self.state.charge(&held);
            }
            self.set_slot(slot, Some(held));
        }
        for &slot in &plans[plan].frees[step.frees.start as usize..step.frees.end as usize] {
            self.set_slot(slot, None);
        }
        Some(())
    }

    // The plan owns the elements of constants.
    fn constant(&mut self, value: &Value) -> Option<Held> {
        let tensor = value.as_tensor()?;
        Some(match tensor.is_splat() {
            true => Held::Splat(tensor.dtype(), tensor.len()),
            false => self.state.add(tensor.dtype(), tensor.len(), 2),
        })
    }

    fn kernel(&mut self, plan: usize, step: &PlanStep) -> Option<Vec<Held>> {
        let args = self.read(plan, step.operands.clone())?;
        let f = self.functions[plan];
        match f.op_name(step.inst) {
            "tuple" => return Some(vec![Held::Tuple(args)]),
            "optimization_barrier" => return Some(args),
            "after_all" => return Some(vec![Held::Token]),
            "get_tuple_element" => {
                let index = usize::try_from(f.attr(step.inst, "index")?.as_int()?).ok()?;
                let Held::Tuple(all) = args.first()? else { return None };
                let held = all.get(index)?.clone();
                let held = self.state.cloned(&held);
                self.state.release_all(&args);
                return Some(vec![held]);
            }
            _ => {}
        }
        let operands: SmallVec<[OperandMemory; 4]> =
            args.iter().map(|held| self.state.operand(held)).collect::<Option<_>>()?;
        let memory = match &step.action {
            Action::Group { kernel, .. } => kernel.memory(&operands)?,
            _ => step.memory?(f, step.inst, &operands)?,
        };
        let mut more = memory.temporary;
        let mut results = Vec::with_capacity(step.types.len());
        for (ty, memory) in step.types.iter().zip(memory.results) {
            let (dtype, len) = extent(ty)?;
            results.push(match memory {
                ResultMemory::Splat => Held::Splat(dtype, len),
                ResultMemory::New => {
                    more = more.saturating_add(bytes(dtype, len));
                    self.state.add(dtype, len, 1)
                }
                ResultMemory::Operand(index) => match *args.get(index)? {
                    Held::Dense(buffer, ..) => {
                        self.state.buffers[buffer].owners += 1;
                        Held::Dense(buffer, dtype, len)
                    }
                    _ => Held::Splat(dtype, len),
                },
            });
        }
        self.record(more);
        self.state.release_all(&args);
        Some(results)
    }

    fn control(&mut self, plan: usize, step: &PlanStep, control: Control) -> Option<Vec<Held>> {
        let mut args = self.read(plan, step.operands.clone())?;
        let region = |number: usize| step.regions.get(number).map(|&body| body as usize);
        match control {
            Control::While => {
                let (condition, body) = (region(0)?, region(1)?);
                // The second iteration starts with values of the first, as all later ones do.
                for _ in 0..2 {
                    self.condition(plan, condition, &args)?;
                    args = self.body(plan, body, args)?;
                }
                self.condition(plan, condition, &args)?;
                Some(args)
            }
            Control::Cond | Control::Case => {
                self.state.release_all(&args);
                let before = self.state.clone();
                let mut largest: Option<(MemoryState, Vec<Held>)> = None;
                for &body in &step.regions {
                    self.state = before.clone();
                    let results = self.body(plan, body as usize, Vec::new())?;
                    if largest.as_ref().is_none_or(|(state, _)| state.live < self.state.live) {
                        largest = Some((self.state.clone(), results));
                    }
                }
                let (state, results) = largest?;
                self.state = state;
                Some(results)
            }
            Control::Scan => self.scan(plan, step, args),
            Control::Constant | Control::Call | Control::CustomCall => None,
        }
    }

    fn condition(&mut self, plan: usize, body: usize, carried: &[Held]) -> Option<()> {
        let args = carried.iter().map(|held| self.state.cloned(held)).collect();
        let results = self.body(plan, body, args)?;
        self.state.release_all(&results);
        Some(())
    }

    fn scan(&mut self, plan: usize, step: &PlanStep, mut carried: Vec<Held>) -> Option<Vec<Held>> {
        let f = self.functions[plan];
        let int = |name: &str| f.attr(step.inst, name).and_then(Attr::as_int);
        let number = usize::try_from(int("carried")?).ok()?;
        let scanned = carried.split_off(number.min(carried.len()));
        let lead = f.operands(step.inst).get(number).map(|&v| f.value_type(v));
        let lead = lead.and_then(|ty| ty.as_tensor()?.dims.first()?.known());
        let length = usize::try_from(lead.or_else(|| u64::try_from(int("length")?).ok())?).ok()?;
        let types = step.types.get(number..)?;
        let mut stacks: Vec<Held> = Vec::new();
        for _ in 0..length.min(2) {
            let mut args = carried;
            for held in &scanned {
                let operand = self.state.operand(held)?;
                let len = operand.len / length;
                args.push(match operand.is_splat {
                    true => Held::Splat(operand.dtype, len),
                    // A slice is not counted.
                    false => self.state.add(operand.dtype, len, 1),
                });
                self.record(bytes(operand.dtype, len));
            }
            let mut values = self.body(plan, *step.regions.first()? as usize, args)?;
            let slices = values.split_off(number.min(values.len()));
            if stacks.is_empty() {
                for ty in types {
                    let (dtype, len) = extent(ty)?;
                    self.record(bytes(dtype, len));
                    let stack = self.state.add(dtype, len, 1);
                    self.state.charge(&stack);
                    stacks.push(stack);
                }
            }
            self.state.release_all(&slices);
            carried = values;
        }
        self.state.release_all(&scanned);
        if length == 0 {
            for ty in types {
                let (dtype, len) = extent(ty)?;
                stacks.push(Held::Splat(dtype, len));
            }
        }
        carried.append(&mut stacks);
        Some(carried)
    }
}

/// Predicts the memory of fixed-order kernels, and of others that allocate as they do. It returns `None` for ops whose kernels need temporary memory.
#[must_use]
pub fn fixed_order_memory(
    f: &Function,
    inst: InstId,
    operands: &[OperandMemory],
) -> Option<StepMemory> {
    let def = f.op_def(inst)?;
    let result = extent(f.value_type(f.inst_results(inst).next()?));
    let (dtype, len) = result?;
    let first = operands.first();
    let splat = first.is_some_and(|operand| operand.is_splat);
    let new = StepMemory::of(ResultMemory::New);
    if len <= 1 && f.inst_results(inst).count() == 1 && !f.has_regions(inst) {
        return Some(StepMemory::of(ResultMemory::Splat));
    }
    if def.elementwise {
        if operands.iter().all(|operand| operand.is_splat) {
            return Some(StepMemory::of(ResultMemory::Splat));
        }
        let first = first?;
        return Some(match def.name {
            "cast" if first.dtype == dtype => StepMemory::of(ResultMemory::Operand(0)),
            // Either choice, of which one usually repeats a number.
            "select" if splat => {
                let dense = (1..operands.len()).find(|&index| !operands[index].is_splat);
                StepMemory::of(ResultMemory::Operand(dense.unwrap_or(1)))
            }
            "cast" | "compare" | "select" | "clamp" | "complex" | "real" | "imag" => new,
            _ if first.dtype != dtype => new,
            _ if first.is_unique => StepMemory::of(ResultMemory::Operand(0)),
            _ => new,
        });
    }
    match def.name {
        "reshape" | "refine" => Some(StepMemory::of(ResultMemory::Operand(0))),
        "broadcast_to" | "broadcast_in_dim" | "transpose" | "slice" | "reverse"
        | "dynamic_slice" => Some(if splat { StepMemory::of(ResultMemory::Splat) } else { new }),
        "reduce_sum" | "reduce_prod" | "reduce_max" | "reduce_min" | "reduce_and" | "reduce_or"
        | "reduce_xor"
            if f.attr(inst, "accumulate").is_none_or(|a| !matches!(a, Attr::Type(_)))
                && (dtype.bit_width() >= 32 || !dtype.is_float()) =>
        {
            Some(if splat { StepMemory::of(ResultMemory::Splat) } else { new })
        }
        "iota" | "concat" | "pad" => Some(new),
        "reduce_window" if dtype.bit_width() >= 32 => Some(new),
        "reduce" => {
            let results = f.inst_results(inst).map(|_| ResultMemory::New).collect();
            Some(StepMemory { results, temporary: 0 })
        }
        // The bits of all elements are collected first.
        "bitcast" => {
            let temporary = if splat { 0 } else { 16 * first?.len as u64 };
            let result = if splat { ResultMemory::Splat } else { ResultMemory::New };
            Some(StepMemory { results: smallvec![result], temporary })
        }
        "dynamic_update_slice" => {
            let (input, update) = (first?, operands.get(1)?);
            Some(if input.len == update.len {
                StepMemory::of(ResultMemory::Operand(1))
            } else if update.len == 0 || input.is_unique {
                StepMemory::of(ResultMemory::Operand(0))
            } else {
                new
            })
        }
        _ => None,
    }
}
