//! Core ops as nodes of ONNX, in the forms of the target's operator set.
//!
//! Broadcasts that ONNX does implicitly disappear, a product with a sum becomes one `Gemm`, and a convolution takes its bias back.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{
    Bitcast, BroadcastInDim, BroadcastTo, Cast, Clamp, Compare, Concat, Convolution, Direction,
    DotGeneral, Iota, Pad, Refine, Reshape, Reverse, Slice, Transpose,
};
use sapwood_ptir::{Attr, Dim, Dims, InstId, TensorLiteral, TensorType, ValueId};

use super::graph::GraphWriter;
use super::raise_products::{FusedProduct, ProductKind};
use super::{WriteError, WriteResult};
use crate::dialect::element_type;
use crate::reshape_form::{ReshapeForm, expand_numbers, reshape_form};
use crate::values::tensor_of;
use crate::{Attribute, AttributeValue, Node, Text, ops};

/// Core ops with one node of the same operands.
const SAME: &[(&str, &str)] = &[
    ("abs", "Abs"),
    ("neg", "Neg"),
    ("sign", "Sign"),
    ("floor", "Floor"),
    ("ceil", "Ceil"),
    ("round_even", "Round"),
    ("exp", "Exp"),
    ("log", "Log"),
    ("sqrt", "Sqrt"),
    ("sin", "Sin"),
    ("cos", "Cos"),
    ("tan", "Tan"),
    ("asin", "Asin"),
    ("acos", "Acos"),
    ("atan", "Atan"),
    ("sinh", "Sinh"),
    ("cosh", "Cosh"),
    ("tanh", "Tanh"),
    ("asinh", "Asinh"),
    ("acosh", "Acosh"),
    ("atanh", "Atanh"),
    ("logistic", "Sigmoid"),
    ("erf", "Erf"),
    ("add", "Add"),
    ("sub", "Sub"),
    ("mul", "Mul"),
    ("div", "Div"),
    ("pow", "Pow"),
    ("min", "Min"),
    ("max", "Max"),
    ("select", "Where"),
];

/// Ops that are named differently for bools and for integers.
const LOGIC: &[(&str, &str, &str)] = &[
    ("and", "And", "BitwiseAnd"),
    ("or", "Or", "BitwiseOr"),
    ("xor", "Xor", "BitwiseXor"),
    ("not", "Not", "BitwiseNot"),
];

const REDUCTIONS: &[(&str, &str)] = &[
    ("reduce_sum", "ReduceSum"),
    ("reduce_prod", "ReduceProd"),
    ("reduce_max", "ReduceMax"),
    ("reduce_min", "ReduceMin"),
];

/// Ops of core ops whose nodes broadcast their operands.
const BROADCASTING: &[&str] =
    &["add", "sub", "mul", "div", "pow", "min", "max", "select", "compare", "and", "or", "xor"];

fn find(table: &[(&'static str, &'static str)], op: &str) -> Option<&'static str> {
    table.iter().find(|(name, _)| *name == op).map(|(_, node)| *node)
}

pub(super) fn int(name: &str, n: i64) -> Attribute {
    Attribute::new(name, AttributeValue::Int(n))
}

pub(super) fn ints(name: &str, list: impl IntoIterator<Item = i64>) -> Attribute {
    Attribute::new(name, AttributeValue::Ints(list.into_iter().collect()))
}

impl GraphWriter<'_> {
    /// Writes an instruction of a core op as one node or several.
    pub(super) fn raise(&mut self, inst: InstId) -> WriteResult<Vec<Node>> {
        let f = self.f;
        let op = f.op_name(inst);
        let fail = |why: &str| WriteError::Op { op: op.to_owned(), why: why.to_owned() };
        let result = f.value_of(inst).ok_or_else(|| fail("ONNX has no such op"))?;
        if let Some(product) = f.operands(inst).iter().find_map(|&v| self.fused_product(inst, v)) {
            return self.with_bias(inst, &product);
        }
        if self.is_fused(result) || f.inst_results(inst).all(|v| f.unused(v)) {
            return Ok(Vec::new());
        }
        let out = self.names.name(result);
        if let Some(node) = find(SAME, op).or_else(|| self.logic_name(op, result)) {
            let (first, second) = (f.operands(inst).first(), f.value_type(result).as_tensor());
            let _ = first;
            if second.is_some_and(|ty| ty.dtype.is_bool())
                && !matches!(op, "select" | "and" | "or" | "xor" | "not")
            {
                return Err(fail("ONNX does not compute it on bools"));
            }
            let input = self.broadcast_operands(inst);
            return Ok(vec![self.node(node, input, out, Vec::new())]);
        }
        if let Some(node) = find(REDUCTIONS, op) {
            let axes = f.attr(inst, "axes").and_then(Attr::as_ints).unwrap_or_default().to_vec();
            if axes.is_empty() {
                // Without axes, a node would reduce all of them.
                self.aliases.insert(result, self.name_of(f.operands(inst)[0]));
                return Ok(Vec::new());
            }
            let keep = f.attr(inst, "keepdims") == Some(&Attr::Bool(true));
            return Ok(vec![self.reduction(node, f.operands(inst)[0], &axes, keep, out)]);
        }
        if let Some(compare) = f.view::<Compare>(inst) {
            return self.compare(inst, &compare, out);
        }
        if f.is::<Bitcast>(inst) && self.is_only_range_checked(result) {
            return Ok(Vec::new());
        }
        if let Some(op) = f.view::<Reshape>(inst) {
            return self.reshape(op.input, result, out);
        }
        if f.view::<BroadcastTo>(inst).is_some() || f.view::<BroadcastInDim>(inst).is_some() {
            return self.materialize_broadcast(inst, result, out);
        }
        if let Some(op) = f.view::<DotGeneral>(inst) {
            return self.dot_general(inst, &op, out);
        }
        if let Some(op) = f.view::<Convolution>(inst) {
            return self.convolution(inst, &op, out);
        }
        if let Some(op) = f.view::<Transpose>(inst) {
            let input = vec![self.name_of(op.input)];
            return Ok(vec![self.node(
                "Transpose",
                input,
                out,
                vec![ints("perm", op.perm.to_vec())],
            )]);
        }
        if let Some(op) = f.view::<Cast>(inst) {
            let dtype = f.value_type(result).as_tensor().map_or(DataType::F32, |ty| ty.dtype);
            let to = element_type(dtype).ok_or_else(|| fail("ONNX has no such element type"))?;
            let input = vec![self.name_of(op.input)];
            let mut attrs = vec![int("to", i64::from(to.code()))];
            // Numbers that do not fit stay infinite or NaN here; in ONNX they become the largest number by default.
            match dtype {
                DataType::F8E4M3Fn
                | DataType::F8E5M2
                | DataType::F8E4M3Fnuz
                | DataType::F8E5M2Fnuz => attrs.push(int("saturate", 0)),
                DataType::F8E8M0Fnu => {
                    return Err(fail("ONNX rounds to powers of two differently"));
                }
                _ => {}
            }
            return Ok(vec![self.node("Cast", input, out, attrs)]);
        }
        if let Some(op) = f.view::<Concat>(inst) {
            let input = op.inputs.iter().map(|&v| self.name_of(v)).collect();
            return Ok(vec![self.node("Concat", input, out, vec![int("axis", op.axis.0)])]);
        }
        if let Some(op) = f.view::<Slice>(inst) {
            let strides = op.strides.as_ref().map(|s| s.to_vec());
            return Ok(vec![self.slice(op.input, &op.starts, &op.limits, strides, out)]);
        }
        if let Some(op) = f.view::<Reverse>(inst) {
            return Ok(vec![self.reverse(op.input, &op.axes, out)]);
        }
        if let Some(op) = f.view::<Pad>(inst) {
            if op.interior.as_ref().is_some_and(|list| list.iter().any(|&n| n != 0)) {
                return Err(fail("ONNX has no padding between elements"));
            }
            return self.pad(&op, result, out);
        }
        if let Some(op) = f.view::<Refine>(inst) {
            let name = self.name_of(op.input);
            self.aliases.insert(result, name);
            return Ok(Vec::new());
        }
        if let Some(op) = f.view::<Clamp>(inst) {
            let middle = self.names.fresh_like("clamp");
            let (low, x, high) =
                (self.name_of(op.low), self.name_of(op.input), self.name_of(op.high));
            return Ok(vec![
                self.node("Max", vec![x, low], middle.clone(), Vec::new()),
                self.node("Min", vec![middle, high], out, Vec::new()),
            ]);
        }
        if let Some(op) = f.view::<Iota>(inst) {
            return self.iota(&op, result, out);
        }
        if matches!(op, "rsqrt" | "expm1" | "log1p") {
            return self.composed(inst, op, out);
        }
        Err(fail("ONNX has no such op"))
    }

    /// Returns the name of a value, or of the value that stands for it.
    pub(super) fn name_of(&self, value: ValueId) -> Text {
        self.aliases.get(&value).cloned().unwrap_or_else(|| self.names.name(value))
    }

    pub(super) fn opset(&self) -> i64 {
        self.opsets.get("").copied().unwrap_or(0)
    }

    pub(super) fn node(
        &self,
        op: &str,
        input: Vec<Text>,
        output: Text,
        attribute: Vec<Attribute>,
    ) -> Node {
        Node { op_type: Some(op.into()), input, output: vec![output], attribute, ..Node::default() }
    }

    pub(super) fn dims(&self, value: ValueId) -> Dims {
        self.f.value_type(value).as_tensor().map(|ty| ty.dims.clone()).unwrap_or_default()
    }

    pub(super) fn dtype(&self, value: ValueId) -> Option<DataType> {
        self.f.value_type(value).as_tensor().map(|ty| ty.dtype)
    }

    fn logic_name(&self, op: &str, result: ValueId) -> Option<&'static str> {
        let (_, bools, integers) = LOGIC.iter().find(|(name, ..)| *name == op)?;
        let is_bool = self.dtype(result)?.is_bool();
        (is_bool || self.opset() >= 18).then_some(if is_bool { *bools } else { *integers })
    }

    /// Adds an initializer and returns its name.
    pub(super) fn constant(&mut self, base: &str, literal: &TensorLiteral) -> Text {
        let key = (literal.clone(), self.depth());
        if let Some(name) = self.made.get(&key) {
            return name.clone();
        }
        let name = self.names.fresh_like(base);
        if let Some(tensor) = tensor_of(literal, name.clone()) {
            self.extra.push(tensor);
        }
        self.made.insert(key, name.clone());
        name
    }

    pub(super) fn int_constant(&mut self, base: &str, numbers: &[i64]) -> Text {
        match TensorLiteral::from_slice(&[numbers.len() as u64], numbers) {
            Ok(literal) => self.constant(base, &literal),
            Err(_) => Text::default(),
        }
    }

    /// Gives a node axes, or another list, as an attribute or as an input, as its version of the operator set has it.
    pub(super) fn list_argument(&mut self, op: &str, name: &str, list: &[i64], node: &mut Node) {
        let has = ops::schema("", op, self.opset()).is_some_and(|s| s.attribute(name).is_some());
        match has {
            true => node.attribute.push(ints(name, list.to_vec())),
            false => {
                let input = self.int_constant(name, list);
                node.input.push(input);
            }
        }
    }

    fn reduction(&mut self, op: &str, input: ValueId, axes: &[i64], keep: bool, out: Text) -> Node {
        let input = self.name_of(input);
        let mut node = self.node(op, vec![input], out, vec![int("keepdims", i64::from(keep))]);
        self.list_argument(op, "axes", axes, &mut node);
        node
    }

    // Returns the source of a broadcast whose axes are aligned at the end, as ONNX broadcasts.
    pub(super) fn implicit_source(&self, value: ValueId) -> Option<ValueId> {
        let inst = self.f.inst_of(value)?;
        if let Some(op) = self.f.view::<BroadcastTo>(inst) {
            return Some(op.input);
        }
        let op = self.f.view::<BroadcastInDim>(inst)?;
        let extra = self.dims(value).len() - self.dims(op.input).len();
        let aligned = op.dims.iter().enumerate().all(|(i, &to)| to == (i + extra) as i64);
        aligned.then_some(op.input)
    }

    // Returns the operands of an op whose node broadcasts: sources of broadcasts where the other operands give the extents.
    fn broadcast_operands(&mut self, inst: InstId) -> Vec<Text> {
        let f = self.f;
        let operands = f.operands(inst).to_vec();
        match self.stripped(inst) {
            Some(sources) => sources.into_iter().map(|source| self.source_name(source)).collect(),
            None => operands.into_iter().map(|v| self.name_of(v)).collect(),
        }
    }

    fn source_name(&mut self, source: OperandSource) -> Text {
        match source {
            OperandSource::Value(value) => self.name_of(value),
            OperandSource::Unsqueezed(value) => {
                self.unsqueezed.get(&value).cloned().unwrap_or_else(|| self.name_of(value))
            }
            OperandSource::Scalar(literal) => self.constant("number", &literal),
        }
    }

    // Returns the operands without implicit broadcasts, if the extents of the result still follow.
    fn stripped(&self, inst: InstId) -> Option<Vec<OperandSource>> {
        let f = self.f;
        if !BROADCASTING.contains(&f.op_name(inst)) {
            return None;
        }
        let result = self.dims(f.value_of(inst)?);
        let operands = f.operands(inst);
        let mut sources = Vec::new();
        let mut joined = Dims::from_elem(Dim::Known(1), result.len());
        let mut join = |dims: &[Dim]| {
            let extra = result.len().saturating_sub(dims.len());
            for (axis, &dim) in dims.iter().enumerate() {
                if let Some(slot) = joined.get_mut(axis + extra)
                    && *slot == Dim::Known(1)
                {
                    *slot = dim;
                }
            }
        };
        let mut changed = false;
        for &operand in operands {
            let source = match (self.implicit_source(operand), f.constant_of(operand)) {
                (Some(source), _) => {
                    changed = true;
                    join(&self.dims(source));
                    OperandSource::Value(source)
                }
                // Other broadcasts need axes of extent one in the right places.
                _ if f.def::<BroadcastInDim>(operand).is_some() => {
                    changed = true;
                    join(&self.unsqueezed_dims(operand));
                    OperandSource::Unsqueezed(operand)
                }
                // A constant that repeats one number is written as that number.
                (None, Some(literal))
                    if literal.num_elements() > 1 && literal.as_splat().is_some() =>
                {
                    let one = literal
                        .as_splat()
                        .and_then(|one| TensorLiteral::splat(literal.dtype(), &[], one).ok())?;
                    changed = true;
                    OperandSource::Scalar(one)
                }
                _ => {
                    join(&self.dims(operand));
                    OperandSource::Value(operand)
                }
            };
            sources.push(source);
        }
        (changed && joined == result).then_some(sources)
    }

    // Returns whether all users of a value do without it, because they broadcast themselves or contain its op.
    fn is_unneeded(&self, value: ValueId) -> bool {
        let users = self.f.users_of(value);
        !users.is_empty()
            && users.iter().all(|&user| {
                let is_stripped = self.stripped(user).is_some_and(|sources| {
                    sources.iter().all(|s| !matches!(s, OperandSource::Value(v) if *v == value))
                });
                is_stripped || self.is_bias_of(user, value)
            })
    }

    // Returns whether a product with a bias takes the source of a broadcast in its place.
    fn is_bias_of(&self, sum: InstId, value: ValueId) -> bool {
        let mut products = self.f.operands(sum).iter().filter_map(|&v| self.fused_product(sum, v));
        products.any(|product| product.bias != value)
    }

    fn materialize_broadcast(
        &mut self,
        inst: InstId,
        result: ValueId,
        out: Text,
    ) -> WriteResult<Vec<Node>> {
        let f = self.f;
        let is_unneeded = self.is_unneeded(result);
        let is_bias = |user: InstId| self.is_bias_of(user, result);
        if is_unneeded
            && (self.implicit_source(result).is_some()
                || f.users_of(result).into_iter().all(is_bias))
        {
            return Ok(Vec::new());
        }
        let source = f.operands(inst)[0];
        let dims = self.dims(result);
        let mut nodes = Vec::new();
        let mut input = self.name_of(source);
        let mut from = self.dims(source);
        if self.implicit_source(result).is_none() {
            from = self.unsqueezed_dims(result);
            // The axes are moved to their places first.
            let places = f.attr(inst, "dims").and_then(Attr::as_ints).unwrap_or_default().to_vec();
            let missing: Vec<i64> =
                (0..dims.len() as i64).filter(|a| !places.contains(a)).collect();
            let mut order: Vec<usize> = (0..places.len()).collect();
            order.sort_by_key(|&axis| places[axis]);
            let wide: Option<Vec<u64>> =
                self.unsqueezed_dims(result).iter().map(|d| d.known()).collect();
            let literal = wide
                .and_then(|wide| f.constant_of(source)?.transposed(&order)?.reshaped(&wide).ok());
            if literal.is_none() && !order.is_sorted() {
                let perm: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
                let moved = self.names.fresh_like("transposed");
                let attrs = vec![ints("perm", perm)];
                nodes.push(self.node("Transpose", vec![input], moved.clone(), attrs));
                input = moved;
            }
            input = match literal {
                Some(literal) => self.constant("axes", &literal),
                None if missing.is_empty() => input,
                None => {
                    let moved = self.names.fresh_like("axes");
                    let mut node = self.node("Unsqueeze", vec![input], moved.clone(), Vec::new());
                    self.list_argument("Unsqueeze", "axes", &missing, &mut node);
                    nodes.push(node);
                    moved
                }
            };
            self.unsqueezed.insert(result, input.clone());
            if is_unneeded {
                return Ok(nodes);
            }
        }
        let (mut more, shape) = match expand_numbers(&from, &dims) {
            Some(numbers) => (Vec::new(), self.int_constant("shape", &numbers)),
            None => self.shape_value(&dims)?,
        };
        nodes.append(&mut more);
        nodes.push(self.node("Expand", vec![input, shape], out, Vec::new()));
        Ok(nodes)
    }

    // Returns the dims of the operand of a broadcast, with ones where the result has more axes.
    fn unsqueezed_dims(&self, value: ValueId) -> Dims {
        let mut dims = Dims::from_elem(Dim::Known(1), self.dims(value).len());
        if let Some(op) = self.f.def::<BroadcastInDim>(value) {
            for (&place, &dim) in op.dims.iter().zip(&self.dims(op.input)) {
                if let Some(slot) =
                    usize::try_from(place).ok().and_then(|place| dims.get_mut(place))
                {
                    *slot = dim;
                }
            }
        }
        dims
    }

    // Returns a value with these extents: a constant, or nodes that read symbols from the graph's inputs.
    fn shape_value(&mut self, dims: &[Dim]) -> WriteResult<(Vec<Node>, Text)> {
        let known: Option<Vec<i64>> =
            dims.iter().map(|d| d.known().and_then(|n| i64::try_from(n).ok())).collect();
        if let Some(numbers) = known {
            return Ok((Vec::new(), self.int_constant("shape", &numbers)));
        }
        let mut nodes = Vec::new();
        let mut parts = Vec::new();
        for &dim in dims {
            if let Some(n) = dim.known() {
                parts.push(self.int_constant("extent", &[n as i64]));
                continue;
            }
            let Some((value, axis)) = self.extents.get(&dim).cloned() else {
                let why = format!("no value before it has the extent {dim}");
                return Err(WriteError::Op { op: "broadcast_in_dim".into(), why });
            };
            let (shape, extent) =
                (self.names.fresh_like("input_shape"), self.names.fresh_like("input_extent"));
            nodes.push(self.node("Shape", vec![value], shape.clone(), Vec::new()));
            let index = self.int_constant("axis", &[axis as i64]);
            nodes.push(self.node("Gather", vec![shape, index], extent.clone(), Vec::new()));
            parts.push(extent);
        }
        let all = self.names.fresh_like("shape");
        nodes.push(self.node("Concat", parts, all.clone(), vec![int("axis", 0)]));
        Ok((nodes, all))
    }

    fn reshape(&mut self, input: ValueId, result: ValueId, out: Text) -> WriteResult<Vec<Node>> {
        if self.is_unneeded_reshape(result) {
            return Ok(Vec::new());
        }
        let (from, to) = (self.dims(input), self.dims(result));
        let name = self.name_of(input);
        let listed = |writer: &mut Self, op: &str, axes: &[i64], input: Text, out: Text| {
            let mut node = writer.node(op, vec![input], out, Vec::new());
            writer.list_argument(op, "axes", axes, &mut node);
            node
        };
        Ok(match reshape_form(&from, &to) {
            Some(ReshapeForm::Numbers(numbers)) => {
                let shape = self.int_constant("shape", &numbers);
                vec![self.node("Reshape", vec![name, shape], out, Vec::new())]
            }
            Some(ReshapeForm::Squeeze(axes)) => vec![listed(self, "Squeeze", &axes, name, out)],
            Some(ReshapeForm::Unsqueeze(axes)) => vec![listed(self, "Unsqueeze", &axes, name, out)],
            Some(ReshapeForm::Transpose(perm)) => {
                vec![self.node("Transpose", vec![name], out, vec![ints("perm", perm)])]
            }
            Some(ReshapeForm::SqueezeUnsqueeze(first, second)) => {
                let middle = self.names.fresh_like("squeezed");
                vec![
                    listed(self, "Squeeze", &first, name, middle.clone()),
                    listed(self, "Unsqueeze", &second, middle, out),
                ]
            }
            None => return self.reshape_to_value(name, &to, out),
        })
    }

    fn reshape_to_value(&mut self, name: Text, to: &[Dim], out: Text) -> WriteResult<Vec<Node>> {
        let (mut nodes, shape) = self.shape_value(to)?;
        let attrs = match to.contains(&Dim::Known(0)) && self.opset() >= 14 {
            true => vec![int("allowzero", 1)],
            false => Vec::new(),
        };
        nodes.push(self.node("Reshape", vec![name, shape], out, attrs));
        Ok(nodes)
    }

    // A reshape of a bias that becomes an input of a convolution is not written.
    fn is_unneeded_reshape(&self, result: ValueId) -> bool {
        let users = self.f.users_of(result);
        !users.is_empty()
            && users.iter().all(|&user| {
                let broadcast = self.f.value_of(user);
                let fused = |inst: InstId| {
                    self.f.operands(inst).iter().any(|&v| {
                        matches!(
                            self.fused_product(inst, v),
                            Some(FusedProduct { kind: ProductKind::Conv, .. })
                        )
                    })
                };
                fused(user)
                    || broadcast.is_some_and(|b| {
                        (self.f.is::<BroadcastInDim>(user) || self.f.is::<BroadcastTo>(user))
                            && self.is_unneeded(b)
                            && self.f.users_of(b).iter().all(|&add| fused(add))
                    })
            })
    }

    fn compare(&mut self, inst: InstId, op: &Compare, out: Text) -> WriteResult<Vec<Node>> {
        if let Some(range) = self.range_check(op)
            && let Some(nodes) = self.write_range_check(&range, op.direction, out.clone())
        {
            return Ok(nodes);
        }
        let input = self.broadcast_operands(inst);
        let name = match op.direction {
            Direction::Eq => "Equal",
            Direction::Lt => "Less",
            Direction::Gt => "Greater",
            Direction::Le => "LessOrEqual",
            Direction::Ge => "GreaterOrEqual",
            Direction::Ne => {
                let equal = self.names.fresh_like("equal");
                return Ok(vec![
                    self.node("Equal", input, equal.clone(), Vec::new()),
                    self.node("Not", vec![equal], out, Vec::new()),
                ]);
            }
        };
        if ops::schema("", name, self.opset()).is_none() {
            let why = format!("opset {} has no {name}", self.opset());
            return Err(WriteError::Op { op: "compare".into(), why });
        }
        Ok(vec![self.node(name, input, out, Vec::new())])
    }

    fn slice(
        &mut self,
        input: ValueId,
        starts: &[i64],
        limits: &[i64],
        strides: Option<Vec<i64>>,
        out: Text,
    ) -> Node {
        let dims = self.dims(input);
        let strides = strides.unwrap_or_else(|| vec![1; starts.len()]);
        let is_whole = |a: usize| {
            starts[a] == 0 && strides[a] == 1 && dims[a] == Dim::Known(limits[a].max(0) as u64)
        };
        let axes: Vec<usize> = (0..starts.len()).filter(|&a| !is_whole(a)).collect();
        let pick = |list: &[i64]| axes.iter().map(|&a| list[a]).collect::<Vec<_>>();
        let (first, last, steps) = (pick(starts), pick(limits), pick(&strides));
        let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        self.slice_node(input, [&first, &last, &axes, &steps], out)
    }

    fn slice_node(
        &mut self,
        input: ValueId,
        [starts, ends, axes, steps]: [&[i64]; 4],
        out: Text,
    ) -> Node {
        let mut node = self.node("Slice", vec![self.name_of(input)], out, Vec::new());
        self.list_argument("Slice", "starts", starts, &mut node);
        self.list_argument("Slice", "ends", ends, &mut node);
        self.list_argument("Slice", "axes", axes, &mut node);
        if steps.iter().any(|&n| n != 1) {
            let steps = self.int_constant("steps", steps);
            node.input.push(steps);
        }
        node
    }

    fn reverse(&mut self, input: ValueId, axes: &[i64], out: Text) -> Node {
        let n = axes.len();
        let (last, first) = (vec![-1; n], vec![i64::MIN + 1; n]);
        self.slice_node(input, [&last, &first, axes, &last], out)
    }

    fn iota(&mut self, op: &Iota, result: ValueId, out: Text) -> WriteResult<Vec<Node>> {
        let fail = |why: &str| WriteError::Op { op: "iota".into(), why: why.into() };
        let Some(ty) = self.f.value_type(result).as_tensor().cloned() else {
            return Err(fail("it is not a tensor"));
        };
        let TensorType { dtype, .. } = ty;
        let shape = ty.known_shape().ok_or_else(|| fail("an extent is not known"))?;
        let code = element_type(dtype).ok_or_else(|| fail("ONNX has no such element type"))?;
        let count: u64 = shape.iter().product();
        let axis = op.axis.0.max(0) as usize;
        let below: u64 = shape.iter().skip(axis + 1).product();
        let extent = shape.get(axis).copied().unwrap_or(1).max(1);
        if count > 1 << 24 {
            return Err(fail("it has too many elements for a constant"));
        }
        let numbers: Vec<i64> = (0..count).map(|i| (i / below.max(1) % extent) as i64).collect();
        let literal =
            TensorLiteral::from_slice(&shape, &numbers).map_err(|e| fail(&e.to_string()))?;
        let input = self.constant("index", &literal);
        if dtype == DataType::I64 {
            self.aliases.insert(result, input);
            return Ok(Vec::new());
        }
        Ok(vec![self.node("Cast", vec![input], out, vec![int("to", i64::from(code.code()))])])
    }

    fn composed(&mut self, inst: InstId, op: &str, out: Text) -> WriteResult<Vec<Node>> {
        let x = self.f.operands(inst)[0];
        let input = self.name_of(x);
        let middle = self.names.fresh_like(op);
        let dtype = self.dtype(x).unwrap_or(DataType::F32);
        let one = TensorLiteral::filled(dtype, &[], 1.0);
        let one = one.map_err(|e| WriteError::Op { op: op.into(), why: e.to_string() })?;
        Ok(match op {
            "rsqrt" => vec![
                self.node("Sqrt", vec![input], middle.clone(), Vec::new()),
                self.node("Reciprocal", vec![middle], out, Vec::new()),
            ],
            "expm1" => {
                let one = self.constant("number", &one);
                vec![
                    self.node("Exp", vec![input], middle.clone(), Vec::new()),
                    self.node("Sub", vec![middle, one], out, Vec::new()),
                ]
            }
            _ => {
                let one = self.constant("number", &one);
                vec![
                    self.node("Add", vec![input, one], middle.clone(), Vec::new()),
                    self.node("Log", vec![middle], out, Vec::new()),
                ]
            }
        })
    }
}

/// An operand of a node that broadcasts.
enum OperandSource {
    Value(ValueId),
    /// The operand of a broadcast with axes of extent one added.
    Unsqueezed(ValueId),
    Scalar(TensorLiteral),
}
