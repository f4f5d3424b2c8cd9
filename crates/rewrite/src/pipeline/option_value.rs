//! The values of options as text.

use std::path::PathBuf;
use std::str::FromStr;

use sapwood_types::FloatMode;

use crate::cost_goals::CostGoals;

/// A value of an option of a pass. Reading its text gives the value back.
pub trait OptionValue: Sized {
    /// Parses the value.
    ///
    /// # Errors
    /// If the text is not such a value; the reason completes `option … cannot be …: `.
    fn from_text(text: &str) -> Result<Self, String>;

    /// Returns the value as text.
    fn to_text(&self) -> String;
}

fn parse<T: FromStr>(text: &str, expected: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {expected}"))
}

macro_rules! option_values {
    ($($type:ty: $expected:literal),*) => {
        $(impl OptionValue for $type {
            fn from_text(text: &str) -> Result<Self, String> {
                parse(text, $expected)
            }

            fn to_text(&self) -> String {
                self.to_string()
            }
        })*
    };
}

option_values!(
    usize: "a number from 0 on",
    u64: "a number from 0 on",
    bool: "`true` or `false`",
    CostGoals: "flops, bytes or memory, or several separated by `|`"
);

impl OptionValue for FloatMode {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

impl OptionValue for Option<usize> {
    fn from_text(text: &str) -> Result<Self, String> {
        parse(text, "a number from 0 on").map(Some)
    }

    fn to_text(&self) -> String {
        self.map_or_else(String::new, |n| n.to_string())
    }
}

/// A list of names, separated by `|`. A name in double quotes may contain any character.
impl OptionValue for Vec<String> {
    fn from_text(text: &str) -> Result<Self, String> {
        split_names(text)
    }

    fn to_text(&self) -> String {
        join_names(self.iter().map(String::as_str))
    }
}

/// A list of paths, written like a list of names. A path that is not Unicode is written with replacement characters.
impl OptionValue for Vec<PathBuf> {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(split_names(text)?.into_iter().map(PathBuf::from).collect())
    }

    fn to_text(&self) -> String {
        let names: Vec<_> = self.iter().map(|path| path.to_string_lossy()).collect();
        join_names(names.iter().map(|name| &**name))
    }
}

fn join_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for (n, name) in names.enumerate() {
        out += if n > 0 { "|" } else { "" };
        let special = |c: char| c.is_whitespace() || c.is_control() || "{}(),|=\"\\".contains(c);
        if !name.is_empty() && !name.contains(special) {
            out += name;
            continue;
        }
        out.push('"');
        for c in name.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\n' => out += "\\n",
                '\r' => out += "\\r",
                _ => out.push(c),
            }
        }
        out.push('"');
    }
    out
}

fn split_names(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_name(quoted)?,
            None => {
                let (name, after) = rest.split_at(rest.find('|').unwrap_or(rest.len()));
                if name.is_empty() {
                    return Err("expected names separated by `|`".into());
                }
                (name.to_owned(), after)
            }
        };
        names.push(name);
        match after.strip_prefix('|') {
            Some(more) => rest = more,
            None if after.is_empty() => return Ok(names),
            None => return Err(format!("expected `|` before `{after}`")),
        }
    }
}

// Returns the name in quotes whose opening quote has been read, and the text after it.
fn quoted_name(text: &str) -> Result<(String, &str), String> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((n, c)) = chars.next() {
        match c {
            '"' => return Ok((name, &text[n + 1..])),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => name.push('\n'),
                Some('r') => name.push('\r'),
                Some(c @ ('"' | '\\')) => name.push(c),
                Some(c) => return Err(format!("unknown escape `\\{c}`")),
                None => break,
            },
            _ => name.push(c),
        }
    }
    Err("the quote is not closed".into())
}

/// Returns the length of the value at the start of a text: up to a `,` or `}` outside quotes.
pub(super) fn value_len(text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (n, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' | '}' if !quoted => return n,
            _ => {}
        }
    }
    // A quote that is not closed ends like a value without quotes, so that the rest of the pipeline is still read.
    if quoted { text.find([',', '}']).unwrap_or(text.len()) } else { text.len() }
}
