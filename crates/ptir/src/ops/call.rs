//! Calls, tuples, tokens, barriers.

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

    /// Runs a function of the program. Named dims of its signature are bound by the arguments. The verifier checks the
    /// signature and that functions do not call themselves. Ordered unless `has_side_effect` is false, which the verifier
    /// allows only where nothing ordered can be reached from the function.
    op call Call "call" (args: Values) {
        /// The function.
        callee: Name,
        /// Whether it may do more than compute its results.
        has_side_effect: bool = true,
        /// Types of the results.
        types: ResultTypes,
    } -> many [inline("callee"), ordered_unless_false("has_side_effect"), control(Control::Call)] = given;

    /// Something this system does not know. Ordered unless `has_side_effect` is false; never folded.
    op custom_call CustomCall "custom_call" (args: Values) {
        /// What is called.
        target: Arc<str>,
        /// Anything the target wants to know.
        config: Option<Arc<str>>,
        /// Whether it does more than compute its results.
        has_side_effect: bool = true,
        /// Types of the results.
        types: ResultTypes,
    } -> many [inline("target"), ordered_unless_false("has_side_effect"), opaque, control(Control::CustomCall)] = given;

    /// A tuple of values.
    op tuple Tuple "tuple" (elements: Values) {} -> one [] = tuple, eval = k::tuple;

    /// One element of a tuple.
    op get_tuple_element GetTupleElement "get_tuple_element" (input: Value) {
        /// Which one.
        index: Int,
    } -> one [] = get_tuple_element, eval = k::get_tuple_element;

    /// A token that is ready when all its operands are.
    op after_all AfterAll "after_all" (tokens: Values) {} -> one [opaque] = after_all, eval = k::after_all;

    /// Its operands, unchanged, but nothing is folded or moved across.
    op optimization_barrier OptimizationBarrier "optimization_barrier" (values: Values) {} -> many [opaque] = barrier, eval = k::optimization_barrier;

    /// A value of a type that is not known more closely: the operand, seen with other dims. Known dims that clash when run
    /// are an error.
    op refine Refine "refine" (input: Value) {
        /// Type of the result.
        ty: ResultType,
    } -> one [] = refine, eval = k::refine;
}

fn given(cx: &InferCx<'_>) -> InferResult {
    Ok(cx.given.iter().map(|&t| t.clone()).collect())
}

fn tuple(cx: &InferCx<'_>) -> InferResult {
    let elements: Arc<[ValueType]> = cx.operands.iter().map(|&t| t.clone()).collect();
    Ok(SmallVec::from_iter([ValueType::Tuple(elements)]))
}

fn get_tuple_element(cx: &InferCx<'_>) -> InferResult {
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

fn after_all(cx: &InferCx<'_>) -> InferResult {
    match cx.operands.iter().position(|&t| *t != ValueType::Token) {
        None => Ok(SmallVec::from_iter([ValueType::Token])),
        Some(i) => {
            Err(OpError::new(format!("operand {i} is {}, expected a token", cx.operands[i])))
        }
    }
}

fn barrier(cx: &InferCx<'_>) -> InferResult {
    Ok(cx.operands.iter().map(|&t| t.clone()).collect())
}

fn refine(cx: &InferCx<'_>) -> InferResult {
    let (input, ty) = (cx.operand(0)?, cx.stated()?);
    if !input.compatible(ty) {
        return Err(OpError::new(format!("the operand is {input}, which cannot be {ty}")));
    }
    Ok(SmallVec::from_iter([ty.clone()]))
}
