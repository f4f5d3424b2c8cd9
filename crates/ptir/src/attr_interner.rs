//! The interner of attribute lists.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::LazyLock;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::attr::{Attr, AttrList};
use crate::ids::AttrId;

/// The interned attribute lists of one function. Number 0 is the empty list.
#[derive(Clone)]
pub(crate) struct AttrInterner {
    lists: Vec<AttrList>,
    // The number and the hash of each list, so that growing the table does not read the lists.
    table: HashTable<(u32, u32)>,
    // True if a list has expressions over symbols.
    symbolic: bool,
}

impl AttrInterner {
    /// Returns true if a list has expressions over symbols.
    pub(crate) fn has_symbols(&self) -> bool {
        self.symbolic
    }

    #[inline]
    pub(crate) fn get(&self, id: AttrId) -> &AttrList {
        &self.lists[id.index()]
    }

    /// Creates an interner with capacity for `count` lists.
    pub(crate) fn with_capacity(count: usize) -> Self {
        static EMPTY: LazyLock<AttrList> = LazyLock::new(|| [].into());
        let mut lists = Vec::with_capacity(count + 1);
        lists.push(EMPTY.clone());
        Self { lists, table: HashTable::with_capacity(count), symbolic: false }
    }

    /// Interns a list; its entries are copied only if the list is new.
    pub(crate) fn intern_slice(&mut self, list: &[Attr]) -> AttrId {
        if list.is_empty() {
            return AttrId::new(0);
        }
        let hash = hash_attrs(list);
        self.find(hash, list).unwrap_or_else(|| self.insert(hash, list.into()))
    }

    /// Interns a list that another interner has, and shares its memory.
    pub(crate) fn intern_shared(&mut self, list: &AttrList) -> AttrId {
        if list.is_empty() {
            return AttrId::new(0);
        }
        let hash = hash_attrs(list);
        self.find(hash, list).unwrap_or_else(|| self.insert(hash, list.clone()))
    }

    pub(crate) fn len(&self) -> usize {
        self.lists.len()
    }

    /// Interns a list; shared memory is allocated only if the list is new.
    pub(crate) fn intern_vec(&mut self, list: Vec<Attr>) -> AttrId {
        if list.is_empty() {
            return AttrId::new(0);
        }
        let hash = hash_attrs(&list);
        match self.find(hash, &list) {
            Some(id) => id,
            None => self.insert(hash, list.into()),
        }
    }

    /// Interns a list of constant length; shared memory is allocated only if the list is new.
    pub(crate) fn intern_array<const N: usize>(&mut self, list: [Attr; N]) -> AttrId {
        if N == 0 {
            return AttrId::new(0);
        }
        let hash = hash_attrs(&list);
        match self.find(hash, &list) {
            Some(id) => id,
            None => self.insert(hash, list.into()),
        }
    }

    fn find(&self, hash: u32, list: &[Attr]) -> Option<AttrId> {
        let same = |&(id, other): &(u32, u32)| other == hash && *self.lists[id as usize] == *list;
        self.table.find(spread_hash(hash), same).map(|&(id, _)| AttrId::new(id as usize))
    }

    fn insert(&mut self, hash: u32, list: AttrList) -> AttrId {
        let id = self.lists.len();
        self.symbolic |= list.iter().any(Attr::has_symbols);
        self.lists.push(list);
        self.table
            .insert_unique(spread_hash(hash), (id as u32, hash), |&(_, hash)| spread_hash(hash));
        AttrId::new(id)
    }

    pub(crate) fn bytes(&self) -> usize {
        let payload: usize = self.lists.iter().map(|l| l.len() * size_of::<Attr>() + 16).sum();
        self.lists.capacity() * size_of::<AttrList>() + self.table.capacity() * 9 + payload
    }
}

fn hash_attrs(list: &[Attr]) -> u32 {
    (BuildHasherDefault::<FxHasher>::default().hash_one(list) >> 32) as u32
}

// Spreads a hash over 64 bits: the hash table uses the highest and the lowest bits.
fn spread_hash(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
