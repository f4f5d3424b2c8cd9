//! Kernels of ops on tuples and tokens, and of barriers.

use sapwood_types::counted;
use smallvec::SmallVec;

use crate::eval::context::{EvalCx, EvalResult, one};
use crate::eval::error::Fault;
use crate::eval::tensor::Value;

pub(crate) fn tuple(cx: &mut EvalCx<'_>) -> EvalResult {
    one(Value::Tuple(cx.take_args().into_iter().collect()))
}

pub(crate) fn get_tuple_element(cx: &mut EvalCx<'_>) -> EvalResult {
    let index = cx.int("index")?;
    let Value::Tuple(elements) = cx.arg(0)? else {
        return Err(Fault::op("the operand is not a tuple"));
    };
    match usize::try_from(index).ok().and_then(|i| elements.get(i)) {
        Some(element) => one(element.clone()),
        None => Err(Fault::op(format!(
            "`index` is {index}, but the tuple has {}",
            counted(elements.len(), "element")
        ))),
    }
}

pub(crate) fn after_all(_: &mut EvalCx<'_>) -> EvalResult {
    one(Value::Token)
}

pub(crate) fn optimization_barrier(cx: &mut EvalCx<'_>) -> EvalResult {
    Ok(cx.take_args().into_iter().collect())
}

pub(crate) fn refine(cx: &mut EvalCx<'_>) -> EvalResult {
    let mut args = cx.take_args();
    Ok(SmallVec::from_iter(args.pop()))
}
