//! The ops of ai.onnx, M to Z, written by `tests/oracle/onnx_ops.py` from the schemas of onnx 1.23.2.

pub(super) const ROWS: &str = r#"
MatMul 1 9 13 | A B -> Y
MatMulInteger 10 | A B a_zero_point? b_zero_point? -> Y
Max 1 | data_0+ -> max | consumed_inputs: ints?
Max 6 8 12 13 | data_0+ -> max
MaxPool 1 | X -> Y | auto_pad: string = "NOTSET"; kernel_shape: ints; pads: ints?; strides: ints?
MaxPool 8 | X -> Y Indices? | auto_pad: string = "NOTSET"; kernel_shape: ints; pads: ints?; storage_order: int = 0; strides: ints?
MaxPool 10 11 12 22 | X -> Y Indices? | auto_pad: string = "NOTSET"; ceil_mode: int = 0; dilations: ints?; kernel_shape: ints; pads: ints?;
    storage_order: int = 0; strides: ints?
MaxRoiPool 1 22 | X rois -> Y | pooled_shape: ints; spatial_scale: float = 1.0
MaxUnpool 9 11 22 | X I output_shape? -> output | kernel_shape: ints; pads: ints?; strides: ints?
Mean 1 | data_0+ -> mean | consumed_inputs: ints?
Mean 6 8 13 | data_0+ -> mean
MeanVarianceNormalization 9 13 | X -> Y | axes: ints = [0, 2, 3]
MelWeightMatrix 17 | num_mel_bins dft_length sample_rate lower_edge_hertz upper_edge_hertz -> output | output_datatype: int = 1
Min 1 | data_0+ -> min | consumed_inputs: ints?
Min 6 8 12 13 | data_0+ -> min
Mish 18 22 | X -> Y
Mod 10 13 28 | A B -> C | fmod: int = 0
Mul 1 | A B -> C | axis: int?; broadcast: int = 0; consumed_inputs: ints?
Mul 6 | A B -> C | axis: int?; broadcast: int = 0
Mul 7 13 14 | A B -> C
Multinomial 7 22 | input -> output | dtype: int = 6; sample_size: int = 1; seed: float?
Neg 1 | X -> Y | consumed_inputs: ints?
Neg 6 13 | X -> Y
NegativeLogLikelihoodLoss 12 13 22 | input target weight? -> loss | ignore_index: int?; reduction: string = "mean"
NonMaxSuppression 10 11 | boxes scores max_output_boxes_per_class? iou_threshold? score_threshold? -> selected_indices | center_point_box:
    int = 0
NonZero 9 13 | X -> Y
Not 1 | X -> Y
OneHot 9 11 28 | indices depth values -> output | axis: int = -1
Optional 15 28 | input? -> output | type: type_proto?
OptionalGetElement 15 18 28 | input -> output
OptionalHasElement 15 | input -> output
OptionalHasElement 18 28 | input? -> output
Or 1 | A B -> C | axis: int?; broadcast: int = 0
Or 7 | A B -> C
PRelu 1 | X slope -> Y | consumed_inputs: ints?
PRelu 6 | X slope -> Y
PRelu 7 9 16 | X slope -> Y
Pad 1 | data -> output | mode: string = "constant"; paddings: ints; value: float = 0.0
Pad 2 | data -> output | mode: string = "constant"; pads: ints; value: float = 0.0
Pad 11 13 | data pads constant_value? -> output | mode: string = "constant"
Pad 18 19 21 23 24 25 | data pads constant_value? axes? -> output | mode: string = "constant"
Pow 1 | X Y -> Z | axis: int?; broadcast: int = 0
Pow 7 12 13 15 | X Y -> Z
QLinearConv 10 | x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B? -> y | auto_pad: string = "NOTSET"; dilations: ints?;
    group: int = 1; kernel_shape: ints?; pads: ints?; strides: ints?
QLinearMatMul 10 21 | a a_scale a_zero_point b b_scale b_zero_point y_scale y_zero_point -> y
QuantizeLinear 10 | x y_scale y_zero_point? -> y
QuantizeLinear 13 | x y_scale y_zero_point? -> y | axis: int = 1
QuantizeLinear 19 | x y_scale y_zero_point? -> y | axis: int = 1; saturate: int = 1
QuantizeLinear 21 | x y_scale y_zero_point? -> y | axis: int = 1; block_size: int = 0; output_dtype: int = 0; saturate: int = 1
QuantizeLinear 23 24 25 28 | x y_scale y_zero_point? -> y | axis: int = 1; block_size: int = 0; output_dtype: int = 0; precision: int = 0;
    saturate: int = 1
RMSNormalization 23 | X scale -> Y | axis: int = -1; epsilon: float = 1e-05; stash_type: int = 1
RNN 1 | X W R B? sequence_lens? initial_h? -> Y? Y_h? | activation_alpha: floats?; activation_beta: floats?; activations: strings = ["Tanh",
    "Tanh"]; clip: float?; direction: string = "forward"; hidden_size: int?; output_sequence: int = 0
RNN 7 | X W R B? sequence_lens? initial_h? -> Y? Y_h? | activation_alpha: floats?; activation_beta: floats?; activations: strings = ["Tanh",
    "Tanh"]; clip: float?; direction: string = "forward"; hidden_size: int?
RNN 14 22 | X W R B? sequence_lens? initial_h? -> Y? Y_h? | activation_alpha: floats?; activation_beta: floats?; activations: strings =
    ["Tanh", "Tanh"]; clip: float?; direction: string = "forward"; hidden_size: int?; layout: int = 0
RandomNormal 1 22 | -> output | dtype: int = 1; mean: float = 0.0; scale: float = 1.0; seed: float?; shape: ints
RandomNormalLike 1 22 | input -> output | dtype: int?; mean: float = 0.0; scale: float = 1.0; seed: float?
RandomUniform 1 22 | -> output | dtype: int = 1; high: float = 1.0; low: float = 0.0; seed: float?; shape: ints
RandomUniformLike 1 22 | input -> output | dtype: int?; high: float = 1.0; low: float = 0.0; seed: float?
Range 11 | start limit delta -> output
Range 27 | start limit delta -> output | stash_type: int = 1
Reciprocal 1 | X -> Y | consumed_inputs: ints?
Reciprocal 6 13 | X -> Y
ReduceL1 1 11 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceL1 18 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceL2 1 11 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceL2 18 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceLogSum 1 11 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceLogSum 18 28 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceLogSumExp 1 11 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceLogSumExp 18 28 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceMax 1 11 12 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceMax 18 20 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceMean 1 11 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceMean 18 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceMin 1 11 12 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceMin 18 20 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceProd 1 11 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceProd 18 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceSum 1 11 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceSum 13 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
ReduceSumSquare 1 11 13 | data -> reduced | axes: ints?; keepdims: int = 1
ReduceSumSquare 18 | data axes? -> reduced | keepdims: int = 1; noop_with_empty_axes: int = 0
RegexFullMatch 20 | X -> Y | pattern: string?
Relu 1 | X -> Y | consumed_inputs: ints?
Relu 6 13 14 | X -> Y
Reshape 1 | data -> reshaped | consumed_inputs: ints?; shape: ints?
Reshape 5 13 | data shape -> reshaped
Reshape 14 19 21 23 24 25 | data shape -> reshaped | allowzero: int = 0
Resize 10 | X scales -> Y | mode: string = "nearest"
Resize 11 | X roi scales sizes? -> Y | coordinate_transformation_mode: string = "half_pixel"; cubic_coeff_a: float = -0.75; exclude_outside:
    int = 0; extrapolation_value: float = 0.0; mode: string = "nearest"; nearest_mode: string = "round_prefer_floor"
Resize 13 | X roi? scales? sizes? -> Y | coordinate_transformation_mode: string = "half_pixel"; cubic_coeff_a: float = -0.75;
    exclude_outside: int = 0; extrapolation_value: float = 0.0; mode: string = "nearest"; nearest_mode: string = "round_prefer_floor"
Resize 18 19 | X roi? scales? sizes? -> Y | antialias: int = 0; axes: ints?; coordinate_transformation_mode: string = "half_pixel";
    cubic_coeff_a: float = -0.75; exclude_outside: int = 0; extrapolation_value: float = 0.0; keep_aspect_ratio_policy: string = "stretch";
    mode: string = "nearest"; nearest_mode: string = "round_prefer_floor"
ReverseSequence 10 28 | input sequence_lens -> Y | batch_axis: int = 1; time_axis: int = 0
RoiAlign 10 | X rois batch_indices -> Y | mode: string = "avg"; output_height: int = 1; output_width: int = 1; sampling_ratio: int = 0;
    spatial_scale: float = 1.0
RoiAlign 16 22 | X rois batch_indices -> Y | coordinate_transformation_mode: string = "half_pixel"; mode: string = "avg"; output_height: int
    = 1; output_width: int = 1; sampling_ratio: int = 0; spatial_scale: float = 1.0
RotaryEmbedding 23 | X cos_cache sin_cache position_ids? -> Y | interleaved: int = 0; num_heads: int?; rotary_embedding_dim: int = 0
Round 11 22 | X -> Y
STFT 17 | signal frame_step window? frame_length? -> output | onesided: int = 1
Scan 8 | sequence_lens? initial_state_and_scan_inputs+ -> final_state_and_scan_outputs+ | body: graph; directions: ints?; num_scan_inputs:
    int
Scan 9 11 16 19 21 23 24 25 | initial_state_and_scan_inputs+ -> final_state_and_scan_outputs+ | body: graph; num_scan_inputs: int;
    scan_input_axes: ints?; scan_input_directions: ints?; scan_output_axes: ints?; scan_output_directions: ints?
Scatter 9 | data indices updates -> output | axis: int = 0
Scatter 11 | deprecated
ScatterElements 11 13 | data indices updates -> output | axis: int = 0
ScatterElements 16 18 | data indices updates -> output | axis: int = 0; reduction: string = "none"
ScatterND 11 13 | data indices updates -> output
ScatterND 16 18 | data indices updates -> output | reduction: string = "none"
Selu 1 | X -> Y | alpha: float = 1.6732; consumed_inputs: ints?; gamma: float = 1.0507
Selu 6 22 | X -> Y | alpha: float = 1.6732632; gamma: float = 1.050701
SequenceAt 11 | input_sequence position -> tensor
SequenceConstruct 11 | inputs+ -> output_sequence
SequenceEmpty 11 | -> output | dtype: int?
SequenceErase 11 | input_sequence position? -> output_sequence
SequenceInsert 11 | input_sequence tensor position? -> output_sequence
SequenceLength 11 | input_sequence -> length
SequenceMap 17 | input_sequence additional_inputs* -> out_sequence+ | body: graph
Shape 1 13 | data -> shape
Shape 15 19 21 23 24 25 | data -> shape | end: int?; start: int = 0
Shrink 9 | input -> output | bias: float = 0.0; lambd: float = 0.5
Sigmoid 1 | X -> Y | consumed_inputs: ints?
Sigmoid 6 13 | X -> Y
Sign 9 13 | input -> output
Sin 7 22 | input -> output
Sinh 9 22 | input -> output
Size 1 13 19 21 23 24 25 | data -> size
Slice 1 | data -> output | axes: ints?; ends: ints; starts: ints
Slice 10 11 13 | data starts ends axes? steps? -> output
Softmax 1 11 | input -> output | axis: int = 1
Softmax 13 | input -> output | axis: int = -1
SoftmaxCrossEntropyLoss 12 13 | scores labels weights? -> output log_prob? | ignore_index: int?; reduction: string = "mean"
Softplus 1 22 | X -> Y
Softsign 1 22 | input -> output
SpaceToDepth 1 13 | input -> output | blocksize: int
SpaceToDepth 28 | input -> output | blocksize: int; mode: string = "DCR"
Split 1 | input split? -> outputs...+ | axis: int?; split: ints?
Split 2 11 | input -> outputs+ | axis: int = 0; split: ints?
Split 13 | input split? -> outputs+ | axis: int = 0
Split 18 | input split? -> outputs+ | axis: int = 0; num_outputs: int?
SplitToSequence 11 24 | input split? -> output_sequence | axis: int = 0; keepdims: int = 1
Sqrt 1 | X -> Y | consumed_inputs: ints?
Sqrt 6 13 | X -> Y
Squeeze 1 11 | data -> squeezed | axes: ints?
Squeeze 13 21 23 24 25 | data axes? -> squeezed
StringConcat 20 | X Y -> Z
StringNormalizer 10 | X -> Y | case_change_action: string = "NONE"; is_case_sensitive: int = 0; locale: string?; stopwords: strings?
StringSplit 20 | X -> Y Z | delimiter: string?; maxsplit: int?
Sub 1 | A B -> C | axis: int?; broadcast: int = 0; consumed_inputs: ints?
Sub 6 | A B -> C | axis: int?; broadcast: int = 0
Sub 7 13 14 | A B -> C
Sum 1 | data_0+ -> sum | consumed_inputs: ints?
Sum 6 8 13 | data_0+ -> sum
SwiGLU 28 | A B -> Y | alpha: float = 1.0
Swish 24 | X -> Y | alpha: float = 1.0
Tan 7 22 | input -> output
Tanh 1 | input -> output | consumed_inputs: ints?
Tanh 6 13 | input -> output
TensorScatter 24 | past_cache update write_indices? -> present_cache | axis: int = -2; mode: string = "linear"
TfIdfVectorizer 9 | X -> Y | max_gram_length: int; max_skip_count: int; min_gram_length: int; mode: string; ngram_counts: ints;
    ngram_indexes: ints; pool_int64s: ints?; pool_strings: strings?; weights: floats?
ThresholdedRelu 10 22 | X -> Y | alpha: float = 1.0
Tile 1 | input tiles axis -> output
Tile 6 13 | input repeats -> output
TopK 1 | X -> Values Indices | axis: int = -1; k: int
TopK 10 | X K -> Values Indices | axis: int = -1
TopK 11 24 | X K -> Values Indices | axis: int = -1; largest: int = 1; sorted: int = 1
Transpose 1 13 21 23 24 25 | data -> transposed | perm: ints?
Trilu 14 | input k? -> output | upper: int = 1
Unique 11 28 | X -> Y indices? inverse_indices? counts? | axis: int?; sorted: int = 1
Unsqueeze 1 11 | data -> expanded | axes: ints
Unsqueeze 13 21 23 24 25 | data axes -> expanded
Upsample 1 | X -> Y | height_scale: float; mode: string = "nearest"; width_scale: float
Upsample 7 | X -> Y | mode: string = "nearest"; scales: floats
Upsample 9 | X scales -> Y | mode: string = "nearest"
Upsample 10 | deprecated
Where 9 16 | condition X Y -> output
Xor 1 | A B -> C | axis: int?; broadcast: int = 0
Xor 7 | A B -> C
"#;
