//! Random operands for the ops whose shape is an operand. Each is derived from the op whose shape is an attribute, so that no run stops.

use sapwood_types::DataType;

use super::generate::ProgramGenerator;
use super::tensors::op_key;
use crate::attr::{Attr, AttrField as _, DimExprs, Ints, Pairs};
use crate::dims::DimExpr;
use crate::literal::TensorLiteral;
use crate::name::Name;
use crate::op::OpParts;
use crate::types::{Dim, Dims, TensorType};
use crate::{InsertPoint, ValueId};

impl ProgramGenerator<'_> {
    /// Builds an instruction of this op that probably fits.
    pub(super) fn parts_with_shape_operand(&mut self, name: &'static str) -> Option<OpParts> {
        if name == "dims" {
            return self.dims_parts();
        }
        let model = match name {
            "dynamic_reshape" => "reshape",
            "dynamic_broadcast_in_dim" => "broadcast_in_dim",
            "dynamic_iota" => "iota",
            "dynamic_pad" => "pad",
            "real_dynamic_slice" => "slice",
            "dynamic_gather" => "gather",
            _ => "convolution",
        };
        let model = self.random_parts(model)?;
        let model = self.f.resolve_parts(&model).ok()?;
        let mut parts = OpParts { key: op_key(name), ..model };
        let ty = parts.result_types.first()?.as_tensor()?.clone();
        let rank = parts
            .operands
            .first()
            .and_then(|&v| self.f.value_type(v).as_tensor())
            .map_or(0, TensorType::rank);
        let filled = |attr: Attr, missing: i64| match attr {
            Attr::Ints(ints) => ints,
            _ => Ints::from_iter(vec![missing; rank]),
        };
        match name {
            "dynamic_pad" => {
                for attr in std::mem::take(&mut parts.attrs) {
                    let amounts = self.index_list(&filled(attr, 0), None)?;
                    parts.operands.push(amounts);
                }
            }
            "real_dynamic_slice" => {
                for attr in std::mem::take(&mut parts.attrs) {
                    let list = self.index_list(&filled(attr, 1), None)?;
                    parts.operands.push(list);
                }
            }
            "dynamic_gather" => {
                let sizes = self.index_list(&filled(parts.attrs.pop()?, 1), None)?;
                parts.operands.push(sizes);
            }
            "dynamic_conv" => {
                let pads = match Pairs::from_attr(&parts.attrs.remove(4), &[]) {
                    Some(pairs) => pairs.0.into_flattened(),
                    None => vec![0; 2 * (rank - 2)],
                };
                let pads = self.index_list(&pads, Some(2))?;
                parts.operands.push(pads);
            }
            _ => {
                parts.attrs.pop();
                let shape: Vec<i64> = ty.known_shape()?.iter().map(|&n| n as i64).collect();
                let shape = self.index_list(&shape, None)?;
                parts.operands.push(shape);
            }
        }
        parts.attrs.push(Attr::Unit);
        Some(parts)
    }

    fn dims_parts(&mut self) -> Option<OpParts> {
        let symbol = Name::new("N");
        let extent = Dim::symbol(symbol);
        self.add_param(
            &TensorType { dtype: DataType::F32, dims: Dims::from_slice(&[extent]) }.into(),
        );
        let (n, one) = (DimExpr::symbol(symbol)?, DimExpr::constant(1)?);
        let choices = [n, n.checked_add(n)?.checked_add(one)?, n.floordiv(2)?, one];
        let count = self.rng.below(4);
        let values: DimExprs = (0..count).filter_map(|_| self.rng.pick(&choices)).collect();
        let dtype = [DataType::I32, DataType::I64, DataType::U8][self.rng.below(3)];
        let mut parts = OpParts::new(op_key("dims"));
        parts.attrs.extend([values.to_attr(), Attr::Unit]);
        parts.result_types.push(TensorType::new(dtype, [count as u64]).into());
        Some(parts)
    }

    // Returns a constant with these integers: a vector, or a matrix with this many columns.
    fn index_list(&mut self, numbers: &[i64], columns: Option<usize>) -> Option<ValueId> {
        let shape = match columns {
            Some(columns) => vec![(numbers.len() / columns) as u64, columns as u64],
            None => vec![numbers.len() as u64],
        };
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let literal = TensorLiteral::new(DataType::I64, &shape, &bytes).ok()?;
        let here = InsertPoint::End(self.scopes.last().map_or(self.f.body(), |(body, _)| *body));
        Some(self.f.constant(&literal, here, sapwood_types::Span::unknown()))
    }
}
