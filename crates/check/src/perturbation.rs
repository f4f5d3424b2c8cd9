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
const DATA_MOVEMENT_OPS: [&str; 20] = [
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
const EXACT_OPS: [&str; 11] = [
    "abs",
    "ceil",
    "clamp",
    "floor",
    "max",
    "min",
    "round_away",
    "round_even",
    "sign",
    "sort",
    "top_k",
];

/// Ops whose rounding errors are proportional to their operands, not to their results.
const SUMMING_OPS: [&str; 4] = ["add", "sub", "convolution", "dot_general"];

/// Some runs change results by up to this many units in the last place, the others by one.
const WIDE_STEPS: f64 = 8.0;
/// The largest part of itself that a result is changed by, unless one unit is more.
const MAX_WIDE_STEP: f64 = 1.0 / 64.0;
/// The number of runs that change rounding, signs of zeros and bits of NaN.
const FINITE_RUNS: u64 = 6;
/// The number of runs that also replace infinities and NaN by numbers.
const SPECIAL_RUNS: u64 = 8;

/// The way in which one run changes results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct PerturbationStyle {
    number: u64,
    /// Infinities and NaN become numbers.
    special: bool,
}

impl PerturbationStyle {
    /// Returns the styles that leave infinities and NaN alone.
    pub(crate) fn finite() -> impl Iterator<Item = Self> {
        (0..FINITE_RUNS).map(|number| Self { number, special: false })
    }

    /// Returns the styles that replace infinities and NaN by numbers.
    pub(crate) fn special() -> impl Iterator<Item = Self> {
        (0..SPECIAL_RUNS).map(|number| Self { number, special: true })
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
        others: options.kernels.clone(),
        changes: changes.clone(),
        moving: unperturbed_ops(program),
    };
    let results = Prepared::new(program, function, Some(&kernels))
        .and_then(|prepared| prepared.run(inputs, options));
    (results, changes.special.load(Ordering::Relaxed))
}

// Returns the ops whose results are not changed: those that move elements, and those that the evaluator runs itself.
fn unperturbed_ops(program: &Program) -> Vec<OpKey> {
    let defs = program.registry().defs();
    let kept =
        defs.filter(|d| d.control.is_some() || d.terminator || DATA_MOVEMENT_OPS.contains(&d.name));
    kept.map(|def| def.key).collect()
}

struct PerturbingKernels {
    others: Option<Arc<dyn Kernels>>,
    changes: Arc<Perturbation>,
    moving: Vec<OpKey>,
}

impl Kernels for PerturbingKernels {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        let other = self.others.as_ref().and_then(|k| k.kernel(op));
        if self.moving.contains(&op) {
            return other;
        }
        let changes = self.changes.clone();
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let name = cx.def().name;
            let kernel = other.clone().or_else(|| cx.def().evaluation().cloned());
            let kernel = kernel.ok_or(Fault::NoEvaluation { op: name })?;
            let adds =
                SUMMING_OPS.contains(&name) || name.contains("reduce") || name.contains("cum");
            let size = if adds && changes.floats.fast() { size_of_terms(cx) } else { 0.0 };
            if name == "compare" && changes.floats.fast() {
                return changes.comparison(cx, &*kernel);
            }
            let from_integers = cx.tensor(0).is_ok_and(|t| !t.dtype().is_float());
            let exact = EXACT_OPS.contains(&name) || name == "cast" && from_integers;
            let mut results = kernel(cx)?;
            for value in &mut results {
                changes.value(value, size, exact);
            }
            Ok(results)
        }))
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        self.others.as_ref().and_then(|k| k.custom_call(target))
    }
}

fn wide_step(unit: f64) -> f64 {
    (WIDE_STEPS * unit).min(MAX_WIDE_STEP).max(unit)
}

// Returns the magnitude that the rounding errors of a sum are proportional to: that of its terms, and more for many terms.
fn size_of_terms(cx: &EvalCx<'_>) -> f64 {
    let len = |t: &Tensor| t.len().max(1) as f64;
    let result =
        cx.result_shape(0).map_or(1.0, |shape| shape.iter().product::<usize>().max(1) as f64);
    let operands: Vec<&Tensor> = cx.args().iter().filter_map(Value::as_tensor).collect();
    match (cx.def().name, &operands[..]) {
        ("dot_general" | "convolution", [a, b]) => {
            let terms = (len(a) * len(b) / result).sqrt();
            largest(&cx.args()[..1]) * largest(&cx.args()[1..]) * terms.sqrt()
        }
        ("add" | "sub", _) | (_, []) => largest(cx.args()),
        (_, [a, ..]) => largest(cx.args()) * (len(a) / result).max(1.0).sqrt(),
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
    // Changes the elements of a tensor; a splat stays one.
    fn value(&self, value: &mut Value, size: f64, exact: bool) {
        let Value::Tensor(t) = value else { return };
        let dtype = t.dtype();
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let seed = serial.wrapping_mul(0x100).wrapping_add(self.style.number);
        let mut rng = Rng::new(Rng::new(seed).bits());
        let step = unit(dtype) * size;
        let changed = if dtype.is_float() {
            with_float!(dtype, T => mapped::<T>(t, |x| self.float(x, step, exact, &mut rng)), _ => None)
        } else if dtype.is_complex() {
            with_complex!(dtype, T => mapped::<T>(t, |z| {
                let mut part = |x| self.float(x, step, exact, &mut rng);
                T::of(part(z.re()), part(z.im()))
            }), _ => None)
        } else {
            None
        };
        if let Some(changed) = changed {
            *t = changed;
        }
    }

    // Compares numbers that are nearly equal as if they were, in half of the styles.
    fn comparison(&self, cx: &mut EvalCx<'_>, kernel: &Evaluate) -> EvalResult {
        let tie = matches!(cx.word("direction"), Ok("eq" | "le" | "ge"));
        let near = match (cx.tensor(0), cx.tensor(1)) {
            (Ok(a), Ok(b)) if self.style.number % 2 == 1 && a.dtype().is_float() => {
                // Errors are proportional to the numbers that an operand was computed from.
                let step = wide_step(unit(a.dtype())) * largest(cx.args());
                let near = |&(x, y): &(f64, f64)| x != y && (x - y).abs() <= step;
                paired_elements(a, b).iter().map(near).collect()
            }
            _ => Vec::new(),
        };
        let mut results = kernel(cx)?;
        if near.contains(&true)
            && let Some(Value::Tensor(t)) = results.first_mut()
        {
            let mut near = near.into_iter();
            let changed = mapped::<bool>(t, |c| if near.next() == Some(true) { tie } else { c });
            *t = changed.unwrap_or_else(|| t.clone());
        }
        Ok(results)
    }

    fn float<T: Float>(&self, x: T, step: f64, exact: bool, rng: &mut Rng) -> T {
        let number = x.number();
        let sign_bit = 1u64 << (T::WIDTH - 1);
        // The first styles make the same choice everywhere.
        let choice = match self.style.number {
            n @ 0..3 => n,
            _ => rng.bits(),
        };
        if !number.is_finite() {
            self.special.store(true, Ordering::Relaxed);
        }
        if number.is_nan() && !(self.style.special && self.floats.fast()) {
            // Another NaN.
            let other = if choice & 1 == 1 { x.raw() ^ sign_bit } else { x.raw() };
            return T::from_raw(other);
        }
        if !number.is_finite() {
            let huge = T::from_raw(T::nearest(f64::MAX).raw());
            let huge =
                if huge.number().is_finite() { huge.number() } else { largest_finite::<T>() };
            return match (self.style.special && self.floats.fast(), choice & 3) {
                (false, _) => x,
                (true, 0) if number.is_nan() => T::nearest(0.0),
                (true, 1) if number.is_nan() => T::nearest(huge),
                (true, 2) if number.is_nan() => T::nearest(-huge),
                (true, _) if number.is_nan() => T::nearest(1.0),
                // The mode leaves overflow open, but not the sign.
                (true, 0 | 1) => T::nearest(huge.copysign(number)),
                (true, _) => T::nearest(huge.sqrt().copysign(number)),
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

fn mapped<T: Native>(t: &Tensor, mut f: impl FnMut(T) -> T) -> Option<Tensor> {
    Some(match t.view::<T>()? {
        View::Splat(x) => Tensor::splat(t.dtype(), t.shape(), f(x)),
        View::Dense(all) => Tensor::new(t.dtype(), t.shape(), all.iter().map(|&x| f(x)).collect()),
    })
}

/// Kernels that count the floats that ops compute, and those that are infinite or NaN.
pub(crate) struct SpecialValueCounter {
    others: Option<Arc<dyn Kernels>>,
    kept: Vec<OpKey>,
    counts: Arc<[AtomicU64; 2]>,
}

impl SpecialValueCounter {
    pub(crate) fn new(program: &Program, others: Option<Arc<dyn Kernels>>) -> Self {
        Self { others, kept: unperturbed_ops(program), counts: Arc::default() }
    }

    /// Returns the number of floats that were computed since the last call, and of those that were not finite.
    pub(crate) fn take(&self) -> (u64, u64) {
        let [all, special] = &*self.counts;
        (all.swap(0, Ordering::Relaxed), special.swap(0, Ordering::Relaxed))
    }
}

impl Kernels for SpecialValueCounter {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        let other = self.others.as_ref().and_then(|k| k.kernel(op));
        if self.kept.contains(&op) {
            return other;
        }
        let counts = self.counts.clone();
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let kernel = other.clone().or_else(|| cx.def().evaluation().cloned());
            let kernel = kernel.ok_or(Fault::NoEvaluation { op: cx.def().name })?;
            let results = kernel(cx)?;
            for value in &results {
                let (all, special) = count_special(value);
                counts[0].fetch_add(all, Ordering::Relaxed);
                counts[1].fetch_add(special, Ordering::Relaxed);
            }
            Ok(results)
        }))
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        self.others.as_ref().and_then(|k| k.custom_call(target))
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
