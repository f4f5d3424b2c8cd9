//! Whether two functions mean the same: both are run on inputs that are random or special.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sapwood_ptir::eval::{
    Complex, Cplx, DataType, EvalCx, EvalError, Evaluate, Fault, Float, Int, Kernels, Native,
    Prepared, RunOptions, Tensor, Value,
};
use sapwood_ptir::ops::Bitcast;
use sapwood_ptir::testing::Rng;
use sapwood_ptir::{Dim, Function, Name, Op, OpKey, Program, TensorType, ValueType};
use sapwood_ptir::{with_complex, with_float, with_int, with_native};
use sapwood_rewrite::FloatMode;

/// Random loops seldom end; those that do, end soon.
const MOST_STEPS: u64 = 5_000;

/// How many runs gave results to compare.
pub(crate) type Runs = usize;

/// Runs a function of two programs on the same inputs.
///
/// What the first fails at, the second may do as it likes; it never fails where the first does not. Which NaN a float is
/// may change, so where the first reads the bits of one, results may differ.
///
/// # Errors
/// If results differ by more than the mode permits, with the inputs.
pub(crate) fn agree(
    before: &Program,
    after: &Program,
    function: Name,
    mode: FloatMode,
    seeds: std::ops::Range<u64>,
) -> Result<Runs, String> {
    let watch = ReadsNan::default();
    let first = Prepared::new(before, function.as_str(), Some(&watch));
    let second = Prepared::new(after, function.as_str(), None);
    let (Ok(first), Ok(second)) = (first, second) else {
        return Err(format!("@{function} does not verify"));
    };
    let options =
        RunOptions { max_steps: Some(MOST_STEPS), max_bytes: 1 << 28, ..RunOptions::default() };
    let f = first.function();
    let types: Vec<ValueType> = f.params().iter().map(|&v| f.value_type(v).clone()).collect();
    let extents = extents(f);
    let mut runs = 0;
    for seed in seeds {
        let Some(inputs) = inputs(&types, &extents, mode, seed) else { break };
        watch.0.store(false, Ordering::Relaxed);
        let Ok(expected) = first.run(&inputs, &options) else { continue };
        let found = match second.run(&inputs, &options) {
            Ok(found) => found,
            Err(EvalError { fault: Fault::Steps { .. } | Fault::Memory { .. }, .. }) => continue,
            Err(error) => return Err(format!("{error}, where it did not fail before")),
        };
        let same = expected.iter().zip(&found).all(|(a, b)| same_value(a, b, mode));
        if !same && watch.0.load(Ordering::Relaxed) {
            continue;
        }
        runs += 1;
        if !same || expected.len() != found.len() {
            return Err(format!(
                "@{function} gives {}, before {}, for {}",
                shown(&found),
                shown(&expected),
                shown(&inputs)
            ));
        }
    }
    Ok(runs)
}

/// Whether a `bitcast` read the bits of a NaN.
#[derive(Default)]
struct ReadsNan(Arc<AtomicBool>);

impl Kernels for ReadsNan {
    fn kernel(&self, op: OpKey) -> Option<Arc<Evaluate>> {
        if op != Bitcast::key() {
            return None;
        }
        let seen = self.0.clone();
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let exact = cx.def().evaluation().cloned().expect("bitcast has a kernel");
            if has_nan(cx.tensor(0)?) {
                seen.store(true, Ordering::Relaxed);
            }
            exact(cx)
        }))
    }
}

fn has_nan(t: &Tensor) -> bool {
    let nan = |x: f64| x.is_nan();
    match t.dtype() {
        d if d.is_complex() => with_complex!(d, T => t.elements::<T>().is_some_and(|all| {
            all.iter().any(|x| nan(x.wide().re) || nan(x.wide().im))
        }), _ => false),
        d if d.is_float() => with_float!(d, T => t.elements::<T>().is_some_and(|all| {
            all.iter().any(|x| nan(x.number()))
        }), _ => false),
        _ => false,
    }
}

fn shown(values: &[Value]) -> String {
    let one = |v: &Value| match v.as_tensor().and_then(|t| t.to_literal().ok()) {
        Some(literal) => with_native!(literal.dtype(), T => {
            let size = literal.dtype().byte_size();
            let all: Vec<T> = literal.stored_bytes().chunks_exact(size).map(T::from_bytes).collect();
            format!("{} {all:?}", literal.ty())
        }),
        None => v.ty().to_string(),
    };
    values.iter().map(one).collect::<Vec<_>>().join("; ")
}

// What dims that are not known may be: what others are, so that they fit together now and then.
fn extents(f: &Function) -> Vec<usize> {
    let results = f.walk().flat_map(|i| f.inst_results(i));
    let tensors =
        results.chain(f.params().iter().copied()).filter_map(|v| f.value_type(v).as_tensor());
    let known = tensors.flat_map(|t| &t.dims).filter_map(|d| match d {
        Dim::Known(n @ ..=16) => Some(*n as usize),
        _ => None,
    });
    let mut all: Vec<usize> = known.chain([0, 1, 3]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

// One input per parameter; `None` if a parameter is no tensor.
fn inputs(
    types: &[ValueType],
    extents: &[usize],
    mode: FloatMode,
    seed: u64,
) -> Option<Vec<Value>> {
    let mut rng = Rng::new(seed);
    let mut dims: Vec<(Dim, usize)> = Vec::new();
    let mut make = |ty: &ValueType| {
        let ty = ty.as_tensor()?;
        let mut extent = |dim: &Dim| match dim {
            Dim::Known(n) => usize::try_from(*n).ok(),
            Dim::Unknown => rng.pick(extents),
            named @ Dim::Named(_) => match dims.iter().find(|(d, _)| d == named) {
                Some((_, n)) => Some(*n),
                None => {
                    let n = rng.pick(extents)?;
                    dims.push((*named, n));
                    Some(n)
                }
            },
        };
        let shape: Option<Vec<usize>> = ty.dims.iter().map(&mut extent).collect();
        tensor(&mut rng, ty, &shape?, mode.fast()).map(Value::Tensor)
    };
    types.iter().map(&mut make).collect()
}

fn tensor(rng: &mut Rng, ty: &TensorType, shape: &[usize], plain: bool) -> Option<Tensor> {
    let count: usize = shape.iter().product();
    if count > 1 << 16 {
        return None;
    }
    let dtype = ty.dtype;
    if dtype.is_bool() {
        return Some(Tensor::new(
            dtype,
            shape,
            (0..count).map(|_| rng.one_in(2)).collect::<Vec<bool>>(),
        ));
    }
    Some(match dtype {
        DataType::C64 => {
            let part = |rng: &mut Rng| float::<f32>(rng, plain);
            let all = (0..count).map(|_| Complex::new(part(rng), part(rng))).collect();
            Tensor::new::<Complex<f32>>(dtype, shape, all)
        }
        DataType::C128 => {
            let part = |rng: &mut Rng| float::<f64>(rng, plain);
            let all = (0..count).map(|_| Complex::new(part(rng), part(rng))).collect();
            Tensor::new::<Complex<f64>>(dtype, shape, all)
        }
        _ if dtype.is_float() => with_float!(dtype, T => {
            Tensor::new::<T>(dtype, shape, (0..count).map(|_| float::<T>(rng, plain)).collect())
        }, _ => return None),
        _ => with_int!(dtype, T => {
            Tensor::new::<T>(dtype, shape, (0..count).map(|_| int::<T>(rng)).collect())
        }, _ => return None),
    })
}

fn int<T: Int>(rng: &mut Rng) -> T {
    let near = rng.below(7) as i128 - 3;
    let half = 1i128 << (T::BITS - 1);
    T::wrap(match rng.below(5) {
        0 => near,
        // About the limits of the signed and of the unsigned type.
        1 => half + near,
        2 => 1i128 << rng.below(T::BITS as usize),
        3 => rng.below(20) as i128 - 10,
        _ => rng.bits().into(),
    })
}

fn float<T: Float>(rng: &mut Rng, plain: bool) -> T {
    if plain {
        return T::nearest(0.5 + 1.5 * (rng.bits() >> 11) as f64 / (1u64 << 53) as f64);
    }
    let sign = u64::from(rng.one_in(2)) << (T::WIDTH - 1);
    let exponent = ((1u64 << (T::WIDTH - 1 - T::FRACTION)) - 1) << T::FRACTION;
    let raw = match rng.below(12) {
        0 => 0,
        // Infinity and NaN, where there are such.
        1 => exponent,
        2 => exponent | 1 << (T::FRACTION - 1),
        // The smallest, the largest subnormal, the smallest normal, the largest finite numbers.
        3 => 1,
        4 => (1 << T::FRACTION) - 1,
        5 => 1 << T::FRACTION,
        6 => exponent - 1,
        7 => return T::nearest(rng.below(9) as f64 - 4.0),
        8 => return T::nearest((rng.below(33) as f64 - 16.0) / 4.0),
        9 => return T::nearest(2f64.powi(rng.below(40) as i32 - 20)),
        _ => rng.bits() & ((1 << (T::WIDTH - 1)) - 1),
    };
    T::from_raw(sign | raw)
}

fn same_value(a: &Value, b: &Value, mode: FloatMode) -> bool {
    let (Some(a), Some(b)) = (a.as_tensor(), b.as_tensor()) else { return a.ty() == b.ty() };
    if a.dtype() != b.dtype() || a.shape() != b.shape() {
        return false;
    }
    let dtype = a.dtype();
    if dtype.is_complex() {
        return with_complex!(dtype, T => every::<T>(a, b, |x, y| {
            let (x, y) = (x.wide(), y.wide());
            let digits = if dtype == DataType::C64 { 23 } else { 52 };
            same_float(x.re, y.re, digits, mode) && same_float(x.im, y.im, digits, mode)
        }), _ => false);
    }
    if dtype.is_float() {
        return with_float!(dtype, T => every::<T>(a, b, |x, y| {
            same_float(x.number(), y.number(), T::FRACTION, mode)
        }), _ => false);
    }
    with_native!(dtype, T => every::<T>(a, b, |x, y| x == y))
}

fn every<T: Native>(a: &Tensor, b: &Tensor, same: impl Fn(T, T) -> bool) -> bool {
    let (Some(a), Some(b)) = (a.elements::<T>(), b.elements::<T>()) else { return false };
    a.len() == b.len() && a.iter().zip(b.iter()).all(|(&x, &y)| same(x, y))
}

fn same_float(x: f64, y: f64, digits: u32, mode: FloatMode) -> bool {
    match mode {
        _ if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
        FloatMode::Exact => x.to_bits() == y.to_bits(),
        FloatMode::Nsz => x == y,
        FloatMode::Fast => {
            let close = (x - y).abs() <= 2f64.powi(5 - digits as i32) * (1.0 + x.abs());
            x == y || close
        }
    }
}
