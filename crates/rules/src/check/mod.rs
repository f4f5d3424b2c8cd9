//! Whether rules are true: both sides on random shapes, element types and values.

mod attrs;
mod close;
mod instance;
mod numbers;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::{
    Function, Place, Program, Registry, TensorLiteral, ValueId, ValueType, print_function,
};
use sapwood_rewrite::{GreedyConfig, PatternSet, ProblemKind, apply_patterns_and_fold_greedily};
use sapwood_types::Span;

use crate::graph::{Literal, Number, Source};
use crate::language::{NewOperand, NewValue, Rule};
use crate::rewrite::{Seen, Staged};
use close::{all_finite, differs, is_steep, tolerance, with_everything};
use instance::{Instance, Random};
use numbers::{Floats, random_literal, simpler};

/// How many instances are made up to find a smaller case than the one that was found.
const SMALLER_TRIES: usize = 1000;

/// How many times an element of the inputs is made simpler.
const SIMPLER_STEPS: usize = 80;

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
    let tries = options.tries.saturating_mul(instances).max(options.tries.saturating_mul(100));
    for n in 0..tries {
        // Small ones first, so that what is found is small.
        let size = 1 + 4 * n as u64 / tries as u64;
        let size = size.max(1 + 4 * checked as u64 / instances as u64);
        let Some(instance) = Instance::new(rule, registry, &mut random, size) else { continue };
        match try_one(rule, &instance, options.inputs, &mut random) {
            Tried::Not => {}
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
    match (unchanged, checked) {
        (Some(function), _) => Verdict::ChangesNothing(function),
        (None, 0) => Verdict::NeverApplied,
        (None, _) => Verdict::Holds(checked),
    }
}

enum Tried {
    /// It does not apply, or cannot be run.
    Not,
    /// It applies and changes nothing.
    Unchanged,
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
    let mut tried = Tried::Not;
    for n in 0..inputs {
        match compare(rule, instance, &after, random, n % 2 == 1) {
            Some(Some(found)) => return Tried::Differs(Box::new(found)),
            Some(None) => tried = Tried::Same,
            None => break,
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
                let spec = right.resolve(&parts).ok()?;
                let inst = right.insert(Place::Before(end), &spec).ok()?;
                known.extend(values.iter().copied().zip(right.inst_results(inst)));
            }
            Staged::Constant(literal, value) => {
                let made = right.constant(literal, Place::Before(end), Span::unknown());
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

// Numbers at which the sides of a rule may begin to differ: its own, and those one away.
fn own_numbers(rule: &Rule, most: f64) -> Vec<f64> {
    let left = rule.pattern.values.iter().filter_map(|value| match value.from {
        Source::Literal(Literal::Number(number)) => Some(number),
        _ => None,
    });
    let operands = rule.right.iter().flat_map(|r| &r.ops).flat_map(|op| &op.operands);
    let right = operands.filter_map(|operand| match operand {
        NewOperand::One(NewValue::Number(number)) => Some(*number),
        _ => None,
    });
    let float = |number: Number| match number {
        Number::Int(n) => n as f64,
        Number::Float(x) => x,
    };
    let near = left.chain(right).map(float).flat_map(|x| [x, x + 1.0, x - 1.0]);
    near.filter(|x| x.abs() <= most).collect()
}

// Runs both on random inputs. None if they cannot be run; a counterexample if they differ. Where rounding counts, inputs are
// moderate; wide ones are too, but tell only as long as all that is computed is finite.
fn compare(
    rule: &Rule,
    instance: &Instance,
    after: &Function,
    random: &mut Random,
    wide: bool,
) -> Option<Option<Counterexample>> {
    let before = &instance.function;
    let wide = wide && rule.floats().fast();
    let large = wide && !is_steep(before) && !is_steep(after);
    let known = if wide { own_numbers(rule, if large { 1e4 } else { 8.0 }) } else { Vec::new() };
    let floats = match (rule.floats().fast(), wide) {
        (false, _) => Floats::All,
        (true, false) => Floats::Plain,
        (true, true) => Floats::Wide { known: &known, large },
    };
    let mut inputs: Vec<TensorLiteral> = (before.params().iter().zip(&instance.shapes))
        .map(|(&p, shape)| random_literal(random, before.value_type(p).as_tensor()?, shape, floats))
        .collect::<Option<_>>()?;
    let sides = Sides::new(before, after, wide)?;
    let found = sides.difference(rule, &inputs)?;
    if found.is_none() {
        return Some(None);
    }
    shrink(rule, &sides, &mut inputs);
    let (left, right) = sides.difference(rule, &inputs).flatten().or(found)?;
    let names = before.params().iter().enumerate();
    let shown = names.zip(&inputs).map(|((n, &p), literal)| {
        let name = before.hint(p).map_or_else(|| n.to_string(), str::to_owned);
        let value = Tensor::from_literal(literal).map(Value::Tensor);
        format!("{name} = {}", value.map_or_else(|_| String::new(), |v| v.to_string()))
    });
    Some(Some(Counterexample {
        left: print_function(before),
        right: Some(print_function(after)),
        inputs: shown.collect(),
        before: left,
        after: right,
    }))
}

/// The two sides, ready to be run.
struct Sides {
    program: Program,
    /// Whether they are compared only where all that is computed is finite.
    finite: bool,
}

impl Sides {
    fn new(before: &Function, after: &Function, finite: bool) -> Option<Self> {
        let mut program = Program::new(before.registry().clone());
        for (f, all) in [(before, "left_all"), (after, "right_all")] {
            program.add(f.clone()).ok()?;
            program.add(with_everything(f, all)?).ok()?;
        }
        Some(Self { program, finite })
    }

    // What each side gives where they differ by more than the rule may. None if one cannot be run.
    #[allow(clippy::option_option, reason = "not run, the same, different")]
    fn difference(
        &self,
        rule: &Rule,
        inputs: &[TensorLiteral],
    ) -> Option<Option<(String, String)>> {
        let values: Vec<Value> = inputs
            .iter()
            .map(|l| Tensor::from_literal(l).map(Value::Tensor).ok())
            .collect::<Option<_>>()?;
        let options = RunOptions {
            max_steps: Some(1_000_000),
            max_bytes: 1 << 28,
            time_limit: Some(Duration::from_secs(5)),
            ..RunOptions::default()
        };
        let run = |name: &str| eval::run(&self.program, name, &values, &options);
        let left = run("left").ok()?;
        let right = match run("right") {
            Ok(right) => right,
            Err(why) => return Some(Some((shown(&left), format!("fails: {why}")))),
        };
        let tolerance = match rule.floats().fast() {
            true => {
                let (every, other) = (run("left_all").ok()?, run("right_all").ok()?);
                if self.finite && !(all_finite(&every) && all_finite(&other)) {
                    return Some(None);
                }
                let (f, g) = (self.program.function("left"), self.program.function("right"));
                tolerance(&[(f?, &every), (g?, &other)])
            }
            false => 0.0,
        };
        let differ = |(a, b)| differs(a, b, rule.floats(), tolerance);
        let same = left.len() == right.len() && !left.iter().zip(&right).any(differ);
        Some((!same).then(|| (shown(&left), shown(&right))))
    }
}

fn shown(values: &[Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

// Makes elements simple as long as the sides still differ.
fn shrink(rule: &Rule, sides: &Sides, inputs: &mut [TensorLiteral]) {
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
                    let differs = matches!(sides.difference(rule, inputs), Some(Some(_)));
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
