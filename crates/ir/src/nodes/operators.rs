//! The table of operators, one line each: name, constructor, syntax, precedence, whether it is a predicate, operand class.
//!
//! All code that enumerates operators is generated from this table.

use sapwood_types::DataType;

/// The precedences of operators in the text form, in Python's order.
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
    pub(crate) const UNARY: u8 = 11;
    pub(crate) const POWER: u8 = 12;
    pub(crate) const ATOM: u8 = 13;
}

/// The syntax of an operator in the text form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OperatorSyntax {
    /// A symbol between two operands, or before one.
    Symbol(&'static str),
    /// A function call.
    Call(&'static str),
}

/// The data types that an operator accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OperandClass {
    /// All data types.
    Any,
    /// Numbers.
    Number,
    /// Numbers that have an order: all but complex numbers.
    Ordered,
    /// Integers and bools.
    Bits,
    /// Integers.
    Integer,
}

impl OperandClass {
    pub(crate) fn accepts(self, dtype: DataType) -> bool {
        match self {
            Self::Any => true,
            Self::Number => !dtype.is_bool(),
            Self::Ordered => dtype.is_integer() || dtype.is_float(),
            Self::Bits => dtype.is_integer() || dtype.is_bool(),
            Self::Integer => dtype.is_integer(),
        }
    }
}

/// Invokes a macro with the table of operators.
macro_rules! all_operators {
    ($callback:ident) => {
        $callback! {
            binary {
                /// `x + y`
                Add, add, Symbol("+"), SUM, false, Number;
                /// `x - y`
                Sub, sub, Symbol("-"), SUM, false, Number;
                /// `x * y`
                Mul, mul, Symbol("*"), PRODUCT, false, Number;
                /// `x // y`, rounded down
                FloorDiv, floor_div, Symbol("//"), PRODUCT, false, Ordered;
                /// `x % y`, with the sign of `y`
                FloorMod, floor_mod, Symbol("%"), PRODUCT, false, Ordered;
                /// `x / y`; integers round toward zero
                FloatDiv, float_div, Symbol("/"), PRODUCT, false, Number;
                /// `min(x, y)`
                Min, min, Call("min"), ATOM, false, Ordered;
                /// `max(x, y)`
                Max, max, Call("max"), ATOM, false, Ordered;
                /// `x ** y`
                Pow, pow, Symbol("**"), POWER, false, Number;
                /// `x == y`
                Eq, eq, Symbol("=="), COMPARE, true, Any;
                /// `x != y`
                Ne, ne, Symbol("!="), COMPARE, true, Any;
                /// `x < y`
                Lt, lt, Symbol("<"), COMPARE, true, Ordered;
                /// `x <= y`
                Le, le, Symbol("<="), COMPARE, true, Ordered;
                /// `x > y`
                Gt, gt, Symbol(">"), COMPARE, true, Ordered;
                /// `x >= y`
                Ge, ge, Symbol(">="), COMPARE, true, Ordered;
                /// `x and y`
                And, and, Symbol("and"), AND, true, Bits;
                /// `x or y`
                Or, or, Symbol("or"), OR, true, Bits;
                /// `pi.xor(x, y)`: true if exactly one operand is true
                Xor, xor, Call("pi.xor"), ATOM, true, Bits;
                /// `x & y`
                BitAnd, bit_and, Symbol("&"), BIT_AND, false, Bits;
                /// `x | y`
                BitOr, bit_or, Symbol("|"), BIT_OR, false, Bits;
                /// `x ^ y`
                BitXor, bit_xor, Symbol("^"), BIT_XOR, false, Bits;
                /// `x << y`
                BitShiftLeft, bit_shift_left, Symbol("<<"), SHIFT, false, Integer;
                /// `x >> y`
                BitShiftRight, bit_shift_right, Symbol(">>"), SHIFT, false, Integer;
            }
            unary {
                /// `abs(x)`
                Abs, abs, Call("abs"), ATOM, false, Number;
                /// `-x`
                Neg, neg, Symbol("-"), UNARY, false, Number;
                /// `not x`
                Not, not, Symbol("not "), NOT, true, Bits;
                /// `~x`
                BitNot, bit_not, Symbol("~"), UNARY, false, Bits;
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
        /// A binary operator, one of 23.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
        pub enum BinaryOp { $($(#[$doc])* $name,)* }

        impl BinaryOp {
            /// All binary operators.
            pub const ALL: [Self; 23] = [$(Self::$name),*];

            /// Returns the name of the node type: `Add`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            pub(crate) const fn syntax(self) -> OperatorSyntax {
                match self { $(Self::$name => OperatorSyntax::$spelling($text),)* }
            }

            /// Returns the symbol with a space on either side.
            pub(crate) const fn spaced_symbol(self) -> &'static str {
                match self { $(Self::$name => concat!(" ", $text, " "),)* }
            }

            /// Returns the operator with this symbol. Operators with the syntax of a call are parsed as calls.
            #[inline]
            pub(crate) fn from_symbol(symbol: &str) -> Option<Self> {
                match symbol { $($text => Some(Self::$name),)* _ => None }
            }

            pub(crate) const fn precedence(self) -> u8 {
                match self { $(Self::$name => precedence::$precedence,)* }
            }

            /// Returns whether the result is a truth value, of type `BOOL` unless stated otherwise.
            #[must_use]
            pub const fn is_predicate(self) -> bool {
                match self { $(Self::$name => $truth,)* }
            }

            pub(crate) const fn operand_class(self) -> OperandClass {
                match self { $(Self::$name => OperandClass::$class,)* }
            }
        }

        /// A unary operator, one of five.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
        pub enum UnaryOp { $($(#[$one_doc])* $one,)* }

        impl UnaryOp {
            /// All unary operators.
            pub const ALL: [Self; 5] = [$(Self::$one),*];

            /// Returns the name of the node type: `Neg`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$one => stringify!($one),)* }
            }

            pub(crate) const fn syntax(self) -> OperatorSyntax {
                match self { $(Self::$one => OperatorSyntax::$one_spelling($one_text),)* }
            }

            pub(crate) const fn precedence(self) -> u8 {
                match self { $(Self::$one => precedence::$one_precedence,)* }
            }

            /// Returns whether the result is a truth value, of type `BOOL` unless stated otherwise.
            #[must_use]
            pub const fn is_predicate(self) -> bool {
                match self { $(Self::$one => $one_truth,)* }
            }

            pub(crate) const fn operand_class(self) -> OperandClass {
                match self { $(Self::$one => OperandClass::$one_class,)* }
            }
        }
    };
}
all_operators!(operators);

impl BinaryOp {
    /// Returns whether this is a comparison: `==`, `!=`, `<`, `<=`, `>`, `>=`.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge)
    }

    /// Returns whether this is `and`, `or` or `xor` of truth values.
    #[must_use]
    pub const fn is_logical(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }

    /// Returns whether this operates on the bits of integers.
    #[must_use]
    pub const fn is_bitwise(self) -> bool {
        matches!(
            self,
            Self::BitAnd | Self::BitOr | Self::BitXor | Self::BitShiftLeft | Self::BitShiftRight
        )
    }
}
