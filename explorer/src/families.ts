// The families of ONNX ops, which are those of the ops that compute alike.

import type { Data } from "./data";

/** The name of the ops of a family without the prefix; the first rule that fits counts. */
const ONNX_RULES: [RegExp, string][] = [
  [/Conv/, "convolution"],
  [/MatMul|^Gemm$|^Einsum$/, "dot"],
  [/Normalization$|^LRN$|[sS]oftmax|^Hardmax$|Loss$/, "normalization"],
  [/Attention$|^RotaryEmbedding$/, "attention"],
  [/^(RNN|GRU|LSTM)$/, "recurrent"],
  [/Pool$|^(MaxUnpool|Resize|Upsample|GridSample|RoiAlign|MaxRoiPool|Col2Im)$/, "window"],
  [/^Reduce|^Arg(Max|Min)$|^Cum/, "reduce"],
  [/^(TopK|Unique|NonMaxSuppression)$/, "sort"],
  [/Gather|Scatter|^(OneHot|Compress|NonZero)$/, "gather"],
  [/^(If|Loop|Scan|SequenceMap)$/, "control"],
  [/^Random|^Bernoulli$|^Multinomial$/, "rng"],
  [/^(Constant|ConstantOfShape|Range|EyeLike)$|Window$/, "constant"],
  [/^(Equal|Less|Greater)|^(Where|IsNaN|IsInf)$/, "compare"],
  [/Cast|Quantize/, "cast"],
  [/^(Add|Sub|Mul|Div|Pow|Mod|Max|Min|Sum|Mean|And|Or|Xor|BitShift)$|^Bitwise(And|Or|Xor)$/, "binary"],
  [/^(Shape|Size|Reshape|Flatten|Squeeze|Unsqueeze|Transpose|Expand|Concat|Split|Slice|Pad|Tile|Trilu|DepthToSpace|SpaceToDepth|CenterCropPad|ReverseSequence|Identity)$/, "shape"],
  [
    /^(Abs|Neg|Sign|Floor|Ceil|Round|Exp|Log|Sqrt|Erf|Not|BitwiseNot|Reciprocal|Clip|Shrink|Dropout)$|^A?(Sin|Cos|Tan)h?$|Sigmoid$|Relu$|RELU$|[eE]lu$|GELU$|[sS]wish$|GLU$|^Soft|^Mish$/,
    "unary",
  ],
];

/** Returns the family of an ONNX op, such as `onnx.Conv`. */
export function onnxFamily(op: string): string {
  const name = op.replace(/^onnx\.(\w+\.)?/, "");
  return ONNX_RULES.find(([rule]) => rule.test(name))?.[1] ?? "other";
}

/** Gives the ops of ONNX in the data of a page their families. */
export function assignFamilies(data: Data): void {
  const names = data.ops.map(([name, family]) => (name.startsWith("onnx.") ? onnxFamily(name) : (data.families[family] ?? "other")));
  data.families = [...new Set(names)];
  data.ops = data.ops.map(([name], n) => [name, data.families.indexOf(names[n] as string)]);
}
