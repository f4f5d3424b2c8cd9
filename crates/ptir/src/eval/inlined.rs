//! Functions as they are planned: calls are replaced by the bodies of the called functions, so that groups and loops reach across calls,
//! products read the operands of transposes, convolutions add the zeros of pads, loops do not carry values that they never change, and values of few elements that depend on no input are computed before the run.

use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::fold::{FoldLimits, fold_inst};
use super::native::Native as _;
use crate::attr::{Axes, Pairs};
use crate::func::{EditError, Function, InsertPoint, ValueDef};
use crate::ids::{BodyId, InstId, ValueId};
use crate::op::{Op as _, OpParts};
use crate::ops::{Call, Constant, Convolution, DotGeneral, Pad, Transpose, While};
use crate::program::Program;
use crate::types::ValueType;

/// A function with more instructions than this is not inlined.
const MAX_CALLEE_INSTS: usize = 1 << 10;
/// The most instructions that are inlined into one function.
const MAX_INLINED_INSTS: usize = 1 << 14;
/// The most elements of a value that is computed before the run.
const MAX_FOLDED_ELEMENTS: u64 = 1 << 12;
/// The most elements of all such values of a function.
const MAX_NEW_ELEMENTS: u64 = 1 << 18;

/// The function and the instruction that an inlined instruction was copied from.
type Origin = (Arc<Function>, InstId);

type Origins = HashMap<InstId, Origin, FxBuildHasher>;

/// A function as it is planned.
#[derive(Clone)]
pub(crate) struct PlannedFunction {
    pub(crate) function: Arc<Function>,
    // The function of the program; it has all instructions of its own under the same ids.
    original: Arc<Function>,
    // The origins of the instructions that are not in that function.
    origins: Origins,
}

impl PlannedFunction {
    /// Returns a function as it is.
    pub(crate) fn unchanged(function: Arc<Function>) -> Self {
        Self { original: function.clone(), function, origins: HashMap::default() }
    }

    /// Returns the function and the instruction of the program that an instruction stands for.
    pub(crate) fn origin(&self, inst: InstId) -> (&Function, InstId) {
        match self.origins.get(&inst) {
            Some((function, inst)) => (function, *inst),
            None => (&self.original, inst),
        }
    }
}

/// Returns a function in which calls are replaced by the bodies of their callees, where types tell that nothing is left to be checked
/// at the call, loops use the values that they do not change from outside, and small values that depend on no input are constants.
pub(crate) fn restructure(program: &Program, function: &Arc<Function>) -> PlannedFunction {
    let is_candidate = |inst| {
        function.is::<Call>(inst)
            || function.is::<While>(inst)
            || function.is::<DotGeneral>(inst)
            || function.is::<Convolution>(inst)
            || has_small_constant(function, inst)
    };
    if !function.walk().any(is_candidate) {
        return PlannedFunction::unchanged(function.clone());
    }
    let mut f = Function::clone(function);
    let mut origins = HashMap::default();
    let done = inline_calls(program, function, &mut f, &mut origins)
        .and_then(|()| free_loops(function, &mut f, &mut origins))
        .and_then(|()| read_through_transposes(function, &mut f, &mut origins))
        .and_then(|()| pad_in_convolutions(function, &mut f, &mut origins))
        .and_then(|()| fold_small_constants(function, &mut f, &mut origins));
    match done {
        Ok(()) => PlannedFunction { function: Arc::new(f), original: function.clone(), origins },
        // This does not happen to a program that verifies.
        Err(_) => PlannedFunction::unchanged(function.clone()),
    }
}

fn inline_calls(
    program: &Program,
    function: &Function,
    f: &mut Function,
    origins: &mut Origins,
) -> Result<(), EditError> {
    let mut left = MAX_INLINED_INSTS;
    let mut pending: Vec<InstId> = function.walk().filter(|&i| function.is::<Call>(i)).collect();
    while let Some(call) = pending.pop() {
        let callee = f.view::<Call>(call).and_then(|c| program.function(c.callee));
        let Some(callee) = callee.filter(|callee| fits(f, call, callee)) else { continue };
        let insts = callee.num_insts();
        if insts > MAX_CALLEE_INSTS.min(left) {
            continue;
        }
        left -= insts;
        let mut copy = InlineCopy {
            from: callee,
            call,
            values: HashMap::default(),
            bodies: HashMap::default(),
            copied: Vec::new(),
        };
        copy.replace_call(f)?;
        origins.remove(&call);
        for (new, old) in copy.copied {
            origins.insert(new, (callee.clone(), old));
            if f.is::<Call>(new) {
                pending.push(new);
            }
        }
    }
    Ok(())
}

// Takes the values that a loop yields unchanged out of it.
fn free_loops(
    function: &Arc<Function>,
    f: &mut Function,
    origins: &mut Origins,
) -> Result<(), EditError> {
    let loops: Vec<InstId> = f.walk().filter(|&inst| f.is::<While>(inst)).collect();
    for inst in loops {
        let &[condition, body] = f.regions(inst) else { continue };
        let (inits, params) = (f.operands(inst).to_vec(), f.body_params(body).to_vec());
        let yields = f.body_results(body).to_vec();
        let stays =
            |n: &usize| yields[*n] == params[*n] && f.type_id(inits[*n]) == f.type_id(params[*n]);
        let gone: Vec<usize> = (0..inits.len()).filter(stays).collect();
        let Some(end) = f.terminator(body).filter(|_| !gone.is_empty()) else { continue };
        let kept = |all: &[ValueId]| -> Vec<ValueId> {
            let kept = all.iter().enumerate().filter(|(n, _)| gone.binary_search(n).is_err());
            kept.map(|(_, &value)| value).collect()
        };
        if gone.len() == inits.len() {
            continue;
        }
        f.set_operands(end, &kept(&yields))?;
        for region in [condition, body] {
            let params = f.body_params(region).to_vec();
            for &n in &gone {
                f.replace_all_uses(params[n], inits[n])?;
            }
            f.remove_params(region, &gone)?;
        }
        let results: Vec<ValueId> = f.inst_results(inst).collect();
        let mut parts = f.parts_of(inst);
        parts.operands = kept(&inits).into();
        parts.result_types =
            kept(&results).into_iter().map(|result| f.value_type(result).clone()).collect();
        let new = f.insert_with_regions_of(inst, &parts, f.inst_span(inst))?;
        for &n in &gone {
            f.replace_all_uses(results[n], inits[n])?;
        }
        let new_results: Vec<ValueId> = f.inst_results(new).collect();
        for (old, result) in kept(&results).into_iter().zip(new_results) {
            f.replace_all_uses(old, result)?;
        }
        f.erase(inst)?;
        let origin = origins.remove(&inst).unwrap_or_else(|| (function.clone(), inst));
        origins.insert(new, origin);
    }
    Ok(())
}

// Lets products read the operands of transposes, so that the transposed elements need no memory.
fn read_through_transposes(
    function: &Arc<Function>,
    f: &mut Function,
    origins: &mut Origins,
) -> Result<(), EditError> {
    let products: Vec<InstId> = f.walk().filter(|&inst| f.is::<DotGeneral>(inst)).collect();
    for inst in products {
        let Some(mut dot) = f.view::<DotGeneral>(inst) else { continue };
        let &[lhs, rhs] = f.operands(inst) else { continue };
        let left = before_transpose(f, lhs, [&dot.lhs_batch, &dot.lhs_contract]);
        let right = before_transpose(f, rhs, [&dot.rhs_batch, &dot.rhs_contract]);
        if left.is_none() && right.is_none() {
            continue;
        }
        let mut parts = f.parts_of(inst);
        let mut transposes: SmallVec<[InstId; 2]> = SmallVec::new();
        if let Some((transpose, operand, batch, contract)) = left {
            (dot.lhs_batch, dot.lhs_contract, parts.operands[0]) = (batch, contract, operand);
            transposes.push(transpose);
        }
        if let Some((transpose, operand, batch, contract)) = right {
            (dot.rhs_batch, dot.rhs_contract, parts.operands[1]) = (batch, contract, operand);
            transposes.push(transpose);
        }
        parts.attrs = dot.into_parts().attrs;
        replace(function, f, origins, inst, &parts)?;
        for transpose in transposes {
            f.erase(transpose)?;
        }
    }
    Ok(())
}

// Replaces an instruction with one result by another.
fn replace(
    function: &Arc<Function>,
    f: &mut Function,
    origins: &mut Origins,
    inst: InstId,
    parts: &OpParts,
) -> Result<(), EditError> {
    let new = f.insert(InsertPoint::Before(inst), parts, f.inst_span(inst))?;
    let results = f.inst_results(inst).zip(f.inst_results(new)).collect::<SmallVec<[_; 1]>>();
    for (before, after) in results {
        f.replace_all_uses(before, after)?;
    }
    f.erase(inst)?;
    let origin = origins.remove(&inst).unwrap_or_else(|| (function.clone(), inst));
    origins.insert(new, origin);
    Ok(())
}

// Lets convolutions surround their input with the zeros of a pad, so that the surrounded elements need no memory.
fn pad_in_convolutions(
    function: &Arc<Function>,
    f: &mut Function,
    origins: &mut Origins,
) -> Result<(), EditError> {
    let convolutions: Vec<InstId> = f.walk().filter(|&inst| f.is::<Convolution>(inst)).collect();
    for inst in convolutions {
        let Some((pad, operand, pads)) = zeros_around(f, inst) else { continue };
        let Some(mut convolution) = f.view::<Convolution>(inst) else { continue };
        convolution.pads = Some(pads);
        let mut parts = f.parts_of(inst);
        parts.operands[0] = operand;
        parts.attrs = convolution.into_parts().attrs;
        replace(function, f, origins, inst, &parts)?;
        f.erase(pad)?;
    }
    Ok(())
}

// Returns the pad that makes the input of a convolution and nothing else uses, its operand, and the pads of the convolution with those of the pad;
// `None` if it adds something else than zeros around the spatial axes.
fn zeros_around(f: &Function, inst: InstId) -> Option<(InstId, ValueId, Pairs)> {
    let convolution = f.view::<Convolution>(inst)?;
    let input = *f.operands(inst).first()?;
    let ValueDef::Result(pad, _) = f.value_def(input) else { return None };
    let around = f.view::<Pad>(pad)?;
    let &[operand, value] = f.operands(pad) else { return None };
    let number = crate::eval::Tensor::from_literal(f.constant_of(value)?).ok()?;
    // A zero without a sign, as that of a convolution.
    let zero = crate::with_native!(number.dtype(), T => {
        number.as_splat::<T>().is_some_and(|x| x.pack() == 0)
    });
    let ones = |axes: &Option<Axes>| axes.as_ref().is_none_or(|axes| axes.iter().all(|&n| n == 1));
    let inside = around.interior.as_ref().is_some_and(|axes| axes.iter().any(|&n| n != 0));
    let dims = &convolution.input_dims;
    let (ends, space) = dims.split_at_checked(2)?;
    let usize_of = |axis: &i64| usize::try_from(*axis).ok();
    let amount = |axis: &i64| {
        let axis = usize_of(axis)?;
        Some([*around.low.get(axis)?, *around.high.get(axis)?])
    };
    let adds_to_ends = ends.iter().any(|axis| amount(axis) != Some([0, 0]));
    if !zero
        || inside
        || adds_to_ends
        || !ones(&convolution.input_dilation)
        || f.uses(input).count() != 1
        || !super::plan::has_known_dims(f.value_type(operand))
    {
        return None;
    }
    let before = |axis: usize| match &convolution.pads {
        Some(pads) => pads.get(axis).copied(),
        None => Some([0, 0]),
    };
    let pads = space.iter().enumerate().map(|(number, axis)| {
        let ([low, high], [more_low, more_high]) = (before(number)?, amount(axis)?);
        // Elements that a negative pad removes are not zeros.
        let adds = [low, high, more_low, more_high].iter().all(|&n| (0..1 << 30).contains(&n));
        adds.then_some([low + more_low, high + more_high])
    });
    Some((pad, operand, Pairs(pads.collect::<Option<_>>()?)))
}

// Returns the transpose that makes an operand of a product and nothing else uses, its operand, and the batch axes and contracted axes in that;
// `None` if the order of the result would change, or the elements along rows or columns would not be at one distance.
fn before_transpose(
    f: &Function,
    operand: ValueId,
    [batch, contract]: [&Axes; 2],
) -> Option<(InstId, ValueId, Axes, Axes)> {
    let ValueDef::Result(inst, _) = f.value_def(operand) else { return None };
    let perm = f.view::<Transpose>(inst)?.perm;
    if f.uses(operand).count() != 1 || !super::plan::has_known_dims(f.value_type(operand)) {
        return None;
    }
    let before = |axis: i64| usize::try_from(axis).ok().and_then(|axis| perm.get(axis)).copied();
    let axes = |all: &Axes| all.iter().map(|&axis| before(axis)).collect::<Option<Vec<i64>>>();
    let free =
        (0..perm.len() as i64).filter(|axis| !batch.contains(axis) && !contract.contains(axis));
    let free: Vec<i64> = free.map(before).collect::<Option<_>>()?;
    let (batch, contract) = (axes(batch)?, axes(contract)?);
    let neighbours = |all: &[i64]| all.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    (neighbours(&free) && neighbours(&contract))
        .then(|| (inst, f.operands(inst)[0], Axes::from(batch), Axes::from(contract)))
}

// Returns whether an instruction computes few elements from constants alone.
fn has_small_constant(f: &Function, inst: InstId) -> bool {
    let small = |value: ValueId| {
        let elements = f.value_type(value).as_tensor().and_then(|ty| {
            let mut known = ty.dims.iter().map(|d| d.known());
            known.try_fold(1u64, |n, d| n.checked_mul(d?))
        });
        elements.is_some_and(|n| n <= MAX_FOLDED_ELEMENTS)
    };
    f.regions(inst).is_empty()
        && !f.is::<Constant>(inst)
        && f.operands(inst).iter().all(|&v| f.constant_of(v).is_some())
        && f.value_of(inst).is_some_and(small)
}

// Replaces small values that depend on no input by constants, computed in the fixed order.
fn fold_small_constants(
    function: &Arc<Function>,
    f: &mut Function,
    origins: &mut Origins,
) -> Result<(), EditError> {
    let limits = FoldLimits { max_elements: MAX_FOLDED_ELEMENTS, max_steps: 1 };
    // Elements of new constants, which the limit of memory does not count.
    let mut left = MAX_NEW_ELEMENTS;
    let insts: Vec<InstId> = f.walk().collect();
    for inst in insts {
        if !has_small_constant(f, inst) {
            continue;
        }
        let (Some(value), Some(literals)) = (f.value_of(inst), fold_inst(f, inst, &limits)) else {
            continue;
        };
        let [literal] = &literals[..] else { continue };
        let key = f.constant_key_like(literal, value);
        if key.1 != f.type_id(value) {
            continue;
        }
        let size = if literal.as_splat().is_some() { 1 } else { literal.num_elements() };
        let Some(rest) = left.checked_sub(size) else { continue };
        left = rest;
        let operands: SmallVec<[ValueId; 4]> = SmallVec::from_slice(f.operands(inst));
        let constant = f.insert_constant(InsertPoint::Before(inst), key)?;
        let Some(folded) = f.value_of(constant) else { continue };
        f.replace_all_uses(value, folded)?;
        f.erase(inst)?;
        let origin = origins.remove(&inst).unwrap_or_else(|| (function.clone(), inst));
        origins.insert(constant, origin);
        for value in operands.into_iter().chain([folded]) {
            if f.is_live_value(value)
                && f.uses(value).next().is_none()
                && let ValueDef::Result(unused, _) = f.value_def(value)
            {
                f.erase(unused)?;
            }
        }
    }
    Ok(())
}

// Returns whether all types at a call are fully known and equal to those of the callee.
fn fits(f: &Function, call: InstId, callee: &Function) -> bool {
    let same = |a: &ValueType, b: &ValueType| a == b && super::plan::has_known_dims(a);
    let args = f.operands(call).iter().map(|&v| f.value_type(v));
    let params = callee.params().iter().map(|&v| callee.value_type(v));
    let results = f.inst_results(call).map(|v| f.value_type(v));
    let yields = callee.results().iter().map(|&v| callee.value_type(v));
    callee.facts().is_none()
        && !callee.has_named_dims()
        && !callee.has_symbolic_attrs()
        && Arc::ptr_eq(callee.registry(), f.registry())
        && args.zip(params).chain(results.zip(yields)).all(|(a, b)| same(a, b))
}

/// A copy of a function in progress.
struct InlineCopy<'a> {
    from: &'a Function,
    call: InstId,
    values: HashMap<ValueId, ValueId, FxBuildHasher>,
    bodies: HashMap<BodyId, BodyId, FxBuildHasher>,
    // The new instructions, with those that they were copied from.
    copied: Vec<(InstId, InstId)>,
}

impl InlineCopy<'_> {
    fn replace_call(&mut self, f: &mut Function) -> Result<(), EditError> {
        let args: SmallVec<[ValueId; 4]> = SmallVec::from_slice(f.operands(self.call));
        self.values.extend(self.from.params().iter().copied().zip(args));
        let end = self.from.terminator(self.from.body());
        for inst in self.from.walk_post_order().filter(|&inst| Some(inst) != end) {
            self.copy_inst(f, inst)?;
        }
        let results: SmallVec<[ValueId; 4]> = f.inst_results(self.call).collect();
        for (result, &yielded) in results.into_iter().zip(self.from.results()) {
            let value = self.value(f, yielded);
            f.replace_all_uses(result, value)?;
        }
        f.erase(self.call)
    }

    fn copy_inst(&mut self, f: &mut Function, inst: InstId) -> Result<(), EditError> {
        let from = self.from;
        let home = from.body_of(inst).unwrap_or(from.body());
        let place = if home == from.body() {
            InsertPoint::Before(self.call)
        } else {
            InsertPoint::End(self.body(f, home))
        };
        let operands = from.operands(inst).iter().map(|&v| self.value(f, v)).collect();
        let regions = from.regions(inst).iter().map(|&b| self.body(f, b)).collect();
        let parts = OpParts { operands, regions, ..from.parts_of(inst) };
        let new = f.insert(place, &parts, from.inst_span(inst))?;
        self.copied.push((new, inst));
        let results: SmallVec<[ValueId; 2]> = f.inst_results(new).collect();
        self.values.extend(from.inst_results(inst).zip(results));
        Ok(())
    }

    fn value(&mut self, f: &mut Function, value: ValueId) -> ValueId {
        if let ValueDef::Param(body, _) = self.from.value_def(value)
            && !self.values.contains_key(&value)
        {
            self.body(f, body);
        }
        self.values[&value]
    }

    fn body(&mut self, f: &mut Function, body: BodyId) -> BodyId {
        if let Some(&known) = self.bodies.get(&body) {
            return known;
        }
        let params = self.from.body_params(body);
        let new = f.new_body(params.iter().map(|&param| self.from.value_type(param)));
        self.values.extend(params.iter().copied().zip(f.body_params(new).to_vec()));
        self.bodies.insert(body, new);
        new
    }
}
