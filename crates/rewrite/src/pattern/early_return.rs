//! Early returns of patterns that edit in place, which return `bool`.

/// Returns `false` or `None` from a pattern unless a condition holds.
///
/// ```
/// use sapwood_ptir::ops::Cast;
/// use sapwood_rewrite::{OpRewritePattern, OpView, ProgramRewriter, guard, o};
///
/// /// A cast to the element type of its operand is the operand.
/// struct RemoveNoOpCast;
///
/// impl OpRewritePattern<Cast> for RemoveNoOpCast {
///     fn match_and_rewrite(&self, cast: OpView<Cast>, rw: &mut ProgramRewriter<'_>) -> bool {
///         let result = o!(rw.value_of(cast.root));
///         guard!(rw.type_of(result) == rw.type_of(cast.input));
///         rw.replace_inst(cast.root, &[cast.input]).is_ok()
///     }
/// }
/// # let mut set = sapwood_rewrite::PatternSet::new();
/// # set.add(RemoveNoOpCast);
/// ```
#[macro_export]
macro_rules! guard {
    ($condition:expr) => {
        if !$condition {
            return ::core::default::Default::default();
        }
    };
}

/// Returns the value of an `Option`, or returns `false` or `None` from a pattern if there is none: see [`guard!`](crate::guard).
#[macro_export]
macro_rules! o {
    ($option:expr) => {
        match $option {
            ::core::option::Option::Some(value) => value,
            ::core::option::Option::None => return ::core::default::Default::default(),
        }
    };
}
