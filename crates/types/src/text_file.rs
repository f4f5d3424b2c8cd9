//! Reading text files.

use std::path::Path;
use std::{fs, io};

use crate::{Diagnostic, Source, SourceErrors};

/// Reads a text file, whose source is named after its path.
///
/// # Errors
/// If the file cannot be read, or is not UTF-8.
pub fn read_source(path: &Path) -> Result<Source, SourceErrors> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| read_error(&name, &error))?;
    source_from_bytes(&name, bytes)
}

/// Returns the error for a file that cannot be read.
#[must_use]
pub fn read_error(name: &str, error: &io::Error) -> SourceErrors {
    SourceErrors::plain(match error.kind() {
        io::ErrorKind::NotFound => format!("{name}: no such file"),
        io::ErrorKind::IsADirectory => format!("{name}: is a directory, expected a file"),
        _ => format!("{name}: cannot be read: {error}"),
    })
}

/// Returns bytes as a source, with the name of their file.
///
/// # Errors
/// If the bytes are not UTF-8; the diagnostic is at the first byte that is not.
pub fn source_from_bytes(name: &str, bytes: Vec<u8>) -> Result<Source, SourceErrors> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Source::new(name, text)),
        Err(error) => error,
    };
    let (bytes, at) = (error.as_bytes(), error.utf8_error().valid_up_to());
    // A few of the following bytes are enough to show the line.
    let rest = &bytes[at..bytes.len().min(at + 100)];
    let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let source = Source::new(name, String::from_utf8_lossy(&bytes[..at + line]).into_owned());
    let message = format!("the byte {:#04x} is not UTF-8", bytes[at]);
    // The byte is shown as one replacement character.
    let span = source.span(at..at + char::REPLACEMENT_CHARACTER.len_utf8());
    let problem = Diagnostic::error(span, message).with_help("save the text as UTF-8");
    Err(SourceErrors::in_source(problem, &source))
}
