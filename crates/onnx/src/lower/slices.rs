//! `Slice`: parts of axes between numbers that are known, or expressions over symbols.

use sapwood_ptir::Dim;
use sapwood_ptir::dims::{DimExpr, Facts};

use super::builder::V;
use super::context::Cx;

/// Bounds from this one on are the end of any axis: exporters write different large numbers.
const TO_THE_END: i64 = i32::MAX as i64;
/// Bounds up to this one are the start of any axis.
const TO_THE_START: i64 = -TO_THE_END;
/// Steps from this one on take one element of any axis.
const BEYOND_ALL: i64 = 1 << 62;

pub(super) fn slice<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    let is_known = |i: usize| {
        cx.numbers(i)
            .is_some_and(|list| list.iter().all(|n| n.and_then(DimExpr::as_constant).is_some()))
    };
    if cx.b.is_inference && cx.ints("starts").is_none() && !(is_known(1) && is_known(2)) {
        return slice_between_expressions(cx, x);
    }
    let (Some(starts), Some(ends)) = (cx.ints_of("starts", 1), cx.ints_of("ends", 2)) else {
        return cx.fail("starts or ends are missing");
    };
    let axes = cx.ints_of("axes", 3).unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = match cx.opt(4) {
        Some(_) => cx.const_ints(4),
        None => vec![1; starts.len()],
    };
    if cx.b.has_failed() || [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return cx.fail("starts, ends, axes and steps have different lengths");
    }
    let is_known = |axis: usize| x.dim(axis).known().is_some();
    let touched: Vec<usize> = axes.iter().map(|&a| cx.wrap_axis(a, rank)).collect();
    if cx.b.has_failed() {
        return x;
    }
    if touched.iter().any(|&a| !is_known(a)) || (0..rank).any(|a| !is_known(a)) {
        return slice_of_open_dims(cx, x, &touched, &starts, &ends, &steps);
    }
    let mut value = x;
    let (mut low, mut high, mut stride) = (vec![0; rank], vec![0; rank], vec![1; rank]);
    for (axis, limit) in high.iter_mut().enumerate() {
        *limit = x.extent(axis);
    }
    let mut reversed = Vec::new();
    for (i, &axis) in touched.iter().enumerate() {
        let (n, step) = (x.extent(axis), steps[i]);
        let wrap = |k: i64| if k < 0 { k.saturating_add(n) } else { k };
        let (start, end) = (wrap(starts[i]), wrap(ends[i]));
        if step > 0 {
            low[axis] = start.clamp(0, n);
            high[axis] = end.clamp(low[axis], n);
            stride[axis] = step;
        } else if step < 0 {
            // The elements start, start + step, … above end, read from the reversed axis.
            let (start, end) = (start.clamp(-1, n - 1), end.clamp(-1, n - 1));
            reversed.push(axis);
            low[axis] = n - 1 - start;
            high[axis] = (n - 1 - end).max(low[axis]);
            stride[axis] = step.checked_neg().unwrap_or(i64::MAX);
        } else {
            return cx.fail("a step is 0");
        }
    }
    if !reversed.is_empty() {
        value = value.reverse(&reversed);
    }
    value.slice(&low, &high, &stride)
}

// Infers the type of a slice between expressions, or between numbers of which nothing is known.
fn slice_between_expressions<'b>(cx: &Cx<'b>, x: V<'b>) -> V<'b> {
    let mut ty = x.ty();
    let rank = ty.rank();
    let count = cx.opt(1).and_then(|starts| starts.dim(0).known());
    let axes: Option<Vec<usize>> = match cx.opt(3) {
        Some(_) => cx.numbers(3).and_then(|axes| {
            let axis = |n: Option<DimExpr>| Some(cx.wrap_axis(n?.as_constant()?, rank));
            axes.into_iter().map(axis).collect()
        }),
        None => count.map(|n| (0..rank.min(n as usize)).collect()),
    };
    let Some(axes) = axes else {
        // Any axis may be cut.
        ty.dims.iter_mut().for_each(|dim| *dim = Dim::Unknown);
        return x.number(0.0).pretend(ty);
    };
    let at = |list: &Option<Vec<Option<DimExpr>>>, i: usize| list.as_ref()?.get(i).copied()?;
    let (starts, ends, steps) = (cx.numbers(1), cx.numbers(2), cx.numbers(4));
    for (i, &axis) in axes.iter().enumerate() {
        let step = match cx.opt(4) {
            Some(_) => at(&steps, i).and_then(DimExpr::as_constant),
            None => Some(1),
        };
        if let Some(dim) = ty.dims.get_mut(axis) {
            *dim = step
                .map_or(Dim::Unknown, |step| sliced_dim(*dim, at(&starts, i), at(&ends, i), step));
        }
    }
    x.number(0.0).pretend(ty)
}

// Infers the type where an extent is an expression.
fn slice_of_open_dims<'b>(
    cx: &Cx<'b>,
    x: V<'b>,
    axes: &[usize],
    starts: &[i64],
    ends: &[i64],
    steps: &[i64],
) -> V<'b> {
    if !cx.b.is_inference {
        return cx.fail("an extent is not known");
    }
    let mut ty = x.ty();
    for (i, &axis) in axes.iter().enumerate() {
        let [start, end] = [starts[i], ends[i]].map(DimExpr::constant);
        ty.dims[axis] = sliced_dim(ty.dims[axis], start, end, steps[i]);
    }
    x.number(0.0).pretend(ty)
}

// Returns the extent of a slice of an axis.
fn sliced_dim(dim: Dim, start: Option<DimExpr>, end: Option<DimExpr>, step: i64) -> Dim {
    let known = |bound: Option<DimExpr>| bound.and_then(DimExpr::as_constant);
    let is_first = |start| start == 0 || start <= TO_THE_START;
    if step == 1
        && known(start).is_some_and(is_first)
        && known(end).is_some_and(|end| end >= TO_THE_END)
    {
        return dim;
    }
    dim.map_expr(|extent| sliced_extent(extent, start?, end?, step))
}

fn sliced_extent(extent: DimExpr, start: DimExpr, end: DimExpr, step: i64) -> Option<DimExpr> {
    let constant = DimExpr::constant;
    let rounded_up = |length: DimExpr, step: i64| match step {
        1 => Some(length),
        BEYOND_ALL.. => length.min(constant(1)?),
        _ => length.checked_add(constant(step.checked_sub(1)?)?)?.floordiv(step),
    };
    if step < 0 {
        return match (start.as_constant()?, end.as_constant()?) {
            (..=TO_THE_START, _) => constant(0),
            // The whole axis, backwards.
            (-1 | TO_THE_END.., ..=TO_THE_START) => {
                rounded_up(extent, step.checked_neg().unwrap_or(i64::MAX))
            }
            _ => None,
        };
    }
    if step == 0 {
        return None;
    }
    let [start, end] = [start, end].map(|bound| match bound.as_constant() {
        Some(..=TO_THE_START) => constant(0),
        _ => Some(bound),
    });
    let (start, end) = (start?, end?);
    let length = match (start.as_constant(), end.as_constant()) {
        (Some(TO_THE_END..), _) => constant(0),
        // All but the first.
        (_, Some(TO_THE_END..)) if Facts::new().bounds(start).is_at_least(0) => {
            extent.checked_sub(start)?.max(constant(0)?)
        }
        // The last ones.
        (Some(start @ ..0), Some(TO_THE_END..)) => extent.min(constant(start.checked_neg()?)?),
        (Some(0), _) => place(extent, end),
        _ => place(extent, end)?.checked_sub(place(extent, start)?)?.max(constant(0)?),
    }?;
    rounded_up(length, step)
}

// Returns the position of a bound, which counts from the end if it is negative, within an axis.
fn place(extent: DimExpr, bound: DimExpr) -> Option<DimExpr> {
    if bound.as_constant().is_some_and(|bound| bound >= TO_THE_END) {
        return Some(extent);
    }
    let range = Facts::new().bounds(bound);
    if range.is_at_least(0) {
        return bound.min(extent);
    }
    let from_the_end = range.is_at_most(-1);
    from_the_end.then(|| extent.checked_add(bound)?.max(DimExpr::constant(0)?)).flatten()
}
