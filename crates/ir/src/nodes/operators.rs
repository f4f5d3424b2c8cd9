//! The operators, one line each: name, constructor, spelling, precedence, whether it gives a truth
//! value, what it takes. Everything that goes through all operators is made from these lines.

use sapwood_types::DataType;

/// How tightly an operator binds in the text form; Python's own order.
pub(crate) mod precedence {
    pub(crate) const LOWEST: u8 = 0;
    pub(crate) const OR: u8 = 1;
    pub(crate) const AND: u8 = 2;
    pub(crate) const NOT: u8 = 3;
    pub(crate) const COMPARE: u8 = 4;
    pub(crate) const BIT_OR: u8 = 5;
    pub(crate) const BIT_XOR: u8 = 6;
    pub(crate) const BIT_AND: u8 = 7;
    pub(crate) const SHIFT: u8 = 8;
    pub(crate) const SUM: u8 = 9;
    pub(crate) const PRODUCT: u8 = 10;
    pub(crate) const SIGN: u8 = 11;
    pub(crate) const POWER: u8 = 12;
    pub(crate) const ATOM: u8 = 13;
}

/// How an operator is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spelling {
    /// Between its operands, or before its only one.
    Sign(&'static str),
    /// As a function.
    Call(&'static str),
}

/// What an operator has a meaning for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// Everything.
    Any,
    /// Numbers.
    Number,
    /// Numbers that have an order: not complex ones.
    Ordered,
    /// Integers and truth values.
    Bits,
    /// Integers.
    Integer,
}

impl Class {
    pub(crate) fn holds(self, dtype: DataType) -> bool {
        match self {
            Self::Any => true,
            Self::Number => !dtype.is_bool(),
            Self::Ordered => dtype.is_integer() || dtype.is_float(),
            Self::Bits => dtype.is_integer() || dtype.is_bool(),
            Self::Integer => dtype.is_integer(),
        }
    }
}

/// Calls a macro with all operators.
macro_rules! all_operators {
    ($callback:ident) => {
        $callback! {
            binary {
                /// `x + y`
                Add, add, Sign("+"), SUM, false, Number;
                /// `x - y`
                Sub, sub, Sign("-"), SUM, false, Number;
                /// `x * y`
                Mul, mul, Sign("*"), PRODUCT, false, Number;
                /// `x // y`, rounded down
                FloorDiv, floor_div, Sign("//"), PRODUCT, false, Ordered;
                /// `x % y`, with the sign of `y`
                FloorMod, floor_mod, Sign("%"), PRODUCT, false, Ordered;
                /// `x / y`; integers round toward zero
                FloatDiv, float_div, Sign("/"), PRODUCT, false, Number;
                /// `min(x, y)`
                Min, min, Call("min"), ATOM, false, Ordered;
                /// `max(x, y)`
                Max, max, Call("max"), ATOM, false, Ordered;
                /// `x ** y`
                Pow, pow, Sign("**"), POWER, false, Number;
                /// `x == y`
                Eq, eq, Sign("=="), COMPARE, true, Any;
                /// `x != y`
                Ne, ne, Sign("!="), COMPARE, true, Any;
                /// `x < y`
                Lt, lt, Sign("<"), COMPARE, true, Ordered;
                /// `x <= y`
                Le, le, Sign("<="), COMPARE, true, Ordered;
                /// `x > y`
                Gt, gt, Sign(">"), COMPARE, true, Ordered;
                /// `x >= y`
                Ge, ge, Sign(">="), COMPARE, true, Ordered;
                /// `x and y`
                And, and, Sign("and"), AND, true, Bits;
                /// `x or y`
                Or, or, Sign("or"), OR, true, Bits;
                /// `pi.xor(x, y)`: exactly one of them holds
                Xor, xor, Call("pi.xor"), ATOM, true, Bits;
                /// `x & y`
                BitAnd, bit_and, Sign("&"), BIT_AND, false, Bits;
                /// `x | y`
                BitOr, bit_or, Sign("|"), BIT_OR, false, Bits;
                /// `x ^ y`
                BitXor, bit_xor, Sign("^"), BIT_XOR, false, Bits;
                /// `x << y`
                BitShiftLeft, bit_shift_left, Sign("<<"), SHIFT, false, Integer;
                /// `x >> y`
                BitShiftRight, bit_shift_right, Sign(">>"), SHIFT, false, Integer;
            }
            unary {
                /// `abs(x)`
                Abs, abs, Call("abs"), ATOM, false, Number;
                /// `-x`
                Neg, neg, Sign("-"), SIGN, false, Number;
                /// `not x`
                Not, not, Sign("not "), NOT, true, Bits;
                /// `~x`
                BitNot, bit_not, Sign("~"), SIGN, false, Bits;
                /// `pi.cast(x, type)`
                Cast, cast, Call("pi.cast"), ATOM, false, Any;
            }
        }
    };
}
pub(crate) use all_operators;

macro_rules! operators {
    (
        binary {$(
            $(#[$doc:meta])* $name:ident, $constructor:ident, $spelling:ident($text:literal),
            $precedence:ident, $truth:literal, $class:ident;
        )*}
        unary {$(
            $(#[$one_doc:meta])* $one:ident, $one_constructor:ident, $one_spelling:ident($one_text:literal),
            $one_precedence:ident, $one_truth:literal, $one_class:ident;
        )*}
    ) => {
        /// The 23 operators with two operands.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
        pub enum BinaryOp { $($(#[$doc])* $name,)* }

        impl BinaryOp {
            /// All of them.
            pub const ALL: [Self; 23] = [$(Self::$name),*];

            /// The name of the node: `Add`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            pub(crate) const fn spelling(self) -> Spelling {
                match self { $(Self::$name => Spelling::$spelling($text),)* }
            }

            /// The sign with a space on either side.
            pub(crate) const fn spaced(self) -> &'static str {
                match self { $(Self::$name => concat!(" ", $text, " "),)* }
            }

            /// The operator with this sign. (Those that are written as functions are read as such.)
            #[inline]
            pub(crate) fn of_sign(sign: &str) -> Option<Self> {
                match sign { $($text => Some(Self::$name),)* _ => None }
            }

            pub(crate) const fn precedence(self) -> u8 {
                match self { $(Self::$name => precedence::$precedence,)* }
            }

            /// Whether the result is a truth value, `BOOL` unless said otherwise.
            #[must_use]
            pub const fn is_truth(self) -> bool {
                match self { $(Self::$name => $truth,)* }
            }

            pub(crate) const fn class(self) -> Class {
                match self { $(Self::$name => Class::$class,)* }
            }
        }

        /// The five operators with one operand.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
        pub enum UnaryOp { $($(#[$one_doc])* $one,)* }

        impl UnaryOp {
            /// All of them.
            pub const ALL: [Self; 5] = [$(Self::$one),*];

            /// The name of the node: `Neg`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$one => stringify!($one),)* }
            }

            pub(crate) const fn spelling(self) -> Spelling {
                match self { $(Self::$one => Spelling::$one_spelling($one_text),)* }
            }

            pub(crate) const fn precedence(self) -> u8 {
                match self { $(Self::$one => precedence::$one_precedence,)* }
            }

            /// Whether the result is a truth value, `BOOL` unless said otherwise.
            #[must_use]
            pub const fn is_truth(self) -> bool {
                match self { $(Self::$one => $one_truth,)* }
            }

            pub(crate) const fn class(self) -> Class {
                match self { $(Self::$one => Class::$one_class,)* }
            }
        }
    };
}
all_operators!(operators);

impl BinaryOp {
    /// Whether this compares: `==`, `!=`, `<`, `<=`, `>`, `>=`.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge)
    }

    /// Whether this is `and`, `or` or `xor` of truth values.
    #[must_use]
    pub const fn is_logical(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }

    /// Whether this works on the bits of integers.
    #[must_use]
    pub const fn is_bitwise(self) -> bool {
        matches!(
            self,
            Self::BitAnd | Self::BitOr | Self::BitXor | Self::BitShiftLeft | Self::BitShiftRight
        )
    }
}
