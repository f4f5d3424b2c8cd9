//! The operators, one line each: name, spelling, precedence, what its type follows from.

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

macro_rules! binary_operators {
    ($($(#[$doc:meta])* $name:ident, $constructor:ident, $spelling:ident($text:literal), $precedence:ident, $truth:literal;)*) => {
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

            pub(crate) const fn precedence(self) -> u8 {
                match self { $(Self::$name => precedence::$precedence,)* }
            }

            /// Whether the result is a truth value, `BOOL` unless said otherwise.
            #[must_use]
            pub const fn is_truth(self) -> bool {
                match self { $(Self::$name => $truth,)* }
            }
        }
    };
}

binary_operators! {
    /// `x + y`
    Add, add, Sign("+"), SUM, false;
    /// `x - y`
    Sub, sub, Sign("-"), SUM, false;
    /// `x * y`
    Mul, mul, Sign("*"), PRODUCT, false;
    /// `x // y`, rounded down
    FloorDiv, floor_div, Sign("//"), PRODUCT, false;
    /// `x % y`, with the sign of `y`
    FloorMod, floor_mod, Sign("%"), PRODUCT, false;
    /// `x / y`; integers round toward zero
    FloatDiv, float_div, Sign("/"), PRODUCT, false;
    /// `min(x, y)`
    Min, min, Call("min"), ATOM, false;
    /// `max(x, y)`
    Max, max, Call("max"), ATOM, false;
    /// `x ** y`
    Pow, pow, Sign("**"), POWER, false;
    /// `x == y`
    Eq, eq, Sign("=="), COMPARE, true;
    /// `x != y`
    Ne, ne, Sign("!="), COMPARE, true;
    /// `x < y`
    Lt, lt, Sign("<"), COMPARE, true;
    /// `x <= y`
    Le, le, Sign("<="), COMPARE, true;
    /// `x > y`
    Gt, gt, Sign(">"), COMPARE, true;
    /// `x >= y`
    Ge, ge, Sign(">="), COMPARE, true;
    /// `x and y`
    And, and, Sign("and"), AND, true;
    /// `x or y`
    Or, or, Sign("or"), OR, true;
    /// `pi.xor(x, y)`: exactly one of them holds
    Xor, xor, Call("pi.xor"), ATOM, true;
    /// `x & y`
    BitAnd, bit_and, Sign("&"), BIT_AND, false;
    /// `x | y`
    BitOr, bit_or, Sign("|"), BIT_OR, false;
    /// `x ^ y`
    BitXor, bit_xor, Sign("^"), BIT_XOR, false;
    /// `x << y`
    BitShiftLeft, bit_shift_left, Sign("<<"), SHIFT, false;
    /// `x >> y`
    BitShiftRight, bit_shift_right, Sign(">>"), SHIFT, false;
}

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

    /// Whether `x op y = y op x`, also for floats.
    #[must_use]
    pub const fn is_commutative(self) -> bool {
        matches!(
            self,
            Self::Add
                | Self::Mul
                | Self::Eq
                | Self::Ne
                | Self::And
                | Self::Or
                | Self::Xor
                | Self::BitAnd
                | Self::BitOr
                | Self::BitXor
        )
    }
}

/// The five operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum UnaryOp {
    /// `abs(x)`
    Abs,
    /// `-x`
    Neg,
    /// `not x`
    Not,
    /// `~x`
    BitNot,
    /// `pi.cast(x, type)`
    Cast,
}

impl UnaryOp {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Abs, Self::Neg, Self::Not, Self::BitNot, Self::Cast];

    /// The name of the node: `Neg`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abs => "Abs",
            Self::Neg => "Neg",
            Self::Not => "Not",
            Self::BitNot => "BitNot",
            Self::Cast => "Cast",
        }
    }

    pub(crate) const fn spelling(self) -> Spelling {
        match self {
            Self::Abs => Spelling::Call("abs"),
            Self::Neg => Spelling::Sign("-"),
            Self::Not => Spelling::Sign("not "),
            Self::BitNot => Spelling::Sign("~"),
            Self::Cast => Spelling::Call("pi.cast"),
        }
    }

    pub(crate) const fn precedence(self) -> u8 {
        match self {
            Self::Not => precedence::NOT,
            Self::Neg | Self::BitNot => precedence::SIGN,
            Self::Abs | Self::Cast => precedence::ATOM,
        }
    }
}
