//! Names as the text form writes them.

use std::borrow::Cow;

use rustc_hash::FxBuildHasher;

/// Words that Python keeps for itself.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Names that stand for something else before a parenthesis.
const FUNCTIONS: [&str; 4] = ["abs", "max", "min", "range"];

/// Whether a character may start a name. Beyond ASCII, only letters that Python is sure to take.
pub(crate) fn starts_name(c: char) -> bool {
    c == '_'
        || c.is_ascii_alphabetic()
        || (c.is_alphabetic()
            && matches!(c, '\u{c0}'..='\u{24f}' | '\u{391}'..='\u{3c9}' | '\u{400}'..='\u{481}' | '\u{4e00}'..='\u{9fff}'))
}

/// Whether a character may stand in a name.
pub(crate) fn continues_name(c: char) -> bool {
    c.is_ascii_digit() || starts_name(c)
}

pub(crate) fn is_keyword(word: &str) -> bool {
    // Most names are longer, or start with another letter.
    (2..=8).contains(&word.len())
        && matches!(
            word.as_bytes()[0],
            b'F' | b'N' | b'T' | b'a'..=b'g' | b'i' | b'l' | b'n'..=b'p' | b'r' | b't' | b'w' | b'y'
        )
        && KEYWORDS.binary_search(&word).is_ok()
}

/// Whether Python would take this as a name.
pub(crate) fn is_identifier(name: &str) -> bool {
    if name.is_ascii() {
        let plain = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
        let starts = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
        return starts && name.bytes().all(plain) && !is_keyword(name);
    }
    let mut letters = name.chars();
    letters.next().is_some_and(starts_name) && letters.all(continues_name) && !is_keyword(name)
}

/// Whether a call of a function of the program can be written with its bare name.
pub(crate) fn is_plain_function(name: &str) -> bool {
    is_identifier(name) && name != "pi" && !FUNCTIONS.contains(&name)
}

/// Whether an operation can be written as `pi.op.name`.
pub(crate) fn is_dotted(name: &str) -> bool {
    name.split('.').all(is_identifier)
}

/// A name that Python takes, as close to `name` as can be.
pub(crate) fn sanitized(name: &str) -> Cow<'_, str> {
    if is_identifier(name) && name != "pi" {
        return Cow::Borrowed(name);
    }
    let mut clean: String =
        name.chars().take(200).map(|c| if continues_name(c) { c } else { '_' }).collect();
    if clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) {
        clean.insert(0, '_');
    }
    if is_keyword(&clean) || clean == "pi" {
        clean.push('_');
    }
    Cow::Owned(clean)
}

/// Gives out names that differ.
#[derive(Default)]
pub(crate) struct UniqueNames {
    taken: hashbrown::HashMap<Box<str>, u32, FxBuildHasher>,
}

impl UniqueNames {
    /// `wanted`, or with a number after it if it is taken.
    pub(crate) fn give<'n>(&mut self, wanted: &'n str) -> Cow<'n, str> {
        let wanted = sanitized(wanted);
        let Some(next) = self.taken.get_mut(&*wanted) else {
            self.taken.insert((&*wanted).into(), 1);
            return wanted;
        };
        let mut number = *next;
        loop {
            let candidate = format!("{wanted}_{number}");
            number += 1;
            if !self.taken.contains_key(candidate.as_str()) {
                self.taken.insert((&*wanted).into(), number);
                self.taken.insert(candidate.as_str().into(), 1);
                return Cow::Owned(candidate);
            }
        }
    }

    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.taken.contains_key(name)
    }
}

/// A Python string literal.
pub(crate) fn quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_merge() {
        let mut names = UniqueNames::default();
        let wanted = ["x", "x", "x_1", "x", "for", "", "1a", "a b", "pi", "größe", "x_1"];
        let given: Vec<Cow<'_, str>> = wanted.iter().map(|name| names.give(name)).collect();
        assert_eq!(
            given,
            ["x", "x_1", "x_1_1", "x_2", "for_", "_", "_1a", "a_b", "pi_", "größe", "x_1_2"]
        );
        assert!(KEYWORDS.is_sorted() && KEYWORDS.iter().all(|word| is_keyword(word)));
    }
}
