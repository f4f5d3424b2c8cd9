//! Definitions of the blocks in plain Rust. A match is compared with them.

mod array;

use std::collections::BTreeMap;

pub(crate) use array::Array;
use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::ops::Return;
use sapwood_ptir::{Attr, Function, InsertPoint, InstId, Op, OpParts, Program, ValueId};
use sapwood_rules::{Match, PatternGraph};
use sapwood_types::Span;

/// A match as a function with its inputs, and the place where it was found.
pub(crate) struct Block<'a> {
    pub(crate) f: &'a Function,
    pub(crate) before: &'a Function,
    pub(crate) m: &'a Match,
    pub(crate) pattern: &'a PatternGraph,
    pub(crate) inputs: BTreeMap<String, Tensor>,
}

impl Block<'_> {
    // Returns the outputs by the definition of the block. Every pattern without a right side has a definition here.
    pub(crate) fn expected(&self) -> Vec<Array> {
        let each = |f: fn(f64) -> f64| vec![self.input("x").map(f)];
        match self.pattern.name().as_str() {
            "softmax" => vec![self.input("x").along(&self.axes("a"), softmax)],
            "log_softmax" => vec![self.input("x").along(&self.axes("a"), log_softmax)],
            "cross_entropy" => vec![self.cross_entropy()],
            "layer_norm" => {
                let normal = self.input("x").along(&self.axes("a"), |row| self.normalized(row));
                vec![self.affine(&normal)]
            }
            "rms_norm" => {
                let normal = self.input("x").along(&self.axes("a"), |row| {
                    let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
                    row.iter().map(|x| x / (mean + self.constant("eps")).sqrt()).collect()
                });
                vec![self.affine(&normal)]
            }
            "group_norm" | "group_norm_of_channels" => {
                let x = self.input("x");
                let groups = self.shape_of_first("reshape");
                let normal = Array::new(groups, x.data.clone())
                    .along(&self.axes("a"), |row| self.normalized(row));
                vec![self.affine(&Array::new(x.shape, normal.data))]
            }
            "gelu_tanh" => each(gelu),
            // The two forms differ by less than 5e-4, and the tolerance is larger.
            "gelu_erf" | "gelu_erfc" => each(gelu),
            "gelu_sigmoid" => each(|x| x * sigmoid(1.702 * x)),
            "silu" => each(|x| x * sigmoid(x)),
            "hard_swish" => each(|x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
            "hard_sigmoid" => each(|x| (x + 3.0).clamp(0.0, 6.0) / 6.0),
            "lstm_cell" => {
                let [i, f, g, o, c] = ["i", "f", "g", "o", "c"].map(|name| self.input(name).data);
                let state: Vec<f64> = (0..c.len())
                    .map(|n| sigmoid(f[n]) * c[n] + sigmoid(i[n]) * g[n].tanh())
                    .collect();
                let out = (0..c.len()).map(|n| sigmoid(o[n]) * state[n].tanh()).collect();
                let shape = self.input("c").shape;
                vec![Array::new(shape.clone(), out), Array::new(shape, state)]
            }
            "gru_cell" => {
                let [x, y, r, z, h] = ["x", "y", "r", "z", "h"].map(|name| self.input(name).data);
                let new = |n: usize| (x[n] + sigmoid(r[n]) * y[n]).tanh();
                let blend = |n: usize| (1.0 - sigmoid(z[n])) * new(n) + sigmoid(z[n]) * h[n];
                vec![Array::new(self.input("h").shape, (0..h.len()).map(blend).collect())]
            }
            "gru_cell_reset_first" => {
                let (gates, h) = (self.input("g").map(sigmoid), self.input("h"));
                let gate = |starts: &str| gates.slice(&self.axes(starts), &h.shape);
                let kept = gate("rs").zip(&h, mul);
                let product = self.dot(self.insts("dot_general")[0], &kept, &self.input("w"));
                let sum = self.input("u").zip(&product, |x, y| x + y);
                let new = sum.zip_last(&self.spread("b"), |x, b| (x + b).tanh());
                let z = gate("zs");
                let out = (0..h.data.len())
                    .map(|n| z.data[n] * new.data[n] + (1.0 - z.data[n]) * h.data[n]);
                vec![Array::new(h.shape.clone(), out.collect())]
            }
            "dense" => vec![self.dense(&self.input("x"), "w", "b")],
            "dense_activation" => {
                let y = self.dense(&self.input("x"), "w", "b");
                vec![match self.last_op() {
                    "max" => y.map(|y| y.max(0.0)),
                    "tanh" => y.map(f64::tanh),
                    "logistic" => y.map(sigmoid),
                    "mul" => y.map(|y| y * sigmoid(y)),
                    other => panic!("{other}"),
                }]
            }
            "conv_bn" => {
                let axis = self.ints(self.insts("convolution")[0], "output_dims")[1];
                vec![self.batch_norm(&self.convolution(), axis)]
            }
            "batch_norm" => {
                let x = self.input("x");
                vec![self.batch_norm(&x, self.feature_axis(&x))]
            }
            "attention" => {
                vec![self.attention(&self.input("q"), &self.input("k"), &self.input("v"))]
            }
            "transformer_block" => vec![self.transformer_block()],
            "embedding" => vec![self.embedding()],
            "position_embedding" => {
                let tokens = self.embedding();
                vec![tokens.zip(&self.spread("positions"), |token, position| token + position)]
            }
            "rope" => vec![self.rope()],
            other => panic!("the test has no definition of `{other}`"),
        }
    }

    fn input(&self, name: &str) -> Array {
        Array::of(self.inputs.get(name).unwrap_or_else(|| panic!("no input {name}")))
    }

    // Returns the number that a name of the pattern is bound to.
    fn constant(&self, name: &str) -> f64 {
        self.bound_constant(name).unwrap_or_else(|| panic!("{name} is not a constant"))
    }

    fn bound_constant(&self, name: &str) -> Option<f64> {
        let (_, mut value) = self.m.bindings(self.pattern).find(|(own, _)| *own == name)?;
        let f = self.before;
        while f.constant_of(value).is_none() {
            value = f.operands(f.inst_of(value)?)[0];
        }
        Some(Array::of(&Tensor::from_literal(f.constant_of(value)?).ok()?).data[0])
    }

    // Returns the axes, none of them negative, that a name of the pattern is bound to.
    fn axes(&self, name: &str) -> Vec<usize> {
        let mut attributes = self.m.attributes(self.pattern);
        match attributes.find(|(own, _)| *own == name).unwrap().1 {
            Attr::Ints(axes) => axes.iter().map(|&axis| axis as usize).collect(),
            Attr::Int(axis) => vec![*axis as usize],
            other => panic!("{other:?}"),
        }
    }

    fn param(&self, name: &str) -> ValueId {
        let own = |v: &ValueId| self.f.hint(*v).is_some_and(|hint| hint == name);
        self.f.params().iter().copied().find(own).unwrap_or_else(|| panic!("no parameter {name}"))
    }

    fn insts(&self, op: &str) -> Vec<InstId> {
        self.f.walk().filter(|&inst| self.f.op_name(inst) == op).collect()
    }

    fn shape(&self, value: ValueId) -> Vec<usize> {
        let ty = self.f.value_type(value).as_tensor().unwrap();
        ty.known_shape().unwrap().iter().map(|&n| n as usize).collect()
    }

    fn shape_of_first(&self, op: &str) -> Vec<usize> {
        self.shape(self.f.value_of(self.insts(op)[0]).unwrap())
    }

    // Returns the name of the op that computes the result.
    fn last_op(&self) -> &str {
        let end = *self.insts("return").last().unwrap();
        self.f.op_name(self.f.inst_of(self.f.operands(end)[0]).unwrap())
    }

    fn ints(&self, inst: InstId, name: &str) -> Vec<usize> {
        match self.f.attr(inst, name) {
            Some(Attr::Ints(axes)) => axes.iter().map(|&axis| axis as usize).collect(),
            _ => Vec::new(),
        }
    }

    // Returns an input as the ops spread it that only move or repeat its elements, or convert them.
    fn spread(&self, name: &str) -> Array {
        let (mut at, mut array) = (self.param(name), self.input(name));
        loop {
            let user = self.f.uses(at).map(|u| u.user).find(|&inst| {
                let moves = ["reshape", "broadcast_to", "broadcast_in_dim", "cast", "slice"];
                moves.contains(&self.f.op_name(inst))
            });
            let Some(user) = user else { return array };
            at = self.f.value_of(user).unwrap();
            let shape = self.shape(at);
            array = match self.f.op_name(user) {
                "broadcast_to" => {
                    let first = shape.len() - array.shape.len();
                    array.broadcast(&shape, &(first..shape.len()).collect::<Vec<_>>())
                }
                "broadcast_in_dim" => array.broadcast(&shape, &self.ints(user, "dims")),
                "slice" => array.slice(&self.ints(user, "starts"), &shape),
                _ => Array::new(shape, array.data),
            };
        }
    }

    // Normalizes with given statistics of each feature, which is along this axis.
    fn batch_norm(&self, x: &Array, axis: usize) -> Array {
        let of = |name: &str| self.input(name).data;
        let deviation: Vec<f64> = match self.inputs.contains_key("root") {
            true => of("root"),
            false => {
                let eps = self.constant("eps");
                of("variance").iter().map(|variance| (variance + eps).sqrt()).collect()
            }
        };
        let (mean, scale, shift) = (of("mean"), of("scale"), of("shift"));
        let bias = match self.inputs.contains_key("bias") {
            true => of("bias"),
            false => vec![0.0; mean.len()],
        };
        // The elements of a feature that are next to each other.
        let inner: usize = x.shape[axis + 1..].iter().product();
        let out = x.data.iter().enumerate().map(|(n, x)| {
            let at = n / inner % mean.len();
            (x + bias[at] - mean[at]) / deviation[at] * scale[at] + shift[at]
        });
        Array::new(x.shape.clone(), out.collect())
    }

    // Returns the axis along which a broadcast to the shape of a value does not repeat elements; without a broadcast, that of the features.
    fn feature_axis(&self, x: &Array) -> usize {
        let features = self.input("shift").data.len();
        let spread = ["broadcast_to", "broadcast_in_dim"].map(|op| self.insts(op)).concat();
        for inst in spread {
            let [from, to] = [self.f.operands(inst)[0], self.f.value_of(inst).unwrap()];
            let (from, to) = (self.shape(from), self.shape(to));
            if to != x.shape || from.iter().product::<usize>() != features {
                continue;
            }
            let own = from.iter().position(|&extent| extent == features).unwrap();
            let axes = match self.f.op_name(inst) {
                "broadcast_to" => (to.len() - from.len()..to.len()).collect(),
                _ => self.ints(inst, "dims"),
            };
            return axes[own];
        }
        x.shape.iter().position(|&extent| extent == features).unwrap()
    }

    // Multiplies by the scale and adds the shift.
    fn affine(&self, x: &Array) -> Array {
        let scaled = match self.inputs.contains_key("scale") {
            true => x.zip_last(&self.spread("scale"), |x, scale| x * scale),
            false => x.clone(),
        };
        match self.inputs.contains_key("shift") {
            true => scaled.zip_last(&self.spread("shift"), |x, shift| x + shift),
            false => scaled,
        }
    }

    // Subtracts the mean, and divides by the standard deviation.
    fn normalized(&self, row: &[f64]) -> Vec<f64> {
        let n = row.len() as f64;
        let mean = row.iter().sum::<f64>() / n;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        row.iter().map(|x| (x - mean) / (variance + self.constant("eps")).sqrt()).collect()
    }

    // Returns x w + b, with the axes of the product that has these weights.
    fn dense(&self, x: &Array, weights: &str, bias: &str) -> Array {
        let w = self.param(weights);
        let reaches = |&inst: &InstId| self.f.operands(inst).iter().any(|&v| self.source(v) == w);
        let product = self.insts("dot_general").into_iter().find(reaches).unwrap();
        let (mut lhs, mut rhs) = (x.clone(), self.input(weights));
        // The weights may be the first operand.
        if self.source(self.f.operands(product)[0]) == w
            && self.source(self.f.operands(product)[1]) != w
        {
            (lhs, rhs) = (rhs, lhs);
        }
        self.dot(product, &lhs, &rhs).zip_last(&self.spread(bias), |x, b| x + b)
    }

    // Returns the value that casts compute a value from.
    fn source(&self, mut value: ValueId) -> ValueId {
        while let Some(inst) = self.f.inst_of(value)
            && self.f.op_name(inst) == "cast"
        {
            value = self.f.operands(inst)[0];
        }
        value
    }

    fn dot(&self, inst: InstId, lhs: &Array, rhs: &Array) -> Array {
        let axes = |name: &str| self.ints(inst, name);
        let pairs = |a: &str, b: &str| axes(a).into_iter().zip(axes(b)).collect::<Vec<_>>();
        lhs.dot(rhs, &pairs("lhs_batch", "rhs_batch"), &pairs("lhs_contract", "rhs_contract"))
    }

    // Runs the convolution of the block alone. Its definition is that of the op.
    fn convolution(&self) -> Array {
        let inst = self.insts("convolution")[0];
        let mut alone = Function::new("alone", self.f.registry().clone());
        let mut parts = self.f.parts_of(inst);
        let types: Vec<_> =
            self.f.operands(inst).iter().map(|&v| self.f.value_type(v).clone()).collect();
        parts.operands = types.iter().map(|ty| alone.push_param(alone.body(), ty)).collect();
        let made = alone.insert(InsertPoint::End(alone.body()), &parts, Span::unknown()).unwrap();
        let result = alone.value_of(made).unwrap();
        let mut end = OpParts::new(Return::key());
        end.operands.push(result);
        let ty = alone.value_type(result).clone();
        alone.insert(InsertPoint::End(alone.body()), &end, Span::unknown()).unwrap();
        alone.set_result_types(&[ty]);
        let mut program = Program::new(self.f.registry().clone());
        program.add(alone).unwrap();
        let arguments = ["x", "w"].map(|name| Value::Tensor(self.inputs[name].clone()));
        let got = eval::run(&program, "alone", &arguments, &RunOptions::default()).unwrap();
        Array::of(got[0].as_tensor().unwrap())
    }

    // Scaled dot-product attention. Only the places of axes are read from the block: those of both products, and of ops that move axes between them.
    fn attention(&self, q: &Array, k: &Array, v: &Array) -> Array {
        // The other products are those of dense layers.
        let is_weight = |&v: &ValueId| {
            let name = self.f.hint(self.source(v));
            self.f.inst_of(self.source(v)).is_none() && name.is_some_and(|n| n.starts_with('w'))
        };
        let products = self.insts("dot_general").into_iter();
        let products: Vec<InstId> =
            products.filter(|&inst| !self.f.operands(inst).iter().any(is_weight)).collect();
        let &[first, second] = &products[..] else { panic!("{} products", products.len()) };
        let mut scores = self.dot(first, q, k);
        let by = |name: &str| self.bound_constant(name).unwrap_or(1.0);
        scores = scores.map(|x| x * by("c") / by("d"));
        for (name, op) in [("scale", mul as fn(f64, f64) -> f64), ("divisor", div)] {
            if self.inputs.contains_key(name) {
                scores = scores.zip(&self.input(name), op);
            }
        }
        // The difference of the softmax leads back to the scores.
        let exp = self.operand_of(self.insts("exp")[0], 0);
        let shifted = self.operand_of(self.f.inst_of(exp).unwrap(), 0);
        let (masked, moved) = self.rearranged(shifted);
        let placed = match self.f.inst_of(masked).map(|inst| (inst, self.f.op_name(inst))) {
            Some((inst, "select")) => self.operand_of(inst, 1),
            Some((inst, "add")) => {
                let operands = [0, 1].map(|n| self.operand_of(inst, n));
                operands.into_iter().find(|&v| self.f.inst_of(v).is_some()).unwrap()
            }
            _ => masked,
        };
        if let (_, Some(inst)) = self.rearranged(placed) {
            scores = self.rearrange(scores, inst);
        }
        if self.inputs.contains_key("bias") {
            scores = scores.zip(&self.input("bias"), |x, bias| x + bias);
        }
        if self.inputs.contains_key("mask") {
            let low = |x: f64, kept: f64| if kept > 0.0 { x } else { f64::MIN };
            scores = scores.zip(&self.spread("mask"), low);
        }
        if let Some(inst) = moved {
            scores = self.rearrange(scores, inst);
        }
        // The second product sums over the axis of the softmax.
        let probabilities_first = {
            let inst = self.f.inst_of(self.operand_of(second, 0));
            inst.is_some_and(|inst| ["div", "select"].contains(&self.f.op_name(inst)))
        };
        let axes =
            self.ints(second, if probabilities_first { "lhs_contract" } else { "rhs_contract" });
        let p = scores.along(&axes, softmax);
        if probabilities_first { self.dot(second, &p, v) } else { self.dot(second, v, &p) }
    }

    // Returns an operand, or the value that casts compute it from.
    fn operand_of(&self, inst: InstId, n: usize) -> ValueId {
        self.source(self.f.operands(inst)[n])
    }

    // Returns the value that a reshape or transpose computes a value from, and that instruction; else the value itself.
    fn rearranged(&self, value: ValueId) -> (ValueId, Option<InstId>) {
        let moves = |&inst: &InstId| ["reshape", "transpose"].contains(&self.f.op_name(inst));
        match self.f.inst_of(value).filter(moves) {
            Some(inst) => (self.operand_of(inst, 0), Some(inst)),
            None => (value, None),
        }
    }

    fn rearrange(&self, array: Array, inst: InstId) -> Array {
        match self.f.op_name(inst) {
            "transpose" => array.transpose(&self.ints(inst, "perm")),
            _ => Array::new(self.shape(self.f.value_of(inst).unwrap()), array.data),
        }
    }

    // y = x + attention(norm(x)), and y + mlp(norm(y)).
    fn transformer_block(&self) -> Array {
        let norm = |x: &Array, scale: &str, shift: &str| {
            x.along(&self.axes("a"), |row| self.normalized(row))
                .zip_last(&self.spread(scale), |x, scale| x * scale)
                .zip_last(&self.spread(shift), |x, shift| x + shift)
        };
        let x = self.input("x");
        let n = norm(&x, "scale1", "shift1");
        let [q, k, v] =
            [("wq", "bq"), ("wk", "bk"), ("wv", "bv")].map(|(w, b)| self.dense(&n, w, b));
        let attention = self.attention(&q, &k, &v);
        let y = x.zip(&self.dense(&attention, "wo", "bo"), |x, y| x + y);
        let h = self.dense(&norm(&y, "scale2", "shift2"), "w1", "b1").map(gelu);
        y.zip(&self.dense(&h, "w2", "b2"), |x, y| x + y)
    }

    // Rows of a table. Numbers below zero count from its end; a row that does not exist is NaN, or the nearest one.
    fn embedding(&self) -> Array {
        let (table, ids) = (self.input("table"), self.input("ids"));
        let (rows, width) = (table.shape[0] as f64, table.shape[1]);
        let wraps = !self.insts("add").is_empty() && !self.insts("compare").is_empty();
        let fills = self.last_op() == "select";
        let row = |&id: &f64| {
            let id = if wraps && id < 0.0 { id + rows } else { id };
            if fills && !(0.0..rows).contains(&id) {
                return vec![f64::NAN; width];
            }
            let start = id.clamp(0.0, rows - 1.0) as usize * width;
            table.data[start..start + width].to_vec()
        };
        let out = self.f.result_types()[0].as_tensor().unwrap().known_shape().unwrap();
        let shape = out.iter().map(|&n| n as usize).collect();
        Array::new(shape, ids.data.iter().flat_map(row).collect())
    }

    // Rotates each pair of elements, one from either half of the last axis, by an angle.
    fn rope(&self) -> Array {
        let (x, cos, sin) = (self.input("x"), self.spread("cos"), self.spread("sin"));
        let width = x.shape[x.shape.len() - 1];
        let half = width / 2;
        let angles = cos.shape[cos.shape.len() - 1];
        let rotated = (0..x.data.len()).map(|n| {
            let (row, at) = (n / width, n % width);
            let of = |angle: &Array| angle.data[row * angles + at % angles];
            let pair = x.data[row * width + (at + half) % width];
            let sign = if at < half { -1.0 } else { 1.0 };
            x.data[n] * of(&cos) + sign * pair * of(&sin)
        });
        Array::new(x.shape.clone(), rotated.collect())
    }

    // The negated logarithm of the probability of each target; the targets are numbers of classes, or weights of them.
    fn cross_entropy(&self) -> Array {
        let x = self.input("x");
        let axes = self.axes("a");
        let logs = x.along(&axes, log_softmax);
        if self.inputs.contains_key("target") {
            return logs.zip(&self.input("target"), |x, t| x * t).sum(&axes).map(|x| -x);
        }
        // Numbers of classes below zero are counted from the end before they come here.
        let labels = self.input("labels").data;
        let classes = x.shape[axes[0]];
        let valid = self.inputs.get("valid").map(|t| Array::of(t).data);
        let one = |(n, &label): (usize, &f64)| match &valid {
            Some(valid) if valid[n] == 0.0 => -self.constant("fill"),
            _ => -logs.data[n * classes + label as usize],
        };
        let out = self.f.result_types()[0].as_tensor().unwrap().known_shape().unwrap();
        let shape = out.iter().map(|&n| n as usize).collect();
        Array::new(shape, labels.iter().enumerate().map(one).collect())
    }
}

fn mul(a: f64, b: f64) -> f64 {
    a * b
}

fn div(a: f64, b: f64) -> f64 {
    a / b
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
    row.iter().map(|x| (x - max).exp() / sum).collect()
}

fn log_softmax(row: &[f64]) -> Vec<f64> {
    let max = row.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
    row.iter().map(|x| x - max - sum.ln()).collect()
}

fn gelu(x: f64) -> f64 {
    let c = (2.0 / std::f64::consts::PI).sqrt();
    x / 2.0 * (1.0 + (c * (x + 0.044715 * x * x * x)).tanh())
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
