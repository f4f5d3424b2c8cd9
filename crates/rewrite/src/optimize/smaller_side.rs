//! Elementwise work on the smaller side of a slice, a gather, a sum or a product.

use sapwood_ptir::ops::{Div, DotGeneral, DynamicSlice, Gather, Mul, Neg, ReduceSum, Slice};
use sapwood_ptir::{Function, InstId, Op as _, OpParts, TensorType, Value};
use smallvec::SmallVec;

use super::product_axes::{Side, may_reorder};
use crate::canonicalize::tensor_views::{BroadcastView, emit_broadcast};
use crate::pattern::{Rewrite, RootView, Roots, is_elementwise};

crate::patterns! { "smaller_side":
    part_of_elementwise hops 2,
    sum_of_scaled hops 2 when 0 in [Mul, Div, Neg] floats fast,
    dot_of_scaled hops 2 when any in [Mul, Div, Neg] floats fast,
}

/// An instruction that picks elements of its first operand.
struct PartView {
    root: InstId,
}

impl RootView for PartView {
    fn roots() -> Roots {
        Roots::Keys(SmallVec::from_iter([Slice::key(), DynamicSlice::key(), Gather::key()]))
    }

    fn read(f: &Function, root: InstId) -> Option<Self> {
        let keys = [Slice::key(), DynamicSlice::key(), Gather::key()];
        keys.contains(&f.op_key(root)).then_some(Self { root })
    }
}

/// The number of slices of one value that are moved together.
const MAX_SLICES: usize = 8;

/// `slice(f(x, y)) = f(slice(x), slice(y))` for an elementwise `f`; also for dynamic slices and gathers.
///
/// If all uses of `f(x, y)` are slices, all are replaced together.
///
/// Floats: exact.
fn part_of_elementwise(op: PartView, rw: &mut Rewrite<'_>) -> Option<Value> {
    let f = rw.function();
    let &input = f.operands(op.root).first()?;
    let small = emit_elementwise_of_part(rw, op.root)?;
    let others = other_slices(f, op.root, input);
    if others.is_empty() {
        return Some(small);
    }
    let mut also = Vec::new();
    let mut first = op.root;
    for other in others {
        also.push((other, emit_elementwise_of_part(rw, other)?));
        first = if f.is_before(other, first) { other } else { first };
    }
    rw.replace_also(first, also);
    Some(small)
}

// Returns the slices of a value other than the root, if the root is a slice, all other uses are slices in the body of the root, and there are not too many.
fn other_slices(f: &Function, root: InstId, input: Value) -> SmallVec<[InstId; 8]> {
    let mut users: SmallVec<[InstId; 8]> = SmallVec::new();
    let is_slice = |inst: InstId| f.is::<Slice>(inst) && f.body_of(inst) == f.body_of(root);
    for one in f.uses(input) {
        if users.len() == MAX_SLICES || !is_slice(one.user) {
            return SmallVec::new();
        }
        users.push(one.user);
    }
    users.retain(|&mut user| user != root);
    // The order of uses tells how the program was made.
    users.sort_unstable_by_key(|&user| f.order_key(user));
    users
}

// Emits the elementwise op that a part takes elements of, on parts of its operands.
fn emit_elementwise_of_part(rw: &mut Rewrite<'_>, part: InstId) -> Option<Value> {
    let f = rw.function();
    let input = *f.operands(part).first()?;
    let inner = rw.def_inst(input)?;
    let is_plain = is_elementwise(f, inner)
        && f.inst_results(inner).len() == 1
        && !f.may_stop(inner)
        && f.body_of(inner) == f.body_of(part);
    let whole = rw.tensor(input)?.clone();
    let result = f.value_type(f.value_of(part)?).as_tensor()?;
    if !is_plain || whole.known_shape().is_none() {
        return None;
    }
    let mut parts = f.parts_of(inner);
    let mut moved: SmallVec<[(Value, Value); 3]> = SmallVec::new();
    for operand in &mut parts.operands {
        let ty = rw.tensor(*operand)?.clone();
        // The scalar operands of `select` and `clamp`.
        if ty.rank() == 0 && whole.rank() > 0 {
            continue;
        }
        if ty.dims != whole.dims {
            return None;
        }
        let known = moved.iter().find(|(from, _)| from == operand);
        let part = match known {
            Some(&(_, to)) => to,
            None => emit_part(rw, part, *operand, ty, result)?,
        };
        moved.push((*operand, part));
        *operand = part;
    }
    parts.result_types = smallvec::smallvec![result.clone().into()];
    rw.emit_parts(&parts)
}

// Emits a part of another value.
fn emit_part(
    rw: &mut Rewrite<'_>,
    part: InstId,
    input: Value,
    ty: TensorType,
    result: &TensorType,
) -> Option<Value> {
    if let Some(literal) = rw.splat_of(input) {
        let shape = result.known_shape()?;
        let small = sapwood_ptir::TensorLiteral::splat(ty.dtype, &shape, literal.as_splat()?);
        return Some(rw.constant(small.ok()?));
    }
    let mut parts: OpParts = rw.function().parts_of(part);
    parts.operands[0] = input;
    parts.result_types =
        smallvec::smallvec![TensorType { dtype: ty.dtype, dims: result.dims.clone() }.into()];
    rw.emit_parts(&parts)
}

/// A tensor with a factor that repeats along some axes: `x * f`, `x / f` or `-x`.
struct ScaledTensor {
    input: Value,
    // The factor before it was repeated; none for a sign.
    factor: Option<BroadcastView>,
    is_quotient: bool,
}

impl ScaledTensor {
    fn read(rw: &mut Rewrite<'_>, value: Value) -> SmallVec<[Self; 2]> {
        let mut found = SmallVec::new();
        if let Some(op) = rw.def::<Neg>(value) {
            found.push(Self { input: op.input, factor: None, is_quotient: false });
        }
        let pairs: SmallVec<[(Value, Value, bool); 2]> = match rw.def::<Mul>(value) {
            Some(op) => SmallVec::from_slice(&[(op.lhs, op.rhs, false), (op.rhs, op.lhs, false)]),
            None => match rw.def::<Div>(value) {
                Some(op) => SmallVec::from_slice(&[(op.lhs, op.rhs, true)]),
                None => SmallVec::new(),
            },
        };
        for (input, factor, is_quotient) in pairs {
            let view = rw.def::<BroadcastView>(factor).filter(BroadcastView::is_certain);
            if let Some(view) = view {
                found.push(Self { input, factor: Some(view), is_quotient });
            }
        }
        found
    }

    // Returns true if the factor is the same along an axis.
    fn repeats_along(&self, axis: usize) -> bool {
        self.factor.as_ref().is_none_or(|view| view.repeats_along(axis))
    }

    // Scales another tensor. `axes` gives, for each axis of the scaled tensor, the axis of the other one, if it has it.
    fn apply(
        &self,
        rw: &mut Rewrite<'_>,
        input: Value,
        axes: impl Fn(usize) -> Option<usize>,
    ) -> Option<Value> {
        let Some(view) = &self.factor else { return rw.emit(Neg { input }) };
        let ty = rw.tensor(input)?.clone();
        // Axes of extent one are dropped before the factor is repeated along the axes of the other tensor.
        let kept: Vec<usize> =
            (0..view.dims.len()).filter(|&at| view.from.dims[at].known() != Some(1)).collect();
        let dims: Vec<usize> = kept.iter().map(|&at| axes(view.dims[at])).collect::<Option<_>>()?;
        let small = TensorType {
            dtype: ty.dtype,
            dims: kept.iter().map(|&at| view.from.dims[at]).collect(),
        };
        let small = crate::canonicalize::tensor_views::emit_reshape(rw, view.input, &small)?;
        let rhs = emit_broadcast(rw, small, &dims, &ty)?;
        match self.is_quotient {
            true => rw.emit(Div { lhs: input, rhs }),
            false => rw.emit(Mul { lhs: input, rhs }),
        }
    }
}

/// `reduce_sum(x * c) = reduce_sum(x) * c` if `c` does not depend on the summed axes; also for quotients and signs.
///
/// Integers only allow factors and signs.
///
/// Floats: fast.
fn sum_of_scaled(op: ReduceSum, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.keepdims || op.accumulate.is_some() || !may_reorder(rw, op.input) {
        return None;
    }
    let is_integer = !rw.dtype(op.input)?.is_float();
    let axes: Vec<usize> = op.axes.iter().map(|&axis| axis as usize).collect();
    for scaled in ScaledTensor::read(rw, op.input) {
        let fits = axes.iter().all(|&axis| scaled.repeats_along(axis));
        if !fits || scaled.is_quotient && is_integer || rw.dtype(op.input)?.is_bool() {
            continue;
        }
        let sum = rw.emit(ReduceSum { input: scaled.input, ..op })?;
        let position = |axis: usize| {
            let before = axes.iter().filter(|&&summed| summed < axis).count();
            (!axes.contains(&axis)).then(|| axis - before)
        };
        return scaled.apply(rw, sum, position);
    }
    None
}

/// `dot_general(x * c, y) = dot_general(x, y) * c` if `c` does not depend on the contracted axes of `x`; also for quotients and signs, and for either operand.
///
/// Integers only allow factors and signs.
///
/// Floats: fast.
fn dot_of_scaled(op: DotGeneral, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !may_reorder(rw, op.lhs) || op.accumulate.or(op.out).is_some() {
        return None;
    }
    let dtype = rw.dtype(op.lhs)?;
    for side in Side::BOTH {
        for scaled in ScaledTensor::read(rw, side.value(&op)) {
            let contract = side.lists(&op).1.clone();
            let fits = contract.iter().all(|&axis| scaled.repeats_along(axis as usize));
            if !fits || scaled.is_quotient && !dtype.is_float() || dtype.is_bool() {
                continue;
            }
            let axes = super::product_axes::product_axes(rw, &op)?;
            let product = rw.emit(side.with(&op, scaled.input))?;
            let position =
                |own: usize| axes.iter().position(|&axis| side.axis_of(&op, axis) == Some(own));
            return scaled.apply(rw, product, position);
        }
    }
    None
}
