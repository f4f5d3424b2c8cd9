//! Control flow: If, Loop and Scan run their regions.

use sapwood_ptir::eval::{DataType, EvalCx, EvalResult, Fault, Native, Results, Tensor, Value};
use sapwood_ptir::{Attr, Dim, Function, OpParts, TensorType, ValueType, with_native};

use super::{Inferred, NodeView, attention, evaluate_expression};
use crate::dialect::{ABSENT, GRAPHS};
use crate::read::{attr_int, attr_ints, joined_types as joined};
use crate::{Node, Text};

/// Computes attention whose scores and probabilities are changed by regions.
pub(super) fn run_flex_attention(cx: &mut EvalCx<'_>) -> EvalResult {
    let names: Vec<&str> = match cx.attr(GRAPHS)? {
        Attr::List(names) => names.iter().filter_map(Attr::as_str).collect(),
        _ => Vec::new(),
    };
    let region_of = |name: &str| names.iter().position(|own| *own == name);
    let (on_scores, on_probabilities) = (region_of("score_mod"), region_of("prob_mod"));
    let args: Vec<Value> = cx.args().to_vec();
    let mut values = evaluate_expression(cx, &args, attention::flex_scores)?;
    if let Some(region) = on_scores {
        values = cx.call_region(region, values)?;
    }
    values = evaluate_expression(cx, &values, attention::flex_probabilities)?;
    if let Some(region) = on_probabilities {
        values = cx.call_region(region, values)?;
    }
    values.extend(args.get(2).cloned());
    evaluate_expression(cx, &values, attention::flex_results)
}

/// The types of a node with regions do not follow from its operands.
pub(super) fn infer_nothing(_: &NodeView<'_>, _: &[&ValueType]) -> Option<Vec<ValueType>> {
    None
}

/// Infers the results of a node with regions from what they yield. `condition` is the first operand, if it is known.
pub(crate) fn infer_control_flow(
    node: &Node,
    f: &Function,
    parts: &OpParts,
    condition: Option<bool>,
) -> Inferred {
    let op = node.op_type.as_ref().and_then(Text::as_str).unwrap_or_default();
    let yielded = |region: usize| -> Vec<ValueType> {
        let body = parts.regions.get(region);
        let values = body.map(|&body| f.body_results(body)).unwrap_or_default();
        values.iter().map(|&v| f.value_type(v).clone()).collect()
    };
    let types: Vec<ValueType> = match op {
        "If" => match condition {
            // Regions are in the order of attribute names: `else_branch`, `then_branch`.
            Some(is_true) => yielded(usize::from(is_true)),
            None => {
                let (a, b) = (yielded(0), yielded(1));
                a.iter().zip(&b).map(|(a, b)| joined(a, b)).collect()
            }
        },
        "Loop" => {
            let body = parts.regions.first().map_or(0, |&b| f.body_params(b).len());
            let carried = body.saturating_sub(2);
            let all = yielded(0);
            let inits: Vec<ValueType> = parts.operands
                [parts.operands.len().saturating_sub(carried)..]
                .iter()
                .map(|&v| f.value_type(v).clone())
                .collect();
            let values = all.iter().skip(1);
            values
                .enumerate()
                .map(|(i, ty)| match inits.get(i) {
                    Some(init) => joined(ty, &joined(ty, init)),
                    None => stacked_along(ty, 0),
                })
                .collect()
        }
        "Scan" => {
            // Of the carried values, the parameters tell what all steps have in common.
            let scanned = attr_int(node, "num_scan_inputs").and_then(|n| usize::try_from(n).ok());
            let (Some(scanned), Some(&body)) = (scanned, parts.regions.first()) else {
                return Inferred::default();
            };
            let params = f.body_params(body);
            if node.input.len() != params.len() {
                return Inferred::default();
            }
            let states = params.len().saturating_sub(scanned);
            let axes = attr_ints(node, "scan_output_axes");
            let all = yielded(0).into_iter().enumerate();
            all.map(|(i, ty)| match i.checked_sub(states) {
                None => joined(f.value_type(params[i]), &ty),
                Some(k) => {
                    let axis = axes.and_then(|axes| axes.get(k).copied()).unwrap_or(0);
                    stacked_along(&ty, axis)
                }
            })
            .collect()
        }
        _ => return Inferred::default(),
    };
    Inferred { types: types.into_iter().map(Some).collect(), known: Vec::new() }
}

// Returns the type of slices that are stacked along a new axis of an extent that is not known.
fn stacked_along(ty: &ValueType, axis: i64) -> ValueType {
    let ValueType::Tensor(ty) = ty else { return ValueType::Opaque };
    let axis = if axis < 0 { axis + ty.rank() as i64 + 1 } else { axis };
    match usize::try_from(axis).ok().filter(|&axis| axis <= ty.rank()) {
        Some(axis) => {
            let mut dims = ty.dims.clone();
            dims.insert(axis, Dim::Unknown);
            TensorType { dtype: ty.dtype, dims }.into()
        }
        None => ValueType::Opaque,
    }
}

fn flag(value: &Value) -> Result<bool, Fault> {
    let found = value.as_tensor().and_then(Tensor::as_splat::<bool>);
    found.ok_or_else(|| Fault::op(format!("a condition is {}, expected one bool", value.ty())))
}

pub(super) fn run_if(cx: &mut EvalCx<'_>) -> EvalResult {
    // Regions are in the order of attribute names: `else_branch`, `then_branch`.
    let region = usize::from(flag(cx.arg(0)?)?);
    cx.call_region(region, [])
}

pub(super) fn run_loop(cx: &mut EvalCx<'_>) -> EvalResult {
    let absent = match cx.attr(ABSENT)? {
        Attr::Ints(list) => list.to_vec(),
        _ => Vec::new(),
    };
    let mut args = cx.take_args().into_iter();
    let mut next = |position: i64| if absent.contains(&position) { None } else { args.next() };
    let trips = match next(0) {
        Some(value) => {
            let count = value.as_tensor().and_then(Tensor::as_splat::<i64>);
            Some(count.ok_or_else(|| Fault::op("the number of trips is not one i64"))?)
        }
        None => None,
    };
    let mut condition = match next(1) {
        Some(value) => flag(&value)?,
        None => true,
    };
    let mut carried: Vec<Value> = args.collect();
    let mut scanned: Vec<Vec<Value>> =
        vec![Vec::new(); cx.num_results().saturating_sub(carried.len())];
    let mut i = 0i64;
    while condition && trips.is_none_or(|n| i < n) {
        cx.work(1)?;
        let index = Value::from(Tensor::scalar(i));
        let go = Value::from(Tensor::scalar(condition));
        let results = cx.call_region(0, [index, go].into_iter().chain(carried.iter().cloned()))?;
        let mut results = results.into_iter();
        condition = flag(&results.next().ok_or_else(|| Fault::op("the body yields nothing"))?)?;
        let count = carried.len();
        carried = results.by_ref().take(count).collect();
        for (list, value) in scanned.iter_mut().zip(results) {
            list.push(value);
        }
        i += 1;
    }
    let mut all: Results = carried.into_iter().collect();
    for list in scanned {
        let index = all.len();
        all.push(stack(cx, &list, 0, index)?);
    }
    Ok(all)
}

/// The axes and directions of a scan; a direction of one means from the end.
struct ScanPlan {
    axes: Vec<i64>,
    directions: Vec<i64>,
    output_axes: Vec<i64>,
    output_directions: Vec<i64>,
}

pub(super) fn run_scan(cx: &mut EvalCx<'_>) -> EvalResult {
    let count = cx.int("num_scan_inputs")?;
    let count = usize::try_from(count).ok().filter(|&n| n <= cx.args().len()).ok_or_else(|| {
        Fault::op(format!("`num_scan_inputs` is {count}, expected 0 to {}", cx.args().len()))
    })?;
    let list = |name: &str, len: usize| -> Result<Vec<i64>, Fault> {
        Ok(match cx.attr(name)? {
            Attr::Ints(list) => list.to_vec(),
            _ => vec![0; len],
        })
    };
    let args: Vec<Value> = cx.args().to_vec();
    if matches!(cx.attr(crate::dialect::SINCE)?, Attr::Int(8)) {
        let plan = ScanPlan {
            axes: vec![0; count],
            directions: list("directions", count)?,
            output_axes: Vec::new(),
            output_directions: Vec::new(),
        };
        return scan_each_batch(cx, &args, &plan);
    }
    let states = args.len().saturating_sub(count);
    let outputs = cx.num_results().saturating_sub(states);
    let plan = ScanPlan {
        axes: list("scan_input_axes", count)?,
        directions: list("scan_input_directions", count)?,
        output_axes: list("scan_output_axes", outputs)?,
        output_directions: list("scan_output_directions", outputs)?,
    };
    let states = args[..states].to_vec();
    scan(cx, &plan, states, &args[args.len() - count.min(args.len())..])
}

// The form of opset 8: every operand and result has a batch axis in front of the others.
fn scan_each_batch(cx: &mut EvalCx<'_>, args: &[Value], plan: &ScanPlan) -> EvalResult {
    let lengths_are_given = !matches!(cx.attr(ABSENT)?, Attr::Ints(list) if list.contains(&0));
    if lengths_are_given {
        return Err(Fault::op("sequence lengths of the form of opset 8 are not supported"));
    }
    let count = plan.axes.len();
    let batches = match args.first().and_then(Value::as_tensor) {
        Some(first) if !first.shape().is_empty() => first.shape()[0],
        _ => return Err(Fault::op("an operand has no batch axis")),
    };
    if batches == 0 {
        return scan_no_batch(cx, args, plan);
    }
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); cx.num_results()];
    for batch in 0..batches {
        let mut parts = Vec::with_capacity(args.len());
        for value in args {
            let tensor = value.as_tensor().filter(|t| t.shape().first() == Some(&batches));
            let tensor = tensor.ok_or_else(|| Fault::op("operands have different batches"))?;
            parts.push(Value::from(slice_at(cx, tensor, 0, batch)?));
        }
        let inputs = parts.split_off(parts.len().saturating_sub(count));
        for (list, value) in results.iter_mut().zip(scan(cx, plan, parts, &inputs)?) {
            list.push(value);
        }
    }
    results.iter().enumerate().map(|(i, list)| stack(cx, list, 0, i)).collect()
}

// Without a batch, one of zeros gives the extents of the results.
fn scan_no_batch(cx: &mut EvalCx<'_>, args: &[Value], plan: &ScanPlan) -> EvalResult {
    let mut parts = Vec::with_capacity(args.len());
    for value in args {
        let tensor = value.as_tensor().filter(|t| t.shape().first() == Some(&0));
        let tensor = tensor.ok_or_else(|| Fault::op("operands have different batches"))?;
        let shape = &tensor.shape()[1..];
        let zeros =
            with_native!(tensor.dtype(), T => Tensor::splat(tensor.dtype(), shape, T::unpack(0)));
        parts.push(Value::from(zeros));
    }
    let inputs = parts.split_off(parts.len().saturating_sub(plan.axes.len()));
    let empty = |value: Value| -> Result<Value, Fault> {
        let tensor = value.as_tensor();
        let tensor = tensor.ok_or_else(|| Fault::op("a stacked value is not a tensor"))?;
        let shape: Vec<usize> = [0].into_iter().chain(tensor.shape().iter().copied()).collect();
        let dtype = tensor.dtype();
        Ok(with_native!(dtype, T => Tensor::new::<T>(dtype, shape, Vec::new())).into())
    };
    scan(cx, plan, parts, &inputs)?.into_iter().map(empty).collect()
}

fn scan(
    cx: &mut EvalCx<'_>,
    plan: &ScanPlan,
    mut carried: Vec<Value>,
    inputs: &[Value],
) -> EvalResult {
    let states = carried.len();
    let outputs = cx.num_results().saturating_sub(states);
    let ScanPlan { axes, directions, output_axes, output_directions } = plan;
    let inputs: Vec<Tensor> = inputs
        .iter()
        .map(|v| v.as_tensor().cloned().ok_or_else(|| Fault::op("a scanned input is not a tensor")))
        .collect::<Result<_, _>>()?;
    let axis_of = |tensor: &Tensor, axis: i64| -> Result<usize, Fault> {
        let rank = tensor.shape().len() as i64;
        let wrapped = if axis < 0 { axis + rank } else { axis };
        usize::try_from(wrapped)
            .ok()
            .filter(|&a| a < rank as usize)
            .ok_or_else(|| Fault::op("a scan axis is out of range"))
    };
    let mut length = None;
    for (tensor, &axis) in inputs.iter().zip(axes) {
        let n = tensor.shape()[axis_of(tensor, axis)?];
        if *length.get_or_insert(n) != n {
            return Err(Fault::op("scanned inputs have different lengths"));
        }
    }
    let length = length.unwrap_or(0);
    let mut scanned: Vec<Vec<Value>> = vec![Vec::new(); outputs];
    for i in 0..length {
        cx.work(1)?;
        let mut slices = Vec::new();
        for (k, tensor) in inputs.iter().enumerate() {
            let at = if directions.get(k) == Some(&1) { length - 1 - i } else { i };
            slices.push(Value::from(slice_at(
                cx,
                tensor,
                axis_of(tensor, axes.get(k).copied().unwrap_or(0))?,
                at,
            )?));
        }
        let results = cx.call_region(0, carried.iter().cloned().chain(slices))?;
        let mut results = results.into_iter();
        carried = results.by_ref().take(states).collect();
        for (list, value) in scanned.iter_mut().zip(results) {
            list.push(value);
        }
    }
    let mut all: Results = carried.into_iter().collect();
    for (k, mut list) in scanned.into_iter().enumerate() {
        if output_directions.get(k) == Some(&1) {
            list.reverse();
        }
        let index = all.len();
        all.push(stack(cx, &list, output_axes.get(k).copied().unwrap_or(0), index)?);
    }
    Ok(all)
}

fn slice_at(cx: &EvalCx<'_>, x: &Tensor, axis: usize, index: usize) -> Result<Tensor, Fault> {
    let shape = x.shape();
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis + 1..].iter().product();
    let mut new_shape = shape.to_vec();
    let extent = new_shape.remove(axis);
    with_native!(x.dtype(), T => {
        let all = x.elements::<T>().ok_or_else(|| Fault::op("unexpected element type"))?;
        let mut part: Vec<T> = cx.alloc(outer * inner)?;
        for o in 0..outer {
            let start = (o * extent + index) * inner;
            part.extend_from_slice(&all[start..start + inner]);
        }
        Ok(Tensor::new(x.dtype(), new_shape, part))
    })
}

// Stacks values along a new axis. Without values, the extents are those of the declared type, 0 where they are not known.
fn stack(cx: &EvalCx<'_>, values: &[Value], axis: i64, result: usize) -> Result<Value, Fault> {
    let tensors: Vec<&Tensor> = values
        .iter()
        .map(|v| v.as_tensor().ok_or_else(|| Fault::op("a stacked value is not a tensor")))
        .collect::<Result<_, _>>()?;
    let Some(first) = tensors.first() else {
        let ty = cx.result_type(result)?.as_tensor().cloned();
        let ty = ty.unwrap_or_else(|| TensorType::new(DataType::F32, [0u64]));
        let mut shape: Vec<usize> =
            ty.dims.iter().map(|d| d.known().map_or(0, |n| n as usize)).collect();
        if let Some(length) = shape.first_mut() {
            *length = 0;
        }
        return with_native!(ty.dtype, T => Ok(Tensor::new::<T>(ty.dtype, shape, Vec::new()).into()));
    };
    let shape = first.shape().to_vec();
    if tensors.iter().any(|t| t.shape() != shape || t.dtype() != first.dtype()) {
        return Err(Fault::op("stacked values have different types"));
    }
    let rank = shape.len() as i64 + 1;
    let axis = if axis < 0 { axis + rank } else { axis };
    let axis = usize::try_from(axis).ok().filter(|&a| (a as i64) < rank);
    let axis = axis.ok_or_else(|| Fault::op("a scan axis is out of range"))?;
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis..].iter().product();
    let mut new_shape = shape.clone();
    new_shape.insert(axis, tensors.len());
    with_native!(first.dtype(), T => {
        let parts: Vec<_> = tensors
            .iter()
            .map(|t| t.elements::<T>().ok_or_else(|| Fault::op("unexpected element type")))
            .collect::<Result<_, _>>()?;
        let mut all = cx.alloc::<T>(outer * inner * tensors.len())?;
        for o in 0..outer {
            for part in &parts {
                all.extend_from_slice(&part[o * inner..(o + 1) * inner]);
            }
        }
        Ok(Tensor::new(first.dtype(), new_shape, all).into())
    })
}
