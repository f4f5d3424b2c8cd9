//! Patterns: what they are, how they are collected.

mod build;
mod into;
mod list;
mod patch;
mod region;
mod set;
mod stage;
mod view;
mod when;

use sapwood_ptir::InstId;

use crate::ProgramRewriter;

pub use into::{IntoPattern, PatternFn, Tuned};
pub use list::{PatternEntry, PatternList};
pub(crate) use patch::{Patch, PatchError};
pub use region::MovedRegion;
pub(crate) use set::{Bucket, Kind};
pub use set::{FrozenPatternSet, PatternId, PatternSet};
pub(crate) use stage::Reach;
pub use stage::{Replacement, Rewrite};
pub use view::{Binary, OpRef, OpView, RootView, Roots, Unary};
pub use view::{is_elementwise, user_elementwise};
pub use when::{Elements, When};
pub(crate) use when::{GATED, TypeFacts};

/// How far a pattern looks along definitions, unless it says otherwise.
pub const DEFAULT_HOPS: u8 = 2;

/// A pattern at its lowest: tried at a root, it may edit the function. Most patterns are plain functions
/// ([`Rewrite`]) or [`OpRewritePattern`]s instead.
///
/// Edits are taken back if it gives `false` or panics.
pub trait Pattern: Send + Sync {
    /// Its name, in reports and options. The name of the type unless written.
    fn name(&self) -> &str {
        type_name::<Self>()
    }
    /// At which instructions it is tried.
    fn roots(&self) -> Roots;
    /// Patterns of larger benefit are tried first; among equals, those added first. One without benefit, 0, is tried only
    /// when nothing else is left to do in the whole function.
    fn benefit(&self) -> u16 {
        1
    }
    /// How far it looks along definitions: 1 is the definitions of the root's operands.
    fn hops(&self) -> u8 {
        DEFAULT_HOPS
    }
    /// Tries to rewrite. `true` says that something was changed.
    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool;
}

/// A pattern at instructions that can be seen as a `V`, an op for example.
///
/// Edits are taken back if it gives `false` or panics.
pub trait OpRewritePattern<V: RootView>: Send + Sync {
    /// Its name, in reports and options. The name of the type unless written.
    fn name(&self) -> &str {
        type_name::<Self>()
    }
    /// Patterns of larger benefit are tried first; among equals, those added first. One without benefit, 0, is tried only
    /// when nothing else is left to do in the whole function.
    fn benefit(&self) -> u16 {
        1
    }
    /// How far it looks along definitions.
    fn hops(&self) -> u8 {
        DEFAULT_HOPS
    }
    /// A cheap question asked first: where it says `false`, [`match_and_rewrite`](Self::match_and_rewrite) is not called.
    fn may_match(&self, op: &OpView<V>, rw: &ProgramRewriter<'_>) -> bool {
        let _ = (op, rw);
        true
    }
    /// Tries to rewrite. `true` says that something was changed.
    fn match_and_rewrite(&self, op: OpView<V>, rw: &mut ProgramRewriter<'_>) -> bool;
}

/// The last part of the name of a type or function.
pub(crate) fn type_name<T: ?Sized>() -> &'static str {
    last_segment(std::any::type_name::<T>())
}

// Apart from `type_name`, so that it is compiled once and not for each pattern.
fn last_segment(name: &'static str) -> &'static str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}
