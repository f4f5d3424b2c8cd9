// Weights and constants that are drawn inside the node that uses them, as rows.

import type { Func, Inst } from "./model";

/** The largest number of rows of one operand. */
const MAX_OPERAND_ROWS = 8;
/** The largest number of parameters of a function that are all drawn as nodes. */
const MAX_PARAM_NODES = 4;
/** The largest number of users of a parameter that is drawn inside each of them. */
const MAX_WEIGHT_USERS = 3;

/** A row of a node: an instruction (`inst` ≥ 0) or a parameter, and true if the node is the first one with this row. */
export interface WeightRow {
  inst: number;
  value: number;
  own: boolean;
}

/** The families of ops that are drawn as rows if all their operands are rows. */
const ROW_FAMILIES = new Set(["unary", "binary", "cast", "shape", "constant"]);
/** The families of ops that take parameters as rows. Calls, loops and gathers have parameters as data. */
const USER_FAMILIES = new Set(["unary", "binary", "compare", "cast", "shape", "dot", "convolution", "linalg", "window", "reduce", "normalization", "recurrent", "attention"]);

/** The rows of the nodes of a function, and the instructions and parameters that are only drawn as rows. */
export interface Weights {
  rows: Map<number, WeightRow[]>;
  insts: Set<number>;
  params: Set<number>;
  /** The constants, and the values computed from them, that only an instruction with regions uses; they are drawn in its box. */
  inside: Map<number, number[]>;
}

/** Returns the rows of all nodes of a function. Takes linear time. */
export function weightsOf(f: Func): Weights {
  const weights: Weights = { rows: new Map(), insts: new Set(), params: new Set(), inside: new Map() };
  const trees = operandTrees(f);
  const depths = depthsOf(f);
  // The number of uses of a value that are rows.
  const uses = new Map<number, number>();
  const nested = new Set<number>();
  // Users come before definitions, so that an operand that is a row gets no rows of its own.
  for (const inst of [...f.insts.values()].reverse()) {
    if (inst.regions.length > 0 || isConstant(inst) || nested.has(inst.id)) continue;
    const rows: WeightRow[] = [];
    for (const root of rowOperands(f, inst, trees, depths)) addTree(f, root, rows, uses, nested);
    if (rows.length > 0) weights.rows.set(inst.id, rows);
  }
  const owned = new Set<number>();
  for (const inst of f.insts.values()) {
    const rows = weights.rows.get(inst.id)?.filter(({ value }) => uses.get(value) === f.usersOf(value).length) ?? [];
    if (rows.length === 0) weights.rows.delete(inst.id);
    else weights.rows.set(inst.id, rows);
    for (const row of rows) {
      row.own = !owned.has(row.value);
      owned.add(row.value);
      if (row.inst >= 0) weights.insts.add(row.inst);
      else weights.params.add(row.value);
    }
  }
  const home = new Map<number, number>();
  for (const inst of [...f.insts.values()].reverse()) {
    if (inst.regions.length > 0 || inst.results.length !== 1 || !(isConstant(inst) || (ROW_FAMILIES.has(inst.family) && isLiteral(f, inst, depths)))) continue;
    const [user = -1, ...others] = inst.results.flatMap((v) => f.usersOf(v));
    const owner = (f.insts.get(user)?.regions.length ?? 0) > 0 ? user : home.get(user);
    if (owner === undefined || others.length > 0 || f.insts.get(owner)?.body !== inst.body) continue;
    home.set(inst.id, owner);
    weights.insts.add(inst.id);
    weights.rows.delete(inst.id);
    weights.inside.set(owner, [inst.id, ...(weights.inside.get(owner) ?? [])]);
  }
  return weights;
}

// Returns true if an instruction depends on constants alone.
function isLiteral(f: Func, inst: Inst, depths: ReadonlyMap<number, number>): boolean {
  return inst.operands.length > 0 && inst.results.every((v) => depths.get(v) === -1) && inst.operands.every((v) => f.value(v).inst >= 0);
}

export function isConstant(inst: Inst): boolean {
  return inst.op === "constant" || inst.op === "onnx.Constant";
}

// Returns the operands that are drawn as rows: constants and small trees, but not all operands.
function rowOperands(f: Func, inst: Inst, trees: ReadonlyMap<number, number>, depths: ReadonlyMap<number, number>): number[] {
  if (!inst.operands.some((v) => trees.has(v))) return [];
  const depth = (value: number) => depths.get(value) ?? 0;
  const operands = distinct(inst.operands);
  const data = operands.filter((v) => depth(v) >= 0);
  // If all operands are small trees, the one with the longest history is the data.
  const main = data.some((v) => !trees.has(v)) ? -1 : data.reduce((best, v) => (best < 0 || depth(v) > depth(best) ? v : best), -1);
  const takesTrees = USER_FAMILIES.has(inst.family);
  return operands.filter((v) => {
    const constant = f.insts.get(f.value(v).inst);
    return constant && isConstant(constant) ? true : takesTrees && v !== main && trees.has(v);
  });
}

// Adds rows for an operand and for everything that only it is computed from.
function addTree(f: Func, root: number, rows: WeightRow[], uses: Map<number, number>, nested: Set<number>): void {
  const work = [root];
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    const { inst } = f.value(value);
    if (!rows.some((row) => row.value === value)) rows.push({ inst, value, own: false });
    uses.set(value, (uses.get(value) ?? 0) + 1);
    const operands = f.insts.get(inst)?.operands ?? [];
    if (operands.length > 0) nested.add(inst);
    if (operands.length > 0) work.push(...[...distinct(operands)].reverse());
  }
}

// Returns a list without repetitions; most lists have none.
function distinct(list: number[]): number[] {
  return list.length <= 16 && list.every((v, n) => list.indexOf(v) === n) ? list : [...new Set(list)];
}

// Returns the values that are small trees over parameters and constants, each used once, with their number of rows.
function operandTrees(f: Func): Map<number, number> {
  const trees = new Map<number, number>();
  const params = f.bodies.get(f.body)?.params ?? [];
  if (params.length > MAX_PARAM_NODES) {
    for (const param of params) if (f.usersOf(param).length <= MAX_WEIGHT_USERS) trees.set(param, 1);
  }
  for (const inst of f.insts.values()) {
    const [value] = inst.results;
    if (value === undefined || inst.results.length !== 1 || inst.regions.length > 0 || !ROW_FAMILIES.has(inst.family)) continue;
    if (isConstant(inst)) {
      trees.set(value, 1);
      continue;
    }
    if (inst.operands.length === 0 || f.usersOf(value).length !== 1) continue;
    let rows = 1;
    for (const operand of distinct(inst.operands)) {
      const single = f.usersOf(operand).length === 1 || isConstant(f.insts.get(f.value(operand).inst) ?? inst);
      rows += single ? (trees.get(operand) ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    }
    if (rows <= MAX_OPERAND_ROWS) trees.set(value, rows);
  }
  return trees;
}

// Returns the length of the longest chain of instructions from a parameter to each value; -1 for values that only depend on constants.
function depthsOf(f: Func): Map<number, number> {
  const depths = new Map<number, number>();
  for (const inst of f.insts.values()) {
    let depth = -1;
    for (const operand of inst.operands) {
      const own = f.value(operand).inst < 0 ? 0 : (depths.get(operand) ?? 0);
      if (own >= 0) depth = Math.max(depth, own + 1);
    }
    if (inst.regions.length > 0) depth = Math.max(depth, 0);
    for (const result of inst.results) depths.set(result, depth);
  }
  return depths;
}
