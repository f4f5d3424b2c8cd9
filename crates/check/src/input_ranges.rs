//! Input ranges, and a search for some on which a program computes few infinities and NaN, and results that are not saturated.

use std::time::{Duration, Instant};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{Prepared, RunOptions, Value};
use sapwood_ptir::{Attr, Function, InstId, Name, Program, ValueId, ValueType};

use crate::elements::{elements_as_f64, majority};
use crate::input_generator::{InputGenerator, OpenExtents};
use crate::perturbation::{SpecialValueCounter, count_special};
use crate::shape_operands::ExtentList;

/// The largest number of runs of a search.
const MAX_TRIES: usize = 16;
/// Results with fewer elements are not called saturated: few elements are often equal.
const MIN_SATURATED_ELEMENTS: usize = 8;
/// A result is saturated if no more than one in this many of its elements differs from the others, as in the softmax of large numbers.
const SATURATED_PART: usize = 8;

/// The numbers that the elements of a parameter are drawn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InputRange {
    /// Floats from -2 to 2, integers from -4 to 4.
    #[default]
    Any,
    /// Floats from 1/16 to 4: for square roots, logarithms and divisors.
    Positive,
    /// Floats from 1 to 4.
    AboveOne,
    /// Floats from 1/16 to 15/16.
    Probability,
    /// Floats from -15/16 to 15/16: for `asin` and its like.
    Within,
    /// Floats from -1/4 to 1/4: for exponentials, and for sums that overflow.
    Small,
    /// Floats that are the smaller the more of them are summed: for weights of sums of this many products. Such sums are about as
    /// large as the other factors, so that values do not grow from layer to layer, and a softmax does not saturate.
    Weight(u64),
    /// Integers from zero up to this bound.
    Index(u64),
    /// The extents, or the other amounts, that an op with a shape operand asks for.
    Extents(ExtentList),
}

impl InputRange {
    /// Returns the lower bound and the width.
    pub(crate) fn floats(self) -> (f64, f64) {
        match self {
            Self::Any | Self::Index(_) | Self::Extents(_) => (-2.0, 4.0),
            Self::Positive => (0.0625, 3.9375),
            Self::AboveOne => (1.0, 3.0),
            Self::Probability => (0.0625, 0.875),
            Self::Within => (-0.9375, 1.875),
            Self::Small => (-0.25, 0.5),
            Self::Weight(terms) => {
                // The mean square of numbers up to `x` is `x² / 3`. Powers of two keep coarse numbers coarse.
                let bound = (3.0 / terms.max(1) as f64).log2() / 2.0;
                let bound = bound.round().exp2();
                (-bound, 2.0 * bound)
            }
        }
    }

    /// Returns whether zero is among the floats.
    pub(crate) fn has_zero(self) -> bool {
        self.floats().0 <= 0.0
    }
}

/// Finds a range for each parameter of a function, starting from how the parameters are used. The inputs that are tried have these extents.
pub(crate) fn search_input_ranges(
    program: &Program,
    f: &Function,
    extents: OpenExtents<'_>,
    seed: u64,
    options: &RunOptions,
) -> Vec<InputRange> {
    let guess = ranges_from_uses(program, f, &mut HashMap::default());
    let is_float = |ty: &ValueType| ty.as_tensor().is_none_or(|t| !t.dtype.is_integer());
    let floats: Vec<usize> =
        (0..guess.len()).filter(|&n| is_float(f.value_type(f.params()[n]))).collect();
    let counting = SpecialValueCounter::new(program, options.kernels.clone());
    let Ok(prepared) = Prepared::new(program, f.name().as_str(), Some(&counting)) else {
        return guess;
    };
    let score = |ranges: &[InputRange]| -> Option<RangeScore> {
        let inputs = InputGenerator { ranges, extents, ..InputGenerator::default() };
        let inputs = inputs.inputs(f, seed).ok()?;
        counting.take();
        let results = prepared.run(&inputs, options).ok()?;
        let part = |(all, special): (u64, u64)| special as f64 / all.max(1) as f64;
        let ends = results.iter().map(count_special);
        let special =
            part(counting.take()) + part(ends.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)));
        let saturated = results.iter().filter(|value| is_saturated(value)).count();
        Some(RangeScore { special, saturated })
    };
    let Some(first) = score(&guess).filter(|_| !floats.is_empty()) else { return guess };
    let free: Vec<usize> =
        floats.iter().copied().filter(|&n| guess[n] == InputRange::Any).collect();
    let (mut best, mut least, mut tries) = (guess, first, 1);
    let started = Instant::now();
    let most = options.time_limit.unwrap_or(Duration::MAX);
    let mut attempt = |chosen: &[usize], range: InputRange| {
        let is_over = tries == MAX_TRIES || started.elapsed() > most;
        if least == RangeScore::default() || is_over || chosen.is_empty() {
            return least;
        }
        tries += 1;
        let mut other = best.clone();
        chosen.iter().for_each(|&n| other[n] = range);
        if let Some(score) = score(&other).filter(|score| *score < least) {
            (best, least) = (other, score);
        }
        least
    };
    let others =
        [InputRange::Positive, InputRange::Small, InputRange::Probability, InputRange::Any];
    // Smaller numbers saturate fewer results; the ranges that uses require stay.
    let mut reached = attempt(&free, InputRange::Small);
    for range in others {
        reached = attempt(&floats, range);
    }
    // One parameter alone seldom saturates a result.
    for &n in floats.iter().filter(|_| reached.special > 0.0) {
        for range in others {
            attempt(&[n], range);
        }
    }
    best
}

/// The measure of ranges: how much of the values that a program computes from them is not useful for a comparison.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
struct RangeScore {
    /// The part of the computed floats that are not finite; the results count as much as all intermediate values.
    special: f64,
    /// The number of results in which almost all elements are equal.
    saturated: usize,
}

fn is_saturated(value: &Value) -> bool {
    let Value::Tensor(t) = value else { return false };
    if !t.dtype().is_float() || t.is_splat() || t.len() < MIN_SATURATED_ELEMENTS {
        return false;
    }
    let elements = elements_as_f64(t);
    let common = majority(elements.iter().copied());
    let others = elements.iter().filter(|&&x| Some(x) != common).count();
    common.is_some() && others <= elements.len() / SATURATED_PART
}

type RangesByFunction = HashMap<Name, Option<Vec<InputRange>>, FxBuildHasher>;

// Returns the ranges that the direct and indirect uses of the parameters require.
fn ranges_from_uses(
    program: &Program,
    f: &Function,
    known: &mut RangesByFunction,
) -> Vec<InputRange> {
    // A recursive call requires nothing more.
    known.insert(f.name(), None);
    let mut wanted: HashMap<ValueId, InputRange, FxBuildHasher> = HashMap::default();
    let insts: Vec<InstId> = f.walk().collect();
    // Users come before the values they use.
    for &inst in insts.iter().rev() {
        for (n, &operand) in f.operands(inst).iter().enumerate() {
            let of_result = f.value_of(inst).and_then(|v| wanted.get(&v).copied());
            let required = match f.attr(inst, "callee") {
                Some(Attr::Func(callee)) => callee_range(program, *callee, n, known),
                _ => range_for_operand(f, inst, n, of_result.unwrap_or_default(), &wanted),
            };
            if required != InputRange::Any {
                let slot = wanted.entry(operand).or_default();
                *slot = intersection(*slot, required);
            }
        }
    }
    let ranges: Vec<InputRange> =
        f.params().iter().map(|p| wanted.get(p).copied().unwrap_or_default()).collect();
    known.insert(f.name(), Some(ranges.clone()));
    ranges
}

fn callee_range(
    program: &Program,
    callee: Name,
    n: usize,
    known: &mut RangesByFunction,
) -> InputRange {
    if !known.contains_key(&callee)
        && known.len() < 256
        && let Some(g) = program.function(callee)
    {
        ranges_from_uses(program, g, known);
    }
    let ranges = known.get(&callee).and_then(Option::as_ref);
    match ranges.and_then(|ranges| ranges.get(n)).copied().unwrap_or_default() {
        InputRange::Extents(list) => InputRange::Extents(list.without_symbols()),
        range => range,
    }
}

// Returns the range that an instruction requires of an operand, given the range required of its result.
fn range_for_operand(
    f: &Function,
    inst: InstId,
    n: usize,
    result: InputRange,
    wanted: &HashMap<ValueId, InputRange, FxBuildHasher>,
) -> InputRange {
    let operands = f.operands(inst);
    let squared = operands.len() == 2 && operands[0] == operands[1];
    if let Some(list) = ExtentList::of_operand(f, inst, n, result) {
        return InputRange::Extents(list);
    }
    match (f.op_name(inst), n) {
        ("sqrt" | "rsqrt" | "log" | "log1p" | "lgamma" | "digamma", _) | ("pow", 0) => {
            InputRange::Positive
        }
        ("div" | "rem", 1) => InputRange::Positive,
        ("acosh", _) => InputRange::AboveOne,
        ("asin" | "acos" | "atanh" | "erf_inv", _) => InputRange::Within,
        ("exp" | "expm1" | "sinh" | "cosh", _) => InputRange::Small,
        // One minus a probability is a probability.
        ("sub", 1) if result == InputRange::Positive => InputRange::Within,
        ("sub", 0) if result == InputRange::Positive => InputRange::Any,
        ("add" | "mul" | "div" | "sub" | "dot_general" | "convolution", _) if squared => {
            InputRange::Any
        }
        ("gather", 1) => index_range(f, operands[0]),
        ("dynamic_slice", 1..) => axis_range(f, operands[0], n - 1),
        ("dynamic_update_slice", 2..) => axis_range(f, operands[0], n - 2),
        ("scatter", n) if n == operands.len() / 2 => index_range(f, operands[0]),
        ("dot_general" | "convolution", _)
            if only_floats(result) == InputRange::Any && is_weight(f, operands, n) =>
        {
            summed_products(f, inst).map_or(InputRange::Any, InputRange::Weight)
        }
        ("add" | "mul" | "div" | "dot_general" | "convolution", _) => only_floats(result),
        ("select", 1 | 2) | ("max" | "min", _) => only_floats(result),
        (name, _) if RANGE_PRESERVING_OPS.contains(&name) || name.starts_with("reduce_") => result,
        _ => range_from_regions(f, inst, n, wanted),
    }
}

/// Ops that require of their operands the range required of their results.
const RANGE_PRESERVING_OPS: [&str; 11] = [
    "broadcast_in_dim",
    "broadcast_to",
    "cast",
    "concat",
    "pad",
    "refine",
    "reshape",
    "reverse",
    "slice",
    "sort",
    "transpose",
];

// Returns whether an operand of a sum of products is a parameter of the function or of a region, and the other is computed or
// comes first.
fn is_weight(f: &Function, operands: &[ValueId], n: usize) -> bool {
    let is_param =
        |n: usize| operands.get(n).is_some_and(|&v| f.inst_of(moved_from(f, v)).is_none());
    is_param(n) && (n == 1 || !is_param(1))
}

// Returns the value that an instruction moves, casts or rearranges, or the value itself.
fn moved_from(f: &Function, mut value: ValueId) -> ValueId {
    while let Some(inst) = f.inst_of(value)
        && RANGE_PRESERVING_OPS.contains(&f.op_name(inst))
        && let Some(&operand) = f.operands(inst).first()
    {
        value = operand;
    }
    value
}

// Returns the number of products in each sum of a `dot_general` or `convolution`, if the extents are known.
fn summed_products(f: &Function, inst: InstId) -> Option<u64> {
    let extents = |n: usize, axes: &[i64]| -> Option<u64> {
        let dims = &f.value_type(*f.operands(inst).get(n)?).as_tensor()?.dims;
        let extent = |&axis: &i64| dims.get(usize::try_from(axis).ok()?)?.known();
        axes.iter().try_fold(1u64, |product, axis| product.checked_mul(extent(axis)?))
    };
    match (f.attr(inst, "lhs_contract"), f.attr(inst, "kernel_dims")) {
        (Some(Attr::Ints(axes)), _) => extents(0, axes),
        (_, Some(Attr::Ints(axes))) => {
            let [features, _, window @ ..] = &axes[..] else { return None };
            extents(1, &[*features])?.checked_mul(extents(1, window)?)
        }
        _ => None,
    }
}

fn only_floats(range: InputRange) -> InputRange {
    if matches!(range, InputRange::Index(_) | InputRange::Extents(_)) {
        InputRange::Any
    } else {
        range
    }
}

// Returns the range that a region requires, if it has one parameter per operand, as a loop over carried values has.
fn range_from_regions(
    f: &Function,
    inst: InstId,
    n: usize,
    wanted: &HashMap<ValueId, InputRange, FxBuildHasher>,
) -> InputRange {
    let regions = f.regions(inst).iter().map(|&region| f.body_params(region));
    let params = regions.filter(|params| params.len() == f.operands(inst).len());
    params.filter_map(|params| wanted.get(&params[n]).copied()).fold(InputRange::Any, intersection)
}

fn index_range(f: &Function, input: ValueId) -> InputRange {
    let dims = f.value_type(input).as_tensor().map(|t| t.dims.iter().filter_map(|d| d.known()));
    InputRange::Index(dims.and_then(Iterator::max).unwrap_or(1))
}

fn axis_range(f: &Function, input: ValueId, axis: usize) -> InputRange {
    let dim = f.value_type(input).as_tensor().and_then(|t| t.dims.get(axis)?.known());
    dim.map_or(InputRange::Any, InputRange::Index)
}

// Returns a range inside both ranges, as far as there is one.
fn intersection(a: InputRange, b: InputRange) -> InputRange {
    match (a, b) {
        (InputRange::Any, other) | (other, InputRange::Any) => other,
        _ if a == b => a,
        (InputRange::Extents(list), _) | (_, InputRange::Extents(list)) => {
            InputRange::Extents(list)
        }
        (InputRange::Index(m), InputRange::Index(n)) => InputRange::Index(m.min(n)),
        (InputRange::Index(n), _) | (_, InputRange::Index(n)) => InputRange::Index(n),
        (InputRange::AboveOne, InputRange::Positive)
        | (InputRange::Positive, InputRange::AboveOne) => InputRange::AboveOne,
        (InputRange::Within | InputRange::Small, InputRange::Within | InputRange::Small) => {
            InputRange::Small
        }
        (InputRange::Weight(m), InputRange::Weight(n)) => InputRange::Weight(m.max(n)),
        (InputRange::Weight(n), InputRange::Within | InputRange::Small)
        | (InputRange::Within | InputRange::Small, InputRange::Weight(n)) => InputRange::Weight(n),
        _ => InputRange::Probability,
    }
}
