// The panel next to the drawing, with details of the selection.

import type { Data } from "./data";
import { blockDifferences } from "./differences";
import { MEASURES, amountText, exactText, partText } from "./cost";
import { count, h, plural, put, short, shortPath } from "./dom";
import { type Func, type Inst, type Program, instKey, paramKey, parseKey } from "./model";
import { familyClass } from "./palette";
import type { Box, Item, Tree } from "./tree";
import type { Badge } from "./view";

/** The largest number of entries of a list. */
const MAX_LIST_ENTRIES = 100;

/** The largest number of characters of a path, so that the line and the column are visible. */
const MAX_PLACE = 32;
/** The depth of the outline. */
const OUTLINE_DEPTH = 3;

/** The counterpart of an item in the other program. */
export interface Counterpart {
  label: string;
  go: () => void;
  /** The text of the counterpart, and the name of its side. */
  text?: string;
  word?: string;
}

export class Details {
  readonly element = h("aside", { class: "details", "aria-label": "Details", tabindex: -1 });
  private readonly lines: Map<number, string>;

  constructor(
    private readonly data: Data,
    private readonly go: (key: string) => void,
    private readonly actions: (key: string) => HTMLElement | null = () => null,
  ) {
    this.lines = new Map(data.source?.lines ?? []);
    this.nothing();
  }

  /** Shows the outline of a program while nothing is selected: its functions, with the boxes in those that no other function calls. */
  nothing(tree?: Tree): void {
    this.element.classList.add("empty");
    const parts = (box: Box, depth: number): HTMLElement[] =>
      box.children.flatMap((item) => {
        if (item.kind !== "box" || !["scope", "repeat", "run", "functions", "function"].includes(item.what)) return [];
        const size = h("span", { class: "quiet" }, ` ${plural(item.size, "op")}`);
        const inside = depth < OUTLINE_DEPTH && (item.what !== "function" || tree?.entries.has(item.fn)) ? cut(parts(item, depth + 1)) : [];
        const list = tree && !inside.length && item.what !== "function" ? tree.previewTexts(item).map((text) => h("div", { class: "quiet list" }, text)) : [];
        return [h("li", {}, this.link(item.key, item.label), size, ...list, inside.length > 0 ? h("ul", {}, ...inside) : null)];
      });
    put(
      this.element,
      h("h2", {}, "Outline"),
      h("p", { class: "quiet" }, "Select an instruction for its text, source, operands and users. Press ? for the keys. Constants count as ops, parameters do not."),
      tree ? h("ul", { class: "outline" }, ...cut(parts(tree.root, 0))) : null,
    );
  }

  /** Shows a step of a replay: the matched instructions and their replacements. */
  step(title: string, words: string, parts: [title: string, insts: [key: string, text: string][]][]): void {
    this.element.classList.remove("empty");
    const line = ([key, text]: [string, string]) => h("li", {}, this.link(key, text));
    put(
      this.element,
      h("h2", {}, title),
      h("p", { class: "quiet" }, words),
      ...parts.filter(([, insts]) => insts.length > 0).map(([name, insts]) => section(name, ...cut(insts.slice(0, MAX_LIST_ENTRIES + 1).map(line), insts.length))),
    );
  }

  show(program: Program, item: Item, badge?: Badge, other?: Counterpart): void {
    this.element.classList.remove("empty");
    const at = parseKey(item.key);
    const f = program.functions[item.fn];
    if (!f) {
      put(this.element, h("h2", {}, item.label), costSection(item), item.kind === "box" ? section("Ops", ...item.mix.slice(0, 20).map(([family, n]) => h("li", {}, chip(family), ` ${count(n)}`))) : null);
      return;
    }
    const inst = at?.kind === "i" ? f.insts.get(at.id) : undefined;
    const parts = inst ? this.ofInst(f, item.fn, inst) : at ? this.ofParam(f, item.fn, at.id) : this.ofBox(item, f);
    const marks = badge ? h("p", { class: `mark-line ${badge.cls}` }, h("span", { class: "sign", "aria-hidden": "true" }, badge.sign), badge.description) : null;
    const jump = other ? h("p", {}, h("button", { type: "button", class: "link", onclick: other.go }, other.label)) : null;
    const there = other?.text ? h("div", { class: "other-side" }, h("p", { class: "quiet" }, `${other.word}:`), h("pre", {}, other.text)) : null;
    put(this.element, ...parts.slice(0, 1), marks, ...parts.slice(1, 3), there, jump, at ? this.actions(item.key) : null, ...parts.slice(3), costSection(item));
  }

  private ofBox(item: Item, f: Func): HTMLElement[] {
    const mix = item.kind === "box" ? item.mix : [];
    return [
      h("h2", {}, item.label),
      h("p", { class: "quiet" }, `in @${f.name}`),
      item.kind === "box" && item.sub ? h("pre", {}, item.sub) : h("span"),
      ...(item.kind === "box" ? [differenceList(item)] : []),
      section("Ops", ...mix.slice(0, 20).map(([family, n]) => h("li", {}, chip(family), ` ${count(n)}`))),
    ];
  }

  private ofParam(f: Func, fn: number, id: number): HTMLElement[] {
    const value = f.value(id);
    return [
      h("h2", {}, value.name),
      h("p", { class: "quiet" }, chip("parameter"), ` of @${f.name}`),
      h("pre", {}, `${value.name}: ${value.type}`),
      this.users(f, fn, [id]),
    ];
  }

  private ofInst(f: Func, fn: number, inst: Inst): HTMLElement[] {
    const defs = inst.operands.map((v) => this.valueLine(f, fn, v));
    return [
      h("h2", {}, inst.op),
      h("p", { class: "quiet" }, chip(inst.family), ` in @${f.name}`),
      h("pre", { class: "inst-text" }, inst.text),
      this.source(inst),
      section(plural(defs.length, "operand"), ...cut(defs)),
      section(plural(inst.results.length, "result"), ...cut(inst.results.map((v) => h("li", {}, code(`${f.value(v).name}: ${f.value(v).type}`))))),
      this.users(f, fn, inst.results),
    ];
  }

  private source(inst: Inst): HTMLElement {
    const scope = inst.scope ? h("p", { class: "scope" }, code(inst.scope)) : null;
    if (inst.line === 0) return h("div", { class: "source" }, scope, h("p", { class: "quiet" }, "made by a rewrite or read without a place"));
    const name = this.data.source?.name ?? "";
    const line = this.lines.get(inst.line) ?? "";
    const caret = `${" ".repeat(Math.max(0, Math.min(inst.column, 400) - 1))}^`;
    return h(
      "div",
      { class: "source" },
      scope,
      h("p", { class: "quiet place", title: `${name}:${inst.line}:${inst.column}` }, h("span", { class: "file" }, shortPath(name, MAX_PLACE)), `:${inst.line}:${inst.column}`),
      h("pre", {}, `${line}\n`, h("span", { class: "caret" }, caret)),
    );
  }

  private valueLine(f: Func, fn: number, id: number): HTMLElement {
    const value = f.value(id);
    const by = value.inst >= 0 ? f.insts.get(value.inst)?.op : "parameter";
    const key = value.inst >= 0 ? instKey(fn, value.inst) : paramKey(fn, id);
    return h("li", {}, this.link(key, `${value.name}: ${value.type}`), by ? h("span", { class: "quiet" }, ` ${by}`) : null);
  }

  private users(f: Func, fn: number, values: number[]): HTMLElement {
    const ids = [...new Set(values.flatMap((v) => f.usersOf(v)))];
    const lines = ids.slice(0, MAX_LIST_ENTRIES + 1).map((id) => h("li", {}, this.link(instKey(fn, id), short(f.insts.get(id)?.text ?? "", 90))));
    return section(plural(ids.length, "user"), ...cut(lines, ids.length));
  }

  private link(key: string, text: string): HTMLElement {
    return h("button", { type: "button", class: "link", onclick: () => this.go(key) }, code(text));
  }
}

function code(text: string): HTMLElement {
  return h("code", {}, short(text, 200));
}

// Lists the cost of an item, and its part of the whole program.
function costSection(item: Item): HTMLElement | null {
  let root: Item = item;
  while (root.parent) root = root.parent;
  if (item.cost[0] + item.cost[1] === 0) return null;
  const line = (name: string, n: 0 | 1) => {
    const exact = item.kind === "node" ? item.inst?.cost?.[n] : undefined;
    const text = Array.isArray(exact) ? short(exactText(exact), 90) : amountText(item.cost[n]);
    return h("li", {}, `${text} ${name}`, h("span", { class: "quiet" }, ` ${partText(item.cost[n] / Math.max(1, root.cost[n]))}`));
  };
  return section("Cost", line(MEASURES[0], 0), line(MEASURES[1], 1));
}

// Lists the differences between the blocks of a repetition.
function differenceList(box: Box): HTMLElement {
  const lines = blockDifferences(box).map((line) => h("li", {}, line));
  return lines.length > 0 ? section("Differences", ...cut(lines)) : h("span");
}

export function chip(family: string): HTMLElement {
  return h("span", { class: `chip ${familyClass(family)}` }, family);
}

function cut(lines: HTMLElement[], all = lines.length): HTMLElement[] {
  if (all <= MAX_LIST_ENTRIES) return lines;
  return [...lines.slice(0, MAX_LIST_ENTRIES), h("li", { class: "quiet" }, `and ${count(all - MAX_LIST_ENTRIES)} more`)];
}

function section(title: string, ...items: HTMLElement[]): HTMLElement {
  return h("section", {}, h("h3", {}, title), items.length > 0 ? h("ul", {}, ...items) : null);
}
