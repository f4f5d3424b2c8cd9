// A program as lines of text. Only visible lines are in the page, so that a million lines are cheap.

import type { MarkKind } from "./data";
import { copyButton, count, h, plural, put } from "./dom";
import { BADGES } from "./legend";
import { type Program, instKey } from "./model";
import { removeSpaces } from "./search";
import type { Pane } from "./panes";

export interface Line {
  text: string;
  key: string | null;
  mark?: string;
  /** The instruction on the other side, if this one is marked. */
  partner?: string | null;
  /** The number of the line, if it is not its position. */
  number?: number;
  /** True for an empty line that aligns the text with another one. */
  filler?: boolean;
}

const LINE_HEIGHT = 20;
/** The largest height in pixels: browsers fail beyond some tens of millions. */
const MAX_HEIGHT = 12_000_000;
/** The largest number of printed lines. */
const MAX_PRINTED_LINES = 10_000;

/** Returns the lines of a text, with the instructions that start on them. */
export function linesOf(text: string, program: Program | null, marks?: ReadonlyMap<string, { cls: string; partner?: string }>): Line[] {
  const lines: Line[] = text.replace(/\n$/, "").split("\n").map((line) => ({ text: line, key: null }));
  if (!program) return lines;
  // Every instruction starts a line, in program order; other lines are recognised by their first characters.
  const keys = program.functions.flatMap((f, fn) => [...f.insts.keys()].map((id) => instKey(fn, id)));
  // The instructions with open regions, by indentation: a line that ends a region belongs to its instruction.
  const around: { indent: number; mark: string | undefined }[] = [];
  let at = 0;
  for (const line of lines) {
    const indent = line.text.search(/[^ ]/);
    if (indent <= 0 || line.text.startsWith("//", indent)) continue;
    while (around.length > 0 && (around.at(-1)?.indent as number) > indent) around.pop();
    const owner = around.at(-1);
    if (line.text[indent] === "}") {
      if (owner?.indent === indent && owner.mark) line.mark = owner.mark;
      continue;
    }
    const key = keys[at++];
    if (!key) break;
    const mark = marks?.get(key)?.cls;
    line.key = key;
    if (mark) [line.mark, line.partner] = [mark, marks?.get(key)?.partner ?? null];
    if (owner?.indent === indent) around.pop();
    if (line.text.endsWith("{")) around.push({ indent, mark });
  }
  return lines;
}

/** Creates the tab with one text, or with two side by side. `selection` returns the selected instruction of the drawing. */
export function textPane(views: TextView[], selection?: () => { key: string; side: 0 | 1 } | null): Pane {
  // Two texts with the same number of lines are aligned, and scroll together.
  const [first, second] = views;
  if (first && second && first.length === second.length) {
    first.scrolled = (top) => second.scrollTo(top);
    second.scrolled = (top) => first.scrollTo(top);
  }
  let shown = "";
  let counts: number[] = [];
  let at = -1;
  let walked: [view: number, line: number] = [0, -1];
  return {
    title: "Text",
    element: h("div", { class: "texts" }, ...views.map((view) => view.element)),
    print: (on) => views.forEach((view) => view.print(on)),
    // Shows the selection of the drawing, if it is another one than before.
    shown: () => {
      const at = selection?.();
      const place = at ? `${at.side} ${at.key}` : "";
      const view = at ? (views.length > 1 ? views[at.side] : first) : undefined;
      if (at && view && place !== shown) view.goToKey(at.key);
      shown = place;
    },
    // Goes through the marked lines of the text that was used last, then of the other one.
    key: (event) => {
      const by = event.key === "n" ? 1 : event.key === "p" ? -1 : 0;
      if (by === 0 || views.every((view) => !view.marked)) return false;
      walked = walk(views, walked, by);
      return true;
    },
    search: (query) => {
      counts = views.map((view) => view.search(query));
      at = -1;
      return counts.reduce((a, b) => a + b, 0);
    },
    // Goes through the results in the first text, then in the second.
    next: (by) => {
      const all = counts.reduce((a, b) => a + b, 0);
      if (all === 0) return -1;
      at = (at + by + all) % all;
      let before = 0;
      for (const [n, view] of views.entries()) {
        const own = counts[n] as number;
        if (at < before + own) {
          view.pickFound(at - before);
          break;
        }
        before += own;
      }
      return at;
    },
  };
}

// Returns the next or the previous marked line, cyclically.
function walk(views: TextView[], [view, line]: [number, number], by: 1 | -1): [number, number] {
  for (let n = 0; n <= views.length; n += 1) {
    const found = (views[view] as TextView).nextMark(line, by);
    if (found >= 0) {
      (views[view] as TextView).goTo(found);
      return [view, found];
    }
    view = (view + by + views.length) % views.length;
    line = by === 1 ? -1 : Number.POSITIVE_INFINITY;
  }
  return [view, line];
}

export class TextView {
  readonly element: HTMLElement;
  private readonly scroller = h("div", { class: "lines", tabindex: 0, role: "list", "aria-label": "Program text" });
  private readonly rows = h("div", { class: "rows" });
  private readonly spacer = h("div", { class: "spacer" });
  private readonly status = h("span", { class: "quiet", role: "status" });
  private printing = false;
  marked = false;
  private found: number[] = [];
  private foundSet = new Set<number>();
  private at = -1;
  private current = -1;
  private numbers = 1;
  /** Called when the user scrolls. */
  scrolled: ((top: number) => void) | null = null;

  constructor(
    private lines: Line[],
    private readonly options: { note?: string; label?: string; pick?: (key: string) => void } = {},
  ) {
    if (options.label) this.scroller.setAttribute("aria-label", options.label);

    this.scroller.append(this.spacer, this.rows);
    const bar = h("div", { class: "text-status" }, options.label ? h("strong", {}, options.label) : null, this.status, options.note ? h("span", { class: "quiet" }, options.note) : null, copyButton("Copy text", () => `${this.lines.filter((line) => !line.filler).map((line) => line.text).join("\n")}\n`));
    this.element = h("div", { class: "text-view" }, bar, this.scroller);
    this.scroller.addEventListener("scroll", () => {
      this.draw();
      this.scrolled?.(this.scroller.scrollTop);
    });
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.show(lines);
  }

  show(lines: Line[]): void {
    this.lines = lines;
    this.marked = lines.some((line) => line.mark);
    [this.found, this.foundSet, this.at, this.current] = [[], new Set(), -1, -1];
    this.spacer.style.height = `${this.height()}px`;
    this.numbers = lines.reduce((n, line) => n + Number(!line.filler), 0);
    this.status.textContent = plural(this.numbers, "line");
    this.draw();
  }

  /** The number of lines, with those that only align it with another text. */
  get length(): number {
    return this.lines.length;
  }

  scrollTo(top: number): void {
    if (Math.abs(this.scroller.scrollTop - top) > 1) this.scroller.scrollTop = top;
  }

  /** Goes to the line of an instruction. */
  goToKey(key: string): void {
    const line = this.lines.findIndex((each) => each.key === key);
    if (line >= 0) this.goTo(line);
  }

  private height(): number {
    return Math.min(MAX_HEIGHT, this.lines.length * LINE_HEIGHT);
  }

  // The number of lines per pixel of the scroll bar.
  private ratio(): number {
    const view = this.scroller.clientHeight;
    const bar = this.height() - view;
    return bar > 0 ? (this.lines.length * LINE_HEIGHT - view) / bar / LINE_HEIGHT : 1 / LINE_HEIGHT;
  }

  private draw(): void {
    const view = this.scroller.clientHeight || 600;
    const first = this.printing ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop * this.ratio()));
    const many = this.printing ? MAX_PRINTED_LINES : Math.ceil(view / LINE_HEIGHT) + 2;
    this.rows.style.transform = `translateY(${this.printing ? 0 : this.scroller.scrollTop}px)`;
    const width = String(this.lines.length).length;
    put(
      this.rows,
      ...this.lines.slice(first, first + many).map((line, n) => {
        const number = first + n;
        const own = line.filler ? "" : String(line.number ?? number + 1);
        const cls = ["line", line.filler ? "filler" : "", line.mark ?? "", this.foundSet.has(number) ? "found" : "", number === this.current ? "current" : ""];
        return h(
          "div",
          {
            class: cls.filter(Boolean).join(" "), role: "listitem", "aria-setsize": this.lines.length, "aria-posinset": number + 1,
            "data-line": own || undefined, ondblclick: () => line.key && this.options.pick?.(line.key),
          },
          h("span", { class: "number", "aria-hidden": "true" }, own.padStart(width)),
          this.marked ? sign(line.mark) : null,
          h("span", { class: "code" }, ...highlighted(line.text)),
        );
      }),
      this.printing && this.lines.length > MAX_PRINTED_LINES ? h("div", { class: "line" }, `… ${plural(this.lines.length - MAX_PRINTED_LINES, "line")} more`) : null,
    );
  }

  print(on: boolean): void {
    this.printing = on;
    this.draw();
  }

  /** Finds the lines that contain all words, and returns their number. */
  search(query: string): number {
    const words = removeSpaces(query.toLowerCase()).split(/\s+/).filter(Boolean).map((w) => w.replace(/^(op|value|type|attr|scope):/, ""));
    this.found = [];
    const spaced = words.some((word) => /[,=]/.test(word));
    if (words.length > 0) {
      this.lines.forEach((line, n) => {
        const lower = line.text.toLowerCase();
        const text = spaced ? removeSpaces(lower) : lower;
        if (words.every((word) => text.includes(word))) this.found.push(n);
      });
    }
    this.foundSet = new Set(this.found);
    this.at = -1;
    this.status.textContent = words.length > 0 ? `${plural(this.found.length, "line")} of ${count(this.numbers)}` : plural(this.numbers, "line");
    this.draw();
    return this.found.length;
  }

  /** Goes to the next or the previous result. */
  next(by: 1 | -1): number {
    if (this.found.length === 0) return -1;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.goTo(this.found[this.at] as number);
    return this.at;
  }

  /** Goes to a result by its index. */
  pickFound(at: number): void {
    this.at = at;
    this.goTo(this.found[at] as number);
  }

  /** Returns the first marked line after or before a line; -1 if there is none. */
  nextMark(line: number, by: 1 | -1): number {
    const there = (each: Line) => each.mark !== undefined && each.key !== null;
    if (by === 1) return this.lines.findIndex((each, n) => n > line && there(each));
    return this.lines.findLastIndex((each, n) => n < line && there(each));
  }

  goTo(line: number): void {
    this.current = line;
    const above = Math.floor(this.scroller.clientHeight / LINE_HEIGHT / 2);
    this.scroller.scrollTop = Math.max(0, line - above) / this.ratio();
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / LINE_HEIGHT) - 2);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.lines.length, End: this.lines.length };
    const by = steps[event.key];
    const key = this.lines[this.current]?.key;
    if (event.key === "Enter" && key) this.options.pick?.(key);
    else if (by === undefined || event.ctrlKey || event.metaKey) return;
    else this.goTo(Math.max(0, Math.min(this.lines.length - 1, this.current + by)));
    event.preventDefault();
  }
}

// Creates the sign of a marked line.
function sign(mark: string | undefined): HTMLElement {
  const badge = mark ? BADGES[mark as MarkKind] : undefined;
  return badge ? h("span", { class: "line-sign", role: "img", "aria-label": badge.description }, badge.sign) : h("span", { class: "line-sign" });
}

// Returns a line with coloured values, types and strings. Long lines are not coloured.
function highlighted(text: string): (Node | string)[] {
  if (text.length > 600) return [text];
  return text.split(/("(?:[^"\\]|\\.)*"|%[\w.$-]+|@[\w.$-]+|\b(?:bool|[a-z]+\d+\w*)\[[^\]]*\]|\/\/.*$)/).map((part, n) => {
    if (n % 2 === 0) return part;
    const cls = part.startsWith('"') ? "t-string" : part.startsWith("%") ? "t-value" : part.startsWith("@") ? "t-name" : part.startsWith("//") ? "t-comment" : "t-type";
    return h("span", { class: cls }, part);
  });
}
