//! Padding as nodes of ONNX.

use sapwood_ptir::TensorLiteral;
use sapwood_ptir::ValueId;
use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Pad;

use super::graph::GraphWriter;
use super::raise::int;
use super::{WriteError, WriteResult};
use crate::{Attribute, AttributeValue, Node, Text};

impl GraphWriter<'_> {
    pub(super) fn pad(&mut self, op: &Pad, result: ValueId, out: Text) -> WriteResult<Vec<Node>> {
        let opset = self.opset();
        let dtype = self.dtype(result);
        // Before opset 11, `Pad` takes floats and a number as an attribute; before 13, no bools.
        let is_supported = match opset {
            ..11 => dtype.is_some_and(DataType::is_float),
            11..13 => dtype != Some(DataType::Bool),
            _ => true,
        };
        let literal = self.f.constant_of(op.value).cloned();
        let is_zero = literal.as_ref().is_some_and(TensorLiteral::is_zero);
        let number = literal.as_ref().and_then(single_precision);
        if !is_supported || opset < 11 && !is_zero && number.is_none() {
            return self.pad_with_concat(op, result, out).ok_or_else(|| {
                let why = format!("opset {opset} cannot pad with this value");
                WriteError::Op { op: "pad".into(), why }
            });
        }
        let pads: Vec<i64> = op.low.iter().chain(op.high.iter()).copied().collect();
        let mut node = self.node("Pad", vec![self.name_of(op.input)], out, Vec::new());
        self.list_argument("Pad", "pads", &pads, &mut node);
        match number {
            _ if is_zero => {}
            Some(number) if opset < 11 => {
                node.attribute.push(Attribute::new("value", AttributeValue::Float(number)));
            }
            _ => node.input.push(self.name_of(op.value)),
        }
        Ok(vec![node])
    }

    // Writes padding of one axis with a constant as a concatenation.
    fn pad_with_concat(&mut self, op: &Pad, result: ValueId, out: Text) -> Option<Vec<Node>> {
        const MAX_ELEMENTS: u64 = 1 << 20;
        let one = self.f.constant_of(op.value)?.clone();
        let mut padded = (0..op.low.len()).filter(|&a| (op.low[a], op.high[a]) != (0, 0));
        let (axis, None) = (padded.next()?, padded.next()) else { return None };
        let dims = self.dims(result);
        let mut input = Vec::new();
        for (count, is_low) in [(op.low[axis], true), (op.high[axis], false)] {
            let mut shape = Vec::with_capacity(dims.len());
            for (a, dim) in dims.iter().enumerate() {
                shape.push(if a == axis { u64::try_from(count).ok()? } else { dim.known()? });
            }
            if count > 0 {
                let elements = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d))?;
                let literal = TensorLiteral::splat(one.dtype(), &shape, one.as_splat()?).ok()?;
                let part =
                    (elements <= MAX_ELEMENTS).then(|| self.constant("padding", &literal))?;
                input.push(part);
            }
            if is_low {
                input.push(self.name_of(op.input));
            }
        }
        Some(vec![self.node("Concat", input, out, vec![int("axis", axis as i64)])])
    }
}

// Returns the number of a literal of one number, if an attribute of ONNX, a single-precision float, holds it exactly.
fn single_precision(literal: &TensorLiteral) -> Option<f32> {
    match literal.dtype() {
        DataType::F32 => Some(f32::from_le_bytes(literal.as_splat()?.try_into().ok()?)),
        _ => None,
    }
}
