//! Programs over blocks: a list of instructions whose operands are registers, blocks of inputs, or constants.
#![allow(
    clippy::needless_range_loop,
    reason = "the steps of joined iterators are not always inlined"
)]

use sapwood_ptir::eval::{DataType, bf16, f16};
use smallvec::SmallVec;

use super::convert::{self, Convert, Narrow};
use super::lanes::{BinaryOp, Lane, LaneType, NarrowFloat, ReduceOp, Relation, Source, UnaryOp};
use super::{lanes, strided};
use crate::kernels::vectors::vectorized;

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    /// The result of an instruction, by its position.
    Result(u32),
    /// The block of an input that is stored in its lane type and read in order.
    Input(u32),
    /// The bits of a constant.
    Constant(u64),
}

/// The operation of an instruction.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Unary(UnaryOp, Operand),
    Binary(BinaryOp, Operand, Operand),
    /// Compares operands of a type; the result is bool.
    Compare(Relation, LaneType, Operand, Operand),
    Select(Operand, Operand, Operand),
    Cast(LaneType, Operand),
    /// Elements of another type with the same bits.
    Bitcast(LaneType, Operand),
    Round(NarrowFloat, Operand),
    /// Reduces rows to a column.
    Reduce(ReduceOp, Operand),
    /// Repeats a column along rows.
    Spread(Operand),
    /// Reads an input at strides, or converts it to its lane type.
    Load {
        input: u32,
        offset: usize,
        axes: SmallVec<[(usize, usize); 4]>,
    },
    /// Counts: the position divided by `stride`, modulo `extent`.
    Count {
        stride: usize,
        extent: usize,
    },
}

/// An instruction. Its result has one element per row, or with `inner` one per row and column.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    pub(super) operation: Operation,
    pub(super) ty: LaneType,
    pub(super) inner: bool,
}

impl Operation {
    /// Calls a function with each operand.
    pub(super) fn for_each_operand(&mut self, mut f: impl FnMut(&mut Operand)) {
        match self {
            Self::Unary(_, a)
            | Self::Cast(_, a)
            | Self::Bitcast(_, a)
            | Self::Round(_, a)
            | Self::Reduce(_, a)
            | Self::Spread(a) => f(a),
            Self::Binary(_, a, b) | Self::Compare(_, _, a, b) => {
                f(a);
                f(b);
            }
            Self::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Self::Load { .. } | Self::Count { .. } => {}
        }
    }
}

/// A result that leaves the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Output {
    pub(super) result: u32,
    pub(super) dtype: DataType,
}

/// The place of the result of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Register(u32),
    Output(u32),
}

/// A program with its registers assigned.
#[derive(Clone, Debug)]
pub(super) struct BlockProgram {
    instructions: Vec<Instruction>,
    places: Vec<Place>,
    outputs: Vec<Output>,
    // The number of registers of each type; the order is that of `LaneType`.
    registers: [u32; 6],
    // For each input that is read in order, a register for its block, used if an output takes over the storage of the input.
    input_registers: Vec<Option<(LaneType, u32)>>,
    has_inner: bool,
}

impl BlockProgram {
    /// Assigns registers. `direct` has the lane type of each input that [`Operand::Input`] names.
    pub(super) fn new(
        mut instructions: Vec<Instruction>,
        outputs: Vec<Output>,
        direct: &[Option<LaneType>],
    ) -> Self {
        let mut last_use: Vec<usize> = (0..instructions.len()).collect();
        for (at, instruction) in instructions.iter_mut().enumerate() {
            instruction.operation.for_each_operand(|operand| {
                if let Operand::Result(result) = operand {
                    last_use[*result as usize] = at;
                }
            });
        }
        // Outputs that are not written in place are stored at the end of the block.
        for output in &outputs {
            last_use[output.result as usize] = instructions.len() - 1;
        }
        let mut free: [Vec<u32>; 6] = Default::default();
        let mut registers = [0u32; 6];
        let loaded = |input: usize| {
            let loads = |i: &Instruction| matches!(i.operation, Operation::Load { input: n, .. } if n as usize == input);
            instructions.iter().any(loads)
        };
        let input_register = |(input, ty): (usize, &Option<LaneType>)| {
            let ty = ty.filter(|_| !loaded(input))?;
            registers[ty as usize] += 1;
            Some((ty, registers[ty as usize] - 1))
        };
        let input_registers = direct.iter().enumerate().map(input_register).collect();
        let mut ends: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); instructions.len()];
        let mut places = Vec::with_capacity(instructions.len());
        for (at, instruction) in instructions.iter().enumerate() {
            let ty = instruction.ty as usize;
            let direct = outputs.iter().position(|o| {
                o.result as usize == at && LaneType::of(o.dtype) == Some((instruction.ty, None))
            });
            places.push(match direct {
                Some(output) => Place::Output(output as u32),
                None => {
                    let register = free[ty].pop().unwrap_or_else(|| {
                        registers[ty] += 1;
                        registers[ty] - 1
                    });
                    ends[last_use[at]].push(at as u32);
                    Place::Register(register)
                }
            });
            // A register is free after the instruction, so no result overwrites an operand.
            for &ended in &ends[at] {
                if let Place::Register(register) = places[ended as usize] {
                    free[instructions[ended as usize].ty as usize].push(register);
                }
            }
        }
        let has_inner = instructions.iter().any(|i| i.inner);
        Self { instructions, places, outputs, registers, input_registers, has_inner }
    }

    pub(super) fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    pub(super) fn is_inner(&self, output: &Output) -> bool {
        self.instructions[output.result as usize].inner
    }

    /// Returns the number of instructions.
    pub(super) fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Returns whether an input is read in its lane type and only in order, so that an output may take over its storage.
    pub(super) fn reads_only_in_order(&self, input: usize) -> bool {
        self.input_registers.get(input).is_some_and(Option::is_some)
    }
}

/// The elements of an input.
#[derive(Clone, Copy)]
pub(super) enum InputBlock<'a> {
    Bool(Source<'a, bool>),
    I32(Source<'a, i32>),
    U32(Source<'a, u32>),
    I64(Source<'a, i64>),
    F32(Source<'a, f32>),
    F64(Source<'a, f64>),
    F16(Source<'a, f16>),
    Bf16(Source<'a, bf16>),
    /// The storage belongs to this output.
    TakenOver(usize),
}

/// The elements of an output.
pub(super) enum OutputBlock<'a> {
    Bool(&'a mut [bool]),
    I32(&'a mut [i32]),
    U32(&'a mut [u32]),
    I64(&'a mut [i64]),
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
    F16(&'a mut [f16]),
    Bf16(&'a mut [bf16]),
}

/// The registers of one type.
type Bank<T> = Vec<Vec<T>>;

/// The registers of a program.
#[derive(Default)]
pub(super) struct Registers {
    // The number of elements that all registers have at least.
    prepared: usize,
    bools: Bank<bool>,
    i32s: Bank<i32>,
    u32s: Bank<u32>,
    i64s: Bank<i64>,
    f32s: Bank<f32>,
    f64s: Bank<f64>,
}

impl Registers {
    /// Provides the registers of a program, the same for all calls, for blocks of this number of elements.
    pub(super) fn prepare(&mut self, program: &BlockProgram, len: usize) {
        fn grow<T: Lane>(bank: &mut Bank<T>, number: u32, len: usize) {
            if bank.len() < number as usize {
                bank.resize(number as usize, Vec::new());
            }
            for register in bank.iter_mut().filter(|r| r.len() < len) {
                register.resize(len, T::ZERO);
            }
        }
        if len <= self.prepared {
            return;
        }
        self.prepared = len;
        let [bools, i32s, u32s, i64s, f32s, f64s] = program.registers;
        grow(&mut self.bools, bools, len);
        grow(&mut self.i32s, i32s, len);
        grow(&mut self.u32s, u32s, len);
        grow(&mut self.i64s, i64s, len);
        grow(&mut self.f32s, f32s, len);
        grow(&mut self.f64s, f64s, len);
    }
}

/// A type with registers.
pub(super) trait RegisterLane: Lane {
    fn bank(registers: &Registers) -> &Bank<Self>;
    fn bank_mut(registers: &mut Registers) -> &mut Bank<Self>;
    fn of_input<'a>(input: &InputBlock<'a>) -> Option<Source<'a, Self>>;
    fn of_output<'a, 'b>(output: &'b OutputBlock<'a>) -> Option<&'b [Self]>;
    fn of_output_mut<'a, 'b>(output: &'b mut OutputBlock<'a>) -> Option<&'b mut &'a mut [Self]>;
    fn of_bits(bits: u64) -> Self {
        Self::unpack(u128::from(bits))
    }
}

macro_rules! register_lane {
    ($($ty:ident, $variant:ident, $bank:ident;)*) => {$(
        impl RegisterLane for $ty {
            #[inline(always)]
            fn bank(registers: &Registers) -> &Bank<Self> { &registers.$bank }
            #[inline(always)]
            fn bank_mut(registers: &mut Registers) -> &mut Bank<Self> { &mut registers.$bank }
            #[inline(always)]
            fn of_input<'a>(input: &InputBlock<'a>) -> Option<Source<'a, Self>> {
                if let InputBlock::$variant(source) = input { Some(*source) } else { None }
            }
            #[inline(always)]
            fn of_output<'a, 'b>(output: &'b OutputBlock<'a>) -> Option<&'b [Self]> {
                if let OutputBlock::$variant(all) = output { Some(all) } else { None }
            }
            #[inline(always)]
            fn of_output_mut<'a, 'b>(output: &'b mut OutputBlock<'a>) -> Option<&'b mut &'a mut [Self]> {
                if let OutputBlock::$variant(all) = output { Some(all) } else { None }
            }
        }
    )*};
}
register_lane! {
    bool, Bool, bools;
    i32, I32, i32s;
    u32, U32, u32s;
    i64, I64, i64s;
    f32, F32, f32s;
    f64, F64, f64s;
}

macro_rules! with_lane {
    ($ty:expr, $T:ident => $body:expr) => {
        with_lane!(@match $ty, $T => $body; Bool bool, I32 i32, U32 u32, I64 i64, F32 f32, F64 f64)
    };
    (@match $ty:expr, $T:ident => $body:expr; $($variant:ident $lane:ty),*) => {
        match $ty {
            $(LaneType::$variant => {
                type $T = $lane;
                $body
            })*
        }
    };
}

/// The rows that a run of a program computes.
#[derive(Clone, Copy)]
pub(super) struct BlockRange {
    /// The first row, counted from the start of the tensors.
    pub(super) first: usize,
    /// The number of rows.
    pub(super) rows: usize,
    /// The number of columns of inner values.
    pub(super) columns: usize,
    /// The first row of the outputs.
    pub(super) outputs_from: usize,
}

impl BlockRange {
    #[inline(always)]
    fn elements(self, inner: bool) -> std::ops::Range<usize> {
        let width = if inner { self.columns } else { 1 };
        self.first * width..(self.first + self.rows) * width
    }

    #[inline(always)]
    fn output_elements(self, inner: bool) -> std::ops::Range<usize> {
        let width = if inner { self.columns } else { 1 };
        let first = self.first - self.outputs_from;
        first * width..(first + self.rows) * width
    }
}

/// The data of a running program.
struct Blocks<'r, 'i, 'o> {
    program: &'r BlockProgram,
    registers: &'r mut Registers,
    inputs: &'r [InputBlock<'i>],
    outputs: &'r mut [OutputBlock<'o>],
    range: BlockRange,
}

/// The data that operands are read from.
#[derive(Clone, Copy)]
struct BlockData<'r, 'i, 'o> {
    program: &'r BlockProgram,
    registers: &'r Registers,
    inputs: &'r [InputBlock<'i>],
    outputs: &'r [OutputBlock<'o>],
}

impl<'r> BlockData<'r, '_, '_> {
    #[inline(always)]
    fn source<T: RegisterLane>(
        &self,
        operand: Operand,
        inner: bool,
        range: BlockRange,
    ) -> Source<'r, T> {
        match operand {
            Operand::Constant(bits) => Source::Splat(T::of_bits(bits)),
            Operand::Input(input) => match T::of_input(&self.inputs[input as usize]) {
                Some(Source::Splat(x)) => Source::Splat(x),
                Some(Source::Dense(all)) => Source::Dense(&all[range.elements(inner)]),
                // The storage belongs to an output; the block was copied to a register.
                None => {
                    let register = self.program.input_registers[input as usize];
                    let (_, register) = register.unwrap_or((LaneType::Bool, 0));
                    let len = range.elements(inner).len();
                    Source::Dense(&T::bank(self.registers)[register as usize][..len])
                }
            },
            Operand::Result(result) => {
                let inner = self.program.instructions[result as usize].inner;
                match self.program.places[result as usize] {
                    Place::Register(register) => {
                        let len = range.elements(inner).len();
                        Source::Dense(&T::bank(self.registers)[register as usize][..len])
                    }
                    Place::Output(output) => {
                        let all = T::of_output(&self.outputs[output as usize]);
                        Source::Dense(&all.unwrap_or_default()[range.output_elements(inner)])
                    }
                }
            }
        }
    }
}

impl Blocks<'_, '_, '_> {
    #[inline(always)]
    fn source<T: RegisterLane>(&self, operand: Operand, inner: bool) -> Source<'_, T> {
        let data = BlockData {
            program: self.program,
            registers: self.registers,
            inputs: self.inputs,
            outputs: self.outputs,
        };
        data.source(operand, inner, self.range)
    }

    // Runs an instruction with the elements of its result.
    fn write<T: RegisterLane>(&mut self, at: usize, f: impl FnOnce(&Self, &mut [T])) {
        let inner = self.program.instructions[at].inner;
        match self.program.places[at] {
            Place::Register(register) => {
                let place = &mut T::bank_mut(self.registers)[register as usize];
                let mut taken = std::mem::take(place);
                let len = self.range.elements(inner).len();
                f(self, &mut taken[..len]);
                T::bank_mut(self.registers)[register as usize] = taken;
            }
            Place::Output(output) => {
                let range = self.range.output_elements(inner);
                let output = output as usize;
                let Some(place) = T::of_output_mut(&mut self.outputs[output]) else { return };
                let taken = std::mem::take(place);
                f(self, &mut taken[range]);
                if let Some(place) = T::of_output_mut(&mut self.outputs[output]) {
                    *place = taken;
                }
            }
        }
    }

    fn step(&mut self, at: usize) {
        let program = self.program;
        let Instruction { operation, ty, inner } = &program.instructions[at];
        let inner = *inner;
        match operation {
            Operation::Unary(op, a) => with_lane!(ty, T => self.write::<T>(at, |blocks, to| {
                T::unary(*op, to, blocks.source(*a, inner));
            })),
            Operation::Binary(op, a, b) => with_lane!(ty, T => self.write::<T>(at, |blocks, to| {
                T::binary(*op, to, blocks.source(*a, inner), blocks.source(*b, inner));
            })),
            Operation::Compare(relation, ty, a, b) => self.write::<bool>(at, |blocks, to| {
                with_lane!(ty, T => {
                    lanes::compare::<T>(*relation, to, blocks.source(*a, inner), blocks.source(*b, inner));
                });
            }),
            Operation::Select(p, a, b) => with_lane!(ty, T => self.write::<T>(at, |blocks, to| {
                let (yes, no) = (blocks.source(*a, inner), blocks.source(*b, inner));
                lanes::select::<T>(to, blocks.source(*p, inner), yes, no);
            })),
            Operation::Cast(from, a) => with_lane!(ty, U => self.write::<U>(at, |blocks, to| {
                with_lane!(from, T => convert::convert::<T, U>(to, blocks.source(*a, inner)));
            })),
            Operation::Bitcast(from, a) => with_lane!(ty, U => self.write::<U>(at, |blocks, to| {
                with_lane!(from, T => convert::bitcast::<T, U>(to, blocks.source(*a, inner)));
            })),
            Operation::Round(narrow, a) => self.write::<f32>(at, |blocks, to| {
                convert::round(*narrow, to, blocks.source(*a, inner));
            }),
            Operation::Reduce(op, a) => with_lane!(ty, T => self.write::<T>(at, |blocks, to| {
                lanes::reduce::<T>(*op, to, blocks.source(*a, true), blocks.range.columns);
            })),
            Operation::Spread(a) => with_lane!(ty, T => self.write::<T>(at, |blocks, to| {
                lanes::spread::<T>(to, blocks.source(*a, false), blocks.range.columns);
            })),
            Operation::Load { input, offset, axes } => {
                let (input, start) = (self.inputs[*input as usize], self.range.elements(inner).start);
                match input {
                    InputBlock::F16(source) => self.write::<f32>(at, |_, to| {
                        load(source, *offset, axes, start, to, Narrow::widen);
                    }),
                    InputBlock::Bf16(source) => self.write::<f32>(at, |_, to| {
                        load(source, *offset, axes, start, to, Narrow::widen);
                    }),
                    _ => with_lane!(ty, T => self.write::<T>(at, |_, to| {
                        if let Some(source) = T::of_input(&input) {
                            load(source, *offset, axes, start, to, |x: T| x);
                        }
                    })),
                }
            }
            Operation::Count { stride, extent } => {
                let start = self.range.elements(inner).start;
                with_lane!(ty, T => self.write::<T>(at, |_, to| count::<T>(start, *stride, *extent, to)));
            }
        }
    }

    // Copies the blocks of inputs whose storage belongs to an output.
    fn save_inputs(&mut self) {
        for (input, block) in self.inputs.iter().enumerate() {
            let InputBlock::TakenOver(output) = *block else { continue };
            let Some((ty, register)) = self.program.input_registers[input] else { continue };
            let inner = self.program.is_inner(&self.program.outputs[output]);
            let range = self.range.output_elements(inner);
            with_lane!(ty, T => {
                let Some(all) = T::of_output(&self.outputs[output]) else { continue };
                let to = &mut T::bank_mut(self.registers)[register as usize];
                to[..range.len()].copy_from_slice(&all[range]);
            });
        }
    }

    // Copies results to outputs of narrow types, and to further outputs of one result.
    fn store_outputs(&mut self) {
        for number in 0..self.program.outputs.len() {
            let Output { result, .. } = self.program.outputs[number];
            if self.program.places[result as usize] == Place::Output(number as u32) {
                continue;
            }
            let Instruction { ty, inner, .. } = self.program.instructions[result as usize];
            let range = self.range.output_elements(inner);
            let operand = Operand::Result(result);
            let (before, rest) = self.outputs.split_at_mut(number);
            let Some((output, _)) = rest.split_first_mut() else { continue };
            let (registers, inputs) = (&*self.registers, self.inputs);
            let data = BlockData { program: self.program, registers, inputs, outputs: before };
            match output {
                OutputBlock::F16(to) => {
                    narrow(&mut to[range], data.source(operand, inner, self.range));
                }
                OutputBlock::Bf16(to) => {
                    narrow(&mut to[range], data.source(operand, inner, self.range));
                }
                output => with_lane!(ty, T => {
                    if let Some(to) = T::of_output_mut(output) {
                        let from = data.source(operand, inner, self.range);
                        T::unary(UnaryOp::Copy, &mut to[range], from);
                    }
                }),
            }
        }
    }
}

#[inline(always)]
fn narrow<T: Narrow>(to: &mut [T], from: Source<'_, f32>) {
    match from {
        Source::Splat(x) => to.fill(T::narrow(x)),
        Source::Dense(all) => {
            vectorized(
                #[inline(always)]
                || {
                    let n = to.len().min(all.len());
                    let (to, all) = (&mut to[..n], &all[..n]);
                    for i in 0..n {
                        to[i] = T::narrow(all[i]);
                    }
                },
            );
        }
    }
}

#[inline(always)]
fn load<T: Copy, U: Copy>(
    source: Source<'_, T>,
    offset: usize,
    axes: &[(usize, usize)],
    start: usize,
    to: &mut [U],
    convert: impl Fn(T) -> U,
) {
    match source {
        Source::Splat(x) => to.fill(convert(x)),
        Source::Dense(all) => vectorized(
            #[inline(always)]
            || strided::load(all, offset, axes, start, to, &convert),
        ),
    }
}

trait OfIndex {
    fn of_index(index: usize) -> Self;
}
macro_rules! of_index {
    ($($ty:ident)*) => {$(
        impl OfIndex for $ty {
            #[inline(always)]
            fn of_index(index: usize) -> Self { <$ty as Convert<i64>>::convert(index as i64) }
        }
    )*};
}
of_index!(bool i32 u32 i64 f32 f64);

#[inline(always)]
fn count<T: OfIndex>(start: usize, stride: usize, extent: usize, to: &mut [T]) {
    let (mut rest, mut value) = (start % stride, start / stride % extent);
    for x in to {
        *x = T::of_index(value);
        rest += 1;
        if rest == stride {
            rest = 0;
            value = if value + 1 == extent { 0 } else { value + 1 };
        }
    }
}

/// Runs a program on rows, block by block.
pub(super) fn run_blocks(
    program: &BlockProgram,
    registers: &mut Registers,
    inputs: &[InputBlock<'_>],
    outputs: &mut [OutputBlock<'_>],
    range: BlockRange,
    rows_per_block: usize,
) {
    let width = if program.has_inner { range.columns } else { 1 };
    let rows_per_block = rows_per_block.min(range.rows).max(1);
    registers.prepare(program, rows_per_block * width);
    let end = range.first + range.rows;
    let mut first = range.first;
    while first < end {
        let rows = rows_per_block.min(end - first);
        let range = BlockRange { first, rows, ..range };
        let mut blocks = Blocks { program, registers, inputs, outputs, range };
        blocks.save_inputs();
        for at in 0..program.instructions.len() {
            blocks.step(at);
        }
        blocks.store_outputs();
        first += rows;
    }
}
