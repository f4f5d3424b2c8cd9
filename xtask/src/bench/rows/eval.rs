//! Running programs; the peers are NumPy and XLA on the CPU.

use std::path::{Path, PathBuf};

use super::BenchRow;
use super::PerformanceTarget::{AtLeast, AtMost, TimesPeer};

/// Returns the folder of the models with eight times the batch, which `benches/peers/batched.py` writes: `$SAPWOOD_BATCHED`, or one in cargo's
/// target folder.
pub(crate) fn batched_folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("SAPWOOD_BATCHED") {
        return folder.into();
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    target.join("peers/batched")
}

/// The measured programs: name, description, and the largest multiple of NumPy's time.
const WORKLOADS: [(&str, &str, f64); 15] = [
    ("matmul", "1024³ matrix product, f32", 1.05),
    ("add", "sum of two times 10^7 f32", 1.05),
    ("exp", "exponential of 10^7 f32", 1.05),
    ("softmax", "softmax of f32[4096, 1024] over the last axis", 0.83),
    ("layer_norm", "layer norm of f32[4096, 1024] over the last axis", 0.83),
    ("gelu", "bias and GELU of f32[4096, 1024]", 0.83),
    ("conv_resnet", "3 by 3 convolution of f32[1, 56, 56, 64] to 64 features", 1.05),
    ("conv_mobilenet", "3 by 3 convolution of f32[1, 56, 56, 128], one kernel per feature", 1.05),
    ("attention", "attention of 8 heads, 256 positions of 64 elements, f32", 0.83),
    ("gather", "65,536 rows of f32[10000, 64]", 1.05),
    ("scatter", "sum of 65,536 rows into f32[10000, 64]", 1.05),
    ("sort", "sort of f32[1000, 1000] over the last axis", 1.05),
    ("transpose", "transpose of f32[2048, 2048]", 1.05),
    ("bf16_matmul", "512³ matrix product, bf16", 1.05),
    ("cumsum", "cumulative sum of f32[1024, 4096] over the last axis", 1.05),
];

pub(super) fn rows() -> Vec<BenchRow> {
    let mut rows = Vec::new();
    for (name, what, times) in WORKLOADS {
        rows.push(BenchRow::new("eval", format!("run/{name}"), what, "ms", &[TimesPeer(times)]));
        let xla = format!("{what}: compared with XLA");
        rows.push(BenchRow::new("eval", format!("xla/{name}"), xla, "ms", &[TimesPeer(4.0)]));
        rows.push(BenchRow::new(
            "eval",
            format!("exact/{name}"),
            format!("{what}: fixed order, relative to `run/{name}`"),
            "times",
            &[],
        ));
    }
    let what = "run the models: geometric mean, compared with XLA";
    rows.push(BenchRow::new("eval", "model/mean", what, "ms", &[TimesPeer(2.0)]));
    let batched = super::stablehlo::models_in(&batched_folder());
    for name in super::stablehlo::models().into_iter().chain(batched) {
        let what = format!("run {name}: compared with XLA");
        rows.push(BenchRow::new("eval", format!("model/{name}"), what, "ms", &[TimesPeer(4.0)]));
        let what = format!("run {name}: memory of values, without inputs, compared with XLA");
        let row = format!("memory/{name}");
        rows.push(BenchRow::new("eval", row, what, "bytes", &[TimesPeer(1.3)]));
        let what = format!("run {name}: memory that the plan predicts, relative to the measured");
        let row = format!("predicted/{name}");
        rows.push(BenchRow::new("eval", row, what, "times", &[AtLeast(0.98), AtMost(1.02)]));
    }
    let what = "verify and plan a program of 5,000 ops";
    rows.push(BenchRow::new("eval", "plan/5000", what, "ms", &[AtMost(20.0)]));
    rows.push(BenchRow::new(
        "eval",
        "loop",
        "a while loop of 10^6 steps over scalars, per instruction",
        "ns/node",
        &[],
    ));
    rows
}
