// Printing of a drawing: on one page if that is readable, otherwise in strips that cut through no node.

import { h, put, s } from "./dom";
import { extent, intersects, round } from "./geometry";
import type { Rect, Scene } from "./layout";

/** The size of a page in pixels, small enough for A4 and US Letter. */
const PAGE = { w: 980, h: 660 };
/** The height of the header above the first strip. */
const HEADER = 150;
/** The smallest scale of a drawing on one page; a larger drawing is cut into strips. */
const MIN_PRINT_SCALE = 0.5;

/** Returns the strips of a drawing, each from and to, and the pixels of paper per unit. */
export function strips(scene: Scene): { cuts: [number, number][]; scale: number } {
  const { width, height } = scene;
  const whole = Math.min(1, PAGE.w / width, (PAGE.h - HEADER) / height);
  const scale = Math.min(1, PAGE.w / width);
  if (whole >= MIN_PRINT_SCALE || whole >= 0.8 * scale) return { cuts: [[0, height]], scale: whole };
  const rectsOf = (items: { key: string }[]) => items.map((item) => scene.places.get(item.key) as Rect);
  const nodes = rectsOf(scene.nodes);
  const functions = rectsOf(scene.boxes.filter((box) => box.what === "function"));
  const cuts: [number, number][] = [];
  for (let top = 0; top < height - 1; ) {
    const room = (cuts.length === 0 ? PAGE.h - HEADER : PAGE.h) / scale;
    // Cuts between functions if no page gets half empty, otherwise between nodes.
    const most = top + room;
    const bottom = most >= height ? height : (freeCut([...functions, ...nodes], top + room * 0.5, most) ?? freeCut(nodes, top + room * 0.6, most) ?? most);
    cuts.push([top, bottom]);
    top = bottom;
  }
  return { cuts, scale };
}

// Returns the lowest position between two that no rectangle covers.
function freeCut(rects: Rect[], least: number, most: number): number | null {
  const near = rects.filter((r) => r.y < most && r.y + r.h > least).sort((a, b) => b.y + b.h - (a.y + a.h));
  let at = most;
  for (const r of near) {
    if (r.y + r.h + 2 <= at) break;
    at = Math.min(at, r.y - 8);
  }
  return at > least ? at : null;
}

/** Returns a printable copy of a drawing, whose elements are in the groups of `world`. */
export function printedSheet(scene: Scene, world: SVGElement, defs: SVGElement): HTMLElement {
  const edges = new Map(scene.edges.map((e) => [`${e.from} ${e.to}`, e]));
  const drawn = [...world.children].flatMap((group) => [...group.children]).map((element) => {
    const { key, from, to } = (element as SVGElement).dataset;
    const edge = from ? edges.get(`${from} ${to}`) : undefined;
    return { element: element as SVGElement, rect: edge ? extent(edge) : (scene.places.get(key ?? "") as Rect) };
  });
  return printedStrips(scene, drawn, defs);
}

// Returns the strips of a drawing as elements that contain copies of the drawn elements.
function printedStrips(scene: Scene, drawn: { element: SVGElement; rect: Rect }[], defs: SVGElement): HTMLElement {
  const { cuts, scale } = strips(scene);
  const sheet = h("div", { class: "paper" });
  for (const [n, [top, bottom]] of cuts.entries()) {
    const last = n === cuts.length - 1;
    const [x, y, w, high] = [-4, top === 0 ? -12 : top, scene.width + 10, bottom - top + (top === 0 ? 12 : 0) + (last ? 4 : 0)];
    const svg = s("svg", { class: "graph-svg", viewBox: `${x} ${round(y)} ${round(w)} ${round(high)}`, width: round(w * scale), height: round(high * scale) });
    const window = { x, y, w, h: high };
    const copies = drawn.filter(({ rect }) => intersects(rect, window)).map(({ element }) => {
      const copy = element.cloneNode(true) as SVGElement;
      copy.removeAttribute("id");
      return copy;
    });
    put(svg, defs.cloneNode(true) as SVGElement, ...copies);
    renameMarkers(svg, `-paper${n}`);
    sheet.append(svg);
  }
  return sheet;
}

// Renames the markers of a drawing: a marker that is defined in a hidden element is not drawn.
function renameMarkers(svg: SVGElement, suffix: string): void {
  for (const marker of svg.querySelectorAll("marker")) marker.id += suffix;
  for (const line of svg.querySelectorAll("[marker-end]")) {
    line.setAttribute("marker-end", (line.getAttribute("marker-end") ?? "").replace(")", `${suffix})`));
  }
}
