// The legend of colours and signs.

import type { Data, MarkKind } from "./data";
import { chip } from "./details";
import { count, h } from "./dom";
import type { Badge } from "./view";

/** The badges of marks. */
export const BADGES: Record<MarkKind, Badge> = {
  erased: { cls: "erased", sign: "−", description: "erased" },
  merged: { cls: "merged", sign: "⇢", description: "merged with an equal instruction" },
  new: { cls: "new", sign: "+", description: "new" },
  changed: { cls: "changed", sign: "~", description: "changed" },
  moved: { cls: "moved", sign: "↕", description: "moved" },
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
