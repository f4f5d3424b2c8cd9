//! Interned strings: process-wide [`Name`]s for identifiers that recur everywhere (dims, functions, attribute keys),
//! and the per-function interner of value names.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{RwLock, RwLockWriteGuard};

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxHasher;

/// An interned identifier: a named dim, a function, an attribute key. Comparing two names compares two integers.
///
/// Names are never freed; the set of identifiers that a compiler encounters is small.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name(u32);

pub(crate) struct Interner {
    by_text: HashMap<&'static str, u32, BuildHasherDefault<FxHasher>>,
    texts: Vec<&'static str>,
}

static INTERNER: RwLock<Option<Interner>> = RwLock::new(None);

/// Keeps the table as it is.
pub(crate) fn hold() -> RwLockWriteGuard<'static, Option<Interner>> {
    INTERNER.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Name {
    /// Interns a text and returns its name.
    #[must_use]
    pub fn new(text: &str) -> Self {
        if let Some(table) = &*INTERNER.read().unwrap_or_else(std::sync::PoisonError::into_inner)
            && let Some(&id) = table.by_text.get(text)
        {
            return Self(id);
        }
        let mut guard = INTERNER.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let table = guard
            .get_or_insert_with(|| Interner { by_text: HashMap::default(), texts: Vec::new() });
        if let Some(&id) = table.by_text.get(text) {
            return Self(id);
        }
        let id = table.texts.len() as u32;
        let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
        table.texts.push(text);
        table.by_text.insert(text, id);
        Self(id)
    }

    /// Returns the text of the name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let guard = INTERNER.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        guard.as_ref().and_then(|table| table.texts.get(self.0 as usize).copied()).unwrap_or("")
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// An interner of strings in one buffer: twelve bytes and the text per entry.
#[derive(Clone, Default)]
pub(crate) struct StrInterner {
    text: String,
    ends: Vec<u32>,
    table: HashTable<u32>,
}

impl StrInterner {
    pub(crate) fn get(&self, id: u32) -> &str {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] as usize };
        &self.text[start..self.ends[id] as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Creates an interner with capacity for `count` strings of ten bytes each.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self {
            text: String::with_capacity(10 * count),
            ends: Vec::with_capacity(count),
            table: HashTable::with_capacity(count),
        }
    }

    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.table.find(hash(text), |&id| self.get(id) == text).copied()
    }

    /// Interns a text and returns its number. Returns `None` when the buffer is full (4 GiB of names).
    pub(crate) fn intern(&mut self, text: &str) -> Option<u32> {
        let hash = hash(text);
        if let Some(&id) = self.table.find(hash, |&id| self.get(id) == text) {
            return Some(id);
        }
        let end = u32::try_from(self.text.len() + text.len()).ok()?;
        let id = self.ends.len() as u32;
        self.text.push_str(text);
        self.ends.push(end);
        let Self { text: all, ends, table } = self;
        let at = |id: u32| {
            let id = id as usize;
            let start = if id == 0 { 0 } else { ends[id - 1] as usize };
            &all[start..ends[id] as usize]
        };
        table.insert_unique(hash, id, |&id| self::hash(at(id)));
        Some(id)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * 4 + self.table.capacity() * 5
    }
}

fn hash(text: &str) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(text)
}
