//! The reader of protobuf fields.

use sapwood_types::counted;

use super::message::FieldRun;
use super::{Bytes, MAX_DEPTH, Message, ReadError};

/// The encoding of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireType {
    Varint,
    Fixed64,
    Length,
    StartGroup,
    EndGroup,
    Fixed32,
}

/// The tag before a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    pub(crate) number: u32,
    pub(crate) wire: WireType,
    pub(crate) offset: usize,
}

/// The largest ratio of memory to file size, in addition to [`MIN_BUDGET`]: a message takes more memory than its bytes.
///
/// The smallest node that means something, `Abs` of `x`, has 13 bytes and takes 20 times as much; only files full of empty
/// messages need more than this.
const MAX_EXPANSION: usize = 64;
const MIN_BUDGET: usize = 1 << 20;

/// A reader of the fields of nested messages. It compares every length with the remaining bytes before it uses it.
pub(crate) struct WireReader<'a> {
    source: &'a Bytes,
    data: &'a [u8],
    at: usize,
    end: usize,
    depth: usize,
    budget: usize,
    /// The field runs of all messages that are being read, in file order; those of the outermost message are first.
    pub(super) runs: Vec<FieldRun>,
}

type Result<T> = std::result::Result<T, ReadError>;

impl<'a> WireReader<'a> {
    pub(crate) fn new(source: &'a Bytes) -> Self {
        let data: &[u8] = source;
        let budget = data.len().saturating_mul(MAX_EXPANSION).saturating_add(MIN_BUDGET);
        Self { source, data, at: 0, end: data.len(), depth: 0, budget, runs: Vec::new() }
    }

    /// Returns the position of the next byte in the bytes that are read.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Returns the position of the next byte in the file.
    pub(super) fn absolute_offset(&self) -> u64 {
        (self.source.offset() + self.at) as u64
    }

    pub(crate) fn error(&self, offset: usize, problem: impl Into<String>) -> ReadError {
        ReadError::new(self.source.offset() + offset, problem)
    }

    /// Subtracts memory that is about to be allocated from the budget, and reports an error if none is left.
    pub(crate) fn charge_memory(&mut self, bytes: usize) -> Result<()> {
        match self.budget.checked_sub(bytes) {
            Some(left) => self.budget = left,
            None => {
                return Err(self.error(
                    self.at,
                    format!(
                        "the model would need more than {MAX_EXPANSION} times the memory of its file of \
                         {}; almost all of its messages are empty",
                        counted(self.data.len(), "byte")
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Returns the next tag, or `None` at the end of the message.
    pub(crate) fn read_tag(&mut self) -> Result<Option<Tag>> {
        if self.at == self.end {
            return Ok(None);
        }
        let offset = self.at;
        let value = self.read_varint()?;
        let wire = match value & 7 {
            0 => WireType::Varint,
            1 => WireType::Fixed64,
            2 => WireType::Length,
            3 => WireType::StartGroup,
            4 => WireType::EndGroup,
            5 => WireType::Fixed32,
            other => {
                return Err(self.error(offset, format!("{other} is not a wire type of protobuf")));
            }
        };
        match u32::try_from(value >> 3) {
            Ok(number) if number > 0 && number < 1 << 29 => Ok(Some(Tag { number, wire, offset })),
            _ => Err(self.error(
                offset,
                format!("{} is not a field number; they go from 1 to 536870911", value >> 3),
            )),
        }
    }

    pub(crate) fn read_varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for position in 0..10 {
            let Some(&byte) =
                self.data.get(self.at + position).filter(|_| self.at + position < self.end)
            else {
                return Err(self.error(self.at, "the file or the message ends inside a number"));
            };
            value |= u64::from(byte & 0x7f) << (7 * position);
            if byte < 0x80 {
                // The tenth byte holds one bit; protobuf ignores the others.
                self.at += position + 1;
                return Ok(value);
            }
        }
        Err(self.error(self.at, "a number has more than ten bytes"))
    }

    pub(crate) fn read_fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let left = self.end - self.at;
        match self.data[self.at..self.end].first_chunk::<N>() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(self.error(
                self.at,
                format!("a value of {N} bytes is needed, but {} left", bytes_are(left)),
            )),
        }
    }

    fn read_length(&mut self) -> Result<usize> {
        let offset = self.at;
        let length = self.read_varint()?;
        let left = self.end - self.at;
        match usize::try_from(length) {
            Ok(length) if length <= left => Ok(length),
            _ => Err(self.error(
                offset,
                format!("the length is {}, but {} left", counted(length, "byte"), bytes_are(left)),
            )),
        }
    }

    /// Returns a length-delimited value without copying it.
    pub(crate) fn read_bytes(&mut self) -> Result<Bytes> {
        let length = self.read_length()?;
        let start = self.at;
        self.at += length;
        Ok(self.slice(start))
    }

    fn slice(&self, start: usize) -> Bytes {
        self.source.slice(start..self.at).expect("the range was compared with the source")
    }

    /// Reads a packed list by calling `element` until its bytes are consumed.
    pub(crate) fn read_packed(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let length = self.read_length()?;
        let outer = std::mem::replace(&mut self.end, self.at + length);
        while self.at < self.end {
            element(self)?;
        }
        self.end = outer;
        Ok(())
    }

    /// Reads a length-delimited message and merges it into `message`.
    pub(crate) fn read_nested<M: Message>(&mut self, message: &mut M) -> Result<()> {
        let offset = self.at;
        let length = self.read_length()?;
        if self.depth == MAX_DEPTH {
            return Err(self.error(
                offset,
                format!(
                    "messages are nested more than {MAX_DEPTH} deep, which protobuf does not allow"
                ),
            ));
        }
        self.depth += 1;
        let outer = std::mem::replace(&mut self.end, self.at + length);
        super::message::read_fields(message, self)?;
        self.end = outer;
        self.depth -= 1;
        Ok(())
    }

    /// Skips the value after a tag and returns all of the field, tag included.
    pub(crate) fn skip_unknown_field(&mut self, tag: Tag) -> Result<Bytes> {
        let mut groups: Vec<u32> = Vec::new();
        let mut next = tag;
        loop {
            match next.wire {
                WireType::Varint => drop(self.read_varint()?),
                WireType::Fixed64 => drop(self.read_fixed::<8>()?),
                WireType::Fixed32 => drop(self.read_fixed::<4>()?),
                WireType::Length => drop(self.read_bytes()?),
                WireType::StartGroup if self.depth + groups.len() < MAX_DEPTH => {
                    groups.push(next.number);
                }
                WireType::StartGroup => {
                    return Err(self.error(
                        next.offset,
                        format!("groups are nested more than {MAX_DEPTH} deep"),
                    ));
                }
                WireType::EndGroup if groups.pop() == Some(next.number) => {}
                WireType::EndGroup => {
                    return Err(self.error(
                        next.offset,
                        format!("group {} ends here, but does not begin before", next.number),
                    ));
                }
            }
            if groups.is_empty() {
                return Ok(self.slice(tag.offset));
            }
            let Some(tag) = self.read_tag()? else {
                return Err(self.error(self.at, "the message ends inside a group"));
            };
            next = tag;
        }
    }
}

fn bytes_are(left: usize) -> String {
    format!("{} {}", counted(left, "byte"), if left == 1 { "is" } else { "are" })
}
