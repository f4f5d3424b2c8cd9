//! Constants.

use sapwood_ir::Expr;
use sapwood_ptir::{TensorLiteral, ValueId};
use sapwood_types::{DataType, Span};

use crate::function::Lowering;
use crate::scope::Val;

impl Lowering<'_> {
    /// The value of a constant; nothing if the expression is none.
    pub(crate) fn constant(&mut self, expr: &Expr, span: Span) -> Option<Val> {
        let dtype = expr.ty().as_scalar();
        Some(match expr {
            Expr::ConstInt { value, .. } => self.int(value.get(), dtype?, span),
            Expr::ConstFloat { value, .. } => match TensorLiteral::filled(dtype?, &[], *value) {
                Ok(literal) => Some(self.out.constant(&literal, span)),
                Err(error) => {
                    self.problem(span, error.to_string());
                    None
                }
            },
            Expr::ConstBool { value, .. } => Some(self.bool(*value, span)),
            _ => return None,
        })
    }

    pub(crate) fn bool(&mut self, value: bool, span: Span) -> ValueId {
        self.out.constant(&TensorLiteral::scalar(value), span)
    }

    /// An integer of a type, wrapped into its range.
    pub(crate) fn int(&mut self, value: i128, dtype: DataType, span: Span) -> Val {
        let low = value & ((1 << dtype.bit_width()) - 1);
        let negative = dtype.is_signed() && low >> (dtype.bit_width() - 1) == 1;
        let wrapped = if negative { low - (1 << dtype.bit_width()) } else { low };
        let bytes = &wrapped.to_le_bytes()[..dtype.byte_size()];
        match TensorLiteral::splat(dtype, &[], bytes) {
            Ok(literal) => Some(self.out.constant(&literal, span)),
            Err(error) => {
                self.problem(span, error.to_string());
                None
            }
        }
    }
}
