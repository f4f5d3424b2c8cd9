//! Canonicalizations of `compare`, and of `not` of one.

use sapwood_ptir::ops::{
    Abs, Add, And, Bitcast, Cast, Compare, CompareOrder, Cosh, Direction, Erfc, Exp, Logistic, Mul,
    Neg, Not, Or, Sub, Xor,
};
use sapwood_ptir::{Op, TensorType, Value};
use sapwood_types::DataType;

use super::cast::can_represent_all;
use super::numeric_constants::{
    bool_like_result, either_order, int_like, inverted_constant, is_any_zero, is_bool, is_complex,
    is_constant, is_float, is_highest, is_int, is_int_or_bool, is_lowest, negated_constant,
    splat_int,
};
use super::sign::is_nonnegative_float;
use super::tensor_views::NamedReduction;
use crate::FloatMode;
use crate::pattern::{Binary, Rewrite};

crate::patterns! { "compare":
    compare_constant_to_the_right when 0 in constants,
    compare_to_less,
    compare_with_itself when equal,
    compare_bool_with_constant when 1 in constants of [Bool],
    compare_of_bool_as_number when 0 in [Cast] and 1 in constants,
    compare_beyond_limit when 1 in constants,
    compare_at_limit when 1 in constants,
    compare_of_negs when 0 in [Neg] and 1 in [Neg],
    compare_of_casts when 0 in [Cast],
    compare_of_difference when 0 in [Sub, Xor] and 1 in constants floats fast,
    compare_of_sum_with_constant when 0 in [Add] and 1 in constants of [Int],
    compare_of_reversible_with_constant when 0 in [Neg, Not, Sub, Xor] and 1 in constants of [Int, Bool],
    not_of_compare when 0 in [Compare],
    joined_compares on [And, Or] when 0 in [Compare] and 1 in [Compare],
    range_as_unsigned benefit 0 when 0 in [Compare] and 1 in [Compare],
    compare_of_nonnegative when 0 in [Abs, Exp, Cosh, Erfc, Logistic, Mul, NamedReduction] and 1 in constants of [Float],
}

// Returns the direction that holds for ordered numbers where this one does not.
fn negated_direction(direction: Direction) -> Direction {
    match direction {
        Direction::Eq => Direction::Ne,
        Direction::Ne => Direction::Eq,
        Direction::Lt => Direction::Ge,
        Direction::Le => Direction::Gt,
        Direction::Gt => Direction::Le,
        Direction::Ge => Direction::Lt,
    }
}

fn is_equality(direction: Direction) -> bool {
    matches!(direction, Direction::Eq | Direction::Ne)
}

/// `c < x = x > c` for a constant `c`, and likewise for the other directions.
///
/// Floats: exact.
fn compare_constant_to_the_right(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_constant(rw, op.lhs) || is_constant(rw, op.rhs) {
        return None;
    }
    rw.emit(Compare { lhs: op.rhs, rhs: op.lhs, direction: op.direction.swapped(), ..op })
}

/// `x > y = y < x` and `x >= y = y <= x`, unless `y` is a constant.
///
/// Floats: exact.
fn compare_to_less(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !matches!(op.direction, Direction::Gt | Direction::Ge) || is_constant(rw, op.rhs) {
        return None;
    }
    rw.emit(Compare { lhs: op.rhs, rhs: op.lhs, direction: op.direction.swapped(), ..op })
}

/// `x == x = true`, likewise `le`, `ge`; `x != x = false`, likewise `lt`, `gt`.
///
/// For floats `lt` and `gt` are exact, and all directions in the total order; the others are wrong for NaN.
///
/// Floats: fast.
fn compare_with_itself(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.lhs != op.rhs {
        return None;
    }
    let strict = matches!(op.direction, Direction::Lt | Direction::Gt);
    let exact = strict || op.order == CompareOrder::Total;
    if !exact && !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    bool_like_result(rw, matches!(op.direction, Direction::Eq | Direction::Le | Direction::Ge))
}

/// `cast(x) < cast(y) = x < y` if `x` and `y` have one type, and the other type has all its values; also for a constant `y` that is an integer of
/// the type of `x`.
///
/// Likewise for the other directions. Floats in the total order stay, because a cast may change the bits of a NaN.
///
/// Floats: exact.
fn compare_of_casts(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    let x = rw.def::<Cast>(op.lhs)?.input;
    let (from, to) = (rw.dtype(x)?, rw.dtype(op.lhs)?);
    let is_ordered = |dtype: DataType| !dtype.is_bool() && !dtype.is_complex();
    let is_kept = is_ordered(from) && is_ordered(to) && can_represent_all(to, from);
    if !is_kept || op.order != CompareOrder::Partial {
        return None;
    }
    let y = match rw.def::<Cast>(op.rhs) {
        Some(cast) => cast.input,
        None => {
            let number = splat_int(rw, op.rhs)?;
            let (low, high) = from.integer_range()?;
            if number < low || number > high {
                return None;
            }
            int_like(rw, x, number)?
        }
    };
    if rw.dtype(y) != Some(from) {
        return None;
    }
    rw.emit(Compare { lhs: x, rhs: y, ..op })
}

/// `b == true = b`, `b == false = ~b`, and likewise for the other directions.
///
/// Floats: never.
fn compare_bool_with_constant(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_bool(rw, op.lhs) {
        return None;
    }
    let constant = if rw.is_one(op.rhs) { true } else { rw.is_zero(op.rhs).then_some(false)? };
    compare_bool_with(op.lhs, op.direction, i8::from(constant), rw)
}

// Returns the comparison of the bool `b`, as 0 or 1, with a number.
fn compare_bool_with(
    b: Value,
    direction: Direction,
    with: i8,
    rw: &mut Rewrite<'_>,
) -> Option<Value> {
    let holds = |b: i8| match direction {
        Direction::Eq => b == with,
        Direction::Ne => b != with,
        Direction::Lt => b < with,
        Direction::Le => b <= with,
        Direction::Gt => b > with,
        Direction::Ge => b >= with,
    };
    match (holds(0), holds(1)) {
        (false, true) => Some(b),
        (true, false) => rw.emit(Not { input: b }),
        (always, _) => bool_like_result(rw, always),
    }
}

/// `cast(b) != 0 = b` for a bool `b`, and likewise for 1 and for the other directions.
///
/// Floats: exact.
fn compare_of_bool_as_number(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    let with = if rw.is_one(op.rhs) { 1 } else { rw.is_zero(op.rhs).then_some(0)? };
    let cast = rw.def::<Cast>(op.lhs)?;
    if !is_bool(rw, cast.input) {
        return None;
    }
    compare_bool_with(cast.input, op.direction, with, rw)
}

/// `x < lowest = false`, `x > highest = false`, `x >= lowest = true`, `x <= highest = true`.
///
/// `lowest` and `highest` are the limits of integers, or infinities. For floats the first two are exact; the others are wrong for NaN.
///
/// Floats: fast.
fn compare_beyond_limit(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.order == CompareOrder::Total {
        return None;
    }
    let answer = match op.direction {
        Direction::Lt => is_lowest(rw, op.rhs).then_some(false)?,
        Direction::Gt => is_highest(rw, op.rhs).then_some(false)?,
        Direction::Ge => is_lowest(rw, op.rhs).then_some(true)?,
        Direction::Le => is_highest(rw, op.rhs).then_some(true)?,
        Direction::Eq | Direction::Ne => return None,
    };
    if answer && !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    bool_like_result(rw, answer)
}

/// `x <= lowest = x == lowest`, `x > lowest = x != lowest`, and likewise for `highest`.
///
/// `lowest` and `highest` are the limits of integers, or infinities, for which `x > -infinity` is not `ne`: NaN is not greater.
///
/// Floats: exact.
fn compare_at_limit(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if op.order == CompareOrder::Total || is_bool(rw, op.lhs) {
        return None;
    }
    let direction = match op.direction {
        Direction::Le => is_lowest(rw, op.rhs).then_some(Direction::Eq)?,
        Direction::Ge => is_highest(rw, op.rhs).then_some(Direction::Eq)?,
        Direction::Gt => is_lowest(rw, op.rhs).then_some(Direction::Ne)?,
        Direction::Lt => is_highest(rw, op.rhs).then_some(Direction::Ne)?,
        Direction::Eq | Direction::Ne => return None,
    };
    if direction == Direction::Ne && !is_int(rw, op.lhs) {
        return None;
    }
    rw.emit(Compare { direction, ..op })
}

/// `-x < -y = x > y`, and likewise for the other directions.
///
/// For integers only `eq` and `ne`: the smallest has no opposite. Not in the total order.
///
/// Floats: exact.
fn compare_of_negs(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    let ordered = is_float(rw, op.lhs) && op.order == CompareOrder::Partial;
    if !ordered && (!is_equality(op.direction) || op.order == CompareOrder::Total) {
        return None;
    }
    let (x, y) = (rw.def::<Neg>(op.lhs)?, rw.def::<Neg>(op.rhs)?);
    let direction = op.direction.swapped();
    rw.emit(Compare { lhs: x.input, rhs: y.input, direction, ..op })
}

/// `x - y == 0 = x == y`, `x ^ y == 0 = x == y`, and likewise for `ne`.
///
/// Floats: fast. The difference of equal infinities is NaN.
fn compare_of_difference(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    let fits = is_equality(op.direction) && op.order == CompareOrder::Partial;
    if !fits || !rw.is_zero(op.rhs) || !rw.allows(FloatMode::Fast, op.lhs) {
        return None;
    }
    let (lhs, rhs) = match rw.def::<Sub>(op.lhs) {
        Some(sub) => (sub.lhs, sub.rhs),
        None => rw.def::<Xor>(op.lhs).map(|xor| (xor.lhs, xor.rhs))?,
    };
    if is_constant(rw, rhs) {
        return None;
    }
    rw.emit(Compare { lhs, rhs, ..op })
}

/// `x + c1 == c2 = x == c2 - c1` for constant integers `c1`, `c2`, and likewise for `ne`.
///
/// Floats: never.
fn compare_of_sum_with_constant(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_equality(op.direction) || !is_int(rw, op.lhs) || !is_constant(rw, op.rhs) {
        return None;
    }
    let sum = rw.def::<Add>(op.lhs)?;
    if !is_constant(rw, sum.rhs) || is_constant(rw, sum.lhs) {
        return None;
    }
    let rhs = rw.emit(Sub { lhs: op.rhs, rhs: sum.rhs })?;
    rw.emit(Compare { lhs: sum.lhs, rhs, ..op })
}

/// `-x == c = x == -c`, `~x == c = x == ~c`, `c1 - x == c = x == c1 - c`, `x ^ c1 == c = x == c1 ^ c`, and likewise for `ne`.
///
/// For integers and bools, and constants `c`, `c1`.
///
/// Floats: never.
fn compare_of_reversible_with_constant(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !is_equality(op.direction) || !is_int_or_bool(rw, op.lhs) || !is_constant(rw, op.rhs) {
        return None;
    }
    let (x, rhs) = if let Some(neg) = rw.def::<Neg>(op.lhs) {
        (neg.input, negated_constant(rw, op.rhs)?)
    } else if let Some(not) = rw.def::<Not>(op.lhs) {
        (not.input, inverted_constant(rw, op.rhs)?)
    } else if let Some(sub) = rw.def::<Sub>(op.lhs) {
        if !is_constant(rw, sub.lhs) {
            return None;
        }
        (sub.rhs, rw.emit(Sub { lhs: sub.lhs, rhs: op.rhs })?)
    } else {
        let xor = rw.def::<Xor>(op.lhs)?;
        if !is_constant(rw, xor.rhs) {
            return None;
        }
        (xor.lhs, rw.emit(Xor { lhs: xor.rhs, rhs: op.rhs })?)
    };
    if is_constant(rw, x) {
        return None;
    }
    rw.emit(Compare { lhs: x, rhs, ..op })
}

/// `~(x < y) = x >= y`, and likewise for the other directions.
///
/// For floats `eq`, `ne` and the total order are exact; the others are wrong for NaN.
///
/// Floats: fast.
fn not_of_compare(op: Not, rw: &mut Rewrite<'_>) -> Option<Value> {
    let compare = rw.def::<Compare>(op.input)?;
    let exact = is_equality(compare.direction) || compare.order == CompareOrder::Total;
    if !exact && !rw.allows(FloatMode::Fast, compare.lhs) {
        return None;
    }
    rw.emit(Compare { direction: negated_direction(compare.direction), ..compare })
}

// Returns the orders of two numbers for which a direction holds: less, equal, greater, and not comparable.
fn orders(direction: Direction) -> u8 {
    match direction {
        Direction::Lt => 0b1000,
        Direction::Le => 0b1100,
        Direction::Eq => 0b0100,
        Direction::Ge => 0b0110,
        Direction::Gt => 0b0010,
        Direction::Ne => 0b1011,
    }
}

/// `x < y | x == y = x <= y`, `x <= y & x != y = x < y`, and likewise for all pairs of directions that a single one expresses.
///
/// Floats: exact. `x < y | x > y` is not `x != y` for NaN.
fn joined_compares(op: Binary, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (a, b) = (rw.def::<Compare>(op.lhs)?, rw.def::<Compare>(op.rhs)?);
    let second = match (a.lhs, a.rhs) {
        both if both == (b.lhs, b.rhs) => b.direction,
        both if both == (b.rhs, b.lhs) => b.direction.swapped(),
        _ => return None,
    };
    if a.order != b.order || is_complex(rw, a.lhs) {
        return None;
    }
    let (x, y) = (orders(a.direction), orders(second));
    let mut joined = if op.key == Or::key() { x | y } else { x & y };
    let mut compared = u8::MAX;
    // Integers, bools and the total order compare all pairs.
    if a.order == CompareOrder::Total || is_int_or_bool(rw, a.lhs) {
        compared = 0b1110;
        joined &= compared;
    }
    let all =
        [Direction::Lt, Direction::Le, Direction::Eq, Direction::Ge, Direction::Gt, Direction::Ne];
    if joined == 0 {
        return bool_like_result(rw, false);
    }
    if joined == 0b1110 & compared && compared == 0b1110 || joined == 0b1111 {
        return bool_like_result(rw, true);
    }
    let direction = all.into_iter().find(|&d| orders(d) & compared == joined)?;
    rw.emit(Compare { direction, ..a })
}

/// `x >= 0 & x <= c = bitcast(x) <= c`, as unsigned integers, for a constant `c` that is not negative, in any order.
///
/// Likewise for `x < c`. Only if nothing else uses the comparisons. It is tried when nothing else is left to do, so that comparisons that are
/// always true come first.
///
/// Floats: never.
fn range_as_unsigned(op: And, rw: &mut Rewrite<'_>) -> Option<Value> {
    if !rw.one_use(op.lhs) || !rw.one_use(op.rhs) {
        return None;
    }
    either_order(rw, (op.lhs, op.rhs), |rw, low, high| {
        let (low, high) = (rw.def::<Compare>(low)?, rw.def::<Compare>(high)?);
        let x = low.lhs;
        let limits = low.direction == Direction::Ge
            && matches!(high.direction, Direction::Le | Direction::Lt)
            && high.lhs == x
            && rw.is_zero(low.rhs);
        let unsigned = match rw.dtype(x)? {
            DataType::I8 => DataType::U8,
            DataType::I16 => DataType::U16,
            DataType::I32 => DataType::U32,
            DataType::I64 => DataType::U64,
            _ => return None,
        };
        if !limits || splat_int(rw, high.rhs)? < 0 {
            return None;
        }
        let dims = rw.tensor(x)?.dims.clone();
        let ty = TensorType { dtype: unsigned, dims };
        let lhs = rw.emit(Bitcast { input: x, ty: ty.clone().into() })?;
        let rhs = rw.emit(Bitcast { input: high.rhs, ty: ty.into() })?;
        rw.emit(Compare { lhs, rhs, ..high })
    })
}

/// `x < 0 = false` and `x >= 0 = true` for floats `x` that are not negative: `exp`, `abs`, `y * y` and others.
///
/// Floats: exact for `x < 0`; `x >= 0` needs fast, since it is false for NaN.
fn compare_of_nonnegative(op: Compare, rw: &mut Rewrite<'_>) -> Option<Value> {
    let (never, always) = (op.direction == Direction::Lt, op.direction == Direction::Ge);
    let partial = op.order == CompareOrder::Partial;
    if !partial || !(never || always && rw.floats().fast()) || !is_any_zero(rw, op.rhs) {
        return None;
    }
    if !is_nonnegative_float(rw, op.lhs) {
        return None;
    }
    bool_like_result(rw, always)
}
