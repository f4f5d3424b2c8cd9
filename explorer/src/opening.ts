// The boxes that are open at first: as many as fit into the window at a readable size.

import type { Layouter } from "./layout";
import { type Box, MAX_PREVIEW_LINES, type Tree } from "./tree";

/** The smallest zoom factor at which all text can be read: the smallest text then has nine pixels. */
export const READABLE_ZOOM = 0.82;
/** The largest number of boxes that are tried, of items in one of them, and of instructions that all tries together look at. */
const MAX_TRIES = 60;
const MAX_ITEMS = 120;
const MAX_TRIED_INSTS = 200_000;
/** The largest factor by which the drawing of a program that is not small gets wider, so that a column of boxes stays one. */
const MAX_WIDENING = 1.2;
/** The largest number of instructions of a program whose repetitions and called functions may be open at first. */
const MAX_SMALL_PROGRAM = 100;

/**
 * Returns the boxes that are open at first in a window of this size: from the outermost to the innermost, those that leave everything readable. If not even the
 * outermost ones do, folded boxes list less of their content.
 */
export function openingBoxes(tree: Tree, layouter: Layouter, width: number, height: number): Set<string> {
  let open = tree.minimallyOpen();
  tree.previewLines = MAX_PREVIEW_LINES;
  while (tree.previewLines > 0 && layouter.size(tree, open).h * READABLE_ZOOM > height) tree.previewLines -= 1;
  const small = tree.root.size <= MAX_SMALL_PROGRAM;
  const widest = small ? Number.POSITIVE_INFINITY : layouter.size(tree, open).w * MAX_WIDENING;
  const fits = (boxes: ReadonlySet<string>) => {
    const { w, h } = layouter.size(tree, boxes);
    return w <= widest && w * READABLE_ZOOM <= width && h * READABLE_ZOOM <= height;
  };
  const work: Box[] = [tree.root];
  let tries = Math.min(MAX_TRIES, Math.floor(MAX_TRIED_INSTS / Math.max(1, tree.root.size)));
  for (let at = 0; at < work.length && tries > 0; at += 1) {
    for (const child of inOrder(work[at] as Box)) {
      if (open.has(child.key)) {
        work.push(child);
        continue;
      }
      const count = child.children.length;
      if (count > MAX_ITEMS || (!small && isSecondary(tree, child)) || tries === 0) continue;
      tries -= 1;
      const more = new Set(open).add(child.key);
      if (!fits(more)) continue;
      open = more;
      work.push(child);
    }
  }
  return open;
}

// Returns true for a repetition, called functions and parameters: their labels tell enough.
function isSecondary(tree: Tree, box: Box): boolean {
  return ["repeat", "functions", "params", "constants"].includes(box.what) || (box.what === "function" && !tree.entries.has(box.fn));
}

// Returns the boxes in a box, the small ones first: of two boxes that do not both fit, the small one tells more per area.
function inOrder(box: Box): Box[] {
  const boxes = box.children.filter((child) => child.kind === "box");
  return box.what === "program" ? boxes : boxes.sort((a, b) => a.children.length - b.children.length);
}
