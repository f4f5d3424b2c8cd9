// An order of instructions that keeps those of a scope together. Files list instructions in any order that their operands permit, so that
// the instructions of two scopes may alternate.

import type { Func, Inst } from "./model";

/** Some instructions in order that have the same scopes down to some depth. */
interface Part {
  insts: number[];
  depth: number;
}

/** Instructions of one scope, or one instruction without a scope. */
interface Unit {
  name: string | undefined;
  insts: number[];
  /** The number of instructions that are in order already. */
  done: number;
  /** The number of operands from other units that are not in order yet. */
  waiting: number;
}

/** Returns the positions of instructions in an order in which those of a scope follow each other, as far as their operands permit it. Takes time in proportion to instructions and depth. */
export function scopeOrder(f: Func, insts: readonly Inst[], paths: readonly string[][]): number[] {
  const uses = usesOf(f, insts);
  const order: number[] = [];
  const work: Part[] = [{ insts: insts.map((_, n) => n), depth: 0 }];
  for (let part = work.pop(); part; part = work.pop()) {
    const { depth } = part;
    const name = (n: number) => paths[n]?.[depth];
    const units = inOrder(part.insts, name, uses);
    // The last unit is taken from the stack first.
    if (units.every((unit) => unit.name === undefined)) for (const unit of units) order.push(...unit.insts);
    else for (const unit of units.reverse()) work.push({ insts: unit.insts, depth: unit.name === undefined ? Number.POSITIVE_INFINITY : depth + 1 });
  }
  return order;
}

// Returns runs of instructions with the same name, each name in as few runs as possible.
function inOrder(insts: readonly number[], name: (n: number) => string | undefined, uses: readonly number[][]): { name: string | undefined; insts: number[] }[] {
  const runs: { name: string | undefined; insts: number[] }[] = [];
  for (const n of insts) {
    const last = runs.at(-1);
    if (last && last.name === name(n)) last.insts.push(n);
    else runs.push({ name: name(n), insts: [n] });
  }
  const named = runs.map((run) => run.name).filter((each) => each !== undefined);
  if (new Set(named).size === named.length) return runs;
  return new UnitOrder(insts, name, uses).runs();
}

/** Instructions in units, ordered so that a unit is in one run if no cycle of operands prevents it. */
class UnitOrder {
  private readonly units: Unit[] = [];
  private readonly unitOf = new Map<number, Unit>();
  private readonly result: { name: string | undefined; insts: number[] }[] = [];
  // The units that wait for nothing, ordered by their first instruction.
  private readonly ready: Unit[] = [];

  constructor(
    private readonly insts: readonly number[],
    name: (n: number) => string | undefined,
    private readonly uses: readonly number[][],
  ) {
    const scopes = new Map<string, Unit>();
    for (const n of insts) {
      const scope = name(n);
      let unit = scope === undefined ? undefined : scopes.get(scope);
      if (!unit) {
        unit = { name: scope, insts: [], done: 0, waiting: 0 };
        this.units.push(unit);
        if (scope !== undefined) scopes.set(scope, unit);
      }
      unit.insts.push(n);
      this.unitOf.set(n, unit);
    }
    for (const n of insts) this.eachUser(n, (user) => (user.waiting += 1));
  }

  runs(): { name: string | undefined; insts: number[] }[] {
    for (const unit of this.units) if (unit.waiting === 0) this.push(unit);
    for (let at = 0; ; ) {
      const unit = this.pop();
      if (unit) {
        if (unit.done < unit.insts.length) this.emit(unit, unit.insts.length);
        continue;
      }
      while (at < this.insts.length && this.isDone(this.insts[at] as number)) at += 1;
      if (at === this.insts.length) return this.result;
      // All units wait for others. The first instruction in the order of the file waits for none, nor do those of its unit up to the next other one.
      const first = this.unitOf.get(this.insts[at] as number) as Unit;
      let end = first.done;
      for (let n = at; n < this.insts.length && this.unitOf.get(this.insts[n] as number) === first; n += 1) end += 1;
      this.emit(first, end);
    }
  }

  private isDone(n: number): boolean {
    const { insts, done } = this.unitOf.get(n) as Unit;
    const last = insts[done - 1];
    return last !== undefined && n <= last;
  }

  private emit(unit: Unit, end: number): void {
    const part = unit.insts.slice(unit.done, end);
    unit.done = end;
    const last = this.result.at(-1);
    if (last && last.name !== undefined && last.name === unit.name) last.insts.push(...part);
    else this.result.push({ name: unit.name, insts: part });
    for (const n of part) {
      this.eachUser(n, (user) => {
        user.waiting -= 1;
        if (user.waiting === 0) this.push(user);
      });
    }
  }

  private eachUser(n: number, visit: (user: Unit) => void): void {
    const own = this.unitOf.get(n);
    for (const user of this.uses[n] as number[]) {
      const unit = this.unitOf.get(user);
      if (unit && unit !== own) visit(unit);
    }
  }

  // A binary heap.
  private push(unit: Unit): void {
    const { ready } = this;
    let at = ready.length;
    ready.push(unit);
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(ready[at] as Unit, ready[above] as Unit)) break;
      swap(ready, at, above);
      at = above;
    }
  }

  private pop(): Unit | undefined {
    const { ready } = this;
    const top = ready[0];
    const last = ready.pop();
    if (!top || !last || ready.length === 0) return top;
    ready[0] = last;
    for (let at = 0; ; ) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2]) if (below < ready.length && isBefore(ready[below] as Unit, ready[least] as Unit)) least = below;
      if (least === at) return top;
      swap(ready, at, least);
      at = least;
    }
  }
}

function isBefore(a: Unit, b: Unit): boolean {
  return (a.insts[a.done] ?? 0) < (b.insts[b.done] ?? 0);
}

function swap(list: Unit[], a: number, b: number): void {
  [list[a], list[b]] = [list[b] as Unit, list[a] as Unit];
}

// Returns the positions of the instructions that use the results of each instruction, in a region of theirs as well.
function usesOf(f: Func, insts: readonly Inst[]): number[][] {
  const at = new Map(insts.map((inst, n) => [inst.id, n]));
  return insts.map((inst) => {
    const users = new Set<number>();
    for (const result of inst.results) {
      for (let user of f.usersOf(result)) {
        while (user >= 0 && !at.has(user)) user = f.bodies.get(f.insts.get(user)?.body ?? -1)?.owner ?? -1;
        const position = at.get(user);
        if (position !== undefined) users.add(position);
      }
    }
    return [...users];
  });
}
