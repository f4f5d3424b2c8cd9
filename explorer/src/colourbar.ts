// The bar below a drawing: the meaning of its colours, families of ops or costs, each a filter.

import { Heat, LEVELS, MEASURES, type Measure, amountText, exactText, heatLevel } from "./cost";
import type { Data, ProgramCostRow } from "./data";
import { chip } from "./details";
import { count, h, plural, put } from "./dom";
import type { Say } from "./panes";
import type { GraphView } from "./view";

/** The colours of one or two drawings, and the parts of them that are emphasised. */
export class ColourBar {
  readonly element = h("div", { class: "legend" });
  private readonly choice = h("select", { "aria-label": "Colour by", title: "Colour by family, operations or bytes (c)" });
  private readonly keys = h("div", { class: "keys", role: "group" });
  private readonly chosen = new Set<string>();

  /** Colours of views, the first of which shows the whole that costs are compared with: the state with this number. */
  constructor(
    private readonly data: Data,
    private readonly views: () => readonly GraphView[],
    private readonly state: () => number,
    private readonly say: Say,
  ) {
    for (const [value, label] of [["", "family"], ["0", MEASURES[0]], ["1", MEASURES[1]]] as const) this.choice.append(h("option", { value }, label));
    this.choice.addEventListener("change", () => this.apply());
    const hasCosts = data.costs.length > 0;
    put(this.element, hasCosts ? h("label", { class: "quiet" }, "Colour by ", this.choice) : null, this.keys);
  }

  private get measure(): Measure | null {
    return this.choice.value === "" ? null : (Number(this.choice.value) as Measure);
  }

  /** Chooses the next meaning of the colours. */
  next(): boolean {
    if (this.data.costs.length === 0) return false;
    this.choice.selectedIndex = (this.choice.selectedIndex + 1) % this.choice.options.length;
    this.apply();
    return true;
  }

  /** Colours the views, and shows the keys of the colours. */
  apply(): void {
    const { measure } = this;
    const [first] = this.views();
    const whole = measure === null ? 0 : (first?.tree.root.cost[measure] ?? 0);
    for (const view of this.views()) {
      view.setHeat(measure === null ? null : new Heat(measure, whole));
      if (this.chosen.size > 0) view.setEmphasis(null);
    }
    this.chosen.clear();
    this.keys.setAttribute("aria-label", measure === null ? "Families" : `Parts of all ${MEASURES[measure]}`);
    if (measure === null) return put(this.keys, ...this.data.families.map((family) => this.key(family, `Emphasise ${family}`, chip(family))));
    const levels = LEVELS.map((label, level) => this.key(String(level), `Emphasise ${label}`, h("span", { class: "chip heat", "data-heat": level }, label)));
    put(this.keys, ...levels.reverse(), h("span", { class: "quiet" }, `of ${amountText(whole)} ${MEASURES[measure]}${this.notes(measure)}`));
    this.say(`colours show ${MEASURES[measure]}`);
  }

  private notes(measure: Measure): string {
    const cost = this.data.states[this.state()]?.cost;
    if (!cost) return "";
    const amount = measure === 0 ? cost.flops : cost.bytes;
    const open = Array.isArray(amount) || amount === null || amount === undefined ? "open sizes are 64 here" : "";
    const rest = [open, cost.not_counted > 0 ? `${plural(cost.not_counted, "op")} not counted` : "", cost.open_loops > 0 ? `${plural(cost.open_loops, "loop")} counted as one iteration` : ""];
    return rest.filter(Boolean).map((note) => `; ${note}`).join("");
  }

  private key(name: string, title: string, content: HTMLElement): HTMLElement {
    const button = h("button", { type: "button", class: "family", "aria-pressed": "false", title, onclick: () => {
      if (!this.chosen.delete(name)) this.chosen.add(name);
      button.setAttribute("aria-pressed", String(this.chosen.has(name)));
      this.filter();
    } }, content);
    return button;
  }

  // Dims everything that has none of the chosen colours.
  private filter(): void {
    const { measure } = this;
    let ops = 0;
    for (const view of this.views()) {
      const keys = new Set<string>();
      for (const item of view.tree.items.values()) {
        const colour = measure === null ? item.family : String(heatLevel(view.partOf(item)));
        if (!this.chosen.has(colour) || (measure === null && !item.inst)) continue;
        keys.add(item.key);
        if (item.inst) ops += 1;
      }
      view.setEmphasis(this.chosen.size > 0 ? keys : null);
    }
    const names = [...this.chosen].map((name) => (measure === null ? name : LEVELS[Number(name)]));
    this.say(this.chosen.size > 0 ? `${count(ops)} ops of ${names.join(", ")}` : "everything");
  }
}

/** Returns the totals of one program, or of two with the changes between them, as rows: the measure, and a text for each. */
export function costTotals(costs: ProgramCostRow[]): [string, string[]][] {
  const measures = [["operations", "flops"], ["bytes moved", "bytes"], ["bytes at the peak", "peak_memory"]] as const;
  return measures.map(([label, name]) => {
    const amounts = costs.map((cost) => cost[name]);
    const [before, after] = amounts;
    const change = typeof before === "number" && typeof after === "number" && before > 0 ? [changeText(before, after)] : [];
    return [label, [...amounts.map(exactText), ...change]];
  });
}

function changeText(before: number, after: number): string {
  if (before === after) return "same";
  const percent = (100 * (after - before)) / before;
  if (Math.abs(percent) < 0.05) return `< 0.1\u202f% ${percent < 0 ? "less" : "more"}`;
  const digits = Math.abs(percent) < 9.95 ? 1 : 0;
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(digits)}\u202f%`;
}
