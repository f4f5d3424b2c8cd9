// What colours and signs mean.

import type { Data, MarkKind } from "./data";
import { chip } from "./details";
import { count, h } from "./dom";
import type { Badge } from "./view";

/** The signs of marks. */
export const BADGES: Record<MarkKind, Badge> = {
  erased: { cls: "erased", sign: "−", words: "erased" },
  merged: { cls: "merged", sign: "⇢", words: "merged into an equal one" },
  new: { cls: "new", sign: "+", words: "new" },
  changed: { cls: "changed", sign: "~", words: "changed" },
  moved: { cls: "moved", sign: "↕", words: "moved" },
};

export function legend(data: Data): HTMLElement {
  return h("div", { class: "legend", role: "note", "aria-label": "Families" }, ...data.families.map(chip));
}

export function markLegend(counts: Map<MarkKind, number>): HTMLElement {
  const entries = (Object.keys(BADGES) as MarkKind[]).filter((kind) => counts.get(kind));
  return h(
    "div",
    { class: "legend marks", role: "note", "aria-label": "Marks" },
    ...entries.map((kind) =>
      h(
        "span",
        { class: `mark-key ${kind}`, "data-count": counts.get(kind) },
        h("span", { class: "sign", "aria-hidden": "true" }, BADGES[kind].sign),
        `${count(counts.get(kind) ?? 0)} ${kind}`,
      ),
    ),
    entries.length === 0 ? h("span", { class: "quiet" }, "no differences") : null,
  );
}
