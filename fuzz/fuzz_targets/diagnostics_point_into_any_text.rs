//! Converting a byte offset to a line and column and back, and drawing carets there, never panics.
#![no_main]
use libfuzzer_sys::fuzz_target;
use sapwood_types::{Diagnostic, Source, Span};

fuzz_target!(|input: (String, usize, usize, u32, u32)| {
    let (text, begin, end, line, column) = input;
    let source = Source::new("fuzz", text);
    let span = source.span(begin..end);
    let at = source.offset(span.begin_line(), span.begin_column());
    assert_eq!(source.line_column(at), (span.begin_line(), span.begin_column()));
    let wild = Span::new("fuzz", line, column, column, line);
    for span in [span, wild] {
        let drawn = Diagnostic::error(span, "m").with_note_at(wild, "n").render(&source);
        assert!(drawn.len() < 20_000);
    }
});
