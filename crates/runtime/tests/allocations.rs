//! Tests that tracing allocates nothing without a sink. They are a target of their own, because the counters are global to the process.

use std::sync::Arc;

use sapwood_ptir::eval::{DataType, Prepared, RunOptions, Tensor, Value};
use sapwood_ptir::{Name, Program, parse};
use sapwood_rewrite::canonicalize::populate_canonicalization;
use sapwood_rewrite::{
    GreedyConfig, PassContext, PassManager, PatternSet, apply_patterns_and_fold_greedily,
    parse_pipeline,
};
use sapwood_runtime::{Backend, CpuBackend, RunRequest};
use sapwood_testing::memory::{Counting, allocations_during};
use sapwood_trace::{ExecutionTraceSink, StepLogSink, global_sink, install_global_sink};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Silent;

impl ExecutionTraceSink for Silent {}

fn times(n: usize) -> Program {
    // Each pair of negations is one rewrite.
    let mut text = String::from("ptir 1 func @f(%v0: f32[4]) -> f32[4] {\n");
    for i in 0..n {
        let (a, b, c) = (2 * i, 2 * i + 1, 2 * i + 2);
        text += &format!("%v{b} = neg %v{a} : f32[4]\n%v{c} = neg %v{b} : f32[4]\n");
    }
    parse(&format!("{text}return %v{} }}", 2 * n)).unwrap()
}

fn run_program() {
    let text = "ptir 1 func @f(%x: f32[2]) -> f32[2] { %y = exp %x : f32[2] return %y }";
    let program = parse(text).unwrap();
    let inputs: [Value; 1] = [Tensor::new(DataType::F32, [2], vec![1.0f32, 2.0]).into()];
    let backend = CpuBackend::exact();
    let traced = || backend.run_program(&program, &RunRequest::new("f"), &inputs).unwrap();
    // The same work without the trace hook.
    let (f, options) = (Name::new("f"), RunOptions::default());
    let plain = || {
        let found = backend.cache().find(&program, f);
        let ready = found.get_or_compile(|| Prepared::new(&program, "f", None)).unwrap();
        ready.run(&inputs, &options).unwrap()
    };
    let _ = (traced(), plain());
    let (_, without) = allocations_during(plain);
    let (_, with) = allocations_during(traced);
    assert!(without > 0);
    assert_eq!(with, without, "run_program with no sink");
    // With a sink, even one that does nothing, the types of the results are collected, so the hook exists.
    let guard = install_global_sink(Arc::new(Silent));
    let (_, told) = allocations_during(traced);
    assert!(told > without, "{told} with a sink");
    drop(guard);
    assert_eq!(allocations_during(traced).1, without, "after the guard is dropped");
}

fn rewrites() {
    let mut set = PatternSet::new();
    populate_canonicalization(&mut set);
    let set = set.freeze();
    let config = GreedyConfig::default();
    let plain = |n: usize| {
        let mut program = times(n);
        let f = program.function_mut("f").unwrap();
        let work = || apply_patterns_and_fold_greedily(f, &set, &config).unwrap();
        let (stats, allocations) = allocations_during(work);
        assert_eq!(stats.rewrites, n);
        allocations
    };
    let pass = parse_pipeline("canonicalize").unwrap().remove(0);
    let hooked = |n: usize| {
        let mut program = times(n);
        let mut cx = PassContext::new(1);
        let work = || pass.run_on_program(&mut program, &mut cx).unwrap();
        let (changed, allocations) = allocations_during(work);
        assert_eq!(changed, n > 0);
        allocations
    };
    let managed = |n: usize| {
        let mut program = times(n);
        let manager = PassManager::parse("canonicalize").unwrap().in_place(true);
        allocations_during(|| manager.run(&mut program).unwrap()).1
    };
    // Warm-up: allocations that happen once per process.
    let _ = (plain(1), hooked(1), managed(1));
    // One more rewrite allocates as much through the pass and its hook as without them.
    for n in [1, 2, 5, 9] {
        let one = |count: &dyn Fn(usize) -> usize| count(n + 1) as i64 - count(n) as i64;
        assert_eq!(one(&hooked), one(&plain), "rewrite {}", n + 1);
        assert_eq!(one(&managed), one(&plain), "rewrite {}", n + 1);
    }
    let before = managed(5);
    let log = Arc::new(StepLogSink::new());
    let guard = install_global_sink(log.clone());
    assert!(managed(5) > before, "with a sink");
    drop(guard);
    assert_eq!(log.text().matches(" at neg").count(), 5, "{}", log.text());
    assert_eq!(managed(5), before, "after the guard is dropped");
}

#[test]
fn without_a_sink_tracing_allocates_nothing() {
    // One test, because allocations of others would be counted, too.
    let (found, asked) =
        allocations_during(|| (0..1000).filter(|_| global_sink().is_some()).count());
    assert_eq!((found, asked), (0, 0));
    run_program();
    rewrites();
}
