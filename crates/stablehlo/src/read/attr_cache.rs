//! A cache of attributes, keyed by their text: most are written many times, and each is parsed once.

use hashbrown::HashTable;
use sapwood_ptir::{AttrId, AttrList, FunctionWriter};

use crate::cursor::{first_byte_mask, hash_until, mix_hash};

/// The size of the longest text that is cached.
const MAX_CACHED_BYTES: usize = 1 << 9;

/// A cache from the text of attributes to the attributes.
#[derive(Default)]
pub(super) struct AttrCache<'a> {
    table: HashTable<u32>,
    entries: Vec<CachedAttrs<'a>>,
}

/// Attributes with the text they were read from.
struct CachedAttrs<'a> {
    text: &'a [u8],
    hash: u64,
    list: AttrList,
    /// The offset of the type that follows the attributes in the text.
    ty: u32,
    /// The function in which `id` is valid, by its serial number.
    function: u32,
    id: AttrId,
}

/// A text with its hash.
#[derive(Clone, Copy)]
pub(super) struct HashedText<'a> {
    bytes: &'a [u8],
    hash: u64,
}

impl<'a> HashedText<'a> {
    /// Returns the text from a position to the end of its line.
    #[inline]
    pub(super) fn rest_of_line(text: &'a str, start: usize) -> Option<Self> {
        let rest = text.as_bytes().get(start..)?;
        let (len, hash) = hash_until(rest, MAX_CACHED_BYTES, |word| first_byte_mask(word, b'\n'))?;
        Some(Self { bytes: &rest[..len], hash })
    }

    /// Returns the text between two positions.
    pub(super) fn range(text: &'a str, start: usize, end: usize) -> Option<Self> {
        let bytes =
            text.as_bytes().get(start..end).filter(|bytes| bytes.len() <= MAX_CACHED_BYTES)?;
        let (words, rest) = bytes.as_chunks::<8>();
        let hash = words.iter().fold(0, |hash, word| mix_hash(hash, u64::from_le_bytes(*word)));
        let hash = rest.iter().fold(hash, |hash, byte| mix_hash(hash, u64::from(*byte)));
        Some(Self { bytes, hash })
    }

    pub(super) fn len(self) -> usize {
        self.bytes.len()
    }
}

impl<'a> AttrCache<'a> {
    /// Returns the id of the attributes with this text in function number `n`, and the offset of the type after them.
    #[inline]
    pub(super) fn find(
        &mut self,
        text: HashedText<'a>,
        n: u32,
        writer: &mut FunctionWriter,
    ) -> Option<(AttrId, usize)> {
        let same = |&i: &u32| {
            let known = &self.entries[i as usize];
            known.hash == text.hash && known.text == text.bytes
        };
        let i = *self.table.find(text.hash, same)?;
        let known = &mut self.entries[i as usize];
        if known.function != n {
            (known.function, known.id) = (n, writer.intern_attrs(&known.list));
        }
        Some((known.id, known.ty as usize))
    }

    /// Adds attributes that were read from a text.
    pub(super) fn insert(
        &mut self,
        text: HashedText<'a>,
        ty: usize,
        n: u32,
        id: AttrId,
        writer: &FunctionWriter,
    ) {
        let list = writer.function().attrs_by_id(id).clone();
        let (i, hash) = (self.entries.len() as u32, text.hash);
        self.entries.push(CachedAttrs {
            text: text.bytes,
            hash,
            list,
            ty: ty as u32,
            function: n,
            id,
        });
        let entries = &self.entries;
        self.table.insert_unique(hash, i, |&i| entries[i as usize].hash);
    }
}
