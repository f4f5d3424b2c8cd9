//! Running programs: the CPU kernels, compared with NumPy and with the fixed-order evaluator.

use std::sync::Arc;
use std::time::Duration;

use sapwood_benches::{Area, best};
use sapwood_ptir::eval::{DataType, Prepared, RunOptions, Tensor, Value};
use sapwood_runtime::FastKernels;

/// A workload: name, size, program, and the shapes of its inputs.
type Workload = (&'static str, u64, &'static str, &'static [&'static [usize]]);

const WORKLOADS: [Workload; 5] = [
    (
        "matmul",
        1 << 30,
        "ptir 1 func @f(%a: f32[1024, 1024], %b: f32[1024, 1024]) -> f32[1024, 1024] {
           %c = dot_general %a, %b {lhs_contract = [1], rhs_contract = [0]} : f32[1024, 1024]
           return %c }",
        &[&[1024, 1024], &[1024, 1024]],
    ),
    (
        "add",
        10_000_000,
        "ptir 1 func @f(%x: f32[10000000], %y: f32[10000000]) -> f32[10000000] {
           %z = add %x, %y : f32[10000000]
           return %z }",
        &[&[10_000_000], &[10_000_000]],
    ),
    (
        "exp",
        10_000_000,
        "ptir 1 func @f(%x: f32[10000000]) -> f32[10000000] {
           %z = exp %x : f32[10000000]
           return %z }",
        &[&[10_000_000]],
    ),
    (
        "softmax",
        4096 * 1024,
        "ptir 1 func @f(%x: f32[4096, 1024]) -> f32[4096, 1024] {
           %max = reduce_max %x {axes = [1], keepdims = true} : f32[4096, 1]
           %b = broadcast_to %max : f32[4096, 1024]
           %d = sub %x, %b : f32[4096, 1024]
           %e = exp %d : f32[4096, 1024]
           %sum = reduce_sum %e {axes = [1], keepdims = true} : f32[4096, 1]
           %s = broadcast_to %sum : f32[4096, 1024]
           %y = div %e, %s : f32[4096, 1024]
           return %y }",
        &[&[4096, 1024]],
    ),
    (
        "layer_norm",
        4096 * 1024,
        "ptir 1 func @f(%x: f32[4096, 1024]) -> f32[4096, 1024] {
           %n = constant 1024.0 : f32[4096, 1]
           %small = constant 1e-5 : f32[4096, 1]
           %sum = reduce_sum %x {axes = [1], keepdims = true} : f32[4096, 1]
           %mean = div %sum, %n : f32[4096, 1]
           %m = broadcast_to %mean : f32[4096, 1024]
           %d = sub %x, %m : f32[4096, 1024]
           %squares = mul %d, %d : f32[4096, 1024]
           %total = reduce_sum %squares {axes = [1], keepdims = true} : f32[4096, 1]
           %variance = div %total, %n : f32[4096, 1]
           %lifted = add %variance, %small : f32[4096, 1]
           %root = sqrt %lifted : f32[4096, 1]
           %r = broadcast_to %root : f32[4096, 1024]
           %y = div %d, %r : f32[4096, 1024]
           return %y }",
        &[&[4096, 1024]],
    ),
];

fn main() {
    let area = Area::new("eval");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for (name, n, text, shapes) in WORKLOADS {
        let inputs: Vec<Value> = shapes.iter().map(|shape| random(shape)).collect();
        let fast = time(text, &inputs, true, threads, 7);
        let exact = time(text, &inputs, false, threads, 2);
        match (fast, exact) {
            (Ok(fast), Ok(exact)) => {
                area.millis(&format!("run/{name}"), fast, n);
                let times = exact.as_secs_f64() / fast.as_secs_f64();
                area.row(&format!("exact/{name}"), times, "times", n);
            }
            (Err(why), _) | (_, Err(why)) => {
                area.failed(&format!("run/{name}"), &why);
                area.failed(&format!("exact/{name}"), &why);
            }
        }
    }
    let steps = 1_000_000u64;
    let text = format!(
        "ptir 1 func @f() -> i32[] {{
           %zero = constant 0 : i32[]
           %one = constant 1 : i32[]
           %end = constant {steps} : i32[]
           %r = while %zero (%i: i32[]) {{ %go = compare %i, %end {{direction = lt}} : bool[] yield %go }}
             (%j: i32[]) {{ %next = add %j, %one : i32[] yield %next }} : i32[]
           return %r }}"
    );
    match time(&text, &[], false, 1, 3) {
        Ok(time) => area.per_node("loop", time, steps * 4),
        Err(why) => area.failed("loop", &why),
    }
}

fn time(
    text: &str,
    inputs: &[Value],
    fast: bool,
    threads: usize,
    repeats: usize,
) -> Result<Duration, String> {
    let program = sapwood_ptir::parse(text).map_err(|e| e.to_string())?;
    let options = RunOptions { threads, ..RunOptions::default() };
    let kernels = Arc::new(FastKernels);
    let prepared = Prepared::new(&program, "f", if fast { Some(&*kernels) } else { None })
        .map_err(|e| e.to_string())?;
    prepared.run(inputs, &options).map_err(|e| e.to_string())?;
    Ok(best(repeats, || prepared.run(inputs, &options)))
}

// Returns a tensor of random numbers between -2 and 2, the same in every run.
fn random(shape: &[usize]) -> Value {
    let mut state = 0x9e37_79b9u32;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / (u32::MAX / 4) as f32 - 2.0
    };
    let elements: Vec<f32> = std::iter::repeat_with(next).take(shape.iter().product()).collect();
    Tensor::new(DataType::F32, shape, elements).into()
}
