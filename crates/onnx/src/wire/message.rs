//! Messages: structs whose members are fields.

use super::{Bytes, Encoder, FieldPart, FieldRead, ReadError, Tag, Text, WireReader};

/// A struct that is a protobuf message. [`message!`] implements it.
pub(crate) trait Message: Default {
    /// The name in ONNX's schema.
    const NAME: &'static str;
    /// The numbers of all fields, ascending.
    const NUMBERS: &'static [u32];

    /// Returns the name of this message in errors.
    fn label(&self) -> Option<&Text>;
    fn field_name(number: u32) -> &'static str;
    /// Reads one occurrence of a field; `None`, with nothing read, if the field is unknown or its wire type is another one.
    fn read_field(
        &mut self,
        tag: Tag,
        reader: &mut WireReader<'_>,
    ) -> Result<Option<FieldRead>, ReadError>;
    /// Returns how many elements a field has.
    fn field_len(&self, number: u32) -> usize;
    /// Writes some of the elements of a field.
    fn write_field(&self, part: FieldPart, encoder: &mut Encoder<'_>);
    fn wire(&self) -> &WireInfo;
    fn wire_mut(&mut self) -> &mut WireInfo;
}

/// The parts of a message's encoding that its struct cannot hold: its offset, unknown fields, and an unusual order of fields.
///
/// Comparison is by the unknown fields alone: offset and order have no meaning.
#[derive(Clone, Debug, Default)]
pub struct WireInfo {
    /// The offset plus one; 0 if the message was not read from a file.
    offset_plus_one: u64,
    unusual: Option<Box<UnusualEncoding>>,
}

#[derive(Clone, Debug, Default)]
struct UnusualEncoding {
    /// The order of fields; empty for ascending numbers with unknown fields at the end.
    order: Vec<FieldRun>,
    unknown: Vec<Bytes>,
}

/// Neighbouring occurrences of one field.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldRun {
    number: u32,
    elements: u32,
    form: RunForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunForm {
    Plain,
    Packed,
    /// The next entry of `unknown`.
    Unknown,
}

impl WireInfo {
    /// Returns the byte offset of the message in its file; `None` if a program built it.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.offset_plus_one.checked_sub(1)
    }

    /// Returns the unknown fields as they are in the file, tags included; neighbours are one entry.
    #[must_use]
    pub fn unknown_fields(&self) -> &[Bytes] {
        self.unusual.as_ref().map_or(&[], |unusual| &unusual.unknown)
    }
}

impl PartialEq for WireInfo {
    fn eq(&self, other: &Self) -> bool {
        // Neighbours form one entry or two, depending on the fields between them.
        let (ours, theirs) = (self.unknown_fields(), other.unknown_fields());
        ours.iter().flat_map(|field| field.iter()).eq(theirs.iter().flat_map(|field| field.iter()))
    }
}

/// Reads fields into a message up to the end of the reader's range. Several parts of one message are merged, as in protobuf.
pub(super) fn read_fields<M: Message>(
    message: &mut M,
    reader: &mut WireReader<'_>,
) -> Result<(), ReadError> {
    let is_first_part = message.wire().offset_plus_one == 0;
    if is_first_part {
        message.wire_mut().offset_plus_one = reader.absolute_offset() + 1;
    }
    let first_run = reader.runs.len();
    let mut unknown: Vec<Bytes> = Vec::new();
    let (mut is_default_form, mut last) = (true, 0);
    while let Some(tag) = reader.read_tag().map_err(|error| error.in_message(message))? {
        let read = message
            .read_field(tag, reader)
            .map_err(|error| error.in_field(M::field_name(tag.number), message))?;
        let run = match read {
            Some(FieldRead { elements, packed, is_default_form: form_is_default }) => {
                is_default_form &= form_is_default;
                let form = if packed { RunForm::Packed } else { RunForm::Plain };
                // A file that protobuf accepts cannot have more elements.
                FieldRun {
                    number: tag.number,
                    elements: u32::try_from(elements).unwrap_or(u32::MAX),
                    form,
                }
            }
            None => {
                let field =
                    reader.skip_unknown_field(tag).map_err(|error| error.in_message(message))?;
                is_default_form = false;
                if let Some(before) = unknown.last_mut()
                    && reader.runs[first_run..].last().is_some_and(|r| r.form == RunForm::Unknown)
                    && before.extend_by(&field)
                {
                    continue;
                }
                unknown.push(field);
                FieldRun { number: 0, elements: 1, form: RunForm::Unknown }
            }
        };
        match reader.runs[first_run..].last_mut() {
            Some(before)
                if before.number == run.number
                    && (before.form, run.form) == (RunForm::Plain, RunForm::Plain) =>
            {
                before.elements = before.elements.saturating_add(run.elements);
            }
            _ => {
                is_default_form &= run.number > last;
                last = run.number;
                reader.runs.push(run);
            }
        }
    }
    if !is_default_form || !is_first_part {
        let order = reader.runs[first_run..].to_vec();
        reader.charge_memory(
            size_of::<FieldRun>() * order.len() + size_of::<Bytes>() * unknown.len(),
        )?;
        let unusual = message.wire_mut().unusual.get_or_insert_default();
        unusual.unknown.append(&mut unknown);
        // The order of a message in several parts is dropped.
        unusual.order = if is_first_part { order } else { Vec::new() };
    }
    reader.runs.truncate(first_run);
    Ok(())
}

/// Writes the fields of a message: in the order of the file it came from, then those that are new.
pub(super) fn write_fields<M: Message>(message: &M, encoder: &mut Encoder<'_>) {
    let Some(unusual) = &message.wire().unusual else {
        for &number in M::NUMBERS {
            let elements = 0..message.field_len(number);
            if !elements.is_empty() {
                message.write_field(FieldPart { number, elements, packed: None }, encoder);
            }
        }
        return;
    };
    let mut unknown = unusual.unknown.iter();
    let mut written = vec![0; M::NUMBERS.len()];
    for run in &unusual.order {
        let Ok(field) = M::NUMBERS.binary_search(&run.number) else {
            if let Some(bytes) = unknown.next() {
                encoder.write_raw(bytes);
            }
            continue;
        };
        let begin: usize = written[field];
        let end = message.field_len(run.number).min(begin + run.elements as usize);
        let packed = run.form == RunForm::Packed;
        // An empty packed list is written as well if the file has it.
        if begin < end || (packed && run.elements == 0) {
            let (number, elements, packed) = (run.number, begin..end, Some(packed));
            message.write_field(FieldPart { number, elements, packed }, encoder);
            written[field] = end;
        }
    }
    for (&number, &begin) in M::NUMBERS.iter().zip(&written) {
        let elements = begin..message.field_len(number);
        if !elements.is_empty() {
            message.write_field(FieldPart { number, elements, packed: None }, encoder);
        }
    }
    for bytes in unknown {
        encoder.write_raw(bytes);
    }
}

pub(crate) const fn sorted<const N: usize>(mut numbers: [u32; N]) -> [u32; N] {
    let mut end = N;
    while end > 1 {
        let mut at = 1;
        while at < end {
            if numbers[at - 1] > numbers[at] {
                (numbers[at - 1], numbers[at]) = (numbers[at], numbers[at - 1]);
            }
            at += 1;
        }
        end -= 1;
    }
    numbers
}

/// Declares a message: a struct with one member per field (or per group of fields of which one is set), after its field
/// numbers.
macro_rules! message {
    (
        $(#[$doc:meta])*
        $name:ident = $proto:literal $(by ($label:expr))? {
            $($(#[$field_doc:meta])* [$($number:literal),+] $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// Offset in the file, unknown fields, unusual order.
            pub wire: $crate::wire::WireInfo,
        }

        impl $crate::wire::Message for $name {
            const NAME: &'static str = $proto;
            const NUMBERS: &'static [u32] = &$crate::wire::message::sorted([$($($number),+),*]);

            fn label(&self) -> Option<&$crate::Text> {
                $crate::wire::message::label!(self $(, $label)?)
            }

            fn field_name(number: u32) -> &'static str {
                match number {
                    $($($number)|+ => stringify!($field),)*
                    _ => "?",
                }
            }

            fn read_field(
                &mut self,
                tag: $crate::wire::Tag,
                reader: &mut $crate::wire::WireReader<'_>,
            ) -> Result<Option<$crate::wire::FieldRead>, $crate::ReadError> {
                match tag.number {
                    $($($number)|+ => {
                        $crate::wire::MessageField::read(&mut self.$field, tag, reader)
                    })*
                    _ => Ok(None),
                }
            }

            fn field_len(&self, number: u32) -> usize {
                match number {
                    $($($number)|+ => $crate::wire::MessageField::count(&self.$field, number),)*
                    _ => 0,
                }
            }

            fn write_field(
                &self,
                part: $crate::wire::FieldPart,
                encoder: &mut $crate::wire::Encoder<'_>,
            ) {
                match part.number {
                    $($($number)|+ => $crate::wire::MessageField::write(&self.$field, part, encoder),)*
                    _ => {}
                }
            }

            fn wire(&self) -> &$crate::wire::WireInfo {
                &self.wire
            }

            fn wire_mut(&mut self) -> &mut $crate::wire::WireInfo {
                &mut self.wire
            }
        }
    };
}

macro_rules! label {
    ($message:ident) => {{
        let _ = $message;
        None
    }};
    ($message:ident, $label:expr) => {{
        let label: fn(&Self) -> Option<&$crate::Text> = $label;
        label($message)
    }};
}

pub(crate) use {label, message};
