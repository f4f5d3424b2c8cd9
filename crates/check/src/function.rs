//! The check of functions and of whole programs.

use std::fmt;
use std::sync::Arc;

use sapwood_ptir::eval::{Kernels, RunOptions, Tensor, Value};
use sapwood_ptir::{Attr, Dim, Function, Name, Program, ValueType};
use sapwood_types::FloatMode;

use crate::draw::{Draw, EDGES, Elements, Extents, Range, is_scalar, is_small};
use crate::numbers::numbers;
use crate::pair::{Case, CaseResult, Limits, OtherInputs, Pair};
use crate::ranges::fitting_ranges;
use crate::show::shown;
use crate::verdict::{CheckReport, Counterexample, FunctionReport, ResultReport, Verdict};

/// The most constants of the programs that are drawn as inputs.
const MAX_KNOWN_NUMBERS: usize = 24;
/// Runs on inputs with extremes have this part of the limits: the largest integer as a number of iterations leads nowhere.
const PART_FOR_EXTREMES: u32 = 10;
/// The number of inputs of any bits that small functions are run on.
const RAW_CASES: usize = 6;
/// Their number for functions of scalars, of which an input has only one each.
const SCALAR_RAW_CASES: usize = 24;

/// The number of inputs with extremes that may reach a limit before no more inputs are tried: each of them takes its
/// time.
const MAX_LIMITED_RUNS: usize = 6;

/// How programs are checked.
#[derive(Clone, Default)]
pub struct CheckOptions {
    /// What may differ.
    pub floats: FloatMode,
    /// Where the random numbers start.
    pub seed: u64,
    /// The number of inputs that each function is run on; if it is not given, four or five, and more for functions with
    /// few input elements. Functions without parameters are run once.
    pub cases: Option<usize>,
    /// The kind of elements that are drawn; all kinds in turn if it is not given.
    pub elements: Option<Elements>,
    /// Inputs for functions, by name: those functions are run on these and not on drawn inputs.
    pub inputs: Vec<(Name, Vec<Value>)>,
    /// The limits of each run.
    pub limits: Limits,
    /// Whether the second program may lack public functions of the first. They are reported, and no difference.
    pub allow_removed: bool,
    /// Kernels besides those of the ops, such as implementations of custom calls.
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
        report.reason = Some(format!("there is no function @{name} in both programs"));
        return report;
    };
    let mut report = FunctionReport::new(name, f.result_types().len());
    let (first, second) = (with_callees(before, f), with_callees(after, g));
    let pair =
        match Pair::new((&first, name), (&second, name), options.floats, options.kernels.clone()) {
            Ok(pair) => pair,
            Err(why) => {
                report.reason = Some(why.to_string());
                return report;
            }
        };
    let mut check = Check {
        f,
        options,
        pair,
        found: vec![CaseResult::default(); report.results.len()],
        report: &mut report,
    };
    check.run(&first, g);
    check.conclude(g);
    report
}

// The function and all that it calls, so that nothing else is verified.
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

/// Returns numbers at which two functions may begin to differ: the constants they contain, and those one away.
#[must_use]
pub fn known_numbers(functions: &[&Function]) -> Vec<f64> {
    let mut known: Vec<f64> = Vec::new();
    for f in functions {
        for inst in f.walk() {
            let Some(literal) = f.value_of(inst).and_then(|v| f.constant_of(v)) else { continue };
            if literal.as_splat().is_none() || known.len() >= MAX_KNOWN_NUMBERS {
                continue;
            }
            let Ok(tensor) = Tensor::from_literal(literal) else { continue };
            if tensor.dtype().is_bool()
                || tensor.dtype().byte_size() == 8 && !tensor.dtype().is_float()
            {
                continue;
            }
            for x in numbers(&tensor.part(0, [])).into_iter().filter(|x| x.is_finite()) {
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

struct Check<'a> {
    f: &'a Function,
    options: &'a CheckOptions,
    pair: Pair<'a>,
    // What was found about each result, over all inputs.
    found: Vec<CaseResult>,
    report: &'a mut FunctionReport,
}

/// One of the inputs.
#[derive(Clone, Copy)]
struct Plan {
    elements: Elements,
    own_extents: bool,
    /// Whether the ranges are those that were found to fit.
    fitting: bool,
}

impl Check<'_> {
    fn run(&mut self, before: &Program, after: &Function) {
        let f = self.f;
        let CheckOptions { seed, limits, .. } = *self.options;
        let given = &self.options.inputs;
        let mut given = given.iter().filter(|(name, _)| *name == f.name()).peekable();
        if given.peek().is_some() {
            given.all(|(_, inputs)| self.case(inputs, &limits) != OtherInputs::Useless);
            return;
        }
        if f.params().is_empty() {
            self.case(&[], &limits);
            return;
        }
        let run = RunOptions {
            max_steps: Some(limits.max_steps),
            time_limit: Some(limits.time),
            max_bytes: limits.max_bytes,
            kernels: self.options.kernels.clone(),
            ..RunOptions::default()
        };
        let ranges = fitting_ranges(before, f, seed, &run);
        let known = known_numbers(&[f, after]);
        let plans = match self.options.elements {
            Some(elements) => {
                let own_extents = has_open_params(f);
                vec![Plan { elements, own_extents, fitting: elements == Elements::Plain }]
            }
            None => plans(f, &ranges),
        };
        let cases = self.options.cases.unwrap_or(plans.len());
        let mut limited = 0;
        for n in 0..cases {
            let plan = plans[n % plans.len()];
            let draw = Draw {
                elements: plan.elements,
                extents: if plan.own_extents { Extents::Own } else { Extents::Same },
                ranges: if plan.fitting { &ranges } else { &[] },
                known: &known,
                floats: self.options.floats,
            };
            let part = if plan.elements == Elements::Plain { 1 } else { PART_FOR_EXTREMES };
            let limits = Limits {
                max_steps: limits.max_steps / u64::from(part),
                time: limits.time / part,
                ..limits
            };
            let next = match draw.inputs(f, seed.wrapping_add(n as u64)) {
                Ok(inputs) => self.case(&inputs, &limits),
                Err(why) => {
                    self.report.not_run += 1;
                    self.report.reason.get_or_insert(format!("@{}: {why}", f.name()));
                    OtherInputs::Useless
                }
            };
            let reached_limit = next == OtherInputs::MayBeFaster;
            limited += usize::from(reached_limit);
            // If the first plain inputs reach a limit, the others do so too.
            let is_slow =
                reached_limit && plan.elements == Elements::Plain && self.report.runs == 0;
            if next == OtherInputs::Useless || is_slow || limited == MAX_LIMITED_RUNS {
                break;
            }
        }
    }

    // Runs both programs. Returns the prospect of other inputs; after a difference they are not needed.
    fn case(&mut self, inputs: &[Value], limits: &Limits) -> OtherInputs {
        let name = self.f.name();
        let texts = || inputs.iter().map(shown).collect();
        match self.pair.run(inputs, limits) {
            Case::NotRun { reason, next } => {
                self.report.not_run += 1;
                self.report.reason.get_or_insert(reason);
                next
            }
            Case::NotComparable { reason } => {
                let why = format!(
                    "@{name} fails only afterwards, and changes that the float mode allows decide whether it does: {reason}"
                );
                // Without parameters there are no better inputs; otherwise these compared nothing.
                if self.f.params().is_empty() {
                    self.report.runs += 1;
                    self.report.not_comparable.get_or_insert(why);
                } else {
                    self.report.not_run += 1;
                    self.report.reason.get_or_insert(why);
                }
                OtherInputs::MayRun
            }
            Case::Fails { reason, before } => {
                self.report.runs += 1;
                self.report.difference = Some(Counterexample {
                    place: format!("fails only afterwards: {reason}"),
                    inputs: texts(),
                    before: before.iter().map(shown).collect(),
                    after: None,
                });
                OtherInputs::Useless
            }
            Case::Ran { results, before, after } => {
                self.report.runs += 1;
                for (n, result) in results.into_iter().enumerate() {
                    if let Some(place) = &result.difference {
                        let text = |values: &[Value]| values.get(n).map_or_else(String::new, shown);
                        self.report.difference.get_or_insert_with(|| Counterexample {
                            place: format!("@{name}, {place}"),
                            inputs: texts(),
                            before: vec![text(&before)],
                            after: Some(text(&after)),
                        });
                    }
                    match (self.found.get_mut(n), result.not_comparable) {
                        (Some(found), not_comparable) => {
                            found.add(CaseResult { not_comparable, ..result });
                        }
                        // An operand of a custom call.
                        (None, Some(line)) => {
                            self.report.not_comparable.get_or_insert(format!("@{name}, {line}"));
                        }
                        (None, None) => {}
                    }
                }
                match self.report.difference {
                    Some(_) => OtherInputs::Useless,
                    None => OtherInputs::MayRun,
                }
            }
        }
    }

    fn conclude(&mut self, after: &Function) {
        // All inputs of a function without parameters were tried.
        let complete = self.f.params().is_empty() && !self.options.floats.fast();
        let runs = self.report.runs;
        for (n, (found, report)) in self.found.iter().zip(&mut self.report.results).enumerate() {
            let constant =
                |f: &Function| f.results().get(n).and_then(|&v| f.constant_of(v)).cloned();
            let known = constant(self.f).is_some_and(|c| constant(after) == Some(c));
            let seen = found.is_seen() || complete || known;
            let (verdict, reason) = match found {
                _ if runs == 0 => (Verdict::NotChecked, self.report.reason.clone()),
                CaseResult { difference: Some(line), .. } => {
                    (Verdict::Different, Some(line.clone()))
                }
                // Without parameters there are no better inputs.
                CaseResult { not_comparable: Some(line), .. }
                    if seen || self.f.params().is_empty() =>
                {
                    (Verdict::NotComparable, Some(line.clone()))
                }
                CaseResult { not_comparable: Some(line), .. } => {
                    let line = format!("most of what differs is not comparable: {line}");
                    (Verdict::NotChecked, Some(line))
                }
                _ if !seen => {
                    let kind = match found {
                        _ if found.nan == found.elements => "was NaN",
                        _ if found.nan == 0 => "was infinite",
                        _ => "was infinite or NaN",
                    };
                    let line = format!("every element of result {n} {kind}");
                    (Verdict::NotChecked, Some(line))
                }
                _ if found.worst > 0.0 => (Verdict::WithinTolerance, None),
                _ => (Verdict::Same, None),
            };
            *report =
                ResultReport { verdict, reason, compared: found.compared, worst: found.worst };
        }
    }
}

impl CaseResult {
    fn add(&mut self, other: Self) {
        self.elements += other.elements;
        self.compared += other.compared;
        self.nan += other.nan;
        self.incomparable += other.incomparable;
        self.worst = self.worst.max(other.worst);
        self.not_comparable = self.not_comparable.take().or(other.not_comparable);
        self.difference = self.difference.take().or(other.difference);
    }
}

fn plans(f: &Function, ranges: &[Range]) -> Vec<Plan> {
    let plan = |elements, own_extents, fitting| Plan { elements, own_extents, fitting };
    let open = has_open_params(f);
    let mut plans = vec![
        plan(Elements::Plain, false, true),
        plan(Elements::Plain, open, true),
        plan(Elements::Mixed, false, false),
        plan(Elements::Mixed, open, false),
    ];
    if ranges.iter().any(|&range| range != Range::Any) {
        plans.push(plan(Elements::Plain, false, false));
        plans.push(plan(Elements::Mixed, false, true));
    }
    if is_small(f) {
        plans.extend((0..EDGES).map(|edge| plan(Elements::Turn(edge), false, false)));
        let rounds = if is_scalar(f) { SCALAR_RAW_CASES } else { RAW_CASES };
        for n in 0..rounds {
            plans.push(plan(Elements::Raw, open && n % 2 == 1, false));
            plans.push(plan(Elements::Mixed, false, n % 2 == 1));
        }
    }
    plans
}

fn has_open_params(f: &Function) -> bool {
    f.params().iter().any(|&p| has_open_dims(f.value_type(p)))
}

// Types nest at most 64 deep.
fn has_open_dims(ty: &ValueType) -> bool {
    match ty {
        ValueType::Tensor(ty) => ty.dims.iter().any(|dim| !matches!(dim, Dim::Known(_))),
        ValueType::Tuple(types) => types.iter().any(has_open_dims),
        ValueType::Token => false,
    }
}
