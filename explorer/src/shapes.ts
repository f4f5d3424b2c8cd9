// Small shapes of a drawing.

import { count, s } from "./dom";
import { round } from "./geometry";
import type { Rect, Scene } from "./layout";
import { READABLE_ZOOM } from "./opening";
import { familyClass } from "./palette";
import { instKey } from "./model";
import type { Content, Item, Tree } from "./tree";

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
    g.append(s("rect", { class: familyClass(family), x: round(left + at), y: round(r.h - 9), width: round(wide), height: 4 }));
    at += wide;
  }
  return g;
}

/** Returns the families in a box as text. */
export function mixText(box: Content): string {
  return box.mix.slice(0, 6).map(([family, n]) => `${count(n)} ${family}`).join(", ");
}

/** Returns the item that is nearest to a rectangle in a direction. */
export function nearestItem(items: Item[], places: ReadonlyMap<string, Rect>, open: ReadonlySet<string>, at: Rect, direction: "up" | "down" | "left" | "right"): string | null {
  const [cx, cy] = [at.x + at.w / 2, at.y + at.h / 2];
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const r = places.get(item.key) as Rect;
    const [dx, dy] = [r.x + r.w / 2 - cx, (item.kind === "box" && open.has(item.key) ? r.y + 13 : r.y + r.h / 2) - cy];
    const [ahead, aside] = direction === "up" ? [-dy, dx] : direction === "down" ? [dy, dx] : direction === "left" ? [-dx, dy] : [dx, dy];
    if (ahead < 4) continue;
    const far = ahead + 3 * Math.abs(aside);
    if (far < least) [best, least] = [item.key, far];
  }
  return best;
}

/** Returns the last instruction of the last open function, or the folded box that it is in. */
export function lastItem(tree: Tree, scene: Scene, seen: readonly string[]): string | null {
  const { functions } = tree.program;
  const opened = scene.boxes.filter((box) => box.what === "function");
  const fn = opened.at(-1)?.fn ?? functions.length - 1;
  const f = functions[fn];
  const own = [...(f?.insts.values() ?? [])].filter((inst) => inst.body === f?.body);
  const end = own.findLast((inst) => inst.results.length === 0) ?? own.at(-1);
  const key = end ? instKey(fn, end.id) : "";
  return [key, ...tree.ancestors(key).map((box) => box.key)].find((each) => seen.includes(each)) ?? seen.at(-1) ?? null;
}

/** The pixels of a character of the labels of functions that are shown above them in a drawing that is far away. */
const FAR_LABEL_CHAR = 7;

/** Hides the labels of functions that are longer than their boxes in a drawing that is far away. */
export function hideLongLabels(scene: Scene, elements: ReadonlyMap<string, SVGElement>, scale: number): void {
  for (const box of scene.boxes) {
    if (box.what !== "function" && box.what !== "functions") continue;
    const room = (scene.places.get(box.key) as Rect).w * scale;
    elements.get(box.key)?.classList.toggle("unlabelled", box.label.length * FAR_LABEL_CHAR > room + 30);
  }
}

/** The zoom factor below which all text of nodes is hidden because it would have less than nine pixels. */
export const TEXT_ZOOM = 0.75;

/** Hides the text that would be too small at a scale. */
export function hideSmallText(svg: SVGElement, scale: number): void {
  svg.classList.toggle("far", scale < READABLE_ZOOM);
  svg.classList.toggle("very-far", scale < TEXT_ZOOM);
}
