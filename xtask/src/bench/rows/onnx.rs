//! ONNX models, simplified by whole processes; the peer is onnxsim.

use super::BenchRow;
use super::PerformanceTarget::{TimesFaster, TimesPeer};

pub(super) fn rows() -> Vec<BenchRow> {
    bench_rows! { "onnx":
        "opt/all" in "ms" [TimesFaster(3.0)]: "file to file through opt, all models";
        "left/all" in "nodes" [TimesPeer(1.0)]: "nodes without constants after opt, all models";
    }
}
