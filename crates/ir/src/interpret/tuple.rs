//! Tuple elements of the interpreter, which may nest as deep as a loop has trips.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::RunValue;

/// The shared elements of a tuple. Comparison and drop do not recurse.
#[derive(Clone)]
pub struct TupleElements(Rc<[RunValue]>);

impl From<Vec<RunValue>> for TupleElements {
    fn from(elements: Vec<RunValue>) -> Self {
        Self(elements.into())
    }
}

impl FromIterator<RunValue> for TupleElements {
    fn from_iter<I: IntoIterator<Item = RunValue>>(elements: I) -> Self {
        Self(elements.into_iter().collect())
    }
}

impl Deref for TupleElements {
    type Target = [RunValue];

    fn deref(&self) -> &[RunValue] {
        &self.0
    }
}

impl Drop for TupleElements {
    fn drop(&mut self) {
        let mut dead = Vec::new();
        detach_nested_tuples(&mut self.0, &mut dead);
        while let Some(mut elements) = dead.pop() {
            detach_nested_tuples(&mut elements.0, &mut dead);
        }
    }
}

/// Moves the nested tuples out of elements that have no other owner.
fn detach_nested_tuples(elements: &mut Rc<[RunValue]>, out: &mut Vec<TupleElements>) {
    for value in Rc::get_mut(elements).into_iter().flatten() {
        if let RunValue::Tuple(inner) = value
            && !inner.is_empty()
        {
            out.push(std::mem::replace(inner, TupleElements(Rc::new([]))));
        }
    }
}

impl PartialEq for TupleElements {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = vec![(self, other)];
        while let Some((left, right)) = pairs.pop() {
            if Rc::ptr_eq(&left.0, &right.0) {
                continue;
            }
            if left.len() != right.len() {
                return false;
            }
            for values in left.iter().zip(right.iter()) {
                match values {
                    (RunValue::Tuple(left), RunValue::Tuple(right)) => pairs.push((left, right)),
                    (left, right) if left == right => {}
                    _ => return false,
                }
            }
        }
        true
    }
}

impl fmt::Debug for TupleElements {
    /// Shows the first elements; nested tuples are shown by their length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_SHOWN_ELEMENTS: usize = 8;
        let mut list = f.debug_list();
        for value in self.iter().take(MAX_SHOWN_ELEMENTS) {
            match value {
                RunValue::Tuple(inner) => list.entry(&format_args!("tuple of {}", inner.len())),
                other => list.entry(other),
            };
        }
        if self.len() > MAX_SHOWN_ELEMENTS {
            list.entry(&format_args!("… {} in all", self.len()));
        }
        list.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_tuples_are_compared_shown_and_dropped() {
        let nest = || {
            (0..1_000_000).fold(RunValue::int(1), |value, _| {
                RunValue::Tuple(vec![value, RunValue::int(2)].into())
            })
        };
        let (left, right) = (nest(), nest());
        assert!(left == right);
        assert_eq!(format!("{left:?}"), "Tuple([tuple of 2, Scalar(Int(I64, 2))])");
        let other = RunValue::Tuple(vec![left.clone(), RunValue::int(3)].into());
        assert!(left != other);
    }
}
