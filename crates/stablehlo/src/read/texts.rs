//! Attributes by how they are written: most are written many times, and then read once.

use hashbrown::HashTable;
use sapwood_ptir::{AttrId, AttrList, FunctionWriter};

use crate::cursor::{first_that_is, hash_until, mix};

/// Longer texts are read one by one.
const LONGEST: usize = 1 << 9;

/// The attributes that were read.
#[derive(Default)]
pub(super) struct Texts<'a> {
    table: HashTable<u32>,
    known: Vec<Known<'a>>,
}

struct Known<'a> {
    text: &'a [u8],
    hash: u64,
    list: AttrList,
    /// Where in the text the type starts that comes with them.
    ty: u32,
    /// Their number in a function, and which function that is.
    function: u32,
    id: AttrId,
}

/// A text with its hash.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    hash: u64,
}

impl<'a> Text<'a> {
    /// From a place to the end of its line.
    #[inline]
    pub(super) fn line(text: &'a str, start: usize) -> Option<Self> {
        let rest = text.as_bytes().get(start..)?;
        let (len, hash) = hash_until(rest, LONGEST, |word| first_that_is(word, b'\n'))?;
        Some(Self { bytes: &rest[..len], hash })
    }

    /// From one place to another.
    pub(super) fn between(text: &'a str, start: usize, end: usize) -> Option<Self> {
        let bytes = text.as_bytes().get(start..end).filter(|bytes| bytes.len() <= LONGEST)?;
        let (words, rest) = bytes.as_chunks::<8>();
        let hash = words.iter().fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
        let hash = rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte)));
        Some(Self { bytes, hash })
    }

    pub(super) fn len(self) -> usize {
        self.bytes.len()
    }
}

impl<'a> Texts<'a> {
    /// The number of the attributes that are written like this in function number `n`, and where their type starts.
    #[inline]
    pub(super) fn find(
        &mut self,
        text: Text<'a>,
        n: u32,
        writer: &mut FunctionWriter,
    ) -> Option<(AttrId, usize)> {
        let same = |&i: &u32| {
            let known = &self.known[i as usize];
            known.hash == text.hash && known.text == text.bytes
        };
        let i = *self.table.find(text.hash, same)?;
        let known = &mut self.known[i as usize];
        if known.function != n {
            (known.function, known.id) = (n, writer.intern_shared_attrs(&known.list));
        }
        Some((known.id, known.ty as usize))
    }

    /// Keeps the attributes that were read from a text.
    pub(super) fn add(
        &mut self,
        text: Text<'a>,
        ty: usize,
        n: u32,
        id: AttrId,
        writer: &FunctionWriter,
    ) {
        let list = writer.function().attrs_by_id(id).clone();
        let (i, hash) = (self.known.len() as u32, text.hash);
        self.known.push(Known { text: text.bytes, hash, list, ty: ty as u32, function: n, id });
        let known = &self.known;
        self.table.insert_unique(hash, i, |&i| known[i as usize].hash);
    }
}
