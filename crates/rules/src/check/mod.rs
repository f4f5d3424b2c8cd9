//! Whether rules are true: both sides on random shapes, element types and values.

mod attrs;
mod instance;
mod simpler;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sapwood_check::{Case, CaseResult, Draw, Elements, Extents, Limits, Pair, known_numbers};
use sapwood_ptir::eval::{Tensor, Value};
use sapwood_ptir::{
    Function, InsertPoint, OpKey, Program, Registry, TensorLiteral, ValueId, ValueType,
    print_function,
};
use sapwood_rewrite::{GreedyConfig, PatternSet, ProblemKind, apply_patterns_and_fold_greedily};
use sapwood_types::Span;

use crate::language::Rule;
use crate::rewrite::{Seen, Staged};
use instance::{Instance, Random};
use simpler::simpler;

/// How many instances are made up to find a smaller case than the one that was found.
const SMALLER_TRIES: usize = 1000;

/// How many times an element of the inputs is made simpler.
const SIMPLER_STEPS: usize = 80;

/// The limits of one run of a side.
const LIMITS: Limits =
    Limits { max_steps: 1_000_000, time: Duration::from_secs(5), max_bytes: 1 << 28 };

/// How a rule is checked.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Where the random numbers start.
    pub seed: u64,
    /// On how many instances of the left side both sides are run; at least one.
    pub instances: usize,
    /// How many instances may be made up for each of those, as many do not fit together or do not hold.
    pub tries: usize,
    /// On how many inputs each instance is run.
    pub inputs: usize,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { seed: 1, instances: 100, tries: 200, inputs: 4 }
    }
}

/// What came of checking a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Both sides gave the same on this many instances: as many as were asked for, or all that could be made up.
    Holds(usize),
    /// The sides differ.
    Wrong(Box<Counterexample>),
    /// The right side is the left side itself, at least for this one, a function.
    ChangesNothing(String),
    /// No instance of the left side could be made up to which the rule applies.
    NeverApplied,
    /// The sides could not be run, for this reason.
    NotChecked(String),
    /// It has no right side.
    OnlyFound,
}

/// A case in which the sides of a rule differ, made small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The left side, as a function.
    pub left: String,
    /// The right side, as a function; none if it does not fit.
    pub right: Option<String>,
    /// What it is run on.
    pub inputs: Vec<String>,
    /// What the left side gives.
    pub before: String,
    /// What the right side gives, or why it does not fit.
    pub after: String,
}

impl std::fmt::Display for Counterexample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let indented = |f: &mut std::fmt::Formatter<'_>, text: &str| {
            text.lines().try_for_each(|line| writeln!(f, "  {line}"))
        };
        indented(f, &self.left)?;
        if let Some(right) = &self.right {
            indented(f, right)?;
        }
        for input in &self.inputs {
            writeln!(f, "  for {input}")?;
        }
        writeln!(f, "  left:  {}", self.before)?;
        writeln!(f, "  right: {}", self.after)
    }
}

/// Checks a rule: makes up instances of its left side, smallest first, applies the rule, and runs both. The rule's own
/// float mode says what may differ.
#[must_use]
pub fn check_rule(rule: &Rule, registry: &Arc<Registry>, options: &CheckOptions) -> Verdict {
    if !rule.rewrites() {
        return Verdict::OnlyFound;
    }
    let mut random = Random::new(options.seed);
    let (mut checked, instances) = (0, options.instances.max(1));
    // One that it leaves as it is, and how many there were.
    let (mut unchanged, mut idle): (Option<String>, usize) = (None, 0);
    // Why one could not be run, and how many there were.
    let (mut not_run, mut failures): (Option<String>, usize) = (None, 0);
    if let Some(op) = rule.pattern.ops.iter().find(|op| !can_be_run(registry, op.key)) {
        return Verdict::NotChecked(format!("op `{}` has no evaluation", op.key.name()));
    }
    let tries = options.tries.saturating_mul(instances).max(options.tries.saturating_mul(100));
    for n in 0..tries {
        // Small ones first, so that what is found is small.
        let size = 1 + 4 * n as u64 / tries as u64;
        let size = size.max(1 + 4 * checked as u64 / instances as u64);
        let Some(instance) = Instance::new(rule, registry, &mut random, size) else { continue };
        match try_one(rule, &instance, options.inputs, &mut random) {
            Tried::Not => {}
            Tried::NotRun(reason) => {
                not_run.get_or_insert(reason);
                failures += 1;
                if failures == instances {
                    break;
                }
            }
            Tried::Unchanged => {
                unchanged.get_or_insert_with(|| print_function(&instance.function));
                idle += 1;
                if idle == instances {
                    break;
                }
            }
            Tried::Same => {
                checked += 1;
                if checked == instances {
                    break;
                }
            }
            Tried::Differs(found) => {
                let found = smaller(rule, registry, &instance, found, options.seed);
                return Verdict::Wrong(found);
            }
        }
    }
    match (unchanged, not_run, checked) {
        (Some(function), _, _) => Verdict::ChangesNothing(function),
        (None, Some(reason), 0) => Verdict::NotChecked(reason),
        (None, None, 0) => Verdict::NeverApplied,
        (None, _, _) => Verdict::Holds(checked),
    }
}

// Unknown ops are reported elsewhere.
fn can_be_run(registry: &Registry, op: OpKey) -> bool {
    registry.get(op).is_none_or(|def| def.evaluation().is_some() || def.control.is_some())
}

enum Tried {
    /// It does not apply, or cannot be run.
    Not,
    /// It applies and changes nothing.
    Unchanged,
    /// It applies, but a side cannot be run, for this reason.
    NotRun(String),
    Same,
    Differs(Box<Counterexample>),
}

fn try_one(rule: &Rule, instance: &Instance, inputs: usize, random: &mut Random) -> Tried {
    let after = match applied(rule, &instance.function) {
        Applied::No => return Tried::Not,
        Applied::Unchanged => return Tried::Unchanged,
        Applied::Misfit(why, right) => {
            return Tried::Differs(Box::new(misfit(&instance.function, why, right)));
        }
        Applied::Yes(after) => after,
    };
    let mut program = Program::new(instance.function.registry().clone());
    let sides = [instance.function.clone(), (*after).clone()];
    let [left, right] = sides.map(|side| (side.name(), program.add(side)).0);
    let pair = match Pair::new((&program, left), (&program, right), rule.floats(), None) {
        Ok(pair) => pair,
        Err(why) => return Tried::NotRun(why.to_string()),
    };
    let mut tried = Tried::Not;
    for n in 0..inputs {
        match compare(&pair, instance, &after, n, random.seed()) {
            found @ Tried::Differs(_) => return found,
            Tried::Same => tried = Tried::Same,
            reason @ Tried::NotRun(_) => {
                return if matches!(tried, Tried::Same) { tried } else { reason };
            }
            Tried::Not | Tried::Unchanged => {}
        }
    }
    tried
}

// Looks for a case that is smaller than the one that was found.
fn smaller(
    rule: &Rule,
    registry: &Arc<Registry>,
    found: &Instance,
    case: Box<Counterexample>,
    seed: u64,
) -> Box<Counterexample> {
    let (mut least, mut best) = (found.size(), case);
    let mut random = Random::new(!seed);
    for n in 0..SMALLER_TRIES {
        let size = 1 + 2 * n as u64 / SMALLER_TRIES as u64;
        let Some(instance) = Instance::new(rule, registry, &mut random, size) else { continue };
        if instance.size() >= least {
            continue;
        }
        if let Tried::Differs(found) = try_one(rule, &instance, 4, &mut random) {
            (least, best) = (instance.size(), found);
        }
    }
    best
}

enum Applied {
    No,
    Unchanged,
    Yes(Box<Function>),
    /// Why the right side does not fit, and that side if it is known.
    Misfit(String, Option<String>),
}

// Applies a rule once.
fn applied(rule: &Rule, f: &Function) -> Applied {
    let seen: Arc<Mutex<Option<Seen>>> = Arc::default();
    let mut set = PatternSet::new();
    rule.add_watched(&mut set, seen.clone());
    let mut after = f.clone().with_name("right");
    let config = GreedyConfig {
        enable_constant_fold: false,
        expensive_checks: true,
        floats: rule.floats(),
        max_rewrites: Some(1),
        ..GreedyConfig::default()
    };
    let stats = apply_patterns_and_fold_greedily(&mut after, &set.freeze(), &config);
    let Ok(stats) = stats else { return Applied::No };
    let is_type = |kind: &ProblemKind| matches!(kind, ProblemKind::Type { .. });
    if let Some(problem) = stats.problems.iter().find(|p| !is_type(&p.kind)) {
        if problem.kind == ProblemKind::NothingChanged {
            return Applied::Unchanged;
        }
        return Applied::Misfit(problem.to_string(), None);
    }
    if stats.rewrites > 0 {
        return Applied::Yes(Box::new(after));
    }
    let wrong_type = !stats.problems.is_empty();
    match seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
        // Where dims are open the right side may know less of its type, and then is not used.
        Some(seen) if wrong_type || is_static(f) => {
            Applied::Misfit(format!("it is {}", seen.types), right_of(f, &seen))
        }
        _ => Applied::No,
    }
}

// The right side as a function of its own, whatever its types are.
fn right_of(f: &Function, seen: &Seen) -> Option<String> {
    let mut right = f.clone().with_name("right");
    let end = right.terminator(right.body())?;
    let mut known: Vec<(ValueId, ValueId)> = Vec::new();
    let real = |known: &[(ValueId, ValueId)], value: ValueId| {
        known.iter().find(|(staged, _)| *staged == value).map_or(value, |(_, real)| *real)
    };
    for staged in &seen.staged {
        match staged {
            Staged::Op(parts, values) => {
                let mut parts = (**parts).clone();
                for operand in &mut parts.operands {
                    *operand = real(&known, *operand);
                }
                let spec = right.resolve_parts(&parts).ok()?;
                let inst = right.insert(InsertPoint::Before(end), &spec).ok()?;
                known.extend(values.iter().copied().zip(right.inst_results(inst)));
            }
            Staged::Constant(literal, value) => {
                let made = right.constant(literal, InsertPoint::Before(end), Span::unknown());
                known.push((*value, made));
            }
        }
    }
    let outputs: Vec<ValueId> = seen.values.iter().map(|&value| real(&known, value)).collect();
    let types: Vec<ValueType> = outputs.iter().map(|&v| right.value_type(v).clone()).collect();
    right.set_operands(end, &outputs).ok()?;
    right.set_result_types(&types);
    // Nothing but what it needs.
    let config = GreedyConfig { enable_constant_fold: false, ..GreedyConfig::default() };
    let cleared =
        apply_patterns_and_fold_greedily(&mut right, &PatternSet::new().freeze(), &config);
    cleared.is_ok().then(|| print_function(&right))
}

fn is_static(f: &Function) -> bool {
    let known =
        |&v: &ValueId| f.value_type(v).as_tensor().is_some_and(|t| t.known_shape().is_some());
    f.params().iter().all(known)
}

fn misfit(f: &Function, why: String, right: Option<String>) -> Counterexample {
    let types: Vec<String> = f.result_types().iter().map(ToString::to_string).collect();
    Counterexample {
        left: print_function(f),
        right,
        inputs: Vec::new(),
        before: format!("it is {}", types.join(", ")),
        after: why,
    }
}

// Runs both sides on random inputs.
fn compare(pair: &Pair<'_>, instance: &Instance, after: &Function, n: usize, seed: u64) -> Tried {
    let before = &instance.function;
    let known = known_numbers(&[before, after]);
    let draw = Draw {
        elements: [Elements::Plain, Elements::Mixed, Elements::Mixed, Elements::Raw][n % 4],
        extents: Extents::Given(&instance.shapes),
        known: &known,
        floats: pair.floats(),
        ..Draw::default()
    };
    let Ok(inputs) = draw.inputs(before, seed) else { return Tried::Not };
    let (mut left, mut right) = match outcome(pair, &inputs) {
        Outcome::Different(left, right) => (left, right),
        Outcome::Same => return Tried::Same,
        Outcome::Unknown(None) => return Tried::Not,
        Outcome::Unknown(Some(reason)) => return Tried::NotRun(reason),
    };
    let literals: Option<Vec<TensorLiteral>> = inputs.iter().map(Value::to_literal).collect();
    let Some(mut literals) = literals else { return Tried::Not };
    shrink(pair, &mut literals);
    if let Outcome::Different(a, b) = outcome(pair, &values(&literals)) {
        (left, right) = (a, b);
    }
    let names = before.params().iter().enumerate();
    let shown = names.zip(values(&literals)).map(|((n, &p), value)| {
        let name = before.hint(p).map_or_else(|| n.to_string(), str::to_owned);
        format!("{name} = {value}")
    });
    Tried::Differs(Box::new(Counterexample {
        left: print_function(before),
        right: Some(print_function(after)),
        inputs: shown.collect(),
        before: left,
        after: right,
    }))
}

enum Outcome {
    Same,
    /// The results of the sides.
    Different(String, String),
    /// Nothing was compared; the reason, if a side could not be run.
    Unknown(Option<String>),
}

fn outcome(pair: &Pair<'_>, inputs: &[Value]) -> Outcome {
    match pair.run(inputs, &LIMITS) {
        Case::NotRun { reason, .. } => Outcome::Unknown(Some(reason)),
        Case::NotComparable { .. } => Outcome::Unknown(None),
        Case::Fails { reason, before } => {
            Outcome::Different(shown(&before), format!("fails: {reason}"))
        }
        Case::Ran { results, before, after } => {
            if results.iter().any(|r| r.difference.is_some()) {
                return Outcome::Different(shown(&before), shown(&after));
            }
            match results.iter().all(CaseResult::is_seen) {
                true => Outcome::Same,
                false => Outcome::Unknown(None),
            }
        }
    }
}

fn values(literals: &[TensorLiteral]) -> Vec<Value> {
    literals.iter().filter_map(|l| Tensor::from_literal(l).map(Value::Tensor).ok()).collect()
}

fn shown(values: &[Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

// Makes elements simple as long as the sides still differ.
fn shrink(pair: &Pair<'_>, inputs: &mut [TensorLiteral]) {
    for n in 0..inputs.len() {
        let literal = inputs[n].clone();
        let width = literal.element(0).map_or(0, <[u8]>::len);
        let count = literal.num_elements().min(256) as usize;
        let mut bytes: Vec<u8> = (0..literal.num_elements())
            .filter_map(|i| literal.element(i))
            .flatten()
            .copied()
            .collect();
        for place in (0..count).map(|at| at * width..(at + 1) * width) {
            // Each step is to something simpler; how many there are is bounded.
            for _ in 0..SIMPLER_STEPS {
                let old = bytes[place.clone()].to_vec();
                let better = simpler(literal.dtype(), &old).into_iter().any(|simple| {
                    bytes[place.clone()].copy_from_slice(&simple);
                    let tried = TensorLiteral::new(literal.dtype(), literal.shape(), &bytes);
                    let Ok(tried) = tried else { return false };
                    let kept = std::mem::replace(&mut inputs[n], tried);
                    let differs = pair.run(&values(inputs), &LIMITS).differs();
                    if !differs {
                        inputs[n] = kept;
                    }
                    differs
                });
                if !better {
                    bytes[place.clone()].copy_from_slice(&old);
                    break;
                }
            }
        }
    }
}
