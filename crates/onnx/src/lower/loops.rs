//! `If`, `Loop` and `Scan` as `cond`, `while` and `scan`, where ranks agree and what a loop carries keeps its type. Others stay whole.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Cond, Direction, Scan, While, Yield};
use sapwood_ptir::{
    Attr, BodyId, EditError, Function, InsertPoint, InstId, Int, Op as _, TensorType, ValueId,
    ValueType,
};

use super::builder::{Builder, V};
use super::pass::{replace, with_refinements};
use super::steps::{Law, Observer, Step};
use crate::dialect::ABSENT;

/// Replaces control flow of ONNX by that of core ops, the innermost first, and returns how many nodes.
pub(super) fn lower_loops(f: &mut Function, observer: &mut Observer<'_>) -> usize {
    let is_control = |f: &Function, inst: InstId| {
        matches!(f.op_name(inst), "onnx.If" | "onnx.Loop" | "onnx.Scan")
    };
    let insts: Vec<InstId> = f.walk().filter(|&inst| is_control(f, inst)).collect();
    if insts.is_empty() {
        return 0;
    }
    let taken = std::mem::replace(f, Function::new(f.name(), f.registry().clone()));
    let b = Builder::new(taken, false);
    let mut count = 0;
    for inst in insts.into_iter().rev() {
        count += usize::from(lower(&b, inst, observer));
    }
    *f = b.f.into_inner();
    count
}

fn lower(b: &Builder, inst: InstId, observer: &mut Observer<'_>) -> bool {
    let span = b.f.borrow().inst_span(inst);
    b.insert_at(InsertPoint::Before(inst), span);
    let plan = match b.f.borrow().op_name(inst) {
        "onnx.If" => plan_if(&b.f.borrow(), inst),
        "onnx.Loop" => plan_loop(&b.f.borrow(), inst),
        _ => plan_scan(&b.f.borrow(), inst),
    };
    let Some(plan) = plan else { return false };
    let f = b.f.borrow();
    let results: Vec<ValueId> = f.inst_results(inst).collect();
    let types: Vec<ValueType> = results.iter().map(|&v| f.value_type(v).clone()).collect();
    drop(f);
    b.f.borrow_mut().open_journal();
    let new: Vec<Option<ValueId>> = match plan {
        Plan::If => build_if(b, inst),
        Plan::Loop(plan) => build_loop(b, inst, &plan),
        Plan::Scan(plan) => build_scan(b, inst, &plan),
    }
    .iter()
    .map(|v| v.id)
    .collect();
    let failed = b.take_failure().is_some() || new.len() < results.len();
    let mut f = b.f.borrow_mut();
    let pairs = results.iter().zip(&new).zip(&types);
    let replaced =
        pairs.map(|((&old, &new), ty)| Some((old, replace(&mut f, inst, old, new?, ty)?)));
    let values: Option<Vec<(ValueId, ValueId)>> = if failed { None } else { replaced.collect() };
    let values = values.filter(|_| f.check_erasable(inst).is_ok());
    if let Some(values) = &values {
        let inserted = with_refinements(&f, b.take_made(&f), values);
        observer(&f, &Step { law: Law::ControlFlow, inst, inserted: &inserted, replaced: values });
    }
    let is_done = values.is_some() && f.erase(inst).is_ok();
    match is_done {
        true => f.commit_journal(),
        false => {
            drop(b.take_made(&f));
            f.rollback_journal();
        }
    }
    is_done
}

enum Plan {
    If,
    Loop(LoopPlan),
    Scan(ScanPlan),
}

/// A loop, with its operands by position.
struct LoopPlan {
    trips: Option<ValueId>,
    condition: Option<ValueId>,
    carried: Vec<ValueId>,
    /// The number of steps, if it is known and the condition never changes: then results can be stacked.
    length: Option<i64>,
}

struct ScanPlan {
    states: usize,
    /// The axes of scanned operands and of stacked results, counted from the front.
    axes: Vec<usize>,
    output_axes: Vec<usize>,
    reverse: Vec<bool>,
    output_reverse: Vec<bool>,
}

// Returns whether a value is one bool or number, in a tensor of rank zero or with extents of one.
fn is_single(f: &Function, value: ValueId, dtype: DataType) -> bool {
    let ones = |ty: &TensorType| ty.num_elements() == Some(1);
    f.value_type(value).as_tensor().is_some_and(|ty| ty.dtype == dtype && ones(ty))
}

fn tensors<'f>(f: &'f Function, values: &[ValueId]) -> Option<Vec<&'f TensorType>> {
    values.iter().map(|&v| f.value_type(v).as_tensor()).collect()
}

fn plan_if(f: &Function, inst: InstId) -> Option<Plan> {
    let (&[condition], &[otherwise, then]) = (f.operands(inst), f.regions(inst)) else {
        return None;
    };
    let (a, b) = (tensors(f, f.body_results(otherwise))?, tensors(f, f.body_results(then))?);
    let fits = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.compatible(b));
    (fits && is_single(f, condition, DataType::Bool)).then_some(Plan::If)
}

fn plan_loop(f: &Function, inst: InstId) -> Option<Plan> {
    let &[body] = f.regions(inst) else { return None };
    let absent = f.attr(inst, ABSENT).and_then(Attr::as_ints).unwrap_or_default();
    let mut operands = f.operands(inst).iter().copied();
    let mut next = |position: i64| match absent.contains(&position) {
        true => None,
        false => operands.next(),
    };
    let (trips, condition) = (next(0), next(1));
    let carried: Vec<ValueId> = operands.collect();
    let (params, yielded) = (f.body_params(body), f.body_results(body));
    let [index, go, params @ ..] = params else { return None };
    let [again, yielded @ ..] = yielded else { return None };
    let is_single = |v: Option<ValueId>, dtype| v.is_none_or(|v| is_single(f, v, dtype));
    let scalars = is_single(trips, DataType::I64)
        && is_single(condition, DataType::Bool)
        && is_single(Some(*index), DataType::I64)
        && is_single(Some(*go), DataType::Bool)
        && is_single(Some(*again), DataType::Bool);
    if !scalars || params.len() != carried.len() || yielded.len() < carried.len() {
        return None;
    }
    let (yielded, stacked) = yielded.split_at(carried.len());
    if !keep_types(f, &carried, params, yielded) {
        return None;
    }
    let constant = |v: ValueId| f.constant_of(v)?.as_splat().map(<[u8]>::to_vec);
    let is_true = |v: ValueId| constant(v).is_some_and(|bytes| bytes == [1]);
    let always = condition.is_none_or(is_true) && (is_true(*again) || again == go);
    let length = trips.filter(|_| always).and_then(constant);
    let length = length.and_then(|bytes| Some(i64::from_le_bytes(bytes.try_into().ok()?)));
    // Only results that are stacked need a known number of steps.
    let length = length.filter(|&n| n >= 0 && !stacked.is_empty());
    tensors(f, stacked)?;
    if !stacked.is_empty() && length.is_none() {
        return None;
    }
    Some(Plan::Loop(LoopPlan { trips, condition, carried, length }))
}

// Returns whether what a loop carries has one type from the start to the end.
fn keep_types(f: &Function, inits: &[ValueId], params: &[ValueId], yielded: &[ValueId]) -> bool {
    let of = |v: &ValueId| f.value_type(*v).as_tensor();
    inits.iter().zip(params).zip(yielded).all(|((init, param), next)| {
        let (Some(init), Some(param), Some(next)) = (of(init), of(param), of(next)) else {
            return false;
        };
        init.compatible(param) && next.compatible(param) && init.compatible(next)
    })
}

fn plan_scan(f: &Function, inst: InstId) -> Option<Plan> {
    let &[body] = f.regions(inst) else { return None };
    let absent = f.attr(inst, ABSENT).and_then(Attr::as_ints).unwrap_or_default();
    let is_old = f.attr(inst, crate::dialect::SINCE) == Some(&Attr::Int(8));
    let operands = f.operands(inst);
    let scanned = usize::try_from(f.attr(inst, "num_scan_inputs")?.as_int()?).ok()?;
    let states = operands.len().checked_sub(scanned).filter(|_| scanned > 0)?;
    let (params, yielded) = (f.body_params(body), f.body_results(body));
    if !absent.is_empty() || is_old || params.len() != operands.len() || yielded.len() < states {
        return None;
    }
    if !keep_types(f, &operands[..states], &params[..states], &yielded[..states]) {
        return None;
    }
    let list = |name: &str, len: usize| match f.attr(inst, name).and_then(Attr::as_ints) {
        Some(list) => list.to_vec(),
        None => vec![0; len],
    };
    let wrapped = |axis: i64, rank: usize| {
        let axis = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(axis).ok().filter(|&axis| axis < rank)
    };
    let (inputs, slices) = (tensors(f, &operands[states..])?, tensors(f, &params[states..])?);
    let fits = inputs.iter().zip(&slices).all(|(all, one)| all.rank() == one.rank() + 1);
    let outputs = tensors(f, &yielded[states..])?;
    let axes = list("scan_input_axes", scanned).into_iter().zip(&inputs);
    let axes: Option<Vec<usize>> = axes.map(|(axis, ty)| wrapped(axis, ty.rank())).collect();
    let output_axes = list("scan_output_axes", outputs.len()).into_iter().zip(&outputs);
    let output_axes: Option<Vec<usize>> =
        output_axes.map(|(axis, ty)| wrapped(axis, ty.rank() + 1)).collect();
    let flags = |name: &str, len: usize| -> Vec<bool> {
        list(name, len).into_iter().map(|n| n == 1).collect()
    };
    let plan = ScanPlan {
        states,
        axes: axes?,
        output_axes: output_axes?,
        reverse: flags("scan_input_directions", scanned),
        output_reverse: flags("scan_output_directions", outputs.len()),
    };
    let counts = [plan.axes.len(), plan.reverse.len()] == [scanned; 2]
        && [plan.output_axes.len(), plan.output_reverse.len()] == [outputs.len(); 2];
    (fits && counts).then_some(Plan::Scan(plan))
}

fn edited<T: Default>(b: &Builder, made: Result<T, EditError>) -> T {
    made.unwrap_or_else(|error| {
        b.fail(error.to_string());
        T::default()
    })
}

// Adds instructions at the end of a body.
fn within<T>(b: &Builder, body: BodyId, build: impl FnOnce() -> T) -> T {
    let before = b.set_place(InsertPoint::End(body));
    let made = build();
    b.set_place(before);
    made
}

fn build_if(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let condition = b.f.borrow().operands(inst)[0];
    let Some(pred) = b.value(condition).reshape(&[]).id else { return Vec::new() };
    let regions = edited(b, b.f.borrow_mut().take_regions(inst));
    let &[otherwise, then] = &regions[..] else { return Vec::new() };
    b.record_many(&Cond { pred, then, otherwise }.into_parts())
}

fn build_loop<'b>(b: &'b Builder, inst: InstId, plan: &LoopPlan) -> Vec<V<'b>> {
    let regions = edited(b, b.f.borrow_mut().take_regions(inst));
    let &[body] = &regions[..] else { return Vec::new() };
    let f = b.f.borrow();
    let carried: Vec<ValueType> =
        f.body_params(body)[2..].iter().map(|&v| f.value_type(v).clone()).collect();
    drop(f);
    match plan.length {
        Some(length) => counted_loop(b, body, plan, &carried, length),
        None => open_loop(b, body, plan, &carried),
    }
}

// A known number of steps: a scan over nothing, with the number of the step as a carried value.
fn counted_loop<'b>(
    b: &'b Builder,
    body: BodyId,
    plan: &LoopPlan,
    carried: &[ValueType],
    length: i64,
) -> Vec<V<'b>> {
    let count = ValueType::from(TensorType::scalar(DataType::I64));
    let step = b.f.borrow_mut().new_body(std::iter::once(&count).chain(carried));
    let params = b.f.borrow().body_params(step).to_vec();
    within(b, step, || {
        let go = b.filled(DataType::Bool, &[], 1.0);
        let args = [b.value(params[0]), go].map(|v| v.id);
        let args: Vec<ValueId> =
            args.into_iter().flatten().chain(params[1..].iter().copied()).collect();
        let args = shaped_like_params(b, body, &args);
        let yielded = edited(b, b.f.borrow_mut().inline_body(body, &args, InsertPoint::End(step)));
        let next = (b.value(params[0]) + 1.0).id;
        finish(b, next.into_iter().chain(yielded.into_iter().skip(1)));
    });
    let first = b.i64s(&[], &[0]).id;
    let args = first.into_iter().chain(plan.carried.iter().copied()).collect();
    let (carried, length) = (Int::from(plan.carried.len() + 1), Some(Int(length)));
    let results =
        b.record_many(&Scan { args, body: step, carried, length, reverse: false }.into_parts());
    results.into_iter().skip(1).collect()
}

// An unknown number of steps: the number of the step and the condition are carried.
fn open_loop<'b>(
    b: &'b Builder,
    body: BodyId,
    plan: &LoopPlan,
    carried: &[ValueType],
) -> Vec<V<'b>> {
    let count = ValueType::from(TensorType::scalar(DataType::I64));
    let go = ValueType::from(TensorType::scalar(DataType::Bool));
    let types: Vec<&ValueType> = [&count, &go].into_iter().chain(carried).collect();
    let single = |v: ValueId| b.value(v).reshape(&[]);
    let trips = plan.trips.map(single);
    let start = plan.condition.map_or_else(|| b.filled(DataType::Bool, &[], 1.0), single);
    let test = b.f.borrow_mut().new_body(types.iter().copied());
    let params = b.f.borrow().body_params(test).to_vec();
    within(b, test, || {
        let go = b.value(params[1]);
        let more = trips.map_or(go, |n| {
            let is_less = b.value(params[0]).compare(n, Direction::Lt);
            is_less.binary("and", go)
        });
        finish(b, more.id);
    });
    let step = b.f.borrow_mut().new_body(types.iter().copied());
    let params = b.f.borrow().body_params(step).to_vec();
    within(b, step, || {
        let args = shaped_like_params(b, body, &params);
        let yielded = edited(b, b.f.borrow_mut().inline_body(body, &args, InsertPoint::End(step)));
        let next = (b.value(params[0]) + 1.0).id;
        let again = yielded.first().and_then(|&v| b.value(v).reshape(&[]).id);
        finish(b, next.into_iter().chain(again).chain(yielded.into_iter().skip(1)));
    });
    let first = b.i64s(&[], &[0]).id;
    let inits = first.into_iter().chain(start.id).chain(plan.carried.iter().copied()).collect();
    let results = b.record_many(&While { inits, cond: test, body: step }.into_parts());
    results.into_iter().skip(2).collect()
}

// Returns the number of the step and the condition with the shapes that a body expects; the other arguments are as they are.
fn shaped_like_params(b: &Builder, body: BodyId, args: &[ValueId]) -> Vec<ValueId> {
    let params = b.f.borrow().body_params(body).to_vec();
    let shaped = |(i, (&param, &arg)): (usize, (&ValueId, &ValueId))| match i {
        0 | 1 => b.value(arg).reshape(&b.value(param).dims()).id.unwrap_or(arg),
        _ => arg,
    };
    params.iter().zip(args).enumerate().map(shaped).collect()
}

fn finish(b: &Builder, values: impl IntoIterator<Item = ValueId>) {
    b.record_many(&Yield { values: values.into_iter().collect() }.into_parts());
}

fn build_scan<'b>(b: &'b Builder, inst: InstId, plan: &ScanPlan) -> Vec<V<'b>> {
    let operands = b.f.borrow().operands(inst).to_vec();
    let (states, scanned) = operands.split_at(plan.states);
    let mut args: Vec<Option<ValueId>> = states.iter().map(|&v| Some(v)).collect();
    for (k, &value) in scanned.iter().enumerate() {
        let value = b.value(value);
        let axis = plan.axes[k];
        let order: Vec<usize> =
            std::iter::once(axis).chain((0..value.rank()).filter(|&a| a != axis)).collect();
        let moved = value.transpose(&order);
        args.push(if plan.reverse[k] { moved.reverse(&[0]).id } else { moved.id });
    }
    let regions = edited(b, b.f.borrow_mut().take_regions(inst));
    let (&[body], Some(args)) = (&regions[..], args.into_iter().collect()) else {
        return Vec::new();
    };
    let scan = Scan { args, body, carried: Int::from(plan.states), length: None, reverse: false };
    let results = b.record_many(&scan.into_parts());
    let moved = results.into_iter().enumerate().map(|(i, v)| {
        let Some(k) = i.checked_sub(plan.states) else { return v };
        let axis = plan.output_axes[k];
        let v = if plan.output_reverse[k] { v.reverse(&[0]) } else { v };
        // The new axis moves from the front to its place.
        let order: Vec<usize> = (1..=axis).chain([0]).chain(axis + 1..v.rank()).collect();
        v.transpose(&order)
    });
    moved.collect()
}
