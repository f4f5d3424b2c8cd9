//! The table of ops: the meaning of each, and whether `onnx-to-core` replaces it.

use std::sync::LazyLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use sapwood_ptir::ValueType;
use sapwood_ptir::eval::{DataType, EvalCx, EvalResult};
use sapwood_ptir::ops::Direction;

use super::builder::V;
use super::context::Cx;
use super::{NodeView, attention, control, elementwise, indexing, kernels, learning, loss, matrix};
use super::{
    max_roi_pool, normalization, pooling, quantize, recurrent, reduce, resize, shape, signal,
    slices,
};
use super::{text_features, trees};
use crate::dialect::PREFIX;

/// The ops that a pass replaces by their meaning. Each level has those of the levels before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LowerLevel {
    /// Ops that ONNX and PTIR mean alike, and that are written back as the same node.
    #[default]
    Core,
    /// Also ops for which the runtime has a fast kernel.
    Kernels,
    /// All ops that have a definition in core ops.
    All,
}

/// The meaning of an op.
pub(super) enum Meaning {
    /// A core op of one operand.
    Unary(&'static str),
    /// A core op of two operands, after the implicit broadcast.
    Binary(&'static str),
    /// A comparison.
    Compare(Direction),
    /// A core op of two operands, applied to any number of them from left to right.
    Fold(&'static str),
    /// An expression with one result.
    One(for<'b> fn(&Cx<'b>) -> V<'b>),
    /// An expression with several results.
    Many(for<'b> fn(&Cx<'b>) -> Vec<V<'b>>),
    /// A computation of its own: the extents of the result depend on contents, or it has regions.
    Kernel(fn(&mut EvalCx<'_>) -> EvalResult),
}

/// The types of an op whose meaning is a kernel.
type InferTypes = fn(&NodeView<'_>, &[&ValueType]) -> Option<Vec<ValueType>>;

/// The row of an op.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) level: LowerLevel,
    pub(super) meaning: Meaning,
    pub(super) infer: Option<InferTypes>,
}

const fn core(name: &'static str, meaning: Meaning) -> Row {
    Row { name, level: LowerLevel::Core, meaning, infer: None }
}

const fn fast(name: &'static str, meaning: Meaning) -> Row {
    Row { name, level: LowerLevel::Kernels, meaning, infer: None }
}

const fn whole(name: &'static str, meaning: Meaning) -> Row {
    Row { name, level: LowerLevel::All, meaning, infer: None }
}

const fn kernel(
    name: &'static str,
    run: fn(&mut EvalCx<'_>) -> EvalResult,
    infer: InferTypes,
) -> Row {
    Row { name, level: LowerLevel::All, meaning: Meaning::Kernel(run), infer: Some(infer) }
}

use Meaning::{Binary, Compare, Fold, Many, One, Unary};

static ROWS: &[Row] = &[
    // One element at a time.
    core("Abs", Unary("abs")),
    core("Neg", Unary("neg")),
    core("Sign", Unary("sign")),
    core("Floor", Unary("floor")),
    core("Ceil", Unary("ceil")),
    core("Round", Unary("round_even")),
    core("Exp", Unary("exp")),
    core("Log", Unary("log")),
    core("Sqrt", Unary("sqrt")),
    core("Sin", Unary("sin")),
    core("Cos", Unary("cos")),
    core("Tan", Unary("tan")),
    core("Asin", Unary("asin")),
    core("Acos", Unary("acos")),
    core("Atan", Unary("atan")),
    core("Sinh", Unary("sinh")),
    core("Cosh", Unary("cosh")),
    core("Tanh", Unary("tanh")),
    core("Asinh", Unary("asinh")),
    core("Acosh", Unary("acosh")),
    core("Atanh", Unary("atanh")),
    core("Sigmoid", Unary("logistic")),
    core("Erf", Unary("erf")),
    core("Not", Unary("not")),
    core("BitwiseNot", Unary("not")),
    core("Add", One(elementwise::add)),
    core("Sub", One(elementwise::sub)),
    core("Mul", One(elementwise::mul)),
    core("Div", One(elementwise::div)),
    core("And", Binary("and")),
    core("Or", Binary("or")),
    core("Xor", Binary("xor")),
    core("BitwiseAnd", Binary("and")),
    core("BitwiseOr", Binary("or")),
    core("BitwiseXor", Binary("xor")),
    core("Equal", Compare(Direction::Eq)),
    core("Less", Compare(Direction::Lt)),
    core("LessOrEqual", Compare(Direction::Le)),
    core("Greater", Compare(Direction::Gt)),
    core("GreaterOrEqual", Compare(Direction::Ge)),
    core("Max", Fold("max")),
    core("Min", Fold("min")),
    core("Sum", Fold("add")),
    whole("Mean", One(elementwise::mean)),
    core("Identity", One(|cx| cx.x(0))),
    core("Where", One(|cx| cx.x(0).select(cx.x(1), cx.x(2)))),
    core("Cast", One(elementwise::cast)),
    core("CastLike", One(elementwise::cast_like)),
    core("Dropout", Many(elementwise::dropout)),
    core("Pow", One(elementwise::pow)),
    whole("Mod", One(elementwise::modulo)),
    whole("Reciprocal", One(|cx| cx.x(0).number(1.0) / cx.x(0))),
    whole("Relu", One(|cx| cx.x(0).max(cx.x(0).number(0.0)))),
    whole("Clip", One(elementwise::clip)),
    whole("LeakyRelu", One(elementwise::leaky_relu)),
    whole("PRelu", One(elementwise::prelu)),
    whole("Elu", One(elementwise::elu)),
    whole("Celu", One(elementwise::celu)),
    whole("Selu", One(elementwise::selu)),
    whole("ThresholdedRelu", One(elementwise::thresholded_relu)),
    whole("HardSigmoid", One(elementwise::hard_sigmoid)),
    whole("HardSwish", One(elementwise::hard_swish)),
    whole("Softplus", One(|cx| elementwise::softplus(cx.x(0)))),
    whole("Softsign", One(|cx| cx.x(0) / (cx.x(0).unary("abs") + 1.0))),
    whole("Mish", One(|cx| cx.x(0) * elementwise::softplus(cx.x(0)).unary("tanh"))),
    whole("Swish", One(elementwise::swish)),
    whole("SwiGLU", One(elementwise::swiglu)),
    whole("Gelu", One(elementwise::gelu)),
    whole("Shrink", One(elementwise::shrink)),
    whole("IsNaN", One(|cx| cx.x(0).compare(cx.x(0), Direction::Ne))),
    whole("IsInf", One(elementwise::is_inf)),
    whole("BitShift", One(elementwise::bit_shift)),
    whole("BitCast", One(elementwise::bit_cast)),
    // Movement.
    core("Constant", One(shape::constant)),
    whole("ConstantOfShape", One(shape::constant_of_shape)),
    core("Shape", One(shape::shape)),
    core("Size", One(shape::size)),
    core("Reshape", One(shape::reshape)),
    core("Flatten", One(shape::flatten)),
    core("Squeeze", One(shape::squeeze)),
    core("Unsqueeze", One(shape::unsqueeze)),
    core("Transpose", One(shape::transpose)),
    core("Expand", One(shape::expand)),
    core("Concat", One(shape::concat)),
    whole("Split", Many(shape::split)),
    core("Slice", One(slices::slice)),
    whole("Pad", One(shape::pad)),
    whole("Tile", One(shape::tile)),
    whole("Range", One(shape::range)),
    whole("EyeLike", One(shape::eye_like)),
    whole("Trilu", One(shape::trilu)),
    whole("DepthToSpace", One(shape::depth_to_space)),
    whole("SpaceToDepth", One(shape::space_to_depth)),
    whole("CenterCropPad", One(shape::center_crop_pad)),
    whole("ReverseSequence", One(indexing::reverse_sequence)),
    // Indices.
    whole("Gather", One(indexing::gather)),
    whole("GatherElements", One(indexing::gather_elements)),
    whole("GatherND", One(indexing::gather_nd)),
    whole("ScatterElements", One(indexing::scatter_elements)),
    whole("Scatter", One(indexing::scatter_elements)),
    whole("ScatterND", One(indexing::scatter_nd)),
    whole("TensorScatter", One(indexing::tensor_scatter)),
    whole("OneHot", One(indexing::one_hot)),
    whole("TopK", Many(indexing::top_k)),
    whole("CumSum", One(|cx| indexing::cumulative(cx, "add"))),
    whole("CumProd", One(|cx| indexing::cumulative(cx, "mul"))),
    whole("Hardmax", One(indexing::hardmax)),
    whole("Col2Im", One(indexing::col2im)),
    whole("MaxUnpool", One(indexing::max_unpool)),
    // Reductions.
    core("ReduceSum", One(|cx| reduce::reduce(cx, "reduce_sum"))),
    core("ReduceProd", One(|cx| reduce::reduce(cx, "reduce_prod"))),
    core("ReduceMax", One(|cx| reduce::reduce(cx, "reduce_max"))),
    core("ReduceMin", One(|cx| reduce::reduce(cx, "reduce_min"))),
    whole("ReduceMean", One(reduce::mean)),
    whole("ReduceL1", One(reduce::l1)),
    whole("ReduceL2", One(reduce::l2)),
    whole("ReduceSumSquare", One(reduce::sum_square)),
    whole("ReduceLogSum", One(reduce::log_sum)),
    whole("ReduceLogSumExp", One(reduce::log_sum_exp)),
    whole("ArgMax", One(|cx| reduce::arg_extreme(cx, true))),
    whole("ArgMin", One(|cx| reduce::arg_extreme(cx, false))),
    // Matrices and windows.
    core("MatMul", One(matrix::matmul_op)),
    core("Gemm", One(matrix::gemm)),
    whole("Einsum", One(matrix::einsum)),
    whole("Det", One(matrix::det)),
    fast("Conv", One(matrix::conv)),
    whole("ConvTranspose", One(matrix::conv_transpose)),
    whole("DeformConv", One(matrix::deform_conv)),
    whole("CausalConvWithState", Many(matrix::causal_conv_with_state)),
    whole("MaxPool", Many(pooling::max_pool)),
    whole("AveragePool", One(pooling::average_pool)),
    whole("LpPool", One(pooling::lp_pool)),
    whole("GlobalAveragePool", One(pooling::global_average_pool)),
    whole("GlobalMaxPool", One(pooling::global_max_pool)),
    whole("GlobalLpPool", One(pooling::global_lp_pool)),
    // Normalizations.
    whole("Softmax", One(|cx| normalization::softmax_op(cx, false))),
    whole("LogSoftmax", One(|cx| normalization::softmax_op(cx, true))),
    whole("BatchNormalization", Many(normalization::batch)),
    whole("InstanceNormalization", One(normalization::instance)),
    whole("GroupNormalization", One(normalization::group)),
    whole("LayerNormalization", Many(normalization::layer)),
    whole("RMSNormalization", One(normalization::rms)),
    whole("LpNormalization", One(normalization::lp)),
    whole("LRN", One(normalization::lrn)),
    whole("MeanVarianceNormalization", One(normalization::mean_variance)),
    whole("NegativeLogLikelihoodLoss", One(loss::negative_log_likelihood)),
    whole("SoftmaxCrossEntropyLoss", Many(loss::softmax_cross_entropy)),
    // Sequences and attention.
    whole("RNN", Many(recurrent::rnn)),
    whole("GRU", Many(recurrent::gru)),
    whole("LSTM", Many(recurrent::lstm)),
    whole("Attention", Many(attention::attention)),
    whole("RotaryEmbedding", One(attention::rotary_embedding)),
    whole("LinearAttention", Many(attention::linear_attention)),
    // Quantization.
    whole("QuantizeLinear", One(quantize::quantize_linear)),
    whole("DequantizeLinear", One(quantize::dequantize_linear)),
    whole("DynamicQuantizeLinear", Many(quantize::dynamic_quantize_linear)),
    whole("MatMulInteger", One(quantize::matmul_integer)),
    whole("QLinearMatMul", One(quantize::qlinear_matmul)),
    whole("ConvInteger", One(quantize::conv_integer)),
    whole("QLinearConv", One(quantize::qlinear_conv)),
    // Optional values, and the operator set for machine learning.
    whole(
        "OptionalHasElement",
        One(|cx| cx.b.filled(DataType::Bool, &[], f64::from(u8::from(cx.opt(0).is_some())))),
    ),
    whole("OptionalGetElement", One(|cx| cx.x(0))),
    whole("ml.Binarizer", One(learning::binarizer)),
    whole("ml.ArrayFeatureExtractor", One(learning::array_feature_extractor)),
    whole("ml.Scaler", One(learning::scaler)),
    whole("ml.LinearRegressor", One(learning::linear_regressor)),
    whole("ml.Normalizer", One(learning::normalizer)),
    whole("ml.LinearClassifier", Many(learning::linear_classifier)),
    kernel("ml.LabelEncoder", text_features::label_encoder, text_features::infer_label_encoder),
    kernel("ml.TreeEnsemble", trees::tree_ensemble, trees::infer_scores),
    kernel("ml.TreeEnsembleRegressor", trees::tree_ensemble_regressor, trees::infer_scores),
    kernel("TfIdfVectorizer", text_features::tf_idf, text_features::infer_tf_idf),
    // Steps of training.
    whole("training.Adagrad", Many(learning::adagrad)),
    whole("training.Adam", Many(learning::adam)),
    whole("training.Momentum", Many(learning::momentum)),
    kernel("preview.FlexAttention", control::run_flex_attention, control::infer_nothing),
    // Images and signals.
    whole("Resize", One(resize::resize)),
    whole("Upsample", One(resize::upsample)),
    whole("GridSample", One(resize::grid_sample)),
    whole("AffineGrid", One(resize::affine_grid)),
    whole("RoiAlign", One(resize::roi_align)),
    whole("DFT", One(signal::dft)),
    whole("STFT", One(signal::stft)),
    whole("HannWindow", One(|cx| signal::window(cx, &[0.5, 0.5]))),
    whole("HammingWindow", One(|cx| signal::window(cx, &[25.0 / 46.0, 21.0 / 46.0]))),
    whole("BlackmanWindow", One(|cx| signal::window(cx, &[0.42, 0.5, 0.08]))),
    whole("MelWeightMatrix", One(signal::mel_weight_matrix)),
    // Extents of results that depend on contents.
    kernel("NonZero", kernels::non_zero, kernels::infer_non_zero),
    kernel("Compress", kernels::compress, kernels::infer_compress),
    kernel("Unique", kernels::unique, kernels::infer_unique),
    kernel("MaxRoiPool", max_roi_pool::run, max_roi_pool::infer),
    kernel("NonMaxSuppression", kernels::non_max_suppression, kernels::infer_non_max_suppression),
    // Control flow.
    kernel("If", control::run_if, control::infer_nothing),
    kernel("Loop", control::run_loop, control::infer_nothing),
    kernel("Scan", control::run_scan, control::infer_nothing),
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Row, FxBuildHasher>> =
    LazyLock::new(|| ROWS.iter().map(|row| (row.name, row)).collect());

/// Returns the row of an op; those of `ai.onnx.ml` are called `ml.NAME`.
pub(super) fn row_of(name: &str) -> Option<&'static Row> {
    BY_NAME.get(name).copied()
}

/// Returns the row of an op such as `onnx.Add`.
pub(super) fn row(op: &str) -> Option<&'static Row> {
    row_of(op.strip_prefix(PREFIX)?)
}

/// Builds the meaning of a node and returns its results.
pub(super) fn build<'b>(meaning: &Meaning, cx: &Cx<'b>) -> Vec<V<'b>> {
    // Operands that are not tensors fail here, before their axes are looked at.
    cx.all().iter().for_each(|v| drop(v.ty()));
    if cx.b.has_failed() {
        return Vec::new();
    }
    match meaning {
        Unary(op) => vec![cx.x(0).unary(op)],
        Binary(op) => vec![cx.x(0).binary(op, cx.x(1))],
        Compare(direction) => vec![cx.x(0).compare(cx.x(1), *direction)],
        Fold(op) => {
            let all = cx.all();
            let folded = all.into_iter().reduce(|a, b| a.binary(op, b));
            vec![folded.unwrap_or_else(|| cx.fail("there are no inputs"))]
        }
        One(build) => vec![build(cx)],
        Many(build) => {
            let mut results = build(cx);
            results.truncate(cx.outputs());
            results
        }
        Meaning::Kernel(_) => vec![cx.fail("it has no decomposition")],
    }
}
