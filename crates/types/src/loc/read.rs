//! The text of locations, in the syntax of MLIR: reading, with aliases such as `#loc7`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Loc, LocKind};
use crate::FileId;
use crate::mlir_string::unescape_mlir;

/// An error in the text of a location, with its place as a byte offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocError {
    /// The byte offset in the text.
    pub at: usize,
    /// The message.
    pub message: String,
}

/// An alias: the offset of `(` in its definition, and its state.
struct Alias {
    at: usize,
    state: AliasState,
}

enum AliasState {
    /// Not used yet.
    Defined,
    /// Being read.
    Open,
    Known(Loc),
    Failed(LocError),
}

/// The aliases of a text, `#loc7 = loc(…)`. They may be defined after they are used; each is read once.
#[derive(Default)]
pub struct LocAliases<'t> {
    aliases: HashMap<&'t str, Alias>,
}

/// A location that is being read: the rest follows after a nested location.
enum Frame<'t> {
    Name(Cow<'t, str>),
    CallSite(Option<Loc>),
    Fused {
        metadata: &'t str,
        locs: Vec<Loc>,
    },
    /// The definition of an alias. Reading continues at `resume`.
    Alias {
        name: &'t str,
        resume: usize,
    },
}

impl<'t> LocAliases<'t> {
    /// Creates a table without aliases.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an alias: the name without `#`, and the byte offset of `(` after `loc`.
    ///
    /// # Errors
    /// If the name is defined already. The first definition stays, and its offset is returned.
    pub fn define(&mut self, name: &'t str, at: usize) -> Result<(), usize> {
        match self.aliases.entry(name) {
            Entry::Occupied(first) => Err(first.get().at),
            Entry::Vacant(entry) => {
                entry.insert(Alias { at, state: AliasState::Defined });
                Ok(())
            }
        }
    }

    /// Returns the offset in the definition of an alias that [`define`](Self::define) was given.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<usize> {
        self.aliases.get(name).map(|alias| alias.at)
    }

    /// Adds the aliases that are defined at the beginning of a line, after white space or not. Returns an error for each name
    /// that is defined twice; its first definition stays.
    #[must_use]
    pub fn define_all(&mut self, text: &'t str) -> Vec<LocError> {
        let bytes = text.as_bytes();
        let mut twice = Vec::new();
        for line in std::iter::once(0).chain(memchr::memchr_iter(b'\n', bytes).map(|n| n + 1)) {
            let blanks = bytes[line..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
            let start = line + blanks;
            if bytes.get(start) == Some(&b'#') {
                let mut reader = Reader { text, at: start + 1, aliases: self };
                let name = reader.alias_name();
                if reader.eat(b'=') && reader.eat_word("loc") {
                    let at = reader.at;
                    if self.define(name, at).is_err() {
                        let message = format!("the location `#{name}` is defined twice");
                        twice.push(LocError { at: start, message });
                    }
                }
            }
        }
        twice
    }

    /// Reads `(…)` after `loc` at a byte offset. Returns the location and the offset after it.
    ///
    /// ```
    /// use sapwood_types::LocAliases;
    ///
    /// let text = "(#loc1)\n#loc1 = loc(\"jit(f)/add\"(\"f.py\":3:4 to :9))\n";
    /// let mut aliases = LocAliases::new();
    /// assert!(aliases.define_all(text).is_empty());
    /// let (loc, end) = aliases.read(text, 0).unwrap();
    /// assert_eq!((loc.scope().as_deref(), end), (Some("jit(f)/add"), 7));
    /// assert_eq!(loc.to_string(), "\"jit(f)/add\"(\"f.py\":3:4 to :9)");
    /// assert_eq!(aliases.read("(\"f.py\":3)", 0).unwrap_err().at, 9);
    /// ```
    ///
    /// # Errors
    /// If the text is no location, or an alias is not defined or contains itself.
    pub fn read(&mut self, text: &'t str, at: usize) -> Result<(Loc, usize), LocError> {
        let mut reader = Reader { text, at, aliases: self };
        reader.expect(b'(', "after `loc`")?;
        let loc = reader.location()?;
        reader.expect(b')', "after a location")?;
        Ok((loc, reader.at))
    }
}

impl std::str::FromStr for Loc {
    type Err = LocError;

    /// Reads the text between the parentheses of `loc(…)`, without aliases.
    fn from_str(text: &str) -> Result<Self, LocError> {
        read_locs(&[text]).map(|locs| locs[0]).map_err(|(_, error)| error)
    }
}

/// Reads the texts of a [`LocTable`](super::LocTable), each of which may use those before it as `#loc0`, `#loc1`, ….
///
/// # Errors
/// If a text is not one location: its position in the list, and the error, whose place is in that text.
pub fn read_locs<T: AsRef<str>>(texts: &[T]) -> Result<Vec<Loc>, (usize, LocError)> {
    // The list as definitions of aliases.
    let mut definitions = String::new();
    let mut starts = Vec::with_capacity(texts.len());
    for text in texts {
        starts.push(definitions.len());
        definitions.push('(');
        definitions.push_str(text.as_ref());
        definitions.push_str(")\n");
    }
    let names: Vec<String> = (0..texts.len()).map(|n| format!("loc{n}")).collect();
    let mut aliases = LocAliases::new();
    let mut locs = Vec::with_capacity(texts.len());
    for (n, &start) in starts.iter().enumerate() {
        let last = start + texts[n].as_ref().len() + 1;
        let place = |at: usize| at.saturating_sub(start + 1).min(last - start - 1);
        match aliases.read(&definitions, start) {
            Ok((loc, at)) if at == last + 1 => locs.push(loc),
            // A text that closes the parenthesis early, or leaves it open, is not one location.
            Ok((_, at)) => {
                let message = "expected one location, and nothing after it".into();
                return Err((n, LocError { at: place(at.saturating_sub(1)), message }));
            }
            Err(error) => return Err((n, LocError { at: place(error.at), ..error })),
        }
        let _ = aliases.define(&names[n], start);
    }
    Ok(locs)
}

impl std::fmt::Debug for LocAliases<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LocAliases({} aliases)", self.aliases.len())
    }
}

struct Reader<'r, 't> {
    text: &'t str,
    at: usize,
    aliases: &'r mut LocAliases<'t>,
}

impl<'t> Reader<'_, 't> {
    // Reads a location with all nested ones, without recursion.
    fn location(&mut self) -> Result<Loc, LocError> {
        let mut stack: Vec<Frame<'t>> = Vec::new();
        let read = self.location_with_stack(&mut stack);
        if let Err(error) = &read {
            for frame in stack {
                if let Frame::Alias { name, .. } = frame {
                    self.set_state(name, AliasState::Failed(error.clone()));
                }
            }
        }
        read
    }

    fn location_with_stack(&mut self, stack: &mut Vec<Frame<'t>>) -> Result<Loc, LocError> {
        loop {
            let Some(mut done) = self.start(stack)? else { continue };
            loop {
                // A frame stays on the stack until it is complete, so that errors find it.
                match stack.last_mut() {
                    None => return Ok(done),
                    Some(Frame::Name(name)) => {
                        let name = std::mem::take(name);
                        self.expect(b')', "after the location of a name")?;
                        done = Loc::new(LocKind::Name { name: &name, child: done });
                    }
                    Some(Frame::CallSite(callee @ None)) => {
                        *callee = Some(done);
                        if !self.eat_word("at") {
                            return self.fail("expected `at` in `callsite(callee at caller)`");
                        }
                        break;
                    }
                    Some(Frame::CallSite(Some(callee))) => {
                        let callee = *callee;
                        self.expect(b')', "after `callsite(callee at caller`")?;
                        done = Loc::new(LocKind::CallSite { callee, caller: done });
                    }
                    Some(Frame::Fused { metadata, locs }) => {
                        locs.push(done);
                        if self.eat(b',') {
                            break;
                        }
                        let (metadata, locs) = (*metadata, std::mem::take(locs));
                        self.expect(b']', "or `,` after a location of `fused[…]`")?;
                        done = Loc::new(LocKind::Fused { metadata, locs: &locs });
                    }
                    Some(Frame::Alias { name, resume }) => {
                        let (name, resume) = (*name, *resume);
                        self.expect(b')', "after a location")?;
                        self.set_state(name, AliasState::Known(done));
                        self.at = resume;
                    }
                }
                stack.pop();
            }
        }
    }

    // Reads a location up to its first nested location. Returns `None` if there is one, and pushes the rest as a frame.
    fn start(&mut self, stack: &mut Vec<Frame<'t>>) -> Result<Option<Loc>, LocError> {
        match self.peek() {
            b'"' => {
                let name = self.string()?;
                if self.eat(b':') {
                    return self.file(&name).map(Some);
                }
                if self.eat(b'(') {
                    stack.push(Frame::Name(name));
                    return Ok(None);
                }
                Ok(Some(Loc::new(LocKind::Name { name: &name, child: Loc::UNKNOWN })))
            }
            b'#' => self.alias(stack),
            _ if self.eat_word("unknown") => Ok(Some(Loc::UNKNOWN)),
            _ if self.eat_word("callsite") => {
                self.expect(b'(', "after `callsite`")?;
                stack.push(Frame::CallSite(None));
                Ok(None)
            }
            _ if self.eat_word("fused") => {
                let mut metadata = "";
                if self.peek() == b'<' {
                    metadata = self.angles()?;
                    // The definitions of other aliases are not kept.
                    if has_alias(metadata) {
                        metadata = "";
                    }
                }
                self.expect(b'[', "in `fused[…]`")?;
                if self.eat(b']') {
                    return Ok(Some(Loc::new(LocKind::Fused { metadata, locs: &[] })));
                }
                stack.push(Frame::Fused { metadata, locs: Vec::new() });
                Ok(None)
            }
            _ => self.fail(
                "expected a location: `\"name\"`, `\"file\":line:column`, `callsite(…)`, `fused[…]`, `unknown` or `#alias`",
            ),
        }
    }

    // Reads `#alias`, or a location of a dialect.
    fn alias(&mut self, stack: &mut Vec<Frame<'t>>) -> Result<Option<Loc>, LocError> {
        let start = self.at;
        self.at += 1;
        let name = self.alias_name();
        if self.text.as_bytes().get(self.at) == Some(&b'.') {
            while self.byte().is_some_and(|b| b == b'.' || is_alias_byte(b)) {
                self.at += 1;
            }
            if self.byte() == Some(b'<') {
                self.angles()?;
            }
            return Ok(Some(Loc::new(LocKind::Dialect(&self.text[start..self.at]))));
        }
        let fail = |message| Err(LocError { at: start, message });
        let Some(alias) = self.aliases.aliases.get_mut(name) else {
            return fail(format!("the location `#{name}` is not defined"));
        };
        match &alias.state {
            AliasState::Known(loc) => Ok(Some(*loc)),
            AliasState::Failed(error) => Err(error.clone()),
            AliasState::Open => fail(format!("the location `#{name}` contains itself")),
            AliasState::Defined => {
                alias.state = AliasState::Open;
                stack.push(Frame::Alias { name, resume: self.at });
                self.at = alias.at;
                self.expect(b'(', "after `loc`")?;
                Ok(None)
            }
        }
    }

    fn set_state(&mut self, name: &str, state: AliasState) {
        if let Some(alias) = self.aliases.aliases.get_mut(name) {
            alias.state = state;
        }
    }

    // Reads `3:4`, `3:4 to :9` or `3:4 to 5:6` after `"file":`.
    fn file(&mut self, name: &str) -> Result<Loc, LocError> {
        let line = self.number("a line")?;
        self.expect(b':', "and a column after the line of a location")?;
        let column = self.number("a column")?;
        let mut last = (line, column);
        if self.eat_word("to") {
            if self.peek() != b':' {
                last.0 = self.number("a line")?;
            }
            self.expect(b':', "and a column after `to`")?;
            last.1 = self.number("a column")?;
        }
        let range = [line, column, last.0, last.1];
        Ok(Loc::new(LocKind::File { file: FileId::intern(name), range }))
    }

    fn number(&mut self, what: &str) -> Result<u32, LocError> {
        self.skip_space();
        let start = self.at;
        while self.byte().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = &self.text[start..self.at];
        let fail = |message| Err(LocError { at: start, message });
        match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) if digits.is_empty() => fail(format!("expected {what} of a location")),
            Err(_) => fail(format!("{what} of a location is at most {}", u32::MAX)),
        }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, LocError> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.text.as_bytes().get(at) {
                Some(b'"') => break,
                Some(b'\n') | None => return self.fail("a string is not closed by `\"`"),
                // An escape ends with its line, like the string.
                Some(b'\\') if self.text.as_bytes().get(at + 1) != Some(&b'\n') => at += 2,
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        // An escape may be followed by part of a character.
        match self.text.get(start..at) {
            Some(raw) => Ok(unescape_mlir(raw)),
            None => self.fail("a string is not closed by `\"`"),
        }
    }

    // Reads `<…>` with balanced brackets and returns the text between them.
    fn angles(&mut self) -> Result<&'t str, LocError> {
        let (start, mut depth) = (self.at, 0usize);
        while let Some(byte) = self.byte() {
            match byte {
                b'<' => depth += 1,
                b'>' if self.text.as_bytes()[self.at - 1] != b'-' => depth -= 1,
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'\n' => break,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(&self.text[start + 1..self.at - 1]);
            }
        }
        Err(LocError { at: start, message: "a `<` is not closed by `>` in the same line".into() })
    }

    fn alias_name(&mut self) -> &'t str {
        let start = self.at;
        while self.byte().is_some_and(is_alias_byte) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    // Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') if self.text.as_bytes().get(self.at + 1) == Some(&b'/') => {
                    let rest = &self.text.as_bytes()[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn peek(&mut self) -> u8 {
        self.skip_space();
        self.byte().unwrap_or(0)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let rest = &self.text.as_bytes()[self.at.min(self.text.len())..];
        let found = rest.starts_with(word.as_bytes())
            && !rest.get(word.len()).is_some_and(|&b| is_alias_byte(b));
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), LocError> {
        match self.eat(byte) {
            true => Ok(()),
            false => self.fail(&format!("expected `{}` {what}", char::from(byte))),
        }
    }

    fn fail<T>(&mut self, message: &str) -> Result<T, LocError> {
        Err(LocError { at: self.at.min(self.text.len()), message: message.into() })
    }
}

fn is_alias_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-')
}

// Returns whether a text uses an alias of an attribute or type, `#name` or `!name` without a dialect.
fn has_alias(text: &str) -> bool {
    text.match_indices(['#', '!']).any(|(at, _)| {
        let rest = &text[at + 1..];
        let len = rest.bytes().position(|b| !is_alias_byte(b)).unwrap_or(rest.len());
        !rest[len..].starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::LocTable;
    use super::*;

    fn read(text: &str) -> Result<Loc, LocError> {
        let mut aliases = LocAliases::new();
        if let Some(twice) = aliases.define_all(text).into_iter().next() {
            return Err(twice);
        }
        aliases.read(text, 0).map(|(loc, _)| loc)
    }

    #[test]
    fn every_form_is_read_and_written() {
        for text in [
            "unknown",
            "\"name\"",
            "\"a \\22quoted\\22 \\\\ n\\C3\\A9\"",
            "\"a.py\":1:2",
            "\"a.py\":1:2 to :9",
            "\"a.py\":1:2 to 3:4",
            "\"f\"(\"a.py\":1:2)",
            "callsite(\"f\"(\"a.py\":1:2) at callsite(\"g\" at unknown))",
            "fused[\"a\", \"b\", unknown]",
            "fused<\"pass -> x\">[\"a\"]",
            "fused<#d.x<1>>[\"a\", \"b\"]",
            "#dialect.loc<a<b>, \">\">",
        ] {
            let loc = read(&format!("({text})")).unwrap_or_else(|e| panic!("{text}: {e:?}"));
            let written = loc.to_string();
            assert_eq!(read(&format!("({written})")), Ok(loc), "{text} is written {written}");
            if !text.contains('\\') {
                assert_eq!(written, text);
            }
            let mut table = LocTable::new();
            let mut out = String::new();
            table.write_use(&mut out, loc);
            out.push('\n');
            table.write_definitions(&mut out);
            assert_eq!(read(out.strip_prefix("loc").unwrap()), Ok(loc), "{out}");
        }
        let name = read("(\"a \\22q\\22 \\\\ n\\C3\\A9\")").unwrap().kind();
        assert_eq!(name, LocKind::Name { name: "a \"q\" \\ né", child: Loc::UNKNOWN });
        assert_eq!(read("( // comment\n \"x\" // y\n)"), read("(\"x\")"));
        assert_eq!(read("(fused<#alias>[\"a\", \"b\"])"), read("(fused[\"a\", \"b\"])"));
    }

    #[test]
    fn errors_have_their_place() {
        let cases: &[(&str, usize, &str)] = &[
            ("", 0, "expected `(` after `loc`"),
            ("()", 1, "expected a location"),
            ("(\"a\"", 4, "expected `)` after a location"),
            ("(\"a)", 1, "a string is not closed"),
            ("(\"a\":x:1)", 5, "expected a line"),
            ("(\"a\":1)", 6, "expected `:` and a column"),
            ("(\"a\":1:99999999999)", 7, "a column of a location is at most"),
            ("(\"a\":1:2 to 3)", 13, "expected `:` and a column after `to`"),
            ("(callsite(\"a\"))", 13, "expected `at`"),
            ("(fused<[\"a\"])", 6, "a `<` is not closed"),
            ("(fused[\"a\")", 10, "expected `]` or `,`"),
            ("(#x)", 1, "the location `#x` is not defined"),
            ("(#x)\n#x = loc(#y)\n#y = loc(#x)\n", 27, "the location `#x` contains itself"),
            ("(#x)\n#x = loc(nonsense)\n", 14, "expected a location"),
            ("(#x)\n#x = loc(\"a\"\n", 18, "expected `)` after a location"),
            (
                "(#x)\n#x = loc(\"a\")\n  #x = loc(\"b\")\n",
                21,
                "the location `#x` is defined twice",
            ),
            ("(\"\\\n\")", 1, "a string is not closed"),
            ("(fused<\"a\\\n\">[\"a\"])", 7, "a string is not closed"),
            ("(\"\\\u{e9}\")", 0, ""),
        ];
        for (text, at, message) in cases {
            match read(text) {
                Err(error) => {
                    assert!(error.message.contains(message), "{text}: {error:?}");
                    assert!(message.is_empty() || error.at == *at, "{text}: {error:?}");
                }
                Ok(loc) => assert!(message.is_empty(), "{text} is read as {loc}"),
            }
        }
        // An alias that failed fails again.
        let text = "(#x)\n#x = loc(nonsense)\n";
        let mut aliases = LocAliases::new();
        assert!(aliases.define_all(text).is_empty());
        let first = aliases.read(text, 0).unwrap_err();
        assert_eq!(aliases.read(text, 0), Err(first));
    }

    #[test]
    fn aliases_may_be_indented_and_in_the_first_line() {
        let text = " #a = loc(\"x\")\n\t#b = loc(#a)\n(#b)";
        let mut aliases = LocAliases::new();
        assert!(aliases.define_all(text).is_empty());
        let (loc, _) = aliases.read(text, text.len() - 4).unwrap();
        assert_eq!(Ok(loc), "\"x\"".parse());
    }

    #[test]
    fn lists_are_read_whole_or_refused() {
        let locs = read_locs(&["\"a\"", "callsite(#loc0 at \"b\")"]).unwrap();
        assert_eq!(locs[1].to_string(), "callsite(\"a\" at \"b\")");
        for (list, n, at, message) in [
            (vec!["\"a\"", "#loc1"], 1, 0, "`#loc1` is not defined"),
            (vec!["\"a\") junk("], 0, 3, "expected one location"),
            (vec!["\"a\" // b"], 0, 8, "expected `)`"),
            (vec!["\"a\"", "fused[\"b\""], 1, 9, "expected `]`"),
            (vec!["\"a\" \"b\""], 0, 4, "expected `)`"),
            (vec![""], 0, 0, "expected a location"),
        ] {
            let (position, error) = read_locs(&list).unwrap_err();
            assert!(error.message.contains(message), "{list:?}: {error:?}");
            assert_eq!((position, error.at), (n, at), "{list:?}: {error:?}");
        }
    }

    #[test]
    fn many_aliases_and_deep_nesting() {
        const COUNT: usize = 300_000;
        // Each alias contains the next one, so all are open at once.
        let mut text = String::from("(#a0)\n");
        for n in 0..COUNT {
            let _ = writeln!(text, "#a{n} = loc(\"n{}\"(#a{}))", n % 10, n + 1);
        }
        let _ = writeln!(text, "#a{COUNT} = loc(\"end\")");
        let loc = read(&text).unwrap();
        assert_eq!(loc.scope().as_deref(), Some("n0"));
        let mut table = LocTable::new();
        assert_eq!(table.number(loc), COUNT);
        let nested = format!("({}\"x\"{})", "\"n\"(".repeat(COUNT), ")".repeat(COUNT));
        assert!(read(&nested).is_ok());
        assert!(read(&nested[..nested.len() - 1]).is_err());
    }
}
