// The tab that compares the programs before and after the run, or before and after one pass.

import { ColourBar, costTotals } from "./colourbar";
import type { Data, MarkKind, MarksRow, PassRow } from "./data";
import { Details } from "./details";
import { count, h, plural, put, shortPath, time } from "./dom";
import { Emphasis } from "./emphasis";
import { BADGES, markLegend } from "./legend";
import { Program, instKey, parseKey } from "./model";
import type { Pane, Say } from "./panes";
import { Search } from "./search";
import { TextView, linesOf, textPane } from "./textview";
import { type Badge, GraphView } from "./view";

type Side = 0 | 1;

/** The largest number of notes that are listed. */
const MAX_NOTES = 200;

export class ComparePane implements Pane {
  readonly title = "Before and after";
  readonly element: HTMLElement;
  private readonly strip = h("div", { class: "strip", role: "group", "aria-label": "Passes" });
  private readonly summary = h("div", { class: "pass-summary" });
  private readonly sides = h("div", { class: "sides" });
  private readonly details: Details;
  private views: [GraphView, GraphView] | null = null;
  private texts: Pane | null = null;
  private pairs: [Map<string, string>, Map<string, string>] = [new Map(), new Map()];
  private found: [Side, string][] = [];
  private searches: [Search, Search] | null = null;
  private at = -1;
  private selectedMark = -1;
  private marked: [Side, string][] = [];
  private active: Side = 1;
  // The kinds of marks that are emphasised; all if it is empty.
  private readonly kinds = new Set<MarkKind>();
  private chosen = -2;
  private readonly colours: ColourBar;

  constructor(
    private readonly data: Data,
    private readonly say: Say,
  ) {
    const emphasis = new Emphasis(() => this.views?.[this.active], say);
    this.details = new Details(data, (key) => this.views?.[this.active].select(key, true), (key) => emphasis.actions(key));
    this.colours = new ColourBar(data, () => this.views ?? [], () => Math.max(0, this.chosen), say);
    this.strip.hidden = data.kind === "diff";
    this.element = h("div", { class: "compare" }, this.strip, this.summary, h("div", { class: "split" }, h("div", { class: "main-column" }, this.sides, h("div", { class: "bar-below" }, this.colours.element)), this.details.element));
    this.choose(-1);
  }

  private get run() {
    return this.data.run as NonNullable<Data["run"]>;
  }

  /** Compares the programs before and after a pass; -1 is the whole run. */
  choose(pass: number): void {
    if (this.chosen === pass) return;
    this.chosen = pass;
    const last = this.data.states.length - 1;
    const [before, after] = pass < 0 ? [0, last] : [pass, pass + 1];
    const marks = pass < 0 ? this.run.marks : (this.run.passes[pass] as PassRow).marks;
    this.kinds.clear();
    this.drawStrip();
    this.drawSummary(pass, marks, [before, after]);
    const [left, right] = [Program.read(this.data, before), Program.read(this.data, after)];
    this.views = null;
    this.texts = null;
    this.searches = null;
    this.found = [];
    if (left && right && marks) this.drawGraphs(left, right, marks);
    else this.drawTexts(before, after);
    this.colours.element.hidden = this.views === null;
    this.colours.apply();
  }

  print(on: boolean): void {
    for (const view of this.views ?? []) view.print(on);
    this.texts?.print?.(on);
  }

  /** Shows an instruction of the program before or after the run. */
  select(key: string, side: Side = 1): void {
    this.choose(-1);
    this.views?.[side].select(key, true);
  }

  /** Returns the selection, if the programs before and after the run are shown. */
  selection(): { key: string; side: Side } | null {
    const key = this.chosen === -1 ? this.views?.[this.active].selected : null;
    return key ? { key, side: this.active } : null;
  }

  private drawStrip(): void {
    const { passes, failure } = this.run;
    const button = (pass: number, label: string, sub: string, quiet: boolean) =>
      h(
        "button",
        { type: "button", class: `pass ${quiet ? "quiet-pass" : ""}`, "aria-pressed": String(this.chosen === pass), onclick: () => this.choose(pass) },
        h("strong", {}, label),
        h("span", {}, sub),
      );
    const ops = (state: number) => this.data.states[state]?.num_ops ?? 0;
    put(
      this.strip,
      button(-1, "Whole run", `${count(ops(0))} → ${plural(ops(this.data.states.length - 1), "op")}`, false),
      ...passes.flatMap((pass, n) => [
        h("span", { class: "then", "aria-hidden": "true" }, "→"),
        button(n, shortName(pass.name), `${count(ops(n))} → ${count(ops(n + 1))} · ${time(pass.time)}`, !pass.changed),
      ]),
      failure ? h("span", { class: "then", "aria-hidden": "true" }, "→") : null,
      failure ? h("span", { class: "pass failed" }, h("strong", {}, failure.pass ? shortName(failure.pass) : "run"), h("span", {}, "failed")) : null,
    );
  }

  private drawSummary(chosen: number, marks: MarksRow | null, states: [number, number]): void {
    const counts = new Map<MarkKind, number>();
    for (const [, , kind] of marks?.left ?? []) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const [, , kind] of marks?.right ?? []) if (kind === "new") counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const passes = chosen < 0 ? this.run.passes : [this.run.passes[chosen] as PassRow];
    const fired = new Map<string, number>();
    for (const pass of passes) for (const [name, , , applied] of pass.patterns) if (applied > 0) fired.set(name, (fired.get(name) ?? 0) + applied);
    const list = [...fired].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const warnings = passes.flatMap((pass) => pass.warnings);
    put(
      this.summary,
      marks ? markLegend(counts, this.kinds, () => this.filterMarks()) : h("span", { class: "legend marks quiet" }, "differences not recorded: too large"),
      counts.size > 0
        ? h(
            "span",
            { class: "mark-walk" },
            h("button", { type: "button", onclick: () => this.walk(-1), title: "Previous difference (p)" }, "◂ previous"),
            h("button", { type: "button", onclick: () => this.walk(1), title: "Next difference (n)" }, "next ▸"),
          )
        : null,
      this.totals(states),
      list.length > 0
        ? h("p", { class: "fired" }, ...list.slice(0, 12).map(([name, n]) => h("span", { class: "pattern" }, h("code", {}, name), ` ×${count(n)}`)), list.length > 12 ? `and ${count(list.length - 12)} more` : null)
        : null,
      ...noteLines(marks?.notes ?? []),
      ...warnings.slice(0, 20).map((note) => h("p", { class: "note" }, note)),
    );
  }

  // Returns the costs before and after, if both are known.
  private totals(states: [number, number]): HTMLElement | null {
    const costs = states.map((state) => this.data.states[state]?.cost).filter((cost) => !!cost);
    if (costs.length < 2) return null;
    const part = ([label, [before, after, change]]: [string, string[]]) =>
      h("span", { class: "total" }, change === "same" ? `${before} ${label}` : `${before} → ${after} ${label}`, change && change !== "same" ? h("strong", {}, ` ${change}`) : null);
    return h("p", { class: "totals", role: "note", "aria-label": "Cost" }, ...costTotals(costs).map(part));
  }

  private drawGraphs(left: Program, right: Program, marks: MarksRow): void {
    const view = (program: Program, side: Side): GraphView =>
      new GraphView(program, {
        label: sideNames(this.data)[side], aspect: 0.8, say: this.say, selected: (key) => this.selected(side, key),
      });
    this.views = [view(left, 0), view(right, 1)];
    [this.views[0].mate, this.views[1].mate] = [this.views[1], this.views[0]];
    const [before, after] = sideNames(this.data);
    put(this.sides, side(before, this.views[0]), side(after, this.views[1]));
    this.pairs = [new Map(), new Map()];
    this.marked = [];
    [left, right].forEach((program, n) => {
      const badges = new Map<string, Badge>();
      const other = n === 0 ? right : left;
      for (const [name, inst, kind, partner, detail] of n === 0 ? marks.left : marks.right) {
        const key = instKey(program.indexOf(name), inst);
        const description = detail ? `${BADGES[kind].description}: ${detail}` : BADGES[kind].description;
        badges.set(key, { ...BADGES[kind], description });
        this.marked.push([n as Side, key]);
        if (partner >= 0) (this.pairs[n] as Map<string, string>).set(key, instKey(other.indexOf(name), partner));
      }
      (this.views?.[n] as GraphView).setBadges(badges);
    });
    this.selectedMark = -1;
    this.details.nothing(this.views[1].tree);
  }

  private drawTexts(before: number, after: number): void {
    const text = (state: number, label: string) => {
      const row = this.data.states[state];
      return new TextView(linesOf(row?.text ?? `not recorded: too large (${plural(row?.num_ops ?? 0, "instruction")})`, null), { label });
    };
    const [left, right] = sideNames(this.data);
    this.texts = textPane([text(before, left), text(after, right)]);
    put(this.sides, this.texts.element);
  }

  // Returns the counterpart of an item: that of the diff, or the item with the same key.
  private partner(from: Side, key: string): string | null {
    const known = (this.pairs[from] as Map<string, string>).get(key);
    if (known) return known;
    const at = parseKey(key);
    const [own, other] = [this.views?.[from], this.views?.[from === 0 ? 1 : 0]];
    if (!at || !own || !other || own.badges.has(key)) return null;
    const fn = other.tree.program.indexOf(own.tree.program.functions[at.fn]?.name ?? "");
    const same = `${fn}.${at.kind}${at.id}`;
    return other.tree.items.has(same) && !other.badges.has(same) ? same : null;
  }

  private selected(from: Side, key: string | null): void {
    const view = this.views?.[from];
    const other = this.views?.[from === 0 ? 1 : 0];
    if (!view || !other) return;
    this.active = from;
    // There is one selection at a time: the previous one and its counterpart are cleared.
    other.selected = null;
    view.setPeer(null);
    const item = key ? view.tree.items.get(key) : undefined;
    if (!key || !item) {
      this.details.nothing(this.views?.[1].tree);
      other.setPeer(null);
      return;
    }
    const partner = this.partner(from, key);
    if (partner) other.reveal(partner);
    other.setPeer(partner);
    if (partner) other.follow(partner, view);
    const go = partner
      ? { label: this.data.kind === "diff" ? "Show it on the other side" : from === 0 ? "Show it after" : "Show it before", go: () => other.select(partner, true), ...this.wording(from, key, partner) }
      : undefined;
    this.details.show(view.tree.program, item, view.badges.get(key), go);
  }

  // Returns the text of the counterpart, if it differs.
  private wording(from: Side, key: string, partner: string): { text?: string; word?: string } {
    if (!this.views?.[from].badges.has(key)) return {};
    const at = parseKey(partner);
    const other = this.views[from === 0 ? 1 : 0].tree.program;
    const text = at?.kind === "i" ? other.functions[at.fn]?.insts.get(at.id)?.text : undefined;
    return text ? { text, word: this.data.kind === "diff" ? "on the other side" : from === 0 ? "after" : "before" } : {};
  }

  // Dims everything but the marks of the selected kinds.
  private filterMarks(): void {
    this.selectedMark = -1;
    this.views?.forEach((view) => {
      const keys = [...view.badges].filter(([, badge]) => this.kinds.has(badge.cls as MarkKind)).map(([key]) => key);
      view.setEmphasis(this.kinds.size > 0 ? new Set(keys) : null);
    });
  }

  private walk(by: 1 | -1): void {
    const kind = ([side, key]: [Side, string]) => this.views?.[side].badges.get(key)?.cls as MarkKind;
    const marked = this.kinds.size > 0 ? this.marked.filter((each) => this.kinds.has(kind(each))) : this.marked;
    if (marked.length === 0) return;
    this.selectedMark = (this.selectedMark + by + marked.length + (this.selectedMark < 0 && by < 0 ? 1 : 0)) % marked.length;
    const [side, key] = marked[this.selectedMark] as [Side, string];
    this.views?.[side].select(key, true);
  }

  search(query: string): number {
    this.at = -1;
    if (this.texts) return this.texts.search?.(query) ?? 0;
    if (!this.views) return 0;
    this.searches ??= [new Search(this.views[0].tree.program), new Search(this.views[1].tree.program)];
    this.found = [];
    this.searches.forEach((search, n) => {
      const keys = search.find(query);
      this.views?.[n as Side].setFound(keys);
      this.found.push(...keys.map((key): [Side, string] => [n as Side, key]));
    });
    return this.found.length;
  }

  next(by: 1 | -1): number {
    if (this.texts) return this.texts.next?.(by) ?? -1;
    if (this.found.length === 0) return -1;
    this.at = (this.at + by + this.found.length) % this.found.length;
    const [side, key] = this.found[this.at] as [Side, string];
    this.views?.[side].select(key, true);
    return this.at;
  }

  key(event: KeyboardEvent): boolean {
    if (event.key === "c") return this.views !== null && this.colours.next();
    if (event.key === "n") this.walk(1);
    else if (event.key === "p") this.walk(-1);
    else if (event.key === "[") this.choose(Math.max(-1, this.chosen - 1));
    else if (event.key === "]") this.choose(Math.min(this.run.passes.length - 1, this.chosen + 1));
    else return false;
    return true;
  }
}

/** Returns the titles of the two sides: before and after a run, or the names of two files. */
export function sideNames(data: Data): [string, string] {
  if (data.kind !== "diff") return ["Before", "After"];
  return [shortPath(data.states[0]?.name ?? "", 60), shortPath(data.states[1]?.name ?? "", 60)];
}

// Returns the notes about whole functions in one line that unfolds.
function noteLines(notes: string[]): HTMLElement[] {
  const removed = notes.filter((note) => / was removed, \d+ instructions$/.test(note));
  const added = notes.filter((note) => / is new, \d+ instructions$/.test(note));
  const rest = notes.filter((note) => !removed.includes(note) && !added.includes(note));
  const sum = (list: string[]) => list.reduce((n, note) => n + Number(/(\d+) instructions$/.exec(note)?.[1] ?? 0), 0);
  const part = (list: string[], what: string) => (list.length > 0 ? [`${plural(list.length, "function")} ${what} (${plural(sum(list), "op")})`] : []);
  const words = [...part(removed, "removed"), ...part(added, "new"), ...(rest.length > 0 ? [plural(rest.length, "note")] : [])];
  if (words.length === 0) return [];
  return [h("details", { class: "notes" }, h("summary", {}, words.join(", ")), h("ul", {}, ...notes.slice(0, MAX_NOTES).map((note) => h("li", {}, note)), notes.length > MAX_NOTES ? h("li", {}, `and ${count(notes.length - MAX_NOTES)} more`) : null))];
}

function side(title: string, view: GraphView): HTMLElement {
  return h("section", { class: "side", "aria-label": title }, h("div", { class: "side-head" }, h("h2", {}, title), view.tools), view.element);
}

// Returns the name of a pass without its options.
function shortName(name: string): string {
  return name.replace(/\{.*$/s, "");
}
