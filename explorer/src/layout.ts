// The layout of a drawing: each open box is laid out separately, its open children as nodes of their size.

import dagre from "@dagrejs/dagre";
import { short } from "./dom";
import type { Program } from "./model";
import { EdgeRouter } from "./route";
import { shortType } from "./sizes";
import { type Box, type Item, type Node, type Tree, foldedLine } from "./tree";

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Edge {
  from: string;
  to: string;
  /** The function, and the values that the edge stands for, in the order of their first use. */
  fn: number;
  values: number[];
  points: [number, number][];
  /** True if the edge spans many layers. */
  faint: boolean;
  /** True if the edge crosses the border of a box: to a use in a region, or from one group to another. */
  deep: boolean;
  /** The points where the edge enters a box at its top. */
  ports: [number, number][];
}

/** A laid-out drawing with absolute positions. */
export interface Scene {
  places: Map<string, Rect>;
  nodes: Item[];
  boxes: Box[];
  edges: Edge[];
  width: number;
  height: number;
}

/** The largest number of layers of an edge that the layout routes; longer edges are routed afterwards. */
const MAX_ROUTED_LAYERS = 3;
/** The largest number of nodes for the slower and better layering. */
const MAX_NETWORK_SIMPLEX_NODES = 80;
const MARGIN = 14;
const HEADER = 30;
const CHAR = 7.25;
const SMALL_CHAR = 6.65;
/** The heights of a parameter or constant, of a node, of the type in it, of a row in it, and of a line of a folded box. */
const SMALL_HEIGHT = 20;
const NODE_HEIGHT = 24;
const SUB_HEIGHT = 12;
export const ROW_HEIGHT = 17;
export const LINE_HEIGHT = 15;
/** The largest widths of a node, of a folded box, and of one with a long line, and the heights of both boxes. */
const MAX_NODE_WIDTH = 240;
const MAX_FOLDED_WIDTH = 300;
const MAX_LONG_WIDTH = 410;
const FOLDED_HEIGHT = 46;
const LOW_FOLDED_HEIGHT = 43;
/** The gap between layers, and that in a drawing that would be too high otherwise. */
const LAYER_GAP = 24;
const LOW_LAYER_GAP = 18;
/** The gaps between the functions of a program, and between the parameters in a box. */
const FUNCTION_GAP = 40;
const PARAM_GAP = 10;

interface BoxLayout {
  size: string;
  places: [string, Rect][];
  /** The edges; those that are routed later have no points. */
  edges: { from: string; to: string; points: [number, number][]; faint: boolean }[];
  w: number;
  h: number;
}

interface Link {
  fn: number;
  values: number[];
}

interface Links {
  /** The edges between the children of each open box. Edges without values only order their ends vertically. */
  own: Map<Box, Map<string, Link>>;
  /** The edges whose ends are in different boxes. */
  deep: Map<string, Link>;
  /** The rows and their nodes, as `from to`. */
  rows: Set<string>;
}

/** A layout engine for trees that caches the layout of unchanged boxes. */
export class Layouter {
  private known = new Map<Box, BoxLayout>();
  // The edges of the last drawing whose size was computed.
  private sized: { tree: Tree; key: string; links: Links } | null = null;

  /** The preferred ratio of width to height of a program with several functions. */
  constructor(private readonly aspect = 1.36) {}

  scene(tree: Tree, open: ReadonlySet<string>): Scene {
    this.sized = null;
    const { own, deep } = this.links(tree, open);
    const inner = new Map<Box, BoxLayout>();
    const order = openBoxes(tree, open);
    for (const box of [...order].reverse()) {
      inner.set(box, this.lay(tree, box, open, inner, own.get(box) ?? new Map()));
    }
    const scene = this.place(order, inner, own);
    for (const [pair, link] of deep) {
      const [from, to] = pair.split(" ") as [string, string];
      scene.edges.push({ from, to, ...link, points: [], ports: [], faint: false, deep: true });
    }
    const ways = new EdgeRouter(scene.places);
    for (const edge of scene.edges) if (edge.points.length === 0) routeEdge(edge, tree, scene, ways);
    return scene;
  }

  /** Returns the size of the drawing with these boxes open. */
  size(tree: Tree, open: ReadonlySet<string>): { w: number; h: number } {
    const key = [...open].join(" ");
    if (this.sized?.tree !== tree || this.sized.key !== key) this.sized = { tree, key, links: this.links(tree, open) };
    for (const left of this.prepare(tree, open, this.sized.links)) void left;
    return this.known.get(tree.root) ?? { w: 0, h: 0 };
  }

  /** Lays out one box after the other for a later call of `scene`; yields the number of remaining boxes. */
  *prepare(tree: Tree, open: ReadonlySet<string>, links = this.links(tree, open)): Generator<number> {
    const { own } = links;
    const inner = new Map<Box, BoxLayout>();
    const order = openBoxes(tree, open);
    for (let left = order.length - 1; left >= 0; left -= 1) {
      const box = order[left] as Box;
      inner.set(box, this.lay(tree, box, open, inner, own.get(box) ?? new Map()));
      yield left;
    }
  }

  /** Returns the edges and rows of another state of the same program in the drawing of a tree, as `from to`. */
  pairs(tree: Tree, open: ReadonlySet<string>, program: Program): Set<string> {
    const { own, deep, rows } = this.links(tree, open, program, true);
    return new Set([...rows, ...[...own.values()].flatMap((edges) => [...edges.keys()]), ...deep.keys()]);
  }

  // Returns the visible item for each item, and the edges between them.
  private links(tree: Tree, open: ReadonlySet<string>, program = tree.program, rows = false): Links {
    for (const item of tree.items.values()) {
      const { parent } = item;
      const isHidden = parent && (parent.shown !== parent || !open.has(parent.key));
      // A row is drawn in its node.
      item.shown = isHidden ? parent.shown : item.kind === "node" && item.host ? item.host : item;
    }
    const links: Links = { own: new Map(), deep: new Map(), rows: new Set() };
    program.functions.forEach((f, fn) => {
      const [insts, params] = [tree.insts[fn], tree.params[fn]];
      for (const inst of f.insts.values()) {
        const used = insts?.get(inst.id);
        const user = used?.shown;
        if (!user) continue;
        for (const operand of inst.operands) {
          const value = f.value(operand);
          const item = value.inst >= 0 ? insts?.get(value.inst) : params?.get(operand);
          const source = item?.shown;
          if (!item || !source) continue;
          // A row has no edges: it is drawn in all its users.
          if (item.kind === "node" && item.host) {
            if (rows) links.rows.add(`${item.key} ${user.key}`);
          } else if (source !== user) link(source, user, fn, operand, links);
        }
      }
    });
    return links;
  }

  private lay(tree: Tree, box: Box, open: ReadonlySet<string>, inner: Map<Box, BoxLayout>, links: Map<string, Link>): BoxLayout {
    const sizes = new Map<string, [number, number]>();
    for (const child of box.children) {
      const laid = child.kind === "box" && open.has(child.key) ? inner.get(child) : undefined;
      sizes.set(child.key, laid ? [laid.w, laid.h] : sizeOf(child, tree));
    }
    const gap = tree.previewLines > 0 ? LAYER_GAP : LOW_LAYER_GAP;
    const signature = `${gap} ${[...sizes].join(";")}|${[...links.keys()].join(";")}`;
    const before = this.known.get(box);
    if (before?.size === signature) return before;
    const laid = box.what === "program" || box.what === "functions" ? columnLayout(sizes, this.aspect) : box.what === "params" ? gridLayout(sizes) : layeredLayout(sizes, links, gap);
    const result: BoxLayout = { ...laid, size: signature };
    if (box.what !== "program") addFrame(result, box);
    this.known.set(box, result);
    return result;
  }

  private place(order: Box[], inner: Map<Box, BoxLayout>, links: Map<Box, Map<string, Link>>): Scene {
    const root = inner.get(order[0] as Box) as BoxLayout;
    const scene: Scene = { places: new Map(), nodes: [], boxes: [], edges: [], width: root.w, height: root.h };
    scene.places.set((order[0] as Box).key, { x: 0, y: 0, w: root.w, h: root.h });
    for (const box of order) {
      const laid = inner.get(box) as BoxLayout;
      const { x, y } = scene.places.get(box.key) as Rect;
      for (const [key, r] of laid.places) scene.places.set(key, { x: x + r.x, y: y + r.y, w: r.w, h: r.h });
      for (const child of box.children) {
        if (child.kind === "box" && inner.has(child)) scene.boxes.push(child);
        else {
          scene.nodes.push(child);
          if (child.kind === "node") placeRows(child, scene);
        }
      }
      const own = links.get(box);
      for (const edge of laid.edges) {
        const link = own?.get(`${edge.from} ${edge.to}`);
        if (!link || link.values.length === 0) continue;
        const points = edge.points.map(([px, py]): [number, number] => [x + px, y + py]);
        scene.edges.push({ ...edge, ...link, points, ports: [], deep: false });
      }
    }
    return scene;
  }
}

// Returns the open boxes, innermost last; they are laid out in reverse order.
function openBoxes(tree: Tree, open: ReadonlySet<string>): Box[] {
  const order: Box[] = [tree.root];
  for (let at = 0; at < order.length; at += 1) {
    for (const child of (order[at] as Box).children) {
      if (child.kind === "box" && open.has(child.key)) order.push(child);
    }
  }
  return order;
}

// Routes an edge around items, or as a straight line if no route exists.
function routeEdge(edge: Edge, tree: Tree, scene: Scene, ways: EdgeRouter): void {
  const [from, to] = [tree.items.get(edge.from) as Item, tree.items.get(edge.to) as Item];
  const way = ways.find(from, to);
  edge.points = way?.points ?? straightLine(scene.places.get(edge.from) as Rect, scene.places.get(edge.to) as Rect);
  edge.ports = way?.ports ?? [];
}

// Adds an edge, and an edge between the children of the innermost common box, so that these are laid out one below the other.
function link(source: Item, user: Item, fn: number, value: number, links: Links): void {
  let [a, b]: [Item, Item] = [source, user];
  const depth = (item: Item) => (item.parent?.depth ?? -1) + 1;
  while (depth(a) > depth(b)) a = a.parent as Box;
  while (depth(b) > depth(a)) b = b.parent as Box;
  while (a.parent !== b.parent) {
    a = a.parent as Box;
    b = b.parent as Box;
  }
  if (a === b || !a.parent) return;
  let own = links.own.get(a.parent);
  if (!own) links.own.set(a.parent, (own = new Map()));
  const key = `${a.key} ${b.key}`;
  if (!own.has(key)) own.set(key, { fn, values: [] });
  if (a === source && b === user) return add(own, key, fn, value);
  add(links.deep, `${source.key} ${user.key}`, fn, value);
}

function add(edges: Map<string, Link>, key: string, fn: number, value: number): void {
  const known = edges.get(key);
  if (!known) edges.set(key, { fn, values: [value] });
  else if (!known.values.includes(value) && known.values.length < 64) known.values.push(value);
}

/** Returns the size of an item whose content is hidden. */
export function sizeOf(item: Item, tree: Tree): [number, number] {
  if (item.kind === "box") {
    const lines = tree.drawnPreview(item);
    const { line, aside } = foldedLine(item, item, tree);
    const wide = Math.max(item.label.length * CHAR + 46 + aside.length * SMALL_CHAR, line.length * SMALL_CHAR + 34, ...lines.map((line) => line.length * SMALL_CHAR + 34), 110);
    return [Math.ceil(Math.min(wide, aside || item.what === "repeat" ? MAX_LONG_WIDTH : MAX_FOLDED_WIDTH)), (aside ? LOW_FOLDED_HEIGHT : FOLDED_HEIGHT) + lines.length * LINE_HEIGHT];
  }
  if (item.small) return [Math.ceil(Math.min(Math.max(smallText(item).length, 2) * SMALL_CHAR + 18, MAX_NODE_WIDTH)), SMALL_HEIGHT];
  const rows = item.rows.map(({ key }) => rowText(tree.items.get(key) as Node).length * SMALL_CHAR + 18);
  const wide = Math.max(item.label.length * CHAR + 20, Math.min(item.sub.length, 26) * SMALL_CHAR + 16, ...rows, 48);
  return [Math.ceil(Math.min(wide, MAX_NODE_WIDTH)), NODE_HEIGHT + (item.sub === "" ? 0 : SUB_HEIGHT) + item.rows.length * ROW_HEIGHT + (item.rows.length > 0 ? 5 : 0)];
}

/** Returns the text of a small node, of at most this length: a constant, or a parameter with its type. */
export function smallText(node: Node, most = Number.POSITIVE_INFINITY): string {
  return node.inst ? short(node.label, most) : withType(node, most);
}

/** Returns the text of a row, of at most this length: a constant, or a weight with its type. */
export function rowText(node: Node, most = Number.POSITIVE_INFINITY): string {
  return node.small ? smallText(node, most) : withType(node, most);
}

function withType({ label, sub }: Node, most: number): string {
  return short(`${label} ${shortType(sub, Math.max(1, most - label.length - 1))}`, most);
}

/** Returns the rectangle of a row of a node. */
export function rowRect(node: Node, n: number, r: Rect): Rect {
  const top = NODE_HEIGHT + (node.sub === "" ? 0 : SUB_HEIGHT) + n * ROW_HEIGHT;
  return { x: r.x + 5, y: r.y + top, w: r.w - 10, h: ROW_HEIGHT - 2 };
}

function placeRows(node: Node, scene: Scene): void {
  const r = scene.places.get(node.key) as Rect;
  node.rows.forEach(({ key, own }, n) => {
    if (own) scene.places.set(key, rowRect(node, n, r));
  });
}

function addFrame(laid: BoxLayout, box: Box): void {
  for (const [, r] of laid.places) {
    r.x += MARGIN;
    r.y += MARGIN + HEADER - 8;
  }
  for (const edge of laid.edges) {
    edge.points = edge.points.map(([x, y]) => [x + MARGIN, y + MARGIN + HEADER - 8]);
  }
  const label = (box.label.length + Math.min(box.sub.length, 30)) * CHAR + 60;
  laid.w = Math.max(laid.w + 2 * MARGIN, Math.min(label, 300));
  laid.h += 2 * MARGIN + HEADER - 8;
}

type Arrangement = Omit<BoxLayout, "size">;

// Places boxes in columns: of at most the height of the highest one or of a picture with the preferred ratio, or in one
// column if that is nearer to the ratio.
function columnLayout(sizes: Map<string, [number, number]>, aspect: number): Arrangement {
  let [area, highest] = [0, 0];
  for (const [w, h] of sizes.values()) {
    area += (w + FUNCTION_GAP) * (h + FUNCTION_GAP);
    highest = Math.max(highest, h);
  }
  const several = columns(sizes, Math.max(highest, Math.sqrt(area / aspect)));
  const one = columns(sizes, Number.POSITIVE_INFINITY);
  const extent = ({ w, h }: Arrangement) => Math.max(w / aspect, h);
  return extent(one) < extent(several) ? one : several;
}

function columns(sizes: Map<string, [number, number]>, most: number): Arrangement {
  const places: [string, Rect][] = [];
  let [x, y, column, height] = [0, 0, 0, 0];
  for (const [key, [w, h]] of sizes) {
    if (y > 0 && y + h > most) [x, y, column] = [x + column + FUNCTION_GAP, 0, 0];
    places.push([key, { x, y, w, h }]);
    y += h + FUNCTION_GAP;
    column = Math.max(column, w);
    height = Math.max(height, y - FUNCTION_GAP);
  }
  return { places, edges: [], w: x + column, h: height };
}

// Places items without edges in rows.
function gridLayout(sizes: Map<string, [number, number]>): Arrangement {
  const most = Math.max(...[...sizes.values()].map(([w]) => w), 520);
  const places: [string, Rect][] = [];
  let [x, y, row, width] = [0, 0, 0, 0];
  for (const [key, [w, h]] of sizes) {
    if (x > 0 && x + w > most) [x, y, row] = [0, y + row + PARAM_GAP, 0];
    places.push([key, { x, y, w, h }]);
    x += w + PARAM_GAP;
    row = Math.max(row, h);
    width = Math.max(width, x - PARAM_GAP);
  }
  return { places, edges: [], w: width, h: y + row };
}

// Places items in layers from definitions to users.
function layeredLayout(sizes: Map<string, [number, number]>, links: Map<string, Link>, ranksep: number): Arrangement {
  if (sizes.size === 0) return { places: [], edges: [], w: 80, h: 10 };
  const keys = [...sizes.keys()];
  const number = new Map(keys.map((key, n) => [key, n]));
  const ends = [...links.keys()].map((pair): [number, number] => {
    const [from, to] = pair.split(" ") as [string, string];
    return [number.get(from) as number, number.get(to) as number];
  });
  const layers = layersOf(keys.length, ends);
  // A long edge from a parameter would push the computed values out of their column.
  const most = keys.map((key) => ((sizes.get(key)?.[1] ?? 0) <= SMALL_HEIGHT ? 1 : MAX_ROUTED_LAYERS));
  const near = ends.map(([a, b]) => (layers[b] as number) - (layers[a] as number) <= (most[a] as number));
  keepShortestEdge(ends, near, layers, keys.length);
  const graph = new dagre.graphlib.Graph();
  const ranker = keys.length <= MAX_NETWORK_SIMPLEX_NODES ? "network-simplex" : "longest-path";
  graph.setGraph({ ranksep, nodesep: 16, edgesep: 8, ranker });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [key, [width, height]] of sizes) graph.setNode(String(number.get(key)), { width, height });
  ends.forEach(([a, b], n) => {
    if (near[n]) graph.setEdge(String(a), String(b), { weight: 1 });
  });
  dagre.layout(graph, keys.length > MAX_NETWORK_SIMPLEX_NODES ? { disableOptimalOrderHeuristic: ends.length > 600 } : {});
  const places = keys.map((key, n): [string, Rect] => {
    const { x, y, width, height } = graph.node(String(n)) as { x: number; y: number; width: number; height: number };
    return [key, { x: x - width / 2, y: y - height / 2, w: width, h: height }];
  });
  const edges = ends.map(([a, b], n) => {
    const routed = near[n] ? (graph.edge(String(a), String(b)) as { points?: { x: number; y: number }[] }) : undefined;
    const points: [number, number][] = routed?.points?.map((p) => [p.x, p.y]) ?? [];
    return { from: keys[a] as string, to: keys[b] as string, points, faint: !near[n] };
  });
  const size = graph.graph() as { width?: number; height?: number };
  return { places, edges, w: size.width ?? 80, h: size.height ?? 10 };
}

// Returns a straight line between two items.
function straightLine(from: Rect, to: Rect): [number, number][] {
  return [
    [from.x + from.w / 2, from.y + from.h],
    [to.x + to.w / 2, to.y],
  ];
}

// Returns the layer of each node, as late as its users allow, so that a short chain is next to the end of a long one that it
// joins. A chain that ends elsewhere than the longest one is next to its beginning. Nodes of a cycle are in layer 0.
function layersOf(n: number, ends: [number, number][]): number[] {
  const [sources, users] = [ends.map(([a, b]): [number, number] => [b, a]), ends].map((pairs) => {
    const lists: number[][] = Array.from({ length: n }, () => []);
    for (const [a, b] of pairs) (lists[a] as number[]).push(b);
    return lists;
  }) as [number[][], number[][]];
  const early = new Array<number>(n).fill(0);
  const order = inOrder(sources, users, (a, b) => (early[b] = Math.max(early[b] as number, (early[a] as number) + 1)));
  const layers = new Array<number>(n).fill(0);
  inOrder(users, sources, (b, a) => (layers[a] = Math.min(layers[a] as number, (layers[b] as number) - 1)));
  const longest = order.reduce((most, i) => Math.max(most, early[i] as number), 0);
  const joins = new Array<boolean>(n).fill(false);
  for (const i of [...order].reverse()) joins[i] = early[i] === longest || (users[i] as number[]).some((user) => joins[user]);
  for (const i of order) {
    const above = sources[i] as number[];
    if (!joins[i] && above.length > 0) layers[i] = above.reduce((most, source) => Math.max(most, (layers[source] as number) + 1), Number.NEGATIVE_INFINITY);
  }
  return layers;
}

// Returns the nodes in an order in which each one is after those in its first list, and visits each edge on the way. Nodes of a cycle are left out.
function inOrder(before: readonly number[][], after: readonly number[][], visit: (from: number, to: number) => void): number[] {
  const waiting = before.map((list) => list.length);
  const order: number[] = [];
  waiting.forEach((count, i) => count === 0 && order.push(i));
  for (let at = 0; at < order.length; at += 1) {
    const from = order[at] as number;
    for (const to of after[from] as number[]) {
      visit(from, to);
      waiting[to] = (waiting[to] as number) - 1;
      if (waiting[to] === 0) order.push(to);
    }
  }
  return order;
}

// Keeps the shortest edge of every node that has edges, so that it is placed near a related node.
function keepShortestEdge(ends: [number, number][], near: boolean[], layers: number[], n: number): void {
  const best = new Array<number>(n).fill(-1);
  const length = (e: number) => {
    const [a, b] = ends[e] as [number, number];
    return Math.abs((layers[b] as number) - (layers[a] as number));
  };
  ends.forEach((end, e) => {
    for (const node of end) {
      const known = best[node] as number;
      if (known < 0 || length(e) < length(known)) best[node] = e;
    }
  });
  for (const e of best) if (e >= 0 && length(e) <= 3 * MAX_ROUTED_LAYERS) near[e] = true;
}
