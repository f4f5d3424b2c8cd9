// Costs of instructions and boxes: numbers of operations and of bytes that are read and written.

import type { Amount, CostRow } from "./data";
import type { Func, Inst, Program } from "./model";

/** A number of operations, and a number of bytes. */
export type Cost = [operations: number, bytes: number];

/** The measures by their positions in a cost. */
export const MEASURES = ["operations", "bytes"] as const;
export type Measure = 0 | 1;

/** The upper bounds of the levels of heat, as parts of the whole program. Level 0 costs nothing. */
const LEVEL_BOUNDS = [0.001, 0.01, 0.05, 0.2] as const;
export const LEVELS = ["nothing", "< 0.1 %", "< 1 %", "< 5 %", "< 20 %", "≥ 20 %"];

/** Returns the level of heat of a part of the whole program. */
export function heatLevel(part: number): number {
  if (!(part > 0)) return 0;
  const level = LEVEL_BOUNDS.findIndex((bound) => part < bound);
  return level < 0 ? LEVEL_BOUNDS.length + 1 : level + 1;
}

/** Returns a number; every symbol of an expression counts as 64. */
export function estimate(amount: Amount): number {
  return typeof amount === "number" ? amount : (amount?.[0] ?? 0);
}

/** Returns the cost of one run of an instruction's function, as far as the instruction takes part in it. */
export function costOf(row: CostRow | null): Cost {
  return row ? [estimate(row[0]), estimate(row[1])] : [0, 0];
}

/** Returns a large number with three digits and a suffix. */
export function amountText(n: number): string {
  if (n < 1e4) return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const suffixes = ["k", "M", "G", "T", "P", "E"];
  let [scaled, at] = [n / 1e3, 0];
  for (; scaled >= 999.5 && at + 1 < suffixes.length; at += 1) scaled /= 1e3;
  return `${scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)}\u202f${suffixes[at]}`;
}

/** Returns an amount as text: an expression with symbols as it is. */
export function exactText(amount: Amount): string {
  if (amount === null) return "?";
  return typeof amount === "number" ? amountText(amount) : amount[1];
}

/** Returns a part of a whole in percent. */
export function partText(part: number): string {
  const percent = 100 * part;
  if (percent === 0) return "0\u202f%";
  if (percent < 0.1) return "< 0.1\u202f%";
  return `${percent.toFixed(percent < 9.95 ? 1 : 0)}\u202f%`;
}

/**
 * Returns by how much the costs of each function count in the whole program: as often as it is called, in the sizes of its callers. Functions that no other function calls
 * count once. Takes linear time.
 */
export function callFactors(program: Program, entries: ReadonlySet<number>): Cost[] {
  const factors = program.functions.map((): Cost => [1, 1]);
  const totals = program.functions.map(totalOf);
  const calls = program.functions.map((f) => callsOf(f, program));
  const waiting = program.functions.map(() => 0);
  for (const list of calls) for (const { callee } of list) waiting[callee] = (waiting[callee] as number) + 1;
  const sums = program.functions.map((): Cost => [0, 0]);
  // Callers come before callees. Functions that call each other in a cycle are left out.
  const ready = [...entries].filter((fn) => waiting[fn] === 0);
  for (let at = 0; at < ready.length; at += 1) {
    const caller = ready[at] as number;
    const factor = factors[caller] as Cost;
    for (const { callee, cost } of calls[caller] ?? []) {
      const [sum, total] = [sums[callee] as Cost, totals[callee] as Cost];
      for (const measure of [0, 1] as const) {
        sum[measure] += cost[measure] * factor[measure];
        if (total[measure] > 0) (factors[callee] as Cost)[measure] = sum[measure] / total[measure];
      }
      waiting[callee] = (waiting[callee] as number) - 1;
      if (waiting[callee] === 0) ready.push(callee);
    }
  }
  return factors;
}

// Returns the cost of one run of a function.
function totalOf(f: Func): Cost {
  const total: Cost = [0, 0];
  for (const inst of f.insts.values()) {
    if (inst.body !== f.body) continue;
    const cost = costOf(inst.cost);
    total[0] += cost[0];
    total[1] += cost[1];
  }
  return total;
}

function callsOf(f: Func, program: Program): { callee: number; cost: Cost }[] {
  const found: { callee: number; cost: Cost }[] = [];
  for (const inst of f.insts.values()) {
    const name = calleeOf(inst);
    const callee = name === undefined ? -1 : program.indexOf(name);
    if (callee >= 0) found.push({ callee, cost: costOf(inst.cost) });
  }
  return found;
}

function calleeOf(inst: Inst): string | undefined {
  return inst.op === "call" ? /\bcall @([\w.$-]+)/.exec(inst.text)?.[1] : undefined;
}

/** The measure that colours show, and the cost of the whole program. */
export class Heat {
  constructor(
    private readonly measure: Measure,
    private readonly whole: number,
  ) {}

  /** Returns the part of the whole that a cost is. */
  part(cost: Cost): number {
    return this.whole > 0 ? cost[this.measure] / this.whole : 0;
  }

  /** Returns a cost and its part of the whole in at most this number of characters, or only the part; nothing if there is no cost. */
  text(cost: Cost, most: number): string | null {
    const part = partText(this.part(cost));
    if (cost[this.measure] === 0) return null;
    const long = `${amountText(cost[this.measure])} · ${part}`;
    return long.length <= most ? long : part;
  }

  /** Returns a cost in words. */
  words(cost: Cost): string {
    return `${amountText(cost[this.measure])} ${MEASURES[this.measure]}, ${partText(this.part(cost))} of the program`;
  }
}
