// The matches of patterns in a drawing.

import type { MatchRow } from "./data";
import { count, h, plural } from "./dom";
import { instKey } from "./model";
import type { Badge, GraphView } from "./view";

/** A bar that goes through the matches of patterns, which are marked in the drawing. */
export class MatchWalk {
  readonly element: HTMLElement;
  private readonly label = h("span", { role: "status" });
  private readonly keys: string[][];
  private at = -1;

  constructor(
    private readonly matches: MatchRow[],
    private readonly view: GraphView,
  ) {
    const { program } = view.tree;
    this.keys = matches.map((match) => match.insts.map((inst) => instKey(program.indexOf(match.function), inst)));
    const badges = new Map<string, Badge>();
    matches.forEach((match, n) => {
      for (const key of this.keys[n] as string[]) {
        const before = badges.get(key);
        badges.set(key, { cls: "match", sign: "●", description: before ? `${before.description}, ${match.pattern}` : `matched by ${match.pattern}` });
      }
    });
    view.setBadges(badges);
    const counts = new Map<string, number>();
    for (const { pattern } of matches) counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
    this.label.textContent = `${plural(matches.length, "match").replace("matchs", "matches")}: ${[...counts].slice(0, 12).map(([name, n]) => `${name} ×${count(n)}`).join(", ")}`;
    this.element = h(
      "div",
      { class: "pass-summary", role: "group", "aria-label": "Matches" },
      h(
        "span",
        { class: "mark-walk" },
        h("button", { type: "button", onclick: () => this.walk(-1), title: "Previous match (p)" }, "◂ previous"),
        h("button", { type: "button", onclick: () => this.walk(1), title: "Next match (n)" }, "next ▸"),
      ),
      this.label,
    );
  }

  /** Goes to the next or the previous match, and dims everything else. */
  walk(by: 1 | -1): void {
    const all = this.matches.length;
    this.at = this.at < 0 ? (by === 1 ? 0 : all - 1) : (this.at + by + all) % all;
    const match = this.matches[this.at] as MatchRow;
    const keys = this.keys[this.at] as string[];
    for (const key of keys) this.view.reveal(key);
    this.view.setEmphasis(new Set(keys));
    if (keys[0]) this.view.select(keys[0], true);
    const reason = match.reason ? `; cannot be replaced: ${match.reason}` : "";
    this.label.textContent = `${count(this.at + 1)} of ${count(all)}: ${match.pattern} in @${match.function}, ${plural(keys.length, "op")}${reason}`;
  }
}
