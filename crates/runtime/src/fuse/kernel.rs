//! The kernel of a fused group: divides the rows among threads and runs the group's program block by block.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, FusedKernel, Native, OperandMemory, ResultMemory, Results,
    Shape, StepMemory, Tensor, View, bf16, f16,
};
use smallvec::SmallVec;

use super::lanes::Source;
use super::program::{
    BlockProgram, BlockRange, InputBlock, Output, OutputBlock, Registers, run_blocks,
};
use super::strided::{self, CopyAxis};
use crate::kernels::parallel::usable_threads;

/// The number of elements in a block: with the registers of a typical group, blocks fit the L1 cache.
pub(super) const BLOCK_ELEMENTS: usize = 2048;
/// The number of element operations between two checks of the limits.
const OPERATIONS_PER_CHECK: usize = 1 << 24;
/// The least number of element operations that are worth a second thread.
const MIN_OPERATIONS_PER_THREAD: usize = 1 << 18;

/// The kernel of a fused group.
pub(super) struct GroupKernel {
    pub(super) program: BlockProgram,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// True if an instruction counts. Otherwise all rows are equal if all inputs are splats, and so are all columns: splats give splats.
    pub(super) counts: bool,
    pub(super) registers: Mutex<Vec<Registers>>,
}

impl GroupKernel {
    pub(super) fn take_registers(&self) -> Registers {
        let mut spare = self.registers.lock().unwrap_or_else(PoisonError::into_inner);
        spare.pop().unwrap_or_default()
    }

    pub(super) fn return_registers(&self, registers: Registers) {
        self.registers.lock().unwrap_or_else(PoisonError::into_inner).push(registers);
    }

    // Returns the number of elements that an output has in some rows.
    fn output_len(&self, output: usize, rows: usize) -> usize {
        let inner = self.program.is_inner(&self.program.outputs()[output]);
        if inner { rows * self.columns } else { rows }
    }
}

/// The storage of an output.
pub(super) enum Storage {
    Bool(Vec<bool>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    /// An input whose storage has no other owner.
    Tensor(Tensor),
}

macro_rules! storages {
    ($($variant:ident, $($dtype:ident)|+;)*) => {
        impl Storage {
            /// Allocates elements of a type, with any values.
            pub(super) fn new(cx: &EvalCx<'_>, dtype: DataType, len: usize) -> Result<Self, Fault> {
                Ok(match dtype {
                    $($(DataType::$dtype)|+ => Self::$variant(cx.buffer(len)?),)*
                    other => return Err(Fault::op(format!("{other} cannot be fused"))),
                })
            }

            /// Returns the elements as a tensor.
            pub(super) fn into_tensor(self, dtype: DataType, shape: &Shape) -> Option<Tensor> {
                match self {
                    $(Self::$variant(all) => Some(Tensor::new(dtype, shape, all)),)*
                    Self::Tensor(tensor) => tensor.reshaped(shape)?.with_dtype(dtype),
                }
            }

            /// Returns all elements for writing.
            pub(super) fn whole(&mut self) -> Option<OutputBlock<'_>> {
                Some(match self {
                    $(Self::$variant(all) => OutputBlock::$variant(all),)*
                    Self::Tensor(tensor) => match tensor.dtype() {
                        $($(DataType::$dtype)|+ => OutputBlock::$variant(tensor.unique_mut()?),)*
                        _ => return None,
                    },
                })
            }

            /// Returns all elements for reading.
            pub(super) fn as_input(&self) -> InputBlock<'_> {
                match self {
                    $(Self::$variant(all) => InputBlock::$variant(Source::Dense(all)),)*
                    Self::Tensor(tensor) => {
                        input_block(tensor).unwrap_or(InputBlock::TakenOver(0))
                    }
                }
            }

            /// Copies elements of a view of a tensor, from its `start`-th on.
            pub(super) fn fill(
                &mut self,
                from: &Tensor,
                offset: usize,
                axes: &[(usize, usize)],
                start: usize,
                len: usize,
            ) -> Result<(), Fault> {
                match self {
                    $(Self::$variant(all) => match from.view() {
                        Some(View::Splat(x)) => all[..len].fill(x),
                        Some(View::Dense(elements)) => {
                            strided::load(elements, offset, axes, start, &mut all[..len], |x| x);
                        }
                        None => return Err(Fault::op("an operand has a wrong type")),
                    },)*
                    Self::Tensor(_) => return Err(Fault::op("an operand has a wrong type")),
                }
                Ok(())
            }

            /// Copies elements of a block from `offset` on to places from `start` on.
            pub(super) fn copy_at_strides(
                &mut self,
                from: &InputBlock<'_>,
                axes: &[CopyAxis],
                offset: usize,
                start: usize,
            ) -> Result<(), Fault> {
                match (self, from) {
                    $((Self::$variant(to), InputBlock::$variant(from)) => {
                        strided::copy(*from, axes, offset, start, to);
                    })*
                    _ => return Err(Fault::op("an operand has a wrong type")),
                }
                Ok(())
            }

            /// Keeps the first element.
            fn truncate_to_one(&mut self) {
                match self {
                    $(Self::$variant(all) => all.truncate(1),)*
                    // Only tensors of one element are taken over where one is kept.
                    Self::Tensor(_) => {}
                }
            }

            /// Copies the first elements of a block to a place.
            pub(super) fn copy_block(&mut self, first: usize, from: &Self, len: usize) {
                match (self, from) {
                    $((Self::$variant(to), Self::$variant(from)) => {
                        to[first..first + len].copy_from_slice(&from[..len]);
                    })*
                    _ => {}
                }
            }

            // Returns the elements in parts of these lengths.
            fn parts(&mut self, lengths: &[usize]) -> Option<Vec<OutputBlock<'_>>> {
                Some(match self {
                    $(Self::$variant(all) => {
                        split(all, lengths).into_iter().map(OutputBlock::$variant).collect()
                    })*
                    Self::Tensor(tensor) => match tensor.dtype() {
                        $($(DataType::$dtype)|+ => {
                            let all = tensor.unique_mut()?;
                            split(all, lengths).into_iter().map(OutputBlock::$variant).collect()
                        })*
                        _ => return None,
                    },
                })
            }
        }

        /// Returns the elements of a tensor for reading.
        pub(super) fn input_block(tensor: &Tensor) -> Option<InputBlock<'_>> {
            Some(match tensor.dtype() {
                $($(DataType::$dtype)|+ => InputBlock::$variant(source(tensor.view()?)),)*
                _ => return None,
            })
        }
    };
}
storages! {
    Bool, Bool;
    I32, I32;
    U32, U32;
    I64, I64 | Index;
    F32, F32;
    F64, F64;
    F16, F16;
    Bf16, Bf16;
}

fn source<T>(view: View<'_, T>) -> Source<'_, T> {
    match view {
        View::Splat(x) => Source::Splat(x),
        View::Dense(all) => Source::Dense(all),
    }
}

fn split<'a, T>(mut all: &'a mut [T], lengths: &[usize]) -> Vec<&'a mut [T]> {
    let part = |&len: &usize| {
        let (part, rest) = std::mem::take(&mut all).split_at_mut(len);
        all = rest;
        part
    };
    lengths.iter().map(part).collect()
}

/// Returns whether a tensor's elements may be overwritten.
pub(super) fn is_unique(tensor: &mut Tensor) -> bool {
    fn unique<T: Native>(tensor: &mut Tensor) -> bool {
        tensor.unique_mut::<T>().is_some()
    }
    sapwood_ptir::with_native!(tensor.dtype(), T => unique::<T>(tensor))
}

impl FusedKernel for GroupKernel {
    fn evaluate(&self, cx: &mut EvalCx<'_>) -> EvalResult {
        let shapes: SmallVec<[Shape; 2]> =
            (0..cx.num_results()).map(|i| cx.result_shape(i)).collect::<Result<_, _>>()?;
        let mut inputs: SmallVec<[Option<Tensor>; 4]> = SmallVec::new();
        for index in 0..cx.args().len() {
            inputs.push(Some(cx.take_tensor(index)?));
        }
        // Of splats of any size, one row is computed.
        let splat = !self.counts && inputs.iter().flatten().all(Tensor::is_splat);
        let rows = if splat { self.rows.min(1) } else { self.rows };
        let total = rows.saturating_mul(self.columns);
        let mut storages: SmallVec<[Storage; 2]> = SmallVec::new();
        let mut taken: SmallVec<[Option<usize>; 4]> = SmallVec::from_elem(None, inputs.len());
        for (number, output) in self.program.outputs().iter().enumerate() {
            let len = self.output_len(number, rows);
            let reusable = |(index, tensor): (usize, &mut Option<Tensor>)| {
                let tensor = tensor.as_mut()?;
                let fits = tensor.len() == len && tensor.dtype() == output.dtype;
                let fits = fits && (!splat || len == 1);
                (fits && self.program.reads_only_in_order(index) && is_unique(tensor))
                    .then_some(index)
            };
            let reused = inputs.iter_mut().enumerate().find_map(reusable);
            storages.push(match reused.and_then(|index| Some((index, inputs[index].take()?))) {
                Some((index, tensor)) => {
                    taken[index] = Some(number);
                    Storage::Tensor(tensor)
                }
                None => Storage::new(cx, output.dtype, len)?,
            });
        }
        let mut blocks: SmallVec<[InputBlock<'_>; 4]> = SmallVec::new();
        for (tensor, taken) in inputs.iter().zip(&taken) {
            let block = match (tensor, taken) {
                (Some(tensor), _) => input_block(tensor),
                (None, taken) => taken.map(InputBlock::TakenOver),
            };
            blocks.push(block.ok_or_else(|| Fault::op("an operand cannot be fused"))?);
        }
        self.run(cx, &blocks, &mut storages, rows, total)?;
        let mut results = Results::new();
        for ((mut storage, output), shape) in
            storages.into_iter().zip(self.program.outputs()).zip(shapes)
        {
            let tensor = if splat {
                storage.truncate_to_one();
                let one = storage.into_tensor(output.dtype, &Shape::new());
                one.and_then(|one| one.splat_to(&shape))
            } else {
                storage.into_tensor(output.dtype, &shape)
            };
            results
                .push(tensor.ok_or_else(|| Fault::op("a fused result has a wrong type"))?.into());
        }
        Ok(results)
    }

    // The decisions of `evaluate`, without elements.
    fn memory(&self, operands: &[OperandMemory]) -> Option<StepMemory> {
        let outputs = self.program.outputs();
        if !self.counts && operands.iter().all(|operand| operand.is_splat) {
            let results = outputs.iter().map(|_| ResultMemory::Splat).collect();
            // One element takes no block of its own.
            let row = |(number, output): (usize, &Output)| match self.output_len(number, 1) {
                1 => 0,
                len => len * output.dtype.byte_size(),
            };
            let temporary = outputs.iter().enumerate().map(row).sum::<usize>() as u64;
            return Some(StepMemory { results, temporary });
        }
        let mut taken: SmallVec<[bool; 4]> = SmallVec::from_elem(false, operands.len());
        let mut results = SmallVec::new();
        for (number, output) in outputs.iter().enumerate() {
            let len = self.output_len(number, self.rows);
            let reused = (0..operands.len()).find(|&index| {
                let operand = &operands[index];
                let fits = operand.len == len && operand.dtype == output.dtype;
                let free = operand.is_unique && !taken[index];
                fits && free && self.program.reads_only_in_order(index)
            });
            results.push(reused.map_or(ResultMemory::New, |index| {
                taken[index] = true;
                ResultMemory::Operand(index)
            }));
        }
        Some(StepMemory { results, temporary: 0 })
    }
}

impl GroupKernel {
    // Runs the program on all rows, in portions between which the limits are checked.
    fn run(
        &self,
        cx: &EvalCx<'_>,
        inputs: &[InputBlock<'_>],
        storages: &mut [Storage],
        rows: usize,
        total: usize,
    ) -> Result<(), Fault> {
        let columns = self.columns;
        let operations = total.saturating_mul(self.program.len());
        let rows_per_block = (BLOCK_ELEMENTS / columns).max(1);
        if operations < 2 * MIN_OPERATIONS_PER_THREAD {
            cx.work(operations as u64)?;
            let outputs = storages.iter_mut().map(Storage::whole);
            let outputs: Option<SmallVec<[OutputBlock<'_>; 2]>> = outputs.collect();
            let mut outputs = outputs.ok_or_else(|| Fault::op("an output is shared"))?;
            let range = BlockRange { first: 0, rows, columns, outputs_from: 0 };
            let mut registers = self.take_registers();
            run_blocks(&self.program, &mut registers, inputs, &mut outputs, range, rows_per_block);
            self.return_registers(registers);
            return Ok(());
        }
        let portions = operations.div_ceil(OPERATIONS_PER_CHECK).clamp(1, rows.max(1));
        let threads = usable_threads(cx.threads());
        // Jobs are multiples of blocks, so that vector remainders are rare.
        let blocks = rows.div_ceil(rows_per_block);
        let jobs_per_portion = threads.min(blocks).max(1);
        let jobs = (portions * jobs_per_portion).min(blocks.max(1));
        let blocks_per_job = blocks.div_ceil(jobs).max(1);
        let ranges: Vec<BlockRange> = (0..blocks.div_ceil(blocks_per_job))
            .map(|job| {
                let first = job * blocks_per_job * rows_per_block;
                let rows = (blocks_per_job * rows_per_block).min(rows - first);
                BlockRange { first, rows, columns, outputs_from: first }
            })
            .collect();
        let mut outputs: Vec<Vec<OutputBlock<'_>>> = ranges.iter().map(|_| Vec::new()).collect();
        for (output, storage) in self.program.outputs().iter().zip(storages) {
            let width = if self.program.is_inner(output) { columns } else { 1 };
            let lengths: Vec<usize> = ranges.iter().map(|range| range.rows * width).collect();
            let parts = storage.parts(&lengths);
            let parts = parts.ok_or_else(|| Fault::op("an output is shared"))?;
            outputs.iter_mut().zip(parts).for_each(|(job, part)| job.push(part));
        }
        let mut jobs: Vec<(BlockRange, Vec<OutputBlock<'_>>)> =
            ranges.into_iter().zip(outputs).collect();
        let run_job = |(range, outputs): &mut (BlockRange, Vec<OutputBlock<'_>>)| {
            let mut registers = self.take_registers();
            run_blocks(&self.program, &mut registers, inputs, outputs, *range, rows_per_block);
            self.return_registers(registers);
        };
        let mut rest = &mut jobs[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut(jobs_per_portion.min(rest.len()));
            rest = later;
            let rows: usize = now.iter().map(|(range, _)| range.rows).sum();
            cx.work((rows as u64).saturating_mul((columns * self.program.len()) as u64))?;
            if now.len() < 2 {
                now.iter_mut().for_each(run_job);
            } else {
                now.par_iter_mut().for_each(run_job);
            }
        }
        Ok(())
    }
}
