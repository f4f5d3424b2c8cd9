//! The ways to write a reshape as nodes without computing a shape.

use sapwood_ptir::Dim;

/// A reshape as one node or two, whose lists are constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReshapeForm {
    /// `Reshape` to these numbers: 0 copies the extent at the same place, one -1 is left to the runtime.
    Numbers(Vec<i64>),
    /// `Squeeze` of these axes.
    Squeeze(Vec<i64>),
    /// `Unsqueeze` at these axes.
    Unsqueeze(Vec<i64>),
    /// `Transpose` that moves axes of extent one.
    Transpose(Vec<i64>),
    /// `Squeeze` of the first axes, then `Unsqueeze` at the second ones.
    SqueezeUnsqueeze(Vec<i64>, Vec<i64>),
}

/// Returns the form of a reshape between dims; `None` if the shape must be computed.
pub(crate) fn reshape_form(from: &[Dim], to: &[Dim]) -> Option<ReshapeForm> {
    if let Some(numbers) = constant_numbers(from, to) {
        return Some(ReshapeForm::Numbers(numbers));
    }
    let is_one = |dim: &Dim| *dim == Dim::Known(1);
    let ones = |dims: &[Dim]| -> Vec<i64> {
        (0..dims.len()).filter(|&a| is_one(&dims[a])).map(|a| a as i64).collect()
    };
    let rest =
        |dims: &[Dim]| -> Vec<usize> { (0..dims.len()).filter(|&a| !is_one(&dims[a])).collect() };
    let (a, b) = (rest(from), rest(to));
    let same =
        a.len() == b.len() && a.iter().zip(&b).all(|(&x, &y)| from[x].certainly_equal(to[y]));
    if !same {
        return None;
    }
    if let Some(added) = inserted_ones(from, to) {
        return Some(ReshapeForm::Unsqueeze(added));
    }
    if let Some(removed) = inserted_ones(to, from) {
        return Some(ReshapeForm::Squeeze(removed));
    }
    if from.len() == to.len() {
        let mut ones = ones(from).into_iter();
        let mut others = a.iter().map(|&axis| axis as i64);
        let next = |dim: &Dim| if is_one(dim) { ones.next() } else { others.next() };
        return to.iter().map(next).collect::<Option<_>>().map(ReshapeForm::Transpose);
    }
    Some(ReshapeForm::SqueezeUnsqueeze(ones(from), ones(to)))
}

/// Returns the shape that `Expand` needs to get from dims to others, if it is constant: a one keeps the extent.
pub(crate) fn expand_numbers(from: &[Dim], to: &[Dim]) -> Option<Vec<i64>> {
    let extra = to.len().checked_sub(from.len())?;
    let number = |(axis, dim): (usize, &Dim)| match dim.known() {
        Some(n) => i64::try_from(n).ok(),
        None => from.get(axis.checked_sub(extra)?)?.certainly_equal(*dim).then_some(1),
    };
    to.iter().enumerate().map(number).collect()
}

// Returns the shape as constants, if at most one entry is left to the runtime.
fn constant_numbers(from: &[Dim], to: &[Dim]) -> Option<Vec<i64>> {
    let mut numbers = Vec::with_capacity(to.len());
    for (axis, dim) in to.iter().enumerate() {
        numbers.push(match dim.known().and_then(|n| i64::try_from(n).ok()) {
            // A zero would copy an extent.
            Some(0) if from.get(axis) == Some(&Dim::Known(0)) => 0,
            Some(0) => return None,
            Some(n) => n,
            None if from.get(axis).is_some_and(|d| d.certainly_equal(*dim)) => 0,
            None => -1,
        });
    }
    let open = numbers.iter().filter(|&&n| n == -1).count();
    // With an empty tensor, -1 would not be defined.
    let may_be_empty = from.contains(&Dim::Known(0));
    (open == 0 || open == 1 && !may_be_empty).then_some(numbers)
}

// Returns the axes of `to` that are ones inserted into `from`, if it differs in nothing else.
fn inserted_ones(from: &[Dim], to: &[Dim]) -> Option<Vec<i64>> {
    let mut added = Vec::new();
    let mut rest = from.iter().peekable();
    for (axis, dim) in to.iter().enumerate() {
        match rest.peek() {
            Some(next) if next.certainly_equal(*dim) => drop(rest.next()),
            _ if *dim == Dim::Known(1) => added.push(axis as i64),
            _ => return None,
        }
    }
    (rest.next().is_none() && !added.is_empty()).then_some(added)
}

#[cfg(test)]
mod tests {
    use sapwood_ptir::Name;

    use super::*;

    fn dims(text: &str) -> Vec<Dim> {
        let dim = |part: &str| match part.parse() {
            Ok(n) => Dim::Known(n),
            Err(_) => Dim::symbol(Name::new(part)),
        };
        text.split_whitespace().map(dim).collect()
    }

    fn form(from: &str, to: &str) -> Option<ReshapeForm> {
        reshape_form(&dims(from), &dims(to))
    }

    #[test]
    fn reshapes_have_constant_forms_where_at_most_one_extent_is_open() {
        use ReshapeForm::{Numbers, Squeeze, SqueezeUnsqueeze, Transpose, Unsqueeze};
        assert_eq!(form("2 3", "6"), Some(Numbers(vec![6])));
        assert_eq!(form("a 2 3", "a 6"), Some(Numbers(vec![0, 6])));
        assert_eq!(form("a b 2", "a 2 b"), Some(Numbers(vec![0, 2, -1])));
        assert_eq!(form("a b", "1 a 1 b"), Some(Unsqueeze(vec![0, 2])));
        assert_eq!(form("1 a 1 b", "a b"), Some(Squeeze(vec![0, 2])));
        assert_eq!(form("1 a b", "a b 1"), Some(Transpose(vec![1, 2, 0])));
        assert_eq!(form("1 1 a b", "a b 1"), Some(SqueezeUnsqueeze(vec![0, 1], vec![2])));
        assert_eq!(form("a b c", "c b a"), None);
        assert_eq!(form("0 2", "2 0"), None);
        assert_eq!(form("a 0", "a 0 1"), Some(Numbers(vec![0, 0, 1])));
    }

    #[test]
    fn expand_keeps_open_extents_by_ones() {
        let numbers = |from, to| expand_numbers(&dims(from), &dims(to));
        assert_eq!(numbers("a 1 b", "a 4 b"), Some(vec![1, 4, 1]));
        assert_eq!(numbers("b", "3 b"), Some(vec![3, 1]));
        assert_eq!(numbers("1 b", "a b"), None);
        assert_eq!(numbers("a b", "a"), None);
    }
}
