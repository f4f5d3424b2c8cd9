//! The memory of the fast kernels, for predictions before a run.

use sapwood_ptir::eval::{
    DataType, OperandMemory, PredictMemory, ResultMemory, StepMemory, fixed_order_memory,
};
use sapwood_ptir::{Attr, Function, InstId, OpKey};
use smallvec::{SmallVec, smallvec};

use super::dot::{Axes, row_major, uniform_stride};

/// Returns the prediction of the kernel of an op.
pub(super) fn prediction(op: OpKey) -> Option<PredictMemory> {
    Some(match op.name() {
        "dot_general" => dot_general,
        "convolution" => convolution,
        "gather" => gather,
        "scatter" => scatter,
        "sort" => sort,
        "add" | "sub" | "mul" | "div" => binary,
        // In place, or in memory of their own, as in the fixed order.
        _ => fixed_order_memory,
    })
}

fn shape_of(f: &Function, inst: InstId, operand: usize) -> Option<SmallVec<[usize; 4]>> {
    let ty = f.value_type(*f.operands(inst).get(operand)?).as_tensor()?;
    ty.dims.iter().map(|d| usize::try_from(d.known()?).ok()).collect()
}

fn axes(f: &Function, inst: InstId, name: &str) -> Option<Axes> {
    let all = f.attr(inst, name).and_then(Attr::as_ints).unwrap_or_default();
    all.iter().map(|&n| usize::try_from(n).ok()).collect()
}

fn result_len(f: &Function, inst: InstId) -> Option<(DataType, usize)> {
    let ty = f.value_type(f.inst_results(inst).next()?).as_tensor()?;
    let dims: Option<SmallVec<[usize; 6]>> =
        ty.dims.iter().map(|d| usize::try_from(d.known()?).ok()).collect();
    Some((ty.dtype, sapwood_ptir::eval::count(&dims?)?))
}

fn binary(f: &Function, inst: InstId, operands: &[OperandMemory]) -> Option<StepMemory> {
    let &[a, b] = operands else { return None };
    if !matches!(a.dtype, DataType::F32 | DataType::F64) || a.is_splat && b.is_splat {
        return fixed_order_memory(f, inst, operands);
    }
    Some(StepMemory::of(match (a.is_unique, b.is_unique) {
        (true, _) => ResultMemory::Operand(0),
        (_, true) => ResultMemory::Operand(1),
        _ => ResultMemory::New,
    }))
}

fn dot_general(f: &Function, inst: InstId, operands: &[OperandMemory]) -> Option<StepMemory> {
    let &[lhs, rhs] = operands else { return None };
    let (result, len) = result_len(f, inst)?;
    let narrow = matches!(lhs.dtype, DataType::F16 | DataType::Bf16) && rhs.dtype == lhs.dtype;
    let usual = if narrow { DataType::F32 } else { lhs.dtype };
    let accumulate = match f.attr(inst, "accumulate") {
        Some(Attr::Type(accumulate)) => *accumulate,
        _ => usual,
    };
    let same = lhs.dtype == rhs.dtype && accumulate == usual && (narrow || result == usual);
    if !same || !matches!(usual, DataType::F32 | DataType::F64) {
        return None;
    }
    if len == 0 || lhs.len == 0 || rhs.len == 0 {
        return Some(StepMemory::of(ResultMemory::Splat));
    }
    let size = usual.byte_size() as u64;
    let mut temporary = 0;
    for (index, (side, operand)) in [("lhs", lhs), ("rhs", rhs)].into_iter().enumerate() {
        let shape = shape_of(f, inst, index)?;
        let batch = axes(f, inst, &format!("{side}_batch"))?;
        let contract = axes(f, inst, &format!("{side}_contract"))?;
        let free: Axes =
            (0..shape.len()).filter(|a| !batch.contains(a) && !contract.contains(a)).collect();
        let strides = row_major(&shape);
        let uniform = |axes: &Axes| uniform_stride(&shape, &strides, axes).is_some();
        let elements = size * operand.len as u64;
        if ![&contract, &free].into_iter().all(uniform) {
            temporary += elements;
        }
        if operand.is_splat {
            temporary += elements;
        } else if narrow {
            // The widened elements take the place of an operand that nothing else uses.
            temporary += elements - if operand.is_unique { operand.bytes() } else { 0 };
        }
    }
    if narrow && result == DataType::F32 {
        return Some(StepMemory { results: smallvec![ResultMemory::New], temporary });
    }
    if narrow {
        temporary += size * len as u64;
    }
    Some(StepMemory { results: smallvec![ResultMemory::New], temporary })
}

fn convolution(f: &Function, inst: InstId, operands: &[OperandMemory]) -> Option<StepMemory> {
    let &[input, kernel] = operands else { return None };
    let (shape, weights) = (shape_of(f, inst, 0)?, shape_of(f, inst, 1)?);
    let rank = shape.len();
    let [id, kd, od] = [
        axes(f, inst, "input_dims")?,
        axes(f, inst, "kernel_dims")?,
        axes(f, inst, "output_dims")?,
    ];
    let groups = f.attr(inst, "feature_groups").and_then(Attr::as_int).unwrap_or(1);
    let batches = f.attr(inst, "batch_groups").and_then(Attr::as_int).unwrap_or(1);
    let outside = |dims: &Axes| dims[0] == 0 && dims[1] + 1 == rank && dims[2..].is_sorted();
    let per_feature =
        weights[kd[0]] == 1 && groups == shape[id[1]] as i64 && weights[kd[1]] == shape[id[1]];
    let covered = rank >= 2
        && outside(&id)
        && outside(&od)
        && (kd[0] + 2, kd[1] + 1) == (rank, rank)
        && kd[2..].is_sorted()
        && input.dtype == DataType::F32
        && result_len(f, inst)?.0 == DataType::F32
        && !matches!(f.attr(inst, "accumulate"), Some(Attr::Type(t)) if *t != DataType::F32)
        && batches == 1
        && (groups == 1 || per_feature)
        && input.len > 0
        && kernel.len > 0
        && !input.is_splat
        && !kernel.is_splat;
    covered.then(|| StepMemory::of(ResultMemory::New))
}

// The positions of index vectors, as numbers of eight bytes.
fn positions(operands: &[OperandMemory]) -> Option<u64> {
    Some(8 * operands.get(1)?.len as u64)
}

fn gather(_: &Function, _: InstId, operands: &[OperandMemory]) -> Option<StepMemory> {
    if operands.first()?.is_splat {
        return Some(StepMemory::of(ResultMemory::Splat));
    }
    Some(StepMemory { results: smallvec![ResultMemory::New], temporary: positions(operands)? })
}

fn scatter(_: &Function, _: InstId, operands: &[OperandMemory]) -> Option<StepMemory> {
    let [target, _, updates] = operands else { return None };
    let copy = if updates.is_splat { updates.dtype.byte_size() * updates.len } else { 0 };
    let result = if target.is_unique { ResultMemory::Operand(0) } else { ResultMemory::New };
    let temporary = positions(operands)? + copy as u64;
    Some(StepMemory { results: smallvec![result], temporary })
}

fn sort(_: &Function, _: InstId, operands: &[OperandMemory]) -> Option<StepMemory> {
    let result = |operand: &OperandMemory| match operand.is_splat {
        true => ResultMemory::Splat,
        false => ResultMemory::New,
    };
    // One operand is sorted without the indices of its elements, unless it has numbers without an order.
    let temporary = if operands.len() > 1 { 8 * operands.first()?.len as u64 } else { 0 };
    Some(StepMemory { results: operands.iter().map(result).collect(), temporary })
}
