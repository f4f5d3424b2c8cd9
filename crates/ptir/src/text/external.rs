//! External literals: `external("weights.bin", 4096, 1024)` refers to 1024 bytes, from byte 4096 on, of the file
//! that the text names. This module opens no files: printing returns the bytes, reading calls a resolver for them.

use std::fmt;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lexer::write_string;
use crate::literal::TensorLiteral;

/// The treatment of literals with many elements by the printer.
pub(crate) enum LongLiteralMode<'a> {
    /// Writes them in full.
    Written,
    /// Writes `...` for literals with more elements than this.
    Elided(u64),
    /// Writes them as `external(…)` and collects their bytes.
    External(&'a mut ExternalTable),
}

/// The bytes of the literals that a text refers to as `external(…)`.
pub(crate) struct ExternalTable {
    pub(super) file: String,
    pub(super) above: u64,
    pub(super) bytes: Vec<u8>,
    // The offset of each literal; equal literals are stored once.
    offsets: HashMap<TensorLiteral, u64, FxBuildHasher>,
}

impl ExternalTable {
    pub(super) fn new(file: &str, above: u64) -> Self {
        Self { file: file.into(), above, bytes: Vec::new(), offsets: HashMap::default() }
    }

    pub(super) fn write(&mut self, out: &mut String, literal: &TensorLiteral) {
        let length = literal.stored_bytes().len();
        let bytes = &mut self.bytes;
        let offset = *self.offsets.entry(literal.clone()).or_insert_with(|| {
            // Offsets are aligned for every element type.
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

type ResolveExternal = dyn Fn(&str, u64, u64) -> Result<Vec<u8>, String> + Send + Sync;

/// A function that finds the bytes of an external literal.
#[derive(Clone)]
pub(super) struct ExternalResolver(pub(super) Arc<ResolveExternal>);

impl fmt::Debug for ExternalResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExternalResolver")
    }
}

/// Returns the part of a file's bytes that a text refers to. A function passed to
/// [`ParseOptions::external`](crate::ParseOptions::external) can return this.
///
/// # Errors
/// If the part is not within the bytes.
pub fn external_bytes(bytes: &[u8], offset: u64, length: u64) -> Result<&[u8], String> {
    let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
    range.and_then(|(start, length)| bytes.get(start..start.checked_add(length)?)).ok_or_else(
        || {
            format!(
                "expected {length} bytes from byte {offset} on, but the file has {}",
                bytes.len()
            )
        },
    )
}

// Returns the bytes of one literal, whose number follows from its type.
pub(super) fn fetch_external(
    resolver: Option<&ExternalResolver>,
    file: &str,
    (offset, length): (u64, u64),
    expected: Option<u64>,
) -> Result<Vec<u8>, String> {
    if expected != Some(length) {
        let expected = expected.map_or("too many".into(), |n| n.to_string());
        return Err(format!("its type needs {expected} bytes, found {length}"));
    }
    if offset.checked_add(length).is_none() {
        return Err(format!("{length} bytes from byte {offset} on exceed the largest file size"));
    }
    let Some(resolver) = resolver else {
        return Err("it is external, and no resolver for external literals was given".into());
    };
    let bytes = (resolver.0)(file, offset, length)?;
    if bytes.len() as u64 != length {
        return Err(format!("expected {length} bytes, the resolver returned {}", bytes.len()));
    }
    Ok(bytes)
}
