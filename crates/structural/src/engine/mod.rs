//! The engine: equality, hash, first mismatch and all differences, over any [`crate::Graph`].
//!
//! Nothing here recurses on the graph: frames live on explicit stacks, and the one way back in
//! (a hook calling its context) grows the machine stack as needed.

mod address;
mod equal;
mod frames;
mod hash;
mod hash_state;
mod hook_context;
mod key_memo;
mod keys;
mod plain;
mod scalars;
mod scopes;
mod state;
mod union_find;
mod variables;

pub(crate) use equal::{Cause, Comparison, Difference, Mode};
pub use hash::HashCx;
pub(crate) use hash::hash_root;
pub use hook_context::EqualCx;
pub use plain::Meet;
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
pub(crate) struct Region {
    place: Place,
    /// Whether free variables correspond by position.
    map_free: bool,
    /// Whether it is below a variable that is bound for the whole walk: then so is what its fields
    /// bind, since they are looked at only once.
    below_root_var: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Outside def fields.
    Use,
    /// In a key of a map or a member of a set: keys never bind, so a def field there is an ordinary
    /// one, outside a scope of the key's own.
    Key,
    /// In a def field: it is bound in the innermost scope.
    Def,
    /// As `Def`, but below a variable (in its type, say): meeting there what a scope around binds
    /// is a use, not shadowing.
    BelowVar,
}

impl Region {
    /// In a key.
    pub(crate) const KEY: Self = Self { place: Place::Key, map_free: false, below_root_var: false };

    /// Where a walk starts.
    pub(crate) fn start(options: Options) -> Self {
        Self { place: Place::Use, map_free: options.map_free_vars, below_root_var: false }
    }

    /// The region of a field inside this region. A usual field inherits it.
    pub(crate) fn of_field(self, role: crate::Role) -> Self {
        match role {
            crate::Role::Def if self.place == Place::Key => self,
            crate::Role::Def if self.below_root_var => Self { place: Place::BelowVar, ..self },
            crate::Role::Def => Self { place: Place::Def, ..self },
            _ => self,
        }
    }

    /// The region inside a node of type `info` met in this region: a def region ends at a scope, so
    /// that a function means the same wherever it stands. Not at a variable, whose frame says where
    /// it is bound.
    pub(crate) fn inside(self, info: &crate::TypeInfo) -> Self {
        if !info.is_scope() || info.kind() == crate::Kind::Var {
            return self;
        }
        Self { place: Place::Use, below_root_var: false, ..self }
    }

    /// The region of the fields of a variable that is bound in this region.
    pub(crate) fn below_var(self) -> Self {
        match self.place {
            Place::Def => Self { place: Place::BelowVar, ..self },
            Place::BelowVar => self,
            Place::Use | Place::Key => Self { below_root_var: true, ..self },
        }
    }

    /// Whether meeting here what a scope around binds is shadowing.
    pub(crate) fn is_def(self) -> bool {
        self.place == Place::Def
    }

    /// Whether a variable met here is bound only if no scope around binds it.
    pub(crate) fn is_below_var(self) -> bool {
        self.place == Place::BelowVar
    }

    /// Whether a variable first met here is bound in the innermost scope, not at the root.
    pub(crate) fn binds_in_scope(self) -> bool {
        matches!(self.place, Place::Def | Place::BelowVar) && !self.below_root_var
    }

    /// Whether a variable that nothing binds is free here, and stays so.
    pub(crate) fn leaves_free(self) -> bool {
        matches!(self.place, Place::Use | Place::Key) && !self.map_free
    }
}
