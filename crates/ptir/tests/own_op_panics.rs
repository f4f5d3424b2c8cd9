//! Panics in the functions of an op of a user: they are errors at the instruction.

use sapwood_ptir::cost::{self, Amount};
use sapwood_ptir::eval::{self, EvalCx, EvalResult, Fault, Kernels, RunOptions, Tensor};
use sapwood_ptir::{InferCx, InferResult, OpError, Registry, Value, parse, parse_with};
use sapwood_types::DataType;
use std::sync::Arc;

sapwood_ptir::ops! {
    family "faulty", table faulty_ops, values FaultyValueOps, graph FaultyGraphOps;

    /// Panics where its row says.
    op pick Pick "faulty.pick" (input: Value) {} -> one [flops(count)] = infer, eval = evaluate;
}

fn infer(cx: &InferCx<'_>) -> InferResult {
    assert!(cx.tensor(0)?.rank() < 3, "no rank above 2");
    cx.same_as(0)
}

fn evaluate(cx: &mut EvalCx<'_>) -> EvalResult {
    let x = cx.take_tensor(0)?;
    let elements = x.elements::<f32>().unwrap_or_default();
    let third = elements[2];
    eval::one(Tensor::new(DataType::F32, x.shape(), vec![third; elements.len()]))
}

fn count(_: &InferCx<'_>, _: &[Amount]) -> Result<Amount, OpError> {
    panic!("not counted yet")
}

fn text(shape: &str) -> String {
    format!(
        "ptir 1\nfunc @f(%x: f32[{shape}]) -> f32[{shape}] {{\n  %y = faulty.pick %x : f32[{shape}]\n  return %y\n}}\n"
    )
}

#[test]
fn a_panic_of_an_own_op_is_an_error_with_op_and_place() {
    let registry = Registry::builtin().with(faulty_ops()).unwrap();
    let refused = parse_with(&text("2, 2, 2"), &registry).unwrap_err();
    let message = "faulty.pick: its inference panicked: no rank above 2";
    let found = refused.iter().find(|problem| problem.message == message).expect(message);
    assert_eq!(found.span.begin_line(), 3);

    let program = parse_with(&text("2"), &registry).unwrap();
    let x = Tensor::new(DataType::F32, [2], vec![1.0f32, 2.0]);
    let error = eval::run(&program, "f", &[x.into()], &RunOptions::default()).unwrap_err();
    let place = "@f: `%y = faulty.pick %x : f32[2]`: the evaluation of `faulty.pick` panicked: ";
    assert!(error.to_string().starts_with(place), "{error}");
    assert!(matches!(error.fault, Fault::Panicked { op: "faulty.pick", .. }), "{error:?}");
    assert_eq!(error.span.begin_line(), 3);

    let cost = &cost::of_program(&program)[0];
    assert_eq!((cost.not_counted, &cost.ops_not_counted[..]), (1, &["faulty.pick"][..]));
    assert_eq!(cost::of_public_functions(&program).ops_not_counted, ["faulty.pick"]);
}

struct FaultyKernel;

impl Kernels for FaultyKernel {
    fn kernel(&self, _: sapwood_ptir::OpKey) -> Option<Arc<eval::Evaluate>> {
        None
    }

    fn custom_call(&self, _: &str) -> Option<Arc<eval::Evaluate>> {
        Some(Arc::new(|_: &mut EvalCx<'_>| panic!("no library")))
    }
}

#[test]
fn a_panic_of_a_custom_call_is_an_error() {
    let program = parse(&text("2").replace("faulty.pick", "custom_call \"k\"")).unwrap();
    let prepared = eval::Prepared::new(&program, "f", Some(&FaultyKernel)).unwrap();
    let x = Tensor::new(DataType::F32, [2], vec![1.0f32, 2.0]);
    let error = prepared.run(&[x.into()], &RunOptions::default()).unwrap_err();
    let end = "the evaluation of `custom_call` panicked: no library";
    assert!(error.to_string().ends_with(end), "{error}");
}
