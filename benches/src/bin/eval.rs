//! Running programs: the CPU kernels, compared with NumPy, with XLA and with the fixed-order evaluator.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sapwood_benches::{Area, best};
use sapwood_ptir::eval::{DataType, Prepared, RunOptions, Tensor, Value};
use sapwood_ptir::{TensorType, with_native};
use sapwood_runtime::FastKernels;
use sapwood_types::Source;

/// A workload: name, size, program, and the shapes of its inputs.
type Workload = (&'static str, u64, &'static str, &'static [&'static [usize]]);

const WORKLOADS: [Workload; 15] = [
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
    (
        "gelu",
        4096 * 1024,
        "ptir 1 func @f(%x: f32[4096, 1024], %b: f32[1024]) -> f32[4096, 1024] {
           %bias = broadcast_in_dim %b {dims = [1]} : f32[4096, 1024]
           %y = add %x, %bias : f32[4096, 1024]
           %half = constant 0.5 : f32[4096, 1024]
           %one = constant 1.0 : f32[4096, 1024]
           %root = constant 0.70710678 : f32[4096, 1024]
           %s = mul %y, %root : f32[4096, 1024]
           %e = erf %s : f32[4096, 1024]
           %p = add %e, %one : f32[4096, 1024]
           %q = mul %p, %y : f32[4096, 1024]
           %z = mul %q, %half : f32[4096, 1024]
           return %z }",
        &[&[4096, 1024], &[1024]],
    ),
    (
        "conv_resnet",
        56 * 56 * 64 * 64 * 9,
        "ptir 1 func @f(%x: f32[1, 56, 56, 64], %k: f32[3, 3, 64, 64]) -> f32[1, 56, 56, 64] {
           %y = convolution %x, %k {input_dims = [0, 3, 1, 2], kernel_dims = [2, 3, 0, 1],
             output_dims = [0, 3, 1, 2], pads = [[1, 1], [1, 1]]} : f32[1, 56, 56, 64]
           return %y }",
        &[&[1, 56, 56, 64], &[3, 3, 64, 64]],
    ),
    (
        "conv_mobilenet",
        56 * 56 * 128 * 9,
        "ptir 1 func @f(%x: f32[1, 56, 56, 128], %k: f32[3, 3, 1, 128]) -> f32[1, 56, 56, 128] {
           %y = convolution %x, %k {input_dims = [0, 3, 1, 2], kernel_dims = [2, 3, 0, 1],
             output_dims = [0, 3, 1, 2], pads = [[1, 1], [1, 1]], feature_groups = 128} : f32[1, 56, 56, 128]
           return %y }",
        &[&[1, 56, 56, 128], &[3, 3, 1, 128]],
    ),
    (
        "attention",
        8 * 256 * 256 * 64,
        "ptir 1 func @f(%q: f32[8, 256, 64], %k: f32[8, 256, 64], %v: f32[8, 256, 64]) -> f32[8, 256, 64] {
           %s = dot_general %q, %k {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [2]} : f32[8, 256, 256]
           %c = constant 0.125 : f32[8, 256, 256]
           %t = mul %s, %c : f32[8, 256, 256]
           %m = reduce_max %t {axes = [2], keepdims = true} : f32[8, 256, 1]
           %mb = broadcast_to %m : f32[8, 256, 256]
           %d = sub %t, %mb : f32[8, 256, 256]
           %e = exp %d : f32[8, 256, 256]
           %u = reduce_sum %e {axes = [2], keepdims = true} : f32[8, 256, 1]
           %ub = broadcast_to %u : f32[8, 256, 256]
           %p = div %e, %ub : f32[8, 256, 256]
           %o = dot_general %p, %v {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]} : f32[8, 256, 64]
           return %o }",
        &[&[8, 256, 64], &[8, 256, 64], &[8, 256, 64]],
    ),
    (
        "gather",
        65_536 * 64,
        "ptir 1 func @f(%x: f32[10000, 64], %a: i32[65536, 1]) -> f32[65536, 64] {
           %y = gather %x, %a {offset_dims = [1], collapsed_dims = [0], start_index_map = [0], index_vector_dim = 1,
             slice_sizes = [1, 64]} : f32[65536, 64]
           return %y }",
        &[&[10_000, 64], &[65_536, 1]],
    ),
    (
        "scatter",
        65_536 * 64,
        "ptir 1 func @f(%x: f32[10000, 64], %u: f32[65536, 64], %a: i32[65536, 1]) -> f32[10000, 64] {
           %y = scatter %x, %a, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims = [0],
             index_vector_dim = 1} (%v: f32[], %w: f32[]) { %z = add %v, %w : f32[] yield %z } : f32[10000, 64]
           return %y }",
        &[&[10_000, 64], &[65_536, 64], &[65_536, 1]],
    ),
    (
        "sort",
        1000 * 1000,
        "ptir 1 func @f(%x: f32[1000, 1000]) -> f32[1000, 1000] {
           %y = sort %x {axis = 1} (%a: f32[], %b: f32[]) {
             %p = compare %a, %b {direction = lt, order = total} : bool[] yield %p } : f32[1000, 1000]
           return %y }",
        &[&[1000, 1000]],
    ),
    (
        "transpose",
        2048 * 2048,
        "ptir 1 func @f(%x: f32[2048, 2048]) -> f32[2048, 2048] {
           %y = transpose %x {perm = [1, 0]} : f32[2048, 2048]
           return %y }",
        &[&[2048, 2048]],
    ),
    (
        "bf16_matmul",
        512 * 512 * 512,
        "ptir 1 func @f(%a: f32[512, 512], %b: f32[512, 512]) -> bf16[512, 512] {
           %x = cast %a : bf16[512, 512]
           %y = cast %b : bf16[512, 512]
           %c = dot_general %x, %y {lhs_contract = [1], rhs_contract = [0]} : bf16[512, 512]
           return %c }",
        &[&[512, 512], &[512, 512]],
    ),
    (
        "cumsum",
        1024 * 4096,
        "ptir 1 func @f(%x: f32[1024, 4096]) -> f32[1024, 4096] {
           %zero = constant 0.0 : f32[]
           %y = reduce_window %x, %zero {window = [1, 4096], pads = [[0, 0], [4095, 0]]} (%a: f32[], %b: f32[]) {
             %z = add %a, %b : f32[] yield %z } : f32[1024, 4096]
           return %y }",
        &[&[1024, 4096]],
    ),
];

fn main() {
    let area = Area::new("eval");
    // With an argument, only the models whose names contain it are run.
    let only = std::env::args().nth(1);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for (name, n, text, shapes) in WORKLOADS.into_iter().filter(|_| only.is_none()) {
        let inputs: Vec<Value> = shapes.iter().map(|shape| operand(shape)).collect();
        let fast = time(text, &inputs, true, threads, 7);
        let exact = time(text, &inputs, false, threads, 2);
        match (fast, exact) {
            (Ok(fast), Ok(exact)) => {
                // The peer of the first row is NumPy, that of the second is XLA.
                area.millis(&format!("run/{name}"), fast, n);
                area.millis(&format!("xla/{name}"), fast, n);
                let times = exact.as_secs_f64() / fast.as_secs_f64();
                area.row(&format!("exact/{name}"), times, "times", n);
            }
            (Err(why), _) | (_, Err(why)) => {
                area.failed(&format!("run/{name}"), &why);
                area.failed(&format!("xla/{name}"), &why);
                area.failed(&format!("exact/{name}"), &why);
            }
        }
    }
    models(&area, threads, only.as_deref().unwrap_or_default());
    if only.is_some() {
        return;
    }
    plan(&area);
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

// Measures the models of `$SAPWOOD_PROGRAMS`, and those with eight times the batch of `$SAPWOOD_BATCHED`, with the peak memory of each.
fn models(area: &Area, threads: usize, only: &str) {
    let folders = ["SAPWOOD_PROGRAMS", "SAPWOOD_BATCHED"].into_iter().filter_map(std::env::var_os);
    let mut paths: Vec<(String, PathBuf)> = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let named = entries
            .map(|e| (e.file_name().to_string_lossy().into_owned(), e.path().join("model.mlir")));
        let mut found: Vec<_> =
            named.filter(|(name, path)| path.is_file() && name.contains(only)).collect();
        found.sort();
        paths.extend(found);
    }
    let mut logarithms = Vec::new();
    for (name, path) in paths {
        let [row, memory, predicted] =
            ["model", "memory", "predicted"].map(|kind| format!("{kind}/{name}"));
        match model(&path, threads) {
            Ok(measured) => {
                area.millis(&row, measured.time, 1);
                logarithms.push(measured.time.as_secs_f64().ln());
                area.row(&memory, measured.peak as f64, "bytes", 1);
                match measured.predicted {
                    Some(bytes) => {
                        let share = bytes as f64 / measured.peak.max(1) as f64;
                        area.row(&predicted, share, "times", 1);
                    }
                    None => area.failed(&predicted, "the memory of a kernel is not known"),
                }
            }
            Err(why) => {
                [row, memory, predicted].iter().for_each(|row| area.failed(row, &why));
            }
        }
    }
    if !logarithms.is_empty() {
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        let mean = Duration::from_secs_f64(mean.exp());
        area.millis("model/mean", mean, logarithms.len() as u64);
    }
}

// Measures verifying and planning a program of 5,000 ops: layers of a product, bias, GELU, norm and a sum with the layer before.
fn plan(area: &Area) {
    const LAYER_OPS: usize = 20;
    let mut text =
        "ptir 1 func @f(%x0: f32[8, 16], %w: f32[16, 16], %b: f32[16]) -> f32[8, 16] {\n"
            .to_string();
    let layers = 5000 / LAYER_OPS;
    for i in 0..layers {
        let next = i + 1;
        text.push_str(&format!(
            "%p{i} = dot_general %x{i}, %w {{lhs_contract = [1], rhs_contract = [0]}} : f32[8, 16]
             %v{i} = broadcast_in_dim %b {{dims = [1]}} : f32[8, 16]
             %q{i} = add %p{i}, %v{i} : f32[8, 16]
             %h{i} = constant 0.5 : f32[8, 16]
             %s{i} = mul %q{i}, %h{i} : f32[8, 16]
             %e{i} = erf %s{i} : f32[8, 16]
             %g{i} = mul %e{i}, %q{i} : f32[8, 16]
             %m{i} = reduce_sum %g{i} {{axes = [1], keepdims = true}} : f32[8, 1]
             %n{i} = constant 16.0 : f32[8, 1]
             %a{i} = div %m{i}, %n{i} : f32[8, 1]
             %c{i} = broadcast_to %a{i} : f32[8, 16]
             %d{i} = sub %g{i}, %c{i} : f32[8, 16]
             %k{i} = mul %d{i}, %d{i} : f32[8, 16]
             %l{i} = reduce_sum %k{i} {{axes = [1], keepdims = true}} : f32[8, 1]
             %o{i} = add %l{i}, %n{i} : f32[8, 1]
             %r{i} = rsqrt %o{i} : f32[8, 1]
             %t{i} = broadcast_to %r{i} : f32[8, 16]
             %u{i} = mul %d{i}, %t{i} : f32[8, 16]
             %z{i} = reshape %u{i} : f32[8, 16]
             %x{next} = add %z{i}, %x{i} : f32[8, 16]\n"
        ));
    }
    text.push_str(&format!("return %x{layers} }}"));
    match sapwood_ptir::parse(&text) {
        Ok(program) => {
            let prepare = || Prepared::new(&program, "f", Some(&FastKernels)).is_ok();
            area.millis("plan/5000", best(5, prepare), (layers * LAYER_OPS) as u64);
        }
        Err(error) => area.failed("plan/5000", &error.to_string()),
    }
}

/// The time of a run, and the most bytes that its values take at a time: measured, and known before.
struct MeasuredModel {
    time: Duration,
    peak: u64,
    predicted: Option<u64>,
}

fn model(path: &Path, threads: usize) -> Result<MeasuredModel, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let module = sapwood_stablehlo::read(&Source::new("model.mlir", text.as_str()));
    let program = module.map_err(|e| format!("{e:?}"))?.program;
    let main = program.function("main").ok_or("no function `main`")?;
    let inputs: Vec<Value> = main
        .params()
        .iter()
        .map(|&param| main.value_type(param).as_tensor().map(input))
        .collect::<Option<_>>()
        .ok_or("a parameter is not a tensor")?;
    let prepared =
        Prepared::new(&program, "main", Some(&FastKernels)).map_err(|e| e.to_string())?;
    let options = RunOptions { threads, ..RunOptions::default() };
    let first = best(1, || prepared.run(&inputs, &options).is_ok());
    prepared.run(&inputs, &options).map_err(|e| e.to_string())?;
    let repeats = (1_000_000_000 / first.as_nanos().max(1)).clamp(5, 300) as usize;
    let time = best(repeats, || prepared.run(&inputs, &options));
    let (peak, predicted) = (prepared.peak_bytes(), prepared.predicted_peak_bytes());
    Ok(MeasuredModel { time, peak, predicted })
}

// Returns an input of a model, the same as the peer's.
fn input(ty: &TensorType) -> Value {
    let shape: Vec<usize> = ty.dims.iter().map(|d| d.known().unwrap_or(1) as usize).collect();
    let len: usize = shape.iter().product();
    match ty.dtype {
        DataType::F32 => {
            let element = |i| (i * 7919 % 1000) as f32 / 1000.0 - 0.5;
            Tensor::new(ty.dtype, shape, (0..len).map(element).collect::<Vec<f32>>()).into()
        }
        DataType::I32 => {
            let element = |i| (i * 7919 % 10_007) as i32;
            Tensor::new(ty.dtype, shape, (0..len).map(element).collect::<Vec<i32>>()).into()
        }
        dtype => {
            with_native!(dtype, T => Tensor::new(dtype, shape, vec![T::default(); len]).into())
        }
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

// Returns an input of a workload: the row numbers of `gather` and `scatter`, or random numbers.
fn operand(shape: &[usize]) -> Value {
    if shape != [65_536, 1] {
        return random(shape);
    }
    let row = |i: i32| (i.wrapping_mul(7919) % 10_000).abs();
    Tensor::new(DataType::I32, shape, (0..65_536).map(row).collect::<Vec<i32>>()).into()
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
