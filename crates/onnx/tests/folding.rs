//! Nodes whose inputs are constants: which of them are computed, and the steps that an observer receives.

use sapwood_onnx::{LowerLaw, LowerLevel, LowerOptions, lower_function_with, registry};
use sapwood_ptir::{Function, Program, TensorLiteral};

/// A filter of 64 elements that is computed in several steps, two of which use the same value; and a transposed weight.
const FILTER: &str = "ptir 1
func @main(%x: f32[?N, 8], %w: f32[8]) -> (f32[?N, 8], f32[?N, 16]) {
  %a = constant [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0] : f32[8]
  %b = constant [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]] : f32[8, 1]
  %s = onnx.Add %a, %b : f32[8, 8]
  %c = onnx.Cos %s : f32[8, 8]
  %d = onnx.Sin %s : f32[8, 8]
  %e = onnx.Mul %c, %d : f32[8, 8]
  %f = onnx.Div %e, %s : f32[8, 8]
  %y = onnx.MatMul %x, %f : f32[?N, 8]
  %t = iota {axis = 0} : f32[16, 8]
  %v = onnx.Transpose %t {perm = [1, 0]} : f32[8, 16]
  %z = onnx.MatMul %x, %v : f32[?N, 16]
  return %y, %z
}";

fn program(text: &str) -> Program {
    let options = sapwood_ptir::ParseOptions::new().registry(&registry());
    sapwood_ptir::parse_with(text, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// The elements of constants that are used.
fn constant_elements(f: &Function) -> u64 {
    let values = f.walk().filter_map(|inst| f.value_of(inst)).filter(|&v| !f.unused(v));
    values.filter_map(|v| f.constant_of(v)).map(TensorLiteral::num_elements).sum()
}

fn lowered(text: &str, fold_limit: u64) -> (Function, Vec<String>) {
    let mut program = program(text);
    let f = program.function_mut("main").unwrap();
    let mut steps = Vec::new();
    let options = LowerOptions { fold_limit, ..LowerOptions::default() };
    let count = lower_function_with(f, &options, &mut |f, step| {
        assert!(f.is_live(step.inst) && f.results_unused(step.inst), "{step:?}");
        assert!(step.inserted.iter().all(|&inst| f.is_live(inst)), "{step:?}");
        let name = f.hint(f.value_of(step.inst).unwrap()).unwrap_or("?");
        steps.push(format!("{} {} {name}", step.law.name(), f.op_name(step.inst)));
    });
    assert_eq!(count, steps.len());
    sapwood_ptir::verify(&program).unwrap_or_else(|e| panic!("{e}"));
    (program.functions()[0].as_ref().clone(), steps)
}

#[test]
fn constants_grow_by_no_more_than_the_limit() {
    let before = constant_elements(&program(FILTER).functions()[0]);
    assert_eq!(before, 16);
    for limit in [0, 1, 47, 48, 63, 64, 100, 1 << 20] {
        let (f, steps) = lowered(FILTER, limit);
        let grown = constant_elements(&f).saturating_sub(before);
        assert!(grown <= limit, "{limit}: {grown}");
        // Steps in between are not counted: the whole filter is computed as soon as it fits itself.
        let computed = steps.iter().filter(|step| step.starts_with("fold ")).count();
        assert_eq!(computed, if limit >= 64 { 5 } else { 0 }, "{limit}: {steps:?}");
    }
}

#[test]
fn each_replaced_node_is_a_step() {
    let (_, steps) = lowered(FILTER, 1 << 20);
    let expected = [
        "fold onnx.Add s",
        "fold onnx.Cos c",
        "fold onnx.Sin d",
        "fold onnx.Mul e",
        "fold onnx.Div f",
        "node_as_core_ops onnx.MatMul y",
        "node_as_core_ops onnx.Transpose v",
        "node_as_core_ops onnx.MatMul z",
    ];
    assert_eq!(steps, expected);
    // Numbers that follow from shapes, and control flow.
    let text = "ptir 1
func @main(%x: f32[4, ?N], %p: bool[]) -> (i64[1], f32[4, ?N]) {
  %s = onnx.Shape %x {start = 0, end = 1} : i64[1]
  %y = onnx.If %p () {
    yield %x
  } () {
    %n = neg %x : f32[4, ?N]
    yield %n
  } : f32[4, ?N]
  return %s, %y
}";
    let mut program = program(text);
    let mut laws = Vec::new();
    let options = LowerOptions { level: LowerLevel::All, ..LowerOptions::default() };
    let f = program.function_mut("main").unwrap();
    lower_function_with(f, &options, &mut |_, step| laws.push(step.law));
    assert_eq!(laws, [LowerLaw::KnownNumbers, LowerLaw::ControlFlow]);
}

#[test]
fn freed_initializers_make_room() {
    // The cast replaces a constant of as many elements; so do the transposes of two.
    let text = "ptir 1
func @main(%x: f32[?N, 2]) -> (f32[?N, 3], f32[?N, 3]) {
  %a = constant [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] : f32[3, 2]
  %b = constant [[7, 8], [9, 10], [11, 12]] : i64[3, 2]
  %s = onnx.Transpose %a {perm = [1, 0]} : f32[2, 3]
  %c = onnx.Cast %b {to = 1} : f32[3, 2]
  %t = onnx.Transpose %c {perm = [1, 0]} : f32[2, 3]
  %y = onnx.MatMul %x, %s : f32[?N, 3]
  %z = onnx.MatMul %x, %t : f32[?N, 3]
  return %y, %z
}";
    let (f, steps) = lowered(text, 6);
    assert_eq!(steps.iter().filter(|step| step.starts_with("fold ")).count(), 3, "{steps:?}");
    assert_eq!(constant_elements(&f), 12);
}
