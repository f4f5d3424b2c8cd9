// The alignment of two texts line by line, by the marks of their differences.

import type { Line } from "./textview";

/** A function in a text, or the lines between two functions. */
interface Segment {
  name: string | null;
  lines: Line[];
}

const FILLER: Line = { text: "", key: null, filler: true };

/** Returns two texts with empty lines, so that equal and changed lines are side by side. Takes time proportional to n log n. */
export function aligned(left: Line[], right: Line[]): [Line[], Line[]] {
  const rows: [Line, Line][] = [];
  const [a, b] = [segments(numbered(left)), segments(numbered(right))];
  const positions = new Map<string, number>();
  b.forEach(({ name }, n) => name !== null && positions.set(name, n));
  let next = 0;
  const onlyRight = (until: number) => {
    for (; next < until; next += 1) pairLines([], (b[next] as Segment).lines, rows);
  };
  for (const { name, lines } of a) {
    const found = name === null ? (b[next]?.name === null ? next : -1) : (positions.get(name) ?? -1);
    if (found < next) {
      pairLines(lines, [], rows);
      continue;
    }
    onlyRight(found);
    pairLines(lines, (b[found] as Segment).lines, rows);
    next = found + 1;
  }
  onlyRight(b.length);
  return [rows.map(([line]) => line), rows.map(([, line]) => line)];
}

function numbered(lines: Line[]): Line[] {
  return lines.map((line, n) => ({ ...line, number: n + 1 }));
}

// Divides a text into functions, which end at a brace in the first column, and the lines between them.
function segments(lines: Line[]): Segment[] {
  const list: Segment[] = [];
  let open = false;
  for (const line of lines) {
    const name = /^func (?:private )?@("(?:[^"\\]|\\.)*"|[^\s(]+)/.exec(line.text)?.[1];
    const last = list.at(-1);
    if (name !== undefined) list.push({ name, lines: [line] });
    else if (last && (open || last.name === null)) last.lines.push(line);
    else list.push({ name: null, lines: [line] });
    open = name !== undefined || (open && !line.text.startsWith("}"));
  }
  return list;
}

// Pairs the lines of two segments: the largest number of equal and changed instructions in the same order, and between them
// the other lines of both sides next to each other.
function pairLines(a: Line[], b: Line[], rows: [Line, Line][]): void {
  let [i, j] = [0, 0];
  for (const [atA, atB] of [...anchors(a, b), [a.length, b.length] as [number, number]]) {
    for (; i < atA || j < atB; i += 1, j += 1) rows.push([i < atA ? (a[i] as Line) : FILLER, j < atB ? (b[j] as Line) : FILLER]);
    if (atA < a.length && atB < b.length) rows.push([a[atA] as Line, b[atB] as Line]);
    [i, j] = [atA + 1, atB + 1];
  }
}

// Returns the positions of the lines that are paired, ascending on both sides.
function anchors(a: Line[], b: Line[]): [number, number][] {
  if (a.length === 0 || b.length === 0) return [];
  const positions = new Map(b.map((line, n) => [line.key, n]));
  const same = b.flatMap((line, n) => (line.key && !line.mark ? [n] : []));
  let next = 0;
  const pairs: [number, number][] = [[0, 0]];
  a.forEach((line, n) => {
    const other = !line.key ? undefined : line.mark ? positions.get(line.partner ?? null) : same[next++];
    if (other !== undefined && line.partner !== null && n > 0 && other > 0) pairs.push([n, other]);
  });
  return increasing(pairs);
}

// Returns a longest subsequence of pairs whose second numbers increase.
function increasing(pairs: [number, number][]): [number, number][] {
  // For each length, the pair with the smallest second number that ends a subsequence of this length.
  const ends: number[] = [];
  const before: number[] = [];
  pairs.forEach(([, other], n) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] as number] as [number, number])[1] < other) low = middle + 1;
      else high = middle;
    }
    before[n] = low > 0 ? (ends[low - 1] as number) : -1;
    ends[low] = n;
  });
  const list: [number, number][] = [];
  for (let n = ends.at(-1) ?? -1; n >= 0; n = before[n] as number) list.push(pairs[n] as [number, number]);
  return list.reverse();
}
