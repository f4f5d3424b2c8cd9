//! Canonicalizations of shape arithmetic: small integer tensors whose elements are known as expressions over symbols.
//!
//! `get_dimension_size` becomes `dims`, an op of `dims` and constants becomes `dims`, and an op whose shape operand is known becomes the one whose shape
//! is an attribute or its result type.

use sapwood_ptir::dims::{DimExpr, Facts, Verdict};
use sapwood_ptir::eval::{
    ShapeValue, evaluate_shape_value, shape_value_as_literal, shape_value_len,
    shape_value_of_literal,
};
use sapwood_ptir::ops::{
    Abs, Add, BroadcastInDim, BroadcastTo, Cast, Clamp, Compare, Concat, Convolution, DimValues,
    Div, DynamicBroadcastInDim, DynamicConv, DynamicGather, DynamicIota, DynamicPad,
    DynamicReshape, DynamicSlice, Gather, GetDimensionSize, Iota, Max, Min, Mul, Neg, Pad,
    RealDynamicSlice, ReduceMax, ReduceMin, ReduceProd, ReduceSum, Rem, Reshape, Reverse, Select,
    Sign, Slice, Sub, Transpose,
};
use sapwood_ptir::{
    Attr, AttrField as _, Axes, Dim, DimExprs, Function, InstId, Op, OpParts, Pairs, TensorLiteral,
    TensorType, Value, Values,
};
use smallvec::SmallVec;
use std::sync::LazyLock;

use crate::pattern::{OpRef, Rewrite};

crate::patterns! { "shape_values":
    size_as_dims,
    dims_as_constant,
    shape_value_as_dims on [
        Add, Sub, Mul, Div, Rem, Neg, Abs, Sign, Min, Max, Clamp, Select, Cast, Reshape, Transpose, Slice, Concat, BroadcastTo,
        BroadcastInDim, Reverse, Gather, ReduceSum, ReduceProd, ReduceMax, ReduceMin
    ] benefit 4 hops 4 when any in [DimValues],
    decided_by_facts on [Compare] benefit 4 when any in [DimValues],
    dynamic_reshape_of_known when 1 in [DimValues] or 1 in constants,
    dynamic_broadcast_of_known when 1 in [DimValues] or 1 in constants,
    dynamic_iota_of_known when 0 in [DimValues] or 0 in constants,
    dynamic_pad_of_known when 2 in [DimValues] or 2 in constants,
    real_dynamic_slice_of_known when 1 in [DimValues] or 1 in constants,
    real_dynamic_slice_of_offset when 2 in [Add],
    dynamic_gather_of_known when 2 in [DimValues] or 2 in constants,
    dynamic_conv_of_known when 2 in [DimValues] or 2 in constants,
    symbolic_gather_of_one_slice on [Gather] when 1 in constants,
    symbolic_slice_of_all on [Slice] when same,
}

// The number of bools between an integer and the shape values that it is computed from.
const MAX_BOOL_DEPTH: usize = 3;

// Returns the elements of a value that `dims`, an iota or a constant defines, or that is computed from such values through bools.
fn known_value(rw: &mut Rewrite<'_>, value: Value, depth: usize) -> Option<ShapeValue> {
    let f = rw.function();
    if let Some(inst) = f.inst_of(value)
        && f.is::<DimValues>(inst)
    {
        rw.def_inst(value)?;
        return f.attr(inst, "values")?.as_dim_exprs();
    }
    shape_value_len(rw.ty(value)?)?;
    if let Some(literal) = rw.constant_of(value) {
        return shape_value_of_literal(&literal);
    }
    let is_iota = f.inst_of(value).is_some_and(|inst| f.is::<Iota>(inst));
    if !is_iota && (depth == 0 || !rw.dtype(value)?.is_bool()) {
        return None;
    }
    let inst = rw.def_inst(value)?;
    evaluate_shape_value(f, inst, facts_of(f), &mut |v| known_value(rw, v, depth.checked_sub(1)?))
}

fn facts_of(f: &Function) -> &Facts {
    static NONE: LazyLock<Facts> = LazyLock::new(Facts::new);
    f.facts().unwrap_or_else(|| &*NONE)
}

// Returns the known elements of an operand as an attribute.
fn known_attr(rw: &mut Rewrite<'_>, value: Value) -> Option<Attr> {
    Some(DimExprs(known_value(rw, value, 0)?).to_attr())
}

// Emits elements as a constant if they are numbers, and as `dims` otherwise.
fn emit_elements(rw: &mut Rewrite<'_>, values: ShapeValue, ty: &TensorType) -> Option<Value> {
    if let Some(literal) = shape_value_as_literal(&values, ty) {
        return Some(rw.constant(literal));
    }
    if !ty.dtype.is_integer() {
        return None;
    }
    rw.emit(DimValues { values: DimExprs(values), ty: ty.clone().into() })
}

/// `get_dimension_size(x, axis) = dims` if the dim is an expression over symbols.
///
/// Floats: exact.
fn size_as_dims(op: GetDimensionSize, rw: &mut Rewrite<'_>) -> Option<Value> {
    let dim = *rw.tensor(op.input)?.dims.get(usize::try_from(op.axis.0).ok()?)?;
    let Dim::Expr(expr) = dim else { return None };
    let ty = rw.result_tensor()?.clone();
    emit_elements(rw, SmallVec::from_iter([expr]), &ty)
}

/// `dims = constant` if the facts of the function make all elements numbers.
///
/// Floats: exact.
fn dims_as_constant(op: DimValues, rw: &mut Rewrite<'_>) -> Option<Value> {
    let facts = facts_of(rw.function());
    let values = op.values.iter().map(|&e| facts.simplify(e)).collect::<Option<ShapeValue>>()?;
    let ty = rw.result_tensor()?.clone();
    if let Some(literal) = shape_value_as_literal(&values, &ty) {
        return Some(rw.constant(literal));
    }
    if values[..] == op.values[..] {
        return None;
    }
    rw.emit(DimValues { values: DimExprs(values), ty: op.ty })
}

/// `f(dims, constant, …) = dims` for arithmetic and for ops that move elements, if the result is a small integer tensor.
///
/// Values are assumed to fit the element type. A quotient is known if the dividend is never negative or never positive, and the divisor is at
/// least one.
///
/// Floats: exact.
fn shape_value_as_dims(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = rw.result_tensor()?.clone();
    shape_value_len(rw.result_type()?)?;
    let f = rw.function();
    let facts = facts_of(f);
    reads_dims(f, op.root)?;
    let mut operand = |value: Value| known_value(rw, value, MAX_BOOL_DEPTH);
    let values = evaluate_shape_value(f, op.root, facts, &mut operand)?;
    emit_elements(rw, values, &ty)
}

/// `compare(dims, …) = constant` if the facts of the function decide it.
///
/// Floats: exact.
fn decided_by_facts(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = rw.result_tensor()?.clone();
    shape_value_len(rw.result_type()?)?;
    let f = rw.function();
    let facts = facts_of(f);
    reads_dims(f, op.root)?;
    let values = evaluate_shape_value(f, op.root, facts, &mut |v| known_value(rw, v, 0))?;
    Some(rw.constant(shape_value_as_literal(&values, &ty)?))
}

// Returns whether an operand is the result of `dims`. Ops of constants alone are folded.
fn reads_dims(f: &Function, inst: InstId) -> Option<()> {
    let is_dims = |&v: &Value| f.inst_of(v).is_some_and(|i| f.is::<DimValues>(i));
    f.operands(inst).iter().any(is_dims).then_some(())
}

// Returns the type of the result with the dims that an operand lists.
fn type_of_shape(rw: &mut Rewrite<'_>, shape: Value) -> Option<TensorType> {
    let values = known_value(rw, shape, 0)?;
    let ty = rw.result_tensor()?;
    let dims = ty.dims.iter().zip(&values).map(|(&dim, &value)| match Dim::from_expr(value) {
        Dim::Unknown => None,
        known => dim.unify(known),
    });
    let dims = dims.collect::<Option<_>>()?;
    (values.len() == ty.rank()).then_some(TensorType { dtype: ty.dtype, dims })
}

/// `dynamic_reshape(x, dims) = reshape(x)`.
///
/// Floats: exact.
fn dynamic_reshape_of_known(op: DynamicReshape, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = type_of_shape(rw, op.shape)?;
    rw.emit(Reshape { input: op.input, ty: ty.into() })
}

/// `dynamic_broadcast_in_dim(x, dims) = broadcast_in_dim(x)`.
///
/// Floats: exact.
fn dynamic_broadcast_of_known(op: DynamicBroadcastInDim, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = type_of_shape(rw, op.shape)?;
    rw.emit(BroadcastInDim { input: op.input, dims: op.dims, ty: ty.into() })
}

/// `dynamic_iota(dims) = iota`.
///
/// Floats: exact.
fn dynamic_iota_of_known(op: DynamicIota, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ty = type_of_shape(rw, op.shape)?;
    rw.emit(Iota { axis: op.axis, ty: ty.into() })
}

/// `dynamic_pad(x, v, low, high, interior) = pad(x, v)` if the amounts are known.
///
/// The amounts between elements must be numbers.
///
/// Floats: exact.
fn dynamic_pad_of_known(op: DynamicPad, rw: &mut Rewrite<'_>) -> Option<Value> {
    let interior = known_attr(rw, op.interior).filter(|attr| attr.as_ints().is_some())?;
    let mut parts = OpParts::new(Pad::key());
    parts.operands.extend([op.input, op.value]);
    parts.attrs.extend([known_attr(rw, op.low)?, known_attr(rw, op.high)?, interior]);
    rw.emit_parts(&parts)
}

fn emit_slice(
    rw: &mut Rewrite<'_>,
    input: Value,
    starts: Attr,
    limits: Attr,
    strides: Attr,
) -> Option<Value> {
    let mut parts = OpParts::new(Slice::key());
    parts.operands.push(input);
    parts.attrs.extend([starts, limits, strides]);
    rw.emit_parts(&parts)
}

/// `real_dynamic_slice(x, starts, limits, strides) = slice(x)` if these are known.
///
/// The strides must be numbers.
///
/// Floats: exact.
fn real_dynamic_slice_of_known(op: RealDynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let strides = known_attr(rw, op.strides)?;
    let ones = strides.as_ints()?.iter().all(|&n| n == 1);
    let (starts, limits) = (known_attr(rw, op.starts)?, known_attr(rw, op.limits)?);
    let slice = emit_slice(rw, op.input, starts, limits, if ones { Attr::Unit } else { strides })?;
    unless_refuted(rw, slice)
}

/// `real_dynamic_slice(x, starts, starts + sizes, ones) = dynamic_slice(x, starts)`.
///
/// The sizes must be known. The slice was inside of `x`, or the run would have stopped.
///
/// Floats: exact.
fn real_dynamic_slice_of_offset(op: RealDynamicSlice, rw: &mut Rewrite<'_>) -> Option<Value> {
    let limits = rw.def::<Add>(op.limits)?;
    let sizes = match op.starts {
        starts if starts == limits.lhs => limits.rhs,
        starts if starts == limits.rhs => limits.lhs,
        _ => return None,
    };
    let strides = known_value(rw, op.strides, 0)?;
    if strides.iter().any(|stride| stride.as_constant() != Some(1)) {
        return None;
    }
    let mut parts = OpParts::new(DynamicSlice::key());
    parts.attrs.push(known_attr(rw, sizes)?);
    parts.operands.push(op.input);
    let dtype = rw.dtype(op.starts)?;
    for axis in 0..strides.len() {
        let (starts, limits) = (Axes::from([axis]), Axes::from([axis + 1]));
        let one = rw.emit(Slice { input: op.starts, starts, limits, strides: None })?;
        let start = rw.emit(Reshape { input: one, ty: TensorType::scalar(dtype).into() })?;
        parts.operands.push(start);
    }
    let slice = rw.emit_parts(&parts)?;
    unless_refuted(rw, slice)
}

// Returns a value for the result, unless a known dim of it differs from a declared one: a program may declare dims that its run would refute.
fn unless_refuted(rw: &Rewrite<'_>, value: Value) -> Option<Value> {
    let declared = &rw.result_tensor()?.dims;
    let refuted = |(a, b): (&Dim, &Dim)| a.known().zip(b.known()).is_some_and(|(a, b)| a != b);
    let refuted = rw.tensor(value)?.dims.iter().zip(declared).any(refuted);
    (!refuted).then_some(value)
}

/// `dynamic_gather(x, indices, sizes) = gather(x, indices)` if the sizes are known.
///
/// Floats: exact.
fn dynamic_gather_of_known(op: DynamicGather, rw: &mut Rewrite<'_>) -> Option<Value> {
    let sizes = known_attr(rw, op.slice_sizes)?;
    let gather = Gather {
        input: op.input,
        indices: op.indices,
        offset_dims: op.offset_dims,
        collapsed_dims: op.collapsed_dims,
        input_batch_dims: op.input_batch_dims,
        index_batch_dims: op.index_batch_dims,
        start_index_map: op.start_index_map,
        index_vector_dim: op.index_vector_dim,
        slice_sizes: Axes::default(),
    };
    let mut parts = gather.into_parts();
    *parts.attrs.last_mut()? = sizes;
    rw.emit_parts(&parts)
}

/// `dynamic_conv(x, k, pads) = convolution(x, k)` if the padding is known.
///
/// Padding that is not a number becomes a `pad` of the input, which must not be dilated.
///
/// Floats: exact.
fn dynamic_conv_of_known(op: DynamicConv, rw: &mut Rewrite<'_>) -> Option<Value> {
    let pads = known_value(rw, op.pads, 0)?;
    let numbers: Option<Vec<i64>> = pads.iter().map(|e| e.as_constant()).collect();
    let (mut input, mut rows) = (op.input, None);
    match numbers {
        Some(numbers) => {
            rows = Some(Pairs(numbers.chunks_exact(2).map(|row| [row[0], row[1]]).collect()));
        }
        None if op.input_dilation.is_some() => return None,
        None => {
            let rank = rw.rank(input)?;
            let zero = DimExpr::constant(0)?;
            let (mut low, mut high) = (vec![zero; rank], vec![zero; rank]);
            for (&axis, row) in op.input_dims.get(2..)?.iter().zip(pads.chunks_exact(2)) {
                let axis = usize::try_from(axis).ok().filter(|&axis| axis < rank)?;
                (low[axis], high[axis]) = (row[0], row[1]);
            }
            let zero = TensorLiteral::filled(rw.dtype(input)?, &[], 0.0).ok()?;
            let mut parts = OpParts::new(Pad::key());
            parts.operands.extend([input, rw.constant(zero)]);
            let list = |list: Vec<DimExpr>| list.into_iter().collect::<DimExprs>().to_attr();
            parts.attrs.extend([list(low), list(high), Attr::Unit]);
            input = rw.emit_parts(&parts)?;
        }
    }
    rw.emit(Convolution {
        input,
        kernel: op.kernel,
        input_dims: op.input_dims,
        kernel_dims: op.kernel_dims,
        output_dims: op.output_dims,
        strides: op.strides,
        pads: rows,
        input_dilation: op.input_dilation,
        kernel_dilation: op.kernel_dilation,
        reversal: op.reversal,
        feature_groups: op.feature_groups,
        batch_groups: op.batch_groups,
        accumulate: op.accumulate,
    })
}

/// `gather(x, constant) = slice(x)` for one index vector and sizes that are expressions, if the slice is certainly inside of `x`.
///
/// Floats: exact.
fn symbolic_gather_of_one_slice(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let list = |name: &str| f.attr(op.root, name).and_then(Attr::as_ints);
    let sizes = f.attr(op.root, "slice_sizes").filter(|attr| attr.has_symbols())?.as_dim_exprs()?;
    let &[input, indices] = f.operands(op.root) else { return None };
    let ty = rw.tensor(input)?.clone();
    let whole = list("offset_dims")?.len() == ty.rank() && rw.rank(indices)? == 1;
    if !whole || rw.result_tensor()?.rank() != ty.rank() {
        return None;
    }
    let (facts, map) = (facts_of(rw.function()), list("start_index_map")?);
    let found = known_value(rw, indices, 0)?;
    let (mut starts, mut limits) = (ShapeValue::new(), ShapeValue::new());
    for (axis, (&dim, &size)) in ty.dims.iter().zip(&sizes).enumerate() {
        let at = map.iter().position(|&to| to == axis as i64);
        let start = at.map_or(DimExpr::constant(0), |at| found.get(at).copied())?;
        let limit = start.checked_add(size)?;
        let room = facts.bounds(dim.to_expr()?.checked_sub(limit)?);
        if !room.is_at_least(0) || !facts.bounds(start).is_at_least(0) {
            return None;
        }
        starts.push(start);
        limits.push(limit);
    }
    emit_slice(rw, input, DimExprs(starts).to_attr(), DimExprs(limits).to_attr(), Attr::Unit)
}

/// `slice(x) = x` if its limits are expressions that are the extents of `x`.
///
/// Floats: exact.
fn symbolic_slice_of_all(op: OpRef, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let attr = |name: &str| f.attr(op.root, name);
    let limits = attr("limits").filter(|attr| attr.has_symbols())?.as_dim_exprs()?;
    let starts = attr("starts")?.as_ints()?;
    let &input = f.operands(op.root).first()?;
    let (dims, facts) = (rw.tensor(input)?.dims.clone(), facts_of(rw.function()));
    let all = starts.iter().all(|&n| n == 0)
        && attr("strides").and_then(Attr::as_ints).is_none_or(|s| s.iter().all(|&n| n == 1))
        && dims.iter().zip(&limits).all(|(dim, &limit)| {
            dim.to_expr().is_some_and(|dim| facts.compare(dim, limit) == Verdict::Equal)
        });
    all.then(|| Values::from_iter([input]))
}
