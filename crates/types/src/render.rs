//! Rendering of diagnostics as source lines with carets.

use std::ops::Range;

use annotate_snippets::{
    AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};

use crate::{Diagnostic, Diagnostics, Severity, Source, Span};

/// The most characters of a line that is shown whole; a longer line is cut around the caret.
const MAX_LINE_CHARS: usize = 140;
/// The number of characters of a cut line before the caret.
const CHARS_BEFORE_CARET: usize = 50;
/// The most lines of a span that is drawn whole; a longer span is drawn on its first line only.
const MAX_SPAN_LINES: u32 = 6;
/// The width given to the renderer: wider than any line we show, so that only this module cuts lines, with the
/// true column in the header.
const RENDERER_WIDTH: usize = 4096;

impl Diagnostic {
    /// Renders the diagnostic with its source line, carets, notes and help, without colour.
    ///
    /// If the span has a location with a scope, a note names it. A place in another file than `source` is given by name only. Very long lines are cut around the caret;
    /// the column in the header is the one in the file.
    #[must_use]
    pub fn render(&self, source: &Source) -> String {
        self.render_in(std::slice::from_ref(source), false)
    }

    /// Renders with the texts of several files, with or without terminal colours.
    #[must_use]
    pub fn render_in(&self, sources: &[Source], color: bool) -> String {
        let level = match self.severity {
            Severity::Note => Level::NOTE,
            Severity::Warning => Level::WARNING,
            Severity::Error => Level::ERROR,
        };
        let title = level.primary_title(self.message.as_str());
        let mut first = with_location(Group::with_title(title), self.span, sources);
        let (unplaced, placed): (Vec<_>, Vec<_>) =
            self.notes.iter().partition(|(span, _)| span.is_unknown());
        if let Some(scope) = self.span.loc().scope() {
            let note = format!("in {scope}");
            first = first.element(Level::NOTE.message(normalize_untrusted_str(&note)));
        }
        for (_, note) in unplaced {
            first = first.element(Level::NOTE.message(normalize_untrusted_str(note)));
        }
        if let Some(help) = &self.help {
            first = first.element(Level::HELP.message(normalize_untrusted_str(help)));
        }
        let mut groups = vec![first];
        for (span, note) in placed {
            let title = Level::NOTE.secondary_title(normalize_untrusted_str(note));
            groups.push(with_location(Group::with_title(title), *span, sources));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        remove_separator_lines(renderer.term_width(RENDERER_WIDTH).render(&groups))
    }
}

impl Diagnostics {
    /// Renders all diagnostics that were kept, like [`Diagnostic::render`], and the number of the others.
    #[must_use]
    pub fn render(&self, source: &Source) -> String {
        self.render_in(std::slice::from_ref(source), false)
    }

    /// Renders with the texts of several files, with or without terminal colours.
    #[must_use]
    pub fn render_in(&self, sources: &[Source], color: bool) -> String {
        let mut parts: Vec<String> = self.iter().map(|d| d.render_in(sources, color)).collect();
        if self.dropped() > 0 {
            parts.push(format!("… and {} more", self.dropped()));
        }
        parts.join("\n\n")
    }
}

/// Adds file, line and column to a group, and the source line if its text is known.
fn with_location<'a>(group: Group<'a>, span: Span, sources: &[Source]) -> Group<'a> {
    if span.is_unknown() {
        return group;
    }
    let name = if span.filename().is_empty() { "<unknown>" } else { span.filename() };
    let mut origin = Origin::path(name);
    if span.begin_line() > 0 {
        origin = origin.line(span.begin_line() as usize);
        if span.begin_column() > 0 {
            origin = origin.char_column(span.begin_column() as usize);
        }
    }
    let text = sources.iter().find_map(|source| Some((source, source.range(span)?)));
    let Some((source, bytes)) = text else { return group.element(origin) };
    let (first_line, _) = source.line_column(bytes.start);
    let Excerpt { text, caret, cut } = excerpt(source, bytes);
    let snippet = Snippet::source(text)
        .line_start(first_line as usize)
        .annotation(AnnotationKind::Primary.span(caret));
    if cut {
        // The renderer would count the column in the cut line, so name the place here.
        group.element(origin).element(snippet)
    } else {
        group.element(snippet.path(name))
    }
}

/// Removes the lines `:::` with which the renderer separates a snippet without a path.
fn remove_separator_lines(drawn: String) -> String {
    if !drawn.contains(":::") {
        return drawn;
    }
    let is_separator = |line: &&str| line.contains(":::") && strip_styles(line).trim() == ":::";
    drawn.split('\n').filter(|line| !is_separator(line)).collect::<Vec<_>>().join("\n")
}

/// Removes terminal escapes, all of which end in `m` here.
fn strip_styles(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or("");
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, text)| text));
    std::iter::once(first).chain(rest).collect()
}

/// The part of a source text that is shown.
struct Excerpt {
    text: String,
    /// The bytes of `text` to draw carets under.
    caret: Range<usize>,
    /// True if a line was cut, so that columns in `text` are not those of the file.
    cut: bool,
}

/// Returns the lines of a range, cut where they are too long, and the position of the range in them.
fn excerpt(source: &Source, bytes: Range<usize>) -> Excerpt {
    let (first, _) = source.line_column(bytes.start);
    let (last, _) = source.line_column(bytes.end);
    let first_line = source.line_range(first).unwrap_or(0..0);
    let last_line = source.line_range(last).unwrap_or(0..0);
    if last - first < MAX_SPAN_LINES {
        let lines: Vec<&str> = (first..=last).map(|line| source.line(line)).collect();
        if lines.iter().all(|line| fits_in_line(line)) {
            // Terminators are one byte here, whatever they are in the file.
            let before_last: usize = lines[..lines.len() - 1].iter().map(|l| l.len() + 1).sum();
            let begin = (bytes.start - first_line.start).min(first_line.len());
            let end = before_last + (bytes.end - last_line.start).min(last_line.len());
            return Excerpt { text: lines.join("\n"), caret: begin..end.max(begin), cut: false };
        }
    }
    let text = source.text();
    let caret = bytes.start.min(first_line.end)..bytes.end.min(first_line.end);
    if fits_in_line(&text[first_line.clone()]) {
        let (begin, end) = (caret.start - first_line.start, caret.end - first_line.start);
        return Excerpt { text: text[first_line].to_owned(), caret: begin..end, cut: false };
    }
    let before = text[first_line.start..caret.start].char_indices().rev();
    let start =
        before.take(CHARS_BEFORE_CARET).last().map_or(caret.start, |(at, _)| first_line.start + at);
    let mut after = text[start..first_line.end].char_indices();
    let end = after.nth(MAX_LINE_CHARS).map_or(first_line.end, |(at, _)| start + at);
    let lead = if start > first_line.start { "…" } else { "" };
    let tail = if end < first_line.end { "…" } else { "" };
    let begin = lead.len() + caret.start - start;
    Excerpt {
        text: format!("{lead}{}{tail}", &text[start..end]),
        caret: begin..lead.len() + caret.end.min(end) - start,
        cut: true,
    }
}

fn fits_in_line(line: &str) -> bool {
    line.len() <= MAX_LINE_CHARS || line.chars().nth(MAX_LINE_CHARS).is_none()
}
