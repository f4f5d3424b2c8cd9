//! The newest versions of ONNX's operator sets, written by `tests/oracle/onnx_ops.py`.

pub(super) const NEWEST: &[(&str, i64)] =
    &[("", 28), ("ai.onnx.ml", 5), ("ai.onnx.preview", 1), ("ai.onnx.preview.training", 1)];
