//! Branches and loops as `If`, `Loop` and `Scan`.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Direction, Scan, Yield};
use sapwood_ptir::{
    Attr, BodyId, EditError, Function, InsertPoint, InstId, Op as _, OpParts, TensorType, ValueId,
    ValueType,
};
use sapwood_types::Span;

use super::{ints, parts_of};
use crate::dialect::ABSENT;
use crate::lower::{Builder, V};
use crate::model::with_stack;

// Returns the result of an edit, or reports why it failed.
fn edited<T: Default>(b: &Builder, made: Result<T, EditError>) -> T {
    made.unwrap_or_else(|error| {
        b.fail(error.to_string());
        T::default()
    })
}

// Adds a node with regions at the place of the builder.
fn node_of<'b>(
    b: &'b Builder,
    op: &str,
    attrs: &[(&str, Attr)],
    operands: &[ValueId],
    regions: &[BodyId],
    types: &[ValueType],
) -> Vec<V<'b>> {
    let registry = b.f.borrow().registry().clone();
    let Some(parts) = parts_of(&registry, op, attrs, types) else {
        b.fail(format!("`{op}` is not registered"));
        return Vec::new();
    };
    let results = b.record_many(&OpParts {
        operands: operands.iter().copied().collect(),
        regions: regions.iter().copied().collect(),
        ..parts
    });
    // Runtimes expect a name for each result, also if nothing uses it.
    results.iter().filter_map(|v| v.id).for_each(|id| b.f.borrow_mut().set_hint(id, "carried"));
    results
}

// Returns the operands of an instruction, its regions, which no longer belong to it, and the types of its results.
fn taken(b: &Builder, inst: InstId) -> (Vec<ValueId>, Vec<BodyId>, Vec<ValueType>) {
    let mut f = b.f.borrow_mut();
    let operands = f.operands(inst).to_vec();
    let types = f.inst_results(inst).map(|v| f.value_type(v).clone()).collect();
    let regions = f.take_regions(inst);
    drop(f);
    (operands, edited(b, regions), types)
}

// Ends a body with the values that it yields.
fn finish(b: &Builder, body: BodyId, values: impl IntoIterator<Item = ValueId>) {
    let parts = Yield { values: values.into_iter().collect() }.into_parts();
    at(b, InsertPoint::End(body), || drop(b.record_many(&parts)));
}

// Adds instructions at another place.
fn at<T>(b: &Builder, place: InsertPoint, build: impl FnOnce() -> T) -> T {
    let before = b.set_place(place);
    let made = build();
    b.set_place(before);
    made
}

pub(super) fn cond(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let (operands, regions, types) = taken(b, inst);
    let &[then, otherwise] = &regions[..] else { return vec![b.fail("it has no two branches")] };
    // Regions are in the order of attribute names: `else_branch`, `then_branch`.
    node_of(b, "onnx.If", &[], &operands, &[otherwise, then], &types)
}

/// A choice of several branches is a chain of choices of two. Indices out of range choose the last branch.
pub(super) fn case(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let (operands, regions, types) = taken(b, inst);
    let (Some(&index), Some((&last, rest))) = (operands.first(), regions.split_last()) else {
        return vec![b.fail("it has no branches")];
    };
    let is_index = |n: usize| {
        let index = b.value(index);
        index.compare(index.number(n as f64), Direction::Eq).id.into_iter().collect::<Vec<_>>()
    };
    let Some((&first, others)) = rest.split_first() else {
        let place = InsertPoint::Before(inst);
        let inlined = b.f.borrow_mut().inline_body(last, &[], place);
        return edited(b, inlined).into_iter().map(|id| b.value(id)).collect();
    };
    let mut otherwise = last;
    for (n, &branch) in others.iter().enumerate().rev() {
        let body = b.f.borrow_mut().new_body([]);
        let chosen = at(b, InsertPoint::End(body), || {
            node_of(b, "onnx.If", &[], &is_index(n + 1), &[otherwise, branch], &types)
        });
        finish(b, body, chosen.iter().filter_map(|v| v.id));
        otherwise = body;
    }
    node_of(b, "onnx.If", &[], &is_index(0), &[otherwise, first], &types)
}

/// `Loop` tests the condition after each step, and takes the first test as an operand.
pub(super) fn while_loop(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let (inits, regions, types) = taken(b, inst);
    let &[cond, body] = &regions[..] else { return vec![b.fail("it has no two regions")] };
    let first = copied(b, cond);
    let go = edited(b, b.f.borrow_mut().inline_body(first, &inits, InsertPoint::Before(inst)));
    let step = loop_body(b, &types);
    let params = b.f.borrow().body_params(step).to_vec();
    let end = InsertPoint::End(step);
    let next = edited(b, b.f.borrow_mut().inline_body(body, &params[2..], end));
    let again = edited(b, b.f.borrow_mut().inline_body(cond, &next, end));
    finish(b, step, again.into_iter().chain(next));
    let operands: Vec<ValueId> = go.into_iter().chain(inits).collect();
    // The first input, the number of steps, is left out.
    node_of(b, "onnx.Loop", &[(ABSENT, ints([0]))], &operands, &[step], &types)
}

// Returns a body with the parameters of a `Loop`: the number of the step, the condition, and the carried values.
fn loop_body(b: &Builder, carried: &[ValueType]) -> BodyId {
    let count = ValueType::from(TensorType::scalar(DataType::I64));
    let go = ValueType::from(TensorType::scalar(DataType::Bool));
    b.f.borrow_mut().new_body([&count, &go].into_iter().chain(carried))
}

pub(super) fn scan(b: &Builder, inst: InstId) -> Vec<V<'_>> {
    let Some((carried, length, reverse)) =
        b.f.borrow()
            .view::<Scan>(inst)
            .map(|op| (op.carried.0 as usize, op.length.map(|n| n.0), op.reverse))
    else {
        return vec![b.fail("it is no scan")];
    };
    let (operands, regions, types) = taken(b, inst);
    let &[body] = &regions[..] else { return vec![b.fail("it has no region")] };
    let (scanned, stacked) = (operands.len() - carried, types.len().saturating_sub(carried));
    if scanned > 0 {
        let mut attrs = vec![("num_scan_inputs", Attr::Int(scanned as i64))];
        if reverse {
            attrs.push(("scan_input_directions", ints(vec![1; scanned])));
            if stacked > 0 {
                attrs.push(("scan_output_directions", ints(vec![1; stacked])));
            }
        }
        return node_of(b, "onnx.Scan", &attrs, &operands, &[body], &types);
    }
    // Nothing is scanned: a loop with a number of steps.
    let trips = b.i64s(&[], &[length.unwrap_or(0)]).id;
    let step = loop_body(b, &types[..carried]);
    let params = b.f.borrow().body_params(step).to_vec();
    let end = InsertPoint::End(step);
    let next = edited(b, b.f.borrow_mut().inline_body(body, &params[2..], end));
    finish(b, step, params.get(1).copied().into_iter().chain(next));
    let operands: Vec<ValueId> = trips.into_iter().chain(operands).collect();
    let results = node_of(b, "onnx.Loop", &[(ABSENT, ints([1]))], &operands, &[step], &types);
    let in_order =
        |(i, v): (usize, V<'_>)| if reverse && i >= carried { v.reverse(&[0]).id } else { v.id };
    let ids: Vec<_> = results.into_iter().enumerate().map(in_order).collect();
    ids.into_iter().map(|id| V { b, id }).collect()
}

// Returns a copy of a body, which belongs to no instruction.
fn copied(b: &Builder, body: BodyId) -> BodyId {
    let mut f = b.f.borrow_mut();
    let mut values = Vec::new();
    match copy_body(&mut f, body, &mut values) {
        Ok(copy) => copy,
        Err(error) => {
            drop(f);
            b.fail(error.to_string());
            body
        }
    }
}

// `values` are the values of bodies that are being copied, with their copies.
fn copy_body(
    f: &mut Function,
    body: BodyId,
    values: &mut Vec<(ValueId, ValueId)>,
) -> Result<BodyId, EditError> {
    let params = f.body_params(body).to_vec();
    let types: Vec<ValueType> = params.iter().map(|&v| f.value_type(v).clone()).collect();
    let copy = f.new_body(&types);
    values.extend(params.into_iter().zip(f.body_params(copy).to_vec()));
    let insts: Vec<InstId> = f.body_insts(body).collect();
    for inst in insts {
        let of =
            |v: ValueId| values.iter().rev().find(|(old, _)| *old == v).map_or(v, |(_, new)| *new);
        let operands = f.operands(inst).iter().map(|&v| of(v)).collect();
        let inner = f.regions(inst).to_vec();
        let mut regions = Vec::with_capacity(inner.len());
        for region in inner {
            regions.push(with_stack(|| copy_body(f, region, values))?);
        }
        let results: Vec<ValueId> = f.inst_results(inst).collect();
        let parts = OpParts {
            key: f.op_key(inst),
            attrs: f.attrs(inst).iter().cloned().collect(),
            operands,
            regions: regions.into_iter().collect(),
            result_types: results.iter().map(|&v| f.value_type(v).clone()).collect(),
        };
        let new = f.insert(InsertPoint::End(copy), &parts, Span::unknown())?;
        values.extend(results.into_iter().zip(f.inst_results(new)));
    }
    Ok(copy)
}
