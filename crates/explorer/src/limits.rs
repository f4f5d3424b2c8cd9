//! Limits of the data in a page. The page mentions the parts that were left out.

/// The largest number of instructions of a program that is drawn; a larger program is shown as text.
pub const MAX_GRAPH_OPS: usize = 120_000;

/// The largest number of instructions of programs that are compared and replayed; larger ones are shown as text.
pub(crate) const MAX_COMPARED_OPS: usize = 50_000;

/// The largest total number of instructions of all programs of a report; beyond it, programs between passes are left out.
pub(crate) const MAX_TOTAL_OPS: usize = 200_000;

/// The largest number of edits of a replay.
pub(crate) const MAX_EDITS: usize = 200_000;

/// The largest number of bytes of the text of an instruction.
pub(crate) const MAX_INST_BYTES: usize = 2_000;

/// The largest depth of lists and dictionaries in an attribute that is shown.
pub(crate) const MAX_ATTR_DEPTH: usize = 4;

/// The largest number of bytes of a line of the text of a program.
pub(crate) const MAX_LINE_BYTES: usize = 8_000;

/// The largest number of elements of a literal in the text of a program.
pub(crate) const MAX_LITERAL_ELEMENTS: u64 = 256;

/// The largest number of lines about a check.
pub(crate) const MAX_CHECK_LINES: usize = 100;

/// The largest number of bytes of a name, a type or a source line.
pub(crate) const MAX_NAME_BYTES: usize = 400;

/// Returns the text, or if it is longer than `limit` bytes, its beginning and its length.
pub(crate) fn truncate(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limit);
    format!("{}… ({} bytes in all)", &text[..end], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("abcd", 3), "abc… (4 bytes in all)");
        assert_eq!(truncate("aéé", 2), "a… (5 bytes in all)");
    }
}
