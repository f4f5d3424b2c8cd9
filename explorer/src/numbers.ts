// The tab with statistics, as plots and as tables that can be copied.

import { costTotals } from "./colourbar";
import type { Data, PassRow } from "./data";
import { chip } from "./details";
import { copyButton, count, h, time } from "./dom";
import { familyClass } from "./palette";
import type { Pane } from "./panes";

type Cell = string | number;

export interface Table {
  title: string;
  head: string[];
  rows: Cell[][];
}

/** Returns the number of ops of a program by family. */
export function byFamily(data: Data, state: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [op, n] of data.states[state]?.counts ?? []) {
    const family = data.families[data.ops[op]?.[1] ?? -1] ?? "other";
    counts.set(family, (counts.get(family) ?? 0) + n);
  }
  return counts;
}

/** Returns the number of ops before and after, the largest changes first. */
export function opTable(data: Data): Table {
  const last = data.states.length - 1;
  const counts = (state: number) => new Map(data.states[state]?.counts ?? []);
  const [before, after] = [counts(0), counts(last)];
  const ops = [...new Set([...before.keys(), ...after.keys()])];
  const rows = ops.map((op): [string, string, number, number, number] => {
    const [old, now] = [before.get(op) ?? 0, after.get(op) ?? 0];
    return [data.ops[op]?.[0] ?? "?", data.families[data.ops[op]?.[1] ?? -1] ?? "other", old, now, now - old];
  });
  rows.sort((a, b) => a[4] - b[4] || b[2] - a[2] || (a[0] < b[0] ? -1 : 1));
  if (data.kind === "graph") {
    return { title: "Ops", head: ["op", "family", "count"], rows: rows.map(([op, family, n]) => [op, family, n]).sort((a, b) => (b[2] as number) - (a[2] as number)) };
  }
  return { title: "Ops before and after", head: ["op", "family", "before", "after", "change"], rows };
}

/** Returns the statistics of patterns over all passes, the most applied first. */
export function patternTable(passes: PassRow[]): Table {
  const all = new Map<string, [number, number, number]>();
  for (const pass of passes) {
    for (const [name, tried, matched, applied] of pass.patterns) {
      const sum = all.get(name) ?? [0, 0, 0];
      all.set(name, [sum[0] + tried, sum[1] + matched, sum[2] + applied]);
    }
  }
  const rows: Cell[][] = [...all].map(([name, sum]) => [name, ...sum]);
  rows.sort((a, b) => (b[3] as number) - (a[3] as number) || (b[1] as number) - (a[1] as number) || (a[0] as string).localeCompare(b[0] as string));
  return { title: "Patterns", head: ["pattern", "tried", "matched", "applied"], rows };
}

/** Returns the costs of the program, before and after a run; nothing if they are not known. */
export function costTable(data: Data): Table | null {
  const states = data.run ? [data.states[0], data.states.at(-1)] : [data.states[0]];
  const costs = states.map((state) => state?.cost).filter((cost) => !!cost);
  if (costs.length < states.length) return null;
  const rows = costTotals(costs).map(([label, texts]) => [label, ...texts, ...(data.run && texts.length < 3 ? [""] : [])]);
  return { title: "Cost", head: data.run ? ["measure", "before", "after", "in percent"] : ["measure", "program"], rows };
}

/** Creates the tab with statistics. Its search finds the rows of the tables that contain all words. */
export function numbersPane(data: Data): Pane {
  const element = numbers(data);
  let found: Element[] = [];
  let at = -1;
  return {
    title: "Numbers",
    element,
    search: (query) => {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean).map((word) => word.replace(/^(op|value|type|attr|scope):/, ""));
      for (const row of found) row.classList.remove("found", "current");
      const rows = words.length > 0 ? [...element.querySelectorAll("tbody tr")] : [];
      found = rows.filter((row) => words.every((word) => (row.textContent ?? "").toLowerCase().includes(word)));
      for (const row of found) row.classList.add("found");
      at = -1;
      return found.length;
    },
    next: (by) => {
      if (found.length === 0) return -1;
      found[at]?.classList.remove("current");
      at = (at + by + found.length) % found.length;
      found[at]?.classList.add("current");
      found[at]?.scrollIntoView({ block: "center" });
      return at;
    },
  };
}

function numbers(data: Data): HTMLElement {
  const page = h("div", { class: "cards" });
  const costs = costTable(data);
  page.append(familyPlot(data), tableSection(opTable(data), 2), ...(costs ? [tableSection(costs, -1)] : []));
  const run = data.run;
  if (run) {
    if (run.passes.length > 0 || run.failure) page.append(timing(data));
    const patterns = patternTable(run.passes);
    if (patterns.rows.length > 0) page.append(patternPlot(patterns), tableSection(patterns, 3));
    const counters: Cell[][] = run.passes.flatMap((pass) => pass.counters.map(([name, n]): Cell[] => [pass.name, name, n]));
    if (counters.length > 0) page.append(tableSection({ title: "Counters", head: ["pass", "counter", "n"], rows: counters }, -1));
  }
  return h("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "Numbers" }, page);
}

function familyPlot(data: Data): HTMLElement {
  const last = data.states.length - 1;
  const [before, after] = [byFamily(data, 0), byFamily(data, last)];
  const families = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => (before.get(b) ?? 0) - (before.get(a) ?? 0) || (a < b ? -1 : 1));
  const most = Math.max(1, ...before.values(), ...after.values());
  const bar = (n: number, family: string, when: string) =>
    h(
      "div",
      { class: `bar ${when} ${familyClass(family)}` },
      h("span", { class: "fill", style: `width:${(100 * n) / most}%` }),
      h("span", { class: "value" }, count(n)),
    );
  const rows = families.map((family) =>
    h(
      "div",
      { class: "bars", role: "img", "aria-label": data.run ? `${family}: ${before.get(family) ?? 0} before, ${after.get(family) ?? 0} after` : `${family}: ${before.get(family) ?? 0}` },
      h("span", { class: "bar-name" }, chip(family)),
      h("div", {}, bar(before.get(family) ?? 0, family, data.run ? "before" : "after"), data.run ? bar(after.get(family) ?? 0, family, "after") : null),
    ),
  );
  const title = data.run ? "Ops by family, before and after" : "Ops by family";
  return h("section", { class: "card" }, h("h2", {}, title), data.run ? h("p", { class: "quiet" }, "Upper bars: before. Lower bars: after.") : null, ...rows);
}

function patternPlot(table: Table): HTMLElement {
  const fired = table.rows.filter((row) => (row[3] as number) > 0).slice(0, 16);
  const most = Math.max(1, ...fired.map((row) => row[3] as number));
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Patterns that fired"),
    ...(fired.length > 0
      ? fired.map(([name, , , applied]) =>
          h(
            "div",
            { class: "bars wide", role: "img", "aria-label": `${name}: applied ${applied} times` },
            h("span", { class: "bar-name" }, h("code", {}, String(name))),
            h("div", {}, h("div", { class: "bar plain" }, h("span", { class: "fill", style: `width:${(100 * (applied as number)) / most}%` }), h("span", { class: "value" }, count(applied as number)))),
          ),
        )
      : [h("p", { class: "quiet" }, "none")]),
  );
}

/** Creates the table of times: the run, its passes, their verification. */
function timing(data: Data): HTMLElement {
  const run = data.run as NonNullable<Data["run"]>;
  const rows: [number, string, number][] = [[0, "total", run.total], [1, "verify", run.verify]];
  for (const pass of run.passes) {
    rows.push([1, pass.name, pass.time + pass.verify], [2, "rewriting", pass.time], [2, "verify", pass.verify]);
  }
  const most = Math.max(1, ...rows.map((row) => row[2]));
  const lines = rows.map(([depth, name, micros]) =>
    h(
      "div",
      { class: "bars wide", role: "img", "aria-label": `${name}: ${time(micros)}` },
      h("span", { class: "bar-name", style: `padding-left:${depth * 1.1}rem` }, name),
      h("div", {}, h("div", { class: "bar plain" }, h("span", { class: "fill", style: `width:${(100 * micros) / most}%` }), h("span", { class: "value" }, time(micros)))),
    ),
  );
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Time"),
    ...lines,
    tools({ title: "Time", head: ["part", "microseconds"], rows: rows.map(([depth, name, micros]) => ["  ".repeat(depth) + name, micros]) }),
  );
}

/** Returns a table as text with tabs between cells. */
export function asText(table: Table): string {
  const clean = (cell: Cell) => String(cell).replace(/[\t\r\n]/g, " ");
  return [table.head, ...table.rows].map((row) => row.map(clean).join("\t")).join("\n") + "\n";
}

function tools(table: Table): HTMLElement {
  return h("p", { class: "table-tools" }, copyButton("Copy table", () => asText(table)));
}

function tableSection(table: Table, change: number): HTMLElement {
  const cell = (value: Cell, column: number) => {
    const number = typeof value === "number";
    const signed = table.head[column] === "change" && number;
    const text = signed ? (value > 0 ? `+${count(value)}` : value < 0 ? `−${count(-value)}` : "") : number ? count(value) : value;
    const cls = [number ? "number" : "", signed && value < 0 ? "less" : "", signed && value > 0 ? "more" : ""].filter(Boolean).join(" ");
    return h("td", { class: cls }, text);
  };
  const strong = (row: Cell[]) => (change >= 0 && typeof row.at(-1) === "number" && row.at(-1) !== 0 ? "strong" : "");
  return h(
    "section",
    { class: "card" },
    h("h2", {}, table.title),
    h(
      "div",
      // A table that scrolls is reached by the keyboard.
      { class: "table-wrap", role: "region", "aria-label": table.title, tabindex: 0 },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...table.head.map((name, n) => h("th", { scope: "col", class: typeof table.rows[0]?.[n] === "number" ? "number" : "" }, name)))),
        h("tbody", {}, ...table.rows.map((row) => h("tr", { class: strong(row) }, ...row.map(cell)))),
      ),
    ),
    tools(table),
  );
}
