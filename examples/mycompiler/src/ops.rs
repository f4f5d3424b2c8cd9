//! The ops of this compiler.

use sapwood::ptir::eval::{self, EvalCx, EvalResult, Tensor};
use sapwood::ptir::prelude::*;
use sapwood::ptir::{InferCx, InferResult, OpError};

sapwood::ptir::ops! {
    family "my", table my_ops, values MyValueOps, graph MyGraphOps;

    /// The softmax of each row along an axis.
    op softmax Softmax "my.softmax" (input: Value) {
        /// The axis.
        axis: Int,
    } -> one [] = |cx| {
        cx.axis("axis", cx.tensor(0)?.rank())?;
        infer_f32(cx)
    }, eval = eval_softmax;

    /// The tanh form of GELU.
    op gelu Gelu "my.gelu" (input: Value) {} -> one [elementwise] = infer_f32, eval = eval_gelu;
}

fn infer_f32(cx: &InferCx<'_>) -> InferResult {
    match cx.tensor(0)?.dtype {
        DataType::F32 => cx.same_as(0),
        other => Err(OpError::new(format!("the elements must be f32, found {other}"))),
    }
}

fn eval_gelu(cx: &mut EvalCx<'_>) -> EvalResult {
    let x = cx.take_tensor(0)?;
    let gelu = |x: &f32| {
        let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
        0.5 * x * (1.0 + inner.tanh())
    };
    let elements: Vec<f32> = x.elements::<f32>().unwrap_or_default().iter().map(gelu).collect();
    eval::one(Tensor::new(x.dtype(), x.shape(), elements))
}

fn eval_softmax(cx: &mut EvalCx<'_>) -> EvalResult {
    let x = cx.take_tensor(0)?;
    let axis = cx.axis("axis", x.shape().len())?;
    let (extent, inner) = (x.shape()[axis], x.shape()[axis + 1..].iter().product::<usize>());
    let mut elements = x.elements::<f32>().unwrap_or_default().into_owned();
    for row in 0..x.len() / extent.max(1) {
        let start = row / inner * inner * extent + row % inner;
        let places = || (0..extent).map(move |i| start + i * inner);
        let max = places().map(|at| elements[at]).fold(f32::NEG_INFINITY, f32::max);
        places().for_each(|at| elements[at] = (elements[at] - max).exp());
        let sum: f32 = places().map(|at| elements[at]).sum();
        places().for_each(|at| elements[at] /= sum);
    }
    eval::one(Tensor::new(x.dtype(), x.shape(), elements))
}
