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
///     constant_to_the_right on [Add, Mul] benefit 2 when 0 in constants,
///     add_of_difference when any in [Sub] floats fast,
///     abs_of_unsigned of [Int],
/// }
/// ```
///
/// What stands behind `when` says where the pattern is worth a try; elsewhere it is not called. One of: `0 in [Neg, Sub]`,
/// the first operand is a result of one of these ops; `any in [Neg]`, one of the operands is; `0 in own`, it is one of the
/// same op as the root; `0 in constants`, it may be a known literal; `equal`, two of the first three operands are the same value; `same`, the first operand has the type of
/// the result; `empty`, `unit`, a dim of one of the two is zero, is one. Several are separated by `or`; behind
/// `and` may stand more, one of which has to hold too. `of [Bool, Int]`:
/// only where the first operand has such [elements](crate::Elements). `floats fast`: at floats and complex numbers only in
/// this mode.
#[macro_export]
macro_rules! patterns {
    ($family:literal: $($name:ident $(on [$($op:ty),* $(,)?])? $(benefit $benefit:literal)? $(hops $hops:literal)?
        $(when $($way:tt $(in $what:tt)?) or + $(and $($too:tt $(in $these:tt)?) or +)?)? $(of [$($elements:ident),*])? $(floats $mode:ident)?),* $(,)?) => {
        /// The patterns of this file.
        pub static LIST: $crate::PatternList = $crate::PatternList {
            family: $family,
            entries: &[$($crate::PatternEntry {
                name: stringify!($name),
                add: |set| {
                    #[allow(unused_imports)]
                    use $crate::PatternFn as _;
                    set.add($crate::PatternFn::named($name, stringify!($name))
                        $(.on([$(<$op as $crate::private::Op>::key()),*]))?
                        $(.benefit($benefit))?
                        $(.hops($hops))?
                        $(.when([$($crate::patterns!(@way $way $($what)?)),+])
                            $(.when([$($crate::patterns!(@way $too $($these)?)),+]))?)?
                        $(.elements([$($crate::Elements::$elements),*]))?
                        $(.floats($crate::patterns!(@mode $mode)))?);
                },
            }),*],
        };
    };

    (@way any own) => { $crate::When::OwnOp(None) };
    (@way $at:literal own) => { $crate::When::OwnOp(Some($at)) };
    (@way any $what:tt) => { $crate::When::Operand(None, $crate::patterns!(@ops $what)) };
    (@way $at:literal $what:tt) => { $crate::When::Operand(Some($at), $crate::patterns!(@ops $what)) };
    (@way equal) => { $crate::When::EqualOperands };
    (@way same) => { $crate::When::SameType };
    (@way empty) => { $crate::When::EmptyDim };
    (@way unit) => { $crate::When::UnitDim };

    (@ops constants) => { $crate::When::constants() };
    (@ops [$($view:ty),*]) => { $crate::Roots::all([$(<$view as $crate::RootView>::roots()),*]) };

    (@mode nsz) => { $crate::FloatMode::Nsz };
    (@mode fast) => { $crate::FloatMode::Fast };
}
