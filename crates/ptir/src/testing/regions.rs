//! Operands, attributes and regions for the ops with regions.

use sapwood_types::DataType;
use smallvec::SmallVec;

use super::generate::Generator;
use super::tensors::{ints, key};
use crate::attr::{Attr, Pairs};
use crate::op::OpParts;
use crate::types::{Dim, TensorType, ValueType};
use crate::{AttrField, BodyId, ValueId};

impl Generator<'_> {
    pub(super) fn with_regions(&mut self, name: &'static str) -> Option<OpParts> {
        if self.depth > 3 {
            return None;
        }
        let mut parts = OpParts::new(key(name));
        match name {
            "cond" => {
                let types = self.some_types();
                parts.operands.push(self.scalar(DataType::Bool));
                parts.regions.push(self.branch(&types)?);
                parts.regions.push(self.branch(&types)?);
            }
            "case" => {
                let types = self.some_types();
                parts.operands.push(self.scalar(DataType::I32));
                for _ in 0..1 + self.rng.below(3) {
                    parts.regions.push(self.branch(&types)?);
                }
            }
            "while" => {
                let types = self.some_types();
                parts.operands = types.iter().map(|ty| self.value(ty)).collect();
                parts.regions.push(self.region(&types, |g, _| vec![g.scalar(DataType::Bool)])?);
                parts.regions.push(self.region(&types, |g, args| g.next_values(&types, args))?);
            }
            "scan" => {
                let carried = self.some_types();
                let length = self.rng.below(4) as u64;
                let scanned: Vec<TensorType> =
                    (0..self.rng.below(3)).map(|_| self.known_type(0)).collect();
                let mut params = carried.clone();
                parts.operands = carried.iter().map(|ty| self.value(ty)).collect();
                for slice in &scanned {
                    let dims = std::iter::once(Dim::Known(length))
                        .chain(slice.dims.iter().copied())
                        .collect();
                    parts.operands.push(self.tensor(TensorType { dtype: slice.dtype, dims }));
                    params.push(slice.clone().into());
                }
                let stacked = self.known_type(0);
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
                    self.dims()
                } else {
                    self.known_dims(0).into_iter().map(Dim::Known).collect()
                };
                let dtypes: Vec<DataType> =
                    (0..1 + self.rng.below(2)).map(|_| self.dtype()).collect();
                for &dtype in &dtypes {
                    parts.operands.push(self.tensor(TensorType { dtype, dims: dims.clone() }));
                }
                for &dtype in &dtypes {
                    parts.operands.push(self.scalar(dtype));
                }
                let rank = dims.len();
                if name == "reduce" {
                    parts
                        .attrs
                        .push(ints((0..rank).filter(|_| self.rng.one_in(2)).collect::<Vec<_>>()));
                } else {
                    parts
                        .attrs
                        .push(ints((0..rank).map(|_| 1 + self.rng.below(2)).collect::<Vec<_>>()));
                    let strides = if self.rng.one_in(2) { Attr::Unit } else { ints(vec![2; rank]) };
                    let pads = if self.rng.one_in(2) {
                        Attr::Unit
                    } else {
                        Pairs(vec![[1, 0]; rank]).to_attr()
                    };
                    parts.attrs.extend([strides, pads, Attr::Unit, Attr::Unit]);
                }
                parts.regions.push(self.reducer(&dtypes)?);
            }
            "select_and_scatter" => {
                let dtype = self.real();
                let input = TensorType::new(dtype, [4u64, 6]);
                let source = TensorType::new(dtype, [2u64, 3]);
                parts.operands.extend([
                    self.tensor(input),
                    self.tensor(source),
                    self.scalar(dtype),
                ]);
                parts.attrs.extend([ints([2, 2]), ints([2, 2]), Attr::Unit]);
                let scalar = ValueType::from(TensorType::scalar(dtype));
                parts.regions.push(
                    self.region(&[scalar.clone(), scalar], |g, _| vec![g.scalar(DataType::Bool)])?,
                );
                parts.regions.push(self.reducer(&[dtype])?);
            }
            "sort" => {
                let ty = self.known_type(1);
                let mut params = Vec::new();
                for _ in 0..1 + self.rng.below(2) {
                    let input = ty.with_dtype(self.dtype());
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
                let dtype = self.dtype();
                let (n, m, k) = (
                    1 + self.rng.below(4) as u64,
                    1 + self.rng.below(4) as u64,
                    self.rng.below(3) as u64,
                );
                parts.operands.push(self.tensor(TensorType::new(dtype, [n, m])));
                parts.operands.push(self.tensor(TensorType::new(DataType::I32, [k, 1])));
                parts.operands.push(self.tensor(TensorType::new(dtype, [k, m])));
                parts.attrs.extend([
                    ints([1]),
                    ints([0]),
                    ints([]),
                    ints([]),
                    ints([0]),
                    Attr::Int(1),
                ]);
                parts.regions.push(self.reducer(&[dtype])?);
            }
            _ => return None,
        }
        Some(parts)
    }

    fn some_types(&mut self) -> SmallVec<[ValueType; 2]> {
        (0..self.rng.below(3)).map(|_| ValueType::from(self.tensor_type())).collect()
    }

    // A region without parameters that yields these types, with a few instructions of its own.
    fn branch(&mut self, types: &[ValueType]) -> Option<BodyId> {
        self.region(&[], |g, _| {
            for _ in 0..g.rng.below(3) {
                g.any_op();
            }
            types.iter().map(|ty| g.value(ty)).collect()
        })
    }

    fn next_values(&mut self, types: &[ValueType], args: &[ValueId]) -> Vec<ValueId> {
        for _ in 0..self.rng.below(3) {
            self.any_op();
        }
        types
            .iter()
            .zip(args)
            .map(|(ty, &arg)| if self.rng.one_in(3) { arg } else { self.value(ty) })
            .collect()
    }

    // Adds, multiplies, takes the larger and the like, or keeps one of each pair; scalars from outside may come in.
    fn reducer(&mut self, dtypes: &[DataType]) -> Option<BodyId> {
        let scalars: Vec<ValueType> =
            dtypes.iter().map(|&d| TensorType::scalar(d).into()).collect();
        let params: Vec<ValueType> = scalars.iter().chain(&scalars).cloned().collect();
        self.region(&params, |g, args| {
            let mut out = Vec::new();
            for (n, ty) in scalars.iter().enumerate() {
                let (x, y) = (args[n], args[n + scalars.len()]);
                let name = ["add", "max", "mul", "min", "and", "or", "xor", "sub"][g.rng.below(8)];
                let mut parts = OpParts::new(key(name));
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
