// The tree of foldable boxes: functions, instructions with regions, regions, and groups of instructions in long bodies.

import { count } from "./dom";
import { type Func, type Inst, type Program, instKey, paramKey } from "./model";

/** The largest number of instructions of a body that is not divided into groups. */
export const MAX_UNGROUPED_INSTS = 400;
/** The number of instructions of a group, and the largest number of groups before they are grouped again. */
const GROUP_SIZE = 100;
/** The number of groups in a larger group. */
const GROUPS_PER_GROUP = 10;
/** The largest number of items that *Unfold all* shows. */
const MAX_UNFOLDED_ITEMS = 1500;
/** The largest depth that *Unfold all* reaches. */
const MAX_UNFOLD_DEPTH = 40;
/** The largest depth of boxes that start unfolded. */
const OPEN_DEPTH = 4;
/** The largest number of instructions of a program whose large boxes start unfolded. */
const OPEN_ITEMS = 1200;

export interface Node {
  kind: "node";
  key: string;
  parent: Box;
  fn: number;
  inst: Inst | null;
  /** The value, if the node is a parameter. */
  value: number;
  label: string;
  sub: string;
  family: string;
  small: boolean;
}

export interface Box {
  kind: "box";
  what: "program" | "function" | "inst" | "region" | "run";
  key: string;
  parent: Box | null;
  depth: number;
  fn: number;
  inst: Inst | null;
  label: string;
  sub: string;
  family: string;
  children: Item[];
  /** The number of instructions in it, at any depth. */
  size: number;
  /** The families in it with their numbers of instructions, most frequent first. */
  mix: [string, number][];
}

export type Item = Node | Box;

/** The content of a box. */
export interface Content {
  size: number;
  mix: [string, number][];
}

export class Tree {
  readonly root: Box;
  readonly items = new Map<string, Item>();
  private sizes: Map<number, Map<number, number>> | null = null;

  /** The other program of a comparison: if its bodies are longer, bodies are grouped as in that program. */
  constructor(
    readonly program: Program,
    private readonly beside?: Program,
  ) {
    this.root = this.box("program", "p", null, -1, null, program.name, "");
    program.functions.forEach((f, fn) => this.addFunction(f, fn));
    for (const [box, { size, mix }] of this.contents()) [box.size, box.mix] = [size, mix];
  }

  private box(what: Box["what"], key: string, parent: Box | null, fn: number, inst: Inst | null, label: string, sub: string): Box {
    const depth = parent ? parent.depth + 1 : 0;
    const family = inst?.family ?? "";
    const box: Box = { kind: "box", what, key, parent, depth, fn, inst, label, sub, family, children: [], size: 0, mix: [] };
    this.items.set(key, box);
    parent?.children.push(box);
    return box;
  }

  private addFunction(f: Func, fn: number): void {
    const box = this.box("function", `${fn}.b${f.body}`, this.root, fn, null, `@${f.name}`, f.signature);
    const members = new Map<number, Inst[]>();
    for (const inst of f.insts.values()) {
      const list = members.get(inst.body);
      if (list) list.push(inst);
      else members.set(inst.body, [inst]);
    }
    // An explicit stack, because regions may be nested deeply.
    const work: [number, Box][] = [[f.body, box]];
    for (let next = work.pop(); next; next = work.pop()) {
      const [body, home] = next;
      for (const param of f.bodies.get(body)?.params ?? []) this.addParam(f, fn, param, home);
      const insts = members.get(body) ?? [];
      const places = this.runs(insts, home, fn, body);
      insts.forEach((inst, n) => {
        const parent = places[n] as Box;
        if (inst.regions.length === 0) {
          this.addNode(f, fn, inst, parent);
          return;
        }
        const owner = this.box("inst", instKey(fn, inst.id), parent, fn, inst, inst.op, f.typeOf(inst));
        inst.regions.forEach((region, slot) => {
          const inside =
            inst.regions.length === 1 ? owner : this.box("region", `${fn}.b${region}`, owner, fn, null, `region ${slot}`, "");
          work.push([region, inside]);
        });
      });
    }
  }

  // Returns the boxes for the instructions of a body: that of the body, or groups, nested until a box has few children.
  private runs(insts: Inst[], home: Box, fn: number, body: number): Box[] {
    const most = Math.max(insts.length, this.otherSize(fn, body));
    if (most <= MAX_UNGROUPED_INSTS || insts.length <= GROUP_SIZE) return insts.map(() => home);
    const places: Box[] = new Array(insts.length);
    let first = GROUP_SIZE;
    while (most / first > GROUP_SIZE) first *= GROUPS_PER_GROUP;
    const work: { box: Box; from: number; to: number; step: number }[] = [{ box: home, from: 0, to: insts.length, step: first }];
    for (let at = 0; at < work.length; at += 1) {
      const { box, from, to } = work[at] as (typeof work)[0];
      let { step } = work[at] as (typeof work)[0];
      // A group never contains only one group.
      while (step >= GROUP_SIZE && to - from <= step) step /= GROUPS_PER_GROUP;
      if (step < GROUP_SIZE) {
        places.fill(box, from, to);
        continue;
      }
      for (let begin = from; begin < to; begin += step) {
        const end = Math.min(to, begin + step);
        const label = `ops ${count(begin + 1)} to ${count(end)}`;
        const run = this.box("run", `${fn}.b${body}.r${begin}-${end}`, box, fn, null, label, "");
        work.push({ box: run, from: begin, to: end, step: step / GROUPS_PER_GROUP });
      }
    }
    return places;
  }

  // Returns the number of instructions of the body in the other program: regions keep their ids in a run.
  private otherSize(fn: number, body: number): number {
    const own = this.program.functions[fn];
    const other = this.beside?.functions[this.beside.indexOf(own?.name ?? "")];
    if (!other) return 0;
    this.sizes ??= new Map();
    let sizes = this.sizes.get(fn);
    if (!sizes) {
      this.sizes.set(fn, (sizes = new Map()));
      for (const inst of other.insts.values()) sizes.set(inst.body, (sizes.get(inst.body) ?? 0) + 1);
    }
    return sizes.get(body === own?.body ? other.body : body) ?? 0;
  }

  private addParam(f: Func, fn: number, param: number, parent: Box): void {
    const value = f.value(param);
    const node: Node = {
      kind: "node", key: paramKey(fn, param), parent, fn, inst: null, value: param,
      label: value.name, sub: value.type, family: "parameter", small: true,
    };
    this.items.set(node.key, node);
    parent.children.push(node);
  }

  private addNode(f: Func, fn: number, inst: Inst, parent: Box): void {
    const constant = inst.op === "constant";
    const node: Node = {
      kind: "node", key: instKey(fn, inst.id), parent, fn, inst, value: -1,
      label: constant ? literal(inst.text) : labelOf(inst), sub: f.typeOf(inst), family: inst.family, small: constant,
    };
    this.items.set(node.key, node);
    parent.children.push(node);
  }

  /** Returns the content of each box, or only that part of it which consists of some items. */
  contents(only?: ReadonlySet<string>): Map<Box, Content> {
    const all = new Map<Box, { size: number; mix: Map<string, number> }>();
    const of = (box: Box) => {
      let content = all.get(box);
      if (!content) all.set(box, (content = { size: 0, mix: new Map() }));
      return content;
    };
    const add = (box: Box, family: string, n: number) => {
      const { mix } = of(box);
      mix.set(family, (mix.get(family) ?? 0) + n);
    };
    // Children come after their parents in `items`, so that one backward walk adds up everything.
    for (const item of [...this.items.values()].reverse()) {
      const { parent } = item;
      const there = !only || only.has(item.key);
      if (item.inst && there) {
        const home = item.kind === "box" ? item : item.parent;
        of(home).size += 1;
        add(home, item.family, 1);
      }
      if (item.kind !== "box" || !parent) continue;
      const { size, mix } = of(item);
      of(parent).size += size;
      // A chain of boxes a million deep must not copy its mix a million times.
      if (mix.size <= 32) for (const [family, n] of mix) add(parent, family, n);
    }
    const sorted = (mix: Map<string, number>) => [...mix].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return new Map([...all].map(([box, { size, mix }]) => [box, { size, mix: sorted(mix) }]));
  }

  /** Returns the boxes that are open at first. */
  initiallyOpen(): Set<string> {
    const open = new Set<string>([this.root.key]);
    let shown = 0;
    const work: Box[] = [this.root];
    for (let at = 0; at < work.length; at += 1) {
      const box = work[at] as Box;
      for (const child of box.children) {
        if (child.kind === "node" || !startsOpen(child, shown)) continue;
        shown += child.children.length;
        open.add(child.key);
        work.push(child);
      }
    }
    return open;
  }

  /** Returns the boxes that *Unfold all* opens, and the number of those that stay folded. */
  allOpen(): { open: Set<string>; left: number } {
    const open = new Set<string>([this.root.key]);
    let items = this.root.children.length;
    let left = 0;
    const work: Box[] = [this.root];
    for (let at = 0; at < work.length; at += 1) {
      for (const child of (work[at] as Box).children) {
        if (child.kind !== "box") continue;
        if (items + child.children.length > MAX_UNFOLDED_ITEMS || child.depth > MAX_UNFOLD_DEPTH) {
          left += 1;
          continue;
        }
        items += child.children.length;
        open.add(child.key);
        work.push(child);
      }
    }
    return { open, left };
  }

  /** Returns the boxes around an item, outermost first. */
  ancestors(key: string): Box[] {
    const list: Box[] = [];
    for (let box = this.items.get(key)?.parent ?? null; box; box = box.parent) list.push(box);
    return list.reverse();
  }
}

function startsOpen(box: Box, shown: number): boolean {
  return box.depth <= OPEN_DEPTH && box.what !== "run" && shown + box.children.length <= OPEN_ITEMS;
}

/** Returns the op, with the called function. */
function labelOf(inst: Inst): string {
  const called = /^[^"]*?\b(?:call|custom_call) (@[\w.$-]+|"[^"]*")/.exec(inst.text)?.[1];
  return called && inst.op.endsWith("call") ? `${inst.op} ${called}` : inst.op;
}

/** Returns the literal of a constant from its text: `%c = constant 1.0 : f32[]` or `%c = stablehlo.constant dense<1.0> : tensor<f32>`. */
function literal(text: string): string {
  const found = /\bconstant (.*) : [^:]*$/s.exec(text);
  const value = (found?.[1] ?? "constant").replace(/^dense<(.*)>$/s, "$1");
  return value.length > 18 ? `${value.slice(0, 17)}…` : value;
}
