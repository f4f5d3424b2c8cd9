//! Types: `tensor<2x?xf32>`, `tuple<…>`, `!stablehlo.token`, read and written.

use std::fmt::Write as _;

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{
    Dim, Dims, FunctionWriter, MAX_RANK, MAX_TYPE_DEPTH, TensorType, TypeId, ValueId, ValueType,
};
use sapwood_types::DataType;

use crate::cursor::{Cursor, first_that_is, hash_until};
use crate::raw::TypeList;

/// Element types and how they are written.
const ELEMENTS: [(DataType, &str); 18] = [
    (DataType::F32, "f32"),
    (DataType::I32, "i32"),
    (DataType::Bool, "i1"),
    (DataType::F64, "f64"),
    (DataType::F16, "f16"),
    (DataType::Bf16, "bf16"),
    (DataType::I64, "i64"),
    (DataType::I16, "i16"),
    (DataType::I8, "i8"),
    (DataType::I4, "i4"),
    (DataType::U64, "ui64"),
    (DataType::U32, "ui32"),
    (DataType::U16, "ui16"),
    (DataType::U8, "ui8"),
    (DataType::U4, "ui4"),
    (DataType::Index, "index"),
    (DataType::F8E4M3Fn, "f8E4M3FN"),
    (DataType::F8E5M2, "f8E5M2"),
];

/// How an element type is written.
pub(crate) fn element_name(dtype: DataType) -> &'static str {
    match dtype {
        DataType::C64 => "complex<f32>",
        DataType::C128 => "complex<f64>",
        _ => ELEMENTS.iter().find(|(d, _)| *d == dtype).map_or("f32", |(_, name)| name),
    }
}

/// Reads an element type.
pub(crate) fn element(c: &mut Cursor<'_>) -> Result<DataType, String> {
    let Some(word) = c.word() else {
        return Err("expected an element type such as f32".into());
    };
    if let Some((dtype, _)) = ELEMENTS.iter().find(|(_, name)| *name == word) {
        return Ok(*dtype);
    }
    if word == "complex" && c.eat(b'<') {
        let part = element(c)?;
        if !c.eat(b'>') {
            return Err("expected `>` after the parts of a complex type".into());
        }
        return match part {
            DataType::F32 => Ok(DataType::C64),
            DataType::F64 => Ok(DataType::C128),
            other => Err(format!("complex numbers have parts f32 or f64, not {other}")),
        };
    }
    Err(format!("element type `{word}` is not supported"))
}

/// Whether types start with this word.
pub(crate) fn starts_with(word: &str) -> bool {
    matches!(word, "tensor" | "tuple" | "complex") || ELEMENTS.iter().any(|(_, name)| *name == word)
}

/// What `!name` stands for.
type Aliases<'s> = &'s dyn Fn(&str) -> Option<ValueType>;

/// Reads a type.
pub(crate) fn read(c: &mut Cursor<'_>, aliases: Aliases<'_>) -> Result<ValueType, String> {
    nested(c, aliases, 0)
}

// `word <`, in which a space says nothing. If something else is next nothing is read.
fn opens(c: &mut Cursor<'_>, word: &str) -> bool {
    let start = c.at;
    let found = c.eat_word(word) && c.eat(b'<');
    if !found {
        c.at = start;
    }
    found
}

fn nested(c: &mut Cursor<'_>, aliases: Aliases<'_>, depth: usize) -> Result<ValueType, String> {
    if depth > MAX_TYPE_DEPTH {
        return Err(format!("tuple types nest at most {MAX_TYPE_DEPTH} deep"));
    }
    if opens(c, "tensor") {
        return tensor(c).map(ValueType::Tensor);
    }
    if opens(c, "tuple") {
        let mut parts = Vec::new();
        while !c.eat(b'>') {
            if !parts.is_empty() && !c.eat(b',') {
                return Err("expected `,` or `>` in a tuple type".into());
            }
            parts.push(nested(c, aliases, depth + 1)?);
        }
        return Ok(ValueType::Tuple(parts.into()));
    }
    if c.eat_str("!stablehlo.token") || c.eat_str("!mhlo.token") {
        return Ok(ValueType::Token);
    }
    let start = c.at;
    match c.peek() {
        b'!' => {
            c.at += 1;
            let word = c.word().or_else(|| c.digits()).unwrap_or("");
            match aliases(word) {
                Some(ty) => Ok(ty),
                None if word.contains('.') => Err(format!("type `!{word}` is not supported")),
                None => Err(format!("type `!{word}` is not defined")),
            }
        }
        _ => match element(c) {
            // A scalar outside a tensor, as attributes and `arith` have it.
            Ok(dtype) => Ok(TensorType::scalar(dtype).into()),
            Err(message) => {
                c.at = start;
                match c.word() {
                    Some(word) => Err(format!("type `{word}` is not supported")),
                    None if message.is_empty() => Err("expected a type".into()),
                    None => Err("expected a type such as tensor<2x3xf32>".into()),
                }
            }
        },
    }
}

fn tensor(c: &mut Cursor<'_>) -> Result<TensorType, String> {
    let mut dims = Dims::new();
    loop {
        let start = c.at;
        let dim = match c.peek() {
            b'?' => {
                c.at += 1;
                Dim::Unknown
            }
            b'*' => return Err("tensors of unknown rank are not supported".into()),
            b'0'..=b'9' => {
                let digits = c.digits().unwrap_or("");
                let n = digits.parse::<u64>().ok().filter(|&n| n <= i64::MAX as u64);
                Dim::Known(n.ok_or_else(|| format!("an extent is at most {}", i64::MAX))?)
            }
            _ => break,
        };
        if !c.eat(b'x') {
            c.at = start;
            return Err("expected `x` after an extent".into());
        }
        if dims.len() == MAX_RANK {
            return Err(format!("a tensor has at most {MAX_RANK} dims"));
        }
        dims.push(dim);
    }
    let dtype = element(c)?;
    // An encoding, such as bounds, says nothing that is kept.
    if c.eat(b',') {
        while c.peek() != b'>' {
            let plain = !matches!(c.peek(), b'<' | b'(' | b'[' | b'{' | b'"');
            if c.at_end() || (!plain && c.balanced().is_none() && c.raw_string().is_none()) {
                return Err("expected `>` after the encoding of a tensor type".into());
            }
            c.at += usize::from(plain);
            while !c.text.is_char_boundary(c.at) {
                c.at += 1;
            }
        }
    }
    if !c.eat(b'>') {
        return Err("expected `>` at the end of a tensor type".into());
    }
    Ok(TensorType { dtype, dims })
}

const PREFIX: &str = "tensor<";

/// Longer types are read one by one.
const LONGEST: usize = 64;

// The first eight bytes of tensor types but the last one.
const START: u64 = u64::from_le_bytes(*b"tensor<\0");

// The start of a text up to the first `>`, if it starts as tensor types do, and a hash of it.
#[inline]
fn up_to_close(text: &[u8]) -> Option<(&[u8], u64)> {
    if u64::from_le_bytes(*text.first_chunk::<8>()?) << 8 != START << 8 {
        return None;
    }
    let (len, hash) = hash_until(&text[PREFIX.len()..], LONGEST, |word| first_that_is(word, b'>'))?;
    Some((text.get(..PREFIX.len() + len + 1)?, hash))
}

// A tensor type of digits and letters in the usual form, from its start to `>`.
fn usual(text: &[u8]) -> Option<TensorType> {
    let bytes = text.get(PREFIX.len()..text.len() - 1)?;
    let (mut dims, mut at) = (Dims::new(), 0);
    while let Some(b'0'..=b'9') = bytes.get(at) {
        let (start, mut extent) = (at, 0);
        while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
            if at - start == 18 {
                return None;
            }
            extent = extent * 10 + u64::from(digit - b'0');
            at += 1;
        }
        if bytes.get(at) != Some(&b'x') || dims.len() == MAX_RANK {
            return None;
        }
        dims.push(Dim::Known(extent));
        at += 1;
    }
    let (dtype, _) = ELEMENTS.iter().find(|(_, name)| name.as_bytes() == &bytes[at..])?;
    Some(TensorType { dtype: *dtype, dims })
}

/// For how many types room is made before they are read.
const FEW: usize = 28;

/// How many types are found at once.
const RECENT: usize = 128;

/// The types of a text. Most are written many times: each is read once, and then found by how it is written.
pub(crate) struct Types<'a> {
    /// What `!name` stands for.
    aliases: HashMap<&'a str, ValueType, FxBuildHasher>,
    by_text: HashTable<u32>,
    known: Vec<Known<'a>>,
    /// Some of them by their hashes.
    recent: [u8; RECENT],
}

impl Default for Types<'_> {
    fn default() -> Self {
        Self {
            aliases: HashMap::default(),
            by_text: HashTable::with_capacity(FEW),
            known: Vec::with_capacity(FEW / 2),
            recent: [u8::MAX; RECENT],
        }
    }
}

struct Known<'a> {
    text: &'a [u8],
    hash: u64,
    ty: ValueType,
    /// Its number in a function, and which function that is.
    id: Option<(u32, TypeId)>,
}

impl<'a> Types<'a> {
    /// Reads a type.
    pub(crate) fn read(&mut self, c: &mut Cursor<'a>) -> Result<ValueType, String> {
        match self.plain(c) {
            Some(i) => Ok(self.known[i].ty.clone()),
            None => self.other(c),
        }
    }

    // A type that is no tensor of digits and letters.
    fn other(&self, c: &mut Cursor<'a>) -> Result<ValueType, String> {
        read(c, &|name| self.alias(name))
    }

    /// What `!name` stands for.
    pub(crate) fn alias(&self, name: &str) -> Option<ValueType> {
        self.aliases.get(name).cloned()
    }

    /// Says what `!name` stands for. It is no tuple: aliases of aliases would make types that have no end.
    pub(crate) fn define(&mut self, name: &'a str, ty: ValueType) -> Result<(), String> {
        if ty.as_tuple().is_some() {
            return Err(format!("`!{name}` stands for a tuple, which is not supported"));
        }
        match self.aliases.insert(name, ty) {
            Some(_) => Err(format!("type `!{name}` is defined twice")),
            None => Ok(()),
        }
    }

    // A tensor type of digits and letters. If something else is next nothing is read.
    #[inline]
    fn plain(&mut self, c: &mut Cursor<'a>) -> Option<usize> {
        c.skip();
        let (text, hash) = up_to_close(c.text.as_bytes().get(c.at..)?)?;
        let slot = hash as usize % RECENT;
        let recent = usize::from(self.recent[slot]);
        let same = |known: &Known<'_>| known.hash == hash && known.text == text;
        if self.known.get(recent).is_some_and(same) {
            c.at += text.len();
            return Some(recent);
        }
        self.look_for(c, text, hash)
    }

    fn look_for(&mut self, c: &mut Cursor<'a>, text: &'a [u8], hash: u64) -> Option<usize> {
        let same = |&i: &u32| {
            let known = &self.known[i as usize];
            known.hash == hash && known.text == text
        };
        let found = self.by_text.find(hash, same).map(|&i| i as usize);
        let i = match found {
            Some(i) => {
                c.at += text.len();
                i
            }
            None => self.add(c, text, hash)?,
        };
        if let Ok(small) = u8::try_from(i) {
            self.recent[hash as usize % RECENT] = small;
        }
        Some(i)
    }

    fn add(&mut self, c: &mut Cursor<'a>, text: &'a [u8], hash: u64) -> Option<usize> {
        let ty = match usual(text) {
            Some(ty) => {
                c.at += text.len();
                ValueType::Tensor(ty)
            }
            None => {
                let plain = |b: &u8| b.is_ascii_alphanumeric() || *b == b'?';
                if !text[PREFIX.len()..text.len() - 1].iter().all(plain) {
                    return None;
                }
                let start = c.at;
                let Ok(ty) = read(c, &|_| None) else {
                    c.at = start;
                    return None;
                };
                ty
            }
        };
        let i = self.known.len();
        self.known.push(Known { text, hash, ty, id: None });
        let known = &self.known;
        self.by_text.insert_unique(hash, i as u32, |&i| known[i as usize].hash);
        Some(i)
    }

    /// Reads the type of something in function number `n`: its number there.
    pub(crate) fn number(
        &mut self,
        c: &mut Cursor<'a>,
        n: u32,
        writer: &mut FunctionWriter,
    ) -> Result<TypeId, String> {
        match self.id(c, n, writer) {
            Some(id) => Ok(id),
            None => self.other(c).map(|ty| writer.intern_type(&ty)),
        }
    }

    /// Reads a type of digits and letters: its number in function number `n`, and what it is.
    #[inline]
    pub(crate) fn known(
        &mut self,
        c: &mut Cursor<'a>,
        n: u32,
        writer: &mut FunctionWriter,
    ) -> Option<(TypeId, &ValueType)> {
        let i = self.plain(c)?;
        let known = &mut self.known[i];
        let id = match known.id {
            Some((of, id)) if of == n => id,
            _ => writer.intern_type(&known.ty),
        };
        known.id = Some((n, id));
        Some((id, &known.ty))
    }

    /// The same without what it is.
    #[inline]
    pub(crate) fn id(
        &mut self,
        c: &mut Cursor<'a>,
        n: u32,
        writer: &mut FunctionWriter,
    ) -> Option<TypeId> {
        self.known(c, n, writer).map(|(id, _)| id)
    }

    /// Reads the type of a value of function number `n`. `false` if another one is stated, or perhaps.
    pub(crate) fn is_of(
        &mut self,
        c: &mut Cursor<'a>,
        n: u32,
        writer: &mut FunctionWriter,
        value: ValueId,
    ) -> bool {
        self.id(c, n, writer).is_some_and(|id| writer.function().type_id(value) == id)
    }

    /// Reads types separated by commas.
    pub(crate) fn list(&mut self, c: &mut Cursor<'a>, types: &mut TypeList) -> Result<(), String> {
        loop {
            types.push(self.read(c)?);
            if !c.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Reads types in parentheses.
    pub(crate) fn parenthesized(
        &mut self,
        c: &mut Cursor<'a>,
        types: &mut TypeList,
    ) -> Result<(), String> {
        if !c.eat(b'(') {
            return Err("expected `(`".into());
        }
        if c.eat(b')') {
            return Ok(());
        }
        self.list(c, types)?;
        if c.eat(b')') { Ok(()) } else { Err("expected `)` after types".into()) }
    }

    /// Reads one type, or several in parentheses.
    pub(crate) fn results(
        &mut self,
        c: &mut Cursor<'a>,
        types: &mut TypeList,
    ) -> Result<(), String> {
        if c.peek() == b'(' {
            return self.parenthesized(c, types);
        }
        types.push(self.read(c)?);
        Ok(())
    }
}

/// Writes a type.
pub(crate) fn write(out: &mut String, ty: &ValueType) {
    match ty {
        ValueType::Tensor(t) => write_tensor(out, t),
        ValueType::Token => out.push_str("!stablehlo.token"),
        ValueType::Tuple(parts) => {
            out.push_str("tuple<");
            for (i, part) in parts.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write(out, part);
            }
            out.push('>');
        }
    }
}

/// Writes a tensor type.
pub(crate) fn write_tensor(out: &mut String, ty: &TensorType) {
    out.push_str("tensor<");
    for dim in &ty.dims {
        match dim {
            Dim::Known(n) => {
                let _ = write!(out, "{n}x");
            }
            Dim::Named(_) | Dim::Unknown => out.push_str("?x"),
        }
    }
    out.push_str(element_name(ty.dtype));
    out.push('>');
}

/// A type as text.
pub(crate) fn text(ty: &ValueType) -> String {
    let mut out = String::new();
    write(&mut out, ty);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_print_back() {
        for ty in [
            "tensor<f32>",
            "tensor<2x?x0xi1>",
            "tensor<4xcomplex<f64>>",
            "tensor<3xui8>",
            "!stablehlo.token",
            "tuple<tensor<f8E5M2>, tuple<>, !stablehlo.token>",
        ] {
            assert_eq!(text(&read(&mut Cursor::new(ty), &|_| None).unwrap()), ty);
        }
        let bounded = "tensor<?x4xf32, #stablehlo.bounds<8, ?>>";
        assert_eq!(text(&read(&mut Cursor::new(bounded), &|_| None).unwrap()), "tensor<?x4xf32>");
    }

    #[test]
    fn types_that_are_written_again_are_the_same() {
        let text = "(tensor<2xf32>, tensor<2xf32> , tensor<?x2xcomplex<f32>>, tensor<2xq8>)";
        let (mut types, mut list) = (Types::default(), TypeList::new());
        let message = types.parenthesized(&mut Cursor::new(text), &mut list).unwrap_err();
        assert!(message.contains("element type `q8` is not supported"), "{message}");
        assert_eq!(list.len(), 3);
        assert_eq!((&list[0], types.known.len()), (&list[1], 1));
        assert_eq!(super::text(&list[2]), "tensor<?x2xcomplex<f32>>");
    }

    #[test]
    fn wrong_types_are_refused() {
        for (ty, why) in [
            ("tensor<*xf32>", "unknown rank"),
            ("tensor<2xq8>", "element type `q8` is not supported"),
            ("tensor<2x3>", "expected `x`"),
            ("tensor<99999999999999999999xf32>", "at most"),
            ("memref<2xf32>", "type `memref` is not supported"),
            ("tensor<2xf32, #a", "encoding"),
            ("", "expected a type"),
        ] {
            let message = read(&mut Cursor::new(ty), &|_| None).unwrap_err();
            assert!(message.contains(why), "{ty}: {message}");
        }
        let deep = "tuple<".repeat(100_000);
        assert!(read(&mut Cursor::new(&deep), &|_| None).is_err());
    }
}
