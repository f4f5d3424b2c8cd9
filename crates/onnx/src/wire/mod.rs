//! Protobuf's wire format: reading without copies, writing in two passes.
//!
//! A message is a row of fields, each a tag (number and [`WireType`]) and a value. [`Reader`] hands out the fields of one message;
//! [`Encoder`] measures a message tree, then writes it. A type that implements [`Field`] is the value of one field of a Rust struct, and
//! [`message!`](crate::wire::message) joins fields to a [`Message`]. [`Wire`], a member of every message, keeps what a struct
//! has no place for: fields of unknown numbers, and the order of fields where it is not ascending.

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
pub use field::Numbers;
pub use message::Wire;

pub(crate) use encoder::{Encoder, MAX_MESSAGE_LEN, encode, encoded_len};
pub(crate) use field::{Field, FieldRead, Single, one_of};
pub(crate) use message::{Message, message};
pub(crate) use reader::{Reader, WireType};

/// How deep messages may be nested below the outermost one: what protobuf's own readers accept.
pub(crate) const MAX_DEPTH: usize = 100;

/// Reads one message from all of these bytes.
pub(crate) fn decode<M: Message>(bytes: &Bytes) -> Result<M, ReadError> {
    let mut message = M::default();
    message::read_fields(&mut message, &mut Reader::new(bytes))?;
    Ok(message)
}

/// Returns whether a row of fields, as [`Wire`] keeps them, has one of these numbers.
pub(crate) fn has_field(fields: &Bytes, numbers: &[u32]) -> bool {
    let mut reader = Reader::new(fields);
    while let Ok(Some(tag)) = reader.tag() {
        if numbers.contains(&tag.number) {
            return true;
        }
        if reader.unknown(tag).is_err() {
            break;
        }
    }
    false
}
