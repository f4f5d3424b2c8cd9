//! Ops of `ai.onnx.ml` on tensors of numbers, and the steps of training algorithms.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Direction;
use sapwood_ptir::{Attr, TensorLiteral};

use super::builder::V;
use super::context::Cx;
use super::normalization::softmax;
use super::shape::reshape_ints;

// Returns an attribute that is a list of floats, as a vector.
fn vector<'b>(cx: &Cx<'b>, name: &str) -> Option<V<'b>> {
    let numbers: Vec<f32> = match cx.attr(name)? {
        Attr::Ints(list) if list.is_empty() => return None,
        _ => cx.floats(name)?.into_iter().map(|x| x as f32).collect(),
    };
    let literal = TensorLiteral::from_slice(&[numbers.len() as u64], &numbers).ok()?;
    let vector = cx.b.literal(&literal);
    Some(if numbers.len() == 1 { vector.reshape(&[]) } else { vector })
}

pub(super) fn binarizer<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    x.compare(x.number(cx.float("threshold", 0.0)), Direction::Gt).cast(x.dtype())
}

pub(super) fn array_feature_extractor<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0);
    let rank = x.rank();
    let indices = cx.const_ints(1);
    let lead = x.shape()[..rank.saturating_sub(1)].iter().product::<u64>() as i64;
    let rows = reshape_ints(x, &[lead, x.extent(rank.saturating_sub(1))]);
    super::shape::take(rows, 1, &indices)
}

pub(super) fn scaler<'b>(cx: &Cx<'b>) -> V<'b> {
    let mut x = cx.x(0).cast(DataType::F32);
    if let Some(offset) = vector(cx, "offset") {
        x = x - offset;
    }
    match vector(cx, "scale") {
        Some(scale) => x * scale,
        None => x,
    }
}

pub(super) fn linear_regressor<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0).cast(DataType::F32);
    if x.rank() != 2 {
        return cx.fail(format!("the input is {}, expected a matrix", x.ty()));
    }
    let targets = cx.int("targets", 1).max(1);
    let Some(coefficients) = vector(cx, "coefficients") else {
        return cx.fail("the coefficients are missing");
    };
    let count = coefficients.ty().num_elements().unwrap_or(0) as i64;
    let matrix = reshape_ints(coefficients, &[targets, count / targets]);
    let product = x.dot(matrix, (&[], &[]), (&[1], &[1]));
    match vector(cx, "intercepts") {
        Some(intercepts) => post_transform(cx, product + intercepts),
        None => post_transform(cx, product),
    }
}

pub(super) fn normalizer<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0).cast(DataType::F32);
    let axis = x.rank().saturating_sub(1);
    let norm = match cx.text("norm", "MAX") {
        "L1" => x.unary("abs").sum(&[axis], true),
        "L2" => (x * x).sum(&[axis], true).unary("sqrt"),
        // Runtimes divide by the largest magnitude.
        _ => x.unary("abs").reduce("reduce_max", &[axis], true),
    };
    let is_zero = norm.compare(norm.number(0.0), Direction::Eq);
    x / is_zero.select(norm.number(1.0), norm)
}

// Applies the function that a classifier or regressor has after its sums.
fn post_transform<'b>(cx: &Cx<'b>, scores: V<'b>) -> V<'b> {
    match cx.text("post_transform", "NONE") {
        "NONE" => scores,
        "LOGISTIC" => scores.unary("logistic"),
        "SOFTMAX" => softmax(scores, &[1], false),
        other => cx.fail(format!("`post_transform` {other} is not supported")),
    }
}

/// Returns labels and scores of a linear classifier whose labels are integers.
pub(super) fn linear_classifier<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let x = cx.x(0).cast(DataType::F32);
    let labels = cx.ints("classlabels_ints").unwrap_or_default();
    if labels.is_empty() || x.rank() != 2 {
        return vec![cx.fail("only rows of numbers and integer labels are supported")];
    }
    let features = x.extent(1).max(1);
    let Some(coefficients) = vector(cx, "coefficients") else {
        return vec![cx.fail("the coefficients are missing")];
    };
    let classes = coefficients.ty().num_elements().unwrap_or(0) as i64 / features;
    let matrix = reshape_ints(coefficients, &[classes, features]);
    let mut scores = x.dot(matrix, (&[], &[]), (&[1], &[1]));
    if let Some(intercepts) = vector(cx, "intercepts") {
        scores = scores + intercepts;
    }
    // One score for two classes: it is that of the second, and its negation that of the first.
    if classes == 1 && labels.len() == 2 {
        scores = cx.b.concat(&[-scores, scores], 1);
    }
    let scores = post_transform(cx, scores);
    if scores.extent(1) != labels.len() as i64 {
        return vec![cx.fail("there is not one score per label")];
    }
    let table = cx.b.i64s(&[labels.len() as u64], &labels);
    let best = scores.arg_extreme(true, 1, true);
    vec![table.gather_points(best), scores]
}

// Returns groups of one tensor per parameter: the inputs of a training step after its rate and its count.
fn groups<'b, const N: usize>(cx: &Cx<'b>) -> Vec<[V<'b>; N]> {
    let all = cx.all();
    let rest = all.get(2..).unwrap_or_default();
    let count = rest.len() / N;
    if count * N != rest.len() {
        cx.fail(format!("{} tensors cannot be split into {N} groups", rest.len()));
        return Vec::new();
    }
    (0..count).map(|i| std::array::from_fn(|group| rest[group * count + i])).collect()
}

// Returns all first results, then all second ones, and so on.
fn by_group<'b, const N: usize>(all: &[[V<'b>; N]]) -> Vec<V<'b>> {
    (0..N).flat_map(|group| all.iter().map(move |one| one[group]).collect::<Vec<_>>()).collect()
}

pub(super) fn adagrad<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let (rate, count) = (cx.x(0), cx.x(1));
    let norm = cx.float("norm_coefficient", 0.0);
    let decay = count.cast(rate.dtype()) * cx.float("decay_factor", 0.0) + 1.0;
    let step = |[x, gradient, squares]: [V<'b>; 3]| {
        let gradient = x * norm + gradient;
        let squares = squares + gradient * gradient;
        let root = squares.unary("sqrt") + cx.float("epsilon", 1e-6);
        [x - (rate / decay).cast(x.dtype()) * gradient / root, squares]
    };
    by_group(&groups(cx).into_iter().map(step).collect::<Vec<_>>())
}

pub(super) fn adam<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let (rate, count) = (cx.x(0), cx.x(1));
    let (alpha, beta) = (cx.float("alpha", 0.9), cx.float("beta", 0.999));
    let norm = cx.float("norm_coefficient", 0.0);
    let after = cx.float("norm_coefficient_post", 0.0);
    // The first step has no correction of the bias.
    let power = |base: f64| {
        let exponent = count.cast(rate.dtype());
        -(rate.number(base).binary("pow", exponent)) + 1.0
    };
    let corrected = rate * power(beta).unary("sqrt") / power(alpha);
    let is_later = count.compare(count.number(0.0), Direction::Gt);
    let rate = is_later.select(corrected, rate);
    let step = |[x, gradient, mean, squares]: [V<'b>; 4]| {
        let gradient = x * norm + gradient;
        let mean = mean * alpha + gradient * (1.0 - alpha);
        let squares = squares * beta + gradient * gradient * (1.0 - beta);
        let root = squares.unary("sqrt") + cx.float("epsilon", 1e-6);
        [(x - rate.cast(x.dtype()) * (mean / root)) * (1.0 - after), mean, squares]
    };
    by_group(&groups(cx).into_iter().map(step).collect::<Vec<_>>())
}

pub(super) fn momentum<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let (rate, count) = (cx.x(0), cx.x(1));
    let (alpha, beta) = (cx.float("alpha", 0.0), cx.float("beta", 0.0));
    let norm = cx.float("norm_coefficient", 0.0);
    let is_nesterov = cx.text("mode", "standard") == "nesterov";
    let is_later = count.compare(count.number(0.0), Direction::Gt);
    let step = |[x, gradient, velocity]: [V<'b>; 3]| {
        let gradient = x * norm + gradient;
        // The first gradient counts in full.
        let weight = is_later.select(x.number(beta), x.number(1.0));
        let velocity = velocity * alpha + weight * gradient;
        let change = if is_nesterov { gradient + velocity * alpha } else { velocity };
        [x - rate.cast(x.dtype()) * change, velocity]
    };
    by_group(&groups(cx).into_iter().map(step).collect::<Vec<_>>())
}
