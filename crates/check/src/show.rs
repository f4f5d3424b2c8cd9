//! Values as text and as JSON; large tensors are abridged.

use sapwood_ptir::eval::{Tensor, Value};
use serde_json::Value as Json;

/// The largest number of elements of a tensor that is printed whole.
const MAX_WHOLE_ELEMENTS: usize = 64;
/// The number of elements that are printed at each end of an axis of a larger tensor.
const ELEMENTS_AT_EACH_END: usize = 3;

/// Returns a value as the text format writes it; of a large tensor only the first and the last elements along each axis.
#[must_use]
pub fn abridged(value: &Value) -> String {
    match value {
        Value::Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(abridged).collect();
            format!("({})", elements.join(", "))
        }
        Value::Tensor(t) if has_omissions(t) => {
            let mut text = String::new();
            elements(t, t.shape(), 0, &mut text);
            format!("{text} : {}", t.ty())
        }
        Value::Tensor(t) if t.len() > MAX_WHOLE_ELEMENTS => uniform(t),
        other => other.to_string(),
    }
}

/// Returns whether [`abridged`] omits elements.
#[must_use]
pub fn is_abridged(value: &Value) -> bool {
    match value {
        Value::Tuple(elements) => elements.iter().any(is_abridged),
        Value::Tensor(t) => has_omissions(t),
        Value::Token => false,
    }
}

/// Returns all elements of a value as JSON: nested lists of numbers, one level per axis. Null if there are more than `most`.
#[must_use]
pub fn to_json(value: &Value, most: usize) -> Json {
    match value {
        Value::Tuple(elements) => elements.iter().map(|element| to_json(element, most)).collect(),
        Value::Tensor(t) if t.len() > most => Json::Null,
        Value::Tensor(t) => nested(t, t.shape(), 0),
        Value::Token => Json::Null,
    }
}

// Returns the elements of the part that starts at `start`. Recurses once per axis, of which a tensor has few.
fn nested(t: &Tensor, shape: &[usize], start: usize) -> Json {
    let Some((&extent, inner)) = shape.split_first() else { return number(&element(t, start)) };
    let stride: usize = inner.iter().product();
    (0..extent).map(|n| nested(t, inner, start + n * stride)).collect()
}

// Converts the text of an element: a number or a bool as it is written, a complex number as a list of two. JSON has neither
// infinities nor NaN: they become strings.
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

/// Returns the element with this index in row-major order as text.
#[must_use]
pub fn element(t: &Tensor, index: usize) -> String {
    let text = Value::Tensor(t.part(index, [])).to_string();
    text.split(" : ").next().unwrap_or_default().to_owned()
}

// Returns whether elements are omitted. A large tensor whose elements are all the same is printed as one element, however it is
// stored.
fn has_omissions(t: &Tensor) -> bool {
    let is_uniform = || t.to_literal().is_ok_and(|literal| literal.as_splat().is_some());
    t.len() > MAX_WHOLE_ELEMENTS && !t.is_splat() && !is_uniform()
}

fn uniform(t: &Tensor) -> String {
    format!("{} : {}", element(t, 0), t.ty())
}

// Writes the elements of the part that starts at `start`. Recurses once per axis, of which a tensor has few.
fn elements(t: &Tensor, shape: &[usize], start: usize, text: &mut String) {
    let Some((&extent, inner)) = shape.split_first() else {
        text.push_str(&element(t, start));
        return;
    };
    let stride: usize = inner.iter().product();
    text.push('[');
    for n in 0..extent {
        if extent > 2 * ELEMENTS_AT_EACH_END
            && n >= ELEMENTS_AT_EACH_END
            && n < extent - ELEMENTS_AT_EACH_END
        {
            if n == ELEMENTS_AT_EACH_END {
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

/// Returns the index along each axis of the n-th element in row-major order, as text.
pub(crate) fn position(mut n: usize, shape: &[usize]) -> String {
    if shape.is_empty() {
        return String::new();
    }
    let mut index = vec![0; shape.len()];
    for (slot, &extent) in index.iter_mut().zip(shape).rev() {
        (*slot, n) = (n % extent.max(1), n / extent.max(1));
    }
    format!(", element {index:?}")
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
        assert_eq!(abridged(&of(&[3])), "[0, 1, 2] : i32[3]");
        assert_eq!(abridged(&of(&[100])), "[0, 1, 2, …, 97, 98, 99] : i32[100]");
        let matrix = "[[0, 1, 2, …, 7, 8, 9], [10, 11, 12, …, 17, 18, 19], [20, 21, 22, …, 27, 28, 29], …, \
                      [70, 71, 72, …, 77, 78, 79], [80, 81, 82, …, 87, 88, 89], [90, 91, 92, …, 97, 98, 99]] : i32[10, 10]";
        assert_eq!(abridged(&of(&[10, 10])), matrix);
        assert_eq!(to_json(&of(&[100]), 99), Json::Null);
        assert_eq!(to_json(&of(&[65]), 100).as_array().unwrap().len(), 65);
        assert_eq!(to_json(&of(&[2, 1]), 2).to_string(), "[[0],[1]]");
        let tuple = Value::Tuple(vec![of(&[2]), of(&[70])].into());
        assert_eq!(abridged(&tuple), "([0, 1] : i32[2], [0, 1, 2, …, 67, 68, 69] : i32[70])");
        assert!(is_abridged(&tuple) && !is_abridged(&of(&[64])));
    }

    #[test]
    fn equal_values_are_shown_in_one_form() {
        for len in [1, 2, 64, 65, 1000] {
            let dense = Value::Tensor(Tensor::new(DataType::F32, [len], vec![0.5f32; len]));
            let splat = Value::Tensor(Tensor::splat(DataType::F32, [len], 0.5f32));
            let expected = format!("0.5 : f32[{len}]");
            for value in [dense, splat] {
                assert_eq!(abridged(&value), expected);
                assert!(!is_abridged(&value));
            }
        }
    }

    #[test]
    fn elements_become_numbers_of_json() {
        let abridged = |text: &str| number(text).to_string();
        assert_eq!(
            ["true", "-3", "18446744073709551615"].map(abridged),
            ["true", "-3", "18446744073709551615"]
        );
        assert_eq!(["0.1", "1.5", "-0.0"].map(abridged), ["0.1", "1.5", "-0.0"]);
        assert_eq!(["inf", "-inf", "nan"].map(abridged), ["\"inf\"", "\"-inf\"", "\"nan\""]);
        assert_eq!(abridged("(1.0, nan)"), "[1.0,\"nan\"]");
    }
}
