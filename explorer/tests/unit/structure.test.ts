import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blockPlan } from "../../src/blockplan";
import { blockDifferences } from "../../src/differences";
import { headline } from "../../src/headline";
import { Layouter } from "../../src/layout";
import { type Func, type Inst, Program } from "../../src/model";
import { READABLE_ZOOM, openingBoxes } from "../../src/opening";
import { scopeOrder } from "../../src/scopeorder";
import { shortType, sizeText } from "../../src/sizes";
import { repetitions, splitScope } from "../../src/structure";
import { type Box, type Item, Tree, foldedLine } from "../../src/tree";
import { chain, dataOf, file, graphPage, layers, path, repository, residual, sapwood } from "../pages";

function treeOf(name: string, text: string): Tree {
  return new Tree(Program.read(dataOf(graphPage(name, text)), 0) as Program);
}

const labels = (box: Box, what: string[]): string[] => box.children.flatMap((c) => (c.kind === "box" ? [...(what.includes(c.what) ? [c.label] : []), ...labels(c, what)] : []));
const boxes = (tree: Tree, what: string): Box[] => [...tree.items.values()].filter((item): item is Box => item.kind === "box" && item.what === what);

test("repeated layers become one box, with the ops of each layer inside", () => {
  const tree = treeOf("layers", layers(12));
  const [repeat] = boxes(tree, "repeat");
  assert.deepEqual(boxes(tree, "repeat").map((box) => box.label), ["block × 12"]);
  assert.deepEqual(boxes(tree, "block").map((box) => box.label), Array.from({ length: 12 }, (_, n) => `block ${n + 1}`));
  assert.equal(new Set(boxes(tree, "block").map((box) => box.size)).size, 1);
  assert.deepEqual(blockDifferences(repeat as Box), ["block 2 to block 12: equal to the first, with other weights"]);
  // Every instruction is in the tree once.
  const f = tree.program.functions[0];
  for (const id of f?.insts.keys() ?? []) assert.ok(tree.items.has(`0.i${id}`), `${id}`);
  for (const param of f?.bodies.get(f.body)?.params ?? []) assert.ok(tree.items.has(`0.v${param}`), `${param}`);
});

test("blocks of other sizes repeat as well, and their differences are listed", () => {
  const tree = treeOf("sizes", layers(4, (n) => 8 * (n + 1)));
  const [repeat] = boxes(tree, "repeat");
  assert.equal(repeat?.label, "block × 4");
  const lines = blockDifferences(repeat as Box);
  assert.equal(lines.length, 3);
  assert.match(lines[0] as string, /^block 2: \d+ differences to the first: .*8.* → .*16/);
  assert.deepEqual(blockDifferences(repeat?.children[0] as Box), []);
  assert.deepEqual(blockDifferences(repeat?.children[1] as Box), lines.slice(0, 1));
});

test("weights and constants are rows of the node that uses them", () => {
  const tree = treeOf("rows", layers(12));
  const rows = [...tree.items.values()].filter((item) => item.kind === "node" && item.host);
  // Each layer has three weights and a constant; only the input stays at the top.
  assert.equal(rows.filter((row) => row.family === "parameter").length, 36);
  const top = boxes(tree, "function")[0]?.children.filter((item: Item) => item.kind === "node" && item.family === "parameter") ?? [];
  assert.deepEqual(top.map((item) => item.label), ["%x"]);
  const scene = new Layouter().scene(tree, tree.allOpen().open);
  for (const row of rows) {
    assert.ok(scene.places.has(row.key));
    assert.equal(scene.edges.filter((edge) => edge.from === row.key).length, 0);
  }
});

test("a constant with many users is a row in all of them, and has its place in the first", () => {
  const text = `ptir 1
func @f(%x: f32[4]) -> f32[4] {
  %c = constant 2.0 : f32[4]
  %a = mul %x, %c : f32[4]
  %b = add %a, %c : f32[4]
  return %b
}
`;
  const tree = treeOf("shared", text);
  const users = [...tree.items.values()].flatMap((item) => (item.kind === "node" ? item.rows.map((row) => [item.label, row.key, row.own]) : []));
  assert.deepEqual(users.map(([label, , own]) => [label, own]), [["mul", true], ["add", false]]);
});

test("a program opens as one readable column", () => {
  const tree = treeOf("column", layers(12));
  const layouter = new Layouter();
  const open = openingBoxes(tree, layouter, 1100, 800);
  const scene = layouter.scene(tree, open);
  assert.ok(scene.width * READABLE_ZOOM <= 1100 && scene.height * READABLE_ZOOM <= 800, `${scene.width} × ${scene.height}`);
  const repeat = scene.nodes.find((item) => item.kind === "box" && item.what === "repeat");
  assert.equal(repeat?.label, "block × 12");
  assert.deepEqual(openingBoxes(tree, new Layouter(), 1100, 800), open);
});

test("scopes of the file become boxes, and equal ones a repetition with their name", () => {
  const op = (n: number, k: number, from: string) => `  %${n}_${k} = stablehlo.${["tanh", "negate", "exponential", "sine"][k]} ${from} : tensor<4xf32> loc("jit(f)/net/layer_${n}/part/${k}")`;
  const lines = Array.from({ length: 8 }, (_, n) => Array.from({ length: 4 }, (_, k) => op(n, k, k > 0 ? `%${n}_${k - 1}` : n > 0 ? `%${n - 1}_3` : "%x")).join("\n"));
  const text = `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n${lines.join("\n")}\n  return %7_3 : tensor<4xf32>\n}\n`;
  const name = path("scopes.html");
  sapwood(["graph", file("scopes.mlir", text), "-o", name]);
  const tree = new Tree(Program.read(dataOf(name), 0) as Program);
  assert.deepEqual(labels(tree.root, ["scope", "repeat"]), ["layer/part × 8"]);
  assert.deepEqual(boxes(tree, "block").map((box) => box.label), Array.from({ length: 8 }, (_, n) => `layer_${n}/part`));
  assert.deepEqual(splitScope("jit(f)/jvp(a/b)/c"), ["jit(f)", "jvp(a/b)", "c"]);
});

test("repetitions are disjoint, in order, and begin where it costs least", () => {
  const find = (tokens: number[], cost: (n: number) => number = () => 0) => repetitions({ tokens, ops: tokens, sizes: tokens.map(() => 1), cost });
  const block = [1, 2, 3, 4, 5];
  assert.deepEqual(find([9, 8, ...block, ...block, ...block, 7]), [{ begin: 2, period: 5, times: 3 }]);
  assert.deepEqual(find([...block, ...block, ...block, 1, 2, 3], (n) => Number(n % 5 !== 2)), [{ begin: 2, period: 5, times: 3 }]);
  assert.deepEqual(find([1, 2, 3, 4, 5, 6, 7, 8, 9]), []);
  assert.deepEqual(find([]), []);
  const other = [11, 12, 13, 14, 15, 16];
  assert.deepEqual(find([...block, ...block, ...block, ...other, ...other, ...other]), [
    { begin: 0, period: 5, times: 3 },
    { begin: 15, period: 6, times: 3 },
  ]);
});

test("blocks of several runs, and those between them that are like them, count as one sort", () => {
  const block = [1, 2, 3, 4, 5, 6, 7, 8];
  const stage = [20, 21, 22, 23];
  const plan = (ops: number[], runs: { begin: number; period: number; times: number }[], isBranch = () => false) => blockPlan({ ops, runs, nested: () => [], isBranch });
  const starts = (from: number, times: number, period = 8) => Array.from({ length: times + 1 }, (_, n) => from + n * period);
  // Two stages with other instructions between them.
  const two = [9, ...block, ...block, ...stage, ...block, ...block, ...block];
  const runs = [{ begin: 1, period: 8, times: 2 }, { begin: 21, period: 8, times: 3 }];
  assert.deepEqual(plan(two, runs), [
    { starts: starts(1, 2), first: 1, total: 5, model: [21, 29] },
    { starts: starts(21, 3), first: 3, total: 5, model: [21, 29] },
  ]);
  // The same instructions are a branch of the third block.
  assert.deepEqual(plan(two, runs, () => true), [{ starts: [1, 9, 17, 29, 37, 45], first: 1, total: 5, model: [21, 29] }]);
  // A block with more instructions between copies.
  const longer = [...block, ...block, 1, 2, 3, 11, 12, 4, 5, 6, 7, 8, ...block, ...block];
  assert.deepEqual(plan(longer, [{ begin: 0, period: 8, times: 2 }, { begin: 26, period: 8, times: 2 }]), [{ starts: [0, 8, 16, 26, 34, 42], first: 1, total: 5, model: [0, 8] }]);
  // Other instructions of the same number are none.
  const other = [...block, ...block, 31, 32, 33, 34, 35, 36, 37, 38, ...block, ...block];
  assert.deepEqual(plan(other, [{ begin: 0, period: 8, times: 2 }, { begin: 24, period: 8, times: 2 }]).map((each) => each.starts), [[0, 8, 16], [24, 32, 40]]);
  // Blocks with little else than a repetition are stages of the blocks of others.
  const staged = [...block, ...block, ...stage, ...block, ...block, ...stage, 9, ...block, ...block, ...block];
  const inner = (from: number, to: number) => (to - from === 20 ? [{ begin: 0, period: 8, times: 2 }] : []);
  const all = blockPlan({ ops: staged, runs: [{ begin: 0, period: 20, times: 2 }, { begin: 41, period: 8, times: 3 }], nested: inner, isBranch: () => false });
  assert.deepEqual(all.map((each) => [each.starts, each.first, each.total]), [[[0, 8, 16], 1, 7], [[20, 28, 36], 3, 7], [[41, 49, 57, 65], 5, 7]]);
  // Of two divisions, the one into larger blocks counts.
  const large = [...block, ...block, ...stage, 24, 25, 26, 27, 28, 29, 30];
  const both = [...large, ...large, 9, ...large, ...large];
  const larger = blockPlan({ ops: both, runs: [{ begin: 0, period: 27, times: 2 }, { begin: 55, period: 27, times: 2 }], nested: (from, to) => (to - from === 27 ? [{ begin: 0, period: 8, times: 2 }] : []), isBranch: () => false });
  assert.deepEqual(larger.map((each) => each.starts), [[0, 27, 54], [55, 82, 109]]);
  assert.deepEqual(larger.map((each) => each.total), [4, 4]);
  // A single repetition stays as it is, and none is none.
  assert.deepEqual(plan([9, ...block, ...block, 7], [{ begin: 1, period: 8, times: 2 }]), [{ starts: [1, 9, 17], first: 1, total: 2, model: [1, 9] }]);
  assert.deepEqual(plan([], []), []);
});

test("a projection belongs to its block, and blocks with one are another kind", () => {
  const tree = treeOf("residual", residual([2, 2, 2]));
  const [repeat] = boxes(tree, "repeat");
  assert.deepEqual(boxes(tree, "repeat").map((box) => box.label), ["block × 6 (2 kinds)"]);
  assert.deepEqual(boxes(tree, "block").map((box) => box.label), Array.from({ length: 6 }, (_, n) => `block ${n + 1}`));
  assert.deepEqual(tree.words(repeat as Box), ["dense", "relu", "dense", "residual add", "tanh"]);
  assert.deepEqual(tree.previewTexts(repeat as Box), ["dense · relu · dense · residual add · tanh", "1–2 → 4×8, 3–4 → 4×16, 5–6 → 4×32"]);
  assert.equal(tree.output(repeat as Box), "f32[4, 32]");
  assert.match(headline(tree), /^6 residual blocks of dense, relu, tanh; [\d.]+ k parameters; f32\[4, 8\] → f32\[4, 32\]$/);
  const lines = blockDifferences(repeat as Box);
  assert.match(lines[1] as string, /^block 3: \d+ ops instead of \d+: 1 dot_general more, 1 add more$/);
});

test("stages with other instructions between them have one numbering", () => {
  const tree = treeOf("stages", residual([3, 3, 4], true));
  assert.deepEqual(boxes(tree, "repeat").map((box) => box.label), ["block × 3 (1–3 of 10)", "block × 3 (4–6 of 10)", "block × 4 (7–10 of 10)"]);
  assert.match(headline(tree), /^10 residual blocks \(3 \+ 3 \+ 4\) of dense/);
});

test("finding the structure takes linear time, also without any", () => {
  const time = (ops: number) => {
    const lines = [];
    let state = 7;
    for (let n = 1; n < ops; n += 1) {
      state = (Math.imul(state, 1103515245) + 12345) >>> 1;
      const op = ["add", "mul", "sub", "max"][(state >> 20) % 4];
      lines.push(`  %v${n} = ${op} %v${n - 1}, %v${Math.max(0, n - 1 - ((state >> 12) % 40))} : f32[8]`);
    }
    const program = Program.read(dataOf(graphPage(`random${ops}`, `ptir 1\nfunc @f(%v0: f32[8]) -> f32[8] {\n${lines.join("\n")}\n  return %v${ops - 1}\n}\n`)), 0) as Program;
    const began = performance.now();
    const tree = new Tree(program);
    assert.equal(tree.root.size, ops);
    for (const item of tree.items.values()) if (item.kind === "box") assert.ok(item.children.length <= 201, `${item.key}: ${item.children.length}`);
    return performance.now() - began;
  };
  time(2_000);
  const [small, large] = [time(4_000), time(16_000)];
  assert.ok(large < 12 * small + 200, `${small} ms, ${large} ms`);
});

// The models are not part of the project.
const models = join(repository, "../shared/corpus/stablehlo/models");
if (existsSync(models)) {
  for (const [name, expected] of [
    ["flax_gpt2_L12", ["block × 12"]],
    ["haiku_resnet18", ["block × 8 (2 kinds)"]],
    ["keras_convnext_tiny", ["block × 3 (1–3 of 18)", "block × 3 (4–6 of 18)", "block × 9 (7–15 of 18)", "block × 3 (16–18 of 18)"]],
  ] as const) {
    test(`${name} has its blocks, before and after`, () => {
      const page = path(`${name}.html`);
      sapwood(["opt", join(models, name, "model.mlir"), "-o", path(`${name}.mlir`), "--report", page]);
      const data = dataOf(page);
      for (const state of [0, data.states.length - 1]) {
        assert.deepEqual(boxes(new Tree(Program.read(data, state) as Program), "repeat").map((box) => box.label), expected);
      }
    });
  }
}

test("a chain without layers is divided into sections", () => {
  const tree = treeOf("sections", chain(150));
  const main = boxes(tree, "function")[0] as Box;
  assert.ok(main.children.filter((c) => c.kind === "box").length >= 3);
});

// Returns ops in an order without repetitions.
function mixed(ops: string[], n: number): string {
  let state = 7;
  const lines = Array.from({ length: n }, (_, k) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return `  %v${k + 1} = ${ops[(state >> 16) % ops.length]} %v${k} : f32[8]`;
  });
  return `ptir 1\nfunc @f(%v0: f32[8]) -> f32[8] {\n${lines.join("\n")}\n  return %v${n}\n}\n`;
}

test("sections without layers are named by their most frequent ops, with numbers if they have the same name", () => {
  const tree = treeOf("mixed", mixed(["neg", "abs", "floor", "ceil"], 200));
  const names = boxes(tree, "run").map((box) => box.label);
  assert.ok(names.length >= 5, names.join("; "));
  for (const name of names) assert.match(name, /^(?:neg|abs|floor|ceil)(?:, (?:neg|abs|floor|ceil)){2}, …(?: \(\d of \d\))?$/);
  assert.equal(new Set(names).size, names.length);
  const [section] = boxes(tree, "run") as [Box];
  const most = section.label.split(",")[0] as string;
  assert.ok(tree.preview(section).join(" ").includes(` ${most}`), "the box lists the numbers");
});

test("a scope is one box although its instructions alternate with others, unless operands go back and forth", () => {
  const f = (paths: string[], edges: [number, number][]) => {
    const insts = paths.map((_, n) => ({ id: n, results: [n], regions: [], body: 0 }));
    const users = new Map<number, number[]>();
    for (const [from, to] of edges) users.set(from, [...(users.get(from) ?? []), to]);
    const func = { insts: new Map(insts.map((inst) => [inst.id, inst])), bodies: new Map([[0, { owner: -1 }]]), usersOf: (v: number) => users.get(v) ?? [] };
    return scopeOrder(func as unknown as Func, insts as unknown as Inst[], paths.map((each) => each.split("/").filter(Boolean)));
  };
  // Two branches of one input, and their sum.
  assert.deepEqual(f(["", "a", "b", "a", "b", ""], [[0, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 5]]), [0, 1, 3, 2, 4, 5]);
  // The same in a scope.
  assert.deepEqual(f(["m/a", "m/b", "m/a", "m/b", "n"], [[0, 2], [1, 3], [2, 4]]), [0, 2, 1, 3, 4]);
  // The second part of `a` depends on `b`, which depends on its first part.
  assert.deepEqual(f(["a", "b", "a", "c", "a"], [[0, 1], [1, 2], [2, 4]]), [3, 0, 1, 2, 4]);
  // A scope waits for the last of its operands.
  assert.deepEqual(f(["a", "b", "c", "a"], [[1, 2], [2, 3]]), [1, 2, 0, 3]);
  // What is in order stays so.
  assert.deepEqual(f(["a", "a", "", "b", ""], [[0, 4], [1, 3]]), [0, 1, 2, 3, 4]);
  assert.deepEqual(f([], []), []);
});

test("random programs with scopes stay in an order of their operands, with each instruction once", () => {
  let state = 11;
  const random = (most: number) => ((state = (Math.imul(state, 1103515245) + 12345) >>> 1) >> 8) % most;
  for (let round = 0; round < 200; round += 1) {
    const count = 2 + random(40);
    const paths = Array.from({ length: count }, () => ["", "a", "b", "a/x", "a/y", "b/x"][random(6)] as string);
    const operands = paths.map((_, n) => (n === 0 ? [] : [random(n), random(n)]));
    const insts = paths.map((_, n) => ({ id: n, results: [n], regions: [], body: 0 }));
    const func = { insts: new Map(insts.map((inst) => [inst.id, inst])), bodies: new Map(), usersOf: (v: number) => operands.flatMap((list, n) => (list.includes(v) ? [n] : [])) };
    const order = scopeOrder(func as unknown as Func, insts as unknown as Inst[], paths.map((each) => each.split("/").filter(Boolean)));
    assert.deepEqual([...order].sort((a, b) => a - b), paths.map((_, n) => n));
    const at = new Map(order.map((n, place) => [n, place]));
    operands.forEach((list, n) => {
      for (const from of list) assert.ok((at.get(from) as number) < (at.get(n) as number), `${paths.join(" ")}: ${order.join(" ")}`);
    });
  }
});

test("folded boxes list less of their content if the drawing would be too high", () => {
  const tree = treeOf("low", mixed(["neg", "abs", "floor", "ceil"], 150));
  const layouter = new Layouter();
  openingBoxes(tree, layouter, 1100, 800);
  const [section] = boxes(tree, "run");
  const all = tree.preview(section as Box);
  assert.ok(all.length > 0);
  assert.deepEqual(tree.drawnPreview(section as Box), all);
  openingBoxes(tree, layouter, 1100, 20);
  assert.deepEqual(tree.drawnPreview(section as Box), []);
  assert.deepEqual(tree.preview(section as Box), all);
});

test("long symbols in types are short in a drawing", () => {
  assert.equal(sizeText("f32[?batch, 16, floordiv(?height, 2)]"), "?batch×16×?");
  assert.equal(sizeText("f32[]"), "f32[]");
  // Names of symbols are written if there is place; unknown sizes alone tell nothing.
  assert.equal(sizeText("f32[?batch, ?sequence_length, 64]"), "?batch×?sequence_length×64");
  assert.equal(sizeText("f32[?batch_size, ?sequence_length, ?hidden_size]"), "?×?×?");
  assert.equal(sizeText("f32[?unk_1, 16, ?unk_3]"), "?×16×?");
  assert.equal(sizeText("f32[?unk_1, ?unk_2, floordiv(?height, 2)]"), "");
  assert.equal(shortType("f32[?DynamicDimension.0, 3, 48]", 40), "f32[?DynamicDimension.0, 3, 48]");
  assert.equal(shortType("f32[?DynamicDimension.0, 3, 48]", 20), "f32[?, 3, 48]");
  assert.equal(shortType("f32[?DynamicDimension.0, 3, 48]", 8), "f32[?, …");
});

test("values of constants that only a loop uses are in its box", () => {
  const text = `ptir 1
func @f(%x: f32[4]) -> f32[4] {
  %c = constant 0.0 : f32[]
  %z = broadcast_to %c : f32[4]
  %n = constant 3 : i32[]
  %e = exp %x : f32[4]
  %i, %r, %q = while %n, %z, %e (%a: i32[], %b: f32[4], %d: f32[4]) {
    %o = constant 0 : i32[]
    %m = compare %a, %o {direction = gt} : bool[]
    yield %m
  } (%g: i32[], %h: f32[4], %k: f32[4]) {
    %one = constant 1 : i32[]
    %next = sub %g, %one : i32[]
    yield %next, %h, %k
  } : i32[], f32[4], f32[4]
  %y = add %r, %q : f32[4]
  return %y
}
`;
  const tree = treeOf("literals", text);
  const loop = [...tree.items.values()].find((item): item is Box => item.kind === "box" && item.what === "inst") as Box;
  assert.deepEqual(loop.children.filter((item) => item.kind === "node").map((item) => item.label), ["0.0", "broadcast_to", "3"]);
  // Only computed values are drawn above the loop.
  const main = boxes(tree, "function")[0] as Box;
  assert.deepEqual(main.children.flatMap((item) => (item.kind === "node" && item.inst ? [item.label] : [])), ["exp", "add", "return"]);
  for (const open of [tree.minimallyOpen(), tree.allOpen().open]) {
    const scene = new Layouter().scene(tree, open);
    for (const edge of scene.edges) assert.ok(scene.places.has(edge.from) && scene.places.has(edge.to));
  }
});

test("sections are named by their layers, and do not list them again", () => {
  const tree = treeOf("named", residual([3, 3, 4], true));
  // Between the stages is a layer, which changes the width.
  assert.deepEqual(boxes(tree, "run").map((box) => box.label), ["dense · exp · sigmoid (1 of 2)", "dense · exp · sigmoid (2 of 2)"]);
  const [section] = boxes(tree, "run") as [Box];
  assert.deepEqual(tree.preview(section), []);
  assert.deepEqual(foldedLine(section, section, tree), { line: `${section.size} ops → f32[4, 16]`, aside: "" });
  tree.previewLines = 0;
  assert.deepEqual(foldedLine(section, section, tree), { line: "→ f32[4, 16]", aside: `${section.size} ops` });
});

test("a long name of a section is its beginning, and the box lists the layers", () => {
  const names = ["tanh", "exp", "sin", "cos", "logistic", "log", "erf", "sqrt"];
  const lines = names.flatMap((op, n) => [`%${op} = ${op} %${n === 0 ? "y" : names[n - 1]} : f32[4, 8]`]);
  const program = layers(6).replace("  return %y5", `${lines.join("\n").replaceAll("%y ", "%y5 ")}\n  return %sqrt`);
  const tree = treeOf("long-name", program);
  const [section] = boxes(tree, "run") as [Box];
  assert.equal(section.label, "tanh · exp · sin · cos · sigmoid …");
  assert.equal(tree.preview(section).join(" "), "tanh · exp · sin · cos · sigmoid · log · erf");
});

test("the ops of the blocks of a repetition add up", () => {
  const line = (text: string) => {
    const tree = treeOf("sums", text);
    const [repeat] = boxes(tree, "repeat") as [Box];
    return foldedLine(repeat, repeat, tree).line;
  };
  assert.equal(line(layers(12)), "84 ops: 12 × 7 → f32[4, 8]");
  for (const text of [layers(12), residual([2, 2, 2]), residual([4, 4, 4])]) {
    const [, all, sum] = /^(\d+) ops: ([\d× +]+)( shared)? →/.exec(line(text)) as RegExpExecArray;
    const parts = (sum as string).split(" + ").map((part) => part.split(" × ").reduce((product, n) => product * Number(n), 1));
    assert.equal(parts.reduce((a, b) => a + b, 0), Number(all), line(text));
  }
});
