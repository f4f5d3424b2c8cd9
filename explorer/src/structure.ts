// The structure of a body: scopes from the locations of the file, repeated blocks, and sections of what remains.
//
// Repetition is found in the sequence of instructions alone, so that models without names have blocks, too. An instruction is a
// token of its op, its called function, and the distance to the definitions of its operands; sizes and attributes do not count.

import { type Blocks, blockPlan } from "./blockplan";
import { count } from "./dom";
import type { Func, Inst } from "./model";
import { scopeOrder } from "./scopeorder";
import type { Weights } from "./weights";

/** A group of instructions that becomes a box. */
export interface Group {
  what: "scope" | "repeat" | "block" | "run" | "constants";
  /** The name; empty for a section, which is named by what is in it. */
  label: string;
  members: Member[];
  /** Blocks with the same number are copies of one block, or like it; 0 for other groups. */
  model?: number;
}

export type Member = Inst | Group;

/** The largest number of instructions of a body that is drawn without boxes of its own. */
export const MAX_UNGROUPED_INSTS = 24;
/** The smallest number of tokens that a repetition saves. */
const MIN_SAVED_TOKENS = 8;
/** The smallest number of instructions of a repeated block. */
const MIN_BLOCK_TOKENS = 3;
/** The smallest number of instructions between two groups that get a box, and the same for a body that has more members otherwise. */
const MIN_RUN_TOKENS = 4;
const MIN_RUN_OF_MANY = 2;
const MANY_MEMBERS = 14;
/** The largest number of instructions without any repetition that are drawn without sections: in a body, and in a block or scope. */
const MAX_FLAT_TOKENS = 60;
const MAX_FLAT_BLOCK = 200;
/** The length of a section: it ends where the fewest values are live. */
const SECTION = { least: 15, most: 45 };
/** The number of sections, or of larger sections, in a larger section. */
const SECTIONS_PER_GROUP = 20;
/** The largest number of blocks of a repetition that are not in groups. */
const MAX_BLOCKS = 100;
/** The length of the sequences whose distances are the candidates for periods, and the largest number of candidates. */
const GRAM = 4;
const MAX_PERIODS = 24;
/** The largest number of equally good first positions of a repetition that are compared. */
const MAX_BEGINS = 8;
/** The largest distance of a definition that is part of a token. */
const MAX_DISTANCE = 8;
/** The ops whose operands may be swapped. */
const COMMUTATIVE = new Set(["add", "mul", "multiply", "max", "maximum", "min", "minimum", "and", "or", "xor"]);
/** The largest depth of repetitions in each other, and of scopes. */
const MAX_NESTED_REPEATS = 3;
const MAX_SCOPE_DEPTH = 12;

/** An element of a sequence: an instruction or a scope, with its token and its first and last position in the body. */
interface Element {
  member: Member;
  token: number;
  /** The token without operands. */
  op: number;
  from: number;
  to: number;
  /** The number of instructions. */
  size: number;
}

/** Returns the members of a body in program order, in groups. Takes linear time. */
export function groupBody(f: Func, insts: readonly Inst[], weights: Weights): Member[] {
  const shown = insts.filter((inst) => !weights.insts.has(inst.id));
  if (shown.length <= MAX_UNGROUPED_INSTS) return shown;
  return new Grouping(f, shown, weights).members();
}

class Grouping {
  private readonly insts: readonly Inst[];
  // The scopes around each instruction; nothing if few instructions have scopes.
  private readonly paths: string[][] | null;
  private readonly tokens: number[];
  private readonly live: number[];
  private readonly names = new Map<string, number>();
  // The instructions that only depend on constants; they are shared by blocks and belong to the next instruction.
  private readonly loose = new Set<number>();
  // The structures of blocks without names, with their numbers, and the groups of them.
  private readonly kinds = new Map<string, number>();
  private unnamed: { group: Group; kind: number }[] = [];
  private minRun = MIN_RUN_TOKENS;

  constructor(
    private readonly f: Func,
    insts: readonly Inst[],
    private readonly weights: Weights,
  ) {
    const at = new Map<number, number>();
    for (const inst of insts) {
      const constant = inst.regions.length === 0 && inst.results.length > 0 && inst.operands.every((v) => this.isLoose(v));
      if (constant && inst.family !== "call" && inst.family !== "rng") this.loose.add(inst.id);
    }
    const paths = scopePaths(insts, this.loose);
    const order = paths ? scopeOrder(f, insts, paths) : [];
    this.paths = paths && order.map((n) => paths[n] as string[]);
    this.insts = paths ? order.map((n) => insts[n] as Inst) : insts;
    let position = 0;
    this.tokens = this.insts.map((inst) => {
      if (this.loose.has(inst.id)) return -1;
      const token = this.tokenOf(inst, position, at);
      for (const result of inst.results) at.set(result, position);
      position += 1;
      return token;
    });
    this.live = liveValues(this.insts, this.loose);
  }

  private isLoose(value: number): boolean {
    const { inst } = this.f.value(value);
    return inst >= 0 && (this.loose.has(inst) || (this.weights.insts.has(inst) && constantTree(this.f, inst)));
  }

  private intern(name: string): number {
    let token = this.names.get(name);
    if (token === undefined) this.names.set(name, (token = this.names.size));
    return token;
  }

  private tokenOf(inst: Inst, position: number, at: ReadonlyMap<number, number>): number {
    const operands = inst.operands.map((v) => {
      const defined = at.get(v);
      return defined !== undefined && position - defined <= MAX_DISTANCE ? position - defined : "far";
    });
    // `simplify` orders these operands by what they compute, which differs from layer to layer.
    if (COMMUTATIVE.has(inst.op.replace(/^stablehlo\./, ""))) operands.sort();
    return this.intern(`${inst.op} ${calledFunction(inst) ?? ""} ${operands.join(" ")} ${inst.results.length} ${inst.regions.length}`);
  }

  private opToken(inst: Inst): number {
    return this.intern(`${inst.op} ${calledFunction(inst) ?? ""}`);
  }

  members(): Member[] {
    let members = this.grouped();
    if (members.length > MANY_MEMBERS && members.some((each) => "what" in each)) {
      this.minRun = MIN_RUN_OF_MANY;
      this.kinds.clear();
      this.unnamed = [];
      members = this.grouped();
    }
    // Blocks have letters if there are several kinds of them.
    if (this.kinds.size > 1) for (const { group, kind } of this.unnamed) group.label = group.label.replace("block", `block ${letter(kind)}`);
    return members;
  }

  private grouped(): Member[] {
    const elements = this.insts.map((inst, n): Element => ({ member: inst, token: this.tokens[n] as number, op: this.opToken(inst), from: n, to: n + 1, size: 1 }));
    return this.paths ? this.scoped(elements, this.paths) : this.level(elements, 0);
  }

  // Groups by scope, innermost first, and finds repetitions on each level.
  private scoped(elements: Element[], paths: string[][]): Member[] {
    const whole: Element[] = [];
    // Frames of open scopes: their names, and their elements so far.
    const frames: { name: string; elements: Element[] }[] = [{ name: "", elements: whole }];
    const close = () => {
      const { name, elements: inside } = frames.pop() as (typeof frames)[0];
      const home = (frames.at(-1) as (typeof frames)[0]).elements;
      const size = inside.reduce((n, each) => n + each.size, 0);
      const [only] = inside;
      if (inside.length === 1 && only) {
        // A scope in a scope with nothing else has the names of both.
        if ("what" in only.member) only.member.label = `${name}/${only.member.label}`;
        home.push(only);
        return;
      }
      // The names tell enough: operands do not count.
      const token = this.intern(`scope ${withoutDigits(name)} ${inside.filter((each) => each.token >= 0).map((each) => each.op).join(" ")}`);
      const members = this.level(inside, 1);
      home.push({ member: { what: "scope", label: name, members }, token, op: token, from: (inside[0] as Element).from, to: (inside.at(-1) as Element).to, size });
    };
    elements.forEach((element, n) => {
      const path = paths[n] as string[];
      let same = 0;
      while (same < path.length && same + 1 < frames.length && frames[same + 1]?.name === path[same]) same += 1;
      while (frames.length > same + 1) close();
      for (const name of path.slice(same)) frames.push({ name, elements: [] });
      (frames.at(-1) as (typeof frames)[0]).elements.push(element);
    });
    while (frames.length > 1) close();
    return this.level(whole, 0);
  }

  // Finds the repetitions in a sequence, and divides the rest into sections.
  private level(elements: Element[], depth: number): Member[] {
    const sequence = elements.filter((each) => each.token >= 0);
    const runs = depth < MAX_NESTED_REPEATS && sequence.reduce((n, each) => n + each.size, 0) >= MIN_SAVED_TOKENS + MIN_BLOCK_TOKENS ? this.repetitions(sequence) : [];
    const ops = sequence.map((each) => each.op);
    const plan = blockPlan({
      ops,
      runs,
      nested: (from, to) => (depth + 1 < MAX_NESTED_REPEATS ? this.repetitions(sequence.slice(from, to)) : []),
      isBranch: (from, to, end) => this.isBranch(sequence.slice(from, to), sequence.slice(to, end)),
    });
    const members: Member[] = [];
    const at: number[] = [];
    elements.forEach((each, n) => each.token >= 0 && at.push(n));
    let next = 0;
    for (const blocks of plan) {
      // The elements between two tokens belong to the second one.
      const starts = blocks.starts.map((start) => (start === 0 ? 0 : (at[start - 1] as number) + 1));
      members.push(...this.remaining(elements.slice(next, starts[0]), true, depth));
      const { shared, blocks: copies } = this.withoutShared(starts.slice(1).map((end, n) => elements.slice(starts[n], end)));
      let constants = shared.map((each) => each.member);
      if (shared.length >= MIN_RUN_TOKENS) constants = [{ what: "constants", label: "shared constants", members: constants }];
      const repeat = this.repeat(sequence, blocks, copies, depth);
      if (this.areUsedOnlyBy(shared, copies)) repeat.members.unshift(...constants);
      else members.push(...constants);
      members.push(repeat);
      next = starts.at(-1) as number;
    }
    members.push(...this.remaining(elements.slice(next), plan.length > 0, depth));
    return members;
  }

  private remaining(elements: Element[], between: boolean, depth: number): Member[] {
    if (between || elements.some((each) => "what" in each.member)) return this.runs(elements);
    return this.sections(elements, depth === 0 ? MAX_FLAT_TOKENS : MAX_FLAT_BLOCK);
  }

  // Takes the instructions that only depend on constants and that several blocks use out of the blocks.
  private withoutShared(copies: Element[][]): { shared: Element[]; blocks: Element[][] } {
    const shared: Element[] = [];
    const blocks = copies.map((copy) => {
      if (copy.every((each) => each.token >= 0)) return copy;
      const ids = new Set(copy.map((each) => ("what" in each.member ? -1 : each.member.id)));
      const own = (id: number) => ids.has(id) || this.insideOf(id, ids);
      const outside = new Set<number>();
      // Users come before definitions.
      for (const { member, token } of [...copy].reverse()) {
        if (token >= 0 || "what" in member) continue;
        const users = member.results.flatMap((v) => this.f.usersOf(v));
        if (users.some((user) => outside.has(user) || !own(user))) outside.add(member.id);
      }
      const leaves = ({ member }: Element) => !("what" in member) && outside.has(member.id);
      shared.push(...copy.filter(leaves));
      return copy.filter((each) => !leaves(each));
    });
    return { shared, blocks };
  }

  // Returns true if only these blocks use shared instructions.
  private areUsedOnlyBy(shared: Element[], blocks: Element[][]): boolean {
    const ids = new Set(instsOf([...shared, ...blocks.flat()]).map((inst) => inst.id));
    const results = shared.flatMap(({ member }) => ("what" in member ? [] : member.results));
    return results.every((v) => this.f.usersOf(v).every((user) => ids.has(user) || this.insideOf(user, ids)));
  }

  // Returns true if some elements compute something from a value that a block uses as well, and only the block uses it.
  private isBranch(branch: Element[], block: Element[]): boolean {
    const [own, next] = [instsOf(branch), instsOf(block)];
    const ids = new Set([...own, ...next].map((inst) => inst.id));
    const onlyHere = own.every((inst) => inst.results.every((v) => this.f.usersOf(v).every((user) => ids.has(user) || this.insideOf(user, ids))));
    if (!onlyHere) return false;
    const inputs = (insts: Inst[]) => insts.flatMap((inst) => inst.operands.filter((v) => !this.isLoose(v) && !this.isWeight(v) && !ids.has(this.f.value(v).inst)));
    const before = new Set(inputs(own));
    return inputs(next).some((v) => before.has(v));
  }

  private isWeight(value: number): boolean {
    const { inst } = this.f.value(value);
    return inst >= 0 ? this.weights.insts.has(inst) : this.weights.params.has(value);
  }

  // Returns true if an instruction is a row, or in a region, of one of some instructions.
  private insideOf(id: number, ids: ReadonlySet<number>): boolean {
    for (let inst = this.f.insts.get(id); inst; ) {
      if (ids.has(inst.id)) return true;
      const owner = this.f.bodies.get(inst.body)?.owner ?? -1;
      const [user] = this.weights.insts.has(inst.id) ? this.f.usersOf(inst.results[0] ?? -1) : [];
      inst = this.f.insts.get(user ?? owner);
    }
    return false;
  }

  private repetitions(sequence: Element[]): Repetition[] {
    const position = (n: number) => sequence[n]?.from ?? this.insts.length;
    const shape = (n: number) => this.f.typeOf(this.insts[n] as Inst);
    return repetitions({
      tokens: sequence.map((each) => each.token),
      ops: sequence.map((each) => each.op),
      sizes: sequence.map((each) => each.size),
      // A cut is better if fewer values are live and if the sizes change there.
      cost: (n) => {
        const at = position(n);
        const same = at > 0 && at < this.insts.length && shape(at - 1) === shape(at);
        return 2 * (this.live[at] as number) + Number(same);
      },
    });
  }

  private repeat(sequence: Element[], { starts, first, total, model }: Blocks, copies: Element[][], depth: number): Group {
    const pattern = sequence.slice(...model);
    const [only] = pattern;
    const scope = pattern.length === 1 && only && "what" in only.member ? only.member.label : null;
    const kind = scope === null ? this.kind(pattern) : -1;
    const name = scope === null ? "block" : withoutDigits(scope) || "block";
    // Blocks of a scope have the number of its name.
    const sort = scope === null ? kind + 1 : -1 - this.intern(`model ${name}`);
    const named = (group: Group) => {
      group.model = sort;
      if (kind >= 0) this.unnamed.push({ group, kind });
      return group;
    };
    const blocks = copies.map((inside, n): Group => {
      const last = inside.at(-1)?.member as Member;
      if (scope === null || !("what" in last)) return named({ what: "block", label: `${name} ${count(first + n)}`, members: this.level(inside, depth + 1) });
      return { what: "block", label: last.label, members: [...inside.slice(0, -1).map((each) => each.member), ...last.members] };
    });
    const [block] = blocks;
    if (blocks.length === 1 && block) {
      block.label += ` of ${count(total)}`;
      return block;
    }
    const kinds = new Set(copies.map((_, n) => sequence.slice(starts[n], starts[n + 1]).map((each) => each.op).join(" "))).size;
    const last = first + blocks.length - 1;
    const ends = [copies[0]?.[0]?.member, copies.at(-1)?.at(-1)?.member];
    const isOfScopes = pattern.length > 1 && ends.every((member) => member && "what" in member && member.what === "scope");
    const notes = [...(isOfScopes ? [ends.map((member) => (member as Group).label).join(" to ")] : []), ...(total > blocks.length ? [`${count(first)}–${count(last)} of ${count(total)}`] : []), ...(kinds > 1 ? [`${kinds} kinds`] : [])];
    return named({ what: "repeat", label: `${name} × ${count(blocks.length)}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`, members: inGroups(blocks) });
  }

  // Returns the number of the structure of a block.
  private kind(first: Element[]): number {
    const key = first.map((each) => each.op).join(" ");
    let kind = this.kinds.get(key);
    if (kind === undefined) this.kinds.set(key, (kind = this.kinds.size));
    return kind;
  }

  // Returns elements between groups: those of a long run are in a box.
  private runs(elements: Element[]): Member[] {
    const members: Member[] = [];
    let run: Element[] = [];
    const close = () => {
      const size = run.filter((each) => each.token >= 0).length;
      if (size < this.minRun) members.push(...run.map((each) => each.member));
      else if (size > MAX_FLAT_TOKENS) members.push(...this.sections(run, MAX_FLAT_TOKENS));
      else members.push(this.section(run));
      run = [];
    };
    for (const element of elements) {
      if ("what" in element.member) {
        close();
        members.push(element.member);
      } else run.push(element);
    }
    close();
    return members;
  }

  private section(elements: Element[]): Group {
    return { what: "run", label: "", members: elements.map((each) => each.member) };
  }

  // Divides a long sequence into sections that end where few values are live, and these into larger ones.
  private sections(elements: Element[], most: number): Member[] {
    if (elements.length <= most) return elements.map((each) => each.member);
    let groups: Group[] = [];
    for (let from = 0; from < elements.length; ) {
      let to = Math.min(elements.length, from + SECTION.most);
      if (elements.length - from > SECTION.most) {
        for (let at = from + SECTION.most - 1; at >= from + SECTION.least; at -= 1) if (this.cut(elements, at) < this.cut(elements, to)) to = at;
      }
      groups.push(this.section(elements.slice(from, to)));
      from = to;
    }
    while (groups.length > SECTIONS_PER_GROUP) {
      const larger: Group[] = [];
      for (let n = 0; n < groups.length; n += SECTIONS_PER_GROUP) larger.push({ what: "run", label: "", members: groups.slice(n, n + SECTIONS_PER_GROUP) });
      groups = larger;
    }
    return groups;
  }

  private cut(elements: Element[], n: number): number {
    return this.live[elements[n]?.from ?? this.insts.length] as number;
  }
}

// Returns the instructions of elements, in groups as well.
function instsOf(elements: Element[]): Inst[] {
  const insts: Inst[] = [];
  const work = elements.map((each) => each.member);
  for (let member = work.pop(); member; member = work.pop()) {
    if ("what" in member) work.push(...member.members);
    else insts.push(member);
  }
  return insts;
}

/** A repetition in a sequence: where it begins, its period, and the number of copies. */
export interface Repetition {
  begin: number;
  period: number;
  times: number;
}

/** A sequence in which repetitions are found. */
export interface Sequence {
  tokens: readonly number[];
  /** The tokens without operands: a copy at an end of a repetition may have other operands. */
  ops: readonly number[];
  sizes: readonly number[];
  /** The cost of beginning a block at a position. */
  cost: (n: number) => number;
}

interface Run {
  start: number;
  end: number;
  period: number;
}

/** Returns the repetitions in a sequence that save most, in order and disjoint. */
export function repetitions({ tokens, ops, sizes, cost }: Sequence): Repetition[] {
  const saved = ({ start, end, period }: Run) => end - start - period;
  const found = periodicRuns(tokens).sort((a, b) => saved(b) - saved(a) || a.period - b.period || a.start - b.start);
  const taken = new Uint8Array(tokens.length + 1);
  const result: Repetition[] = [];
  for (const { start, end, period } of found) {
    // Takes the parts that no better repetition has taken.
    for (let from = start; from < end; ) {
      if (taken[from]) {
        from += 1;
        continue;
      }
      let to = from;
      while (to < end && !taken[to]) to += 1;
      const times = Math.floor((to - from) / period);
      if (times >= 2) {
        const runs = cheapestBegins(from, to, period, times, cost).map((begin) => widen(begin, period, times, ops, taken));
        const run = runs.reduce((best, each) => (each.times > best.times ? each : best));
        if (worthwhile(sizes.slice(run.begin, run.begin + period), period, run.times)) {
          result.push(run);
          taken.fill(1, run.begin, run.begin + run.times * period);
        }
      }
      from = to;
    }
  }
  return result.sort((a, b) => a.begin - b.begin);
}

// Returns the longest runs of each candidate period that contain at least two copies.
function periodicRuns(tokens: readonly number[]): Run[] {
  const found: Run[] = [];
  for (const period of candidatePeriods(tokens)) {
    let length = 0;
    for (let n = 0; n + period <= tokens.length; n += 1) {
      if (n + period < tokens.length && tokens[n] === tokens[n + period]) {
        length += 1;
        continue;
      }
      if (length >= period) found.push({ start: n - length, end: n + period, period });
      length = 0;
    }
  }
  return found;
}

// Adds copies with the same ops at both ends.
function widen(begin: number, period: number, times: number, ops: readonly number[], taken: Uint8Array): Repetition {
  const copy = (at: number) => {
    if (at < 0 || at + period > ops.length) return false;
    for (let n = at; n < at + period; n += 1) if (taken[n] || ops[n] !== ops[begin + ((n - at) % period)]) return false;
    return true;
  };
  let [first, last] = [begin, begin + times * period];
  while (copy(last)) last += period;
  while (copy(first - period)) first -= period;
  return { begin: first, period, times: (last - first) / period };
}

function worthwhile(sizes: readonly number[], period: number, times: number): boolean {
  const size = sizes.reduce((a, b) => a + b, 0);
  return size >= MIN_BLOCK_TOKENS && (period >= MIN_BLOCK_TOKENS || size > period) && (times - 1) * size >= MIN_SAVED_TOKENS;
}

// Returns the first positions where it costs least to begin and end all copies.
function cheapestBegins(from: number, to: number, period: number, times: number, cost: (n: number) => number): number[] {
  let [best, least]: [number[], number] = [[], Number.POSITIVE_INFINITY];
  for (let begin = from; begin + times * period <= to; begin += 1) {
    let sum = 0;
    for (let n = 0; n <= times; n += 1) sum += cost(begin + n * period);
    if (sum < least) [best, least] = [[begin], sum];
    else if (sum === least && best.length < MAX_BEGINS) best.push(begin);
  }
  return best;
}

// Returns the distances between equal short sequences, the most frequent first.
function candidatePeriods(tokens: readonly number[]): number[] {
  const last = new Map<string, number>();
  const votes = new Map<number, number>();
  for (const gram of [1, GRAM]) {
    last.clear();
    for (let n = 0; n + gram <= tokens.length; n += 1) {
      const key = gram === 1 ? `${tokens[n]}` : tokens.slice(n, n + gram).join(" ");
      const before = last.get(key);
      if (before !== undefined) votes.set(n - before, (votes.get(n - before) ?? 0) + 1);
      last.set(key, n);
    }
  }
  const enough = [...votes].filter(([period, n]) => n >= Math.min(period, GRAM));
  return enough.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MAX_PERIODS).map(([period]) => period);
}

// Returns the number of values that are defined before each position and used at it or later, by instructions of the same body.
function liveValues(insts: readonly Inst[], loose: ReadonlySet<number>): number[] {
  const at = new Map<number, number>();
  insts.forEach((inst, n) => {
    if (!loose.has(inst.id)) for (const result of inst.results) at.set(result, n);
  });
  const lastUse = new Map<number, number>();
  insts.forEach((inst, n) => {
    for (const operand of inst.operands) if (at.has(operand)) lastUse.set(operand, n);
  });
  const live = new Array<number>(insts.length + 1).fill(0);
  for (const [value, last] of lastUse) {
    const first = (at.get(value) as number) + 1;
    live[first] = (live[first] as number) + 1;
    live[last + 1] = (live[last + 1] as number) - 1;
  }
  for (let n = 1; n < live.length; n += 1) live[n] = (live[n] as number) + (live[n - 1] as number);
  return live;
}

// Returns true if an instruction that is drawn as a row only depends on constants.
function constantTree(f: Func, root: number): boolean {
  const work = [root];
  for (let id = work.pop(); id !== undefined; id = work.pop()) {
    for (const operand of f.insts.get(id)?.operands ?? []) {
      const { inst } = f.value(operand);
      if (inst < 0) return false;
      work.push(inst);
    }
  }
  return true;
}

// Returns the scopes around each instruction without those around all, or nothing if few instructions have scopes.
function scopePaths(insts: readonly Inst[], loose: ReadonlySet<number>): string[][] | null {
  const paths = insts.map((inst) => splitScope(inst.scope).slice(0, -1).slice(0, MAX_SCOPE_DEPTH));
  const isLoose = (n: number) => loose.has((insts[n] as Inst).id);
  const own = paths.filter((_, n) => !isLoose(n));
  const named = own.filter((path) => path.length > 0);
  if (named.length * 2 < own.length) return null;
  let common = 0;
  const [first = []] = named;
  while (common < first.length && named.every((path) => path[common] === first[common])) common += 1;
  // Instructions that only depend on constants, and those without a scope, are where the next instruction is.
  let next: string[] = [];
  for (let n = paths.length - 1; n >= 0; n -= 1) {
    if (isLoose(n)) paths[n] = next;
    else paths[n] = next = (paths[n] as string[]).slice(common);
  }
  return paths.some((path) => path.length > 0) ? paths : null;
}

/** Returns the parts of a scope; slashes in parentheses do not separate. */
export function splitScope(scope: string): string[] {
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  for (let n = 0; n < scope.length; n += 1) {
    const c = scope[n];
    if (c === "(") depth += 1;
    else if (c === ")") depth -= 1;
    else if (c === "/" && depth <= 0) {
      parts.push(scope.slice(from, n));
      from = n + 1;
    }
  }
  parts.push(scope.slice(from));
  return parts.filter(Boolean);
}

/** Returns the name of the function that an instruction calls, without the number at its end. */
export function calledFunction(inst: Inst): string | undefined {
  if (!inst.op.endsWith("call")) return undefined;
  const called = /^[^"]*?\b(?:call|custom_call) (@[\w.$-]+|"[^"]*")/.exec(inst.text)?.[1];
  return called?.replace(/(?:_\d+)+$/, "");
}

function withoutDigits(name: string): string {
  return name.replace(/[._-]?\d+(?=\D*$)/, "");
}

// Puts many blocks into groups, and these into larger ones.
function inGroups(blocks: Group[]): Group[] {
  let groups = blocks.map((group) => ({ group, from: group.label, to: group.label }));
  while (groups.length > MAX_BLOCKS) {
    const larger: typeof groups = [];
    for (let n = 0; n < groups.length; n += SECTIONS_PER_GROUP) {
      const part = groups.slice(n, n + SECTIONS_PER_GROUP);
      const [from, to] = [(part[0] as (typeof part)[0]).from, (part.at(-1) as (typeof part)[0]).to];
      larger.push({ group: { what: "run", label: `${from} to ${to}`, members: part.map((each) => each.group) }, from, to });
    }
    groups = larger;
  }
  return groups.map((each) => each.group);
}

function letter(n: number): string {
  return n < 26 ? String.fromCharCode(65 + n) : `${n + 1}`;
}
