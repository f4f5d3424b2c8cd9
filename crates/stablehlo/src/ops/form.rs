//! Forms: the syntax of an op, stated once, as in MLIR's declarative assembly.
//!
//! A form lists the parts of an op in the order of the pretty form. A part that is an attribute has the name of its clause in the
//! pretty form, then its name in the generic form; attributes are in the order of the PTIR op. Three functions interpret a form:
//! the silent builder (`read/fast_path.rs`) reads text in exactly this form, without messages; the reporting builder ([`build`])
//! converts an op in any spelling, and reports errors; `print_form` (`write/form.rs`) writes an instruction.

use std::sync::OnceLock;

use sapwood_ptir::{Attr, AttrField as _, Axes, Name};
use sapwood_types::did_you_mean;

use super::attributes::{check_fields, field_int, field_ints};
use super::{OpConverter, ResultValues};
use crate::cursor::Cursor;
use crate::read::AttrVec;

/// A part of a form.
pub(crate) enum Part {
    /// All operands: `%a, %b`.
    Operands,
    /// `(`, without a space before it.
    Open,
    /// `)`.
    Close,
    /// A list: `dims = [1, 0]`.
    Ints(&'static str, &'static str),
    /// A list as long as the first attribute; absent in PTIR if all entries are the default.
    IntsUnless(&'static str, &'static str, i64),
    /// A list like [`IntsUnless`](Self::IntsUnless) that may be absent in the text.
    OptionalInts(&'static str, &'static str, i64),
    /// Pairs, as many as the first attribute has entries; absent in PTIR if all are zero. Only in the generic form.
    OptionalPairs(&'static str),
    /// Two lists that may be absent, and are two attributes: `contracting_dims = [1] x [0]`.
    ListPair(&'static str),
    /// A number: `dim = 1`.
    Int(&'static str, &'static str),
    /// `lower = true`.
    Bool(&'static str, &'static str),
    /// A [`Bool`](Self::Bool) that is false if it is absent.
    OptionalBool(&'static str, &'static str),
    /// A word in a clause: `type = FFT`.
    Word(&'static str, &'static str, &'static Words),
    /// A word without a key, by its position among such words: `LT`.
    BareWord(usize, &'static str, &'static Words),
    /// A [`BareWord`](Self::BareWord) that may be absent; then it is the first of its list.
    OptionalBareWord(usize, &'static str, &'static Words),
    /// Starts, limits and strides, which are three attributes: `[0:4, 1:8:2]`.
    Ranges,
    /// A number in brackets: `[0]`.
    Index(&'static str),
    /// Lists and a last number in a struct, one attribute each: `dimension_numbers = #stablehlo.gather<offset_dims = [1]>`.
    Struct(&'static str, &'static str, &'static [&'static str]),
    /// The function that is called: `@f`.
    Callee,
    /// A literal with its type, which is that of the result: `dense<1.0> : T`.
    Literal,
    /// Attributes with a syntax of their own, up to a text that ends them. Each text is parsed once.
    Cached(&'static str, fn(&mut Cursor<'_>) -> Option<AttrVec>),
    /// A text that may be there, and states the default.
    Default(&'static str),
    /// An attribute that is not in the text, and has always this value.
    Fixed(fn() -> Attr),
    /// An attribute that is the type of the result, which has a declared type.
    ResultType,
    /// The only operand again.
    Twice,
    /// The attributes that are not interpreted, and the types. The location after them is not part of the form.
    Types(TypeSyntax),
    /// The syntax of loops, which the reader of regions knows.
    Loop,
    /// The syntax of reductions, which the reader of regions knows.
    Reduction,
    /// The syntax of `sdy.sharding_constraint`.
    Sharding,
}

/// The usual syntax of types. All ops may be written with `(T, U) -> V` or `T, U -> V` as well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeSyntax {
    /// `T`, if it is the type of all operands and of the result; otherwise `(T, U) -> V`.
    Same,
    /// `(T, U) -> V`.
    Function,
    /// `T, U -> V`.
    Arrow,
    /// `T`, the type of the result.
    OfResult,
    /// `P, T`: the predicate and the type of all others.
    OfSelect,
    /// `T, U`, the types of the operands, which are those of the results.
    OfOperands,
    /// The op is written in the generic form: all operands, `<{…}>` with the attributes, regions, `(T, U) -> V`.
    Generic,
}

/// The words of an attribute.
pub(crate) struct Words {
    /// The meaning, for messages: `direction`.
    pub(crate) what: &'static str,
    /// The name of the enum in the generic form: `#stablehlo<transpose ADJOINT>`.
    pub(crate) kind: &'static str,
    /// Pairs of a StableHLO word and the PTIR word.
    pub(crate) pairs: &'static [(&'static str, &'static str)],
    names: OnceLock<Box<[Name]>>,
}

impl Words {
    pub(crate) const fn new(
        what: &'static str,
        kind: &'static str,
        pairs: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { what, kind, pairs, names: OnceLock::new() }
    }

    // Returns the PTIR words. Each is interned once, because that takes longer than reading it.
    fn names(&self) -> &[Name] {
        self.names.get_or_init(|| self.pairs.iter().map(|(_, ptir)| Name::new(ptir)).collect())
    }

    /// Returns the position of a StableHLO word.
    #[inline]
    pub(crate) fn position(&self, word: &str) -> Option<usize> {
        self.pairs.iter().position(|(known, _)| *known == word)
    }

    /// Returns the position of a StableHLO word.
    ///
    /// # Errors
    /// If the word is not known, with the words that are.
    pub(crate) fn find(&self, word: &str) -> Result<usize, String> {
        let what = self.what;
        let near = || did_you_mean(word, self.pairs.iter().map(|(known, _)| *known));
        self.position(word).ok_or_else(|| match near() {
            Some(other) => format!("unknown {what} `{word}`; did you mean {other}?"),
            None => format!("unknown {what} `{word}`, expected {}", self.list()),
        })
    }

    /// Returns the attribute of the word at a position.
    #[inline]
    pub(crate) fn attr(&self, position: usize) -> Attr {
        self.names().get(position).map_or(Attr::Unit, |name| Attr::Word(*name))
    }

    /// Returns the first StableHLO word of an attribute.
    pub(crate) fn word(&self, attr: &Attr) -> Option<&'static str> {
        let Attr::Word(name) = attr else { return None };
        let at = self.names().iter().position(|known| known == name)?;
        self.pairs.get(at).map(|(word, _)| *word)
    }

    // Returns all words, for a message.
    fn list(&self) -> String {
        let words: Vec<&str> = self.pairs.iter().map(|(word, _)| *word).collect();
        match &words[..] {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            _ => words.join(", "),
        }
    }
}

/// Converts an op in any spelling by its form.
pub(super) fn build(
    cx: &mut OpConverter<'_, '_>,
    form: &'static [Part],
) -> Result<ResultValues, String> {
    let mut attrs = AttrVec::new();
    let mut declared = Vec::new();
    for part in form {
        if let Part::ResultType = part {
            declared.push(cx.declared_result_type()?.clone());
        }
        build_part(cx, part, &mut attrs)?;
    }
    cx.emit_mapped(attrs, declared)
}

fn build_part(
    cx: &mut OpConverter<'_, '_>,
    part: &'static Part,
    attrs: &mut AttrVec,
) -> Result<(), String> {
    let count = attrs.first().and_then(Attr::as_ints).map_or(0, <[i64]>::len);
    attrs.push(match *part {
        Part::Ints(key, name) => Attr::Ints(cx.ints(&[name, key])?),
        Part::IntsUnless(key, name, default) => {
            cx.ints(&[name, key])?;
            cx.optional_ints_unless(&[name, key], default, count)?.to_attr()
        }
        Part::OptionalInts(key, name, default) => {
            cx.optional_ints_unless(&[name, key], default, count)?.to_attr()
        }
        Part::OptionalPairs(name) => cx.int_pairs(&[name], count)?.to_attr(),
        Part::ListPair(key) => {
            let lists = cx.list_pair(key)?;
            attrs.extend(lists.map(|list| Attr::Ints(list.0)));
            return Ok(());
        }
        Part::Int(key, name) => Attr::Int(cx.int(&[name, key])?),
        Part::Bool(key, name) => Attr::Bool(cx.bool(&[name, key])?),
        Part::OptionalBool(key, name) => Attr::Bool(cx.bool_or(&[name, key], false)?),
        Part::Word(key, name, words) => words.attr(required_word(cx, &[name, key], 0, words)?),
        Part::BareWord(position, name, words) => {
            words.attr(required_word(cx, &[name], position, words)?)
        }
        Part::OptionalBareWord(position, name, words) => {
            words.attr(cx.choice(&[name], position, words)?.unwrap_or(0))
        }
        Part::Ranges => {
            attrs.extend(cx.ranges()?);
            return Ok(());
        }
        Part::Index(name) => Attr::Int(cx.index(name)?),
        Part::Struct(name, _, fields) => {
            attrs.extend(struct_attrs(cx, name, fields)?);
            return Ok(());
        }
        Part::Fixed(value) => value(),
        Part::ResultType => Attr::Unit,
        Part::Twice => {
            let [value] = cx.operands()?;
            cx.op.operands.push(value);
            return Ok(());
        }
        Part::Literal => Attr::Literal(cx.literal()?),
        Part::Reduction => Attr::Ints(cx.ints(&["dimensions"])?),
        // These have no attribute, or belong to ops that have a build function.
        Part::Operands
        | Part::Open
        | Part::Close
        | Part::Types(_)
        | Part::Default(_)
        | Part::Callee
        | Part::Cached(..)
        | Part::Loop
        | Part::Sharding => return Ok(()),
    });
    Ok(())
}

/// Returns the position of a word that must be present.
pub(super) fn required_word(
    cx: &mut OpConverter<'_, '_>,
    names: &[&'static str],
    position: usize,
    words: &'static Words,
) -> Result<usize, String> {
    let found = cx.choice(names, position, words)?;
    found.ok_or_else(|| format!("the {} is missing: {}", words.what, words.list()))
}

/// Returns the attributes of a struct: lists, which are empty if they are absent, and a last number, which is zero.
pub(super) fn struct_attrs(
    cx: &mut OpConverter<'_, '_>,
    name: &'static str,
    names: &'static [&'static str],
) -> Result<AttrVec, String> {
    let fields = cx.fields(&[name])?;
    check_fields(&fields, names)?;
    let Some((last, lists)) = names.split_last() else { return Ok(AttrVec::new()) };
    let list = |name: &&str| field_ints(&fields, name).map(|Axes(list)| Attr::Ints(list));
    let mut attrs = lists.iter().map(list).collect::<Result<AttrVec, String>>()?;
    attrs.push(Attr::Int(field_int(&fields, last)?));
    Ok(attrs)
}
