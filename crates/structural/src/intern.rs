//! Singletons: one object per logical identity.

use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxBuildHasher;

use crate::engine::refuse_variables;
use crate::error::{BuildError, Error, TypeError};
use crate::hasher::Hash128;
use crate::kind::{Facts, Kind, Role};
use crate::node::Node;
use crate::path::Step;
use crate::reference::{AnyRef, Ref};
use crate::type_info::TypeInfo;

type Table = hashbrown::HashMap<(usize, Hash128), Vec<AnyRef>, FxBuildHasher>;

/// Every singleton that `get` made. They are never dropped: a registry entry outlives its users.
fn table() -> &'static Mutex<Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    TABLE.get_or_init(Mutex::default)
}

/// Why a singleton could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GetError {
    /// The type is of another kind.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// A field was given what it cannot hold.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The fields cannot be hashed or compared.
    #[error(transparent)]
    Fields(#[from] Error),
}

impl<T: Node> Ref<T> {
    /// The one singleton with these fields.
    ///
    /// # Errors
    /// If the type is not a singleton, or its fields cannot be compared.
    pub fn get(payload: T) -> Result<Self, GetError> {
        let info = payload.type_info();
        let node = Self::new_interned(payload).into_any();
        let node = intern(info, node)?;
        node.downcast().map_err(|_| BuildError::new("a singleton of another type").into())
    }
}

pub(crate) fn intern(info: &'static TypeInfo, node: AnyRef) -> Result<AnyRef, GetError> {
    if info.kind() != Kind::Singleton {
        return Err(TypeError::NotSingleton(info.key().to_owned()).into());
    }
    // Singletons are looked up by their fields, so these must be comparable wherever they stand.
    let facts = node.node().facts();
    refuse_variables(info, facts)?;
    if facts.any(Facts::UNCOMPARABLE) {
        for (index, field) in info.fields().iter().enumerate() {
            if field.role != Role::Ignore {
                crate::hash_128(node.node().child(index))
                    .map_err(|error| error.within(Step::Field(field.name.into()).into()))?;
            }
        }
    }
    let hash = crate::hash_128(crate::View::Node(node.node()))?;
    let mut compared = 0;
    loop {
        // Entries are only ever added at the end, so those beyond `compared` are news.
        let others = {
            let mut table = table().lock().unwrap_or_else(PoisonError::into_inner);
            let others = table.entry((std::ptr::from_ref(info).addr(), hash)).or_default();
            if others.len() == compared {
                others.push(node.clone());
                return Ok(node);
            }
            others[compared..].to_vec()
        };
        // Outside the lock: a hook may ask for singletons itself.
        for other in &others {
            if same_fields(&node, other)? {
                return Ok(other.clone());
            }
        }
        compared += others.len();
    }
}

/// Whether two singletons of one type have equal fields that count.
fn same_fields(left: &AnyRef, right: &AnyRef) -> Result<bool, Error> {
    let (left, right) = (left.node(), right.node());
    for (index, field) in left.info().fields().iter().enumerate() {
        if field.role != Role::Ignore && !crate::equal_views(left.child(index), right.child(index))?
        {
            return Ok(false);
        }
    }
    Ok(true)
}
