//! Tensor literals, stored in shared memory and in canonical form.

mod element;
mod shared_bytes;

use std::fmt;
use std::sync::Arc;

use sapwood_types::DataType;
use smallvec::SmallVec;

use crate::eval::{Float, Int, Native};
use crate::text::{LongLiteralMode, write_literal};
use crate::types::{MAX_RANK, TensorType};

pub use element::Element;
#[cfg(feature = "testing")]
pub(crate) use element::float_value;
pub(crate) use element::{bits_element, float_element, int_element, write_element};
use shared_bytes::SharedBytes;

/// A tensor constant. If all elements have the same bits, only one element is stored, however the literal was built.
/// Bytes are little-endian and shared between clones.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorLiteral {
    dtype: DataType,
    shape: SmallVec<[u64; 4]>,
    data: LiteralData,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum LiteralData {
    // The bytes after the element are zero.
    Splat([u8; 16]),
    Dense(SharedBytes),
}

/// The reason why a literal could not be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiteralError {
    /// The number of bytes does not fit the type.
    #[error("{ty} needs {expected} bytes, found {found}")]
    Length {
        /// The type.
        ty: Box<TensorType>,
        /// The number of bytes required.
        expected: u64,
        /// The number of bytes passed.
        found: usize,
    },
    /// The number of elements exceeds 63 bits.
    #[error("{0} has more elements than fit in 63 bits")]
    TooLarge(Box<TensorType>),
    /// The rank exceeds the limit.
    #[error("a tensor has at most {MAX_RANK} dims, found {0}")]
    Rank(usize),
    /// The bits of an element do not represent a value of the type.
    #[error("element {index} has the byte {byte:#04x}, which is not a valid {dtype}")]
    Bits {
        /// The position of the element.
        index: usize,
        /// The byte.
        byte: u8,
        /// The element type.
        dtype: DataType,
    },
    /// A dim is not known.
    #[error("a literal needs known dims, found {0}")]
    Unknown(Box<TensorType>),
    /// A number is out of range for the element type.
    #[error("{number} does not fit {dtype}")]
    Range {
        /// The number.
        number: String,
        /// The element type.
        dtype: DataType,
    },
}

impl TensorLiteral {
    /// Builds a literal from the bytes of all elements, row-major and little-endian.
    ///
    /// # Errors
    /// If the number of bytes does not fit the type, or an element is not a value of the type.
    pub fn new(dtype: DataType, shape: &[u64], bytes: &[u8]) -> Result<Self, LiteralError> {
        Self::with_storage(dtype, shape, bytes, || SharedBytes::Own(bytes.into()))
    }

    /// Builds a literal like [`new`](Self::new) from bytes that others may own too, such as a mapped file. They are not copied, and must not
    /// change.
    ///
    /// # Errors
    /// If the number of bytes does not fit the type, or an element is not a value of the type.
    pub fn from_shared(
        dtype: DataType,
        shape: &[u64],
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<Self, LiteralError> {
        let bytes: Arc<dyn AsRef<[u8]> + Send + Sync> = Arc::new(bytes);
        Self::with_storage(dtype, shape, (*bytes).as_ref(), || SharedBytes::Foreign(bytes.clone()))
    }

    fn with_storage(
        dtype: DataType,
        shape: &[u64],
        bytes: &[u8],
        store: impl FnOnce() -> SharedBytes,
    ) -> Result<Self, LiteralError> {
        check_rank(shape)?;
        let ty = TensorType::new(dtype, shape.iter().copied());
        let size = dtype.byte_size();
        let expected = ty
            .num_elements()
            .and_then(|n| n.checked_mul(size as u64))
            .filter(|&n| n <= i64::MAX as u64 && ty.excessive_extent().is_none())
            .ok_or_else(|| LiteralError::TooLarge(Box::new(ty.clone())))?;
        if expected != bytes.len() as u64 {
            return Err(LiteralError::Length { ty: Box::new(ty), expected, found: bytes.len() });
        }
        check_bytes(dtype, bytes)?;
        let first = bytes.get(..size);
        let data = match first {
            Some(first) if bytes.chunks_exact(size).all(|e| e == first) => {
                LiteralData::Splat(pad_to_16_bytes(first))
            }
            _ => LiteralData::Dense(store()),
        };
        Ok(Self { dtype, shape: SmallVec::from_slice(shape), data })
    }

    /// Builds a literal that repeats one element.
    ///
    /// # Errors
    /// If the element has the wrong length or is not a value of the type, or there are too many elements.
    pub fn splat(dtype: DataType, shape: &[u64], element: &[u8]) -> Result<Self, LiteralError> {
        check_rank(shape)?;
        let ty = TensorType::new(dtype, shape.iter().copied());
        if element.len() != dtype.byte_size() {
            let expected = dtype.byte_size() as u64;
            return Err(LiteralError::Length {
                ty: Box::new(TensorType::scalar(dtype)),
                expected,
                found: element.len(),
            });
        }
        check_bytes(dtype, element)?;
        match ty.num_elements().filter(|&n| n <= i64::MAX as u64 / 16) {
            None => Err(LiteralError::TooLarge(Box::new(ty))),
            Some(0) => Self::new(dtype, shape, &[]),
            Some(_) => Ok(Self {
                dtype,
                shape: SmallVec::from_slice(shape),
                data: LiteralData::Splat(pad_to_16_bytes(element)),
            }),
        }
    }

    /// Builds a literal from Rust numbers.
    ///
    /// # Errors
    /// If the number of elements does not fit the shape.
    pub fn from_slice<T: Element>(shape: &[u64], elements: &[T]) -> Result<Self, LiteralError> {
        let mut bytes = Vec::with_capacity(size_of_val(elements));
        for element in elements {
            element.write(&mut bytes);
        }
        Self::new(T::DTYPE, shape, &bytes)
    }

    /// Builds a scalar from a Rust number.
    pub fn scalar<T: Element>(element: T) -> Self {
        let mut bytes = Vec::with_capacity(16);
        element.write(&mut bytes);
        Self {
            dtype: T::DTYPE,
            shape: SmallVec::new(),
            data: LiteralData::Splat(pad_to_16_bytes(&bytes)),
        }
    }

    /// Builds a literal that repeats a number in any element type; floats are rounded to nearest even.
    ///
    /// # Errors
    /// If the number is out of range for the element type.
    pub fn filled(dtype: DataType, shape: &[u64], number: f64) -> Result<Self, LiteralError> {
        let element = if dtype.is_integer() || dtype.is_bool() {
            (number.fract() == 0.0).then(|| int_element(dtype, number as i128)).flatten()
        } else {
            float_element(dtype, number)
        };
        let element =
            element.ok_or_else(|| LiteralError::Range { number: number.to_string(), dtype })?;
        Self::splat(dtype, shape, &element)
    }

    /// Returns the element type.
    #[must_use]
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Returns the extents.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the type of the literal.
    #[must_use]
    pub fn ty(&self) -> TensorType {
        TensorType::new(self.dtype, self.shape.iter().copied())
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn num_elements(&self) -> u64 {
        self.shape.iter().fold(1, |product: u64, &n| product.saturating_mul(n))
    }

    /// Returns whether `ty` is the type of the literal.
    #[must_use]
    pub fn has_type(&self, ty: &TensorType) -> bool {
        self.dtype == ty.dtype
            && self.shape.len() == ty.dims.len()
            && self.shape.iter().zip(&ty.dims).all(|(&n, dim)| dim.known() == Some(n))
    }

    /// Returns a splat literal with another element. Returns `None` if this literal is not a splat.
    pub(crate) fn with_splat(&self, bits: u128) -> Option<Self> {
        self.as_splat()?;
        let data = LiteralData::Splat(bits.to_le_bytes());
        Some(Self { dtype: self.dtype, shape: self.shape.clone(), data })
    }

    /// Returns the bytes of the repeated element, if the literal is a splat.
    #[must_use]
    pub fn as_splat(&self) -> Option<&[u8]> {
        match &self.data {
            LiteralData::Splat(bytes) => Some(&bytes[..self.dtype.byte_size()]),
            LiteralData::Dense(_) => None,
        }
    }

    /// Returns the stored bytes: of all elements, or of one element if the literal is a splat.
    #[must_use]
    pub fn stored_bytes(&self) -> &[u8] {
        match &self.data {
            LiteralData::Splat(bytes) => &bytes[..self.dtype.byte_size()],
            LiteralData::Dense(bytes) => bytes,
        }
    }

    /// Returns the bytes of one element, by its row-major position.
    #[must_use]
    pub fn element(&self, index: u64) -> Option<&[u8]> {
        if index >= self.num_elements() {
            return None;
        }
        let size = self.dtype.byte_size();
        match &self.data {
            LiteralData::Splat(bytes) => Some(&bytes[..size]),
            LiteralData::Dense(bytes) => {
                let at = usize::try_from(index).ok()? * size;
                bytes.get(at..at + size)
            }
        }
    }

    /// Returns a literal with the same elements and other extents.
    ///
    /// # Errors
    /// If the number of elements differs.
    pub fn reshaped(&self, shape: &[u64]) -> Result<Self, LiteralError> {
        check_rank(shape)?;
        let ty = TensorType::new(self.dtype, shape.iter().copied());
        let size = self.dtype.byte_size() as u64;
        if ty.num_elements() != Some(self.num_elements()) {
            let expected = ty.num_elements().unwrap_or(u64::MAX).saturating_mul(size);
            let found = self.num_elements().saturating_mul(size) as usize;
            return Err(LiteralError::Length { ty: Box::new(ty), expected, found });
        }
        Ok(Self { dtype: self.dtype, shape: SmallVec::from_slice(shape), data: self.data.clone() })
    }

    /// Returns a literal with the axes in another order: axis `i` of the result is axis `perm[i]`. `None` if `perm` does not name each axis once.
    #[must_use]
    pub fn transposed(&self, perm: &[usize]) -> Option<Self> {
        let rank = self.shape.len();
        if perm.len() != rank || !(0..rank).all(|axis| perm.contains(&axis)) {
            return None;
        }
        let shape: SmallVec<_> = perm.iter().map(|&axis| self.shape[axis]).collect();
        let LiteralData::Dense(bytes) = &self.data else {
            return Some(Self { dtype: self.dtype, shape, data: self.data.clone() });
        };
        let size = self.dtype.byte_size();
        let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(size, rank);
        for axis in (1..rank).rev() {
            strides[axis - 1] = strides[axis] * usize::try_from(self.shape[axis]).ok()?;
        }
        let mut moved = Vec::with_capacity(bytes.len());
        let mut index: SmallVec<[u64; 4]> = SmallVec::from_elem(0, rank);
        let mut at = 0;
        while moved.len() < bytes.len() {
            moved.extend_from_slice(bytes.get(at..at + size)?);
            for axis in (0..rank).rev() {
                let stride = strides[perm[axis]];
                index[axis] += 1;
                at += stride;
                if index[axis] < shape[axis] {
                    break;
                }
                at -= stride * usize::try_from(shape[axis]).ok()?;
                index[axis] = 0;
            }
        }
        Self::new(self.dtype, &shape, &moved).ok()
    }

    /// Returns whether all elements are zero. Negative zero does not count as zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.as_splat().is_some_and(|bytes| bytes.iter().all(|&b| b == 0))
    }

    /// Returns whether the literal is a splat of this number. Positive and negative zero are different numbers.
    #[must_use]
    pub fn is_filled_with(&self, number: f64) -> bool {
        let one = Self::filled(self.dtype, &[], number);
        self.as_splat().is_some_and(|bytes| one.is_ok_and(|one| one.as_splat() == Some(bytes)))
    }

    /// Returns the number that all elements are, for integers and real floats. A large integer is rounded.
    ///
    /// ```
    /// # use sapwood_ptir::TensorLiteral;
    /// assert_eq!(TensorLiteral::from_slice(&[2], &[2.5f32, 2.5])?.splat_number(), Some(2.5));
    /// assert_eq!(TensorLiteral::from_slice(&[2], &[1i32, 2])?.splat_number(), None);
    /// # Ok::<(), sapwood_ptir::LiteralError>(())
    /// ```
    #[must_use]
    pub fn splat_number(&self) -> Option<f64> {
        let bytes = self.as_splat()?;
        if self.dtype.is_float() {
            return crate::with_float!(self.dtype, T => Some(T::from_bytes(bytes).number()), _ => None);
        }
        crate::with_int!(self.dtype, T => Some(T::from_bytes(bytes).to_i128() as f64), _ => None)
    }

    /// Returns whether all elements are one.
    #[must_use]
    pub fn is_one(&self) -> bool {
        let one = int_element(self.dtype, 1).or_else(|| float_element(self.dtype, 1.0));
        self.as_splat().is_some_and(|bytes| one.is_some_and(|one| one[..] == *bytes))
    }
}

/// The largest number of elements that the text of a literal shows.
const MAX_SHOWN_ELEMENTS: u64 = 64;

/// Writes the elements and the type: `[1.0, 2.0] : f32[2]`. A long literal is `... : f32[1000]`.
impl fmt::Display for TensorLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_literal(&mut text, self, &mut LongLiteralMode::Elided(MAX_SHOWN_ELEMENTS));
        write!(f, "{text} : {}", self.ty())
    }
}

fn check_rank(shape: &[u64]) -> Result<(), LiteralError> {
    if shape.len() > MAX_RANK { Err(LiteralError::Rank(shape.len())) } else { Ok(()) }
}

fn pad_to_16_bytes(element: &[u8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..element.len()].copy_from_slice(element);
    bytes
}

fn check_bytes(dtype: DataType, bytes: &[u8]) -> Result<(), LiteralError> {
    let fits: fn(u8) -> bool = match dtype {
        DataType::Bool => |b| b <= 1,
        DataType::U4 => |b| b < 16,
        DataType::I4 => |b| (-8..8).contains(&(b as i8)),
        DataType::U2 => |b| b < 4,
        DataType::I2 => |b| (-2..2).contains(&b.cast_signed()),
        DataType::F4E2M1Fn => |b| b < 16,
        _ => return Ok(()),
    };
    match bytes.iter().position(|&b| !fits(b)) {
        Some(index) => Err(LiteralError::Bits { index, byte: bytes[index], dtype }),
        None => Ok(()),
    }
}
