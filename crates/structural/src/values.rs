//! Owned values: scalars, text, bytes, tensors, big integers, and nodes, in sixteen bytes.

use std::fmt;
use std::sync::Arc;

use sapwood_types::{DataType, counted};

use crate::reference::{AnyRef, Ref};
use crate::view::{View, WideInt};

/// Any value a field can hold, owned.
#[derive(Clone, Default)]
pub enum Value {
    /// No value.
    #[default]
    None,
    /// A truth value. Differs from `Int(1)`.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// A larger integer.
    Big(Ref<BigInt>),
    /// A float. Differs from the integer of the same size.
    Float(f64),
    /// Text.
    Str(Ref<Text>),
    /// Bytes.
    Bytes(Ref<Bytes>),
    /// A tensor.
    Tensor(Ref<Tensor>),
    /// A node, or a shared sequence, map or set.
    Node(AnyRef),
}

impl Value {
    /// Returns a view of the value, as the engine sees it.
    #[must_use]
    #[inline]
    pub fn view(&self) -> View<'_> {
        match self {
            Self::None => View::None,
            Self::Bool(b) => View::Bool(*b),
            Self::Int(i) => View::Int(*i),
            Self::Big(big) => big.view(),
            Self::Float(f) => View::Float(*f),
            Self::Str(text) => View::Str(text.as_str()),
            Self::Bytes(bytes) => View::Bytes(bytes.as_slice()),
            Self::Tensor(tensor) => View::Tensor(tensor),
            Self::Node(node) => View::Node(node.node()),
        }
    }

    /// Creates an owned copy of a view. Lists become shared sequences.
    #[must_use]
    pub fn of(view: View<'_>) -> Self {
        match view {
            View::None => Self::None,
            View::Bool(b) => Self::Bool(b),
            View::Int(i) => Self::Int(i),
            View::Wide(wide) => {
                Self::Big(Ref::new(BigInt::from_limbs(wide.negative(), wide.limbs().to_vec())))
            }
            View::Big(big) => Self::Big(Ref::new(big.clone())),
            View::Float(f) => Self::Float(f),
            View::Str(s) => Self::from(s),
            View::Bytes(b) => Self::Bytes(Ref::new(Bytes::new(b))),
            View::Tensor(t) => Self::Tensor(Ref::new(t.clone())),
            View::Node(node) => Self::Node(node.to_owned()),
            View::List(list) => {
                crate::Seq::new((0..list.len()).map(|i| Self::of(list.item(i)))).into()
            }
        }
    }

    /// Returns the node, if this is one.
    #[must_use]
    pub fn as_node(&self) -> Option<&AnyRef> {
        match self {
            Self::Node(node) => Some(node),
            _ => None,
        }
    }

    /// Returns the text, if this is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text.as_str()),
            _ => None,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&crate::display::abridged(self.view()), f)
    }
}

macro_rules! value_from_int {
    ($($t:ty),*) => {$(
        impl From<$t> for Value {
            fn from(value: $t) -> Self {
                #[allow(clippy::cast_lossless, reason = "one body for every width")]
                Self::Int(value as i64)
            }
        }
    )*};
}
value_from_int!(i8, i16, i32, i64, u8, u16, u32);

impl From<i128> for Value {
    fn from(value: i128) -> Self {
        Self::of(View::int(value))
    }
}

impl From<u128> for Value {
    fn from(value: u128) -> Self {
        Self::of(View::uint(value))
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::from(u128::from(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Str(Ref::new(Text::new(value)))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::from(value.as_str())
    }
}

impl From<AnyRef> for Value {
    fn from(value: AnyRef) -> Self {
        Self::Node(value)
    }
}

impl<T: crate::Node> From<Ref<T>> for Value {
    fn from(value: Ref<T>) -> Self {
        Self::Node(value.into_any())
    }
}

impl From<Bytes> for Value {
    fn from(value: Bytes) -> Self {
        Self::Bytes(Ref::new(value))
    }
}

impl From<Tensor> for Value {
    fn from(value: Tensor) -> Self {
        Self::Tensor(Ref::new(value))
    }
}

impl From<BigInt> for Value {
    fn from(value: BigInt) -> Self {
        match value.view() {
            View::Int(small) => Self::Int(small),
            _ => Self::Big(Ref::new(value)),
        }
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// Immutable text.
#[derive(Clone, Debug)]
pub struct Text(Box<str>);

impl Text {
    /// Creates a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the text as a slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Immutable bytes; copies share them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bytes(Arc<[u8]>);

impl Bytes {
    /// Creates a copy of the bytes.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

/// A constant tensor: data type, shape, and its content as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    dtype: DataType,
    shape: Box<[u64]>,
    content: Bytes,
}

impl Tensor {
    /// Creates a tensor of `content` in row-major order.
    ///
    /// # Errors
    /// If the number of bytes does not fit `dtype` and `shape`.
    pub fn new(dtype: DataType, shape: &[u64], content: Bytes) -> Result<Self, TensorSizeError> {
        let expected = if shape.contains(&0) {
            Some(0)
        } else {
            shape.iter().try_fold(dtype.byte_size() as u64, |size, &dim| size.checked_mul(dim))
        };
        let found = content.as_slice().len() as u64;
        if expected == Some(found) {
            Ok(Self { dtype, shape: shape.into(), content })
        } else {
            Err(TensorSizeError { dtype, shape: shape.into(), expected, found })
        }
    }

    /// Returns the type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Returns the extents.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the content.
    #[must_use]
    pub fn content(&self) -> &Bytes {
        &self.content
    }
}

/// An error: too few or too many bytes for a tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tensor of {dtype}{shape:?} takes {}, found {found}",
    expected.map_or_else(|| "more than 2^64 bytes".to_owned(), |n| counted(n, "byte").to_string()))]
pub struct TensorSizeError {
    dtype: DataType,
    shape: Box<[u64]>,
    expected: Option<u64>,
    found: u64,
}

/// An integer of any size: sign and 64-bit limbs, least significant first, no leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigInt {
    negative: bool,
    limbs: Box<[u64]>,
}

impl BigInt {
    /// Creates the integer with these limbs, least significant first.
    #[must_use]
    pub fn from_limbs(negative: bool, mut limbs: Vec<u64>) -> Self {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Self { negative: negative && !limbs.is_empty(), limbs: limbs.into() }
    }

    /// Parses an integer in hexadecimal, with an optional `-` and no prefix.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let limbs = digits
            .as_bytes()
            .rchunks(16)
            .map(|chunk| {
                chunk.iter().fold(0, |limb, &digit| {
                    limb << 4 | u64::from((digit as char).to_digit(16).unwrap_or(0))
                })
            })
            .collect();
        Some(Self::from_limbs(negative, limbs))
    }

    /// Returns the integer in hexadecimal, with `-` below zero and no prefix.
    #[must_use]
    pub fn to_hex(&self) -> String {
        let mut out = String::from(if self.negative { "-" } else { "" });
        match self.limbs.split_last() {
            None => out.push('0'),
            Some((top, rest)) => {
                out += &format!("{top:x}");
                for limb in rest.iter().rev() {
                    out += &format!("{limb:016x}");
                }
            }
        }
        out
    }

    /// Returns whether the integer is below zero.
    #[must_use]
    pub fn negative(&self) -> bool {
        self.negative
    }

    /// Returns the magnitude, least significant limb first.
    #[must_use]
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// Returns the canonical view of the integer.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        let magnitude = match *self.limbs {
            [] => 0,
            [low] => u128::from(low),
            [low, high] => u128::from(high) << 64 | u128::from(low),
            _ => return View::Big(self),
        };
        if !self.negative {
            View::uint(magnitude)
        } else if magnitude <= 1 << 63 {
            View::Int((magnitude as u64).wrapping_neg() as i64)
        } else {
            View::Wide(WideInt::new(true, magnitude))
        }
    }
}
