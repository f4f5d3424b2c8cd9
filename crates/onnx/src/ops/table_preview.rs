//! The ops of ai.onnx.preview, written by `tests/oracle/onnx_ops.py` from the schemas of onnx 1.23.2.

pub(super) const ROWS: &str = r#"
FlexAttention 1 | Q K V -> Y | prob_mod: graph?; scale: float?; score_mod: graph?; softmax_precision: int?
"#;
