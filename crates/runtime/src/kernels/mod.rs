//! Fast kernels, one file per group of ops.

mod broadcast;
mod convolution;
pub(crate) mod dot;
mod elementwise;
mod gather;
pub(crate) mod gemm;
pub(crate) mod math;
mod memory;
pub(crate) mod parallel;
pub(crate) mod reduce;
mod sort;
mod transpose;
pub(crate) mod vectors;
mod window;

use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{
    DataType, EvalCx, EvalResult, Evaluate, Fault, Kernels, PredictMemory, ScheduledStep,
};
use sapwood_ptir::{BodyId, Function, Op as _, OpKey, ops};

use crate::{Tolerance, fuse};

/// The fast kernels of the CPU backend. Results may differ between machines, because vector widths and thread counts differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastKernels;

type Kernel = fn(&mut EvalCx<'_>) -> EvalResult;

/// Returns every op that has a fast kernel, with the kernel and its tolerance.
fn kernel_table() -> [(OpKey, Kernel, Tolerance); 23] {
    let ulps = Tolerance::Ulps(4);
    [
        (ops::Convolution::key(), convolution::convolution, Tolerance::Sum),
        (ops::DotGeneral::key(), dot::dot_general, Tolerance::Sum),
        (ops::Gather::key(), gather::gather, Tolerance::SameNumbers),
        (ops::ReduceWindow::key(), window::reduce_window, Tolerance::SameNumbers),
        (ops::Scatter::key(), gather::scatter, Tolerance::SameNumbers),
        (ops::Sort::key(), sort::sort, Tolerance::SameNumbers),
        (ops::Transpose::key(), transpose::transpose, Tolerance::SameNumbers),
        (ops::Exp::key(), elementwise::exp, ulps),
        (ops::Log::key(), elementwise::log, ulps),
        (ops::Logistic::key(), elementwise::logistic, ulps),
        (ops::Tanh::key(), elementwise::tanh, ulps),
        (ops::Sqrt::key(), elementwise::sqrt, Tolerance::SameNumbers),
        (ops::Rsqrt::key(), elementwise::rsqrt, ulps),
        (ops::Add::key(), elementwise::add, Tolerance::SameNumbers),
        (ops::Sub::key(), elementwise::sub, Tolerance::SameNumbers),
        (ops::Mul::key(), elementwise::mul, Tolerance::SameNumbers),
        (ops::Div::key(), elementwise::div, Tolerance::SameNumbers),
        (ops::Reduce::key(), reduce::by_region, Tolerance::Sum),
        (ops::ReduceSum::key(), reduce::sum, Tolerance::Sum),
        (ops::ReduceMax::key(), reduce::max, Tolerance::SameNumbers),
        (ops::ReduceMin::key(), reduce::min, Tolerance::SameNumbers),
        (ops::BroadcastTo::key(), broadcast::broadcast_to, Tolerance::SameNumbers),
        (ops::BroadcastInDim::key(), broadcast::broadcast_in_dim, Tolerance::SameNumbers),
    ]
}

impl FastKernels {
    /// Returns the ops that have a fast kernel, with their tolerances.
    #[must_use]
    pub fn ops() -> Vec<(OpKey, Tolerance)> {
        kernel_table().iter().map(|&(key, _, tolerance)| (key, tolerance)).collect()
    }
}

/// The kernels by op. Planning looks one up for each instruction.
static KERNELS: LazyLock<HashMap<OpKey, Arc<Evaluate>, FxBuildHasher>> = LazyLock::new(|| {
    let entry = |(key, kernel, _): (OpKey, Kernel, Tolerance)| -> (OpKey, Arc<Evaluate>) {
        (key, Arc::new(kernel))
    };
    kernel_table().into_iter().map(entry).collect()
});

impl Kernels for FastKernels {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        KERNELS.get(&op).cloned()
    }

    fn memory(&self, op: OpKey) -> Option<PredictMemory> {
        KERNELS.contains_key(&op).then(|| memory::prediction(op)).flatten()
    }

    fn may_restructure(&self) -> bool {
        true
    }

    fn schedule(&self, function: &Function, body: BodyId) -> Option<Vec<ScheduledStep>> {
        fuse::schedule(function, body, &|op, dtype| {
            dtype == DataType::F32 && KERNELS.contains_key(&op)
        })
    }
}

/// Runs the fixed-order kernel of the op, for cases that a fast kernel does not cover.
fn evaluate_in_fixed_order(cx: &mut EvalCx<'_>) -> EvalResult {
    match cx.def().evaluation() {
        Some(evaluate) => {
            let evaluate = evaluate.clone();
            evaluate(cx)
        }
        None => Err(Fault::op("has no evaluation")),
    }
}
