// Rectangles and curves.

import type { Edge, Rect } from "./layout";

export function round(n: number, digits = 1): number {
  const by = 10 ** digits;
  return Math.round(n * by) / by;
}

export function path(edge: Edge): string {
  const p = edge.points;
  const at = (i: number) => p[i] as [number, number];
  const [x0, y0] = at(0);
  let d = `M${round(x0)} ${round(y0)}`;
  if (p.length === 2) {
    const [x1, y1] = at(1);
    const bend = Math.max(12, Math.abs(y1 - y0) * 0.4);
    return `${d}C${round(x0)} ${round(y0 + bend)} ${round(x1)} ${round(y1 - bend)} ${round(x1)} ${round(y1)}`;
  }
  if (edge.deep || edge.faint) return rounded(p);
  // Passes the midpoints of the routed points, and bends at the points.
  for (let i = 1; i < p.length - 1; i += 1) {
    const [cx, cy] = at(i);
    const [nx, ny] = at(i + 1);
    const last = i === p.length - 2;
    d += `Q${round(cx)} ${round(cy)} ${round(last ? nx : (cx + nx) / 2)} ${round(last ? ny : (cy + ny) / 2)}`;
  }
  return d;
}

/** The distance from a corner where a line starts to bend. */
const BEND_RADIUS = 9;

// Returns straight lines from point to point with rounded corners.
function rounded(p: [number, number][]): string {
  const at = (i: number) => p[i] as [number, number];
  const towards = ([x0, y0]: [number, number], [x1, y1]: [number, number]) => {
    const long = Math.hypot(x1 - x0, y1 - y0);
    const part = long > 0 ? Math.min(BEND_RADIUS / long, 0.5) : 0;
    return `${round(x0 + (x1 - x0) * part)} ${round(y0 + (y1 - y0) * part)}`;
  };
  let d = `M${round(at(0)[0])} ${round(at(0)[1])}`;
  for (let i = 1; i < p.length - 1; i += 1) {
    d += `L${towards(at(i), at(i - 1))}Q${round(at(i)[0])} ${round(at(i)[1])} ${towards(at(i), at(i + 1))}`;
  }
  const [x, y] = at(p.length - 1);
  return `${d}L${round(x)} ${round(y)}`;
}

export function extent(edge: Edge): Rect {
  const xs = edge.points.map((p) => p[0]);
  const ys = edge.points.map((p) => p[1]);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, w: Math.max(...xs) - x, h: Math.max(...ys) - y };
}

export function intersects(a: Rect, b: Rect): boolean {
  return a.x <= b.x + b.w && b.x <= a.x + a.w && a.y <= b.y + b.h && b.y <= a.y + a.h;
}

export function holds(a: Rect, b: Rect): boolean {
  return a.x <= b.x && a.y <= b.y && a.x + a.w >= b.x + b.w && a.y + a.h >= b.y + b.h;
}
