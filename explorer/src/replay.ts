// A function whose recorded steps can be applied and undone one by one.

import type { Data, EditRow, FunctionRow, InstEditRow, StepRow, ValueRow } from "./data";
import { type Body, Func, type Inst, type Value } from "./model";

/** The instructions and values that a step touched. */
export interface Touched {
  name: string;
  root: number;
  /** The matched instructions: the root, and those that the clean-up after the step erased because nothing used them any more. */
  matched: Set<number>;
  inserted: Set<number>;
  erased: Set<number>;
  changed: Set<number>;
  /** Existing values that replaced others. */
  kept: Set<number>;
}

type Undo = () => void;

export class Replay {
  /** The function after `at` steps. */
  readonly now: Func;
  /** The union of all states: every item with all operands it ever has. The layout is that of the union. */
  readonly union: Func;
  at = 0;
  private readonly users = new Map<number, Set<number>>();
  private readonly undo: Undo[][] = [];
  private readonly names = new Map<number, string>();

  constructor(
    row: FunctionRow,
    readonly steps: StepRow[],
    private readonly data: Data,
    after?: FunctionRow,
  ) {
    this.now = Func.read(row, data);
    this.union = Func.read(row, data);
    for (const inst of this.union.insts.values()) inst.operands = [...inst.operands];
    for (const inst of this.now.insts.values()) this.index(inst, 1);
    for (const [id, , , text] of after?.insts ?? []) this.names.set(id, text);
    for (const step of steps) this.widen(step);
    this.goTo(0);
  }

  /** Goes to the state after this number of steps. */
  goTo(step: number): void {
    const to = Math.max(0, Math.min(this.steps.length, step));
    while (this.at < to) this.forwards();
    while (this.at > to) this.backwards();
    this.now.touch();
  }

  /** Returns the effects of the steps from one to another, numbered from 1: a match and its clean-up. */
  touched(at: number, from = at): Touched | null {
    const step = this.steps[from - 1];
    if (!step) return null;
    const [name, root] = step;
    const touched: Touched = { name, root, matched: new Set(root >= 0 ? [root] : []), inserted: new Set(), erased: new Set(), changed: new Set(), kept: new Set() };
    this.steps.slice(from - 1, at).forEach(([, , edits], n) => {
      for (const edit of edits) {
        if (edit[0] === "+") touched.inserted.add(edit[1][0]);
        else if (edit[0] === "~") touched.changed.add(edit[1][0]);
        else if (edit[0] === "=") touched.kept.add(edit[2]);
        else if (edit[0] === "-") {
          for (const id of edit[1]) {
            touched.erased.add(id);
            if (n > 0) touched.matched.add(id);
          }
        }
      }
    });
    // Items that a step both inserts and erases are never drawn.
    for (const id of touched.inserted) {
      if (!touched.erased.delete(id)) continue;
      touched.inserted.delete(id);
      touched.matched.delete(id);
    }
    for (const id of touched.erased) touched.changed.delete(id);
    for (const value of touched.kept) {
      const inst = this.union.values.get(value)?.inst ?? -1;
      if (touched.inserted.has(inst) || touched.erased.has(inst)) touched.kept.delete(value);
    }
    return touched;
  }

  private forwards(): Set<number> {
    const [, , edits] = this.steps[this.at] as StepRow;
    const undo: Undo[] = [];
    const rewired = new Set<number>();
    for (const edit of edits) this.apply(edit, undo, rewired);
    this.undo.push(undo);
    this.at += 1;
    return rewired;
  }

  private backwards(): void {
    for (const undo of (this.undo.pop() ?? []).reverse()) undo();
    this.at -= 1;
  }

  private apply(edit: EditRow, undo: Undo[], rewired: Set<number>): void {
    switch (edit[0]) {
      case "+":
      case "~":
        this.made(edit[1], undo);
        rewired.add(edit[1][0]);
        break;
      case "=":
        this.replace(edit[1], edit[2], undo, rewired);
        break;
      case "-":
        for (const id of edit[1]) this.erase(id, undo);
        break;
    }
  }

  private made(row: InstEditRow, undo: Undo[]): void {
    const [id, , , , , , results, regions] = row;
    for (const value of results) this.value(value, id, -1, undo);
    for (const [body, params] of regions) {
      const old = this.now.bodies.get(body);
      this.now.bodies.set(body, { id: body, owner: id, params: params.map((p) => p[0]) });
      undo.push(() => restore(this.now.bodies, body, old));
      for (const value of params) this.value(value, -1, body, undo);
    }
    this.set(id, this.inst(row), undo);
  }

  private value([id, type, name]: ValueRow, inst: number, body: number, undo: Undo[]): void {
    const old = this.now.values.get(id);
    if (old && old.inst === inst && old.body === body) return;
    // A value without a name gets a number that the program before does not use.
    const shown = name === `%${id}` ? `%+${id}` : name;
    const value: Value = { id, type: this.data.types[type] ?? "?", name: old?.name ?? shown, inst, body };
    this.now.values.set(id, value);
    undo.push(() => restore(this.now.values, id, old));
  }

  private inst([id, op, body, , attrs, operands, results, regions]: InstEditRow): Inst {
    const [name, family] = this.data.ops[op] ?? ["?", 0];
    const before = this.now.insts.get(id);
    const values = (list: number[]) => list.map((v) => this.now.value(v).name).join(", ");
    const ids = results.map((r) => r[0]);
    const types = ids.map((v) => this.now.value(v).type).join(", ");
    const given = ids.length > 0 ? `${values(ids)} = ` : "";
    const constant = name === "constant";
    const said = attrs && !constant ? ` {${attrs}}` : "";
    const composed = `${given}${name}${operands.length > 0 ? ` ${values(operands)}` : ""}${said}${types ? ` : ${types}` : ""}`;
    return {
      id, op: name, family: this.data.families[family] ?? "other", body,
      text: constant ? (this.names.get(id) ?? before?.text ?? `${given}constant ${attrs} : ${types}`) : composed,
      operands, results: ids, regions: regions.map((r) => r[0]), line: before?.line ?? 0, column: before?.column ?? 0, scope: before?.scope ?? "", cost: null,
    };
  }

  private replace(from: number, to: number, undo: Undo[], rewired: Set<number>): void {
    for (const id of [...(this.users.get(from) ?? [])]) {
      const old = this.now.insts.get(id);
      if (!old) continue;
      const [was, is] = [this.now.value(from).name, this.now.value(to).name];
      const operands = old.operands.map((v) => (v === from ? to : v));
      this.set(id, { ...old, operands, text: renamed(old.text, was, is) }, undo);
      rewired.add(id);
    }
  }

  private erase(id: number, undo: Undo[]): void {
    const old = this.now.insts.get(id);
    if (!old) return;
    this.index(old, -1);
    this.now.insts.delete(id);
    undo.push(() => {
      this.now.insts.set(id, old);
      this.index(old, 1);
    });
  }

  private set(id: number, inst: Inst, undo: Undo[]): void {
    const old = this.now.insts.get(id);
    if (old) this.index(old, -1);
    this.now.insts.set(id, inst);
    this.index(inst, 1);
    undo.push(() => {
      this.index(inst, -1);
      restore(this.now.insts, id, old);
      if (old) this.index(old, 1);
    });
  }

  private index(inst: Inst, by: 1 | -1): void {
    for (const operand of inst.operands) {
      const users = this.users.get(operand) ?? new Set();
      if (by === 1) users.add(inst.id);
      else users.delete(inst.id);
      this.users.set(operand, users);
    }
  }

  // Applies a step and adds its new items to the union.
  private widen(step: StepRow): void {
    const rewired = this.forwards();
    for (const edit of step[2]) {
      if (edit[0] === "+" || edit[0] === "~") this.widenBodies(edit[1]);
    }
    for (const id of rewired) {
      const now = this.now.insts.get(id);
      if (!now) continue;
      for (const v of [...now.results, ...now.operands]) {
        const value = this.now.values.get(v);
        if (value && !this.union.values.has(v)) this.union.values.set(v, value);
      }
      const known = this.union.insts.get(id);
      const own = now.regions.filter((body) => this.union.bodies.get(body)?.owner === id);
      if (!known) this.union.insts.set(id, { ...now, operands: [...now.operands], regions: own });
      else for (const operand of now.operands) if (!known.operands.includes(operand)) known.operands.push(operand);
    }
  }

  private widenBodies([id, , , , , , , regions]: InstEditRow): void {
    for (const [body] of regions) {
      const now = this.now.bodies.get(body);
      if (!now) continue;
      const known = this.union.bodies.get(body);
      // A region that moves to another instruction is drawn at its first position.
      if (!known) this.union.bodies.set(body, { ...now, owner: id });
      for (const param of now.params) {
        if (!this.union.values.has(param)) this.union.values.set(param, this.now.value(param));
      }
    }
  }
}

function restore<T extends Body | Value | Inst>(map: Map<number, T>, id: number, old: T | undefined): void {
  if (old) map.set(id, old);
  else map.delete(id);
}

// Returns the text of an instruction with a renamed operand.
function renamed(text: string, from: string, to: string): string {
  const at = text.indexOf(" = ") + 1;
  const parts = text.slice(at).split(/(%[^\s,:(){}]+)/);
  return text.slice(0, at) + parts.map((part) => (part === from ? to : part)).join("");
}
