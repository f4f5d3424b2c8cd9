// Ways round: lines from one item to another that pass between those on the way, and through the borders of boxes.

import type { Rect } from "./layout";
import type { Box, Item } from "./tree";

/** A hole that a way goes through: between left and right, all the way from top to bottom. */
export interface Hole {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

export interface Way {
  points: [number, number][];
  /** Where it goes through the top of a box. */
  ports: [number, number][];
}

/** So far a way stays from what it passes, and from the corners of boxes. */
const CLEAR = 5;
const CORNER = 9;
/** How high the head of a box is, and how wide what stands in it. */
const HEAD = 26;
const LABEL = { left: 24, char: 7.2, size: 6.2 };

/** What stands side by side, from top to bottom. */
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

  /** The number of the row that an item stands in. */
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

/** Finds ways in one picture. */
export class Ways {
  private readonly rows = new Map<Box, Rows>();

  constructor(private readonly places: ReadonlyMap<string, Rect>) {}

  /** A way from an item down to another; nothing if that is not below. */
  find(from: Item, to: Item): Way | null {
    const [up, down] = apart(from, to);
    const [a, b] = [this.place(from), this.place(to)];
    const end: [number, number] = [a.x + a.w / 2, a.y + a.h];
    const aim = b.x + b.w / 2;
    const holes = new Holes(end[0]);
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
      else holes.add({ top, bottom: r.y + HEAD, ...port(next as Box, r, holes.towards(aim, b.y, r.y)) });
      at = next;
    }
    if (!holes.fall) return null;
    const points = taut(end, holes.list, [aim, b.y]);
    return { points, ports: down.map((box) => crossing(points, this.place(box).y)) };
  }

  // Through the gaps of some rows of a box.
  private pass(box: Box, first: number, last: number, aim: number, holes: Holes): void {
    const bounds = this.place(box);
    const rows = this.rowsIn(box).list;
    for (let n = first; n < last; n += 1) {
      const { top, bottom, rects } = rows[n] as (typeof rows)[0];
      holes.add({ top, bottom, ...gap(rects, bounds, holes.towards(aim, rows[last]?.top ?? bounds.y + bounds.h, (top + bottom) / 2)) });
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

// The holes so far, and whether each is below the one before.
class Holes {
  readonly list: Hole[] = [];
  fall = true;

  constructor(private x: number) {}

  add(hole: Hole): void {
    const last = this.list.at(-1);
    if ((last && hole.top < last.bottom - 0.5) || hole.bottom < hole.top - 0.5) this.fall = false;
    this.x = Math.min(Math.max(this.x, hole.left), hole.right);
    this.list.push(hole);
  }

  /** Where a straight line from the last hole to an aim is at some height. */
  towards(aim: number, end: number, y: number): number {
    const from = this.list.at(-1)?.bottom ?? y;
    const part = end > from ? Math.min(1, Math.max(0, (y - from) / (end - from))) : 1;
    return this.x + (aim - this.x) * part;
  }
}

// The boxes that only one of two items is in: of the first from inside out, of the second from outside in.
function apart(from: Item, to: Item): [Box[], Box[]] {
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

// The gap in a row that is nearest to a place.
function gap(rects: Rect[], bounds: Rect, x: number): { left: number; right: number } {
  let best = { left: bounds.x + 2, right: bounds.x + 2 };
  let least = Number.POSITIVE_INFINITY;
  let left = bounds.x + 2;
  const look = (right: number) => {
    const far = x < left ? left - x : x > right ? x - right : 0;
    if (right >= left && far < least) [best, least] = [{ left, right }, far];
  };
  for (const r of rects) {
    look(r.x - CLEAR);
    left = r.x + r.w + CLEAR;
  }
  look(bounds.x + bounds.w - 2);
  return best;
}

// Where one can go through the head of a box without crossing what is written there, nearest to a place.
function port(box: Box, r: Rect, x: number): { left: number; right: number } {
  const label = r.x + LABEL.left + box.label.length * LABEL.char + CLEAR;
  const size = r.x + r.w - CORNER - (`${box.size} ops`.length + 1) * LABEL.size - CLEAR;
  const free = [[label, size], [r.x + 4, r.x + 7], [r.x + r.w - 7, r.x + r.w - 4]] as const;
  const far = ([left, right]: readonly [number, number]) => (right < left ? Number.POSITIVE_INFINITY : x < left ? left - x : x > right ? x - right : 0);
  const [left, right] = free.reduce((best, each) => (far(each) < far(best) ? each : best), free[1] as readonly [number, number]);
  return { left, right };
}

// The shortest way through all holes, pulled taut: it bends where it must.
function taut(start: [number, number], holes: Hole[], end: [number, number]): [number, number][] {
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

// Where a way that only goes down is at some height.
function crossing(points: [number, number][], y: number): [number, number] {
  const n = Math.max(1, points.findIndex((p) => p[1] >= y));
  const [[x0, y0], [x1, y1]] = [points[n - 1] as [number, number], points[n] as [number, number]];
  return [y1 > y0 ? x0 + ((x1 - x0) * (y - y0)) / (y1 - y0) : x1, y];
}
