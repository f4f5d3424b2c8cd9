// A small map of the whole drawing that shows the visible part.

import { h, put, s } from "./dom";
import type { Rect, Scene } from "./layout";

const WIDTH = 168;
const HEIGHT = 116;
/** The smallest number of items with a map. */
const MIN_MAP_ITEMS = 40;

export class Minimap {
  readonly element = h("div", { class: "minimap", "aria-hidden": "true", hidden: true });
  private readonly svg = s("svg", { width: WIDTH, height: HEIGHT });
  private readonly seen = s("rect", { class: "seen", rx: 2 });
  private size = { w: 1, h: 1 };

  constructor(private readonly go: (x: number, y: number) => void) {
    this.element.append(this.svg);
    const drag = (event: PointerEvent) => {
      if (event.buttons !== 1) return;
      const bounds = this.svg.getBoundingClientRect();
      this.go(((event.clientX - bounds.left) / bounds.width) * this.size.w, ((event.clientY - bounds.top) / bounds.height) * this.size.h);
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.element.addEventListener("pointermove", drag);
  }

  show(scene: Scene): void {
    this.element.hidden = scene.nodes.length < MIN_MAP_ITEMS;
    this.size = { w: Math.max(1, scene.width), h: Math.max(1, scene.height) };
    const scale = Math.min(WIDTH / this.size.w, HEIGHT / this.size.h);
    this.svg.setAttribute("width", String(Math.max(24, this.size.w * scale)));
    this.svg.setAttribute("height", String(Math.max(24, this.size.h * scale)));
    this.svg.setAttribute("viewBox", `0 0 ${this.size.w} ${this.size.h}`);
    this.svg.setAttribute("preserveAspectRatio", "none");
    const rects = (items: { key: string }[]) =>
      items.map(({ key }) => scene.places.get(key)).map((r) => (r ? outline(r) : "")).join("");
    put(this.svg, s("path", { class: "boxes", d: rects(scene.boxes) }), s("path", { class: "nodes", d: rects(scene.nodes) }), this.seen);
  }

  look(window: Rect): void {
    const left = Math.max(0, window.x);
    const top = Math.max(0, window.y);
    this.seen.setAttribute("x", String(left));
    this.seen.setAttribute("y", String(top));
    this.seen.setAttribute("width", String(Math.max(0, Math.min(this.size.w, window.x + window.w) - left)));
    this.seen.setAttribute("height", String(Math.max(0, Math.min(this.size.h, window.y + window.h) - top)));
  }
}

function outline(r: Rect): string {
  return `M${Math.round(r.x)} ${Math.round(r.y)}h${Math.round(r.w)}v${Math.round(r.h)}h${-Math.round(r.w)}z`;
}
