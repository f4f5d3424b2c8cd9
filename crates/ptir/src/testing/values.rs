//! Expected values: written, read, and compared within a tolerance.

use std::fmt;
use std::str::FromStr;

use sapwood_types::DataType;

use crate::attr::Attr;
use crate::eval::{self, RunOptions, Value};
use crate::literal::{TensorLiteral, float_value};
use crate::parse;

/// The allowed distance between found and expected values. Integers and bools must be equal.
///
/// Written `0` (equal bits, except that all NaNs are equal), `2 ulp` (units in the last place of the expected
/// number), `4 ulp of 1` (as before, but numbers below 1 count as 1) or `16 eps of the largest` (fractions of the
/// largest expected element; one eps is an ulp of 1). A separate tolerance for complex numbers may follow after `,
/// complex `. An ulp of a complex number is one of its larger part; in `2 ulp of each part`, each part counts on its
/// own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    real: ErrorBound,
    complex: ErrorBound,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum ErrorBound {
    Exact,
    Ulp(f64),
    UlpOfPart(f64),
    UlpOfOne(f64),
    OfLargest(f64),
}

impl Tolerance {
    /// Equal bits, except that all NaNs are equal.
    pub const EXACT: Self = Self { real: ErrorBound::Exact, complex: ErrorBound::Exact };
}

impl FromStr for Tolerance {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (real, complex) = text.split_once(", complex ").unwrap_or((text, text));
        Ok(Self { real: real.parse()?, complex: complex.parse()? })
    }
}

impl FromStr for ErrorBound {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let number = words.next().and_then(|n| n.parse::<f64>().ok()).filter(|n| n.is_finite());
        let unit: Vec<&str> = words.collect();
        match (number, unit.join(" ").as_str()) {
            (Some(0.0), "") => Ok(Self::Exact),
            (Some(n), "ulp") => Ok(Self::Ulp(n)),
            (Some(n), "ulp of each part") => Ok(Self::UlpOfPart(n)),
            (Some(n), "ulp of 1") => Ok(Self::UlpOfOne(n)),
            (Some(n), "eps of the largest") => Ok(Self::OfLargest(n)),
            _ => Err(format!(
                "invalid tolerance `{text}`; expected one such as `0`, `2 ulp`, `2 ulp of each part`, `4 ulp of 1` or `16 eps of the largest`"
            )),
        }
    }
}

/// A position at which two tensors differ by more than the tolerance.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueDifference {
    what: String,
}

impl fmt::Display for ValueDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// Compares a found value with the expected one.
///
/// # Errors
/// If the types differ, or with the first element that exceeds the tolerance, and by how much.
pub fn compare(
    found: &TensorLiteral,
    expected: &TensorLiteral,
    tolerance: &Tolerance,
) -> Result<(), ValueDifference> {
    if found.ty() != expected.ty() {
        let what = format!("the type is {}, expected {}", found.ty(), expected.ty());
        return Err(ValueDifference { what });
    }
    let dtype = expected.dtype();
    let scale = largest_magnitude(expected);
    let (count, mut off) = (expected.num_elements(), 0u64);
    let mut first = None;
    for index in 0..count {
        let (Some(a), Some(b)) = (found.element(index), expected.element(index)) else { continue };
        if let Some(by) = excess_error(dtype, a, b, tolerance, scale) {
            off += 1;
            first.get_or_insert_with(|| {
                let shown = |bytes| {
                    let mut text = String::new();
                    crate::literal::write_element(&mut text, dtype, bytes);
                    text
                };
                format!("element {index} is {}, expected {}{by}", shown(a), shown(b))
            });
        }
    }
    match first {
        None => Ok(()),
        Some(what) => Err(ValueDifference { what: format!("{what} ({off} of {count} differ)") }),
    }
}

// Describes by how much an element exceeds the tolerance.
fn excess_error(
    dtype: DataType,
    found: &[u8],
    expected: &[u8],
    tolerance: &Tolerance,
    scale: f64,
) -> Option<String> {
    if found == expected {
        return None;
    }
    let (parts, limit) = match dtype.complex_part() {
        Some(part) => (part, tolerance.complex),
        None if dtype.is_float() => (dtype, tolerance.real),
        None => return Some(String::new()),
    };
    let size = parts.byte_size();
    let values = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks(size).map(|part| float_value(parts, part)).collect()
    };
    let (found, expected) = (values(found), values(expected));
    // An ulp of a complex number is one of its larger part.
    let size = expected.iter().copied().filter(|x| x.is_finite()).map(f64::abs).fold(0.0, f64::max);
    for (&a, &b) in found.iter().zip(&expected) {
        if a.is_nan() && b.is_nan() {
            continue;
        }
        let unit = match limit {
            ErrorBound::Exact | ErrorBound::Ulp(_) => ulp_at(parts, size),
            ErrorBound::UlpOfPart(_) => ulp_at(parts, b.abs()),
            ErrorBound::UlpOfOne(_) => ulp_at(parts, size.max(1.0)),
            ErrorBound::OfLargest(_) => ulp_at(parts, 1.0) * scale,
        };
        let fine = match limit {
            ErrorBound::Exact => a.to_bits() == b.to_bits(),
            ErrorBound::Ulp(n) | ErrorBound::UlpOfPart(n) => {
                (a - b).abs() <= n * unit && (a != b || a.to_bits() == b.to_bits())
                    || a.to_bits() == b.to_bits()
            }
            ErrorBound::UlpOfOne(n) | ErrorBound::OfLargest(n) => {
                a == b || (a - b).abs() <= n * unit
            }
        };
        if !fine {
            return Some(format!(", off by {:.3e} units of {unit:e}", (a - b).abs() / unit));
        }
    }
    None
}

// Returns the largest magnitude of a finite part of an element.
fn largest_magnitude(literal: &TensorLiteral) -> f64 {
    let dtype = literal.dtype();
    let part = dtype.complex_part().unwrap_or(dtype);
    if !part.is_float() {
        return 0.0;
    }
    let parts = literal.stored_bytes().chunks_exact(part.byte_size());
    parts.map(|p| float_value(part, p).abs()).filter(|x| x.is_finite()).fold(0.0, f64::max)
}

// Returns the distance between neighbouring floats at a magnitude.
fn ulp_at(dtype: DataType, x: f64) -> f64 {
    let (fraction, least) = match dtype {
        DataType::F64 => (52, -1022),
        DataType::F32 => (23, -126),
        DataType::Bf16 => (7, -126),
        DataType::F16 => (10, -14),
        DataType::F8E5M2 => (2, -14),
        _ => (3, -6),
    };
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    // In two steps: the power alone may be too small for its reciprocal to be finite.
    2f64.powi(exponent) * 2f64.powi(-fraction)
}

/// Reads literals with their types, one per line: `[1.0, nan] : f32[2]`.
///
/// # Errors
/// If a line is not a literal with its type.
pub fn read_values<'a>(
    lines: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<TensorLiteral>, String> {
    let mut values = Vec::new();
    for line in lines {
        let Some((_, ty)) = line.rsplit_once(" : ") else {
            return Err(format!("`{line}` is not a literal with its type"));
        };
        let text =
            format!("ptir 1\n\nfunc @f() -> {ty} {{\n  %r = constant {line}\n  return %r\n}}");
        let program = parse(&text).map_err(|problems| format!("`{line}`: {problems}"))?;
        let literal = program.function("f").and_then(|f| {
            let first = f.body_insts(f.body()).next()?;
            f.attrs(first).iter().find_map(Attr::as_literal).cloned()
        });
        values.push(literal.ok_or_else(|| format!("`{line}` is not a literal"))?);
    }
    Ok(values)
}

/// Writes a literal with its type, in the form that [`read_values`] reads.
#[must_use]
pub fn write_value(value: &TensorLiteral) -> String {
    let mut text = String::new();
    crate::text::write_literal(&mut text, value, &mut crate::text::LongLiteralMode::Written);
    format!("{text} : {}", value.ty())
}

/// Runs the function `f` of a program, on one thread and on two.
///
/// # Errors
/// If the program fails, or the results differ between one and two threads.
pub fn run_values(program: &str, inputs: &[TensorLiteral]) -> Result<Vec<TensorLiteral>, String> {
    let program = parse(program).map_err(|problems| problems.to_string())?;
    let values: Result<Vec<Value>, _> = inputs.iter().map(Value::try_from).collect();
    let values = values.map_err(|e| e.to_string())?;
    let run = |threads| -> Result<Vec<TensorLiteral>, String> {
        let options = RunOptions { threads, ..RunOptions::default() };
        let results =
            eval::run(&program, "f", &values, &options).map_err(|e| format!("error: {e}"))?;
        let literal = |v: &Value| v.to_literal().ok_or_else(|| format!("{v} is not a tensor"));
        results.iter().map(literal).collect()
    };
    let results = run(1)?;
    if run(2)? != results {
        return Err("two threads give other bits than one thread".into());
    }
    Ok(results)
}

/// Compares all results with the expected ones.
///
/// # Errors
/// With the first result that differs, and its first difference.
pub fn compare_all(
    found: &[TensorLiteral],
    expected: &[TensorLiteral],
    tolerance: &Tolerance,
) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("there are {} results, expected {}", found.len(), expected.len()));
    }
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        compare(found, expected, tolerance).map_err(|d| format!("result {i}: {d}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(found: &str, expected: &str, tolerance: &str) -> bool {
        let [a, b] = &read_values([found, expected]).unwrap()[..] else { panic!("two values") };
        compare(a, b, &tolerance.parse().unwrap()).is_err()
    }

    #[test]
    fn tolerances_allow_exactly_their_difference() {
        assert!(!differ("nan : f32[]", "0xffc00001 : f32[]", "0"));
        assert!(differ("0.0 : f32[]", "-0.0 : f32[]", "0"));
        assert!(differ("0.0 : f32[]", "-0.0 : f32[]", "2 ulp"));
        assert!(!differ("0.0 : f32[]", "-0.0 : f32[]", "1 eps of the largest"));
        assert!(differ("1.0000001 : f32[]", "1.0 : f32[]", "0"));
        assert!(!differ("1.0000001 : f32[]", "1.0 : f32[]", "1 ulp"));
        assert!(differ("1.0000002 : f32[]", "1.0 : f32[]", "1 ulp"));
        assert!(differ("inf : f32[]", "1.0 : f32[]", "100 ulp"));
        assert!(differ("1.0 : f32[]", "inf : f32[]", "100 ulp of 1"));
        assert!(differ("nan : f32[]", "1.0 : f32[]", "100 eps of the largest"));
        assert!(!differ("1e-10 : f32[]", "0.0 : f32[]", "1 ulp of 1"));
        assert!(differ("1e-6 : f32[]", "0.0 : f32[]", "1 ulp of 1"));
        assert!(differ("0.0 : f64[]", "5e-324 : f64[]", "0"));
        assert!(!differ("0.0 : f64[]", "5e-324 : f64[]", "1 ulp"));
        assert!(!differ("[1e-10, 1e4] : f32[2]", "[0.0, 1e4] : f32[2]", "1 eps of the largest"));
        assert!(differ("2 : i32[]", "1 : i32[]", "8 ulp"));
        assert!(differ("(1.0, 1e-3) : c64[]", "(1.0, 0.0) : c64[]", "0, complex 2 ulp"));
        assert!(!differ("(1.0, 1e-7) : c64[]", "(1.0, 0.0) : c64[]", "0, complex 2 ulp"));
        assert!(differ(
            "(1.0, 1e-7) : c64[]",
            "(1.0, 0.0) : c64[]",
            "0, complex 2 ulp of each part"
        ));
        let each = "2 ulp of each part";
        assert!(!differ("(1.0, 1.0000001e-7) : c64[]", "(1.0, 1e-7) : c64[]", each));
        assert!(differ("1 : i32[]", "1 : i64[]", "0"));
        assert!("3 apples".parse::<Tolerance>().is_err());
    }
}
