//! Random operands and attributes for the ops without regions.

use sapwood_types::DataType;

use super::generate::ProgramGenerator;
use crate::attr::{Attr, Ints, Pairs};
use crate::op::{OpKey, OpParts};
use crate::types::{Dim, TensorType, ValueType};
use crate::{AttrField, ValueId};

pub(super) fn ints_attr(list: impl IntoIterator<Item = usize>) -> Attr {
    Attr::Ints(list.into_iter().map(|n| n as i64).collect())
}

/// Returns the first attributes of a gather or scatter of rows of a matrix, selected by a vector of indices.
pub(super) fn row_index_attrs() -> [Attr; 6] {
    let none = || ints_attr([]);
    [ints_attr([1]), ints_attr([0]), none(), none(), ints_attr([0]), Attr::Int(1)]
}

const NONE: Attr = Attr::Unit;

impl ProgramGenerator<'_> {
    /// Builds an instruction of this op that probably fits. Returns `None` if none could be built.
    pub(super) fn random_parts(&mut self, name: &'static str) -> Option<OpParts> {
        let registry = self.f.registry().clone();
        let def = registry.by_name(name)?;
        let mut parts = OpParts::new(def.key);
        let (operands, attrs, declared_types): (Vec<ValueId>, Vec<Attr>, Vec<ValueType>) =
            match def.family {
                "unary" => self.unary_parts(name)?,
                "binary" => self.binary_parts(name)?,
                "compare" => self.comparison_parts(name)?,
                "shape" => self.shape_parts(name)?,
                "constant" | "cast" | "call" | "rng" | "dynamic" | "linalg" | "dot" => {
                    self.other_parts(name)?
                }
                "reduce" if name != "reduce" => self.reduction_parts(name)?,
                "sort" if name == "top_k" => {
                    let mut ty = self.random_known_type(1);
                    ty.dtype = self.real_dtype();
                    let last = ty.dims.last().and_then(|d| d.known()).unwrap_or(0) as usize;
                    let k = self.rng.below(last + 1);
                    let order = if self.rng.below(2) == 0 { "partial" } else { "total" };
                    (vec![self.tensor(ty)], vec![Attr::Int(k as i64), Attr::word(order)], vec![])
                }
                "gather" if name == "gather" => self.gather_parts(),
                "convolution" => self.convolution_parts(),
                "dims" => return self.parts_with_shape_operand(name),
                _ => return self.parts_with_regions(name),
            };
        parts.operands.extend(operands);
        parts.attrs.extend(attrs);
        parts.result_types = declared_types.into();
        Some(parts)
    }

    pub(super) fn real_dtype(&mut self) -> DataType {
        loop {
            let dtype = self.random_dtype();
            if !dtype.is_complex() {
                return dtype;
            }
        }
    }

    // Returns an element type that the op accepts, found by running its inference.
    fn accepted_type(&mut self, name: &str, operands: usize) -> Option<TensorType> {
        let registry = self.f.registry().clone();
        let def = registry.by_name(name)?;
        for _ in 0..40 {
            let ty = self.random_tensor_type();
            let value_type = ValueType::from(ty.clone());
            let attrs: Vec<Attr> =
                def.attrs.iter().map(|a| a.default.clone().unwrap_or(Attr::Int(5))).collect();
            let cx = crate::op::InferCx {
                def,
                attrs: &attrs,
                operands: (0..operands).map(|_| &value_type).collect(),
                regions: Default::default(),
                declared_types: Default::default(),
            };
            if def.infer(&cx).is_ok() {
                return Some(ty);
            }
        }
        None
    }

    fn unary_parts(
        &mut self,
        name: &'static str,
    ) -> Option<(Vec<ValueId>, Vec<Attr>, Vec<ValueType>)> {
        let ty = self.accepted_type(name, 1)?;
        let attrs = if name == "reduce_precision" {
            vec![Attr::Int(1 + self.rng.below(10) as i64), Attr::Int(self.rng.below(20) as i64)]
        } else {
            vec![]
        };
        Some((vec![self.tensor(ty)], attrs, vec![]))
    }

    fn binary_parts(
        &mut self,
        name: &'static str,
    ) -> Option<(Vec<ValueId>, Vec<Attr>, Vec<ValueType>)> {
        let ty = self.accepted_type(name, 2)?;
        Some((vec![self.tensor(ty.clone()), self.tensor(ty)], vec![], vec![]))
    }

    fn comparison_parts(
        &mut self,
        name: &'static str,
    ) -> Option<(Vec<ValueId>, Vec<Attr>, Vec<ValueType>)> {
        let mut ty = self.random_tensor_type();
        Some(match name {
            "compare" => {
                let words = if ty.dtype.is_complex() {
                    &["eq", "ne"][..]
                } else {
                    &["lt", "eq", "ge", "ne", "le", "gt"]
                };
                let order =
                    if ty.dtype.is_float() && self.rng.one_in(3) { "total" } else { "partial" };
                let attrs = vec![Attr::word(self.rng.pick(words)?), Attr::word(order)];
                (vec![self.tensor(ty.clone()), self.tensor(ty)], attrs, vec![])
            }
            "select" => {
                let pred = if self.rng.one_in(3) {
                    TensorType::scalar(DataType::Bool)
                } else {
                    ty.with_dtype(DataType::Bool)
                };
                (vec![self.tensor(pred), self.tensor(ty.clone()), self.tensor(ty)], vec![], vec![])
            }
            _ => {
                ty.dtype = [DataType::F32, DataType::I32, DataType::U8][self.rng.below(3)];
                let bound =
                    if self.rng.one_in(2) { TensorType::scalar(ty.dtype) } else { ty.clone() };
                (
                    vec![self.tensor(bound.clone()), self.tensor(ty), self.tensor(bound)],
                    vec![],
                    vec![],
                )
            }
        })
    }

    fn shape_parts(
        &mut self,
        name: &'static str,
    ) -> Option<(Vec<ValueId>, Vec<Attr>, Vec<ValueType>)> {
        let ty = self.random_known_type(1);
        let (rank, shape) = (ty.rank(), ty.known_shape()?);
        let input = self.tensor(ty.clone());
        Some(match name {
            "reshape" => {
                let total = ty.num_elements()?;
                let dims = match self.rng.below(3) {
                    0 => vec![total],
                    1 => vec![1, total, 1],
                    _ => vec![total, 1],
                };
                (vec![input], vec![NONE], vec![TensorType::new(ty.dtype, dims).into()])
            }
            "transpose" => {
                let mut perm: Vec<usize> = (0..rank).collect();
                for i in (1..rank).rev() {
                    perm.swap(i, self.rng.below(i + 1));
                }
                (vec![input], vec![ints_attr(perm)], vec![])
            }
            "broadcast_to" => {
                let mut dims: Vec<u64> = vec![2; self.rng.below(2)];
                dims.extend(shape.iter().map(|&n| if n == 1 { 3 } else { n }));
                (vec![input], vec![NONE], vec![TensorType::new(ty.dtype, dims).into()])
            }
            "broadcast_in_dim" => {
                let mut dims: Vec<u64> =
                    shape.iter().map(|&n| if n == 1 { 4 } else { n }).collect();
                let extra = self.rng.below(2);
                dims.splice(0..0, vec![5; extra]);
                let axes = ints_attr((0..rank).map(|a| a + extra));
                (vec![input], vec![axes, NONE], vec![TensorType::new(ty.dtype, dims).into()])
            }
            "slice" => {
                let starts: Vec<usize> =
                    shape.iter().map(|&n| self.rng.below(n as usize + 1)).collect();
                let limits: Vec<usize> = shape
                    .iter()
                    .zip(&starts)
                    .map(|(&n, &s)| s + self.rng.below(n as usize - s + 1))
                    .collect();
                let strides = if self.rng.one_in(2) {
                    NONE
                } else {
                    ints_attr((0..rank).map(|_| 1 + self.rng.below(3)))
                };
                (vec![input], vec![ints_attr(starts), ints_attr(limits), strides], vec![])
            }
            "concat" => {
                let count = self.rng.below(3);
                let axis = self.rng.below(rank);
                let mut inputs = vec![input];
                for _ in 0..count {
                    let mut other = ty.clone();
                    other.dims[axis] = Dim::Known(self.rng.below(3) as u64);
                    inputs.push(self.tensor(other));
                }
                (inputs, vec![Attr::Int(axis as i64)], vec![])
            }
            "pad" => {
                let mut signed = |least: i64| -> Attr {
                    Attr::Ints(
                        (0..rank).map(|_| self.rng.below(4) as i64 + least).collect::<Ints>(),
                    )
                };
                let (low, high) = (signed(0), signed(-1));
                let interior = if self.rng.one_in(2) {
                    NONE
                } else {
                    ints_attr((0..rank).map(|_| self.rng.below(2)))
                };
                (vec![input, self.scalar(ty.dtype)], vec![low, high, interior], vec![])
            }
            "reverse" => {
                let axes: Vec<usize> = (0..rank).filter(|_| self.rng.one_in(2)).collect();
                (vec![input], vec![ints_attr(axes)], vec![])
            }
            _ => (vec![input], vec![Attr::Int(self.rng.below(rank) as i64)], vec![]),
        })
    }

    fn other_parts(
        &mut self,
        name: &'static str,
    ) -> Option<(Vec<ValueId>, Vec<Attr>, Vec<ValueType>)> {
        let float = [DataType::F32, DataType::F64, DataType::C64][self.rng.below(3)];
        Some(match name {
            "constant" => {
                let ty = self.random_known_type(0);
                let literal = super::literals::random_literal(self.rng, &ty)?;
                (vec![], vec![Attr::Literal(literal)], vec![])
            }
            "iota" => {
                let mut ty = self.random_known_type(1);
                ty.dtype = [DataType::I32, DataType::F32, DataType::U64][self.rng.below(3)];
                (vec![], vec![Attr::Int(self.rng.below(ty.rank()) as i64), NONE], vec![ty.into()])
            }
            "cast" => {
                let ty = self.random_tensor_type();
                let to = ty.with_dtype(self.random_dtype());
                (vec![self.tensor(ty)], vec![NONE], vec![to.into()])
            }
            "bitcast" => {
                let ty = TensorType { dtype: DataType::I32, dims: self.random_dims() };
                let targets = [DataType::F32, DataType::U16, DataType::I8, DataType::Bool];
                let mut to = ty.with_dtype(targets[self.rng.below(4)]);
                if to.dtype.bit_width() < 32 {
                    to.dims.push(Dim::Known(32 / u64::from(to.dtype.bit_width())));
                }
                (vec![self.tensor(ty)], vec![NONE], vec![to.into()])
            }
            "call" => {
                let target = {
                    let functions = self.program.functions();
                    if functions.is_empty() {
                        None
                    } else {
                        Some(functions[self.rng.below(functions.len())].clone())
                    }
                }?;
                let close =
                    |ty: &ValueType| ty.map_dims(&mut |d| d.substitute(&mut |_| Dim::Known(3)));
                let args: Vec<ValueType> =
                    target.params().iter().map(|&p| close(target.value_type(p))).collect();
                let args = args.iter().map(|ty| self.value(ty)).collect();
                let results = target.result_types().into_iter().map(close).collect();
                let effects = self.program.functions_with_effects().contains(&target.name())
                    || self.rng.one_in(2);
                (args, vec![Attr::Func(target.name()), Attr::Bool(effects), NONE], results)
            }
            "custom_call" => {
                let values = self.visible_values();
                let args = (0..self.rng.below(3)).filter_map(|_| self.rng.pick(&values)).collect();
                let config = if self.rng.one_in(2) { NONE } else { Attr::Str("a=\"1\"".into()) };
                let attrs =
                    vec![Attr::Str("do it".into()), config, Attr::Bool(self.rng.one_in(2)), NONE];
                let mut declared_types: Vec<ValueType> =
                    (0..self.rng.below(3)).map(|_| self.random_tensor_type().into()).collect();
                if self.rng.one_in(3) {
                    declared_types.push(ValueType::Token);
                }
                (args, attrs, declared_types)
            }
            "tuple" | "optimization_barrier" => {
                let values = self.visible_values();
                let fits = |f: &crate::Function, v: ValueId| f.value_type(v).depth() < 4;
                let args = (0..self.rng.below(4))
                    .filter_map(|_| self.rng.pick(&values))
                    .filter(|&v| fits(&self.f, v));
                (args.collect(), vec![], vec![])
            }
            "get_tuple_element" => {
                let tuples: Vec<ValueId> = self
                    .visible_values()
                    .into_iter()
                    .filter(|&v| self.f.value_type(v).as_tuple().is_some_and(|t| !t.is_empty()))
                    .collect();
                let input = match self.rng.pick(&tuples) {
                    Some(input) => input,
                    None => {
                        let element = ValueType::from(self.random_tensor_type());
                        self.value(&ValueType::Tuple([element, ValueType::Token].into()))
                    }
                };
                let count = self.f.value_type(input).as_tuple().map_or(0, <[_]>::len);
                (vec![input], vec![Attr::Int(self.rng.below(count) as i64)], vec![])
            }
            "after_all" => {
                let tokens =
                    (0..self.rng.below(3)).map(|_| self.value(&ValueType::Token)).collect();
                (tokens, vec![], vec![])
            }
            "refine" => {
                let ty = self.random_tensor_type();
                let mut to = ty.clone();
                to.dims.iter_mut().for_each(|d| {
                    if *d == Dim::Unknown {
                        *d = Dim::Known(2);
                    }
                });
                (vec![self.tensor(ty)], vec![NONE], vec![to.into()])
            }
            "rng_bits" | "rng_uniform" | "rng_normal" => {
                let state = self.tensor(TensorType::new(DataType::U64, [2u64]));
                let dtype = if name == "rng_bits" { DataType::U32 } else { DataType::F32 };
                let shape = self.random_known_dims(0);
                (
                    vec![state],
                    vec![Attr::Type(dtype), ints_attr(shape.into_iter().map(|n| n as usize))],
                    vec![],
                )
            }
            "dynamic_slice" | "dynamic_update_slice" => {
                let ty = self.random_known_type(0);
                let shape = ty.known_shape()?;
                let sizes: Vec<u64> =
                    shape.iter().map(|&n| self.rng.below(n as usize + 1) as u64).collect();
                let mut operands = vec![self.tensor(ty.clone())];
                let mut attrs = vec![];
                if name == "dynamic_slice" {
                    attrs.push(ints_attr(sizes.iter().map(|&n| n as usize)));
                } else {
                    operands.push(self.tensor(TensorType::new(ty.dtype, sizes)));
                }
                operands.extend((0..ty.rank()).map(|_| self.scalar(DataType::I32)));
                (operands, attrs, vec![])
            }
            "triangular_solve" => {
                let (n, m) = (1 + self.rng.below(3) as u64, 1 + self.rng.below(3) as u64);
                let left = self.rng.one_in(2);
                let a = self.tensor(TensorType::new(float, [2, n, n]));
                let b =
                    self.tensor(TensorType::new(float, if left { [2, n, m] } else { [2, m, n] }));
                let word = ["none", "transpose", "adjoint"][self.rng.below(3)];
                let flags = [
                    Attr::Bool(left),
                    Attr::Bool(self.rng.one_in(2)),
                    Attr::Bool(self.rng.one_in(2)),
                    Attr::word(word),
                ];
                (vec![a, b], flags.to_vec(), vec![])
            }
            "cholesky" => (
                vec![self.tensor(TensorType::new(float, [2u64, 3, 3]))],
                vec![Attr::Bool(self.rng.one_in(2))],
                vec![],
            ),
            "fft" => {
                let kind = ["fft", "ifft", "rfft", "irfft"][self.rng.below(4)];
                let n = self.rng.below(7) as u64;
                let (dtype, last) = match kind {
                    "rfft" => (DataType::F32, n),
                    "irfft" => (DataType::C64, if n == 0 { 0 } else { n / 2 + 1 }),
                    _ => (DataType::C128, n),
                };
                let input = self.tensor(TensorType::new(dtype, [2, last]));
                (vec![input], vec![Attr::word(kind), ints_attr([n as usize])], vec![])
            }
            "dot_general" => {
                let dtype = self.random_dtype();
                let (b, m, k, n) =
                    (self.random_dim(), self.random_dim(), self.random_dim(), self.random_dim());
                let lhs = self.tensor(TensorType::new(dtype, [b, m, k]));
                let rhs = self.tensor(TensorType::new(dtype, [n, k, b]));
                let acc = if dtype == DataType::F16 { Attr::Type(DataType::F32) } else { NONE };
                (
                    vec![lhs, rhs],
                    vec![ints_attr([0]), ints_attr([2]), ints_attr([2]), ints_attr([1]), acc, NONE],
                    vec![],
                )
            }
            _ => return None,
        })
    }

    fn random_dim(&mut self) -> Dim {
        match self.rng.below(6) {
            0 => Dim::symbol(crate::Name::new("B")),
            1 => Dim::Unknown,
            n => Dim::Known(n as u64),
        }
    }

    fn reduction_parts(
        &mut self,
        name: &'static str,
    ) -> Option<(Vec<ValueId>, Vec<Attr>, Vec<ValueType>)> {
        let mut ty = self.random_tensor_type();
        ty.dtype = match name {
            "reduce_and" | "reduce_or" | "reduce_xor" => {
                [DataType::Bool, DataType::I32][self.rng.below(2)]
            }
            _ => self.real_dtype(),
        };
        let keep = Attr::Bool(self.rng.one_in(2));
        if name.starts_with("arg") {
            if ty.rank() == 0 {
                ty.dims.push(Dim::Known(3));
            }
            let axis = self.rng.below(ty.rank());
            let index = [DataType::I32, DataType::I64][self.rng.below(2)];
            return Some((
                vec![self.tensor(ty)],
                vec![Attr::Int(axis as i64), keep, Attr::Type(index)],
                vec![],
            ));
        }
        let axes: Vec<usize> = (0..ty.rank()).filter(|_| self.rng.one_in(2)).collect();
        let mut attrs = vec![ints_attr(axes), keep];
        if matches!(name, "reduce_sum" | "reduce_prod") {
            attrs.push(if ty.dtype == DataType::Bf16 { Attr::Type(DataType::F32) } else { NONE });
        }
        Some((vec![self.tensor(ty)], attrs, vec![]))
    }

    fn gather_parts(&mut self) -> (Vec<ValueId>, Vec<Attr>, Vec<ValueType>) {
        // Rows of a matrix, selected by a vector of indices.
        let (n, m, k) =
            (1 + self.rng.below(4) as u64, 1 + self.rng.below(4) as u64, self.rng.below(4) as u64);
        let dtype = self.random_dtype();
        let input = self.tensor(TensorType::new(dtype, [n, m]));
        let indices = self.tensor(TensorType::new(DataType::I64, [k, 1]));
        let mut attrs = Vec::from(row_index_attrs());
        attrs.push(ints_attr([1, m as usize]));
        (vec![input, indices], attrs, vec![])
    }

    fn convolution_parts(&mut self) -> (Vec<ValueId>, Vec<Attr>, Vec<ValueType>) {
        let mut size = || 1 + self.rng.below(5) as u64;
        let (n, c, h, w, o, kh, kw) = (size(), size(), size(), size(), size(), size(), size());
        let dtype = [DataType::F32, DataType::I8, DataType::C64][self.rng.below(3)];
        let input = self.tensor(TensorType::new(dtype, [n, h, w, c]));
        let kernel = self.tensor(TensorType::new(dtype, [kh, kw, c, o]));
        let pads = Pairs(vec![[1, 0], [self.rng.below(3) as i64, 2]]).to_attr();
        let some = |attr: Attr, yes: bool| if yes { attr } else { NONE };
        let (s, p, d) = (self.rng.one_in(2), self.rng.one_in(2), self.rng.one_in(2));
        let attrs = vec![
            ints_attr([0, 3, 1, 2]),
            ints_attr([2, 3, 0, 1]),
            ints_attr([0, 3, 1, 2]),
            some(ints_attr([2, 1]), s),
            some(pads, p),
            some(ints_attr([1, 2]), d),
            NONE,
            some(ints_attr([0, 1]), s),
            Attr::Int(1),
            Attr::Int(1),
            NONE,
        ];
        (vec![input, kernel], attrs, vec![])
    }
}

pub(super) fn op_key(name: &str) -> OpKey {
    OpKey::of(name)
}
