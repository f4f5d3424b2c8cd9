//! Values as text: small ones whole, large ones in part.

use sapwood_ptir::eval::{Tensor, Value};

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
            elements(t, t.shape(), 0, &mut text, Some(ENDS));
            format!("{text} : {}", t.ty())
        }
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

/// Returns all of a value as text; `None` if it has more elements than this.
#[must_use]
pub fn whole(value: &Value, most: usize) -> Option<String> {
    match value {
        Value::Tuple(elements) => {
            let elements: Option<Vec<String>> =
                elements.iter().map(|element| whole(element, most)).collect();
            Some(format!("({})", elements?.join(", ")))
        }
        Value::Tensor(t) if is_cut(t) => {
            if t.len() > most {
                return None;
            }
            let mut text = String::new();
            elements(t, t.shape(), 0, &mut text, None);
            Some(format!("{text} : {}", t.ty()))
        }
        other => Some(other.to_string()),
    }
}

/// Returns one element as text, counted in row-major order.
#[must_use]
pub fn element(t: &Tensor, index: usize) -> String {
    let text = Value::Tensor(t.part(index, [])).to_string();
    text.split(" : ").next().unwrap_or_default().to_owned()
}

fn is_cut(t: &Tensor) -> bool {
    !t.is_splat() && t.len() > WHOLE
}

// The elements of a piece that starts at `start`. Goes one level down per axis, of which a tensor has few.
fn elements(t: &Tensor, shape: &[usize], start: usize, text: &mut String, ends: Option<usize>) {
    let Some((&extent, inner)) = shape.split_first() else {
        text.push_str(&element(t, start));
        return;
    };
    let stride: usize = inner.iter().product();
    let cut = ends.filter(|ends| extent > 2 * ends);
    text.push('[');
    for n in 0..extent {
        if cut.is_some_and(|ends| n >= ends && n < extent - ends) {
            if cut == Some(n) {
                text.push_str(", …");
            }
            continue;
        }
        if n > 0 {
            text.push_str(", ");
        }
        elements(t, inner, start + n * stride, text, ends);
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
        assert_eq!(whole(&of(&[100]), 99), None);
        assert_eq!(whole(&of(&[65]), 100).unwrap().matches(',').count(), 64);
        let tuple = Value::Tuple(vec![of(&[2]), of(&[70])].into());
        assert_eq!(shown(&tuple), "([0, 1] : i32[2], [0, 1, 2, …, 67, 68, 69] : i32[70])");
        assert!(is_shown_in_part(&tuple) && !is_shown_in_part(&of(&[64])));
    }
}
