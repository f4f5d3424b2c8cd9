//! Poolings.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Direction, ReduceWindow};
use sapwood_ptir::{Axes, Dim, Pairs, TensorType, ValueType};

use super::builder::V;
use super::context::Cx;
use super::matrix::{Window, same_window_type, window};

fn pool_window(cx: &Cx<'_>, x: V<'_>) -> Window {
    let kernel = cx.ints("kernel_shape").unwrap_or_default();
    let mut window = window(cx, x, kernel);
    if cx.flag("ceil_mode", false) {
        for i in 0..window.kernel.len() {
            let reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
            let [low, high] = window.pads[i];
            let (size, step) = (x.extent(i + 2), window.strides[i].max(1));
            let span = size + low + high - reach;
            let mut count = (span + step - 1) / step + 1;
            // The last window must start inside the input or its left pad.
            if (count - 1) * step >= size + low {
                count -= 1;
            }
            window.pads[i][1] = (count - 1) * step + reach - size - low;
        }
    }
    window
}

/// Reduces windows over the spatial axes.
fn reduce_windows<'b>(x: V<'b>, window: &Window, op: &str, init: f64) -> V<'b> {
    let scalar = ValueType::from(TensorType::scalar(x.dtype()));
    let body = x.b.region(&[scalar.clone(), scalar], |args| vec![args[0].binary(op, args[1])]);
    let init = x.number(init);
    let (Some(input), Some(init), Some(body)) = (x.id, init.id, body) else { return x };
    let spatial = |list: &[i64]| -> Axes { [1, 1].iter().chain(list).copied().collect() };
    let pads: Vec<[i64; 2]> = [[0, 0]; 2].into_iter().chain(window.pads.iter().copied()).collect();
    x.b.record(ReduceWindow {
        inputs: [input].into_iter().collect(),
        inits: [init].into_iter().collect(),
        body,
        window: spatial(&window.kernel),
        strides: Some(spatial(&window.strides)),
        pads: Some(Pairs(pads)),
        base_dilation: None,
        window_dilation: Some(spatial(&window.dilations)),
    })
}

fn lowest(dtype: DataType) -> f64 {
    match dtype.integer_range() {
        Some((low, _)) => low as f64,
        None => f64::NEG_INFINITY,
    }
}

// Returns a value of the type of a pooling with `auto_pad` SAME, if extents are not known.
fn inferred_same<'b>(cx: &Cx<'b>, x: V<'b>) -> Option<V<'b>> {
    let spatial = cx.ints("kernel_shape")?.len();
    Some(x.number(0.0).pretend(same_window_type(cx, x, spatial, x.dim(1))?))
}

pub(super) fn max_pool<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let x = cx.x(0);
    if let Some(value) = inferred_same(cx, x).filter(|_| cx.outputs() < 2) {
        return vec![value];
    }
    let window = pool_window(cx, x);
    let largest = reduce_windows(x, &window, "max", lowest(x.dtype()));
    if cx.outputs() < 2 {
        return vec![largest];
    }
    // The index of the first largest element: the least index among elements that equal it. Elements are compared in one window after the
    // other, so all windows are laid out.
    vec![largest, max_indices(cx, x, &window, largest)]
}

/// The most elements of a window whose indices are computed.
const MAX_TAPS: i64 = 1 << 12;

fn max_indices<'b>(cx: &Cx<'b>, x: V<'b>, window: &Window, largest: V<'b>) -> V<'b> {
    let dims = x.dims();
    let rank = dims.len();
    let shape = x.shape();
    let plane: i64 = shape[2..].iter().product::<u64>() as i64;
    let row_major = !cx.flag("storage_order", false);
    let mut index = cx.b.iota(DataType::I64, &dims, 0) * shape[1] as f64;
    index = (index + cx.b.iota(DataType::I64, &dims, 1)) * plane as f64;
    let mut step = 1i64;
    let spatial: Vec<usize> =
        if row_major { (2..rank).rev().collect() } else { (2..rank).collect() };
    for axis in spatial {
        index = index + cx.b.iota(DataType::I64, &dims, axis) * step as f64;
        step *= shape[axis] as i64;
    }
    let n = window.kernel.len();
    if cx.product(&window.kernel) > MAX_TAPS || cx.b.has_failed() {
        return cx.fail("the window is too large");
    }
    let outputs: Vec<i64> = (2..rank).map(|axis| largest.extent(axis)).collect();
    let none = index.number((1u64 << 62) as f64);
    let (low, high): (Vec<i64>, Vec<i64>) = (
        [0, 0].into_iter().chain(window.pads.iter().map(|p| p[0])).collect(),
        [0, 0].into_iter().chain(window.pads.iter().map(|p| p[1])).collect(),
    );
    let padded = x.pad(x.number(lowest(x.dtype())), &low, &high);
    let places = index.pad(none, &low, &high);
    let mut best = none.expand(&largest.dims());
    let mut tap = vec![0; n];
    loop {
        let mut starts = vec![0, 0];
        let mut limits = vec![shape[0] as i64, shape[1] as i64];
        let mut strides = vec![1, 1];
        for i in 0..n {
            let start = tap[i] * window.dilations[i];
            starts.push(start);
            limits.push(start + (outputs[i] - 1) * window.strides[i] + 1);
            strides.push(window.strides[i]);
        }
        let part = |v: V<'b>| v.slice(&starts, &limits, &strides);
        let here = part(padded).compare(largest, Direction::Eq);
        best = best.min(here.select(part(places), none));
        // The next tap, counted like an odometer.
        let mut axis = n;
        while axis > 0 {
            axis -= 1;
            tap[axis] += 1;
            if tap[axis] < window.kernel[axis] {
                break;
            }
            tap[axis] = 0;
            if axis == 0 {
                return best;
            }
        }
        if cx.b.has_failed() || n == 0 {
            return best;
        }
    }
}

pub(super) fn average_pool<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    if let Some(value) = inferred_same(cx, x) {
        return value;
    }
    let include = cx.flag("count_include_pad", false);
    let explicit = window(cx, x, cx.ints("kernel_shape").unwrap_or_default());
    let window = pool_window(cx, x);
    let sum = reduce_windows(x, &window, "add", 0.0);
    let ones = x.number(1.0).expand(&x.dims());
    let counted = match include {
        false => ones,
        true => {
            // Pads count, but not what ceil mode adds beyond them.
            let edges = |k: usize| {
                [0, 0]
                    .into_iter()
                    .chain(explicit.pads.iter().map(move |p| p[k]))
                    .collect::<Vec<_>>()
            };
            ones.pad(x.number(1.0), &edges(0), &edges(1))
        }
    };
    let mut rest = Window {
        kernel: window.kernel.clone(),
        strides: window.strides.clone(),
        dilations: window.dilations.clone(),
        pads: window.pads.clone(),
    };
    if include {
        for (pad, given) in rest.pads.iter_mut().zip(&explicit.pads) {
            *pad = [pad[0] - given[0], pad[1] - given[1]];
        }
    }
    sum / reduce_windows(counted, &rest, "add", 0.0)
}

pub(super) fn lp_pool<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let p = cx.int("p", 2) as f64;
    let window = pool_window(cx, x);
    let powers = x.unary("abs").binary("pow", x.number(p));
    reduce_windows(powers, &window, "add", 0.0).binary("pow", x.number(1.0 / p))
}

fn spatial_axes(x: V<'_>) -> Vec<usize> {
    (2..x.rank()).collect()
}

pub(super) fn global_average_pool<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    if cx.b.is_inference && x.dims().iter().skip(2).any(|d| !matches!(d, Dim::Known(_))) {
        return x.sum(&spatial_axes(x), true);
    }
    x.mean(&spatial_axes(x), true)
}

pub(super) fn global_max_pool<'b>(cx: &Cx<'b>) -> V<'b> {
    cx.x(0).reduce("reduce_max", &spatial_axes(cx.x(0)), true)
}

pub(super) fn global_lp_pool<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let p = cx.int("p", 2) as f64;
    let powers = x.unary("abs").binary("pow", x.number(p));
    powers.sum(&spatial_axes(x), true).binary("pow", x.number(1.0 / p))
}
