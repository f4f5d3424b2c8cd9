//! Calls, tuples, tokens and barriers.

use sapwood_types::counted;

use crate::attr::{Int, ResultType, ResultTypes};
use crate::eval::kernels::call as k;
use crate::name::Name;
use crate::op::{Control, InferCx, InferResult, OpError, Value, Values};
use crate::types::ValueType;
use smallvec::SmallVec;
use std::sync::Arc;

crate::ops! {
    family "call", table call_ops, values CallValueOps, graph CallGraphOps;

    /// Calls a function of the program. The arguments bind the named dims of its signature. The verifier checks the
    /// signature and refuses recursion. A call is ordered unless `has_side_effect` is false, which the verifier
    /// accepts only if no ordered instruction can be reached from the function.
    op call Call "call" (args: Values) {
        /// The function to call.
        callee: Name,
        /// True if the call may have effects beyond its results.
        has_side_effect: bool = true,
        /// Types of the results.
        types: ResultTypes,
    } -> many [leading_attr("callee"), ordered_unless_false("has_side_effect"), may_stop, control(Control::Call)] = infer_as_declared;

    /// Calls a function that this system does not know. The call is ordered unless `has_side_effect` is false, and is
    /// never folded.
    op custom_call CustomCall "custom_call" (args: Values) {
        /// The name of the external function.
        target: Arc<str>,
        /// Data for the external function.
        config: Option<Arc<str>>,
        /// True if the call has effects beyond its results.
        has_side_effect: bool = true,
        /// Types of the results.
        types: ResultTypes,
    } -> many [leading_attr("target"), ordered_unless_false("has_side_effect"), opaque, may_stop, control(Control::CustomCall)] = infer_as_declared;

    /// Builds a tuple of its operands.
    op tuple Tuple "tuple" (elements: Values) {} -> one [view] = infer_tuple, eval = k::tuple;

    /// Extracts one element of a tuple.
    op get_tuple_element GetTupleElement "get_tuple_element" (input: Value) {
        /// Position of the element.
        index: Int,
    } -> one [view] = infer_get_tuple_element, eval = k::get_tuple_element;

    /// Returns a token that is ready when all its operands are.
    op after_all AfterAll "after_all" (tokens: Values) {} -> one [opaque] = infer_after_all, eval = k::after_all;

    /// Returns its operands unchanged. No rewrite folds or moves instructions across a barrier.
    op optimization_barrier OptimizationBarrier "optimization_barrier" (values: Values) {} -> many [opaque, view] = infer_barrier, eval = k::optimization_barrier;

    /// Returns its operand with another declared type, whose dims may be more or less precise. Known dims that differ
    /// when the program runs are an error.
    op refine Refine "refine" (input: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [may_stop, view] = infer_refine, eval = k::refine;
}

fn infer_as_declared(cx: &InferCx<'_>) -> InferResult {
    Ok(cx.declared_types.iter().map(|&t| t.clone()).collect())
}

fn infer_tuple(cx: &InferCx<'_>) -> InferResult {
    let elements: Arc<[ValueType]> = cx.operands.iter().map(|&t| t.clone()).collect();
    Ok(SmallVec::from_iter([ValueType::Tuple(elements)]))
}

fn infer_get_tuple_element(cx: &InferCx<'_>) -> InferResult {
    let ty = cx.operand(0)?;
    let Some(elements) = ty.as_tuple() else {
        return Err(OpError::new(format!("the operand is {ty}, expected a tuple")));
    };
    let index = cx.int("index")?;
    match usize::try_from(index).ok().and_then(|i| elements.get(i)) {
        Some(element) => Ok(SmallVec::from_iter([element.clone()])),
        None => Err(OpError::new(format!(
            "`index` is {index}, but the tuple has {}",
            counted(elements.len(), "element")
        ))),
    }
}

fn infer_after_all(cx: &InferCx<'_>) -> InferResult {
    match cx.operands.iter().position(|&t| *t != ValueType::Token) {
        None => Ok(SmallVec::from_iter([ValueType::Token])),
        Some(i) => {
            Err(OpError::new(format!("operand {i} is {}, expected a token", cx.operands[i])))
        }
    }
}

fn infer_barrier(cx: &InferCx<'_>) -> InferResult {
    Ok(cx.operands.iter().map(|&t| t.clone()).collect())
}

fn infer_refine(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.operand(0)?, cx.declared_type()?);
    if !input.compatible(ty) {
        return Err(OpError::new(format!("the operand is {input}, which cannot be {ty}")));
    }
    Ok(SmallVec::from_iter([ty.clone()]))
}
