//! Canonicalizations of `scan`.

use sapwood_ptir::ops::Scan;
use sapwood_ptir::{
    BodyId, Dim, Function, InstId, Int, OpFieldReader, TensorLiteral, TensorType, Value, ValueDef,
    Values,
};

use super::branch::is_outside;
use super::carried_values::{invariant_carries, live_carries, narrowed_region};
use super::tensor_views::{AxisList, emit_broadcast, emit_reshape};
use crate::pattern::{Rewrite, RootView, Roots};

crate::patterns! { "scan":
    scan_of_nothing benefit 3,
    scan_once benefit 3,
    scan_invariant benefit 2,
    scan_stack_of_outside,
    scan_stack_of_input,
    scan_unused_stack benefit 0,
    scan_unused_carry benefit 0,
    scan_unused_input benefit 0,
}

/// A view of a `scan` without a copy of its operands: there may be many, and it is visited whenever one of them changes.
struct ScanView {
    carried: usize,
    length: Option<Int>,
    body: BodyId,
}

impl RootView for ScanView {
    fn roots() -> Roots {
        Roots::of::<Scan>()
    }

    fn read(function: &Function, inst: InstId) -> Option<Self> {
        let &[body] = function.regions(inst) else { return None };
        let mut attrs = OpFieldReader::new(function, inst)?;
        let (carried, length): (Int, Option<Int>) = (attrs.attr()?, attrs.attr()?);
        Some(Self { carried: usize::try_from(carried.0).ok()?, length, body })
    }
}

impl ScanView {
    // Returns the number of steps, if it is known.
    fn steps(&self, rw: &Rewrite<'_>) -> Option<u64> {
        if let Some(length) = self.length {
            return u64::try_from(length.0).ok();
        }
        let scanned = rw.function().operands(rw.root()).get(self.carried..)?;
        scanned.iter().find_map(|&v| rw.tensor(v)?.dims.first()?.known())
    }
}

// The operands and results to remove from a scan.
#[derive(Default)]
struct ScanCut {
    // The operands, by parameter, with the replacement of the parameter.
    params: Vec<(usize, Value)>,
    // The results.
    results: Vec<usize>,
}

// Emits the scan without some operands and results; returns the remaining results.
fn emit_scan_without(op: Scan, cut: &ScanCut, rw: &mut Rewrite<'_>) -> Option<Values> {
    let mut stays = vec![true; op.args.len()];
    cut.params.iter().for_each(|&(n, _)| stays[n] = false);
    let args = (0..op.args.len()).filter(|&n| stays[n]).map(|n| op.args[n]).collect();
    let carried = (0..op.carried.0 as usize).filter(|&n| stays[n]).count();
    let region = narrowed_region(op.body, &cut.params, &cut.results);
    rw.emit_with_regions(Scan { args, carried: Int::from(carried), ..op }, &[region])
}

// Returns one value per result: `gone` gives the removed ones, `left` the others in order.
fn fill_results(
    count: usize,
    cut: &ScanCut,
    left: Values,
    mut gone: impl FnMut(usize) -> Option<Value>,
) -> Option<Values> {
    let (mut left, mut stays) = (left.into_iter(), vec![true; count]);
    cut.results.iter().for_each(|&n| stays[n] = false);
    (0..count).map(|n| if stays[n] { left.next() } else { gone(n) }).collect()
}

/// `scan(init, xs) = init` over nothing, with empty stacks.
///
/// All dims of the stacks must be known.
///
/// Floats: exact.
fn scan_of_nothing(op: ScanView, rw: &mut Rewrite<'_>) -> Option<Values> {
    if op.steps(rw)? != 0 {
        return None;
    }
    let f = rw.function();
    let mut values: Values = f.operands(rw.root()).iter().copied().take(op.carried).collect();
    for result in f.inst_results(rw.root()).skip(op.carried) {
        let ty = f.value_type(result).as_tensor()?;
        let literal = TensorLiteral::new(ty.dtype, &ty.known_shape()?, &[]).ok()?;
        values.push(rw.constant(literal));
    }
    Some(values)
}

/// `scan(init, xs, body) = body(init, xs[0])` for one step, inlined; stacks get their axis back.
///
/// Floats: exact.
fn scan_once(op: ScanView, rw: &mut Rewrite<'_>) -> Option<Values> {
    if op.steps(rw)? != 1 {
        return None;
    }
    let f = rw.function();
    let carried = op.carried;
    let mut args = Values::new();
    for (n, &arg) in f.operands(rw.root()).iter().enumerate() {
        if n < carried {
            args.push(arg);
            continue;
        }
        let dims = rw.tensor(arg)?.dims.get(1..)?.iter().copied().collect();
        let ty = TensorType { dtype: rw.dtype(arg)?, dims };
        args.push(emit_reshape(rw, arg, &ty)?);
    }
    let yields = rw.inline(op.body, &args)?;
    let mut values = Values::new();
    for (n, &value) in yields.iter().enumerate() {
        if n < carried {
            values.push(value);
            continue;
        }
        let ty = f.value_type(f.result(rw.root(), n)?).as_tensor()?;
        values.push(emit_reshape(rw, value, ty)?);
    }
    Some(values)
}

/// `scan(x, …)` with a body that yields the carried `x` itself uses `x` from outside and returns it.
///
/// Carried values with the same initial value may be swapped. The loop carries `x` until `scan_unused_carry` removes it.
///
/// Floats: exact.
fn scan_invariant(op: ScanView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let params = rw.params(op.body);
    let (f, root) = (rw.function(), rw.root());
    let inits = f.operands(root).get(..op.carried)?;
    let same = |v: Value, n: usize| f.type_id(v) == f.type_id(inits[n]);
    let may_remove = |n| same(params[n], n) && rw.result(n).is_some_and(|r| same(r, n));
    let stay = invariant_carries(rw, op.body, inits, may_remove);
    let pairs = stay.into_iter().flat_map(|n| {
        let carried = [Some(params[n]), f.result(root, n)];
        carried.into_iter().flatten().map(move |v| (v, inits[n]))
    });
    rw.forward(pairs)
}

/// `scan` that stacks a value `x` from outside returns `broadcast(x)` instead.
///
/// The number of steps must be known.
///
/// Cost: the stack is written until the scan no longer has it.
///
/// Floats: exact.
fn scan_stack_of_outside(op: ScanView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    for (result, yielded) in stacked_results(&op, rw).filter(|&(r, _)| !f.unused(r)) {
        let Some(ty) = f.value_type(result).as_tensor() else { continue };
        if matches!(ty.dims.first(), Some(Dim::Known(_)))
            && is_outside(f, op.body, yielded)
            && f.is_available_to(yielded, rw.root())
        {
            let dims: AxisList = (1..ty.rank()).collect();
            pairs.push((result, emit_broadcast(rw, yielded, &dims, ty)?));
        }
    }
    rw.forward(pairs)
}

/// `scan` that stacks the slices of its input `xs` returns `xs` instead.
///
/// Floats: exact.
fn scan_stack_of_input(op: ScanView, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let source = |(result, yielded): (Value, Value)| {
        let ValueDef::Param(of, at) = f.value_def(yielded) else { return None };
        let &arg = f.operands(rw.root()).get(at).filter(|_| of == op.body && at >= op.carried)?;
        (f.type_id(result) == f.type_id(arg)).then_some((result, arg))
    };
    let pairs: Vec<(Value, Value)> = stacked_results(&op, rw).filter_map(source).collect();
    rw.forward(pairs)
}

// Returns the stacked results, each with the value that is stacked.
fn stacked_results<'a>(
    op: &ScanView,
    rw: &Rewrite<'a>,
) -> impl Iterator<Item = (Value, Value)> + use<'a> {
    let (f, root, carried) = (rw.function(), rw.root(), op.carried);
    let yields = rw.yields(op.body).get(carried..).unwrap_or_default();
    (carried..).zip(yields).filter_map(move |(n, &yielded)| Some((f.result(root, n)?, yielded)))
}

/// `scan` does not stack values whose stack is unused.
///
/// Floats: exact.
fn scan_unused_stack(op: Scan, rw: &mut Rewrite<'_>) -> Option<Values> {
    let all: Values = rw.function().inst_results(rw.root()).collect();
    let results: Vec<usize> =
        (op.carried.0 as usize..all.len()).filter(|&n| rw.unused(all[n])).collect();
    if results.is_empty() {
        return None;
    }
    let cut = ScanCut { results, ..ScanCut::default() };
    let left = emit_scan_without(op, &cut, rw)?;
    fill_results(all.len(), &cut, left, |n| all.get(n).copied())
}

/// `scan(x, y, …)` does not carry `y` if its result is not used and nothing else depends on it.
///
/// Floats: exact.
fn scan_unused_carry(op: Scan, rw: &mut Rewrite<'_>) -> Option<Values> {
    let all: Values = rw.function().inst_results(rw.root()).collect();
    let wanted: Vec<bool> = all.iter().map(|&v| !rw.unused(v)).collect();
    let carried = op.carried.0 as usize;
    if !wanted[..carried].contains(&false) {
        return None;
    }
    let live = live_carries(rw, op.body, carried, &wanted);
    let same = |n: usize| rw.ty(rw.params(op.body)[n]) == rw.ty(op.args[n]);
    let results: Vec<usize> = (0..carried).filter(|&n| !live[n] && same(n)).collect();
    if results.is_empty() {
        return None;
    }
    let params = results.iter().map(|&n| (n, op.args[n])).collect();
    let cut = ScanCut { params, results };
    let left = emit_scan_without(op, &cut, rw)?;
    fill_results(all.len(), &cut, left, |n| all.get(n).copied())
}

/// `scan(…, xs)` does not scan `xs` if the body does not use its slices.
///
/// The number of steps must be known.
///
/// Floats: exact.
fn scan_unused_input(mut op: Scan, rw: &mut Rewrite<'_>) -> Option<Values> {
    let params = rw.params(op.body);
    let carried = op.carried.0 as usize;
    let unused: Vec<usize> = (carried..params.len()).filter(|&n| rw.unused(params[n])).collect();
    if unused.is_empty() {
        return None;
    }
    op.length = Some(Int::from(ScanView::read(rw.function(), rw.root())?.steps(rw)?));
    let params = unused.iter().map(|&n| (n, params[n])).collect();
    emit_scan_without(op, &ScanCut { params, results: Vec::new() }, rw)
}
