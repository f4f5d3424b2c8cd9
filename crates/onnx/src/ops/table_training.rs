//! The ops of ai.onnx.preview.training, written by `tests/oracle/onnx_ops.py` from the schemas of onnx 1.23.2.

pub(super) const ROWS: &str = r#"
Adagrad 1 | R T inputs+ -> outputs+ | decay_factor: float = 0.0; epsilon: float = 1e-06; norm_coefficient: float = 0.0
Adam 1 | R T inputs+ -> outputs+ | alpha: float = 0.9; beta: float = 0.999; epsilon: float = 1e-06; norm_coefficient: float = 0.0;
    norm_coefficient_post: float = 0.0
Gradient 1 | Inputs+ -> Outputs+ | xs: strings; y: string; zs: strings?
Momentum 1 | R T inputs+ -> outputs+ | alpha: float; beta: float; mode: string; norm_coefficient: float
"#;
