//! Protobuf's wire format: reading without copies, writing in two passes.
//!
//! A message is a sequence of fields, each a tag (number and [`WireType`]) and a value. [`WireReader`] returns the fields of one message;
//! [`Encoder`] measures a message tree, then writes it. A type that implements [`MessageField`] is the value of one field of a Rust struct, and
//! [`message!`](crate::wire::message) combines fields into a [`Message`]. [`WireInfo`], a member of every message, keeps the parts that
//! a struct cannot hold: fields with unknown numbers, and the order of fields if it is not ascending.

mod bytes;
mod encoder;
mod error;
mod field;
mod map;
pub(crate) mod message;
mod reader;

pub use bytes::{Bytes, Text};
pub use encoder::EncodeError;
pub use error::ReadError;
pub use field::NumberList;
pub use message::WireInfo;

pub(crate) use encoder::{Encoder, MAX_MESSAGE_LEN, encode, encoded_len};
pub(crate) use field::{FieldPart, FieldRead, MessageField, WireValue, one_of};
pub(crate) use message::{Message, message};
pub(crate) use reader::{Tag, WireReader, WireType};

/// The largest nesting depth below the outermost message, which is that of protobuf's own readers.
pub(crate) const MAX_DEPTH: usize = 100;

/// Reads one message from all of these bytes.
pub(crate) fn decode<M: Message>(bytes: &Bytes) -> Result<M, ReadError> {
    let mut message = M::default();
    message::read_fields(&mut message, &mut WireReader::new(bytes))?;
    Ok(message)
}

/// Returns whether unknown fields, as [`WireInfo`] keeps them, have one of these numbers.
pub(crate) fn has_field(fields: &Bytes, numbers: &[u32]) -> bool {
    let mut reader = WireReader::new(fields);
    while let Ok(Some(tag)) = reader.read_tag() {
        if numbers.contains(&tag.number) {
            return true;
        }
        if reader.skip_unknown_field(tag).is_err() {
            break;
        }
    }
    false
}
