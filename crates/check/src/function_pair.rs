//! Runs of two functions on the same inputs, and the comparison of their results.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sapwood_ptir::eval::{EvalError, Fault, Kernels, Prepared, RunOptions, Tensor, Value};
use sapwood_ptir::{Name, Program};
use sapwood_types::FloatMode;

use crate::elements::{comparison_bytes, majority, paired_elements, unit};
use crate::perturbation::{self, PerturbationStyle};
use crate::perturbed_runs::{NumberPlace, OpenCause, PerturbedRuns};
use crate::recorded_calls::{CallRecorder, CallSignature, RecordedCalls};
use crate::show::{element, position};

/// Differences up to this many units in the last place of the largest element of a tensor are always rounding;
/// differences below [`SMALL_DIFFERENCE`] may be more units.
const MAX_ROUNDING_UNITS: f64 = 4.0;
/// Differences up to this part of the largest element may be [`MAX_SMALL_ROUNDING_UNITS`] units.
const SMALL_DIFFERENCE: f64 = 1e-6;
/// The largest rounding error, in units in the last place, of differences below [`SMALL_DIFFERENCE`].
const MAX_SMALL_ROUNDING_UNITS: f64 = 32.0;
/// Differences up to this many times the spread of a result under changed rounding are rounding. The runs are few, and
/// reassociation moves a sum by more than one unit.
pub(crate) const SPREAD_FACTOR: f64 = 2.0;
/// Differences that rounding explains are not comparable if they are larger than this part of the largest element.
const LARGE_DIFFERENCE: f64 = 1e-3;
/// The step and time limits of the second program are this many times those of the first.
const SECOND_RUN_LIMIT_FACTOR: u32 = 4;
/// The second program may take this many times as long as the first did, so that an endless loop is found soon.
const SECOND_RUN_TIME_FACTOR: u32 = 16;
/// The second program may always take this long, because machines pause.
const MIN_SECOND_RUN_TIME: Duration = Duration::from_secs(2);

/// The limits of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunLimits {
    /// The largest number of steps, as [`RunOptions::max_steps`] counts them.
    pub max_steps: u64,
    /// The longest time.
    pub time: Duration,
    /// The largest number of bytes that live values take.
    pub max_bytes: u64,
}

impl Default for RunLimits {
    /// 100,000,000 steps, 10 seconds, 8 GiB.
    fn default() -> Self {
        Self { max_steps: 100_000_000, time: Duration::from_secs(10), max_bytes: 8 << 30 }
    }
}

/// Advice about trying other inputs, where a function could not be run on some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetryAdvice {
    /// Other inputs may run.
    Worthwhile,
    /// A limit was reached; other inputs may need fewer steps, less time or less memory.
    AfterLimit,
    /// Other inputs cannot be run either: an op has no evaluation.
    Pointless,
}

/// The outcome of running two functions on the same inputs.
#[derive(Clone, Debug)]
pub enum PairOutcome {
    /// One of them could not be run, so that nothing was compared.
    NotRun {
        /// The error of the run.
        reason: String,
        /// Advice about trying other inputs.
        retry: RetryAdvice,
    },
    /// The second one fails where the first does not.
    Fails {
        /// The error of the run.
        reason: String,
        /// The results of the first.
        before: Vec<Value>,
    },
    /// The second one fails, but changes that the float mode allows decide whether it does.
    NotComparable {
        /// The error of the run.
        reason: String,
    },
    /// Both ran.
    Ran {
        /// The comparison of each result, then that of each operand of the custom calls that only have effects, then that
        /// of the sequence of these calls: their targets, configs and types of operands. If the sequences differ, no
        /// operands are compared.
        results: Vec<ResultComparison>,
        /// The results of the first, then the operands that were compared.
        before: Vec<Value>,
        /// The results of the second, then the operands that were compared.
        after: Vec<Value>,
    },
}

impl PairOutcome {
    /// Returns whether the functions differ by more than the float mode allows.
    #[must_use]
    pub fn differs(&self) -> bool {
        match self {
            Self::NotRun { .. } | Self::NotComparable { .. } => false,
            Self::Fails { .. } => true,
            Self::Ran { results, .. } => results.iter().any(|r| r.difference.is_some()),
        }
    }
}

/// The comparison of one result.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ResultComparison {
    /// The name of the result or operand in messages, such as `result 0`.
    pub place: String,
    /// The number of elements; a splat counts as one.
    pub elements: u64,
    /// The number of elements that were compared; of floats only the finite ones.
    pub compared: u64,
    /// The number of elements that are NaN before or after.
    pub nan: u64,
    /// The number of elements that differ and are not comparable.
    pub incomparable: u64,
    /// The number of compared elements that say nothing about the others: on inputs on which floats of a tensor are not
    /// comparable, the equal elements that have its most common value, if changed rounding does not move them by a little.
    pub uninformative: u64,
    /// The largest difference of floats that is within tolerance, as a part of the largest element of its tensor that differs.
    pub max_difference: f64,
    /// The place, the two values and the cause of the first element that is not comparable.
    pub not_comparable: Option<String>,
    /// The place and the two values of the first element that differs.
    pub difference: Option<String>,
}

impl ResultComparison {
    /// Returns whether more elements that carry information were compared than are not comparable. If the float mode has to
    /// excuse most of them, nothing was checked.
    #[must_use]
    pub fn is_conclusive(&self) -> bool {
        self.elements == 0 || self.compared > self.incomparable + self.uninformative
    }
}

/// A function of one program and a function of another, ready to be run on the same inputs.
pub struct FunctionPair<'p> {
    programs: [&'p Program; 2],
    names: [Name; 2],
    prepared: [Prepared; 2],
    floats: FloatMode,
    kernels: Option<Arc<dyn Kernels>>,
    recorders: [CallRecorder; 2],
    // One run at a time: the recorders belong to the prepared functions.
    running: Mutex<()>,
}

impl<'p> FunctionPair<'p> {
    /// Prepares two functions, given by program and name.
    ///
    /// # Errors
    /// If a program lacks the function or does not verify.
    pub fn new(
        before: (&'p Program, Name),
        after: (&'p Program, Name),
        floats: FloatMode,
        kernels: Option<Arc<dyn Kernels>>,
    ) -> Result<Self, EvalError> {
        let recorders = [(); 2].map(|()| CallRecorder::new(kernels.clone()));
        let prepare = |(program, name): (&Program, Name), recorder: &CallRecorder| {
            Prepared::new(program, name.as_str(), Some(recorder))
        };
        Ok(Self {
            programs: [before.0, after.0],
            names: [before.1, after.1],
            prepared: [prepare(before, &recorders[0])?, prepare(after, &recorders[1])?],
            floats,
            kernels,
            recorders,
            running: Mutex::new(()),
        })
    }

    /// Returns the float mode that decides which differences are allowed.
    #[must_use]
    pub fn floats(&self) -> FloatMode {
        self.floats
    }

    /// Runs both functions and compares their results, and the operands of custom calls that only have effects.
    ///
    /// If the first one fails, nothing is required of the second. The bits of a NaN are never compared.
    #[must_use]
    pub fn run(&self, inputs: &[Value], limits: &RunLimits) -> PairOutcome {
        let _alone = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        self.recorders.iter().for_each(|recorder| drop(recorder.take()));
        let options = self.options(limits.max_steps, limits.time, limits.max_bytes);
        let started = Instant::now();
        let mut before = match self.prepared[0].run(inputs, &options) {
            Ok(results) => Outputs { results, calls: self.recorders[0].take() },
            Err(why) => {
                let retry = match why.fault {
                    Fault::Steps { .. }
                    | Fault::Time { .. }
                    | Fault::Memory { .. }
                    | Fault::OutOfMemory { .. } => RetryAdvice::AfterLimit,
                    Fault::NoEvaluation { .. } | Fault::UnknownCustomCall { .. } => {
                        RetryAdvice::Pointless
                    }
                    _ => RetryAdvice::Worthwhile,
                };
                return PairOutcome::NotRun { reason: why.to_string(), retry };
            }
        };
        let time =
            second_run_time(started.elapsed(), limits.time.saturating_mul(SECOND_RUN_LIMIT_FACTOR));
        let steps = limits.max_steps.saturating_mul(SECOND_RUN_LIMIT_FACTOR.into());
        let options = self.options(steps, time, limits.max_bytes);
        let mut after = match self.prepared[1].run(inputs, &options) {
            Ok(results) => Outputs { results, calls: self.recorders[1].take() },
            Err(why) => return self.second_failed(&why, before, inputs, &options),
        };
        let (first, second) = (&before.results, &after.results);
        let needed = first.iter().zip(second).map(|(a, b)| comparison_bytes(a, b)).max();
        if let Some(needed) = needed.filter(|&needed| needed > limits.max_bytes) {
            let limit = limits.max_bytes;
            let reason = format!("comparing results takes {needed} bytes; the limit is {limit}");
            return PairOutcome::NotRun { reason, retry: RetryAdvice::AfterLimit };
        }
        let mut comparer = OutputComparer::new(self, inputs, &options, &before);
        let mut results: Vec<ResultComparison> = (0..first.len().max(second.len()))
            .map(|n| match (first.get(n), second.get(n)) {
                (Some(a), Some(b)) => comparer.slot(OutputSlot::Result(n), a, b),
                _ => ResultComparison {
                    place: OutputSlot::Result(n).to_string(),
                    difference: Some(format!(
                        "{} results before, {} after",
                        first.len(),
                        second.len()
                    )),
                    ..ResultComparison::default()
                },
            })
            .collect();
        if first.len() == second.len() {
            results.extend(comparer.calls(&before.calls, &after.calls));
        }
        if !before.calls.has_signatures_of(&after.calls) {
            before.calls.operands.clear();
            after.calls.operands.clear();
        }
        PairOutcome::Ran { results, before: before.into_values(), after: after.into_values() }
    }

    fn options(&self, steps: u64, time: Duration, bytes: u64) -> RunOptions {
        RunOptions {
            max_steps: Some(steps),
            time_limit: Some(time),
            max_bytes: bytes,
            kernels: self.kernels.clone(),
            ..RunOptions::default()
        }
    }

    fn second_failed(
        &self,
        why: &EvalError,
        before: Outputs,
        inputs: &[Value],
        options: &RunOptions,
    ) -> PairOutcome {
        let retry = match why.fault {
            Fault::NoEvaluation { .. } | Fault::UnknownCustomCall { .. } => {
                Some(RetryAdvice::Pointless)
            }
            Fault::Memory { .. } | Fault::OutOfMemory { .. } => Some(RetryAdvice::AfterLimit),
            _ => None,
        };
        let reason = why.to_string();
        if let Some(retry) = retry {
            return PairOutcome::NotRun { reason, retry };
        }
        let is_open = matches!(why.fault, Fault::Op(_)) && self.failure_is_open(inputs, options);
        match is_open && !self.outputs_differ(&before, inputs, options) {
            true => PairOutcome::NotComparable { reason },
            false => PairOutcome::Fails { reason, before: before.results },
        }
    }

    // Runs a second program that fails once more, past the recorded calls that fail, and returns whether an operand of a
    // call or a result differs.
    fn outputs_differ(&self, before: &Outputs, inputs: &[Value], options: &RunOptions) -> bool {
        let recorder = &self.recorders[1];
        drop(recorder.take());
        recorder.continue_after_failure(true);
        let results = self.prepared[1].run(inputs, options);
        recorder.continue_after_failure(false);
        let (mut first, mut after) = (before.calls.clone(), recorder.take());
        if results.is_err() {
            let recorded = after.total.min(after.signatures.len());
            first.truncate(recorded);
            after.truncate(recorded);
        }
        let mut comparer = OutputComparer::new(self, inputs, options, before);
        let differs = |result: &ResultComparison| result.difference.is_some();
        if comparer.calls(&first, &after).iter().any(differs) {
            return true;
        }
        let results = results.unwrap_or_default();
        let pairs = before.results.iter().zip(&results).enumerate();
        pairs.into_iter().any(|(n, (a, b))| differs(&comparer.slot(OutputSlot::Result(n), a, b)))
    }

    // Returns whether the second program fails on values that the mode leaves open: with other ones the first fails too,
    // or the second does not. Infinities and NaN are left open only where the programs compute them.
    fn failure_is_open(&self, inputs: &[Value], options: &RunOptions) -> bool {
        let is_open = |style, special: &mut bool| {
            let before = self.run_perturbed(0, inputs, style, options);
            let after = self.run_perturbed(1, inputs, style, options);
            *special |= before.special || after.special;
            before.fails_in_an_op() || after.succeeds()
        };
        let mut special = false;
        if PerturbationStyle::finite().any(|style| is_open(style, &mut special)) {
            return true;
        }
        special
            && self.floats.fast()
            && PerturbationStyle::special().any(|style| is_open(style, &mut false))
    }

    // Runs one of the functions with changes that the mode allows. It goes on after a recorded call that fails.
    pub(crate) fn run_perturbed(
        &self,
        side: usize,
        inputs: &[Value],
        style: PerturbationStyle,
        options: &RunOptions,
    ) -> PerturbedRun {
        let (program, name) = (self.programs[side], self.names[side].as_str());
        let recorder = CallRecorder::new(self.kernels.clone());
        recorder.continue_after_failure(true);
        let options = RunOptions { kernels: Some(Arc::new(recorder.clone())), ..options.clone() };
        let (results, special) =
            perturbation::run_perturbed(program, name, inputs, self.floats, style, &options);
        PerturbedRun { results, calls: recorder.take(), special }
    }
}

/// The observable values of a run.
pub(crate) struct Outputs {
    pub(crate) results: Vec<Value>,
    pub(crate) calls: RecordedCalls,
}

impl Outputs {
    fn into_values(self) -> Vec<Value> {
        let operands = self.calls.operands.into_iter().flatten();
        self.results.into_iter().chain(operands).collect()
    }
}

/// A run with changes that the float mode allows.
pub(crate) struct PerturbedRun {
    pub(crate) results: Result<Vec<Value>, EvalError>,
    pub(crate) calls: RecordedCalls,
    /// Set if an infinity or NaN was computed.
    pub(crate) special: bool,
}

impl PerturbedRun {
    fn succeeds(&self) -> bool {
        self.results.is_ok() && !self.calls.failed
    }

    fn fails_in_an_op(&self) -> bool {
        let fails = |why: &EvalError| matches!(why.fault, Fault::Op(_));
        self.calls.failed || self.results.as_ref().is_err_and(fails)
    }
}

/// A place among the observable values of a run.
#[derive(Clone, Copy)]
pub(crate) enum OutputSlot<'a> {
    /// A result of the function.
    Result(usize),
    /// An operand of a recorded call.
    Operand { call: usize, signature: &'a CallSignature, operand: usize },
}

impl fmt::Display for OutputSlot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(n) => write!(f, "result {n}"),
            Self::Operand { call, signature, operand } => {
                write!(f, "operand {operand} of custom call {call} ({})", signature.target)
            }
        }
    }
}

// Returns the time limit of the second program, in whole seconds, if the first took `before`.
fn second_run_time(before: Duration, limit: Duration) -> Duration {
    let longer = Duration::from_secs(
        before.saturating_mul(SECOND_RUN_TIME_FACTOR).as_secs().saturating_add(1),
    );
    longer.max(MIN_SECOND_RUN_TIME).min(limit)
}

struct OutputComparer<'a> {
    pair: &'a FunctionPair<'a>,
    inputs: &'a [Value],
    options: &'a RunOptions,
    before: &'a Outputs,
    // The perturbed runs of both programs, computed when first needed.
    perturbed_runs: Option<PerturbedRuns>,
}

impl<'a> OutputComparer<'a> {
    fn new(
        pair: &'a FunctionPair<'a>,
        inputs: &'a [Value],
        options: &'a RunOptions,
        before: &'a Outputs,
    ) -> Self {
        Self { pair, inputs, options, before, perturbed_runs: None }
    }

    fn slot(&mut self, slot: OutputSlot<'_>, a: &Value, b: &Value) -> ResultComparison {
        let mut result = ResultComparison { place: slot.to_string(), ..Default::default() };
        self.values(&mut result, slot, &mut Vec::new(), a, b);
        result
    }

    fn perturbed_runs(&mut self) -> &PerturbedRuns {
        let results = self.before.results.len();
        self.perturbed_runs.get_or_insert_with(|| {
            PerturbedRuns::new(self.pair, self.inputs, self.options, results)
        })
    }

    // Compares the operands of all recorded calls, one after the other, and last the sequence of calls.
    fn calls(&mut self, before: &RecordedCalls, after: &RecordedCalls) -> Vec<ResultComparison> {
        if (before.total, after.total) == (0, 0) {
            return Vec::new();
        }
        let mut sequence =
            ResultComparison { place: "custom calls".into(), elements: 1, ..Default::default() };
        if !before.has_signatures_of(after) {
            self.call_sequences(&mut sequence, before, after);
            return vec![sequence];
        }
        sequence.compared = 1;
        let mut results = Vec::new();
        let operands = before.operands.iter().zip(&after.operands);
        for (call, ((a, b), signature)) in operands.zip(&before.signatures).enumerate() {
            for (operand, (x, y)) in a.iter().zip(b).enumerate() {
                let slot = OutputSlot::Operand { call, signature, operand };
                results.push(self.slot(slot, x, y));
            }
        }
        results.push(sequence);
        results
    }

    // The programs made different calls. A branch that depends on rounding may explain that.
    fn call_sequences(
        &mut self,
        result: &mut ResultComparison,
        before: &RecordedCalls,
        after: &RecordedCalls,
    ) {
        let line = before.first_difference(after);
        let perturbed_runs = self.perturbed_runs();
        let mut runs = perturbed_runs.runs(0).map(|run| (run, after));
        let mut others = perturbed_runs.runs(1).map(|run| (run, before));
        let is_explained =
            |(run, calls): (&Outputs, &RecordedCalls)| run.calls.has_signatures_of(calls);
        if runs.any(is_explained) || others.any(is_explained) {
            let why = OpenCause::Rounding.as_str();
            result.incomparable = 1;
            result.not_comparable = Some(format!("{line}; {why}"));
        } else {
            result.difference = Some(line);
        }
    }

    // Tuples nest at most 64 deep.
    fn values(
        &mut self,
        result: &mut ResultComparison,
        slot: OutputSlot<'_>,
        path: &mut Vec<usize>,
        a: &Value,
        b: &Value,
    ) {
        match (a, b) {
            (Value::Token, Value::Token) => {}
            (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() => {
                for (n, (a, b)) in x.iter().zip(y.iter()).enumerate() {
                    path.push(n);
                    self.values(result, slot, path, a, b);
                    path.pop();
                }
            }
            (Value::Tensor(x), Value::Tensor(y)) if x.ty() == y.ty() => {
                self.tensors(result, slot, path, x, y);
            }
            _ => {
                let place = place_of(slot, path);
                let line = format!("{place}: {} before, {} after", a.ty(), b.ty());
                result.difference.get_or_insert(line);
            }
        }
    }

    fn tensors(
        &mut self,
        result: &mut ResultComparison,
        slot: OutputSlot<'_>,
        path: &[usize],
        a: &Tensor,
        b: &Tensor,
    ) {
        let all = paired_elements(a, b);
        // Some elements are two numbers; of splats there is one element.
        let elements = if a.is_splat() && b.is_splat() { 1 } else { a.len() };
        let per_element = (all.len() / elements.max(1)).max(1);
        result.elements += (all.len() / per_element) as u64;
        let has_nan = |parts: &&[(f64, f64)]| parts.iter().any(|(x, y)| x.is_nan() || y.is_nan());
        result.nan += all.chunks(per_element).filter(has_nan).count() as u64;
        let float = a.dtype().is_float() || a.dtype().is_complex();
        // Elements that are equal on both sides, such as the large numbers of a mask, do not raise the tolerance of the others.
        let differs = |parts: &&[(f64, f64)]| parts.iter().any(|(x, y)| x != y);
        let differing = all.chunks(per_element).filter(differs).flatten();
        let differing = differing.flat_map(|&(x, y)| [x, y]);
        let finite = differing.filter(|x| x.is_finite());
        let largest = finite.fold(0.0, |most, x| f64::max(most, x.abs()));
        let unit = unit(a.dtype());
        let rounding =
            (MAX_SMALL_ROUNDING_UNITS * unit).min(SMALL_DIFFERENCE).max(MAX_ROUNDING_UNITS * unit)
                * largest;
        let large = LARGE_DIFFERENCE.max(2.0 * MAX_ROUNDING_UNITS * unit) * largest;
        let mut incomparable = 0;
        for (at, &(x, y)) in all.iter().enumerate() {
            let apart = (x - y).abs();
            // Elements of two parts count once.
            let whole = u64::from(at.is_multiple_of(per_element));
            match compare(x, y, self.pair.floats, float, rounding) {
                ElementRelation::Ignored => continue,
                ElementRelation::Equal => {
                    result.compared += u64::from(x.is_finite()) * whole;
                    continue;
                }
                ElementRelation::Near => {
                    result.compared += whole;
                    result.max_difference = result.max_difference.max(apart / largest);
                    continue;
                }
                ElementRelation::Far => {}
            }
            let index = at / per_element;
            let (before, after) = (element(a, index), element(b, index));
            let place = place_of(slot, path);
            let position = position(index, a.shape());
            let line = format!("{place}{position}: {before} before, {after} after");
            let by = match self.pair.floats.fast() {
                true if float => SPREAD_FACTOR,
                true => 1.0,
                false => 0.0,
            };
            let number = NumberPlace { slot, path, tensor: a, at };
            match self.perturbed_runs().explains(number, (x, y), by) {
                None => {
                    result.difference.get_or_insert(line);
                    return;
                }
                Some(OpenCause::Rounding) if float && apart <= large => {
                    result.compared += whole;
                    result.max_difference = result.max_difference.max(apart / largest);
                }
                Some(cause) => {
                    let why = cause.as_str();
                    incomparable += whole;
                    result.not_comparable.get_or_insert_with(|| format!("{line}; {why}"));
                }
            }
        }
        result.incomparable += incomparable;
        if incomparable > 0 && float {
            let movements = || self.perturbed_runs().movements(slot, path, a);
            let of_zeros = unit * largest..=rounding;
            result.uninformative +=
                uninformative_elements(&all, per_element, of_zeros, large, movements);
        }
    }
}

// Returns the number of elements that are equal on both sides, have the value that most equal elements have, and are not moved
// by changed rounding, or too far: further than `large`, and zeros by a distance that no rounding of the largest element has. The
// zeros of a saturated softmax are zeros whatever the program computes.
fn uninformative_elements(
    all: &[(f64, f64)],
    per_element: usize,
    of_zeros: RangeInclusive<f64>,
    large: f64,
    movements: impl FnOnce() -> Vec<f64>,
) -> u64 {
    let is_same = |parts: &[(f64, f64)]| parts.iter().all(|(x, y)| x == y && x.is_finite());
    let equal = all.chunks(per_element).enumerate().filter(|(_, parts)| is_same(parts));
    let Some(common) = majority(equal.clone().map(|(_, parts)| parts)) else { return 0 };
    let movements = movements();
    let moved_by = |index: usize| {
        let parts = movements.iter().skip(index * per_element).take(per_element);
        parts.fold(0.0, |most, &part| f64::max(most, part))
    };
    let shared = equal.filter(|(_, parts)| *parts == common).map(|(index, _)| moved_by(index));
    let is_zero = common.iter().all(|&(x, _)| x == 0.0);
    let tells = |by: f64| if is_zero { of_zeros.contains(&by) } else { by > 0.0 && by <= large };
    shared.filter(|&by| !tells(by)).count() as u64
}

enum ElementRelation {
    /// The float mode leaves the element open.
    Ignored,
    Equal,
    Near,
    Far,
}

fn compare(x: f64, y: f64, floats: FloatMode, float: bool, rounding: f64) -> ElementRelation {
    let zeros = x == 0.0 && y == 0.0;
    let equal = match floats {
        _ if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
        FloatMode::Exact if zeros => x.is_sign_negative() == y.is_sign_negative(),
        _ => x == y,
    };
    match floats {
        // The mode leaves NaN and infinities open.
        FloatMode::Fast if float && (x.is_nan() || y.is_nan() || x.is_infinite()) => {
            ElementRelation::Ignored
        }
        _ if equal => ElementRelation::Equal,
        FloatMode::Fast if float && (x - y).abs() <= rounding => ElementRelation::Near,
        _ => ElementRelation::Far,
    }
}

fn place_of(slot: OutputSlot<'_>, path: &[usize]) -> String {
    path.iter().fold(slot.to_string(), |place, n| format!("{place}.{n}"))
}

#[cfg(test)]
mod tests {
    use sapwood_types::Span;

    use super::*;

    #[test]
    fn a_call_that_fails_before_a_limit_is_a_failure_in_an_op() {
        let fault = Fault::Steps { limit: 1 };
        let error =
            EvalError { function: Name::new("f"), instruction: None, span: Span::unknown(), fault };
        let mut run =
            PerturbedRun { results: Err(error), calls: RecordedCalls::default(), special: false };
        assert!(!run.fails_in_an_op());
        run.calls.failed = true;
        assert!(run.fails_in_an_op());
    }

    #[test]
    fn a_second_program_without_memory_may_run_on_other_inputs() {
        let text = "ptir 1 func @f() -> f32[] { %y = constant 1.0 : f32[] return %y }
            func @g() -> f32[] { %x = iota {axis = 0} : f32[100000]
              %y = reduce_sum %x {axes = [0]} : f32[] return %y }";
        let program = sapwood_ptir::parse(text).unwrap();
        let sides = ["f", "g"].map(|name| (&program, Name::new(name)));
        let pair = FunctionPair::new(sides[0], sides[1], FloatMode::Exact, None).unwrap();
        let limits = RunLimits { max_bytes: 1000, ..RunLimits::default() };
        let outcome = pair.run(&[], &limits);
        let PairOutcome::NotRun { retry, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(retry, RetryAdvice::AfterLimit);
    }

    #[test]
    fn the_second_program_may_take_longer() {
        let seconds = Duration::from_secs;
        assert_eq!(second_run_time(Duration::ZERO, seconds(40)), MIN_SECOND_RUN_TIME);
        assert_eq!(second_run_time(seconds(1), seconds(40)), seconds(17));
        assert_eq!(second_run_time(seconds(10), seconds(40)), seconds(40));
        assert_eq!(second_run_time(seconds(1), seconds(4)), seconds(4));
    }
}
