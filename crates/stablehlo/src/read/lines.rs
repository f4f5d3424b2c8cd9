//! Lines of a text: where they start, and the spans of what stands on them.

use sapwood_types::{Source, Span};

use crate::cursor::Cursor;

/// All lines with their ends, and where they start.
pub(super) fn all(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

/// The places of newlines from one place to another, eight bytes at a time.
struct Newlines<'a> {
    bytes: &'a [u8],
    at: usize,
    /// One bit for each newline of the eight bytes before `at`.
    found: u64,
}

impl<'a> Newlines<'a> {
    fn new(text: &'a str, start: usize, end: usize) -> Self {
        Self { bytes: &text.as_bytes()[..end.min(text.len())], at: start, found: 0 }
    }
}

impl Iterator for Newlines<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            let Some(chunk) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) else {
                let rest = self.bytes.get(self.at..)?;
                let found = rest.iter().position(|&byte| byte == b'\n');
                let at = self.at + found.unwrap_or(rest.len());
                self.at = at + 1;
                return found.map(|_| at);
            };
            self.found = crate::cursor::bytes_that_are(u64::from_le_bytes(*chunk), b'\n');
            self.at += 8;
        }
        let at = self.at - 8 + self.found.trailing_zeros() as usize / 8;
        self.found &= self.found - 1;
        Some(at)
    }
}

/// Where the lines from here on start whose first byte is this one.
pub(super) fn starting_with(text: &str, start: usize, byte: u8) -> Vec<usize> {
    let starts = Newlines::new(text, start, text.len()).map(|at| at + 1);
    let is = |at: &usize| text.as_bytes().get(*at) == Some(&byte);
    std::iter::once(start).chain(starts).filter(is).collect()
}

/// The stretches between lines `// -----`.
pub(super) fn pieces(text: &str) -> Vec<(usize, usize)> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    for at in starting_with(text, 0, b'/') {
        if text[at..].starts_with("// -----") {
            pieces.push((start, at));
            start = at;
        }
    }
    pieces.push((start, text.len()));
    if pieces.len() > 1 {
        pieces.retain(|&(start, end)| !Cursor::new(&text[start..end]).at_end());
    }
    pieces
}

/// Counts lines along with the reader.
pub(super) struct Lines {
    /// Whether columns are bytes.
    ascii: bool,
    /// Where the current line starts, and its number.
    start: usize,
    number: u32,
    /// Up to where newlines were looked for.
    seen: usize,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let ascii = text.is_ascii() && u32::try_from(text.len()).is_ok();
        Self { ascii, start: 0, number: 1, seen: 0 }
    }

    /// The span of these bytes: what the source says, found faster where places grow from call to call.
    #[inline]
    pub(super) fn span(&mut self, source: &Source, start: usize, end: usize) -> Span {
        if !self.ascii || start < self.start || end < start {
            return source.span(start..end);
        }
        self.advance(source.text(), start);
        let (line, first) = (self.number, self.start);
        if Newlines::new(source.text(), start, end).next().is_some() {
            return source.span(start..end);
        }
        let column = |at: usize| (at - first) as u32 + 1;
        Span::new(source.file(), line, column(start), line, column(end))
    }

    fn advance(&mut self, text: &str, to: usize) {
        if to <= self.seen {
            return;
        }
        for at in Newlines::new(text, self.seen, to) {
            self.start = at + 1;
            self.number += 1;
        }
        self.seen = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_the_source() {
        let long = format!("{}\n%x = {}\n\n", "ab".repeat(40), "y".repeat(33));
        for text in [&*long, "", "a\nb\n\nccc ddd\n", "größe\nx\n", "\n\n\n12345678\n9"] {
            let source = Source::new("lines", text);
            let mut lines = Lines::new(text);
            let mut places: Vec<usize> = (0..text.len()).collect();
            // Now and then a place before the last one.
            places.extend([0, text.len() / 2]);
            for start in places {
                for end in [start, start + 1, start + 9] {
                    let end = end.min(text.len());
                    let newline = text.as_bytes().get(start) == Some(&b'\n');
                    if newline || !text.is_char_boundary(start) {
                        continue;
                    }
                    let span = lines.span(&source, start, end);
                    assert_eq!(span, source.span(start..end), "{text:?} {start}..{end}");
                }
            }
        }
    }

    #[test]
    fn lines_are_found_by_their_first_byte() {
        let text = "#a\n b\n#c\n\n\n#d";
        assert_eq!(starting_with(text, 0, b'#'), [0, 6, 11]);
        assert_eq!(starting_with(text, 1, b'#'), [6, 11]);
        assert_eq!(starting_with("", 0, b'#'), [0usize; 0]);
        assert_eq!(pieces("a\n// -----\nb"), [(0, 2), (2, 12)]);
        assert_eq!(pieces("a\n // -----\nb"), [(0, 14)]);
    }
}
