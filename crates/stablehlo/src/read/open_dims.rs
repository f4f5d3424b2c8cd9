//! Symbols for open extents.
//!
//! The parameters of a function that no other calls get a symbol for each `?`. Programs that JAX exports with symbolic shapes state how these are
//! related by ordered calls of `shape_assertion`, fed by integer arithmetic. They are read as facts: an equation determines a symbol by others (`?d1` is
//! `2*?d2 + 1`), an inequality becomes part of the `where` clause.

use std::cell::Cell;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::dims::{DimExpr, Facts, Relation};
use sapwood_ptir::eval::{ShapeValue, evaluate_shape_value, shape_value_len};
use sapwood_ptir::ops::{And, Call, Compare, CustomCall, Direction, GetDimensionSize, Refine};
use sapwood_ptir::{Dim, Function, InstId, Name, Program, ValueId, ValueType};
use sapwood_types::{Diagnostic, Diagnostics, Severity};

use crate::module::Extras;

/// The target of calls that stop a run if their first operand is false.
pub(crate) const SHAPE_ASSERTION: &str = "shape_assertion";

// The deepest nesting of calls, and the most instructions of a function, that are evaluated for an assertion.
const MAX_CALL_DEPTH: usize = 16;
const MAX_CALLEE_INSTS: usize = 1000;

// The most instructions of called functions that are evaluated at a time: calls of calls could be exponentially many.
const MAX_CALLED_INSTS: usize = 100_000;

// How often all assertions of a function are evaluated, and how many symbols are tried as zero.
const MAX_ROUNDS: usize = 32;
const MAX_ZERO_TRIALS: usize = 64;

// The largest divisor that is found in an assertion on a remainder.
const MAX_DIVISOR: i64 = 64;

/// Gives the open extents of parameters symbols, and reads the assertions about them. Declared types that cannot be true then are dropped;
/// returns a warning for each.
///
/// # Errors
/// If instructions do not fit together any more: their extents differ for all values of the symbols.
pub(super) fn name_open_dims(
    program: &mut Program,
    extras: &Extras,
) -> Result<Vec<Diagnostic>, Diagnostics> {
    let is_open = |f: &Function| {
        let types = f.params().iter().filter_map(|&param| f.value_type(param).as_tensor());
        types.into_iter().any(|ty| ty.dims.contains(&Dim::Unknown))
    };
    let open = program.functions().iter().filter(|f| !f.is_private() && is_open(f));
    let open: Vec<Name> = open.map(|f| f.name()).collect();
    let mut warnings = Vec::new();
    if open.is_empty() {
        return Ok(warnings);
    }
    let mut called: HashSet<Name, FxBuildHasher> = HashSet::default();
    for f in program.functions() {
        called.extend(f.walk().filter_map(|inst| Some(f.view::<Call>(inst)?.callee)));
    }
    for name in open.into_iter().filter(|name| !called.contains(name)) {
        let Some(f) = program.function_mut(name) else { continue };
        let mut next = 0;
        for param in f.params().to_vec() {
            let ty = f.value_type(param).map_dims(&mut |dim| match dim {
                Dim::Unknown => {
                    next += 1;
                    Dim::symbol(Name::new(&format!("d{}", next - 1)))
                }
                known => known,
            });
            let _ = f.set_type(param, &ty);
        }
        infer_types_again(f, &mut warnings);
        drop_false_results(f, &mut warnings);
        AssertionReader { program, extras, function: name, next, warnings: &mut warnings }.read();
    }
    sapwood_ptir::verify(program)?;
    Ok(warnings)
}

// Drops a declared type that the operand cannot have.
fn drop_false_claim(f: &mut Function, inst: InstId, warnings: &mut Vec<Diagnostic>) {
    let (Some(refine), Some(result)) = (f.view::<Refine>(inst), f.value_of(inst)) else { return };
    let ty = f.value_type(refine.input).clone();
    let message = format!("the value is {ty}, which cannot be {}", f.value_type(result));
    let warning = Diagnostic::new(Severity::Warning, f.inst_span(inst), message);
    warnings.push(warning.with_help("the declared type is ignored"));
    if f.set_type(result, &ty).is_ok() && f.replace_all_uses(result, refine.input).is_ok() {
        let _ = f.erase(inst);
    }
}

// Drops the declared types of results that the returned values cannot have.
fn drop_false_results(f: &mut Function, warnings: &mut Vec<Diagnostic>) {
    let Some(end) = f.last_inst(f.body()) else { return };
    let mut types: Vec<ValueType> = f.result_types().into_iter().cloned().collect();
    let mut is_changed = false;
    for (n, (declared, &value)) in types.iter_mut().zip(f.operands(end)).enumerate() {
        let found = f.value_type(value);
        let (Some(a), Some(b)) = (declared.as_tensor(), found.as_tensor()) else { continue };
        let fits =
            a.rank() == b.rank() && a.dims.iter().zip(&b.dims).all(|(a, b)| a.compatible(*b));
        if fits || a.dtype != b.dtype {
            continue;
        }
        let message = format!("result {n} is {found}, which cannot be {declared}");
        let warning = Diagnostic::new(Severity::Warning, f.inst_span(end), message);
        warnings.push(warning.with_help("the declared type is ignored"));
        *declared = found.clone();
        is_changed = true;
    }
    if is_changed {
        f.set_result_types(&types);
    }
}

// Infers the types of all instructions again, in the order of the program, with what is known about their operands now.
fn infer_types_again(f: &mut Function, warnings: &mut Vec<Diagnostic>) {
    let insts: Vec<InstId> = f.walk_post_order().collect();
    for inst in insts {
        if f.op_def(inst).is_none_or(|def| def.terminator) {
            continue;
        }
        let Ok(types) = f.infer(inst) else {
            drop_false_claim(f, inst, warnings);
            continue;
        };
        let results: Vec<ValueId> = f.inst_results(inst).collect();
        for (result, found) in results.into_iter().zip(types) {
            let known = f.value_type(result);
            let narrowed = match (known, &found) {
                (ValueType::Tensor(a), ValueType::Tensor(b)) if a.rank() == b.rank() => {
                    let mut ty = a.clone();
                    for (dim, found) in ty.dims.iter_mut().zip(&b.dims) {
                        // They differ behind a declared type that was dropped.
                        *dim = dim.unify(*found).unwrap_or(*found);
                    }
                    ValueType::Tensor(ty)
                }
                _ => continue,
            };
            if *known != narrowed {
                let _ = f.set_type(result, &narrowed);
            }
        }
    }
}

struct AssertionReader<'a> {
    program: &'a mut Program,
    extras: &'a Extras,
    function: Name,
    // The number of the next fresh symbol.
    next: usize,
    warnings: &'a mut Vec<Diagnostic>,
}

// A call of `shape_assertion`: all its conditions hold, or the run stops.
struct Assertion {
    inst: InstId,
    conditions: Vec<Condition>,
}

// A condition, as far as it is known.
struct Condition {
    value: Option<i64>,
    relation: Option<Relation>,
}

impl AssertionReader<'_> {
    fn read(mut self) {
        let Some(f) = self.program.function(self.function) else { return };
        if !f.body_insts(f.body()).any(|inst| is_assertion(f, inst)) {
            return;
        }
        let mut assumed: HashMap<Relation, bool, FxBuildHasher> = HashMap::default();
        let mut tried: HashSet<Name, FxBuildHasher> = HashSet::default();
        // Each round evaluates all assertions with what is known by then. All functions that JAX exports need less than four.
        for _ in 0..MAX_ROUNDS {
            let found = self.evaluate(None);
            let is_known = |assertion: &&Assertion| {
                assertion.conditions.iter().all(|condition| condition.value == Some(1))
            };
            let (known, open): (Vec<&Assertion>, Vec<&Assertion>) =
                found.iter().partition(is_known);
            known.iter().for_each(|assertion| self.erase(assertion.inst));
            if open.is_empty() {
                break;
            }
            let Some((changed, stated)) = self.assume_all(&open, &mut assumed) else { break };
            stated.iter().for_each(|&inst| self.erase(inst));
            if stated.len() == open.len() {
                break;
            }
            if !changed && !self.assume_not_zero(&mut tried) {
                self.warn_about_false(&open);
                break;
            }
        }
        self.use_given_names();
    }

    // Assumes the relations of assertions, in order. Returns whether any is new, and the assertions that follow from the facts now. Returns `None` if
    // the relations contradict each other.
    fn assume_all(
        &mut self,
        assertions: &[&Assertion],
        assumed: &mut HashMap<Relation, bool, FxBuildHasher>,
    ) -> Option<(bool, Vec<InstId>)> {
        let mut facts = self.facts();
        let symbols = self.symbols();
        let order: HashMap<Name, usize, FxBuildHasher> =
            symbols.into_iter().enumerate().map(|(n, name)| (name, n)).collect();
        let mut solution = Solution::default();
        let (mut changed, mut stated) = (false, Vec::new());
        for assertion in assertions {
            let mut holds = true;
            for condition in assertion.conditions.iter().filter(|c| c.value != Some(1)) {
                let Some(relation) = condition.relation.filter(|_| condition.value.is_none())
                else {
                    holds = false;
                    continue;
                };
                if let Some(&before) = assumed.get(&relation) {
                    holds &= before;
                    continue;
                }
                let now = solution.apply(relation.expr).is_some_and(|expr| {
                    facts.assume(Relation { expr, ..relation }).is_ok() && {
                        changed = true;
                        if relation.equation {
                            self.solve(expr, &order, &mut solution);
                        }
                        true
                    }
                });
                assumed.insert(relation, now);
                holds &= now;
            }
            if holds {
                stated.push(assertion.inst);
            }
        }
        if changed {
            let f = self.program.function_mut(self.function)?;
            f.set_facts(facts);
            if !solution.values.is_empty() {
                // Fails if the values contradict the facts together.
                let apply =
                    |name: Name| Some(Dim::from_expr(solution.apply(DimExpr::symbol(name)?)?));
                f.substitute_symbols(&mut |name| apply(name).unwrap_or(Dim::symbol(name))).ok()?;
            }
        }
        Some((changed, stated))
    }

    // Finds the value of a symbol for which an expression is zero.
    fn solve(
        &mut self,
        expr: DimExpr,
        order: &HashMap<Name, usize, FxBuildHasher>,
        solution: &mut Solution,
    ) {
        let mut symbols = expr.symbols().to_vec();
        // Later parameters are expressed by earlier ones; fresh symbols come last.
        symbols.sort_by_key(|name| order.get(name).copied().unwrap_or(usize::MAX));
        for &name in symbols.iter().rev() {
            if let Some(value) = solved(expr, name) {
                solution.values.insert(name, value);
                return;
            }
        }
        if let [name] = symbols[..] {
            let fresh = Name::new(&format!("d{}", self.next));
            if let Some(value) = multiple(expr, name, fresh) {
                self.next += 1;
                solution.values.insert(name, value);
            }
        }
    }

    // Finds symbols that make some condition false if they are zero: then every run that does not stop has at least one. Returns whether there are such.
    fn assume_not_zero(&mut self, tried: &mut HashSet<Name, FxBuildHasher>) -> bool {
        let mut facts = self.facts();
        let mut changed = false;
        for name in self.symbols() {
            let Some(symbol) = DimExpr::symbol(name) else { continue };
            if facts.bounds(symbol).lowest() != Some(0) || tried.contains(&name) {
                continue;
            }
            if tried.len() >= MAX_ZERO_TRIALS {
                break;
            }
            tried.insert(name);
            let found = self.evaluate(Some(name));
            if !found.iter().flat_map(|a| &a.conditions).any(|c| c.value == Some(0)) {
                continue;
            }
            let less = DimExpr::constant(1).and_then(|one| symbol.checked_sub(one));
            changed |= less.is_some_and(|expr| facts.assume_at_least(expr).is_ok());
        }
        if changed {
            self.set_facts(facts);
        }
        changed
    }

    // Warns about assertions that stop every run.
    fn warn_about_false(&mut self, open: &[&Assertion]) {
        let Some(f) = self.program.function(self.function) else { return };
        for assertion in open {
            if assertion.conditions.iter().any(|condition| condition.value == Some(0)) {
                let message = "the assertion is false for all extents that those before it allow";
                let span = f.inst_span(assertion.inst);
                let warning = Diagnostic::new(Severity::Warning, span, message.to_owned());
                self.warnings.push(warning.with_help("every run stops here"));
            }
        }
    }

    fn facts(&self) -> Facts {
        let f = self.program.function(self.function);
        f.and_then(|f| f.facts().cloned()).unwrap_or_default()
    }

    fn symbols(&self) -> Vec<Name> {
        let mut all = Vec::new();
        let mut seen: HashSet<Name, FxBuildHasher> = HashSet::default();
        let Some(f) = self.program.function(self.function) else { return all };
        for &param in f.params() {
            f.value_type(param).for_each_symbol(&mut |name| {
                if seen.insert(name) {
                    all.push(name);
                }
            });
        }
        all
    }

    fn erase(&mut self, inst: InstId) {
        if let Some(f) = self.program.function_mut(self.function) {
            let _ = f.erase(inst);
        }
    }

    // Evaluates the assertions of the function, in order. The symbol `zero` is zero.
    fn evaluate(&self, zero: Option<Name>) -> Vec<Assertion> {
        let mut found = Vec::new();
        let Some(f) = self.program.function(self.function) else { return found };
        let facts = if zero.is_some() { Facts::new() } else { self.facts() };
        let evaluator = Evaluator::new(self.program, &facts, zero);
        evaluator.run(f, &[], 0, &mut |inst, values| {
            let Some(&operand) = f.operands(inst).first().filter(|_| is_assertion(f, inst)) else {
                return;
            };
            let at = |v: ValueId| values.get(&v).and_then(|value| value.first().copied());
            let condition = |v: ValueId| Condition {
                value: at(v).and_then(DimExpr::as_constant),
                relation: f.def::<Compare>(v).and_then(|compare| {
                    relation_of(compare.direction, at(compare.lhs)?, at(compare.rhs)?)
                }),
            };
            let conditions = conjuncts(f, operand).into_iter().map(condition).collect();
            found.push(Assertion { inst, conditions });
        });
        found
    }

    fn set_facts(&mut self, facts: Facts) {
        if let Some(f) = self.program.function_mut(self.function) {
            f.set_facts(facts);
        }
    }

    // Renames symbols as the exported program calls them: JAX passes them to functions whose parameters have their names.
    fn use_given_names(&mut self) {
        let mut names: HashMap<Name, Name, FxBuildHasher> = HashMap::default();
        let mut given_names: HashSet<Name, FxBuildHasher> = HashSet::default();
        let Some(f) = self.program.function(self.function) else { return };
        let facts = self.facts();
        let evaluator = Evaluator::new(self.program, &facts, None);
        evaluator.run(f, &[], 0, &mut |inst, values| {
            let Some(call) = f.view::<Call>(inst) else { return };
            let Some(own) = self.extras.functions.get(&call.callee) else { return };
            for (arg, text) in call.args.iter().zip(&own.params) {
                let given = text.as_deref().and_then(given_name);
                let symbol = values.get(arg).and_then(|v| v.first()?.as_symbol());
                if let (Some(given), Some(symbol)) = (given, symbol)
                    && !names.contains_key(&symbol)
                    && given_names.insert(given)
                {
                    names.insert(symbol, given);
                }
            }
        });
        let symbols: HashSet<Name, FxBuildHasher> = self.symbols().into_iter().collect();
        names.retain(|_, given| !symbols.contains(given));
        if !names.is_empty()
            && let Some(f) = self.program.function_mut(self.function)
        {
            let rename = |name: Name| names.get(&name).copied().unwrap_or(name);
            let _ = f.substitute_symbols(&mut |name| Dim::symbol(rename(name)));
        }
    }
}

// The values of symbols that equations determine.
#[derive(Default)]
struct Solution {
    values: HashMap<Name, DimExpr, FxBuildHasher>,
}

impl Solution {
    // Returns an expression with the values in place of the symbols. A value may have symbols that were solved after it.
    fn apply(&self, mut expr: DimExpr) -> Option<DimExpr> {
        while expr.symbols().iter().any(|name| self.values.contains_key(name)) {
            expr = expr.substitute(&|name| self.values.get(&name).copied())?;
        }
        Some(expr)
    }
}

// Returns the name in `{jax.global_constant = "b"}`.
fn given_name(text: &str) -> Option<Name> {
    let (_, rest) = text.split_once("jax.global_constant = \"")?;
    let (name, _) = rest.split_once('"')?;
    let is_name = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.as_bytes()[0].is_ascii_digit();
    is_name.then(|| Name::new(name))
}

// Returns the operands of a tree of `and`, in order.
fn conjuncts(f: &Function, value: ValueId) -> Vec<ValueId> {
    let (mut found, mut open) = (Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        match f.def::<And>(value) {
            Some(and) => open.extend([and.rhs, and.lhs]),
            None => found.push(value),
        }
    }
    found
}

fn is_assertion(f: &Function, inst: InstId) -> bool {
    f.view::<CustomCall>(inst).is_some_and(|call| &*call.target == SHAPE_ASSERTION)
}

fn relation_of(direction: Direction, a: DimExpr, b: DimExpr) -> Option<Relation> {
    let (larger, smaller, least) = match direction {
        Direction::Eq | Direction::Ge => (a, b, 0),
        Direction::Gt => (a, b, 1),
        Direction::Le => (b, a, 0),
        Direction::Lt => (b, a, 1),
        Direction::Ne => return None,
    };
    let expr = larger.checked_sub(smaller)?.checked_sub(DimExpr::constant(least)?)?;
    Some(Relation { expr, equation: direction == Direction::Eq })
}

// Returns the value of a symbol for which an expression is zero, if that is an expression without a division.
fn solved(expr: DimExpr, name: Name) -> Option<DimExpr> {
    let (coefficient, rest) = expr.linear_in(name)?;
    match coefficient.as_constant()? {
        1 => DimExpr::constant(0)?.checked_sub(rest),
        -1 => Some(rest),
        _ => None,
    }
}

// Returns `k*fresh + c` if an expression of one symbol is zero exactly for the numbers of this form: it is a remainder.
fn multiple(expr: DimExpr, name: Name, fresh: Name) -> Option<DimExpr> {
    let fresh = DimExpr::symbol(fresh)?;
    for k in 2..=MAX_DIVISOR {
        let form =
            |c: i64| fresh.checked_mul(DimExpr::constant(k)?)?.checked_add(DimExpr::constant(c)?);
        let value = |c: i64| {
            let with = form(c)?;
            expr.substitute(&|other| (other == name).then_some(with))?.as_constant()
        };
        let values: Option<Vec<i64>> = (0..k).map(value).collect();
        let Some(values) = values else { continue };
        let mut zeros = values.iter().enumerate().filter(|(_, n)| **n == 0).map(|(c, _)| c);
        if let (Some(c), None) = (zeros.next(), zeros.next()) {
            return form(c as i64);
        }
    }
    None
}

type ShapeValues = HashMap<ValueId, ShapeValue, FxBuildHasher>;

// Evaluates the integer arithmetic of functions.
struct Evaluator<'a> {
    program: &'a Program,
    facts: &'a Facts,
    // A symbol that is zero.
    zero: Option<Name>,
    // The number of instructions that may still be evaluated in called functions.
    left: Cell<usize>,
}

impl<'a> Evaluator<'a> {
    fn new(program: &'a Program, facts: &'a Facts, zero: Option<Name>) -> Self {
        Self { program, facts, zero, left: Cell::new(MAX_CALLED_INSTS) }
    }

    // Evaluates the body of a function, and calls `visit` with each instruction of it and the values before it. Returns the returned values.
    fn run(
        &self,
        f: &Function,
        args: &[Option<ShapeValue>],
        depth: usize,
        visit: &mut dyn FnMut(InstId, &ShapeValues),
    ) -> Vec<Option<ShapeValue>> {
        let mut values = ShapeValues::default();
        for (&param, arg) in f.params().iter().zip(args) {
            values.extend(arg.clone().map(|arg| (param, arg)));
        }
        for inst in f.body_insts(f.body()) {
            visit(inst, &values);
            if let Some(call) = f.view::<Call>(inst) {
                let args = call.args.iter().map(|arg| values.get(arg).cloned()).collect::<Vec<_>>();
                let results = self.call(call.callee, &args, depth);
                let known = f.inst_results(inst).zip(results);
                values.extend(known.filter_map(|(value, result)| Some((value, result?))));
                continue;
            }
            let Some(result) = f.value_of(inst) else { continue };
            if shape_value_len(f.value_type(result)).is_none() {
                continue;
            }
            let mut operand = |v: ValueId| values.get(&v).cloned();
            let found = evaluate_shape_value(f, inst, self.facts, &mut operand);
            let found = match f.is::<GetDimensionSize>(inst) {
                true => found.and_then(|value| self.with_zero(value)),
                false => found,
            };
            values.extend(found.map(|value| (result, value)));
        }
        f.results().iter().map(|value| values.get(value).cloned()).collect()
    }

    fn with_zero(&self, value: ShapeValue) -> Option<ShapeValue> {
        let replace =
            |name: Name| (Some(name) == self.zero).then(|| DimExpr::constant(0)).flatten();
        value.into_iter().map(|expr| expr.substitute(&replace)).collect()
    }

    fn call(
        &self,
        callee: Name,
        args: &[Option<ShapeValue>],
        depth: usize,
    ) -> Vec<Option<ShapeValue>> {
        let Some(callee) = self.program.function(callee) else { return Vec::new() };
        let returns_shapes = callee.result_types().iter().any(|ty| shape_value_len(ty).is_some());
        if depth >= MAX_CALL_DEPTH || callee.num_insts() > MAX_CALLEE_INSTS || !returns_shapes {
            return Vec::new();
        }
        let Some(left) = self.left.get().checked_sub(callee.num_insts()) else { return Vec::new() };
        self.left.set(left);
        self.run(callee, args, depth + 1, &mut |_, _| {})
    }
}
