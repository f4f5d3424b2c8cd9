//! How programs run: control flow, calls, limits, depth.

use sapwood_ptir::eval::{self, RunOptions, Tensor, Value};
use sapwood_ptir::parse;

fn f32s(values: &[f32]) -> Value {
    Tensor::new(eval::DataType::F32, [values.len()], values.to_vec()).into()
}

fn run(text: &str, inputs: &[Value]) -> Result<Vec<Value>, eval::EvalError> {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    eval::run(&program, "main", inputs, &RunOptions::default())
}

#[test]
fn adds() {
    let text = "ptir 1 func @main(%x: f32[?N], %y: f32[?N]) -> f32[?N] { %z = add %x, %y : f32[?N] return %z }";
    let found = run(text, &[f32s(&[1.0, 2.0]), f32s(&[10.0, 20.0])]).unwrap();
    assert_eq!(found[0].as_tensor().unwrap().elements::<f32>().unwrap()[..], [11.0, 22.0]);
    let clash = run(text, &[f32s(&[1.0, 2.0]), f32s(&[10.0])]).unwrap_err();
    assert_eq!(clash.to_string(), "@main: dim ?N is 1, but was 2 before");
}
