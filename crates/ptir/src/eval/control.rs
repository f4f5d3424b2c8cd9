//! Control flow as a state machine: what runs next, given what has just been yielded.

use smallvec::SmallVec;

use super::budget::Budget;
use super::context::Results;
use super::error::Fault;
use super::machine::Dims;
use super::plan::{Action, Step};
use super::scan::Scan;
use super::tensor::{Tensor, Value};
use crate::func::Function;
use crate::op::Control;

/// What an instruction with regions does next.
pub(crate) enum Next {
    /// Run a region.
    Run { region: usize, args: Results, then: Then },
    /// These are the results.
    Done(Results),
}

/// What follows when a body ends.
pub(crate) enum Then {
    /// Nobody waits in the program.
    Leave,
    /// A function returns.
    Return,
    /// What is yielded is the result.
    Yield,
    /// The condition of a loop over these values.
    Test(Box<Results>),
    /// The body of a loop.
    Repeat,
    /// A step of a scan.
    Scan(Box<Scan>),
}

/// Starts an instruction with regions.
pub(crate) fn start(
    f: &Function,
    step: &Step,
    args: SmallVec<[Value; 4]>,
    dims: &Dims,
    budget: &Budget,
) -> Result<Next, Fault> {
    let Action::Control(control) = &step.action else { return Err(Fault::op("no control flow")) };
    match control {
        Control::Cond => {
            let pred = scalar::<bool>(&args, "`pred`")?;
            Ok(Next::Run { region: usize::from(!pred), args: Results::new(), then: Then::Yield })
        }
        Control::Case => {
            let index = scalar::<i32>(&args, "`index`")?;
            let last = step.regions.len().saturating_sub(1);
            let region = usize::try_from(index).map_or(last, |i| i.min(last));
            Ok(Next::Run { region, args: Results::new(), then: Then::Yield })
        }
        Control::While => Ok(test(args.into_iter().collect())),
        Control::Scan => Box::new(Scan::new(f, step, args, dims)?).next(budget),
        Control::Constant | Control::Call | Control::CustomCall => {
            Err(Fault::op("not a region op"))
        }
    }
}

/// Goes on after a region has yielded.
pub(crate) fn resume(then: Then, values: Results, budget: &Budget) -> Result<Next, Fault> {
    match then {
        Then::Leave | Then::Return | Then::Yield => Ok(Next::Done(values)),
        Then::Test(carried) => {
            if scalar::<bool>(&values, "the condition")? {
                Ok(Next::Run { region: 1, args: *carried, then: Then::Repeat })
            } else {
                Ok(Next::Done(*carried))
            }
        }
        Then::Repeat => Ok(test(values)),
        Then::Scan(mut scan) => {
            scan.take(values, budget)?;
            scan.next(budget)
        }
    }
}

fn test(carried: Results) -> Next {
    Next::Run { region: 0, args: carried.clone(), then: Then::Test(Box::new(carried)) }
}

fn scalar<T: super::native::Native>(values: &[Value], what: &str) -> Result<T, Fault> {
    let tensor = values.first().and_then(Value::as_tensor);
    tensor
        .and_then(Tensor::as_splat)
        .ok_or_else(|| Fault::op(format!("{what} must be a {} scalar", T::DTYPE)))
}
