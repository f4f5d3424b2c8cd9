//! The writer of protobuf messages.

use std::io::{self, Write};

use thiserror::Error;

use super::{MAX_DEPTH, Message, Text, WireType};

/// The reason why a model cannot be encoded.
#[derive(Debug, Error)]
pub enum EncodeError {
    /// The nesting is deeper than protobuf's readers accept.
    #[error(
        "messages are nested more than {MAX_DEPTH} deep, in {message}{}; protobuf does not allow that",
        name.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default()
    )]
    TooDeep {
        /// The message that is too deep, by its protobuf name.
        message: &'static str,
        /// Its name, if it has one.
        name: Option<Text>,
    },
    /// The size is larger than protobuf's readers accept.
    #[error(
        "the model has {bytes} bytes without external data, and protobuf allows {limit}; write weights to external data"
    )]
    TooLarge {
        /// The encoded size.
        bytes: u64,
        /// The largest size.
        limit: u64,
    },
    /// The output cannot be written.
    #[error("cannot be written: {0}")]
    Io(#[from] io::Error),
}

/// The largest message protobuf's readers accept, in bytes.
pub(crate) const MAX_MESSAGE_LEN: u64 = i32::MAX as u64;

/// Returns the size of a message in bytes.
pub(crate) fn encoded_len<M: Message>(message: &M) -> Result<u64, EncodeError> {
    Ok(measure_sizes(message)?.0)
}

/// Writes a message. Large values are written to `out` without a copy.
pub(crate) fn encode<M: Message>(message: &M, out: &mut dyn Write) -> Result<(), EncodeError> {
    let (bytes, sizes) = measure_sizes(message)?;
    if bytes > MAX_MESSAGE_LEN {
        return Err(EncodeError::TooLarge { bytes, limit: MAX_MESSAGE_LEN });
    }
    let mut encoder = Encoder { out: Some(out), sizes, ..Encoder::default() };
    super::message::write_fields(message, &mut encoder);
    encoder.flush();
    encoder.failed.map_or(Ok(()), Err)
}

fn measure_sizes<M: Message>(message: &M) -> Result<(u64, Vec<u64>), EncodeError> {
    let mut encoder = Encoder::default();
    super::message::write_fields(message, &mut encoder);
    encoder.failed.map_or(Ok((encoder.total, encoder.sizes)), Err)
}

/// A writer of fields. Without `out` it only measures: the size of a message precedes it, so a first pass records the size of every
/// nested message, and a second pass in the same order uses them.
#[derive(Default)]
pub(crate) struct Encoder<'w> {
    out: Option<&'w mut dyn Write>,
    buffer: Vec<u8>,
    total: u64,
    /// Sizes of nested messages, in the order they begin.
    sizes: Vec<u64>,
    next_size: usize,
    depth: usize,
    failed: Option<EncodeError>,
}

const BUFFER_LEN: usize = 1 << 16;

impl Encoder<'_> {
    pub(crate) fn write_raw(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.out.is_none() {
            return;
        }
        if self.buffer.len() + bytes.len() > BUFFER_LEN {
            self.flush();
        }
        if bytes.len() > BUFFER_LEN {
            self.write_out(bytes);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    fn flush(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.write_out(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
    }

    fn write_out(&mut self, bytes: &[u8]) {
        if self.failed.is_none()
            && let Some(out) = &mut self.out
            && let Err(error) = out.write_all(bytes)
        {
            self.failed = Some(error.into());
        }
    }

    pub(crate) fn write_varint(&mut self, mut value: u64) {
        let mut bytes = [0; 10];
        let mut length = 0;
        loop {
            let low = value as u8 & 0x7f;
            value >>= 7;
            bytes[length] = if value == 0 { low } else { low | 0x80 };
            length += 1;
            if value == 0 {
                return self.write_raw(&bytes[..length]);
            }
        }
    }

    pub(crate) fn write_tag(&mut self, number: u32, wire: WireType) {
        let code = match wire {
            WireType::Varint => 0,
            WireType::Fixed64 => 1,
            WireType::Length => 2,
            WireType::StartGroup => 3,
            WireType::EndGroup => 4,
            WireType::Fixed32 => 5,
        };
        self.write_varint(u64::from(number) << 3 | code);
    }

    pub(crate) fn write_bytes(&mut self, number: u32, bytes: &[u8]) {
        self.write_tag(number, WireType::Length);
        self.write_varint(bytes.len() as u64);
        self.write_raw(bytes);
    }

    /// Writes a length-delimited value whose content `content` writes.
    pub(crate) fn write_delimited(&mut self, number: u32, content: impl FnOnce(&mut Self)) {
        self.write_tag(number, WireType::Length);
        if self.out.is_some() {
            let size = self.sizes.get(self.next_size).copied().unwrap_or_default();
            self.next_size += 1;
            self.write_varint(size);
            content(self);
        } else {
            let slot = self.sizes.len();
            self.sizes.push(0);
            let before = self.total;
            content(self);
            let size = self.total - before;
            self.sizes[slot] = size;
            self.write_varint(size);
        }
    }

    pub(crate) fn write_nested<M: Message>(&mut self, number: u32, message: &M) {
        if self.depth == MAX_DEPTH {
            let too_deep =
                EncodeError::TooDeep { message: M::NAME, name: message.label().cloned() };
            self.failed.get_or_insert(too_deep);
            return;
        }
        self.depth += 1;
        self.write_delimited(number, |encoder| super::message::write_fields(message, encoder));
        self.depth -= 1;
    }
}
