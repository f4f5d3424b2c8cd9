// The entry point of the page: reads the data and creates the tabs.

import { aligned } from "./align";
import { ComparePane, sideNames } from "./comparepane";
import type { CheckRow, Data, MarkRow } from "./data";
import { assignFamilies } from "./families";
import { count, h, plural, put, shortPath } from "./dom";
import { graphPane } from "./graphpane";
import { Program, instKey } from "./model";
import { numbersPane } from "./numbers";
import { familyStyle } from "./palette";
import type { Pane } from "./panes";
import { ReplayPane } from "./replaypane";
import { type Line, TextView, linesOf, textPane } from "./textview";
import { isConstant } from "./weights";

const KEYS: [string, string][] = [
  ["1, 2, 3 …", "the tabs"],
  ["/", "search; Enter and Shift+Enter go through the results"],
  ["op: value: type: attr: scope:", "before a word of the search: where to look for it"],
  ["@name", "in the search: a function and its callers"],
  ["Tab", "to the graph, the panel, the buttons"],
  ["↑ ↓ ← →", "select definitions, users, neighbours"],
  ["Enter", "fold or unfold the box; in the text: show the line in the graph"],
  ["Shift + arrows", "move the picture"],
  ["+  −  0", "zoom in, zoom out, show everything"],
  ["f  u", "fold all, unfold all"],
  ["c", "colour by family, operations or bytes"],
  ["Home  End", "the first and the last instruction"],
  ["n  p", "next and previous difference, match or step"],
  ["[  ]", "previous and next pass"],
  ["Escape", "select nothing and dim nothing; leave the search"],
];

class App {
  private readonly status = h("div", { class: "sr-only", role: "status", "aria-live": "polite" });
  private readonly body = h("main", { class: "panes" });
  private readonly searchBox = h("input", { type: "search", class: "search", placeholder: "Search op, value, type, attribute", "aria-label": "Search", "aria-describedby": "found" });
  private readonly found = h("span", { id: "found", class: "found-count", role: "status" });
  private readonly help: HTMLDialogElement;
  private readonly panes: { pane: Pane; tab: HTMLButtonElement; panel: HTMLElement }[] = [];
  private current = 0;
  private results = 0;

  constructor(
    private readonly data: Data,
    private readonly root: HTMLElement,
  ) {
    document.title = `${data.title} · sapwood`;
    document.head.append(h("style", {}, familyStyle(data.families)));
    this.help = h("dialog", { class: "help", "aria-label": "Keys" }, h("h2", {}, "Keys"), h("table", {}, h("tbody", {}, ...KEYS.map(([key, what]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, key)), h("td", {}, what))))), h("p", {}, h("button", { type: "button", onclick: () => this.help.close() }, "Close")));
    const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
    put(this.root, this.header(tabs), this.banner(), this.body, this.help, this.status);
    for (const make of this.makers()) this.add(make, tabs);
    document.addEventListener("keydown", (event) => this.key(event));
    for (const [event, on] of [["beforeprint", true], ["afterprint", false]] as const) {
      window.addEventListener(event, () => this.panes[this.current]?.pane.print?.(on));
    }
    this.show(0);
  }

  private readonly say = (message: string) => {
    this.status.textContent = message;
  };

  private makers(): [string, () => Pane][] {
    const { data } = this;
    const last = data.states.length - 1;
    const program = Program.read(data, last);
    const list: [string, () => Pane][] = [];
    if (data.run) {
      list.push([data.kind === "diff" ? "Differences" : "Before and after", () => new ComparePane(data, this.say)]);
      if (data.kind !== "diff") list.push(["Replay", () => new ReplayPane(data, this.say)]);
    } else if (program) {
      list.push(["Graph", () => graphPane(data, program, this.say)]);
    }
    list.push(["Text", () => this.textPane()]);
    list.push(["Numbers", () => numbersPane(data)]);
    return list;
  }

  private textPane(): Pane {
    const { run } = this.data;
    const pick = (side: 0 | 1) => (key: string) => {
      this.show(0);
      this.panes[0]?.pane.select?.(key, side);
      if (!this.focusStage(true)) this.focusPane();
    };
    const selection = () => this.panes[0]?.pane.selection?.() ?? null;
    const last = this.data.states.length - 1;
    if (!run) return textPane([this.text(last, this.lines(last, last, []), {}, pick(1))], selection);
    const [left, right] = [this.lines(0, last, run.marks?.left ?? []), this.lines(last, 0, run.marks?.right ?? [])];
    const [a, b] = run.marks ? aligned(left, right) : [left, right];
    const [before, after] = sideNames(this.data);
    return textPane([this.text(0, a, { label: before }, pick(0)), this.text(last, b, { label: after }, pick(1))], selection);
  }

  private lines(state: number, other: number, marks: MarkRow[]): Line[] {
    const [program, beside] = [Program.read(this.data, state), Program.read(this.data, other)];
    const kinds = new Map(marks.map(([fn, inst, cls, partner]) => [instKey(program?.indexOf(fn) ?? -1, inst), { cls, ...(partner >= 0 ? { partner: instKey(beside?.indexOf(fn) ?? -1, partner) } : {}) }]));
    return linesOf(this.data.states[state]?.text ?? "", program, kinds);
  }

  private text(state: number, lines: Line[], options: { label?: string }, pick: (key: string) => void): TextView {
    const row = this.data.states[state];
    const note = row?.abridged ? "long literals and lines are abridged" : undefined;
    return new TextView(lines, { ...options, ...(note ? { note } : {}), ...(row?.functions ? { pick } : {}) });
  }

  // Creates the content of a tab when it is first shown.
  private add([title, make]: [string, () => Pane], tabs: HTMLElement): void {
    const n = this.panes.length;
    const tab = h("button", { type: "button", role: "tab", id: `tab${n}`, "aria-controls": `panel${n}`, "aria-selected": "false", tabindex: -1, onclick: () => this.show(n) }, title);
    const panel = h("div", { role: "tabpanel", id: `panel${n}`, "aria-labelledby": `tab${n}`, class: "pane", hidden: true });
    tabs.append(tab);
    this.body.append(panel);
    let made: Pane | null = null;
    const pane: Pane = {
      title,
      element: panel,
      shown: () => {
        if (!made) panel.append((made = make()).element);
        made.shown?.();
      },
      search: (query) => made?.search?.(query) ?? 0,
      next: (by) => made?.next?.(by) ?? -1,
      print: (on) => made?.print?.(on),
      select: (key, side) => made?.select?.(key, side),
      selection: () => made?.selection?.() ?? null,
      key: (event) => made?.key?.(event) ?? false,
    };
    this.panes.push({ pane, tab, panel });
  }

  private show(n: number): void {
    this.current = n;
    this.panes.forEach(({ tab, panel }, i) => {
      tab.setAttribute("aria-selected", String(i === n));
      tab.tabIndex = i === n ? 0 : -1;
      panel.hidden = i !== n;
    });
    this.panes[n]?.pane.shown?.();
    if (this.searchBox.value) this.search();
  }

  private header(tabs: HTMLElement): HTMLElement {
    const { data } = this;
    const last = data.states.at(-1);
    const functions = last?.functions ? `${plural(last.functions.length, "function")}, ` : "";
    // The ops of a program that is shown with its differences are other ones on each side.
    const n = data.run ? 0 : constantsIn(data);
    const constants = n > 0 ? `, ${count(n)} of them constants` : "";
    const before = data.run ? `${count(data.states[0]?.num_ops ?? 0)} → ` : "";
    this.searchBox.addEventListener("input", () => this.search());
    this.searchBox.addEventListener("keydown", (event) => this.searchKey(event));
    tabs.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (by === 0) return;
      this.show((this.current + by + this.panes.length) % this.panes.length);
      this.panes[this.current]?.tab.focus();
      event.preventDefault();
      event.stopPropagation();
    });
    return h(
      "header",
      {},
      h("div", { class: "name" }, logo(), h("h1", { title: data.title }, shortPath(data.title, 34)), h("span", { class: "quiet", title: "Constants count as ops, parameters do not." }, `${functions}${before}${plural(last?.num_ops ?? 0, "op")}`, h("span", { class: "more" }, constants))),
      tabs,
      h("div", { class: "finder" }, this.searchBox, this.found),
      h("button", { type: "button", class: "tool", "aria-label": "Light or dark", title: "Light or dark", onclick: () => this.theme() }, "◐"),
      h("button", { type: "button", class: "tool", "aria-label": "Keys", title: "Keys (?)", onclick: () => this.help.showModal() }, "?"),
    );
  }

  private banner(): HTMLElement {
    const { run, states } = this.data;
    const large = states.some((state) => state.functions === null && state.text !== null);
    const banner = h("div", { class: "banners" });
    if (run?.failure) {
      const done = plural(run.passes.length, "pass").replace("passs", "passes");
      const where = run.failure.pass ? `The run failed in ${run.failure.pass}` : "The run failed before its first pass";
      const steps = (run.failure.functions ?? []).reduce((n, f) => n + f.steps.length, 0);
      const far = steps > 0 ? ` after ${plural(steps, "step")} of it, which the replay shows` : "";
      banner.append(h("div", { class: "banner error", role: "alert" }, h("strong", {}, `${where}${far}; ${done} ended well before.`), h("pre", {}, run.failure.message)));
    }
    if (run?.check) banner.append(checkBanner(run.check));
    if (large) {
      const rest = run ? " Differences and steps are not recorded." : "";
      banner.append(h("div", { class: "banner", role: "note" }, `This program has ${plural(Math.max(...states.map((s) => s.num_ops)), "instruction")}: too many to draw. It is shown as text, which can be searched.${rest}`));
    }
    if (states.at(-1)?.functions?.length === 0) {
      const when = states[0]?.functions?.length === 0 ? "The" : "After the run the";
      banner.append(h("div", { class: "banner", role: "note" }, `${when} program has no functions.`));
    }
    for (const note of large ? [] : (run?.notes ?? [])) banner.append(h("div", { class: "banner", role: "note" }, note));
    return banner;
  }

  private theme(): void {
    const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.documentElement.dataset.theme = dark === "dark" ? "light" : "dark";
  }

  private search(): void {
    const query = this.searchBox.value.trim();
    this.results = this.panes[this.current]?.pane.search?.(query) ?? 0;
    this.found.textContent = query === "" ? "" : `${count(this.results)} found`;
  }

  private searchKey(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      const at = this.panes[this.current]?.pane.next?.(event.shiftKey ? -1 : 1) ?? -1;
      if (at >= 0) this.found.textContent = `${count(at + 1)} of ${count(this.results)}`;
    } else if (event.key === "Escape") {
      this.searchBox.value = "";
      this.search();
      this.focusPane();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private focusPane(): void {
    this.panes[this.current]?.panel.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }

  // Focuses the drawing with the selection, or the first one.
  private focusStage(selected: boolean): HTMLElement | null {
    const stages = [...(this.panes[this.current]?.panel.querySelectorAll<HTMLElement>(".stage") ?? [])];
    const stage = stages.find((each) => each.querySelector(".selected")) ?? (selected ? null : stages[0]);
    stage?.focus({ preventScroll: true });
    return stage ?? null;
  }

  // Arrow keys without a focused element move the selection, unless they are needed to scroll the page.
  private walk(event: KeyboardEvent): boolean {
    if (event.target !== document.body || !event.key.startsWith("Arrow")) return false;
    const { scrollHeight, clientHeight } = document.documentElement;
    const stage = this.focusStage(scrollHeight > clientHeight);
    stage?.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, shiftKey: event.shiftKey, cancelable: true }));
    return stage !== null;
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    if (target.matches("input:not([type=range]), select, textarea")) return;
    const tab = Number(event.key);
    if (event.key === "/") {
      this.searchBox.focus();
      this.searchBox.select();
    } else if (event.key === "?") this.help.showModal();
    else if (tab >= 1 && tab <= this.panes.length) {
      this.show(tab - 1);
      this.focusPane();
    } else if (!this.panes[this.current]?.pane.key?.(event) && !this.walk(event)) return;
    event.preventDefault();
  }
}

// Creates the banner with the result of the check.
function checkBanner({ verdict, summary, culprit, lines }: CheckRow): HTMLElement {
  const heading = { same: "Checked", different: "The check failed", unknown: "Not checked" }[verdict];
  const more = culprit ? h("strong", {}, ` ${upper(culprit)}.`) : null;
  const cls = { same: "good", different: "error", unknown: "" }[verdict];
  const role = verdict === "different" ? "alert" : "note";
  return h("div", { class: `banner check ${cls}`, role }, h("strong", {}, heading), `: ${summary}.`, more, lines.length > 0 ? h("pre", { tabindex: 0 }, lines.join("\n")) : null);
}

function upper(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

// Returns the number of constants in the last state of a program.
function constantsIn(data: Data): number {
  const program = Program.read(data, data.states.length - 1);
  return (program?.functions ?? []).reduce((n, f) => n + [...f.insts.values()].filter(isConstant).length, 0);
}

// Creates the logo of the page: annual rings.
function logo(): Element {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "ring");
  svg.setAttribute("aria-hidden", "true");
  for (const r of [10.5, 7, 3.4]) {
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    for (const [name, value] of [["cx", 12], ["cy", 12], ["r", r]] as const) circle.setAttribute(name, String(value));
    svg.append(circle);
  }
  return svg;
}

function start(): void {
  const root = document.getElementById("app") as HTMLElement;
  try {
    const text = document.getElementById("data")?.textContent ?? "";
    const data = JSON.parse(text) as Data;
    assignFamilies(data);
    new App(data, root);
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    put(root, h("p", { class: "banner error", role: "alert" }, `This page cannot be shown: ${String(error)}`));
    throw error;
  }
}

start();
