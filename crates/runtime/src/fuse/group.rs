//! Groups under construction.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{DataType, Float, Native};
use sapwood_ptir::{InstId, ValueId};

use super::classify::FusibleOp;
use super::lanes::{BinaryOp, LaneType, NarrowFloat, UnaryOp};
use super::program::{Instruction, Operand, Operation};
use super::strided::Strided;

/// A value of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) result: u32,
    pub(super) inner: bool,
}

/// A group of instructions that will run together. Its values have one element per row, or one per row and column.
///
/// At first there is one kind, with a row per element. The first reduction or spread divides the elements into rows and columns.
#[derive(Default)]
pub(super) struct GroupBuilder {
    pub(super) rows: usize,
    /// The number of columns, once there are two kinds of values.
    pub(super) columns: Option<usize>,
    pub(super) insts: Vec<InstId>,
    pub(super) inst_set: HashSet<InstId, FxBuildHasher>,
    pub(super) instructions: Vec<Instruction>,
    pub(super) inputs: Vec<ValueId>,
    pub(super) input_types: Vec<DataType>,
    pub(super) members: HashMap<ValueId, Member, FxBuildHasher>,
    /// The number of instructions of the program that compute.
    pub(super) computing: usize,
}

impl GroupBuilder {
    pub(super) fn new(rows: usize) -> Self {
        Self { rows, ..Self::default() }
    }

    pub(super) fn count(&self, inner: bool) -> usize {
        if inner { self.rows.saturating_mul(self.columns.unwrap_or(1)) } else { self.rows }
    }

    /// Returns whether nothing may be added. Operands and starts of the last instruction may still exceed the limit.
    pub(super) fn is_full(&self) -> bool {
        self.instructions.len() >= super::MAX_GROUP_INSTRUCTIONS
            || self.members.len() >= super::MAX_GROUP_MEMBERS
    }

    /// Adds an instruction of the program.
    pub(super) fn push(&mut self, operation: Operation, ty: LaneType, inner: bool) -> Operand {
        self.instructions.push(Instruction { operation, ty, inner });
        Operand::Result(self.instructions.len() as u32 - 1)
    }

    /// Adds the instructions of an op on operands of type `from`, with a result of type `ty`.
    pub(super) fn push_op(
        &mut self,
        op: FusibleOp,
        sources: &[Operand],
        from: LaneType,
        (ty, narrow): (LaneType, Option<NarrowFloat>),
        inner: bool,
    ) -> Operand {
        let operation = match op {
            FusibleOp::Unary(op) => Operation::Unary(op, sources[0]),
            FusibleOp::Binary(op) => Operation::Binary(op, sources[0], sources[1]),
            FusibleOp::Compare(relation) => {
                Operation::Compare(relation, from, sources[0], sources[1])
            }
            FusibleOp::Select => Operation::Select(sources[0], sources[1], sources[2]),
            FusibleOp::Clamp => {
                let low = Operation::Binary(BinaryOp::Max, sources[1], sources[0]);
                let low = self.push(low, ty, inner);
                Operation::Binary(BinaryOp::Min, low, sources[2])
            }
            FusibleOp::Cast if from == ty => Operation::Unary(UnaryOp::Copy, sources[0]),
            FusibleOp::Cast => Operation::Cast(from, sources[0]),
            FusibleOp::Bitcast if from == ty => Operation::Unary(UnaryOp::Copy, sources[0]),
            FusibleOp::Bitcast => Operation::Bitcast(from, sources[0]),
            FusibleOp::Reduce(op) => Operation::Reduce(op, sources[0]),
        };
        // Comparisons, selections and extremes of narrow floats are exact.
        let exact = matches!(
            operation,
            Operation::Compare(..)
                | Operation::Select(..)
                | Operation::Binary(BinaryOp::Max | BinaryOp::Min, ..)
                | Operation::Unary(UnaryOp::Neg | UnaryOp::Abs, _)
        );
        let computed = self.push(operation, ty, inner);
        match narrow.filter(|_| !exact) {
            Some(narrow) => self.push(Operation::Round(narrow, computed), LaneType::F32, inner),
            None => computed,
        }
    }

    pub(super) fn add_member(&mut self, value: ValueId, result: Operand, inner: bool) {
        if let Operand::Result(result) = result {
            self.members.insert(value, Member { result, inner });
        }
    }

    pub(super) fn add_inst(&mut self, inst: InstId) {
        self.insts.push(inst);
        self.inst_set.insert(inst);
    }

    fn input(&mut self, value: ValueId, dtype: DataType) -> u32 {
        let known = self.inputs.iter().position(|&v| v == value);
        known.unwrap_or_else(|| {
            self.inputs.push(value);
            self.input_types.push(dtype);
            self.inputs.len() - 1
        }) as u32
    }

    /// Adds an operand from outside the group, read through a view.
    pub(super) fn add_input(
        &mut self,
        value: ValueId,
        dtype: DataType,
        view: &Strided,
        len: usize,
        base_len: usize,
        inner: bool,
    ) -> Option<Operand> {
        let (ty, narrow) = LaneType::of(dtype)?;
        let input = self.input(value, dtype);
        let mut axes = view.collapsed();
        // A single element that is repeated.
        if view.shape.iter().product::<usize>() == 1 && len != 1 {
            axes = smallvec::smallvec![(len, 0)];
        }
        if narrow.is_none() && axes[..] == [(len, 1)] && view.offset == 0 && base_len == len {
            return Some(Operand::Input(input));
        }
        // The same load may be there already.
        let same = |i: &Instruction| {
            i.inner == inner
                && matches!(&i.operation, Operation::Load { input: n, offset, axes: known }
                    if *n == input && *offset == view.offset && *known == axes)
        };
        Some(match self.instructions.iter().position(same) {
            Some(at) => Operand::Result(at as u32),
            None => self.push(Operation::Load { input, offset: view.offset, axes }, ty, inner),
        })
    }

    /// Divides the elements into rows and columns. Existing values are inner ones, or with `as_columns` one per row.
    pub(super) fn divide(&mut self, columns: usize, as_columns: bool) {
        self.columns = Some(columns);
        if as_columns {
            return;
        }
        self.rows /= columns;
        self.instructions.iter_mut().for_each(|i| i.inner = true);
        self.members.values_mut().for_each(|m| m.inner = true);
    }

    /// Returns whether a group can be added to this one.
    pub(super) fn can_absorb(&self, other: &Self) -> bool {
        self.instructions.len() + other.instructions.len() <= super::MAX_GROUP_INSTRUCTIONS
            && self.members.len() + other.members.len() <= super::MAX_GROUP_MEMBERS
            && match (self.columns, other.columns) {
                (Some(a), Some(b)) => a == b && self.rows == other.rows,
                (Some(_), None) => self.count(true) == other.rows || self.rows == other.rows,
                (None, Some(_)) => other.count(true) == self.rows || self.rows == other.rows,
                (None, None) => self.rows == other.rows,
            }
    }

    /// Adds another group, for which [`can_absorb`](Self::can_absorb) holds.
    pub(super) fn absorb(&mut self, mut other: Self) {
        if let (None, Some(columns)) = (other.columns, self.columns) {
            other.divide(columns, self.rows == other.rows);
        }
        if let (None, Some(columns)) = (self.columns, other.columns) {
            self.divide(columns, self.rows == other.rows);
        }
        let shift = self.instructions.len() as u32;
        let inputs: Vec<u32> = other
            .inputs
            .iter()
            .zip(&other.input_types)
            .map(|(&value, &dtype)| self.input(value, dtype))
            .collect();
        for mut instruction in other.instructions {
            instruction.operation.for_each_operand(|operand| match operand {
                Operand::Result(result) => *result += shift,
                Operand::Input(input) => *input = inputs[*input as usize],
                Operand::Constant(_) => {}
            });
            if let Operation::Load { input, .. } = &mut instruction.operation {
                *input = inputs[*input as usize];
            }
            self.instructions.push(instruction);
        }
        for (value, member) in sorted(other.members) {
            self.members.insert(value, Member { result: member.result + shift, ..member });
        }
        self.insts.extend(other.insts);
        self.inst_set.extend(self.insts.iter().copied());
        self.computing += other.computing;
    }
}

fn sorted(members: HashMap<ValueId, Member, FxBuildHasher>) -> Vec<(ValueId, Member)> {
    let mut all: Vec<_> = members.into_iter().collect();
    all.sort_unstable_by_key(|(value, _)| value.index());
    all
}

/// Returns the bits of a constant in its lane type.
pub(super) fn lane_bits(dtype: DataType, bits: u128) -> u64 {
    let widened = |x: f64| u64::from((x as f32).to_bits());
    match dtype {
        DataType::F16 => widened(sapwood_ptir::eval::f16::unpack(bits).number()),
        DataType::Bf16 => widened(sapwood_ptir::eval::bf16::unpack(bits).number()),
        _ => bits as u64,
    }
}
