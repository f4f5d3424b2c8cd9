//! The lists that register the shipped patterns: one list per file, one word per pattern.

use super::pattern_set::PatternSet;

/// The patterns of one file.
pub struct PatternList {
    /// The name of the file, without folder and extension: `transpose`.
    pub family: &'static str,
    /// The patterns of the file, in order.
    pub entries: &'static [PatternEntry],
}

/// A registered pattern.
pub struct PatternEntry {
    /// The name of the pattern.
    pub name: &'static str,
    /// Adds the pattern to a set.
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

/// Registers the patterns of a file: one word each, followed by its settings, if any:
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
/// The conditions after `when` say at which roots the pattern may match; at other roots it is not called. The conditions are:
/// `0 in [Neg, Sub]`, the first operand is a result of one of these ops; `any in [Neg]`, one of the operands is; `0 in own`,
/// the first operand is a result of the same op as the root; `0 in constants`, it may be a known literal; `equal`, two of
/// the first three operands are the same value; `same`, the first operand has the type of the result; `empty` and `unit`, a
/// dim of the first operand or of the result is zero or one. Several are separated by `or`; `and` starts a second list, one
/// of which must hold too. `of [Bool, Int]`: the first operand must have such [elements](crate::ElementClass).
/// `floats fast`: at floats and complex numbers the pattern runs only in this float mode.
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
                        $(.on([$(<$op as $crate::__private::Op>::key()),*]))?
                        $(.benefit($benefit))?
                        $(.hops($hops))?
                        $(.when([$($crate::patterns!(@way $way $($what)?)),+])
                            $(.when([$($crate::patterns!(@way $too $($these)?)),+]))?)?
                        $(.elements([$($crate::ElementClass::$elements),*]))?
                        $(.floats($crate::patterns!(@mode $mode)))?);
                },
            }),*],
        };
    };

    (@way any own) => { $crate::GateCondition::OwnOp(None) };
    (@way $at:literal own) => { $crate::GateCondition::OwnOp(Some($at)) };
    (@way any $what:tt) => { $crate::GateCondition::Operand(None, $crate::patterns!(@ops $what)) };
    (@way $at:literal $what:tt) => { $crate::GateCondition::Operand(Some($at), $crate::patterns!(@ops $what)) };
    (@way equal) => { $crate::GateCondition::EqualOperands };
    (@way same) => { $crate::GateCondition::SameType };
    (@way empty) => { $crate::GateCondition::EmptyDim };
    (@way unit) => { $crate::GateCondition::UnitDim };

    (@ops constants) => { $crate::GateCondition::constants() };
    (@ops [$($view:ty),*]) => { $crate::Roots::all([$(<$view as $crate::RootView>::roots()),*]) };

    (@mode nsz) => { $crate::FloatMode::Nsz };
    (@mode fast) => { $crate::FloatMode::Fast };
}
