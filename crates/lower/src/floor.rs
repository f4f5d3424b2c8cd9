//! `//` and `%`, which round down where the PTIR ops round towards zero.
//!
//! Division and remainder towards zero are a step too high where the remainder and the divisor have opposite signs, and
//! only there: a remainder of zero and a divisor of zero have no sign. So `x // 0` stays -1 and `x % 0` stays `x`.

use sapwood_ptir::ValueId;
use sapwood_ptir::ops::{Add, Direction, Div, Floor, Mul, Rem, Select, Sign, Sub};
use sapwood_types::{DataType, Span};

use crate::function::Lowering;
use crate::scope::Val;

impl Lowering<'_> {
    /// `lhs // rhs`. The quotient of floats is taken in f64 and rounded to their type after it is rounded down.
    pub(crate) fn floor_div(&mut self, lhs: ValueId, rhs: ValueId, span: Span) -> Val {
        let dtype = self.tensor(lhs, "operand 0", span)?.dtype;
        if !dtype.is_integer() {
            let lhs = self.cast(lhs, DataType::F64, span)?;
            let rhs = self.cast(rhs, DataType::F64, span)?;
            let input = self.emit(Div { lhs, rhs }, span)?;
            let floor = self.emit(Floor { input }, span)?;
            return self.cast(floor, dtype, span);
        }
        let quotient = self.emit(Div { lhs, rhs }, span)?;
        if dtype.is_unsigned_integer() {
            return Some(quotient);
        }
        let rest = self.emit(Rem { lhs, rhs }, span)?;
        let opposite = self.opposite(rest, rhs, span)?;
        let step = self.cast(opposite, dtype, span)?;
        self.emit(Sub { lhs: quotient, rhs: step }, span)
    }

    /// `lhs % rhs`, with the sign of `rhs`.
    pub(crate) fn floor_mod(&mut self, lhs: ValueId, rhs: ValueId, span: Span) -> Val {
        let rest = self.emit(Rem { lhs, rhs }, span)?;
        if self.tensor(lhs, "operand 0", span)?.dtype.is_unsigned_integer() {
            return Some(rest);
        }
        let pred = self.opposite(rest, rhs, span)?;
        let on_true = self.emit(Add { lhs: rest, rhs }, span)?;
        self.emit(Select { pred, on_true, on_false: rest }, span)
    }

    /// Whether one is above zero and the other below.
    fn opposite(&mut self, a: ValueId, b: ValueId, span: Span) -> Val {
        let zero = self.zero_like(a, span)?;
        match self.known_sign(b) {
            Some(true) => return self.compare(Direction::Gt, a, zero, span),
            Some(false) => return self.compare(Direction::Lt, a, zero, span),
            None => {}
        }
        let lhs = self.emit(Sign { input: a }, span)?;
        let rhs = self.emit(Sign { input: b }, span)?;
        let product = self.emit(Mul { lhs, rhs }, span)?;
        self.compare(Direction::Lt, product, zero, span)
    }

    /// Whether an integer that is written down is negative; nothing for zero and for what is not written down.
    fn known_sign(&self, value: ValueId) -> Option<bool> {
        let literal = self.out.function().constant_of(value)?;
        let bytes = literal.as_splat().filter(|_| literal.dtype().is_integer())?;
        let zero = bytes.iter().all(|&byte| byte == 0);
        (!zero).then(|| bytes.last().is_some_and(|&byte| byte & 0x80 != 0))
    }
}
