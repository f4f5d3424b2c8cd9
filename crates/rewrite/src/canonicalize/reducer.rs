//! Regions of reductions that consist of a single op.

use sapwood_ptir::ops::{
    Add, And, Max, Min, Mul, Or, ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceProd, ReduceSum,
    ReduceXor, Xor,
};
use sapwood_ptir::{BodyId, Op, OpKey, TensorLiteral, Value};
use sapwood_types::DataType;
use smallvec::SmallVec;

use super::tensor_views::NamedReduction;
use crate::pattern::{Binary, Rewrite};

/// A region that combines accumulator and element by one op.
pub(super) struct Reducer {
    /// The op.
    pub(super) combine: OpKey,
    /// The reduction op with that meaning; operand and axes are not set yet.
    pub(super) named: NamedReduction,
    /// True if the initial value is known to be the neutral element.
    pub(super) neutral: bool,
}

/// Returns the region of a reduction of one tensor as a reducer, if it consists of a single op.
pub(super) fn single_op_reducer(
    body: BodyId,
    init: Value,
    rw: &mut Rewrite<'_>,
) -> Option<Reducer> {
    if rw.is_ordered(rw.root()) {
        return None;
    }
    let (&[acc, element], &[yielded]) = (rw.params(body), rw.yields(body)) else { return None };
    let op = rw.def::<Binary>(yielded)?;
    if (op.lhs, op.rhs) != (acc, element) && (op.lhs, op.rhs) != (element, acc) {
        return None;
    }
    let dtype = rw.dtype(init)?;
    let named = named_reduction_of(op.key)?;
    let neutral = rw.constant_of(init).is_some_and(|l| neutral_element(op.key, dtype) == Some(l));
    // The region accumulates in the element type itself.
    let narrow = dtype.is_float() && dtype.bit_width() < 32;
    let accumulate = (narrow && (op.key == Add::key() || op.key == Mul::key())).then_some(dtype);
    let axes = SmallVec::new();
    let named = NamedReduction { key: named, input: init, axes, keepdims: false, accumulate };
    Some(Reducer { combine: op.key, named, neutral })
}

/// Returns the neutral element of a named reduction.
pub(super) fn neutral_of_reduction(key: OpKey, dtype: DataType) -> Option<TensorLiteral> {
    let combines =
        [Add::key(), Mul::key(), Max::key(), Min::key(), And::key(), Or::key(), Xor::key()];
    let combine = combines.into_iter().find(|&op| named_reduction_of(op) == Some(key))?;
    neutral_element(combine, dtype)
}

/// Returns the reduction that combines elements by an op.
pub(crate) fn named_reduction_of(key: OpKey) -> Option<OpKey> {
    let names = [
        (Add::key(), ReduceSum::key()),
        (Mul::key(), ReduceProd::key()),
        (Max::key(), ReduceMax::key()),
        (Min::key(), ReduceMin::key()),
        (And::key(), ReduceAnd::key()),
        (Or::key(), ReduceOr::key()),
        (Xor::key(), ReduceXor::key()),
    ];
    names.into_iter().find(|(op, _)| *op == key).map(|(_, named)| named)
}

/// Returns the scalar that leaves every element unchanged; the named reduction starts from it.
pub(crate) fn neutral_element(key: OpKey, dtype: DataType) -> Option<TensorLiteral> {
    let number = |x: f64| TensorLiteral::filled(dtype, &[], x).ok();
    if key == Add::key() || key == Or::key() || key == Xor::key() {
        return number(0.0);
    }
    if key == Mul::key() {
        return number(1.0);
    }
    if dtype == DataType::F8E4M3Fn || dtype.is_complex() {
        return None;
    }
    if dtype.is_float() {
        return number(if key == Max::key() { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    let (least, most) = if dtype.is_bool() { (0, 1) } else { dtype.integer_range()? };
    let n = match () {
        () if key == Max::key() => least,
        () if key == Min::key() => most,
        // All bits are one.
        () if dtype.is_signed() => -1,
        () => most,
    };
    TensorLiteral::splat(dtype, &[], n.to_le_bytes().get(..dtype.byte_size())?).ok()
}
