//! Reductions with a region: the region becomes a program over blocks, which combines the next element of many results at a time.

use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, FusedKernel, Native, OperandMemory, ResultMemory, Results,
    StepMemory, Tensor, count,
};
use sapwood_ptir::{BodyId, Function, InstId, ValueId, ops, with_native};
use smallvec::SmallVec;

use super::classify::classify;
use super::group::{GroupBuilder, lane_bits};
use super::kernel::{BLOCK_ELEMENTS, Storage};
use super::lanes::{LaneType, UnaryOp};
use super::program::{
    BlockProgram, BlockRange, InputBlock, Operand, Operation, Output, OutputBlock, Registers,
    run_blocks,
};
use super::strided;

/// The least results that are combined at a time, if there are as many.
const MIN_ROWS: usize = 32;

// Returns the number of results that are combined at a time. Of few results a quarter is, because their accumulators take memory next to them.
fn rows_at_a_time(len: usize) -> usize {
    len.div_ceil(4).clamp(MIN_ROWS, BLOCK_ELEMENTS).min(len).max(1)
}

/// The kernel of `reduce` with a region that was compiled.
pub(super) struct RegionReduce {
    program: BlockProgram,
    types: Vec<DataType>,
    // The number of elements of a result, if it is known.
    len: Option<usize>,
    registers: Mutex<Vec<Registers>>,
}

/// Returns the kernel of a reduction with a region of scalar ops; `None` if the region has other ops.
pub(super) fn reduce_kernel(f: &Function, inst: InstId) -> Option<RegionReduce> {
    if !f.is::<ops::Reduce>(inst) {
        return None;
    }
    let &body = f.regions(inst).first()?;
    let (program, types) = compile(f, body)?;
    let len = f.inst_results(inst).next().and_then(|v| count(&super::extents(f, v)?.1));
    Some(RegionReduce { program, types, len, registers: Mutex::default() })
}

// Compiles a region: its parameters are the inputs of the program, its results the outputs.
fn compile(f: &Function, body: BodyId) -> Option<(BlockProgram, Vec<DataType>)> {
    let scalar = |value: ValueId| -> Option<(DataType, LaneType)> {
        let ty = f.value_type(value).as_tensor()?;
        let (lane, narrow) = LaneType::of(ty.dtype)?;
        (ty.dims.is_empty() && narrow.is_none()).then_some((ty.dtype, lane))
    };
    let mut builder = GroupBuilder::new(1);
    let mut values: HashMap<ValueId, Operand, FxBuildHasher> = HashMap::default();
    let mut direct = Vec::new();
    for (index, &param) in f.body_params(body).iter().enumerate() {
        direct.push(Some(scalar(param)?.1));
        values.insert(param, Operand::Input(index as u32));
    }
    for inst in f.body_insts(body) {
        if f.op_def(inst).is_some_and(|def| def.terminator) {
            break;
        }
        let result = f.value_of(inst)?;
        let (dtype, lane) = scalar(result)?;
        if let Some(literal) = f.constant_of(result) {
            let tensor = Tensor::from_literal(literal).ok()?;
            let bits = with_native!(dtype, T => tensor.as_splat::<T>()?.pack());
            values.insert(result, Operand::Constant(lane_bits(dtype, bits)));
            continue;
        }
        let operands = f.operands(inst);
        let main = *operands.get(usize::from(operands.len() == 3))?;
        let (main_dtype, from) = scalar(main)?;
        let op = classify(f, inst, main_dtype)?;
        if op.is_reduction() {
            return None;
        }
        let sources: Option<SmallVec<[Operand; 3]>> =
            operands.iter().map(|v| values.get(v).copied()).collect();
        let computed = builder.push_op(op, &sources?, from, (lane, None), false);
        values.insert(result, computed);
    }
    let mut outputs = Vec::new();
    let mut types = Vec::new();
    for &value in f.body_results(body) {
        let (dtype, lane) = scalar(value)?;
        let copy = Operation::Unary(UnaryOp::Copy, *values.get(&value)?);
        // Each output has an instruction of its own, because a parameter or a constant may be yielded.
        let Operand::Result(result) = builder.push(copy, lane, false) else { return None };
        outputs.push(Output { result, dtype });
        types.push(dtype);
    }
    Some((BlockProgram::new(builder.instructions, outputs, &direct), types))
}

impl RegionReduce {
    // Combines accumulators with the next terms.
    fn combine(
        &self,
        registers: &mut Registers,
        (sums, terms): (&[Storage], &[Storage]),
        next: &mut [Storage],
        rows: usize,
    ) {
        let inputs: SmallVec<[InputBlock<'_>; 4]> =
            sums.iter().chain(terms).map(Storage::as_input).collect();
        let mut outputs: SmallVec<[OutputBlock<'_>; 2]> =
            next.iter_mut().filter_map(Storage::whole).collect();
        let range = BlockRange { first: 0, rows, columns: 1, outputs_from: 0 };
        run_blocks(&self.program, registers, &inputs, &mut outputs, range, rows);
    }
}

impl FusedKernel for RegionReduce {
    fn evaluate(&self, cx: &mut EvalCx<'_>) -> EvalResult {
        let number = self.types.len();
        let shape = cx.tensor(0)?.shape().to_vec();
        let result = cx.result_shape(0)?;
        let mut axes = cx.axes("axes", shape.len())?;
        axes.sort_unstable();
        // Elements are combined in row-major order of the reduced axes.
        let kept: Vec<usize> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
        let strides = strided::Strided::dense(&shape).strides;
        let view = |axes: &[usize]| strided::Strided {
            shape: axes.iter().map(|&a| shape[a]).collect(),
            strides: axes.iter().map(|&a| strides[a]).collect(),
            offset: 0,
        };
        let (results, elements) = (view(&kept).collapsed(), view(&axes).collapsed());
        let len = count(&result).ok_or_else(|| Fault::TooLarge { shape: result.to_vec() })?;
        let depth = count(&view(&axes).shape).unwrap_or(0);
        let mut outputs = Vec::with_capacity(number);
        for &dtype in &self.types {
            outputs.push(Storage::new(cx, dtype, len)?);
        }
        let mut registers = {
            let mut spare = self.registers.lock().unwrap_or_else(PoisonError::into_inner);
            spare.pop().unwrap_or_default()
        };
        let rows = rows_at_a_time(len);
        let block = || -> Result<Vec<Storage>, Fault> {
            self.types.iter().map(|&dtype| Storage::new(cx, dtype, rows)).collect()
        };
        let (mut sums, mut next, mut terms) = (block()?, block()?, block()?);
        for first in (0..len).step_by(rows) {
            let rows = rows.min(len - first);
            for (sum, index) in sums.iter_mut().zip(number..) {
                sum.fill(cx.tensor(index)?, 0, &[(rows, 0)], 0, rows)?;
            }
            for offset in strided::positions(&elements).take(depth) {
                cx.work((rows * self.program.len()) as u64)?;
                for (term, index) in terms.iter_mut().zip(0..number) {
                    term.fill(cx.tensor(index)?, offset, &results, first, rows)?;
                }
                self.combine(&mut registers, (&sums, &terms), &mut next, rows);
                std::mem::swap(&mut sums, &mut next);
            }
            for (output, sum) in outputs.iter_mut().zip(&sums) {
                output.copy_block(first, sum, rows);
            }
        }
        self.registers.lock().unwrap_or_else(PoisonError::into_inner).push(registers);
        let mut values = Results::new();
        for (storage, &dtype) in outputs.into_iter().zip(&self.types) {
            let tensor = storage.into_tensor(dtype, &result);
            values.push(tensor.ok_or_else(|| Fault::op("a result has a wrong type"))?.into());
        }
        Ok(values)
    }

    fn memory(&self, operands: &[OperandMemory]) -> Option<StepMemory> {
        let results = self.types.iter().map(|_| ResultMemory::New).collect();
        // The blocks of the accumulators, the next ones and the terms, at most.
        let rows = 3 * rows_at_a_time(self.len?);
        let temporary = self.types.iter().map(|dtype| rows * dtype.byte_size()).sum::<usize>();
        (!operands.is_empty()).then_some(StepMemory { results, temporary: temporary as u64 })
    }
}
