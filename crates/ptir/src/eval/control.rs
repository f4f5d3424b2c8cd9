//! Control flow as a state machine: decides what runs after a region has yielded.

use smallvec::SmallVec;

use super::bound_dims::BoundDims;
use super::budget::Budget;
use super::context::Results;
use super::error::Fault;
use super::plan::{Action, PlanStep};
use super::scan::ScanState;
use super::tensor::{Tensor, Value};
use crate::func::Function;
use crate::op::Control;

/// The next action of an instruction with regions.
pub(crate) enum ControlAction {
    /// Run a region.
    Run { region: usize, args: Results, then: Continuation },
    /// Finish with these results.
    Done(Results),
}

/// The continuation after a body ends.
pub(crate) enum Continuation {
    /// The run ends: no instruction is waiting.
    Leave,
    /// A function returns.
    Return,
    /// The yielded values are the results.
    Yield,
    /// Tests the condition of a loop over these values.
    Test(Box<Results>),
    /// Continues a loop after its body.
    Repeat,
    /// Continues a scan after one iteration.
    Scan(Box<ScanState>),
}

/// Starts an instruction with regions.
pub(crate) fn start_control(
    f: &Function,
    step: &PlanStep,
    args: SmallVec<[Value; 4]>,
    dims: &BoundDims,
    budget: &Budget,
) -> Result<ControlAction, Fault> {
    let Action::Control(control) = &step.action else { return Err(Fault::op("no control flow")) };
    match control {
        Control::Cond => {
            let pred = scalar::<bool>(&args, "`pred`")?;
            Ok(ControlAction::Run {
                region: usize::from(!pred),
                args: Results::new(),
                then: Continuation::Yield,
            })
        }
        Control::Case => {
            let index = scalar::<i32>(&args, "`index`")?;
            let last = step.regions.len().saturating_sub(1);
            let region = usize::try_from(index).map_or(last, |i| i.min(last));
            Ok(ControlAction::Run { region, args: Results::new(), then: Continuation::Yield })
        }
        Control::While => Ok(test_condition(args.into_iter().collect())),
        Control::Scan => Box::new(ScanState::new(f, step, args, dims)?).next_action(budget),
        Control::Constant | Control::Call | Control::CustomCall => {
            Err(Fault::op("not a region op"))
        }
    }
}

/// Continues after a region has yielded.
pub(crate) fn resume_control(
    then: Continuation,
    values: Results,
    budget: &Budget,
) -> Result<ControlAction, Fault> {
    match then {
        Continuation::Leave | Continuation::Return | Continuation::Yield => {
            Ok(ControlAction::Done(values))
        }
        Continuation::Test(carried) => {
            if scalar::<bool>(&values, "the condition")? {
                Ok(ControlAction::Run { region: 1, args: *carried, then: Continuation::Repeat })
            } else {
                Ok(ControlAction::Done(*carried))
            }
        }
        Continuation::Repeat => Ok(test_condition(values)),
        Continuation::Scan(mut scan) => {
            scan.store_yielded(values, budget)?;
            scan.next_action(budget)
        }
    }
}

fn test_condition(carried: Results) -> ControlAction {
    ControlAction::Run {
        region: 0,
        args: carried.clone(),
        then: Continuation::Test(Box::new(carried)),
    }
}

fn scalar<T: super::native::Native>(values: &[Value], what: &str) -> Result<T, Fault> {
    let tensor = values.first().and_then(Value::as_tensor);
    tensor
        .and_then(Tensor::as_splat)
        .ok_or_else(|| Fault::op(format!("{what} must be a {} scalar", T::DTYPE)))
}
