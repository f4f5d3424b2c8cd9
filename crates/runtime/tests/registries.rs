//! Tests that a backend does not confuse programs with different op registries.

use std::sync::Arc;

use sapwood_ptir::eval::{self, EvalCx, EvalResult, Tensor, Value};
use sapwood_ptir::prelude::*;
use sapwood_ptir::{Op, ValueId, parse_with};
use sapwood_runtime::{Backend as _, CpuBackend, CpuError, LazyError, LazyGraph, RunRequest};

fn filled(cx: &mut EvalCx<'_>, number: f32) -> EvalResult {
    let shape = cx.tensor(0)?.shape().to_vec();
    eval::one(Tensor::splat(DataType::F32, shape, number))
}

mod ones {
    use sapwood_ptir::prelude::*;

    sapwood_ptir::ops! {
        family "demo", table ops, values OnesValueOps, graph OnesGraphOps;

        /// Ones.
        op mine Mine "demo.mine" (input: Value) {} -> one [] = |cx| cx.same_as(0),
            eval = |cx| super::filled(cx, 1.0);
    }
}

mod twos {
    use sapwood_ptir::prelude::*;

    sapwood_ptir::ops! {
        family "demo", table ops, values TwosValueOps, graph TwosGraphOps;

        /// Twos.
        op mine Mine "demo.mine" (input: Value) {} -> one [] = |cx| cx.same_as(0),
            eval = |cx| super::filled(cx, 2.0);
    }
}

const TEXT: &str = "ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = demo.mine %x : f32[2] return %y }";

fn registries() -> [Arc<Registry>; 2] {
    let with = |defs| Registry::builtin().with(defs).unwrap();
    [with(ones::ops()), with(twos::ops())]
}

#[test]
fn programs_of_two_registries_are_two() {
    let backend = CpuBackend::exact();
    let x: Value = Tensor::new(DataType::F32, [2], vec![5.0f32, 6.0]).into();
    for _ in 0..2 {
        for (registry, expected) in registries().iter().zip(["1.0", "2.0"]) {
            let program = parse_with(TEXT, registry).unwrap();
            let y = backend
                .run_program(&program, &RunRequest::new("f"), std::slice::from_ref(&x))
                .unwrap();
            assert!(y[0].to_string().starts_with(expected), "{}", y[0]);
        }
    }
}

#[test]
fn lazy_graphs_of_two_registries_share_a_backend() {
    let backend = Arc::new(CpuBackend::exact());
    let [first, second] = registries();
    let one = computed(&backend, first, |input| ones::Mine { input });
    let two = computed(&backend, second, |input| twos::Mine { input });
    assert_eq!(one, TensorLiteral::filled(DataType::F32, &[2], 1.0).unwrap());
    assert_eq!(two, TensorLiteral::filled(DataType::F32, &[2], 2.0).unwrap());
}

fn computed<T: Op>(
    backend: &Arc<CpuBackend>,
    registry: Arc<Registry>,
    op: impl Fn(ValueId) -> T,
) -> TensorLiteral {
    let graph = LazyGraph::new(backend.clone()).with_registry(registry);
    let x = graph.import(&TensorLiteral::filled(DataType::F32, &[2], 7.0).unwrap()).unwrap();
    let y = graph.capture(|ctx| {
        let input = ctx.import(&x)?;
        ctx.emit(op(input))
    });
    let y: Result<_, LazyError<CpuError>> = y;
    graph.literal(&y.unwrap()).unwrap()
}
