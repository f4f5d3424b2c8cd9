// Pictures of a drawing as it is on the screen, in SVG and PNG.

import { h, s } from "./dom";

/** The style properties that are copied from the page into the picture. */
const PROPERTIES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity", "visibility", "display", "font-family", "font-size", "font-weight",
  "text-anchor", "text-decoration", "paint-order", "stroke-linejoin",
];
/** The characters that XML does not allow. */
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** The distance of the dots of the background. */
const GRID = 22;

/** Returns the visible part of a drawing as an SVG document that needs no other file. */
export function svgText(svg: SVGElement, stage: HTMLElement): string {
  const [width, height] = [stage.clientWidth, stage.clientHeight];
  const copy = svg.cloneNode(true) as SVGElement;
  copyStyle(svg, copy);
  for (const hidden of copy.querySelectorAll(".hit")) hidden.remove();
  for (const element of [copy, ...copy.querySelectorAll("*")]) clean(element);
  const style = getComputedStyle(stage);
  const dot = style.getPropertyValue("--grid").trim() || "#e4e8ed";
  const back = getComputedStyle(document.body).backgroundColor;
  const pattern = s("pattern", { id: "dots", width: GRID, height: GRID, patternUnits: "userSpaceOnUse" }, s("circle", { cx: GRID / 2, cy: GRID / 2, r: 1.15, fill: dot }));
  copy.prepend(s("defs", {}, pattern), s("rect", { width, height, fill: back }), s("rect", { width, height, fill: "url(#dots)" }));
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return new XMLSerializer().serializeToString(copy);
}

function copyStyle(from: Element, to: Element): void {
  const [a, b] = [[from, ...from.querySelectorAll("*")], [to, ...to.querySelectorAll("*")]];
  a.forEach((element, n) => {
    const style = getComputedStyle(element);
    const target = b[n] as Element;
    for (const name of PROPERTIES) target.setAttribute(name, style.getPropertyValue(name));
  });
}

// Removes the attributes that only the page needs, and the characters that would break the document.
function clean(element: Element): void {
  for (const { name } of [...element.attributes]) if (/^(aria-|data-|role$|class$|tabindex$)/.test(name)) element.removeAttribute(name);
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE && child.textContent) child.textContent = child.textContent.replace(NOT_XML, "\ufffd");
  }
}

// Returns a picture in PNG with the resolution of the screen.
async function pngBlob(svg: SVGElement, stage: HTMLElement): Promise<Blob> {
  const image = h("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg, stage))}` });
  await image.decode();
  const ratio = window.devicePixelRatio || 1;
  const canvas = h("canvas", { width: Math.round(stage.clientWidth * ratio), height: Math.round(stage.clientHeight * ratio) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large"))), "image/png"));
}

/** Saves the visible part of a drawing as a file that is named after it. */
export async function savePicture(kind: "svg" | "png", label: string, svg: SVGElement, stage: HTMLElement): Promise<void> {
  const content = kind === "png" ? await pngBlob(svg, stage) : new Blob([svgText(svg, stage)], { type: "image/svg+xml" });
  const url = URL.createObjectURL(content);
  const name = label.replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "") || "graph";
  h("a", { href: url, download: `${name}.${kind}` }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
