//! The options of a run.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::context::Evaluate;
use super::memory::PredictMemory;
use super::profile::RunProfile;
use super::schedule::ScheduledStep;
use crate::func::Function;
use crate::ids::BodyId;
use crate::op::OpKey;

/// A set of replacement kernels: faster ones for known ops, and implementations of custom calls.
pub trait Kernels: Send + Sync {
    /// Returns the kernel that replaces the op's own evaluation.
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>>;

    /// Returns the kernel of a custom call with this target.
    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        let _ = target;
        None
    }

    /// Returns the function that predicts the memory of the op's kernel, if this set has a kernel for it. Without one, the memory of runs is not
    /// predicted.
    fn memory(&self, op: OpKey) -> Option<PredictMemory> {
        let _ = op;
        None
    }

    /// Returns whether calls may be replaced by the bodies of their callees, and values that a loop does not change taken out of it, before
    /// schedules are made. A run then counts no steps for these calls.
    fn may_restructure(&self) -> bool {
        false
    }

    /// Returns the steps of a body, in an order in which operands come before their users, or `None` to run its instructions one by one. The
    /// terminator is not part of a schedule. Instructions without effects whose results no step needs may be left out.
    fn schedule(&self, function: &Function, body: BodyId) -> Option<Vec<ScheduledStep>> {
        let _ = (function, body);
        None
    }
}

/// A callback that returns true when a run must stop.
pub type StopCheck = Arc<dyn Fn() -> bool + Send + Sync>;

/// The limits, kernels and threads of a run.
#[derive(Clone)]
pub struct RunOptions {
    /// The most instructions that may run; a kernel counts as one more for each 4096 element operations it reports.
    pub max_steps: Option<u64>,
    /// The time limit, checked every 1024 steps.
    pub time_limit: Option<Duration>,
    /// The most bytes for the elements of all live values.
    pub max_bytes: u64,
    /// A callback that may stop the run; called as often as the time limit is checked.
    pub stop: Option<StopCheck>,
    /// Kernels that replace the fixed-order ones.
    pub kernels: Option<Arc<dyn Kernels>>,
    /// The number of threads that kernels may use. Of the fixed-order kernels only matrix products use several; their results do
    /// not depend on it.
    pub threads: usize,
    /// A profile that the run adds its steps to.
    pub profile: Option<Arc<Mutex<RunProfile>>>,
}

impl Default for RunOptions {
    /// Returns options without limits on steps and time, with 8 GiB, the fixed-order kernels and one thread.
    fn default() -> Self {
        Self {
            max_steps: None,
            time_limit: None,
            max_bytes: 8 << 30,
            stop: None,
            kernels: None,
            threads: 1,
            profile: None,
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
            .field("profile", &self.profile.is_some())
            .finish()
    }
}
