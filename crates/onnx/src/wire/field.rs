//! The fields of messages, and their encoding.

use std::ops::Range;

use super::{Bytes, Encoder, Message, ReadError, Tag, Text, WireReader, WireType};

type Result<T> = std::result::Result<T, ReadError>;

/// The result of reading one occurrence of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldRead {
    pub(crate) elements: usize,
    pub(crate) packed: bool,
    /// True if the field is written in this form by default.
    pub(crate) is_default_form: bool,
}

impl FieldRead {
    const ONE: Self = Self { elements: 1, packed: false, is_default_form: true };
}

/// The elements of a field that are written together.
pub(crate) struct FieldPart {
    pub(crate) number: u32,
    pub(crate) elements: Range<usize>,
    /// True if they are packed; `None` for the default form.
    pub(crate) packed: Option<bool>,
}

/// A member of a message: the value of one field, or of several of which one is set.
pub(crate) trait MessageField {
    /// Reads one occurrence; `None`, with nothing read, if the wire type is another one.
    fn read(&mut self, tag: Tag, reader: &mut WireReader<'_>) -> Result<Option<FieldRead>>;
    /// Returns how many elements the field of this number has; 0 if it is absent.
    fn count(&self, number: u32) -> usize;
    /// Writes some of the elements.
    fn write(&self, part: FieldPart, encoder: &mut Encoder<'_>);
}

/// A value that is one element of a field.
pub(crate) trait WireValue: Default {
    const WIRE: WireType;
    /// True if several values may be packed into one length-delimited value.
    const HAS_PACKED_ENCODING: bool;

    /// Reads the value, or merges it if it is a message.
    fn read_into(&mut self, reader: &mut WireReader<'_>) -> Result<()>;
    /// Writes the value with its tag.
    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>);
    /// Writes the value of a packed list.
    fn write_bare(&self, _encoder: &mut Encoder<'_>) {}
}

/// Implements [`WireValue`] for scalars: wire type, reader, writer.
macro_rules! scalars {
    ($($type:ty: $wire:ident, $read:expr, $write:expr;)*) => {$(
        impl WireValue for $type {
            const WIRE: WireType = WireType::$wire;
            const HAS_PACKED_ENCODING: bool = true;

            fn read_into(&mut self, reader: &mut WireReader<'_>) -> Result<()> {
                let read: fn(&mut WireReader<'_>) -> Result<$type> = $read;
                *self = read(reader)?;
                Ok(())
            }

            fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
                encoder.write_tag(number, Self::WIRE);
                self.write_bare(encoder);
            }

            fn write_bare(&self, encoder: &mut Encoder<'_>) {
                let write: fn($type, &mut Encoder<'_>) = $write;
                write(*self, encoder);
            }
        }
    )*};
}

scalars! {
    // Protobuf writes negative 32-bit numbers as 64-bit ones, and truncates them when it reads.
    i32: Varint, |r| Ok(r.read_varint()? as i32), |v, e| e.write_varint(i64::from(v) as u64);
    i64: Varint, |r| Ok(r.read_varint()? as i64), |v, e| e.write_varint(v as u64);
    u64: Varint, |r| r.read_varint(), |v, e| e.write_varint(v);
    f32: Fixed32, |r| Ok(f32::from_le_bytes(r.read_fixed()?)), |v, e| e.write_raw(&v.to_le_bytes());
    f64: Fixed64, |r| Ok(f64::from_le_bytes(r.read_fixed()?)), |v, e| e.write_raw(&v.to_le_bytes());
}

impl WireValue for Bytes {
    const WIRE: WireType = WireType::Length;
    const HAS_PACKED_ENCODING: bool = false;

    fn read_into(&mut self, reader: &mut WireReader<'_>) -> Result<()> {
        *self = reader.read_bytes()?;
        Ok(())
    }

    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
        encoder.write_bytes(number, self);
    }
}

impl WireValue for Text {
    const WIRE: WireType = WireType::Length;
    const HAS_PACKED_ENCODING: bool = false;

    fn read_into(&mut self, reader: &mut WireReader<'_>) -> Result<()> {
        *self = Self::from_bytes(reader.read_bytes()?);
        Ok(())
    }

    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
        encoder.write_bytes(number, self.bytes());
    }
}

impl<M: Message> WireValue for M {
    const WIRE: WireType = WireType::Length;
    const HAS_PACKED_ENCODING: bool = false;

    fn read_into(&mut self, reader: &mut WireReader<'_>) -> Result<()> {
        reader.charge_memory(size_of::<M>())?;
        reader.read_nested(self)
    }

    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
        encoder.write_nested(number, self);
    }
}

/// A required value: one element.
impl<S: WireValue> MessageField for S {
    fn read(&mut self, tag: Tag, reader: &mut WireReader<'_>) -> Result<Option<FieldRead>> {
        if tag.wire != S::WIRE {
            return Ok(None);
        }
        self.read_into(reader)?;
        Ok(Some(FieldRead::ONE))
    }

    fn count(&self, _: u32) -> usize {
        1
    }

    fn write(&self, part: FieldPart, encoder: &mut Encoder<'_>) {
        self.write_with_tag(part.number, encoder);
    }
}

/// A value that may be absent. The last of several scalars wins; several messages are merged.
impl<S: WireValue> MessageField for Option<S> {
    fn read(&mut self, tag: Tag, reader: &mut WireReader<'_>) -> Result<Option<FieldRead>> {
        if tag.wire != S::WIRE {
            return Ok(None);
        }
        self.get_or_insert_default().read_into(reader)?;
        Ok(Some(FieldRead::ONE))
    }

    fn count(&self, _: u32) -> usize {
        usize::from(self.is_some())
    }

    fn write(&self, part: FieldPart, encoder: &mut Encoder<'_>) {
        if let Some(value) = self {
            value.write_with_tag(part.number, encoder);
        }
    }
}

/// A list. Scalars are not packed unless the file packs them.
impl<S: WireValue> MessageField for Vec<S> {
    fn read(&mut self, tag: Tag, reader: &mut WireReader<'_>) -> Result<Option<FieldRead>> {
        if tag.wire == S::WIRE {
            reader.charge_memory(size_of::<S>())?;
            if self.is_empty() {
                // Most lists have one element: a node has one output.
                self.reserve_exact(1);
            }
            // The element is in the list while it is read, so that an error can name it.
            self.push(S::default());
            self.last_mut().expect("just pushed").read_into(reader)?;
            return Ok(Some(FieldRead::ONE));
        }
        if tag.wire != WireType::Length || !S::HAS_PACKED_ENCODING {
            return Ok(None);
        }
        let before = self.len();
        reader.read_packed(|reader| {
            let mut value = S::default();
            value.read_into(reader)?;
            self.push(value);
            Ok(())
        })?;
        let elements = self.len() - before;
        Ok(Some(FieldRead { elements, packed: true, is_default_form: false }))
    }

    fn count(&self, _: u32) -> usize {
        self.len()
    }

    fn write(&self, part: FieldPart, encoder: &mut Encoder<'_>) {
        let FieldPart { number, elements, packed } = part;
        let elements = &self[elements];
        match packed.unwrap_or(false) && S::HAS_PACKED_ENCODING {
            true => encoder.write_delimited(number, |encoder| {
                elements.iter().for_each(|element| element.write_bare(encoder));
            }),
            false => elements.iter().for_each(|element| element.write_with_tag(number, encoder)),
        }
    }
}

/// A typed list of a tensor's elements: packed as in the file, or decoded.
///
/// A packed list is decoded only on request. Comparison is by number; equal bytes are equal even if they encode NaN.
#[derive(Clone, Debug)]
pub enum NumberList<T> {
    /// A packed list as in the file.
    Packed(Bytes),
    /// Decoded numbers.
    Plain(Vec<T>),
}

impl<T> Default for NumberList<T> {
    fn default() -> Self {
        Self::Plain(Vec::new())
    }
}

impl<T> From<Vec<T>> for NumberList<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Plain(numbers)
    }
}

#[allow(private_bounds)] // the types are the five scalars of protobuf
impl<T: WireValue + Clone> NumberList<T> {
    /// Returns the numbers.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        match self {
            Self::Plain(numbers) => numbers.clone(),
            Self::Packed(bytes) => decode(bytes, usize::MAX),
        }
    }

    /// Returns how many numbers there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Plain(numbers) => numbers.len(),
            Self::Packed(bytes) => match T::WIRE {
                WireType::Fixed32 => bytes.len() / 4,
                WireType::Fixed64 => bytes.len() / 8,
                // Each number ends with a byte below 128.
                _ => bytes.iter().filter(|&&byte| byte < 0x80).count(),
            },
        }
    }
}

// Decodes a packed list, which was checked when it was read. If its file changed since then, it ends at the first error.
fn decode<T: WireValue>(bytes: &Bytes, max_count: usize) -> Vec<T> {
    let mut reader = WireReader::new(bytes);
    let mut numbers = Vec::new();
    while reader.offset() < bytes.len() && numbers.len() < max_count {
        let mut number = T::default();
        if number.read_into(&mut reader).is_err() {
            break;
        }
        numbers.push(number);
    }
    numbers
}

impl<T: WireValue + Clone + PartialEq> PartialEq for NumberList<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Packed(a), Self::Packed(b)) if a == b => true,
            _ => self.to_vec() == other.to_vec(),
        }
    }
}

impl<T: WireValue + Clone> MessageField for NumberList<T> {
    fn read(&mut self, tag: Tag, reader: &mut WireReader<'_>) -> Result<Option<FieldRead>> {
        if tag.wire == WireType::Length {
            let offset = reader.offset();
            let bytes = reader.read_bytes()?;
            check_packed::<T>(&bytes, offset, reader)?;
            if matches!(self, Self::Plain(numbers) if numbers.is_empty()) {
                *self = Self::Packed(bytes);
                return Ok(Some(FieldRead { elements: 1, packed: true, is_default_form: true }));
            }
            // Several pieces form one list.
            let more = decode(&bytes, usize::MAX);
            let elements = more.len();
            self.decoded().extend(more);
            return Ok(Some(FieldRead { elements, packed: true, is_default_form: false }));
        }
        if tag.wire != T::WIRE {
            return Ok(None);
        }
        let mut number = T::default();
        number.read_into(reader)?;
        self.decoded().push(number);
        Ok(Some(FieldRead { elements: 1, packed: false, is_default_form: false }))
    }

    fn count(&self, _: u32) -> usize {
        match self {
            Self::Packed(_) => 1,
            Self::Plain(numbers) => numbers.len(),
        }
    }

    fn write(&self, part: FieldPart, encoder: &mut Encoder<'_>) {
        match self {
            Self::Packed(bytes) => encoder.write_bytes(part.number, bytes),
            Self::Plain(numbers) => {
                let packed = Some(part.packed.unwrap_or(true));
                numbers.write(FieldPart { packed, ..part }, encoder);
            }
        }
    }
}

#[allow(private_bounds)]
impl<T: WireValue + Clone> NumberList<T> {
    fn decoded(&mut self) -> &mut Vec<T> {
        if let Self::Packed(_) = self {
            *self = Self::Plain(self.to_vec());
        }
        match self {
            Self::Plain(numbers) => numbers,
            Self::Packed(_) => unreachable!("just decoded"),
        }
    }
}

/// Checks that a packed list ends where its last number ends.
fn check_packed<T: WireValue>(bytes: &Bytes, offset: usize, reader: &WireReader<'_>) -> Result<()> {
    let size = match T::WIRE {
        WireType::Fixed32 => 4,
        WireType::Fixed64 => 8,
        _ => {
            let mut length = 0;
            for &byte in &**bytes {
                length = if byte < 0x80 { 0 } else { length + 1 };
                if length == 10 {
                    return Err(reader.error(offset, "a number has more than ten bytes"));
                }
            }
            return match length {
                0 => Ok(()),
                _ => Err(reader.error(offset, "the packed list ends inside a number")),
            };
        }
    };
    match bytes.len() % size {
        0 => Ok(()),
        _ => Err(reader.error(
            offset,
            format!(
                "the packed list has {} bytes, which is not a multiple of the {size} bytes of a number",
                bytes.len()
            ),
        )),
    }
}

/// Declares an enum of which one variant is set, by one of several fields.
///
/// `last` follows protobuf's `oneof`: a later field replaces an earlier one. `first` keeps the first one; others stay in the
/// file as unknown fields, where the verifier finds them.
macro_rules! one_of {
    (
        $(#[$doc:meta])*
        $name:ident by $rule:ident {
            $($(#[$variant_doc:meta])* $number:literal $variant:ident($type:ty),)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant($type),)*
        }

        impl $crate::wire::MessageField for Option<$name> {
            fn read(
                &mut self,
                tag: $crate::wire::Tag,
                reader: &mut $crate::wire::WireReader<'_>,
            ) -> Result<Option<$crate::wire::FieldRead>, $crate::ReadError> {
                let replaces = stringify!($rule) == "last";
                match (tag.number, &mut *self) {
                    $(($number, Some($name::$variant(value))) => $crate::wire::MessageField::read(value, tag, reader),)*
                    $(($number, present) if present.is_none() || replaces => {
                        let mut value = <$type>::default();
                        let read = $crate::wire::MessageField::read(&mut value, tag, reader)?;
                        if read.is_some() {
                            *self = Some($name::$variant(value));
                        }
                        Ok(read)
                    })*
                    _ => Ok(None),
                }
            }

            fn count(&self, number: u32) -> usize {
                match (number, self) {
                    $(($number, Some($name::$variant(value))) => $crate::wire::MessageField::count(value, number),)*
                    _ => 0,
                }
            }

            fn write(&self, part: $crate::wire::FieldPart, encoder: &mut $crate::wire::Encoder<'_>) {
                match (part.number, self) {
                    $(($number, Some($name::$variant(value))) => {
                        $crate::wire::MessageField::write(value, part, encoder);
                    })*
                    _ => {}
                }
            }
        }
    };
}

pub(crate) use one_of;
