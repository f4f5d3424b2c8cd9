//! Patterns, their settings, and sets of them.

mod early_return;
mod gate;
mod into_pattern;
mod moved_region;
mod patch;
mod patch_builder;
mod pattern_list;
mod pattern_set;
mod rewrite;
mod root_view;

use sapwood_ptir::InstId;

use crate::ProgramRewriter;

pub use gate::{ElementClass, GateCondition};
pub(crate) use gate::{FloatModes, MAX_GATED, TypeFactCache};
pub use into_pattern::{ConfiguredPattern, IntoPattern, PatternFn};
pub use moved_region::MovedRegion;
pub(crate) use patch::{Patch, PatchError};
pub use pattern_list::{PatternEntry, PatternList};
pub use pattern_set::{FrozenPatternSet, PatternId, PatternSet};
pub(crate) use pattern_set::{PatternBucket, PatternKind};
pub(crate) use rewrite::ReachCheck;
pub use rewrite::{Replacement, Rewrite};
pub use root_view::{Binary, OpRef, OpView, RootView, Roots, Unary};
pub use root_view::{is_elementwise, user_elementwise_keys};

/// The number of definitions away from the root that a pattern may read, unless it declares another.
pub(crate) const DEFAULT_HOPS: u8 = 2;

/// The untyped form of a pattern: it is tried at a root and may edit the function. Most patterns are plain functions
/// ([`Rewrite`]) or [`OpRewritePattern`]s instead.
///
/// Its edits are rolled back if it returns `false` or panics.
pub trait Pattern: Send + Sync {
    /// Returns the name, for reports and options; by default the name of the type.
    fn name(&self) -> &str {
        type_name::<Self>()
    }
    /// Returns the instructions at which the pattern is tried.
    fn roots(&self) -> Roots;
    /// Returns the benefit. Patterns of larger benefit are tried first; among equals, those added first. A pattern with benefit
    /// 0 is tried only when nothing else is left to do in the whole function.
    fn benefit(&self) -> u16 {
        1
    }
    /// Returns the number of definitions away from the root that the pattern may read: 1 is the definitions of the root's operands.
    fn hops(&self) -> u8 {
        DEFAULT_HOPS
    }
    /// Tries to rewrite the root. Returns `true` if something was changed.
    fn match_and_rewrite(&self, root: InstId, rw: &mut ProgramRewriter<'_>) -> bool;
}

/// A pattern at instructions that can be read as a `V`, for example an op.
///
/// Its edits are rolled back if it returns `false` or `None`, or panics.
///
/// ```
/// use sapwood_ptir::ops::Neg;
/// use sapwood_rewrite::{OpRewritePattern, OpView, ProgramRewriter};
///
/// /// `-(-x) = x`.
/// struct NegOfNeg;
///
/// impl OpRewritePattern<Neg> for NegOfNeg {
///     fn try_rewrite(&self, outer: OpView<Neg>, rw: &mut ProgramRewriter<'_>) -> Option<()> {
///         let inner = rw.def::<Neg>(outer.input)?;
///         rw.replace_inst(outer.root, &[inner.input]).ok()
///     }
/// }
/// # let mut set = sapwood_rewrite::PatternSet::new();
/// # set.add(NegOfNeg);
/// ```
pub trait OpRewritePattern<V: RootView>: Send + Sync {
    /// Returns the name, for reports and options; by default the name of the type.
    fn name(&self) -> &str {
        type_name::<Self>()
    }
    /// Returns the benefit. Patterns of larger benefit are tried first; among equals, those added first. A pattern with benefit
    /// 0 is tried only when nothing else is left to do in the whole function.
    fn benefit(&self) -> u16 {
        1
    }
    /// Returns the number of definitions away from the root that the pattern may read.
    fn hops(&self) -> u8 {
        DEFAULT_HOPS
    }
    /// Tests cheaply if the pattern may match; if not, [`match_and_rewrite`](Self::match_and_rewrite) is not called.
    fn may_match(&self, op: &OpView<V>, rw: &ProgramRewriter<'_>) -> bool {
        let _ = (op, rw);
        true
    }
    /// Tries to rewrite the root. Returns `true` if something was changed. A pattern defines this or
    /// [`try_rewrite`](Self::try_rewrite).
    fn match_and_rewrite(&self, op: OpView<V>, rw: &mut ProgramRewriter<'_>) -> bool {
        self.try_rewrite(op, rw).is_some()
    }
    /// Tries to rewrite the root, with `?` as the guard. Returns `Some(())` if something was changed.
    fn try_rewrite(&self, op: OpView<V>, rw: &mut ProgramRewriter<'_>) -> Option<()> {
        let _ = (op, rw);
        None
    }
}

/// Returns the last part of the path of a type or function.
pub(crate) fn type_name<T: ?Sized>() -> &'static str {
    last_segment(std::any::type_name::<T>())
}

// Apart from `type_name`, so that it is compiled once and not for each pattern.
fn last_segment(name: &'static str) -> &'static str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}
