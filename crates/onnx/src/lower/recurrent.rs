//! Recurrent networks, unrolled over a known number of steps.

use sapwood_ptir::eval::DataType;
use sapwood_ptir::ops::Direction;
use sapwood_ptir::{Dim, TensorType};

use super::builder::V;
use super::context::Cx;

/// The inputs of one direction of a recurrent network.
struct Layer<'b> {
    // [input features, gates * hidden], [hidden, gates * hidden]
    w: V<'b>,
    r: V<'b>,
    // Biases of the inputs and of the hidden state, each [gates * hidden].
    wb: V<'b>,
    rb: V<'b>,
    hidden: i64,
    activations: Vec<String>,
    alphas: Vec<f64>,
    betas: Vec<f64>,
    clip: Option<f64>,
}

impl<'b> Layer<'b> {
    // Returns the gate at this position of a row of gates.
    fn gate(&self, gates: V<'b>, index: i64) -> V<'b> {
        gates.slice_axis(1, index * self.hidden, (index + 1) * self.hidden)
    }

    fn activate(&self, index: usize, x: V<'b>) -> V<'b> {
        let x = match self.clip {
            Some(limit) => x.min(x.number(limit)).max(x.number(-limit)),
            None => x,
        };
        let name = self.activations.get(index).map_or("tanh", String::as_str);
        let param = |list: &[f64], default: f64| list.get(index).copied().unwrap_or(default);
        let zero = x.number(0.0);
        match name {
            "sigmoid" => x.unary("logistic"),
            "tanh" => x.unary("tanh"),
            "relu" => x.max(zero),
            "affine" => x * param(&self.alphas, 1.0) + param(&self.betas, 0.0),
            "leakyrelu" => x.compare(zero, Direction::Lt).select(x * param(&self.alphas, 0.01), x),
            "thresholdedrelu" => {
                x.compare(x.number(param(&self.alphas, 1.0)), Direction::Gt).select(x, zero)
            }
            "scaledtanh" => (x * param(&self.betas, 1.0)).unary("tanh") * param(&self.alphas, 1.0),
            "hardsigmoid" => (x * param(&self.alphas, 0.2) + param(&self.betas, 0.5))
                .min(x.number(1.0))
                .max(zero),
            "elu" => x
                .compare(zero, Direction::Lt)
                .select((x.unary("exp") - 1.0) * param(&self.alphas, 1.0), x),
            "softsign" => x / (x.unary("abs") + 1.0),
            "softplus" => super::elementwise::softplus(x),
            other => x.b.fail(format!("unknown activation `{other}`")),
        }
    }
}

type Step<'b> = dyn Fn(&Layer<'b>, V<'b>, &[V<'b>]) -> Vec<V<'b>> + 'b;

// Runs both directions and returns all hidden states and the last states.
fn run<'b>(
    cx: &Cx<'b>,
    gates: i64,
    defaults: &[&str],
    states: usize,
    step: &Step<'b>,
) -> Vec<V<'b>> {
    let mut x = cx.x(0);
    let by_batch = cx.flag("layout", false);
    if x.rank() != 3 || cx.x(2).rank() != 3 {
        return vec![cx.fail("the input or the weights do not have rank 3")];
    }
    if by_batch {
        x = x.transpose(&[1, 0, 2]);
    }
    if cx.b.is_inference {
        return inferred(cx, x, by_batch, states);
    }
    let (length, batch) = (x.extent(0), x.extent(1));
    let hidden = cx.x(2).extent(2);
    if length > 4096 {
        return vec![cx.fail("the sequence is too long")];
    }
    let direction = cx.text("direction", "forward");
    let directions: i64 = if direction == "bidirectional" { 2 } else { 1 };
    let activations: Vec<String> = match cx.texts("activations") {
        Some(list) => list.into_iter().map(str::to_lowercase).collect(),
        None => (0..directions).flat_map(|_| defaults.iter().map(|s| (*s).to_owned())).collect(),
    };
    let per = defaults.len();
    let lists = (
        cx.floats("activation_alpha").unwrap_or_default(),
        cx.floats("activation_beta").unwrap_or_default(),
    );
    let lengths = cx.opt(4).map(|v| v.cast(DataType::I64));
    let mut outputs = Vec::new();
    let mut finals: Vec<Vec<V<'b>>> = vec![Vec::new(); states];
    for d in 0..directions {
        let bias = match cx.opt(3) {
            Some(bias) => bias.at(0, d),
            None => cx.b.filled(x.dtype(), &[(2 * gates * hidden) as u64], 0.0),
        };
        let layer = Layer {
            w: cx.x(1).at(0, d).transpose(&[1, 0]),
            r: cx.x(2).at(0, d).transpose(&[1, 0]),
            wb: bias.slice_axis(0, 0, gates * hidden),
            rb: bias.slice_axis(0, gates * hidden, 2 * gates * hidden),
            hidden,
            activations: activations.iter().skip(d as usize * per).take(per).cloned().collect(),
            alphas: lists.0.iter().skip(d as usize * per).copied().collect(),
            betas: lists.1.iter().skip(d as usize * per).copied().collect(),
            clip: cx.attr("clip").map(|_| cx.float("clip", 0.0)),
        };
        let mut state: Vec<V<'b>> = (0..states)
            .map(|k| match cx.opt(5 + k) {
                Some(start) if by_batch => start.transpose(&[1, 0, 2]).at(0, d),
                Some(start) => start.at(0, d),
                None => cx.b.filled(x.dtype(), &[batch as u64, hidden as u64], 0.0),
            })
            .collect();
        let backward = direction == "reverse" || d == 1;
        let mut hidden_states = vec![None; length as usize];
        for i in 0..length {
            let t = if backward { length - 1 - i } else { i };
            let next = step(&layer, x.at(0, t), &state);
            if cx.b.has_failed() || next.len() != states {
                return vec![cx.fail("a step failed")];
            }
            // A sequence that has ended keeps its state, and its output is zero.
            let active = lengths.map(|lengths| {
                lengths.compare(lengths.number(t as f64), Direction::Gt).unsqueeze(&[1])
            });
            let output = match active {
                Some(active) => active.select(next[0], next[0].number(0.0)),
                None => next[0],
            };
            state = match active {
                Some(active) => {
                    next.iter().zip(&state).map(|(&n, &o)| active.select(n, o)).collect()
                }
                None => next,
            };
            hidden_states[t as usize] = Some(output);
        }
        let steps: Vec<V<'b>> =
            hidden_states.into_iter().flatten().map(|h| h.unsqueeze(&[0, 1])).collect();
        outputs.push(match steps.is_empty() {
            true => cx.b.filled(x.dtype(), &[0, 1, batch as u64, hidden as u64], 0.0),
            false => cx.b.concat(&steps, 0),
        });
        for (list, &last) in finals.iter_mut().zip(&state) {
            list.push(last.unsqueeze(&[0]));
        }
    }
    let mut results = vec![cx.b.concat(&outputs, 1)];
    results.extend(finals.iter().map(|list| cx.b.concat(list, 0)));
    if by_batch {
        results[0] = results[0].transpose(&[2, 0, 1, 3]);
        for state in &mut results[1..] {
            *state = state.transpose(&[1, 0, 2]);
        }
    }
    results
}

// Returns values of the types of the results: the length and the batch need not be known.
fn inferred<'b>(cx: &Cx<'b>, x: V<'b>, by_batch: bool, states: usize) -> Vec<V<'b>> {
    let (weights, dims, dtype) = (cx.x(2), x.dims(), x.dtype());
    let (length, batch) = (dims[0], dims[1]);
    let (directions, hidden) = (weights.dim(0), weights.dim(2));
    let value = |dims: &[Dim]| {
        x.number(0.0).pretend(TensorType { dtype, dims: dims.iter().copied().collect() })
    };
    let (all, last) = match by_batch {
        true => (value(&[batch, length, directions, hidden]), value(&[batch, directions, hidden])),
        false => (value(&[length, directions, batch, hidden]), value(&[directions, batch, hidden])),
    };
    std::iter::once(all).chain((0..states).map(|_| last)).collect()
}

fn product<'b>(x: V<'b>, w: V<'b>) -> V<'b> {
    x.dot(w, (&[], &[]), (&[1], &[0]))
}

pub(super) fn rnn<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    run(cx, 1, &["tanh"], 1, &|layer, x, state| {
        let sum = product(x, layer.w) + product(state[0], layer.r) + layer.wb + layer.rb;
        vec![layer.activate(0, sum)]
    })
}

pub(super) fn gru<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let linear_first = cx.flag("linear_before_reset", false);
    run(cx, 3, &["sigmoid", "tanh"], 1, &move |layer, x, state| {
        let h = state[0];
        let input = product(x, layer.w) + layer.wb;
        let size = layer.hidden;
        let gates_r = layer.r.slice_axis(1, 0, 2 * size);
        let inner = product(h, gates_r) + layer.rb.slice_axis(0, 0, 2 * size);
        let z = layer.activate(0, layer.gate(input, 0) + layer.gate(inner, 0));
        let r = layer.activate(0, layer.gate(input, 1) + layer.gate(inner, 1));
        let (rh, rb) =
            (layer.r.slice_axis(1, 2 * size, 3 * size), layer.rb.slice_axis(0, 2 * size, 3 * size));
        let reset = match linear_first {
            true => r * (product(h, rh) + rb),
            false => product(r * h, rh) + rb,
        };
        let candidate = layer.activate(1, layer.gate(input, 2) + reset);
        vec![(z.number(1.0) - z) * candidate + z * h]
    })
}

pub(super) fn lstm<'b>(cx: &Cx<'b>) -> Vec<V<'b>> {
    let peepholes = cx.opt(7);
    let coupled = cx.flag("input_forget", false);
    run(cx, 4, &["sigmoid", "tanh", "tanh"], 2, &move |layer, x, state| {
        let (h, c) = (state[0], state[1]);
        let gates = product(x, layer.w) + product(h, layer.r) + layer.wb + layer.rb;
        let peep = |gate: V<'b>, k: i64, c: V<'b>| match peepholes {
            Some(p) => {
                let row = p.at(0, 0).slice_axis(0, k * layer.hidden, (k + 1) * layer.hidden);
                gate + row.reshape(&[Dim::Known(1), Dim::Known(layer.hidden as u64)]) * c
            }
            None => gate,
        };
        // Gates are input, output, forget, cell; peepholes are input, output, forget.
        let i = layer.activate(0, peep(layer.gate(gates, 0), 0, c));
        let f = match coupled {
            true => i.number(1.0) - i,
            false => layer.activate(0, peep(layer.gate(gates, 2), 2, c)),
        };
        let g = layer.activate(1, layer.gate(gates, 3));
        let cell = f * c + i * g;
        let o = layer.activate(0, peep(layer.gate(gates, 1), 1, cell));
        vec![o * layer.activate(2, cell), cell]
    })
}
