// The differences between the blocks of a repetition.

import { plural } from "./dom";
import type { Inst } from "./model";
import type { Box, Item } from "./tree";

/** The largest number of differences that are listed for a block. */
const MAX_EXAMPLES = 3;

/** Returns one line for each group of blocks that differ from the first one in the same way, or one line for a single block. */
export function blockDifferences(box: Box): string[] {
  let repeat: Box | null = box;
  if (box.what === "block") while (repeat && repeat.what !== "repeat") repeat = repeat.parent;
  if (repeat?.what !== "repeat") return [];
  const [first, ...others] = blocksIn(repeat);
  if (!first) return [];
  const own = instsIn(first);
  if (box.what === "block") return box === first ? [] : [`${box.label}: ${differences(own, instsIn(box))}`];
  const lines: { from: string; to: string; n: number; text: string }[] = [];
  for (const block of others) {
    const text = differences(own, instsIn(block));
    const last = lines.at(-1);
    if (last?.text === text) [last.to, last.n] = [block.label, last.n + 1];
    else lines.push({ from: block.label, to: block.label, n: 1, text });
  }
  return lines.map(({ from, to, n, text }) => `${n === 1 ? from : `${from} to ${to}`}: ${text}`);
}

const known = new WeakMap<Box, Box[]>();

/** Returns the blocks of a repetition of a complete tree, which are in groups if they are many. */
export function blocksIn(repeat: Box): Box[] {
  let blocks = known.get(repeat);
  if (!blocks) known.set(repeat, (blocks = blocksOf(repeat)));
  return blocks;
}

function blocksOf(repeat: Box): Box[] {
  return repeat.children.flatMap((child) => (child.kind !== "box" ? [] : child.what === "run" ? blocksOf(child) : child.what === "block" ? [child] : []));
}

// Returns the instructions of a block in order, without those that are drawn as rows.
function instsIn(box: Box): Inst[] {
  const insts: Inst[] = [];
  const work: Item[] = [box];
  for (let item = work.pop(); item; item = work.pop()) {
    if (item.inst && item.inst.op !== "constant") insts.push(item.inst);
    if (item.kind === "box") work.push(...[...item.children].reverse());
  }
  return insts;
}

function differences(a: Inst[], b: Inst[]): string {
  if (a.length !== b.length) return `${plural(b.length, "op")} instead of ${a.length}: ${[...numbersOf(b, a, "more"), ...numbersOf(a, b, "less")].join(", ")}`;
  const examples: string[] = [];
  let n = 0;
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [x, y] = [a[at] as Inst, b[at] as Inst];
    const [from, to] = [plain(x.text), plain(y.text)];
    if (from === to) continue;
    n += 1;
    if (examples.length < MAX_EXAMPLES) examples.push(`${x.op}: ${changedPart(from, to)}`);
  }
  if (n === 0) return "equal to the first, with other weights";
  const more = n - examples.length;
  return `${plural(n, "difference")} to the first: ${examples.join("; ")}${more > 0 ? `; ${more} more` : ""}`;
}

// Returns the ops of which one list has more than another, with the numbers.
function numbersOf(list: Inst[], other: Inst[], word: string): string[] {
  const counts = new Map<string, number>();
  for (const [insts, by] of [[list, 1], [other, -1]] as const) for (const { op } of insts) counts.set(op, (counts.get(op) ?? 0) + by);
  return [...counts].filter(([, n]) => n > 0).map(([op, n]) => `${n} ${op} ${word}`);
}

// Returns the text of an instruction without the names of values and the numbers of called functions.
function plain(text: string): string {
  return text.replace(/%[\w.$#:-]+/g, "%").replace(/(@[\w.$-]*?)(?:_\d+)+(?=\W|$)/g, "$1");
}

// Returns the parts of two texts between their common beginning and end, with whole words and types.
function changedPart(from: string, to: string): string {
  const words = (text: string) => text.split(/(\s+)/);
  const [a, b] = [words(from), words(to)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const part = (list: string[]) => {
    const text = list.slice(start, list.length - end).join("").trim();
    return text.length > 60 ? `${text.slice(0, 59)}…` : text || "nothing";
  };
  return `${part(a)} → ${part(b)}`;
}
