//! Fast kernels: one file per kind of work.

mod broadcast;
mod dot;
mod elementwise;
mod math;
mod parallel;
mod product;
mod reduce;

use std::sync::Arc;

use sapwood_ptir::eval::{EvalCx, EvalResult, Evaluate, Fault, Kernels};
use sapwood_ptir::{Op as _, OpKey, ops};

use crate::Tolerance;

/// The fast kernels of the CPU backend. Not the same bytes on every machine: vectors and threads differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastKernels;

type Kernel = fn(&mut EvalCx<'_>) -> EvalResult;

/// Every op that has a fast kernel, and how close it stays to the fixed order.
fn table() -> [(OpKey, Kernel, Tolerance); 16] {
    let ulps = Tolerance::Ulps(4);
    [
        (ops::DotGeneral::key(), dot::dot_general, Tolerance::Sum),
        (ops::Exp::key(), elementwise::exp, ulps),
        (ops::Log::key(), elementwise::log, ulps),
        (ops::Logistic::key(), elementwise::logistic, ulps),
        (ops::Tanh::key(), elementwise::tanh, ulps),
        (ops::Sqrt::key(), elementwise::sqrt, Tolerance::Same),
        (ops::Rsqrt::key(), elementwise::rsqrt, ulps),
        (ops::Add::key(), elementwise::add, Tolerance::Same),
        (ops::Sub::key(), elementwise::sub, Tolerance::Same),
        (ops::Mul::key(), elementwise::mul, Tolerance::Same),
        (ops::Div::key(), elementwise::div, Tolerance::Same),
        (ops::ReduceSum::key(), reduce::sum, Tolerance::Sum),
        (ops::ReduceMax::key(), reduce::max, Tolerance::Same),
        (ops::ReduceMin::key(), reduce::min, Tolerance::Same),
        (ops::BroadcastTo::key(), broadcast::broadcast_to, Tolerance::Same),
        (ops::BroadcastInDim::key(), broadcast::broadcast_in_dim, Tolerance::Same),
    ]
}

impl FastKernels {
    /// The ops that have a fast kernel, and how close it stays to the fixed order.
    #[must_use]
    pub fn ops() -> Vec<(OpKey, Tolerance)> {
        table().iter().map(|&(key, _, tolerance)| (key, tolerance)).collect()
    }
}

impl Kernels for FastKernels {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        let (_, kernel, _) = table().into_iter().find(|(key, ..)| *key == op)?;
        Some(Arc::new(kernel))
    }
}

/// The op's own evaluation, for what a fast kernel does not cover.
fn exact(cx: &mut EvalCx<'_>) -> EvalResult {
    match cx.def().evaluation() {
        Some(evaluate) => {
            let evaluate = evaluate.clone();
            evaluate(cx)
        }
        None => Err(Fault::op("has no evaluation")),
    }
}
