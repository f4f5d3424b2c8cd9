// The words for a part of a model: the layers that its instructions are, as people call them. A softmax, a norm or a GELU of several instructions is one word. Words are only used for
// what the instructions compute for certain; everything else has the name of its op.

import type { Func, Inst } from "./model";
import { calledFunction } from "./structure";
import { type Weights, isConstant } from "./weights";

/** The largest number of steps back or forward that are looked at for one word. */
const MAX_STEPS = 16;
/** The largest number of users of a value that are looked at. */
const MAX_USERS = 16;
/** The largest number of instructions between the ends of a residual connection that are looked at. */
const MAX_SPAN = 2000;
/** The largest length of a sequence of words whose repetitions are written as one. */
const MAX_PERIOD = 8;
/** The families of ops that compute elementwise from one value, and those of which each op is a word. */
const SHAPE_FAMILIES = new Set(["shape", "cast"]);
/** The families of ops with weights, and the functions that are none of them. */
const LAYER_FAMILIES = new Set(["dot", "convolution", "attention", "recurrent"]);
const ACTIVATIONS = /^@"?_*(?:(?:leaky_|p)?relu6?|[gse]elu|silu|swish|sigmoid|softplus|hard_\w+|tanh|where|var|mean|clip|take)"?$/;
/** The ops that take a part of a value, or put several together. */
const PARTS = /slice|split|gather|concat/;
/** The word for a sum of a value with what layers compute from it. */
export const RESIDUAL = "residual add";
const TELLING_FAMILIES = new Set(["unary", "normalization", "recurrent", "attention", "window", "linalg", "sort", "fft", "collective"]);
/** The ops that tell little about a model. */
const PLAIN_OPS = new Set(["neg", "abs", "square", "sqrt", "rsqrt", "sign", "floor", "ceil", "round", "not", "reciprocal", "identity", "dropout", "is_finite"]);
const NAMES: Record<string, string> = {
  conv: "conv", convolution: "conv", conv_transpose: "conv_transpose", dot_general: "matmul", dot: "matmul", mat_mul: "matmul", gemm: "matmul", logistic: "sigmoid", multiply: "mul",
  reduce_mean: "mean", reduce_sum: "sum", reduce_max: "max", reduce_min: "min", layer_normalization: "layer_norm", batch_normalization: "batch_norm", instance_normalization: "instance_norm",
  group_normalization: "group_norm", r_m_s_normalization: "rms_norm", simplified_layer_normalization: "rms_norm", global_average_pool: "global_average_pool", l_s_t_m: "lstm", g_r_u: "gru", r_n_n: "rnn",
  p_relu: "prelu", p_re_lu: "prelu", re_lu: "relu", leaky_re_lu: "leaky_relu", concatenate: "concat", subtract: "sub", divide: "div", maximum: "max",
};

/** Returns the words for some instructions of one body, in program order. Instructions of other bodies are part of their owners. */
export function wordsOf(f: Func, weights: Weights, insts: readonly Inst[]): string[] {
  return new Words(f, weights).of(insts);
}

/** Returns words as one text; repetitions are written once: `dense · relu · dense · relu` is `(dense · relu) ×2`. */
export function condensed(words: readonly string[]): string {
  const parts: string[] = [];
  for (let at = 0; at < words.length; ) {
    let [best, times] = [1, 1];
    for (let period = 1; period <= MAX_PERIOD && at + 2 * period <= words.length; period += 1) {
      let n = 1;
      while (at + (n + 1) * period <= words.length && words.slice(at, at + period).every((word, k) => words[at + n * period + k] === word)) n += 1;
      if (n > 1 && n * period > times * best) [best, times] = [period, n];
    }
    const text = words.slice(at, at + best).join(" · ");
    parts.push(times === 1 ? text : `${best > 1 ? `(${text})` : text} ×${times}`);
    at += best * times;
  }
  return parts.join(" · ");
}

/** Returns the name of an op: that of ONNX in the style of the others, without a prefix. */
export function opName(op: string): string {
  const plain = op.replace(/^(onnx\.(\w+\.)?|stablehlo\.|chlo\.)/, "");
  const name = op.startsWith("onnx.") ? plain.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z])(?=[A-Z])/g, "$1_").toLowerCase() : plain;
  return NAMES[name] ?? name;
}

/** Returns true if an instruction reads rows of a matrix, its first operand. */
export function isTableUse(f: Func, inst: Inst): boolean {
  if (inst.family !== "gather" && calledFunction(inst) !== "@_take") return false;
  const [table, rows] = inst.operands.map((v) => f.value(v).type) as [string, string | undefined];
  return /^b?f\w*\[[^,]+, ?[^,]+\]$/.test(table) && rows !== undefined && !rows.endsWith("[]");
}

/** The positions of the instructions of a function. */
interface Places {
  at: ReadonlyMap<number, number>;
  hasLayers: boolean;
}

const known = new WeakMap<Func, Places>();

function placesOf(f: Func): Places {
  let places = known.get(f);
  if (!places) {
    const hasLayers = [...f.insts.values()].some(isLayer);
    const at = new Map<number, number>();
    if (hasLayers) for (const id of f.insts.keys()) at.set(id, at.size);
    known.set(f, (places = { at, hasLayers }));
  }
  return places;
}

// Returns true for an op with weights, and for a call of a function that is not known to have none.
function isLayer(inst: Inst): boolean {
  return LAYER_FAMILIES.has(inst.family) || (inst.op.endsWith("call") && !ACTIVATIONS.test(calledFunction(inst) ?? ""));
}

class Words {
  private readonly words = new Map<number, string>();
  // The instructions that are part of another word.
  private readonly used = new Set<number>();
  private readonly given = new Map<number, boolean>();

  constructor(
    private readonly f: Func,
    private readonly weights: Weights,
  ) {}

  of(insts: readonly Inst[]): string[] {
    for (const inst of insts) this.visit(inst);
    return insts.flatMap((inst) => (this.used.has(inst.id) || !this.words.has(inst.id) ? [] : [this.words.get(inst.id) as string]));
  }

  private visit(inst: Inst): void {
    if (this.named.has(inst.id) || this.weights.insts.has(inst.id) || inst.results.length === 0 || this.used.has(inst.id)) return;
    const word = this.wordOf(inst);
    if (word) this.words.set(inst.id, word);
  }

  private wordOf(inst: Inst): string | null {
    const name = opName(inst.op);
    if (inst.family === "control" || (inst.regions.length > 0 && !["reduce", "window"].includes(inst.family))) return name;
    if (inst.op.endsWith("call")) return this.callWord(inst);
    if (this.isWhole(inst)) return null;
    if (inst.results.every((v) => this.isGiven(v))) return null;
    switch (inst.family === "reduce" ? "" : name) {
      case "add": return this.isSum(inst) ? (this.isResidual(inst) ? RESIDUAL : "add") : null;
      case "mul": return this.product(inst);
      case "div": return this.quotient(inst);
      case "max": return inst.operands.some((v) => this.isZero(v)) ? "relu" : null;
      case "rsqrt":
      case "sqrt": return this.norm(inst);
      case "erf":
      case "erfc": return this.isGelu(inst, this.argument(inst)) ? "gelu" : name;
      case "tanh": return this.isGelu(inst, this.cubicArgument(inst)) ? "gelu" : name;
      case "concat": return "concat";
    }
    switch (inst.family) {
      case "convolution": return this.convolution(inst, name);
      case "dot": return this.contraction(inst);
      case "reduce": return this.reduction(inst, name);
      case "window": return name === "reduce_window" ? this.pooling(inst) : name;
      case "gather": return this.isTable(inst) ? "embedding" : inst.operands.slice(1).every((v) => this.isGiven(v)) ? null : name;
    }
    return TELLING_FAMILIES.has(inst.family) && !PLAIN_OPS.has(name) ? name : null;
  }

  private callWord(inst: Inst): string | null {
    const name = calledFunction(inst)?.replace(/^@/, "").replaceAll('"', "") ?? "";
    if (name === "_take" && this.isTable(inst)) return "embedding";
    // Helpers of JAX, such as `_where` and `_var`.
    return name.startsWith("_") || name === "" ? null : name;
  }

  // Returns true if an instruction computes whole numbers or truth values: positions and sizes, not features.
  private isWhole(inst: Inst): boolean {
    return /^(?:[iu]\d|bool|ui|si)/.test(this.f.value(inst.results[0] as number).type);
  }

  // Returns the first users of a value.
  private users(value: number): Inst[] {
    return this.f.usersOf(value).slice(0, MAX_USERS).map((id) => this.f.insts.get(id) as Inst);
  }

  private def(value: number): Inst | undefined {
    return this.f.insts.get(this.f.value(value).inst);
  }

  // Returns true if an instruction reads rows of a matrix that is a weight.
  private isTable(inst: Inst): boolean {
    const [table = -1] = inst.operands;
    return isTableUse(this.f, inst) && (this.f.value(table).inst < 0 || this.isGiven(table));
  }

  /** Returns true for a value that depends on weights and constants only. */
  private isGiven(value: number, steps = MAX_STEPS): boolean {
    const known = this.given.get(value);
    if (known !== undefined) return known;
    const inst = this.def(value);
    if (!inst) return this.weights.params.has(value) || this.isVector(value);
    if (this.weights.insts.has(inst.id) || isConstant(inst)) return true;
    const is = steps > 0 && inst.regions.length === 0 && !["call", "rng", "control"].includes(inst.family) && inst.operands.every((v) => this.isGiven(v, steps - 1));
    if (steps === MAX_STEPS || is) this.given.set(value, is);
    return is;
  }

  // Returns true for a parameter that is a vector, beside others of more axes: a scale or a bias.
  private isVector(value: number): boolean {
    const params = this.f.bodies.get(this.f.body)?.params ?? [];
    const axes = (v: number) => this.f.value(v).type.split(",").length;
    return /^b?f\w*\[[^,\]]+\]$/.test(this.f.value(value).type) && params.includes(value) && params.some((v) => axes(v) > 1);
  }

  private computed(inst: Inst): number[] {
    return inst.operands.filter((v) => !this.isGiven(v));
  }

  // Follows a value back through ops that change its shape or type, and through products, sums and so on with weights and constants, but not through some ops.
  private origin(value: number, elementwise = true, except?: RegExp): number {
    for (let steps = MAX_STEPS; steps > 0; steps -= 1) {
      const inst = this.def(value);
      if (!inst || inst.regions.length > 0 || except?.test(inst.op)) return value;
      const [only, ...more] = this.computed(inst);
      const passes = SHAPE_FAMILIES.has(inst.family) || (elementwise && (inst.family === "binary" || opName(inst.op) === "neg"));
      if (!passes || only === undefined || more.length > 0) return value;
      value = only;
    }
    return value;
  }

  private originInst(value: number): Inst | undefined {
    return this.def(this.origin(value));
  }

  private isZero(value: number): boolean {
    for (let steps = MAX_STEPS; steps > 0; steps -= 1) {
      const inst = this.def(value);
      if (!inst) return false;
      if (isConstant(inst)) return /constant (?:dense<)?0(?:\.0*)?(?:e[+-]?0+)?>? :/i.test(inst.text);
      if (!SHAPE_FAMILIES.has(inst.family) || inst.operands.length !== 1) return false;
      value = inst.operands[0] as number;
    }
    return false;
  }

  // A sum of two values that are not parts of one word: a connection around other layers.
  private isSum(inst: Inst): boolean {
    const computed = this.computed(inst);
    return computed.length > 1 && !computed.every((v) => {
      const id = this.originInst(v)?.id ?? -1;
      return this.used.has(id) || this.named.has(id);
    });
  }

  // Returns true for a sum of a value with what layers compute from it. A projection of the value counts as well if the other layers are more than one.
  private isResidual(inst: Inst): boolean {
    const [a, b, ...more] = this.computed(inst);
    if (a === undefined || b === undefined || more.length > 0 || !placesOf(this.f).hasLayers) return false;
    return this.isShortcut(a, b) || this.isShortcut(b, a);
  }

  private isShortcut(value: number, layers: number): boolean {
    const start = this.origin(value, true, PARTS);
    if (this.leadsTo(start, layers, 1)) return true;
    const projection = this.def(start);
    if (!projection || !["dot", "convolution"].includes(projection.family)) return false;
    const [input, ...more] = this.computed(projection);
    return input !== undefined && more.length === 0 && this.leadsTo(this.origin(input, true, PARTS), layers, 2);
  }

  // Returns true if a value is computed from another one by at least some layers.
  private leadsTo(from: number, to: number, layers: number): boolean {
    const { at } = placesOf(this.f);
    const first = at.get(this.f.value(from).inst) ?? -1;
    // The largest number of layers on a way from each instruction to the value.
    const seen = new Map<number, number>();
    const work: [number, number][] = [[to, 0]];
    for (let next = work.pop(); next && seen.size < MAX_SPAN; next = work.pop()) {
      const [value, n] = next;
      if (value === from && n >= layers) return true;
      const inst = this.def(value);
      if (!inst || (at.get(inst.id) ?? -1) <= first) continue;
      const passed = Math.min(layers, n + Number(isLayer(inst)));
      if ((seen.get(inst.id) ?? -1) >= passed) continue;
      seen.set(inst.id, passed);
      for (const operand of inst.operands) work.push([operand, passed]);
    }
    return false;
  }

  private product(inst: Inst): string | null {
    const computed = this.computed(inst);
    if (computed.length === 1) return inst.operands.some((v) => this.isGiven(v) && this.hasRoot(v)) ? this.givenNorm(computed[0] as number) : null;
    const [a, b] = computed as [number, number];
    for (const [x, y] of [[a, b], [b, a]] as const) {
      const gate = this.def(y);
      if (gate && opName(gate.op) === "sigmoid" && gate.operands[0] === x) {
        this.used.add(gate.id);
        return "silu";
      }
      const scale = this.originInst(y);
      // The product of a norm has its word already; another one is that of the mean.
      if (scale && this.used.has(scale.id) && ["rsqrt", "sqrt"].includes(opName(scale.op))) {
        this.used.add(inst.id);
        return null;
      }
    }
    return a === b || computed.length !== 2 ? null : "mul";
  }

  // Returns the word for a norm with given statistics: of features, or of an input.
  private givenNorm(value: number): string {
    return this.f.value(this.origin(value)).inst < 0 ? "normalization" : "batch_norm";
  }

  // Returns true if weights are computed with a square root of a vector: the deviation of a batch norm.
  private hasRoot(value: number): boolean {
    const work = [value];
    for (let steps = 2 * MAX_STEPS; steps > 0 && work.length > 0; steps -= 1) {
      const inst = this.def(work.pop() as number);
      if (!inst) continue;
      if (["rsqrt", "sqrt"].includes(opName(inst.op)) && /\[/.test(this.f.typeOf(inst)) && !/\[\]/.test(this.f.typeOf(inst))) return true;
      work.push(...inst.operands);
    }
    return false;
  }

  private quotient(inst: Inst): string | null {
    const [numerator, divisor] = inst.operands as [number, number];
    if (this.isGiven(divisor)) return this.computed(inst).length === 1 && this.hasRoot(divisor) ? this.givenNorm(this.computed(inst)[0] as number) : null;
    const [exp, sum] = [this.def(numerator), this.def(this.origin(divisor, false))];
    if (sum && ["rsqrt", "sqrt"].includes(opName(sum.op)) && this.used.has(sum.id)) {
      this.used.add(inst.id);
      return null;
    }
    if (!exp || opName(exp.op) !== "exp" || sum?.family !== "reduce" || this.origin(sum.operands[0] as number, false) !== this.origin(numerator, false)) return null;
    for (const each of [exp, sum]) this.used.add(each.id);
    // The maximum that is subtracted before.
    const shifted = this.def(exp.operands[0] as number);
    const most = shifted && opName(shifted.op) === "sub" ? this.def(this.origin(shifted.operands[1] as number)) : undefined;
    if (most?.family === "reduce") this.used.add(most.id);
    return "softmax";
  }

  // Returns the word for a square root of a variance; marks what the variance is computed from.
  private norm(inst: Inst): string | null {
    const path: Inst[] = [];
    let stat: Inst | undefined;
    let value = inst.operands[0] as number;
    for (let steps = MAX_STEPS; steps > 0 && !stat; steps -= 1) {
      const def = this.def(value);
      if (!def) return null;
      if (def.family === "reduce" || /^@_?var(iance)?$/.test(calledFunction(def) ?? "")) stat = def;
      else if (!SHAPE_FAMILIES.has(def.family) && def.family !== "binary") return null;
      else {
        const computed = this.computed(def);
        // The mean of squares minus the square of the mean.
        if (computed.length !== 1 && opName(def.op) !== "sub") return null;
        path.push(def);
        value = computed[0] as number;
      }
    }
    if (!stat) return null;
    let base = stat.operands[0] as number;
    let hasMean = stat.family !== "reduce";
    const square = this.def(base);
    const isSquare = square && (["square", "pow", "integer_pow"].includes(opName(square.op)) || (opName(square.op) === "mul" && square.operands[0] === square.operands[1]));
    if (square && isSquare) {
      path.push(square);
      base = square.operands[0] as number;
    } else if (!hasMean) return null;
    const centred = this.def(base);
    const mean = centred && opName(centred.op) === "sub" ? this.originInst(centred.operands[1] as number) : undefined;
    if (centred && mean?.family === "reduce") {
      path.push(centred, mean);
      [base, hasMean] = [centred.operands[0] as number, true];
    }
    for (const other of this.users(base)) {
      if (other.family !== "reduce" || other === stat) continue;
      path.push(other);
      hasMean = true;
    }
    for (const each of [inst, stat, ...path]) this.used.add(each.id);
    const scaled = this.applied(inst);
    if (!scaled) return null;
    this.used.delete(scaled.id);
    this.words.set(scaled.id, !this.isOverLast(base, stat) ? "norm" : hasMean ? "layer_norm" : "rms_norm");
    this.named.add(scaled.id);
    return null;
  }

  // The products that are the results of norms.
  private readonly named = new Set<number>();

  // Returns the first product or quotient of another value with a root.
  private applied(root: Inst): Inst | undefined {
    let value = root.results[0] as number;
    for (let steps = MAX_STEPS; steps > 0; steps -= 1) {
      const users = this.users(value);
      const found = users.find((user) => ["mul", "div"].includes(opName(user.op)) && this.computed(user).length === 2);
      if (found) return found;
      const [next] = users;
      if (!next || next.results.length !== 1) return undefined;
      value = next.results[0] as number;
    }
    return undefined;
  }

  // Returns true if a reduction is over the last axes of a value.
  private isOverLast(base: number, stat: Inst): boolean {
    const sizes = (type: string) => /\[(.*)\]$/.exec(type)?.[1]?.split(/,\s*/) ?? [];
    const [all, rest] = [sizes(this.f.value(base).type), sizes(this.f.typeOf(stat)).filter((size, n, list) => size !== "1" || list.slice(n).some((other) => other !== "1"))];
    return rest.length < all.length && rest.every((size, n) => size === all[n]);
  }

  private contraction(inst: Inst): string {
    const computed = this.computed(inst);
    if (computed.length === 1) return "dense";
    for (const value of computed) {
      const softmax = this.def(this.origin(value, false));
      if (!softmax || (this.words.get(softmax.id) !== "softmax" && opName(softmax.op) !== "softmax")) continue;
      const scores = this.scores(softmax);
      if (!scores) continue;
      this.used.add(softmax.id).add(scores.id);
      return "attention";
    }
    return "matmul";
  }

  // Returns the product of two computed values that a softmax is computed from, through scaling and masking.
  private scores(softmax: Inst): Inst | undefined {
    let value = softmax.operands[0] as number;
    for (let steps = MAX_STEPS; steps > 0; steps -= 1) {
      const inst = this.def(this.origin(value));
      if (!inst) return undefined;
      if (inst.family === "dot") return this.computed(inst).length === 2 ? inst : undefined;
      const name = opName(inst.op);
      const floats = inst.operands.filter((v) => !this.isGiven(v) && /^b?f\d/.test(this.f.value(v).type));
      if (name === "exp") value = inst.operands[0] as number;
      else if (name === "sub") value = inst.operands[0] as number;
      else if (["add", "select", "where"].includes(name) || /^@_?where$/.test(calledFunction(inst) ?? "")) {
        const next = floats.find((v) => this.originInst(v)?.family === "dot");
        if (next === undefined) return undefined;
        value = next;
      } else return undefined;
    }
    return undefined;
  }

  private convolution(inst: Inst, name: string): string {
    if (!/\b(?:feature_group_count|feature_groups|groups?) = (?!1\b)\d/.test(inst.text)) return name;
    // The number of input features of each group, which is a size of the kernel.
    const order = /\]x\[([^\]]*)\]->/.exec(inst.text)?.[1]?.split(", ") ?? ["o", "i"];
    const sizes = /\[(.*)\]$/.exec(this.f.value(inst.operands[1] ?? -1).type)?.[1]?.split(/,\s*/) ?? [];
    return `${sizes[order.indexOf("i")] === "1" ? "depthwise" : "grouped"}_${name}`;
  }

  private reduction(inst: Inst, name: string): string {
    const applied = /applies stablehlo\.(\w+)/.exec(inst.text)?.[1] ?? (name === "reduce" ? this.bodyOp(inst) : undefined);
    const word = applied === undefined ? name : applied === "add" ? "sum" : (NAMES[applied] ?? applied);
    if (word !== "sum") return word;
    const users = this.users(inst.results[0] as number).flatMap((user) => (SHAPE_FAMILIES.has(user.family) ? this.users(user.results[0] ?? -1) : [user]));
    return users.some((user) => ["div", "mul"].includes(opName(user.op)) && this.computed(user).length === 1) ? "mean" : word;
  }

  private pooling(inst: Inst): string {
    const op = this.bodyOp(inst);
    return op === "max" ? "max_pool" : op === "add" ? "average_pool" : "window";
  }

  // Returns the op in the region of a reduction.
  private bodyOp(inst: Inst): string | undefined {
    const [param] = this.f.bodies.get(inst.regions[0] ?? -1)?.params ?? [];
    const [user] = param === undefined ? [] : this.f.usersOf(param);
    return user === undefined ? undefined : opName(this.f.insts.get(user)?.op ?? "");
  }

  private argument(inst: Inst): number {
    return this.origin(inst.operands[0] as number);
  }

  // Returns x if the argument is a multiple of x + c·x³.
  private cubicArgument(inst: Inst): number {
    const sum = this.def(this.origin(inst.operands[0] as number));
    if (!sum || opName(sum.op) !== "add") return -1;
    for (const [x, y] of [sum.operands, [...sum.operands].reverse()] as [number, number][]) {
      const inside = new Set<Inst>();
      const work = [this.origin(y)];
      let isPower = true;
      for (let value = work.pop(); value !== undefined && inside.size < 4; value = work.pop()) {
        if (value === x) continue;
        const def = this.def(value);
        if (!def || !["mul", "pow", "integer_pow", "square"].includes(opName(def.op))) isPower = false;
        else {
          inside.add(def);
          work.push(...this.computed(def));
        }
      }
      if (!isPower || inside.size === 0) continue;
      for (const each of [sum, ...inside]) this.used.add(each.id);
      return x;
    }
    return -1;
  }

  // Returns true if x is multiplied by a function of x, with sums and products by constants between them.
  private isGelu(inst: Inst, x: number): boolean {
    if (x < 0) return false;
    let value = inst.results[0] as number;
    for (let steps = MAX_STEPS; steps > 0; steps -= 1) {
      const [user, ...more] = this.users(value);
      if (!user || more.length > 0 || user.results.length !== 1) return false;
      const others = this.computed(user).filter((v) => v !== value);
      if (others.length === 0) value = user.results[0] as number;
      else {
        if (opName(user.op) !== "mul" || this.origin(others[0] as number) !== this.origin(x)) return false;
        this.used.add(user.id);
        return true;
      }
    }
    return false;
  }
}
