//! The ready patterns on models: the blocks that their definitions have are found, and each match computes what the block is defined to
//! compute. Models are read from a corpus next to the repository, if it is there.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::ops::Return;
use sapwood_ptir::{
    Attr, Function, InsertPoint, InstId, Op, OpParts, Program, Registry, ValueId, parse,
};
use sapwood_rewrite::PassManager;
use sapwood_rules::{
    ExtractOptions, FindOptions, Match, PatternGraph, Rule, Vocabulary, extract, find_matches,
    legality, rules_from,
};
use sapwood_testing::repository;
use sapwood_types::{DataType, Rng, Source, Span};

// Returns the patterns without a right side of the rule files.
fn patterns() -> Vec<PatternGraph> {
    let mut files: Vec<PathBuf> = fs::read_dir(repository().join("examples/patterns"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "rules"))
        .collect();
    files.sort();
    let rules = files.iter().flat_map(|path| {
        let source = Source::new(&path.to_string_lossy(), fs::read_to_string(path).unwrap());
        rules_from(&source, &Registry::builtin(), &Vocabulary::builtin())
            .unwrap_or_else(|problems| panic!("{problems}"))
    });
    rules.filter(|rule| !rule.rewrites()).map(Rule::into_pattern).collect()
}

fn model(name: &str) -> Option<Program> {
    let path = repository().join("../shared/corpus/stablehlo/models").join(name).join("model.mlir");
    let source = Source::new(name, fs::read_to_string(path).ok()?);
    let mut program = sapwood_stablehlo::read(&source).unwrap().program;
    PassManager::parse("inline,symbol-dce,simplify").unwrap().run(&mut program).unwrap();
    Some(program)
}

/// The blocks of each model that can be replaced, counted in its definition; docs/design/2026-11-18-blocks-of-models.md has the reasons.
const BLOCKS: &[(&str, &[(&str, usize)])] = &[
    ("eqx_mlp", &[("dense", 4), ("dense_activation", 3)]),
    ("flax_attention", &[("attention", 1), ("dense", 4), ("softmax", 1)]),
    (
        "flax_gpt2_L12",
        &[
            ("attention", 12),
            ("dense", 72),
            ("gelu_tanh", 12),
            ("layer_norm", 25),
            ("softmax", 12),
            ("transformer_block", 12),
        ],
    ),
    (
        "flax_gpt2_L2",
        &[
            ("attention", 2),
            ("dense", 12),
            ("gelu_tanh", 2),
            ("layer_norm", 5),
            ("softmax", 2),
            ("transformer_block", 2),
        ],
    ),
    (
        "flax_gpt_block",
        &[
            ("attention", 1),
            ("dense", 6),
            ("gelu_tanh", 1),
            ("layer_norm", 2),
            ("softmax", 1),
            ("transformer_block", 1),
        ],
    ),
    ("flax_lstm", &[("dense", 4), ("lstm_cell", 1)]),
    ("flax_mlp", &[("dense", 3), ("dense_activation", 2)]),
    ("flax_mlp_train", &[("dense", 3)]),
    ("flax_resblock", &[("conv_bn", 3)]),
    ("haiku_resnet18", &[("conv_bn", 20)]),
    ("jax_cond_switch", &[]),
    ("jax_hessian", &[]),
    ("jax_kmeans", &[]),
    ("jax_random", &[]),
    ("jax_scan_cumsum", &[]),
    ("jax_while_newton", &[]),
    ("keras_bilstm", &[("dense", 1), ("lstm_cell", 4)]),
    (
        "keras_convnext_tiny",
        &[("dense", 36), ("gelu_erfc", 18), ("layer_norm", 23), ("softmax", 1)],
    ),
    (
        "keras_mobilenetv3small",
        &[("conv_bn", 34), ("hard_sigmoid", 28), ("hard_swish", 19), ("softmax", 1)],
    ),
];

#[test]
fn the_blocks_of_models_are_found() {
    let patterns = patterns();
    for (name, blocks) in BLOCKS {
        let Some(program) = model(name) else { continue };
        let found = find_matches(&program, &patterns, &FindOptions::default());
        assert!(found.exhausted.is_empty(), "{name}");
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for m in found.matches.iter().filter(|m| legality(&program, &patterns, m).is_ok()) {
            *counts.entry(patterns[m.pattern].name().as_str()).or_default() += 1;
        }
        let expected: BTreeMap<&str, usize> = blocks.iter().copied().collect();
        assert_eq!(counts, expected, "{name}");
    }
}

#[test]
fn every_match_computes_its_block() {
    let patterns = patterns();
    let examples = fs::read_dir(repository().join("examples/patterns/programs")).unwrap();
    let mut programs: Vec<(String, Program)> = examples
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.display().to_string(), parse(&fs::read_to_string(&path).unwrap()).unwrap())
        })
        .collect();
    let models = BLOCKS.iter().filter_map(|(name, _)| Some(((*name).to_owned(), model(name)?)));
    programs.extend(models);
    let mut verified = 0;
    for (name, program) in &programs {
        for pattern in &patterns {
            verified += verify_matches(name, program, pattern);
        }
    }
    assert!(verified >= 15, "{verified}");
}

// Extracts each match, runs the function on random inputs, and compares with the definition of the block.
fn verify_matches(name: &str, program: &Program, pattern: &PatternGraph) -> usize {
    let patterns = std::slice::from_ref(pattern);
    let found = find_matches(program, patterns, &FindOptions::default());
    let legal: Vec<&Match> =
        found.matches.iter().filter(|m| legality(program, patterns, m).is_ok()).collect();
    let mut after = program.clone();
    let options = ExtractOptions { keep_unused: true, ..ExtractOptions::default() };
    let report = extract(&mut after, patterns, &options).unwrap();
    assert_eq!(report.calls.len(), legal.len(), "{name}: {}", pattern.name());
    let mut verified = 0;
    for (call, m) in report.calls.iter().zip(legal) {
        let f = after.function(call.name).unwrap();
        let before = program.function(m.function).unwrap();
        let mut inputs = BTreeMap::new();
        let mut arguments = Vec::new();
        let mut rng = Rng::new(verified as u64);
        for &param in f.params() {
            let hint = f.hint(param).unwrap_or_default().to_owned();
            let value = random_tensor(&mut rng, f, param, &hint);
            arguments.push(Value::Tensor(value.clone()));
            inputs.insert(hint, value);
        }
        let block = Block { f, before, m, pattern, inputs };
        let Some(expected) = block.expected() else { continue };
        let got = eval::run(&after, call.name.as_str(), &arguments, &RunOptions::default());
        let got = numbers(got.unwrap()[0].as_tensor().unwrap());
        assert_eq!(got.len(), expected.len(), "{name}: {}", call.name);
        for (a, b) in got.iter().zip(&expected) {
            let near = (a - b).abs() <= 2e-3 * b.abs().max(1.0);
            assert!(near, "{name}: {} is {a}, its definition {b}\n{f:?}", call.name);
        }
        verified += 1;
    }
    verified
}

fn random_tensor(rng: &mut Rng, f: &Function, value: ValueId, hint: &str) -> Tensor {
    let ty = f.value_type(value).as_tensor().unwrap();
    let shape: Vec<usize> = ty.known_shape().unwrap().iter().map(|&n| n as usize).collect();
    let count: usize = shape.iter().product();
    match ty.dtype {
        DataType::Bool => {
            // Some scores of each row stay.
            let kept = (0..count).map(|n| n % 3 != 1).collect::<Vec<bool>>();
            Tensor::new(DataType::Bool, shape, kept)
        }
        DataType::F64 => Tensor::new(DataType::F64, shape, random(rng, count, hint)),
        _ => {
            let floats = random(rng, count, hint).iter().map(|&x| x as f32).collect();
            Tensor::new::<f32>(DataType::F32, shape, floats)
        }
    }
}

fn random(rng: &mut Rng, count: usize, hint: &str) -> Vec<f64> {
    let one = |rng: &mut Rng| rng.below(2001) as f64 / 1000.0 - 1.0;
    let positive = hint == "variance";
    (0..count).map(|_| one(rng)).map(|x| if positive { x.abs() + 0.1 } else { x }).collect()
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        DataType::F64 => tensor.elements::<f64>().unwrap().to_vec(),
        DataType::Bool => {
            tensor.elements::<bool>().unwrap().iter().map(|&b| f64::from(u8::from(b))).collect()
        }
        _ => tensor.elements::<f32>().unwrap().iter().map(|&x| x.into()).collect(),
    }
}

/// A match as a function with its inputs, and the place where it was found.
struct Block<'a> {
    f: &'a Function,
    before: &'a Function,
    m: &'a Match,
    pattern: &'a PatternGraph,
    inputs: BTreeMap<String, Tensor>,
}

impl Block<'_> {
    // Returns the result by the definition of the block; none if the test has no definition of it.
    fn expected(&self) -> Option<Vec<f64>> {
        let each = |f: fn(f64) -> f64| Some(self.input("x").into_iter().map(f).collect());
        match self.pattern.name().as_str() {
            "softmax" => Some(self.rows(|row| {
                let max = row.iter().copied().fold(f64::MIN, f64::max);
                let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
                row.iter().map(|x| (x - max).exp() / sum).collect()
            })),
            "log_softmax" => Some(self.rows(|row| {
                let max = row.iter().copied().fold(f64::MIN, f64::max);
                let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
                row.iter().map(|x| x - max - sum.ln()).collect()
            })),
            "layer_norm" => Some(self.affine(self.rows(|row| {
                let n = row.len() as f64;
                let mean = row.iter().sum::<f64>() / n;
                let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
                row.iter().map(|x| (x - mean) / (variance + self.constant("eps")).sqrt()).collect()
            }))),
            "rms_norm" => Some(self.affine(self.rows(|row| {
                let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
                row.iter().map(|x| x / (mean + self.constant("eps")).sqrt()).collect()
            }))),
            "gelu_tanh" => each(|x| {
                let c = (2.0 / std::f64::consts::PI).sqrt();
                x / 2.0 * (1.0 + (c * (x + 0.044715 * x * x * x)).tanh())
            }),
            // The two forms differ by less than 5e-4, and the tolerance is larger.
            "gelu_erf" | "gelu_erfc" => each(|x| {
                let c = (2.0 / std::f64::consts::PI).sqrt();
                x / 2.0 * (1.0 + (c * (x + 0.044715 * x * x * x)).tanh())
            }),
            "gelu_sigmoid" => each(|x| x * sigmoid(1.702 * x)),
            "silu" => each(|x| x * sigmoid(x)),
            "hard_swish" => each(|x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
            "hard_sigmoid" => each(|x| (x + 3.0).clamp(0.0, 6.0) / 6.0),
            "lstm_cell" => {
                let [i, f, g, o, c] = ["i", "f", "g", "o", "c"].map(|name| self.input(name));
                let state = |n: usize| sigmoid(f[n]) * c[n] + sigmoid(i[n]) * g[n].tanh();
                Some((0..c.len()).map(|n| sigmoid(o[n]) * state(n).tanh()).collect())
            }
            "gru_cell" => {
                let [x, y, r, z, h] = ["x", "y", "r", "z", "h"].map(|name| self.input(name));
                let new = |n: usize| (x[n] + sigmoid(r[n]) * y[n]).tanh();
                let blend = |n: usize| (1.0 - sigmoid(z[n])) * new(n) + sigmoid(z[n]) * h[n];
                Some((0..h.len()).map(blend).collect())
            }
            "dense" => {
                let (product, b) = (self.alone("dot_general", ["x", "w"])?, self.input("b"));
                Some(product.iter().enumerate().map(|(n, x)| x + b[n % b.len()]).collect())
            }
            "conv_bn" => {
                let conv = self.alone("convolution", ["x", "w"])?;
                let of = |name: &str| self.input(name);
                let (mean, variance, eps) = (of("mean"), of("variance"), self.constant("eps"));
                let centred = conv.iter().enumerate().map(|(n, x)| {
                    let c = n % mean.len();
                    (x - mean[c]) / (variance[c] + eps).sqrt()
                });
                Some(self.affine(centred.collect()))
            }
            "attention" => self.attention(),
            _ => None,
        }
    }

    fn input(&self, name: &str) -> Vec<f64> {
        numbers(&self.inputs[name])
    }

    // Returns the number that a name of the pattern is bound to.
    fn constant(&self, name: &str) -> f64 {
        let mut bindings = self.m.bindings(self.pattern);
        let (_, value) = bindings.find(|(own, _)| *own == name).unwrap();
        let f = self.before;
        let source =
            f.constant_of(value).or_else(|| f.constant_of(f.operands(f.inst_of(value)?)[0]));
        numbers(&Tensor::from_literal(source.unwrap()).unwrap())[0]
    }

    // Applies a function to each row of `x`, along the axis of the match, which is the last.
    fn rows(&self, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let (x, shape) = (self.input("x"), self.inputs["x"].shape().to_vec());
        let mut attributes = self.m.attributes(self.pattern);
        let (_, axes) = attributes.find(|(name, _)| *name == "a").unwrap();
        let Attr::Ints(axes) = axes else { panic!("{axes:?}") };
        // The examples have one block along the first of two axes.
        if axes[..] == [0] && shape.len() == 2 {
            let columns = (0..shape[1]).map(|c| {
                let column: Vec<f64> = (0..shape[0]).map(|r| x[r * shape[1] + c]).collect();
                f(&column)
            });
            let columns: Vec<Vec<f64>> = columns.collect();
            return (0..x.len()).map(|n| columns[n % shape[1]][n / shape[1]]).collect();
        }
        assert_eq!(axes[..], [shape.len() as i64 - 1]);
        x.chunks(shape[shape.len() - 1]).flat_map(f).collect()
    }

    // Multiplies by the scale and adds the shift, which are along the last axes.
    fn affine(&self, x: Vec<f64>) -> Vec<f64> {
        let scale = self.input("scale");
        let shift = self.inputs.get("shift").map_or_else(|| vec![0.0], numbers);
        let at = |(n, x): (usize, f64)| x * scale[n % scale.len()] + shift[n % shift.len()];
        x.into_iter().enumerate().map(at).collect()
    }

    // Runs the only instruction of an op on inputs of the block.
    fn alone(&self, op: &str, names: [&str; 2]) -> Option<Vec<f64>> {
        let inst: InstId = self.f.walk().find(|&i| self.f.op_name(i) == op)?;
        let mut alone = Function::new("alone", self.f.registry().clone());
        let mut parts = self.f.parts_of(inst);
        let operands = self
            .f
            .operands(inst)
            .iter()
            .map(|&v| alone.push_param(alone.body(), self.f.value_type(v)));
        parts.operands = operands.collect();
        let made = alone.insert(InsertPoint::End(alone.body()), &parts, Span::unknown()).ok()?;
        let result = alone.value_of(made)?;
        let mut end = OpParts::new(Return::key());
        end.operands.push(result);
        let ty = alone.value_type(result).clone();
        alone.insert(InsertPoint::End(alone.body()), &end, Span::unknown()).ok()?;
        alone.set_result_types(&[ty]);
        let mut program = Program::new(self.f.registry().clone());
        program.add(alone).ok()?;
        let arguments = names.map(|name| Value::Tensor(self.inputs[name].clone()));
        let got = eval::run(&program, "alone", &arguments, &RunOptions::default()).ok()?;
        Some(numbers(got[0].as_tensor()?))
    }

    // Attention as Flax writes it: q[b, t, h, d], k[b, s, h, d], v[b, s, h, d] to [b, h, d, t]; with a scale of 1 / sqrt(d).
    fn attention(&self) -> Option<Vec<f64>> {
        let &[b, t, h, d] = self.inputs["q"].shape() else { return None };
        let s = self.inputs["k"].shape()[1];
        let (q, k, v) = (self.input("q"), self.input("k"), self.input("v"));
        let mask = self.inputs.get("mask").map(numbers);
        let mut out = vec![0.0; b * h * d * t];
        for (n, slot) in out.iter_mut().enumerate() {
            let (bi, hi, di, ti) = (n / (h * d * t), n / (d * t) % h, n / t % d, n % t);
            let at = |x: &[f64], len: usize, row: usize, e: usize| {
                x[((bi * len + row) * h + hi) * d + e]
            };
            let scores: Vec<f64> = (0..s)
                .map(|si| {
                    let dot: f64 = (0..d).map(|e| at(&q, t, ti, e) * at(&k, s, si, e)).sum();
                    let kept =
                        mask.as_ref().is_none_or(|m| m[((bi * h + hi) * t + ti) * s + si] > 0.0);
                    if kept { dot / (d as f64).sqrt() } else { f64::NEG_INFINITY }
                })
                .collect();
            let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|x| (x - max).exp()).sum();
            let weight = |si: usize| (scores[si] - max).exp() / sum;
            *slot = (0..s).map(|si| weight(si) * at(&v, s, si, di)).sum();
        }
        Some(out)
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
