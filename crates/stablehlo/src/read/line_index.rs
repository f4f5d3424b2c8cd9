//! An index of line starts, for spans and for scanning a text by lines.

use std::ops::Range;

use sapwood_types::{Source, Span};

use crate::cursor::Cursor;

/// Returns all lines, newlines included, with their offsets.
pub(super) fn lines_with_offsets(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

/// The line starts of a whole text.
pub(super) struct LineIndex<'a> {
    /// The offsets of all lines. The first is 0.
    starts: &'a [usize],
    /// True if columns are bytes. Otherwise, the source computes spans.
    ascii: bool,
}

impl<'a> LineIndex<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let text = source.text();
        let ascii = text.is_ascii() && u32::try_from(text.len()).is_ok();
        Self { starts: source.line_starts(), ascii }
    }
}

/// The lines of one module in a text, with the reader's current line.
pub(super) struct LineCursor<'a> {
    text: &'a str,
    /// The index of the whole text.
    index: &'a LineIndex<'a>,
    /// The lines that belong to the module.
    range: Range<usize>,
    /// The line of the last position that was looked up.
    current: usize,
    /// The number of lines that may still be scanned for the ends of functions: at most the number of lines.
    scan_budget: usize,
}

impl<'a> LineCursor<'a> {
    /// Returns the lines between a line start and another position. `index` is the index of `text`.
    pub(super) fn new(text: &'a str, index: &'a LineIndex<'a>, start: usize, end: usize) -> Self {
        let until = |place: usize| index.starts.partition_point(|&line| line < place);
        let range = until(start)..until(end);
        Self { text, index, current: range.start, scan_budget: range.len(), range }
    }

    /// Returns the places of this byte where it is the first in its line, after white space or not.
    pub(super) fn first_in_line(&self, byte: u8) -> impl Iterator<Item = usize> + use<'a> {
        let bytes = self.text.as_bytes();
        let starts = &self.index.starts[self.range.clone()];
        starts
            .iter()
            .map(|&start| skip_blanks(bytes, start))
            .filter(move |&at| bytes.get(at) == Some(&byte))
    }

    /// Returns the span of these bytes, as the source does. It is fast if positions increase from call to call.
    #[inline]
    pub(super) fn span(&mut self, source: &Source, start: usize, end: usize) -> Span {
        if !self.index.ascii || end < start {
            return source.span(start..end);
        }
        let starts = self.index.starts;
        let mut at = self.current;
        match starts.get(at) {
            Some(&line) if line <= start => {
                while starts.get(at + 1).is_some_and(|&next| next <= start) {
                    at += 1;
                }
                self.current = at;
            }
            // An op with regions, which began before the current line.
            _ => at = starts.partition_point(|&line| line <= start) - 1,
        }
        let (first, line) = (starts[at], at as u32 + 1);
        // Most ops end on their line; one with regions may end far from it.
        let last = match starts.get(at + 1) {
            Some(&next) if next <= end => {
                at + starts[at..].partition_point(|&line| line <= end) - 1
            }
            _ => at,
        };
        let end_column = (end - starts[last]) as u32 + 1;
        Span::new(source.file(), line, (start - first) as u32 + 1, last as u32 + 1, end_column)
    }

    fn advance(&mut self, to: usize) {
        while self.index.starts.get(self.current + 1).is_some_and(|&next| next <= to) {
            self.current += 1;
        }
    }

    /// Returns the number of lines between the line of a position and the next `}` with the same indentation.
    pub(super) fn count_lines_to_close(&mut self, place: usize) -> usize {
        self.advance(place);
        let bytes = self.text.as_bytes();
        let Some(&start) = self.index.starts.get(self.current) else { return 0 };
        let line = &bytes[start..];
        let indent = line.iter().take_while(|b| **b == b' ').count();
        let closes = |&start: &usize| {
            let close = start + indent;
            bytes.get(close) == Some(&b'}') && (indent == 0 || bytes[close - 1] == b' ')
        };
        let found =
            self.index.starts[self.current + 1..].iter().take(self.scan_budget).position(closes);
        self.scan_budget -= found.map_or(self.scan_budget, |n| n + 1);
        found.unwrap_or(0)
    }
}

// Returns the starts of the lines whose first byte is this one.
fn line_starts_with_byte<'a>(
    text: &'a str,
    starts: &'a [usize],
    byte: u8,
) -> impl Iterator<Item = usize> + 'a {
    let is = move |at: &usize| text.as_bytes().get(*at) == Some(&byte);
    starts.iter().copied().filter(is)
}

// Returns the first place from here on that is neither a space nor a tab.
#[inline]
fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    // Most lines are indented by a few spaces: eight bytes at a time.
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let other = u64::from_le_bytes(*chunk) ^ 0x2020_2020_2020_2020;
        at += other.trailing_zeros() as usize / 8;
        if other != 0 {
            break;
        }
    }
    while bytes.get(at).is_some_and(|b| matches!(b, b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// Returns the ranges between lines `// -----`.
pub(super) fn split_modules(text: &str, index: &LineIndex<'_>) -> Vec<(usize, usize)> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    for at in line_starts_with_byte(text, index.starts, b'/') {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_the_source() {
        let long = format!("{}\n%x = {}\n\n", "ab".repeat(40), "y".repeat(33));
        for text in [&*long, "", "a\nb\n\nccc ddd\n", "größe\nx\n", "\n\n\n12345678\n9"] {
            let source = Source::new("lines", text);
            let index = LineIndex::new(&source);
            let mut lines = LineCursor::new(text, &index, 0, text.len());
            let mut places: Vec<usize> = (0..text.len()).collect();
            // Sometimes a position before the last one.
            places.extend([0, text.len() / 2]);
            for start in places {
                for end in [start, start + 1, start + 9, text.len()] {
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
        let long = "x".repeat(70);
        let text = format!("#a\n b\n#c\n\n{long}\n#d\n         #e\n \t #f\n    x#\n  #");
        let of = |text: &str| {
            let source = Source::new("lines", text);
            let index = LineIndex::new(&source);
            let lines = LineCursor::new(text, &index, 0, text.len());
            lines.first_in_line(b'#').collect::<Vec<_>>()
        };
        let expected: Vec<usize> = text.match_indices('#').map(|(at, _)| at).collect();
        let expected = expected.into_iter().filter(|&at| at == 0 || !text[..at].ends_with('x'));
        assert_eq!(of(&text), expected.collect::<Vec<_>>());
        assert_eq!(of(""), [0usize; 0]);
        let pieces = |text: &str| split_modules(text, &LineIndex::new(&Source::new("lines", text)));
        assert_eq!(pieces("a\n// -----\nb"), [(0, 2), (2, 12)]);
        assert_eq!(pieces("a\n // -----\nb"), [(0, 13)]);
    }

    #[test]
    fn a_function_ends_where_its_brace_is_indented_like_it() {
        let text = "module {\n  func {\n    %0 = a\n    b {\n    }\n  }\n  func {\n}\n";
        let source = Source::new("lines", text);
        let index = LineIndex::new(&source);
        let mut lines = LineCursor::new(text, &index, 0, text.len());
        assert_eq!(lines.count_lines_to_close(11), 3);
        assert_eq!(lines.count_lines_to_close(text.rfind("func").unwrap()), 0);
    }
}
