//! The elements of a tuple, which may hold tuples as deep as a loop has trips.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::RunValue;

/// The elements of a tuple, shared. Comparing and dropping them does not recurse.
#[derive(Clone)]
pub struct Elements(Rc<[RunValue]>);

impl From<Vec<RunValue>> for Elements {
    fn from(elements: Vec<RunValue>) -> Self {
        Self(elements.into())
    }
}

impl FromIterator<RunValue> for Elements {
    fn from_iter<I: IntoIterator<Item = RunValue>>(elements: I) -> Self {
        Self(elements.into_iter().collect())
    }
}

impl Deref for Elements {
    type Target = [RunValue];

    fn deref(&self) -> &[RunValue] {
        &self.0
    }
}

impl Drop for Elements {
    fn drop(&mut self) {
        let mut dead = Vec::new();
        take_tuples(&mut self.0, &mut dead);
        while let Some(mut elements) = dead.pop() {
            take_tuples(&mut elements.0, &mut dead);
        }
    }
}

/// Takes the tuples out of what nobody else holds.
fn take_tuples(elements: &mut Rc<[RunValue]>, out: &mut Vec<Elements>) {
    for value in Rc::get_mut(elements).into_iter().flatten() {
        if let RunValue::Tuple(inner) = value
            && !inner.is_empty()
        {
            out.push(std::mem::replace(inner, Elements(Rc::new([]))));
        }
    }
}

impl PartialEq for Elements {
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

impl fmt::Debug for Elements {
    /// A few elements; of tuples inside, how many they have.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let mut list = f.debug_list();
        for value in self.iter().take(SHOWN) {
            match value {
                RunValue::Tuple(inner) => list.entry(&format_args!("tuple of {}", inner.len())),
                other => list.entry(other),
            };
        }
        if self.len() > SHOWN {
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
