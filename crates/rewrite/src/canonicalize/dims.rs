//! Canonicalizations of `get_dimension_size` and `refine`.

use sapwood_ptir::ops::{GetDimensionSize, Refine, Transpose};
use sapwood_ptir::{Dim, Int, TensorLiteral, Value};

use crate::pattern::Rewrite;
use crate::rewriter::refines;

crate::patterns! { "dims":
    size_of_known,
    size_of_transpose when 0 in [Transpose],
    size_of_elementwise,
    refine_to_same when same,
    refine_to_less,
    refine_of_refine when 0 in [Refine],
}

/// `get_dimension_size(x, axis) = constant` if the dim is known.
///
/// Floats: exact.
fn size_of_known(op: GetDimensionSize, rw: &mut Rewrite<'_>) -> Option<Value> {
    let size = rw.tensor(op.input)?.dims[op.axis.0 as usize].known()?;
    Some(rw.constant(TensorLiteral::scalar(size as i32)))
}

/// `get_dimension_size(transpose(x, p), axis) = get_dimension_size(x, p[axis])`.
///
/// Floats: exact.
fn size_of_transpose(op: GetDimensionSize, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Transpose>(op.input)?;
    let axis = Int(inner.perm[op.axis.0 as usize]);
    rw.emit(GetDimensionSize { input: inner.input, axis })
}

/// `get_dimension_size(f(x), axis) = get_dimension_size(x, axis)` for elementwise `f`.
///
/// Floats: exact.
fn size_of_elementwise(op: GetDimensionSize, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inst = rw.def_inst(op.input)?;
    let f = rw.function();
    if !f.op_def(inst)?.elementwise {
        return None;
    }
    let rank = rw.rank(op.input);
    let &input = f.operands(inst).iter().find(|&&v| rw.rank(v) == rank)?;
    rw.emit(GetDimensionSize { input, axis: op.axis })
}

/// `refine(x : t) : t = x`.
///
/// Floats: exact.
fn refine_to_same(op: Refine, rw: &mut Rewrite<'_>) -> Option<Value> {
    (rw.ty(op.input) == rw.result_type()).then_some(op.input)
}

/// `refine(x : t) : u = x` if `t` has all the known dims of `u`, and more.
///
/// Floats: exact.
fn refine_to_less(op: Refine, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (from, to) = (rw.ty(op.input)?, rw.result_type()?);
    (from != to && refines(from, to)).then_some(op.input)
}

/// `refine(refine(x)) = refine(x)`.
///
/// Only if the inner one introduces no dim name that the outer one does not have.
///
/// Floats: exact.
fn refine_of_refine(outer: Refine, rw: &mut Rewrite<'_>) -> Option<Value> {
    let inner = rw.def::<Refine>(outer.input)?;
    let (mid, ty) = (rw.tensor(outer.input)?, rw.result_tensor()?);
    let named = |d: &&Dim| matches!(d, Dim::Expr(_));
    if mid.dims.iter().filter(named).any(|d| !ty.dims.contains(d)) {
        return None;
    }
    rw.emit(Refine { input: inner.input, ty: outer.ty })
}
