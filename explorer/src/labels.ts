// The labels of edges, and the texts of tooltips.

import { blockDifferences } from "./differences";
import { plural, short } from "./dom";
import type { Edge, Scene } from "./layout";
import { mixText } from "./shapes";
import type { Box, Content, Tree } from "./tree";

/** The largest number of differences, and of values, in a tooltip. */
const MAX_TIP_LINES = 6;
const MAX_TIP_VALUES = 8;

/** Returns the content of a box, and the differences between the blocks of a repetition. */
export function boxText(box: Box, content: Content): string {
  const lines = blockDifferences(box);
  const rest = lines.length > MAX_TIP_LINES ? [`… ${plural(lines.length - MAX_TIP_LINES, "line")} more`] : [];
  return [`${box.label} ${short(box.sub, 300)}`, mixText(content), ...lines.slice(0, MAX_TIP_LINES), ...rest].join("\n");
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
  // A node with one edge needs no number: its other operands are rows.
  const edges = operands.filter((v) => !isRow(tree, edge.fn, f.value(v).inst, v));
  const own = edges.length > 1 ? edge.values.flatMap((v) => slots(operands, v)).sort((a, b) => a - b) : [];
  return { size: shown ? "" : `${sizeText(f.value(value).type)}${more}`, operands: short(own.join(","), 12) };
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

function isRow(tree: Tree, fn: number, inst: number, value: number): boolean {
  const item = inst >= 0 ? tree.insts[fn]?.get(inst) : tree.params[fn]?.get(value);
  return item?.kind === "node" && item.host !== null;
}

function operandsOf(tree: Tree, key: string): number[] {
  return tree.items.get(key)?.inst?.operands ?? [];
}

function slots(operands: number[], value: number): number[] {
  return operands.flatMap((each, n) => (each === value ? [n] : []));
}

/** Returns the sizes of a type: `2×32×64` for `f32[2, 32, 64]`, and a type without sizes as it is. */
export function sizeText(type: string): string {
  const sizes = /\[(.+)\]$/.exec(type)?.[1];
  return short(sizes ? sizes.split(", ").join("×") : type, 24);
}
