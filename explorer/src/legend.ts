// The legend of signs.

import type { MarkKind } from "./data";
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

/** Creates the legend of marks with their numbers: each is a button that emphasises its kind. */
export function markLegend(counts: Map<MarkKind, number>, chosen: Set<MarkKind>, changed: () => void): HTMLElement {
  const entries = (Object.keys(BADGES) as MarkKind[]).filter((kind) => counts.get(kind));
  const toggle = (kind: MarkKind, button: HTMLElement) => {
    if (!chosen.delete(kind)) chosen.add(kind);
    button.setAttribute("aria-pressed", String(chosen.has(kind)));
    changed();
  };
  return h(
    "div",
    { class: "legend marks", role: "group", "aria-label": "Marks" },
    ...entries.map((kind) => {
      const button = h(
        "button",
        { type: "button", class: `mark-key ${kind}`, "data-count": counts.get(kind), "aria-pressed": "false", title: `Emphasise ${kind}`, onclick: () => toggle(kind, button) },
        h("span", { class: "sign", "aria-hidden": "true" }, BADGES[kind].sign),
        `${count(counts.get(kind) ?? 0)} ${kind}`,
      );
      return button;
    }),
    entries.length === 0 ? h("span", { class: "quiet" }, "no differences") : null,
  );
}
