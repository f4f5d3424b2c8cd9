//! An independent search for inputs on which two functions differ, stronger than the check: hundreds of draws in many
//! ways, and no tolerance beyond rounding.

use std::fmt::Write as _;

use sapwood_ptir::eval::{
    Complex, Cplx, DataType, EvalError, Fault, Float, Int, Native, Prepared, RunOptions, Tensor,
    Value,
};

use sapwood_ptir::{Dim, Function, Name, Program, TensorType, ValueType};
use sapwood_ptir::{with_complex, with_float, with_int, with_native};
use sapwood_types::{FloatMode, Rng};

/// Random loops seldom terminate; those that do, terminate soon.
const MAX_STEPS: u64 = 5_000;
/// The maximum number of elements of an input.
const MAX_ELEMENTS: usize = 1 << 12;
/// The maximum number of bytes of the values of a run.
const MAX_BYTES: u64 = 1 << 26;

/// Inputs on which the function and its correct simplification agree, with the results.
pub(crate) struct Reference {
    function: Name,
    floats: FloatMode,
    runs: Vec<(Vec<Value>, Vec<Value>)>,
}

impl Reference {
    /// Draws this number of inputs. Those on which the program fails are dropped, as are those on which the freedom of the float
    /// mode already shows without a mutant.
    pub(crate) fn new(
        before: &Program,
        right: &Program,
        function: Name,
        floats: FloatMode,
        draws: u64,
    ) -> Self {
        let mut reference = Self { function, floats, runs: Vec::new() };
        let name = function.as_str();
        let (Ok(first), Ok(second)) = (prepared(before, name), prepared(right, name)) else {
            return reference;
        };
        let draws = if first.function().params().is_empty() { 1 } else { draws };
        for seed in 0..draws {
            let Some(inputs) = inputs(first.function(), seed, floats) else { break };
            let Ok(expected) = first.run(&inputs, &limits(1)) else { continue };
            if floats.fast() && !expected.iter().all(is_finite) {
                continue;
            }
            let Ok(found) = second.run(&inputs, &limits(16)) else { continue };
            if same(&expected, &found, floats) {
                reference.runs.push((inputs, expected));
            }
        }
        reference
    }

    /// Returns the first input on which a simplification differs from the function, with both results, as text.
    pub(crate) fn separate(&self, after: &Program) -> Option<String> {
        let Ok(after) = prepared(after, self.function.as_str()) else {
            return Some("it cannot be run".into());
        };
        for (inputs, expected) in &self.runs {
            let found = match after.run(inputs, &limits(16)) {
                Ok(found) if same(expected, &found, self.floats) => continue,
                Ok(found) => shown(&found),
                // Another way to the same result may need more memory.
                Err(EvalError { fault: Fault::Memory { .. }, .. }) => continue,
                Err(error) => error.to_string(),
            };
            return Some(format!("for {}: {}, not {found}", shown(inputs), shown(expected)));
        }
        None
    }
}

// Prepares a program with the functions that StableHLO's test programs use to state their results.
fn prepared(program: &Program, function: &str) -> Result<Prepared, EvalError> {
    Prepared::new(program, function, Some(&*sapwood_stablehlo::check_call_kernels(None)))
}

fn limits(part: u64) -> RunOptions {
    RunOptions {
        max_steps: Some(MAX_STEPS * part),
        max_bytes: MAX_BYTES * part,
        ..RunOptions::default()
    }
}

fn shown(values: &[Value]) -> String {
    let mut text = String::new();
    for (n, value) in values.iter().enumerate() {
        let _ = write!(text, "{}`{value}`", if n > 0 { ", " } else { "" });
    }
    if text.is_empty() { "no input".into() } else { text }
}

// A distribution of inputs.
#[derive(Clone, Copy)]
enum Way {
    // Numbers at which types behave in a special way.
    Special,
    // Whole numbers near zero.
    Small,
    // Between 1/2 and 2.
    Positive,
    // Between -2 and 2.
    Unit,
    // Any bits.
    Raw,
}

const WAYS: [Way; 5] = [Way::Special, Way::Small, Way::Positive, Way::Unit, Way::Raw];

// Returns one value per parameter; `None` if one is too large.
fn inputs(f: &Function, seed: u64, floats: FloatMode) -> Option<Vec<Value>> {
    let mut draw = Draw {
        rng: Rng::new(seed),
        way: WAYS[seed as usize % WAYS.len()],
        fast: floats.fast(),
        // Every third time all elements of a tensor are equal, and tensors of one type are equal.
        uniform: seed % 3 == 1,
        repeats: seed % 7 == 2,
        extents: extents(f),
        names: Vec::new(),
    };
    let mut values: Vec<Value> = Vec::new();
    for &param in f.params() {
        let ty = f.value_type(param);
        let known = values.iter().rev().find(|v| draw.repeats && v.ty() == *ty).cloned();
        values.push(known.map_or_else(|| draw.value(ty), Some)?);
    }
    Some(values)
}

// Returns the extents to use for dims that are not known: those of other dims, so that they sometimes fit together.
fn extents(f: &Function) -> Vec<usize> {
    let results = f.walk().flat_map(|i| f.inst_results(i));
    let values = results.chain(f.params().iter().copied());
    let tensors = values.filter_map(|v| f.value_type(v).as_tensor());
    let known = tensors.flat_map(|t| &t.dims).filter_map(|d| match d {
        Dim::Known(n @ ..=16) => Some(*n as usize),
        _ => None,
    });
    let mut all: Vec<usize> = known.chain([0, 1, 3]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

struct Draw {
    rng: Rng,
    way: Way,
    // True if floats must be finite and of moderate size: `fast` does not define overflow.
    fast: bool,
    uniform: bool,
    repeats: bool,
    extents: Vec<usize>,
    names: Vec<(Dim, usize)>,
}

impl Draw {
    fn value(&mut self, ty: &ValueType) -> Option<Value> {
        match ty {
            ValueType::Token => Some(Value::Token),
            ValueType::Opaque => None,
            ValueType::Tuple(types) => {
                let parts: Option<Vec<Value>> = types.iter().map(|ty| self.value(ty)).collect();
                Some(Value::Tuple(parts?.into()))
            }
            ValueType::Tensor(ty) => self.tensor(ty).map(Value::Tensor),
        }
    }

    fn extent(&mut self, dim: Dim) -> Option<usize> {
        let (rng, extents) = (&mut self.rng, &self.extents);
        match dim {
            Dim::Known(n) => usize::try_from(n).ok(),
            Dim::Unknown => rng.pick(extents),
            Dim::Expr(_) => {
                let names = &mut self.names;
                dim.for_each_symbol(&mut |name| {
                    let symbol = Dim::symbol(name);
                    if !names.iter().any(|(d, _)| *d == symbol) {
                        names.extend(rng.pick(extents).map(|n| (symbol, n)));
                    }
                });
                let value = |name| {
                    let found = names.iter().find(|(d, _)| d.as_symbol() == Some(name))?;
                    u64::try_from(found.1).ok()
                };
                usize::try_from(dim.evaluate(&value)?).ok()
            }
        }
    }

    fn tensor(&mut self, ty: &TensorType) -> Option<Tensor> {
        let shape: Option<Vec<usize>> = ty.dims.iter().map(|&d| self.extent(d)).collect();
        let (shape, dtype) = (shape?, ty.dtype);
        let count = shape.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent))?;
        if count > MAX_ELEMENTS {
            return None;
        }
        if dtype.is_bool() {
            let all = self.elements(count, |draw| draw.rng.one_in(2));
            return Some(Tensor::new(dtype, &shape, all));
        }
        Some(match dtype {
            DataType::C64 => {
                let one = |draw: &mut Self| Complex::new(draw.float::<f32>(), draw.float::<f32>());
                Tensor::new::<Complex<f32>>(dtype, &shape, self.elements(count, one))
            }
            DataType::C128 => {
                let one = |draw: &mut Self| Complex::new(draw.float::<f64>(), draw.float::<f64>());
                Tensor::new::<Complex<f64>>(dtype, &shape, self.elements(count, one))
            }
            _ if dtype.is_float() => with_float!(dtype, T => {
                Tensor::new::<T>(dtype, &shape, self.elements(count, Self::float::<T>))
            }, _ => return None),
            _ => with_int!(dtype, T => {
                Tensor::new::<T>(dtype, &shape, self.elements(count, Self::int::<T>))
            }, _ => return None),
        })
    }

    fn elements<T: Copy>(&mut self, count: usize, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        let first = one(self);
        let next = |_| if self.uniform { first } else { one(self) };
        (0..count).map(next).collect()
    }

    fn int<T: Int>(&mut self) -> T {
        let rng = &mut self.rng;
        let near = rng.below(7) as i128 - 3;
        T::wrap(match self.way {
            Way::Small | Way::Positive | Way::Unit => near,
            Way::Raw => rng.bits().into(),
            Way::Special => match rng.below(4) {
                0 => near,
                // Near the limits of the signed and of the unsigned type.
                1 => (1i128 << (T::BITS - 1)) + near,
                2 => 1i128 << rng.below(T::BITS as usize),
                _ => rng.below(40) as i128 - 20,
            },
        })
    }

    fn float<T: Float>(&mut self) -> T {
        let rng = &mut self.rng;
        let unit = (rng.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let raw = match self.way {
            Way::Positive => return T::nearest(0.5 + 1.5 * unit),
            Way::Unit => return T::nearest(4.0 * unit - 2.0),
            Way::Small => return T::nearest(rng.below(7) as f64 - 3.0),
            Way::Raw if self.fast => return T::nearest(200.0 * unit - 100.0),
            Way::Special if self.fast => return T::nearest((rng.below(33) as f64 - 16.0) / 4.0),
            Way::Raw => rng.bits(),
            Way::Special => match rng.below(11) {
                special @ 0..7 => T::special_bits()[special],
                7 => return T::nearest((rng.below(33) as f64 - 16.0) / 4.0),
                8 => return T::nearest(2f64.powi(rng.below(40) as i32 - 20)),
                _ => rng.bits(),
            },
        };
        let sign = u64::from(rng.one_in(2)) << (T::WIDTH - 1);
        T::from_raw(sign | raw & ((1 << (T::WIDTH - 1)) - 1))
    }
}

fn is_finite(value: &Value) -> bool {
    let Some(t) = value.as_tensor() else { return true };
    match t.dtype() {
        d if d.is_complex() => with_complex!(d, T => t.elements::<T>().is_some_and(|all| {
            all.iter().all(|x| x.wide().re.is_finite() && x.wide().im.is_finite())
        }), _ => false),
        d if d.is_float() => with_float!(d, T => t.elements::<T>().is_some_and(|all| {
            all.iter().all(|x| x.number().is_finite())
        }), _ => false),
        _ => true,
    }
}

fn same(a: &[Value], b: &[Value], floats: FloatMode) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b, floats))
}

fn same_value(a: &Value, b: &Value, floats: FloatMode) -> bool {
    if let (Value::Tuple(a), Value::Tuple(b)) = (a, b) {
        return same(a, b, floats);
    }
    let (Some(a), Some(b)) = (a.as_tensor(), b.as_tensor()) else { return a.ty() == b.ty() };
    if a.dtype() != b.dtype() || a.shape() != b.shape() {
        return false;
    }
    let dtype = a.dtype();
    if dtype.is_complex() {
        return with_complex!(dtype, T => every::<T>(a, b, |x, y| {
            let (x, y) = (x.wide(), y.wide());
            let digits = if dtype == DataType::C64 { 23 } else { 52 };
            same_float(x.re, y.re, digits, floats) && same_float(x.im, y.im, digits, floats)
        }), _ => false);
    }
    if dtype.is_float() {
        return with_float!(dtype, T => every::<T>(a, b, |x, y| {
            same_float(x.number(), y.number(), T::FRACTION, floats)
        }), _ => false);
    }
    with_native!(dtype, T => every::<T>(a, b, |x, y| x == y))
}

fn every<T: Native>(a: &Tensor, b: &Tensor, same: impl Fn(T, T) -> bool) -> bool {
    let (Some(a), Some(b)) = (a.elements::<T>(), b.elements::<T>()) else { return false };
    a.len() == b.len() && a.iter().zip(b.iter()).all(|(&x, &y)| same(x, y))
}

fn same_float(x: f64, y: f64, digits: u32, floats: FloatMode) -> bool {
    match floats {
        _ if x.is_nan() || y.is_nan() => x.is_nan() && y.is_nan(),
        FloatMode::Exact => x.to_bits() == y.to_bits(),
        FloatMode::Nsz => x == y,
        FloatMode::Fast => {
            x == y || (x - y).abs() <= 2f64.powi(5 - digits as i32) * (1.0 + x.abs())
        }
    }
}
