//! Fields: the members of messages.

use std::ops::Range;

use super::{Bytes, Encoder, Message, ReadError, Reader, Text, WireType};

type Result<T> = std::result::Result<T, ReadError>;

/// One occurrence of a field was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldRead {
    pub(crate) elements: usize,
    pub(crate) packed: bool,
    /// Whether writing the field without further knowledge gives this form.
    pub(crate) is_usual: bool,
}

impl FieldRead {
    const ONE: Self = Self { elements: 1, packed: false, is_usual: true };
}

/// A member of a message: the value of one field, or of several of which one is set.
pub(crate) trait Field {
    /// Reads one occurrence; `None`, with nothing read, if the wire type is another one.
    fn read(
        &mut self,
        number: u32,
        wire: WireType,
        reader: &mut Reader<'_>,
    ) -> Result<Option<FieldRead>>;
    /// Returns how many elements the field of this number has; 0 if it is absent.
    fn count(&self, number: u32) -> usize;
    /// Writes these elements; `packed` is `None` for the usual form.
    fn write(
        &self,
        number: u32,
        elements: Range<usize>,
        packed: Option<bool>,
        encoder: &mut Encoder<'_>,
    );
}

/// A value that is one element of a field.
pub(crate) trait Single: Default {
    const WIRE: WireType;
    /// Whether several may be written as one length-delimited value.
    const IS_PACKABLE: bool;

    /// Reads the value, or adds to it if it is a message.
    fn read_into(&mut self, reader: &mut Reader<'_>) -> Result<()>;
    /// Writes the value with its tag.
    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>);
    /// Writes the value of a packed list.
    fn write_bare(&self, _encoder: &mut Encoder<'_>) {}
}

/// A scalar: its wire type, how it is read and how it is written.
macro_rules! scalars {
    ($($type:ty: $wire:ident, $read:expr, $write:expr;)*) => {$(
        impl Single for $type {
            const WIRE: WireType = WireType::$wire;
            const IS_PACKABLE: bool = true;

            fn read_into(&mut self, reader: &mut Reader<'_>) -> Result<()> {
                let read: fn(&mut Reader<'_>) -> Result<$type> = $read;
                *self = read(reader)?;
                Ok(())
            }

            fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
                encoder.tag(number, Self::WIRE);
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
    // Protobuf writes negative numbers of 32 bits with 64, and cuts what it reads.
    i32: Varint, |r| Ok(r.varint()? as i32), |v, e| e.varint(i64::from(v) as u64);
    i64: Varint, |r| Ok(r.varint()? as i64), |v, e| e.varint(v as u64);
    u64: Varint, |r| r.varint(), |v, e| e.varint(v);
    f32: Fixed32, |r| Ok(f32::from_le_bytes(r.fixed()?)), |v, e| e.raw(&v.to_le_bytes());
    f64: Fixed64, |r| Ok(f64::from_le_bytes(r.fixed()?)), |v, e| e.raw(&v.to_le_bytes());
}

impl Single for Bytes {
    const WIRE: WireType = WireType::Length;
    const IS_PACKABLE: bool = false;

    fn read_into(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        *self = reader.bytes()?;
        Ok(())
    }

    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
        encoder.bytes(number, self);
    }
}

impl Single for Text {
    const WIRE: WireType = WireType::Length;
    const IS_PACKABLE: bool = false;

    fn read_into(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        *self = Self::from_bytes(reader.bytes()?);
        Ok(())
    }

    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
        encoder.bytes(number, self.bytes());
    }
}

impl<M: Message> Single for M {
    const WIRE: WireType = WireType::Length;
    const IS_PACKABLE: bool = false;

    fn read_into(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        reader.charge(size_of::<M>())?;
        reader.nested(self)
    }

    fn write_with_tag(&self, number: u32, encoder: &mut Encoder<'_>) {
        encoder.nested(number, self);
    }
}

/// A value that is there: one element.
impl<S: Single> Field for S {
    fn read(
        &mut self,
        _: u32,
        wire: WireType,
        reader: &mut Reader<'_>,
    ) -> Result<Option<FieldRead>> {
        if wire != S::WIRE {
            return Ok(None);
        }
        self.read_into(reader)?;
        Ok(Some(FieldRead::ONE))
    }

    fn count(&self, _: u32) -> usize {
        1
    }

    fn write(&self, number: u32, _: Range<usize>, _: Option<bool>, encoder: &mut Encoder<'_>) {
        self.write_with_tag(number, encoder);
    }
}

/// A value that may be absent. Of several scalars the last one counts; several messages are joined.
impl<S: Single> Field for Option<S> {
    fn read(
        &mut self,
        _: u32,
        wire: WireType,
        reader: &mut Reader<'_>,
    ) -> Result<Option<FieldRead>> {
        if wire != S::WIRE {
            return Ok(None);
        }
        self.get_or_insert_default().read_into(reader)?;
        Ok(Some(FieldRead::ONE))
    }

    fn count(&self, _: u32) -> usize {
        usize::from(self.is_some())
    }

    fn write(&self, number: u32, _: Range<usize>, _: Option<bool>, encoder: &mut Encoder<'_>) {
        if let Some(value) = self {
            value.write_with_tag(number, encoder);
        }
    }
}

/// A list; of scalars, one that is not packed unless the file has it packed.
impl<S: Single> Field for Vec<S> {
    fn read(
        &mut self,
        _: u32,
        wire: WireType,
        reader: &mut Reader<'_>,
    ) -> Result<Option<FieldRead>> {
        if wire == S::WIRE {
            reader.charge(size_of::<S>())?;
            // The element is in the list while it is read: an error then finds its name.
            self.push(S::default());
            self.last_mut().expect("just pushed").read_into(reader)?;
            return Ok(Some(FieldRead::ONE));
        }
        if wire != WireType::Length || !S::IS_PACKABLE {
            return Ok(None);
        }
        let before = self.len();
        reader.packed(|reader| {
            let mut value = S::default();
            value.read_into(reader)?;
            self.push(value);
            Ok(())
        })?;
        let elements = self.len() - before;
        Ok(Some(FieldRead { elements, packed: true, is_usual: false }))
    }

    fn count(&self, _: u32) -> usize {
        self.len()
    }

    fn write(
        &self,
        number: u32,
        elements: Range<usize>,
        packed: Option<bool>,
        encoder: &mut Encoder<'_>,
    ) {
        let elements = &self[elements];
        match packed.unwrap_or(false) && S::IS_PACKABLE {
            true => encoder.delimited(number, |encoder| {
                elements.iter().for_each(|element| element.write_bare(encoder));
            }),
            false => elements.iter().for_each(|element| element.write_with_tag(number, encoder)),
        }
    }
}

/// The numbers of a tensor in one of the typed lists: packed as the file has them, or one by one.
///
/// A packed list is not decoded before its numbers are asked for. Comparison is by number; equal bytes are equal also where they are NaN.
#[derive(Clone, Debug)]
pub enum Numbers<T> {
    /// A packed list as it is in the file.
    Packed(Bytes),
    /// Decoded numbers.
    Plain(Vec<T>),
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self::Plain(Vec::new())
    }
}

impl<T> From<Vec<T>> for Numbers<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self::Plain(numbers)
    }
}

#[allow(private_bounds)] // the types are the five scalars of protobuf
impl<T: Single + Clone> Numbers<T> {
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

// The list was checked when it was read; if its file changed since, the rest is left out.
fn decode<T: Single>(bytes: &Bytes, most: usize) -> Vec<T> {
    let mut reader = Reader::new(bytes);
    let mut numbers = Vec::new();
    while reader.offset() < bytes.len() && numbers.len() < most {
        let mut number = T::default();
        if number.read_into(&mut reader).is_err() {
            break;
        }
        numbers.push(number);
    }
    numbers
}

impl<T: Single + Clone + PartialEq> PartialEq for Numbers<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Packed(a), Self::Packed(b)) if a == b => true,
            _ => self.to_vec() == other.to_vec(),
        }
    }
}

impl<T: Single + Clone> Field for Numbers<T> {
    fn read(
        &mut self,
        _: u32,
        wire: WireType,
        reader: &mut Reader<'_>,
    ) -> Result<Option<FieldRead>> {
        if wire == WireType::Length {
            let offset = reader.offset();
            let bytes = reader.bytes()?;
            check_packed::<T>(&bytes, offset, reader)?;
            if matches!(self, Self::Plain(numbers) if numbers.is_empty()) {
                *self = Self::Packed(bytes);
                return Ok(Some(FieldRead { elements: 1, packed: true, is_usual: true }));
            }
            // A list in several pieces is one list.
            let more = decode(&bytes, usize::MAX);
            let elements = more.len();
            self.plain().extend(more);
            return Ok(Some(FieldRead { elements, packed: true, is_usual: false }));
        }
        if wire != T::WIRE {
            return Ok(None);
        }
        let mut number = T::default();
        number.read_into(reader)?;
        self.plain().push(number);
        Ok(Some(FieldRead { elements: 1, packed: false, is_usual: false }))
    }

    fn count(&self, _: u32) -> usize {
        match self {
            Self::Packed(_) => 1,
            Self::Plain(numbers) => numbers.len(),
        }
    }

    fn write(
        &self,
        number: u32,
        elements: Range<usize>,
        packed: Option<bool>,
        encoder: &mut Encoder<'_>,
    ) {
        match self {
            Self::Packed(bytes) => encoder.bytes(number, bytes),
            Self::Plain(numbers) => {
                numbers.write(number, elements, Some(packed.unwrap_or(true)), encoder);
            }
        }
    }
}

#[allow(private_bounds)]
impl<T: Single + Clone> Numbers<T> {
    fn plain(&mut self) -> &mut Vec<T> {
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
fn check_packed<T: Single>(bytes: &Bytes, offset: usize, reader: &Reader<'_>) -> Result<()> {
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

        impl $crate::wire::Field for Option<$name> {
            fn read(
                &mut self,
                number: u32,
                wire: $crate::wire::WireType,
                reader: &mut $crate::wire::Reader<'_>,
            ) -> Result<Option<$crate::wire::FieldRead>, $crate::ReadError> {
                let replaces = stringify!($rule) == "last";
                match (number, &mut *self) {
                    $(($number, Some($name::$variant(value))) => $crate::wire::Field::read(value, number, wire, reader),)*
                    $(($number, present) if present.is_none() || replaces => {
                        let mut value = <$type>::default();
                        let read = $crate::wire::Field::read(&mut value, number, wire, reader)?;
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
                    $(($number, Some($name::$variant(value))) => $crate::wire::Field::count(value, number),)*
                    _ => 0,
                }
            }

            fn write(
                &self,
                number: u32,
                elements: std::ops::Range<usize>,
                packed: Option<bool>,
                encoder: &mut $crate::wire::Encoder<'_>,
            ) {
                match (number, self) {
                    $(($number, Some($name::$variant(value))) => {
                        $crate::wire::Field::write(value, number, elements, packed, encoder);
                    })*
                    _ => {}
                }
            }
        }
    };
}

pub(crate) use one_of;
