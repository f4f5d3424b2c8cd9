//! Borrowed views of values: how the engine sees a field, whatever stores it.

use crate::node::Field;
use crate::reference::NodeRef;
use crate::values::{BigInt, Tensor};

/// A borrowed view of a value. The engine sees values in no other form.
#[derive(Clone, Copy)]
pub enum View<'a> {
    /// No value. Equal only to itself.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// An integer of at most 128 bits that does not fit [`View::Int`].
    Wide(WideInt),
    /// An integer beyond 128 bits.
    Big(&'a BigInt),
    /// A float. All NaN are equal; `0.0` and `-0.0` differ.
    Float(f64),
    /// Text.
    Str(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Data type, shape, content.
    Tensor(&'a Tensor),
    /// A node.
    Node(NodeRef<'a>),
    /// A sequence without identity, such as a `Vec` field.
    List(&'a dyn List),
}

impl View<'_> {
    /// Returns the canonical view of an integer.
    #[must_use]
    #[inline]
    pub fn int(value: i128) -> Self {
        match i64::try_from(value) {
            Ok(small) => Self::Int(small),
            Err(_) => Self::Wide(WideInt::new(value < 0, value.unsigned_abs())),
        }
    }

    /// Returns the canonical view of an unsigned integer.
    #[must_use]
    #[inline]
    pub fn uint(value: u128) -> Self {
        match i64::try_from(value) {
            Ok(small) => Self::Int(small),
            Err(_) => Self::Wide(WideInt::new(false, value)),
        }
    }

    /// Returns the name of this sort of value, for messages.
    #[must_use]
    pub fn sort_name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Wide(_) | Self::Big(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Tensor(_) => "tensor",
            Self::Node(_) => "node",
            Self::List(_) => "sequence",
        }
    }
}

impl<'a, T: Field> From<&'a T> for View<'a> {
    #[inline]
    fn from(field: &'a T) -> Self {
        field.view()
    }
}

impl<'a> From<NodeRef<'a>> for View<'a> {
    #[inline]
    fn from(node: NodeRef<'a>) -> Self {
        Self::Node(node)
    }
}

/// Sign and magnitude of an integer between 65 and 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WideInt {
    negative: bool,
    magnitude: [u64; 2],
}

impl WideInt {
    pub(crate) fn new(negative: bool, magnitude: u128) -> Self {
        Self { negative, magnitude: [magnitude as u64, (magnitude >> 64) as u64] }
    }

    /// Returns whether the integer is below zero.
    #[must_use]
    pub fn negative(self) -> bool {
        self.negative
    }

    /// Returns the absolute value.
    #[must_use]
    pub fn magnitude(self) -> u128 {
        u128::from(self.magnitude[1]) << 64 | u128::from(self.magnitude[0])
    }

    pub(crate) fn limbs(self) -> [u64; 2] {
        self.magnitude
    }
}

/// A sequence that is part of its owner, such as a `Vec` field.
pub trait List {
    /// Returns the number of elements.
    fn len(&self) -> usize;

    /// Returns whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element at `index`; [`View::None`] beyond the end.
    fn item(&self, index: usize) -> View<'_>;
}
