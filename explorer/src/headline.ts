// One sentence about a model: its blocks, the number of its parameters, and the types of its inputs and outputs.

import { blocksIn } from "./differences";
import { count } from "./dom";
import type { Func } from "./model";
import { shortType } from "./sizes";
import type { Box, Item, Tree } from "./tree";
import { isConstant } from "./weights";
import { RESIDUAL, condensed, isTableUse } from "./words";

/** The least part of a function that blocks are which the sentence names. */
const LEAST_PART = 1 / 3;
/** The largest number of words, of words with their numbers, of types, and of characters of a sequence of words and of a type. */
const MAX_WORDS = 6;
const MAX_COUNTS = 4;
const MAX_TYPES = 3;
const MAX_SEQUENCE = 70;
const MAX_TYPE = 40;
/** The smallest number of scopes with one name and different numbers that the sentence mentions. */
const MIN_SCOPES = 5;
/** The largest number of kinds of scopes that it names. */
const MAX_KINDS = 2;

/** Blocks with the same words, with the numbers of blocks that follow each other. */
interface Family {
  words: string[];
  groups: number[];
  size: number;
}

/** Returns the sentence about the largest function that no other function calls; an empty text if there is none. */
export function headline(tree: Tree): string {
  const functions = [...tree.entries].map((fn) => tree.functionBox(fn)).filter((box) => box !== undefined);
  const main = functions.sort((a, b) => b.size - a.size)[0];
  const f = main ? tree.program.functions[main.fn] : undefined;
  if (!main || !f) return "";
  const name = functions.length > 1 ? `@${f.name}, the largest of ${functions.length} functions: ` : "";
  return name + [layers(tree, main), parameters(tree, main.fn, f), types(tree, main.fn, f)].filter(Boolean).join("; ");
}

function layers(tree: Tree, main: Box): string {
  const all = familiesIn(tree, main);
  const families = all.filter((each) => each.size >= LEAST_PART * main.size).sort((a, b) => b.size - a.size);
  if (families.length > 0) return families.slice(0, 2).map(familyText).join(" and ");
  const words = tree.words(main);
  const sequence = condensed(words);
  if (sequence.length <= MAX_SEQUENCE) return sequence;
  const numbered = scopes(tree, main);
  if (numbered) return numbered;
  const counts = new Map<string, number>();
  for (const each of all.length > 0 ? tree.words(main, true) : words) {
    const word = each === RESIDUAL ? "add" : each;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const frequent = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_COUNTS);
  return frequent.map(([word, n]) => `${count(n)} ${word}`).join(", ");
}

// Returns the range of numbered scopes that are not in others, with the layers that most of them have, such as
// `23 blocks (model.0 to model.22), 8 × (conv, silu, concat), 7 × (conv, silu)`.
function scopes(tree: Tree, main: Box): string | null {
  const found: Box[] = [];
  const work: Item[] = [...main.children].reverse();
  for (let item = work.pop(); item; item = work.pop()) {
    if (item.kind !== "box" || item.inst) continue;
    if (item.what === "scope") found.push(item);
    else work.push(...[...item.children].reverse());
  }
  const name = (box: Box | undefined) => box?.label.replace(/\d+$/, "");
  const isNumbered = found.length >= MIN_SCOPES && found.every((box) => /\d$/.test(box.label) && name(box) === name(found[0]));
  const number = (box: Box | undefined) => Number(/\d+$/.exec(box?.label ?? "")?.[0]);
  const all = number(found.at(-1)) - number(found[0]) + 1;
  if (!isNumbered || !(all > 0)) return null;
  const kinds = new Map<string, number>();
  for (const box of found) {
    const kind = distinctWords(tree.words(box));
    if (kind.length > 0) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const often = [...kinds].filter(([, n]) => n > 1).sort((a, b) => b[1] - a[1]).slice(0, MAX_KINDS);
  const parts = often.map(([kind, n]) => `${count(n)} × (${kind})`);
  return `${count(all)} blocks (${found[0]?.label} to ${found.at(-1)?.label})${parts.map((part) => `, ${part}`).join("")}`;
}

// Returns each layer once, without sums.
function distinctWords(words: string[]): string {
  const distinct = [...new Set(words)].filter((word) => word !== "add" && word !== RESIDUAL);
  return distinct.slice(0, MAX_WORDS).join(", ") + (distinct.length > MAX_WORDS ? ", …" : "");
}

function familyText({ words, groups }: Family): string {
  const all = groups.reduce((a, b) => a + b, 0);
  const residual = words.includes(RESIDUAL) ? "residual " : "";
  const layers = distinctWords(words);
  const stages = groups.length > 1 ? ` (${groups.join(" + ")})` : "";
  return `${count(all)} ${residual}blocks${stages}${layers ? ` of ${layers}` : ""}`;
}

// Returns the blocks in a box, with the words of the first one of each family.
function familiesIn(tree: Tree, main: Box): Family[] {
  const families = new Map<string, Family>();
  const work: Item[] = [...main.children].reverse();
  for (let item = work.pop(); item; item = work.pop()) {
    if (item.kind !== "box") continue;
    if (item.what !== "repeat" && item.what !== "block") {
      if (item.inst === null) work.push(...[...item.children].reverse());
      continue;
    }
    const key = item.model;
    const known = families.get(key);
    const n = item.what === "repeat" ? blocksIn(item).length : 1;
    if (known) {
      known.groups.push(n);
      known.size += item.size;
    } else families.set(key, { words: tree.words(item), groups: [n], size: item.size });
  }
  return [...families.values()];
}

function parameters(tree: Tree, fn: number, f: Func): string {
  const { params } = tree.weightsOf(fn);
  let sum = 0;
  for (const param of f.bodies.get(f.body)?.params ?? []) if (params.has(param) || isTable(f, param)) sum += elements(f.value(param).type);
  for (const inst of f.insts.values()) {
    // A constant of one repeated element is none.
    if (isConstant(inst) && !/constant (?:dense<)?-?\w[-+\w.]*>? :/.test(inst.text)) sum += elements(f.typeOf(inst));
  }
  return sum > 0 ? `${amount(sum)} parameters` : "";
}

function isTable(f: Func, param: number): boolean {
  return f.usersOf(param).some((id) => {
    const inst = f.insts.get(id);
    return inst !== undefined && inst.operands[0] === param && isTableUse(f, inst);
  });
}

// Returns the number of elements of a type of floats; 0 for a scalar and for unknown sizes.
function elements(type: string): number {
  const sizes = /^b?f\w*\[(.+)\]$/.exec(type)?.[1];
  const product = (sizes ?? "").split(",").reduce((n, size) => n * Number(size.trim()), 1);
  return sizes && Number.isFinite(product) ? product : 0;
}

function amount(n: number): string {
  for (const [unit, sign] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]] as const) if (n >= unit) return `${(n / unit).toPrecision(3)}${sign}`;
  return String(n);
}

function types(tree: Tree, fn: number, f: Func): string {
  const { params } = tree.weightsOf(fn);
  const inputs = (f.bodies.get(f.body)?.params ?? []).filter((param) => !params.has(param) && f.usersOf(param).length > 0 && !isTable(f, param));
  const last = [...f.insts.values()].filter((inst) => inst.body === f.body).at(-1);
  const outputs = last && last.results.length === 0 ? last.operands : [];
  return `${list(f, inputs, "input")} → ${list(f, outputs, "output")}`;
}

function list(f: Func, values: number[], word: string): string {
  if (values.length === 0) return `no ${word}`;
  return values.length > MAX_TYPES ? `${values.length} ${word}s` : values.map((v) => shortType(f.value(v).type, MAX_TYPE)).join(", ");
}
