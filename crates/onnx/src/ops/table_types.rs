//! The element types of inputs that later versions of ai.onnx extended, written by `tests/oracle/onnx_ops.py` from the schemas of onnx
//! 1.23.2: op, first and last version of the operator set, position of the input, types.

pub(super) const ROWS: &str = "
Abs 1 5 0 | f32 f64 f16
Abs 6 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Acos 7 21 0 | f32 f64 f16
Acosh 9 21 0 | f32 f64 f16
Add 1 5 0 | f32 f64 f16
Add 6 12 0 | f32 f64 f16 i32 u32 i64 u64
Add 13 13 0 | f32 f64 f16 bf16 i32 u32 i64 u64
ArgMax 1 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
ArgMin 1 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Asin 7 21 0 | f32 f64 f16
Asinh 9 21 0 | f32 f64 f16
Atan 7 21 0 | f32 f64 f16
Atanh 9 21 0 | f32 f64 f16
AveragePool 1 21 0 | f32 f64 f16
BatchNormalization 1 13 0 | f32 f64 f16
Bernoulli 15 21 0 | f32 f64 f16
BitShift 11 27 0 | u8 u16 u32 u64
Cast 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64
Cast 13 18 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64
Cast 19 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Cast 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Cast 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Cast 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
CastLike 15 18 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64
CastLike 15 18 1 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64
CastLike 19 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
CastLike 19 20 1 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
CastLike 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
CastLike 21 22 1 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
CastLike 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
CastLike 23 23 1 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
CastLike 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
CastLike 24 24 1 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Ceil 1 12 0 | f32 f64 f16
Celu 12 27 0 | f32
Clip 1 11 0 | f32 f64 f16
Clip 12 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Compress 9 27 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Concat 1 3 0 | f32 f64 f16
Concat 4 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Conv 1 21 0 | f32 f64 f16
ConvTranspose 1 21 0 | f32 f64 f16
Cos 7 21 0 | f32 f64 f16
Cosh 9 21 0 | f32 f64 f16
CumSum 11 13 0 | f32 f64 i32 u32 i64 u64
DeformConv 19 21 0 | f32 f64 f16
DepthToSpace 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
DequantizeLinear 10 12 0 | i8 u8 i32
DequantizeLinear 10 12 1 | f32
DequantizeLinear 13 18 0 | i8 u8 i32
DequantizeLinear 13 18 1 | f32
DequantizeLinear 19 20 0 | i8 u8 i32 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
DequantizeLinear 19 20 1 | f32 f16 bf16
DequantizeLinear 21 22 0 | i4 u4 i8 u8 i16 u16 i32 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
DequantizeLinear 21 22 1 | f32 f16 bf16
DequantizeLinear 23 23 0 | i4 u4 i8 u8 i16 u16 i32 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
DequantizeLinear 23 23 1 | f32 f16 bf16
DequantizeLinear 24 24 0 | i4 u4 i8 u8 i16 u16 i32 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Det 11 21 0 | f32 f64 f16
Div 1 5 0 | f32 f64 f16
Div 6 12 0 | f32 f64 f16 i32 u32 i64 u64
Div 13 13 0 | f32 f64 f16 bf16 i32 u32 i64 u64
Dropout 1 12 0 | f32 f64 f16
Dropout 12 12 1 | f32 f64 f16
Dropout 13 21 0 | f32 f64 f16 bf16
Dropout 13 21 1 | f32 f64 f16
Einsum 12 27 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Elu 1 21 0 | f32 f64 f16
Equal 1 10 0 | bool i32 i64
Equal 11 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64
Erf 9 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Exp 1 12 0 | f32 f64 f16
Expand 8 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
EyeLike 9 21 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64
Flatten 1 8 0 | f32 f64 f16
Flatten 9 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Flatten 13 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Flatten 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Flatten 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Flatten 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Floor 1 12 0 | f32 f64 f16
GRU 1 21 0 | f32 f64 f16
Gather 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
GatherElements 11 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
GatherND 11 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Gemm 1 8 0 | f32 f64 f16
Gemm 9 12 0 | f32 f64 f16 i32 u32 i64 u64
GlobalAveragePool 1 21 0 | f32 f64 f16
GlobalLpPool 1 21 0 | f32 f64 f16
GlobalMaxPool 1 21 0 | f32 f64 f16
Greater 1 8 0 | f32 f64 f16
Greater 9 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
GreaterOrEqual 12 15 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
GridSample 16 19 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
GridSample 16 19 1 | f32 f64 f16
GridSample 20 21 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
GridSample 20 21 1 | f32 f64 f16
HardSigmoid 1 21 0 | f32 f64 f16
HardSwish 14 21 0 | f32 f64 f16
Hardmax 1 12 0 | f32 f64 f16
Identity 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Identity 13 18 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Identity 19 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Identity 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Identity 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Identity 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
InstanceNormalization 1 21 0 | f32 f64 f16
IsInf 10 19 0 | f32 f64
IsNaN 9 12 0 | f32 f64 f16
IsNaN 13 19 0 | f32 f64 f16 bf16
LRN 1 12 0 | f32 f64 f16
LSTM 1 21 0 | f32 f64 f16
LeakyRelu 1 15 0 | f32 f64 f16
Less 1 8 0 | f32 f64 f16
Less 9 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
LessOrEqual 12 15 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Log 1 12 0 | f32 f64 f16
LogSoftmax 1 12 0 | f32 f64 f16
Loop 1 15 2 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Loop 16 18 2 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Loop 19 20 2 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Loop 21 22 2 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Loop 23 23 2 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Loop 24 24 2 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
LpNormalization 1 21 0 | f32 f64 f16
LpPool 1 21 0 | f32 f64 f16
MatMul 1 8 0 | f32 f64 f16
MatMul 9 12 0 | f32 f64 f16 i32 u32 i64 u64
Max 1 11 0 | f32 f64 f16
Max 12 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
MaxPool 1 11 0 | f32 f64 f16
MaxPool 12 21 0 | f32 f64 f16 i8 u8
MaxRoiPool 1 21 0 | f32 f64 f16
MaxUnpool 9 21 0 | f32 f64 f16
Mean 1 12 0 | f32 f64 f16
MeanVarianceNormalization 9 12 0 | f32 f64 f16
Min 1 11 0 | f32 f64 f16
Min 12 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Mish 18 21 0 | f32 f64 f16
Mod 10 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Mul 1 5 0 | f32 f64 f16
Mul 6 12 0 | f32 f64 f16 i32 u32 i64 u64
Mul 13 13 0 | f32 f64 f16 bf16 i32 u32 i64 u64
Multinomial 7 21 0 | f32 f64 f16
Neg 1 5 0 | f32 f64 f16
Neg 6 12 0 | f32 f64 f16 i8 i16 i32 i64
NegativeLogLikelihoodLoss 12 21 0 | f32 f64 f16
NonZero 9 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
OneHot 9 27 2 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Optional 15 27 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
OptionalGetElement 18 27 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
OptionalHasElement 18 27 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
PRelu 1 8 0 | f32 f64 f16
PRelu 9 15 0 | f32 f64 f16 i32 u32 i64 u64
Pad 1 10 0 | f32 f64 f16
Pad 11 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Pad 13 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Pad 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Pad 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Pad 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Pow 1 11 0 | f32 f64 f16
Pow 12 12 0 | f32 f64 f16 i32 i64
Pow 12 14 1 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
QLinearMatMul 10 20 0 | i8 u8
QLinearMatMul 10 20 1 | f32
QLinearMatMul 10 20 3 | i8 u8
QLinearMatMul 10 20 7 | i8 u8
QuantizeLinear 10 12 0 | f32 i32
QuantizeLinear 10 12 1 | f32
QuantizeLinear 10 12 2 | i8 u8
QuantizeLinear 13 18 0 | f32 i32
QuantizeLinear 13 18 1 | f32
QuantizeLinear 13 18 2 | i8 u8
QuantizeLinear 19 20 1 | f32 f16 bf16 i32
QuantizeLinear 19 20 2 | i8 u8 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
QuantizeLinear 21 22 1 | f32 f16 bf16 i32
QuantizeLinear 21 22 2 | i4 u4 i8 u8 i16 u16 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
QuantizeLinear 23 23 1 | f32 f16 bf16 i32
QuantizeLinear 23 24 2 | i4 u4 i8 u8 i16 u16 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
RNN 1 21 0 | f32 f64 f16
RandomNormalLike 1 21 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
RandomUniformLike 1 21 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Range 11 26 0 | f32 f64 i16 i32 i64
Reciprocal 1 12 0 | f32 f64 f16
ReduceL1 1 12 0 | f32 f64 f16 i32 u32 i64 u64
ReduceL2 1 12 0 | f32 f64 f16 i32 u32 i64 u64
ReduceLogSum 1 12 0 | f32 f64 f16 i32 u32 i64 u64
ReduceLogSumExp 1 12 0 | f32 f64 f16 i32 u32 i64 u64
ReduceMax 1 11 0 | f32 f64 f16 i32 u32 i64 u64
ReduceMax 12 12 0 | f32 f64 f16 i8 u8 i32 u32 i64 u64
ReduceMax 13 19 0 | f32 f64 f16 bf16 i8 u8 i32 u32 i64 u64
ReduceMean 1 12 0 | f32 f64 f16 i32 u32 i64 u64
ReduceMin 1 11 0 | f32 f64 f16 i32 u32 i64 u64
ReduceMin 12 12 0 | f32 f64 f16 i8 u8 i32 u32 i64 u64
ReduceMin 13 19 0 | f32 f64 f16 bf16 i8 u8 i32 u32 i64 u64
ReduceProd 1 12 0 | f32 f64 f16 i32 u32 i64 u64
ReduceSum 1 12 0 | f32 f64 f16 i32 u32 i64 u64
ReduceSumSquare 1 12 0 | f32 f64 f16 i32 u32 i64 u64
Relu 1 12 0 | f32 f64 f16
Relu 13 13 0 | f32 f64 f16 bf16
Reshape 1 4 0 | f32 f64 f16
Reshape 5 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Reshape 13 18 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Reshape 19 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Reshape 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Reshape 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Reshape 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Resize 10 10 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Resize 10 10 1 | f32
Resize 11 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
ReverseSequence 10 27 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
RoiAlign 10 21 0 | f32 f64 f16
Round 11 21 0 | f32 f64 f16
Scan 8 8 0 | i64
Scan 9 15 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Scan 16 18 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Scan 19 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Scan 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Scan 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Scan 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
ScatterElements 11 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
ScatterND 11 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Selu 1 21 0 | f32 f64 f16
Shape 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Shape 13 18 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Shape 19 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Shape 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Shape 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Shape 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Sigmoid 1 12 0 | f32 f64 f16
Sign 9 12 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Sin 7 21 0 | f32 f64 f16
Sinh 9 21 0 | f32 f64 f16
Size 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Size 13 18 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Size 19 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Size 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Size 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Size 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Slice 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Softmax 1 12 0 | f32 f64 f16
SoftmaxCrossEntropyLoss 12 12 0 | f32 f64 f16
Softplus 1 21 0 | f32 f64 f16
Softsign 1 21 0 | f32 f64 f16
SpaceToDepth 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Split 1 1 0 | f32 f64 f16
Split 2 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
SplitToSequence 11 23 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Sqrt 1 12 0 | f32 f64 f16
Squeeze 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Squeeze 13 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Squeeze 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Squeeze 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Squeeze 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Sub 1 5 0 | f32 f64 f16
Sub 6 12 0 | f32 f64 f16 i32 u32 i64 u64
Sub 13 13 0 | f32 f64 f16 bf16 i32 u32 i64 u64
Sum 1 12 0 | f32 f64 f16
Tan 7 21 0 | f32 f64 f16
Tanh 1 12 0 | f32 f64 f16
ThresholdedRelu 10 21 0 | f32 f64 f16
Tile 1 5 0 | f32 f64 f16
Tile 6 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
TopK 1 10 0 | f32 f64 f16
TopK 11 23 0 | f32 f64 f16 i8 u8 i16 u16 i32 u32 i64 u64
Transpose 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Transpose 13 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Transpose 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Transpose 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Transpose 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Unique 11 27 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Unsqueeze 1 12 0 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Unsqueeze 13 20 0 | f32 f64 f16 bf16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
Unsqueeze 21 22 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz
Unsqueeze 23 23 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1fn
Unsqueeze 24 24 0 | f32 f64 f16 bf16 bool i4 u4 i8 u8 i16 u16 i32 u32 i64 u64 c64 c128 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn
Upsample 1 6 0 | f32 f64 f16 bool i32 i64
Where 9 15 1 | f32 f64 f16 bool i8 u8 i16 u16 i32 u32 i64 u64 c64 c128
";
