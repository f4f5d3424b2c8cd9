// Emphasis of a part of a drawing: the ancestors or descendants of an instruction, the paths between two.

import { count, h, put } from "./dom";
import { type Program, definitions, users } from "./model";
import type { Say } from "./panes";
import type { GraphView } from "./view";

/** Returns an item and everything that it depends on. */
export function ancestorsOf(program: Program, key: string): Set<string> {
  return closure(key, (each) => definitions(program, each));
}

/** Returns an item and everything that depends on it. */
export function descendantsOf(program: Program, key: string): Set<string> {
  return closure(key, (each) => users(program, each));
}

/** Returns the items on all paths from one item to another, in either direction. */
export function pathsBetween(program: Program, from: string, to: string): Set<string> {
  const between = (a: string, b: string) => {
    const [after, before] = [descendantsOf(program, a), ancestorsOf(program, b)];
    return new Set([...after].filter((key) => before.has(key)));
  };
  const there = between(from, to);
  return there.size > 0 ? there : between(to, from);
}

function closure(key: string, next: (key: string) => string[]): Set<string> {
  const seen = new Set([key]);
  const work = [key];
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    for (const each of next(at)) {
      if (seen.has(each)) continue;
      seen.add(each);
      work.push(each);
    }
  }
  return seen;
}

/** The emphasis in one drawing, and its controls. */
export class Emphasis {
  private start: string | null = null;

  constructor(
    private readonly view: () => GraphView | undefined,
    private readonly say: Say,
  ) {}

  private apply(keys: Set<string> | null, words: string): void {
    this.view()?.setEmphasis(keys);
    this.say(words);
  }

  /** Creates the buttons for a selected instruction. */
  actions(key: string): HTMLElement {
    const view = this.view();
    const bar = h("div", { class: "actions", role: "group", "aria-label": "Emphasis" });
    if (!view) return bar;
    const { program } = view.tree;
    const button = (label: string, keys: () => Set<string> | null) =>
      h("button", { type: "button", onclick: () => {
        const set = keys();
        this.apply(set, set ? `${label}: ${count(set.size - 1)}` : "everything");
      } }, label);
    const start = this.start !== null && this.start !== key && view.tree.items.has(this.start) ? this.start : null;
    const from = h("button", { type: "button", onclick: () => {
      this.start = key;
      this.say("select the end of the path");
      put(bar, h("span", { class: "quiet" }, "Select the end of the path."));
    } }, "Path from here");
    put(
      bar,
      button("Ancestors", () => ancestorsOf(program, key)),
      button("Descendants", () => descendantsOf(program, key)),
      start ? button("Path to here", () => pathsBetween(program, start, key)) : from,
      start ? from : null,
      view.isEmphasised ? button("Show all", () => null) : null,
    );
    return bar;
  }
}
