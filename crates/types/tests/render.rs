//! Tests of rendered diagnostics.

use sapwood_types::{Diagnostic, Diagnostics, Loc, LocKind, Source, Span};

#[track_caller]
fn check(actual: &str, expected: &str) {
    assert_eq!(actual, expected, "got:\n{actual}\nexpected:\n{expected}");
}

#[test]
fn one_line_with_notes_and_help() {
    let source = Source::new("shape.ptir", "%0 = arg\n%1 = add %0, %2\n");
    let error = Diagnostic::error(source.span(22..24), "unknown value `%2`")
        .with_note("values must be defined before they are used")
        .with_note_at(source.span(0..2), "this one is defined")
        .with_help("did you mean `%0`?");
    check(
        &error.render(&source),
        "error: unknown value `%2`
 --> shape.ptir:2:14
  |
2 | %1 = add %0, %2
  |              ^^
  |
  = note: values must be defined before they are used
  = help: did you mean `%0`?
note: this one is defined
 --> shape.ptir:1:1
  |
1 | %0 = arg
  | ^^",
    );
}

#[test]
fn tabs_wide_characters_and_crlf() {
    let source = Source::new("wide.ptir", "a\r\n\t日本 x\r\nb\r\n");
    let at = source.text().find('x').unwrap();
    check(
        &Diagnostic::error(source.span(at..at + 1), "no x").render(&source),
        "error: no x
 --> wide.ptir:2:5
  |
2 |     日本 x
  |          ^",
    );
}

#[test]
fn several_lines() {
    let source = Source::new("multi.ptir", "f(\r\n  a,\r\n  b\r\n)\r\n");
    check(
        &Diagnostic::error(source.span(0..source.text().len() - 2), "too many").render(&source),
        "error: too many
 --> multi.ptir:1:1
  |
1 | / f(
2 | |   a,
3 | |   b
4 | | )
  | |_^",
    );
}

#[test]
fn many_lines_show_the_first() {
    let source = Source::new("many.ptir", "abc\n".repeat(1_000));
    check(
        &Diagnostic::error(source.span(1..3_000), "long").render(&source),
        "error: long
 --> many.ptir:1:2
  |
1 | abc
  |  ^^",
    );
}

#[test]
fn places_without_text() {
    let source = Source::new("some.ptir", "abc");
    let elsewhere = Diagnostic::error(Span::new("other.ptir", 7, 3, 7, 4), "there");
    check(&elsewhere.render(&source), "error: there\n--> other.ptir:7:3");
    let nowhere = Diagnostic::warning(Span::unknown(), "nowhere").with_help("look around");
    check(&nowhere.render(&source), "warning: nowhere\n |\n = help: look around");
}

#[test]
fn the_end_of_the_text_and_beyond() {
    for text in ["", "abc", "abc\n", "abc\r\n", "é", "\u{0}\u{1b}[31m"] {
        let source = Source::new("end.ptir", text);
        for (begin, end) in [(0, 0), (text.len(), text.len()), (text.len(), 99), (99, 99), (0, 99)]
        {
            let shown =
                Diagnostic::error(source.span(begin..end), "unexpected end").render(&source);
            assert!(shown.starts_with("error: unexpected end\n --> end.ptir:"), "{shown}");
            assert!(!shown.contains('\u{1b}'), "{shown:?}");
        }
        for span in [
            Span::new("end.ptir", 99, 99, 99, 99),
            Span::new("end.ptir", 1, 99, 1, 1),
            Span::new("end.ptir", u32::MAX, u32::MAX, 0, 0),
            Span::new("end.ptir", 1, 0, 0, 0),
        ] {
            let shown = Diagnostic::error(span, "odd").render(&source);
            assert!(shown.starts_with("error: odd\n --> end.ptir:"), "{shown}");
        }
    }
}

#[test]
fn a_long_line_is_cut_around_the_caret() {
    let mut text = "é ".repeat(50_000_000 / 3);
    let middle = text.floor_char_boundary(text.len() / 2);
    text.insert_str(middle, "HERE");
    let source = Source::new("huge.ptir", text);
    let shown = Diagnostic::error(source.span(middle..middle + 4), "here").render(&source);
    assert!(shown.len() < 1_000, "{} bytes", shown.len());
    let lines: Vec<&str> = shown.lines().collect();
    let column = |line: &str, what: char| line.chars().position(|c| c == what);
    assert_eq!(column(lines[3], 'H'), column(lines[4], '^'), "{shown}");
    assert!(lines[4].ends_with("^^^^"), "{shown}");
    assert!(lines[1].starts_with(" --> huge.ptir:1:"), "{shown}");
    let whole = Diagnostic::error(source.span(0..source.text().len()), "all of it").render(&source);
    assert!(whole.len() < 2_000, "{} bytes", whole.len());
}

#[test]
fn several_diagnostics_and_the_count_of_the_rest() {
    let source = Source::new("list.ptir", "a b c");
    let mut all = Diagnostics::with_limit(2);
    for at in [0, 2, 4] {
        all.error(source.span(at..at + 1), "bad");
    }
    check(
        &all.render(&source),
        "error: bad
 --> list.ptir:1:1
  |
1 | a b c
  | ^

error: bad
 --> list.ptir:1:3
  |
1 | a b c
  |   ^

… and 1 more",
    );
}

#[test]
fn colours_only_when_asked_for() {
    let source = Source::new("color.ptir", "a");
    let error = Diagnostic::error(source.span(0..1), "bad");
    assert!(error.render_in(&[source], true).contains('\u{1b}'));
}

#[test]
fn a_scope_is_a_note() {
    let source = Source::new("a.mlir", "%0 = add %x, %y\n");
    let loc = Loc::new(LocKind::Name { name: "jit(f)/layer_3/add", child: Loc::UNKNOWN });
    let error = Diagnostic::error(source.span(5..8).with_loc(loc), "wrong");
    assert_eq!(
        error.render(&source),
        "error: wrong
 --> a.mlir:1:6
  |
1 | %0 = add %x, %y
  |      ^^^
  |
  = note: in jit(f)/layer_3/add"
    );
}
