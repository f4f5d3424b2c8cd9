//! Contraction of two tensors.

use super::support::{DtypeClass, axes_of_each, check_accumulate_dtype, one_result};
use crate::attr::Axes;
use crate::cost::op_flops as cost;
use crate::eval::kernels;
use crate::op::{InferCx, InferResult, OpError, Value, unify_dims};
use crate::types::{Dims, TensorType};
use sapwood_types::{DataType, counted};

crate::ops! {
    family "dot", table dot_ops, values DotValueOps, graph DotGraphOps;

    /// Sums products over the contracted axes, for each index of the batch axes. The result has the batch axes, then
    /// the free axes of `lhs`, then those of `rhs`. Products and sums are computed in the type `accumulate` (by
    /// default f32 for narrower floats), in row-major order of the contracted indices, starting from zero, and
    /// converted to `out` at the end. Integers wrap; for bools, the sum is the or and the product is the and. A
    /// contraction over no elements gives zero.
    op dot_general_axes DotGeneral "dot_general" (lhs: Value, rhs: Value) {
        /// Batch axes of `lhs`, paired with those of `rhs`.
        lhs_batch: Axes = Axes::default(),
        /// Batch axes of `rhs`.
        rhs_batch: Axes = Axes::default(),
        /// Contracted axes of `lhs`, paired with those of `rhs`.
        lhs_contract: Axes = Axes::default(),
        /// Contracted axes of `rhs`.
        rhs_contract: Axes = Axes::default(),
        /// Type in which products and sums are computed.
        accumulate: Option<DataType>,
        /// Element type of the result; by default that of the operands.
        out: Option<DataType>,
    } -> one [omitted_dtype("out"), flops(cost::dot_general)] = infer_dot_general, eval = kernels::dot::dot_general;
}

fn infer_dot_general(cx: &InferCx<'_>) -> InferResult {
    let (lhs, rhs) = (cx.tensor(0)?, cx.tensor(1)?);
    if lhs.dtype != rhs.dtype {
        return Err(OpError::new(format!(
            "lhs has element type {}, rhs has {}",
            lhs.dtype, rhs.dtype
        ))
        .with_help("promotion is never implicit; insert a `cast`"));
    }
    DtypeClass::COMPUTED.check("lhs", lhs.dtype)?;
    check_accumulate_dtype(cx, lhs.dtype)?;
    let [lb, rb, lc, rc] = axes_of_each(
        cx,
        [
            ("lhs_batch", lhs.rank()),
            ("rhs_batch", rhs.rank()),
            ("lhs_contract", lhs.rank()),
            ("rhs_contract", rhs.rank()),
        ],
    )?;
    for (what, l, r) in [("batch", &lb, &rb), ("contract", &lc, &rc)] {
        if l.len() != r.len() {
            return Err(OpError::new(format!(
                "`lhs_{what}` has {}, `rhs_{what}` has {}",
                counted(l.len(), "axis"),
                r.len()
            )));
        }
    }
    for (side, b, c) in [("lhs", &lb, &lc), ("rhs", &rb, &rc)] {
        if let Some(axis) = b.iter().find(|a| c.contains(a)) {
            return Err(OpError::new(format!(
                "axis {axis} of {side} is both a batch and a contracted axis"
            )));
        }
    }
    let mut dims = Dims::new();
    for (&l, &r) in lb.iter().zip(&rb) {
        dims.push(unify_dims(
            format_args!("batch axis {l} of lhs and {r} of rhs"),
            lhs.dims[l],
            rhs.dims[r],
        )?);
    }
    for (&l, &r) in lc.iter().zip(&rc) {
        unify_dims(
            format_args!("contracted axis {l} of lhs and {r} of rhs"),
            lhs.dims[l],
            rhs.dims[r],
        )?;
    }
    dims.extend(
        (0..lhs.rank()).filter(|a| !lb.contains(a) && !lc.contains(a)).map(|a| lhs.dims[a]),
    );
    dims.extend(
        (0..rhs.rank()).filter(|a| !rb.contains(a) && !rc.contains(a)).map(|a| rhs.dims[a]),
    );
    let dtype = cx.dtype("out")?.unwrap_or(lhs.dtype);
    if dtype.is_complex() != lhs.dtype.is_complex() || dtype.is_bool() != lhs.dtype.is_bool() {
        return Err(OpError::new(format!(
            "`out` is {dtype}, which does not fit products of {}",
            lhs.dtype
        )));
    }
    one_result(TensorType { dtype, dims })
}
