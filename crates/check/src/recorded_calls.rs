//! A record of the custom calls that only have effects, with the operands that each of them sees.
//!
//! Such a call has no result that could be compared. Its operands leave the program all the same: the check of test
//! programs, `check.expect_close`, compares them with expected values. Recorded operands are compared like results.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sapwood_ptir::eval::{EvalCx, Evaluate, Fault, Kernels, Results, Value};
use sapwood_ptir::{OpKey, ValueType};

/// The most bytes of operands that are recorded in one run; later calls are only counted.
const MAX_RECORDED_BYTES: u64 = 1 << 28;
/// The most calls whose operands are recorded in one run; later calls are only counted.
const MAX_RECORDED_CALLS: usize = 1024;

/// A custom call that was run, with its operands.
#[derive(Clone, Debug)]
pub(crate) struct RecordedCall {
    pub(crate) target: Arc<str>,
    pub(crate) operands: Vec<Value>,
}

/// The recorded calls of one run, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedCalls {
    pub(crate) calls: Vec<RecordedCall>,
    /// The number of calls that were run, recorded or only counted.
    pub(crate) total: usize,
    /// Set if a call failed and the run went on.
    pub(crate) failed: bool,
    bytes: u64,
}

impl RecordedCalls {
    /// Returns whether both runs called the same targets in the same order.
    pub(crate) fn has_targets_of(&self, other: &Self) -> bool {
        let targets = |calls: &Self| calls.calls.iter().map(|c| c.target.clone()).collect();
        let (a, b): (Vec<Arc<str>>, Vec<Arc<str>>) = (targets(self), targets(other));
        self.total == other.total && a == b
    }

    /// Forgets all but the first calls.
    pub(crate) fn truncate(&mut self, calls: usize) {
        self.calls.truncate(calls);
        self.total = self.total.min(calls);
    }

    fn add(&mut self, target: &Arc<str>, operands: &[Value]) {
        self.total += 1;
        let bytes: u64 = operands.iter().map(stored_bytes).sum();
        if self.calls.len() < MAX_RECORDED_CALLS && self.bytes + bytes <= MAX_RECORDED_BYTES {
            self.bytes += bytes;
            self.calls.push(RecordedCall { target: target.clone(), operands: operands.to_vec() });
        }
    }
}

// Types nest at most 64 deep.
fn stored_bytes(value: &Value) -> u64 {
    match value {
        Value::Tensor(t) => t.stored_bytes(),
        Value::Tuple(elements) => elements.iter().map(stored_bytes).sum(),
        Value::Token => 0,
    }
}

/// Kernels that record calls and let other kernels run them.
#[derive(Clone, Default)]
pub(crate) struct CallRecorder {
    others: Option<Arc<dyn Kernels>>,
    calls: Arc<Mutex<RecordedCalls>>,
    continue_after_failure: Arc<AtomicBool>,
}

impl CallRecorder {
    pub(crate) fn new(others: Option<Arc<dyn Kernels>>) -> Self {
        Self { others, ..Self::default() }
    }

    /// Sets whether a run goes on after a recorded call that fails.
    pub(crate) fn continue_after_failure(&self, on: bool) {
        self.continue_after_failure.store(on, Ordering::Relaxed);
    }

    /// Returns the calls that were recorded since the last time, and forgets them.
    pub(crate) fn take(&self) -> RecordedCalls {
        std::mem::take(&mut *lock(&self.calls))
    }
}

fn lock(calls: &Mutex<RecordedCalls>) -> MutexGuard<'_, RecordedCalls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kernels for CallRecorder {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        self.others.as_ref().and_then(|k| k.kernel(op))
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        let kernel = self.others.as_ref().and_then(|k| k.custom_call(target))?;
        let (recorder, target) = (self.clone(), Arc::<str>::from(target));
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            if !has_only_effects(cx) {
                return kernel(cx);
            }
            lock(&recorder.calls).add(&target, cx.args());
            match kernel(cx) {
                Err(Fault::Op(_))
                    if cx.num_results() == 0
                        && recorder.continue_after_failure.load(Ordering::Relaxed) =>
                {
                    lock(&recorder.calls).failed = true;
                    Ok(Results::new())
                }
                other => other,
            }
        }))
    }
}

// A call that is not ordered may be removed if its results are not used.
fn has_only_effects(cx: &EvalCx<'_>) -> bool {
    let is_token = |n| cx.result_type(n).is_ok_and(|ty| matches!(ty, ValueType::Token));
    cx.bool("has_side_effect").unwrap_or(true) && (0..cx.num_results()).all(is_token)
}
