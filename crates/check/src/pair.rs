//! Two functions on the same inputs.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sapwood_ptir::eval::{EvalError, Fault, Kernels, Prepared, RunOptions, Tensor, Value};
use sapwood_ptir::{Name, Program};
use sapwood_types::FloatMode;

use crate::freedom::{self, Style};
use crate::numbers::{numbers, pairs, unit};
use crate::recorded_calls::{CallRecorder, RecordedCalls};
use crate::show::element;

/// Differences up to this many units in the last place of the largest element of a tensor are rounding, whatever was computed;
/// more of them if they are [`SMALL_DIFFERENCE`] at most.
const ROUNDINGS: f64 = 4.0;
/// Up to this part of the largest element, differences may be [`MANY_ROUNDINGS`] units.
const SMALL_DIFFERENCE: f64 = 1e-6;
const MANY_ROUNDINGS: f64 = 32.0;
/// Differences up to this many times what changed rounding makes of a result are rounding. The runs are few, and
/// reassociation moves a sum by more than one unit.
const SPREADS: f64 = 2.0;
/// Differences that rounding explains are reported as incomparable if they are larger than this part of the largest element.
const LARGE_DIFFERENCE: f64 = 1e-3;
/// The second program may take this many times the steps and the time of the limits of the first.
const SLACK: u32 = 4;
/// The second program may take this many times as long as the first did: an endless loop is found soon.
const LONGER: u32 = 16;
/// The second program may always take this long: machines pause.
const MIN_TIME: Duration = Duration::from_secs(2);

/// The limits of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The number of steps, as [`RunOptions::max_steps`] counts them.
    pub max_steps: u64,
    /// The time.
    pub time: Duration,
    /// The bytes that live values take.
    pub max_bytes: u64,
}

impl Default for Limits {
    /// 100,000,000 steps, 10 seconds, 8 GiB.
    fn default() -> Self {
        Self { max_steps: 100_000_000, time: Duration::from_secs(10), max_bytes: 8 << 30 }
    }
}

/// The prospect of other inputs, where a function could not be run on some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OtherInputs {
    /// They may be run.
    MayRun,
    /// A limit was reached; they may need fewer steps, less time or less memory.
    MayBeFaster,
    /// They cannot be run either: an op has no evaluation.
    Useless,
}

/// The outcome of running two functions on the same inputs.
#[derive(Clone, Debug)]
pub enum Case {
    /// One of them could not be run, so that nothing is known.
    NotRun {
        /// Why.
        reason: String,
        /// The prospect of other inputs.
        next: OtherInputs,
    },
    /// The second one fails where the first does not.
    Fails {
        /// How.
        reason: String,
        /// The results of the first.
        before: Vec<Value>,
    },
    /// The second one fails, but what the float mode leaves open decides whether it does.
    NotComparable {
        /// How it fails.
        reason: String,
    },
    /// Both ran.
    Ran {
        /// The comparison of each result, then that of each operand of the custom calls that only have effects.
        results: Vec<CaseResult>,
        /// The results of the first, then the operands.
        before: Vec<Value>,
        /// The results of the second, then the operands.
        after: Vec<Value>,
    },
}

impl Case {
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
pub struct CaseResult {
    /// The number of elements; repeated ones count once.
    pub elements: u64,
    /// The number of elements that were compared: of floats the finite ones.
    pub compared: u64,
    /// The number of elements that are NaN before or after.
    pub nan: u64,
    /// The number of elements that differ without meaning.
    pub incomparable: u64,
    /// The largest difference of floats that is within tolerance.
    pub worst: f64,
    /// The first element that differs without meaning, in words.
    pub not_comparable: Option<String>,
    /// The first element that differs, in words.
    pub difference: Option<String>,
}

impl CaseResult {
    /// Returns whether the comparison shows something. Freedom may explain a few elements; if it has to explain most of
    /// them, nothing was checked.
    #[must_use]
    pub fn is_seen(&self) -> bool {
        self.elements == 0 || self.compared > self.incomparable
    }
}

/// A function of one program and a function of another, ready to be run on the same inputs.
pub struct Pair<'p> {
    programs: [&'p Program; 2],
    names: [Name; 2],
    prepared: [Prepared; 2],
    floats: FloatMode,
    kernels: Option<Arc<dyn Kernels>>,
    recorders: [CallRecorder; 2],
    // One run at a time: the recorders belong to the prepared functions.
    running: Mutex<()>,
}

impl<'p> Pair<'p> {
    /// Prepares two functions, given by program and name.
    ///
    /// # Errors
    /// If there is no such function or a program does not verify.
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

    /// Returns what may differ.
    #[must_use]
    pub fn floats(&self) -> FloatMode {
        self.floats
    }

    /// Runs both functions and compares their results, and the operands of custom calls that only have effects.
    ///
    /// If the first one fails, the second may do anything. Which NaN a float is never counts.
    #[must_use]
    pub fn run(&self, inputs: &[Value], limits: &Limits) -> Case {
        let _alone = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        self.recorders.iter().for_each(|recorder| drop(recorder.take()));
        let options = self.options(limits.max_steps, limits.time, limits.max_bytes);
        let started = Instant::now();
        let before = match self.prepared[0].run(inputs, &options) {
            Ok(results) => Outputs { results, calls: self.recorders[0].take() },
            Err(why) => {
                let next = match why.fault {
                    Fault::Steps { .. } | Fault::Time { .. } | Fault::Memory { .. } => {
                        OtherInputs::MayBeFaster
                    }
                    Fault::NoEvaluation { .. } | Fault::NoTarget { .. } => OtherInputs::Useless,
                    _ => OtherInputs::MayRun,
                };
                return Case::NotRun { reason: why.to_string(), next };
            }
        };
        let time = time_afterwards(started.elapsed(), limits.time.saturating_mul(SLACK));
        let steps = limits.max_steps.saturating_mul(SLACK.into());
        let options = self.options(steps, time, limits.max_bytes);
        let after = match self.prepared[1].run(inputs, &options) {
            Ok(results) => Outputs { results, calls: self.recorders[1].take() },
            Err(why) => return self.failed(&why, before, inputs, &options),
        };
        let mut comparison = Comparison::new(self, inputs, &options, &before);
        let (first, second) = (&before.results, &after.results);
        let mut results: Vec<CaseResult> = (0..first.len().max(second.len()))
            .map(|n| match (first.get(n), second.get(n)) {
                (Some(a), Some(b)) => comparison.slot(OutputSlot::Result(n), a, b),
                _ => CaseResult {
                    difference: Some(format!(
                        "{} results before, {} after",
                        first.len(),
                        second.len()
                    )),
                    ..CaseResult::default()
                },
            })
            .collect();
        if first.len() == second.len() {
            results.extend(comparison.calls(&before.calls, &after.calls));
        }
        Case::Ran { results, before: before.into_values(), after: after.into_values() }
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

    fn failed(
        &self,
        why: &EvalError,
        before: Outputs,
        inputs: &[Value],
        options: &RunOptions,
    ) -> Case {
        let unknown = matches!(
            why.fault,
            Fault::NoEvaluation { .. }
                | Fault::NoTarget { .. }
                | Fault::Memory { .. }
                | Fault::Refused { .. }
        );
        let reason = why.to_string();
        if unknown {
            return Case::NotRun { reason, next: OtherInputs::Useless };
        }
        let freely = matches!(why.fault, Fault::Op(_)) && self.fails_freely(inputs, options);
        match freely && !self.calls_differ(&before, inputs, options) {
            true => Case::NotComparable { reason },
            false => Case::Fails { reason, before: before.results },
        }
    }

    // Compares the recorded calls of a second program that fails. It goes on after a call that fails, so that later
    // calls are compared too.
    fn calls_differ(&self, before: &Outputs, inputs: &[Value], options: &RunOptions) -> bool {
        let recorder = &self.recorders[1];
        drop(recorder.take());
        recorder.continue_after_failure(true);
        let ended = self.prepared[1].run(inputs, options).is_ok();
        recorder.continue_after_failure(false);
        let (mut first, mut after) = (before.calls.clone(), recorder.take());
        if !ended {
            let recorded = after.calls.len();
            first.truncate(recorded);
            after.truncate(recorded);
        }
        let mut comparison = Comparison::new(self, inputs, options, before);
        comparison.calls(&first, &after).iter().any(|call| call.difference.is_some())
    }

    // Returns whether the second program fails on values that the mode leaves open: with other ones the first fails too,
    // or the second does not. Infinities and NaN are left open only where the programs compute them.
    fn fails_freely(&self, inputs: &[Value], options: &RunOptions) -> bool {
        let is_free = |style, special: &mut bool| {
            let before = self.run_freely(0, inputs, style, options);
            let after = self.run_freely(1, inputs, style, options);
            *special |= before.special || after.special;
            before.fails_in_an_op() || after.succeeds()
        };
        let mut special = false;
        if Style::gentle().any(|style| is_free(style, &mut special)) {
            return true;
        }
        special && self.floats.fast() && Style::wild().any(|style| is_free(style, &mut false))
    }

    // Runs one of the functions with changes that the mode allows. It goes on after a recorded call that fails.
    fn run_freely(
        &self,
        side: usize,
        inputs: &[Value],
        style: Style,
        options: &RunOptions,
    ) -> FreeRun {
        let (program, name) = (self.programs[side], self.names[side].as_str());
        let recorder = CallRecorder::new(self.kernels.clone());
        recorder.continue_after_failure(true);
        let options = RunOptions { kernels: Some(Arc::new(recorder.clone())), ..options.clone() };
        let (results, special) =
            freedom::run(program, name, inputs, self.floats, style, &options);
        FreeRun { results, calls: recorder.take(), special }
    }
}

/// The values that a run lets out.
struct Outputs {
    results: Vec<Value>,
    calls: RecordedCalls,
}

impl Outputs {
    fn into_values(self) -> Vec<Value> {
        let operands = self.calls.calls.into_iter().flat_map(|call| call.operands);
        self.results.into_iter().chain(operands).collect()
    }
}

/// A run with changes that the float mode allows.
struct FreeRun {
    results: Result<Vec<Value>, EvalError>,
    calls: RecordedCalls,
    /// Whether an infinity or NaN was computed.
    special: bool,
}

impl FreeRun {
    fn succeeds(&self) -> bool {
        self.results.is_ok() && !self.calls.failed
    }

    fn fails_in_an_op(&self) -> bool {
        match &self.results {
            Ok(_) => self.calls.failed,
            Err(why) => matches!(why.fault, Fault::Op(_)),
        }
    }
}

/// A place among the values that a run lets out.
#[derive(Clone, Copy)]
enum OutputSlot<'a> {
    /// A result of the function.
    Result(usize),
    /// An operand of a recorded call.
    Operand { call: usize, target: &'a str, operand: usize },
}

impl fmt::Display for OutputSlot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(n) => write!(f, "result {n}"),
            Self::Operand { call, target, operand } => {
                write!(f, "operand {operand} of custom call {call} ({target})")
            }
        }
    }
}

// The time that the second program may take if the first took `before`, in whole seconds.
fn time_afterwards(before: Duration, limit: Duration) -> Duration {
    let longer = Duration::from_secs(before.saturating_mul(LONGER).as_secs().saturating_add(1));
    longer.max(MIN_TIME).min(limit)
}

struct Comparison<'a> {
    pair: &'a Pair<'a>,
    inputs: &'a [Value],
    options: &'a RunOptions,
    before: &'a Outputs,
    // What the freedom of the mode makes of the results of both programs, computed when first needed.
    spread: Option<Spread>,
}

impl<'a> Comparison<'a> {
    fn new(
        pair: &'a Pair<'a>,
        inputs: &'a [Value],
        options: &'a RunOptions,
        before: &'a Outputs,
    ) -> Self {
        Self { pair, inputs, options, before, spread: None }
    }

    fn slot(&mut self, slot: OutputSlot<'_>, a: &Value, b: &Value) -> CaseResult {
        let mut result = CaseResult::default();
        self.values(&mut result, slot, &mut Vec::new(), a, b);
        result
    }

    fn spread(&mut self) -> &Spread {
        let results = self.before.results.len();
        self.spread.get_or_insert_with(|| Spread::new(self.pair, self.inputs, self.options, results))
    }

    // Compares the operands of all recorded calls, one after the other.
    fn calls(&mut self, before: &RecordedCalls, after: &RecordedCalls) -> Vec<CaseResult> {
        if !before.has_targets_of(after) {
            return vec![self.call_sequences(before, after)];
        }
        let mut results = Vec::new();
        for (call, (a, b)) in before.calls.iter().zip(&after.calls).enumerate() {
            for (operand, (x, y)) in a.operands.iter().zip(&b.operands).enumerate() {
                let slot = OutputSlot::Operand { call, target: &a.target, operand };
                results.push(self.slot(slot, x, y));
            }
        }
        results
    }

    // The programs made different calls. A branch that depends on rounding may explain that.
    fn call_sequences(&mut self, before: &RecordedCalls, after: &RecordedCalls) -> CaseResult {
        let line = format!("custom calls: {} before, {} after", before.total, after.total);
        let spread = self.spread();
        let mut runs = spread.runs(0).map(|run| (run, after));
        let mut others = spread.runs(1).map(|run| (run, before));
        let is_free = |(run, calls): (&Outputs, &RecordedCalls)| run.calls.has_targets_of(calls);
        let mut result = CaseResult::default();
        if runs.any(is_free) || others.any(is_free) {
            let why = Cause::Rounding.as_str();
            result.not_comparable = Some(format!("{line}; {why}"));
        } else {
            result.difference = Some(line);
        }
        result
    }

    // Tuples nest at most 64 deep.
    fn values(
        &mut self,
        result: &mut CaseResult,
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
        result: &mut CaseResult,
        slot: OutputSlot<'_>,
        path: &[usize],
        a: &Tensor,
        b: &Tensor,
    ) {
        let all = pairs(a, b);
        // Some elements are two numbers; of splats there is one element.
        let elements = if a.is_splat() && b.is_splat() { 1 } else { a.len() };
        let per_element = (all.len() / elements.max(1)).max(1);
        result.elements += (all.len() / per_element) as u64;
        let has_nan = |parts: &&[(f64, f64)]| parts.iter().any(|(x, y)| x.is_nan() || y.is_nan());
        result.nan += all.chunks(per_element).filter(has_nan).count() as u64;
        let float = a.dtype().is_float() || a.dtype().is_complex();
        // Elements that are equal on both sides, such as the large numbers of a mask, make no room for the others.
        let differs = |parts: &&[(f64, f64)]| parts.iter().any(|(x, y)| x != y);
        let differing = all.chunks(per_element).filter(differs).flatten();
        let differing = differing.flat_map(|&(x, y)| [x, y]);
        let finite = differing.filter(|x| x.is_finite());
        let largest = finite.fold(0.0, |most, x| f64::max(most, x.abs()));
        let unit = unit(a.dtype());
        let rounding =
            (MANY_ROUNDINGS * unit).min(SMALL_DIFFERENCE).max(ROUNDINGS * unit) * largest;
        let large = LARGE_DIFFERENCE.max(2.0 * ROUNDINGS * unit) * largest;
        for (at, &(x, y)) in all.iter().enumerate() {
            let apart = (x - y).abs();
            // Elements of two parts count once.
            let whole = u64::from(at.is_multiple_of(per_element));
            match compare(x, y, self.pair.floats, float, rounding) {
                Compared::Ignored => continue,
                Compared::Equal => {
                    result.compared += u64::from(x.is_finite()) * whole;
                    continue;
                }
                Compared::Near => {
                    result.compared += whole;
                    result.worst = result.worst.max(apart);
                    continue;
                }
                Compared::Far => {}
            }
            let index = at / per_element;
            let (before, after) = (element(a, index), element(b, index));
            let place = place_of(slot, path);
            let position = position(index, a.shape());
            let line = format!("{place}{position}: {before} before, {after} after");
            let by = match self.pair.floats.fast() {
                true if float => SPREADS,
                true => 1.0,
                false => 0.0,
            };
            match self.spread().explains((slot, path, at), (x, y), by) {
                None => {
                    result.difference.get_or_insert(line);
                    return;
                }
                Some(Cause::Rounding) if float && apart <= large => {
                    result.compared += whole;
                    result.worst = result.worst.max(apart);
                }
                Some(cause) => {
                    let why = cause.as_str();
                    result.incomparable += whole;
                    result.not_comparable.get_or_insert_with(|| format!("{line}; {why}"));
                }
            }
        }
    }
}

enum Compared {
    /// It says nothing.
    Ignored,
    Equal,
    Near,
    Far,
}

fn compare(x: f64, y: f64, floats: FloatMode, float: bool, rounding: f64) -> Compared {
    let zeros = x == 0.0 && y == 0.0;
    let equal = match floats {
        _ if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
        FloatMode::Exact if zeros => x.is_sign_negative() == y.is_sign_negative(),
        _ => x == y,
    };
    match floats {
        // The mode leaves open what becomes of NaN, and what becomes of infinities.
        FloatMode::Fast if float && (x.is_nan() || y.is_nan() || x.is_infinite()) => {
            Compared::Ignored
        }
        _ if equal => Compared::Equal,
        FloatMode::Fast if float && (x - y).abs() <= rounding => Compared::Near,
        _ => Compared::Far,
    }
}

fn place_of(slot: OutputSlot<'_>, path: &[usize]) -> String {
    path.iter().fold(slot.to_string(), |place, n| format!("{place}.{n}"))
}

// The n-th element in row-major order, by its index along each axis.
fn position(mut n: usize, shape: &[usize]) -> String {
    if shape.is_empty() {
        return String::new();
    }
    let mut index = vec![0; shape.len()];
    for (slot, &extent) in index.iter_mut().zip(shape).rev() {
        (*slot, n) = (n % extent.max(1), n / extent.max(1));
    }
    format!(", element {index:?}")
}

/// Why an element may differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// Other rounding, other signs of zeros or other bits of NaN move it as far.
    Rounding,
    /// It depends on an infinity or NaN.
    Special,
}

impl Cause {
    fn as_str(self) -> &'static str {
        match self {
            Self::Rounding => "a change that the float mode allows is amplified there",
            Self::Special => "it depends on an infinity or NaN, which the float mode leaves open",
        }
    }
}

/// The results of runs in which every op used its freedom.
struct Spread {
    // Of the program before and of the one after.
    gentle: [Vec<Outputs>; 2],
    wild: [Vec<Outputs>; 2],
}

impl Spread {
    fn new(pair: &Pair<'_>, inputs: &[Value], options: &RunOptions, results: usize) -> Self {
        let outputs = |run: FreeRun| {
            let results = run.results.ok().filter(|r| r.len() == results)?;
            Some(Outputs { results, calls: run.calls })
        };
        let mut special = [false; 2];
        let gentle = [0, 1].map(|side| {
            let runs = Style::gentle().map(|style| pair.run_freely(side, inputs, style, options));
            runs.inspect(|run| special[side] |= run.special).filter_map(outputs).collect()
        });
        let open = special.map(|special| special && pair.floats.fast());
        let wild = [0, 1].map(|side| {
            let styles = Style::wild().filter(|_| open[side]);
            let runs = styles.map(|style| pair.run_freely(side, inputs, style, options));
            runs.filter_map(outputs).collect()
        });
        Self { gentle, wild }
    }

    fn runs(&self, side: usize) -> impl Iterator<Item = &Outputs> {
        self.gentle[side].iter().chain(&self.wild[side])
    }

    fn explains(
        &self,
        place: (OutputSlot<'_>, &[usize], usize),
        (x, y): (f64, f64),
        by: f64,
    ) -> Option<Cause> {
        let [mut a, mut b] = [Hull::new(x), Hull::new(y)];
        for (hull, runs) in [&mut a, &mut b].into_iter().zip(&self.gentle) {
            runs.iter().filter_map(|run| number_at(run, place)).for_each(|n| hull.add(n));
        }
        if (a.varies() || b.varies()) && a.meets(b, by) {
            return Some(Cause::Rounding);
        }
        let wild = [x, y].into_iter().zip(&self.wild).filter(|(_, runs)| !runs.is_empty());
        for (start, runs) in wild {
            let mut numbers = runs.iter().filter_map(|run| number_at(run, place));
            let mut hull = Hull::new(start);
            numbers.by_ref().for_each(|n| hull.add(n));
            // Large moves only: the runs round differently too.
            if hull.nan || hull.width() > SPREADS * a.width().max(b.width()) {
                return Some(Cause::Special);
            }
        }
        None
    }
}

fn number_at(
    outputs: &Outputs,
    (slot, path, at): (OutputSlot<'_>, &[usize], usize),
) -> Option<f64> {
    let mut value = match slot {
        OutputSlot::Result(n) => outputs.results.get(n)?,
        OutputSlot::Operand { call, target, operand } => {
            let call = outputs.calls.calls.get(call).filter(|call| &*call.target == target)?;
            call.operands.get(operand)?
        }
    };
    for &n in path {
        let Value::Tuple(elements) = value else { return None };
        value = elements.get(n)?;
    }
    let t = value.as_tensor()?;
    if t.is_splat() {
        let one = numbers(&t.part(0, []));
        return one.get(at % one.len().max(1)).copied();
    }
    let per_element = if t.dtype().is_complex() || wide(t) { 2 } else { 1 };
    let one = numbers(&t.part(at / per_element, []));
    one.get(at % per_element).copied()
}

// Integers of 64 bits are compared in two halves.
fn wide(t: &Tensor) -> bool {
    t.dtype().is_integer() && t.dtype().byte_size() == 8
}

/// The numbers that an element was in several runs.
#[derive(Clone, Copy)]
struct Hull {
    low: f64,
    high: f64,
    nan: bool,
    // Zeros of either sign differ.
    signs: [bool; 2],
}

impl Hull {
    fn new(x: f64) -> Self {
        let mut hull =
            Self { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: false, signs: [false; 2] };
        hull.add(x);
        hull
    }

    fn add(&mut self, x: f64) {
        if x.is_nan() {
            self.nan = true;
            return;
        }
        self.low = self.low.min(x);
        self.high = self.high.max(x);
        self.signs[usize::from(x.is_sign_negative())] = true;
    }

    fn width(self) -> f64 {
        if self.high > self.low { self.high - self.low } else { 0.0 }
    }

    fn varies(self) -> bool {
        self.width() > 0.0
            || self.nan && self.low <= self.high
            || self.low == 0.0 && self.signs == [true; 2]
    }

    // Whether some number may be in both. Each is widened by `by` times the larger of the two widths.
    fn meets(self, other: Self, by: f64) -> bool {
        if self.nan && other.nan {
            return true;
        }
        let room = by * self.width().max(other.width());
        let room = if room.is_finite() { room } else { 0.0 };
        self.low - room <= other.high && other.low - room <= self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_program_may_take_longer() {
        let seconds = Duration::from_secs;
        assert_eq!(time_afterwards(Duration::ZERO, seconds(40)), MIN_TIME);
        assert_eq!(time_afterwards(seconds(1), seconds(40)), seconds(17));
        assert_eq!(time_afterwards(seconds(10), seconds(40)), seconds(40));
        assert_eq!(time_afterwards(seconds(1), seconds(4)), seconds(4));
    }
}
