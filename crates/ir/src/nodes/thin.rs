//! Fields that take little room in the nodes that hold them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use sapwood_structural::{
    BuildError, Field, FieldComparer, FieldHasher, Hash128, List, Value, View,
};

/// A list behind one pointer; an empty one takes no memory.
pub struct Thin<T>(Option<Box<Box<[T]>>>);

impl<T> Deref for Thin<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], |elements| elements)
    }
}

impl<T> From<Box<[T]>> for Thin<T> {
    fn from(elements: Box<[T]>) -> Self {
        Self((!elements.is_empty()).then(|| Box::new(elements)))
    }
}

impl<T> FromIterator<T> for Thin<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        elements.into_iter().collect::<Box<[T]>>().into()
    }
}

impl<'a, T> IntoIterator for &'a Thin<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for Thin<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Field> List for Thin<T> {
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn item(&self, index: usize) -> View<'_> {
        self.get(index).map_or(View::None, Field::view)
    }
}

impl<T: Field> Field for Thin<T> {
    #[inline]
    fn compare<'a>(&'a self, other: &'a Self, comparer: &mut FieldComparer<'a>) -> bool {
        match (&self.0, &other.0) {
            (Some(left), Some(right)) => left.compare(right, comparer),
            (None, None) => true,
            _ => false,
        }
    }

    #[inline]
    fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
        match &self.0 {
            Some(elements) => elements.hash_contribution(hasher),
            None => hasher.hash_value(&self.view()),
        }
    }

    #[inline]
    fn view(&self) -> View<'_> {
        View::List(self)
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        Box::<[T]>::from_value(value).map(Self::from)
    }
}

/// How long a name may be that stands in its node.
const SHORT: usize = 14;

/// The name of a variable: a short one stands in the node itself.
#[derive(Clone)]
pub struct Name(Kept);

#[derive(Clone)]
enum Kept {
    Short(u8, [u8; SHORT]),
    Long(Arc<Box<str>>),
}

impl Deref for Name {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match &self.0 {
            // They are the bytes of a `str`.
            Kept::Short(len, bytes) => {
                std::str::from_utf8(&bytes[..usize::from(*len)]).unwrap_or_default()
            }
            Kept::Long(name) => name,
        }
    }
}

impl From<&str> for Name {
    #[inline]
    fn from(name: &str) -> Self {
        let mut bytes = [0; SHORT];
        Self(match bytes.get_mut(..name.len()) {
            Some(place) => {
                place.copy_from_slice(name.as_bytes());
                Kept::Short(name.len() as u8, bytes)
            }
            None => Kept::Long(Arc::new(name.into())),
        })
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Field for Name {
    #[inline]
    fn view(&self) -> View<'_> {
        View::Str(self)
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        Box::<str>::from_value(value).map(|name| Self::from(&*name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::{Expr, Stmt};

    /// Comparing large programs costs what reading them from memory costs.
    #[test]
    fn nodes_are_small() {
        assert_eq!((size_of::<Name>(), size_of::<Thin<u8>>()), (16, 8));
        assert_eq!((size_of::<Expr>(), size_of::<Stmt>()), (40, 80));
    }

    #[test]
    fn names_of_any_length_are_kept() {
        for name in ["", "x", "fourteen bytes", "fifteen bytes, ", "größer", "ööööööö", "öööööööö"]
        {
            assert_eq!(&*Name::from(name), name);
        }
    }

    #[test]
    fn lists_of_any_length_are_kept() {
        for len in 0..4 {
            let list: Thin<usize> = (0..len).collect();
            assert_eq!(list.iter().copied().collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
        }
    }
}
