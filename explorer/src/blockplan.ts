// The blocks of a sequence: copies of one block, and blocks that are like it, such as the first block of a stage of a convolutional network, which has a projection.

import type { Repetition } from "./structure";

/** Blocks that follow each other, as the positions at which they begin, with the end of the last one. */
export interface Blocks {
  starts: number[];
  /** The number of the first block, and the number of all blocks of this sort in the sequence. */
  first: number;
  total: number;
  /** The first and last position of the block that the others are copies of, or are like. */
  model: [from: number, to: number];
}

/** A block is like another one if this part of the other one is in it, in order, and if it is not longer than this. */
const LEAST_COMMON = 0.7;
const MOST_LENGTH = 2.2;
/** The least part of what repetitions cover that a better division into blocks covers. */
const LEAST_COVERED = 0.8;
/** The least part of a block that is a repetition if the block is a stage of other blocks. */
const STAGE_PART = 0.6;
/** The largest length of a block that others are compared with, and the largest numbers of blocks that are tried, and of comparisons. */
const MAX_COMPARED = 500;
const MAX_CANDIDATES = 12;
const MAX_COMPARISONS = 40;

/** A sequence with repetitions. */
export interface Source {
  ops: readonly number[];
  runs: readonly Repetition[];
  /** Returns the repetitions in a part of the sequence. */
  nested: (from: number, to: number) => Repetition[];
  /** Returns true if the part before a block is a branch that joins it: a projection of the block's input that only the block uses. */
  isBranch: (from: number, to: number, end: number) => boolean;
}

interface Tiling {
  /** The blocks as pairs of positions, in order. */
  blocks: [number, number][];
  model: [number, number];
  covered: number;
}

/**
 * Returns the blocks of a sequence with these repetitions, in order. If the block of a repetition also occurs in others or between them, all places where it occurs count, and so
 * do those between them that are like it: otherwise the eight blocks of a ResNet-18 are two blocks and three pairs.
 */
export function blockPlan(source: Source): Blocks[] {
  const plain = source.runs.map(blocksOf);
  const best = bestTiling(source);
  if (!best) return plain;
  const groups: Blocks[] = [];
  for (const [from, to] of best.blocks) {
    const last = groups.at(-1);
    if (last?.starts.at(-1) === from) last.starts.push(to);
    else groups.push({ starts: [from, to], first: 1 + groups.reduce((n, group) => n + group.starts.length - 1, 0), total: best.blocks.length, model: best.model });
  }
  const kept = plain.filter(({ starts }) => !best.blocks.some(([from, to]) => from < (starts.at(-1) as number) && to > (starts[0] as number)));
  return [...groups, ...kept].sort((a, b) => (a.starts[0] as number) - (b.starts[0] as number));
}

function blocksOf({ begin, period, times }: Repetition): Blocks {
  return { starts: Array.from({ length: times + 1 }, (_, n) => begin + n * period), first: 1, total: times, model: [begin, begin + period] };
}

function bestTiling(source: Source): Tiling | null {
  const { ops, runs, nested } = source;
  let best: Tiling | null = null;
  const tried = new Set<string>();
  const budget = { left: MAX_COMPARISONS };
  const attempt = (run: Repetition, outside: Repetition | null) => {
    const model: [number, number] = [run.begin, run.begin + run.period];
    const key = ops.slice(...model).join(" ");
    if (run.period > MAX_COMPARED || tried.size >= MAX_CANDIDATES || tried.has(key)) return;
    tried.add(key);
    // Blocks with little else than a repetition are stages.
    if (nested(...model).some((inside) => inside.times * inside.period >= STAGE_PART * run.period)) return;
    const tiling = tile(source, model, budget);
    const end = (each: Repetition) => each.begin + each.times * each.period;
    // A block in the blocks of one repetition only is shown in these.
    if (outside && tiling.blocks.every(([from]) => from >= outside.begin && from < end(outside))) return;
    const replaced = runs.filter((each) => tiling.blocks.some(([from, to]) => from < end(each) && to > each.begin));
    const covered = replaced.reduce((n, each) => n + each.times * each.period, 0);
    const most = Math.max(0, ...replaced.filter((each) => each.period === run.period).map((each) => each.times));
    if (tiling.blocks.length <= most || tiling.covered < LEAST_COVERED * covered) return;
    // Of two divisions, the one into larger blocks tells more: the other one divides these.
    const length = ({ model: [from, to] }: Tiling) => to - from;
    if (!best || length(tiling) > length(best)) best = tiling;
  };
  const largest = [...runs].sort((a, b) => b.times * b.period - a.times * a.period);
  for (const run of largest) attempt(run, null);
  if (runs.length > 1) {
    for (const run of largest.slice(0, MAX_CANDIDATES)) {
      if (run.period > MAX_COMPARED) continue;
      for (const inside of nested(run.begin, run.begin + run.period)) attempt({ ...inside, begin: run.begin + inside.begin }, run);
    }
  }
  return best;
}

// Finds all copies of a block, and the parts between them that are like it.
function tile({ ops, isBranch }: Source, model: [number, number], budget: { left: number }): Tiling {
  const block = ops.slice(...model);
  const is = (from: number, kind: readonly number[]) => kind.every((op, n) => ops[from + n] === op);
  const kinds: number[][] = [];
  const isLike = (from: number, to: number) => {
    if (to - from < LEAST_COMMON * block.length || to - from > MOST_LENGTH * block.length) return false;
    if (kinds.some((kind) => kind.length === to - from && is(from, kind))) return true;
    if (budget.left === 0) return false;
    budget.left -= 1;
    const part = ops.slice(from, to);
    if (commonLength(part, block) < LEAST_COMMON * block.length) return false;
    kinds.push(part);
    return true;
  };
  const blocks: [number, number][] = [];
  const branches: number[][] = [];
  // The gaps with the positions of the blocks after them.
  const gaps: { from: number; to: number; next: number }[] = [];
  let end = 0;
  for (const from of [...occurrences(ops, block), ops.length]) {
    const isLast = from === ops.length;
    let begin = from;
    if (from > end) {
      const inside = end > 0 && !isLast;
      if (inside && isLike(end, from)) blocks.push([end, from]);
      else if (inside && from - end <= block.length && isBranch(end, from, from + block.length)) {
        branches.push(ops.slice(end, from));
        begin = end;
      } else gaps.push({ from: end, to: from, next: blocks.length });
    }
    end = from + block.length;
    if (!isLast) blocks.push([begin, end]);
  }
  const more: [number, number][] = [];
  for (let { from, to, next } of gaps) {
    const after = blocks[next];
    const branch = after && branches.find((each) => to - each.length >= from && is(to - each.length, each) && isBranch(to - each.length, to, after[1]));
    if (after && branch) after[0] = to -= branch.length;
    const take = (place: (kind: readonly number[]) => [number, number]) => {
      const kind = kinds.find((each) => each.length <= to - from && is(place(each)[0], each));
      if (kind) more.push(place(kind));
      return kind?.length ?? 0;
    };
    // Blocks of a known kind at the end and at the beginning of a longer gap.
    for (let n = 1; n > 0 && after; to -= n) n = take((kind) => [to - kind.length, to]);
    for (let n = 1; n > 0 && next > 0; from += n) n = take((kind) => [from, from + kind.length]);
  }
  blocks.push(...more);
  blocks.sort((a, b) => a[0] - b[0]);
  return { blocks, model, covered: blocks.reduce((n, [from, to]) => n + to - from, 0) };
}

// Returns the positions of the disjoint occurrences of a part in a sequence, in linear time.
function occurrences(ops: readonly number[], part: readonly number[]): number[] {
  const failure = new Array<number>(part.length).fill(0);
  for (let n = 1, k = 0; n < part.length; n += 1) {
    while (k > 0 && part[n] !== part[k]) k = failure[k - 1] as number;
    if (part[n] === part[k]) k += 1;
    failure[n] = k;
  }
  const found: number[] = [];
  for (let n = 0, k = 0; n < ops.length; n += 1) {
    while (k > 0 && ops[n] !== part[k]) k = failure[k - 1] as number;
    if (ops[n] === part[k]) k += 1;
    if (k < part.length) continue;
    found.push(n + 1 - k);
    k = 0;
  }
  return found;
}

// Returns the length of the longest common subsequence.
function commonLength(a: readonly number[], b: readonly number[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const op of a) {
    const next = [0];
    b.forEach((other, n) => next.push(op === other ? (row[n] as number) + 1 : Math.max(next[n] as number, row[n + 1] as number)));
    row = next;
  }
  return row[b.length] as number;
}
