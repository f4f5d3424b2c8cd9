//! Names and string literals of the text form.

use std::borrow::Cow;

use rustc_hash::FxBuildHasher;

/// The keywords of Python.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Names with a built-in meaning before a parenthesis.
const RESERVED_FUNCTIONS: [&str; 4] = ["abs", "max", "min", "range"];

/// Returns whether a character may start a name. Beyond ASCII, only letters that every Python version accepts.
pub(crate) fn can_start_name(c: char) -> bool {
    c == '_'
        || c.is_ascii_alphabetic()
        || (c.is_alphabetic()
            && matches!(c, '\u{c0}'..='\u{24f}' | '\u{391}'..='\u{3c9}' | '\u{400}'..='\u{481}' | '\u{4e00}'..='\u{9fff}'))
}

/// Returns whether a character may appear in a name after the first.
pub(crate) fn can_continue_name(c: char) -> bool {
    c.is_ascii_digit() || can_start_name(c)
}

pub(crate) fn is_keyword(word: &str) -> bool {
    // A cheap test that rejects most names: by length and by first letter.
    (2..=8).contains(&word.len())
        && matches!(
            word.as_bytes()[0],
            b'F' | b'N' | b'T' | b'a'..=b'g' | b'i' | b'l' | b'n'..=b'p' | b'r' | b't' | b'w' | b'y'
        )
        && KEYWORDS.binary_search(&word).is_ok()
}

// By byte: whether it is an ASCII character that may appear in a name after the first.
const CONTINUES_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = byte == b'_' as usize || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Returns whether a name is a Python identifier.
pub(crate) fn is_identifier(name: &str) -> bool {
    if name.bytes().all(|byte| CONTINUES_NAME[usize::from(byte)]) {
        let starts = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
        return starts && !is_keyword(name);
    }
    let mut letters = name.chars();
    letters.next().is_some_and(can_start_name)
        && letters.all(can_continue_name)
        && !is_keyword(name)
}

/// Returns whether a call of a function of the program can be written with its bare name.
pub(crate) fn is_bare_function_name(name: &str) -> bool {
    is_identifier(name) && name != "pi" && !RESERVED_FUNCTIONS.contains(&name)
}

/// Returns whether an op name can be written as `pi.op.name`.
pub(crate) fn is_dotted_name(name: &str) -> bool {
    name.split('.').all(is_identifier)
}

/// Returns a Python identifier as close to `name` as possible.
pub(crate) fn sanitized_identifier(name: &str) -> Cow<'_, str> {
    if is_identifier(name) && name != "pi" {
        return Cow::Borrowed(name);
    }
    let mut clean: String =
        name.chars().take(200).map(|c| if can_continue_name(c) { c } else { '_' }).collect();
    if clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) {
        clean.insert(0, '_');
    }
    if is_keyword(&clean) || clean == "pi" {
        clean.push('_');
    }
    Cow::Owned(clean)
}

/// A set of reserved names that produces unique new ones.
#[derive(Default)]
pub(crate) struct UniqueNames {
    taken: hashbrown::HashMap<Box<str>, u32, FxBuildHasher>,
}

impl UniqueNames {
    /// Reserves and returns `wanted`, with a number appended if it is taken.
    pub(crate) fn reserve<'n>(&mut self, wanted: &'n str) -> Cow<'n, str> {
        let wanted = sanitized_identifier(wanted);
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

/// Returns the text as a Python string literal.
pub(crate) fn python_string_literal(text: &str) -> String {
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
        let given: Vec<Cow<'_, str>> = wanted.iter().map(|name| names.reserve(name)).collect();
        assert_eq!(
            given,
            ["x", "x_1", "x_1_1", "x_2", "for_", "_", "_1a", "a_b", "pi_", "größe", "x_1_2"]
        );
        assert!(KEYWORDS.is_sorted() && KEYWORDS.iter().all(|word| is_keyword(word)));
    }
}
