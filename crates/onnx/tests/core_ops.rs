//! Programs of core ops as models: the golden programs of control flow, gathers and windows compute the same after they are written and read.

use sapwood_onnx::{
    ExternalData, LowerLevel, Model, lower_function, read, registry, to_model, to_program, write,
};
use sapwood_ptir::eval::{self, RunOptions, Value};
use sapwood_ptir::testing::{compare_all, read_values};
use sapwood_ptir::{ParseOptions, Program, TensorLiteral, parse_with};
use sapwood_testing::repository;

/// Ops with golden programs, and how many of these have a counterpart in ONNX.
const OPS: &[(&str, usize)] = &[
    ("cond", 4),
    ("case", 5),
    ("while", 4),
    ("scan", 4),
    ("gather", 6),
    ("scatter", 6),
    ("dynamic_slice", 8),
    ("dynamic_update_slice", 8),
    ("top_k", 4),
    ("arg_max", 7),
    ("arg_min", 7),
    ("rem", 4),
    ("shl", 4),
    ("shr_logical", 4),
    ("is_finite", 8),
];

fn program(text: &str) -> Program {
    parse_with(text, ParseOptions::new().registry(&registry()).comments(true))
        .unwrap_or_else(|e| panic!("{e}"))
}

fn as_read_back(model: &Model) -> Program {
    let model = read(write(model).unwrap()).unwrap();
    let module = to_program(model, ExternalData::default(), &registry());
    module.unwrap_or_else(|e| panic!("{e}")).program
}

/// The programs of a golden file, each with the lines of its inputs and of its results.
fn golden_programs(op: &str) -> Vec<String> {
    let path = repository().join("tests/golden/run").join(format!("{op}.ptir"));
    let text = std::fs::read_to_string(path).unwrap();
    text.split("ptir 1\n").skip(1).map(|part| format!("ptir 1\n{part}")).collect()
}

fn lines<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.strip_prefix(start))
}

fn run(program: &Program, inputs: &[TensorLiteral]) -> Result<Vec<TensorLiteral>, String> {
    let values: Vec<Value> = inputs.iter().map(|v| Value::try_from(v).unwrap()).collect();
    let name = program.functions()[0].name();
    let results = eval::run(program, name.as_str(), &values, &RunOptions::default());
    let results = results.map_err(|e| format!("{e}\n{program}"))?;
    Ok(results.iter().map(|v| v.to_literal().unwrap()).collect())
}

/// Windows and reductions in the forms that ONNX has.
const OTHERS: &[&str] = &[
    "func @f(%x: f32[1, 4, 6, 2]) -> f32[1, 2, 3, 2] {
  %i = constant -inf : f32[]
  %r = reduce_window %x, %i {window = [1, 2, 3, 1], strides = [1, 2, 2, 1], pads = [[0, 0], [0, 0], [1, 0], [0, 0]]} (%a: f32[], %b: f32[]) {
    %m = max %a, %b : f32[]
    yield %m
  } : f32[1, 2, 3, 2]
  return %r
}",
    "func @f(%x: f32[3, 5]) -> f32[3, 5] {
  %i = constant 0.0 : f32[]
  %r = reduce_window %x, %i {window = [1, 3], pads = [[0, 0], [1, 1]]} (%a: f32[], %b: f32[]) {
    %m = add %b, %a : f32[]
    yield %m
  } : f32[3, 5]
  return %r
}",
    "func @f(%x: f32[3, 4]) -> (bool[3], bool[1, 4]) {
  %i = constant 2.0 : f32[3, 4]
  %p = compare %x, %i {direction = gt} : bool[3, 4]
  %r = reduce_and %p {axes = [1]} : bool[3]
  %s = reduce_or %p {axes = [0], keepdims = true} : bool[1, 4]
  return %r, %s
}",
    "func @f(%x: f32[8]) -> f32[8] {
  %r = erfc %x : f32[8]
  return %r
}",
    // The sum that a product takes in is one number for all rows, in another form than a bias has.
    "func @f(%x: f32[2, 3]) -> f32[2, 1] {
  %w = constant [[1.0], [2.0], [0.5]] : f32[3, 1]
  %n = slice %x {starts = [0, 0], limits = [1, 1]} : f32[1, 1]
  %b = reshape %n : f32[1]
  %p = dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]} : f32[2, 1]
  %c = broadcast_in_dim %b {dims = [0]} : f32[2, 1]
  %y = add %p, %c : f32[2, 1]
  return %y
}",
    // Over no axes.
    "func @f(%x: f32[2, 3]) -> (f32[2, 3], f32[2, 3], f32[]) {
  %r = reduce_sum %x {axes = []} : f32[2, 3]
  %e = exp %r : f32[2, 3]
  %s = reduce_max %e {axes = [0, 1]} : f32[]
  %t = reduce_prod %s {axes = []} : f32[]
  return %r, %e, %t
}",
];

#[test]
fn windows_and_reductions_compute_the_same_as_models() {
    for text in OTHERS {
        let program = program(&format!("ptir 1\n{text}\n"));
        let model = to_model(&program, None, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let back = as_read_back(&model);
        let param = program.functions()[0].params()[0];
        let ty = program.functions()[0].value_type(param).as_tensor().unwrap().clone();
        let shape = ty.known_shape().unwrap();
        let numbers: Vec<f32> =
            (0..shape.iter().product()).map(|i: u64| (i * 7 % 11) as f32 * 0.25).collect();
        let input = [TensorLiteral::from_slice(&shape, &numbers).unwrap()];
        let (expected, found) = (run(&program, &input).unwrap(), run(&back, &input).unwrap());
        let tolerance = "16 eps of the largest".parse().unwrap();
        compare_all(&found, &expected, &tolerance).unwrap_or_else(|e| panic!("{e}\n{text}"));
    }
}

#[test]
fn golden_programs_compute_the_same_as_models() {
    let mut counts = Vec::new();
    for &(op, _) in OPS {
        let mut written = 0;
        for text in golden_programs(op) {
            if lines(&text, "//> ").any(|line| line.starts_with("error: ")) {
                continue;
            }
            // ONNX does not say where NaN is in an order.
            let is_order = ["top_k", "arg_max", "arg_min"].contains(&op);
            if is_order && lines(&text, "//< ").any(|line| line.contains("nan")) {
                continue;
            }
            let inputs = read_values(lines(&text, "//< ")).unwrap();
            let expected = read_values(lines(&text, "//> ")).unwrap();
            let Ok(model) = to_model(&program(&text), None, None) else { continue };
            written += 1;
            let mut back = as_read_back(&model);
            let check = |back: &Program, form: &str| {
                let found = run(back, &inputs);
                let tolerance = "64 ulp".parse().unwrap();
                let compared = found.and_then(|f| compare_all(&f, &expected, &tolerance));
                compared.unwrap_or_else(|e| panic!("{op}, {form}: {e}\n{text}\n{back}"));
            };
            check(&back, "read back");
            // Core ops again: loops are loops, and choices are choices.
            for f in back.functions_mut() {
                lower_function(f, LowerLevel::All);
            }
            sapwood_ptir::verify(&back).unwrap_or_else(|e| panic!("{op}: {e}\n{back}"));
            check(&back, "lowered");
            match to_model(&back, None, None) {
                Ok(again) => check(&as_read_back(&again), "written again"),
                // `TopK` is a sort by then.
                Err(error) => assert_eq!(op, "top_k", "{error}\n{back}"),
            }
        }
        counts.push((op, written));
    }
    assert_eq!(counts, OPS);
}
