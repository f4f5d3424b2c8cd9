// Routes of edges: lines from one item to another that pass between the items on the way and through the borders of boxes.

import type { Rect } from "./layout";
import type { Box, Item } from "./tree";

/** A gap that a route passes: between left and right, from top to bottom. */
export interface Gap {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

export interface Route {
  points: [number, number][];
  /** The points where it passes the top of a box. */
  ports: [number, number][];
}

/** The distance of a route from the items it passes. */
const CLEARANCE = 5;
/** The distance of a route from the corners of boxes. */
const CORNER = 9;
/** The largest distance from the middle of an item at which a route ends, as a part of its width. */
const ASIDE = 0.3;
/** The height of the header of a box, and the width of its text. */
const HEAD = 26;
const LABEL = { left: 24, char: 7.6, size: 6.2 };

/** The rows of items in a box, from top to bottom. */
class Rows {
  readonly list: { top: number; bottom: number; rects: Rect[] }[] = [];

  constructor(rects: Rect[]) {
    for (const r of [...rects].sort((a, b) => a.y - b.y || a.x - b.x)) {
      const last = this.list.at(-1);
      if (last && r.y < last.bottom) {
        last.rects.push(r);
        last.bottom = Math.max(last.bottom, r.y + r.h);
      } else this.list.push({ top: r.y, bottom: r.y + r.h, rects: [r] });
    }
    for (const row of this.list) row.rects.sort((a, b) => a.x - b.x);
  }

  /** Returns the index of the row of an item. */
  of(r: Rect): number {
    let [low, high] = [0, this.list.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.list[middle] as { top: number }).top <= r.y) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** A finder of routes in one drawing. */
export class EdgeRouter {
  private readonly rows = new Map<Box, Rows>();

  constructor(private readonly places: ReadonlyMap<string, Rect>) {}

  /** Returns a route from an item down to another; nothing if the other one is not below. */
  find(from: Item, to: Item): Route | null {
    const [up, down] = separatingBoxes(from, to);
    const [a, b] = [this.place(from), this.place(to)];
    const end: [number, number] = [a.x + a.w / 2, a.y + a.h];
    // Edges from far to the side arrive beside the middle, where those from above do.
    const aim = Math.min(Math.max(end[0], b.x + b.w * (0.5 - ASIDE)), b.x + b.w * (0.5 + ASIDE));
    const holes = new GapList(end[0]);
    holes.add({ top: end[1], bottom: this.rowOf(from).bottom, left: end[0], right: end[0] });
    let at: Item = from;
    for (const box of up) {
      this.pass(box, this.rowsIn(box).of(this.place(at)) + 1, this.rowsIn(box).list.length, aim, holes);
      const r = this.place(box);
      holes.add({ top: r.y + r.h, bottom: this.rowOf(box).bottom, left: r.x + CORNER, right: r.x + r.w - CORNER });
      at = box;
    }
    for (const next of [...down, to]) {
      const home = next.parent as Box;
      const rows = this.rowsIn(home);
      const above = at.parent === home ? rows.of(this.place(at)) + 1 : 0;
      this.pass(home, above, rows.of(this.place(next)), aim, holes);
      const top = this.rowOf(next).top;
      const r = this.place(next);
      if (next === to) holes.add({ top, bottom: r.y, left: aim, right: aim });
      else holes.add({ top, bottom: r.y + HEAD, ...nearestPort(next as Box, r, holes.towards(aim, b.y, r.y)) });
      at = next;
    }
    if (!holes.fall) return null;
    const points = shortestLine(end, holes.list, [aim, b.y]);
    return { points, ports: down.map((box) => pointAtHeight(points, this.place(box).y)) };
  }

  // Adds the gaps in some rows of a box.
  private pass(box: Box, first: number, last: number, aim: number, holes: GapList): void {
    const bounds = this.place(box);
    const rows = this.rowsIn(box).list;
    for (let n = first; n < last; n += 1) {
      const { top, bottom, rects } = rows[n] as (typeof rows)[0];
      holes.add({ top, bottom, ...nearestGap(rects, bounds, holes.towards(aim, rows[last]?.top ?? bounds.y + bounds.h, (top + bottom) / 2)) });
    }
  }

  private place(item: Item): Rect {
    return this.places.get(item.key) as Rect;
  }

  private rowOf(item: Item): { top: number; bottom: number } {
    const rows = this.rowsIn(item.parent as Box);
    return rows.list[rows.of(this.place(item))] as { top: number; bottom: number };
  }

  private rowsIn(box: Box): Rows {
    let rows = this.rows.get(box);
    if (!rows) this.rows.set(box, (rows = new Rows(box.children.map((child) => this.place(child)))));
    return rows;
  }
}

// The gaps of a route so far. Records if each one is below the previous one.
class GapList {
  readonly list: Gap[] = [];
  fall = true;

  constructor(private x: number) {}

  add(hole: Gap): void {
    const last = this.list.at(-1);
    if ((last && hole.top < last.bottom - 0.5) || hole.bottom < hole.top - 0.5) this.fall = false;
    this.x = Math.min(Math.max(this.x, hole.left), hole.right);
    this.list.push(hole);
  }

  /** Returns the x of a straight line from the last gap to a target, at some height. */
  towards(aim: number, end: number, y: number): number {
    const from = this.list.at(-1)?.bottom ?? y;
    const part = end > from ? Math.min(1, Math.max(0, (y - from) / (end - from))) : 1;
    return this.x + (aim - this.x) * part;
  }
}

// Returns the boxes that contain only one of two items: those of the first from inside out, those of the second from outside in.
function separatingBoxes(from: Item, to: Item): [Box[], Box[]] {
  const chain = (item: Item) => {
    const list: Box[] = [];
    for (let box = item.parent; box; box = box.parent) list.push(box);
    return list;
  };
  const [up, down] = [chain(from), chain(to)];
  while (up.length > 0 && up.at(-1) === down.at(-1)) {
    up.pop();
    down.pop();
  }
  return [up, down.reverse()];
}

// Returns the gap in a row that is nearest to a position.
function nearestGap(rects: Rect[], bounds: Rect, x: number): { left: number; right: number } {
  let best = { left: bounds.x + 2, right: bounds.x + 2 };
  let least = Number.POSITIVE_INFINITY;
  let left = bounds.x + 2;
  const look = (right: number) => {
    const far = x < left ? left - x : x > right ? x - right : 0;
    if (right >= left && far < least) [best, least] = [{ left, right }, far];
  };
  for (const r of rects) {
    look(r.x - CLEARANCE);
    left = r.x + r.w + CLEARANCE;
  }
  look(bounds.x + bounds.w - 2);
  return best;
}

// Returns the part of the header of a box without text that is nearest to a position.
function nearestPort(box: Box, r: Rect, x: number): { left: number; right: number } {
  const label = r.x + LABEL.left + box.label.length * LABEL.char + CLEARANCE;
  const size = r.x + r.w - CORNER - (`${box.size} ops`.length + 1) * LABEL.size - CLEARANCE;
  const free = [[label, size], [r.x + 4, r.x + 7], [r.x + r.w - 7, r.x + r.w - 4]] as const;
  const far = ([left, right]: readonly [number, number]) => (right < left ? Number.POSITIVE_INFINITY : x < left ? left - x : x > right ? x - right : 0);
  const [left, right] = free.reduce((best, each) => (far(each) < far(best) ? each : best), free[1] as readonly [number, number]);
  return { left, right };
}

// Returns the shortest line through all gaps, which bends only where it must.
function shortestLine(start: [number, number], holes: Gap[], end: [number, number]): [number, number][] {
  const gates = [...holes.flatMap(({ top, bottom, left, right }) => [{ y: top, left, right }, { y: bottom, left, right }]), { y: end[1], left: end[0], right: end[0] }];
  const points: [number, number][] = [start];
  let [apex, from] = [start, 0];
  while (from < gates.length) {
    let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    let [lowAt, highAt] = [from, from];
    let bend = -1;
    for (let n = from; n < gates.length; n += 1) {
      const { y, left, right } = gates[n] as (typeof gates)[0];
      const fall = Math.max(y - apex[1], 0.01);
      const [toLeft, toRight] = [(left - apex[0]) / fall, (right - apex[0]) / fall];
      if (toLeft > high) bend = highAt;
      else if (toRight < low) bend = lowAt;
      if (bend >= 0) {
        const gate = gates[bend] as (typeof gates)[0];
        apex = [toLeft > high ? gate.right : gate.left, gate.y];
        break;
      }
      if (toLeft >= low) [low, lowAt] = [toLeft, n];
      if (toRight <= high) [high, highAt] = [toRight, n];
    }
    if (bend < 0) break;
    points.push(apex);
    from = bend + 1;
  }
  points.push(end);
  return points.filter((p, n) => n === 0 || p[0] !== points[n - 1]?.[0] || p[1] !== points[n - 1]?.[1]);
}

// Returns the point of a descending line at some height.
function pointAtHeight(points: [number, number][], y: number): [number, number] {
  const n = Math.max(1, points.findIndex((p) => p[1] >= y));
  const [[x0, y0], [x1, y1]] = [points[n - 1] as [number, number], points[n] as [number, number]];
  return [y1 > y0 ? x0 + ((x1 - x0) * (y - y0)) / (y1 - y0) : x1, y];
}
