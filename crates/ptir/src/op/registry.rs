//! Registries: the sets of ops that programs may contain.

use std::sync::{Arc, OnceLock};
use std::{fmt, iter};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::key::OpKey;
use super::op_def::OpDef;

/// An immutable set of ops, shared by programs and functions.
#[derive(Clone, Default)]
pub struct Registry {
    table: OpTable,
    lazy: Vec<Arc<LazyOps>>,
}

#[derive(Clone, Default)]
struct OpTable {
    by_key: Vec<Option<Arc<OpDef>>>,
    by_name: HashMap<&'static str, OpKey, FxBuildHasher>,
    order: Vec<OpKey>,
}

/// Ops that are defined when one of them is needed.
struct LazyOps {
    prefix: &'static str,
    make: fn() -> Vec<OpDef>,
    table: OnceLock<OpTable>,
}

/// The reason why an op cannot be registered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// An op with this name is already registered.
    #[error("op `{0}` is registered twice")]
    Duplicate(&'static str),
    /// The text form could not read the name back.
    #[error(
        "`{0}` cannot be the name of an op: it must be a word of letters, digits, `_` and `.`, and not a reserved word of the text form"
    )]
    Name(&'static str),
}

/// Words with another meaning where the text form expects the name of an op.
const RESERVED_WORDS: [&str; 8] = ["true", "false", "nan", "inf", "hex", "func", "ptir", "elided"];

impl Registry {
    /// Returns the registry of the built-in ops.
    #[must_use]
    pub fn builtin() -> Arc<Self> {
        static BUILTIN: OnceLock<Arc<Registry>> = OnceLock::new();
        let make = || {
            let mut registry = Self::default();
            for def in crate::ops::builtin_op_defs() {
                registry.add(def);
            }
            Arc::new(registry)
        };
        BUILTIN.get_or_init(make).clone()
    }

    /// Returns a registry of these ops and of others whose names begin with a prefix. They are defined when one of them is looked up,
    /// or all ops are listed: most programs of most formats have none of them. The names must be words of the text form.
    #[must_use]
    pub fn with_lazy(&self, prefix: &'static str, make: fn() -> Vec<OpDef>) -> Arc<Self> {
        let mut registry = self.clone();
        registry.lazy.push(Arc::new(LazyOps { prefix, make, table: OnceLock::new() }));
        Arc::new(registry)
    }

    /// Returns a registry of these ops and more. A panic in a function of one of these ops, such as its inference or evaluation, becomes
    /// an error at the instruction.
    ///
    /// # Errors
    /// If a name is already registered, or is not a word of the text form.
    pub fn with(&self, defs: impl IntoIterator<Item = OpDef>) -> Result<Arc<Self>, RegistryError> {
        let mut registry = self.clone();
        for def in defs {
            if registry.get(def.key).is_some() {
                return Err(RegistryError::Duplicate(def.name));
            }
            if !crate::text::is_word(def.name) || RESERVED_WORDS.contains(&def.name) {
                return Err(RegistryError::Name(def.name));
            }
            registry.add(def.catching_panics());
        }
        Ok(Arc::new(registry))
    }

    fn add(&mut self, def: OpDef) {
        self.table.add(def);
    }

    /// Returns the definition of an op by its key.
    #[must_use]
    #[inline]
    pub fn get(&self, key: OpKey) -> Option<&OpDef> {
        match self.table.get(key) {
            Some(def) => Some(def),
            None => self.lazy_of(key.name())?.table().get(key),
        }
    }

    #[cold]
    fn lazy_of(&self, name: &str) -> Option<&LazyOps> {
        self.lazy.iter().find(|lazy| name.starts_with(lazy.prefix)).map(|lazy| &**lazy)
    }

    /// Returns the definition of an op by its name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&OpDef> {
        match self.table.by_name.get(name) {
            Some(&key) => self.table.get(key),
            None => {
                let table = self.lazy_of(name)?.table();
                table.get(*table.by_name.get(name)?)
            }
        }
    }

    /// Iterates over all definitions, in the order of the tables.
    pub fn defs(&self) -> impl Iterator<Item = &OpDef> {
        let tables = iter::once(&self.table).chain(self.lazy.iter().map(|lazy| lazy.table()));
        tables.flat_map(|table| table.order.iter().filter_map(|&key| table.get(key)))
    }
}

impl OpTable {
    fn add(&mut self, def: OpDef) {
        let key = def.key;
        if self.by_key.len() <= key.index() {
            self.by_key.resize(key.index() + 1, None);
        }
        debug_assert!(self.by_key[key.index()].is_none(), "op `{}` is in two tables", def.name);
        self.by_name.insert(def.name, key);
        self.order.push(key);
        self.by_key[key.index()] = Some(Arc::new(def));
    }

    #[inline]
    fn get(&self, key: OpKey) -> Option<&OpDef> {
        self.by_key.get(key.index())?.as_deref()
    }
}

impl LazyOps {
    fn table(&self) -> &OpTable {
        self.table.get_or_init(|| {
            let mut table = OpTable::default();
            (self.make)().into_iter().for_each(|def| table.add(def));
            table
        })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registry({} ops)", self.table.order.len())
    }
}
