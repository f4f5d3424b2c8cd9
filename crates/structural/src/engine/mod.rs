//! The engine behind structural equality, hashing, first mismatch and diff.
//!
//! Nothing here recurses on the depth of the graph. Open work lives on explicit stacks; the only unbounded
//! recursion is a hook that calls its context, and [`hook_context::with_enough_stack`] grows the machine stack
//! for it.

mod binding_slots;
mod compare_frames;
mod compare_state;
mod compare_variables;
mod container_keys;
mod equality_classes;
mod fast_equal;
mod field_hasher;
mod hash;
mod hash_memo;
mod hash_state;
mod hook_context;
mod key_memo;
mod node_map;
mod ordered_equal;
mod pending;
mod scalars;
mod scopes;
mod tied_keys;

pub(crate) use compare_state::CompareState;
pub use compare_state::{BindingSite, Side};
pub(crate) use container_keys::key_identity_at_root;
pub use fast_equal::FieldComparer;
pub(crate) use fast_equal::PREFETCH_DISTANCE;
pub use field_hasher::FieldHasher;
pub use hash::HashCx;
pub(crate) use hash::hash_graph;
pub use hook_context::EqualCx;
pub(crate) use ordered_equal::{
    CompareMode, DifferenceCause, EngineDifference, OrderedComparison, check_no_variables,
};

/// Options for comparing and hashing. Values must be compared and hashed with the same options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StructuralOptions {
    /// Maps free variables to each other by the position of their first occurrence (called
    /// `enable_auto_mapping` in other systems).
    pub map_free_vars: bool,
    /// Compares the data type and the shape of tensors, but not their content.
    pub skip_tensor_content: bool,
}

impl StructuralOptions {
    /// Returns the default options with `map_free_vars` set.
    #[must_use]
    pub const fn mapping_free_vars() -> Self {
        Self { map_free_vars: true, skip_tensor_content: false }
    }
}

/// The meaning of an unbound variable at the current point of a walk. One byte: the place in the two lowest
/// bits, then the flags [`BindingRegion::MAP_FREE`] and [`BindingRegion::BELOW_ROOT_VAR`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct BindingRegion(u8);

impl BindingRegion {
    /// Place: outside def fields. An unbound variable is free.
    const USE: u8 = 0;
    /// Place: inside a key of a map or a member of a set. Keys never bind, so a def field counts as an ordinary
    /// field here, unless a scope inside the key contains it.
    const IN_KEY: u8 = 1;
    /// Place: inside a def field. An unbound variable is bound in the innermost scope.
    const DEF: u8 = 2;
    /// Place: inside a def field and below a variable (in its type, say). A variable of an outer scope is a use
    /// here, not shadowing.
    const BELOW_VAR: u8 = 3;
    const PLACE_MASK: u8 = 3;

    /// Flag: free variables are mapped by position.
    const MAP_FREE: u8 = 4;
    /// Flag: below a variable that is bound for the whole walk. The fields of such a variable are visited only
    /// once, so the variables they bind are bound for the whole walk too.
    const BELOW_ROOT_VAR: u8 = 8;

    /// The region inside a key of a map or a member of a set.
    pub(crate) const KEY: Self = Self(Self::IN_KEY);

    /// Returns the region in which a walk starts.
    pub(crate) fn start(options: StructuralOptions) -> Self {
        Self(if options.map_free_vars { Self::MAP_FREE } else { 0 })
    }

    #[inline]
    fn place(self) -> u8 {
        self.0 & Self::PLACE_MASK
    }

    #[inline]
    fn with_place(self, place: u8) -> Self {
        Self(self.0 & !Self::PLACE_MASK | place)
    }

    #[inline]
    fn has_flag(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    /// Returns the region of a field inside this region. A usual field inherits it.
    #[inline]
    pub(crate) fn of_field(self, role: crate::FieldRole) -> Self {
        match role {
            crate::FieldRole::Def if self.place() == Self::IN_KEY => self,
            crate::FieldRole::Def if self.has_flag(Self::BELOW_ROOT_VAR) => {
                self.with_place(Self::BELOW_VAR)
            }
            crate::FieldRole::Def => self.with_place(Self::DEF),
            _ => self,
        }
    }

    /// Returns the region inside a node of type `info` that is reached in this region. A def region ends at a
    /// scope, so that a function means the same wherever it occurs. It does not end at a variable, whose fields
    /// belong to the place that binds it.
    #[inline]
    pub(crate) fn inside(self, info: &crate::TypeInfo) -> Self {
        if !info.is_scope() || info.kind() == crate::NodeKind::Var {
            return self;
        }
        Self(self.0 & Self::MAP_FREE)
    }

    /// Returns the region of the fields of a variable that is bound in this region.
    #[inline]
    pub(crate) fn below_var(self) -> Self {
        match self.place() {
            Self::USE | Self::IN_KEY => Self(self.0 | Self::BELOW_ROOT_VAR),
            _ => self.with_place(Self::BELOW_VAR),
        }
    }

    /// Returns whether a variable of an outer scope would be shadowed here.
    #[inline]
    pub(crate) fn is_def(self) -> bool {
        self.place() == Self::DEF
    }

    /// Returns whether a variable is bound here only if no outer scope binds it.
    #[inline]
    pub(crate) fn is_below_var(self) -> bool {
        self.place() == Self::BELOW_VAR
    }

    /// Returns whether a variable that first occurs here is bound in the innermost scope, not at the root.
    #[inline]
    pub(crate) fn binds_in_scope(self) -> bool {
        self.place() >= Self::DEF && !self.has_flag(Self::BELOW_ROOT_VAR)
    }

    /// Returns whether an unbound variable is free here and stays free.
    #[inline]
    pub(crate) fn leaves_free(self) -> bool {
        self.place() <= Self::IN_KEY && !self.has_flag(Self::MAP_FREE)
    }
}
