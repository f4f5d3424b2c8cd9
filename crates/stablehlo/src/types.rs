//! A reader and a writer of types: `tensor<2x?xf32>`, `tuple<…>`, `!stablehlo.token`.

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;
use sapwood_ptir::{
    Dim, Dims, FunctionWriter, MAX_RANK, MAX_TYPE_DEPTH, TensorType, TypeId, ValueId, ValueType,
};
use sapwood_types::{DataType, write_decimal};

use crate::cursor::{Cursor, first_byte_mask, hash_until};
use crate::raw_op::TypeList;

/// The element types and their names in the text.
const ELEMENTS: [(DataType, &str); 24] = [
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
    (DataType::F8E4M3Fnuz, "f8E4M3FNUZ"),
    (DataType::F8E5M2Fnuz, "f8E5M2FNUZ"),
    (DataType::F8E8M0Fnu, "f8E8M0FNU"),
    (DataType::F4E2M1Fn, "f4E2M1FN"),
    (DataType::I2, "i2"),
    (DataType::U2, "ui2"),
];

/// Returns the name of an element type in the text.
pub(crate) fn element_name(dtype: DataType) -> &'static str {
    match dtype {
        DataType::C64 => "complex<f32>",
        DataType::C128 => "complex<f64>",
        _ => ELEMENTS.iter().find(|(d, _)| *d == dtype).map_or("f32", |(_, name)| name),
    }
}

/// Reads an element type.
pub(crate) fn read_element_type(c: &mut Cursor<'_>) -> Result<DataType, String> {
    let Some(word) = c.word() else {
        return Err("expected an element type such as f32".into());
    };
    if let Some((dtype, _)) = ELEMENTS.iter().find(|(_, name)| *name == word) {
        return Ok(*dtype);
    }
    if word == "complex" && c.eat(b'<') {
        let part = read_element_type(c)?;
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

/// Returns whether a type can start with this word.
pub(crate) fn is_type_keyword(word: &str) -> bool {
    matches!(word, "tensor" | "tuple" | "complex") || ELEMENTS.iter().any(|(_, name)| *name == word)
}

/// Looks up the type of `!name`.
type Aliases<'s> = &'s dyn Fn(&str) -> Option<ValueType>;

/// Reads a type.
pub(crate) fn read(c: &mut Cursor<'_>, aliases: Aliases<'_>) -> Result<ValueType, String> {
    read_nested(c, aliases, 0)
}

// Consumes `word <`, with or without a space. If something else is next, consumes nothing.
fn eat_opening(c: &mut Cursor<'_>, word: &str) -> bool {
    let start = c.at;
    let found = c.eat_word(word) && c.eat(b'<');
    if !found {
        c.at = start;
    }
    found
}

fn read_nested(
    c: &mut Cursor<'_>,
    aliases: Aliases<'_>,
    depth: usize,
) -> Result<ValueType, String> {
    if depth > MAX_TYPE_DEPTH {
        return Err(format!("tuple types nest at most {MAX_TYPE_DEPTH} deep"));
    }
    if eat_opening(c, "tensor") {
        return read_tensor(c).map(ValueType::Tensor);
    }
    if eat_opening(c, "tuple") {
        let mut parts = Vec::new();
        while !c.eat(b'>') {
            if !parts.is_empty() && !c.eat(b',') {
                return Err("expected `,` or `>` in a tuple type".into());
            }
            parts.push(read_nested(c, aliases, depth + 1)?);
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
        _ => match read_element_type(c) {
            // A scalar outside a tensor, as in attributes and in `arith`.
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

fn read_tensor(c: &mut Cursor<'_>) -> Result<TensorType, String> {
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
    let dtype = read_element_type(c)?;
    // An encoding, such as bounds, is dropped.
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

const TENSOR_PREFIX: &str = "tensor<";

/// The size of the longest type that is cached.
const MAX_CACHED_TYPE_BYTES: usize = 64;

// The first seven bytes of every tensor type, as a word.
const TENSOR_PREFIX_WORD: u64 = u64::from_le_bytes(*b"tensor<\0");

// Returns the text of a tensor type up to the first `>`, and its hash.
#[inline]
fn tensor_type_text(text: &[u8]) -> Option<(&[u8], u64)> {
    if u64::from_le_bytes(*text.first_chunk::<8>()?) << 8 != TENSOR_PREFIX_WORD << 8 {
        return None;
    }
    let (len, hash) = hash_until(&text[TENSOR_PREFIX.len()..], MAX_CACHED_TYPE_BYTES, |word| {
        first_byte_mask(word, b'>')
    })?;
    Some((text.get(..TENSOR_PREFIX.len() + len + 1)?, hash))
}

// Parses a tensor type that has only digits and letters, from its start to `>`.
fn parse_static_tensor(text: &[u8]) -> Option<TensorType> {
    let bytes = text.get(TENSOR_PREFIX.len()..text.len() - 1)?;
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

/// The number of types that space is reserved for.
const INITIAL_CAPACITY: usize = 28;

/// The size of the direct-mapped table of recently used types.
const RECENT_SLOTS: usize = 128;

/// A cache of the types of a text, keyed by their text: most types are written many times, and each is parsed once.
pub(crate) struct TypeCache<'a> {
    /// The types of `!name`.
    aliases: HashMap<&'a str, ValueType, FxBuildHasher>,
    by_text: HashTable<u32>,
    entries: Vec<CachedType<'a>>,
    /// Indices of recently used entries, by hash.
    recent: [u8; RECENT_SLOTS],
}

impl Default for TypeCache<'_> {
    fn default() -> Self {
        Self {
            aliases: HashMap::default(),
            by_text: HashTable::with_capacity(INITIAL_CAPACITY),
            entries: Vec::with_capacity(INITIAL_CAPACITY / 2),
            recent: [u8::MAX; RECENT_SLOTS],
        }
    }
}

/// A type with the text it was read from.
struct CachedType<'a> {
    text: &'a [u8],
    hash: u64,
    ty: ValueType,
    /// The id of the type in a function, with the serial number of that function.
    id: Option<(u32, TypeId)>,
}

impl<'a> TypeCache<'a> {
    /// Reads a type.
    pub(crate) fn read(&mut self, c: &mut Cursor<'a>) -> Result<ValueType, String> {
        match self.find_or_insert(c) {
            Some(i) => Ok(self.entries[i].ty.clone()),
            None => self.read_uncached(c),
        }
    }

    // Reads a type that is not a tensor type of digits and letters.
    fn read_uncached(&self, c: &mut Cursor<'a>) -> Result<ValueType, String> {
        read(c, &|name| self.alias(name))
    }

    /// Returns the type of `!name`.
    pub(crate) fn alias(&self, name: &str) -> Option<ValueType> {
        self.aliases.get(name).cloned()
    }

    /// Defines `!name`. Tuples are refused: aliases of aliases could define types of exponential size.
    pub(crate) fn define_alias(&mut self, name: &'a str, ty: ValueType) -> Result<(), String> {
        if ty.as_tuple().is_some() {
            return Err(format!("type `!{name}` is a tuple; aliases of tuples are not supported"));
        }
        match self.aliases.insert(name, ty) {
            Some(_) => Err(format!("type `!{name}` is defined twice")),
            None => Ok(()),
        }
    }

    // Reads a tensor type of digits and letters and returns its index. If something else is next, consumes nothing.
    #[inline]
    fn find_or_insert(&mut self, c: &mut Cursor<'a>) -> Option<usize> {
        c.skip_space();
        let (text, hash) = tensor_type_text(c.text.as_bytes().get(c.at..)?)?;
        let slot = hash as usize % RECENT_SLOTS;
        let recent = usize::from(self.recent[slot]);
        let same = |known: &CachedType<'_>| known.hash == hash && known.text == text;
        if self.entries.get(recent).is_some_and(same) {
            c.at += text.len();
            return Some(recent);
        }
        self.find_in_table(c, text, hash)
    }

    fn find_in_table(&mut self, c: &mut Cursor<'a>, text: &'a [u8], hash: u64) -> Option<usize> {
        let same = |&i: &u32| {
            let known = &self.entries[i as usize];
            known.hash == hash && known.text == text
        };
        let found = self.by_text.find(hash, same).map(|&i| i as usize);
        let i = match found {
            Some(i) => {
                c.at += text.len();
                i
            }
            None => self.insert(c, text, hash)?,
        };
        if let Ok(small) = u8::try_from(i) {
            self.recent[hash as usize % RECENT_SLOTS] = small;
        }
        Some(i)
    }

    fn insert(&mut self, c: &mut Cursor<'a>, text: &'a [u8], hash: u64) -> Option<usize> {
        let ty = match parse_static_tensor(text) {
            Some(ty) => {
                c.at += text.len();
                ValueType::Tensor(ty)
            }
            None => {
                let plain = |b: &u8| b.is_ascii_alphanumeric() || *b == b'?';
                if !text[TENSOR_PREFIX.len()..text.len() - 1].iter().all(plain) {
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
        let i = self.entries.len();
        self.entries.push(CachedType { text, hash, ty, id: None });
        let entries = &self.entries;
        self.by_text.insert_unique(hash, i as u32, |&i| entries[i as usize].hash);
        Some(i)
    }

    /// Reads a type and returns its id in function number `n`.
    pub(crate) fn read_id(
        &mut self,
        c: &mut Cursor<'a>,
        n: u32,
        writer: &mut FunctionWriter,
    ) -> Result<TypeId, String> {
        match self.cached_id(c, n, writer) {
            Some(id) => Ok(id),
            None => self.read_uncached(c).map(|ty| writer.intern_type(&ty)),
        }
    }

    /// Reads a tensor type of digits and letters and returns its id in function number `n`, and the type.
    #[inline]
    pub(crate) fn cached_id_and_type(
        &mut self,
        c: &mut Cursor<'a>,
        n: u32,
        writer: &mut FunctionWriter,
    ) -> Option<(TypeId, &ValueType)> {
        let i = self.find_or_insert(c)?;
        let known = &mut self.entries[i];
        let id = match known.id {
            Some((of, id)) if of == n => id,
            _ => writer.intern_type(&known.ty),
        };
        known.id = Some((n, id));
        Some((id, &known.ty))
    }

    /// Reads a tensor type of digits and letters and returns its id in function number `n`.
    #[inline]
    pub(crate) fn cached_id(
        &mut self,
        c: &mut Cursor<'a>,
        n: u32,
        writer: &mut FunctionWriter,
    ) -> Option<TypeId> {
        self.cached_id_and_type(c, n, writer).map(|(id, _)| id)
    }

    /// Reads the type of a value of function number `n`. Returns `false` if the text has another type, or one that is not cached.
    pub(crate) fn matches_value(
        &mut self,
        c: &mut Cursor<'a>,
        n: u32,
        writer: &mut FunctionWriter,
        value: ValueId,
    ) -> bool {
        self.cached_id(c, n, writer).is_some_and(|id| writer.function().type_id(value) == id)
    }

    /// Reads types separated by commas.
    pub(crate) fn read_list(
        &mut self,
        c: &mut Cursor<'a>,
        types: &mut TypeList,
    ) -> Result<(), String> {
        loop {
            types.push(self.read(c)?);
            if !c.eat(b',') {
                return Ok(());
            }
        }
    }

    /// Reads types in parentheses.
    pub(crate) fn read_parenthesized(
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
        self.read_list(c, types)?;
        if c.eat(b')') { Ok(()) } else { Err("expected `)` after types".into()) }
    }

    /// Reads one type, or several in parentheses.
    pub(crate) fn read_results(
        &mut self,
        c: &mut Cursor<'a>,
        types: &mut TypeList,
    ) -> Result<(), String> {
        if c.peek() == b'(' {
            return self.read_parenthesized(c, types);
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
        // No tool of StableHLO knows this type; it occurs only beside custom calls of another format.
        ValueType::Opaque => out.push_str("!sapwood.opaque"),
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
                write_decimal(out, *n);
                out.push('x');
            }
            Dim::Expr(_) | Dim::Unknown => out.push_str("?x"),
        }
    }
    out.push_str(element_name(ty.dtype));
    out.push('>');
}

/// Returns the text of a type.
pub(crate) fn to_text(ty: &ValueType) -> String {
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
            assert_eq!(to_text(&read(&mut Cursor::new(ty), &|_| None).unwrap()), ty);
        }
        let bounded = "tensor<?x4xf32, #stablehlo.bounds<8, ?>>";
        assert_eq!(
            to_text(&read(&mut Cursor::new(bounded), &|_| None).unwrap()),
            "tensor<?x4xf32>"
        );
    }

    #[test]
    fn types_that_are_written_again_are_the_same() {
        let text = "(tensor<2xf32>, tensor<2xf32> , tensor<?x2xcomplex<f32>>, tensor<2xq8>)";
        let (mut types, mut list) = (TypeCache::default(), TypeList::new());
        let message = types.read_parenthesized(&mut Cursor::new(text), &mut list).unwrap_err();
        assert!(message.contains("element type `q8` is not supported"), "{message}");
        assert_eq!(list.len(), 3);
        assert_eq!((&list[0], types.entries.len()), (&list[1], 1));
        assert_eq!(to_text(&list[2]), "tensor<?x2xcomplex<f32>>");
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
