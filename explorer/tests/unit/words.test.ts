import assert from "node:assert/strict";
import { test } from "node:test";
import { Program } from "../../src/model";
import { type Box, Tree } from "../../src/tree";
import { condensed, opName } from "../../src/words";
import { headline } from "../../src/headline";
import { dataOf, file, graphPage, path, sapwood } from "../pages";
import { assignFamilies } from "../../src/families";

let programs = 0;

/** Returns the tree of a function with two weights of one function, such that parameters are drawn in their users. */
function treeOf(lines: string[], params = "%x: f32[4, 8]", result = "f32[4, 8]"): Tree {
  const weights = ["%w: f32[8, 8]", "%v: f32[8, 8]", "%g: f32[8]", "%b: f32[8]"].map((each) => `${each}`);
  const text = `ptir 1\nfunc @f(${[params, ...weights].join(", ")}) -> ${result} {\n${lines.map((line) => `  ${line}`).join("\n")}\n}\n`;
  programs += 1;
  const data = dataOf(graphPage(`words${programs}`, text));
  assignFamilies(data);
  return new Tree(Program.read(data, 0) as Program);
}

const wordsOf = (...args: Parameters<typeof treeOf>): string => {
  const tree = treeOf(...args);
  return condensed(tree.words(tree.functionBox(0) as Box));
};

const dot = (to: string, a: string, b: string, type = "f32[4, 8]") => `%${to} = dot_general %${a}, %${b} {lhs_contract = [1], rhs_contract = [0]} : ${type}`;
const reduce = (op: string, to: string, from: string) => `%${to} = reduce_${op} %${from} {axes = [1], keepdims = true} : f32[4, 1]`;
const wide = (to: string, from: string) => `%${to} = broadcast_to %${from} : f32[4, 8]`;
const norm = (mean: boolean) => [
  reduce("sum", "s", "x"),
  "%n = constant 8.0 : f32[4, 1]",
  "%m = div %s, %n : f32[4, 1]",
  wide("mb", "m"),
  "%c = sub %x, %mb : f32[4, 8]",
  mean ? "%q = mul %c, %c : f32[4, 8]" : "%q = mul %x, %x : f32[4, 8]",
  reduce("sum", "t", "q"),
  "%a = div %t, %n : f32[4, 1]",
  "%e = constant 1e-5 : f32[4, 1]",
  "%l = add %a, %e : f32[4, 1]",
  "%r = rsqrt %l : f32[4, 1]",
  wide("rb", "r"),
];

test("a norm is one word, with the name of the statistics that it uses", () => {
  assert.equal(wordsOf([...norm(true), "%y = mul %c, %rb : f32[4, 8]", "return %y"]), "layer_norm");
  const rms = norm(false).filter((line) => !/^%(s|m|mb|c) /.test(line));
  assert.equal(wordsOf([...rms, "%y = mul %x, %rb : f32[4, 8]", "return %y"]), "rms_norm");
  // A variance over other axes than the last ones is another norm.
  const first = rms.map((line) => line.replace("axes = [1]", "axes = [0]").replaceAll("f32[4, 1]", "f32[1, 8]"));
  assert.equal(wordsOf([...first, "%y = mul %x, %rb : f32[4, 8]", "return %y"]), "norm");
  // A root of something else is none.
  assert.equal(wordsOf(["%a = abs %x : f32[4, 8]", "%r = rsqrt %a : f32[4, 8]", "%y = mul %x, %r : f32[4, 8]", "return %y"]), "mul");
  assert.equal(wordsOf(["%e = constant 1e-5 : f32[8]", "%l = add %g, %e : f32[8]", "%r = rsqrt %l : f32[8]", wide("rb", "r"), dot("d", "x", "w"), "%y = mul %d, %rb : f32[4, 8]", "return %y"]), "dense · batch_norm");
});

const softmax = (sum: string) => [reduce("max", "m", "x"), wide("mb", "m"), "%s = sub %x, %mb : f32[4, 8]", "%e = exp %s : f32[4, 8]", reduce("sum", "t", sum), wide("tb", "t"), "%y = div %e, %tb : f32[4, 8]"];

test("a softmax divides exponentials by their own sum", () => {
  assert.equal(wordsOf([...softmax("e"), "return %y"]), "softmax");
  assert.equal(wordsOf([...softmax("x"), "return %y"]), "max · exp · sum");
});

test("a product of a softmax of a product is attention, and a product with weights is dense", () => {
  const scores = ["%k = transpose %x {perm = [1, 0]} : f32[8, 4]", dot("p", "x", "k", "f32[4, 4]"), "%h = constant 0.5 : f32[4, 4]", "%z = mul %p, %h : f32[4, 4]"];
  const weights = softmax("e").map((line) => line.replaceAll("%x", "%z").replaceAll("f32[4, 8]", "f32[4, 4]"));
  assert.equal(wordsOf([...scores, ...weights, dot("o", "y", "x"), "return %o"]), "attention");
  assert.equal(wordsOf([...scores, dot("o", "z", "x"), "return %o"]), "matmul ×2");
  assert.equal(wordsOf([dot("a", "x", "w"), dot("c", "a", "v"), "return %c"]), "dense ×2");
});

const gelu = (skip: string) => [
  "%c1 = constant 0.5 : f32[4, 8]", "%c2 = constant 0.7071 : f32[4, 8]", "%c3 = constant 1.0 : f32[4, 8]",
  "%a = mul %x, %c2 : f32[4, 8]", "%e = erf %a : f32[4, 8]", "%o = add %e, %c3 : f32[4, 8]", `%h = mul %${skip}, %c1 : f32[4, 8]`, "%y = mul %h, %o : f32[4, 8]", "return %y",
];

test("a GELU multiplies a value by a function of the same value", () => {
  assert.equal(wordsOf(gelu("x")), "gelu");
  assert.equal(wordsOf(["%z = sin %x : f32[4, 8]", ...gelu("z")]), "sin · erf · mul");
  const tanh = (cube: string) => [
    "%c1 = constant 0.5 : f32[4, 8]", "%c2 = constant 0.0447 : f32[4, 8]", "%c3 = constant 1.0 : f32[4, 8]", "%c4 = constant 0.797 : f32[4, 8]", "%p = mul %x, %x : f32[4, 8]", `%q = ${cube} : f32[4, 8]`,
    "%r = mul %q, %c2 : f32[4, 8]", "%s = add %x, %r : f32[4, 8]", "%t = mul %s, %c4 : f32[4, 8]", "%u = tanh %t : f32[4, 8]", "%v1 = add %u, %c3 : f32[4, 8]", "%h = mul %v1, %c1 : f32[4, 8]", "%y = mul %x, %h : f32[4, 8]", "return %y",
  ];
  assert.equal(wordsOf(tanh("mul %p, %x")), "gelu");
  assert.equal(wordsOf(tanh("exp %p")), "exp · add · tanh · mul");
});

test("a maximum with zero is a relu, a product with its own sigmoid a silu, and a sum of computed values an add", () => {
  const zero = "%z = constant 0.0 : f32[4, 8]";
  assert.equal(wordsOf([zero, dot("d", "x", "w"), "%r = max %d, %z : f32[4, 8]", "%s = logistic %r : f32[4, 8]", "%u = mul %r, %s : f32[4, 8]", "%y = add %u, %x : f32[4, 8]", "return %y"]), "dense · relu · silu · residual add");
  assert.equal(wordsOf([zero.replace("0.0", "1.0"), dot("d", "x", "w"), "%r = max %d, %z : f32[4, 8]", "%s = logistic %x : f32[4, 8]", "%y = mul %r, %s : f32[4, 8]", "return %y"]), "dense · sigmoid · mul");
});

test("words of ONNX ops have the names of the others", () => {
  const names = ["onnx.Conv", "onnx.MatMul", "onnx.Gemm", "onnx.LayerNormalization", "onnx.GlobalAveragePool", "onnx.LeakyRelu", "onnx.LSTM", "onnx.PRelu", "stablehlo.convolution", "chlo.erf"];
  assert.deepEqual(names.map(opName), ["conv", "matmul", "matmul", "layer_norm", "global_average_pool", "leaky_relu", "lstm", "prelu", "conv", "erf"]);
  const convolution = (to: string, from: string, kernel: string, groups: number) => `%${to} = onnx.Conv %${from}, %${kernel} {group = ${groups}, kernel_shape = [1, 1]} : f32[1, 8, 4, 4]`;
  const lines = [convolution("c", "x", "k1", 1), "%s = onnx.Sigmoid %c : f32[1, 8, 4, 4]", "%y = onnx.Mul %c, %s : f32[1, 8, 4, 4]", convolution("d", "y", "k2", 8), convolution("e", "d", "k3", 2), "return %e"];
  const params = "%x: f32[1, 8, 4, 4], %k1: f32[8, 8, 1, 1], %k2: f32[8, 1, 1, 1], %k3: f32[8, 4, 1, 1]";
  assert.equal(wordsOf(lines, params, "f32[1, 8, 4, 4]"), "conv · silu · depthwise_conv · grouped_conv");
});

test("repeated words are written once", () => {
  assert.equal(condensed([]), "");
  assert.equal(condensed(["a", "a", "a", "b"]), "a ×3 · b");
  assert.equal(condensed(["a", "b", "a", "b", "a", "b", "c"]), "(a · b) ×3 · c");
  assert.equal(condensed(["a", "b", "b", "a"]), "a · b ×2 · a");
});

test("the sentence has the layers, the number of parameters, and the types of inputs and outputs", () => {
  const zero = "%z = constant 0.0 : f32[4, 8]";
  assert.equal(headline(treeOf([zero, dot("d", "x", "w"), "%r = max %d, %z : f32[4, 8]", dot("y", "r", "v"), "return %y"])), "dense · relu · dense; 128 parameters; f32[4, 8] → f32[4, 8]");
  assert.match(headline(treeOf(["return %x"])), /f32\[4, 8\] → f32\[4, 8\]$/);
});

test("the sentence of a model with numbered scopes counts them by their layers", () => {
  const ops = ["tanh", "exponential", "sine", "cosine", "tanh"];
  const kinds = (n: number) => ops.filter((_, k) => n === 0 || (n * 7 + k * 3) % (k + 2) > 0);
  let from = "%x";
  const lines = Array.from({ length: 12 }, (_, n) => kinds(n).map((op, k) => {
    const line = `  %${n}_${k} = stablehlo.${op} ${from} : tensor<4xf32> loc("net/part.${n}/${k}")`;
    from = `%${n}_${k}`;
    return line;
  })).flat();
  const input = file("parts.mlir", `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n${lines.join("\n")}\n  return ${from} : tensor<4xf32>\n}\n`);
  sapwood(["graph", input, "-o", path("parts.html")]);
  const tree = new Tree(Program.read(dataOf(path("parts.html")), 0) as Program);
  assert.match(headline(tree), /^12 blocks \(part\.0 to part\.11\), (\d+) × \(tanh, .*\); f32\[4\] → f32\[4\]$/);
});

test("a sum is a residual connection only around layers", () => {
  const sum = (a: string, b: string) => [`%y = add %${a}, %${b} : f32[4, 8]`, "return %y"];
  const relu = (to: string, from: string) => `%${to} = logistic %${from} : f32[4, 8]`;
  const start = "%s = sin %x : f32[4, 8]";
  assert.equal(wordsOf([start, dot("d", "s", "w"), relu("r", "d"), dot("e", "r", "v"), ...sum("e", "s")]), "sin · dense · sigmoid · dense · residual add");
  assert.equal(wordsOf([start, dot("d", "s", "w"), relu("r", "d"), ...sum("s", "r")]), "sin · dense · sigmoid · residual add");
  // The value goes through a projection, and there are more layers on the other way.
  assert.equal(wordsOf([start, dot("d", "s", "w"), relu("r", "d"), dot("e", "r", "v"), dot("p", "s", "w"), ...sum("e", "p")]), "sin · dense · sigmoid · dense ×2 · residual add");
  // Two parallel layers, a function of a value without layers, and two unrelated values.
  assert.equal(wordsOf([start, dot("d", "s", "w"), dot("e", "s", "v"), ...sum("d", "e")]), "sin · dense ×2 · add");
  assert.equal(wordsOf([start, dot("d", "s", "w"), relu("r", "d"), ...sum("d", "r")]), "sin · dense · sigmoid · add");
  assert.equal(wordsOf([start, relu("r", "x"), dot("d", "s", "w"), ...sum("d", "r")]), "sin · sigmoid · dense · add");
  // A recurrent layer: each step adds another part of the input.
  const part = (n: number) => `%p${n} = slice %q {starts = [${4 * n}, 0], limits = [${4 * n + 4}, 8], strides = [1, 1]} : f32[4, 8]`;
  const step = (n: number, from: string) => [part(n), dot(`d${n}`, from, "w"), `%a${n} = add %d${n}, %p${n} : f32[4, 8]`, `%t${n} = tanh %a${n} : f32[4, 8]`];
  assert.equal(wordsOf([dot("q", "x", "v", "f32[16, 8]"), part(3), "%h = tanh %p3 : f32[4, 8]", ...step(0, "h"), ...step(1, "t0"), ...step(2, "t1"), "return %t2"], "%x: f32[16, 8]"), "dense · (tanh · dense · add) ×3 · tanh");
});
