//! A record of the custom calls that only have effects, with the operands that each of them sees.
//!
//! Such a call has no result that could be compared. Its operands leave the program all the same: the check of test
//! programs, `check.expect_close`, compares them with expected values. Recorded operands are compared like results; targets, configs and types of
//! operands must be equal.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sapwood_ptir::eval::{EvalCx, Evaluate, Fault, Kernels, Results, Value};
use sapwood_ptir::{Attr, OpKey, ValueType};

/// The most bytes of operands that are recorded in one run, a splat counted with all its elements. The operands of the first
/// call beyond the limit and of all later ones are not compared.
const MAX_RECORDED_BYTES: u64 = 1 << 28;
/// The most calls whose operands are recorded in one run.
const MAX_RECORDED_CALLS: usize = 1024;
/// The most calls whose signatures are recorded in one run; later calls are only counted.
const MAX_RECORDED_SIGNATURES: usize = 1 << 16;
/// The most characters of a config that a message shows.
const MAX_SHOWN_CONFIG: usize = 40;

/// The target, the config and the types of the operands of a custom call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CallSignature {
    pub(crate) target: Arc<str>,
    config: Option<Attr>,
    operands: Vec<ValueType>,
}

impl fmt::Display for CallSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> = self.operands.iter().map(ToString::to_string).collect();
        write!(f, "{}({})", self.target, types.join(", "))?;
        if let Some(Attr::Str(config)) = &self.config {
            let shown: String = config.chars().take(MAX_SHOWN_CONFIG).collect();
            let rest = if shown.len() < config.len() { "…" } else { "" };
            write!(f, " with config {shown:?}{rest}")?;
        }
        Ok(())
    }
}

/// The recorded calls of one run, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedCalls {
    pub(crate) signatures: Vec<CallSignature>,
    /// The operands of the first calls.
    pub(crate) operands: Vec<Vec<Value>>,
    /// The number of calls that were run, recorded or only counted.
    pub(crate) total: usize,
    /// Set if a call failed and the run went on.
    pub(crate) failed: bool,
    bytes: u64,
    // Set after the first call whose operands were not recorded.
    is_full: bool,
}

impl RecordedCalls {
    /// Returns whether both runs made the same calls in the same order, whatever the values of the operands are.
    pub(crate) fn has_signatures_of(&self, other: &Self) -> bool {
        self.total == other.total && self.signatures == other.signatures
    }

    /// Describes the first call that the other run made differently or not at all.
    pub(crate) fn first_difference(&self, other: &Self) -> String {
        let pairs = self.signatures.iter().zip(&other.signatures);
        let fewer = self.total.min(other.total);
        let n = pairs.into_iter().position(|(a, b)| a != b).unwrap_or(fewer);
        let call = |calls: &Self| match calls.signatures.get(n) {
            Some(signature) => signature.to_string(),
            None if n < calls.total => "a call".into(),
            None => "none".into(),
        };
        format!("custom call {n}: {} before, {} after", call(self), call(other))
    }

    /// Forgets all but the first calls.
    pub(crate) fn truncate(&mut self, calls: usize) {
        self.signatures.truncate(calls);
        self.operands.truncate(calls);
        self.total = self.total.min(calls);
    }

    fn add(&mut self, target: &Arc<str>, config: Option<&Attr>, operands: &[Value]) {
        self.total += 1;
        if self.signatures.len() < MAX_RECORDED_SIGNATURES {
            self.signatures.push(CallSignature {
                target: target.clone(),
                config: config.cloned(),
                operands: operands.iter().map(Value::ty).collect(),
            });
        }
        let bytes = operands.iter().map(logical_bytes).fold(self.bytes, u64::saturating_add);
        self.is_full |= self.operands.len() == MAX_RECORDED_CALLS || bytes > MAX_RECORDED_BYTES;
        if !self.is_full {
            self.bytes = bytes;
            self.operands.push(operands.to_vec());
        }
    }
}

// Returns the size of a value if it is stored without splats. Types nest at most 64 deep.
fn logical_bytes(value: &Value) -> u64 {
    match value {
        Value::Tensor(t) => (t.len() as u64).saturating_mul(t.dtype().byte_size() as u64),
        Value::Tuple(elements) => elements.iter().map(logical_bytes).fold(0, u64::saturating_add),
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
            lock(&recorder.calls).add(&target, cx.attr("config").ok(), cx.args());
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

#[cfg(test)]
mod tests {
    use sapwood_ptir::eval::{DataType, Tensor};

    use super::*;

    #[test]
    fn operands_after_the_first_large_ones_are_not_recorded() {
        let target = Arc::<str>::from("log");
        let small: Value = Tensor::scalar(1f32).into();
        let large: Value = Tensor::splat(DataType::F32, [1 << 40], 1f32).into();
        let mut calls = RecordedCalls::default();
        for value in [&small, &large, &small] {
            calls.add(&target, None, std::slice::from_ref(value));
        }
        assert_eq!((calls.operands.len(), calls.signatures.len(), calls.total), (1, 3, 3));
    }
}
