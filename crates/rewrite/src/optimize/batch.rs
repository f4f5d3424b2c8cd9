//! Batches: many isomorphic computations as one, on tensors with an additional leading axis.

use sapwood_ptir::cost::Amount;
use sapwood_ptir::ops::{
    BroadcastInDim, BroadcastTo, Concat, DotGeneral, Pad, Reshape, Reverse, Slice, Transpose,
};
use sapwood_ptir::{Axes, Dim, InstId, Int, OpParts, TensorType, Value, ValueType};

use super::invariant::reads_local_symbols;
use super::product_axes::move_axis;
use crate::canonicalize::tensor_views::{BroadcastView, NamedReduction, emit_broadcast};
use crate::pattern::{Rewrite, RootView as _, is_elementwise};

/// The largest number of bytes of a tensor that a batch adds, unless an operand or a result of the original computation is larger. Loops over parts of a tensor often
/// exist to bound the memory.
const MAX_BATCHED_BYTES: u128 = 16 << 20;

/// A value of one computation, in all computations of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    /// A value that all of them share.
    Shared(Value),
    /// A tensor with a leading axis for the computations.
    Batched(Value),
}

/// A number of isomorphic computations, done as one.
pub(super) struct Batch {
    /// The number of computations.
    pub(super) count: u64,
    /// The largest number of bytes of a tensor that may be added.
    pub(super) max_bytes: u128,
}

impl Batch {
    /// Returns a batch of some computations. `values` are operands and results of the original ones: tensors of their size may be added.
    pub(super) fn new(rw: &Rewrite<'_>, count: u64, values: impl Iterator<Item = Value>) -> Self {
        let largest = values.filter_map(|value| bytes(rw, value)).max().unwrap_or(0);
        Self { count, max_bytes: largest.max(MAX_BATCHED_BYTES) }
    }

    /// Returns whether a tensor of this type may be added.
    pub(super) fn fits(&self, ty: &TensorType) -> bool {
        Amount::bytes(&ty.clone().into()).known().is_some_and(|bytes| bytes <= self.max_bytes)
    }

    /// Returns a type with the leading axis.
    pub(super) fn batched_type(&self, ty: &TensorType) -> TensorType {
        let dims = std::iter::once(Dim::Known(self.count)).chain(ty.dims.iter().copied());
        TensorType { dtype: ty.dtype, dims: dims.collect() }
    }

    /// Returns the tensor of a lane with the leading axis.
    pub(super) fn tensor(&self, rw: &mut Rewrite<'_>, lane: Lane) -> Option<Value> {
        match lane {
            Lane::Batched(value) => Some(value),
            Lane::Shared(value) => {
                let ty = self.batched_type(rw.tensor(value)?);
                if !self.fits(&ty) {
                    return None;
                }
                let dims: Vec<usize> = (1..ty.rank()).collect();
                emit_broadcast(rw, value, &dims, &ty)
            }
        }
    }

    /// Emits the result of an instruction in all computations. Returns `None` if its op cannot be batched.
    pub(super) fn emit(
        &self,
        rw: &mut Rewrite<'_>,
        inst: InstId,
        operands: &[Lane],
    ) -> Option<Lane> {
        let f = rw.function();
        let stays = f.may_stop(inst) || rw.is_ordered(inst) || reads_local_symbols(f, inst);
        if stays || !f.regions(inst).is_empty() {
            return None;
        }
        let result = f.value_type(f.value_of(inst)?).as_tensor()?;
        result.known_shape()?;
        if operands.iter().all(|lane| matches!(lane, Lane::Shared(_))) {
            let mut parts = f.parts_of(inst);
            for (operand, lane) in parts.operands.iter_mut().zip(operands) {
                let Lane::Shared(value) = *lane else { return None };
                *operand = value;
            }
            return rw.emit_parts(&parts).map(Lane::Shared);
        }
        let batched = self.emit_batched(rw, inst, result, operands)?;
        let expected = self.batched_type(result);
        let fits = *rw.tensor(batched)? == expected && self.fits(&expected);
        fits.then_some(Lane::Batched(batched))
    }

    fn emit_batched(
        &self,
        rw: &mut Rewrite<'_>,
        inst: InstId,
        result: &TensorType,
        operands: &[Lane],
    ) -> Option<Value> {
        let f = rw.function();
        if is_elementwise(f, inst) {
            return self.emit_elementwise(rw, inst, result, operands);
        }
        if let Some(dot) = f.view::<DotGeneral>(inst) {
            return self.emit_dot(rw, dot, operands);
        }
        if let Some(op) = f.view::<Concat>(inst) {
            let inputs =
                operands.iter().map(|&lane| self.tensor(rw, lane)).collect::<Option<_>>()?;
            return rw.emit(Concat { inputs, axis: Int(op.axis.0 + 1) });
        }
        let &Lane::Batched(input) = operands.first()? else { return None };
        let ty = || ValueType::from(self.batched_type(result));
        if f.is::<Reshape>(inst) {
            return rw.emit(Reshape { input, ty: ty().into() });
        }
        if f.is::<BroadcastTo>(inst) || f.is::<BroadcastInDim>(inst) {
            let view = BroadcastView::read(f, inst).filter(BroadcastView::is_certain)?;
            let dims: Vec<usize> =
                std::iter::once(0).chain(view.dims.iter().map(|&d| d + 1)).collect();
            return emit_broadcast(rw, input, &dims, &self.batched_type(result));
        }
        if let Some(op) = f.view::<Transpose>(inst) {
            return rw.emit(Transpose { input, perm: with_leading(&op.perm, 0) });
        }
        if let Some(op) = NamedReduction::read(f, inst) {
            let axes: Vec<usize> = op.axes.iter().map(|&axis| axis + 1).collect();
            return rw.emit_parts(&op.with(input, &axes));
        }
        if let Some(op) = f.view::<Slice>(inst) {
            return rw.emit(Slice {
                input,
                starts: prepended(&op.starts, 0),
                limits: prepended(&op.limits, self.count as i64),
                strides: op.strides.as_ref().map(|list| prepended(list, 1)),
            });
        }
        if let Some(op) = f.view::<Reverse>(inst) {
            return rw
                .emit(Reverse { input, axes: op.axes.iter().map(|&axis| axis + 1).collect() });
        }
        if let (Some(op), Some(&Lane::Shared(value))) = (f.view::<Pad>(inst), operands.get(1)) {
            return rw.emit(Pad {
                input,
                value,
                low: prepended(&op.low, 0),
                high: prepended(&op.high, 0),
                interior: op.interior.as_ref().map(|list| prepended(list, 0)),
            });
        }
        None
    }

    fn emit_elementwise(
        &self,
        rw: &mut Rewrite<'_>,
        inst: InstId,
        result: &TensorType,
        operands: &[Lane],
    ) -> Option<Value> {
        let mut parts: OpParts = rw.function().parts_of(inst);
        for (operand, &lane) in parts.operands.iter_mut().zip(operands) {
            let is_scalar = rw.rank(*operand)? == 0 && result.rank() > 0;
            *operand = match lane {
                // The scalar operands of `select` and `clamp`.
                Lane::Shared(value) if is_scalar => value,
                Lane::Batched(value) if is_scalar => {
                    let dtype = rw.dtype(value)?;
                    let ty = TensorType { dtype, dims: self.batched_type(result).dims };
                    emit_broadcast(rw, value, &[0], &ty)?
                }
                lane => self.tensor(rw, lane)?,
            };
        }
        parts.result_types = smallvec::smallvec![self.batched_type(result).into()];
        rw.emit_parts(&parts)
    }

    fn emit_dot(&self, rw: &mut Rewrite<'_>, dot: DotGeneral, operands: &[Lane]) -> Option<Value> {
        let &[left, right] = operands else { return None };
        let shifted = |axes: &Axes| -> Axes { axes.iter().map(|&axis| axis + 1).collect() };
        let batch = dot.lhs_batch.len();
        match (left, right) {
            (Lane::Batched(lhs), Lane::Batched(rhs)) => rw.emit(DotGeneral {
                lhs,
                rhs,
                lhs_batch: with_leading(&dot.lhs_batch, 0),
                rhs_batch: with_leading(&dot.rhs_batch, 0),
                lhs_contract: shifted(&dot.lhs_contract),
                rhs_contract: shifted(&dot.rhs_contract),
                ..dot
            }),
            // The axis of the computations is a free axis of one operand: the first one.
            (Lane::Batched(lhs), Lane::Shared(rhs)) => {
                let (lhs_batch, lhs_contract) =
                    (shifted(&dot.lhs_batch), shifted(&dot.lhs_contract));
                let product = rw.emit(DotGeneral { lhs, rhs, lhs_batch, lhs_contract, ..dot })?;
                move_axis(rw, product, batch, 0)
            }
            (Lane::Shared(lhs), Lane::Batched(rhs)) => {
                let free = rw.rank(lhs)? - batch - dot.lhs_contract.len();
                let (rhs_batch, rhs_contract) =
                    (shifted(&dot.rhs_batch), shifted(&dot.rhs_contract));
                let product = rw.emit(DotGeneral { lhs, rhs, rhs_batch, rhs_contract, ..dot })?;
                move_axis(rw, product, batch + free, 0)
            }
            (Lane::Shared(_), Lane::Shared(_)) => None,
        }
    }
}

// Returns the axes of a batched tensor: the leading one, then these.
fn with_leading(axes: &Axes, leading: i64) -> Axes {
    std::iter::once(leading).chain(axes.iter().map(|&axis| axis + 1)).collect()
}

fn prepended(list: &Axes, first: i64) -> Axes {
    std::iter::once(first).chain(list.iter().copied()).collect()
}

fn bytes(rw: &Rewrite<'_>, value: Value) -> Option<u128> {
    Amount::bytes(rw.ty(value)?).known()
}
