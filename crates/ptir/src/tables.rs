//! The interners of the process: names, ops and dim expressions.

use std::fmt;
use std::sync::RwLockWriteGuard;

use hashbrown::HashTable;

use crate::{dims, name, op};

/// A guard that locks the interners of names, ops, dim expressions and file names.
pub struct InternerLockGuard {
    _ops: RwLockWriteGuard<'static, Option<op::key::Table>>,
    _dims: RwLockWriteGuard<'static, HashTable<&'static dims::Interned>>,
    _monomials: RwLockWriteGuard<'static, HashTable<&'static dims::Product>>,
    _names: RwLockWriteGuard<'static, Option<name::Interner>>,
    _places: sapwood_types::InternerLockGuard,
}

/// Locks the interners of this crate and of the crates below while the guard lives, like
/// [`sapwood_types::lock_interners`].
#[must_use]
pub fn lock_interners() -> InternerLockGuard {
    InternerLockGuard {
        _ops: op::key::hold(),
        _dims: dims::hold(),
        _monomials: dims::hold_monomials(),
        _names: name::hold(),
        _places: sapwood_types::lock_interners(),
    }
}

impl fmt::Debug for InternerLockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InternerLockGuard")
    }
}
