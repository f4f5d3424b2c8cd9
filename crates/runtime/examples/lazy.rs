//! A lazy graph with a trace of its runs: `cargo run --example lazy -p sapwood-runtime`.
#![allow(clippy::print_stdout)] // an example talks to its reader

use std::sync::Arc;

use sapwood_ptir::prelude::*;
use sapwood_runtime::{Backend as _, CpuBackend, LazyGraph};
use sapwood_trace::{Execution, ExecutionResult, ExecutionTraceSink, install_global_sink};

/// A trace sink that prints every run.
struct PrintingSink;

impl ExecutionTraceSink for PrintingSink {
    fn after(&self, execution: &Execution<'_>, finished: &ExecutionResult) {
        let known = if execution.cache_hit { "known" } else { "compiled" };
        let ended = if finished.outputs.is_ok() { "ok" } else { "failed" };
        let insts = execution.program.num_insts();
        println!("@{}, {insts} instructions, {known}: {ended}", execution.function);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _guard = install_global_sink(Arc::new(PrintingSink));
    let graph = LazyGraph::new(Arc::new(CpuBackend::exact())).named("softmax");
    for scale in [1.0f32, 2.0] {
        let numbers = [0.0, scale, 2.0 * scale].map(f32::to_le_bytes).concat();
        let x = graph.import(&TensorLiteral::new(DataType::F32, &[3], &numbers)?)?;
        let y = graph.capture(|ctx| {
            let x = ctx.import(&x)?;
            let mut ptir = PtirGraph::new(ctx);
            let x = ptir.import(x)?;
            let max = x.reduce_max(&mut ptir, [0], true)?.broadcast_like(&mut ptir, &x)?;
            let exp = x.sub(&mut ptir, &max)?.exp(&mut ptir)?;
            let sum = exp.reduce_sum(&mut ptir, [0], true, None)?.broadcast_like(&mut ptir, &x)?;
            Ok(exp.div(&mut ptir, &sum)?.id())
        })?;
        println!("{}", graph.flush(&[&y])?[0]);
    }
    println!("{:?}", graph.backend().cache().stats());
    Ok(())
}
