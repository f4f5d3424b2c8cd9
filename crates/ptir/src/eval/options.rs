//! What the caller decides about a run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::context::Evaluate;
use crate::op::OpKey;

/// Replacements of kernels: faster ones for known ops, implementations of custom calls.
pub trait Kernels: Send + Sync {
    /// What computes this op instead of its own evaluation.
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>>;

    /// What computes a custom call with this target.
    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        let _ = target;
        None
    }
}

/// Says whether a run is to end.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// Limits of a run, and who computes.
#[derive(Clone)]
pub struct RunOptions {
    /// How many instructions may run; a kernel counts one more for each 4096 element operations it reports.
    pub max_steps: Option<u64>,
    /// How long it may take. Looked at every 1024 steps.
    pub time_limit: Option<Duration>,
    /// How many bytes the elements of all live values may take.
    pub max_bytes: u64,
    /// Says whether the run is to end; asked whenever the clock would be looked at.
    pub stop: Option<Stop>,
    /// Kernels that replace the fixed-order ones.
    pub kernels: Option<Arc<dyn Kernels>>,
    /// How many threads kernels may use. Of the fixed-order ones only products of matrices use several; their results do
    /// not depend on it.
    pub threads: usize,
}

impl Default for RunOptions {
    /// No limit of steps and time, 8 GiB, the fixed-order kernels, one thread.
    fn default() -> Self {
        Self {
            max_steps: None,
            time_limit: None,
            max_bytes: 8 << 30,
            stop: None,
            kernels: None,
            threads: 1,
        }
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("max_steps", &self.max_steps)
            .field("time_limit", &self.time_limit)
            .field("max_bytes", &self.max_bytes)
            .field("stop", &self.stop.is_some())
            .field("kernels", &self.kernels.is_some())
            .field("threads", &self.threads)
            .finish()
    }
}
