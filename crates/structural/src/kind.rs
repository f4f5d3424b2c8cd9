//! Declarations of a node type: its kind, the roles of its fields, and the facts that every node caches about
//! its content.

use std::fmt;

/// The kind of a node type: how its nodes are compared and hashed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum NodeKind {
    /// Equal if all fields are equal; sharing does not matter. The default.
    Tree,
    /// Like [`NodeKind::Tree`], and the same pointer on both sides is equal without a visit. No variable or dag
    /// node may be below; that is checked when a node is first used.
    ConstTree,
    /// Equal if all fields are equal *and* it is shared in the same places: equal graphs pair dag nodes one to
    /// one.
    Dag,
    /// A variable: equal by the position that binds it, not by its fields.
    Var,
    /// One object per logical identity: equal only to itself, whatever it holds. Hashed by type and fields; if
    /// it holds variables or uncomparable nodes, by type and scalar fields only.
    Singleton,
    /// Not comparable: reaching such a node is an error.
    Uncomparable,
}

impl NodeKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 6] =
        [Self::Tree, Self::ConstTree, Self::Dag, Self::Var, Self::Singleton, Self::Uncomparable];

    /// Returns the name used in `#[node(kind = "…")]`, in JSON and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::ConstTree => "const-tree",
            Self::Dag => "dag",
            Self::Var => "var",
            Self::Singleton => "singleton",
            Self::Uncomparable => "none",
        }
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The role of a field in comparison and hashing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FieldRole {
    /// Compared and hashed.
    Usual,
    /// Compared and hashed; variables that first occur here are bound here.
    Def,
    /// Neither compared nor hashed. Still printed, walked and serialised.
    Ignore,
}

impl FieldRole {
    /// Returns the name used in `#[node(…)]` and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Def => "def",
            Self::Ignore => "ignore",
        }
    }
}

/// A set of four facts about a node and everything below it that is compared. They are cached in every node,
/// and tell when the same pointer on both sides is equal without a visit, when a hash may be cached, and when
/// the order of visits is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Facts(u8);

impl Facts {
    /// No facts: a pure tree of comparable nodes without variables, dag nodes and hooks.
    pub const NONE: Self = Self(0);
    /// A variable is at or below this node.
    pub const VAR: Self = Self(1);
    /// A dag node is at or below this node.
    pub const DAG: Self = Self(2);
    /// A type with hooks is at or below this node.
    pub const HOOK: Self = Self(4);
    /// A node that cannot be compared is at or below this node.
    pub const UNCOMPARABLE: Self = Self(8);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the sets have a fact in common.
    #[must_use]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits & 15)
    }
}
