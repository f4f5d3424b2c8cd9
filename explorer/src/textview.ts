// A program as lines of text. Only the lines that are seen are in the page, so that a million of them are no burden.

import { count, h, plural, put } from "./dom";
import type { Program } from "./model";
import { instKey } from "./model";

export interface Line {
  text: string;
  key: string | null;
  mark?: string;
}

const LINE = 20;
/** Browsers lay out no further than some tens of millions of pixels. */
const TALLEST = 12_000_000;
const MOST_INDENT = 32;

/** The lines of a program, in the order in which it is printed. */
export function linesOf(program: Program, marks?: Map<string, { cls: string }>): Line[] {
  const lines: Line[] = [];
  program.functions.forEach((f, fn) => {
    if (lines.length > 0) lines.push({ text: "", key: null });
    const params = (f.bodies.get(f.body)?.params ?? []).map((v) => `${f.value(v).name}: ${f.value(v).type}`);
    lines.push({ text: `func @${f.name}(${params.join(", ")}) {`, key: null });
    // Instructions come with what is in their regions right behind them.
    const depths = new Map<number, number>([[f.body, 1]]);
    for (const inst of f.insts.values()) {
      const depth = depths.get(inst.body) ?? 1;
      for (const region of inst.regions) depths.set(region, depth + 1);
      const key = instKey(fn, inst.id);
      const mark = marks?.get(key)?.cls;
      const line: Line = { text: "  ".repeat(Math.min(depth, MOST_INDENT)) + inst.text, key };
      lines.push(mark ? { ...line, mark } : line);
    }
    lines.push({ text: "}", key: null });
  });
  return lines;
}

export class TextView {
  readonly element: HTMLElement;
  private readonly scroller = h("div", { class: "lines", tabindex: 0, role: "list", "aria-label": "Program text" });
  private readonly rows = h("div", { class: "rows" });
  private readonly spacer = h("div", { class: "spacer" });
  private readonly status = h("p", { class: "quiet text-status", role: "status" });
  private found: number[] = [];
  private foundSet = new Set<number>();
  private at = -1;
  private current = -1;

  constructor(
    private lines: Line[],
    private readonly pick?: (key: string) => void,
  ) {
    this.scroller.append(this.spacer, this.rows);
    this.element = h("div", { class: "text-view" }, this.status, this.scroller);
    this.scroller.addEventListener("scroll", () => this.draw());
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.show(lines);
  }

  show(lines: Line[]): void {
    this.lines = lines;
    [this.found, this.foundSet, this.at, this.current] = [[], new Set(), -1, -1];
    this.spacer.style.height = `${this.height()}px`;
    this.status.textContent = plural(lines.length, "line");
    this.draw();
  }

  private height(): number {
    return Math.min(TALLEST, this.lines.length * LINE);
  }

  // Lines per pixel of the scroll bar.
  private ratio(): number {
    const view = this.scroller.clientHeight;
    const bar = this.height() - view;
    return bar > 0 ? (this.lines.length * LINE - view) / bar / LINE : 1 / LINE;
  }

  private draw(): void {
    const view = this.scroller.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop * this.ratio()));
    const many = Math.ceil(view / LINE) + 2;
    this.rows.style.transform = `translateY(${this.scroller.scrollTop}px)`;
    const width = String(this.lines.length).length;
    put(
      this.rows,
      ...this.lines.slice(first, first + many).map((line, n) => {
        const number = first + n;
        const cls = ["line", line.mark ?? "", this.foundSet.has(number) ? "found" : "", number === this.current ? "current" : ""];
        return h(
          "div",
          {
            class: cls.filter(Boolean).join(" "), role: "listitem", "aria-setsize": this.lines.length, "aria-posinset": number + 1,
            "data-line": number + 1, onclick: () => line.key && this.pick?.(line.key),
          },
          h("span", { class: "number", "aria-hidden": "true" }, String(number + 1).padStart(width)),
          line.text.length > 1000 ? `${line.text.slice(0, 1000)}…` : line.text,
        );
      }),
    );
  }

  /** Finds lines with all words; how many. */
  search(query: string): number {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean).map((w) => w.replace(/^(op|value|type|attr):/, ""));
    this.found = [];
    if (words.length > 0) {
      this.lines.forEach((line, n) => {
        const text = line.text.toLowerCase();
        if (words.every((word) => text.includes(word))) this.found.push(n);
      });
    }
    this.foundSet = new Set(this.found);
    this.at = -1;
    this.status.textContent = words.length > 0 ? `${plural(this.found.length, "line")} of ${count(this.lines.length)}` : plural(this.lines.length, "line");
    this.draw();
    return this.found.length;
  }

  /** Goes to the next line that was found, or the one before. */
  next(by: 1 | -1): number {
    if (this.found.length === 0) return -1;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.goTo(this.found[this.at] as number);
    return this.at;
  }

  goTo(line: number): void {
    this.current = line;
    const above = Math.floor(this.scroller.clientHeight / LINE / 2);
    this.scroller.scrollTop = Math.max(0, line - above) / this.ratio();
    this.draw();
  }

  /** Shows the line of an instruction. */
  goToKey(key: string): void {
    const line = this.lines.findIndex((l) => l.key === key);
    if (line >= 0) this.goTo(line);
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / LINE) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.lines.length, End: this.lines.length };
    const by = steps[event.key];
    if (event.key === "Enter" && this.lines[this.current]?.key) this.pick?.(this.lines[this.current]?.key as string);
    else if (by === undefined || event.ctrlKey || event.metaKey) return;
    else this.goTo(Math.max(0, Math.min(this.lines.length - 1, this.current + by)));
    event.preventDefault();
  }
}
