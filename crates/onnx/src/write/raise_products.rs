//! Products of matrices and convolutions as nodes, with the sums after them.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::{Add, BroadcastInDim, Convolution, DotGeneral, Reshape};
use sapwood_ptir::{Axes, Dim, InstId, ValueId};

use super::graph::GraphWriter;
use super::raise::{int, ints};
use super::{WriteError, WriteResult};
use crate::{Attribute, AttributeValue, Node, Text};

/// A product that the sum after it takes in.
pub(super) struct FusedProduct {
    pub(super) kind: ProductKind,
    inst: InstId,
    pub(super) bias: ValueId,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProductKind {
    Gemm,
    Conv,
}

impl GraphWriter<'_> {
    pub(super) fn dot_general(
        &mut self,
        inst: InstId,
        op: &DotGeneral,
        out: Text,
    ) -> WriteResult<Vec<Node>> {
        let (a, b) = (self.dims(op.lhs).len(), self.dims(op.rhs).len());
        let input = vec![self.name_of(op.lhs), self.name_of(op.rhs)];
        let fail = |why: String| WriteError::Op { op: "dot_general".into(), why };
        if self.dtype(op.lhs) != self.f.value_of(inst).and_then(|v| self.dtype(v)) {
            return Err(fail("the result has another element type than the operands".into()));
        }
        let batch = op.lhs_batch.len();
        let leading = |axes: &[i64]| axes.iter().enumerate().all(|(i, &a)| a == i as i64);
        let plain = leading(&op.lhs_batch)
            && leading(&op.rhs_batch)
            && op.lhs_contract.len() == 1
            && op.rhs_contract.len() == 1;
        let is_matmul = plain
            && op.lhs_contract[0] == a as i64 - 1
            && match batch {
                0 => (b <= 2 && op.rhs_contract[0] == 0) && a >= 1,
                n => a == n + 2 && b == n + 2 && op.rhs_contract[0] == n as i64,
            };
        if is_matmul {
            return Ok(vec![self.node("MatMul", input, out, Vec::new())]);
        }
        if plain
            && batch == 0
            && a == 2
            && b == 2
            && self.dtype(op.lhs).is_some_and(DataType::is_float)
        {
            return Ok(vec![self.node("Gemm", input, out, gemm_attributes(op))]);
        }
        if self.opset() < 12 {
            let opset = self.opset();
            let nodes = self.transposed_product(op, input, out);
            return nodes.ok_or_else(|| fail(format!("opset {opset} has no Einsum")));
        }
        // Labels: batch axes, contracted axes, free axes.
        let mut next = b'a';
        let mut label = || {
            next += 1;
            char::from(next - 1)
        };
        let (mut left, mut right) = (vec![' '; a], vec![' '; b]);
        let mut result = String::new();
        for (&l, &r) in op.lhs_batch.iter().zip(op.rhs_batch.iter()) {
            let c = label();
            (left[l as usize], right[r as usize]) = (c, c);
            result.push(c);
        }
        for (&l, &r) in op.lhs_contract.iter().zip(op.rhs_contract.iter()) {
            let c = label();
            (left[l as usize], right[r as usize]) = (c, c);
        }
        for slot in left.iter_mut().chain(&mut right).filter(|c| **c == ' ') {
            *slot = label();
            result.push(*slot);
        }
        let text = |list: Vec<char>| list.into_iter().collect::<String>();
        let equation = format!("{},{}->{result}", text(left), text(right));
        let equation =
            Attribute::new("equation", AttributeValue::String(equation.as_bytes().into()));
        Ok(vec![self.node("Einsum", input, out, vec![equation])])
    }

    // Writes a product as `MatMul` after transposes, if each operand has one contracted axis and few others.
    fn transposed_product(
        &mut self,
        op: &DotGeneral,
        input: Vec<Text>,
        out: Text,
    ) -> Option<Vec<Node>> {
        let (a, b) = (self.dims(op.lhs).len() as i64, self.dims(op.rhs).len() as i64);
        let free = |rank: i64, batch: &[i64], contract: &[i64]| -> Vec<i64> {
            (0..rank).filter(|axis| !batch.contains(axis) && !contract.contains(axis)).collect()
        };
        let left = free(a, &op.lhs_batch, &op.lhs_contract);
        let right = free(b, &op.rhs_batch, &op.rhs_contract);
        // Without batch axes, all free axes of the left operand are rows.
        let has_rows = left.len() == 1 || op.lhs_batch.is_empty() && !left.is_empty();
        if op.lhs_contract.len() != 1 || !has_rows || right.len() != 1 {
            return None;
        }
        let perms: [Vec<i64>; 2] = [
            op.lhs_batch.iter().chain(&left).chain(op.lhs_contract.iter()).copied().collect(),
            op.rhs_batch.iter().chain(op.rhs_contract.iter()).chain(&right).copied().collect(),
        ];
        let mut nodes = Vec::new();
        let mut operands = Vec::new();
        for (name, perm) in input.into_iter().zip(perms) {
            if perm.iter().enumerate().all(|(i, &axis)| axis == i as i64) {
                operands.push(name);
                continue;
            }
            let moved = self.names.fresh_like("transposed");
            nodes.push(self.node("Transpose", vec![name], moved.clone(), vec![ints("perm", perm)]));
            operands.push(moved);
        }
        nodes.push(self.node("MatMul", operands, out, Vec::new()));
        Some(nodes)
    }

    pub(super) fn conv_attributes(
        &self,
        inst: InstId,
        op: &Convolution,
    ) -> WriteResult<Vec<Attribute>> {
        let rank = self.dims(op.input).len();
        let fail = |why: &str| WriteError::Op { op: self.f.op_name(inst).into(), why: why.into() };
        let plain: Vec<i64> = (0..rank as i64).collect();
        let kernel: Vec<i64> = [1, 0].into_iter().chain(2..rank as i64).collect();
        if op.input_dims[..] != plain[..]
            || op.output_dims[..] != plain[..]
            || op.kernel_dims[..] != kernel[..]
        {
            return Err(fail("its axes are not in the order of ONNX"));
        }
        self.window_attributes(inst, op)
    }

    // Returns the attributes of a convolution after its axes are in the order of ONNX.
    fn window_attributes(&self, inst: InstId, op: &Convolution) -> WriteResult<Vec<Attribute>> {
        let fail = |why: &str| WriteError::Op { op: self.f.op_name(inst).into(), why: why.into() };
        let ones = |list: &Option<Axes>| list.as_ref().is_none_or(|l| l.iter().all(|&n| n == 1));
        let zeros = op.reversal.as_ref().is_none_or(|l| l.iter().all(|&n| n == 0));
        if !ones(&op.input_dilation) || !zeros || op.batch_groups.0 != 1 {
            return Err(fail("ONNX has no such convolution"));
        }
        let kernel = self.dims(op.kernel);
        let extent = |&axis: &i64| {
            let dim = usize::try_from(axis).ok().and_then(|axis| kernel.get(axis))?;
            dim.known().map(|n| n as i64)
        };
        let extents = op.kernel_dims.iter().skip(2).map(extent).collect::<Option<Vec<_>>>();
        let n = self.dims(op.input).len().saturating_sub(2);
        let list = |l: &Option<Axes>| l.as_ref().map_or_else(|| vec![1; n], |l| l.to_vec());
        let pads = op.pads.as_ref().map_or_else(|| vec![[0, 0]; n], |p| p.to_vec());
        if pads.iter().flatten().any(|&p| p < 0) {
            return Err(fail("ONNX has no negative padding of convolutions"));
        }
        let mut attrs =
            vec![ints("dilations", list(&op.kernel_dilation)), int("group", op.feature_groups.0)];
        attrs.extend(extents.map(|e| ints("kernel_shape", e)));
        attrs.push(ints("pads", pads.iter().map(|p| p[0]).chain(pads.iter().map(|p| p[1]))));
        attrs.push(ints("strides", list(&op.strides)));
        Ok(attrs)
    }

    /// Writes a convolution, with transposes around it if its axes are in another order than ONNX has.
    pub(super) fn convolution(
        &mut self,
        inst: InstId,
        op: &Convolution,
        out: Text,
    ) -> WriteResult<Vec<Node>> {
        let attrs = self.window_attributes(inst, op)?;
        let mut nodes = Vec::new();
        let order: Vec<i64> = op.input_dims.to_vec();
        let input = self.moved(op.input, &order, &mut nodes);
        let order: Vec<i64> = match &op.kernel_dims[..] {
            [features, outputs, window @ ..] => {
                [*outputs, *features].into_iter().chain(window.iter().copied()).collect()
            }
            _ => op.kernel_dims.to_vec(),
        };
        let kernel = self.moved(op.kernel, &order, &mut nodes);
        // Axis `output_dims[i]` of the result is axis `i` of the node.
        let mut back: Vec<(i64, i64)> = op.output_dims.iter().copied().zip(0..).collect();
        back.sort_unstable();
        let back: Vec<i64> = back.into_iter().map(|(_, axis)| axis).collect();
        if back.is_sorted() {
            nodes.push(self.node("Conv", vec![input, kernel], out, attrs));
            return Ok(nodes);
        }
        let middle = self.names.fresh_like("conv");
        nodes.push(self.node("Conv", vec![input, kernel], middle.clone(), attrs));
        nodes.push(self.node("Transpose", vec![middle], out, vec![ints("perm", back)]));
        Ok(nodes)
    }

    // Returns the name of a value with its axes in another order; a constant is moved here.
    fn moved(&mut self, value: ValueId, perm: &[i64], nodes: &mut Vec<Node>) -> Text {
        let name = self.name_of(value);
        if perm.is_sorted() {
            return name;
        }
        let order: Option<Vec<usize>> = perm.iter().map(|&p| usize::try_from(p).ok()).collect();
        if let (Some(literal), Some(order)) = (self.f.constant_of(value), order)
            && let Some(literal) = literal.transposed(&order)
        {
            return self.constant("weights", &literal);
        }
        let moved = self.names.fresh_like("transposed");
        let attrs = vec![ints("perm", perm.to_vec())];
        nodes.push(self.node("Transpose", vec![name], moved.clone(), attrs));
        moved
    }

    // Returns the product that a sum takes in, if `value` is one that nothing else uses.
    pub(super) fn fused_product(&self, add: InstId, value: ValueId) -> Option<FusedProduct> {
        let f = self.f;
        let sum = f.view::<Add>(add)?;
        let other = if sum.lhs == value { sum.rhs } else { sum.lhs };
        if other == value || !f.one_use(value) || !self.dtype(value)?.is_float() {
            return None;
        }
        // Of two products, the first takes the sum.
        if sum.rhs == value && self.fused_product(add, sum.lhs).is_some() {
            return None;
        }
        let inst = f.inst_of(value)?;
        if f.body_of(inst) != f.body_of(add) {
            return None;
        }
        if let Some(op) = f.view::<DotGeneral>(inst) {
            let is_gemm = self.dims(op.lhs).len() == 2
                && self.dims(op.rhs).len() == 2
                && op.lhs_batch.is_empty()
                && op.lhs_contract.len() == 1
                && self.dtype(op.lhs) == self.dtype(value);
            let c = self.implicit_source(other).unwrap_or(other);
            return is_gemm.then_some(FusedProduct { kind: ProductKind::Gemm, inst, bias: c });
        }
        let op = f.view::<Convolution>(inst)?;
        self.conv_attributes(inst, &op).ok()?;
        let channels = self.dims(value).get(1)?.known()?;
        let bias = self.channel_vector(other, channels, self.dims(value).len())?;
        Some(FusedProduct { kind: ProductKind::Conv, inst, bias })
    }

    // Returns the vector that a value repeats along all axes but the channels: a value of rank 1, or a constant.
    fn channel_vector(&self, value: ValueId, channels: u64, rank: usize) -> Option<ValueId> {
        let f = self.f;
        let is_vector = |v: ValueId| self.dims(v)[..] == [Dim::Known(channels)];
        if let Some(op) = f.def::<BroadcastInDim>(value)
            && is_vector(op.input)
            && op.dims[..] == [1]
        {
            return Some(op.input);
        }
        let source = self.implicit_source(value)?;
        let mut column: Vec<Dim> = vec![Dim::Known(1); rank - 1];
        column[0] = Dim::Known(channels);
        let dims = self.dims(source);
        let fits = dims[..] == column[..]
            || dims.len() == rank && dims[0] == Dim::Known(1) && dims[1..] == column[..];
        if !fits {
            return None;
        }
        if f.constant_of(source).is_some() {
            return Some(source);
        }
        let reshape = f.view::<Reshape>(f.inst_of(source)?)?;
        is_vector(reshape.input).then_some(reshape.input)
    }

    pub(super) fn is_fused(&self, value: ValueId) -> bool {
        let users = self.f.users_of(value);
        matches!(&users[..], [user] if self.fused_product(*user, value).is_some())
    }

    pub(super) fn with_bias(
        &mut self,
        inst: InstId,
        product: &FusedProduct,
    ) -> WriteResult<Vec<Node>> {
        let f = self.f;
        let out = f.value_of(inst).map(|v| self.names.name(v)).unwrap_or_default();
        if let (ProductKind::Gemm, Some(op)) = (product.kind, f.view::<DotGeneral>(product.inst)) {
            // Of a broadcast along other axes than the first ones, only the axes of extent one are written.
            let bias = self.unsqueezed.get(&product.bias).cloned();
            let bias = bias.unwrap_or_else(|| self.name_of(product.bias));
            let input = vec![self.name_of(op.lhs), self.name_of(op.rhs), bias];
            return Ok(vec![self.node("Gemm", input, out, gemm_attributes(&op))]);
        }
        let Some(op) = f.view::<Convolution>(product.inst) else { return Ok(Vec::new()) };
        let attrs = self.conv_attributes(product.inst, &op)?;
        let bias = match f.constant_of(product.bias) {
            Some(literal) if literal.shape().len() != 1 => {
                let count = literal.num_elements();
                match literal.reshaped(&[count]) {
                    Ok(literal) => self.constant("bias", &literal),
                    Err(_) => self.name_of(product.bias),
                }
            }
            _ => self.name_of(product.bias),
        };
        let input = vec![self.name_of(op.input), self.name_of(op.kernel), bias];
        Ok(vec![self.node("Conv", input, out, attrs)])
    }
}

fn gemm_attributes(op: &DotGeneral) -> Vec<Attribute> {
    let mut attrs = Vec::new();
    if op.lhs_contract[..] == [0] {
        attrs.push(int("transA", 1));
    }
    if op.rhs_contract[..] == [1] {
        attrs.push(int("transB", 1));
    }
    attrs
}
