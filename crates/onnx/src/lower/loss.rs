//! Losses.

use sapwood_ptir::Dim;
use sapwood_ptir::ops::Direction;

use super::builder::V;
use super::context::Cx;
use super::normalization::softmax;

pub(super) fn negative_log_likelihood<'b>(cx: &Cx<'b>) -> V<'b> {
    loss(cx, cx.x(0), cx.x(1), cx.opt(2))
}

pub(super) fn softmax_cross_entropy<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let log = softmax(cx.x(0), &[1], true);
    vec![loss(cx, log, cx.x(1), cx.opt(2)), log]
}

// Sums `-log[n, target[n, d], d] * weight`, or the mean weighted by the same weights.
fn loss<'b>(cx: &Cx<'b>, log: V<'b>, target: V<'b>, weight: Option<V<'b>>) -> V<'b> {
    let dims = log.dims();
    if dims.len() < 2 {
        return cx.fail("classes are on axis 1");
    }
    let ignored = cx.attr("ignore_index").map(|_| target.number(cx.int("ignore_index", 0) as f64));
    let classes = cx.b.iota(target.dtype(), &dims, 1);
    let is_target = classes.compare(target.unsqueeze(&[1]), Direction::Eq);
    let pick = |v: V<'b>| is_target.select(v, log.number(0.0)).sum(&[1], false);
    let mut weights = match weight {
        Some(weight) => {
            let along: Vec<Dim> =
                (1..dims.len()).map(|a| if a == 1 { dims[1] } else { Dim::Known(1) }).collect();
            pick(weight.reshape(&along).expand(&dims))
        }
        None => log.number(1.0).expand(&target.dims()),
    };
    if let Some(ignored) = ignored {
        weights = target.compare(ignored, Direction::Eq).select(log.number(0.0), weights);
    }
    let losses = -(pick(log) * weights);
    let all: Vec<usize> = (0..target.rank()).collect();
    match cx.text("reduction", "mean") {
        "none" => losses,
        "sum" => losses.sum(&all, false),
        _ => losses.sum(&all, false) / weights.sum(&all, false),
    }
}
