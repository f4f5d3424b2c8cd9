// The data that `crates/explorer` writes into the page.

export type ValueRow = [id: number, type: number, name: string];
export type BodyRow = [id: number, owner: number, params: number[]];
export type InstRow = [
  id: number,
  op: number,
  body: number,
  text: string,
  operands: number[],
  results: number[],
  regions: number[],
  line: number,
  column: number,
  /** The index of the scope plus one, or 0. */
  scope: number,
  /** The index of the cost plus one, or 0. */
  cost: number,
];

/** A number of operations or bytes: a number, the estimate of an expression and its text, or nothing if it is not known. */
export type Amount = number | [estimate: number, text: string] | null;
/** The cost of an instruction in one run of its function, with its regions and the function that it calls. */
export type CostRow = [operations: Amount, bytes: Amount];

/** The cost of one run of the public functions of a program. */
export interface ProgramCostRow {
  flops: Amount;
  bytes: Amount;
  peak_memory: Amount;
  /** The number of instructions whose cost is not known. */
  not_counted: number;
  /** The number of loops that count as one iteration. */
  open_loops: number;
}

export interface FunctionRow {
  name: string;
  signature: string;
  bodies: BodyRow[];
  insts: InstRow[];
  values: ValueRow[];
}

export interface ProgramRow {
  name: string;
  num_ops: number;
  counts: [op: number, n: number][];
  functions: number[] | null;
  /** The printed program, for the first and the last one and for those that are too large to be drawn. */
  text: string | null;
  /** True if long literals or lines of the text are abridged. */
  abridged: boolean;
  /** Null if only the instructions are counted. */
  cost: ProgramCostRow | null;
}

export type MarkKind = "erased" | "merged" | "new" | "changed" | "moved";
export type MarkRow = [fn: string, inst: number, kind: MarkKind, other: number, detail: string];

export interface MarksRow {
  left: MarkRow[];
  right: MarkRow[];
  notes: string[];
}

export type InstEditRow = [
  id: number,
  op: number,
  body: number,
  before: number,
  attrs: string,
  operands: number[],
  results: ValueRow[],
  regions: [body: number, params: ValueRow[]][],
];
export type EditRow = ["+" | "~", InstEditRow] | ["=", number, number] | ["-", number[]];
export type StepRow = [name: string, root: number, edits: EditRow[]];

export interface StepsRow {
  name: string;
  cut: boolean;
  steps: StepRow[];
}

export interface PassRow {
  name: string;
  time: number;
  verify: number;
  changed: boolean;
  counters: [string, number][];
  patterns: [name: string, tried: number, matched: number, applied: number][];
  warnings: string[];
  /** Null if the programs are too large to be compared. */
  marks: MarksRow | null;
  /** Null if the programs are too large to be replayed. */
  functions: StepsRow[] | null;
}

/** The result of running the programs before and after on the same inputs. */
export interface CheckRow {
  verdict: "same" | "different" | "unknown";
  /** The verdict in words: the number of inputs, or the reason why nothing was run. */
  summary: string;
  /** The rewrite or pass that first changed results, in words. */
  culprit: string | null;
  /** The other messages: inputs and both outputs, functions that could not be run. */
  lines: string[];
}

export interface RunRow {
  pipeline: string;
  total: number;
  verify: number;
  /** Null if the programs are too large to be compared. */
  marks: MarksRow | null;
  passes: PassRow[];
  /** The failure, with the steps of the pass that failed; they are null if the programs are too large to be replayed. */
  failure: { pass: string | null; message: string; functions: StepsRow[] | null } | null;
  /** Null if no check was requested. */
  check: CheckRow | null;
  notes: string[];
}

export interface Data {
  version: number;
  kind: "graph" | "report" | "diff";
  tool: string;
  title: string;
  families: string[];
  ops: [name: string, family: number][];
  types: string[];
  scopes: string[];
  costs: CostRow[];
  functions: FunctionRow[];
  states: ProgramRow[];
  source: { name: string; lines: [number, string][] } | null;
  run: RunRow | null;
  matches: MatchRow[];
}

/** A match of a pattern. */
export interface MatchRow {
  pattern: string;
  function: string;
  insts: number[];
  /** The reason why it cannot be replaced; null if it can. */
  reason: string | null;
}
