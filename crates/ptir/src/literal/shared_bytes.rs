//! The bytes of a literal: its own, or those of a file.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Bytes behind a shared pointer, compared by content.
#[derive(Clone)]
pub(super) enum SharedBytes {
    /// Bytes of literals alone.
    Own(Arc<[u8]>),
    /// Bytes in memory that others own too.
    Foreign(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Foreign(owner) => (**owner).as_ref(),
        }
    }
}

impl PartialEq for SharedBytes {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(&**self, &**other) || **self == **other
    }
}

impl Eq for SharedBytes {}

impl Hash for SharedBytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
