//! What the engine knows of a type: one descriptor for types written in Rust, types described at
//! run time, and the nodes of other storages.

use std::fmt;

use crate::dynamic::Constructor;
use crate::hasher::{Mixer, Sum};
use crate::hooks::Hooks;
use crate::kind::{Kind, Role};
use crate::reference::Ops;
use crate::values::Value;

/// How the children of a node are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Named fields, the same number in every node of the type.
    Record,
    /// Elements in order.
    List,
    /// Keys and values in turn, in the order of the hash of the keys.
    Map,
    /// Keys alone, in the order of their hash.
    Set,
}

impl Layout {
    /// Whether children are found by key.
    #[inline]
    pub(crate) const fn is_keyed(self) -> bool {
        matches!(self, Self::Map | Self::Set)
    }

    /// The number of children that belong together: a key and its value, or one.
    pub(crate) const fn per_entry(self) -> usize {
        if matches!(self, Self::Map) { 2 } else { 1 }
    }
}

/// The descriptor of a type.
pub struct TypeInfo {
    key: &'static str,
    kind: Kind,
    layout: Layout,
    scope: bool,
    fields: &'static [FieldInfo],
    base: Option<&'static TypeInfo>,
    hooks: Option<&'static dyn Hooks>,
    constructor: Option<Constructor>,
    seed: Sum,
    record_seed: Sum,
    ignores_all: bool,
    whole_row: bool,
    plain: bool,
    pub(crate) ops: Ops,
}

impl TypeInfo {
    /// The descriptor of a record type. `#[derive(Node)]` writes this call.
    #[must_use]
    pub const fn record<T: crate::Node>(
        key: &'static str,
        kind: Kind,
        fields: &'static [FieldInfo],
    ) -> Self {
        Self::with_ops(key, kind, Layout::Record, fields, Ops::of::<T>())
    }

    /// The descriptor of nodes that live in a storage of their own (see [`crate::Graph`]).
    #[must_use]
    pub const fn foreign(
        key: &'static str,
        kind: Kind,
        layout: Layout,
        fields: &'static [FieldInfo],
    ) -> Self {
        Self::with_ops(key, kind, layout, fields, Ops::foreign())
    }

    pub(crate) const fn with_ops(
        key: &'static str,
        kind: Kind,
        layout: Layout,
        fields: &'static [FieldInfo],
        ops: Ops,
    ) -> Self {
        let seed = match layout {
            Layout::Record => Sum::domain(Mixer::new(TAG_RECORD).absorb_bytes(key.as_bytes())),
            Layout::List => LIST_SEED,
            Layout::Map => Sum::domain(Mixer::new(TAG_MAP)),
            Layout::Set => Sum::domain(Mixer::new(TAG_SET)),
        };
        let mut ignores_all = matches!(layout, Layout::Record);
        let mut ignores_none = true;
        let mut index = 0;
        while index < fields.len() {
            let ignored = matches!(fields[index].role, Role::Ignore);
            ignores_all &= ignored;
            ignores_none &= !ignored;
            index += 1;
        }
        let (scope, base, hooks) = (false, None, None);
        let record_seed = Sum::new(seed, fields.len());
        let plain =
            matches!(layout, Layout::Record) && matches!(kind, Kind::Tree | Kind::ConstTree);
        Self {
            key,
            kind,
            layout,
            scope,
            fields,
            base,
            hooks,
            constructor: None,
            seed,
            record_seed,
            ignores_all,
            whole_row: ops.rows && ignores_none,
            plain,
            ops,
        }
    }

    /// The same type as a scope: variables first met in a def field inside it are unbound when it
    /// ends.
    #[must_use]
    pub const fn scoped(mut self) -> Self {
        self.scope = true;
        self
    }

    /// The same type with hooks in place of field-by-field comparison and hashing.
    #[must_use]
    pub const fn hooked(mut self, hooks: &'static dyn Hooks) -> Self {
        self.hooks = Some(hooks);
        self
    }

    /// The same type, its nodes made by this function where graphs are rebuilt or read.
    pub(crate) const fn constructed_by(mut self, constructor: Option<Constructor>) -> Self {
        self.constructor = constructor;
        self
    }

    pub(crate) const fn based_on(mut self, base: Option<&'static Self>) -> Self {
        self.base = base;
        self
    }

    /// The name that identifies the type in hashes, JSON and messages.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// How nodes of the type are compared.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How children are laid out.
    #[must_use]
    #[inline]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Whether the type is a scope.
    #[must_use]
    #[inline]
    pub fn is_scope(&self) -> bool {
        self.scope
    }

    /// The fields, base type first, in declaration order.
    #[must_use]
    #[inline]
    pub fn fields(&self) -> &'static [FieldInfo] {
        self.fields
    }

    /// The type this one extends.
    #[must_use]
    pub fn base(&self) -> Option<&'static Self> {
        self.base
    }

    /// The hooks, if the type has them.
    #[must_use]
    #[inline]
    pub fn hooks(&self) -> Option<&'static dyn Hooks> {
        self.hooks
    }

    /// The function that makes nodes of the type where graphs are rebuilt or read, if it has one.
    pub(crate) fn constructor(&self) -> Option<Constructor> {
        self.constructor
    }

    /// The position of the field called `name`.
    #[must_use]
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Whether this type is `other` or extends it.
    #[must_use]
    pub fn is_a(&self, other: &Self) -> bool {
        let mut this = Some(self);
        while let Some(info) = this {
            if std::ptr::eq(info, other) {
                return true;
            }
            this = info.base;
        }
        false
    }

    /// Whether no field counts, and no hook has a say.
    #[inline]
    pub(crate) fn compares_nothing(&self) -> bool {
        self.ignores_all && self.hooks.is_none()
    }

    /// Whether nodes are rows of values all of which count.
    #[inline]
    pub(crate) fn is_whole_row(&self) -> bool {
        self.whole_row
    }

    /// Whether nodes without variables and hooks below are what their fields are.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// The state from which the hash of a node of a record type starts.
    #[inline]
    pub(crate) fn record_seed(&self) -> Sum {
        self.record_seed
    }

    /// The state from which the hash of a node of this type starts.
    #[inline]
    pub(crate) fn seed(&self) -> Sum {
        self.seed
    }

    /// The same, with the number of its `len` children taken in.
    #[inline]
    pub(crate) fn seed_of(&self, len: usize) -> Sum {
        match self.layout {
            Layout::Record => self.record_seed,
            _ => Sum::new(self.seed, len),
        }
    }
}

impl fmt::Debug for TypeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}{})", self.key, self.kind, if self.scope { ", scope" } else { "" })
    }
}

/// A field of a type.
pub struct FieldInfo {
    /// The name.
    pub name: &'static str,
    /// What it means for comparison.
    pub role: Role,
    /// What it holds where it is not given, if anything.
    pub default: Option<Value>,
}

impl FieldInfo {
    /// A field without a default.
    #[must_use]
    pub const fn new(name: &'static str, role: Role) -> Self {
        Self { name, role, default: None }
    }
}

const TAG_RECORD: u64 = 1;
const TAG_LIST: u64 = 2;
const TAG_MAP: u64 = 3;
const TAG_SET: u64 = 4;

/// Where the hash of a sequence starts, with identity or without.
pub(crate) const LIST_SEED: Sum = Sum::domain(Mixer::new(TAG_LIST));
