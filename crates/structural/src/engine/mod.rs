//! The engine: equality, hash, first mismatch and all differences, over any [`crate::Graph`].
//!
//! Nothing here recurses on the graph: frames live on explicit stacks, and the one way back in
//! (a hook calling its context) grows the machine stack as needed.

mod address;
mod equal;
mod feed;
mod frames;
mod hash;
mod hash_state;
mod hook_context;
mod key_memo;
mod keys;
mod memo;
mod numbers;
mod quick;
mod room;
mod scalars;
mod scopes;
mod state;
mod ties;
mod union_find;
mod variables;

pub(crate) use equal::{Cause, Comparison, Difference, Mode, refuse_variables};
pub use feed::Feed;
pub use hash::HashCx;
pub(crate) use hash::hash_root;
pub use hook_context::EqualCx;
pub(crate) use keys::identity_of_key;
pub(crate) use quick::AHEAD;
pub use quick::Meet;
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

/// What an unbound variable means where it is met. One byte: the place in the two lowest bits, then
/// [`Region::MAP_FREE`] and [`Region::BELOW_ROOT_VAR`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Region(u8);

impl Region {
    /// Outside def fields.
    const USE: u8 = 0;
    /// In a key of a map or a member of a set: keys never bind, so a def field there is an ordinary
    /// one, outside a scope of the key's own.
    const IN_KEY: u8 = 1;
    /// In a def field: it is bound in the innermost scope.
    const DEF: u8 = 2;
    /// As `DEF`, but below a variable (in its type, say): meeting there what a scope around binds
    /// is a use, not shadowing.
    const BELOW_VAR: u8 = 3;
    const PLACE: u8 = 3;

    /// Whether free variables correspond by position.
    const MAP_FREE: u8 = 4;
    /// Whether it is below a variable that is bound for the whole walk: then so is what its fields
    /// bind, since they are looked at only once.
    const BELOW_ROOT_VAR: u8 = 8;

    /// In a key.
    pub(crate) const KEY: Self = Self(Self::IN_KEY);

    /// Where a walk starts.
    pub(crate) fn start(options: Options) -> Self {
        Self(if options.map_free_vars { Self::MAP_FREE } else { 0 })
    }

    #[inline]
    fn place(self) -> u8 {
        self.0 & Self::PLACE
    }

    #[inline]
    fn at(self, place: u8) -> Self {
        Self(self.0 & !Self::PLACE | place)
    }

    #[inline]
    fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    /// The region of a field inside this region. A usual field inherits it.
    #[inline]
    pub(crate) fn of_field(self, role: crate::Role) -> Self {
        match role {
            crate::Role::Def if self.place() == Self::IN_KEY => self,
            crate::Role::Def if self.has(Self::BELOW_ROOT_VAR) => self.at(Self::BELOW_VAR),
            crate::Role::Def => self.at(Self::DEF),
            _ => self,
        }
    }

    /// The region inside a node of type `info` met in this region: a def region ends at a scope, so
    /// that a function means the same wherever it stands. Not at a variable, whose frame says where
    /// it is bound.
    #[inline]
    pub(crate) fn inside(self, info: &crate::TypeInfo) -> Self {
        if !info.is_scope() || info.kind() == crate::Kind::Var {
            return self;
        }
        Self(self.0 & Self::MAP_FREE)
    }

    /// The region of the fields of a variable that is bound in this region.
    #[inline]
    pub(crate) fn below_var(self) -> Self {
        match self.place() {
            Self::USE | Self::IN_KEY => Self(self.0 | Self::BELOW_ROOT_VAR),
            _ => self.at(Self::BELOW_VAR),
        }
    }

    /// Whether meeting here what a scope around binds is shadowing.
    #[inline]
    pub(crate) fn is_def(self) -> bool {
        self.place() == Self::DEF
    }

    /// Whether a variable met here is bound only if no scope around binds it.
    #[inline]
    pub(crate) fn is_below_var(self) -> bool {
        self.place() == Self::BELOW_VAR
    }

    /// Whether a variable first met here is bound in the innermost scope, not at the root.
    #[inline]
    pub(crate) fn binds_in_scope(self) -> bool {
        self.place() >= Self::DEF && !self.has(Self::BELOW_ROOT_VAR)
    }

    /// Whether a variable that nothing binds is free here, and stays so.
    #[inline]
    pub(crate) fn leaves_free(self) -> bool {
        self.place() <= Self::IN_KEY && !self.has(Self::MAP_FREE)
    }
}
