//! The ops of ai.onnx, A to L, written by `tests/oracle/onnx_ops.py` from the schemas of onnx 1.23.2.

pub(super) const ROWS: &str = r#"
Abs 1 | X -> Y | consumed_inputs: ints?
Abs 6 13 | X -> Y
Acos 7 22 | input -> output
Acosh 9 22 | input -> output
Add 1 | A B -> C | axis: int?; broadcast: int = 0; consumed_inputs: ints?
Add 6 | A B -> C | axis: int?; broadcast: int = 0
Add 7 13 14 | A B -> C
AffineGrid 20 | theta size -> grid | align_corners: int = 0
And 1 | A B -> C | axis: int?; broadcast: int = 0
And 7 | A B -> C
ArgMax 1 11 | data -> reduced | axis: int = 0; keepdims: int = 1
ArgMax 12 13 | data -> reduced | axis: int = 0; keepdims: int = 1; select_last_index: int = 0
ArgMin 1 11 | data -> reduced | axis: int = 0; keepdims: int = 1
ArgMin 12 13 | data -> reduced | axis: int = 0; keepdims: int = 1; select_last_index: int = 0
Asin 7 22 | input -> output
Asinh 9 22 | input -> output
Atan 7 22 | input -> output
Atanh 9 22 | input -> output
Attention 23 | Q K V attn_mask? past_key? past_value? -> Y present_key? present_value? qk_matmul_output? | is_causal: int = 0; kv_num_heads:
    int?; q_num_heads: int?; qk_matmul_output_mode: int = 0; scale: float?; softcap: float = 0.0; softmax_precision: int?
Attention 24 | Q K V attn_mask? past_key? past_value? nonpad_kv_seqlen? -> Y present_key? present_value? qk_matmul_output? | is_causal: int
    = 0; kv_num_heads: int?; q_num_heads: int?; qk_matmul_output_mode: int = 0; scale: float?; softcap: float = 0.0; softmax_precision: int?
Attention 25 | Q K V attn_mask? past_key? past_value? nonpad_kv_seqlen? -> Y present_key? present_value? qk_matmul_output? | is_causal: int
    = 0; kv_num_heads: int?; left_window_size: int = -1; q_num_heads: int?; qk_matmul_output_mode: int = 0; right_window_size: int = -1;
    scale: float?; softcap: float = 0.0; softmax_precision: int?
AveragePool 1 | X -> Y | auto_pad: string = "NOTSET"; kernel_shape: ints; pads: ints?; strides: ints?
AveragePool 7 | X -> Y | auto_pad: string = "NOTSET"; count_include_pad: int = 0; kernel_shape: ints; pads: ints?; strides: ints?
AveragePool 10 11 | X -> Y | auto_pad: string = "NOTSET"; ceil_mode: int = 0; count_include_pad: int = 0; kernel_shape: ints; pads: ints?;
    strides: ints?
AveragePool 19 22 | X -> Y | auto_pad: string = "NOTSET"; ceil_mode: int = 0; count_include_pad: int = 0; dilations: ints?; kernel_shape:
    ints; pads: ints?; strides: ints?
BatchNormalization 1 | X scale B mean var -> Y mean? var? saved_mean? saved_var? | consumed_inputs: ints; epsilon: float = 1e-05; is_test:
    int = 0; momentum: float = 0.9; spatial: int = 1
BatchNormalization 6 | X scale B mean var -> Y mean? var? saved_mean? saved_var? | epsilon: float = 1e-05; is_test: int = 0; momentum: float
    = 0.9; spatial: int = 1
BatchNormalization 7 | X scale B mean var -> Y mean? var? saved_mean? saved_var? | epsilon: float = 1e-05; momentum: float = 0.9; spatial:
    int = 1
BatchNormalization 9 | X scale B mean var -> Y mean? var? saved_mean? saved_var? | epsilon: float = 1e-05; momentum: float = 0.9
BatchNormalization 14 15 | X scale B input_mean input_var -> Y running_mean? running_var? | epsilon: float = 1e-05; momentum: float = 0.9;
    training_mode: int = 0
Bernoulli 15 22 | input -> output | dtype: int?; seed: float?
BitCast 26 | input -> output | to: int
BitShift 11 28 | X Y -> Z | direction: string
BitwiseAnd 18 | A B -> C
BitwiseNot 18 | X -> Y
BitwiseOr 18 | A B -> C
BitwiseXor 18 | A B -> C
BlackmanWindow 17 | size -> output | output_datatype: int = 1; periodic: int = 1
Cast 1 | input -> output | to: string
Cast 6 9 13 | input -> output | to: int
Cast 19 21 23 | input -> output | saturate: int = 1; to: int
Cast 24 25 28 | input -> output | round_mode: string = "up"; saturate: int = 1; to: int
CastLike 15 | input target_type -> output
CastLike 19 21 23 | input target_type -> output | saturate: int = 1
CastLike 24 25 | input target_type -> output | round_mode: string = "up"; saturate: int = 1
CausalConvWithState 27 | input weight bias? past_state? -> output present_state | activation: string = "none"
Ceil 1 | X -> Y | consumed_inputs: ints?
Ceil 6 13 | X -> Y
Celu 12 28 | X -> Y | alpha: float = 1.0
CenterCropPad 18 | input_data shape -> output_data | axes: ints?
Clip 1 | input -> output | consumed_inputs: ints?; max: float?; min: float?
Clip 6 | input -> output | max: float = 3.4028235e+38; min: float = -3.4028235e+38
Clip 11 12 13 | input min? max? -> output
Col2Im 18 | input image_shape block_shape -> output | dilations: ints?; pads: ints?; strides: ints?
Compress 9 11 28 | input condition -> output | axis: int?
Concat 1 | inputs+ -> concat_result | axis: int?
Concat 4 11 13 | inputs+ -> concat_result | axis: int
ConcatFromSequence 11 | input_sequence -> concat_result | axis: int; new_axis: int = 0
Constant 1 9 | -> output | value: tensor
Constant 11 | -> output | sparse_value: sparse_tensor?; value: tensor?
Constant 12 13 19 21 23 24 25 | -> output | sparse_value: sparse_tensor?; value: tensor?; value_float: float?; value_floats: floats?;
    value_int: int?; value_ints: ints?; value_string: string?; value_strings: strings?
ConstantOfShape 9 20 21 23 24 25 | input -> output | value: tensor?
Conv 1 11 22 | X W B? -> Y | auto_pad: string = "NOTSET"; dilations: ints?; group: int = 1; kernel_shape: ints?; pads: ints?; strides: ints?
ConvInteger 10 | x w x_zero_point? w_zero_point? -> y | auto_pad: string = "NOTSET"; dilations: ints?; group: int = 1; kernel_shape: ints?;
    pads: ints?; strides: ints?
ConvTranspose 1 11 22 | X W B? -> Y | auto_pad: string = "NOTSET"; dilations: ints?; group: int = 1; kernel_shape: ints?; output_padding:
    ints?; output_shape: ints?; pads: ints?; strides: ints?
Cos 7 22 | input -> output
Cosh 9 22 | input -> output
CumProd 26 | x axis -> y | exclusive: int = 0; reverse: int = 0
CumSum 11 14 | x axis -> y | exclusive: int = 0; reverse: int = 0
DFT 17 | input dft_length? -> output | axis: int = 1; inverse: int = 0; onesided: int = 0
DFT 20 | input dft_length? axis? -> output | inverse: int = 0; onesided: int = 0
DeformConv 19 22 | X W offset B? mask? -> Y | dilations: ints?; group: int = 1; kernel_shape: ints?; offset_group: int = 1; pads: ints?;
    strides: ints?
DepthToSpace 1 | input -> output | blocksize: int
DepthToSpace 11 13 28 | input -> output | blocksize: int; mode: string = "DCR"
DequantizeLinear 10 | x x_scale x_zero_point? -> y
DequantizeLinear 13 19 | x x_scale x_zero_point? -> y | axis: int = 1
DequantizeLinear 21 | x x_scale x_zero_point? -> y | axis: int = 1; block_size: int = 0
DequantizeLinear 23 24 25 28 | x x_scale x_zero_point? -> y | axis: int = 1; block_size: int = 0; output_dtype: int = 0
Det 11 22 | X -> Y
Div 1 | A B -> C | axis: int?; broadcast: int = 0; consumed_inputs: ints?
Div 6 | A B -> C | axis: int?; broadcast: int = 0
Div 7 13 14 | A B -> C
Dropout 1 | data -> output mask? | consumed_inputs: ints?; is_test: int = 0; ratio: float = 0.5
Dropout 6 | data -> output mask? | is_test: int = 0; ratio: float = 0.5
Dropout 7 10 | data -> output mask? | ratio: float = 0.5
Dropout 12 13 22 | data ratio? training_mode? -> output mask? | seed: int?
DynamicQuantizeLinear 11 | x -> y y_scale y_zero_point
Einsum 12 28 | Inputs+ -> Output | equation: string
Elu 1 | X -> Y | alpha: float = 1.0; consumed_inputs: ints?
Elu 6 22 | X -> Y | alpha: float = 1.0
Equal 1 | A B -> C | axis: int?; broadcast: int = 0
Equal 7 11 13 19 | A B -> C
Erf 9 13 | input -> output
Exp 1 | input -> output | consumed_inputs: ints?
Exp 6 13 | input -> output
Expand 8 13 | input shape -> output
EyeLike 9 22 | input -> output | dtype: int?; k: int = 0
Flatten 1 9 11 13 21 23 24 25 | input -> output | axis: int = 1
Floor 1 | X -> Y | consumed_inputs: ints?
Floor 6 13 | X -> Y
GRU 1 | X W R B? sequence_lens? initial_h? -> Y? Y_h | activation_alpha: floats?; activation_beta: floats?; activations: strings?; clip:
    float?; direction: string = "foward"; hidden_size: int?; output_sequence: int = 0
GRU 3 | X W R B? sequence_lens? initial_h? -> Y? Y_h? | activation_alpha: floats?; activation_beta: floats?; activations: strings?; clip:
    float?; direction: string = "forward"; hidden_size: int?; linear_before_reset: int = 0; output_sequence: int = 0
GRU 7 | X W R B? sequence_lens? initial_h? -> Y? Y_h? | activation_alpha: floats?; activation_beta: floats?; activations: strings?; clip:
    float?; direction: string = "forward"; hidden_size: int?; linear_before_reset: int = 0
GRU 14 22 | X W R B? sequence_lens? initial_h? -> Y? Y_h? | activation_alpha: floats?; activation_beta: floats?; activations: strings?;
    clip: float?; direction: string = "forward"; hidden_size: int?; layout: int = 0; linear_before_reset: int = 0
Gather 1 11 13 | data indices -> output | axis: int = 0
GatherElements 11 13 | data indices -> output | axis: int = 0
GatherND 11 | data indices -> output
GatherND 12 13 | data indices -> output | batch_dims: int = 0
Gelu 20 | X -> Y | approximate: string = "none"
Gemm 1 6 | A B C -> Y | alpha: float = 1.0; beta: float = 1.0; broadcast: int = 0; transA: int = 0; transB: int = 0
Gemm 7 9 | A B C -> Y | alpha: float = 1.0; beta: float = 1.0; transA: int = 0; transB: int = 0
Gemm 11 13 | A B C? -> Y | alpha: float = 1.0; beta: float = 1.0; transA: int = 0; transB: int = 0
GlobalAveragePool 1 22 | X -> Y
GlobalLpPool 1 | X -> Y | p: float = 2.0
GlobalLpPool 2 22 | X -> Y | p: int = 2
GlobalMaxPool 1 22 | X -> Y
Greater 1 | A B -> C | axis: int?; broadcast: int = 0
Greater 7 9 13 | A B -> C
GreaterOrEqual 12 16 | A B -> C
GridSample 16 | X grid -> Y | align_corners: int = 0; mode: string = "bilinear"; padding_mode: string = "zeros"
GridSample 20 22 | X grid -> Y | align_corners: int = 0; mode: string = "linear"; padding_mode: string = "zeros"
GroupNormalization 18 | deprecated
GroupNormalization 21 | X scale bias -> Y | epsilon: float = 1e-05; num_groups: int; stash_type: int = 1
HammingWindow 17 | size -> output | output_datatype: int = 1; periodic: int = 1
HannWindow 17 | size -> output | output_datatype: int = 1; periodic: int = 1
HardSigmoid 1 | X -> Y | alpha: float = 0.2; beta: float = 0.5; consumed_inputs: ints?
HardSigmoid 6 22 | X -> Y | alpha: float = 0.2; beta: float = 0.5
HardSwish 14 22 | X -> Y
Hardmax 1 11 | input -> output | axis: int = 1
Hardmax 13 | input -> output | axis: int = -1
Identity 1 13 14 16 19 21 23 24 25 | input -> output
If 1 11 13 16 19 21 23 24 25 | cond -> outputs+ | else_branch: graph; then_branch: graph
ImageDecoder 20 | encoded_stream -> image | pixel_format: string = "RGB"
InstanceNormalization 1 | input scale B -> output | consumed_inputs: ints?; epsilon: float = 1e-05
InstanceNormalization 6 22 | input scale B -> output | epsilon: float = 1e-05
IsInf 10 20 | X -> Y | detect_negative: int = 1; detect_positive: int = 1
IsNaN 9 13 20 | X -> Y
LRN 1 13 | X -> Y | alpha: float = 0.0001; beta: float = 0.75; bias: float = 1.0; size: int
LSTM 1 | X W R B? sequence_lens? initial_h? initial_c? P? -> Y? Y_h? Y_c? | activation_alpha: floats?; activation_beta: floats?;
    activations: strings?; clip: float?; direction: string = "forward"; hidden_size: int?; input_forget: int = 0; output_sequence: int = 0
LSTM 7 | X W R B? sequence_lens? initial_h? initial_c? P? -> Y? Y_h? Y_c? | activation_alpha: floats?; activation_beta: floats?;
    activations: strings?; clip: float?; direction: string = "forward"; hidden_size: int?; input_forget: int = 0
LSTM 14 22 | X W R B? sequence_lens? initial_h? initial_c? P? -> Y? Y_h? Y_c? | activation_alpha: floats?; activation_beta: floats?;
    activations: strings?; clip: float?; direction: string = "forward"; hidden_size: int?; input_forget: int = 0; layout: int = 0
LayerNormalization 17 | X Scale B? -> Y Mean? InvStdDev? | axis: int = -1; epsilon: float = 1e-05; stash_type: int = 1
LeakyRelu 1 | X -> Y | alpha: float = 0.01; consumed_inputs: ints?
LeakyRelu 6 16 | X -> Y | alpha: float = 0.01
Less 1 | A B -> C | axis: int?; broadcast: int = 0
Less 7 9 13 | A B -> C
LessOrEqual 12 16 | A B -> C
LinearAttention 27 | query key value past_state? decay? beta? -> output present_state | chunk_size: int = 64; kv_num_heads: int;
    q_num_heads: int; scale: float = 0.0; update_rule: string = "gated_delta"
Log 1 | input -> output | consumed_inputs: ints?
Log 6 13 | input -> output
LogSoftmax 1 11 | input -> output | axis: int = 1
LogSoftmax 13 | input -> output | axis: int = -1
Loop 1 11 13 16 19 21 23 24 25 | M? cond? v_initial+ -> v_final_and_scan_outputs+ | body: graph
LpNormalization 1 22 | input -> output | axis: int = -1; p: int = 2
LpPool 1 | X -> Y | auto_pad: string = "NOTSET"; kernel_shape: ints?; p: float = 2.0; pads: ints?; strides: ints?
LpPool 2 11 | X -> Y | auto_pad: string = "NOTSET"; kernel_shape: ints; p: int = 2; pads: ints?; strides: ints?
LpPool 18 22 | X -> Y | auto_pad: string = "NOTSET"; ceil_mode: int = 0; dilations: ints?; kernel_shape: ints; p: int = 2; pads: ints?;
    strides: ints?
"#;
