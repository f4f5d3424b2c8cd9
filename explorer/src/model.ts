// A program as a graph of instructions and values.

import type { CostRow, Data, FunctionRow } from "./data";

export interface Inst {
  id: number;
  op: string;
  family: string;
  body: number;
  text: string;
  operands: number[];
  results: number[];
  regions: number[];
  line: number;
  column: number;
  /** The scope that the file's `loc` gives, such as `jit(f)/layer_3/add`; empty if there is none. */
  scope: string;
  /** Null if it costs nothing, or if it is not known. */
  cost: CostRow | null;
}

export interface Body {
  id: number;
  /** The instruction that owns the region; -1 for the body of the function. */
  owner: number;
  params: number[];
}

export interface Value {
  id: number;
  type: string;
  name: string;
  /** The instruction that defines it; -1 if it is a parameter. */
  inst: number;
  /** The body that it is a parameter of; -1 if it is a result. */
  body: number;
}

const NO_USERS: number[] = [];

export class Func {
  readonly insts = new Map<number, Inst>();
  readonly bodies = new Map<number, Body>();
  readonly values = new Map<number, Value>();
  private users: Map<number, number[]> | null = null;

  constructor(
    readonly name: string,
    readonly signature: string,
    readonly body: number,
  ) {}

  static read(row: FunctionRow, data: Data): Func {
    const f = new Func(row.name, row.signature, row.bodies[0]?.[0] ?? 0);
    for (const [id, owner, params] of row.bodies) f.bodies.set(id, { id, owner, params });
    for (const [id, type, name] of row.values) {
      f.values.set(id, { id, type: data.types[type] ?? "?", name, inst: -1, body: -1 });
    }
    for (const body of f.bodies.values()) {
      for (const param of body.params) f.value(param).body = body.id;
    }
    for (const [id, op, body, text, operands, results, regions, line, column, scopeIndex, costIndex] of row.insts) {
      const [name, family] = data.ops[op] ?? ["?", 0];
      const inst = { id, op: name, family: data.families[family] ?? "other", body, text, operands, results, regions, line, column, scope: data.scopes[scopeIndex - 1] ?? "", cost: data.costs[costIndex - 1] ?? null };
      f.insts.set(id, inst);
      for (const result of results) f.value(result).inst = id;
    }
    return f;
  }

  /** Returns a value; an unknown one is created. */
  value(id: number): Value {
    let value = this.values.get(id);
    if (!value) {
      value = { id, type: "?", name: `%${id}`, inst: -1, body: -1 };
      this.values.set(id, value);
    }
    return value;
  }

  /** Returns the instructions that use a value, each once, in program order. */
  usersOf(value: number): number[] {
    if (!this.users) {
      this.users = new Map();
      for (const { id, operands } of this.insts.values()) {
        for (const operand of operands) {
          const list = this.users.get(operand);
          if (!list) this.users.set(operand, [id]);
          else if (list.at(-1) !== id) list.push(id);
        }
      }
    }
    return this.users.get(value) ?? NO_USERS;
  }

  /** Clears the cache of users, after operands have changed. */
  touch(): void {
    this.users = null;
  }

  /** Returns the types of an instruction's results, or of its operands if it has no results. */
  typeOf(inst: Inst): string {
    return inst.results.map((v) => this.value(v).type).join(", ");
  }
}

export class Program {
  private indices: Map<string, number> | null = null;

  constructor(
    readonly name: string,
    readonly functions: Func[],
  ) {}

  static read(data: Data, state: number): Program | null {
    const row = data.states[state];
    if (!row?.functions) return null;
    const functions = row.functions.map((n) => Func.read(data.functions[n] as FunctionRow, data));
    return new Program(row.name, functions);
  }

  indexOf(name: string): number {
    this.indices ??= new Map(this.functions.map((f, n) => [f.name, n]));
    return this.indices.get(name) ?? -1;
  }
}

/** Returns the key of an instruction: `0.i12` is instruction 12 of the first function, `0.v3` its parameter 3. */
export function instKey(fn: number, inst: number): string {
  return `${fn}.i${inst}`;
}

export function paramKey(fn: number, value: number): string {
  return `${fn}.v${value}`;
}

export function parseKey(key: string): { fn: number; kind: "i" | "v"; id: number } | null {
  const found = /^(\d+)\.([iv])(\d+)$/.exec(key);
  if (!found) return null;
  return { fn: Number(found[1]), kind: found[2] as "i" | "v", id: Number(found[3]) };
}

/** Returns the keys of the definitions of an item's operands. */
export function definitions(program: Program, key: string): string[] {
  const at = parseKey(key);
  const f = at ? program.functions[at.fn] : undefined;
  if (!at || !f || at.kind === "v") return [];
  const operands = f.insts.get(at.id)?.operands ?? [];
  return operands.map((v) => (f.value(v).inst >= 0 ? instKey(at.fn, f.value(v).inst) : paramKey(at.fn, v)));
}

/** Returns the keys of the users of an item's values. */
export function users(program: Program, key: string): string[] {
  const at = parseKey(key);
  const f = at ? program.functions[at.fn] : undefined;
  if (!at || !f) return [];
  const values = at.kind === "v" ? [at.id] : (f.insts.get(at.id)?.results ?? []);
  return [...new Set(values.flatMap((v) => f.usersOf(v)))].map((inst) => instKey(at.fn, inst));
}
