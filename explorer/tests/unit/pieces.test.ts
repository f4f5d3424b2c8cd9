import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Data } from "../../src/data";
import { shortPath } from "../../src/dom";
import { LEVELS, amountText, heatLevel, partText } from "../../src/cost";
import { onnxFamily } from "../../src/families";
import { Layouter } from "../../src/layout";
import { Program, instKey } from "../../src/model";
import { asText, byFamily, opTable, patternTable } from "../../src/numbers";
import { openingBoxes } from "../../src/opening";
import { colours, contrast, heatColours } from "../../src/palette";
import { strips } from "../../src/print";
import { Search } from "../../src/search";
import { linesOf } from "../../src/textview";
import { Tree } from "../../src/tree";
import { chain, dataOf, file, graphPage, layers, path, reportPage, sapwood, transformer } from "../pages";

const data = dataOf(graphPage("unit", transformer()));
const program = Program.read(data, 0) as Program;

test("no text is ever read as HTML", () => {
  const folder = join(process.env.EXPLORER as string, "src");
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), "utf8");
    assert.ok(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(/.test(text), name);
  }
});

test("text can be read on all families in both themes", () => {
  for (const dark of [false, true]) {
    for (const family of [...data.families, "parameter", "other", "rng", "linalg", "window"]) {
      const { fill, line, text } = colours(family, dark);
      assert.ok(contrast(fill, text) >= 4.5, `${family} ${dark}: ${contrast(fill, text)}`);
      for (const below of [fill, dark ? "#131a21" : "#ffffff"]) assert.ok(contrast(line, below) >= 3, `line of ${family} ${dark}: ${contrast(line, below)}`);
    }
  }
});

test("the text of every level of heat is readable, and neighbouring levels differ", () => {
  for (const dark of [false, true]) {
    const levels = LEVELS.map((_, level) => heatColours(level, dark));
    for (const { fill, line, text } of levels) {
      assert.ok(contrast(fill, text) >= 4.5, `${fill} ${dark}: ${contrast(fill, text)}`);
      assert.ok(contrast(line, dark ? "#131a21" : "#ffffff") >= 3, `line ${line} ${dark}`);
    }
    levels.slice(2).forEach(({ fill }, n) => assert.ok(contrast(fill, (levels[n + 1] as (typeof levels)[0]).fill) >= 1.1, `level ${n + 2} ${dark}`));
  }
});

test("costs have three digits, and levels by their part of the whole", () => {
  assert.deepEqual([0, 9999, 12_345, 999_600, 1_050_000, 89_700_000, 5e21].map(amountText), ["0", "9\u202f999", "12.3\u202fk", "1.00\u202fM", "1.05\u202fM", "89.7\u202fM", "5000\u202fE"]);
  assert.deepEqual([0, 0.0005, 0.001, 0.02, 0.1, 0.2, 1, Number.NaN].map(heatLevel), [0, 1, 2, 3, 4, 5, 5, 0]);
  assert.deepEqual([0, 0.0005, 0.0231, 0.5].map(partText), ["0\u202f%", "< 0.1\u202f%", "2.3\u202f%", "50\u202f%"]);
});

test("the cost of a box is that of its instructions, and the program costs what its entry costs", () => {
  const tree = new Tree(program);
  const { flops, bytes } = data.states[0]?.cost as NonNullable<Data["states"][0]["cost"]>;
  // The transformer has four private copies of one entry.
  assert.ok(tree.root.cost[0] > 0 && tree.root.cost[0] <= (flops as number) && tree.root.cost[1] <= (bytes as number));
  for (const item of tree.items.values()) {
    if (item.kind !== "box" || item.inst || item === tree.root) continue;
    const sum = item.children.reduce((n, child) => n + child.cost[0], 0);
    const rows = [...tree.items.values()].filter((row) => row.kind === "node" && row.host && row.parent === item && !item.children.includes(row));
    const all = sum + rows.reduce((n, row) => n + row.cost[0], 0);
    assert.ok(Math.abs(all - item.cost[0]) <= 1e-6 * all, `${item.label}: ${all} ${item.cost[0]}`);
  }
});

test("ops of ONNX have families", () => {
  const families = ["Conv", "ConvTranspose", "MatMul", "Relu", "LeakyRelu", "Softmax", "LayerNormalization", "ReduceMean", "Add", "Concat", "Gather", "If", "LSTM", "MaxPool", "Cast", "Where", "Constant", "Mystery"].map((op) => onnxFamily(`onnx.${op}`));
  assert.deepEqual(families, ["convolution", "convolution", "dot", "unary", "unary", "normalization", "normalization", "reduce", "binary", "shape", "gather", "control", "recurrent", "window", "cast", "compare", "constant", "other"]);
});

test("a layout is the same every time, and nothing in it overlaps", () => {
  const scenes = [0, 1].map(() => {
    const tree = new Tree(program);
    return new Layouter().scene(tree, tree.allOpen().open);
  });
  assert.deepEqual([...(scenes[0]?.places ?? [])], [...(scenes[1]?.places ?? [])]);
  const scene = scenes[0] as NonNullable<(typeof scenes)[0]>;
  const rects = scene.nodes.map((n) => scene.places.get(n.key) as { x: number; y: number; w: number; h: number });
  let overlaps = 0;
  rects.forEach((a, i) =>
    rects.slice(i + 1).forEach((b) => {
      if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h) overlaps += 1;
    }),
  );
  assert.equal(overlaps, 0);
  const insts = program.functions.reduce((n, f) => n + f.insts.size, 0);
  assert.equal(insts, 300);
  const rows = scene.nodes.flatMap((n) => (n.kind === "node" ? n.rows.filter((row) => row.own && row.key.includes(".i")) : []));
  const shown = scene.nodes.filter((n) => n.kind === "node" && n.inst).length + scene.boxes.filter((b) => b.what === "inst").length;
  assert.equal(shown + rows.length, 300);
  for (const { key } of rows) assert.ok(scene.places.has(key), key);
});

test("what does not fit on a page is cut between nodes", () => {
  const tree = new Tree(Program.read(dataOf(graphPage("paper", layers(20))), 0) as Program);
  const scene = new Layouter().scene(tree, tree.allOpen().open);
  const { cuts } = strips(scene);
  assert.ok(cuts.length > 1, `${cuts.length} pages`);
  assert.equal(cuts[0]?.[0], 0);
  assert.equal(cuts.at(-1)?.[1], scene.height);
  cuts.slice(1).forEach(([top], n) => assert.equal(top, cuts[n]?.[1], "pages follow each other"));
  const crossed = scene.nodes.filter((node) => {
    const r = scene.places.get(node.key) as { y: number; h: number };
    return cuts.some(([top]) => top > r.y && top < r.y + r.h);
  });
  assert.deepEqual(crossed.map((node) => node.key), []);
  const small = { ...scene, width: 300, height: 200, nodes: [], boxes: [] };
  assert.deepEqual(strips(small), { cuts: [[0, 200]], scale: 1 });
});

test("boxes say what is in them, of everything or of some", () => {
  const tree = new Tree(program);
  assert.equal(tree.root.size, 300);
  assert.equal(tree.root.mix.reduce((n, [, own]) => n + own, 0), 300);
  const some = new Set([...tree.items.keys()].filter((key) => key.startsWith("0.i")));
  const contents = tree.contents(some);
  assert.equal(contents.get(tree.root)?.size, program.functions[0]?.insts.size);
});

test("only constants are drawn as constants", () => {
  const text = `ptir 1
func @f() -> (i32[4], i32[4]) {
  %i = iota {axis = 0} : i32[4]
  %c = constant [1, 2, 3, 4] : i32[4]
  return %i, %c
}
`;
  const tree = new Tree(Program.read(dataOf(graphPage("iota", text)), 0) as Program);
  const nodes = [...tree.items.values()].flatMap((item) => (item.kind === "node" ? [[item.label, item.small]] : []));
  assert.deepEqual(nodes, [["iota", false], ["return", false], ["[1, 2, 3, 4]", true]]);
});

test("a page about StableHLO has the names and the statements of the file", () => {
  const text = `func.func @main(%7: tensor<4xf32>) -> tensor<4xf32> {
  %60 = stablehlo.exponential %7 : tensor<4xf32>
  %61 = stablehlo.negate %60 : tensor<4xf32>
  %62 = stablehlo.negate %61 : tensor<4xf32>
  %c = stablehlo.constant dense<2.0> : tensor<4xf32>
  %63 = stablehlo.multiply %62, %c : tensor<4xf32>
  return %63 : tensor<4xf32>
}
`;
  const before = file("names.mlir", text);
  sapwood(["opt", before, "-o", path("names-after.mlir"), "--report", path("names.html")]);
  const data = dataOf(path("names.html"));
  const insts = (n: number) => [...((Program.read(data, n) as Program).functions[0]?.insts.values() ?? [])].map((i) => i.text);
  const lines = text.split("\n").slice(1, -2).map((line) => line.trim());
  assert.deepEqual(insts(0), lines);
  // Values that a rewrite created have numbers that do not occur in the file.
  const made = ["%64 = constant 2.0 : f32[4]", lines[0], "%65 = mul %60, %64 : f32[4]", "return %65"];
  assert.deepEqual(insts(data.states.length - 1), made);
  const constant = [...new Tree(Program.read(data, 0) as Program).items.values()].filter((i) => i.kind === "node" && i.small);
  assert.deepEqual(constant.map((i) => i.label), ["%7", "2.0"]);
});

test("a large function is divided, and few boxes are open at first", () => {
  const large = Program.read(dataOf(graphPage("large", chain(10_000))), 0) as Program;
  const tree = new Tree(large);
  const scene = new Layouter().scene(tree, openingBoxes(tree, new Layouter(), 1100, 800));
  assert.equal(tree.root.size, 10_000);
  assert.ok(scene.nodes.length <= 110, `${scene.nodes.length}`);
  for (const item of tree.items.values()) if (item.kind === "box") assert.ok(item.children.length <= 200, item.key);
  assert.equal([...tree.items.values()].filter((i) => i.kind === "node" && i.inst).length, 10_000);
});

test("unfolding everything stops before it takes long", () => {
  const tree = new Tree(Program.read(dataOf(graphPage("unfold", chain(10_000))), 0) as Program);
  const boxes = [...tree.items.values()].filter((item) => item.kind === "box").length;
  const { open, left } = tree.allOpen();
  const scene = new Layouter().scene(tree, open);
  assert.ok(scene.nodes.length + scene.boxes.length <= 1502, `${scene.nodes.length}`);
  assert.ok(left > 80 && left + scene.boxes.length <= boxes, `${left} left, ${scene.boxes.length} open of ${boxes}`);
});

test("regions that nest deeply start folded and overflow nothing", () => {
  const depth = 3000;
  const open = Array.from({ length: depth }, (_, n) => `%r${n} = cond %p () {`).join("\n");
  const close = Array.from({ length: depth }, (_, n) => `yield ${n === 0 ? "%x" : `%r${depth - n}`} } () { yield %x } : f32[]`).join("\n");
  const text = `ptir 1\nfunc @deep(%x: f32[], %p: bool[]) -> f32[] {\n${open}\n${close}\nreturn %r0\n}\n`;
  const deep = Program.read(dataOf(graphPage("deep", text)), 0) as Program;
  const tree = new Tree(deep);
  const scene = new Layouter().scene(tree, openingBoxes(tree, new Layouter(), 1100, 800));
  assert.ok(scene.boxes.length <= 60, `${scene.boxes.length}`);
  assert.equal(tree.root.size, 3 * depth + 1);
});

test("search finds the scopes of the file", () => {
  const inst = [...(program.functions[0]?.insts.values() ?? [])][3];
  assert.ok(inst);
  inst.scope = "jit(f)/Layer_3/add";
  const search = new Search(program);
  inst.scope = "";
  const key = `0.i${inst.id}`;
  assert.deepEqual(search.find("scope:layer_3/"), [key]);
  assert.deepEqual(search.find(`jit(f) op:${inst.op}`), [key]);
  assert.deepEqual(search.find("op:layer_3"), []);
});

test("search looks only in the selected field", () => {
  const search = new Search(program);
  const texts = (query: string) => search.find(query).map((key) => {
    const [fn, id] = key.split(".i");
    return program.functions[Number(fn)]?.insts.get(Number(id))?.op;
  });
  assert.deepEqual(new Set(texts("op:rsqrt")), new Set(["rsqrt"]));
  assert.equal(texts("op:rsqrt").length, 4);
  assert.equal(search.find("value:%variance").length, 4);
  assert.deepEqual(new Set(texts("attr:perm")), new Set(["transpose"]));
  assert.deepEqual(new Set(texts("attr:1e-5")), new Set(["constant"]));
  assert.deepEqual(new Set(texts("attr:@layer_norm_2")), new Set(["call"]));
  assert.deepEqual(texts("attr:rsqrt"), []);
  assert.ok(texts("type:f32[4,").length > 0 && texts("type:f32[4,").length < texts("type:f32").length);
  assert.deepEqual(texts("RSQRT  lifted"), texts("op:rsqrt"));
  assert.deepEqual(search.find("  "), []);
  assert.deepEqual(texts("type:f32[4,"), texts("type:f32[4, "));
  for (const [tight, loose] of [["attr:axes=[", "attr:axes = ["], ["keepdims=true", "keepdims = true"]] as const) {
    assert.ok(texts(tight).length > 0, tight);
    assert.deepEqual(texts(tight), texts(loose));
  }
  const fn = program.indexOf("layer_norm_2");
  assert.ok(search.find("@layer_norm_2").includes(`${fn}.b${program.functions[fn]?.body}`));
  assert.deepEqual(search.find("nothing-has-this"), []);
});

test("numbers add up, and tables are copied with tabs", () => {
  const run = dataOf(reportPage("numbers", transformer(), "canonicalize,cse").page);
  const total = (map: Map<string, number>) => [...map.values()].reduce((a, b) => a + b, 0);
  assert.equal(total(byFamily(run, 0)), 300);
  const table = opTable(run);
  const sum = (column: number) => table.rows.reduce((n, row) => n + (row[column] as number), 0);
  assert.equal(sum(2), 300);
  assert.equal(sum(3), run.states.at(-1)?.num_ops);
  assert.equal(sum(4), sum(3) - sum(2));
  const patterns = patternTable(run.run?.passes ?? []);
  const applied = run.run?.passes.flatMap((p) => p.patterns).reduce((n, p) => n + p[3], 0);
  assert.equal(patterns.rows.reduce((n, row) => n + (row[3] as number), 0), applied);
  assert.equal(asText({ title: "", head: ["a", "b"], rows: [["x\ty", 1]] }), "a\tb\nx y\t1\n");
});

test("text has a line for every instruction, marked where it is", () => {
  const marks = new Map([[instKey(0, [...(program.functions[0]?.insts.keys() ?? [])][0] as number), { cls: "new" }]]);
  const text = data.states[0]?.text as string;
  const lines = linesOf(text, program, marks);
  assert.equal(lines.map((l) => `${l.text}\n`).join(""), text);
  assert.equal(lines.filter((l) => l.mark === "new").length, 1);
  const keyed = lines.filter((l) => l.key);
  assert.equal(keyed.length, 300);
  for (const line of keyed) {
    const [fn, id] = (line.key as string).split(".i");
    const head = (of: string) => of.trim().replace(/\) \{.*$/, ") {");
    assert.equal(head(line.text), head(program.functions[Number(fn)]?.insts.get(Number(id))?.text as string));
  }
});

test("lines of regions, their ends and comments are distinguished", () => {
  const text = "ptir 1\n\nfunc @f(%x: f32[4], %p: bool[]) -> f32[4] {\n  // why\n  %y = cond %p () {\n    yield %x\n  } () {\n    // } not the end\n    %e = exp %x : f32[4]\n    yield %e\n  } : f32[4]\n  return %y\n}\n";
  const page = dataOf(graphPage("lines", text));
  assert.equal(page.states[0]?.text, sapwood(["fmt", path("lines.ptir")]));
  const regions = Program.read(page, 0) as Program;
  const keyed = linesOf(page.states[0]?.text as string, regions).filter((l) => l.key);
  assert.deepEqual(keyed.map((l) => l.text.trim()), ["%y = cond %p () {", "yield %x", "%e = exp %x : f32[4]", "yield %e", "return %y"]);
  const [cond] = [...(regions.functions[0]?.insts.values() ?? [])].filter((inst) => inst.op === "cond");
  const marks = new Map([[instKey(0, cond?.id as number), { cls: "erased" }]]);
  const marked = linesOf(page.states[0]?.text as string, regions, marks).filter((l) => l.mark);
  assert.deepEqual(marked.map((l) => l.text.trim()), ["%y = cond %p () {", "} () {", "} : f32[4]"]);
});

test("a long path keeps the name of the file", () => {
  assert.equal(shortPath("programs/mlp.ptir", 30), "programs/mlp.ptir");
  assert.equal(shortPath("/data/developer/nets/programs/mlp.ptir", 30), "…/nets/programs/mlp.ptir");
  assert.equal(shortPath("/a/quite-a-long-name-of-a-file-indeed.ptir", 30), "…/quite-a-long-name-of-a-file-indeed.ptir");
  assert.equal(shortPath("quite-a-long-name-of-a-file-indeed.ptir", 30), "quite-a-long-name-of-a-file-indeed.ptir");
});

test("a page without a run has the kind graph", () => {
  const graph: Data = data;
  assert.equal(graph.kind, "graph");
  assert.equal(graph.run, null);
  assert.equal(graph.version, 3);
});

test("of many functions only some start open", () => {
  const one = (n: number) => `func @f${n}(%x: f32[]) -> f32[] {\n${Array.from({ length: 30 }, (_, i) => `  %v${i} = exp ${i === 0 ? "%x" : `%v${i - 1}`} : f32[]`).join("\n")}\n  return %v29\n}\n`;
  const many = Program.read(dataOf(graphPage("many", `ptir 1\n${Array.from({ length: 500 }, (_, n) => one(n)).join("")}`)), 0) as Program;
  const tree = new Tree(many);
  const scene = new Layouter().scene(tree, openingBoxes(tree, new Layouter(), 1100, 800));
  assert.ok(scene.boxes.length >= 1 && scene.boxes.length < 40, `${scene.boxes.length}`);
  assert.equal(many.indexOf("f499"), 499);
  assert.equal(many.indexOf("none"), -1);
});

test("edges and marks contrast with their background, in both themes", () => {
  const css = readFileSync(join(process.env.EXPLORER as string, "src/style.css"), "utf8");
  const blocks = [...css.matchAll(/:root[^{]*\{([^}]*)\}/g)].map((m) => new Map([...(m[1] ?? "").matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map((v) => [v[1], v[2]] as [string, string])));
  assert.equal(blocks.length, 3);
  for (const colour of blocks) {
    const blend = (a: string, b: string, opacity: number) => {
      const part = (text: string, at: number) => Number.parseInt(text.slice(at, at + 2), 16);
      return `#${[1, 3, 5].map((at) => Math.round(part(a, at) * opacity + part(b, at) * (1 - opacity)).toString(16).padStart(2, "0")).join("")}`;
    };
    const [edge, box] = [colour.get("--edge") as string, colour.get("--box") as string];
    assert.ok(contrast(blend(edge, box, 0.8), box) >= 3, `edges: ${contrast(blend(edge, box, 0.8), box)}`);
    for (const mark of ["erased", "new", "changed", "merged", "moved", "match"]) {
      const [line, fill] = [colour.get(`--${mark}`) as string, colour.get(`--${mark}-soft`) as string];
      assert.ok(contrast(line, fill) >= 3 && contrast(line, box) >= 3, mark);
    }
  }
  assert.deepEqual([...(blocks[1] ?? [])], [...(blocks[2] ?? [])], "both selectors of the dark theme have the same colours");
});
