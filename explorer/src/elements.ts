// The SVG elements of a drawing.

import { plural, s, short } from "./dom";
import { path, round } from "./geometry";
import { type Edge, LINE_HEIGHT, type Rect, rowText, smallText } from "./layout";
import type { EdgeLabelPlaces } from "./labels";
import { familyClass } from "./palette";
import { mixBar } from "./shapes";
import { shortType } from "./sizes";
import { type Box, type Content, type Item, type Node } from "./tree";
import type { Badge } from "./view";
import { RESIDUAL } from "./words";

/** The width of a character of labels and of small text. */
const LABEL_CHAR = 7.25;
export const SMALL_CHAR = 6.65;
/** The distance of the base line of an edge label from the middle of the edge: it must not touch the shade of the box above. */
const LABEL_DROP = 5.5;

/**
 * Creates the elements of an edge: a line with a wider invisible one for the pointer, and its labels, which are above all lines. The sizes are left out where another
 * label is; the tooltip has them.
 */
export function edgeElements(edge: Edge, id: string, cls: string, labels: { size: string; operands: string }, places: EdgeLabelPlaces): { line: SVGElement; labels: SVGElement | null } {
  const d = path(edge);
  const [end, middle] = [edge.points.at(-1) as [number, number], middleOf(edge)];
  const before = edge.points.at(-2) as [number, number];
  // The number of the operand is on the side that the line does not come from.
  const aside = before[0] <= end[0] + 1 ? 5 : -5;
  const size = labels.size !== "" && places.take(labels.size, middle[0] + 5, middle[1] + LABEL_DROP);
  const ends = { "data-from": edge.from, "data-to": edge.to };
  const line = s(
    "g",
    { class: `edge${edge.faint ? " faint" : ""}${edge.deep ? " deep" : ""}${cls}`, ...ends },
    s("path", { class: "hit", d }),
    s("path", { class: "line", d, "marker-end": `url(#${id}-arrow)` }),
    ...edge.ports.map(([x, y]) => s("circle", { class: "port", cx: round(x), cy: round(y), r: 2.6 })),
  );
  if (!size && labels.operands === "") return { line, labels: null };
  const texts = s(
    "g",
    { class: "edge-texts", ...ends },
    size ? s("text", { class: "sub edge-label", x: round(middle[0] + 5), y: round(middle[1] + LABEL_DROP) }, labels.size) : null,
    labels.operands ? s("text", { class: `sub edge-label ${aside < 0 ? "end" : ""}`, x: round(end[0] + aside), y: round(end[1] - 5) }, labels.operands) : null,
  );
  return { line, labels: texts };
}

// Returns the point in the middle of an edge, from top to bottom.
function middleOf({ points }: Edge): [number, number] {
  const [[x0, y0], [x1, y1]] = [points[0] as [number, number], points[1] as [number, number]];
  return points.length === 2 ? [(x0 + x1) / 2, (y0 + y1) / 2] : [x0 + ((x1 - x0) * Math.min(16, y1 - y0)) / Math.max(1, y1 - y0), y0 + Math.min(16, y1 - y0)];
}

/** Creates the frame and the header of an open box. Its texts end with a space, so that screen readers separate them. */
export function boxElement(box: Box, r: Rect, content: Content, sub: string | null): SVGElement {
  const g = s(
    "g",
    {
      class: `box ${box.what} ${familyClass(box.family)}`, "data-key": box.key,
      transform: `translate(${round(r.x)},${round(r.y)})`, role: "button", "aria-expanded": "true",
    },
    s("rect", { width: round(r.w), height: round(r.h), rx: 9 }),
    s("rect", { class: "head", width: round(r.w), height: 26, rx: 9 }),
    s("path", { class: "twist", d: "M10 10.5l4 5 4-5z" }),
    s("text", { x: 24, y: 17.5, class: "label" }, `${short(box.label, Math.max(4, Math.floor((r.w - 40) / LABEL_CHAR)))} `),
  );
  const size = sub ?? plural(content.size, "op");
  if (r.w - 60 - box.label.length * LABEL_CHAR > size.length * SMALL_CHAR) {
    g.append(s("text", { x: round(r.w - 10), y: 17.5, class: "sub end", "aria-hidden": "true" }, size));
  }
  return g;
}

/** Creates a folded box: its label, a line with its number of ops, a list of its content, and a bar of the families in it. Screen readers read its name, which has all of them. */
export function foldedElement(box: Box, r: Rect, content: Content, preview: string[], line: string, aside: string): SVGElement {
  const g = s(
    "g",
    {
      class: `node folded ${box.what} ${familyClass(box.family)}`, "data-key": box.key,
      transform: `translate(${round(r.x)},${round(r.y)})`, role: "button", "aria-expanded": "false",
    },
    s("rect", { class: "shade", x: 3, y: 3, width: r.w, height: r.h, rx: 7 }),
  );
  if (box.what === "repeat") g.append(s("rect", { class: "shade", x: 6, y: 6, width: r.w, height: r.h, rx: 7 }));
  g.append(
    s("rect", { width: r.w, height: r.h, rx: 7 }),
    s("path", { class: "twist", d: "M10.5 8.5l5 4-5 4z" }),
    s("text", { x: 22, y: 17, class: "label" }, `${short(box.label, Math.floor((r.w - 30) / LABEL_CHAR))} `),
    s("text", { x: 22, y: 31, class: "sub", "aria-hidden": "true" }, `${short(line, Math.floor((r.w - 28) / SMALL_CHAR))} `),
    aside ? s("text", { x: r.w - 8, y: 17, class: "sub end", "aria-hidden": "true" }, `${aside} `) : "",
    ...preview.map((line, n) => s("text", { x: 22, y: 31 + (n + 1) * LINE_HEIGHT, class: "sub list", "aria-hidden": "true" }, `${short(line, Math.floor((r.w - 28) / SMALL_CHAR))} `)),
    ...residualArrows(preview),
    mixBar(content, r),
  );
  return g;
}

// Creates an arrow beside the list of a folded box for each line with a residual sum: from the beginning of the box, or from the line with the sum before.
function residualArrows(preview: string[]): SVGElement[] {
  const arrows: SVGElement[] = [];
  let from = 23;
  preview.forEach((line, n) => {
    if (!line.includes(RESIDUAL)) return;
    const to = 27 + (n + 1) * LINE_HEIGHT;
    const d = `M12 ${from}V${to - 4}Q12 ${to} 15.5 ${to}H18.8M16.2 ${to - 2.6}L19 ${to}L16.2 ${to + 2.6}`;
    arrows.push(s("g", { class: "skip", "aria-hidden": "true" }, s("path", { d }), s("circle", { cx: 12, cy: from, r: 1.8 })));
    from = to + 6;
  });
  return arrows;
}

/** Creates a node without its rows. */
export function nodeElement(item: Node, r: Rect, sub: string | null): SVGElement {
  const g = s(
    "g",
    { class: `node ${item.small ? "small" : ""} ${familyClass(item.family)}`, "data-key": item.key, transform: `translate(${round(r.x)},${round(r.y)})`, role: "img" },
    s("rect", { width: r.w, height: r.h, rx: item.small ? 10 : 7 }),
  );
  const wide = (padding: number, per: number) => Math.floor((r.w - padding) / per);
  if (item.small) {
    g.append(s("text", { x: r.w / 2, y: 14, class: "label mid" }, smallText(item, wide(12, SMALL_CHAR))));
  } else {
    g.append(s("text", { x: r.w / 2, y: 16.5, class: "label mid" }, short(item.label, wide(12, LABEL_CHAR))));
    if (item.sub) g.append(s("text", { x: r.w / 2, y: 30, class: "sub mid" }, sub ? short(sub, wide(10, SMALL_CHAR)) : shortType(item.sub, wide(10, SMALL_CHAR))));
  }
  return g;
}

/** Creates a row of a node: a weight or a constant. A row whose value has its place in another node refers to it. */
export function rowElement(row: Node, r: Rect, own: boolean): SVGElement {
  return s(
    "g",
    { class: `node row ${familyClass(row.family)}`, "data-key": row.key, transform: `translate(${round(r.x)},${round(r.y)})`, role: own ? "img" : undefined },
    s("rect", { width: round(r.w), height: r.h, rx: 3 }),
    s("text", { x: 5, y: 11.6, class: "sub" }, rowText(row, Math.floor((r.w - 8) / SMALL_CHAR))),
  );
}

/** Creates the badge in the corner of an item. */
export function badgeElement(item: Item, r: Rect, badge: Badge): SVGElement {
  const wide = Math.max(16, badge.sign.length * 7 + 8);
  const [right, top] = item.kind === "node" && item.host ? [r.w + 8, 0] : [r.w + wide / 2 - 2, -7];
  return s(
    "g",
    { class: "badge", "aria-hidden": "true", transform: `translate(${round(right - wide)},${top})` },
    s("rect", { width: wide, height: 15, rx: 7.5 }),
    s("text", { x: wide / 2, y: 11.5, class: "mid" }, badge.sign),
  );
}
