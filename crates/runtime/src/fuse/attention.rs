//! Attention: a batch of products, a group on the rows of their results, and a batch of products with what the group computes. One kernel does this for
//! some batches at a time, so that the scores of all of them never exist together.

use std::sync::Arc;

use rayon::prelude::*;
use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Fault, FusedGroup, FusedKernel, OperandMemory, ResultMemory,
    ScheduledStep, Shape, StepMemory, Tensor, one,
};
use sapwood_ptir::{Attr, Function, InstId, ValueDef, ValueId, ops};
use smallvec::{SmallVec, smallvec};

use super::kernel::{BLOCK_ELEMENTS, GroupKernel, input_block};
use super::program::{BlockRange, InputBlock, OutputBlock, run_blocks};
use super::{Fuser, extents};
use crate::kernels::dot::{
    Axes, MAX_BATCH_PRODUCTS, MatrixOperand, ProductAxes, row_major, uniform_stride,
};
use crate::kernels::gemm::{MatrixStrides, multiply_matrices};
use crate::kernels::parallel::usable_threads;

/// The least number of batches: fewer products run on several threads each.
const MIN_BATCHES: usize = 4;
/// The number of scores that are computed before they are used: they fit the L2 cache.
const CHUNK_SCORES: usize = 1 << 15;
/// The least number of operations that are divided among threads.
const MIN_SHARED_OPERATIONS: usize = 1 << 17;

/// A batch of products of f32.
struct BatchedProduct {
    shapes: [Shape; 2],
    axes: ProductAxes,
    batches: usize,
    sizes: [usize; 3],
}

impl BatchedProduct {
    fn of(f: &Function, inst: InstId) -> Option<Self> {
        let shape = |value: ValueId| {
            let (dtype, shape) = extents(f, value)?;
            (dtype == DataType::F32).then_some(shape)
        };
        let &[left, right] = f.operands(inst) else { return None };
        let unusual =
            matches!(f.attr(inst, "accumulate"), Some(Attr::Type(ty)) if *ty != DataType::F32);
        if !f.is::<ops::DotGeneral>(inst) || unusual || shape(f.value_of(inst)?).is_none() {
            return None;
        }
        let shapes = [shape(left)?, shape(right)?];
        let axes = |name: &str, _| -> Result<Axes, ()> {
            let all = f.attr(inst, name).and_then(Attr::as_ints).unwrap_or_default();
            all.iter().map(|&n| usize::try_from(n).map_err(|_| ())).collect()
        };
        let axes = ProductAxes::new(&shapes[0], &shapes[1], axes).ok()?;
        let (batches, sizes) = axes.sizes(&shapes[0], &shapes[1]);
        let products = sizes.iter().try_fold(1usize, |n, &size| n.checked_mul(size))?;
        let divisible = batches >= MIN_BATCHES && products <= MAX_BATCH_PRODUCTS;
        divisible.then_some(Self { shapes, axes, batches, sizes })
    }

    fn groups(&self, side: usize) -> &[Axes; 3] {
        if side == 0 { &self.axes.left } else { &self.axes.right }
    }

    fn matrices<'a>(
        &self,
        cx: &EvalCx<'_>,
        elements: &'a [f32],
        side: usize,
    ) -> Result<MatrixOperand<'a, f32>, Fault> {
        MatrixOperand::new(cx, elements, &self.shapes[side], self.groups(side))
    }

    // Returns the strides of rows and columns, if they are uniform.
    fn strides(&self, side: usize) -> Option<MatrixStrides> {
        let (shape, [_, rows, columns]) = (&self.shapes[side], self.groups(side));
        let strides = row_major(shape);
        let uniform = |axes: &Axes| uniform_stride(shape, &strides, axes);
        Some(MatrixStrides { row: uniform(rows)?, column: uniform(columns)? })
    }

    // Returns the memory of an operand that is copied.
    fn temporary(&self, side: usize, operand: &OperandMemory) -> u64 {
        let bytes = (operand.dtype.byte_size() * operand.len) as u64;
        let copies = u64::from(operand.is_splat) + u64::from(self.strides(side).is_none());
        copies * bytes
    }

    fn products(&self) -> usize {
        self.sizes.iter().product()
    }
}

/// The kernel. Its operands are those of the first product, the other operand of the second one, and what else the group reads.
struct Attention {
    scores: BatchedProduct,
    group: Arc<GroupKernel>,
    /// The input of the group with the scores.
    scores_input: usize,
    weighted: BatchedProduct,
    /// The operand of the second product that the group computes, and its strides.
    side: usize,
    strides: MatrixStrides,
    /// The batches that are computed together, and those of them whose rows the group runs on at a time.
    chunk: usize,
    step: usize,
}

impl Fuser<'_> {
    /// Replaces products with a group between them by one step each.
    pub(super) fn join_products(&mut self) {
        let kernels = std::mem::take(&mut self.kernels);
        let mut gone = vec![false; self.steps.len()];
        for (at, kernel) in &kernels {
            let Some((first, last, group)) = self.attention(*at, kernel) else { continue };
            gone[first] = true;
            gone[*at] = true;
            self.steps[last] = ScheduledStep::Group(group);
        }
        let mut gone = gone.into_iter();
        self.steps.retain(|_| gone.next() != Some(true));
    }

    // Returns the steps of the two products around a group, and the group that all three become.
    fn attention(
        &self,
        at: usize,
        kernel: &Arc<GroupKernel>,
    ) -> Option<(usize, usize, FusedGroup)> {
        let f = self.f;
        let ScheduledStep::Group(group) = &self.steps[at] else { return None };
        let (&[weights], [output]) = (&group.outputs[..], kernel.program.outputs()) else {
            return None;
        };
        let mut uses = f.uses(weights);
        let (user, None) = (uses.next()?, uses.next()) else { return None };
        let second = user.user;
        let weighted = BatchedProduct::of(f, second)?;
        let side = f.operands(second).iter().position(|&v| v == weights)?;
        // The batches of the weights follow each other in memory.
        let batch = &weighted.groups(side)[0];
        let len = kernel.rows.checked_mul(kernel.columns)?;
        if !batch.iter().copied().eq(0..batch.len())
            || !kernel.program.is_inner(output)
            || output.dtype != DataType::F32
            || extents(f, weights)?.1.iter().product::<usize>() != len
        {
            return None;
        }
        let strides = weighted.strides(side)?;
        let single = |inst: InstId, steps: &[ScheduledStep]| {
            steps.iter().position(|s| matches!(s, ScheduledStep::Single(other) if *other == inst))
        };
        let last = at + 1 + single(second, &self.steps[at + 1..])?;
        let inside = |value: ValueId| f.uses(value).all(|u| group.insts.contains(&u.user));
        let (scores_input, first, scores) =
            group.inputs.iter().enumerate().find_map(|(input, &value)| {
                let ValueDef::Result(inst, _) = f.value_def(value) else { return None };
                let scores = BatchedProduct::of(f, inst)?;
                let [m, _, n] = scores.sizes;
                let fits = scores.batches == weighted.batches
                    && scores.batches * m * n == len
                    && (m * n).is_multiple_of(kernel.columns)
                    && kernel.program.reads_only_in_order(input)
                    && inside(value);
                fits.then_some((input, inst, scores))
            })?;
        let first_at = single(first, &self.steps[..at])?;
        let &[left, right] = f.operands(first) else { return None };
        let mut inputs = vec![left, right, *f.operands(second).get(1 - side)?];
        let others = group.inputs.iter().enumerate().filter(|(input, _)| *input != scores_input);
        inputs.extend(others.map(|(_, &value)| value));
        let mut insts = vec![first];
        insts.extend(&group.insts);
        insts.push(second);
        let each = scores.sizes[0] * scores.sizes[2];
        let step = (BLOCK_ELEMENTS / each).max(1);
        let chunk = (CHUNK_SCORES / each).max(MIN_BATCHES).next_multiple_of(step);
        let chunk = chunk.min(scores.batches.div_ceil(2).next_multiple_of(step));
        let kernel = Attention {
            scores,
            group: kernel.clone(),
            scores_input,
            weighted,
            side,
            strides,
            chunk,
            step,
        };
        let outputs = f.inst_results(second).collect();
        Some((first_at, last, FusedGroup { insts, inputs, outputs, kernel: Arc::new(kernel) }))
    }
}

impl FusedKernel for Attention {
    fn evaluate(&self, cx: &mut EvalCx<'_>) -> EvalResult {
        let shape = cx.result_shape(0)?;
        let (left, right, other) =
            (cx.elements::<f32>(0)?, cx.elements::<f32>(1)?, cx.elements::<f32>(2)?);
        let operands = [
            self.scores.matrices(cx, &left, 0)?,
            self.scores.matrices(cx, &right, 1)?,
            self.weighted.matrices(cx, &other, 1 - self.side)?,
        ];
        let mut inputs: SmallVec<[InputBlock<'_>; 4]> = SmallVec::new();
        for index in 3..cx.args().len() {
            let block = input_block(cx.tensor(index)?);
            inputs.push(block.ok_or_else(|| Fault::op("an operand cannot be fused"))?);
        }
        inputs.insert(self.scores_input, InputBlock::TakenOver(0));
        let each = self.scores.sizes[0] * self.scores.sizes[2];
        let width = self.weighted.sizes[0] * self.weighted.sizes[2];
        let mut out = cx.buffer::<f32>(self.weighted.batches * width)?;
        let mut scores = cx.buffer::<f32>(self.chunk * each)?;
        let products = self.scores.products() + self.weighted.products();
        let operations = products + each * self.group.program.len();
        // A product costs less than other operations.
        let shared = (products / 8 + each * self.group.program.len()) * self.chunk;
        let threads = if shared < MIN_SHARED_OPERATIONS { 1 } else { usable_threads(cx.threads()) };
        for (round, out) in out.chunks_mut(self.chunk * width).enumerate() {
            let batches = out.len() / width;
            cx.work((operations as u64).saturating_mul(batches as u64))?;
            let share = batches.div_ceil(threads).next_multiple_of(self.step);
            let run = |(part, (out, scores)): (usize, (&mut [f32], &mut [f32]))| {
                self.run(round * self.chunk + part * share, &operands, &inputs, scores, out);
            };
            if share >= batches {
                run((0, (out, &mut scores)));
                continue;
            }
            let parts = out.par_chunks_mut(share * width);
            parts.zip(scores.par_chunks_mut(share * each)).enumerate().for_each(run);
        }
        one(Tensor::new(DataType::F32, shape, out))
    }

    fn memory(&self, operands: &[OperandMemory]) -> Option<StepMemory> {
        let [left, right, other, ..] = operands else { return None };
        let scores = self.chunk * self.scores.sizes[0] * self.scores.sizes[2];
        let copies = self.scores.temporary(0, left)
            + self.scores.temporary(1, right)
            + self.weighted.temporary(1 - self.side, other);
        let temporary = copies + (scores * size_of::<f32>()) as u64;
        Some(StepMemory { results: smallvec![ResultMemory::New], temporary })
    }
}

impl Attention {
    // Computes the batches from `first` on that `out` has room for.
    fn run(
        &self,
        first: usize,
        [left, right, other]: &[MatrixOperand<'_, f32>; 3],
        inputs: &[InputBlock<'_>],
        scores: &mut [f32],
        out: &mut [f32],
    ) {
        let each = self.scores.sizes[0] * self.scores.sizes[2];
        let width = self.weighted.sizes[0] * self.weighted.sizes[2];
        let columns = self.group.columns;
        let rows = each / columns;
        let mut registers = self.group.take_registers();
        let steps = out.chunks_mut(self.step * width).zip(scores.chunks_mut(self.step * each));
        for (step, (out, scores)) in steps.enumerate() {
            let start = first + step * self.step;
            let batches = out.len() / width;
            let scores = &mut scores[..batches * each];
            for (batch, scores) in scores.chunks_exact_mut(each).enumerate() {
                let (left, right) = (left.matrix(start + batch), right.matrix(start + batch));
                multiply_matrices(self.scores.sizes, left, right, scores, 1);
            }
            let range = BlockRange {
                first: start * rows,
                rows: batches * rows,
                columns,
                outputs_from: start * rows,
            };
            let mut blocks = [OutputBlock::F32(&mut *scores)];
            let rows_per_block = (BLOCK_ELEMENTS / columns).max(1);
            let program = &self.group.program;
            run_blocks(program, &mut registers, inputs, &mut blocks, range, rows_per_block);
            let results = out.chunks_exact_mut(width).zip(scores.chunks_exact(each));
            for (batch, (out, weights)) in results.enumerate() {
                let (weights, other) = ((weights, self.strides), other.matrix(start + batch));
                let [left, right] = match self.side {
                    0 => [weights, other],
                    _ => [other, weights],
                };
                multiply_matrices(self.weighted.sizes, left, right, out, 1);
            }
        }
        self.group.return_registers(registers);
    }
}
