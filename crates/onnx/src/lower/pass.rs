//! `onnx-to-core`: replaces ops of ONNX by core ops.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ops::{Cast, Refine};
use sapwood_ptir::{
    Attr, Dim, Function, InsertPoint, InstId, Name, TensorLiteral, ValueId, ValueType,
};

use super::builder::Builder;
use super::context::Cx;
use super::fold_budget::FoldBudget;
use super::loops::lower_loops;
use super::steps::{Law, Observer, Step};
use super::table::LowerLevel;
use super::{Known, NodeView, shape_values, table};
use crate::dialect::{ABSENT, KEEP, PREFIX};
use crate::read::FRESH_PREFIX;

/// The settings of [`lower_function_with`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LowerOptions {
    /// The ops that are replaced.
    pub level: LowerLevel,
    /// The number of elements by which the constants of a function may grow in all, when nodes whose inputs are constants are computed.
    /// Constants that are no longer used are subtracted.
    pub fold_limit: u64,
}

impl Default for LowerOptions {
    /// Ops that are written back as the same node, and 1,048,576 elements.
    fn default() -> Self {
        Self { level: LowerLevel::Core, fold_limit: 1 << 20 }
    }
}

/// Replaces ops of ONNX by core ops with the same meaning, and returns how many. An op stays if the extents or contents that its meaning
/// depends on are not known.
pub fn lower_function(f: &mut Function, level: LowerLevel) -> usize {
    let options = LowerOptions { level, ..LowerOptions::default() };
    lower_function_with(f, &options, &mut |_, _| {})
}

/// Replaces ops of ONNX like [`lower_function`], and passes each replacement to an observer.
pub fn lower_function_with(
    f: &mut Function,
    options: &LowerOptions,
    observer: &mut Observer<'_>,
) -> usize {
    let level = options.level;
    let mut count = 0;
    let mut budget = FoldBudget::new(options.fold_limit);
    for _ in 0..MAX_ROUNDS {
        count += lower_once(f, level, &mut budget, observer);
        let extents = extents_found(f);
        if extents.is_empty() {
            break;
        }
        let replacement = |name: Name| extents.get(&name).copied().unwrap_or(Dim::symbol(name));
        if f.substitute_symbols(&mut { replacement }).is_err() {
            break;
        }
    }
    if level == LowerLevel::All {
        count += lower_loops(f, observer);
    }
    count
}

/// The most times that ops are replaced: constants that are computed tell extents, which let more ops be replaced.
const MAX_ROUNDS: usize = 4;

// Returns the extents of symbols that reading introduced because it did not know the contents of a shape, which are known by now.
fn extents_found(f: &Function) -> HashMap<Name, Dim, FxBuildHasher> {
    let mut given: HashSet<Name, FxBuildHasher> = HashSet::default();
    for &param in f.params() {
        f.value_type(param).for_each_symbol(&mut |name| {
            given.insert(name);
        });
    }
    let is_closed = |dim: Dim| {
        let mut closed = dim != Dim::Unknown;
        dim.for_each_symbol(&mut |name| closed &= given.contains(&name));
        closed
    };
    let mut found: HashMap<Name, Dim, FxBuildHasher> = HashMap::default();
    let mut known: HashMap<ValueId, Known, FxBuildHasher> = HashMap::default();
    for inst in f.walk() {
        let results: Vec<ValueId> = f.inst_results(inst).collect();
        let is_fresh = |dim: &Dim| fresh_symbol(*dim, &given).is_some();
        let has_fresh = |&v: &ValueId| {
            f.value_type(v).as_tensor().is_some_and(|ty| ty.dims.iter().any(is_fresh))
        };
        let inferred = match f.view::<Refine>(inst) {
            Some(op) => vec![Some(f.value_type(op.input).clone())],
            None => inferred_types(f, inst, &results, &mut known, results.iter().any(has_fresh)),
        };
        for (ty, &result) in inferred.iter().zip(&results) {
            let (Some(Some(new)), Some(old)) =
                (ty.as_ref().map(ValueType::as_tensor), f.value_type(result).as_tensor())
            else {
                continue;
            };
            if new.rank() != old.rank() {
                continue;
            }
            for (&new, &old) in new.dims.iter().zip(&old.dims) {
                if let Some(name) = fresh_symbol(old, &given).filter(|_| is_closed(new)) {
                    found.entry(name).or_insert(new);
                }
            }
        }
    }
    found
}

// Returns the symbol that a dim consists of, if reading introduced it for a result.
fn fresh_symbol(dim: Dim, given: &HashSet<Name, FxBuildHasher>) -> Option<Name> {
    let Dim::Expr(expr) = dim else { return None };
    let name = expr.as_symbol()?;
    (name.as_str().starts_with(FRESH_PREFIX) && !given.contains(&name)).then_some(name)
}

// Returns the types of the results of an op of ONNX as they are inferred now, and remembers what is known of their contents.
fn inferred_types(
    f: &Function,
    inst: InstId,
    results: &[ValueId],
    known: &mut HashMap<ValueId, Known, FxBuildHasher>,
    is_needed: bool,
) -> Vec<Option<ValueType>> {
    let Some(def) = f.op_def(inst).filter(|def| def.name.starts_with(PREFIX)) else {
        return Vec::new();
    };
    if f.has_regions(inst) {
        return Vec::new();
    }
    let absent = f.attr(inst, ABSENT).and_then(Attr::as_ints).unwrap_or_default();
    let types: Vec<&ValueType> = f.operands(inst).iter().map(|&v| f.value_type(v)).collect();
    let facts: Vec<Known> = f.operands(inst).iter().map(|&v| fact_of(f, v, known)).collect();
    let view = NodeView::new(def, f.attrs(inst), absent, results.len());
    if let (Some(numbers), Some(&result)) =
        (shape_values::numbers_of(&view, &types, &facts), results.first())
    {
        known.insert(result, Known { literal: None, numbers: Some(numbers.into()) });
    }
    match is_needed {
        true => super::infer(&view, &types, &facts, f.registry()).types,
        false => Vec::new(),
    }
}

fn fact_of(f: &Function, v: ValueId, known: &HashMap<ValueId, Known, FxBuildHasher>) -> Known {
    match f.constant_of(v) {
        Some(literal) => Known::literal(literal.clone()),
        None => known.get(&v).cloned().unwrap_or_default(),
    }
}

fn lower_once(
    f: &mut Function,
    level: LowerLevel,
    budget: &mut FoldBudget,
    observer: &mut Observer<'_>,
) -> usize {
    let insts: Vec<InstId> = f.walk().filter(|&inst| f.op_name(inst).starts_with(PREFIX)).collect();
    if insts.is_empty() {
        return 0;
    }
    budget.plan(f, &insts);
    let taken = std::mem::replace(f, Function::new(f.name(), f.registry().clone()));
    let b = Builder::new(taken, false);
    let mut pass = LowerPass { b: &b, level, known: HashMap::default(), budget, observer };
    let count = insts.into_iter().filter(|&inst| pass.lower_inst(inst)).count();
    *f = b.f.into_inner();
    count
}

struct LowerPass<'a, 'o> {
    b: &'a Builder,
    level: LowerLevel,
    known: HashMap<ValueId, Known, FxBuildHasher>,
    budget: &'a mut FoldBudget,
    observer: &'a mut Observer<'o>,
}

impl LowerPass<'_, '_> {
    fn lower_inst(&mut self, inst: InstId) -> bool {
        let Self { b, level, known, budget, observer } = self;
        let (b, level) = (*b, *level);
        let f = b.f.borrow();
        let op = f.op_name(inst);
        let (Some(row), Some(def)) = (table::row(op), f.op_def(inst)) else { return false };
        let def = def.clone();
        let is_kept = level == LowerLevel::Core && f.attr(inst, KEEP) == Some(&Attr::Bool(true));
        if f.has_regions(inst) || is_kept {
            return false;
        }
        let attrs: Vec<Attr> = f.attrs(inst).to_vec();
        let absent = f.attr(inst, ABSENT).and_then(Attr::as_ints).unwrap_or_default().to_vec();
        let operands: Vec<ValueId> = f.operands(inst).to_vec();
        let results: Vec<ValueId> = f.inst_results(inst).collect();
        let types: Vec<ValueType> = operands.iter().map(|&v| f.value_type(v).clone()).collect();
        let result_types: Vec<ValueType> =
            results.iter().map(|&v| f.value_type(v).clone()).collect();
        let facts: Vec<Known> = operands.iter().map(|&v| fact_of(&f, v, known)).collect();
        let span = f.inst_span(inst);
        let last = f.prev_inst(inst);
        drop(f);
        let view = NodeView {
            results: &result_types,
            is_written_back: level == LowerLevel::Core,
            ..NodeView::new(&def, &attrs, &absent, results.len())
        };
        let refs: Vec<&ValueType> = types.iter().collect();
        if let (Some(numbers), Some(&result)) =
            (shape_values::numbers_of(&view, &refs, &facts), results.first())
        {
            known.insert(result, Known { literal: None, numbers: Some(numbers.into()) });
        }
        let computed = match &results[..] {
            [result] => {
                known.get(result).and_then(|k| k.to_literal(&result_types[0])).map(|one| vec![one])
            }
            _ => None,
        };
        let law = if computed.is_some() { Law::KnownNumbers } else { Law::Fold };
        if let Some(literals) = computed.or_else(|| folded(b, inst, &facts, budget)) {
            let mut values = Vec::with_capacity(results.len());
            let constants = literals.iter();
            let constants: Vec<ValueId> = constants
                .map(|literal| b.constant(literal, InsertPoint::Before(inst), span))
                .collect();
            let mut f = b.f.borrow_mut();
            for ((&old, new), ty) in results.iter().zip(constants).zip(&result_types) {
                let Some(new) = replace(&mut f, inst, old, new, ty) else { return false };
                values.push((old, new));
            }
            let inserted = with_refinements(&f, b.take_made(&f), &values);
            observer(&f, &Step { law, inst, inserted: &inserted, replaced: &values });
            return f.erase(inst).is_ok();
        }
        if row.level > level {
            return false;
        }
        b.insert_at(InsertPoint::Before(inst), span);
        let inputs: Vec<_> = operands.iter().map(|&id| b.value(id)).collect();
        let of = |i: usize| facts.get(i).cloned().unwrap_or_default();
        let cx = Cx::new(b, &view, &inputs, &of);
        let new: Vec<Option<ValueId>> =
            table::build(&row.meaning, &cx).iter().map(|v| v.id).collect();
        let failed = b.take_failure().is_some() || new.len() < results.len();
        let mut f = b.f.borrow_mut();
        let is_cast = matches!(op, "onnx.Cast" | "onnx.CastLike");
        let adds_cast = level == LowerLevel::Core && !is_cast && has_cast_between(&f, last, inst);
        // A value that knows less than its node would need a refinement, which keeps patterns from matching.
        let knows_less = level == LowerLevel::Core
            && new.iter().flatten().any(|&v| has_unknown_dim(f.value_type(v)));
        let fits = !failed
            && !adds_cast
            && !knows_less
            && new
                .iter()
                .zip(&result_types)
                .all(|(v, ty)| v.is_some_and(|v| fits(f.value_type(v), ty)));
        if !fits {
            erase_between(&mut f, last, inst);
            return false;
        }
        let mut values = Vec::with_capacity(results.len());
        for ((&old, new), ty) in results.iter().zip(&new).zip(&result_types) {
            let Some(new) = *new else { continue };
            if let Some(fact) = known.get(&old).cloned() {
                known.insert(new, fact);
            }
            let Some(new) = replace(&mut f, inst, old, new, ty) else { return false };
            values.push((old, new));
        }
        let inserted = with_refinements(&f, b.take_made(&f), &values);
        observer(&f, &Step { law: Law::CoreOps, inst, inserted: &inserted, replaced: &values });
        f.erase(inst).is_ok()
    }
}

// Returns the results of an op whose operands are all constants. Broadcasts are implicit here, so that they need not become constants.
fn folded(
    b: &Builder,
    inst: InstId,
    facts: &[Known],
    budget: &mut FoldBudget,
) -> Option<Vec<TensorLiteral>> {
    if facts.is_empty() || facts.iter().any(|known| known.literal.is_none()) {
        return None;
    }
    budget.fold(&b.f.borrow(), inst)
}

// Adds the refinements that give values the types of the results that they replace.
pub(super) fn with_refinements(
    f: &Function,
    mut inserted: Vec<InstId>,
    values: &[(ValueId, ValueId)],
) -> Vec<InstId> {
    let refinements = values.iter().filter_map(|&(_, new)| f.inst_of(new));
    let refinements = refinements.filter(|&inst| f.is::<Refine>(inst) && !inserted.contains(&inst));
    let refinements: Vec<InstId> = refinements.collect();
    inserted.extend(refinements);
    inserted
}

// Replaces a result of an instruction by another value, which gets its name and its type. Returns the value that is used now.
pub(super) fn replace(
    f: &mut Function,
    inst: InstId,
    old: ValueId,
    new: ValueId,
    ty: &ValueType,
) -> Option<ValueId> {
    let new = match f.value_type(new) == ty {
        true => new,
        false => refined(f, new, ty, inst).unwrap_or(new),
    };
    if f.hint(new).is_none() {
        f.copy_hint(old, new);
    }
    f.replace_all_uses(old, new).ok()?;
    Some(new)
}

// Returns whether an attempt added casts, which the node does without.
fn has_cast_between(f: &Function, last: Option<InstId>, before: InstId) -> bool {
    let mut next = f.prev_inst(before);
    while let Some(inst) = next.filter(|&inst| Some(inst) != last) {
        if f.is::<Cast>(inst) {
            return true;
        }
        next = f.prev_inst(inst);
    }
    false
}

fn has_unknown_dim(ty: &ValueType) -> bool {
    ty.as_tensor().is_some_and(|ty| ty.dims.contains(&Dim::Unknown))
}

// Returns whether a value of one type can replace a value of another: the second may know less.
fn fits(new: &ValueType, old: &ValueType) -> bool {
    new == old || new.compatible(old)
}

// Gives a value the type that its users expect, if it knows other extents.
fn refined(f: &mut Function, value: ValueId, ty: &ValueType, before: InstId) -> Option<ValueId> {
    use sapwood_ptir::{Op as _, ResultType, ops::Refine};
    let parts = Refine { input: value, ty: ResultType(ty.clone()) }.into_parts();
    let parts = f.resolve_parts(&parts).ok()?;
    let span = f.inst_span(before);
    let inst = f.insert(InsertPoint::Before(before), &parts, span).ok()?;
    f.value_of(inst)
}

// Erases the instructions that a failed attempt left behind.
fn erase_between(f: &mut Function, last: Option<InstId>, before: InstId) {
    while let Some(inst) = f.prev_inst(before).filter(|&inst| Some(inst) != last) {
        if f.erase(inst).is_err() {
            break;
        }
    }
}
