//! The engine: equality, hash, first mismatch and all differences, over any [`crate::Graph`].
//!
//! Nothing here recurses on the graph: frames live on explicit stacks, and the one way back in
//! (a hook calling its context) grows the machine stack as needed.

mod equal;
mod frames;
mod hash;
mod plain;
mod scalars;
mod scopes;
mod state;
mod union_find;

pub use equal::EqualCx;
pub(crate) use equal::{Cause, Comparison, Difference, Mode};
pub use hash::HashCx;
pub(crate) use hash::hash_root;
pub(crate) use state::State;
pub use state::{Bound, Side};

/// How to compare and hash. The same options must be used for both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Let variables that nothing binds correspond by where they are first met
    /// (`enable_auto_mapping` is another name of this flag).
    pub map_free_vars: bool,
    /// Look at the data type and the shape of tensors, not at their content.
    pub skip_tensor_content: bool,
}

impl Options {
    /// The default options with free variables mapped.
    #[must_use]
    pub const fn mapping_free_vars() -> Self {
        Self { map_free_vars: true, skip_tensor_content: false }
    }
}

/// What an unbound variable means where it is met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Region {
    /// It is free: equal to itself alone.
    Use,
    /// It is free, and free variables correspond by position: it is bound for the whole comparison.
    MapFree,
    /// It stands in a def field and is bound in the innermost scope.
    Def,
    /// As `Def`, but below a variable (in its type, say): meeting there what a scope around binds
    /// is a use, not shadowing.
    BelowVar,
}

impl Region {
    pub(crate) fn start(options: Options) -> Self {
        if options.map_free_vars { Self::MapFree } else { Self::Use }
    }

    /// The region of a field inside this region.
    pub(crate) fn of_field(self, role: crate::Role) -> Self {
        if role == crate::Role::Def { Self::Def } else { self }
    }

    /// The region of the fields of a variable met in this region.
    pub(crate) fn below_var(self) -> Self {
        if self == Self::Def { Self::BelowVar } else { self }
    }

    /// Whether a variable first met here is bound in the innermost scope.
    pub(crate) fn binds_in_scope(self) -> bool {
        matches!(self, Self::Def | Self::BelowVar)
    }
}
