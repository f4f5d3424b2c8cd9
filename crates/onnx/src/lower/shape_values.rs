//! Integers that are expressions over symbols: the contents of shapes, and of what models compute from them.

use sapwood_ptir::ValueType;
use sapwood_ptir::dims::{DimExpr, Facts, Verdict};
use sapwood_ptir::eval::DataType;

use super::builder::Builder;
use super::context::Cx;
use super::{Known, NodeView, scratch_function, shape};

/// The most numbers that are followed: shapes are short.
const MAX_NUMBERS: usize = 64;

type Numbers = Vec<Option<DimExpr>>;

/// Returns the contents of the result of an op on shapes, as far as they are known.
pub(super) fn numbers_of(
    view: &NodeView<'_>,
    types: &[&ValueType],
    known: &[Known],
) -> Option<Numbers> {
    let op = view.def.name.strip_prefix(crate::dialect::PREFIX)?;
    let first = types.first().and_then(|ty| ty.as_tensor());
    match op {
        "Shape" | "Size" => {}
        // The arithmetic of narrower types wraps around.
        _ if first.is_some_and(|ty| {
            !matches!(ty.dtype, DataType::I64 | DataType::I32 | DataType::Bool)
        }) =>
        {
            return None;
        }
        _ => {}
    }
    let (f, params) = scratch_function(types.iter().copied().cloned());
    let b = Builder::new(f, true);
    let inputs: Vec<_> = params.iter().map(|&id| b.value(id)).collect();
    let of = |i: usize| known.get(i).cloned().unwrap_or_default();
    let cx = Cx::new(&b, view, &inputs, &of);
    let mut numbers = numbers(op, &cx)?;
    if is_32_bits(op, &cx) {
        // The result of an op on constants wraps around. Expressions over symbols are taken to fit.
        numbers.iter_mut().for_each(|number| *number = number.and_then(wrapped));
    }
    (numbers.len() <= MAX_NUMBERS && b.take_failure().is_none()).then_some(numbers)
}

// Returns whether the result of an op has 32 bits.
fn is_32_bits(op: &str, cx: &Cx<'_>) -> bool {
    let is_i32 = |i: usize| cx.opt(i).is_some_and(|x| x.dtype() == DataType::I32);
    match op {
        "Shape" | "Size" | "Equal" => false,
        "Cast" => cx.int("to", 7) == 6,
        "Where" => is_i32(1),
        "ConstantOfShape" => false,
        _ => is_i32(0),
    }
}

// Returns an expression, or the 32 bits of a constant.
fn wrapped(number: DimExpr) -> Option<DimExpr> {
    match number.as_constant() {
        Some(n) => DimExpr::constant(i64::from(n as i32)),
        None => Some(number),
    }
}

fn numbers(op: &str, cx: &Cx<'_>) -> Option<Numbers> {
    let dims_of = |i: usize| {
        let dims = cx.opt(i)?.dims();
        Some(dims.iter().map(|d| d.to_expr()).collect::<Numbers>())
    };
    match op {
        "Shape" => {
            let dims = dims_of(0)?;
            let (start, end) = shape::shape_range(cx, dims.len());
            Some(dims[start..end].to_vec())
        }
        "Size" => {
            let one = DimExpr::constant(1);
            Some(vec![dims_of(0)?.into_iter().fold(one, |n, d| n?.checked_mul(d?))])
        }
        "Identity" | "Squeeze" | "Unsqueeze" | "Reshape" | "Cast" | "Flatten" => {
            let to = cx.int("to", 7);
            match to {
                6 | 7 => cx.numbers(0),
                9 => Some(cx.numbers(0)?.into_iter().map(|n| truth_of(n?)).collect()),
                // Floats lose expressions.
                _ => None,
            }
        }
        "Gather" if cx.opt(0)?.rank() == 1 => {
            let (data, indices) = (cx.numbers(0)?, cx.numbers(1)?);
            let pick = |index: Option<DimExpr>| {
                let index = index?.as_constant()?;
                let wrapped = if index < 0 { index + data.len() as i64 } else { index };
                data.get(usize::try_from(wrapped).ok()?).copied().flatten()
            };
            Some(indices.into_iter().map(pick).collect())
        }
        "Concat" => {
            let mut all = Vec::new();
            for i in 0..cx.all().len() {
                let count = cx.opt(i)?.dim(0).known()?;
                let part = cx.numbers(i);
                all.extend(part.unwrap_or_else(|| vec![None; (count as usize).min(MAX_NUMBERS)]));
            }
            Some(all)
        }
        "Slice" if cx.opt(0)?.rank() == 1 => {
            let data = cx.numbers(0)?;
            let one = |list: Option<Vec<i64>>, default| match list {
                None => Some(default),
                Some(list) => list.first().copied(),
            };
            cx.numbers(1).or_else(|| cx.ints("starts").map(|_| Vec::new()))?;
            let start = one(cx.ints_of("starts", 1), 0)?;
            let end = one(cx.ints_of("ends", 2), i64::MAX)?;
            let step = one(cx.opt(4).map(|_| cx.const_ints(4)), 1)?;
            let n = data.len() as i64;
            let wrap = |k: i64| (if k < 0 { k.saturating_add(n) } else { k }).clamp(0, n) as usize;
            let (start, end) = (wrap(start), wrap(end));
            (step == 1 && start <= end).then(|| data[start..end].to_vec())
        }
        "Add" => zip(cx, DimExpr::checked_add),
        "Sub" => zip(cx, |a, b| a.checked_add(b.checked_mul(DimExpr::constant(-1)?)?)),
        "Mul" => zip(cx, DimExpr::checked_mul),
        "Div" => zip(cx, |a, b| match (a.as_constant(), b.as_constant()?) {
            (_, 0) => None,
            (Some(a), b) => DimExpr::constant(a.checked_div(b)?),
            // Division truncates.
            (None, b) if b > 0 && is_at_least(a, 0) => a.floordiv(b),
            _ => None,
        }),
        "Mod" => zip(cx, |a, b| {
            let divisor = b.as_constant().filter(|&n| n > 0 && is_at_least(a, 0))?;
            a.modulo(divisor)
        }),
        "Max" | "Min" => {
            let combine = if op == "Max" { DimExpr::max } else { DimExpr::min };
            match cx.all().len() {
                1 => cx.numbers(0),
                2 => zip(cx, combine),
                _ => None,
            }
        }
        "Neg" => {
            let negated = |n: Option<DimExpr>| DimExpr::constant(0)?.checked_sub(n?);
            Some(cx.numbers(0)?.into_iter().map(negated).collect())
        }
        "Abs" => {
            let absolute = |n: Option<DimExpr>| n.filter(|&n| is_at_least(n, 0));
            Some(cx.numbers(0)?.into_iter().map(absolute).collect())
        }
        "ReduceProd" | "ReduceSum" if cx.opt(0)?.rank() == 1 && reduces_all(cx)? => {
            let (start, combine): (_, fn(DimExpr, DimExpr) -> Option<DimExpr>) = match op {
                "ReduceProd" => (1, DimExpr::checked_mul),
                _ => (0, DimExpr::checked_add),
            };
            let all = cx.numbers(0)?.into_iter();
            Some(vec![all.fold(DimExpr::constant(start), |n, m| combine(n?, m?))])
        }
        "Pad" if cx.opt(0)?.rank() == 1 && cx.text("mode", "constant") == "constant" => {
            let [low, high] = <[i64; 2]>::try_from(cx.ints_of("pads", 1)?).ok()?;
            let [low, high] = [usize::try_from(low).ok()?, usize::try_from(high).ok()?];
            let value = match cx.opt(2) {
                Some(_) => cx.numbers(2)?.first().copied()?,
                None => DimExpr::constant(0),
            };
            let is_short = low <= MAX_NUMBERS && high <= MAX_NUMBERS && cx.opt(3).is_none();
            let around = |n| std::iter::repeat_n(value, n);
            let inner = cx.numbers(0).filter(|_| is_short)?;
            Some(around(low).chain(inner).chain(around(high)).collect())
        }
        "Equal" => zip(cx, |a, b| match Facts::new().compare(a, b) {
            Verdict::Equal => DimExpr::constant(1),
            Verdict::Different => DimExpr::constant(0),
            Verdict::Unknown => None,
        }),
        "Where" => {
            let (condition, a, b) = (cx.numbers(0)?, cx.numbers(1)?, cx.numbers(2)?);
            let count = [condition.len(), a.len(), b.len()].into_iter().max()?;
            let at = |list: &Numbers, i: usize| {
                if list.len() == 1 { list[0] } else { list.get(i).copied().flatten() }
            };
            let pick = |i| match at(&condition, i)?.as_constant()? {
                0 => at(&b, i),
                _ => at(&a, i),
            };
            Some((0..count).map(pick).collect())
        }
        "ConstantOfShape" => {
            let shape = cx.const_ints(0);
            let count = shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
            let literal = cx.literal("value")?;
            let value = super::context::ints_of(literal)?.first().copied()?;
            let count = usize::try_from(count).ok().filter(|&n| n <= MAX_NUMBERS)?;
            Some(vec![DimExpr::constant(value); count])
        }
        _ => None,
    }
}

// Returns the number of a bool: whether a number is not zero.
fn truth_of(n: DimExpr) -> Option<DimExpr> {
    match n.as_constant() {
        Some(n) => DimExpr::constant(i64::from(n != 0)),
        None => DimExpr::constant(1).filter(|_| is_at_least(n, 1)),
    }
}

fn is_at_least(n: DimExpr, bound: i64) -> bool {
    Facts::new().bounds(n).is_at_least(bound)
}

// Returns whether a reduction is over the only axis.
fn reduces_all(cx: &Cx<'_>) -> Option<bool> {
    let axes = cx.ints_of("axes", 1).unwrap_or_default();
    Some(
        axes.iter().all(|&axis| matches!(axis, 0 | -1))
            && (!axes.is_empty() || !cx.flag("noop_with_empty_axes", false)),
    )
}

fn zip(cx: &Cx<'_>, combine: impl Fn(DimExpr, DimExpr) -> Option<DimExpr>) -> Option<Numbers> {
    let (a, b) = (cx.numbers(0)?, cx.numbers(1)?);
    let count = match (a.len(), b.len()) {
        (x, y) if x == y => x,
        (1, n) | (n, 1) => n,
        _ => return None,
    };
    let at = |list: &Numbers, i: usize| if list.len() == 1 { list[0] } else { list[i] };
    Some((0..count).map(|i| combine(at(&a, i)?, at(&b, i)?)).collect())
}
