//! Running programs; the peer is NumPy.

use super::BenchRow;
use super::PerformanceTarget::{AtMost, TimesPeer};

/// The measured programs: name, description, and the largest multiple of NumPy's time.
const WORKLOADS: [(&str, &str, f64); 5] = [
    ("matmul", "1024³ matrix product, f32", 1.5),
    ("add", "sum of two times 10^7 f32", 3.0),
    ("exp", "exponential of 10^7 f32", 3.0),
    ("softmax", "softmax of f32[4096, 1024] over the last axis", 3.0),
    ("layer_norm", "layer norm of f32[4096, 1024] over the last axis", 3.0),
];

pub(super) fn rows() -> Vec<BenchRow> {
    let mut rows = Vec::new();
    for (name, what, times) in WORKLOADS {
        let of_fast = [AtMost(20.0)];
        rows.push(BenchRow::new("eval", format!("run/{name}"), what, "ms", &[TimesPeer(times)]));
        rows.push(BenchRow::new(
            "eval",
            format!("exact/{name}"),
            format!("{what}: fixed order, relative to `run/{name}`"),
            "times",
            &of_fast,
        ));
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
