//! 128-bit integers with the alignment of a pointer, which keeps nodes small.

use std::fmt;

use sapwood_structural::{BuildError, Field, FieldComparer, FieldHasher, Hash128, Value, View};

/// A signed 128-bit integer in two halves.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PackedInt {
    low: u64,
    high: i64,
}

impl PackedInt {
    /// Creates an integer.
    #[must_use]
    pub const fn new(value: i128) -> Self {
        Self { low: value as u64, high: (value >> 64) as i64 }
    }

    /// Returns the value as `i128`.
    #[must_use]
    pub const fn get(self) -> i128 {
        (self.high as i128) << 64 | self.low as i128
    }
}

impl From<i128> for PackedInt {
    fn from(value: i128) -> Self {
        Self::new(value)
    }
}

impl fmt::Debug for PackedInt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Field for PackedInt {
    #[inline]
    fn compare<'a>(&'a self, other: &'a Self, _: &mut FieldComparer<'a>) -> bool {
        self == other
    }

    #[inline]
    fn hash_contribution<'a>(&'a self, hasher: &mut FieldHasher<'_, '_, 'a>) -> Hash128 {
        match i64::try_from(self.get()) {
            Ok(value) => hasher.hash_int(value),
            Err(_) => hasher.hash_value(&self.view()),
        }
    }

    #[inline]
    fn view(&self) -> View<'_> {
        View::int(self.get())
    }

    fn from_value(value: Value) -> Result<Self, BuildError> {
        i128::from_value(value).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::PackedInt;

    #[test]
    fn keeps_every_bit() {
        for value in [0, 1, -1, i128::MAX, i128::MIN, 1 << 64, -(1 << 64), u64::MAX.into()] {
            assert_eq!(PackedInt::new(value).get(), value);
        }
    }
}
