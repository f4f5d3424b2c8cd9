import assert from "node:assert/strict";
import { test } from "node:test";
import { type Edge, Layouter, type Rect, type Scene } from "../../src/layout";
import { Program } from "../../src/model";
import { Tree } from "../../src/tree";
import { chain, dataOf, graphPage, sapwood, transformer } from "../pages";

// Returns whether a line crosses the inside of a rectangle.
function crosses([x0, y0]: [number, number], [x1, y1]: [number, number], r: Rect): boolean {
  let [from, to] = [0, 1];
  for (const [start, way, low, high] of [[x0, x1 - x0, r.x + 1, r.x + r.w - 1], [y0, y1 - y0, r.y + 1, r.y + r.h - 1]] as const) {
    if (way === 0) {
      if (start <= low || start >= high) return false;
      continue;
    }
    const [a, b] = [(low - start) / way, (high - start) / way];
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from < to;
}

// Returns the items that an edge crosses: nodes and boxes other than its ends, and labels of boxes.
function runsOver(edge: Edge, scene: Scene, tree: Tree): string[] {
  const around = new Set([...tree.ancestors(edge.from), ...tree.ancestors(edge.to)].map((box) => box.key));
  const place = (key: string) => scene.places.get(key) as Rect;
  const nodes = scene.nodes.filter((n) => n.key !== edge.from && n.key !== edge.to).map((n): [string, Rect] => [n.key, place(n.key)]);
  const boxes = scene.boxes.filter((b) => !around.has(b.key) && b.key !== edge.from && b.key !== edge.to).map((b): [string, Rect] => [b.key, place(b.key)]);
  const labels = scene.boxes.map((b): [string, Rect] => [`label of ${b.key}`, { ...place(b.key), x: place(b.key).x + 24, w: b.label.length * 7.2, h: 26 }]);
  const all = [...nodes, ...boxes, ...labels];
  return edge.points.slice(1).flatMap((end, n) => all.filter(([, r]) => crosses(edge.points[n] as [number, number], end, r)).map(([key]) => `${edge.from} to ${edge.to} over ${key}`));
}

const NESTED = `ptir 1
func @nested(%x: f32[4], %p: bool[], %a: f32[4], %b: f32[4]) -> f32[4] {
  %one = constant 1.0 : f32[4]
  %two = constant 2.0 : f32[4]
  %s = sin %x : f32[4]
  %y = cond %p () {
    %e = exp %x : f32[4]
    %f = mul %e, %one : f32[4]
    %g = cond %p () {
      %h = add %f, %a : f32[4]
      %i = mul %h, %b : f32[4]
      %j = add %i, %two : f32[4]
      yield %j
    } () {
      %k = sub %s, %e : f32[4]
      yield %k
    } : f32[4]
    %l = add %g, %s : f32[4]
    yield %l
  } () {
    yield %s
  } : f32[4]
  return %y
}
`;

for (const [name, text] of [
  ["newton", () => sapwood(["opt", "programs/newton.mlir", "--to", "ptir"])],
  ["train_step", () => sapwood(["opt", "programs/train_step.mlir", "--to", "ptir"])],
  ["transformer", transformer],
  ["nested", () => NESTED],
] as const) {
  test(`edges of ${name} that find their own way pass between nodes`, () => {
    const tree = new Tree(Program.read(dataOf(graphPage(`way-${name}`, text())), 0) as Program);
    const scene = new Layouter().scene(tree, tree.allOpen().open);
    const own = scene.edges.filter((edge) => edge.deep || edge.faint);
    assert.ok(own.length > 0);
    assert.deepEqual(own.flatMap((edge) => runsOver(edge, scene, tree)), []);
    for (const edge of own) {
      const inner = tree.ancestors(edge.to).filter((box) => !tree.ancestors(edge.from).includes(box));
      assert.equal(edge.ports.length, inner.length, `${edge.from} to ${edge.to} is seen going in`);
      edge.points.slice(1).forEach(([, y], n) => assert.ok(y >= (edge.points[n]?.[1] as number), "down all the way"));
    }
  });
}

test("edges from one run to another pass between nodes, too, and everything is the same each time", () => {
  const program = Program.read(dataOf(graphPage("way-runs", chain(450))), 0) as Program;
  const scenes = [0, 1].map(() => {
    const tree = new Tree(program);
    const { open, left } = tree.allOpen();
    assert.equal(left, 0);
    const layouter = new Layouter();
    // In pieces or at once.
    const steps = [...layouter.prepare(tree, open)];
    assert.deepEqual(steps, steps.map((_, n) => steps.length - 1 - n));
    return { tree, scene: layouter.scene(tree, open), plain: new Layouter().scene(tree, open) };
  });
  const [{ tree, scene, plain }, again] = scenes as [(typeof scenes)[0], (typeof scenes)[0]];
  assert.deepEqual(scene.edges, plain.edges);
  assert.deepEqual(scene.edges, again.scene.edges);
  const deep = scene.edges.filter((edge) => edge.deep);
  assert.ok(deep.length > 20, `${deep.length}`);
  assert.deepEqual(deep.flatMap((edge) => runsOver(edge, scene, tree)), []);
});
