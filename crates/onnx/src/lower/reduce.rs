//! Reductions.

use sapwood_ptir::Dim;
use sapwood_ptir::eval::DataType;

use super::builder::V;
use super::context::Cx;

/// Returns the axes of a reduction; none means all, unless the attribute makes the op do nothing then.
fn axes(cx: &Cx<'_>, x: V<'_>) -> Vec<usize> {
    let rank = x.rank();
    let given = cx.ints_of("axes", 1).unwrap_or_default();
    if given.is_empty() {
        let nothing = cx.flag("noop_with_empty_axes", false);
        return if nothing { Vec::new() } else { (0..rank).collect() };
    }
    given.into_iter().map(|axis| cx.wrap_axis(axis, rank)).collect()
}

fn keepdims(cx: &Cx<'_>) -> bool {
    cx.flag("keepdims", true)
}

pub(super) fn reduce<'b>(cx: &Cx<'b>, op: &str) -> V<'b> {
    let x = cx.x(0);
    x.reduce(op, &axes(cx, x), keepdims(cx))
}

fn sum_of<'b>(cx: &Cx<'b>, x: V<'b>) -> V<'b> {
    x.sum(&axes(cx, x), keepdims(cx))
}

pub(super) fn mean<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let axes = axes(cx, x);
    if cx.b.is_inference && axes.iter().any(|&a| x.dim(a).known().is_none()) {
        return x.reduce("reduce_sum", &axes, keepdims(cx));
    }
    x.mean(&axes, keepdims(cx))
}

pub(super) fn l1<'b>(cx: &Cx<'b>) -> V<'b> {
    sum_of(cx, cx.x(0).unary("abs"))
}

pub(super) fn l2<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    match x.dtype() {
        dtype if dtype.is_float() => sum_of(cx, x * x).unary("sqrt"),
        dtype => {
            let x = x.cast(DataType::F64);
            sum_of(cx, x * x).unary("sqrt").cast(dtype)
        }
    }
}

pub(super) fn sum_square<'b>(cx: &Cx<'b>) -> V<'b> {
    sum_of(cx, cx.x(0) * cx.x(0))
}

fn in_floats<'b>(cx: &Cx<'b>, compute: impl FnOnce(V<'b>) -> V<'b>) -> V<'b> {
    let x = cx.x(0);
    match x.dtype() {
        dtype if dtype.is_float() => compute(x),
        dtype => compute(x.cast(DataType::F64)).cast(dtype),
    }
}

pub(super) fn log_sum<'b>(cx: &Cx<'b>) -> V<'b> {
    in_floats(cx, |x| sum_of(cx, x).unary("log"))
}

pub(super) fn log_sum_exp<'b>(cx: &Cx<'b>) -> V<'b> {
    in_floats(cx, |x| {
        let axes = axes(cx, x);
        if x.ty().num_elements() == Some(0) {
            return x.unary("exp").sum(&axes, keepdims(cx)).unary("log");
        }
        let largest = x.reduce("reduce_max", &axes, true);
        // An infinite maximum would give NaN.
        let shift = largest.unary("is_finite").select(largest, largest.number(0.0));
        let sum = (x - shift).unary("exp").sum(&axes, true);
        let result = sum.unary("log") + shift;
        if keepdims(cx) { result } else { result.reshape(&dropped(&result.dims(), &axes)) }
    })
}

fn dropped(dims: &[Dim], axes: &[usize]) -> Vec<Dim> {
    (0..dims.len()).filter(|a| !axes.contains(a)).map(|a| dims[a]).collect()
}

pub(super) fn arg_extreme<'b>(cx: &Cx<'b>, is_max: bool) -> V<'b> {
    let x = cx.x(0);
    let axis = cx.axis("axis", 0, x.rank());
    if !cx.flag("select_last_index", false) {
        return x.arg_extreme(is_max, axis, keepdims(cx));
    }
    let n = x.extent(axis);
    let index = x.reverse(&[axis]).arg_extreme(is_max, axis, keepdims(cx));
    index.number((n - 1) as f64) - index
}
