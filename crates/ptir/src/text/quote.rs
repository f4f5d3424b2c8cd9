//! Quotes of the source text that a function was read from. Statements have the form `%a, %b:2 = op …`, and the span
//! of an instruction starts at the op.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::func::{Function, QuotedSource};
use crate::ids::{InstId, ValueId};

/// The number of bytes above which quoted literals and strings are elided.
const MAX_QUOTED_LITERAL: usize = 64;

/// The statements and value names in the source text of a function.
pub(super) struct SourceQuotes<'a> {
    function: &'a Function,
    quoted: &'a QuotedSource,
    /// By instruction of the original function: the positions of its statement and of its op.
    places: Vec<Option<(usize, usize)>>,
    /// By value of the original function: its name.
    names: Vec<Option<Box<str>>>,
}

impl<'a> SourceQuotes<'a> {
    /// Finds the statements of a function that has a quoted source. O(n).
    pub(super) fn new(function: &'a Function) -> Option<Self> {
        let quoted = function.quoted.as_deref()?;
        let f = &*quoted.original;
        let mut quotes = Self {
            function,
            quoted,
            places: vec![None; f.inst_capacity()],
            names: vec![None; f.value_capacity()],
        };
        quotes.collect_param_names();
        let mut insts = f.walk().peekable();
        while let Some(inst) = insts.next() {
            // If one statement became several instructions, the last one has its results.
            let span = f.inst_span(inst);
            let last = insts.peek().is_none_or(|&next| f.inst_span(next) != span);
            if last && let Some(range) = quoted.source.range(span) {
                quotes.collect_result_names(inst, range.start);
            }
        }
        Some(quotes)
    }

    // Collects the names of parameters: from value hints and, for names that are numbers, from the signature.
    fn collect_param_names(&mut self) {
        let f = &*self.quoted.original;
        let inside =
            f.walk().flat_map(|inst| f.regions(inst)).flat_map(|&body| f.body_params(body));
        for &param in f.params().iter().chain(inside) {
            self.names[param.index()] = f.hint(param).map(Into::into);
        }
        let Some(range) = self.quoted.source.range(f.span()) else { return };
        let signature = &self.quoted.source.text()[range];
        let written: Vec<&str> = value_names(signature).collect();
        if written.len() == f.params().len() {
            for (&param, name) in f.params().iter().zip(written) {
                self.names[param.index()] = Some(name.into());
            }
        }
    }

    fn collect_result_names(&mut self, inst: InstId, op: usize) {
        let f = &*self.quoted.original;
        let text = self.quoted.source.text();
        let (start, names) = result_names(text, op);
        if names.iter().map(|(_, count)| count).sum::<usize>() != f.inst_results(inst).len() {
            return;
        }
        self.places[inst.index()] = Some((start, op));
        let mut values = f.inst_results(inst);
        for (name, count) in names {
            for (n, value) in values.by_ref().take(count).enumerate() {
                let name = if count == 1 { name.into() } else { format!("{name}#{n}").into() };
                self.names[value.index()] = Some(name);
            }
        }
    }

    /// Iterates over the names of values, without `%`.
    pub(super) fn names(&self) -> impl Iterator<Item = (ValueId, &str)> {
        let names = self.names.iter().enumerate();
        names.filter_map(|(n, name)| Some((ValueId::new(n), name.as_deref()?)))
    }

    /// Returns a number from which on no number is the name of a value. Very large numbers are ignored, so that
    /// enough are left.
    pub(super) fn first_free(&self) -> u32 {
        let number = |name: &str| name.split('#').next()?.parse::<u32>().ok();
        let numbers = self.names.iter().flatten().filter_map(|name| number(name));
        numbers.filter(|n| *n < u32::MAX / 2).max().map_or(0, |n| n + 1)
    }

    /// Returns the statement of an instruction on one line, with regions and long literals elided. Returns `None` if
    /// the instruction has no statement, was changed since, or has operands that the statement does not name.
    pub(super) fn statement(&self, inst: InstId) -> Option<String> {
        let (start, _) = self.place(inst)?;
        let f = self.function;
        let end = self.quoted.source.range(f.inst_span(inst))?.end;
        let text = shorten_statement(&self.quoted.source.text()[start..end]);
        let tokens: HashSet<&str, FxBuildHasher> = value_names(&text).collect();
        let name = |value: &ValueId| self.names[value.index()].as_deref();
        let named = |value: &ValueId| name(value).is_some_and(|name| tokens.contains(name));
        let all_named = f.operands(inst).iter().all(named);
        drop(tokens);
        all_named.then_some(text)
    }

    /// Returns the name of an instruction's op as it is written in the source.
    pub(super) fn op(&self, inst: InstId) -> Option<&'a str> {
        let (_, op) = self.place(inst)?;
        let text = self.quoted.source.text()[op..].trim_start_matches('"');
        let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_.-$".contains(c)));
        Some(&text[..end.unwrap_or(text.len())])
    }

    // Returns the positions of an instruction's statement and of its op, if the instruction is unchanged.
    fn place(&self, inst: InstId) -> Option<(usize, usize)> {
        let place = (*self.places.get(inst.index())?)?;
        let (f, original) = (self.function, &*self.quoted.original);
        let data = |f: &Function| {
            let data = &f.dfg.insts[inst.index()];
            (data.key, data.attrs, f.inst_span(inst))
        };
        let same = data(f) == data(original) && f.operands(inst) == original.operands(inst);
        same.then_some(place)
    }
}

// Returns the names before the `=` that precedes an op, each with its number of results, and the position at which
// they start.
fn result_names(text: &str, op: usize) -> (usize, Vec<(&str, usize)>) {
    let mut names = Vec::new();
    let mut start = op;
    let Some(mut before) = text[..op].trim_end().strip_suffix('=') else { return (op, names) };
    loop {
        before = before.trim_end();
        let at = before.rfind(|c: char| !(is_name_char(c) || c == ':'));
        let Some(at) = at.filter(|&at| before.as_bytes()[at] == b'%') else {
            return (op, Vec::new());
        };
        let (name, count) = before[at + 1..].split_once(':').unwrap_or((&before[at + 1..], "1"));
        let Ok(count) = count.parse() else { return (op, Vec::new()) };
        names.push((name, count));
        start = start.min(at);
        match before[..at].trim_end().strip_suffix(',') {
            Some(rest) => before = rest,
            None => break,
        }
    }
    names.reverse();
    (start, names)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')
}

// Iterates over the value names in a text, with `#1` where it follows.
fn value_names(text: &str) -> impl Iterator<Item = &str> {
    text.split('%').skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !(is_name_char(c) || c == '#')).unwrap_or(rest.len());
        (end > 0).then_some(&rest[..end])
    })
}

// Shortens a statement to one line: regions become `{ ... }`, long literals and strings `...`.
fn shorten_statement(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = match c {
            '{' => matching_close(text, at)
                .filter(|&end| text[at..end].contains('\n') || out.ends_with('(')),
            '<' if out.ends_with("dense") => {
                matching_close(text, at).filter(|&end| end - at > MAX_QUOTED_LITERAL)
            }
            '"' => matching_close(text, at),
            _ => None,
        };
        match (end, c) {
            (Some(end), '"') if end - at <= MAX_QUOTED_LITERAL => {
                out += &text[at..end];
                while chars.next_if(|(at, _)| *at < end).is_some() {}
            }
            (Some(end), _) => {
                out += match c {
                    '{' => "{ ... }",
                    '<' => "<...>",
                    _ => "\"...\"",
                };
                while chars.next_if(|(at, _)| *at < end).is_some() {}
            }
            (None, '/') if text[at..].starts_with("//") => {
                while chars.next_if(|(_, c)| *c != '\n').is_some() {}
            }
            (None, c) if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            (None, c) => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

// Returns the position of the closing bracket for an opening one, ignoring strings, comments and arrows.
fn matching_close(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut string, mut at) = (0usize, false, start);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' if string => at += 1,
            b'"' => {
                string = !string;
                if !string && depth == 0 {
                    return Some(at);
                }
            }
            _ if string => {}
            b'/' if bytes.get(at) == Some(&b'/') => {
                at += bytes[at..].iter().take_while(|&&byte| byte != b'\n').count();
            }
            b'{' | b'(' | b'[' | b'<' => depth += 1,
            b'>' if at >= 2 && bytes[at - 2] == b'-' => {}
            b'}' | b')' | b']' | b'>' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_a_statement_are_found_before_its_op() {
        let of = |text: &'static str| result_names(text, text.find("op").unwrap());
        assert_eq!(of("  %60 = op %1"), (2, vec![("60", 1)]));
        assert_eq!(of("%a:2, %b = op"), (0, vec![("a", 2), ("b", 1)]));
        assert_eq!(of("return %x : i32 %1 = op"), (16, vec![("1", 1)]));
        assert_eq!(of("{ op }"), (2, vec![]));
        assert_eq!(of("a = op"), (4, vec![]));
        assert_eq!(of("%a:b = op"), (7, vec![]));
    }

    #[test]
    fn a_statement_becomes_one_line() {
        let text = "%0 = w(%i = %c) : t cond {\n  %1 = lt %i, %c {a = 1}\n} do {\n  return\n}";
        assert_eq!(shorten_statement(text), "%0 = w(%i = %c) : t cond { ... } do { ... }");
        assert_eq!(
            shorten_statement("r(%x) ({ ^bb0: m }) {dims = [1]} : (t) -> t"),
            "r(%x) ({ ... }) {dims = [1]} : (t) -> t"
        );
        let long = format!("constant dense<[{}1]> : t", "1, ".repeat(40));
        assert_eq!(shorten_statement(&long), "constant dense<...> : t");
        assert_eq!(
            shorten_statement("custom_call @f(%0) {s = \"a{b\"} : t // why"),
            "custom_call @f(%0) {s = \"a{b\"} : t"
        );
    }

    #[test]
    fn strings_of_a_statement_are_kept_whole() {
        let short = "custom_call @f(%0) {url = \"http://a  b\"} : t";
        assert_eq!(shorten_statement(short), short);
        let names = "name = 1, ".repeat(8);
        let apart = format!("custom_call @f(%0) {{a = \"x\", {names}b = \"y\"}} : t");
        assert_eq!(shorten_statement(&apart), apart);
        let long = format!("custom_call @f(%0) {{a = \"x\", b = \"{names}\"}} : t // \"");
        assert_eq!(shorten_statement(&long), "custom_call @f(%0) {a = \"x\", b = \"...\"} : t");
    }

    #[test]
    fn comments_close_nothing() {
        let text = "w(%i) cond {\n  // a \" and a }\n  return // {\n} do {\n  return\n} : t // \"";
        assert_eq!(shorten_statement(text), "w(%i) cond { ... } do { ... } : t");
    }
}
