//! Tensors: shape, element type, and elements.

use super::{ElementType, Nested, StringEntry};
use crate::wire::{NumberList, message, one_of};
use crate::{Bytes, Text};

message! {
    /// A constant tensor: an initializer or an attribute.
    ///
    /// Its elements are in [`data`](Self::data), in one of several forms, or in another file, which
    /// [`external_data`](Self::external_data) names. [`ExternalData::bytes_of`](crate::ExternalData::bytes_of) returns them in one form.
    Tensor = "TensorProto" by (|tensor| tensor.name.as_ref()) {
        /// The shape.
        [1] dims: Vec<i64>,
        /// The code of an [`ElementType`].
        [2] data_type: Option<i32>,
        /// The part of a larger tensor that this is; no tool writes it.
        [3] segment: Option<Nested<Segment>>,
        /// The elements. The first ones if the file has several kinds; the others are among the unknown fields then.
        [4, 5, 6, 7, 9, 10, 11] data: Option<TensorData>,
        /// The name; initializers have one.
        [8] name: Option<Text>,
        /// Documentation.
        [12] doc_string: Option<Text>,
        /// The place of the elements in another file: `location`, `offset`, `length`, `checksum`.
        [13] external_data: Vec<StringEntry>,
        /// 1 if the elements are in another file.
        [14] data_location: Option<i32>,
        /// Named strings.
        [16] metadata_props: Vec<StringEntry>,
    }
}

one_of! {
    /// The elements of a tensor in the file of its model.
    TensorData by first {
        /// FLOAT and COMPLEX64.
        4 Floats(NumberList<f32>),
        /// Integers of up to 32 bits and the bits of narrow floats.
        5 Int32s(NumberList<i32>),
        /// STRING.
        6 Strings(Vec<Bytes>),
        /// INT64.
        7 Int64s(NumberList<i64>),
        /// Little-endian elements one after the other, for any type but STRING.
        9 Raw(Bytes),
        /// DOUBLE and COMPLEX128.
        10 Doubles(NumberList<f64>),
        /// UINT32 and UINT64.
        11 Uint64s(NumberList<u64>),
    }
}

message! {
    /// A range in a larger tensor.
    Segment = "TensorProto.Segment" {
        /// The first element.
        [1] begin: Option<i64>,
        /// The element after the last.
        [2] end: Option<i64>,
    }
}

message! {
    /// A tensor of few elements that are not zero.
    SparseTensor = "SparseTensorProto" by (|sparse| sparse.values.as_ref()?.name.as_ref()) {
        /// The elements; the name of this tensor is the name of the whole.
        [1] values: Option<Nested<Tensor>>,
        /// Their positions: INT64, of rank one or two.
        [2] indices: Option<Nested<Tensor>>,
        /// The shape of the whole.
        [3] dims: Vec<i64>,
    }
}

/// The value of `data_location` for elements in another file.
const EXTERNAL: i32 = 1;

impl Tensor {
    /// Returns a tensor with these little-endian elements.
    #[must_use]
    pub fn from_raw(
        name: impl Into<Text>,
        element_type: ElementType,
        dims: Vec<i64>,
        bytes: Bytes,
    ) -> Self {
        Self {
            name: Some(name.into()),
            data_type: Some(element_type.code()),
            dims,
            data: Some(TensorData::Raw(bytes)),
            ..Self::default()
        }
    }

    /// Returns the element type; `None` if it is missing or unknown.
    #[must_use]
    pub fn element_type(&self) -> Option<ElementType> {
        ElementType::from_code(self.data_type?)
    }

    /// Returns how many elements the shape has; `None` if an extent is negative or the number too large.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        self.dims.iter().try_fold(1_u64, |n, &dim| n.checked_mul(u64::try_from(dim).ok()?))
    }

    /// Returns how many bytes the elements take; `None` for strings and where shape or type are wrong.
    #[must_use]
    pub fn byte_len(&self) -> Option<u64> {
        self.element_type()?.byte_len(self.element_count()?)
    }

    /// Returns whether the elements are in another file.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.data_location == Some(EXTERNAL)
    }

    /// Returns the entry of `external_data` with this key; of several, the last one.
    #[must_use]
    pub fn external_entry(&self, key: &str) -> Option<&Text> {
        let entry =
            self.external_data.iter().rev().find(|e| e.key.as_ref().is_some_and(|k| *k == key))?;
        entry.value.as_ref()
    }

    /// Replaces the elements by a reference to another file.
    pub fn set_external(&mut self, location: &str, offset: u64, length: u64) {
        self.data = None;
        self.data_location = Some(EXTERNAL);
        self.external_data = vec![
            StringEntry::new("location", location),
            StringEntry::new("offset", offset.to_string()),
            StringEntry::new("length", length.to_string()),
        ];
    }

    /// Replaces the elements, wherever they were, by little-endian ones.
    pub fn set_raw(&mut self, bytes: Bytes) {
        self.data = Some(TensorData::Raw(bytes));
        self.external_data.clear();
        self.data_location = None;
    }

    /// Returns the elements as little-endian bytes, narrow ones packed as in `raw_data`.
    ///
    /// It does not copy raw data and packed lists of floats. `None` for strings, for elements in another file, for an
    /// element type that does not fit the list they are in, and if there are none.
    #[must_use]
    pub fn inline_bytes(&self) -> Option<Bytes> {
        use ElementType as E;
        let element_type = self.element_type()?;
        let fits = |types: &[E]| types.contains(&element_type).then_some(());
        match self.data.as_ref() {
            Some(TensorData::Strings(_)) => None,
            _ if element_type == E::String => None,
            // An empty tensor needs no elements.
            None => (!self.is_external() && self.element_count() == Some(0)).then(Bytes::default),
            Some(TensorData::Raw(bytes)) => Some(bytes.clone()),
            Some(TensorData::Floats(numbers)) => {
                fits(&[E::Float, E::Complex64])?;
                Some(little_endian(numbers, f32::to_le_bytes))
            }
            Some(TensorData::Doubles(numbers)) => {
                fits(&[E::Double, E::Complex128])?;
                Some(little_endian(numbers, f64::to_le_bytes))
            }
            Some(TensorData::Int64s(numbers)) => {
                fits(&[E::Int64])?;
                Some(concat(&numbers.to_vec(), i64::to_le_bytes))
            }
            Some(TensorData::Uint64s(numbers)) => {
                fits(&[E::Uint32, E::Uint64])?;
                let numbers = numbers.to_vec();
                Some(match element_type {
                    E::Uint32 => concat(&numbers, |n| (n as u32).to_le_bytes()),
                    _ => concat(&numbers, u64::to_le_bytes),
                })
            }
            Some(TensorData::Int32s(numbers)) => {
                let wide = [
                    E::Float,
                    E::Double,
                    E::Int64,
                    E::Uint32,
                    E::Uint64,
                    E::Complex64,
                    E::Complex128,
                ];
                if wide.contains(&element_type) {
                    return None;
                }
                let numbers = numbers.to_vec();
                Some(match element_type.bits()? {
                    32 => concat(&numbers, i32::to_le_bytes),
                    16 => concat(&numbers, |n| (n as u16).to_le_bytes()),
                    6 => pack_six_bits(&numbers).into(),
                    // Elements of four and two bits are packed in bytes already.
                    _ => concat(&numbers, |n| [n as u8]),
                })
            }
        }
    }
}

/// Returns a list of floats as little-endian bytes, without a copy if it is packed.
fn little_endian<T: Copy, const N: usize>(
    numbers: &NumberList<T>,
    bytes: impl Fn(T) -> [u8; N],
) -> Bytes {
    match numbers {
        NumberList::Packed(bytes) => bytes.clone(),
        NumberList::Plain(numbers) => concat(numbers, bytes),
    }
}

fn concat<T: Copy, const N: usize>(numbers: &[T], bytes: impl Fn(T) -> [u8; N]) -> Bytes {
    numbers.iter().flat_map(|&number| bytes(number)).collect::<Vec<u8>>().into()
}

/// Packs the lowest six bits of each number without gaps, the first in the lowest bits.
fn pack_six_bits(numbers: &[i32]) -> Vec<u8> {
    let mut bytes = vec![0; (numbers.len() * 6).div_ceil(8)];
    for (position, &number) in numbers.iter().enumerate() {
        let (byte, shift) = (position * 6 / 8, position * 6 % 8);
        let bits = (number as u16 & 0x3f) << shift;
        bytes[byte] |= bits as u8;
        if shift > 2 {
            bytes[byte + 1] |= (bits >> 8) as u8;
        }
    }
    bytes
}
