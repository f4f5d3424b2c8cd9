//! How much goes into a page. What is left out is said in it.

/// A program with more instructions is shown as text.
pub const MAX_GRAPH_OPS: usize = 50_000;

/// All programs of a report together have this many instructions at most; passes in between are left out otherwise.
pub(crate) const MAX_STATE_OPS: usize = 200_000;

/// A replay has this many edits at most.
pub(crate) const MAX_EDITS: usize = 200_000;

/// The text of an instruction has this many bytes at most.
pub(crate) const MAX_TEXT: usize = 2_000;

/// A line of the text of a program has this many bytes at most, and its literals this many elements.
pub(crate) const MAX_TEXT_LINE: usize = 8_000;
pub(crate) const MAX_TEXT_ELEMENTS: u64 = 256;

/// What a check said has this many lines at most.
pub(crate) const MAX_CHECK_LINES: usize = 100;

/// Names, types and lines have this many bytes at most.
pub(crate) const MAX_LINE: usize = 400;

/// A text, or its beginning and how long it was.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{}… ({} bytes in all)", &text[..end], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "abc… (4 bytes in all)");
        assert_eq!(shortened("aéé", 2), "a… (5 bytes in all)");
    }
}
