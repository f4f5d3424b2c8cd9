//! The ready patterns on models: the blocks that their definitions have are found, and each match computes what the block is defined to
//! compute. Models are read from a corpus next to the repository, if it is there.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::block_definitions::{Array, Block};
use sapwood_ptir::eval::{self, EvalCx, Evaluate, Kernels, Results, RunOptions, Tensor, Value};
use sapwood_ptir::ops::CustomCall;
use sapwood_ptir::structural::{Mode, equal};
use sapwood_ptir::{
    Attr, Function, InsertPoint, InstId, Op, OpKey, Program, Registry, ResultTypes, TensorLiteral,
    ValueId, parse,
};
use sapwood_rewrite::PassManager;
use sapwood_rules::{
    ExtractOptions, ExtractReport, FindOptions, Match, PatternGraph, Rule, Vocabulary, extract,
    find_matches, legality, rules_from,
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
            ("embedding", 1),
            ("gelu_tanh", 12),
            ("layer_norm", 25),
            ("position_embedding", 1),
            ("softmax", 12),
            ("transformer_block", 12),
        ],
    ),
    (
        "flax_gpt2_L2",
        &[
            ("attention", 2),
            ("dense", 12),
            ("embedding", 1),
            ("gelu_tanh", 2),
            ("layer_norm", 5),
            ("position_embedding", 1),
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
    ("flax_resblock", &[("batch_norm", 3), ("conv_bn", 3)]),
    ("haiku_resnet18", &[("batch_norm", 20), ("conv_bn", 20), ("dense", 1)]),
    ("jax_cond_switch", &[]),
    ("jax_hessian", &[]),
    ("jax_kmeans", &[]),
    ("jax_random", &[]),
    ("jax_scan_cumsum", &[]),
    ("jax_while_newton", &[]),
    ("keras_bilstm", &[("dense", 1), ("embedding", 1), ("lstm_cell", 4)]),
    (
        "keras_convnext_tiny",
        &[("dense", 37), ("gelu_erfc", 18), ("layer_norm", 23), ("softmax", 1)],
    ),
    (
        "keras_mobilenetv3small",
        &[
            ("batch_norm", 34),
            ("conv_bn", 34),
            ("dense", 10),
            ("hard_sigmoid", 28),
            ("hard_swish", 19),
            ("softmax", 1),
        ],
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
fn the_blocks_of_gpt2_share_one_function_and_are_inlined_again() {
    let Some(program) = model("flax_gpt2_L12") else { return };
    let mut blocks = patterns();
    blocks.retain(|pattern| pattern.name().as_str() == "transformer_block");
    let mut after = program.clone();
    let options = ExtractOptions { share: true, ..ExtractOptions::default() };
    let report = extract(&mut after, &blocks, &options).unwrap();
    let names: Vec<&str> = report.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["transformer_block_0"; 12]);
    assert_eq!(after.functions().len(), 2);
    // Each call has constants of its own, and the operands in the order of the first block.
    PassManager::parse("inline,symbol-dce,simplify").unwrap().run(&mut after).unwrap();
    assert!(equal(&program, &after, Mode::DataFlow));
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
    // The examples alone have these; models are next to the repository, or not.
    assert!(verified >= 55, "{verified}");
}

// Extracts every match that can be replaced. Returns these matches, the program in which they are calls, and the report.
fn extract_all(program: &Program, pattern: &PatternGraph) -> (Vec<Match>, Program, ExtractReport) {
    let patterns = std::slice::from_ref(pattern);
    let mut matches = find_matches(program, patterns, &FindOptions::default()).matches;
    matches.retain(|m| legality(program, patterns, m).is_ok());
    let mut after = program.clone();
    let options = ExtractOptions { keep_unused: true, ..ExtractOptions::default() };
    let report = extract(&mut after, patterns, &options).unwrap();
    (matches, after, report)
}

// Extracts each match, runs the function on random inputs, and compares with the definition of the block.
fn verify_matches(name: &str, program: &Program, pattern: &PatternGraph) -> usize {
    let (legal, after, report) = extract_all(program, pattern);
    assert_eq!(report.calls.len(), legal.len(), "{name}: {}", pattern.name());
    let mut verified = 0;
    for (call, m) in report.calls.iter().zip(&legal) {
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
        let got = eval::run(&after, call.name.as_str(), &arguments, &RunOptions::default());
        let got: Vec<Tensor> =
            got.unwrap().iter().map(|value| value.as_tensor().unwrap().clone()).collect();
        assert_near(&format!("{name}: {}", call.name), &got, &block);
        verified += 1;
    }
    verified
}

// Compares all outputs of a block with its definition.
fn assert_near(name: &str, got: &[Tensor], block: &Block<'_>) {
    let expected = block.expected();
    assert_eq!(got.len(), expected.len(), "{name}");
    for (tensor, expected) in got.iter().zip(&expected) {
        let got = Array::of(tensor);
        assert_eq!(got.shape, expected.shape, "{name}");
        let tolerance = if tensor.dtype() == DataType::Bf16 { 4e-2 } else { 2e-3 };
        let largest = expected.data.iter().fold(1.0f64, |most, x| most.max(x.abs()));
        for (a, b) in got.data.iter().zip(&expected.data) {
            let near = (a - b).abs() <= tolerance * largest || a.is_nan() && b.is_nan();
            assert!(near, "{name} is {a}, its definition {b}\n{:?}", block.f);
        }
    }
}

/// The models whose runs are short. The others run with `SAPWOOD_FULL`.
const SHORT_RUNS: [&str; 11] = [
    "eqx_mlp",
    "flax_attention",
    "flax_gpt2_L12",
    "flax_gpt2_L2",
    "flax_gpt_block",
    "flax_lstm",
    "flax_mlp",
    "flax_mlp_train",
    "flax_resblock",
    "haiku_resnet18",
    "keras_bilstm",
];

// Every match of a model computes its definition on the values that flow through it when the model runs.
#[test]
fn every_match_computes_its_block_on_the_values_of_its_model() {
    let patterns = patterns();
    let full = std::env::var_os("SAPWOOD_FULL").is_some();
    let (mut expected, mut checked) = (0, 0);
    for (name, blocks) in BLOCKS {
        if blocks.is_empty() || !full && !SHORT_RUNS.contains(name) {
            continue;
        }
        let Some(program) = model(name) else { continue };
        let inputs = model_inputs(name, &program.functions()[0]);
        expected += blocks.iter().map(|(_, count)| count).sum::<usize>();
        for pattern in
            patterns.iter().filter(|p| blocks.iter().any(|(b, _)| p.name().as_str() == *b))
        {
            checked += verify_on_model_values(name, &program, pattern, &inputs);
        }
    }
    // Without the corpus there is nothing to run, and both are zero.
    assert_eq!(checked, expected);
}

// Runs a model in which every match is a call, records the arguments and results of the calls, and compares them with the definition of
// the block. Returns the number of blocks.
fn verify_on_model_values(
    name: &str,
    program: &Program,
    pattern: &PatternGraph,
    inputs: &[Value],
) -> usize {
    let (legal, mut after, report) = extract_all(program, pattern);
    let extracted = after.clone();
    for f in program.functions() {
        insert_probes(after.function_mut(f.name()).unwrap());
    }
    let recorder = SharedRecorder::default();
    let options = RunOptions { kernels: Some(Arc::new(recorder.clone())), ..RunOptions::default() };
    let main = program.functions()[0].name();
    eval::run(&after, main.as_str(), inputs, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let recorded = recorder.0.lock().unwrap();
    let mut checked = 0;
    for (call, m) in report.calls.iter().zip(&legal) {
        let f = extracted.function(call.name).unwrap();
        let before = program.function(m.function).unwrap();
        let values = recorded.get(call.name.as_str());
        let values = values.unwrap_or_else(|| panic!("{name}: {} did not run", call.name));
        let (arguments, results) = values.split_at(f.params().len());
        let hint = |&p: &ValueId| f.hint(p).unwrap_or_default().to_owned();
        let inputs = f.params().iter().map(hint).zip(arguments.iter().cloned()).collect();
        let block = Block { f, before, m, pattern, inputs };
        assert_near(&format!("{name}: {}", call.name), results, &block);
        checked += 1;
    }
    checked
}

// Passes the arguments and results of each call of an extracted function to a custom call with the name of the function.
fn insert_probes(f: &mut Function) {
    let calls: Vec<InstId> = f.walk().filter(|&i| f.op_name(i) == "call").collect();
    for call in calls {
        let Some(Attr::Func(callee)) = f.attr(call, "callee") else { continue };
        let probe = CustomCall {
            args: f.operands(call).iter().copied().chain(f.inst_results(call)).collect(),
            target: callee.as_str().into(),
            config: None,
            has_side_effect: true,
            types: ResultTypes(Vec::new()),
        };
        f.insert(InsertPoint::After(call), &probe.into_parts(), Span::unknown()).unwrap();
    }
}

/// The operands of the last custom call of each target.
#[derive(Clone, Default)]
struct SharedRecorder(Arc<Mutex<BTreeMap<String, Vec<Tensor>>>>);

impl Kernels for SharedRecorder {
    fn kernel(&self, _: OpKey) -> Option<Arc<Evaluate>> {
        None
    }

    fn custom_call(&self, target: &str) -> Option<Arc<Evaluate>> {
        let (recorder, target) = (self.clone(), target.to_owned());
        Some(Arc::new(move |cx: &mut EvalCx<'_>| {
            let tensors = cx.args().iter().filter_map(|v| v.as_tensor().cloned()).collect();
            recorder.0.lock().unwrap().insert(target.clone(), tensors);
            Ok(Results::new())
        }))
    }
}

// Returns the inputs of a model from its files, or random ones: positive vectors, for variances, and small matrices.
fn model_inputs(name: &str, f: &Function) -> Vec<Value> {
    let folder = repository().join("../shared/corpus/stablehlo/models").join(name);
    let mut rng = Rng::new(1);
    let input = |(n, &param): (usize, &ValueId)| {
        let ty = f.value_type(param).as_tensor().unwrap();
        let shape = ty.known_shape().unwrap();
        if let Ok(bytes) = fs::read(folder.join(format!("in_{n:03}.npy"))) {
            // The header of a file of version 1: the magic, the version, the length of the text, the text.
            let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            let literal = TensorLiteral::new(ty.dtype, &shape, &bytes[start..]).unwrap();
            return Value::Tensor(Tensor::from_literal(&literal).unwrap());
        }
        let count = shape.iter().product::<u64>() as usize;
        let literal = if ty.dtype == DataType::F32 {
            let width = (3.0 / (count as f64 / *shape.last().unwrap_or(&1) as f64)).sqrt();
            let one = |rng: &mut Rng| rng.below(2001) as f64 / 1000.0 - 1.0;
            let floats: Vec<f32> = (0..count)
                .map(|_| match shape.len() {
                    0 | 1 => (1.0 + one(&mut rng) / 2.0) as f32,
                    _ => (width * one(&mut rng)) as f32,
                })
                .collect();
            TensorLiteral::from_slice(&shape, &floats).unwrap()
        } else {
            // i32 or u32.
            let bytes: Vec<u8> =
                (0..count).flat_map(|_| (rng.below(16) as u32).to_le_bytes()).collect();
            TensorLiteral::new(ty.dtype, &shape, &bytes).unwrap()
        };
        Value::Tensor(Tensor::from_literal(&literal).unwrap())
    };
    f.params().iter().enumerate().map(input).collect()
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
        DataType::Bf16 => {
            let numbers = random(rng, count, hint);
            let bytes: Vec<u8> = numbers
                .iter()
                .flat_map(|&x| (((x as f32).to_bits() >> 16) as u16).to_le_bytes())
                .collect();
            let literal = TensorLiteral::new(DataType::Bf16, &ty.known_shape().unwrap(), &bytes);
            Tensor::from_literal(&literal.unwrap()).unwrap()
        }
        DataType::F64 => Tensor::new(DataType::F64, shape, random(rng, count, hint)),
        DataType::I32 => {
            Tensor::new(DataType::I32, shape, (0..count as i32).map(|n| n * 5 % 7).collect())
        }
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
