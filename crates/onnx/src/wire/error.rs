//! The error of the reader.

use std::fmt;

use sapwood_types::{Diagnostic, Span};

use super::Message;

/// The reason why bytes are not an ONNX model, with its position.
///
/// ```
/// // Field 7, the graph, claims 200 bytes; the file ends after two.
/// let error = sapwood_onnx::read(vec![0x3a, 0xc8, 0x01, 0x0a, 0x00]).unwrap_err();
/// assert_eq!(error.offset(), 1);
/// assert_eq!(
///     error.to_string(),
///     "byte 1: field `graph` of ModelProto: the length is 200 bytes, but 2 bytes are left"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    offset: u64,
    problem: String,
    /// The fields around the byte, innermost first.
    context: Vec<String>,
}

impl ReadError {
    pub(super) fn new(offset: usize, problem: impl Into<String>) -> Self {
        Self { offset: offset as u64, problem: problem.into(), context: Vec::new() }
    }

    /// Adds the message that is being read.
    pub(super) fn in_message<M: Message>(mut self, message: &M) -> Self {
        self.context.push(message_and_label(message));
        self
    }

    /// Adds the field and the message that is being read.
    pub(super) fn in_field<M: Message>(mut self, field: &str, message: &M) -> Self {
        self.context.push(format!("field `{field}` of {}", message_and_label(message)));
        self
    }

    /// Returns the position of the byte that is wrong.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the problem without its position.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns the fields around the wrong byte, the innermost first: ``field `name` of NodeProto `conv1` ``.
    #[must_use]
    pub fn context(&self) -> &[String] {
        &self.context
    }
}

fn message_and_label<M: Message>(message: &M) -> String {
    match message.label() {
        Some(name) => format!("{} `{name}`", M::NAME),
        None => M::NAME.to_owned(),
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The number of innermost and of outermost fields that are printed.
        const SHOWN: usize = 4;
        write!(f, "byte {}: ", self.offset)?;
        let left_out = self.context.len().saturating_sub(2 * SHOWN);
        for (position, field) in self.context.iter().enumerate() {
            let hidden = left_out > 0 && (SHOWN..SHOWN + left_out).contains(&position);
            if left_out > 0 && position == SHOWN {
                write!(f, ", {left_out} levels further out")?;
            }
            if !hidden {
                write!(f, "{}{field}", if position > 0 { ", in " } else { "" })?;
            }
        }
        write!(f, "{}{}", if self.context.is_empty() { "" } else { ": " }, self.problem)
    }
}

impl std::error::Error for ReadError {}

impl From<ReadError> for Diagnostic {
    fn from(error: ReadError) -> Self {
        Self::error(Span::unknown(), error.to_string())
    }
}
