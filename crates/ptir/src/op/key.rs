//! The interned key of an op: one per name and process.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The key of an op name. Comparing two keys compares two integers. Keys are numbered in order of first use and mean
/// nothing outside the process; hashes and files use names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpKey(u32);

pub(crate) struct Table {
    by_name: HashMap<&'static str, u32, FxBuildHasher>,
    names: Vec<&'static str>,
}

static TABLE: RwLock<Option<Table>> = RwLock::new(None);

/// Keeps the table as it is.
pub(crate) fn hold() -> RwLockWriteGuard<'static, Option<Table>> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

impl OpKey {
    /// Returns the key of the op with this name, registered or not.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if let Some(table) = &*TABLE.read().unwrap_or_else(PoisonError::into_inner)
            && let Some(&id) = table.by_name.get(name)
        {
            return Self(id);
        }
        let mut guard = TABLE.write().unwrap_or_else(PoisonError::into_inner);
        let table =
            guard.get_or_insert_with(|| Table { by_name: HashMap::default(), names: Vec::new() });
        if let Some(&id) = table.by_name.get(name) {
            return Self(id);
        }
        let id = table.names.len() as u32;
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        table.names.push(name);
        table.by_name.insert(name, id);
        Self(id)
    }

    /// Returns the name of the op.
    #[must_use]
    pub fn name(self) -> &'static str {
        let guard = TABLE.read().unwrap_or_else(PoisonError::into_inner);
        guard.as_ref().and_then(|t| t.names.get(self.0 as usize).copied()).unwrap_or("")
    }

    /// Returns the index of the key in this process, for side tables.
    #[must_use]
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The key of one op, looked up by name at the first use and remembered.
///
/// One load per use: a key is only a number, and looking it up twice gives the same number.
#[derive(Debug)]
pub struct OpKeyCell(AtomicU32);

impl OpKeyCell {
    const UNSET: u32 = u32::MAX;

    /// Returns a cell whose key has not been looked up.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a cell is always a static of its own")]
    pub const fn new() -> Self {
        Self(AtomicU32::new(Self::UNSET))
    }

    /// Returns the key of `name`, which must be the same at every call.
    #[inline]
    pub fn get(&self, name: &str) -> OpKey {
        match self.0.load(Ordering::Relaxed) {
            Self::UNSET => self.look_up(name),
            key => OpKey(key),
        }
    }

    #[cold]
    fn look_up(&self, name: &str) -> OpKey {
        let key = OpKey::of(name);
        self.0.store(key.0, Ordering::Relaxed);
        key
    }
}

impl fmt::Display for OpKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for OpKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpKey({})", self.name())
    }
}
