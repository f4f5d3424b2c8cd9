//! Singletons: one object per logical identity.

use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxBuildHasher;

use crate::engine::check_no_variables;
use crate::error::{BuildError, Error, TypeError};
use crate::hasher::Hash128;
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::node::Node;
use crate::path::PathStep;
use crate::reference::{AnyRef, Ref};
use crate::type_info::TypeInfo;

/// Singletons by the address of their descriptor and their hash.
type SingletonTable = hashbrown::HashMap<(usize, Hash128), Vec<AnyRef>, FxBuildHasher>;

/// Returns the table of every singleton that `get` created. They are never dropped: a registry entry outlives
/// its users.
fn singletons() -> &'static Mutex<SingletonTable> {
    static SINGLETONS: OnceLock<Mutex<SingletonTable>> = OnceLock::new();
    SINGLETONS.get_or_init(Mutex::default)
}

/// An error of constructing a node, or of getting a singleton.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConstructError {
    /// The type is of another kind.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// A field cannot hold its value.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The fields cannot be hashed or compared.
    #[error(transparent)]
    Fields(#[from] Error),
}

impl<T: Node> Ref<T> {
    /// Returns the one singleton with these fields.
    ///
    /// # Errors
    /// If the type is not a singleton, or its fields cannot be compared.
    pub fn get(payload: T) -> Result<Self, ConstructError> {
        let info = payload.type_info();
        let node = Self::new_interned(payload).into_any();
        let node = intern(info, node)?;
        node.downcast().map_err(|_| BuildError::new("a singleton of another type").into())
    }
}

pub(crate) fn intern(info: &'static TypeInfo, node: AnyRef) -> Result<AnyRef, ConstructError> {
    if info.kind() != NodeKind::Singleton {
        return Err(TypeError::NotSingleton(info.key().to_owned()).into());
    }
    // Singletons are looked up by their fields, so these must be comparable in every context.
    let facts = node.node().facts();
    check_no_variables(info, facts)?;
    if facts.any(Facts::UNCOMPARABLE) {
        for (index, field) in info.fields().iter().enumerate() {
            if field.role != FieldRole::Ignore {
                crate::hash(node.node().child(index)).map_err(|error| {
                    error.with_outer_path(PathStep::Field(field.name.into()).into())
                })?;
            }
        }
    }
    let hash = crate::hash(node.node())?;
    let mut compared = 0;
    loop {
        // Entries are only added at the end, so those beyond `compared` are new.
        let others = {
            let mut table = singletons().lock().unwrap_or_else(PoisonError::into_inner);
            let others = table.entry((std::ptr::from_ref(info).addr(), hash)).or_default();
            if others.len() == compared {
                others.push(node.clone());
                return Ok(node);
            }
            others[compared..].to_vec()
        };
        // Outside the lock, because a hook may get singletons itself.
        for other in &others {
            if has_equal_fields(&node, other)? {
                return Ok(other.clone());
            }
        }
        compared += others.len();
    }
}

/// Returns whether the fields of two singletons of one type, ignored ones left out, are equal.
fn has_equal_fields(left: &AnyRef, right: &AnyRef) -> Result<bool, Error> {
    let (left, right) = (left.node(), right.node());
    for (index, field) in left.info().fields().iter().enumerate() {
        if field.role != FieldRole::Ignore && !crate::equal(left.child(index), right.child(index))?
        {
            return Ok(false);
        }
    }
    Ok(true)
}
