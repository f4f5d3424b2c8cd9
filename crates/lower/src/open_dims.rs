//! Ops whose result has dims that no symbols express: the extents are computed when the program runs.
//!
//! `x[:k]`, where `k` is not a dim of a parameter, is a `dynamic_slice` of the declared type `[k]`. It becomes a `real_dynamic_slice`, whose sizes are
//! operands. Other ops with a declared shape become the ops whose shape is an operand.

use sapwood_ir::{ExprRef, Type, TypeRef};
use sapwood_ptir::ops::{
    Add, Clamp, Concat, DimValues, DynamicBroadcastInDim, DynamicReshape, GetDimensionSize,
    RealDynamicSlice, Reshape, Sub,
};
use sapwood_ptir::{
    Axes, Dim, DimExprs, Int, ResultType, TensorLiteral, TensorType, ValueId, ValueType,
};
use sapwood_types::{DataType, Span};

use crate::function::FunctionLowering;
use crate::scope::LoweredValue;
use crate::types::is_computed_from;

impl<'a> FunctionLowering<'a> {
    /// Lowers a call of an op with computed extents. Returns `None` if all dims of the declared type are known, if one cannot be
    /// computed, or if the op has no such form.
    pub(crate) fn lower_open_result(
        &mut self,
        op: &str,
        args: &[ValueId],
        declared: &'a TypeRef,
        span: Span,
    ) -> Option<LoweredValue> {
        let Type::Tensor { shape, .. } = &**declared else { return None };
        let Ok(ValueType::Tensor(ty)) = self.signature.dims.convert(declared) else { return None };
        let is_set = |var: &ExprRef| self.scope.get(var).flatten().is_some();
        let is_open = ty.dims.contains(&Dim::Unknown);
        if !is_open || !shape.iter().all(|dim| is_computed_from(dim, &is_set)) {
            return None;
        }
        let result = || ResultType::from(ty.clone());
        Some(match (op, args) {
            ("dynamic_slice", &[input, ref starts @ ..]) if starts.len() == shape.len() => {
                self.lower_open_slice(input, starts, shape, result(), span)
            }
            ("reshape", &[input]) => self
                .list_of_dims(shape, span)
                .and_then(|shape| self.emit(DynamicReshape { input, shape, ty: result() }, span)),
            ("broadcast_to", &[input]) => {
                let rank = self.expect_tensor(input, "the operand", span).map(|ty| ty.rank())?;
                let dims: Axes = (ty.rank().checked_sub(rank)?..ty.rank()).collect();
                self.list_of_dims(shape, span).and_then(|shape| {
                    self.emit(DynamicBroadcastInDim { input, shape, dims, ty: result() }, span)
                })
            }
            _ => return None,
        })
    }

    /// Emits a slice at computed starts, which are clamped, with computed sizes.
    fn lower_open_slice(
        &mut self,
        input: ValueId,
        starts: &[ValueId],
        shape: &'a [ExprRef],
        ty: ResultType,
        span: Span,
    ) -> LoweredValue {
        let sizes = self.list_of_dims(shape, span)?;
        let extents = self.extents(input, span)?;
        let starts = self.list(starts, span)?;
        let high = self.emit(Sub { lhs: extents, rhs: sizes }, span)?;
        let low = self.filled_list(0.0, shape.len(), span)?;
        let starts = self.emit(Clamp { low, input: starts, high }, span)?;
        let limits = self.emit(Add { lhs: starts, rhs: sizes }, span)?;
        let strides = self.filled_list(1.0, shape.len(), span)?;
        self.emit(RealDynamicSlice { input, starts, limits, strides, ty }, span)
    }

    /// Emits the values of dims as a list.
    fn list_of_dims(&mut self, shape: &'a [ExprRef], span: Span) -> LoweredValue {
        let dims: Option<Vec<ValueId>> = shape.iter().map(|dim| self.lower_expr(dim)).collect();
        self.list(&dims?, span)
    }

    /// Emits a list of integers of 64 bits from scalars.
    fn list(&mut self, scalars: &[ValueId], span: Span) -> LoweredValue {
        let mut inputs = Vec::new();
        for &scalar in scalars {
            let input = self.emit_cast(scalar, DataType::I64, span)?;
            let one = TensorType::new(DataType::I64, [1]);
            inputs.push(self.emit(Reshape { input, ty: one.into() }, span)?);
        }
        match inputs[..] {
            [one] => Some(one),
            _ => self.emit(Concat { inputs: inputs.into(), axis: Int(0) }, span),
        }
    }

    fn filled_list(&mut self, number: f64, length: usize, span: Span) -> LoweredValue {
        let literal = TensorLiteral::filled(DataType::I64, &[length as u64], number).ok()?;
        Some(self.writer.constant(&literal, span))
    }

    /// Emits the extents of a tensor as a list.
    fn extents(&mut self, input: ValueId, span: Span) -> LoweredValue {
        let dims = self.expect_tensor(input, "the operand", span)?.dims;
        if let Some(values) = dims.iter().map(|dim| dim.to_expr()).collect::<Option<DimExprs>>() {
            let ty = TensorType::new(DataType::I64, [dims.len() as u64]);
            return self.emit(DimValues { values, ty: ty.into() }, span);
        }
        let mut sizes = Vec::new();
        for axis in 0..dims.len() {
            sizes.push(self.emit(GetDimensionSize { input, axis: Int(axis as i64) }, span)?);
        }
        self.list(&sizes, span)
    }
}
