// Small shapes of a drawing.

import { count, s } from "./dom";
import { round } from "./geometry";
import type { Rect } from "./layout";
import { familyClass } from "./palette";
import type { Content } from "./tree";

/** Returns the item of a drawn element, and true as `head` if the element is the header of a box. */
export function keyAt(target: EventTarget | null): { key: string; head: boolean } | null {
  const element = target instanceof Element ? target.closest<SVGElement>("[data-key]") : null;
  if (!element) return null;
  const head = !!(target as Element).closest(".head,.twist,.label,.sub");
  return { key: element.dataset.key as string, head };
}

/** Creates the marker of arrow heads. */
export function arrowHead(id: string): SVGElement {
  return s(
    "defs",
    {},
    s("marker", { id: `${id}-arrow`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto" }, s("path", { d: "M0 0.8L8 4L0 7.2z", class: "arrow" })),
  );
}

/** Creates a bar of the families in a folded box, with widths by frequency. */
export function mixBar(box: Content, r: Rect): SVGElement {
  const g = s("g", { class: "mix" });
  const [left, width] = [8, r.w - 16];
  let at = 0;
  for (const [family, n] of box.mix.slice(0, 12)) {
    const wide = (n / Math.max(1, box.size)) * width;
    g.append(s("rect", { class: familyClass(family), x: round(left + at), y: 36, width: round(wide), height: 4 }));
    at += wide;
  }
  return g;
}

/** Returns the families in a box as text. */
export function mixText(box: Content): string {
  return box.mix.slice(0, 6).map(([family, n]) => `${count(n)} ${family}`).join(", ");
}
