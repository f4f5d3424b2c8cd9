//! Canonicalizations that follow from the range of integer elements.

use sapwood_ptir::ops::{
    Add, And, BroadcastInDim, BroadcastTo, Cast, Clamp, Compare, Concat, Direction, DynamicSlice,
    Gather, Iota, Max, Min, Mul, Rem, Reshape, Reverse, Select, ShrLogical, Slice, Sub, Transpose,
};
use sapwood_ptir::{Function, InstId, Op, OpKey, TensorLiteral, Value};

use super::numeric_constants::{bool_like_result, is_int, splat_unsigned};
use super::tensor_views::{emit_reshape, int_element_at};
use crate::pattern::{Binary, Rewrite, RootView, Roots};

/// The number of definitions that are read to find a range; the patterns below declare it as their hops.
const MAX_RANGE_DEPTH: u8 = 4;

/// The number of elements of a literal that are read to find its range.
const MAX_RANGE_ELEMENTS: u64 = 64;

crate::patterns! { "int_range":
    compare_by_range hops 4 when any in [BoundedView] of [Int],
    min_max_by_range on [Min, Max] hops 4 when any in [BoundedView] of [Int],
    clamp_by_range hops 4 when 1 in [BoundedView] of [Int],
    shift_by_range hops 4 when 0 in [BoundedView] and 1 in constants,
    rem_by_range hops 4 when 0 in [BoundedView] of [Int],
    gather_of_iota hops 4 when 0 in [Iota],
}

/// A view of the ops whose results may have a smaller range than their type.
struct BoundedView;

impl RootView for BoundedView {
    fn roots() -> Roots {
        let moves = moving_ops().into_iter();
        let ranges = [Iota::key(), Cast::key(), Select::key(), Concat::key(), Clamp::key()];
        Roots::Keys(moves.chain(ranges).chain(bounded_arithmetic()).collect())
    }

    fn read(f: &Function, inst: InstId) -> Option<Self> {
        let Roots::Keys(keys) = Self::roots() else { return Some(Self) };
        keys.contains(&f.op_key(inst)).then_some(Self)
    }
}

fn is_bounded(rw: &mut Rewrite<'_>, value: Value) -> bool {
    rw.def::<BoundedView>(value).is_some()
}

// The ops whose results have only elements of their first operand.
fn moving_ops() -> [OpKey; 8] {
    [
        BroadcastTo::key(),
        BroadcastInDim::key(),
        Reshape::key(),
        Transpose::key(),
        Slice::key(),
        Reverse::key(),
        DynamicSlice::key(),
        Gather::key(),
    ]
}

// The ops that `binary_range` knows.
fn bounded_arithmetic() -> [OpKey; 8] {
    [
        Add::key(),
        Sub::key(),
        Mul::key(),
        Min::key(),
        Max::key(),
        And::key(),
        Rem::key(),
        ShrLogical::key(),
    ]
}

/// The smallest and the largest value that an element may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct IntRange {
    low: i128,
    high: i128,
}

impl IntRange {
    fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns this range if it lies within another, which is the result of an operation that wraps.
    fn unless_wrapped(self, all: Self) -> Self {
        if all.low <= self.low && self.high <= all.high { self } else { all }
    }
}

// Returns the range of the elements of an integer tensor.
fn range_of(rw: &mut Rewrite<'_>, value: Value, depth: u8) -> Option<IntRange> {
    let dtype = rw.dtype(value)?;
    let (low, high) = if dtype.is_bool() { (0, 1) } else { dtype.integer_range()? };
    let all = IntRange { low, high };
    if depth == 0 {
        return Some(rw.function().constant_of(value).and_then(literal_range).unwrap_or(all));
    }
    if let Some(literal) = rw.constant_of(value) {
        return Some(literal_range(&literal).unwrap_or(all));
    }
    let Some(inst) = rw.def_inst(value) else { return Some(all) };
    let f = rw.function();
    let key = f.op_key(inst);
    let operand = |n: usize| f.operands(inst).get(n).copied();
    if let Some(iota) = f.view::<Iota>(inst) {
        let last = match rw.tensor(value)?.dims[iota.axis.0 as usize].known() {
            Some(count) => i128::from(count) - 1,
            // An extent that is not known may be larger than the type can count.
            None if dtype.byte_size() < 8 => return Some(all),
            None => high,
        };
        return Some(IntRange { low: 0, high: last.max(0) }.unless_wrapped(all));
    }
    if moving_ops().contains(&key) {
        return range_of(rw, operand(0)?, depth - 1);
    }
    if key == Cast::key() {
        let input = operand(0)?;
        if !rw.dtype(input).is_some_and(|d| d.is_integer() || d.is_bool()) {
            return Some(all);
        }
        return Some(range_of(rw, input, depth - 1)?.unless_wrapped(all));
    }
    if key == Select::key() {
        let on_true = range_of(rw, operand(1)?, depth - 1)?;
        return Some(on_true.union(range_of(rw, operand(2)?, depth - 1)?));
    }
    if key == Concat::key() {
        let &[x, y] = f.operands(inst) else { return Some(all) };
        return Some(range_of(rw, x, depth - 1)?.union(range_of(rw, y, depth - 1)?));
    }
    if key == Clamp::key() {
        let (low, x) =
            (range_of(rw, operand(0)?, depth - 1)?, range_of(rw, operand(1)?, depth - 1)?);
        let high = range_of(rw, operand(2)?, depth - 1)?;
        let limited = |x: i128, low: i128, high: i128| x.max(low).min(high);
        return Some(IntRange {
            low: limited(x.low, low.low, high.low),
            high: limited(x.high, low.high, high.high),
        });
    }
    if dtype.is_bool() || !bounded_arithmetic().contains(&key) {
        return Some(all);
    }
    let (x, y) = (range_of(rw, operand(0)?, depth - 1)?, range_of(rw, operand(1)?, depth - 1)?);
    Some(binary_range(f.op_name(inst), x, y, all))
}

// Returns the range of the result of an op of two integers.
fn binary_range(op: &str, x: IntRange, y: IntRange, all: IntRange) -> IntRange {
    match op {
        "add" => IntRange { low: x.low + y.low, high: x.high + y.high }.unless_wrapped(all),
        "sub" => IntRange { low: x.low - y.high, high: x.high - y.low }.unless_wrapped(all),
        "mul" => {
            let ends = [x.low, x.high].map(|a| [a.checked_mul(y.low), a.checked_mul(y.high)]);
            let ends: Option<Vec<i128>> = ends.into_iter().flatten().collect();
            let range = ends.and_then(|ends| {
                Some(IntRange { low: *ends.iter().min()?, high: *ends.iter().max()? })
            });
            range.map_or(all, |range| range.unless_wrapped(all))
        }
        "min" => IntRange { low: x.low.min(y.low), high: x.high.min(y.high) },
        "max" => IntRange { low: x.low.max(y.low), high: x.high.max(y.high) },
        // The bits of a mask that is not negative.
        "and" if x.low >= 0 && y.low >= 0 => IntRange { low: 0, high: x.high.min(y.high) },
        "and" if y.low >= 0 => IntRange { low: 0, high: y.high },
        "and" if x.low >= 0 => IntRange { low: 0, high: x.high },
        // The remainder has the sign of the dividend. That by zero is the dividend.
        "rem" if x.low >= 0 && y.low > 0 => IntRange { low: 0, high: x.high.min(y.high - 1) },
        "shr_logical" if x.low >= 0 && y.low >= 0 => {
            let shifted = |n: i128, by: i128| if by >= 64 { 0 } else { n >> by };
            IntRange { low: shifted(x.low, y.high), high: shifted(x.high, y.low) }
        }
        _ => all,
    }
}

fn literal_range(literal: &TensorLiteral) -> Option<IntRange> {
    if literal.dtype().is_bool() {
        return None;
    }
    let count = match literal.as_splat() {
        Some(_) => 1,
        None => literal.shape().iter().product(),
    };
    if count == 0 || count > MAX_RANGE_ELEMENTS {
        return None;
    }
    let first = int_element_at(literal, 0)?;
    (1..count).try_fold(IntRange { low: first, high: first }, |range, n| {
        let element = int_element_at(literal, n)?;
        Some(range.union(IntRange { low: element, high: element }))
    })
}

/// `x < y = true` if every element of `x` is smaller than every element of `y`; likewise `false`, and the other directions.
///
/// The ranges of integers follow from constants, iotas and the arithmetic between.
///
/// Floats: never.
fn compare_by_range(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_int(rw, op.lhs) || !is_bounded(rw, op.lhs) && !is_bounded(rw, op.rhs) {
        return None;
    }
    let x = range_of(rw, op.lhs, MAX_RANGE_DEPTH)?;
    let y = range_of(rw, op.rhs, MAX_RANGE_DEPTH)?;
    let (less, less_or_equal) =
        ((x.high < y.low, x.low >= y.high), (x.high <= y.low, x.low > y.high));
    let apart = x.high < y.low || x.low > y.high;
    let (always, never) = match op.direction {
        Direction::Lt => less,
        Direction::Le => less_or_equal,
        Direction::Gt => (less_or_equal.1, less_or_equal.0),
        Direction::Ge => (less.1, less.0),
        Direction::Eq => (false, apart),
        Direction::Ne => (apart, false),
    };
    if !always && !never {
        return None;
    }
    bool_like_result(rw, always)
}

/// `min(x, y) = x` and `max(x, y) = y` if no element of `x` is larger than an element of `y`, for integers, in any order.
///
/// Floats: never.
fn min_max_by_range(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_int(rw, op.lhs) || !is_bounded(rw, op.lhs) && !is_bounded(rw, op.rhs) {
        return None;
    }
    let x = range_of(rw, op.lhs, MAX_RANGE_DEPTH)?;
    let y = range_of(rw, op.rhs, MAX_RANGE_DEPTH)?;
    let is_min = op.key == Min::key();
    if x.high <= y.low {
        return Some(if is_min { op.lhs } else { op.rhs });
    }
    (y.high <= x.low).then_some(if is_min { op.rhs } else { op.lhs })
}

/// `clamp(low, x, high) = x` if no element of `x` is outside, for integers.
///
/// Floats: never.
fn clamp_by_range(op: Clamp, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_int(rw, op.input) || !is_bounded(rw, op.input) {
        return None;
    }
    let x = range_of(rw, op.input, MAX_RANGE_DEPTH)?;
    let (low, high) =
        (range_of(rw, op.low, MAX_RANGE_DEPTH)?, range_of(rw, op.high, MAX_RANGE_DEPTH)?);
    (low.high <= x.low && x.high <= high.low).then_some(op.input)
}

/// `x >> n = 0`, with zeros, for a constant `n` if `x` is not negative and below `2^n`.
///
/// Floats: never.
fn shift_by_range(op: ShrLogical, rw: &mut Rewrite<'_>) -> Option<Value> {
    let by = splat_unsigned(rw, op.rhs).filter(|&n| n < 64 && is_bounded(rw, op.lhs))?;
    let x = range_of(rw, op.lhs, MAX_RANGE_DEPTH)?;
    if x.low < 0 || x.high >= 1 << by {
        return None;
    }
    rw.filled_like_result(0.0)
}

/// `x % y = x` if `x` is not negative and smaller than `y`, for integers.
///
/// Floats: never.
fn rem_by_range(op: Rem, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_int(rw, op.lhs) || !is_bounded(rw, op.lhs) {
        return None;
    }
    let x = range_of(rw, op.lhs, MAX_RANGE_DEPTH)?;
    let y = range_of(rw, op.rhs, MAX_RANGE_DEPTH)?;
    (x.low >= 0 && x.high < y.low).then_some(op.lhs)
}

/// `gather(iota, indices) = reshape(indices)` if all indices are inside of the iota and have its type.
///
/// The iota has one axis, and all dims are known.
///
/// Floats: never.
fn gather_of_iota(op: Gather, rw: &mut Rewrite<'_>) -> Option<Value> {
    rw.def::<Iota>(op.input)?;
    let &[count] = &rw.shape(op.input)?[..] else { return None };
    let single = op.slice_sizes[..] == [1] && op.collapsed_dims[..] == [0];
    let vector = rw.shape(op.indices)?.get(op.index_vector_dim.0 as usize).is_none_or(|&n| n == 1);
    if !single || !vector || rw.dtype(op.indices) != rw.dtype(op.input) {
        return None;
    }
    let range = range_of(rw, op.indices, MAX_RANGE_DEPTH)?;
    if range.low < 0 || range.high >= i128::from(count) {
        return None;
    }
    emit_reshape(rw, op.indices, rw.result_tensor()?)
}
