//! Ops of `ai.onnx.ml` on tensors of numbers.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Direction;
use sapwood_ptir::{Attr, TensorLiteral};

use super::builder::V;
use super::context::Cx;
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
    if cx.text("post_transform", "NONE") != "NONE" {
        return cx.fail("only `post_transform` NONE is supported");
    }
    let targets = cx.int("targets", 1).max(1);
    let Some(coefficients) = vector(cx, "coefficients") else {
        return cx.fail("the coefficients are missing");
    };
    let count = coefficients.ty().num_elements().unwrap_or(0) as i64;
    let matrix = reshape_ints(coefficients, &[targets, count / targets]);
    let product = x.dot(matrix, (&[], &[]), (&[1], &[1]));
    match vector(cx, "intercepts") {
        Some(intercepts) => product + intercepts,
        None => product,
    }
}

pub(super) fn normalizer<'b>(cx: &Cx<'b>) -> V<'b> {
    let x = cx.x(0).cast(DataType::F32);
    let axis = x.rank().saturating_sub(1);
    let norm = match cx.text("norm", "MAX") {
        "L1" => x.unary("abs").sum(&[axis], true),
        "L2" => (x * x).sum(&[axis], true).unary("sqrt"),
        _ => x.reduce("reduce_max", &[axis], true),
    };
    let is_zero = norm.compare(norm.number(0.0), Direction::Eq);
    x / is_zero.select(norm.number(1.0), norm)
}
