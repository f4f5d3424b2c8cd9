//! `//` and `%`, which round down, in terms of the PTIR ops, which round towards zero.
//!
//! Division towards zero is one too high exactly if the remainder and the divisor have opposite signs. Zero has no sign, so
//! `x // 0` stays -1 and `x % 0` stays `x`.

use sapwood_ptir::ValueId;
use sapwood_ptir::ops::{Add, Direction, Div, Floor, Mul, Rem, Select, Sign, Sub};
use sapwood_types::{DataType, Span};

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

impl FunctionLowering<'_> {
    /// Emits `lhs // rhs`. Floats are divided and rounded down in f64, then rounded to their type.
    pub(crate) fn floor_div(&mut self, lhs: ValueId, rhs: ValueId, span: Span) -> LoweredValue {
        let dtype = self.expect_tensor(lhs, "operand 0", span)?.dtype;
        if !dtype.is_integer() {
            let lhs = self.emit_cast(lhs, DataType::F64, span)?;
            let rhs = self.emit_cast(rhs, DataType::F64, span)?;
            let input = self.emit(Div { lhs, rhs }, span)?;
            let floor = self.emit(Floor { input }, span)?;
            return self.emit_cast(floor, dtype, span);
        }
        let quotient = self.emit(Div { lhs, rhs }, span)?;
        if dtype.is_unsigned_integer() {
            return Some(quotient);
        }
        let remainder = self.emit(Rem { lhs, rhs }, span)?;
        let opposite = self.have_opposite_signs(remainder, rhs, span)?;
        let step = self.emit_cast(opposite, dtype, span)?;
        self.emit(Sub { lhs: quotient, rhs: step }, span)
    }

    /// Emits `lhs % rhs`, which has the sign of `rhs`.
    pub(crate) fn floor_mod(&mut self, lhs: ValueId, rhs: ValueId, span: Span) -> LoweredValue {
        let remainder = self.emit(Rem { lhs, rhs }, span)?;
        if self.expect_tensor(lhs, "operand 0", span)?.dtype.is_unsigned_integer() {
            return Some(remainder);
        }
        let pred = self.have_opposite_signs(remainder, rhs, span)?;
        let on_true = self.emit(Add { lhs: remainder, rhs }, span)?;
        self.emit(Select { pred, on_true, on_false: remainder }, span)
    }

    /// Emits the test whether one value is above zero and the other below.
    fn have_opposite_signs(&mut self, a: ValueId, b: ValueId, span: Span) -> LoweredValue {
        let zero = self.zero_like(a, span)?;
        match self.literal_is_negative(b) {
            Some(true) => return self.emit_compare(Direction::Gt, a, zero, span),
            Some(false) => return self.emit_compare(Direction::Lt, a, zero, span),
            None => {}
        }
        let lhs = self.emit(Sign { input: a }, span)?;
        let rhs = self.emit(Sign { input: b }, span)?;
        let product = self.emit(Mul { lhs, rhs }, span)?;
        self.emit_compare(Direction::Lt, product, zero, span)
    }

    /// Returns whether an integer constant is negative; none for zero and for values that are not constant.
    fn literal_is_negative(&self, value: ValueId) -> Option<bool> {
        let literal = self.writer.function().constant_of(value)?;
        let bytes = literal.as_splat().filter(|_| literal.dtype().is_integer())?;
        let zero = bytes.iter().all(|&byte| byte == 0);
        (!zero).then(|| bytes.last().is_some_and(|&byte| byte & 0x80 != 0))
    }
}
