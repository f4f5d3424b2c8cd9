//! What a type declares about itself: its kind, the roles of its fields, and the facts every node
//! carries about what lies below it.

use std::fmt;

/// How nodes of a type take part in comparison and hashing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Kind {
    /// Defined by its fields; sharing is invisible. The default.
    Tree,
    /// Like [`Kind::Tree`], and the same pointer on both sides is equal without a look inside.
    /// Nothing below may be a variable or a dag node; that is checked when a node is first used.
    ConstTree,
    /// Defined by its fields *and* by where it is shared: equal graphs pair dag nodes one to one.
    Dag,
    /// A variable: equal by the position that binds it, not by its fields.
    Var,
    /// One object per logical identity: equal only to itself, whatever it holds. Hashed by type and
    /// fields; if it holds variables or uncomparable nodes, by type and those of its
    /// fields that are scalars.
    Singleton,
    /// Not comparable: reaching such a node is an error.
    Uncomparable,
}

impl Kind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 6] =
        [Self::Tree, Self::ConstTree, Self::Dag, Self::Var, Self::Singleton, Self::Uncomparable];

    /// The name used in `#[node(kind = "…")]`, in JSON and in messages.
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a field means for comparison and hashing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Role {
    /// Compared and hashed.
    Usual,
    /// Compared and hashed; variables first met here are bound here.
    Def,
    /// Neither compared nor hashed. Still printed, walked and serialised.
    Ignore,
}

impl Role {
    /// The name used in `#[node(…)]` and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Def => "def",
            Self::Ignore => "ignore",
        }
    }
}

/// Four facts about a node and everything below it that is compared. Kept in every node, they say
/// when the same pointer on both sides is equal without a walk, when a hash may be cached, and
/// when the order of visits is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Facts(u8);

impl Facts {
    /// Nothing below needs care.
    pub const NONE: Self = Self(0);
    /// A variable is at or below this node.
    pub const VAR: Self = Self(1);
    /// A dag node is at or below this node.
    pub const DAG: Self = Self(2);
    /// A type with hooks is at or below this node.
    pub const HOOK: Self = Self(4);
    /// A node that cannot be compared is at or below this node.
    pub const UNCOMPARABLE: Self = Self(8);

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of `other` holds here.
    #[must_use]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether no fact holds.
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
