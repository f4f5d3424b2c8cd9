//! Runs with changes that the float mode allows, to tell whether such a change explains a difference.

use sapwood_ptir::eval::{RunOptions, Tensor, Value};

use crate::elements::elements_as_f64;
use crate::function_pair::{FunctionPair, OutputSlot, Outputs, PerturbedRun, SPREAD_FACTOR};
use crate::perturbation::PerturbationStyle;

/// The cause of a difference that the float mode allows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenCause {
    /// Other rounding, other signs of zeros or other bits of NaN move the element as far.
    Rounding,
    /// The element depends on an infinity or NaN.
    Special,
}

impl OpenCause {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Rounding => "a change that the float mode allows is amplified there",
            Self::Special => "it depends on an infinity or NaN, which the float mode leaves open",
        }
    }
}

/// The place of a number among the outputs of a run.
#[derive(Clone, Copy)]
pub(crate) struct NumberPlace<'a> {
    pub(crate) slot: OutputSlot<'a>,
    /// The indices of the elements of nested tuples.
    pub(crate) path: &'a [usize],
    /// The tensor of the first program at this place.
    pub(crate) tensor: &'a Tensor,
    /// The index of the number, as [`elements_as_f64`] orders them.
    pub(crate) at: usize,
}

/// The outputs of perturbed runs of both programs.
pub(crate) struct PerturbedRuns {
    // Of the program before and of the program after.
    finite: [Vec<Outputs>; 2],
    special: [Vec<Outputs>; 2],
}

impl PerturbedRuns {
    pub(crate) fn new(
        pair: &FunctionPair<'_>,
        inputs: &[Value],
        options: &RunOptions,
        results: usize,
    ) -> Self {
        let outputs = |run: PerturbedRun| {
            let results = run.results.ok().filter(|r| r.len() == results)?;
            Some(Outputs { results, calls: run.calls })
        };
        let mut saw_special = [false; 2];
        let finite = [0, 1].map(|side| {
            let runs = PerturbationStyle::finite()
                .map(|style| pair.run_perturbed(side, inputs, style, options));
            runs.inspect(|run| saw_special[side] |= run.special).filter_map(outputs).collect()
        });
        let open = saw_special.map(|saw| saw && pair.floats().fast());
        let special = [0, 1].map(|side| {
            let styles = PerturbationStyle::special().filter(|_| open[side]);
            let runs = styles.map(|style| pair.run_perturbed(side, inputs, style, options));
            runs.filter_map(outputs).collect()
        });
        Self { finite, special }
    }

    pub(crate) fn runs(&self, side: usize) -> impl Iterator<Item = &Outputs> {
        self.finite[side].iter().chain(&self.special[side])
    }

    /// Returns how far changed rounding moves each number of a tensor of the first program, in either program.
    pub(crate) fn movements(
        &self,
        slot: OutputSlot<'_>,
        path: &[usize],
        tensor: &Tensor,
    ) -> Vec<f64> {
        let start = elements_as_f64(tensor);
        let mut movements = vec![0.0; start.len()];
        for t in self.finite.iter().flatten().filter_map(|run| tensor_at(run, slot, path, tensor)) {
            for ((most, x), y) in movements.iter_mut().zip(&start).zip(elements_as_f64(t)) {
                *most = f64::max(*most, (x - y).abs());
            }
        }
        movements
    }

    pub(crate) fn explains(
        &self,
        place: NumberPlace<'_>,
        (x, y): (f64, f64),
        by: f64,
    ) -> Option<OpenCause> {
        let [mut a, mut b] = [ObservedInterval::new(x), ObservedInterval::new(y)];
        for (hull, runs) in [&mut a, &mut b].into_iter().zip(&self.finite) {
            runs.iter().filter_map(|run| number_at(run, place)).for_each(|n| hull.add(n));
        }
        if (a.varies() || b.varies()) && a.overlaps(b, by) {
            return Some(OpenCause::Rounding);
        }
        let special = [x, y].into_iter().zip(&self.special).filter(|(_, runs)| !runs.is_empty());
        for (start, runs) in special {
            let mut numbers = runs.iter().filter_map(|run| number_at(run, place));
            let mut hull = ObservedInterval::new(start);
            numbers.by_ref().for_each(|n| hull.add(n));
            // Only large changes count, because these runs round differently too.
            if hull.nan || hull.width() > SPREAD_FACTOR * a.width().max(b.width()) {
                return Some(OpenCause::Special);
            }
        }
        None
    }
}

// Returns none if a perturbed run has no such tensor: it may take another branch and make other calls.
fn tensor_at<'a>(
    outputs: &'a Outputs,
    slot: OutputSlot<'_>,
    path: &[usize],
    tensor: &Tensor,
) -> Option<&'a Tensor> {
    let mut value = match slot {
        OutputSlot::Result(n) => outputs.results.get(n)?,
        OutputSlot::Operand { call, signature, operand } => {
            outputs.calls.signatures.get(call).filter(|&found| found == signature)?;
            outputs.calls.operands.get(call)?.get(operand)?
        }
    };
    for &n in path {
        let Value::Tuple(elements) = value else { return None };
        value = elements.get(n)?;
    }
    value.as_tensor().filter(|t| (t.dtype(), t.shape()) == (tensor.dtype(), tensor.shape()))
}

fn number_at(outputs: &Outputs, place: NumberPlace<'_>) -> Option<f64> {
    let NumberPlace { slot, path, tensor, at } = place;
    let t = tensor_at(outputs, slot, path, tensor)?;
    if t.is_splat() {
        let one = elements_as_f64(&t.part(0, []));
        return one.get(at % one.len().max(1)).copied();
    }
    let per_element = if t.dtype().is_complex() || wide(t) { 2 } else { 1 };
    let one = elements_as_f64(&t.part(at / per_element, []));
    one.get(at % per_element).copied()
}

// Returns whether elements are 64-bit integers, which are compared in two halves.
fn wide(t: &Tensor) -> bool {
    t.dtype().is_integer() && t.dtype().byte_size() == 8
}

/// The interval of the values that an element had in several runs.
#[derive(Clone, Copy)]
struct ObservedInterval {
    low: f64,
    high: f64,
    nan: bool,
    // The signs that were seen: zeros of either sign differ.
    signs: [bool; 2],
}

impl ObservedInterval {
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

    // Returns whether the intervals overlap after each is widened by `by` times the larger of the two widths.
    fn overlaps(self, other: Self, by: f64) -> bool {
        if self.nan && other.nan {
            return true;
        }
        let margin = by * self.width().max(other.width());
        let margin = if margin.is_finite() { margin } else { 0.0 };
        self.low - margin <= other.high && other.low - margin <= self.high
    }
}
