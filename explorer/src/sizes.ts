// Types in a drawing: their sizes, and short forms of those with long symbols.

import { short } from "./dom";

/** The largest number of characters of an extent on an edge, or in a type that is too long. */
const MAX_EXTENT = 8;
/** The same for the name of a symbol. */
const MAX_SYMBOL = 16;
/** The largest number of characters of the sizes on an edge. */
const MAX_SIZES = 28;

/**
 * Returns the sizes of a type: `2×32×64` for `f32[2, 32, 64]`, a type without sizes as it is, and nothing for a type of which no size is known. Extents that are long or not
 * known are `?`; names of symbols are written as long as there is place.
 */
export function sizeText(type: string): string {
  if (type === "opaque") return "";
  const sizes = /\[(.+)\]$/.exec(type)?.[1];
  if (!sizes) return short(type, MAX_SIZES);
  const all = extentsOf(sizes);
  const named = all.map((extent) => (/^\?\w+$/.test(extent) && extent.length <= MAX_SYMBOL && !isMadeUp(extent) ? extent : shortExtent(extent)));
  if (named.every((extent) => extent === "?")) return "";
  const text = named.join("×");
  return text.length <= MAX_SIZES ? text : short(all.map(shortExtent).join("×"), MAX_SIZES);
}

/** Returns a type of at most this length if it can be written so: in one that is longer, long extents are `?`. */
export function shortType(type: string, most: number): string {
  if (type.length <= most && !type.includes("?unk_")) return type;
  const sizes = /^([^[]*)\[(.+)\]$/.exec(type);
  return short(sizes ? `${sizes[1]}[${extentsOf(sizes[2] as string).map(shortExtent).join(", ")}]` : type, most);
}

function shortExtent(extent: string): string {
  return extent.length > MAX_EXTENT || isMadeUp(extent) ? "?" : extent;
}

// Returns true for a name that a reader of ONNX files makes up for an unnamed size: it tells nothing.
function isMadeUp(extent: string): boolean {
  return /^\?unk_/.test(extent);
}

// Returns the extents in a list; commas in parentheses do not separate.
function extentsOf(sizes: string): string[] {
  const extents = [""];
  let depth = 0;
  for (const c of sizes.replaceAll(", ", ",")) {
    depth += c === "(" ? 1 : c === ")" ? -1 : 0;
    if (c === "," && depth === 0) extents.push("");
    else extents[extents.length - 1] += c;
  }
  return extents;
}
