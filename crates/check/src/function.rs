//! The check of functions and of whole programs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use sapwood_ptir::eval::{Kernels, RunOptions, Tensor, Value};
use sapwood_ptir::{Attr, Dim, Function, Name, Program, ValueType};
use sapwood_types::{FloatMode, Progress, ProgressCounter, counted};

use crate::elements::elements_as_f64;
use crate::function_pair::{FunctionPair, PairOutcome, ResultComparison, RetryAdvice, RunLimits};
use crate::input_generator::{
    EDGE_COUNT, ElementKind, InputGenerator, OpenExtents, has_only_scalar_params, has_small_param,
};
use crate::input_ranges::{InputRange, search_input_ranges};
use crate::show::abridged;
use crate::suitable_extents::search_extents;
use crate::verdict::{CheckReport, Counterexample, FunctionReport, ResultReport, Verdict};

/// The largest number of constants of the programs that are drawn as inputs.
const MAX_NOTABLE_CONSTANTS: usize = 24;
/// The limits of runs on extreme inputs are divided by this: a loop with the largest integer as its trip count never ends in time.
const EXTREME_LIMIT_DIVISOR: u32 = 10;
/// The number of inputs with random bits that small functions are run on.
const RAW_CASES: usize = 6;
/// The number of inputs with random bits for functions of scalars, whose inputs have only one element each.
const SCALAR_RAW_CASES: usize = 24;

/// The number of inputs that may reach a limit before no more inputs are tried: each of them takes as long as the limit allows.
const MAX_LIMITED_RUNS: usize = 6;
/// If the first inputs reach a limit, they are run once more with this many times the time and the steps: the evaluator takes long for large
/// networks.
const SLOW_LIMIT_FACTOR: u32 = 6;
/// After this many times the time limit of a run, no more inputs are tried if some ran.
const TOTAL_TIME_FACTOR: u32 = 6;
/// The units of progress of one function.
const FUNCTION_UNITS: u64 = 1000;

/// The options of a check.
#[derive(Clone, Default)]
pub struct CheckOptions {
    /// The float mode, which decides which differences are allowed.
    pub floats: FloatMode,
    /// The seed of the random inputs.
    pub seed: u64,
    /// The number of inputs that each function is run on. By default four to six, and more for functions with few input
    /// elements. Functions without parameters are run once.
    pub cases: Option<usize>,
    /// The kind of elements that are drawn; by default all kinds in turn.
    pub elements: Option<ElementKind>,
    /// The inputs for functions, by name: those functions are run on these and not on drawn inputs.
    pub inputs: Vec<(Name, Vec<Value>)>,
    /// The limits of each run.
    pub limits: RunLimits,
    /// Allows the second program to lack public functions of the first: they are listed and not a difference.
    pub allow_removed: bool,
    /// The kernels besides those of the ops, such as implementations of custom calls.
    pub kernels: Option<Arc<dyn Kernels>>,
}

impl fmt::Debug for CheckOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckOptions")
            .field("floats", &self.floats)
            .field("seed", &self.seed)
            .field("cases", &self.cases)
            .field("elements", &self.elements)
            .field("inputs", &self.inputs.len())
            .field("limits", &self.limits)
            .field("allow_removed", &self.allow_removed)
            .field("kernels", &self.kernels.is_some())
            .finish()
    }
}

/// Checks that two programs compute the same: runs every function that both have. A public function that the second one
/// lacks is a difference, unless [`CheckOptions::allow_removed`] is set; a private one may be removed.
#[must_use]
pub fn compare(before: &Program, after: &Program, options: &CheckOptions) -> CheckReport {
    let mut report = CheckReport::default();
    Progress::expect(FUNCTION_UNITS * before.functions().len() as u64);
    for f in before.functions() {
        let is_removed = after.function(f.name()).is_none();
        if is_removed && f.is_private() {
            continue;
        }
        if is_removed && options.allow_removed {
            report.removed.push(f.name());
            continue;
        }
        report.functions.push(match is_removed {
            true => FunctionReport::removed(f.name()),
            false => compare_function(before, after, f.name(), options),
        });
        if report.verdict() == Verdict::Different {
            break;
        }
    }
    // Programs that have no function in common were not checked.
    if let (true, Some(f)) = (report.functions.is_empty(), before.functions().first()) {
        report.functions.push(compare_function(before, after, f.name(), options));
    }
    report
}

/// Checks that a function computes the same in two programs.
#[must_use]
pub fn compare_function(
    before: &Program,
    after: &Program,
    name: Name,
    options: &CheckOptions,
) -> FunctionReport {
    let (Some(f), Some(g)) = (before.function(name), after.function(name)) else {
        let mut report = FunctionReport::new(name, 0);
        report.reason = Some(format!("@{name} is not a function of both programs"));
        return report;
    };
    if let Some(place) = different_inputs(f, g) {
        return FunctionReport::without_runs(name, place);
    }
    let mut report = FunctionReport::new(name, f.result_types().len());
    let (first, second) = (with_callees(before, f), with_callees(after, g));
    let pair = match FunctionPair::new(
        (&first, name),
        (&second, name),
        options.floats,
        options.kernels.clone(),
    ) {
        Ok(pair) => pair,
        Err(why) => {
            report.reason = Some(why.to_string());
            return report;
        }
    };
    let mut check = FunctionCheck {
        f,
        options,
        pair,
        found: vec![ResultComparison::default(); report.results.len()],
        found_in_ranges: vec![ResultComparison::default(); report.results.len()],
        in_found_ranges: false,
        stopped: false,
        started: Instant::now(),
        operands: BTreeMap::new(),
        report: &mut report,
        progress: Progress::expected_counter(FUNCTION_UNITS),
    };
    // A run is a part of the check, and reports no progress of its own.
    Progress::unobserved(|| check.run(&first, g));
    check.record_verdicts(g);
    report
}

// Returns a description of the first difference between the inputs of two functions, if one has inputs that the other does not take.
fn different_inputs(f: &Function, g: &Function) -> Option<String> {
    let (name, inputs) = (f.name(), |f: &Function| counted(f.params().len(), "input"));
    if f.params().len() != g.params().len() {
        return Some(format!("@{name} takes {} before and {} afterwards", inputs(f), inputs(g)));
    }
    let types =
        f.params().iter().zip(g.params()).map(|(&p, &q)| (f.value_type(p), g.value_type(q)));
    let (n, (p, q)) = types.enumerate().find(|(_, (p, q))| !p.compatible(q))?;
    Some(format!("input {n} of @{name} is {p} before and {q} afterwards"))
}

// Returns a program of the function and all its callees, so that nothing else is verified.
fn with_callees(program: &Program, f: &Arc<Function>) -> Program {
    let mut part = Program::new(program.registry().clone());
    let mut left = vec![f.clone()];
    while let Some(f) = left.pop() {
        let callees = f.walk().filter_map(|inst| match f.attr(inst, "callee") {
            Some(Attr::Func(name)) => program.function(*name).cloned(),
            _ => None,
        });
        let callees: Vec<Arc<Function>> = callees.collect();
        if part.add(f).is_ok() {
            left.extend(callees.into_iter().filter(|g| part.function(g.name()).is_none()));
        }
    }
    part
}

/// Returns numbers at which two functions may begin to differ: their constants, and those plus and minus one.
#[must_use]
pub fn notable_constants(functions: &[&Function]) -> Vec<f64> {
    let mut known: Vec<f64> = Vec::new();
    for f in functions {
        for inst in f.walk() {
            let Some(literal) = f.value_of(inst).and_then(|v| f.constant_of(v)) else { continue };
            if literal.as_splat().is_none() || known.len() >= MAX_NOTABLE_CONSTANTS {
                continue;
            }
            let Ok(tensor) = Tensor::from_literal(literal) else { continue };
            if tensor.dtype().is_bool()
                || tensor.dtype().byte_size() == 8 && !tensor.dtype().is_float()
            {
                continue;
            }
            for x in elements_as_f64(&tensor.part(0, [])).into_iter().filter(|x| x.is_finite()) {
                for near in [x, x + 1.0, x - 1.0] {
                    if !known.contains(&near) {
                        known.push(near);
                    }
                }
            }
        }
    }
    known
}

struct FunctionCheck<'a> {
    f: &'a Function,
    options: &'a CheckOptions,
    pair: FunctionPair<'a>,
    // The comparison of each result, summed over all inputs.
    found: Vec<ResultComparison>,
    // The comparison of each result, summed over the inputs in ranges that suit the program.
    found_in_ranges: Vec<ResultComparison>,
    // Whether the current inputs are drawn from these ranges.
    in_found_ranges: bool,
    // Whether other inputs are not worth trying.
    stopped: bool,
    started: Instant,
    // The comparison of each operand of a custom call and of the sequence of calls, summed over all inputs, by place.
    operands: BTreeMap<String, ResultComparison>,
    report: &'a mut FunctionReport,
    progress: ProgressCounter,
}

/// A plan for drawing one of the inputs.
#[derive(Clone, Copy)]
struct InputPlan {
    elements: ElementKind,
    extents: OpenExtents<'static>,
    /// Draws from the ranges that the search found.
    in_found_ranges: bool,
}

impl FunctionCheck<'_> {
    fn run(&mut self, before: &Program, after: &Function) {
        let f = self.f;
        let CheckOptions { seed, limits, .. } = *self.options;
        let given = &self.options.inputs;
        let mut given = given.iter().filter(|(name, _)| *name == f.name()).peekable();
        if given.peek().is_some() {
            given.all(|(_, inputs)| self.check_inputs(inputs, &limits) != RetryAdvice::Pointless);
            return;
        }
        if f.params().is_empty() {
            self.check_inputs(&[], &limits);
            return;
        }
        let run = RunOptions {
            max_steps: Some(limits.max_steps),
            time_limit: Some(limits.time),
            max_bytes: limits.max_bytes,
            kernels: self.options.kernels.clone(),
            ..RunOptions::default()
        };
        let ranges = search_input_ranges(before, f, OpenExtents::Same, seed, &run);
        let constants = notable_constants(&[f, after]);
        let plans = match self.options.elements {
            Some(elements) => {
                let own = has_open_params(f);
                vec![InputPlan {
                    elements,
                    extents: if own { OpenExtents::Own } else { OpenExtents::Same },
                    in_found_ranges: elements == ElementKind::Plain,
                }]
            }
            None => input_plans(f, &ranges),
        };
        let cases = self.options.cases.unwrap_or(plans.len());
        self.run_plans(&plans, cases, &ranges, &constants);
        let is_stopped = self.stopped || self.report.difference.is_some();
        let has_compared = self.found.iter().any(|result| result.compared > 0);
        // A caller who gives the number of inputs gets no others.
        let is_exact = self.options.cases.is_some();
        if is_stopped || has_compared || is_exact || !has_open_params(f) {
            return;
        }
        // Small extents do not suit the function: a network may halve them five times, or cut them into frames.
        let found = search_extents(before, f, &ranges, seed, &run);
        let Some(&first) = found.first() else { return };
        let ranges = search_input_ranges(before, f, first, seed, &run);
        let elements = match self.options.elements {
            Some(elements) => vec![elements],
            None => vec![ElementKind::Plain, ElementKind::Mixed],
        };
        let plans = elements.iter().flat_map(|&elements| {
            let in_found_ranges = elements == ElementKind::Plain;
            found.iter().map(move |&extents| InputPlan { elements, extents, in_found_ranges })
        });
        let plans: Vec<InputPlan> = plans.collect();
        self.run_plans(&plans, plans.len(), &ranges, &constants);
    }

    // Runs both programs on inputs drawn by plans in turn.
    fn run_plans(
        &mut self,
        plans: &[InputPlan],
        cases: usize,
        ranges: &[InputRange],
        constants: &[f64],
    ) {
        let f = self.f;
        let CheckOptions { seed, limits, .. } = *self.options;
        // Operands that are shapes stay small, whatever else is drawn.
        let shapes: Vec<InputRange> = (ranges.iter())
            .map(|&range| match range {
                InputRange::Extents(_) => range,
                _ => InputRange::Any,
            })
            .collect();
        let total_time = limits.time.saturating_mul(TOTAL_TIME_FACTOR);
        let (mut limited_runs, mut needs_time) = (0, false);
        for n in 0..cases {
            // The search for ranges counts as one more case.
            self.progress.reach(FUNCTION_UNITS * (n as u64 + 1) / (cases as u64 + 1));
            let plan = plans[n % plans.len()];
            self.in_found_ranges = plan.in_found_ranges;
            let generator = InputGenerator {
                elements: plan.elements,
                extents: plan.extents,
                ranges: if plan.in_found_ranges { ranges } else { &shapes },
                constants,
                floats: self.options.floats,
            };
            let divisor =
                if plan.elements == ElementKind::Plain { 1 } else { EXTREME_LIMIT_DIVISOR };
            let limits = RunLimits {
                max_steps: limits.max_steps / u64::from(divisor),
                time: limits.time / divisor,
                ..limits
            };
            let is_first = plan.elements == ElementKind::Plain && self.report.runs == 0;
            let retry = match generator.inputs(f, seed.wrapping_add(n as u64)) {
                Ok(inputs) => match self.check_inputs(&inputs, &limits) {
                    RetryAdvice::AfterLimit if is_first && limited_runs == 0 => {
                        needs_time = true;
                        self.report.not_run -= 1;
                        self.report.reason = None;
                        let limits = RunLimits {
                            max_steps: limits.max_steps.saturating_mul(SLOW_LIMIT_FACTOR.into()),
                            time: limits.time.saturating_mul(SLOW_LIMIT_FACTOR),
                            ..limits
                        };
                        self.check_inputs(&inputs, &limits)
                    }
                    retry => retry,
                },
                Err(why) => {
                    self.report.not_run += 1;
                    self.report.reason.get_or_insert(format!("@{}: {why}", f.name()));
                    RetryAdvice::Pointless
                }
            };
            let reached_limit = retry == RetryAdvice::AfterLimit;
            limited_runs += usize::from(reached_limit);
            // If the first plain inputs reach a limit, the others do so too.
            let is_slow = reached_limit && is_first;
            // One input is enough if it takes that long.
            let is_over =
                self.report.runs > 0 && (needs_time || self.started.elapsed() > total_time);
            if is_over {
                break;
            }
            if retry == RetryAdvice::Pointless || is_slow || limited_runs == MAX_LIMITED_RUNS {
                self.stopped = true;
                break;
            }
        }
    }

    // Runs both programs. Returns whether to try other inputs; after a difference that is pointless.
    fn check_inputs(&mut self, inputs: &[Value], limits: &RunLimits) -> RetryAdvice {
        let name = self.f.name();
        let texts = || inputs.iter().map(abridged).collect();
        match self.pair.run(inputs, limits) {
            PairOutcome::NotRun { reason, retry } => {
                self.report.not_run += 1;
                self.report.reason.get_or_insert(reason);
                retry
            }
            PairOutcome::NotComparable { reason } => {
                let why = format!(
                    "@{name} fails only afterwards, and changes that the float mode allows decide whether it does: {reason}"
                );
                // Without parameters there are no other inputs. With parameters nothing was compared on these.
                if self.f.params().is_empty() {
                    self.report.runs += 1;
                    self.report.not_comparable.get_or_insert(why);
                } else {
                    self.report.not_run += 1;
                    self.report.reason.get_or_insert(why);
                }
                RetryAdvice::Worthwhile
            }
            PairOutcome::Fails { reason, before } => {
                self.report.runs += 1;
                self.report.difference = Some(Counterexample {
                    place: format!("fails only afterwards: {reason}"),
                    inputs: texts(),
                    values: Some(inputs.to_vec()),
                    before: before.iter().map(abridged).collect(),
                    after: None,
                });
                RetryAdvice::Pointless
            }
            PairOutcome::Ran { results, before, after } => {
                self.report.runs += 1;
                for (n, result) in results.into_iter().enumerate() {
                    if let Some(place) = &result.difference {
                        // The sequence of custom calls has no value.
                        let text = |values: &[Value]| values.get(n).map(abridged);
                        self.report.difference.get_or_insert_with(|| Counterexample {
                            place: format!("@{name}, {place}"),
                            inputs: texts(),
                            values: Some(inputs.to_vec()),
                            before: text(&before).into_iter().collect(),
                            after: text(&after),
                        });
                    }
                    match self.found.get_mut(n) {
                        Some(found) => {
                            if self.in_found_ranges {
                                self.found_in_ranges[n].add(result.clone());
                            }
                            found.add(result);
                        }
                        None => match self.operands.get_mut(&result.place) {
                            Some(found) => found.add(result),
                            None => {
                                self.operands.insert(result.place.clone(), result);
                            }
                        },
                    }
                }
                match self.report.difference {
                    Some(_) => RetryAdvice::Pointless,
                    None => RetryAdvice::Worthwhile,
                }
            }
        }
    }

    fn record_verdicts(&mut self, after: &Function) {
        // All inputs of a function without parameters were tried.
        let complete = self.f.params().is_empty() && !self.options.floats.fast();
        let runs = self.report.runs;
        for (n, (found, report)) in self.found.iter().zip(&mut self.report.results).enumerate() {
            let constant =
                |f: &Function| f.results().get(n).and_then(|&v| f.constant_of(v)).cloned();
            let known = constant(self.f).is_some_and(|c| constant(after) == Some(c));
            let seen = found.is_conclusive() || complete || known;
            // Inputs that suit the program have to show something alone. On other inputs its results may be saturated, and agree
            // whatever the program computes.
            let in_ranges = &self.found_in_ranges[n];
            let line = in_ranges.not_comparable.as_ref().filter(|_| !in_ranges.is_conclusive());
            let open_in_ranges = line.map(|line| mostly_not_comparable(in_ranges, line));
            let (verdict, reason) = match found {
                _ if runs == 0 => (Verdict::NotChecked, self.report.reason.clone()),
                ResultComparison { difference: Some(line), .. } => {
                    (Verdict::Different, Some(line.clone()))
                }
                _ if open_in_ranges.is_some() => (Verdict::NotChecked, open_in_ranges),
                // Without parameters there are no other inputs.
                ResultComparison { not_comparable: Some(line), .. }
                    if seen || self.f.params().is_empty() =>
                {
                    (Verdict::NotComparable, Some(line.clone()))
                }
                ResultComparison { not_comparable: Some(line), .. } => {
                    (Verdict::NotChecked, Some(mostly_not_comparable(found, line)))
                }
                _ if !seen => {
                    (Verdict::NotChecked, Some(never_finite(found, &format!("result {n}"))))
                }
                _ if found.max_difference > 0.0 => (Verdict::WithinTolerance, None),
                _ => (Verdict::Same, None),
            };
            *report = ResultReport {
                verdict,
                reason,
                compared: found.compared,
                max_difference: found.max_difference,
            };
        }
        self.record_operands();
    }

    // Judges operands like results. Without parameters there are no other inputs, and operands that are not finite do not count: most of
    // them are the expected values of tests.
    fn record_operands(&mut self) {
        let has_params = !self.f.params().is_empty();
        let name = self.f.name();
        for (place, found) in &self.operands {
            match &found.not_comparable {
                _ if found.difference.is_some() => {}
                Some(line) if has_params && !found.is_conclusive() => {
                    self.report
                        .not_checked
                        .get_or_insert_with(|| mostly_not_comparable(found, line));
                }
                Some(line) => {
                    self.report.not_comparable.get_or_insert_with(|| format!("@{name}, {line}"));
                }
                None if has_params && !found.is_conclusive() => {
                    self.report.not_checked.get_or_insert_with(|| never_finite(found, place));
                }
                None => {}
            }
        }
    }
}

fn mostly_not_comparable(found: &ResultComparison, line: &str) -> String {
    match found.compared > found.incomparable {
        true => format!("too few elements besides those of one value are comparable: {line}"),
        false => format!("too many elements are not comparable: {line}"),
    }
}

fn never_finite(found: &ResultComparison, place: &str) -> String {
    let kind = match found {
        _ if found.nan == found.elements => "was NaN",
        _ if found.nan == 0 => "was infinite",
        _ => "was infinite or NaN",
    };
    format!("every element of {place} {kind}")
}

impl ResultComparison {
    fn add(&mut self, other: Self) {
        self.elements += other.elements;
        self.compared += other.compared;
        self.nan += other.nan;
        self.incomparable += other.incomparable;
        self.uninformative += other.uninformative;
        self.max_difference = self.max_difference.max(other.max_difference);
        self.not_comparable = self.not_comparable.take().or(other.not_comparable);
        self.difference = self.difference.take().or(other.difference);
    }
}

fn input_plans(f: &Function, ranges: &[InputRange]) -> Vec<InputPlan> {
    let plan =
        |elements, extents, in_found_ranges| InputPlan { elements, extents, in_found_ranges };
    let same = OpenExtents::Same;
    let open = has_open_params(f);
    let own = if open { OpenExtents::Own } else { same };
    let mut input_plans = vec![
        plan(ElementKind::Plain, same, true),
        plan(ElementKind::Plain, own, true),
        plan(ElementKind::Mixed, same, false),
        plan(ElementKind::Mixed, own, false),
    ];
    if open {
        for extents in [OpenExtents::Smallest(0), OpenExtents::Smallest(1), own, own] {
            input_plans.push(plan(ElementKind::Plain, extents, true));
        }
    }
    if ranges.iter().any(|&range| range != InputRange::Any) {
        input_plans.push(plan(ElementKind::Plain, same, false));
        input_plans.push(plan(ElementKind::Mixed, same, true));
    }
    if has_small_param(f) {
        input_plans.extend((0..EDGE_COUNT).map(|edge| plan(ElementKind::Turn(edge), same, false)));
        let rounds = if has_only_scalar_params(f) { SCALAR_RAW_CASES } else { RAW_CASES };
        for n in 0..rounds {
            let extents = if n % 2 == 1 { own } else { same };
            input_plans.push(plan(ElementKind::Raw, extents, false));
            input_plans.push(plan(ElementKind::Mixed, same, n % 2 == 1));
        }
    }
    input_plans
}

fn has_open_params(f: &Function) -> bool {
    f.params().iter().any(|&p| has_open_dims(f.value_type(p)))
}

// Types nest at most 64 deep.
fn has_open_dims(ty: &ValueType) -> bool {
    match ty {
        ValueType::Tensor(ty) => ty.dims.iter().any(|dim| !matches!(dim, Dim::Known(_))),
        ValueType::Tuple(types) => types.iter().any(has_open_dims),
        ValueType::Token | ValueType::Opaque => false,
    }
}
