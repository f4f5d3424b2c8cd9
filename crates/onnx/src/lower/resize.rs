//! Resampling of images.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Direction;
use sapwood_ptir::{Dim, TensorLiteral};

use super::builder::V;
use super::context::{Cx, floats_of};
use super::shape::{MAX_INDICES, reshape_ints, take};

// Returns the numbers of an input of floats, if it is given and not empty.
fn numbers(cx: &Cx<'_>, i: usize) -> Option<Vec<f64>> {
    let literal = cx.known(i)?.literal;
    match literal.and_then(|literal| floats_of(&literal)) {
        Some(list) if list.is_empty() => None,
        Some(list) => Some(list),
        None => {
            // An empty input is one that is not given.
            if cx.opt(i)?.dim(0) != Dim::Known(0) {
                cx.fail(format!("the contents of input {i} are not known"));
            }
            None
        }
    }
}

pub(super) fn upsample<'b>(cx: &Cx<'b>) -> V<'b> {
    let scales = match cx.floats("scales") {
        Some(scales) => Some(scales),
        None => numbers(cx, 1),
    };
    let x = cx.x(0);
    let Some(scales) = scales else { return cx.fail("the scales are missing") };
    if cx.b.is_inference && x.dims().iter().any(|d| d.known().is_none()) {
        let mut ty = x.ty();
        ty.dims.iter_mut().for_each(|dim| *dim = Dim::Unknown);
        return x.number(0.0).pretend(ty);
    }
    let sizes =
        (0..x.rank()).map(|a| (x.extent(a) as f64 * scales.get(a).copied().unwrap_or(1.0)).floor());
    let sizes: Vec<i64> = sizes.map(|n| n as i64).collect();
    if cx.b.has_failed() || scales.len() != sizes.len() {
        return cx.fail("there is not one scale per axis");
    }
    resample(cx, x, &(0..x.rank()).collect::<Vec<_>>(), &scales, &sizes, "asymmetric", &[])
}

pub(super) fn resize<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    let is_old = cx.since() < 11;
    let (scales_at, sizes_at) = if is_old { (1, usize::MAX) } else { (2, 3) };
    let axes: Vec<usize> = match cx.ints("axes") {
        Some(axes) => axes.into_iter().map(|a| cx.wrap_axis(a, rank)).collect(),
        None => (0..rank).collect(),
    };
    let given_sizes = cx.opt(sizes_at).filter(|v| v.dim(0) != Dim::Known(0));
    if cx.b.is_inference {
        let is_unknown = |i: usize| {
            cx.opt(i).is_some_and(|v| v.dim(0) != Dim::Known(0))
                && cx.known(i).is_none_or(|k| k.literal.is_none())
        };
        if is_unknown(scales_at)
            || is_unknown(sizes_at)
            || axes.iter().any(|&a| x.dim(a).known().is_none())
        {
            let mut ty = x.ty();
            let numbers = cx.dims(sizes_at).filter(|_| given_sizes.is_some());
            for (k, &axis) in axes.iter().enumerate() {
                ty.dims[axis] =
                    numbers.as_ref().and_then(|n| n.get(k).copied()).unwrap_or(Dim::Unknown);
            }
            return x.number(0.0).pretend(ty);
        }
    }
    let extents: Vec<f64> = axes.iter().map(|&a| x.extent(a) as f64).collect();
    let policy = cx.text("keep_aspect_ratio_policy", "stretch");
    let (scales, sizes): (Vec<f64>, Vec<i64>) = match given_sizes {
        Some(_) => {
            let sizes = cx.const_ints(sizes_at);
            let mut scales: Vec<f64> =
                sizes.iter().zip(&extents).map(|(&n, &d)| n as f64 / d).collect();
            let mut sizes = sizes;
            if policy != "stretch" && !scales.is_empty() {
                let pick = if policy == "not_larger" { f64::min } else { f64::max };
                let scale = scales.iter().copied().reduce(pick).unwrap_or(1.0);
                scales = vec![scale; scales.len()];
                // Half a pixel rounds up.
                sizes = extents.iter().map(|d| (scale * d + 0.5).floor() as i64).collect();
            }
            (scales, sizes)
        }
        None => match numbers(cx, scales_at) {
            Some(scales) => {
                let sizes =
                    scales.iter().zip(&extents).map(|(s, d)| (s * d).floor() as i64).collect();
                (scales, sizes)
            }
            None => return cx.fail("neither scales nor sizes are given"),
        },
    };
    if scales.len() != axes.len() || cx.b.has_failed() {
        return cx.fail("there is not one scale per axis");
    }
    let mode =
        cx.text("coordinate_transformation_mode", if is_old { "asymmetric" } else { "half_pixel" });
    let roi =
        if mode == "tf_crop_and_resize" { numbers(cx, 1).unwrap_or_default() } else { Vec::new() };
    resample(cx, x, &axes, &scales, &sizes, mode, &roi)
}

fn resample<'b>(
    cx: &Cx<'b>,
    x: V<'b>,
    axes: &[usize],
    scales: &[f64],
    sizes: &[i64],
    mode: &str,
    roi: &[f64],
) -> V<'b> {
    let kind = cx.text("mode", "nearest");
    let mut result = x;
    let mut outside: Vec<(usize, Vec<bool>)> = Vec::new();
    for (k, &axis) in axes.iter().enumerate() {
        let (n, m, scale) = (x.extent(axis), sizes[k], scales[k]);
        if m > MAX_INDICES
            || (kind != "nearest" && m.saturating_mul(n) > MAX_INDICES)
            || m < 0
            || n == 0
        {
            return cx.fail("an axis is too long or empty");
        }
        if n == m && scale == 1.0 && roi.is_empty() {
            continue;
        }
        let (start, end) = match roi.len() == 2 * axes.len() {
            true => (roi[k], roi[axes.len() + k]),
            false => (0.0, 1.0),
        };
        let place = |i: i64| -> f64 {
            let i = i as f64;
            match mode {
                "asymmetric" => i / scale,
                "align_corners" if m == 1 => 0.0,
                "align_corners" => {
                    let width = scale * n as f64;
                    if width == 1.0 { 0.0 } else { i * (n as f64 - 1.0) / (width - 1.0) }
                }
                "pytorch_half_pixel" if scale * n as f64 <= 1.0 => -0.5,
                "half_pixel_symmetric" => {
                    let adjust = m as f64 / (scale * n as f64);
                    let center = n as f64 / 2.0;
                    center * (1.0 - adjust) + (i + 0.5) / scale - 0.5
                }
                "tf_half_pixel_for_nn" => (i + 0.5) / scale,
                "tf_crop_and_resize" => {
                    let width = scale * n as f64;
                    match width > 1.0 {
                        true => {
                            start * (n as f64 - 1.0)
                                + i * (end - start) * (n as f64 - 1.0) / (width - 1.0)
                        }
                        false => 0.5 * (start + end) * (n as f64 - 1.0),
                    }
                }
                _ => (i + 0.5) / scale - 0.5,
            }
        };
        let places: Vec<f64> = (0..m).map(place).collect();
        if mode == "tf_crop_and_resize" {
            outside.push((axis, places.iter().map(|&p| p < 0.0 || p > n as f64 - 1.0).collect()));
        }
        if kind == "nearest" {
            let how = cx
                .text("nearest_mode", if cx.since() < 11 { "floor" } else { "round_prefer_floor" });
            let index = |p: f64| {
                let q = match how {
                    "floor" => p.floor(),
                    "ceil" => p.ceil(),
                    "round_prefer_ceil" => (p + 0.5).floor(),
                    _ => (p - 0.5).ceil(),
                };
                (q as i64).clamp(0, n - 1)
            };
            result = take(result, axis, &places.iter().map(|&p| index(p)).collect::<Vec<_>>());
            continue;
        }
        result = apply_weights(cx, result, axis, &weights(cx, kind, n, scale, &places));
    }
    if !outside.is_empty() {
        let value = x.number(cx.float("extrapolation_value", 0.0));
        for (axis, flags) in outside {
            let bits: Vec<bool> = flags;
            let Ok(literal) = TensorLiteral::from_slice(&[bits.len() as u64], &bits) else {
                continue;
            };
            let dims: Vec<Dim> = (0..x.rank())
                .map(|a| if a == axis { Dim::Known(bits.len() as u64) } else { Dim::Known(1) })
                .collect();
            result = cx.b.literal(&literal).reshape(&dims).select(value, result);
        }
    }
    result
}

// Returns the matrix [m, n] that computes the points of an axis from its elements.
fn weights(cx: &Cx<'_>, kind: &str, n: i64, scale: f64, places: &[f64]) -> Vec<Vec<f64>> {
    let cubic = kind == "cubic" || kind == "bicubic";
    let a = cx.float("cubic_coeff_a", -0.75);
    let exclude = cx.flag("exclude_outside", false);
    let stretch = if cx.flag("antialias", false) && scale < 1.0 { scale } else { 1.0 };
    let reach = if cubic { 2.0 } else { 1.0 } / stretch;
    let kernel = |t: f64| {
        let t = t.abs() * stretch;
        if !cubic {
            return (1.0 - t).max(0.0);
        }
        match t {
            t if t <= 1.0 => (a + 2.0) * t.powi(3) - (a + 3.0) * t.powi(2) + 1.0,
            t if t < 2.0 => a * t.powi(3) - 5.0 * a * t.powi(2) + 8.0 * a * t - 4.0 * a,
            _ => 0.0,
        }
    };
    // A window reaches over the whole axis at most.
    if !reach.is_finite() || reach > 4.0 * n as f64 + 8.0 {
        cx.fail("a scale is too small");
        return Vec::new();
    }
    let row = |&p: &f64| {
        let mut row = vec![0.0; n as usize];
        let (first, last) = ((p - reach).floor() as i64, (p + reach).ceil() as i64);
        for i in first..=last {
            let weight = kernel(p - i as f64);
            let inside = (0..n).contains(&i);
            if weight != 0.0 && (inside || !exclude) {
                row[i.clamp(0, n - 1) as usize] += weight;
            }
        }
        let sum: f64 = row.iter().sum();
        if (exclude || stretch < 1.0) && sum != 0.0 {
            row.iter_mut().for_each(|w| *w /= sum);
        }
        row
    };
    places.iter().map(row).collect()
}

fn apply_weights<'b>(cx: &Cx<'b>, x: V<'b>, axis: usize, rows: &[Vec<f64>]) -> V<'b> {
    let (m, n) = (rows.len(), rows.first().map_or(0, Vec::len));
    let all: Vec<f64> = rows.concat();
    let matrix = match TensorLiteral::from_slice(&[m as u64, n as u64], &all) {
        Ok(literal) => cx.b.literal(&literal),
        Err(error) => return cx.fail(error.to_string()),
    };
    let rank = x.rank();
    let (dtype, wide) = (x.dtype(), DataType::F64);
    let product = x.cast(wide).dot(matrix, (&[], &[]), (&[axis], &[1]));
    let mut back: Vec<usize> = (0..rank - 1).collect();
    back.insert(axis, rank - 1);
    let product = product.transpose(&back);
    if dtype.is_integer() { product.unary("round_even").cast(dtype) } else { product.cast(dtype) }
}

/// Samples images `[n, c, h, w]` at points `[n, p]` linearly; outside the image is zero. The result is `[n, c, p]`.
pub(super) fn bilinear_zero<'b>(cx: &Cx<'b>, images: V<'b>, ys: V<'b>, xs: V<'b>) -> V<'b> {
    sample(cx, images, &[ys, xs], "linear", &|index, _| index, true)
}

/// Samples images `[n, c, spatial…]` at points, one `[n, p]` per spatial axis.
fn sample<'b>(
    cx: &Cx<'b>,
    images: V<'b>,
    points: &[V<'b>],
    kind: &str,
    fix: &dyn Fn(V<'b>, usize) -> V<'b>,
    zero_outside: bool,
) -> V<'b> {
    let (n, c) = (images.extent(0), images.extent(1));
    let count = points[0].extent(1);
    let spatial = points.len();
    // Per axis: the taps, each an index and a weight.
    let taps: Vec<Vec<(V<'b>, Option<V<'b>>)>> = points
        .iter()
        .map(|&p| match kind {
            "nearest" => vec![(p.unary("round_even"), None)],
            "cubic" => {
                let base = p.unary("floor");
                let t = p - base;
                let a = -0.75;
                let near = |t: V<'b>| ((t * (a + 2.0) - (a + 3.0)) * t) * t + 1.0;
                let far = |t: V<'b>| ((t * a - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a;
                let one = t.number(1.0);
                vec![
                    (base - 1.0, Some(far(t + 1.0))),
                    (base, Some(near(t))),
                    (base + 1.0, Some(near(one - t))),
                    (base + 2.0, Some(far(one - t + 1.0))),
                ]
            }
            _ => {
                let base = p.unary("floor");
                let t = p - base;
                vec![(base, Some(t.number(1.0) - t)), (base + 1.0, Some(t))]
            }
        })
        .collect();
    let batch = cx.b.iota(DataType::I64, &[Dim::Known(n as u64), Dim::Known(count as u64)], 0);
    // [n, spatial…, c]
    let mut perm = vec![0];
    perm.extend(2..spatial + 2);
    perm.push(1);
    let channels_last = images.transpose(&perm);
    let mut total: Option<V<'b>> = None;
    let mut choice = vec![0; spatial];
    loop {
        let mut entries = vec![batch.unsqueeze(&[2])];
        let mut weight: Option<V<'b>> = None;
        let mut inside: Option<V<'b>> = None;
        for (axis, &k) in choice.iter().enumerate() {
            let (place, w) = taps[axis][k];
            let extent = images.extent(axis + 2);
            let place = fix(place, axis);
            let last = place.number((extent - 1) as f64);
            let zero = place.number(0.0);
            if zero_outside {
                let ok = place
                    .compare(zero, Direction::Ge)
                    .binary("and", place.compare(last, Direction::Le));
                inside = Some(inside.map_or(ok, |all| all.binary("and", ok)));
            }
            entries.push(place.max(zero).min(last).cast(DataType::I64).unsqueeze(&[2]));
            weight = match (weight, w) {
                (Some(a), Some(b)) => Some(a * b),
                (a, b) => a.or(b),
            };
        }
        let mut part = channels_last.gather_slices(cx.b.concat(&entries, 2), spatial + 1);
        if let Some(inside) = inside {
            part = inside.unsqueeze(&[2]).select(part, part.number(0.0));
        }
        if let Some(weight) = weight {
            part = part * weight.cast(part.dtype()).unsqueeze(&[2]);
        }
        total = Some(total.map_or(part, |sum| sum + part));
        let mut axis = 0;
        while axis < spatial {
            choice[axis] += 1;
            if choice[axis] < taps[axis].len() {
                break;
            }
            choice[axis] = 0;
            axis += 1;
        }
        if axis == spatial || cx.b.has_failed() {
            break;
        }
    }
    let _ = c;
    total.map_or_else(|| images, |sum| sum.transpose(&[0, 2, 1]))
}

pub(super) fn grid_sample<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, grid) = (cx.x(0), cx.x(1));
    if x.rank() < 3 || grid.rank() != x.rank() {
        return cx.fail("the grid does not fit the image");
    }
    let spatial = x.rank() - 2;
    let align = cx.flag("align_corners", false);
    let padding = cx.text("padding_mode", "zeros");
    let kind = match cx.text("mode", "linear") {
        "bilinear" | "linear" => "linear",
        "bicubic" | "cubic" => "cubic",
        _ => "nearest",
    };
    let n = x.extent(0);
    let out: Vec<i64> = (1..grid.rank() - 1).map(|a| grid.extent(a)).collect();
    let count = cx.product(&out);
    let bounds = |axis: usize| {
        let extent = x.extent(axis + 2) as f64;
        if align { (0.0, extent - 1.0) } else { (-0.5, extent - 0.5) }
    };
    let points: Vec<V<'b>> = (0..spatial)
        .map(|axis| {
            // The grid has the last axis of the image first.
            let g =
                reshape_ints(grid.at(grid.rank() - 1, (spatial - 1 - axis) as i64), &[n, count]);
            let extent = x.extent(axis + 2) as f64;
            if align { (g + 1.0) / 2.0 * (extent - 1.0) } else { ((g + 1.0) * extent - 1.0) / 2.0 }
        })
        .collect();
    let reflect = |v: V<'b>, axis: usize| {
        let (low, high) = bounds(axis);
        let width = high - low;
        if width <= 0.0 {
            return v * 0.0;
        }
        let off = (v - low).unary("abs");
        let rest = off.binary("rem", off.number(2.0 * width));
        rest.compare(rest.number(width), Direction::Gt).select(-rest + 2.0 * width, rest) + low
    };
    let is_reflect = padding == "reflection";
    let points: Vec<V<'b>> = match (is_reflect, kind) {
        (true, "nearest") => points.iter().map(|&p| p.unary("round_even")).collect(),
        (true, "linear") => points.iter().enumerate().map(|(a, &p)| reflect(p, a)).collect(),
        _ => points,
    };
    let fix = |v: V<'b>, axis: usize| if is_reflect { reflect(v, axis) } else { v };
    let sampled = sample(cx, x, &points, kind, &fix, padding == "zeros");
    let mut shape = vec![n, x.extent(1)];
    shape.extend(&out);
    reshape_ints(sampled, &shape)
}

pub(super) fn affine_grid<'b>(cx: &Cx<'b>) -> V<'b> {
    let theta = cx.x(0);
    let size = cx.const_ints(1);
    let align = cx.flag("align_corners", false);
    let spatial = size.len().saturating_sub(2);
    if spatial < 2 {
        return cx.fail("the size has no spatial axes");
    }
    let extents = &size[2..];
    let count = cx.product(extents);
    let dims: Vec<Dim> = extents.iter().map(|&n| Dim::Known(n as u64)).collect();
    let dtype = theta.dtype();
    let mut columns: Vec<V<'b>> = (0..spatial)
        .rev()
        .map(|axis| {
            let n = extents[axis] as f64;
            let i = cx.b.iota(DataType::I64, &dims, axis).cast(dtype);
            let place = match align {
                true if n <= 1.0 => i * 0.0 - 1.0,
                true => i * (2.0 / (n - 1.0)) - 1.0,
                false => (i * 2.0 + 1.0) / n - 1.0,
            };
            reshape_ints(place, &[count, 1])
        })
        .collect();
    columns.push(cx.b.filled(dtype, &[count as u64, 1], 1.0));
    let points = cx.b.concat(&columns, 1);
    // [n, spatial, spatial + 1] × [points, spatial + 1]
    let grid = theta.dot(points, (&[], &[]), (&[2], &[1])).transpose(&[0, 2, 1]);
    let mut shape = vec![size[0]];
    shape.extend(extents);
    shape.push(spatial as i64);
    reshape_ints(grid, &shape)
}

/// The most samples of one region that are written out.
const MAX_SAMPLES: i64 = 1 << 14;

pub(super) fn roi_align<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, rois) = (cx.x(0), cx.x(1));
    let batch = cx.const_ints(2);
    let (oh, ow) = (cx.int("output_height", 1), cx.int("output_width", 1));
    let ratio = cx.int("sampling_ratio", 0);
    let scale = cx.float("spatial_scale", 1.0);
    let half = cx.text(
        "coordinate_transformation_mode",
        if cx.since() < 16 { "output_half_pixel" } else { "half_pixel" },
    );
    let offset = if half == "half_pixel" { 0.5 } else { 0.0 };
    let Some(boxes) = cx.known(1).and_then(|k| k.literal).and_then(|l| floats_of(&l)) else {
        return cx.fail("the regions are not known");
    };
    let [c, h, w] = [x.extent(1), x.extent(2), x.extent(3)];
    let _ = rois;
    if h < 1 || w < 1 {
        return cx.fail("the image is empty");
    }
    let is_max = cx.text("mode", "avg") == "max";
    let mut results = Vec::new();
    for (r, roi) in boxes.chunks_exact(4).enumerate() {
        let [x1, y1, x2, y2] = [roi[0], roi[1], roi[2], roi[3]].map(|v| v * scale - offset);
        let clip = |v: f64| if offset > 0.0 { v } else { v.max(1.0) };
        let (rw, rh) = (clip(x2 - x1), clip(y2 - y1));
        let (bin_h, bin_w) = (rh / oh as f64, rw / ow as f64);
        let count = |bin: f64| if ratio > 0 { ratio } else { bin.ceil().max(0.0) as i64 };
        let (gh, gw) = (count(bin_h), count(bin_w));
        if cx.product(&[oh.max(1), ow.max(1), gh.max(1), gw.max(1)]) > MAX_SAMPLES
            || cx.b.has_failed()
        {
            return cx.fail("there are too many samples in a region");
        }
        let image = x.slice_axis(
            0,
            batch.get(r).copied().unwrap_or(0),
            batch.get(r).copied().unwrap_or(0) + 1,
        );
        let mut ys = Vec::new();
        let mut xs = Vec::new();
        for py in 0..oh {
            for px in 0..ow {
                for iy in 0..gh {
                    for ix in 0..gw {
                        ys.push(y1 + py as f64 * bin_h + (iy as f64 + 0.5) * bin_h / gh as f64);
                        xs.push(x1 + px as f64 * bin_w + (ix as f64 + 0.5) * bin_w / gw as f64);
                    }
                }
            }
        }
        // Points more than one pixel outside count as zero; others are moved to the edge.
        let inside: Vec<f64> = ys
            .iter()
            .zip(&xs)
            .map(|(&y, &x)| {
                f64::from(u8::from(!(y < -1.0 || y > h as f64 || x < -1.0 || x > w as f64)))
            })
            .collect();
        let clamp = |list: &[f64], n: i64| {
            list.iter().map(|v| v.clamp(0.0, (n - 1) as f64)).collect::<Vec<_>>()
        };
        let row = |list: &[f64]| match TensorLiteral::from_slice(&[1, list.len() as u64], list) {
            Ok(literal) => cx.b.literal(&literal).cast(x.dtype()),
            Err(error) => cx.fail(error.to_string()),
        };
        let (y, xx) = (row(&clamp(&ys, h)), row(&clamp(&xs, w)));
        let per_bin = gh * gw;
        let value = if is_max {
            // The maximum is over the four weighted corners of every sample.
            max_of_corners(cx, image, &clamp(&ys, h), &clamp(&xs, w), &inside)
        } else {
            sample(cx, image, &[y, xx], "linear", &|v, _| v, false) * row(&inside).unsqueeze(&[1])
        };
        let bins = reshape_ints(value, &[1, c, oh, ow, per_bin]);
        results.push(if is_max {
            bins.reduce("reduce_max", &[4], false)
        } else {
            bins.sum(&[4], false) / per_bin.max(1) as f64
        });
    }
    if results.is_empty() {
        return cx.b.filled(x.dtype(), &[0, c as u64, oh as u64, ow as u64], 0.0);
    }
    cx.b.concat(&results, 0)
}

fn max_of_corners<'b>(cx: &Cx<'b>, image: V<'b>, ys: &[f64], xs: &[f64], inside: &[f64]) -> V<'b> {
    let [h, w] = [image.extent(2), image.extent(3)];
    let row = |list: Vec<f64>| match TensorLiteral::from_slice(&[1, list.len() as u64], &list) {
        Ok(literal) => cx.b.literal(&literal).cast(image.dtype()),
        Err(error) => cx.fail(error.to_string()),
    };
    let mut best: Option<V<'b>> = None;
    for corner in 0..4 {
        let (dy, dx) = (f64::from(corner / 2), f64::from(corner % 2));
        let pick = |list: &[f64], d: f64, n: i64| -> (Vec<f64>, Vec<f64>) {
            list.iter()
                .map(|&v| {
                    let base = v.floor();
                    let t = v - base;
                    ((base + d).min((n - 1) as f64), if d > 0.0 { t } else { 1.0 - t })
                })
                .unzip()
        };
        let ((py, wy), (px, wx)) = (pick(ys, dy, h), pick(xs, dx, w));
        let weight = wy.iter().zip(&wx).zip(inside).map(|((a, b), c)| a * b * c).collect();
        let part = sample(cx, image, &[row(py), row(px)], "nearest", &|v, _| v, false)
            * row(weight).unsqueeze(&[1]);
        best = Some(best.map_or(part, |b| b.max(part)));
    }
    best.unwrap_or(image)
}
