//! Constant folding of one instruction.

use std::borrow::Cow;
use std::cell::Cell;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use super::budget::Budget;
use super::context::{EvalCx, EvalResult};
use super::machine::{Machine, NoRegions};
use super::native::{Native, Num};
use super::options::RunOptions;
use super::plan::plan_inst;
use super::tensor::Value;
use crate::attr::Attr;
use crate::func::Function;
use crate::ids::{InstId, ValueId};
use crate::literal::TensorLiteral;
use crate::op::{Control, Effects, Op, OpDef, OpKey};
use crate::ops::{Add, BroadcastInDim, Max, Min, Mul, Reshape, Sub, Transpose};
use crate::types::ValueType;
use crate::with_computed;

/// The limits for folding one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoldLimits {
    /// The most elements in an operand or result, except splats.
    pub max_elements: u64,
    /// The most steps of the regions, counted as for [`RunOptions::max_steps`]. Kernels may do 32 operations per element of
    /// `max_elements`, or 2,097,152 if that is more.
    pub max_steps: u64,
}

// The element operations that kernels may do per element of `max_elements`, and the number that is always allowed.
const WORK_PER_ELEMENT: u64 = 32;
const MIN_WORK: u64 = 1 << 21;

// The cost of a step of a region, in element operations.
const WORK_OF_STEP: u64 = 16;

impl Default for FoldLimits {
    /// Returns limits of 65,536 elements and 1,000,000 steps.
    fn default() -> Self {
        Self { max_elements: 1 << 16, max_steps: 1_000_000 }
    }
}

/// Returns the results of an instruction as literals, if it is pure and foldable and all values it uses are constants.
/// Returns `None` otherwise, or if folding costs more than the limits.
#[must_use]
pub fn fold_inst(
    f: &Function,
    inst: InstId,
    limits: &FoldLimits,
) -> Option<SmallVec<[TensorLiteral; 1]>> {
    fold_inst_counted(f, inst, limits, &mut 0)
}

/// Folds an instruction like [`fold_inst`] and adds the cost to `spent`, also on failure: in element operations, where a step of
/// a region counts as 16.
pub fn fold_inst_counted(
    f: &Function,
    inst: InstId,
    limits: &FoldLimits,
    spent: &mut u64,
) -> Option<SmallVec<[TensorLiteral; 1]>> {
    if !f.is_live(inst) {
        return None;
    }
    let def = f.op_def(inst)?;
    if !is_foldable(f, inst, def) {
        return None;
    }
    if let Some(literal) = fold_arithmetic(f, inst).or_else(|| fold_movement(f, inst)) {
        *spent = spent.saturating_add(1);
        return Some(smallvec![literal]);
    }
    let outside = outside_constants(f, inst)?;
    let mut values = Vec::with_capacity(outside.len());
    for &value in &outside {
        let literal = f.constant_of(value)?;
        if literal.as_splat().is_none() && literal.num_elements() > limits.max_elements {
            return None;
        }
        values.push(Value::try_from(literal).ok()?);
    }
    let types = f.infer(inst).ok()?;
    let budget = Budget::new(&RunOptions {
        max_steps: Some(limits.max_steps),
        max_bytes: limits.max_elements.saturating_mul(16 * 8).saturating_add(1 << 16),
        ..RunOptions::default()
    });
    let work = limits.max_elements.saturating_mul(WORK_PER_ELEMENT).max(MIN_WORK);
    let budget = budget.limit_work(work);
    let results = if f.regions(inst).is_empty() {
        evaluate_kernel(f, inst, def, values, types.into_vec(), &budget)
    } else {
        let plan = [plan_inst(f, inst, &outside)];
        Machine::new(&plan, SmallVec::from_iter([f]), &budget, 1).run_fragment(values)
    };
    let taken =
        budget.steps().saturating_mul(WORK_OF_STEP).saturating_add(work - budget.work_left());
    *spent = spent.saturating_add(taken);
    let types = f.inst_results(inst).map(|v| f.value_type(v));
    let results = results.ok().filter(|r| r.len() == types.len())?;
    let literal = |(value, ty): (Value, &ValueType)| {
        let tensor = value.as_tensor()?;
        if !tensor.is_splat() && tensor.len() as u64 > limits.max_elements {
            return None;
        }
        let literal = tensor.to_literal().ok()?;
        ty.as_tensor()?.compatible(&literal.ty()).then_some(literal)
    };
    results.into_iter().zip(types).map(literal).collect()
}

// Folds the most frequent case without the evaluator: arithmetic on two splat constants.
fn fold_arithmetic(f: &Function, inst: InstId) -> Option<TensorLiteral> {
    let &[a, b] = f.operands(inst) else { return None };
    let arithmetic = Arithmetic::of(f.op_key(inst))?;
    let (x, y) = (f.constant_of(a)?, f.constant_of(b)?);
    let (left, right) = (x.as_splat()?, y.as_splat()?);
    let dtype = x.dtype();
    let fits = dtype == y.dtype() && x.shape() == y.shape();
    if !fits || dtype.is_bool() && arithmetic == Arithmetic::Sub {
        return None;
    }
    x.with_splat(with_computed!(dtype, T => {
        arithmetic.compute(T::from_bytes(left), T::from_bytes(right)).pack()
    }, _ => return None))
}

// Folds a copy of equal elements without the evaluator: a splat constant in another shape.
fn fold_movement(f: &Function, inst: InstId) -> Option<TensorLiteral> {
    let &[operand] = f.operands(inst) else { return None };
    let key = f.op_key(inst);
    let reshape = key == Reshape::key();
    if !reshape && key != BroadcastInDim::key() && key != Transpose::key() {
        return None;
    }
    let literal = f.constant_of(operand)?;
    let (element, ty) = (literal.as_splat()?, f.value_type(f.value_of(inst)?).as_tensor()?);
    let count = ty.num_elements().filter(|&count| count > 0)?;
    if ty.dtype != literal.dtype() || reshape && count != literal.num_elements() {
        return None;
    }
    TensorLiteral::splat(ty.dtype, &ty.known_shape()?, element).ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arithmetic {
    Add,
    Sub,
    Mul,
    Min,
    Max,
}

impl Arithmetic {
    fn of(key: OpKey) -> Option<Self> {
        Some(match key {
            k if k == Add::key() => Self::Add,
            k if k == Sub::key() => Self::Sub,
            k if k == Mul::key() => Self::Mul,
            k if k == Min::key() => Self::Min,
            k if k == Max::key() => Self::Max,
            _ => return None,
        })
    }

    // Computes the result as the kernels do.
    fn compute<T: Num>(self, x: T, y: T) -> T {
        match self {
            Self::Add => x.add(y),
            Self::Sub => x.sub(y),
            Self::Mul => x.mul(y),
            Self::Min => x.smaller(y),
            Self::Max => x.larger(y),
        }
    }
}

fn is_foldable(f: &Function, inst: InstId, def: &OpDef) -> bool {
    let computes = match def.control {
        None => def.evaluation().is_some(),
        Some(Control::Cond | Control::Case | Control::While | Control::Scan) => true,
        Some(Control::Constant | Control::Call | Control::CustomCall) => false,
    };
    let has_symbols = || f.attrs(inst).iter().any(Attr::has_symbols);
    def.foldable
        && computes
        && f.own_effects(inst) == Effects::Pure
        && !(def.symbolic && has_symbols())
}

// Returns the outside values that the instruction and its regions use, if all of them are constants and everything is foldable.
fn outside_constants(f: &Function, inst: InstId) -> Option<Vec<ValueId>> {
    f.value_of(inst)?;
    let mut used = f.operands(inst).to_vec();
    // The cheap test comes first: most instructions have an operand that is not a constant.
    if used.iter().any(|&v| f.constant_of(v).is_none()) {
        return None;
    }
    if f.regions(inst).is_empty() {
        return Some(used);
    }
    let mut seen: HashSet<ValueId, FxBuildHasher> = used.iter().copied().collect();
    let mut inside: HashSet<ValueId, FxBuildHasher> = HashSet::default();
    for &region in f.regions(inst) {
        inside.extend(f.body_params(region));
        for nested in f.walk_body(region) {
            let def = f.op_def(nested)?;
            let constant = def.control == Some(Control::Constant);
            if !(def.terminator || constant || is_foldable(f, nested, def)) {
                return None;
            }
            for &body in f.regions(nested) {
                inside.extend(f.body_params(body));
            }
            for &value in f.operands(nested) {
                if !inside.contains(&value) && seen.insert(value) {
                    f.constant_of(value)?;
                    used.push(value);
                }
            }
            inside.extend(f.inst_results(nested));
        }
    }
    Some(used)
}

/// Runs the kernel of an instruction without regions on given operands.
pub(super) fn evaluate_kernel(
    f: &Function,
    inst: InstId,
    def: &OpDef,
    values: Vec<Value>,
    types: Vec<ValueType>,
    budget: &Budget,
) -> EvalResult {
    let Some(kernel) = def.evaluation() else { return Ok(SmallVec::new()) };
    kernel(&mut EvalCx {
        def,
        attrs: f.attrs(inst),
        args: values.into(),
        types: Cow::Owned(types),
        budget,
        regions: &mut NoRegions,
        threads: 1,
        granted: Cell::new(0),
    })
}
