//! A check of rewrite rules: runs both sides on random shapes, element types and values.

mod attrs;
mod convolution;
mod instance;
mod regions;
mod simpler_elements;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sapwood_check::{
    ElementKind, FunctionPair, InputGenerator, OpenExtents, PairOutcome, RetryAdvice, RunLimits,
    notable_constants,
};
use sapwood_ptir::eval::{Tensor, Value};
use sapwood_ptir::{
    Function, InsertPoint, OpKey, Program, Registry, TensorLiteral, ValueId, ValueType,
    print_function,
};
use sapwood_rewrite::{GreedyConfig, PatternSet, ProblemKind, apply_patterns_and_fold_greedily};
use sapwood_types::{FloatMode, Span};

use crate::language::Rule;
use crate::rule_pattern::{ObservedRhs, StagedItem};
use instance::{InstanceRng, RuleInstance};
use simpler_elements::simpler_elements;

/// The number of instances that are tried to find a smaller counterexample.
const MAX_SHRINK_INSTANCES: usize = 1000;

/// The number of times that an element of the inputs is simplified.
const MAX_STEPS_PER_ELEMENT: usize = 80;

/// The number of inputs of an instance that may reach a limit before no more of them are tried.
const MAX_LIMITED_INPUTS: usize = 2;

/// The limits of one run of a side.
const SIDE_LIMITS: RunLimits =
    RunLimits { max_steps: 1_000_000, time: Duration::from_secs(5), max_bytes: 1 << 28 };

/// The options of a rule check.
#[derive(Clone, Debug)]
pub struct RuleCheckOptions {
    /// The seed of the random instances.
    pub seed: u64,
    /// The number of instances of the left side on which both sides are run; at least one.
    pub instances: usize,
    /// The number of attempts per instance, as many random instances do not fit together or do not satisfy the conditions.
    pub tries: usize,
    /// The number of inputs that each instance is run on.
    pub inputs: usize,
}

impl Default for RuleCheckOptions {
    fn default() -> Self {
        Self { seed: 1, instances: 100, tries: 200, inputs: 4 }
    }
}

/// The verdict on a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleVerdict {
    /// Both sides gave the same results on this number of instances: the requested number, or all that could be generated.
    Holds(usize),
    /// The sides differ.
    Wrong(Box<RuleCounterexample>),
    /// The right side equals the left side, at least for this function.
    ChangesNothing(String),
    /// The rule applied to none of the generated instances.
    NeverApplied,
    /// The sides could not be run or compared, for this reason.
    NotChecked(String),
    /// The rule has no right side.
    MatchOnly,
}

/// A small case in which the sides of a rule differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleCounterexample {
    /// The left side, as a function.
    pub left: String,
    /// The right side, as a function; none if its types do not fit.
    pub right: Option<String>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The results of the left side.
    pub before: String,
    /// The results of the right side, or the reason why it does not fit.
    pub after: String,
    /// The freer float mode in which the rule holds on as many instances, if there is one.
    pub holds_with: Option<FloatMode>,
}

impl std::fmt::Display for RuleCounterexample {
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
        writeln!(f, "  right: {}", self.after)?;
        self.holds_with.map_or(Ok(()), |mode| writeln!(f, "  it holds as `float {mode}`"))
    }
}

/// Checks a rule: generates instances of its left side, smallest first, applies the rule, and runs both sides. The float mode of the
/// rule decides which differences are allowed. A wrong rule is also checked in freer modes.
#[must_use]
pub fn check_rule(
    rule: &Rule,
    registry: &Arc<Registry>,
    options: &RuleCheckOptions,
) -> RuleVerdict {
    match search_difference(rule, registry, options) {
        Ok(verdict) => verdict,
        Err((instance, found)) => {
            let mut found = shrink_instance(rule, registry, &instance, found, options.seed);
            let mut freer = FloatMode::ALL.iter().copied().filter(|&mode| mode > rule.floats());
            found.holds_with = freer.find(|&mode| {
                let freer = rule.clone().with_floats(mode);
                let verdict = search_difference(&freer, registry, options);
                matches!(verdict, Ok(RuleVerdict::Holds(_)))
            });
            RuleVerdict::Wrong(found)
        }
    }
}

// Searches for an instance in which the sides of a rule differ, in the float mode of the rule. Returns the verdict if there is none.
fn search_difference(
    rule: &Rule,
    registry: &Arc<Registry>,
    options: &RuleCheckOptions,
) -> Result<RuleVerdict, (Box<RuleInstance>, Box<RuleCounterexample>)> {
    if !rule.rewrites() {
        return Ok(RuleVerdict::MatchOnly);
    }
    let mut random = InstanceRng::new(options.seed);
    let (mut checked, instances) = (0, options.instances.max(1));
    // The number of instances with elements to compare.
    let mut with_elements = 0;
    // An instance that the rule does not change, and the number of such instances.
    let (mut unchanged, mut idle): (Option<String>, usize) = (None, 0);
    // The reason why an instance could not be compared although it was run.
    let mut not_compared: Option<String> = None;
    // The reason why an instance could not be run, and the number of such instances.
    let (mut not_run, mut failures): (Option<String>, usize) = (None, 0);
    // The reason why the right side does not fit an instance.
    let mut refused: Option<String> = None;
    if let Some(op) = rule.pattern.ops.iter().find(|op| !can_be_run(registry, op.key)) {
        let reason = format!("op `{}` has no evaluation", op.key.name());
        return Ok(RuleVerdict::NotChecked(reason));
    }
    let tries = options.tries.saturating_mul(instances).max(options.tries.saturating_mul(100));
    for n in 0..tries {
        // Small instances come first, so that the counterexample is small.
        let size = 1 + 4 * n as u64 / tries as u64;
        let size = size.max(1 + 4 * checked as u64 / instances as u64);
        let Some(instance) = RuleInstance::new(rule, registry, &mut random, size) else { continue };
        match check_instance(rule, &instance, options.inputs, &mut random) {
            InstanceOutcome::NotApplied => {}
            InstanceOutcome::Refused(reason) => {
                refused.get_or_insert(reason);
            }
            InstanceOutcome::NotCompared(reason) => {
                not_compared.get_or_insert(reason);
            }
            InstanceOutcome::NotRun { reason, .. } => {
                not_run.get_or_insert(reason);
                failures += 1;
                if failures == instances {
                    break;
                }
            }
            InstanceOutcome::Unchanged => {
                unchanged.get_or_insert_with(|| print_function(&instance.function));
                idle += 1;
                if idle == instances {
                    break;
                }
            }
            InstanceOutcome::Same { has_elements } => {
                checked += 1;
                with_elements += usize::from(has_elements);
                if checked == instances {
                    break;
                }
            }
            InstanceOutcome::Differs(found) => return Err((Box::new(instance), found)),
        }
    }
    Ok(match (unchanged, not_run.or(not_compared)) {
        (Some(function), _) => RuleVerdict::ChangesNothing(function),
        // Tensors without elements alone prove nothing.
        (None, Some(reason)) if with_elements == 0 => RuleVerdict::NotChecked(reason),
        (None, _) if checked == 0 => match refused {
            Some(reason) => RuleVerdict::NotChecked(reason),
            None => RuleVerdict::NeverApplied,
        },
        (None, _) if with_elements == 0 && !rule.pattern.requires_empty_tensor() => {
            RuleVerdict::NotChecked("all results that were compared are empty tensors".into())
        }
        (None, _) => RuleVerdict::Holds(checked),
    })
}

// Unknown ops are reported elsewhere.
fn can_be_run(registry: &Registry, op: OpKey) -> bool {
    registry.get(op).is_none_or(|def| def.evaluation().is_some() || def.control.is_some())
}

enum InstanceOutcome {
    /// The rule does not apply, or no inputs can be drawn.
    NotApplied,
    /// The left side matches, but the right side does not fit there, for this reason.
    Refused(String),
    /// The rule applies and changes nothing.
    Unchanged,
    /// The rule applies, but a side cannot be run, for this reason.
    NotRun { reason: String, retry: RetryAdvice },
    /// The rule applies and both sides run, but no result could be compared, for this reason.
    NotCompared(String),
    /// Both sides give the same results; states whether a result has elements.
    Same { has_elements: bool },
    /// The sides differ.
    Differs(Box<RuleCounterexample>),
}

fn check_instance(
    rule: &Rule,
    instance: &RuleInstance,
    inputs: usize,
    random: &mut InstanceRng,
) -> InstanceOutcome {
    let after = match apply_once(rule, &instance.function) {
        Application::No => return InstanceOutcome::NotApplied,
        Application::Refused(reason) => return InstanceOutcome::Refused(reason),
        Application::Unchanged => return InstanceOutcome::Unchanged,
        Application::WrongType(why, right) => {
            return InstanceOutcome::Differs(Box::new(type_counterexample(
                &instance.function,
                why,
                right,
            )));
        }
        Application::Yes(after) => after,
    };
    let mut program = Program::new(instance.function.registry().clone());
    let sides = [instance.function.clone(), (*after).clone()];
    let [left, right] = sides.map(|side| (side.name(), program.add(side)).0);
    let pair = match FunctionPair::new((&program, left), (&program, right), rule.floats(), None) {
        Ok(pair) => pair,
        Err(why) => {
            let (reason, retry) = (why.to_string(), RetryAdvice::Pointless);
            return InstanceOutcome::NotRun { reason, retry };
        }
    };
    let (mut tried, mut limited_inputs) = (InstanceOutcome::NotApplied, 0);
    for n in 0..inputs {
        match compare(&pair, instance, &after, n, random.seed()) {
            found @ InstanceOutcome::Differs(_) => return found,
            same @ InstanceOutcome::Same { .. } => tried = same,
            reason @ (InstanceOutcome::NotRun { .. } | InstanceOutcome::NotCompared(_)) => {
                let retry = match reason {
                    InstanceOutcome::NotRun { retry, .. } => retry,
                    _ => RetryAdvice::Worthwhile,
                };
                if matches!(tried, InstanceOutcome::NotApplied) {
                    tried = reason;
                }
                limited_inputs += usize::from(retry == RetryAdvice::AfterLimit);
                if retry == RetryAdvice::Pointless || limited_inputs == MAX_LIMITED_INPUTS {
                    break;
                }
            }
            InstanceOutcome::NotApplied
            | InstanceOutcome::Refused(_)
            | InstanceOutcome::Unchanged => {}
        }
    }
    tried
}

// Searches for a smaller counterexample.
fn shrink_instance(
    rule: &Rule,
    registry: &Arc<Registry>,
    found: &RuleInstance,
    case: Box<RuleCounterexample>,
    seed: u64,
) -> Box<RuleCounterexample> {
    let (mut least, mut best) = (found.size(), case);
    let mut random = InstanceRng::new(!seed);
    for n in 0..MAX_SHRINK_INSTANCES {
        let size = 1 + 2 * n as u64 / MAX_SHRINK_INSTANCES as u64;
        let Some(instance) = RuleInstance::new(rule, registry, &mut random, size) else { continue };
        if instance.size() >= least {
            continue;
        }
        if let InstanceOutcome::Differs(found) = check_instance(rule, &instance, 4, &mut random) {
            (least, best) = (instance.size(), found);
        }
    }
    best
}

enum Application {
    No,
    /// The left side matches, but inference refuses an op of the right side, for this reason.
    Refused(String),
    Unchanged,
    Yes(Box<Function>),
    /// The reason why the right side does not fit, and that side as text if it is known.
    WrongType(String, Option<String>),
}

// Applies a rule at most once.
fn apply_once(rule: &Rule, f: &Function) -> Application {
    let seen: Arc<Mutex<Option<ObservedRhs>>> = Arc::default();
    let mut set = PatternSet::new();
    rule.add_observed(&mut set, seen.clone());
    let mut after = f.clone().with_name("right");
    let config = GreedyConfig {
        enable_constant_fold: false,
        expensive_checks: true,
        floats: rule.floats(),
        max_rewrites: Some(1),
        ..GreedyConfig::default()
    };
    let stats = apply_patterns_and_fold_greedily(&mut after, &set.freeze(), &config);
    let Ok(stats) = stats else { return Application::No };
    // A left side need not state all types: the rule does not apply where its right side does not fit.
    let mut problems = stats.problems;
    let refused = problems.iter().position(|p| matches!(p.kind, ProblemKind::Refused { .. }));
    let refused = refused.map(|at| problems.remove(at).to_string());
    let is_type = |kind: &ProblemKind| matches!(kind, ProblemKind::Type { .. });
    if let Some(problem) = problems.iter().find(|p| !is_type(&p.kind)) {
        if problem.kind == ProblemKind::NothingChanged {
            return Application::Unchanged;
        }
        return Application::WrongType(problem.to_string(), None);
    }
    if stats.rewrites > 0 {
        return Application::Yes(Box::new(after));
    }
    let wrong_type = !problems.is_empty();
    match seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
        // With unknown dims the type of the right side may be less precise; the driver then does not use it.
        Some(seen) if wrong_type || is_static(f) => {
            Application::WrongType(format!("it is {}", seen.types), printed_rhs(f, &seen))
        }
        _ => refused.map_or(Application::No, Application::Refused),
    }
}

// Returns the right side as the text of a function, whatever its types are.
fn printed_rhs(f: &Function, seen: &ObservedRhs) -> Option<String> {
    let mut right = f.clone().with_name("right");
    let end = right.terminator(right.body())?;
    let mut known: Vec<(ValueId, ValueId)> = Vec::new();
    let real = |known: &[(ValueId, ValueId)], value: ValueId| {
        known.iter().find(|(staged, _)| *staged == value).map_or(value, |(_, real)| *real)
    };
    for staged in &seen.staged {
        match staged {
            StagedItem::Op(parts, values) => {
                let mut parts = (**parts).clone();
                for operand in &mut parts.operands {
                    *operand = real(&known, *operand);
                }
                let parts = right.resolve_parts(&parts).ok()?;
                let inst = right.insert(InsertPoint::Before(end), &parts, Span::unknown()).ok()?;
                known.extend(values.iter().copied().zip(right.inst_results(inst)));
            }
            StagedItem::Constant(literal, value) => {
                let made = right.constant(literal, InsertPoint::Before(end), Span::unknown());
                known.push((*value, made));
            }
        }
    }
    let outputs: Vec<ValueId> = seen.values.iter().map(|&value| real(&known, value)).collect();
    let types: Vec<ValueType> = outputs.iter().map(|&v| right.value_type(v).clone()).collect();
    right.set_operands(end, &outputs).ok()?;
    right.set_result_types(&types);
    // Remove the instructions that it does not need.
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

fn type_counterexample(f: &Function, why: String, right: Option<String>) -> RuleCounterexample {
    let types: Vec<String> = f.result_types().iter().map(ToString::to_string).collect();
    RuleCounterexample {
        left: print_function(f),
        right,
        inputs: Vec::new(),
        before: format!("it is {}", types.join(", ")),
        after: why,
        holds_with: None,
    }
}

// Runs both sides on random inputs and shrinks the inputs if they differ.
fn compare(
    pair: &FunctionPair<'_>,
    instance: &RuleInstance,
    after: &Function,
    n: usize,
    seed: u64,
) -> InstanceOutcome {
    let before = &instance.function;
    let constants = notable_constants(&[before, after]);
    let generator = InputGenerator {
        elements: [ElementKind::Plain, ElementKind::Mixed, ElementKind::Mixed, ElementKind::Raw]
            [n % 4],
        extents: OpenExtents::Given(&instance.shapes),
        constants: &constants,
        floats: pair.floats(),
        ..InputGenerator::default()
    };
    let Ok(inputs) = generator.inputs(before, seed) else { return InstanceOutcome::NotApplied };
    let (mut left, mut right) = match compare_on(pair, &inputs) {
        InputOutcome::Different(left, right) => (left, right),
        InputOutcome::Same { has_elements } => return InstanceOutcome::Same { has_elements },
        InputOutcome::NotRun { reason, retry } => return InstanceOutcome::NotRun { reason, retry },
        InputOutcome::NotCompared(reason) => return InstanceOutcome::NotCompared(reason),
    };
    let literals: Option<Vec<TensorLiteral>> = inputs.iter().map(Value::to_literal).collect();
    let Some(mut literals) = literals else { return InstanceOutcome::NotApplied };
    shrink_inputs(pair, &mut literals);
    if let InputOutcome::Different(a, b) = compare_on(pair, &values(&literals)) {
        (left, right) = (a, b);
    }
    let names = before.params().iter().enumerate();
    let shown = names.zip(values(&literals)).map(|((n, &p), value)| {
        let name = before.hint(p).map_or_else(|| n.to_string(), str::to_owned);
        format!("{name} = {value}")
    });
    InstanceOutcome::Differs(Box::new(RuleCounterexample {
        left: print_function(before),
        right: Some(print_function(after)),
        inputs: shown.collect(),
        before: left,
        after: right,
        holds_with: None,
    }))
}

enum InputOutcome {
    /// The results are the same; states whether one of them has elements.
    Same { has_elements: bool },
    /// The results of the sides.
    Different(String, String),
    /// A side could not be run, for this reason.
    NotRun { reason: String, retry: RetryAdvice },
    /// Both were run and nothing was compared, for this reason.
    NotCompared(String),
}

fn compare_on(pair: &FunctionPair<'_>, inputs: &[Value]) -> InputOutcome {
    match pair.run(inputs, &SIDE_LIMITS) {
        PairOutcome::NotRun { reason, retry } => InputOutcome::NotRun { reason, retry },
        PairOutcome::NotComparable { reason } => InputOutcome::NotCompared(reason),
        PairOutcome::Fails { reason, before } => {
            InputOutcome::Different(shown(&before), format!("fails: {reason}"))
        }
        PairOutcome::Ran { results, before, after } => {
            if results.iter().any(|r| r.difference.is_some()) {
                return InputOutcome::Different(shown(&before), shown(&after));
            }
            match results.iter().position(|result| !result.is_conclusive()) {
                None => {
                    let has_elements = results.iter().any(|result| result.elements > 0);
                    InputOutcome::Same { has_elements }
                }
                Some(n) => {
                    let reason = results[n].not_comparable.clone();
                    InputOutcome::NotCompared(reason.unwrap_or_else(|| {
                        format!("every element of result {n} was infinite or NaN")
                    }))
                }
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

// Simplifies elements of the inputs as long as the sides still differ.
fn shrink_inputs(pair: &FunctionPair<'_>, inputs: &mut [TensorLiteral]) {
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
            // Each step simplifies the element; the number of steps is bounded.
            for _ in 0..MAX_STEPS_PER_ELEMENT {
                let old = bytes[place.clone()].to_vec();
                let better = simpler_elements(literal.dtype(), &old).into_iter().any(|simple| {
                    bytes[place.clone()].copy_from_slice(&simple);
                    let tried = TensorLiteral::new(literal.dtype(), literal.shape(), &bytes);
                    let Ok(tried) = tried else { return false };
                    let kept = std::mem::replace(&mut inputs[n], tried);
                    let differs = pair.run(&values(inputs), &SIDE_LIMITS).differs();
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
