//! Field types that take little space in a node.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use sapwood_structural::{
    BuildError, Field, FieldComparer, FieldHasher, Hash128, List, Value, View,
};

/// A list behind one pointer; an empty list takes no heap memory.
pub struct ThinList<T>(Option<Box<Box<[T]>>>);

impl<T> Deref for ThinList<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], |elements| elements)
    }
}

impl<T> From<Box<[T]>> for ThinList<T> {
    fn from(elements: Box<[T]>) -> Self {
        Self((!elements.is_empty()).then(|| Box::new(elements)))
    }
}

impl<T> FromIterator<T> for ThinList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        elements.into_iter().collect::<Box<[T]>>().into()
    }
}

impl<'a, T> IntoIterator for &'a ThinList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for ThinList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Field> List for ThinList<T> {
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn item(&self, index: usize) -> View<'_> {
        self.get(index).map_or(View::None, Field::view)
    }
}

impl<T: Field> Field for ThinList<T> {
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

/// The maximum length of a name that is stored inline.
const MAX_INLINE_BYTES: usize = 14;

/// The name of a variable, stored inline in the node if it is short.
#[derive(Clone)]
pub struct VarName(NameStorage);

/// The storage of a name: inline bytes with their length, or a shared string.
#[derive(Clone)]
enum NameStorage {
    Inline(u8, [u8; MAX_INLINE_BYTES]),
    Heap(Arc<Box<str>>),
}

impl Deref for VarName {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match &self.0 {
            // The bytes come from a `str`, so they are valid UTF-8.
            NameStorage::Inline(len, bytes) => {
                std::str::from_utf8(&bytes[..usize::from(*len)]).unwrap_or_default()
            }
            NameStorage::Heap(name) => name,
        }
    }
}

impl From<&str> for VarName {
    #[inline]
    fn from(name: &str) -> Self {
        let mut bytes = [0; MAX_INLINE_BYTES];
        Self(match bytes.get_mut(..name.len()) {
            Some(place) => {
                place.copy_from_slice(name.as_bytes());
                NameStorage::Inline(name.len() as u8, bytes)
            }
            None => NameStorage::Heap(Arc::new(name.into())),
        })
    }
}

impl fmt::Debug for VarName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Field for VarName {
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

    /// Comparing large programs costs as much as reading them from memory, so the sizes matter.
    #[test]
    fn nodes_are_small() {
        assert_eq!((size_of::<VarName>(), size_of::<ThinList<u8>>()), (16, 8));
        assert_eq!((size_of::<Expr>(), size_of::<Stmt>()), (40, 80));
    }

    #[test]
    fn names_of_any_length_are_kept() {
        for name in ["", "x", "fourteen bytes", "fifteen bytes, ", "größer", "ööööööö", "öööööööö"]
        {
            assert_eq!(&*VarName::from(name), name);
        }
    }

    #[test]
    fn lists_of_any_length_are_kept() {
        for len in 0..4 {
            let list: ThinList<usize> = (0..len).collect();
            assert_eq!(list.iter().copied().collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
        }
    }
}
