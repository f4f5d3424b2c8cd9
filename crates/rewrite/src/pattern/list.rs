//! The lists in which the shipped patterns are registered: one per file, one word per pattern.

use super::set::PatternSet;

/// The patterns of one file.
pub struct PatternList {
    /// The file, without folder and ending: `transpose`.
    pub family: &'static str,
    /// Its patterns, in order.
    pub entries: &'static [PatternEntry],
}

/// A registered pattern.
pub struct PatternEntry {
    /// Its name.
    pub name: &'static str,
    /// Adds it to a set.
    pub add: fn(&mut PatternSet),
}

impl PatternList {
    /// Adds all patterns of the list to a set.
    pub fn populate(&self, set: &mut PatternSet) {
        for entry in self.entries {
            (entry.add)(set);
        }
    }
}

/// Registers the patterns of a file. One word each; settings, where there are any, behind it:
///
/// ```text
/// patterns! { "binary":
///     add_zero,
///     idempotent on [And, Or, Max, Min],
///     constant_to_the_right on [Add, Mul] benefit 2,
/// }
/// ```
#[macro_export]
macro_rules! patterns {
    ($family:literal: $($name:ident $(on [$($op:ty),* $(,)?])? $(benefit $benefit:literal)? $(hops $hops:literal)?),* $(,)?) => {
        /// The patterns of this file.
        pub const LIST: $crate::PatternList = $crate::PatternList {
            family: $family,
            entries: &[$($crate::PatternEntry {
                name: stringify!($name),
                add: |set| {
                    #[allow(unused_imports)]
                    use $crate::PatternFn as _;
                    set.add($crate::PatternFn::named($name, stringify!($name))
                        $(.on([$(<$op as sapwood_ptir::Op>::key()),*]))?
                        $(.benefit($benefit))?
                        $(.hops($hops))?);
                },
            }),*],
        };
    };
}
