//! Ranges of inputs on which a program computes: few infinities and NaN.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::eval::{Prepared, RunOptions};
use sapwood_ptir::{Attr, Function, InstId, Name, Program, ValueId, ValueType};

use crate::draw::{Draw, Range};
use crate::freedom::{Counting, count_special};

/// The most runs that a search takes.
const MAX_TRIES: usize = 16;

/// Finds a range for each parameter of a function, starting from how the parameters are used.
pub(crate) fn fitting_ranges(
    program: &Program,
    f: &Function,
    seed: u64,
    options: &RunOptions,
) -> Vec<Range> {
    let guess = guessed_ranges(program, f, &mut HashMap::default());
    let is_float = |ty: &ValueType| ty.as_tensor().is_none_or(|t| !t.dtype.is_integer());
    let floats: Vec<usize> =
        (0..guess.len()).filter(|&n| is_float(f.value_type(f.params()[n]))).collect();
    let counting = Counting::new(program, options.kernels.clone());
    let Ok(prepared) = Prepared::new(program, f.name().as_str(), Some(&counting)) else {
        return guess;
    };
    // The part of what was computed that was not finite; results count as much as all that leads to them.
    let score = |ranges: &[Range]| -> Option<f64> {
        let inputs = Draw { ranges, ..Draw::default() }.inputs(f, seed).ok()?;
        counting.take();
        let results = prepared.run(&inputs, options).ok()?;
        let part = |(all, special): (u64, u64)| special as f64 / all.max(1) as f64;
        let ends = results.iter().map(count_special);
        Some(part(counting.take()) + part(ends.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))))
    };
    let Some(first) = score(&guess).filter(|_| !floats.is_empty()) else { return guess };
    let (mut best, mut least, mut tries) = (guess, first, 1);
    let mut attempt = |best: &mut Vec<Range>, least: &mut f64, chosen: &[usize], range: Range| {
        if *least == 0.0 || tries == MAX_TRIES {
            return;
        }
        tries += 1;
        let mut other = best.clone();
        chosen.iter().for_each(|&n| other[n] = range);
        if let Some(score) = score(&other).filter(|score| *score < *least) {
            (*best, *least) = (other, score);
        }
    };
    let others = [Range::Positive, Range::Small, Range::Probability, Range::Any];
    for range in others {
        attempt(&mut best, &mut least, &floats, range);
    }
    for &n in &floats {
        for range in others {
            attempt(&mut best, &mut least, &[n], range);
        }
    }
    best
}

type Known = HashMap<Name, Option<Vec<Range>>, FxBuildHasher>;

// What the ops that use a parameter, directly or through others, ask of it.
fn guessed_ranges(program: &Program, f: &Function, known: &mut Known) -> Vec<Range> {
    // A function that calls itself asks for nothing more.
    known.insert(f.name(), None);
    let mut wanted: HashMap<ValueId, Range, FxBuildHasher> = HashMap::default();
    let insts: Vec<InstId> = f.walk().collect();
    // Users come before what they use.
    for &inst in insts.iter().rev() {
        for (n, &operand) in f.operands(inst).iter().enumerate() {
            let of_result = f.value_of(inst).and_then(|v| wanted.get(&v).copied());
            let asked = match f.attr(inst, "callee") {
                Some(Attr::Func(callee)) => callee_range(program, *callee, n, known),
                _ => asked_of_operand(f, inst, n, of_result.unwrap_or_default(), &wanted),
            };
            if asked != Range::Any {
                let slot = wanted.entry(operand).or_default();
                *slot = both(*slot, asked);
            }
        }
    }
    let ranges: Vec<Range> =
        f.params().iter().map(|p| wanted.get(p).copied().unwrap_or_default()).collect();
    known.insert(f.name(), Some(ranges.clone()));
    ranges
}

fn callee_range(program: &Program, callee: Name, n: usize, known: &mut Known) -> Range {
    if !known.contains_key(&callee)
        && known.len() < 256
        && let Some(g) = program.function(callee)
    {
        guessed_ranges(program, g, known);
    }
    let ranges = known.get(&callee).and_then(Option::as_ref);
    ranges.and_then(|ranges| ranges.get(n)).copied().unwrap_or_default()
}

// What an instruction asks of an operand, given what is asked of its result.
fn asked_of_operand(
    f: &Function,
    inst: InstId,
    n: usize,
    result: Range,
    wanted: &HashMap<ValueId, Range, FxBuildHasher>,
) -> Range {
    let operands = f.operands(inst);
    let squared = operands.len() == 2 && operands[0] == operands[1];
    match (f.op_name(inst), n) {
        ("sqrt" | "rsqrt" | "log" | "log1p" | "lgamma" | "digamma", _) | ("pow", 0) => {
            Range::Positive
        }
        ("div" | "rem", 1) => Range::Positive,
        ("acosh", _) => Range::AboveOne,
        ("asin" | "acos" | "atanh" | "erf_inv", _) => Range::Within,
        ("exp" | "expm1" | "sinh" | "cosh", _) => Range::Small,
        // One minus a probability is one too.
        ("sub", 1) if result == Range::Positive => Range::Within,
        ("sub", 0) if result == Range::Positive => Range::Any,
        ("add" | "mul" | "div" | "sub" | "dot_general" | "convolution", _) if squared => Range::Any,
        ("gather", 1) => index_range(f, operands[0]),
        ("dynamic_slice", 1..) => axis_range(f, operands[0], n - 1),
        ("dynamic_update_slice", 2..) => axis_range(f, operands[0], n - 2),
        ("scatter", n) if n == operands.len() / 2 => index_range(f, operands[0]),
        ("add" | "mul" | "div" | "dot_general" | "convolution", _) => only_floats(result),
        ("select", 1 | 2) | ("max" | "min", _) => only_floats(result),
        (name, _) if PASSING.contains(&name) || name.starts_with("reduce_") => result,
        _ => asked_in_region(f, inst, n, wanted),
    }
}

/// Ops of whose operands the same is asked as of their results.
const PASSING: [&str; 11] = [
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

fn only_floats(range: Range) -> Range {
    if matches!(range, Range::Index(_)) { Range::Any } else { range }
}

// A region that takes one parameter per operand: a loop over carried values.
fn asked_in_region(
    f: &Function,
    inst: InstId,
    n: usize,
    wanted: &HashMap<ValueId, Range, FxBuildHasher>,
) -> Range {
    let regions = f.regions(inst).iter().map(|&region| f.body_params(region));
    let params = regions.filter(|params| params.len() == f.operands(inst).len());
    params.filter_map(|params| wanted.get(&params[n]).copied()).fold(Range::Any, both)
}

fn index_range(f: &Function, input: ValueId) -> Range {
    let dims = f.value_type(input).as_tensor().map(|t| t.dims.iter().filter_map(|d| d.known()));
    Range::Index(dims.and_then(Iterator::max).unwrap_or(1))
}

fn axis_range(f: &Function, input: ValueId, axis: usize) -> Range {
    let dim = f.value_type(input).as_tensor().and_then(|t| t.dims.get(axis)?.known());
    dim.map_or(Range::Any, Range::Index)
}

// A range that is inside both, as far as there is one.
fn both(a: Range, b: Range) -> Range {
    match (a, b) {
        (Range::Any, other) | (other, Range::Any) => other,
        _ if a == b => a,
        (Range::Index(m), Range::Index(n)) => Range::Index(m.min(n)),
        (Range::Index(n), _) | (_, Range::Index(n)) => Range::Index(n),
        (Range::AboveOne, Range::Positive) | (Range::Positive, Range::AboveOne) => Range::AboveOne,
        (Range::Within | Range::Small, Range::Within | Range::Small) => Range::Small,
        _ => Range::Probability,
    }
}
