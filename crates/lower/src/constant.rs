//! Constants.

use sapwood_ir::Expr;
use sapwood_ptir::{TensorLiteral, ValueId};
use sapwood_types::{DataType, Span};

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;

impl FunctionLowering<'_> {
    /// Lowers a constant; returns none if the expression is not a constant.
    pub(crate) fn lower_constant(&mut self, expr: &Expr, span: Span) -> Option<LoweredValue> {
        let dtype = expr.ty().as_scalar();
        Some(match expr {
            Expr::ConstInt { value, .. } => self.int_constant(value.get(), dtype?, span),
            Expr::ConstFloat { value, .. } => match TensorLiteral::filled(dtype?, &[], *value) {
                Ok(literal) => Some(self.writer.constant(&literal, span)),
                Err(error) => {
                    self.report(span, error.to_string());
                    None
                }
            },
            Expr::ConstBool { value, .. } => Some(self.bool_constant(*value, span)),
            _ => return None,
        })
    }

    /// Emits a bool constant.
    pub(crate) fn bool_constant(&mut self, value: bool, span: Span) -> ValueId {
        self.writer.constant(&TensorLiteral::scalar(value), span)
    }

    /// Emits an integer constant of type `dtype`; the value wraps around to its range.
    pub(crate) fn int_constant(
        &mut self,
        value: i128,
        dtype: DataType,
        span: Span,
    ) -> LoweredValue {
        let low = value & ((1 << dtype.bit_width()) - 1);
        let negative = dtype.is_signed() && low >> (dtype.bit_width() - 1) == 1;
        let wrapped = if negative { low - (1 << dtype.bit_width()) } else { low };
        let bytes = &wrapped.to_le_bytes()[..dtype.byte_size()];
        match TensorLiteral::splat(dtype, &[], bytes) {
            Ok(literal) => Some(self.writer.constant(&literal, span)),
            Err(error) => {
                self.report(span, error.to_string());
                None
            }
        }
    }
}
