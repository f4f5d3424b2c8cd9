//! The tables that the process has: names and ops.

use std::fmt;
use std::sync::RwLockWriteGuard;

use crate::{name, op};

/// Keeps the tables of names and ops as they are.
pub struct TablesHeld {
    _ops: RwLockWriteGuard<'static, Option<op::key::Table>>,
    _names: RwLockWriteGuard<'static, Option<name::Interner>>,
    _places: sapwood_types::TablesHeld,
}

/// Keeps the tables of this crate and of those below as they are while the guard lives, as [`sapwood_types::hold_tables`].
#[must_use]
pub fn hold_tables() -> TablesHeld {
    TablesHeld {
        _ops: op::key::hold(),
        _names: name::hold(),
        _places: sapwood_types::hold_tables(),
    }
}

impl fmt::Debug for TablesHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TablesHeld")
    }
}
