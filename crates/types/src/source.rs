//! Source texts, and the positions of their lines and characters.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::{FileId, Span};

/// A named source text. Cheap to clone; lines are located on first use.
///
/// Positions are byte offsets inside a parser and lines and columns outside. Converting one into the other
/// takes O(log lines) and does not depend on the length of the line. A line ends at `\n` or `\r\n`; the
/// terminator is not part of it. Offsets and positions outside the text, or inside a character, are moved to
/// the nearest valid place before them.
///
/// ```
/// use sapwood_types::Source;
///
/// let source = Source::new("a.ir", "x = 1\r\ny = größe\r\n");
/// assert_eq!(source.line_column(7), (2, 1));
/// assert_eq!(source.line(2), "y = größe");
/// assert_eq!(source.span(11..18).to_string(), "a.ir:2:5");
/// assert_eq!(source.span(11..18).end_column(), 10);
/// ```
#[derive(Clone)]
pub struct Source(Arc<SourceData>);

/// A source without a name of its own: `<text>`.
impl From<&str> for Source {
    fn from(text: &str) -> Self {
        Self::new("<text>", text)
    }
}

/// A source without a name of its own: `<text>`.
impl From<String> for Source {
    fn from(text: String) -> Self {
        Self::new("<text>", text)
    }
}

/// The data that all clones of a [`Source`] share.
struct SourceData {
    file: FileId,
    text: Box<str>,
    index: OnceLock<LineIndex>,
}

/// The distance in bytes between checkpoints of the character count; a lookup counts at most this many bytes.
const CHECKPOINT_STRIDE: usize = 256;

/// The positions of lines and characters in a text.
struct LineIndex {
    /// The byte offset at which each line starts; the first is 0.
    line_starts: Vec<usize>,
    /// The number of characters that start before byte `k * CHECKPOINT_STRIDE`; empty if all characters are one
    /// byte.
    chars_before: Vec<usize>,
}

impl LineIndex {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let line_starts = line_starts(bytes);
        let chars_before = if text.is_ascii() {
            Vec::new()
        } else {
            let starts_in =
                |chunk: &[u8]| chunk.iter().filter(|byte| is_char_start(**byte)).count();
            let running = bytes.chunks(CHECKPOINT_STRIDE).scan(0, |before, chunk| {
                let here = *before;
                *before += starts_in(chunk);
                Some(here)
            });
            running.collect()
        };
        Self { line_starts, chars_before }
    }
}

fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(bytes.len() / 64 + 1);
    starts.push(0);
    starts.extend(memchr::memchr_iter(b'\n', bytes).map(|end| end + 1));
    starts
}

fn is_char_start(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

impl Source {
    /// Creates a source from a text and the name of its file.
    #[must_use]
    pub fn new(name: &str, text: impl Into<Box<str>>) -> Self {
        let (file, text) = (FileId::intern(name), text.into());
        Self(Arc::new(SourceData { file, text, index: OnceLock::new() }))
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.0.file.name()
    }

    /// Returns the interned name of the file.
    #[must_use]
    pub fn file(&self) -> FileId {
        self.0.file
    }

    /// Returns the whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Returns the number of lines; a final newline starts one more, empty line.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.index().line_starts.len()
    }

    /// The byte offset at which each line starts; the first is 0.
    #[must_use]
    pub fn line_starts(&self) -> &[usize] {
        &self.index().line_starts
    }

    /// Returns the text of a line, counted from 1, without its terminator; empty if the line does not exist.
    #[must_use]
    pub fn line(&self, line: u32) -> &str {
        self.line_range(line).map_or("", |range| &self.text()[range])
    }

    /// Returns the line and column, counted from 1, of a byte offset.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (u32, u32) {
        let offset = self.text().floor_char_boundary(offset);
        let line = self.index().line_starts.partition_point(|start| *start <= offset);
        let line = saturating_u32(line);
        let Some(range) = self.line_range(line) else { return (line, 1) };
        let column = self.chars_before(offset.min(range.end)) - self.chars_before(range.start);
        (line, saturating_u32(column + 1))
    }

    /// Returns the byte offset of a line and column, both counted from 1.
    #[must_use]
    pub fn offset(&self, line: u32, column: u32) -> usize {
        let Some(range) = self.line_range(line.max(1)) else { return self.text().len() };
        let skip = column.saturating_sub(1) as usize;
        if self.index().chars_before.is_empty() {
            return range.start.saturating_add(skip).min(range.end);
        }
        // Jump to the last checkpoint that is not past the wanted character, then count.
        let wanted = self.chars_before(range.start).saturating_add(skip);
        let checkpoints = &self.index().chars_before;
        let checkpoint = checkpoints.partition_point(|before| *before <= wanted) - 1;
        let mut left = wanted - checkpoints[checkpoint];
        let mut at = checkpoint * CHECKPOINT_STRIDE;
        let bytes = self.text().as_bytes();
        while at < range.end && (left > 0 || !is_char_start(bytes[at])) {
            left -= usize::from(is_char_start(bytes[at]));
            at += 1;
        }
        while at < range.end && !is_char_start(bytes[at]) {
            at += 1;
        }
        at.clamp(range.start, range.end)
    }

    /// Returns the span of a range of bytes.
    #[must_use]
    pub fn span(&self, bytes: Range<usize>) -> Span {
        let (begin_line, begin_column) = self.line_column(bytes.start);
        let (end_line, end_column) = self.line_column(bytes.end.max(bytes.start));
        Span::new(self.0.file, begin_line, begin_column, end_line, end_column)
    }

    /// Returns the range of bytes of a span; `None` if it is in another file or its line is not known.
    #[must_use]
    pub fn range(&self, span: Span) -> Option<Range<usize>> {
        if span.file() != self.0.file || span.begin_line() == 0 {
            return None;
        }
        let begin = self.offset(span.begin_line(), span.begin_column());
        let end = self.offset(span.end_line(), span.end_column());
        Some(begin..end.max(begin))
    }

    /// Returns the bytes of a line without its terminator.
    pub(crate) fn line_range(&self, line: u32) -> Option<Range<usize>> {
        let starts = &self.index().line_starts;
        let number = line as usize;
        let start = *starts.get(number.checked_sub(1)?)?;
        let end = match starts.get(number) {
            Some(next) => {
                let bytes = self.text().as_bytes();
                let end = next - 1;
                if end > start && bytes[end - 1] == b'\r' { end - 1 } else { end }
            }
            None => self.text().len(),
        };
        Some(start..end)
    }

    /// Returns the number of characters that start before a byte offset on a character boundary.
    fn chars_before(&self, offset: usize) -> usize {
        let checkpoints = &self.index().chars_before;
        if checkpoints.is_empty() {
            return offset;
        }
        // The end of the text may lie exactly one stride after the last checkpoint.
        let checkpoint = (offset / CHECKPOINT_STRIDE).min(checkpoints.len() - 1);
        let rest = &self.text().as_bytes()[checkpoint * CHECKPOINT_STRIDE..offset];
        checkpoints[checkpoint] + rest.iter().filter(|byte| is_char_start(**byte)).count()
    }

    fn index(&self) -> &LineIndex {
        self.0.index.get_or_init(|| LineIndex::new(&self.0.text))
    }
}

fn saturating_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?}, {} bytes)", self.name(), self.text().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the result of `line_column` in the slow way.
    fn slow_line_column(text: &str, offset: usize) -> (u32, u32) {
        let offset = text.floor_char_boundary(offset);
        let before = &text[..offset];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = &text[start..];
        let content = rest
            .find('\n')
            .map_or(rest, |end| rest[..end].strip_suffix('\r').unwrap_or(&rest[..end]));
        let stop = (offset - start).min(content.len());
        (saturating_u32(line), saturating_u32(content[..stop].chars().count() + 1))
    }

    #[test]
    fn every_offset_of_awkward_texts() {
        let long = format!("{}\n{}é{}\r\nend", "ab".repeat(400), "€".repeat(300), "x".repeat(600));
        let exact = "é".repeat(CHECKPOINT_STRIDE / 2);
        let texts = [
            "",
            "\n",
            "\r\n",
            "a",
            "a\n",
            "a\r\nb",
            "a\rb\n",
            "\n\n\n",
            "tab\there\n",
            "größe\n日本\n",
            "\u{feff}x",
            "no newline at end",
            &long,
            &exact,
        ];
        for text in texts {
            let source = Source::new("awkward", text);
            for offset in 0..=text.len() + 3 {
                let (line, column) = source.line_column(offset);
                assert_eq!((line, column), slow_line_column(text, offset), "{text:?} at {offset}");
                let back = source.offset(line, column);
                assert_eq!(source.line_column(back), (line, column), "{text:?} at {offset}");
                if text.is_char_boundary(offset)
                    && !matches!(text.as_bytes().get(offset), Some(b'\n'))
                {
                    assert_eq!(back, offset, "{text:?} at {offset}");
                }
            }
        }
    }

    #[test]
    fn places_that_do_not_exist_are_clamped() {
        let source = Source::new("clamped", "ab\ncé");
        assert_eq!(source.offset(0, 0), 0);
        assert_eq!(source.offset(1, 99), 2);
        assert_eq!(source.offset(2, u32::MAX), 6);
        assert_eq!(source.offset(u32::MAX, 1), 6);
        assert_eq!(source.line(3), "");
        assert_eq!(source.line(0), "");
        assert_eq!(source.range(Span::new("another file", 1, 1, 1, 2)), None);
        assert_eq!(source.range(Span::unknown()), None);
        assert_eq!(source.range(Span::new("clamped", 2, 2, 1, 1)), Some(4..4));
        let backwards = source.span(Range { start: 4, end: 1 });
        assert_eq!((backwards.begin_line(), backwards.end_line()), (2, 2));
    }

    #[test]
    fn lookups_in_a_very_long_line_do_not_count_from_its_start() {
        // Counting from the line's start, this many would take many minutes.
        let source = Source::new("long", "é".repeat(10_000_000));
        for n in 0..100_000 {
            let offset = n * 200;
            let (line, column) = source.line_column(offset);
            assert_eq!((line, column as usize), (1, n * 100 + 1));
            assert_eq!(source.offset(line, column), offset);
        }
    }
}
