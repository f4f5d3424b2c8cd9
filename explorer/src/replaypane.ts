// The tab that replays the rewrites of a run step by step.

import type { Data, PassRow, StepRow } from "./data";
import { Details } from "./details";
import { count, h, plural, put } from "./dom";
import { Program, instKey, paramKey } from "./model";
import { READABLE_ZOOM } from "./opening";
import type { Pane, Say } from "./panes";
import { Replay, type Touched } from "./replay";
import { Search } from "./search";
import { type Badge, GraphView } from "./view";

/** A position in the replay. */
interface ReplayPosition {
  pass: number;
  /** The index of the function among those with steps in the pass. */
  fn: number;
  /** The number of steps of the function before this position. */
  step: number;
  /** The first step of the position: a match and its clean-up are one position. */
  from: number;
  name: string;
}

/** The steps that remove instructions without users. */
const CLEAN_UP = "dce";

/** A pass and its steps. */
type PassLog = Pick<PassRow, "name" | "changed" | "functions"> & { failed?: boolean };

const ROW_HEIGHT = 26;

export class ReplayPane implements Pane {
  readonly title = "Replay";
  readonly element: HTMLElement;
  private moments: ReplayPosition[] = [];
  // True if the clean-up after a match belongs to it.
  private byMatch = true;
  private readonly passes: PassLog[];
  private shownMoments: number[] = [];
  private readonly replays = new Map<string, Replay>();
  private replay: Replay | null = null;
  private place = "";
  private at = 0;
  private playing = 0;
  // Shows the current step in the panel.
  private tell: () => void = () => this.details.nothing();
  private base = new Set<string>();
  private readonly view: GraphView;
  private readonly details: Details;
  private readonly slider = h("input", { type: "range", min: 0, value: 0, class: "slider", "aria-label": "Step" });
  private readonly filter = h("select", { "aria-label": "Filter by pattern" });
  private readonly label = h("p", { class: "step-label", role: "status" });
  private readonly list = h("div", { class: "step-list", role: "listbox", tabindex: 0, "aria-label": "Steps" });
  private readonly rows = h("div", { class: "rows" });
  private readonly spacer = h("div", { class: "spacer" });
  private readonly play = h("button", { type: "button", class: "tool", "aria-label": "Play", title: "Play" }, "Play");
  private readonly byMatchButton = h("button", { type: "button", class: "tool by-match", "aria-pressed": "true", title: "A match and the removal of the instructions that it leaves without users are one step", onclick: () => this.toggleByMatch() }, "By match");
  private searcher: Search | null = null;
  private found: string[] = [];
  private foundAt = -1;

  constructor(
    private readonly data: Data,
    private readonly say: Say,
  ) {
    const { passes = [], failure } = data.run ?? {};
    // The pass that failed also has steps.
    this.passes = failure?.pass ? [...passes, { name: failure.pass, changed: true, functions: failure.functions, failed: true }] : passes;
    this.moments = this.positions();
    this.view = new GraphView(new Program("replay", []), {
      label: "Replay",
      say,
      selected: (key) => this.selected(key),
      toggled: (key, open) => (open ? this.base.add(key) : this.base.delete(key)),
    });
    this.details = new Details(data, (key) => this.view.select(key, true));
    this.element = h("div", { class: "replay" }, this.bar(), h("div", { class: "split" }, this.steps(), h("div", { class: "main-column" }, this.view.element, h("div", { class: "bar-below" }, this.view.tools)), this.details.element));
    this.setFilter("");
    if (this.moments.length > 0) this.goTo(0);
    else this.label.textContent = this.nothing();
  }

  private positions(): ReplayPosition[] {
    const list: ReplayPosition[] = [];
    this.passes.forEach((pass, n) =>
      pass.functions?.forEach((f, fn) => {
        f.steps.forEach(([name], step) => {
          const last = list.at(-1);
          if (this.byMatch && name === CLEAN_UP && last && last.pass === n && last.fn === fn && last.name !== CLEAN_UP) last.step = step + 1;
          else list.push({ pass: n, fn, step: step + 1, from: step + 1, name });
        });
      }),
    );
    return list;
  }

  // Shows matches with their clean-up, or every step; the position stays the same or nearly so.
  private toggleByMatch(): void {
    const here = this.moments[this.at - 1];
    this.byMatch = !this.byMatch;
    this.byMatchButton.setAttribute("aria-pressed", String(this.byMatch));
    this.moments = this.positions();
    this.fillFilter();
    this.setFilter("");
    const at = here ? this.moments.findIndex((each) => each.pass === here.pass && each.fn === here.fn && each.step >= here.step) : -1;
    this.goTo(at + 1);
  }

  // Returns the reason why there are no steps.
  private nothing(): string {
    const { passes } = this;
    if (passes.length === 0) return "no steps: no pass ended";
    if (passes.some((pass) => pass.functions === null)) return "steps not recorded: too large";
    if (passes.every((pass) => !pass.changed)) return "no steps: no pass changed anything";
    return "no steps: the passes that changed the program do not log their steps";
  }

  // Lists the passes whose changes have no steps.
  private unlogged(): HTMLElement | null {
    const { passes } = this;
    const names = (of: PassLog[]) => of.map((pass) => pass.name.replace(/\{.*$/s, "")).join(", ");
    const large = passes.filter((pass) => pass.functions === null);
    const silent = passes.filter((pass) => pass.changed && pass.functions?.length === 0);
    const words = [
      large.length > 0 ? `not recorded, too large: ${names(large)}` : "",
      silent.length > 0 ? `without a log of steps: ${names(silent)}` : "",
    ].filter(Boolean);
    return words.length > 0 && this.moments.length > 0 ? h("p", { class: "quiet unlogged" }, words.join("; ")) : null;
  }

  private bar(): HTMLElement {
    const button = (label: string, sign: string, act: () => void) =>
      h("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick: act }, sign);
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
    this.filter.addEventListener("change", () => this.setFilter(this.filter.value));
    this.play.addEventListener("click", () => this.toggleLoop());
    this.fillFilter();
    return h(
      "div",
      { class: "replay-bar", role: "toolbar", "aria-label": "Replay" },
      button("First step", "|◀", () => this.goTo(0)),
      button("Step back", "◀", () => this.walk(-1)),
      this.play,
      button("Step forward", "▶", () => this.walk(1)),
      button("Last step", "▶|", () => this.goTo(this.moments.length)),
      this.slider,
      this.filter,
      this.byMatchButton,
      this.label,
    );
  }

  private fillFilter(): void {
    const counts = new Map<string, number>();
    for (const { name } of this.moments) counts.set(name, (counts.get(name) ?? 0) + 1);
    const names = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    this.slider.max = String(this.moments.length);
    put(this.filter, h("option", { value: "" }, this.moments.length === 1 ? "1 step" : `all ${plural(this.moments.length, "step")}`), ...names.map(([name, n]) => h("option", { value: name }, `${name} (${count(n)})`)));
  }

  private steps(): HTMLElement {
    this.list.append(this.spacer, this.rows);
    this.list.addEventListener("scroll", () => this.drawList());
    this.list.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (by === 0) return;
      this.walk(by as 1 | -1);
      event.preventDefault();
      event.stopPropagation();
    });
    new ResizeObserver(() => this.drawList()).observe(this.list);
    return h("nav", { class: "steps", "aria-label": "Steps" }, h("h2", {}, "Steps"), this.list, this.unlogged());
  }

  private setFilter(name: string): void {
    this.shownMoments = [];
    this.moments.forEach((moment, n) => {
      if (name === "" || moment.name === name) this.shownMoments.push(n + 1);
    });
    this.spacer.style.height = `${this.shownMoments.length * ROW_HEIGHT}px`;
    this.list.scrollTop = 0;
    this.drawList();
  }

  private drawList(): void {
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW_HEIGHT) - 2);
    const many = Math.ceil((this.list.clientHeight || 400) / ROW_HEIGHT) + 4;
    this.rows.style.transform = `translateY(${first * ROW_HEIGHT}px)`;
    put(
      this.rows,
      ...this.shownMoments.slice(first, first + many).map((number, n) => {
        const moment = this.moments[number - 1] as ReplayPosition;
        return h(
          "div",
          {
            class: `step-row ${number === this.at ? "current" : ""}`, role: "option", "aria-selected": String(number === this.at),
            "aria-setsize": this.shownMoments.length, "aria-posinset": first + n + 1, onclick: () => this.goTo(number),
          },
          h("span", { class: "number" }, count(number)),
          h("span", { class: "step-name", title: moment.name }, moment.name),
        );
      }),
    );
  }

  /** Goes to the next or the previous step that passes the filter. */
  private walk(by: 1 | -1): void {
    const next = by === 1 ? this.shownMoments.find((n) => n > this.at) : this.shownMoments.findLast((n) => n < this.at);
    if (next !== undefined) this.goTo(next);
    else if (by === -1 && this.at > 0) this.goTo(0);
    else this.stop();
  }

  goTo(step: number): void {
    if (this.moments.length === 0) return;
    this.at = Math.max(0, Math.min(this.moments.length, step));
    const moment = this.moments[this.at - 1] ?? { ...(this.moments[0] as ReplayPosition), step: 0, from: 1, name: "" };
    this.enter(moment);
    const replay = this.replay as Replay;
    const touched = moment.step > 0 ? replay.touched(moment.step, moment.from) : null;
    const ids = [...(touched?.changed ?? []), ...(touched?.erased ?? []), ...(touched?.matched ?? [])];
    replay.goTo(Math.max(0, moment.from - 1));
    const before = new Map(ids.map((id) => [id, replay.now.insts.get(id)?.text]));
    replay.goTo(moment.step);
    this.tell = () => this.showStep(replay, moment, touched, before);
    this.draw(replay, touched);
    if (!this.view.selected) this.tell();
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", this.describe(moment, touched));
    this.label.textContent = this.describe(moment, touched);
    const row = this.shownMoments.indexOf(this.at);
    const [top, bottom] = [this.list.scrollTop, this.list.scrollTop + this.list.clientHeight];
    if (row >= 0 && (row * ROW_HEIGHT < top || (row + 1) * ROW_HEIGHT > bottom)) this.list.scrollTop = row * ROW_HEIGHT - this.list.clientHeight / 2;
    this.drawList();
  }

  // Shows the text of the instructions that a step touched.
  private showStep(replay: Replay, moment: ReplayPosition, touched: Touched | null, before: ReadonlyMap<number, string | undefined>): void {
    if (!touched) return this.details.nothing();
    const was = (ids: Iterable<number>) => [...ids].map((id): [string, string] => [instKey(0, id), before.get(id) ?? ""]).filter(([, text]) => text);
    const is = (ids: Iterable<number>) => [...ids].map((id): [string, string] => [instKey(0, id), replay.now.insts.get(id)?.text ?? ""]).filter(([, text]) => text);
    const kept = [...touched.kept].map((id): [string, string] => {
      const { name, type, inst } = replay.now.value(id);
      return [valueKey(replay, id), replay.now.insts.get(inst)?.text ?? `${name}: ${type}`];
    });
    const others = [...touched.erased].filter((id) => !touched.matched.has(id));
    const [gone, left] = [[...touched.matched].filter((id) => touched.erased.has(id)), [...touched.matched].filter((id) => !touched.erased.has(id))];
    this.details.step(touched.name, this.describe(moment, touched), [
      ["matched, and erased", was(gone)],
      ["matched", was(left)],
      ["erased", was(others)],
      ["replaced by", kept],
      ["inserted", is(touched.inserted)],
      ["changed from", was(touched.changed)],
      ["changed to", is(touched.changed)],
    ]);
  }

  private describe(moment: ReplayPosition, touched: Touched | null): string {
    const pass = this.passes[moment.pass];
    const f = pass?.functions?.[moment.fn];
    const where = `${pass?.name.replace(/\{.*$/s, "") ?? ""}${pass?.failed ? ", which failed" : ""}, @${f?.name ?? ""}`;
    if (!touched) return `before the ${this.moments.length === 1 ? "only step" : `first of ${plural(this.moments.length, "step")}`} (${where})`;
    const parts = [
      [touched.inserted.size, "inserted"],
      [touched.changed.size, "changed"],
      [touched.erased.size, "erased"],
    ].filter(([n]) => n !== 0).map(([n, what]) => `${count(n as number)} ${what}`);
    const cut = f?.cut && moment.step === f.steps.length ? "; the log ends here: later edits were not reported, or are too many for a page" : "";
    return `${count(this.at)} of ${count(this.moments.length)}: ${moment.name} (${where})${parts.length > 0 ? `: ${parts.join(", ")}` : ""}${cut}`;
  }

  // Shows the function of a position.
  private enter(moment: ReplayPosition): void {
    const place = `${moment.pass}.${moment.fn}`;
    if (place === this.place) return;
    this.place = place;
    let replay = this.replays.get(place);
    if (!replay) {
      const steps = this.passes[moment.pass]?.functions?.[moment.fn];
      const rowOf = (state: number) =>
        this.data.states[state]?.functions?.map((n) => this.data.functions[n]).find((f) => f?.name === steps?.name);
      const empty = { name: steps?.name ?? "", signature: "", bodies: [], insts: [], values: [] };
      replay = new Replay(rowOf(moment.pass) ?? empty, (steps?.steps ?? []) as StepRow[], this.data, rowOf(moment.pass + 1));
      this.replays.set(place, replay);
    }
    this.replay = replay;
    this.view.show(new Program("replay", [replay.union]));
    this.base = new Set(this.view.open);
    this.searcher = null;
  }

  private draw(replay: Replay, touched: Touched | null): void {
    const view = this.view;
    const involved = touched ? [...touched.inserted, ...touched.erased, ...touched.changed, ...touched.matched].map((id) => instKey(0, id)) : [];
    const there = involved.filter((key) => view.tree.items.has(key));
    view.open = new Set(this.base);
    for (const key of there) for (const box of view.tree.ancestors(key)) view.open.add(box.key);
    view.only = this.visible(replay, touched);
    view.layout();
    view.setBadges(badges(touched, [...(touched?.kept ?? [])].map((id) => valueKey(replay, id)).filter((key) => view.only?.items.has(key))));
    if (there.length > 0) view.centreAll(there);
    else view.fit(null, READABLE_ZOOM);
    if (view.selected) this.selected(view.selected);
  }

  // Returns the visible items: the current ones, those that this step erased, and the boxes around them.
  private visible(replay: Replay, touched: Touched | null): NonNullable<GraphView["only"]> {
    const items = new Set<string>();
    const add = (key: string) => {
      items.add(key);
      for (let box = this.view.tree.items.get(key)?.parent; box && !items.has(box.key); box = box.parent ?? undefined) items.add(box.key);
    };
    for (const id of replay.now.insts.keys()) add(instKey(0, id));
    for (const id of touched?.erased ?? []) add(instKey(0, id));
    for (const body of replay.now.bodies.values()) {
      if (body.owner === -1 || replay.now.insts.has(body.owner)) for (const param of body.params) add(paramKey(0, param));
    }
    const edges = this.view.layouter.pairs(this.view.tree, this.view.open, new Program("now", [replay.now]));
    const ghosts = new Set([...(touched?.erased ?? [])].map((id) => instKey(0, id)));
    const now = new Set([...items].filter((key) => !ghosts.has(key)));
    return { items, edges, ghosts, contents: this.view.tree.contents(now) };
  }

  print(on: boolean): void {
    this.view.print(on);
  }

  private selected(key: string | null): void {
    const item = key ? this.view.tree.items.get(key) : undefined;
    if (!item || !this.replay) return this.tell();
    const now = new Program("now", [this.replay.now]);
    const id = item.kind === "node" && item.inst ? item.inst.id : -1;
    const program = id >= 0 && !this.replay.now.insts.has(id) ? this.view.tree.program : now;
    this.details.show(program, item, this.view.badges.get(item.key));
  }

  private toggleLoop(): void {
    if (this.playing) return this.stop();
    if (this.at === this.moments.length) this.goTo(0);
    this.playing = window.setInterval(() => this.walk(1), 700);
    this.play.textContent = "Pause";
    this.play.setAttribute("aria-label", "Pause");
    this.say("playing");
  }

  private stop(): void {
    window.clearInterval(this.playing);
    this.playing = 0;
    this.play.textContent = "Play";
    this.play.setAttribute("aria-label", "Play");
  }

  search(query: string): number {
    this.searcher ??= new Search(this.view.tree.program);
    this.found = this.searcher.find(query).filter((key) => !this.view.only || this.view.only.items.has(key));
    this.foundAt = -1;
    this.view.setFound(this.found);
    return this.found.length;
  }

  next(by: 1 | -1): number {
    if (this.found.length === 0) return -1;
    this.foundAt = (this.foundAt + by + this.found.length) % this.found.length;
    this.view.select(this.found[this.foundAt] as string, true);
    return this.foundAt;
  }

  key(event: KeyboardEvent): boolean {
    if (event.key === "j" || event.key === "." || event.key === "n") this.walk(1);
    else if (event.key === "k" || event.key === "," || event.key === "p") this.walk(-1);
    else if (event.key === "Home") this.goTo(0);
    else if (event.key === "End") this.goTo(this.moments.length);
    else return false;
    return true;
  }
}

// Returns the key of the definition of a value.
function valueKey(replay: Replay, id: number): string {
  const { inst } = replay.now.value(id);
  return inst >= 0 ? instKey(0, inst) : paramKey(0, id);
}

function badges(touched: Touched | null, kept: string[]): Map<string, Badge> {
  const list = new Map<string, Badge>();
  if (!touched) return list;
  const put = (ids: Iterable<number>, badge: Badge) => {
    for (const id of ids) list.set(instKey(0, id), badge);
  };
  for (const key of kept) list.set(key, { cls: "kept", sign: "⇠", description: `replaces another value by ${touched.name}` });
  put(touched.matched, { cls: "match", sign: "●", description: `matched by ${touched.name}` });
  put(touched.changed, { cls: "changed", sign: "~", description: `changed by ${touched.name}` });
  put(touched.inserted, { cls: "new", sign: "+", description: `inserted by ${touched.name}` });
  put([...touched.erased].filter((id) => !touched.matched.has(id)), { cls: "erased", sign: "−", description: `erased by ${touched.name}` });
  put([...touched.matched].filter((id) => touched.erased.has(id)), { cls: "erased match", sign: "●−", description: `matched and erased by ${touched.name}` });
  return list;
}
