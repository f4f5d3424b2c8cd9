//! Keeps phrases out of the repository that readers stumble over. `docs/glossary.md` lists the words to use.

use std::path::Path;

use super::{files, report, shown, text};

/// Searched in these files, comments and names included.
const SEARCHED: &[&str] = &["rs", "py", "pyi", "ts", "md"];
/// Not searched: pages that are generated from text searched elsewhere, and the list itself.
const NOT_SEARCHED: &[&str] =
    &["docs/reference/check-mutants", "crates/testing/tests/tidy/plain_english.rs"];

/// A phrase, the same phrase where it is fine, and what to write instead.
const PHRASES: &[(&str, &[&str], &str)] = &[
    ("is said", &[], "name who reports it: the error, the table, the page"),
    ("are said", &[], "name who reports it: the error, the table, the page"),
    ("says so", &[], "name what it reports"),
    ("said so", &[], "name what it reports"),
    ("stand", &["stand for", "stand alone"], "is, appears, comes, is stored"),
    ("stands", &["stands for", "stands alone"], "is, appears, comes, is stored"),
    ("nobody", &[], "no caller, no pass, no user"),
    ("somebody", &[], "a caller, a pass, a user"),
    ("whoever", &[], "the caller, the reader"),
    ("so many", &[], "this number of, up to"),
    ("is told", &[], "is notified, receives"),
    ("are told", &[], "are notified, receive"),
    ("was told", &[], "was notified, received"),
    ("hear", &[], "receive, be notified"),
    ("hears", &[], "receives, is notified"),
    ("complains", &[], "reports"),
    ("complaint", &[], "diagnostic, error"),
    ("complaints", &[], "diagnostics, errors"),
    ("put off", &[], "defer"),
    ("puts off", &[], "defers"),
    ("take back", &[], "roll back"),
    ("takes back", &[], "rolls back"),
    ("taken back", &[], "rolled back"),
    ("took back", &[], "rolled back"),
    ("deaf", &[], "without listeners"),
    ("trouble", &[], "error, problem"),
    ("is a lie", &[], "breaks the contract"),
    ("what passes did", &[], "the changes of the passes"),
    ("what it does to", &[], "its effect on"),
];

/// No doc comment begins with one of these words: its first line should make sense in a list of search results.
const BEGINNINGS: &[&str] =
    &["The same", "What", "Where", "Whether", "How", "Which", "Who", "Why", "So that"];

#[test]
fn pages_and_code_are_in_plain_english() {
    let mut problems = Vec::new();
    for file in searched() {
        for (number, line) in text(&file).lines().enumerate() {
            let at = || format!("{}:{}", shown(&file), number + 1);
            let words = words(line);
            for (phrase, fine, instead) in PHRASES {
                let found = words.matches(&format!(" {phrase} ")).count();
                let allowed: usize =
                    fine.iter().map(|f| words.matches(&format!(" {f} ")).count()).sum();
                if found > allowed {
                    problems.push(format!("{}: \"{phrase}\"; write: {instead}", at()));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn doc_comments_begin_with_a_verb_or_a_noun() {
    let mut problems = Vec::new();
    for file in searched() {
        let source = text(&file);
        let mut inside = false;
        for (number, line) in source.lines().enumerate() {
            let doc = doc_text(&file, line);
            let first = doc.filter(|_| !inside);
            inside = doc.is_some() && line.trim_start().starts_with("//");
            let Some(first) = first else { continue };
            if let Some(start) = BEGINNINGS.iter().find(|b| begins(first, b)) {
                problems.push(format!(
                    "{}:{}: a doc comment begins with \"{start}\"; begin with a verb (Returns, Reads) or a noun",
                    shown(&file),
                    number + 1
                ));
            }
        }
    }
    report(&problems);
}

#[test]
fn the_search_finds_and_lets_pass() {
    assert!(words("/// Who is told.").contains(" is told "));
    assert!(words("fn nobody_hears_it()").contains(" nobody hears "));
    assert!(!words("a standard").contains(" stand "));
    let rust = Path::new("a.rs");
    assert_eq!(doc_text(rust, "    /// What it is."), Some("What it is."));
    assert_eq!(doc_text(rust, "    // What it is."), None);
    assert_eq!(doc_text(Path::new("a.py"), "    \"\"\"How it is."), Some("How it is."));
    assert!(begins("What it is", "What") && !begins("Whatever", "What"));
}

fn searched() -> impl Iterator<Item = std::path::PathBuf> {
    files().into_iter().filter(|file| {
        let name = shown(file);
        file.extension().is_some_and(|e| SEARCHED.iter().any(|s| e == *s))
            && !name.starts_with("tests/golden/")
            && !NOT_SEARCHED.iter().any(|start| name.starts_with(start))
    })
}

/// The words of a line in lower case, with one space before and after each; underscores and punctuation separate words.
fn words(line: &str) -> String {
    let mut words = String::from(" ");
    for word in line.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|w| !w.is_empty()) {
        words.push_str(&word.to_lowercase());
        words.push(' ');
    }
    words
}

/// The text of a line of documentation.
fn doc_text<'a>(file: &Path, line: &'a str) -> Option<&'a str> {
    let line = line.trim_start();
    let leads: &[&str] = match file.extension().and_then(|e| e.to_str()) {
        Some("rs") => &["///", "//!"],
        Some("py" | "pyi") => &["\"\"\""],
        _ => &[],
    };
    leads.iter().find_map(|lead| line.strip_prefix(lead)).map(str::trim_start)
}

fn begins(text: &str, start: &str) -> bool {
    text.strip_prefix(start)
        .is_some_and(|rest| rest.chars().next().is_none_or(|c| !c.is_alphanumeric()))
}
