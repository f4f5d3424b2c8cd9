//! Tests of the lazy graph: capture, import, emit, flush.

use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use sapwood_ptir::eval::{RunOptions, Value, run};
use sapwood_ptir::prelude::*;
use sapwood_ptir::{Attr, OpParts, PtirRegion};
use sapwood_runtime::{
    Backend, CacheStats, CpuBackend, CpuError, LazyError, LazyGraph, LazyTensor,
};
use sapwood_testing::{cases, on_small_stack};
use sapwood_trace::{Execution, ExecutionTraceSink, install_global_sink};

type Error = LazyError<CpuError>;
type Tensor = LazyTensor<Value>;

fn graph() -> LazyGraph<CpuBackend> {
    LazyGraph::new(Arc::new(CpuBackend::exact()))
}

fn tensor(graph: &LazyGraph<CpuBackend>, numbers: &[f32]) -> Tensor {
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let literal = TensorLiteral::new(DataType::F32, &[numbers.len() as u64], &bytes).unwrap();
    graph.import(&literal).unwrap()
}

fn exp(graph: &LazyGraph<CpuBackend>, x: &Tensor) -> Tensor {
    graph
        .capture(|ctx| {
            let x = ctx.import(x)?;
            ctx.emit(Exp { input: x })
        })
        .unwrap()
}

fn add(graph: &LazyGraph<CpuBackend>, x: &Tensor, y: &Tensor) -> Tensor {
    let add = |ctx: &mut sapwood_runtime::CaptureContext<'_, CpuBackend>| {
        let (lhs, rhs) = (ctx.import(x)?, ctx.import(y)?);
        ctx.emit(Add { lhs, rhs })
    };
    graph.capture(add).unwrap()
}

fn softmax(graph: &LazyGraph<CpuBackend>, x: &Tensor) -> Tensor {
    graph
        .capture(|ctx| {
            let spec = x.ty().clone();
            let id = ctx.import(x)?;
            let mut ptir = PtirGraph::new(ctx);
            let x = ptir.import_spec("x", id, spec)?;
            let max = x.reduce_max(&mut ptir, [0], true)?.broadcast_like(&mut ptir, &x)?;
            let exp = x.sub(&mut ptir, &max)?.exp(&mut ptir)?;
            let sum = exp.reduce_sum(&mut ptir, [0], true, None)?.broadcast_like(&mut ptir, &x)?;
            Ok(exp.div(&mut ptir, &sum)?.id())
        })
        .unwrap()
}

fn bytes(graph: &LazyGraph<CpuBackend>, value: &Tensor) -> Vec<u8> {
    graph.literal(value).unwrap().stored_bytes().to_vec()
}

/// A sink that records every program that this thread runs, as text, and whether it was compiled before. The thread matters because other
/// tests run programs at the same time.
struct Programs {
    thread: ThreadId,
    ran: Mutex<Vec<(String, bool)>>,
}

impl ExecutionTraceSink for Programs {
    fn before(&self, execution: &Execution<'_>) {
        if thread::current().id() == self.thread {
            let mut list = self.ran.lock().unwrap();
            list.push((execution.program.to_string(), execution.cache_hit));
        }
    }
}

// All tests of the process share one global sink.
static ALONE: Mutex<()> = Mutex::new(());

fn programs_of(work: impl FnOnce()) -> Vec<(String, bool)> {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let sink = Arc::new(Programs { thread: thread::current().id(), ran: Mutex::default() });
    let guard = install_global_sink(sink.clone());
    work();
    drop(guard);
    sink.ran.lock().unwrap().clone()
}

#[test]
fn a_captured_softmax_equals_the_softmax_program() {
    let graph = graph();
    let x = tensor(&graph, &[1.0, 2.0, 4.0]);
    let y = softmax(&graph, &x);
    assert!(!y.is_computed());
    let text = "ptir 1 func @f(%x: f32[3]) -> f32[3] {
      %max = reduce_max %x {axes = [0], keepdims = true} : f32[1]
      %m = broadcast_to %max : f32[3]
      %d = sub %x, %m : f32[3]
      %e = exp %d : f32[3]
      %sum = reduce_sum %e {axes = [0], keepdims = true} : f32[1]
      %s = broadcast_to %sum : f32[3]
      %y = div %e, %s : f32[3]
      return %y
    }";
    let program = sapwood_ptir::parse(text).unwrap();
    let expected = run(&program, "f", &[x.buffer().unwrap()], &RunOptions::default()).unwrap();
    assert_eq!(bytes(&graph, &y), expected[0].to_literal().unwrap().stored_bytes());
    assert!(y.is_computed());
}

#[test]
fn a_structure_is_compiled_once() {
    let programs = programs_of(|| {
        let graph = graph();
        for n in 0..3 {
            let x = tensor(&graph, &[n as f32, 1.0, 2.0]);
            graph.flush(&[&softmax(&graph, &x)]).unwrap();
        }
        let stats = CacheStats { hits: 2, misses: 1, evictions: 0 };
        assert_eq!((graph.backend().cache().stats(), graph.backend().cache().len()), (stats, 1));
        // Other extents make another structure.
        let x = tensor(&graph, &[1.0, 2.0]);
        graph.flush(&[&softmax(&graph, &x)]).unwrap();
        assert_eq!(graph.backend().cache().len(), 2);
    });
    let hits: Vec<bool> = programs.iter().map(|&(_, hit)| hit).collect();
    assert_eq!(hits, [false, true, true, false]);
}

#[test]
fn graphs_that_share_a_backend_share_compiled_programs() {
    let backend = Arc::new(CpuBackend::fast());
    for _ in 0..4 {
        let graph = LazyGraph::new(backend.clone());
        let x = tensor(&graph, &[1.0]);
        graph.flush(&[&exp(&graph, &x)]).unwrap();
    }
    assert_eq!(backend.cache().stats(), CacheStats { hits: 3, misses: 1, evictions: 0 });
}

#[test]
fn a_flush_computes_only_missing_values() {
    let programs = programs_of(|| {
        let graph = graph();
        let x = tensor(&graph, &[1.0, 2.0]);
        let y = exp(&graph, &x);
        graph.flush(&[&y]).unwrap();
        let z = add(&graph, &y, &x);
        graph.flush(&[&z, &y, &z]).unwrap();
        // Everything is computed already.
        graph.flush(&[&z, &y, &x]).unwrap();
    });
    let ops: Vec<(bool, bool)> =
        programs.iter().map(|(text, _)| (text.contains("= exp"), text.contains("= add"))).collect();
    assert_eq!(ops, [(true, false), (false, true)]);
}

#[test]
fn shared_instructions_run_once_and_unused_ones_never() {
    let programs = programs_of(|| {
        let graph = graph();
        let x = tensor(&graph, &[1.0, 2.0]);
        let shared = exp(&graph, &x);
        let two = graph
            .capture_many(|ctx| {
                let v = ctx.import(&shared)?;
                let sin = ctx.emit(Sin { input: v })?;
                let cos = ctx.emit(Cos { input: v })?;
                Ok(vec![sin, cos])
            })
            .unwrap();
        let sum = add(&graph, &two[0], &shared);
        graph.flush(&[&sum]).unwrap();
        assert!(!two[1].is_computed());
    });
    let (text, _) = &programs[0];
    assert_eq!(text.matches("= exp").count(), 1, "{text}");
    assert_eq!(text.matches("= sin").count(), 1, "{text}");
    assert!(!text.contains("cos"), "{text}");
}

#[test]
fn values_of_other_graphs_are_refused() {
    let (one, other) = (graph(), graph());
    let x = tensor(&one, &[1.0]);
    let refused = other.capture(|ctx| ctx.import(&x)).unwrap_err();
    let expected = Error::Foreign { value: x.id(), expected: other.id(), found: one.id() };
    assert_eq!(refused, expected);
    let message = refused.to_string();
    assert!(message.contains(&format!("belongs to graph {}", one.id())), "{message}");
    assert_eq!(other.flush(&[&x]).unwrap_err(), expected);
    // A computed value can be imported into another graph.
    let taken = other.import_buffer(x.buffer().unwrap());
    assert_eq!(bytes(&other, &exp(&other, &taken)), bytes(&one, &exp(&one, &x)));
}

#[test]
fn a_value_of_another_builder_is_refused() {
    let graph = graph();
    let x = tensor(&graph, &[1.0]);
    let mut stolen = None;
    graph
        .capture(|ctx| {
            let id = ctx.import(&x)?;
            stolen = Some(PtirGraph::new(ctx).import(id)?);
            Ok(id)
        })
        .unwrap();
    let stolen = stolen.unwrap();
    let refused = graph.capture(|ctx| {
        let mut ptir = PtirGraph::new(ctx);
        Ok(stolen.exp(&mut ptir)?.id())
    });
    assert!(matches!(refused, Err(Error::Graph(GraphError::Foreign(_)))), "{refused:?}");
}

#[test]
fn a_capture_that_fails_leaves_nothing() {
    let graph = graph();
    let x = tensor(&graph, &[1.0]);
    let failed = graph.capture(|ctx| {
        let v = ctx.import(&x)?;
        ctx.emit(Exp { input: v })?;
        Err::<sapwood_ptir::ValueId, Error>(Error::Compose("no".into()))
    });
    assert_eq!(failed.unwrap_err(), Error::Compose("no".into()));
    let nowhere = graph.capture(|_| Ok(sapwood_ptir::ValueId::from_index(7)));
    assert!(matches!(nowhere, Err(Error::Graph(_))), "{nowhere:?}");
    let param = graph.capture(|ctx| Ok(ctx.parameter("p", x.ty().clone())));
    assert!(param.unwrap_err().to_string().contains("`import`"));
}

#[test]
fn effects_are_refused() {
    let graph = graph();
    let call = |effects: bool| {
        graph.capture(|ctx| {
            let mut parts = OpParts::new(CustomCall::key());
            parts.attrs.push(Attr::Str("print".into()));
            for row in Registry::builtin().get(CustomCall::key()).unwrap().attrs.iter().skip(1) {
                let flag = row.name == "has_side_effect";
                parts.attrs.push(match &row.default {
                    _ if flag => Attr::Bool(effects),
                    Some(default) => default.clone(),
                    None => Attr::Unit,
                });
            }
            parts.result_types.push(TensorType::new(DataType::F32, [1u64]).into());
            let made = PtirGraph::new(ctx).record_parts(&parts)?;
            Ok(made.into_value()?.id())
        })
    };
    assert_eq!(call(true).unwrap_err(), Error::Ordered("custom_call"));
    let pure = call(false).unwrap();
    assert!(matches!(graph.flush(&[&pure]), Err(Error::Backend(_))));
    assert!(!pure.is_computed());
}

#[test]
fn regions_are_taken_along_at_any_depth() {
    let depth = 30;
    let graph = graph();
    let x = tensor(&graph, &[1.0, 2.0]);
    let nested = |ctx: &mut sapwood_runtime::CaptureContext<'_, CpuBackend>| {
        let id = ctx.import(&x)?;
        let mut ptir = PtirGraph::new(ctx);
        let x = ptir.import(id)?;
        let yes = ptir.literal(&TensorLiteral::filled(DataType::Bool, &[], 1.0).unwrap());
        let out = inside(&mut ptir, &yes, &x, depth)?;
        Ok(out.id())
    };
    fn inside(
        graph: &mut PtirGraph<'_>,
        yes: &PtirValue,
        x: &PtirValue,
        depth: usize,
    ) -> Result<PtirValue, GraphError> {
        if depth == 0 {
            return x.neg(graph);
        }
        let branch = |graph: &mut PtirGraph<'_>| -> Result<PtirRegion, GraphError> {
            graph.region(&[], |graph, _| Ok(vec![inside(graph, yes, x, depth - 1)?]))
        };
        let then = branch(graph)?;
        let other = graph.region::<GraphError>(&[], |_, _| Ok(vec![x.clone()]))?;
        let results: PtirResults = graph.record(Cond {
            pred: graph.value_id(yes)?,
            then: graph.region_id(&then)?,
            otherwise: graph.region_id(&other)?,
        })?;
        results.into_value()
    }
    let y = graph.capture(nested).unwrap();
    let z = exp(&graph, &y);
    let expected: Vec<u8> = [-1.0f32, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    graph.flush(&[&z]).unwrap();
    assert_eq!(bytes(&graph, &y), expected);
}

#[test]
fn long_chains_are_flushed_and_dropped_on_a_small_stack() {
    on_small_stack(|| {
        let graph = graph();
        let mut x = tensor(&graph, &[1.0]);
        for _ in 0..20_000 {
            x = exp(&graph, &x);
        }
        assert_eq!(graph.literal(&x).unwrap().num_elements(), 1);
        let mut y = tensor(&graph, &[1.0]);
        for _ in 0..cases(50_000, 500_000) {
            y = exp(&graph, &y);
        }
        drop(y);
    });
}

#[test]
fn values_without_handles_are_freed() {
    let graph = graph();
    let x = tensor(&graph, &[1.0, 2.0]);
    let buffer = x.buffer().unwrap();
    let y = exp(&graph, &x);
    drop(x);
    graph.flush(&[&y]).unwrap();
    // The graph has dropped the input, so this is its only owner.
    let Value::Tensor(mut tensor) = buffer else { panic!("no tensor") };
    assert!(tensor.unique_mut::<f32>().is_some());
}

#[test]
fn a_failing_run_computes_nothing_and_can_be_asked_for_again() {
    let limits = RunOptions { max_steps: Some(2), ..RunOptions::default() };
    let graph = LazyGraph::new(Arc::new(CpuBackend::exact().with_limits(limits)));
    let x = tensor(&graph, &[1.0]);
    let mut y = x.clone();
    for _ in 0..5 {
        y = exp(&graph, &y);
    }
    for _ in 0..2 {
        let why = graph.flush(&[&y]).unwrap_err().to_string();
        assert!(why.contains("limit of 2 steps"), "{why}");
        assert!(!y.is_computed());
    }
}

#[test]
fn graphs_are_used_from_several_threads() {
    let graph = graph();
    let x = tensor(&graph, &[1.0, 2.0]);
    let y = exp(&graph, &exp(&graph, &x));
    let expected = {
        let other = self::graph();
        let x = tensor(&other, &[1.0, 2.0]);
        bytes(&other, &exp(&other, &exp(&other, &x)))
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(bytes(&graph, &y), expected);
                    graph.flush(&[&add(&graph, &y, &x)]).unwrap();
                }
            });
        }
    });
    assert_eq!(graph.backend().cache().stats().evictions, 0);
    assert!(graph.backend().cache().len() <= 2);
}
