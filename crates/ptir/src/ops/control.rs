//! Control flow and terminators. Regions may use values of the enclosing bodies.

use super::support::{DtypeClass, check_scalar, checked_dim};
use crate::attr::Int;
use crate::op::{
    Bodies, Body, Control, InferCx, InferResult, InferredTypes, OpError, Value, Values,
};
use crate::types::{Dim, TensorType, ValueType};
use sapwood_types::counted;
use smallvec::SmallVec;

crate::ops! {
    family "control", table control_ops, values ControlValueOps, graph ControlGraphOps;

    /// Runs the region `then` if `pred`, a bool scalar, is true, and `otherwise` if not, and returns the yielded
    /// values. Both regions take no parameters and yield the same types.
    op cond Cond "cond" (pred: Value, then: Body, otherwise: Body) {} -> many [control(Control::Cond)] = infer_cond;

    /// Runs the branch at position `index`, an i32 scalar, and returns the yielded values. If the index is out of
    /// range, the last branch runs. All branches take no parameters and yield the same types.
    op case Case "case" (index: Value, branches: Bodies) {} -> many [control(Control::Case)] = infer_case;

    /// Runs `body` on the carried values as long as `cond`, given these values, yields true, and returns the last
    /// values. If `cond` is false at once, the results are `inits`. Rewrites assume that loops terminate.
    op while_loop While "while" (inits: Values, cond: Body, body: Body) {} -> many [control(Control::While)] = infer_while_loop;

    /// Runs `body` for each index of the leading axis of the scanned values. The body takes the carried values and
    /// one slice of each scanned value, without the leading axis; it yields the new carried values and one slice for
    /// each stacked result. The results are the last carried values, then the stacked values. If there are no
    /// indices, the results are the initial values and empty stacks.
    op scan Scan "scan" (args: Values, body: Body) {
        /// Number of operands that are carried; the others are scanned.
        carried: Int,
        /// Number of iterations; required if nothing is scanned.
        length: Option<Int>,
        /// True to run from the last index to the first.
        reverse: bool = false,
    } -> many [control(Control::Scan)] = infer_scan;

    /// Ends the body of a function and returns its results.
    op ret Return "return" (values: Values) {} -> none [terminator, ordered] = |_| Ok(InferredTypes::new());

    /// Ends a region and returns its results to the instruction that owns it.
    op yield_values Yield "yield" (values: Values) {} -> none [terminator, ordered] = |_| Ok(InferredTypes::new());
}

fn infer_branches(cx: &InferCx<'_>) -> InferResult {
    let first = cx.check_region(0, &[])?;
    let mut types: InferredTypes = first.iter().map(|&t| t.clone()).collect();
    for i in 1..cx.regions.len() {
        let found = cx.check_region(i, &[])?;
        cx.check_yield(i, found, &types)?;
        // A dim that one branch leaves open is open in the result.
        for (ty, other) in types.iter_mut().zip(found.iter()) {
            *ty = join_types(ty, other);
        }
    }
    Ok(types)
}

fn join_types(a: &ValueType, b: &ValueType) -> ValueType {
    match (a, b) {
        (ValueType::Tensor(x), ValueType::Tensor(y)) => {
            let dims =
                x.dims.iter().zip(&y.dims).map(|(&x, &y)| if x == y { x } else { Dim::Unknown });
            ValueType::Tensor(TensorType { dtype: x.dtype, dims: dims.collect() })
        }
        (ValueType::Tuple(x), ValueType::Tuple(y)) => {
            ValueType::Tuple(x.iter().zip(y.iter()).map(|(x, y)| join_types(x, y)).collect())
        }
        _ => a.clone(),
    }
}

fn infer_cond(cx: &InferCx<'_>) -> InferResult {
    check_scalar(cx, 0, "`pred`", DtypeClass::BOOL)?;
    infer_branches(cx)
}

fn infer_case(cx: &InferCx<'_>) -> InferResult {
    let index = check_scalar(cx, 0, "`index`", DtypeClass::INT)?;
    if index != sapwood_types::DataType::I32 {
        return Err(OpError::new(format!("`index` has element type {index}, expected i32")));
    }
    if cx.regions.is_empty() {
        return Err(OpError::new("at least one branch is needed"));
    }
    infer_branches(cx)
}

fn infer_while_loop(cx: &InferCx<'_>) -> InferResult {
    let carried: Vec<ValueType> = cx.operands.iter().map(|&t| t.clone()).collect();
    let cond_types = cx.check_region(0, &carried)?;
    cx.check_yield(0, cond_types, &[TensorType::scalar(sapwood_types::DataType::Bool).into()])?;
    // The carried values have the types of the body's parameters, which may leave dims open.
    let params: Vec<ValueType> = cx.region(1)?.params.iter().map(|&t| t.clone()).collect();
    let next = cx.check_region(1, &carried)?;
    cx.check_yield(1, next, &params)?;
    Ok(params.into_iter().collect())
}

fn infer_scan(cx: &InferCx<'_>) -> InferResult {
    let carried = cx.int("carried")?;
    let count = cx.operands.len();
    let Some(carried) = usize::try_from(carried).ok().filter(|&c| c <= count) else {
        return Err(OpError::new(format!(
            "`carried` is {carried}, expected at most the number of operands, {count}"
        )));
    };
    let mut length = match cx.attr("length")?.as_int() {
        Some(n) => Some(checked_dim("`length`", i128::from(n))?),
        None => None,
    };
    let mut params: Vec<ValueType> = cx.operands[..carried].iter().map(|&t| t.clone()).collect();
    for i in carried..count {
        let ty = cx.tensor(i)?;
        let Some((&lead, rest)) = ty.dims.split_first() else {
            return Err(OpError::new(format!("operand {i} is scanned but has rank 0")));
        };
        length = Some(match length {
            Some(known) => known.unify(lead).ok_or_else(|| {
                OpError::new(format!("operand {i} has {lead} slices, expected {known}"))
            })?,
            None => lead,
        });
        params.push(TensorType { dtype: ty.dtype, dims: SmallVec::from_slice(rest) }.into());
    }
    let Some(length) = length else {
        return Err(OpError::new("nothing is scanned, so `length` is needed"));
    };
    let found = cx.check_region(0, &params)?;
    if found.len() < carried {
        return Err(OpError::new(format!(
            "region `body` yields {}, expected at least {carried}",
            counted(found.len(), "value")
        )));
    }
    let carries: Vec<ValueType> =
        cx.region(0)?.params[..carried].iter().map(|&t| t.clone()).collect();
    cx.check_yield(0, &found[..carried], &carries)?;
    let mut types: InferredTypes = carries.into_iter().collect();
    for (i, &ty) in found[carried..].iter().enumerate() {
        let Some(slice) = ty.as_tensor() else {
            return Err(OpError::new(format!("stacked result {i} is {ty}, expected a tensor")));
        };
        let dims = std::iter::once(length).chain(slice.dims.iter().copied()).collect();
        types.push(TensorType { dtype: slice.dtype, dims }.into());
    }
    Ok(types)
}
