//! Comparison of two functions on random inputs.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sapwood_check::{CheckOptions, ElementKind, RunLimits, compare_function, elements_as_f64};
use sapwood_ptir::eval::{EvalCx, Evaluate, Fault, Kernels};
use sapwood_ptir::ops::Bitcast;
use sapwood_ptir::{Name, Op, OpKey, Program};
use sapwood_rewrite::FloatMode;

/// Random loops seldom terminate; those that do, terminate soon.
const LIMITS: RunLimits =
    RunLimits { max_steps: 5_000, time: Duration::from_secs(60), max_bytes: 1 << 28 };

/// The number of runs that gave results to compare.
pub(crate) type Runs = usize;

/// Runs a function of two programs on the same inputs, one for each seed.
///
/// # Errors
/// If results differ by more than the mode permits, with the inputs.
pub(crate) fn agree(
    before: &Program,
    after: &Program,
    function: Name,
    floats: FloatMode,
    seeds: Range<u64>,
) -> Result<Runs, String> {
    agree_with(before, after, function, &options_for(floats, seeds))
}

/// Runs as [`agree`] does, where a `bitcast` may show which NaN another instruction computed. A rewrite may change that, so that results of a run may differ
/// if a `bitcast` read a NaN in it.
///
/// # Errors
/// If results differ although no `bitcast` read a NaN.
pub(crate) fn agree_up_to_nan(
    before: &Program,
    after: &Program,
    function: Name,
    floats: FloatMode,
    seeds: Range<u64>,
) -> Result<Runs, String> {
    let mut runs = 0;
    for seed in seeds {
        let watch = NanWatch::default();
        let options = CheckOptions {
            kernels: Some(Arc::new(watch.clone())),
            ..options_for(floats, seed..seed + 1)
        };
        match agree_with(before, after, function, &options) {
            Ok(more) => runs += more,
            Err(_) if watch.seen.load(Ordering::Relaxed) => {}
            Err(difference) => return Err(difference),
        }
    }
    Ok(runs)
}

fn options_for(floats: FloatMode, seeds: Range<u64>) -> CheckOptions {
    CheckOptions {
        floats,
        seed: seeds.start,
        cases: Some(seeds.count()),
        elements: (!floats.fast()).then_some(ElementKind::Raw),
        limits: LIMITS,
        ..CheckOptions::default()
    }
}

fn agree_with(
    before: &Program,
    after: &Program,
    function: Name,
    options: &CheckOptions,
) -> Result<Runs, String> {
    for program in [before, after] {
        sapwood_ptir::verify(program).map_err(|why| format!("@{function}: {why}"))?;
    }
    let report = compare_function(before, after, function, options);
    report.difference.map_or(Ok(report.runs), |difference| Err(difference.to_string()))
}

/// Kernels that note whether a `bitcast` read a NaN.
#[derive(Clone, Default)]
struct NanWatch {
    seen: Arc<AtomicBool>,
}

impl Kernels for NanWatch {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        if op != Bitcast::key() {
            return None;
        }
        let seen = self.seen.clone();
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let input = cx.tensor(0)?;
            let dtype = input.dtype();
            let is_number = dtype.is_float() || dtype.is_complex();
            if is_number && elements_as_f64(input).iter().any(|x| x.is_nan()) {
                seen.store(true, Ordering::Relaxed);
            }
            let kernel = cx.def().evaluation().cloned();
            kernel.ok_or(Fault::NoEvaluation { op: cx.def().name })?(cx)
        }))
    }
}
