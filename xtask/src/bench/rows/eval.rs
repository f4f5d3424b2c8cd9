//! Running programs; the peers are NumPy and XLA on the CPU.

use super::BenchRow;
use super::PerformanceTarget::{AtLeast, AtMost, TimesPeer};

/// The measured programs: name, description, the largest multiple of NumPy's time, and how much slower the fixed order may be.
const WORKLOADS: [(&str, &str, f64, f64); 15] = [
    ("matmul", "1024³ matrix product, f32", 1.05, 20.0),
    ("add", "sum of two times 10^7 f32", 1.05, 20.0),
    ("exp", "exponential of 10^7 f32", 1.05, 40.0),
    ("softmax", "softmax of f32[4096, 1024] over the last axis", 0.83, 40.0),
    ("layer_norm", "layer norm of f32[4096, 1024] over the last axis", 0.83, 40.0),
    ("gelu", "bias and GELU of f32[4096, 1024]", 0.83, 100.0),
    ("conv_resnet", "3 by 3 convolution of f32[1, 56, 56, 64] to 64 features", 1.05, 100.0),
    (
        "conv_mobilenet",
        "3 by 3 convolution of f32[1, 56, 56, 128], one kernel per feature",
        1.05,
        400.0,
    ),
    ("attention", "attention of 8 heads, 256 positions of 64 elements, f32", 0.83, 40.0),
    ("gather", "65,536 rows of f32[10000, 64]", 1.05, 40.0),
    ("scatter", "sum of 65,536 rows into f32[10000, 64]", 1.05, 40.0),
    ("sort", "sort of f32[1000, 1000] over the last axis", 1.05, 40.0),
    ("transpose", "transpose of f32[2048, 2048]", 1.05, 40.0),
    ("bf16_matmul", "512³ matrix product, bf16", 1.05, 100.0),
    ("cumsum", "cumulative sum of f32[1024, 4096] over the last axis", 1.05, 20.0),
];

pub(super) fn rows() -> Vec<BenchRow> {
    let mut rows = Vec::new();
    for (name, what, times, exact) in WORKLOADS {
        rows.push(BenchRow::new("eval", format!("run/{name}"), what, "ms", &[TimesPeer(times)]));
        let xla = format!("{what}: compared with XLA");
        rows.push(BenchRow::new("eval", format!("xla/{name}"), xla, "ms", &[TimesPeer(4.0)]));
        rows.push(BenchRow::new(
            "eval",
            format!("exact/{name}"),
            format!("{what}: fixed order, relative to `run/{name}`"),
            "times",
            &[AtMost(exact)],
        ));
    }
    for name in super::stablehlo::models() {
        let what = format!("run {name}: compared with XLA");
        rows.push(BenchRow::new("eval", format!("model/{name}"), what, "ms", &[TimesPeer(4.0)]));
        let what = format!("run {name}: memory of values, without inputs, compared with XLA");
        let row = format!("memory/{name}");
        rows.push(BenchRow::new("eval", row, what, "bytes", &[TimesPeer(1.3)]));
        let what = format!("run {name}: memory that the plan predicts, relative to the measured");
        let row = format!("predicted/{name}");
        rows.push(BenchRow::new("eval", row, what, "times", &[AtLeast(0.98), AtMost(1.02)]));
    }
    rows.push(BenchRow::new(
        "eval",
        "loop",
        "a while loop of 10^6 steps over scalars, per instruction",
        "ns/node",
        &[],
    ));
    rows
}
