//! Shared immutable sequences, maps and sets of [`Value`]s.

use std::fmt;

use rustc_hash::FxBuildHasher;

use crate::engine::key_identity_at_root;
use crate::error::{BuildError, Error};
use crate::hasher::Hash128;
use crate::kind::{Facts, FieldRole, NodeKind};
use crate::node::{Field, Node};
use crate::reference::{AnyRef, NodeRef, Ref};
use crate::type_info::{ChildLayout, FieldInfo, TypeInfo};
use crate::values::{BigInt, Bytes, Tensor, Text, Value};
use crate::view::View;

/// An immutable sequence that can be shared.
#[derive(Clone)]
pub struct Seq(Ref<SeqItems>);

/// The payload of a [`Seq`].
pub(crate) struct SeqItems(Box<[Value]>);

impl SeqItems {
    pub(crate) fn as_slice(&self) -> &[Value] {
        &self.0
    }
}

impl Seq {
    /// Creates the sequence of these values.
    pub fn new(values: impl IntoIterator<Item = Value>) -> Self {
        Self(Ref::new(SeqItems(values.into_iter().collect())))
    }

    /// Returns the values.
    #[must_use]
    pub fn as_slice(&self) -> &[Value] {
        self.0.as_slice()
    }
}

impl<T: Into<Value>> FromIterator<T> for Seq {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::new(values.into_iter().map(Into::into))
    }
}

/// An immutable map that can be shared. Keys are compared by structure; insertion order is kept for iteration
/// and never matters for comparison.
#[derive(Clone)]
pub struct Map(Ref<MapEntries>);

/// The payload of a [`Map`]: entries in the order of the hash of their keys.
pub(crate) struct MapEntries {
    entries: Box<[(Value, Value)]>,
    keys: SortedKeys,
}

/// An immutable set that can be shared. Members are compared by structure.
#[derive(Clone)]
pub struct Set(Ref<SetMembers>);

/// The payload of a [`Set`]: members in the order of their hash.
pub(crate) struct SetMembers {
    members: Box<[Value]>,
    keys: SortedKeys,
}

impl<'a> NodeRef<'a> {
    /// Returns the keys of a map or the members of a set; `None` for other nodes.
    #[inline]
    fn sorted_keys(self) -> Option<&'a SortedKeys> {
        match self.info().layout() {
            ChildLayout::Map => Some(&self.downcast::<MapEntries>()?.keys),
            ChildLayout::Set => Some(&self.downcast::<SetMembers>()?.keys),
            ChildLayout::Record | ChildLayout::List => None,
        }
    }

    /// Returns the hash of the key of an entry of a map (or set), if it does not depend on context.
    pub(crate) fn key_hash(self, entry: usize) -> Option<Hash128> {
        self.sorted_keys()?.fixed_hash(entry)
    }

    /// Returns whether two keys of a map (or members of a set) have the same hash.
    pub(crate) fn has_tied_keys(self) -> bool {
        self.sorted_keys().is_some_and(|keys| keys.tied)
    }

    /// Returns the indices of the entries of a map (or set) in the order of insertion.
    pub(crate) fn insertion_order(self) -> Option<Vec<usize>> {
        self.sorted_keys().map(SortedKeys::insertion_order)
    }
}

/// The hashes of the keys of a container in ascending order, and the insertion index of each.
struct SortedKeys {
    hashes: Box<[Hash128]>,
    inserted: Box<[u32]>,
    /// True if the hashes do not depend on context: no key holds a variable, and none a hook, which might
    /// return different results.
    fixed: bool,
    /// True if two keys have the same hash although they differ: in the identity of a singleton, in how dag
    /// nodes are shared, or in content that a hook does not hash.
    tied: bool,
}

impl SortedKeys {
    fn empty() -> Self {
        Self { hashes: Box::default(), inserted: Box::default(), fixed: true, tied: false }
    }

    fn fixed_hash(&self, entry: usize) -> Option<Hash128> {
        if self.fixed { self.hashes.get(entry).copied() } else { None }
    }

    /// Sorts `items` by the hash of their keys and rejects equal keys.
    fn sort<T>(
        items: Vec<T>,
        key: impl Fn(&T) -> &Value,
        container: &'static str,
    ) -> Result<(Vec<T>, Self), Error> {
        let mut fixed = true;
        let mut keyed = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let view = key(&item).view();
            if let View::Node(node) = view {
                fixed &= !node.facts().any(Facts::VAR.union(Facts::HOOK));
            }
            keyed.push((crate::hash(view)?, index as u32, item));
        }
        keyed.sort_by_key(|entry| (entry.0, entry.1));
        let mut tied = false;
        for group in keyed.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            tied = true;
            let mut seen: hashbrown::HashMap<Hash128, Vec<&Value>, FxBuildHasher> =
                hashbrown::HashMap::default();
            for key in group.iter().map(|entry| key(&entry.2)) {
                let alike = seen.entry(key_identity_at_root(key.view())?).or_default();
                for earlier in alike.iter() {
                    if crate::equal(*earlier, key)? {
                        return Err(Error::DuplicateKey { key: format!("{key:?}"), container });
                    }
                }
                alike.push(key);
            }
        }
        let keys = Self {
            hashes: keyed.iter().map(|entry| entry.0).collect(),
            inserted: keyed.iter().map(|entry| entry.1).collect(),
            fixed,
            tied,
        };
        Ok((keyed.into_iter().map(|entry| entry.2).collect(), keys))
    }

    /// Returns the index of `wanted` among the sorted keys.
    fn find<'a>(
        &self,
        wanted: View<'_>,
        key: impl Fn(usize) -> &'a Value,
    ) -> Result<Option<usize>, Error> {
        let hash = crate::hash(wanted)?;
        let first = self.hashes.partition_point(|&other| other < hash);
        for (index, _) in
            self.hashes.iter().enumerate().skip(first).take_while(|&(_, &h)| h == hash)
        {
            if crate::equal(wanted, key(index))? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Returns the indices of the sorted keys in insertion order.
    fn insertion_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.inserted.len()).collect();
        order.sort_by_key(|&index| self.inserted[index]);
        order
    }
}

impl Map {
    /// Creates the map of these entries.
    ///
    /// # Errors
    /// If two keys are structurally equal, or a key cannot be hashed.
    pub fn new(entries: impl IntoIterator<Item = (Value, Value)>) -> Result<Self, Error> {
        let (entries, keys) =
            SortedKeys::sort(entries.into_iter().collect(), |entry| &entry.0, "map")?;
        Ok(Self(Ref::new(MapEntries { entries: entries.into(), keys })))
    }

    /// Returns the value at a key that is structurally equal to `key`.
    ///
    /// # Errors
    /// If `key` cannot be hashed.
    pub fn get(&self, key: &impl Field) -> Result<Option<&Value>, Error> {
        let index = self.0.keys.find(key.view(), |index| &self.0.entries[index].0)?;
        Ok(index.map(|index| &self.0.entries[index].1))
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Returns whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entries in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.0.keys.insertion_order().into_iter().map(|index| {
            let (key, value) = &self.0.entries[index];
            (key, value)
        })
    }
}

impl Set {
    /// Creates the set of these members.
    ///
    /// # Errors
    /// If two members are structurally equal, or one cannot be hashed.
    pub fn new(members: impl IntoIterator<Item = Value>) -> Result<Self, Error> {
        let (members, keys) =
            SortedKeys::sort(members.into_iter().collect(), |member| member, "set")?;
        Ok(Self(Ref::new(SetMembers { members: members.into(), keys })))
    }

    /// Returns whether a member is structurally equal to `value`.
    ///
    /// # Errors
    /// If `value` cannot be hashed.
    pub fn contains(&self, value: &impl Field) -> Result<bool, Error> {
        Ok(self.0.keys.find(value.view(), |index| &self.0.members[index])?.is_some())
    }

    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.members.len()
    }

    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the members in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.0.keys.insertion_order().into_iter().map(|index| &self.0.members[index])
    }
}

macro_rules! container {
    ($name:ident, $payload:ty, $article:literal) => {
        impl $name {
            /// Returns the pointer without its type.
            #[must_use]
            pub fn into_any(self) -> AnyRef {
                self.0.into_any()
            }

            /// Returns whether both point to the same container.
            #[must_use]
            pub fn same(&self, other: &Self) -> bool {
                self.0.same(&other.0)
            }
        }

        impl From<$name> for Value {
            fn from(container: $name) -> Self {
                Self::Node(container.into_any())
            }
        }

        impl<'a> From<&'a $name> for NodeRef<'a> {
            fn from(container: &'a $name) -> Self {
                container.0.node()
            }
        }

        impl TryFrom<AnyRef> for $name {
            type Error = AnyRef;

            fn try_from(node: AnyRef) -> Result<Self, AnyRef> {
                node.downcast::<$payload>().map(Self)
            }
        }

        impl Field for $name {
            fn view(&self) -> View<'_> {
                View::Node(self.0.node())
            }

            fn from_value(value: Value) -> Result<Self, BuildError> {
                match value {
                    Value::Node(node) => Self::try_from(node)
                        .map_err(|node| BuildError::expected($article, View::Node(node.node()))),
                    other => Err(BuildError::expected($article, other.view())),
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
container!(Seq, SeqItems, "a sequence");
container!(Map, MapEntries, "a map");
container!(Set, SetMembers, "a set");

impl Node for SeqItems {
    fn type_info(&self) -> &'static TypeInfo {
        static INFO: TypeInfo = TypeInfo::container::<SeqItems>("seq", ChildLayout::List);
        &INFO
    }

    fn field(&self, index: usize) -> View<'_> {
        self.0.get(index).map_or(View::None, Value::view)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn types() -> Vec<&'static TypeInfo> {
        vec![Self(Box::default()).type_info()]
    }

    fn build(_: &'static TypeInfo, fields: Vec<Value>) -> Result<Self, BuildError> {
        Ok(Self(fields.into()))
    }
}

impl Node for MapEntries {
    fn type_info(&self) -> &'static TypeInfo {
        static INFO: TypeInfo = TypeInfo::container::<MapEntries>("map", ChildLayout::Map);
        &INFO
    }

    fn field(&self, index: usize) -> View<'_> {
        self.entries.get(index / 2).map_or(View::None, |(key, value)| {
            if index.is_multiple_of(2) { key.view() } else { value.view() }
        })
    }

    fn len(&self) -> usize {
        2 * self.entries.len()
    }

    fn types() -> Vec<&'static TypeInfo> {
        vec![Self { entries: Box::default(), keys: SortedKeys::empty() }.type_info()]
    }

    fn build(_: &'static TypeInfo, fields: Vec<Value>) -> Result<Self, BuildError> {
        let mut entries = Vec::with_capacity(fields.len() / 2);
        let mut fields = fields.into_iter();
        while let (Some(key), Some(value)) = (fields.next(), fields.next()) {
            entries.push((key, value));
        }
        let (entries, keys) = SortedKeys::sort(entries, |entry| &entry.0, "map")
            .map_err(|error| BuildError::new(error.to_string()))?;
        Ok(Self { entries: entries.into(), keys })
    }
}

impl Node for SetMembers {
    fn type_info(&self) -> &'static TypeInfo {
        static INFO: TypeInfo = TypeInfo::container::<SetMembers>("set", ChildLayout::Set);
        &INFO
    }

    fn field(&self, index: usize) -> View<'_> {
        self.members.get(index).map_or(View::None, Value::view)
    }

    fn len(&self) -> usize {
        self.members.len()
    }

    fn types() -> Vec<&'static TypeInfo> {
        vec![Self { members: Box::default(), keys: SortedKeys::empty() }.type_info()]
    }

    fn build(_: &'static TypeInfo, fields: Vec<Value>) -> Result<Self, BuildError> {
        let (members, keys) = SortedKeys::sort(fields, |member| member, "set")
            .map_err(|error| BuildError::new(error.to_string()))?;
        Ok(Self { members: members.into(), keys })
    }
}

/// Implements [`Node`] for text, bytes, tensors and large integers, which live behind a [`Ref`] inside a
/// [`Value`]. As nodes they have one child: themselves.
macro_rules! atom {
    ($t:ty, $key:literal, |$this:ident| $view:expr) => {
        impl Node for $t {
            fn type_info(&self) -> &'static TypeInfo {
                static FIELDS: [FieldInfo; 1] = [FieldInfo::new("value", FieldRole::Usual)];
                static INFO: TypeInfo = TypeInfo::record::<$t>($key, NodeKind::ConstTree, &FIELDS);
                &INFO
            }

            fn field(&self, _: usize) -> View<'_> {
                let $this = self;
                $view
            }

            fn types() -> Vec<&'static TypeInfo> {
                Vec::new()
            }

            fn build(_: &'static TypeInfo, _: Vec<Value>) -> Result<Self, BuildError> {
                Err(BuildError::new(concat!($key, " is a value, not a node")))
            }
        }
    };
}
atom!(Text, "text", |text| View::Str(text.as_str()));
atom!(Bytes, "bytes", |bytes| View::Bytes(bytes.as_slice()));
atom!(Tensor, "tensor", |tensor| View::Tensor(tensor));
atom!(BigInt, "int", |int| int.view());
