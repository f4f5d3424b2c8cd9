//! Attributes as they are written: numbers, lists, dictionaries, enums and structs of the dialect.

use std::borrow::Cow;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{TensorLiteral, ValueType};
use smallvec::SmallVec;

use crate::cursor::{Cursor, NumberToken};
use crate::raw_op::TypeList;
use crate::{literal, types};

/// The largest nesting depth of attributes.
const MAX_DEPTH: usize = 64;

/// A list of integers.
pub(crate) type Ints = SmallVec<[i64; 4]>;

/// An attribute as it is written.
#[derive(Clone, Debug)]
pub(crate) enum RawAttr<'a> {
    /// `unit`, or a name without a value.
    Unit,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Cow<'a, str>),
    Symbol(Cow<'a, str>),
    /// `[1, 2]` or `array<i64: 1, 2>`; also a list of bools, as 0 and 1.
    Ints(Ints),
    /// Any other list.
    List(Vec<RawAttr<'a>>),
    Dict(Vec<NamedAttr<'a>>),
    Dense(TensorLiteral),
    /// A type. No supported op has a type as attribute, so its content is dropped.
    Type,
    /// `#stablehlo<precision HIGHEST>`, or a bare word: `HIGHEST`.
    Word(&'a str),
    /// `#stablehlo.gather<offset_dims = [0]>`.
    Struct(Vec<NamedAttr<'a>>),
    /// The results of `(tensor<f32>) -> tensor<f32>`.
    Function(Vec<ValueType>),
    /// Text that only one op can parse: the dimension numbers of a convolution.
    Raw(&'a str),
}

/// An attribute with its name and the text it was written as.
#[derive(Clone, Debug)]
pub(crate) struct NamedAttr<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) value: RawAttr<'a>,
    /// The text `name = value`.
    pub(crate) text: &'a str,
    /// True if the conversion of the op used it.
    pub(crate) used: bool,
    /// True if it was written in the pretty form of the op, outside of any `{…}`.
    pub(crate) clause: bool,
}

impl<'a> NamedAttr<'a> {
    /// Returns an unused entry of a dictionary.
    pub(crate) fn new(name: Cow<'a, str>, value: RawAttr<'a>, text: &'a str) -> Self {
        Self { name, value, text, used: false, clause: false }
    }
}

/// The largest number of entries that are compared pair by pair; above it, a hash map finds duplicates.
const MAX_LINEAR_SEARCH: usize = 16;

/// Returns the first two entries that have the same name.
pub(crate) fn first_duplicate<'e, 'a>(
    entries: &'e [NamedAttr<'a>],
) -> Option<[&'e NamedAttr<'a>; 2]> {
    if entries.len() <= MAX_LINEAR_SEARCH {
        return entries.iter().enumerate().find_map(|(i, second)| {
            let first = entries[..i].iter().find(|first| first.name == second.name)?;
            Some([first, second])
        });
    }
    let mut seen = HashMap::with_capacity_and_hasher(entries.len(), FxBuildHasher);
    entries.iter().find_map(|second| Some([seen.insert(&*second.name, second)?, second]))
}

/// The definitions that an attribute may refer to.
pub(crate) trait AttrResolver<'a> {
    /// Returns the text of `#name = …`.
    fn alias(&self, name: &str) -> Option<&'a str>;
    /// Returns the hexadecimal digits of a resource in the trailer.
    fn resource(&self, name: &str) -> Option<&'a str>;
    /// Returns the type of `!name = …`.
    fn type_alias(&self, name: &str) -> Option<ValueType>;
    /// Records two attributes with the same name, by their texts.
    fn note_duplicate(&self, places: [&'a str; 2]);
}

/// Reads an attribute.
pub(crate) fn read<'a>(
    c: &mut Cursor<'a>,
    resolver: &dyn AttrResolver<'a>,
) -> Result<RawAttr<'a>, String> {
    AttrReader { resolver, bare: false }.read_attribute(c, 0)
}

/// Reads an attribute in the pretty form of an op, where a number has no type: `dim = 0 : tensor<4xi32>`.
pub(crate) fn read_bare<'a>(
    c: &mut Cursor<'a>,
    resolver: &dyn AttrResolver<'a>,
) -> Result<RawAttr<'a>, String> {
    AttrReader { resolver, bare: true }.read_attribute(c, 0)
}

/// Reads `{name = value, …}`, starting at the brace.
pub(crate) fn read_dictionary<'a>(
    c: &mut Cursor<'a>,
    resolver: &dyn AttrResolver<'a>,
) -> Result<Vec<NamedAttr<'a>>, String> {
    if !c.eat(b'{') {
        return Err("expected `{`".into());
    }
    AttrReader { resolver, bare: false }.read_entries(c, b'}', 0)
}

/// A reader of attributes; `bare` is true in the pretty form of an op.
struct AttrReader<'n, 'a> {
    resolver: &'n dyn AttrResolver<'a>,
    bare: bool,
}

impl<'a> AttrReader<'_, 'a> {
    fn read_attribute(&self, c: &mut Cursor<'a>, depth: usize) -> Result<RawAttr<'a>, String> {
        if depth > MAX_DEPTH {
            return Err(format!("attributes nest at most {MAX_DEPTH} deep"));
        }
        match c.peek() {
            b'[' => match c.int_list() {
                Some(ints) => Ok(RawAttr::Ints(ints)),
                None => self.read_list(c, depth),
            },
            b'{' => {
                c.at += 1;
                Ok(RawAttr::Dict(self.read_entries(c, b'}', depth)?))
            }
            b'"' => {
                let text = c.string().ok_or("a string is not closed")?;
                self.skip_type(c)?;
                Ok(RawAttr::Str(text))
            }
            b'@' => {
                let name = c.symbol().ok_or("expected a name after `@`")?;
                while c.eat_str("::") {
                    c.symbol().ok_or("expected a name after `::`")?;
                }
                Ok(RawAttr::Symbol(name))
            }
            b'#' => self.alias_or_dialect_attr(c, depth),
            // The pretty form omits the name of a struct: `algorithm = <…>`.
            b'<' if self.bare && depth == 0 => {
                c.at += 1;
                Ok(RawAttr::Struct(self.read_entries(c, b'>', depth)?))
            }
            b'-' | b'+' | b'0'..=b'9' => self.read_number(c),
            b'!' => self.read_type(c).map(|_| RawAttr::Type),
            b'(' => {
                let (mut from, mut to) = (TypeList::new(), TypeList::new());
                self.types_in_parentheses(c, &mut from)?;
                if !c.eat_str("->") {
                    return Err("expected `->` in a function type".into());
                }
                match c.peek() {
                    b'(' => self.types_in_parentheses(c, &mut to)?,
                    _ => to.push(self.read_type(c)?),
                }
                Ok(RawAttr::Function(to.into_vec()))
            }
            _ => self.read_word(c),
        }
    }

    fn read_type(&self, c: &mut Cursor<'a>) -> Result<ValueType, String> {
        types::read(c, &|name| self.resolver.type_alias(name))
    }

    fn types_in_parentheses(&self, c: &mut Cursor<'a>, list: &mut TypeList) -> Result<(), String> {
        c.at += 1;
        while !c.eat(b')') {
            if !list.is_empty() && !c.eat(b',') {
                return Err("expected `,` or `)` after a type".into());
            }
            list.push(self.read_type(c)?);
        }
        Ok(())
    }

    fn read_number(&self, c: &mut Cursor<'a>) -> Result<RawAttr<'a>, String> {
        let number = c.number().ok_or("expected a number")?;
        self.skip_type(c)?;
        match number {
            NumberToken::Integer(text) => match text.parse::<i64>() {
                Ok(n) => Ok(RawAttr::Int(n)),
                // Unsigned numbers beyond the signed range keep their bits.
                Err(_) => text
                    .parse::<u64>()
                    .map(|n| RawAttr::Int(n as i64))
                    .map_err(|_| format!("{text} does not fit 64 bits")),
            },
            NumberToken::Float(text) => {
                text.parse().map(RawAttr::Float).map_err(|_| format!("{text} is not a number"))
            }
            NumberToken::Hex { minus, digits } => u64::from_str_radix(digits, 16)
                .map(|n| RawAttr::Int(if minus { (n as i64).wrapping_neg() } else { n as i64 }))
                .map_err(|_| format!("0x{digits} does not fit 64 bits")),
        }
    }

    // Skips `: i64` after a number or a string.
    fn skip_type(&self, c: &mut Cursor<'a>) -> Result<(), String> {
        if self.bare {
            return Ok(());
        }
        if c.peek() == b':' && c.text.as_bytes().get(c.at + 1) != Some(&b':') {
            c.at += 1;
            self.read_type(c)?;
        }
        Ok(())
    }

    fn read_list(&self, c: &mut Cursor<'a>, depth: usize) -> Result<RawAttr<'a>, String> {
        c.at += 1;
        let mut items = Vec::new();
        let mut ints = Ints::new();
        while !c.eat(b']') {
            if (!items.is_empty() || !ints.is_empty()) && !c.eat(b',') {
                return Err("expected `,` or `]` in a list".into());
            }
            match self.read_attribute(c, depth + 1)? {
                RawAttr::Int(n) if items.is_empty() => ints.push(n),
                item => {
                    items.extend(ints.drain(..).map(RawAttr::Int));
                    items.push(item);
                }
            }
        }
        Ok(if items.is_empty() { RawAttr::Ints(ints) } else { RawAttr::List(items) })
    }

    fn read_entries(
        &self,
        c: &mut Cursor<'a>,
        close: u8,
        depth: usize,
    ) -> Result<Vec<NamedAttr<'a>>, String> {
        let mut entries = Vec::new();
        while !c.eat(close) {
            if !entries.is_empty() && !c.eat(b',') {
                return Err(format!("expected `,` or `{}`", char::from(close)));
            }
            c.skip_space();
            let start = c.at;
            let name = match c.peek() {
                b'"' => c.string().ok_or("a string is not closed")?,
                _ => Cow::Borrowed(c.word().ok_or("expected the name of an attribute")?),
            };
            let value = match c.eat(b'=') {
                true => self.read_attribute(c, depth + 1)?,
                false => RawAttr::Unit,
            };
            entries.push(NamedAttr::new(name, value, &c.text[start..c.at]));
        }
        if let Some([first, second]) = first_duplicate(&entries) {
            self.resolver.note_duplicate([first.text, second.text]);
        }
        Ok(entries)
    }

    fn alias_or_dialect_attr(
        &self,
        c: &mut Cursor<'a>,
        depth: usize,
    ) -> Result<RawAttr<'a>, String> {
        c.at += 1;
        let name = c.word().ok_or("expected a name after `#`")?;
        if c.text.as_bytes().get(c.at) != Some(&b'<') {
            let Some(text) = self.resolver.alias(name) else {
                // An enum without a body, or an undefined alias.
                return Ok(RawAttr::Raw(name));
            };
            return self.read_attribute(&mut Cursor::new(text), depth + 1);
        }
        let inner = c.clone();
        let body = c.balanced().ok_or("a `<` is not closed")?;
        let body = &body[1..body.len() - 1];
        if !name.contains('.') {
            // `#stablehlo<precision HIGHEST>`: the name of the enum, then the word.
            let mut parts = Cursor::new(body);
            if parts.word().is_some()
                && let Some(word) = parts.word()
                && parts.at_end()
            {
                return Ok(RawAttr::Word(word));
            }
            return Ok(RawAttr::Raw(body));
        }
        let mut fields = inner;
        fields.at += 1;
        match self.read_entries(&mut fields, b'>', depth + 1) {
            Ok(entries) if fields.at == c.at => Ok(RawAttr::Struct(entries)),
            _ => Ok(RawAttr::Raw(body)),
        }
    }

    fn read_word(&self, c: &mut Cursor<'a>) -> Result<RawAttr<'a>, String> {
        let start = c.at;
        let Some(word) = c.word() else {
            return Err("expected an attribute".into());
        };
        match word {
            "true" | "false" => {
                self.skip_type(c)?;
                Ok(RawAttr::Bool(word == "true"))
            }
            "unit" => Ok(RawAttr::Unit),
            "dense" | "dense_resource" => {
                let (body, ty) = (dense_body(c)?, self.read_type(c)?);
                let ty = ty.as_tensor().ok_or("a literal has a tensor type")?.clone();
                // Errors in a literal are reported at its start.
                let mut made = |literal: Result<TensorLiteral, String>| {
                    if literal.is_err() {
                        c.at = start;
                    }
                    literal.map(RawAttr::Dense)
                };
                if word == "dense" {
                    return made(literal::read(body, &ty));
                }
                let mut key = Cursor::new(body);
                let key = match key.peek() {
                    b'"' => key.string().unwrap_or_default(),
                    _ => Cow::Borrowed(body.trim()),
                };
                match self.resolver.resource(&key) {
                    Some(digits) => made(literal::read_resource(digits, &ty)),
                    None => made(Err(format!("resource `{key}` is not defined"))),
                }
            }
            "array" if c.text.as_bytes().get(c.at) == Some(&b'<') => self.read_array(c),
            "loc" if c.peek() == b'(' => {
                c.balanced().ok_or("a `(` is not closed")?;
                Ok(RawAttr::Unit)
            }
            _ if !types::is_type_keyword(word) => Ok(RawAttr::Word(word)),
            _ => {
                // A type, or a word that the op interprets.
                let end = c.at;
                c.at = start;
                match self.read_type(c) {
                    Ok(_) => Ok(RawAttr::Type),
                    Err(_) => {
                        c.at = end;
                        Ok(RawAttr::Word(word))
                    }
                }
            }
        }
    }

    fn read_array(&self, c: &mut Cursor<'a>) -> Result<RawAttr<'a>, String> {
        c.at += 1;
        let of = c.word().ok_or("expected an element type in `array<…>`")?;
        let mut ints = Ints::new();
        let mut floats = Vec::new();
        if c.eat(b':') {
            loop {
                if c.eat_word("true") {
                    ints.push(1);
                } else if c.eat_word("false") {
                    ints.push(0);
                } else {
                    match c.number() {
                        Some(NumberToken::Integer(text)) => {
                            ints.push(
                                text.parse().map_err(|_| format!("{text} does not fit {of}"))?,
                            );
                        }
                        Some(NumberToken::Float(text)) => {
                            floats.push(RawAttr::Float(text.parse().unwrap_or(f64::NAN)));
                        }
                        _ => return Err(format!("expected an element of {of} in `array<…>`")),
                    }
                }
                if !c.eat(b',') {
                    break;
                }
            }
        }
        if !c.eat(b'>') {
            return Err("expected `>` at the end of `array<…>`".into());
        }
        Ok(if floats.is_empty() { RawAttr::Ints(ints) } else { RawAttr::List(floats) })
    }
}

/// Reads `<…> :` of `dense<…> : tensor<…>` and returns the text between the brackets; the type is next.
pub(crate) fn dense_body<'a>(c: &mut Cursor<'a>) -> Result<&'a str, String> {
    let body = c.balanced().filter(|b| b.starts_with('<'));
    let body = body.ok_or("expected `<…>` after `dense`")?;
    if !c.eat(b':') {
        return Err("expected `:` and a type after a literal".into());
    }
    Ok(&body[1..body.len() - 1])
}

/// Returns the text of an attribute on one line, without comments.
pub(crate) fn to_single_line(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') && !text.contains("//") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut c) = (String::with_capacity(text.len()), Cursor::new(text));
    loop {
        let before = c.at;
        c.skip_space();
        if c.at > before && !out.is_empty() {
            out.push(' ');
        }
        let start = c.at;
        if c.raw_string().is_none() {
            match c.text[c.at..].chars().next() {
                Some(next) => c.at += next.len_utf8(),
                None => return Cow::Owned(out),
            }
        }
        out.push_str(&c.text[start..c.at]);
    }
}

/// Returns the elements of an integer literal that has at most 65536 of them.
pub(crate) fn literal_ints(literal: &TensorLiteral) -> Option<Ints> {
    let dtype = literal.dtype();
    if literal.num_elements() > 1 << 16 || !(dtype.is_integer() || dtype.is_bool()) {
        return None;
    }
    let signed = dtype.integer_range().is_some_and(|(min, _)| min < 0);
    let one = |i| {
        let mut wide = [0u8; 8];
        let bytes = literal.element(i)?;
        wide[..bytes.len()].copy_from_slice(bytes);
        let shift = 64 - 8 * bytes.len();
        let bits = i64::from_le_bytes(wide);
        Some(if signed { bits << shift >> shift } else { bits })
    };
    (0..literal.num_elements()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoDefinitions;
    impl<'a> AttrResolver<'a> for NoDefinitions {
        fn alias(&self, _: &str) -> Option<&'a str> {
            None
        }
        fn resource(&self, _: &str) -> Option<&'a str> {
            None
        }
        fn type_alias(&self, _: &str) -> Option<ValueType> {
            None
        }
        fn note_duplicate(&self, _: [&'a str; 2]) {}
    }

    fn show(text: &str) -> String {
        let mut c = Cursor::new(text);
        let read = read(&mut c, &NoDefinitions);
        assert!(read.is_err() || c.at_end(), "{text}: rest {:?}", &text[c.at..]);
        format!("{read:?}")
    }

    #[test]
    fn all_attribute_forms_are_read() {
        for (text, shown) in [
            ("1 : i64", "Ok(Int(1))"),
            ("[1, 2]", "Ok(Ints([1, 2]))"),
            ("[]", "Ok(Ints([]))"),
            ("array<i64: 3, -4>", "Ok(Ints([3, -4]))"),
            ("array<i1: true, false>", "Ok(Ints([1, 0]))"),
            ("#stablehlo<precision HIGH>", "Ok(Word(\"HIGH\"))"),
            ("#stablehlo.conv<[b, f]x[i, o]->[b, f]>", "Ok(Raw(\"[b, f]x[i, o]->[b, f]\"))"),
            ("@f", "Ok(Symbol(\"f\"))"),
            ("\"a\\0Ab\"", "Ok(Str(\"a\\nb\"))"),
            ("[[0, 1]]", "Ok(List([Ints([0, 1])]))"),
            ("loc(\"x\":1:2)", "Ok(Unit)"),
            ("2.5 : f32", "Ok(Float(2.5))"),
        ] {
            assert_eq!(show(text), shown);
        }
        assert!(show("#stablehlo.dot<a = [1], b>").starts_with("Ok(Struct([NamedAttr"));
        assert!(show("{a, b = {c = \"d\"}}").starts_with("Ok(Dict([NamedAttr"));
        assert!(show("tensor<2xf32>").starts_with("Ok(Type)"));
        assert!(show("dense<[1, 2]> : tensor<2xi64>").starts_with("Ok(Dense"));
    }

    #[test]
    fn texts_become_one_line() {
        assert_eq!(to_single_line("a = [1,\n  2] // end\n"), "a = [1, 2] ");
        assert_eq!(to_single_line("a = \"// no\""), "a = \"// no\"");
    }

    #[test]
    fn wrong_attributes_are_refused() {
        for text in [
            "[1, 2",
            "{a = }",
            "dense<1>",
            "array<i64: x>",
            "#",
            "\"",
            "dense_resource<x> : tensor<1xf32>",
        ] {
            assert!(show(text).starts_with("Err"), "{text}");
        }
        assert!(show(&"[".repeat(100_000)).starts_with("Err"));
    }
}
