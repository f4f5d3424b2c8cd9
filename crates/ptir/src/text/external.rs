//! Literals kept beside the text: `external("weights.bin", 4096, 1024)` stands for 1024 bytes from byte 4096 on of a file
//! that the text names. Nothing here opens files: printing gives the bytes, reading asks for them.

use std::fmt;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lexer::write_string;
use crate::literal::TensorLiteral;

/// What printing does with literals of many elements.
pub(crate) enum LongLiterals<'a> {
    /// Writes them.
    Written,
    /// Writes `...` for more elements than this.
    Elided(u64),
    /// Puts them into a table beside the text.
    Beside(&'a mut SideTable),
}

/// The bytes of literals that were left out of a text.
pub(crate) struct SideTable {
    pub(super) file: String,
    pub(super) above: u64,
    pub(super) bytes: Vec<u8>,
    // Where each one starts; the same literal is kept once.
    known: HashMap<TensorLiteral, u64, FxBuildHasher>,
}

impl SideTable {
    pub(super) fn new(file: &str, above: u64) -> Self {
        Self { file: file.into(), above, bytes: Vec::new(), known: HashMap::default() }
    }

    pub(super) fn write(&mut self, out: &mut String, literal: &TensorLiteral) {
        let length = literal.stored_bytes().len();
        let bytes = &mut self.bytes;
        let offset = *self.known.entry(literal.clone()).or_insert_with(|| {
            // Aligned for every element type.
            bytes.resize(bytes.len().next_multiple_of(16), 0);
            let offset = bytes.len() as u64;
            bytes.extend_from_slice(literal.stored_bytes());
            offset
        });
        out.push_str("external(");
        write_string(out, &self.file);
        out.push_str(&format!(", {offset}, {length})"));
    }
}

type Resolve = dyn Fn(&str, u64, u64) -> Result<Vec<u8>, String> + Send + Sync;

/// Finds the bytes that a text names.
#[derive(Clone)]
pub(super) struct Resolver(pub(super) Arc<Resolve>);

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

/// The part of a file's bytes that a text names: what a function given to
/// [`ParseOptions::external`](crate::ParseOptions::external) usually answers.
///
/// # Errors
/// If the bytes end before it does.
pub fn external_bytes(bytes: &[u8], offset: u64, length: u64) -> Result<&[u8], String> {
    let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
    range.and_then(|(start, length)| bytes.get(start..start.checked_add(length)?)).ok_or_else(
        || format!("{length} bytes from byte {offset} on, but there are {}", bytes.len()),
    )
}

// The bytes of one literal, whose type says how many there must be.
pub(super) fn fetch(
    resolver: Option<&Resolver>,
    file: &str,
    (offset, length): (u64, u64),
    expected: Option<u64>,
) -> Result<Vec<u8>, String> {
    if expected != Some(length) {
        let expected = expected.map_or("too many".into(), |n| n.to_string());
        return Err(format!("its type needs {expected} bytes, {length} are named"));
    }
    if offset.checked_add(length).is_none() {
        return Err(format!("no file has {length} bytes from byte {offset} on"));
    }
    let Some(resolver) = resolver else {
        return Err("it is kept beside the text, and nothing was given to find it".into());
    };
    let bytes = (resolver.0)(file, offset, length)?;
    if bytes.len() as u64 != length {
        return Err(format!("{length} bytes were asked for, {} came", bytes.len()));
    }
    Ok(bytes)
}
