//! Whether two results differ by more than a float mode allows.

use sapwood_ptir::eval::{Complex, Tensor, Value, bf16, f16};
use sapwood_ptir::{Function, InstId, ValueId, ValueType, Values};
use sapwood_rewrite::FloatMode;
use sapwood_types::DataType;

/// How many roundings of the coarsest element type, at the largest magnitude that occurs, the sides may be apart in the
/// mode `fast`.
const ROUNDINGS: f64 = 16.0;

/// Whether two results differ by more than a float mode allows. Which NaN it is never counts.
pub(super) fn differs(a: &Value, b: &Value, floats: FloatMode, tolerance: f64) -> bool {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => {
            a.ty() != b.ty()
                || match (numbers(a), numbers(b)) {
                    (Some(x), Some(y)) => {
                        let close = |(x, y): (&f64, &f64)| close(*x, *y, floats, tolerance);
                        x.len() != y.len() || !x.iter().zip(&y).all(close)
                    }
                    _ => a.to_literal().ok() != b.to_literal().ok(),
                }
        }
        (Value::Tuple(a), Value::Tuple(b)) => {
            let differ = |(a, b)| differs(a, b, floats, tolerance);
            a.len() != b.len() || a.iter().zip(b.iter()).any(differ)
        }
        (Value::Token, Value::Token) => false,
        _ => true,
    }
}

fn close(x: f64, y: f64, floats: FloatMode, tolerance: f64) -> bool {
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    match floats {
        FloatMode::Exact => x.to_bits() == y.to_bits(),
        FloatMode::Nsz => x == y,
        FloatMode::Fast => x == y || (x - y).abs() <= tolerance,
    }
}

// The floats as numbers, complex ones as two each; none for what has to be the same bit for bit.
pub(super) fn numbers(t: &Tensor) -> Option<Vec<f64>> {
    Some(match t.dtype() {
        DataType::F64 => t.elements::<f64>()?.to_vec(),
        DataType::F32 => t.elements::<f32>()?.iter().map(|&x| f64::from(x)).collect(),
        DataType::F16 => t.elements::<f16>()?.iter().map(|&x| f64::from(x)).collect(),
        DataType::Bf16 => t.elements::<bf16>()?.iter().map(|&x| f64::from(x)).collect(),
        DataType::C64 => t
            .elements::<Complex<f32>>()?
            .iter()
            .flat_map(|z| [f64::from(z.re), f64::from(z.im)])
            .collect(),
        DataType::C128 => t.elements::<Complex<f64>>()?.iter().flat_map(|z| [z.re, z.im]).collect(),
        _ => return None,
    })
}

// The distance from one to the next larger number.
fn epsilon(dtype: DataType) -> f64 {
    match dtype.complex_part().unwrap_or(dtype) {
        DataType::F64 => f64::EPSILON,
        DataType::F32 => f64::from(f32::EPSILON),
        DataType::F16 => 2f64.powi(-10),
        DataType::Bf16 => 2f64.powi(-7),
        DataType::F8E4M3Fn => 2f64.powi(-3),
        DataType::F8E5M2 => 2f64.powi(-2),
        _ => 0.0,
    }
}

/// How far apart the sides may be, given every value that occurs on them: [`with_everything`] says which these are.
pub(super) fn tolerance(sides: &[(&Function, &[Value])]) -> f64 {
    let (mut coarsest, mut largest) = (0f64, 0f64);
    for (f, values) in sides {
        let sizes: Vec<(f64, f64)> = values.iter().map(size).collect();
        for value in *values {
            if let Value::Tensor(t) = value {
                coarsest = coarsest.max(epsilon(t.dtype()));
            }
        }
        largest = sizes.iter().fold(largest, |most, (each, _)| most.max(*each));
        // What is added up may be larger on the way than in the end.
        let shown = everything(f);
        let of = |v: &ValueId| shown.iter().position(|s| s == v).map_or((0.0, 0.0), |n| sizes[n]);
        for inst in f.body_insts(f.body()).filter(|&i| adds_up(f, i)) {
            let operands: Vec<(f64, f64)> = f.operands(inst).iter().map(of).collect();
            largest = match operands[..] {
                [(a, all), (b, other)] => largest.max(f64::min(a * other, b * all)),
                _ => operands.iter().fold(largest, |most, (_, all)| most.max(*all)),
            };
        }
    }
    ROUNDINGS * coarsest * largest
}

/// Whether no element is infinite or NaN.
pub(super) fn all_finite(values: &[Value]) -> bool {
    let finite = |t: &Tensor| numbers(t).unwrap_or_default().iter().all(|x| x.is_finite());
    values.iter().all(|value| !matches!(value, Value::Tensor(t) if !finite(t)))
}

/// Whether a small error in the operand of some op is a large one in its result.
pub(super) fn is_steep(f: &Function) -> bool {
    let steep = ["exp", "pow", "sinh", "cosh", "gamma"];
    let is_steep = |name: &str| name == "tan" || steep.iter().any(|word| name.contains(word));
    f.walk().any(|inst| is_steep(f.op_name(inst)))
}

// The largest magnitude of the elements, and the sum of all.
fn size(value: &Value) -> (f64, f64) {
    let Value::Tensor(t) = value else { return (0.0, 0.0) };
    let finite = numbers(t).unwrap_or_default().into_iter().filter(|x| x.is_finite());
    finite.fold((0.0, 0.0), |(most, sum), x| (f64::max(most, x.abs()), sum + x.abs()))
}

fn adds_up(f: &Function, inst: InstId) -> bool {
    ["reduce", "dot", "conv", "cum", "window", "scan", "matmul"]
        .iter()
        .any(|word| f.op_name(inst).contains(word))
}

/// The same function, giving every tensor that occurs in it.
pub(super) fn with_everything(f: &Function, name: &str) -> Option<Function> {
    let mut all = f.clone().with_name(name);
    let shown = everything(f);
    let types: Vec<ValueType> = shown.iter().map(|&v| f.value_type(v).clone()).collect();
    all.set_operands(all.terminator(all.body())?, &shown).ok()?;
    all.set_result_types(&types);
    Some(all)
}

fn everything(f: &Function) -> Values {
    let results = f.body_insts(f.body()).flat_map(|i| f.inst_results(i));
    let all = f.params().iter().copied().chain(results);
    all.filter(|&v| f.value_type(v).as_tensor().is_some()).collect()
}
