//! Random operands, attributes and regions for the ops with regions.

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::generate::ProgramGenerator;
use super::tensors::{ints_attr, op_key, row_index_attrs};
use crate::attr::{Attr, Pairs};
use crate::op::OpParts;
use crate::types::{Dim, TensorType, ValueType};
use crate::{AttrField, BodyId, ValueId};

impl ProgramGenerator<'_> {
    pub(super) fn parts_with_regions(&mut self, name: &'static str) -> Option<OpParts> {
        if self.depth > 3 {
            return None;
        }
        let mut parts = OpParts::new(op_key(name));
        match name {
            "cond" => {
                let types = self.random_types();
                parts.operands.push(self.scalar(DataType::Bool));
                parts.regions.push(self.branch_region(&types)?);
                parts.regions.push(self.branch_region(&types)?);
            }
            "case" => {
                let types = self.random_types();
                parts.operands.push(self.scalar(DataType::I32));
                for _ in 0..1 + self.rng.below(3) {
                    parts.regions.push(self.branch_region(&types)?);
                }
            }
            "while" => {
                let types = self.random_types();
                parts.operands = types.iter().map(|ty| self.value(ty)).collect();
                parts.regions.push(self.region(&types, |g, _| vec![g.scalar(DataType::Bool)])?);
                parts.regions.push(self.region(&types, |g, args| g.next_values(&types, args))?);
            }
            "scan" => {
                let carried = self.random_types();
                let length = self.rng.below(4) as u64;
                let scanned: Vec<TensorType> =
                    (0..self.rng.below(3)).map(|_| self.random_known_type(0)).collect();
                let mut params = carried.clone();
                parts.operands = carried.iter().map(|ty| self.value(ty)).collect();
                for slice in &scanned {
                    let dims = std::iter::once(Dim::Known(length))
                        .chain(slice.dims.iter().copied())
                        .collect();
                    parts.operands.push(self.tensor(TensorType { dtype: slice.dtype, dims }));
                    params.push(slice.clone().into());
                }
                let stacked = self.random_known_type(0);
                let steps = if scanned.is_empty() { Attr::Int(length as i64) } else { Attr::Unit };
                parts.attrs.extend([
                    Attr::Int(carried.len() as i64),
                    steps,
                    Attr::Bool(self.rng.one_in(2)),
                ]);
                parts.regions.push(self.region(&params, |g, args| {
                    let mut out = g.next_values(&carried, &args[..carried.len()]);
                    out.push(g.tensor(stacked));
                    out
                })?);
            }
            "reduce" | "reduce_window" => {
                let dims = if name == "reduce" {
                    self.random_dims()
                } else {
                    self.random_known_dims(0).into_iter().map(Dim::Known).collect()
                };
                let dtypes: Vec<DataType> =
                    (0..1 + self.rng.below(2)).map(|_| self.random_dtype()).collect();
                for &dtype in &dtypes {
                    parts.operands.push(self.tensor(TensorType { dtype, dims: dims.clone() }));
                }
                for &dtype in &dtypes {
                    parts.operands.push(self.scalar(dtype));
                }
                let rank = dims.len();
                if name == "reduce" {
                    parts.attrs.push(ints_attr(
                        (0..rank).filter(|_| self.rng.one_in(2)).collect::<Vec<_>>(),
                    ));
                } else {
                    parts.attrs.push(ints_attr(
                        (0..rank).map(|_| 1 + self.rng.below(2)).collect::<Vec<_>>(),
                    ));
                    let strides =
                        if self.rng.one_in(2) { Attr::Unit } else { ints_attr(vec![2; rank]) };
                    let pads = if self.rng.one_in(2) {
                        Attr::Unit
                    } else {
                        Pairs(vec![[1, 0]; rank]).to_attr()
                    };
                    parts.attrs.extend([strides, pads, Attr::Unit, Attr::Unit]);
                }
                parts.regions.push(self.reducer_region(&dtypes)?);
            }
            "select_and_scatter" => {
                let dtype = self.real_dtype();
                let input = TensorType::new(dtype, [4u64, 6]);
                let source = TensorType::new(dtype, [2u64, 3]);
                parts.operands.extend([
                    self.tensor(input),
                    self.tensor(source),
                    self.scalar(dtype),
                ]);
                parts.attrs.extend([ints_attr([2, 2]), ints_attr([2, 2]), Attr::Unit]);
                let scalar = ValueType::from(TensorType::scalar(dtype));
                parts.regions.push(
                    self.region(&[scalar.clone(), scalar], |g, _| vec![g.scalar(DataType::Bool)])?,
                );
                parts.regions.push(self.reducer_region(&[dtype])?);
            }
            "sort" => {
                let ty = self.random_known_type(1);
                let mut params = Vec::new();
                for _ in 0..1 + self.rng.below(2) {
                    let input = ty.with_dtype(self.random_dtype());
                    let scalar = ValueType::from(TensorType::scalar(input.dtype));
                    params.extend([scalar.clone(), scalar]);
                    parts.operands.push(self.tensor(input));
                }
                parts.attrs.extend([
                    Attr::Int(self.rng.below(ty.rank()) as i64),
                    Attr::Bool(self.rng.one_in(2)),
                ]);
                parts.regions.push(self.region(&params, |g, _| vec![g.scalar(DataType::Bool)])?);
            }
            "scatter" => {
                let dtype = self.random_dtype();
                let (n, m, k) = (
                    1 + self.rng.below(4) as u64,
                    1 + self.rng.below(4) as u64,
                    self.rng.below(3) as u64,
                );
                parts.operands.push(self.tensor(TensorType::new(dtype, [n, m])));
                parts.operands.push(self.tensor(TensorType::new(DataType::I32, [k, 1])));
                parts.operands.push(self.tensor(TensorType::new(dtype, [k, m])));
                parts.attrs.extend(row_index_attrs());
                parts.regions.push(self.reducer_region(&[dtype])?);
            }
            _ => return None,
        }
        Some(parts)
    }

    fn random_types(&mut self) -> SmallVec<[ValueType; 2]> {
        (0..self.rng.below(3)).map(|_| ValueType::from(self.random_tensor_type())).collect()
    }

    // Builds a region without parameters that yields these types, with a few instructions of its own.
    fn branch_region(&mut self, types: &[ValueType]) -> Option<BodyId> {
        self.region(&[], |g, _| {
            for _ in 0..g.rng.below(3) {
                g.emit_random_op();
            }
            types.iter().map(|ty| g.value(ty)).collect()
        })
    }

    fn next_values(&mut self, types: &[ValueType], args: &[ValueId]) -> Vec<ValueId> {
        for _ in 0..self.rng.below(3) {
            self.emit_random_op();
        }
        types
            .iter()
            .zip(args)
            .map(|(ty, &arg)| if self.rng.one_in(3) { arg } else { self.value(ty) })
            .collect()
    }

    // Builds a reducer: it adds, multiplies, takes the larger and the like, or keeps one of each pair; it may use
    // scalars from outside.
    fn reducer_region(&mut self, dtypes: &[DataType]) -> Option<BodyId> {
        let scalars: Vec<ValueType> =
            dtypes.iter().map(|&d| TensorType::scalar(d).into()).collect();
        let params: Vec<ValueType> = scalars.iter().chain(&scalars).cloned().collect();
        self.region(&params, |g, args| {
            let mut out = Vec::new();
            for (n, ty) in scalars.iter().enumerate() {
                let (x, y) = (args[n], args[n + scalars.len()]);
                let name = ["add", "max", "mul", "min", "and", "or", "xor", "sub"][g.rng.below(8)];
                let mut parts = OpParts::new(op_key(name));
                parts.operands.extend([x, if g.rng.one_in(3) { g.value(ty) } else { y }]);
                if g.rng.one_in(3) {
                    parts.operands.reverse();
                }
                out.push(g.emit(&parts).map_or(x, |results| results[0]));
            }
            out
        })
    }
}
