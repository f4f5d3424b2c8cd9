// The tree of foldable boxes: functions, instructions with regions, regions, and groups of instructions.

import { type Cost, callFactors, costOf } from "./cost";
import { blocksIn } from "./differences";
import { count, plural, short } from "./dom";
import { shortType, sizeText } from "./sizes";
import { type Func, type Inst, type Program, instKey, paramKey } from "./model";
import { type Group, type Member, groupBody } from "./structure";
import { type Weights, isConstant, weightsOf } from "./weights";
import { condensed, wordsOf } from "./words";

/** The largest number of items that *Unfold all* shows. */
const MAX_UNFOLDED_ITEMS = 1500;
/** The largest depth that *Unfold all* reaches. */
const MAX_UNFOLD_DEPTH = 40;
/** The largest number of parameters of a function that are not in a box. */
const MAX_FREE_PARAMS = 6;
/** The largest number of called functions that are not in a box. */
const MAX_FREE_FUNCTIONS = 2;
/** The largest number of lines of a preview. */
export const MAX_PREVIEW_LINES = 6;
const MAX_WORD_LINES = 4;
const PREVIEW_WIDTH = 40;
/** The largest length of the name of a section, and the largest number of ops in it. */
const MAX_NAME = 36;
const MAX_NAME_OPS = 3;

const UNUSED = "unused parameters";

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
  /** The item that is drawn for this one in the last drawing: itself, or what hides it. */
  shown: Item | null;
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
  /** Blocks and repetitions with the same key are of one sort; empty for other boxes. */
  model: string;
  children: Item[];
  /** The number of instructions in it, at any depth. */
  size: number;
  /** The families in it with their numbers of instructions, most frequent first. */
  mix: [string, number][];
  /** The lines that list its content while it is folded. */
  preview: string[] | null;
  /** The item that is drawn for this one in the last drawing: itself, or what hides it. */
  shown: Item | null;
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
  private readonly weights: Weights[] = [];
  private readonly stageLines = new Map<Box, number>();
  // The names of sections by their content, and with the numbers of those that have the same name in the same box.
  private readonly contentNames = new Map<Box, { name: string; isWhole: boolean }>();
  private readonly names = new Map<Box, string>();
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
    const box: Box = { kind: "box", what, key, parent, depth, fn, inst, label, sub, family, model: "", children: [], size: 0, mix: [], preview: null, shown: null, cost: [0, 0] };
    // Sections are named when they are shown.
    if (what === "run" && label === "") Object.defineProperty(box, "label", { get: () => this.nameOf(box), enumerable: true });
    this.items.set(key, box);
    if (inst) this.insts[fn]?.set(inst.id, box);
    parent?.children.push(box);
    return box;
  }

  private addFunction(f: Func, fn: number, home: Box): void {
    const box = this.box("function", `${fn}.b${f.body}`, home, fn, null, `@${f.name}`, f.signature);
    const weights = (this.weights[fn] = weightsOf(f));
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
          if (member.model) group.model = `${fn}.b${body}.${member.model}`;
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
    group(unused, UNUSED);
  }

  private addParam(f: Func, fn: number, param: number, parent: Box): Node {
    const value = f.value(param);
    const node: Node = {
      kind: "node", key: paramKey(fn, param), parent, fn, inst: null, value: param,
      label: value.name, sub: value.type, family: "parameter", small: true, rows: [], host: null, shown: null, cost: [0, 0],
    };
    this.items.set(node.key, node);
    this.params[fn]?.set(param, node);
    return node;
  }

  private addInst(f: Func, fn: number, inst: Inst, parent: Box): Node {
    const constant = isConstant(inst);
    const node: Node = {
      kind: "node", key: instKey(fn, inst.id), parent, fn, inst, value: -1,
      label: constant ? (literal(inst.text) ?? f.typeOf(inst)) : labelOf(inst), sub: f.typeOf(inst) || returned(f, inst), family: inst.family, small: constant, rows: [], host: null, shown: null, cost: this.costOf(fn, inst),
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

  // Returns the name of a section: its layers, or its most frequent ops, with a number if there are several of this name in a box.
  private nameOf(box: Box): string {
    const known = this.names.get(box);
    if (known !== undefined) return known;
    const groups = new Map<string, Box[]>();
    for (const child of box.parent?.children ?? []) {
      if (child.kind !== "box" || child.what !== "run") continue;
      const { name } = this.contentName(child);
      groups.set(name, [...(groups.get(name) ?? []), child]);
    }
    for (const [name, boxes] of groups) boxes.forEach((each, n) => this.names.set(each, boxes.length === 1 ? name : `${name} (${count(n + 1)} of ${count(boxes.length)})`));
    return this.names.get(box) ?? "";
  }

  // Returns a name by the content of a box, and whether it tells all its layers.
  private contentName(box: Box): { name: string; isWhole: boolean } {
    let known = this.contentNames.get(box);
    if (known) return known;
    const words = this.words(box);
    const all = condensed(words);
    if (words.length > 0) known = all.length <= MAX_NAME ? { name: all, isWhole: true } : { name: `${beginning(all)} …`, isWhole: false };
    else {
      const frequent = frequentOps(box);
      known = { name: frequent.length === 0 ? "constants" : `${frequent.slice(0, MAX_NAME_OPS).map(([name]) => name).join(", ")}${frequent.length > MAX_NAME_OPS ? ", …" : ""}`, isWhole: false };
    }
    this.contentNames.set(box, known);
    return known;
  }

  /** Returns true for a section whose name tells all its layers. */
  isNamedByAll(box: Box): boolean {
    return box.what === "run" && this.names.has(box) && this.contentName(box).isWhole;
  }

  /** Returns the lines that list the content of a folded box: the ops that tell most about it, in the order of their first use. */
  preview(box: Box): string[] {
    if (box.preview) return box.preview;
    if (box.what === "params" || box.what === "functions") return (box.preview = list(box.children.map((item) => (item.kind === "node" ? `${item.label} ${item.sub}` : item.label)), box.label.endsWith(UNUSED)));
    if (box.what === "run" && box.label !== "" && this.isNamedByAll(box)) return (box.preview = []);
    const words = this.words(box);
    if (words.length > 0) {
      const stages = this.stages(box);
      this.stageLines.set(box, stages.length);
      return (box.preview = [...wrapped(condensed(words).split(/(?<= ·) /)), ...stages]);
    }
    return (box.preview = wrapped(frequentOps(box).slice(0, 5).map(([name, n]) => (n > 1 ? `${count(n)} ${name}` : name))));
  }

  /** Returns the texts of a preview: the list of its content, and the output sizes of blocks. */
  previewTexts(box: Box): string[] {
    const lines = this.preview(box);
    const words = lines.length - (this.stageLines.get(box) ?? 0);
    return [lines.slice(0, words), lines.slice(words)].filter((each) => each.length > 0).map((each) => each.join(" "));
  }

  // Returns the output sizes of the blocks of a repetition, if they differ.
  private stages(box: Box): string[] {
    if (box.what !== "repeat") return [];
    const groups: { from: number; to: number; size: string }[] = [];
    for (const [n, block] of blocksIn(box).entries()) {
      const size = sizeText(this.output(block));
      const last = groups.at(-1);
      if (last?.size === size) last.to = n + 1;
      else groups.push({ from: n + 1, to: n + 1, size });
    }
    if (groups.length < 2) return [];
    return wrapped(groups.map(({ from, to, size }) => `${from === to ? from : `${from}–${to}`} → ${size}`)).slice(0, MAX_PREVIEW_LINES - MAX_WORD_LINES);
  }

  /** Returns the type of the last value of a box that is used outside of it, or of the result of its function; an empty text if there is none. */
  output(box: Box): string {
    const f = this.program.functions[box.fn];
    if (!f || box.what === "params") return "";
    const isOutside = (id: number) => {
      const own = this.insts[box.fn]?.get(id);
      const item: Item | undefined = own?.kind === "node" && own.host ? own.host : own;
      for (let inner: Item | null = item ?? null; inner; inner = inner.parent) {
        if (inner === box) return false;
        if (inner.kind === "box" && inner.depth <= box.depth) return true;
      }
      return true;
    };
    const work: Item[] = [...box.children];
    for (let item = work.pop(); item; item = work.pop()) {
      if (item.inst) {
        const { results, operands, family } = item.inst;
        if (results.length === 0 && family === "control") return operands.map((v) => f.value(v).type).join(", ");
        const value = results.find((v) => f.usersOf(v).some(isOutside));
        if (value !== undefined) return f.value(value).type;
      } else if (item.kind === "box") work.push(...item.children);
    }
    return "";
  }

  /** Returns the box of a function. */
  functionBox(fn: number): Box | undefined {
    const f = this.program.functions[fn];
    const box = f ? this.items.get(`${fn}.b${f.body}`) : undefined;
    return box?.kind === "box" ? box : undefined;
  }

  weightsOf(fn: number): Weights {
    return this.weights[fn] as Weights;
  }

  /** Returns the words for the layers in a box, in program order. Those of a repetition are the words of its first block, and a repetition in a box is one word, unless all are requested. */
  words(box: Box, all = false): string[] {
    const f = this.program.functions[box.fn];
    const weights = this.weights[box.fn];
    if (!f || !weights) return [];
    if (box.what === "repeat" && !all) return blocksIn(box).slice(0, 1).flatMap((block) => this.words(block));
    // Instructions in a row are looked at together; a box of a repetition has its label.
    const words: string[] = [];
    let insts: Inst[] = [];
    const close = () => {
      words.push(...wordsOf(f, weights, insts));
      insts = [];
    };
    const work: Item[] = [...box.children].reverse();
    for (let item = work.pop(); item; item = work.pop()) {
      const goesIn = item.kind === "box" && (item.family === "control" || !item.inst);
      if (item.inst && !goesIn) insts.push(item.inst);
      if (item.kind === "node" || !goesIn) continue;
      if (item.what === "repeat" && !all) {
        close();
        words.push(item.label);
      } else if (item.what !== "params") work.push(...[...item.children].reverse());
    }
    close();
    return words;
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

/** The largest number of characters of a line of a folded box. */
const MAX_LINE = 40;

/** The same for boxes without lines that list their content: their words are longer. */
const MAX_LONG_LINE = 56;

/** Returns the line below the label of a folded box, and the text beside the label: its size, or its words if there is no place for a list of them. */
export function foldedLine(box: Box, content: Content, tree: Tree): { line: string; aside: string } {
  if (tree.previewLines > 0 || content.size !== box.size) return { line: foldedSize(box, content, tree), aside: "" };
  const words = condensed(tree.words(box));
  if (words === "") return { line: foldedSize(box, content, tree), aside: "" };
  const type = box.label !== "" && tree.isNamedByAll(box) ? tree.output(box) : "";
  return { line: type === "" ? short(words, MAX_LONG_LINE) : `→ ${shortType(type, MAX_LINE - 2)}`, aside: plural(content.size, "op") };
}

/** Returns the number of ops of a folded box, for a repetition also as a sum of its blocks, and the type that it computes. */
function foldedSize(box: Box, content: Content, tree: Tree): string {
  if (box.what === "params") return plural(box.children.length, "value");
  const sum = box.what === "repeat" && content.size === box.size ? `: ${blockSum(box)}` : "";
  const size = plural(content.size, "op");
  const type = ["function", "functions", "inst", "region"].includes(box.what) ? "" : tree.output(box);
  const most = sum === "" ? MAX_LINE : MAX_LONG_LINE;
  const output = type === "" ? "" : ` → ${shortType(type, most - size.length - 3)}`;
  return size + (size.length + sum.length + output.length <= most ? sum : "") + output;
}

/** The largest number of different sizes of blocks in the sum of a repetition. */
const MAX_BLOCK_SIZES = 4;

// Returns the number of ops of a repetition as the sum of its blocks and what they share: `12 × 143 + 9 shared`.
function blockSum(box: Box): string {
  const sizes = new Map<number, number>();
  let shared = box.size;
  for (const block of blocksIn(box)) {
    sizes.set(block.size, (sizes.get(block.size) ?? 0) + 1);
    shared -= block.size;
  }
  const all = [...sizes.keys()];
  const parts = sizes.size <= MAX_BLOCK_SIZES ? [...sizes].map(([size, n]) => (n > 1 ? `${count(n)} × ${count(size)}` : count(size))) : [`${count(Math.min(...all))} to ${count(Math.max(...all))} in one`];
  return [...parts, ...(shared > 0 ? [`${count(shared)} shared`] : [])].join(" + ");
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

// Returns words in lines; those that matter little in one.
function list(words: string[], isMinor: boolean): string[] {
  const [first = "", ...more] = wrapped(words);
  return isMinor && more.length > 0 ? [`${first} …`] : [first, ...more].filter(Boolean);
}

// Returns words in lines of limited width and number.
function wrapped(words: string[]): string[] {
  const lines: string[] = [];
  for (const [n, word] of words.entries()) {
    const last = lines.at(-1);
    const text = n === words.length - 1 || word.endsWith("·") ? word : `${word},`;
    if (last !== undefined && last.length + text.length < PREVIEW_WIDTH) lines[lines.length - 1] = `${last} ${text}`;
    else if (lines.length < MAX_WORD_LINES) lines.push(text);
    else {
      lines[lines.length - 1] = `${last} …`;
      break;
    }
  }
  return lines;
}

// Returns the types that a function returns, of its last instruction.
function returned(f: Func, inst: Inst): string {
  return inst.body === f.body && inst.results.length === 0 ? inst.operands.map((v) => f.value(v).type).join(", ") : "";
}

// Returns the ops in a box with their numbers, most frequent first.
function frequentOps(box: Box): [string, number][] {
  const plain = new Map<string, number>();
  for (const { op, results } of instsIn(box)) if (results.length > 0) plain.set(opLabel(op), (plain.get(opLabel(op)) ?? 0) + 1);
  return [...plain].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// Returns the first words of a list of layers that fit a name.
function beginning(words: string): string {
  const parts = words.split(" · ");
  while (parts.length > 1 && parts.join(" · ").length + 2 > MAX_NAME) parts.pop();
  // A sequence that is repeated is in parentheses.
  return short(parts.join(" · "), MAX_NAME - 2);
}

// Returns the instructions in a box; of a repetition those of its first block.
function instsIn(box: Box): Inst[] {
  const insts: Inst[] = [];
  const work: Item[] = box.what === "repeat" ? blocksIn(box).slice(0, 1) : [...box.children];
  for (let item = work.pop(); item; item = work.pop()) {
    if (item.inst) insts.push(item.inst);
    if (item.kind === "box") work.push(...item.children);
  }
  return insts;
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
