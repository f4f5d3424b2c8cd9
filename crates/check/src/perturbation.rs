//! Runs of a program in which every op changes its results as far as the float mode allows.
//!
//! A rewrite may change the bits of a NaN; under `nsz` also the sign of zeros; under `fast` also rounding, infinities and NaN.
//! Some ops amplify such a change: `1 / -0`, a comparison of two numbers that are nearly equal, a cast of NaN. Runs of a
//! program with such changes at every op show the elements of its results that they reach, and the distance. This needs no
//! knowledge of the ops, and loops and calls need no special case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sapwood_ptir::eval::{
    Cplx, EvalCx, EvalError, EvalResult, Evaluate, Fault, Float, Kernels, Native, Prepared,
    RunOptions, Tensor, Value, View,
};
use sapwood_ptir::{OpKey, Program, with_complex, with_float};
use sapwood_types::{FloatMode, Rng};

use crate::elements::{elements_as_f64, paired_elements, unit};

/// Ops without arithmetic, and `neg`; their results are not perturbed.
const DATA_MOVEMENT_OPS: [&str; 21] = [
    "broadcast_in_dim",
    "broadcast_to",
    "complex",
    "concat",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "get_tuple_element",
    "imag",
    "iota",
    "neg",
    "optimization_barrier",
    "pad",
    "real",
    "refine",
    "reshape",
    "reverse",
    "select",
    "slice",
    "transpose",
    "tuple",
];

/// Ops whose results are not rounded. Signs of zeros and bits of NaN may be changed all the same.
const EXACT_OPS: [&str; 13] = [
    "abs",
    "ceil",
    "clamp",
    "floor",
    "max",
    "min",
    "reduce_max",
    "reduce_min",
    "round_away",
    "round_even",
    "sign",
    "sort",
    "top_k",
];

/// Ops whose rounding errors are proportional to their operands, not to their results.
const SUMMING_OPS: [&str; 7] =
    ["add", "sub", "convolution", "dot_general", "reduce", "reduce_sum", "reduce_window"];

/// Some runs change results by up to this many units in the last place, the others by one.
const WIDE_STEPS: f64 = 8.0;
/// The largest part of itself that a result is changed by, unless one unit is more.
const MAX_WIDE_STEP: f64 = 1.0 / 64.0;
/// Some runs replace infinities by this number. It is small enough to be cast to an integer, and so large that the exponential of a
/// masked element stays zero.
const SMALL_OVERFLOW: f64 = 1024.0;
/// The number of runs that change rounding, signs of zeros and bits of NaN.
const FINITE_RUNS: u64 = 6;
/// The number of runs that also replace infinities and NaN by numbers in the results that contain them.
const SPECIAL_RUNS: u64 = 8;
/// The number of runs that also replace NaN by numbers where an op hides it.
const HIDDEN_NAN_RUNS: u64 = 6;

/// The way in which one run changes results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PerturbationStyle {
    number: u64,
    special: SpecialValues,
}

/// The treatment of infinities and NaN in one run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpecialValues {
    /// They stay.
    Kept,
    /// Infinities and NaN become numbers in the result in which they arise.
    ReplacedInResults,
    /// NaN becomes a number in the operands of an op whose result is not NaN, such as a comparison. Until then it stays NaN:
    /// a number in its place could lose its sign on the way, as in `exp`, and the comparison would always have the same result.
    ReplacedInOperands,
}

impl PerturbationStyle {
    /// Returns the styles that leave infinities and NaN alone.
    pub(crate) fn finite() -> impl Iterator<Item = Self> {
        (0..FINITE_RUNS).map(|number| Self { number, special: SpecialValues::Kept })
    }

    /// Returns the styles that replace infinities and NaN by numbers.
    pub(crate) fn special() -> impl Iterator<Item = Self> {
        let style = |special| move |number| Self { number, special };
        let in_results = (0..SPECIAL_RUNS).map(style(SpecialValues::ReplacedInResults));
        in_results.chain((0..HIDDEN_NAN_RUNS).map(style(SpecialValues::ReplacedInOperands)))
    }
}

/// Runs a function with changes at every op. Returns the results, and whether an infinity or NaN was computed.
pub(crate) fn run_perturbed(
    program: &Program,
    function: &str,
    inputs: &[Value],
    floats: FloatMode,
    style: PerturbationStyle,
    options: &RunOptions,
) -> (Result<Vec<Value>, EvalError>, bool) {
    let changes = Arc::new(Perturbation {
        floats,
        style,
        serial: AtomicU64::new(0),
        special: AtomicBool::new(false),
    });
    let kernels = PerturbingKernels {
        inner: InnerKernels::new(program, options.kernels.clone()),
        changes: changes.clone(),
    };
    let results = Prepared::new(program, function, Some(&kernels))
        .and_then(|prepared| prepared.run(inputs, options));
    (results, changes.special.load(Ordering::Relaxed))
}

/// The kernels that perturbing or counting ones call.
struct InnerKernels {
    others: Option<Arc<dyn Kernels>>,
    // The ops that are run as they are: those that move elements, and those that the evaluator runs itself.
    kept: Vec<OpKey>,
}

impl InnerKernels {
    fn new(program: &Program, others: Option<Arc<dyn Kernels>>) -> Self {
        let defs = program.registry().defs();
        let kept = defs
            .filter(|d| d.control.is_some() || d.terminator || DATA_MOVEMENT_OPS.contains(&d.name));
        Self { others, kept: kept.map(|def| def.key).collect() }
    }

    // Returns a kernel that calls `run` with the inner one.
    fn wrap(
        &self,
        op: OpKey,
        run: impl Fn(&mut EvalCx<'_>, &Evaluate) -> EvalResult + Send + Sync + 'static,
    ) -> Option<Arc<Evaluate>> {
        let other = self.others.as_ref().and_then(|k| k.kernel(op));
        if self.kept.contains(&op) {
            return other;
        }
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let kernel = other.clone().or_else(|| cx.def().evaluation().cloned());
            let kernel = kernel.ok_or(Fault::NoEvaluation { op: cx.def().name })?;
            run(cx, &*kernel)
        }))
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        self.others.as_ref().and_then(|k| k.custom_call(target))
    }
}

struct PerturbingKernels {
    inner: InnerKernels,
    changes: Arc<Perturbation>,
}

impl Kernels for PerturbingKernels {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        let changes = self.changes.clone();
        self.inner.wrap(op, move |cx, kernel| {
            let name = cx.def().name;
            // The ops of a region with several ops are changed one by one, and its results are not changed again.
            let combined = match cx.num_regions() {
                0 => Some(name),
                _ => cx.simple_region(0).map(|region| region.op.name()),
            };
            let is_sum =
                SUMMING_OPS.contains(&name) && combined.is_some_and(|op| SUMMING_OPS.contains(&op));
            let sizes = match is_sum && changes.floats.fast() {
                true => TermSizes::new(cx),
                false => TermSizes::default(),
            };
            if name == "compare" && changes.floats.fast() {
                return changes.comparison(cx, kernel);
            }
            let from_integers = cx.tensor(0).is_ok_and(|t| !t.dtype().is_float());
            let exact = EXACT_OPS.contains(&name)
                || combined.is_none_or(|op| EXACT_OPS.contains(&op))
                || name == "cast" && from_integers;
            let mut results = changes.evaluate(cx, kernel)?;
            for value in &mut results {
                changes.value(value, &sizes, exact);
            }
            Ok(results)
        })
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        self.inner.custom_call(target)
    }
}

fn wide_step(unit: f64) -> f64 {
    (WIDE_STEPS * unit).min(MAX_WIDE_STEP).max(unit)
}

/// The magnitudes that the rounding errors of sums are proportional to: those of their terms, and more for many terms.
#[derive(Default)]
struct TermSizes {
    // One per number of the result; empty for results that are not sums of two tensors.
    of_numbers: Vec<f64>,
    // The magnitude for all other numbers.
    largest: f64,
}

impl TermSizes {
    fn new(cx: &EvalCx<'_>) -> Self {
        let len = |t: &Tensor| t.len().max(1) as f64;
        let result =
            cx.result_shape(0).map_or(1.0, |shape| shape.iter().product::<usize>().max(1) as f64);
        let operands: Vec<&Tensor> = cx.args().iter().filter_map(Value::as_tensor).collect();
        let largest = match (cx.def().name, &operands[..]) {
            // Each sum has its own size: the large negative numbers of a mask do not change the other elements.
            ("add" | "sub", &[a, b]) if a.ty() == b.ty() => {
                let size = |(x, y): (f64, f64)| {
                    let size = x.abs().max(y.abs());
                    if size.is_finite() { size } else { 0.0 }
                };
                let of_numbers = paired_elements(a, b).into_iter().map(size).collect();
                return Self { of_numbers, largest: 0.0 };
            }
            ("dot_general" | "convolution", [a, b]) => {
                let terms = (len(a) * len(b) / result).sqrt();
                largest(&cx.args()[..1]) * largest(&cx.args()[1..]) * terms.sqrt()
            }
            ("add" | "sub", _) | (_, []) => largest(cx.args()),
            (_, [a, ..]) => largest(cx.args()) * (len(a) / result).max(1.0).sqrt(),
        };
        Self { of_numbers: Vec::new(), largest }
    }

    fn get(&self, at: usize) -> f64 {
        self.of_numbers.get(at).copied().unwrap_or(self.largest)
    }
}

// Returns the largest magnitude of a finite element.
fn largest(values: &[Value]) -> f64 {
    let tensors = values.iter().filter_map(Value::as_tensor).filter(|t| t.dtype().is_float());
    let elements = tensors.flat_map(|t| match t.is_splat() {
        true => elements_as_f64(&t.part(0, [])),
        false => elements_as_f64(t),
    });
    elements.filter(|x| x.is_finite()).fold(0.0, |most, x| f64::max(most, x.abs()))
}

struct Perturbation {
    floats: FloatMode,
    style: PerturbationStyle,
    // Counts the tensors that were changed, so that each has its own random numbers.
    serial: AtomicU64,
    special: AtomicBool,
}

impl Perturbation {
    // Runs a kernel. If the style asks for it, NaN among the operands becomes a number, except where the result is NaN too.
    fn evaluate(&self, cx: &mut EvalCx<'_>, kernel: &Evaluate) -> EvalResult {
        let is_late = self.style.special == SpecialValues::ReplacedInOperands && self.floats.fast();
        if !is_late || !cx.args().iter().any(has_nan) {
            return kernel(cx);
        }
        let mut args = cx.take_args();
        // Regions may have effects, so they run only once.
        let with_nan = match cx.num_regions() {
            0 => {
                cx.put_args(args.iter().cloned());
                kernel(cx)?
            }
            _ => Default::default(),
        };
        args.iter_mut().for_each(|value| self.replace_nan(value));
        cx.put_args(args);
        let mut results = kernel(cx)?;
        for (value, with_nan) in results.iter_mut().zip(&with_nan) {
            if let Value::Tensor(t) = value
                && let Some(restored) = restore_nan(t, with_nan)
            {
                *t = restored;
            }
        }
        Ok(results)
    }

    // Replaces NaN by numbers.
    fn replace_nan(&self, value: &mut Value) {
        let Value::Tensor(t) = value else { return };
        let mut rng = self.next_rng();
        let dtype = t.dtype();
        let changed = if dtype.is_float() {
            with_float!(dtype, T => mapped::<T>(t, |x| self.without_nan(x, &mut rng)), _ => None)
        } else if dtype.is_complex() {
            with_complex!(dtype, T => mapped::<T>(t, |z| {
                let mut part = |x| self.without_nan(x, &mut rng);
                T::of(part(z.re()), part(z.im()))
            }), _ => None)
        } else {
            None
        };
        if let Some(changed) = changed {
            *t = changed;
        }
    }

    fn without_nan<T: Float>(&self, x: T, rng: &mut Rng) -> T {
        let choice = self.choice(rng);
        if x.number().is_nan() { number_for_nan(choice) } else { x }
    }

    // Returns random numbers for the next tensor.
    fn next_rng(&self) -> Rng {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let seed = serial.wrapping_mul(0x100).wrapping_add(self.style.number);
        Rng::new(Rng::new(seed).bits())
    }

    // Returns a random number; the first styles make one choice everywhere.
    fn choice(&self, rng: &mut Rng) -> u64 {
        match self.style.number {
            n @ 0..3 => n,
            _ => rng.bits(),
        }
    }

    // Changes the elements of a tensor; a splat stays one.
    fn value(&self, value: &mut Value, sizes: &TermSizes, exact: bool) {
        let Value::Tensor(t) = value else { return };
        let dtype = t.dtype();
        let mut rng = self.next_rng();
        let unit = unit(dtype);
        let mut steps = (0..).map(|at| unit * sizes.get(at));
        let mut step = || steps.next().unwrap_or(0.0);
        let changed = if dtype.is_float() {
            with_float!(dtype, T => mapped::<T>(t, |x| self.float(x, step(), exact, &mut rng)), _ => None)
        } else if dtype.is_complex() {
            with_complex!(dtype, T => mapped::<T>(t, |z| {
                let mut part = |x| self.float(x, step(), exact, &mut rng);
                T::of(part(z.re()), part(z.im()))
            }), _ => None)
        } else {
            None
        };
        if let Some(changed) = changed {
            *t = changed;
        }
    }

    // Compares numbers that are nearly equal as if they were, in half of the styles. A comparison with NaN has any result, if
    // the style replaces operands that are NaN. So has a test whether an infinity equals a number: the infinity may be an overflow.
    fn comparison(&self, cx: &mut EvalCx<'_>, kernel: &Evaluate) -> EvalResult {
        let tie = matches!(cx.word("direction"), Ok("eq" | "le" | "ge"));
        let is_inequality = matches!(cx.word("direction"), Ok("ne"));
        let has_ties = self.style.number % 2 == 1;
        let is_late = self.style.special == SpecialValues::ReplacedInOperands;
        let is_equality = is_inequality || matches!(cx.word("direction"), Ok("eq"));
        let open: Vec<Option<bool>> = match (cx.tensor(0), cx.tensor(1)) {
            (Ok(a), Ok(b)) if (has_ties || is_late) && a.dtype().is_float() => {
                // Errors are proportional to the numbers that an operand was computed from.
                let step = wide_step(unit(a.dtype())) * largest(cx.args());
                let mut rng = self.next_rng();
                // The style that does not round inverts the result that NaN has: rounding may turn NaN into an infinity.
                let mut any = || matches!(self.choice(&mut rng) & 3, 1 | 2) != is_inequality;
                let is_special = |x: f64, y: f64| {
                    let is_overflow = is_equality && x.is_infinite() != y.is_infinite();
                    x.is_nan() || y.is_nan() || is_overflow
                };
                let open = |&(x, y): &(f64, f64)| match is_special(x, y) {
                    true => is_late.then(&mut any),
                    false => (has_ties && x != y && (x - y).abs() <= step).then_some(tie),
                };
                paired_elements(a, b).iter().map(open).collect()
            }
            _ => Vec::new(),
        };
        let mut results = self.evaluate(cx, kernel)?;
        if open.iter().any(Option::is_some)
            && let Some(Value::Tensor(t)) = results.first_mut()
        {
            let mut open = open.into_iter();
            let changed = mapped::<bool>(t, |c| open.next().flatten().unwrap_or(c));
            *t = changed.unwrap_or_else(|| t.clone());
        }
        Ok(results)
    }

    fn float<T: Float>(&self, x: T, step: f64, exact: bool, rng: &mut Rng) -> T {
        let number = x.number();
        let sign_bit = 1u64 << (T::WIDTH - 1);
        let choice = self.choice(rng);
        if !number.is_finite() {
            self.special.store(true, Ordering::Relaxed);
            let is_replaced =
                self.style.special == SpecialValues::ReplacedInResults && self.floats.fast();
            let huge = largest_finite::<T>();
            return match (is_replaced, choice & 3) {
                // Another NaN.
                (false, 1 | 3) if number.is_nan() => T::from_raw(x.raw() ^ sign_bit),
                (false, _) => x,
                (true, _) if number.is_nan() => number_for_nan(choice),
                // The mode leaves overflow open, but not the sign.
                (true, 0) => T::nearest(huge.copysign(number)),
                (true, 1) => T::nearest(huge.sqrt().copysign(number)),
                (true, _) => T::nearest(SMALL_OVERFLOW.min(huge).copysign(number)),
            };
        }
        if number == 0.0 && self.floats.nsz() {
            let raw = match choice & 3 {
                0 => x.raw() ^ sign_bit,
                1 => x.raw() & !sign_bit,
                2 => x.raw() | sign_bit,
                _ => x.raw(),
            };
            if step == 0.0 || exact || !self.floats.fast() {
                return T::from_raw(raw);
            }
        }
        if exact || !self.floats.fast() {
            return x;
        }
        let unit = f64::from(T::FRACTION).exp2().recip();
        // Subnormal numbers are further apart than one unit.
        let least = if number == 0.0 { 0.0 } else { T::from_raw(1).number() };
        let step = step.max(number.abs() * unit).max(least);
        let random = (choice >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let by = match self.style.number {
            0 => 1.0,
            1 => -1.0,
            2 => 0.0,
            3 | 4 => random,
            _ => random * wide_step(unit) / unit,
        };
        let moved = T::nearest(number + by * step);
        if moved.number().is_finite() { moved } else { x }
    }
}

fn largest_finite<T: Float>() -> f64 {
    let exponent = ((1u64 << (T::WIDTH - 1 - T::FRACTION)) - 1) << T::FRACTION;
    let below = T::from_raw(exponent - 1).number();
    // Types without infinities have numbers above.
    let above = T::from_raw(exponent | ((1 << T::FRACTION) - 2)).number();
    if above.is_finite() { above } else { below }
}

// Returns zero, one, or a huge number of either sign.
fn number_for_nan<T: Float>(choice: u64) -> T {
    let huge = largest_finite::<T>();
    T::nearest([0.0, huge, -huge, 1.0][(choice & 3) as usize])
}

fn has_nan(value: &Value) -> bool {
    let Value::Tensor(t) = value else { return false };
    let dtype = t.dtype();
    if dtype.is_float() {
        with_float!(dtype, T => any::<T>(t, is_nan), _ => false)
    } else if dtype.is_complex() {
        with_complex!(dtype, T => any::<T>(t, has_nan_part), _ => false)
    } else {
        false
    }
}

fn is_nan<T: Float>(x: T) -> bool {
    x.number().is_nan()
}

fn has_nan_part<T: Cplx>(z: T) -> bool {
    is_nan(z.re()) || is_nan(z.im())
}

fn any<T: Native>(t: &Tensor, f: impl Fn(T) -> bool) -> bool {
    match t.view::<T>() {
        Some(View::Splat(x)) => f(x),
        Some(View::Dense(all)) => all.iter().any(|&x| f(x)),
        None => false,
    }
}

// Returns a tensor with the elements of the second where these are NaN, and those of the first elsewhere.
fn restore_nan(t: &Tensor, with_nan: &Value) -> Option<Tensor> {
    let Value::Tensor(nan) = with_nan else { return None };
    if !has_nan(with_nan) || t.ty() != nan.ty() {
        return None;
    }
    if nan.is_splat() {
        return Some(nan.clone());
    }
    let dtype = t.dtype();
    if dtype.is_float() {
        with_float!(dtype, T => merged::<T>(t, nan, is_nan), _ => None)
    } else {
        with_complex!(dtype, T => merged::<T>(t, nan, has_nan_part), _ => None)
    }
}

fn merged<T: Native>(t: &Tensor, nan: &Tensor, is_nan: impl Fn(T) -> bool) -> Option<Tensor> {
    let (numbers, nan) = (t.elements::<T>()?, nan.elements::<T>()?);
    let elements = numbers.iter().zip(nan.iter());
    let elements = elements.map(|(&x, &y)| if is_nan(y) { y } else { x }).collect();
    Some(Tensor::new(t.dtype(), t.shape(), elements))
}

fn mapped<T: Native>(t: &Tensor, mut f: impl FnMut(T) -> T) -> Option<Tensor> {
    Some(match t.view::<T>()? {
        View::Splat(x) => Tensor::splat(t.dtype(), t.shape(), f(x)),
        View::Dense(all) => Tensor::new(t.dtype(), t.shape(), all.iter().map(|&x| f(x)).collect()),
    })
}

/// Kernels that count the floats that ops compute, and those that are infinite or NaN.
pub(crate) struct SpecialValueCounter {
    inner: InnerKernels,
    counts: Arc<[AtomicU64; 2]>,
}

impl SpecialValueCounter {
    pub(crate) fn new(program: &Program, others: Option<Arc<dyn Kernels>>) -> Self {
        Self { inner: InnerKernels::new(program, others), counts: Arc::default() }
    }

    /// Returns the number of floats that were computed since the last call, and of those that were not finite.
    pub(crate) fn take(&self) -> (u64, u64) {
        let [all, special] = &*self.counts;
        (all.swap(0, Ordering::Relaxed), special.swap(0, Ordering::Relaxed))
    }
}

impl Kernels for SpecialValueCounter {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        let counts = self.counts.clone();
        self.inner.wrap(op, move |cx, kernel| {
            let results = kernel(cx)?;
            for value in &results {
                let (all, special) = count_special(value);
                counts[0].fetch_add(all, Ordering::Relaxed);
                counts[1].fetch_add(special, Ordering::Relaxed);
            }
            Ok(results)
        })
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        self.inner.custom_call(target)
    }
}

/// Returns the number of floats of a value, and of those that are infinite or NaN. A splat counts as one.
pub(crate) fn count_special(value: &Value) -> (u64, u64) {
    match value {
        Value::Tensor(t) if t.dtype().is_float() => {
            let all =
                if t.is_splat() { elements_as_f64(&t.part(0, [])) } else { elements_as_f64(t) };
            let special = all.iter().filter(|x| !x.is_finite()).count();
            (all.len() as u64, special as u64)
        }
        Value::Tuple(values) => {
            values.iter().map(count_special).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
        }
        _ => (0, 0),
    }
}
