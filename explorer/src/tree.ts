// The tree of foldable boxes: functions, instructions with regions, regions, and groups of instructions.

import { type Cost, callFactors, costOf } from "./cost";
import { blocksIn } from "./differences";
import { count, plural } from "./dom";
import { type Func, type Inst, type Program, instKey, paramKey } from "./model";
import { type Group, type Member, calledFunction, groupBody } from "./structure";
import { type Weights, isConstant, weightsOf } from "./weights";

/** The largest number of items that *Unfold all* shows. */
const MAX_UNFOLDED_ITEMS = 1500;
/** The largest depth that *Unfold all* reaches. */
const MAX_UNFOLD_DEPTH = 40;
/** The largest number of parameters of a function that are not in a box. */
const MAX_FREE_PARAMS = 6;
/** The largest number of called functions that are not in a box. */
const MAX_FREE_FUNCTIONS = 2;
/** The largest number of lines of a preview. */
export const MAX_PREVIEW_LINES = 3;
const PREVIEW_WIDTH = 34;
/** The families of ops that tell little about a model. */
const PLAIN_FAMILIES = new Set(["constant", "shape", "binary", "cast", "compare", "other"]);

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
  /** The weights and constants that are drawn inside. */
  rows: Row[];
  /** The node that this one is drawn in, if it is a row. */
  host: Node | null;
  /** The cost in all runs of its function. */
  cost: Cost;
}

/** A row of a node. A value that is a row in several nodes has its place in the first one. */
export interface Row {
  key: string;
  own: boolean;
}

export interface Box {
  kind: "box";
  what: "program" | "functions" | "function" | "inst" | "region" | "params" | Group["what"];
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
  /** The lines that list its content while it is folded. */
  preview: string[] | null;
  /** The cost of the instructions in it; that of the program is the cost of the functions that no other function calls. */
  cost: Cost;
}

export type Item = Node | Box;

/** The content of a box. */
export interface Content {
  size: number;
  mix: [string, number][];
  cost: Cost;
}

export class Tree {
  readonly root: Box;
  readonly items = new Map<string, Item>();
  /** The items of instructions and of parameters by their numbers, for each function. */
  readonly insts: Map<number, Item>[];
  readonly params: Map<number, Node>[];
  /** The functions that no other function calls, or all if there is no such function. */
  readonly entries: ReadonlySet<number>;
  private readonly factors: Cost[];
  /** The largest number of lines of a folded box that list its content. */
  previewLines = MAX_PREVIEW_LINES;

  constructor(readonly program: Program) {
    this.insts = program.functions.map(() => new Map());
    this.params = program.functions.map(() => new Map());
    this.root = this.box("program", "p", null, -1, null, program.name, "");
    this.entries = entryFunctions(program);
    this.factors = callFactors(program, this.entries);
    const called = program.functions.map((_, fn) => fn).filter((fn) => !this.entries.has(fn));
    for (const fn of this.entries) this.addFunction(program.functions[fn] as Func, fn, this.root);
    const many = called.length > MAX_FREE_FUNCTIONS;
    const home = many ? this.box("functions", "p.called", this.root, -1, null, `${count(called.length)} called functions`, "") : this.root;
    for (const fn of called) this.addFunction(program.functions[fn] as Func, fn, home);
    for (const [box, content] of this.contents()) Object.assign(box, content);
  }

  private box(what: Box["what"], key: string, parent: Box | null, fn: number, inst: Inst | null, label: string, sub: string): Box {
    const depth = parent ? parent.depth + 1 : 0;
    const family = inst?.family ?? "";
    const box: Box = { kind: "box", what, key, parent, depth, fn, inst, label, sub, family, children: [], size: 0, mix: [], preview: null, cost: [0, 0] };
    this.items.set(key, box);
    if (inst) this.insts[fn]?.set(inst.id, box);
    parent?.children.push(box);
    return box;
  }

  private addFunction(f: Func, fn: number, home: Box): void {
    const box = this.box("function", `${fn}.b${f.body}`, home, fn, null, `@${f.name}`, f.signature);
    const weights = weightsOf(f);
    const bodies = new Map<number, Inst[]>();
    for (const inst of f.insts.values()) {
      const list = bodies.get(inst.body);
      if (list) list.push(inst);
      else bodies.set(inst.body, [inst]);
    }
    // An explicit stack, because regions and groups may be nested deeply.
    type Task = { home: Box; body: number } | { home: Box; members: Member[]; body: number };
    const work: Task[] = [{ home: box, body: f.body }];
    for (let task = work.pop(); task; task = work.pop()) {
      const { home, body } = task;
      if (!("members" in task)) this.addParams(f, fn, (f.bodies.get(body)?.params ?? []).filter((v) => !weights.params.has(v)), home, body);
      const members = "members" in task ? task.members : groupBody(f, bodies.get(body) ?? [], weights);
      for (const member of members) {
        if ("what" in member) {
          const group = this.box(member.what, `${fn}.b${body}.${member.what}${firstInst(member)}-${home.depth}`, home, fn, null, member.label, "");
          work.push({ home: group, members: member.members, body });
        } else if (member.regions.length === 0) this.addNode(f, fn, member, home, weights);
        else {
          const owner = this.box("inst", instKey(fn, member.id), home, fn, member, opLabel(member.op), f.typeOf(member));
          for (const id of weights.inside.get(member.id) ?? []) owner.children.push(this.addInst(f, fn, f.insts.get(id) as Inst, owner));
          member.regions.forEach((region, slot) => {
            const inside = member.regions.length === 1 ? owner : this.box("region", `${fn}.b${region}`, owner, fn, null, `region ${slot}`, "");
            work.push({ home: inside, body: region });
          });
        }
      }
    }
  }

  private addParams(f: Func, fn: number, params: number[], home: Box, body: number): void {
    const unused = params.filter((v) => f.usersOf(v).length === 0);
    const group = (list: number[], name: string) => {
      const grouped = list.length > MAX_FREE_PARAMS;
      const parent = grouped ? this.box("params", `${fn}.b${body}.${name}`, home, fn, null, `${count(list.length)} ${name}`, "") : home;
      for (const param of list) parent.children.push(this.addParam(f, fn, param, parent));
    };
    if (unused.length <= MAX_FREE_PARAMS) return group(params, "parameters");
    group(params.filter((v) => f.usersOf(v).length > 0), "parameters");
    group(unused, "unused parameters");
  }

  private addParam(f: Func, fn: number, param: number, parent: Box): Node {
    const value = f.value(param);
    const node: Node = {
      kind: "node", key: paramKey(fn, param), parent, fn, inst: null, value: param,
      label: value.name, sub: value.type, family: "parameter", small: true, rows: [], host: null, cost: [0, 0],
    };
    this.items.set(node.key, node);
    this.params[fn]?.set(param, node);
    return node;
  }

  private addInst(f: Func, fn: number, inst: Inst, parent: Box): Node {
    const constant = isConstant(inst);
    const node: Node = {
      kind: "node", key: instKey(fn, inst.id), parent, fn, inst, value: -1,
      label: constant ? (literal(inst.text) ?? f.typeOf(inst)) : labelOf(inst), sub: f.typeOf(inst), family: inst.family, small: constant, rows: [], host: null, cost: this.costOf(fn, inst),
    };
    this.items.set(node.key, node);
    this.insts[fn]?.set(inst.id, node);
    return node;
  }

  private costOf(fn: number, inst: Inst): Cost {
    const [cost, factor] = [costOf(inst.cost), this.factors[fn] as Cost];
    return [cost[0] * factor[0], cost[1] * factor[1]];
  }

  private addNode(f: Func, fn: number, inst: Inst, parent: Box, weights: Weights): void {
    const node = this.addInst(f, fn, inst, parent);
    parent.children.push(node);
    for (const { inst: id, value, own } of weights.rows.get(inst.id) ?? []) {
      const key = id >= 0 ? instKey(fn, id) : paramKey(fn, value);
      node.rows.push({ key, own });
      if (own) (id >= 0 ? this.addInst(f, fn, f.insts.get(id) as Inst, parent) : this.addParam(f, fn, value, parent)).host = node;
    }
  }

  /** Returns the lines that list the content of a folded box: the ops that tell most about it, in the order of their first use. */
  preview(box: Box): string[] {
    if (box.preview) return box.preview;
    if (box.what === "params" || box.what === "functions") return (box.preview = wrapped(box.children.map((item) => (item.kind === "node" ? `${item.label} ${item.sub}` : item.label))));
    const counts = new Map<string, number>();
    const plain = new Map<string, number>();
    // Of a repetition the first block is listed.
    const work: Item[] = box.what === "repeat" ? blocksIn(box).slice(0, 1) : [...box.children].reverse();
    for (let item = work.pop(); item; item = work.pop()) {
      if (item.inst) {
        const into = PLAIN_FAMILIES.has(item.family) || item.inst.results.length === 0 ? plain : counts;
        const name = calledFunction(item.inst) ?? opLabel(item.inst.op);
        into.set(name, (into.get(name) ?? 0) + 1);
      }
      if (item.kind === "box" && item.what === "repeat") counts.set(item.label, 1);
      else if (item.kind === "box") work.push(...[...item.children].reverse());
    }
    const named = (of: Map<string, number>) => [...of].map(([name, n]) => (n > 1 ? `${count(n)} ${name}` : name));
    const frequent = [...plain].filter(([name]) => name !== "return").sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return (box.preview = wrapped(counts.size > 1 ? named(counts) : [...named(counts), ...named(new Map(frequent.slice(0, 5)))]));
  }

  /** Returns the lines of the preview of a box that are drawn in it. */
  drawnPreview(box: Box): string[] {
    const lines = this.preview(box);
    const drawn = lines.slice(0, this.previewLines);
    if (drawn.length < lines.length && drawn.length > 0) drawn.push(`${(drawn.pop() as string).replace(/( …)?$/, "")} …`);
    return drawn;
  }

  /** Returns the content of each box, or only that part of it which consists of some items. */
  contents(only?: ReadonlySet<string>): Map<Box, Content> {
    const all = new Map<Box, { size: number; mix: Map<string, number>; cost: Cost }>();
    const of = (box: Box) => {
      let content = all.get(box);
      if (!content) all.set(box, (content = { size: 0, mix: new Map(), cost: [0, 0] }));
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
        const content = of(home);
        content.size += 1;
        add(home, item.family, 1);
        if (item.kind === "node") addCost(content.cost, item.cost);
        // The cost of an instruction contains that of its regions.
        else content.cost = this.costOf(item.fn, item.inst);
      }
      if (item.kind !== "box" || !parent) continue;
      const { size, mix, cost } = of(item);
      of(parent).size += size;
      // The calls of a function contain its cost.
      if (parent !== this.root || this.entries.has(item.fn)) addCost(of(parent).cost, cost);
      // A chain of boxes a million deep must not copy its mix a million times.
      if (mix.size <= 32) for (const [family, n] of mix) add(parent, family, n);
    }
    const sorted = (mix: Map<string, number>) => [...mix].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return new Map([...all].map(([box, { size, mix, cost }]) => [box, { size, mix: sorted(mix), cost }]));
  }

  /** Returns the boxes that are open at least: the program, and the functions that no other function calls. */
  minimallyOpen(): Set<string> {
    const [first] = this.entries;
    const entry = this.root.children.find((box) => box.fn === first);
    return new Set([this.root.key, ...(entry ? [entry.key] : [])]);
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

/** Returns the number of ops of a folded box, for a repetition also of one block. */
export function foldedSize(box: Box, content: Content): string {
  if (box.what === "params") return plural(box.children.length, "value");
  const first = box.what === "repeat" ? blocksIn(box)[0] : undefined;
  if (first) return `${plural(content.size, "op")}, ${first.size} in one`;
  return plural(content.size, "op");
}

// Returns the functions that no other function calls.
function entryFunctions(program: Program): Set<number> {
  const called = new Set<string>();
  for (const f of program.functions) {
    for (const inst of f.insts.values()) {
      if (!inst.op.endsWith("call") && inst.family !== "control" && inst.regions.length === 0) continue;
      for (const [, name] of inst.text.matchAll(/@([\w.$-]+)/g)) if (name && name !== f.name) called.add(name);
    }
  }
  const all = program.functions.map((_, fn) => fn);
  const entries = all.filter((fn) => !called.has((program.functions[fn] as Func).name));
  return new Set(entries.length > 0 ? entries : all);
}

function addCost(sum: Cost, cost: Cost): void {
  sum[0] += cost[0];
  sum[1] += cost[1];
}

// Returns the id of the first instruction of a group.
function firstInst(group: Group): number {
  let member: Member | undefined = group;
  while (member && "what" in member) member = member.members[0];
  return member?.id ?? -1;
}

// Returns words in lines of limited width and number.
function wrapped(words: string[]): string[] {
  const lines: string[] = [];
  for (const [n, word] of words.entries()) {
    const last = lines.at(-1);
    const text = n === words.length - 1 ? word : `${word},`;
    if (last !== undefined && last.length + text.length < PREVIEW_WIDTH) lines[lines.length - 1] = `${last} ${text}`;
    else if (lines.length < MAX_PREVIEW_LINES) lines.push(text);
    else {
      lines[lines.length - 1] = `${last} …`;
      break;
    }
  }
  return lines;
}

/** Returns the name of an op in a drawing. All nodes of an ONNX model would begin with the same prefix. */
function opLabel(op: string): string {
  return op.replace(/^onnx\./, "");
}

/** Returns the op, with the called function. */
function labelOf(inst: Inst): string {
  const called = /^[^"]*?\b(?:call|custom_call) (@[\w.$-]+|"[^"]*")/.exec(inst.text)?.[1];
  return called && inst.op.endsWith("call") ? `${inst.op} ${called}` : opLabel(inst.op);
}

/** The largest number of characters of a literal in a drawing. */
const MAX_LITERAL = 18;

/** Returns the literal of a constant from its text, `%c = constant 1.0 : f32[]` or `%c = stablehlo.constant dense<1.0> : tensor<f32>`, if it is short. */
function literal(text: string): string | undefined {
  const found = /\bconstant (.*) : [^:]*$/s.exec(text) ?? /\bonnx\.Constant \{\w+ = (.*)\} : [^:]*$/s.exec(text);
  const value = found?.[1]?.replace(/^dense<(.*)>$/s, "$1").replace(/^literal\((.*) : [^:]*\)$/s, "$1") ?? "constant";
  return value === "..." || value.length > MAX_LITERAL ? undefined : value;
}
