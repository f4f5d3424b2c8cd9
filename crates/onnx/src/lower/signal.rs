//! Windows, spectra, and mel filters.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::{Dim, TensorLiteral};

use super::builder::V;
use super::context::Cx;

/// The longest window, which is a constant.
const MAX_WINDOW: i64 = 1 << 20;

/// Returns the window `a0 - a1 cos(2πk/N) + a2 cos(4πk/N)`.
pub(super) fn window<'b>(cx: &Cx<'b>, terms: &[f64]) -> V<'b> {
    let size = cx.const_number(0) as i64;
    let dtype = cx.dtype("output_datatype", DataType::F32);
    if !(0..=MAX_WINDOW).contains(&size) {
        return cx.fail("the window is negative or too long");
    }
    let n = if cx.flag("periodic", true) { size } else { size - 1 } as f64;
    let value = |k: i64| {
        let angle = 2.0 * std::f64::consts::PI * k as f64 / n;
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        terms.iter().enumerate().map(|(i, a)| sign(i) * a * (angle * i as f64).cos()).sum::<f64>()
    };
    let values: Vec<f64> = (0..size).map(value).collect();
    match TensorLiteral::from_slice(&[values.len() as u64], &values) {
        Ok(literal) => cx.b.literal(&literal).cast(dtype),
        Err(error) => cx.fail(error.to_string()),
    }
}

// Returns the matrices of cosines and sines of a transform from `n` points to `m` frequencies.
fn twiddles<'b>(cx: &Cx<'b>, n: i64, m: i64, dtype: DataType, inverse: bool) -> (V<'b>, V<'b>) {
    if n < 0 || m < 0 || n.saturating_mul(m) > 1 << 24 {
        return (cx.fail("the transform is too long"), cx.fail("the transform is too long"));
    }
    let sign = if inverse { 1.0 } else { -1.0 };
    let part = |f: fn(f64) -> f64, sign: f64| {
        let mut all = Vec::with_capacity((n * m) as usize);
        for k in 0..m {
            for j in 0..n {
                let angle = 2.0 * std::f64::consts::PI * ((j * k) % n.max(1)) as f64 / n as f64;
                all.push(sign * f(angle));
            }
        }
        match TensorLiteral::from_slice(&[m as u64, n as u64], &all) {
            Ok(literal) => cx.b.literal(&literal).cast(dtype),
            Err(error) => cx.fail(error.to_string()),
        }
    };
    (part(f64::cos, 1.0), part(f64::sin, sign))
}

/// Transforms the points of an axis. Real and imaginary parts are on the last axis; an input with one part is real.
fn transform<'b>(
    cx: &Cx<'b>,
    x: V<'b>,
    axis: usize,
    length: i64,
    inverse: bool,
    half: bool,
) -> V<'b> {
    let rank = x.rank();
    let parts = x.extent(rank - 1);
    let dtype = x.dtype();
    // Points beyond the length are dropped, missing ones are zero.
    let (low, mut high) = (vec![0; rank], vec![0; rank]);
    high[axis] = length - x.extent(axis);
    let x = x.cast(DataType::F64).pad(cx.b.scalar(DataType::F64, 0.0), &low, &high);
    let frequencies = if half { length / 2 + 1 } else { length };
    let (cos, sin) = twiddles(cx, length, frequencies, DataType::F64, inverse);
    let re = x.slice_axis(rank - 1, 0, 1);
    let apply = |v: V<'b>, matrix: V<'b>| {
        // The new axis of the product is last; it belongs where the points were.
        let product = v.dot(matrix, (&[], &[]), (&[axis], &[1]));
        let mut back: Vec<usize> = (0..rank - 1).collect();
        back.insert(axis, rank - 1);
        product.transpose(&back)
    };
    let (mut real, mut imag) = (apply(re, cos), apply(re, sin));
    if parts == 2 {
        let im = x.slice_axis(rank - 1, 1, 2);
        real = real - apply(im, sin);
        imag = imag + apply(im, cos);
    }
    if inverse {
        (real, imag) = (real / length as f64, imag / length as f64);
    }
    cx.b.concat(&[real, imag], rank - 1).cast(dtype)
}

pub(super) fn dft<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    let axis = match (cx.attr("axis"), cx.opt(2)) {
        (Some(_), _) => cx.int("axis", 1),
        (None, Some(_)) => cx.const_ints(2).first().copied().unwrap_or(-2),
        (None, None) => {
            if cx.since() < 20 {
                1
            } else {
                -2
            }
        }
    };
    let axis = cx.wrap_axis(axis, rank);
    if cx.b.has_failed() {
        return x;
    }
    let (inverse, onesided) = (cx.flag("inverse", false), cx.flag("onesided", false));
    let given = match cx.opt(1) {
        Some(_) => cx.const_ints(1).first().copied(),
        None => None,
    };
    if !(inverse && onesided) {
        let length = given.unwrap_or_else(|| x.extent(axis));
        return transform(cx, x, axis, length, inverse, onesided);
    }
    // The missing half of the spectrum is the conjugate of the given one; the result is real.
    let m = x.extent(axis);
    let length = given.unwrap_or(2 * (m - 1));
    let tail = length - m;
    let mirrored = x.slice_axis(axis, 1, 1 + tail.max(0)).reverse(&[axis]);
    let re = mirrored.slice_axis(rank - 1, 0, 1);
    let im = -mirrored.slice_axis(rank - 1, 1, 2);
    let whole = cx.b.concat(&[x, cx.b.concat(&[re, im], rank - 1)], axis);
    transform(cx, whole, axis, length, true, false).slice_axis(rank - 1, 0, 1)
}

/// The most frames of a signal, which are cut out one by one.
const MAX_FRAMES: i64 = 1 << 14;

pub(super) fn stft<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let step = cx.const_ints(1).first().copied().unwrap_or(1).max(1);
    let window = cx.opt(2);
    let length = match (cx.opt(3), window) {
        (Some(_), _) => cx.const_ints(3).first().copied().unwrap_or(0),
        (None, Some(window)) => window.extent(0),
        (None, None) => return cx.fail("neither the window nor the length of a frame is given"),
    };
    let x = if x.rank() == 2 { x.unsqueeze(&[2]) } else { x };
    let samples = x.extent(1);
    let frames = (samples - length) / step + 1;
    if frames > MAX_FRAMES || length < 0 {
        return cx.fail("there are too many frames");
    }
    let part = |i: i64| x.slice_axis(1, i * step, i * step + length).unsqueeze(&[1]);
    let all: Vec<V<'b>> = (0..frames.max(0)).map(part).collect();
    if all.is_empty() {
        return cx.fail("the signal is shorter than a frame");
    }
    let mut stacked = cx.b.concat(&all, 1);
    if let Some(window) = window {
        let dims = [Dim::Known(1), Dim::Known(1), window.dim(0), Dim::Known(1)];
        stacked = stacked * window.reshape(&dims);
    }
    transform(cx, stacked, 2, length, false, cx.flag("onesided", true))
}

pub(super) fn mel_weight_matrix<'b>(cx: &Cx<'b>) -> V<'b> {
    let (bins, length) = (cx.const_number(0) as usize, cx.const_number(1));
    let (rate, low, high) = (cx.const_number(2), cx.const_number(3), cx.const_number(4));
    let dtype = cx.dtype("output_datatype", DataType::F32);
    if !(0.0..=f64::from(1 << 20)).contains(&length) || bins > (1 << 24) / (length as usize + 2) {
        return cx.fail("the matrix is too large");
    }
    let rows = (length / 2.0).floor() as usize + 1;
    let mel = |hz: f64| 2595.0 * (1.0 + hz / 700.0).log10();
    let hz = |mel: f64| 700.0 * (10f64.powf(mel / 2595.0) - 1.0);
    let step = (mel(high) - mel(low)) / (bins as f64 + 2.0);
    let edge = |i: usize| {
        let frequency = hz(i as f64 * step + mel(low));
        ((length + 1.0) * frequency / rate).floor() as usize
    };
    let mut values = vec![0.0f64; rows * bins];
    for bin in 0..bins {
        let (start, center, end) = (edge(bin), edge(bin + 1), edge(bin + 2));
        for row in start..=center.min(rows.saturating_sub(1)) {
            let width = center - start;
            values[row * bins + bin] =
                if width == 0 { 1.0 } else { (row - start) as f64 / width as f64 };
        }
        for row in center..end.min(rows) {
            values[row * bins + bin] = (end - row) as f64 / (end - center) as f64;
        }
    }
    match TensorLiteral::from_slice(&[rows as u64, bins as u64], &values) {
        Ok(literal) => cx.b.literal(&literal).cast(dtype),
        Err(error) => cx.fail(error.to_string()),
    }
}
