//! Values as text: small ones whole, large ones in part.

use sapwood_ptir::eval::{Tensor, Value};
use serde_json::Value as Json;

/// Tensors of more elements are shown in part.
const WHOLE: usize = 64;
/// How many elements are shown at each end of an axis.
const ENDS: usize = 3;

/// Returns a value as the text form writes it; of a large tensor the first and the last elements along each axis.
#[must_use]
pub fn shown(value: &Value) -> String {
    match value {
        Value::Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(shown).collect();
            format!("({})", elements.join(", "))
        }
        Value::Tensor(t) if is_cut(t) => {
            let mut text = String::new();
            elements(t, t.shape(), 0, &mut text);
            format!("{text} : {}", t.ty())
        }
        Value::Tensor(t) if t.len() > WHOLE => uniform(t),
        other => other.to_string(),
    }
}

/// Returns whether [`shown`] leaves something out.
#[must_use]
pub fn is_shown_in_part(value: &Value) -> bool {
    match value {
        Value::Tuple(elements) => elements.iter().any(is_shown_in_part),
        Value::Tensor(t) => is_cut(t),
        Value::Token => false,
    }
}

/// Returns all of a value for programs: lists of numbers, as deep as it has axes. Null if it has more elements than this.
#[must_use]
pub fn numbers(value: &Value, most: usize) -> Json {
    match value {
        Value::Tuple(elements) => elements.iter().map(|element| numbers(element, most)).collect(),
        Value::Tensor(t) if t.len() > most => Json::Null,
        Value::Tensor(t) => nested(t, t.shape(), 0),
        Value::Token => Json::Null,
    }
}

// The elements of a piece that starts at `start`. Goes one level down per axis, of which a tensor has few.
fn nested(t: &Tensor, shape: &[usize], start: usize) -> Json {
    let Some((&extent, inner)) = shape.split_first() else { return number(&element(t, start)) };
    let stride: usize = inner.iter().product();
    (0..extent).map(|n| nested(t, inner, start + n * stride)).collect()
}

// A number or a truth value as it is written, a complex number as a list of two. JSON has neither infinities nor NaN: they
// are strings.
fn number(text: &str) -> Json {
    if let Some((re, im)) =
        text.strip_prefix('(').and_then(|t| t.strip_suffix(')')?.split_once(", "))
    {
        return Json::Array(vec![number(re), number(im)]);
    }
    if let Ok(truth) = text.parse::<bool>() {
        return Json::Bool(truth);
    }
    if let Ok(n) = text.parse::<i64>() {
        return n.into();
    }
    if let Ok(n) = text.parse::<u64>() {
        return n.into();
    }
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => x.into(),
        _ => text.into(),
    }
}

/// Returns one element as text, counted in row-major order.
#[must_use]
pub fn element(t: &Tensor, index: usize) -> String {
    let text = Value::Tensor(t.part(index, [])).to_string();
    text.split(" : ").next().unwrap_or_default().to_owned()
}

// A large tensor whose elements are all the same is shown as one element, however it is stored.
fn is_cut(t: &Tensor) -> bool {
    let is_uniform = || t.to_literal().is_ok_and(|literal| literal.as_splat().is_some());
    t.len() > WHOLE && !t.is_splat() && !is_uniform()
}

fn uniform(t: &Tensor) -> String {
    format!("{} : {}", element(t, 0), t.ty())
}

// The elements of a piece that starts at `start`. Goes one level down per axis, of which a tensor has few.
fn elements(t: &Tensor, shape: &[usize], start: usize, text: &mut String) {
    let Some((&extent, inner)) = shape.split_first() else {
        text.push_str(&element(t, start));
        return;
    };
    let stride: usize = inner.iter().product();
    text.push('[');
    for n in 0..extent {
        if extent > 2 * ENDS && n >= ENDS && n < extent - ENDS {
            if n == ENDS {
                text.push_str(", …");
            }
            continue;
        }
        if n > 0 {
            text.push_str(", ");
        }
        elements(t, inner, start + n * stride, text);
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::eval::DataType;

    use super::*;

    #[test]
    fn large_tensors_show_their_ends() {
        let of = |shape: &[usize]| {
            let len = shape.iter().product::<usize>();
            Value::Tensor(Tensor::new(DataType::I32, shape, (0..len as i32).collect()))
        };
        assert_eq!(shown(&of(&[3])), "[0, 1, 2] : i32[3]");
        assert_eq!(shown(&of(&[100])), "[0, 1, 2, …, 97, 98, 99] : i32[100]");
        let matrix = "[[0, 1, 2, …, 7, 8, 9], [10, 11, 12, …, 17, 18, 19], [20, 21, 22, …, 27, 28, 29], …, \
                      [70, 71, 72, …, 77, 78, 79], [80, 81, 82, …, 87, 88, 89], [90, 91, 92, …, 97, 98, 99]] : i32[10, 10]";
        assert_eq!(shown(&of(&[10, 10])), matrix);
        assert_eq!(numbers(&of(&[100]), 99), Json::Null);
        assert_eq!(numbers(&of(&[65]), 100).as_array().unwrap().len(), 65);
        assert_eq!(numbers(&of(&[2, 1]), 2).to_string(), "[[0],[1]]");
        let tuple = Value::Tuple(vec![of(&[2]), of(&[70])].into());
        assert_eq!(shown(&tuple), "([0, 1] : i32[2], [0, 1, 2, …, 67, 68, 69] : i32[70])");
        assert!(is_shown_in_part(&tuple) && !is_shown_in_part(&of(&[64])));
    }

    #[test]
    fn equal_values_are_shown_in_one_form() {
        for len in [1, 2, 64, 65, 1000] {
            let dense = Value::Tensor(Tensor::new(DataType::F32, [len], vec![0.5f32; len]));
            let splat = Value::Tensor(Tensor::splat(DataType::F32, [len], 0.5f32));
            let expected = format!("0.5 : f32[{len}]");
            for value in [dense, splat] {
                assert_eq!(shown(&value), expected);
                assert!(!is_shown_in_part(&value));
            }
        }
    }

    #[test]
    fn elements_become_numbers_of_json() {
        let shown = |text: &str| number(text).to_string();
        assert_eq!(
            ["true", "-3", "18446744073709551615"].map(shown),
            ["true", "-3", "18446744073709551615"]
        );
        assert_eq!(["0.1", "1.5", "-0.0"].map(shown), ["0.1", "1.5", "-0.0"]);
        assert_eq!(["inf", "-inf", "nan"].map(shown), ["\"inf\"", "\"-inf\"", "\"nan\""]);
        assert_eq!(shown("(1.0, nan)"), "[1.0,\"nan\"]");
    }
}
