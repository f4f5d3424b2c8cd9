//! Schedules of bodies: the order in which a set of kernels wants the instructions to run, some of them together.

use std::sync::Arc;

use super::context::{EvalCx, EvalResult};
use super::memory::{OperandMemory, StepMemory};
use crate::ids::{InstId, ValueId};

/// A kernel that computes several instructions at once.
pub trait FusedKernel: Send + Sync {
    /// Computes the outputs of the group from its inputs. The context has the op, and the attributes of the last instruction of the group.
    ///
    /// # Errors
    /// If a limit is reached.
    fn evaluate(&self, cx: &mut EvalCx<'_>) -> EvalResult;

    /// Returns the memory that [`evaluate`](Self::evaluate) will use on operands like these; `None` if that is not known.
    fn memory(&self, operands: &[OperandMemory]) -> Option<StepMemory> {
        let _ = operands;
        None
    }
}

/// Instructions of one body that run as one step.
#[derive(Clone)]
pub struct FusedGroup {
    /// The instructions, in an order in which operands come before their users.
    pub insts: Vec<InstId>,
    /// The values that the kernel takes.
    pub inputs: Vec<ValueId>,
    /// The values that the kernel returns.
    pub outputs: Vec<ValueId>,
    /// The kernel.
    pub kernel: Arc<dyn FusedKernel>,
}

/// One step of a schedule.
#[derive(Clone)]
pub enum ScheduledStep {
    /// An instruction on its own.
    Single(InstId),
    /// Several instructions at once.
    Group(FusedGroup),
}
