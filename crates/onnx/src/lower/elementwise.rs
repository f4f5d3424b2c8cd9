//! Ops that compute one element at a time.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Bitcast, Direction};
use sapwood_ptir::{Dim, ResultType, TensorLiteral, TensorType};

use super::builder::V;
use super::context::Cx;

// In the first versions of arithmetic ops, the second operand is aligned at an axis.
fn arithmetic<'b>(cx: &Cx<'b>, op: &str) -> V<'b> {
    let (a, mut b) = (cx.x(0), cx.x(1));
    if cx.since() < 7 && cx.attr("axis").is_some() {
        let axis = cx.axis("axis", 0, a.rank());
        let after = a.rank().saturating_sub(axis + b.rank());
        b = b.unsqueeze(&(b.rank()..b.rank() + after).collect::<Vec<_>>());
    }
    // Also where extents are not known, so that no core op can be written.
    let is_single = |v: V<'b>| v.dims().iter().all(|&dim| dim == Dim::Known(1));
    let is_neutral =
        |i: usize| cx.known(i).and_then(|known| known.literal).is_some_and(|x| is_neutral(op, &x));
    if b.rank() <= a.rank() && is_single(b) && is_neutral(1) {
        return a;
    }
    if matches!(op, "add" | "mul") && a.rank() <= b.rank() && is_single(a) && is_neutral(0) {
        return b;
    }
    a.binary(op, b)
}

// Returns whether `x op y = x` for every x, bit for bit: for floats, the neutral element of a sum is -0.
fn is_neutral(op: &str, y: &TensorLiteral) -> bool {
    let dtype = y.dtype();
    let number = match op {
        "add" if dtype.is_float() => -0.0,
        "add" | "sub" => 0.0,
        "mul" | "div" => 1.0,
        _ => return false,
    };
    let neutral = TensorLiteral::filled(dtype, y.shape(), number);
    dtype != DataType::Bool && neutral.is_ok_and(|neutral| neutral == *y)
}

pub(super) fn add<'b>(cx: &Cx<'b>) -> V<'b> {
    arithmetic(cx, "add")
}

pub(super) fn sub<'b>(cx: &Cx<'b>) -> V<'b> {
    arithmetic(cx, "sub")
}

pub(super) fn mul<'b>(cx: &Cx<'b>) -> V<'b> {
    arithmetic(cx, "mul")
}

pub(super) fn div<'b>(cx: &Cx<'b>) -> V<'b> {
    arithmetic(cx, "div")
}

pub(super) fn mean<'b>(cx: &Cx<'b>) -> V<'b> {
    let all = cx.all();
    let count = all.len();
    let sum = all.into_iter().reduce(|a, b| a + b);
    sum.map_or_else(|| cx.fail("there are no inputs"), |sum| sum / count as f64)
}

pub(super) fn cast<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    cast_to(cx, x, cx.dtype("to", x.dtype()))
}

pub(super) fn cast_like<'b>(cx: &Cx<'b>) -> V<'b> {
    cast_to(cx, cx.x(0), cx.x(1).dtype())
}

/// Casts as ONNX does: conversions to 8-bit floats saturate by default.
pub(super) fn cast_to<'b>(cx: &Cx<'b>, x: V<'b>, dtype: DataType) -> V<'b> {
    let has_fractions = !x.dtype().holds_integers() && !x.dtype().is_bool();
    let largest = match dtype {
        _ if x.dtype() == dtype => return x,
        // Numbers that do not fit wrap, as integers do.
        DataType::I4 | DataType::U4 | DataType::I2 | DataType::U2 if has_fractions => {
            if cx.view.is_written_back {
                return cx.fail("it would need two casts");
            }
            return x.cast(DataType::I32).cast(dtype);
        }
        DataType::F8E4M3Fn => 448.0,
        DataType::F8E5M2 | DataType::F8E5M2Fnuz => 57344.0,
        DataType::F8E4M3Fnuz => 240.0,
        DataType::F8E8M0Fnu => return power_of_two(cx, x),
        _ => return x.cast(dtype),
    };
    let fits = match x.dtype().integer_range() {
        Some((low, high)) => -low <= largest as i128 && high <= largest as i128,
        None => x.dtype().is_bool(),
    };
    if !cx.flag("saturate", true) || fits {
        return x.cast(dtype);
    }
    if cx.view.is_written_back {
        return cx.fail("its saturation would need more nodes");
    }
    let wide = x.cast(DataType::F32);
    let clamped = wide.min(wide.number(largest)).max(wide.number(-largest));
    // NaN stays NaN.
    wide.compare(wide, Direction::Ne).select(wide, clamped).cast(dtype)
}

// Returns powers of two: the exponent of a single-precision number, whose sign is dropped.
fn power_of_two<'b>(cx: &Cx<'b>, x: V<'b>) -> V<'b> {
    if cx.view.is_written_back {
        return cx.fail("its rounding would need more nodes");
    }
    let bits = bit_cast_to(x.cast(DataType::F32), DataType::U32);
    let number = |n: u32| bits.number(f64::from(n));
    let exponent = bits.binary("shr_logical", number(23)).binary("and", number(0xff));
    let fraction = bits.binary("and", number((1 << 23) - 1));
    let half = number(1 << 22);
    let rounds_up = match cx.text("round_mode", "up") {
        "up" => fraction.compare(number(0), Direction::Gt),
        // Half of a subnormal number is rounded down.
        "nearest" => {
            let is_half = fraction.compare(half, Direction::Eq);
            let is_normal = exponent.compare(number(0), Direction::Gt);
            let is_above = fraction.compare(half, Direction::Gt);
            is_above.binary("or", is_half.binary("and", is_normal))
        }
        "down" => cx.b.scalar(DataType::Bool, 0.0),
        other => return cx.fail(format!("`round_mode` {other} is not known")),
    };
    // 254 is the largest number, 255 is NaN.
    let largest = number(if cx.flag("saturate", true) { 254 } else { 255 });
    let rounded = (exponent + rounds_up.cast(DataType::U32)).min(largest);
    let is_special = exponent.compare(number(255), Direction::Eq);
    let bits = is_special.select(exponent, rounded).cast(DataType::U8);
    bit_cast_to(bits, DataType::F8E8M0Fnu)
}

pub(super) fn dropout<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let x = cx.x(0);
    let training = match cx.opt(2) {
        Some(_) => cx.const_ints(2).first().is_some_and(|&n| n != 0),
        None => false,
    };
    if training && !cx.opt(1).is_some_and(|_| cx.const_number(1) == 0.0) {
        return vec![cx.fail("it drops elements at random in training")];
    }
    let mut results = vec![x];
    if cx.outputs() > 1 {
        let one = cx.b.filled(DataType::Bool, &[], 1.0);
        let mask = if cx.since() < 10 { x.number(1.0) } else { one };
        results.push(mask.expand(&x.dims()));
    }
    results
}

pub(super) fn pow<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, y) = (cx.x(0), cx.x(1));
    match (x.dtype(), y.dtype()) {
        (a, b) if a == b => x.binary("pow", y),
        (a, b) if a.is_integer() && b.is_float() => x.cast(b).binary("pow", y).cast(a),
        (a, b) if a.is_integer() && b.is_integer() => {
            x.cast(DataType::I64).binary("pow", y.cast(DataType::I64)).cast(a)
        }
        (a, _) => x.binary("pow", y.cast(a)),
    }
}

pub(super) fn modulo<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, y) = (cx.x(0), cx.x(1));
    let rest = x.binary("rem", y);
    let is_signed = x.dtype().integer_range().is_none_or(|(low, _)| low < 0);
    if cx.flag("fmod", false) || !is_signed {
        return rest;
    }
    // The result has the sign of the divisor.
    let zero = rest.number(0.0);
    let differs = rest.compare(zero, Direction::Lt).binary("xor", y.compare(zero, Direction::Lt));
    let adjust = differs.binary("and", rest.compare(zero, Direction::Ne));
    adjust.select(rest + y, rest)
}

pub(super) fn clip<'b>(cx: &Cx<'b>) -> V<'b> {
    let mut x = cx.x(0);
    let bound = |name: &str, i: usize| match cx.attr(name) {
        Some(_) => Some(x.number(cx.float(name, 0.0))),
        None => cx.opt(i),
    };
    let (low, high) = (bound("min", 1), bound("max", 2));
    if let Some(low) = low {
        x = x.max(low);
    }
    if let Some(high) = high {
        x = x.min(high);
    }
    x
}

fn is_negative<'b>(x: V<'b>) -> V<'b> {
    x.compare(x.number(0.0), Direction::Lt)
}

pub(super) fn leaky_relu<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    is_negative(x).select(x * cx.float("alpha", 0.01), x)
}

pub(super) fn prelu<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, mut slope) = (cx.x(0), cx.x(1));
    // In the first versions, a vector has one slope per channel.
    if cx.since() < 7 && slope.rank() == 1 && x.rank() > 2 {
        slope = slope.unsqueeze(&(1..x.rank() - 1).collect::<Vec<_>>());
    }
    is_negative(x).select(slope * x, x)
}

pub(super) fn elu<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    is_negative(x).select((x.unary("exp") - 1.0) * cx.float("alpha", 1.0), x)
}

pub(super) fn celu<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, alpha) = (cx.x(0), cx.float("alpha", 1.0));
    let zero = x.number(0.0);
    x.max(zero) + (((x / alpha).unary("exp") - 1.0) * alpha).min(zero)
}

pub(super) fn selu<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let alpha = cx.float("alpha", 1.673_263_192_176_818_8);
    let gamma = cx.float("gamma", 1.050_701_022_148_132_3);
    let low = (x.unary("exp") * alpha - alpha) * gamma;
    x.compare(x.number(0.0), Direction::Gt).select(x * gamma, low)
}

pub(super) fn thresholded_relu<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    x.compare(x.number(cx.float("alpha", 1.0)), Direction::Gt).select(x, x.number(0.0))
}

pub(super) fn hard_sigmoid<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    unit(x * cx.float("alpha", 0.2) + cx.float("beta", 0.5))
}

fn unit<'b>(x: V<'b>) -> V<'b> {
    x.min(x.number(1.0)).max(x.number(0.0))
}

pub(super) fn hard_swish<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    x * unit(x / 6.0 + 0.5)
}

/// Returns `log(1 + exp(x))` without overflow.
pub(super) fn softplus<'b>(x: V<'b>) -> V<'b> {
    (-x.unary("abs")).unary("exp").unary("log1p") + x.max(x.number(0.0))
}

pub(super) fn swish<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    x * (x * cx.float("alpha", 1.0)).unary("logistic")
}

pub(super) fn swiglu<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, y) = match cx.opt(1) {
        Some(y) => (cx.x(0), y),
        None => {
            let x = cx.x(0);
            let axis = cx.axis("axis", -1, x.rank());
            let half = x.extent(axis) / 2;
            (x.slice_axis(axis, 0, half), x.slice_axis(axis, half, 2 * half))
        }
    };
    x * (x * cx.float("alpha", 1.0)).unary("logistic") * y
}

pub(super) fn gelu<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    if cx.text("approximate", "none") == "tanh" {
        let inner = (x + x * x * x * 0.044_715) * (2.0 / std::f64::consts::PI).sqrt();
        return x * 0.5 * (inner.unary("tanh") + 1.0);
    }
    x * 0.5 * ((x / std::f64::consts::SQRT_2).unary("erf") + 1.0)
}

pub(super) fn shrink<'b>(cx: &Cx<'b>) -> V<'b> {
    let (x, bias, lambd) = (cx.x(0), cx.float("bias", 0.0), cx.float("lambd", 0.5));
    let high = x.compare(x.number(lambd), Direction::Gt).select(x - bias, x.number(0.0));
    x.compare(x.number(-lambd), Direction::Lt).select(x + bias, high)
}

pub(super) fn is_inf<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let is = |number: f64| x.compare(x.number(number), Direction::Eq);
    match (cx.flag("detect_positive", true), cx.flag("detect_negative", true)) {
        (true, true) => is(f64::INFINITY).binary("or", is(f64::NEG_INFINITY)),
        (true, false) => is(f64::INFINITY),
        (false, true) => is(f64::NEG_INFINITY),
        (false, false) => is(f64::INFINITY).binary("and", is(f64::NEG_INFINITY)),
    }
}

pub(super) fn bit_shift<'b>(cx: &Cx<'b>) -> V<'b> {
    let is_signed = cx.x(0).dtype().integer_range().is_some_and(|(low, _)| low < 0);
    let op = match (cx.text("direction", "LEFT"), is_signed) {
        ("LEFT", _) => "shl",
        (_, true) => "shr_arithmetic",
        (_, false) => "shr_logical",
    };
    cx.x(0).binary(op, cx.x(1))
}

pub(super) fn bit_cast<'b>(cx: &Cx<'b>) -> V<'b> {
    let mut x = cx.x(0);
    let dtype = cx.dtype("to", x.dtype());
    // ONNX stores a bool in a byte.
    if x.dtype().is_bool() {
        x = x.cast(DataType::U8);
    }
    if dtype.is_bool() {
        return x.compare(x.number(0.0), Direction::Ne);
    }
    bit_cast_to(x, dtype)
}

fn bit_cast_to<'b>(x: V<'b>, dtype: DataType) -> V<'b> {
    let ty = x.ty();
    let (from, to) = (ty.dtype.bit_width(), dtype.bit_width());
    let mut dims = ty.dims.clone();
    if to > from {
        dims.pop();
    } else if to < from {
        dims.push(Dim::Known(u64::from(from / to)));
    }
    let Some(input) = x.id else { return x };
    x.b.record(Bitcast { input, ty: ResultType(TensorType { dtype, dims }.into()) })
}
