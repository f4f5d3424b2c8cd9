//! Canonicalizations of `scan`.

use sapwood_ptir::ops::Scan;
use sapwood_ptir::{
    BodyId, Dim, Function, InstId, Int, OpFieldReader, TensorLiteral, TensorType, Value, ValueDef,
    Values,
};

use super::branch::is_outside;
use super::carries::{invariant_carries, live_carries, narrowed};
use super::support::{AxisList, reshape, spread};
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

/// A `scan` without a copy of its operands, of which there may be many: it is looked at whenever one of them changes.
struct ScanHead {
    carried: usize,
    length: Option<Int>,
    body: BodyId,
}

impl RootView for ScanHead {
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

impl ScanHead {
    // The number of steps, if it is known.
    fn steps(&self, rw: &Rewrite<'_>) -> Option<u64> {
        if let Some(length) = self.length {
            return u64::try_from(length.0).ok();
        }
        let scanned = rw.function().operands(rw.root()).get(self.carried..)?;
        scanned.iter().find_map(|&v| rw.tensor(v)?.dims.first()?.known())
    }
}

// What a scan loses.
#[derive(Default)]
struct Cut {
    // Operands, by parameter, and what takes the place of the parameter.
    params: Vec<(usize, Value)>,
    // Results.
    results: Vec<usize>,
}

// The scan without some operands and results; gives the results that stay.
fn without(op: Scan, cut: &Cut, rw: &mut Rewrite<'_>) -> Option<Values> {
    let mut stays = vec![true; op.args.len()];
    cut.params.iter().for_each(|&(n, _)| stays[n] = false);
    let args = (0..op.args.len()).filter(|&n| stays[n]).map(|n| op.args[n]).collect();
    let carried = (0..op.carried.0 as usize).filter(|&n| stays[n]).count();
    let region = narrowed(op.body, &cut.params, &cut.results);
    rw.emit_with_regions(Scan { args, carried: Int::from(carried), ..op }, &[region])
}

// One value per result: for those cut as `gone` says, the others in order.
fn filled(
    count: usize,
    cut: &Cut,
    left: Values,
    mut gone: impl FnMut(usize) -> Option<Value>,
) -> Option<Values> {
    let (mut left, mut stays) = (left.into_iter(), vec![true; count]);
    cut.results.iter().for_each(|&n| stays[n] = false);
    (0..count).map(|n| if stays[n] { left.next() } else { gone(n) }).collect()
}

/// `scan(init, xs) = init` over nothing, with empty stacks.
///
/// All dims of the stacks have to be known.
///
/// Floats: exact.
fn scan_of_nothing(op: ScanHead, rw: &mut Rewrite<'_>) -> Option<Values> {
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
fn scan_once(op: ScanHead, rw: &mut Rewrite<'_>) -> Option<Values> {
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
        args.push(reshape(rw, arg, &ty)?);
    }
    let yields = rw.inline(op.body, &args)?;
    let mut values = Values::new();
    for (n, &value) in yields.iter().enumerate() {
        if n < carried {
            values.push(value);
            continue;
        }
        let ty = f.value_type(f.result(rw.root(), n)?).as_tensor()?;
        values.push(reshape(rw, value, ty)?);
    }
    Some(values)
}

/// `scan(x, …)` with a body that yields the carried `x` itself uses `x` from outside and gives it.
///
/// Carried values that start the same may change places. The loop carries `x` until `scan_unused_carry` comes.
///
/// Floats: exact.
fn scan_invariant(op: ScanHead, rw: &mut Rewrite<'_>) -> Option<Values> {
    let params = rw.params(op.body);
    let (f, root) = (rw.function(), rw.root());
    let inits = f.operands(root).get(..op.carried)?;
    let same = |v: Value, n: usize| f.type_id(v) == f.type_id(inits[n]);
    let may_go = |n| same(params[n], n) && rw.result(n).is_some_and(|r| same(r, n));
    let stay = invariant_carries(rw, op.body, inits, may_go);
    let pairs = stay.into_iter().flat_map(|n| {
        let carried = [Some(params[n]), f.result(root, n)];
        carried.into_iter().flatten().map(move |v| (v, inits[n]))
    });
    rw.forward(pairs)
}

/// `scan` that stacks a value `x` from outside gives `broadcast(x)` instead.
///
/// The number of steps has to be known.
///
/// Floats: exact.
fn scan_stack_of_outside(op: ScanHead, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    for (result, yielded) in stacked(&op, rw).filter(|&(r, _)| !f.unused(r)) {
        let Some(ty) = f.value_type(result).as_tensor() else { continue };
        if matches!(ty.dims.first(), Some(Dim::Known(_)))
            && is_outside(f, op.body, yielded)
            && f.is_available_to(yielded, rw.root())
        {
            let dims: AxisList = (1..ty.rank()).collect();
            pairs.push((result, spread(rw, yielded, &dims, ty)?));
        }
    }
    rw.forward(pairs)
}

/// `scan` that stacks the slices of `xs` it is given gives `xs` instead.
///
/// Floats: exact.
fn scan_stack_of_input(op: ScanHead, rw: &mut Rewrite<'_>) -> Option<Values> {
    let f = rw.function();
    let source = |(result, yielded): (Value, Value)| {
        let ValueDef::Param(of, at) = f.value_def(yielded) else { return None };
        let &arg = f.operands(rw.root()).get(at).filter(|_| of == op.body && at >= op.carried)?;
        (f.type_id(result) == f.type_id(arg)).then_some((result, arg))
    };
    let pairs: Vec<(Value, Value)> = stacked(&op, rw).filter_map(source).collect();
    rw.forward(pairs)
}

// The stacked results, each with the value of which it is a stack.
fn stacked<'a>(op: &ScanHead, rw: &Rewrite<'a>) -> impl Iterator<Item = (Value, Value)> + use<'a> {
    let (f, root, carried) = (rw.function(), rw.root(), op.carried);
    let yields = rw.yields(op.body).get(carried..).unwrap_or_default();
    (carried..).zip(yields).filter_map(move |(n, &yielded)| Some((f.result(root, n)?, yielded)))
}

/// `scan` does not stack what nobody uses.
///
/// Floats: exact.
fn scan_unused_stack(op: Scan, rw: &mut Rewrite<'_>) -> Option<Values> {
    let all: Values = rw.function().inst_results(rw.root()).collect();
    let results: Vec<usize> =
        (op.carried.0 as usize..all.len()).filter(|&n| rw.unused(all[n])).collect();
    if results.is_empty() {
        return None;
    }
    let cut = Cut { results, ..Cut::default() };
    let left = without(op, &cut, rw)?;
    filled(all.len(), &cut, left, |n| all.get(n).copied())
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
    let cut = Cut { params, results };
    let left = without(op, &cut, rw)?;
    filled(all.len(), &cut, left, |n| all.get(n).copied())
}

/// `scan(…, xs)` does not scan `xs` if the body does not use its slices.
///
/// The number of steps has to be known.
///
/// Floats: exact.
fn scan_unused_input(mut op: Scan, rw: &mut Rewrite<'_>) -> Option<Values> {
    let params = rw.params(op.body);
    let carried = op.carried.0 as usize;
    let unused: Vec<usize> = (carried..params.len()).filter(|&n| rw.unused(params[n])).collect();
    if unused.is_empty() {
        return None;
    }
    op.length = Some(Int::from(ScanHead::read(rw.function(), rw.root())?.steps(rw)?));
    let params = unused.iter().map(|&n| (n, params[n])).collect();
    without(op, &Cut { params, results: Vec::new() }, rw)
}
