// The labels of edges, and the texts of tooltips.

import { amountText } from "./cost";
import { blockDifferences } from "./differences";
import { plural, short } from "./dom";
import { SMALL_CHAR } from "./elements";
import { intersects } from "./geometry";
import type { Edge, Rect, Scene } from "./layout";
import { mixText } from "./shapes";
import { sizeText } from "./sizes";
import type { Box, Content, Item, Tree } from "./tree";

/** The largest number of differences, and of values, in a tooltip. */
const MAX_TIP_LINES = 6;
const MAX_TIP_VALUES = 8;

/** The height of an edge label. */
const EDGE_LABEL_LINE = 11;

/** The places of the edge labels of a drawing. Labels at the start of several edges would cover each other, and nodes would cover labels. */
export class EdgeLabelPlaces {
  private readonly rows = new Map<number, Rect[]>();

  /** Keeps labels away from nodes, and from the text in the headers of open boxes. */
  constructor({ nodes, boxes, places }: Scene) {
    for (const node of nodes) {
      const r = places.get(node.key) as Rect;
      for (let row = Math.floor(r.y / EDGE_LABEL_LINE); row * EDGE_LABEL_LINE < r.y + r.h; row += 1) this.put(row, r);
    }
    for (const box of boxes) {
      const r = places.get(box.key) as Rect;
      this.take(box.label, r.x + 24, r.y + 17.5);
      this.take("00 000 ops", r.x + r.w - 80, r.y + 17.5);
    }
  }

  private put(row: number, r: Rect): void {
    const there = this.rows.get(row);
    if (there) there.push(r);
    else this.rows.set(row, [r]);
  }

  /** Takes the place of a label whose text starts at `x` on the base line `y`. Returns false if it would cover another label. */
  take(text: string, x: number, y: number): boolean {
    const rect = { x, y: y - EDGE_LABEL_LINE, w: text.length * SMALL_CHAR, h: EDGE_LABEL_LINE };
    const row = Math.floor(y / EDGE_LABEL_LINE);
    for (const near of [row - 1, row, row + 1]) if (this.rows.get(near)?.some((other) => intersects(rect, other))) return false;
    this.put(row, rect);
    return true;
  }
}

/** Returns the tooltip of an item. */
export function itemText(item: Item, content: Content | null): string {
  if (item.kind === "box") return boxText(item, content ?? item);
  const scope = item.inst?.scope ? `\n${short(item.inst.scope, 400)}` : "";
  return item.inst ? short(item.inst.text, 400) + scope + costText(item) : `${item.label}: ${item.sub}`;
}

function costText({ cost }: { cost: [number, number] }): string {
  return cost[0] + cost[1] > 0 ? `\n${amountText(cost[0])} operations, ${amountText(cost[1])} bytes` : "";
}

// Returns the content of a box, and the differences between the blocks of a repetition.
function boxText(box: Box, content: Content): string {
  const lines = blockDifferences(box);
  const rest = lines.length > MAX_TIP_LINES ? [`… ${plural(lines.length - MAX_TIP_LINES, "line")} more`] : [];
  return [`${box.label} ${short(box.sub, 300)}`, mixText(content) + costText(content), ...lines.slice(0, MAX_TIP_LINES), ...rest].join("\n");
}

/** Returns the sizes of the value of an edge, if its start does not show them, and the operands that the edge is. */
export function edgeLabels(tree: Tree, edge: Edge): { size: string; operands: string } {
  const f = tree.program.functions[edge.fn];
  const [value] = edge.values;
  if (!f || value === undefined) return { size: "", operands: "" };
  const from = tree.items.get(edge.from);
  const shown = from?.kind === "node" ? (from.inst?.results.length ?? 1) === 1 : from?.what === "params";
  const more = edge.values.length > 1 ? ` +${edge.values.length - 1}` : "";
  const operands = operandsOf(tree, edge.to);
  // A node with one edge needs no number: its other operands are rows, or constants in its box.
  const edges = operands.filter((v) => !isInside(tree, edge.fn, f.value(v).inst, v, edge.to));
  const own = edges.length > 1 ? edge.values.flatMap((v) => slots(operands, v)).sort((a, b) => a - b) : [];
  const size = sizeText(f.value(value).type);
  return { size: shown || size === "" ? "" : `${size}${more}`, operands: short(own.join(","), 12) };
}

/** Returns the values of an edge with their types and their operands. */
export function edgeText(tree: Tree, scene: Scene, from: string, to: string): string {
  const edge = scene.edges.find((e) => e.from === from && e.to === to);
  const f = edge ? tree.program.functions[edge.fn] : undefined;
  if (!edge || !f) return "";
  const operands = operandsOf(tree, to);
  const number = (v: number) => (operands.length > 1 && operands.includes(v) ? ` (operand ${slots(operands, v).join(", ")})` : "");
  return edge.values.slice(0, MAX_TIP_VALUES).map((v) => `${f.value(v).name}: ${f.value(v).type}${number(v)}`).join("\n");
}

function isInside(tree: Tree, fn: number, inst: number, value: number, user: string): boolean {
  const item = inst >= 0 ? tree.insts[fn]?.get(inst) : tree.params[fn]?.get(value);
  return item?.parent?.key === user || (item?.kind === "node" && item.host !== null);
}

function operandsOf(tree: Tree, key: string): number[] {
  return tree.items.get(key)?.inst?.operands ?? [];
}

function slots(operands: number[], value: number): number[] {
  return operands.flatMap((each, n) => (each === value ? [n] : []));
}
