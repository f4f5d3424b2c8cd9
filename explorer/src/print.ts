// A picture on paper: whole if it is readable on one page, in strips that cut through no node otherwise.

import { h, put, s } from "./dom";
import { meets, round } from "./geometry";
import type { Rect, Scene } from "./layout";

/** What fits on a page, in pixels, with some room left for both kinds of paper. */
const PAGE = { w: 980, h: 660 };
/** What stands above the first picture. */
const HEADER = 150;
/** A picture that has to be made smaller than this to fit on one page is cut. */
const SMALLEST = 0.5;

/** Where a picture is cut: from and to, and how many pixels of paper a unit takes. */
export function strips(scene: Scene): { cuts: [number, number][]; scale: number } {
  const { width, height } = scene;
  const whole = Math.min(1, PAGE.w / width, (PAGE.h - HEADER) / height);
  const scale = Math.min(1, PAGE.w / width);
  if (whole >= SMALLEST || whole >= 0.8 * scale) return { cuts: [[0, height]], scale: whole };
  const rectsOf = (items: { key: string }[]) => items.map((item) => scene.places.get(item.key) as Rect);
  const nodes = rectsOf(scene.nodes);
  const functions = rectsOf(scene.boxes.filter((box) => box.what === "function"));
  const cuts: [number, number][] = [];
  for (let top = 0; top < height - 1; ) {
    const room = (cuts.length === 0 ? PAGE.h - HEADER : PAGE.h) / scale;
    // Between functions if that leaves no page half empty, else between nodes.
    const most = top + room;
    const bottom = most >= height ? height : (free([...functions, ...nodes], top + room * 0.5, most) ?? free(nodes, top + room * 0.6, most) ?? most);
    cuts.push([top, bottom]);
    top = bottom;
  }
  return { cuts, scale };
}

// The lowest place between two that nothing stands on.
function free(rects: Rect[], least: number, most: number): number | null {
  const near = rects.filter((r) => r.y < most && r.y + r.h > least).sort((a, b) => b.y + b.h - (a.y + a.h));
  let at = most;
  for (const r of near) {
    if (r.y + r.h + 2 <= at) break;
    at = Math.min(at, r.y - 8);
  }
  return at > least ? at : null;
}

/** The strips of a picture as elements: copies of what is drawn. */
export function paper(scene: Scene, drawn: { element: SVGElement; rect: Rect }[], defs: SVGElement): HTMLElement {
  const { cuts, scale } = strips(scene);
  const sheet = h("div", { class: "paper" });
  for (const [n, [top, bottom]] of cuts.entries()) {
    const last = n === cuts.length - 1;
    const [x, y, w, high] = [-4, top === 0 ? -12 : top, scene.width + 10, bottom - top + (top === 0 ? 12 : 0) + (last ? 4 : 0)];
    const svg = s("svg", { class: "graph-svg", viewBox: `${x} ${round(y)} ${round(w)} ${round(high)}`, width: round(w * scale), height: round(high * scale) });
    const window = { x, y, w, h: high };
    const copies = drawn.filter(({ rect }) => meets(rect, window)).map(({ element }) => {
      const copy = element.cloneNode(true) as SVGElement;
      copy.removeAttribute("id");
      return copy;
    });
    put(svg, defs.cloneNode(true) as SVGElement, ...copies);
    ownMarkers(svg, `-paper${n}`);
    sheet.append(svg);
  }
  return sheet;
}

// Gives the markers of a picture names of their own: one that is defined in a hidden picture is not drawn.
function ownMarkers(svg: SVGElement, suffix: string): void {
  for (const marker of svg.querySelectorAll("marker")) marker.id += suffix;
  for (const line of svg.querySelectorAll("[marker-end]")) {
    line.setAttribute("marker-end", (line.getAttribute("marker-end") ?? "").replace(")", `${suffix})`));
  }
}
