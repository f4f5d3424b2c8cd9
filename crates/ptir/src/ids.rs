//! Typed four-byte ids into the arenas of one function.

use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            #[allow(dead_code, reason = "not every id can be absent")]
            pub(crate) const NONE: Self = Self(u32::MAX);

            #[inline]
            pub(crate) fn new(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                Self(index as u32)
            }

            /// Returns the id of an arena position, which need not be in use.
            #[must_use]
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self::new(index)
            }

            /// Returns the position of the entry in its arena.
            #[must_use]
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            #[allow(dead_code, reason = "not every id can be absent")]
            #[inline]
            pub(crate) fn is_none(self) -> bool {
                self.0 == u32::MAX
            }

            #[allow(dead_code, reason = "not every id can be absent")]
            #[inline]
            pub(crate) fn some(self) -> Option<Self> {
                (self.0 != u32::MAX).then_some(self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

ids! {
    /// The id of an instruction of a function. Ids are not reused during the life of the function.
    InstId "inst";
    /// The id of a value of a function: a result of an instruction or a parameter of a body.
    ValueId "%";
    /// The id of a body of a function: the function's own body, or a region of an instruction.
    BodyId "body";
    /// The id of an interned type of a function.
    TypeId "type";
    /// The id of an interned attribute list of a function.
    AttrId "attr";
}
