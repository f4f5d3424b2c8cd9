//! Type descriptors: one form for types written in Rust and types described at run time.

use std::fmt;

use crate::dynamic_types::Constructor;
use crate::hasher::{HashSum, Mixer};
use crate::hooks::ErasedHooks;
use crate::kind::{FieldRole, NodeKind};
use crate::reference::PayloadOps;
use crate::values::Value;

/// The layout of the children of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChildLayout {
    /// Named fields, the same number in every node of the type.
    Record,
    /// Elements in order.
    List,
    /// Keys and values in turn, in the order of the hash of the keys.
    Map,
    /// Keys alone, in the order of their hash.
    Set,
}

impl ChildLayout {
    /// Returns whether children are found by key.
    #[inline]
    pub(crate) const fn is_keyed(self) -> bool {
        matches!(self, Self::Map | Self::Set)
    }

    /// Returns the number of children per entry: 2 for a map (key and value), otherwise 1.
    pub(crate) const fn per_entry(self) -> usize {
        if matches!(self, Self::Map) { 2 } else { 1 }
    }
}

/// The descriptor of a node type.
pub struct TypeInfo {
    key: &'static str,
    kind: NodeKind,
    layout: ChildLayout,
    scope: bool,
    fields: &'static [FieldInfo],
    base: Option<&'static TypeInfo>,
    hooks: Option<&'static dyn ErasedHooks>,
    constructor: Option<Constructor>,
    seed: HashSum,
    record_seed: HashSum,
    ignores_all: bool,
    compares_all_dynamic_fields: bool,
    tree_record: bool,
    pub(crate) ops: PayloadOps,
}

impl TypeInfo {
    /// Creates the descriptor of a record type. `#[derive(Node)]` writes this call.
    #[must_use]
    pub const fn record<T: crate::Node>(
        key: &'static str,
        kind: NodeKind,
        fields: &'static [FieldInfo],
    ) -> Self {
        Self::with_ops(key, kind, ChildLayout::Record, fields, PayloadOps::of::<T>())
    }

    /// Creates the descriptor of a container.
    pub(crate) const fn container<T: crate::Node>(key: &'static str, layout: ChildLayout) -> Self {
        Self::with_ops(key, NodeKind::Tree, layout, &[], PayloadOps::of::<T>())
    }

    pub(crate) const fn with_ops(
        key: &'static str,
        kind: NodeKind,
        layout: ChildLayout,
        fields: &'static [FieldInfo],
        ops: PayloadOps,
    ) -> Self {
        let seed = match layout {
            ChildLayout::Record => {
                HashSum::domain(Mixer::new(TAG_RECORD).absorb_bytes(key.as_bytes()))
            }
            ChildLayout::List => LIST_SEED,
            ChildLayout::Map => HashSum::domain(Mixer::new(TAG_MAP)),
            ChildLayout::Set => HashSum::domain(Mixer::new(TAG_SET)),
        };
        let mut ignores_all = matches!(layout, ChildLayout::Record);
        let mut ignores_none = true;
        let mut index = 0;
        while index < fields.len() {
            let ignored = matches!(fields[index].role, FieldRole::Ignore);
            ignores_all &= ignored;
            ignores_none &= !ignored;
            index += 1;
        }
        let (scope, base, hooks) = (false, None, None);
        let record_seed = HashSum::new(seed, fields.len());
        let tree_record = matches!(layout, ChildLayout::Record)
            && matches!(kind, NodeKind::Tree | NodeKind::ConstTree);
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
            compares_all_dynamic_fields: ops.dynamic && ignores_none,
            tree_record,
            ops,
        }
    }

    /// Returns the descriptor marked as a scope: variables that first occur in a def field inside it are
    /// unbound when it ends.
    #[must_use]
    pub const fn scoped(mut self) -> Self {
        self.scope = true;
        self
    }

    /// Returns the descriptor with hooks in place of field-by-field comparison and hashing. `#[derive(Node)]`
    /// writes this call.
    #[doc(hidden)]
    #[must_use]
    pub const fn hooked(mut self, hooks: &'static dyn ErasedHooks) -> Self {
        self.hooks = Some(hooks);
        self
    }

    /// Returns the descriptor with a function that builds its nodes where graphs are rebuilt or read.
    pub(crate) const fn constructed_by(mut self, constructor: Option<Constructor>) -> Self {
        self.constructor = constructor;
        self
    }

    pub(crate) const fn based_on(mut self, base: Option<&'static Self>) -> Self {
        self.base = base;
        self
    }

    /// Returns the name that identifies the type in hashes, JSON and messages.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Returns the kind of the type: how its nodes are compared.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> NodeKind {
        self.kind
    }

    /// Returns the layout of the children.
    #[must_use]
    #[inline]
    pub fn layout(&self) -> ChildLayout {
        self.layout
    }

    /// Returns whether the type is a scope.
    #[must_use]
    #[inline]
    pub fn is_scope(&self) -> bool {
        self.scope
    }

    /// Returns the fields, base type first, in declaration order.
    #[must_use]
    #[inline]
    pub fn fields(&self) -> &'static [FieldInfo] {
        self.fields
    }

    /// Returns the type this one extends.
    #[must_use]
    pub fn base(&self) -> Option<&'static Self> {
        self.base
    }

    /// Returns the hooks, if the type has them.
    #[inline]
    pub(crate) fn hooks(&self) -> Option<&'static dyn ErasedHooks> {
        self.hooks
    }

    /// Returns the function that builds nodes of the type where graphs are rebuilt or read, if it has one.
    pub(crate) fn constructor(&self) -> Option<Constructor> {
        self.constructor
    }

    /// Returns the index of the field called `name`.
    #[must_use]
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Returns whether this type is `other` or extends it.
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

    /// Returns whether nothing is compared: all fields are ignored, and the type has no hooks.
    #[inline]
    pub(crate) fn compares_nothing(&self) -> bool {
        self.ignores_all && self.hooks.is_none()
    }

    /// Returns whether nodes are dynamic (rows of values) and no field is ignored.
    #[inline]
    pub(crate) fn compares_all_dynamic_fields(&self) -> bool {
        self.compares_all_dynamic_fields
    }

    /// Returns whether the type is a record of kind tree or const-tree, so that nodes without variables and
    /// hooks are equal if their fields are.
    #[inline]
    pub(crate) fn is_tree_record(&self) -> bool {
        self.tree_record
    }

    /// Returns the initial sum of the hash of a node of a record type.
    #[inline]
    pub(crate) fn record_seed(&self) -> HashSum {
        self.record_seed
    }

    /// Returns the sum of the type alone, from which the hash of a node starts.
    #[inline]
    pub(crate) fn seed(&self) -> HashSum {
        self.seed
    }

    /// Returns the initial sum of the hash of a node with `len` children.
    #[inline]
    pub(crate) fn seed_with_len(&self, len: usize) -> HashSum {
        match self.layout {
            ChildLayout::Record => self.record_seed,
            _ => HashSum::new(self.seed, len),
        }
    }
}

impl fmt::Debug for TypeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}{})", self.key, self.kind, if self.scope { ", scope" } else { "" })
    }
}

/// A field of a node type.
pub struct FieldInfo {
    /// The name.
    pub name: &'static str,
    /// The role in comparison and hashing.
    pub role: FieldRole,
    /// The default value, if there is one.
    pub default: Option<Value>,
}

impl FieldInfo {
    /// Creates a field without a default.
    #[must_use]
    pub const fn new(name: &'static str, role: FieldRole) -> Self {
        Self { name, role, default: None }
    }
}

const TAG_RECORD: u64 = 1;
const TAG_LIST: u64 = 2;
const TAG_MAP: u64 = 3;
const TAG_SET: u64 = 4;

/// The initial sum of the hash of a sequence, with or without identity.
pub(crate) const LIST_SEED: HashSum = HashSum::domain(Mixer::new(TAG_LIST));
