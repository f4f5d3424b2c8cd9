// A drawing of a program with panning, zooming, folding and keyboard navigation.

import { count, h, plural, put, s, short } from "./dom";
import { extent, holds, intersects, path, round } from "./geometry";
import { type Edge, Layouter, type Rect, type Scene } from "./layout";
import { type Program, definitions, instKey, users } from "./model";
import { Minimap } from "./minimap";
import { familyClass } from "./palette";
import { printedStrips } from "./print";
import { arrowHead, keyAt, mixBar, mixText } from "./shapes";
import { type Box, type Content, type Item, Tree } from "./tree";

/** A badge on an item: its CSS class, the sign in its corner, and a description. */
export interface Badge {
  cls: string;
  sign: string;
  description: string;
}

export interface ViewOptions {
  label: string;
  /** The preferred ratio of width to height. */
  aspect?: number;
  /** The program in the other view. */
  beside?: Program;
  /** Called when the selection changes; `null` if nothing is selected. */
  selected?: (key: string | null) => void;
  /** Called when the user folds or unfolds a box. */
  toggled?: (key: string, open: boolean) => void;
  /** Shows a message, also to screen readers. */
  say?: (message: string) => void;
}

/** The largest number of items that are all drawn; of more items, only those near the visible part are drawn. */
const MAX_DRAWN_ITEMS = 1500;
/** The milliseconds of work between two pauses, so that the page stays responsive. */
const WORK_SLICE = 60;
/** The margin around the drawing. */
const VIEW_MARGIN = 24;
/** The zoom factor below which small text is hidden. */
const SMALL_TEXT_ZOOM = 0.42;
/** The largest number of items that are all printed; of more items, only the visible part is printed. */
const MAX_PRINTED_ITEMS = 6000;

let views = 0;

export class GraphView {
  readonly element: HTMLElement;
  tree: Tree;
  scene!: Scene;
  open: Set<string>;
  scale = 1;
  x = 0;
  y = 0;
  selected: string | null = null;
  /** Marks from a comparison. */
  badges = new Map<string, Badge>();
  /** If set, only these items and edges are drawn, with this content of boxes. */
  only: { items: ReadonlySet<string>; edges: ReadonlySet<string>; ghosts: ReadonlySet<string>; contents: ReadonlyMap<Box, Content> } | null = null;
  private found = new Set<string>();
  private peer: string | null = null;
  readonly layouter: Layouter;
  private readonly id = `view${views++}`;
  private readonly svg = s("svg", { class: "graph-svg", "aria-hidden": "false" });
  private readonly world = s("g", { class: "world" });
  private readonly stage: HTMLElement;
  private readonly tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  private readonly minimap: Minimap;
  private elements = new Map<string, SVGElement>();
  private drawn: Rect | null = null;
  private stale = false;
  private fitted = false;
  private printing = false;
  private sheet: HTMLElement | null = null;
  // The message in the drawing, which the next action removes, and the number of the current action.
  private readonly note = h("div", { class: "view-note", "aria-hidden": "true", hidden: true });
  private task = 0;
  /** The other view: at first both have the same zoom factor. */
  mate: GraphView | null = null;

  constructor(program: Program, private readonly options: ViewOptions) {
    this.layouter = new Layouter(options.aspect);
    this.tree = new Tree(program, options.beside);
    this.open = this.tree.initiallyOpen();
    this.minimap = new Minimap((x, y) => this.centreOn(x, y));
    this.svg.append(arrowHead(this.id), this.world);
    this.stage = h(
      "div",
      {
        class: "stage",
        tabindex: 0,
        role: "application",
        "aria-roledescription": "graph",
        "aria-label": `${options.label}. Arrow keys move along values, Enter folds and unfolds, plus and minus zoom, question mark lists all keys.`,
      },
      this.svg,
    );
    this.element = h("div", { class: "view" }, this.stage, this.controls(), this.minimap.element, this.note, this.tip);
    this.listen();
    this.layout();
    new ResizeObserver(() => this.resized()).observe(this.stage);
  }

  /** Shows another program. Boxes with the same key stay folded or unfolded. */
  show(program: Program): void {
    this.tree = new Tree(program);
    this.open = this.tree.initiallyOpen();
    this.selected = null;
    this.fitted = false;
    this.badges = new Map();
    this.layout();
    this.resized();
  }

  private controls(): HTMLElement {
    const button = (label: string, sign: string, act: () => void) =>
      h("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick: act }, sign);
    return h(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "View" },
      button("Zoom in", "+", () => this.zoom(1.25)),
      button("Zoom out", "−", () => this.zoom(0.8)),
      button("Show everything", "⤢", () => this.fit()),
      button("Fold all", "▸", () => this.foldAll()),
      button("Unfold all", "▾", () => this.unfoldAll()),
    );
  }

  private resized(): void {
    if (this.stage.clientWidth === 0) return;
    if (!this.fitted) this.fit(this.mate);
    else this.move();
    if (this.stale) this.draw();
  }

  // ---- layout and folds

  layout(): void {
    this.quiet();
    this.scene = this.layouter.scene(this.tree, this.open);
    this.minimap.show(this.scene);
    this.draw();
  }

  isOpen(key: string): boolean {
    return this.open.has(key);
  }

  /** Folds or unfolds a box. The clicked item keeps its position on the screen. */
  toggle(key: string): void {
    const before = this.scene.places.get(key);
    if (this.open.has(key)) this.open.delete(key);
    else this.open.add(key);
    this.options.toggled?.(key, this.open.has(key));
    this.layout();
    const after = this.scene.places.get(key);
    if (before && after) {
      this.x += (before.x - after.x) * this.scale;
      this.y += (before.y - after.y) * this.scale;
      this.move();
    }
    const item = this.tree.items.get(key);
    this.options.say?.(`${item?.label ?? ""} ${this.open.has(key) ? "unfolded" : "folded"}`);
  }

  foldAll(): void {
    this.open = new Set([this.tree.root.key]);
    this.layout();
    this.fit();
    this.options.say?.("all folded");
  }

  /** Unfolds all boxes up to a limit. Works in slices if it takes long; any other action cancels it. */
  unfoldAll(): void {
    const { open, left } = this.tree.allOpen();
    const boxes = (n: number) => plural(n, "box").replace("boxs", "boxes");
    this.quiet();
    const task = this.task;
    const work = this.layouter.prepare(this.tree, open);
    const go = () => {
      if (task !== this.task) return;
      const began = performance.now();
      for (let next = work.next(); !next.done; next = work.next()) {
        if (next.value === 0 || performance.now() - began < WORK_SLICE) continue;
        this.showMessage(`unfolding, ${boxes(next.value)} to go …`);
        window.setTimeout(go);
        return;
      }
      this.open = open;
      this.layout();
      this.fit();
      if (left === 0) this.options.say?.("all unfolded");
      else this.showMessage(`unfolded up to the limit; ${boxes(left)} left folded`);
    };
    go();
  }

  // Shows a message, also in the drawing.
  private showMessage(message: string): void {
    this.note.textContent = message;
    this.note.hidden = false;
    this.options.say?.(message);
  }

  // Cancels the current action and removes its message.
  private quiet(): void {
    this.task += 1;
    this.note.hidden = true;
  }

  /** Opens the boxes around an item. */
  reveal(key: string): boolean {
    const closed = this.tree.ancestors(key).filter((box) => !this.open.has(box.key));
    for (const box of closed) this.open.add(box.key);
    if (closed.length > 0) this.layout();
    return this.scene.places.has(key);
  }

  // ---- drawing

  draw(): void {
    const many = this.scene.nodes.length + this.scene.boxes.length > (this.printing ? MAX_PRINTED_ITEMS : MAX_DRAWN_ITEMS);
    // The visible part is not known yet.
    this.stale = many && this.stage.clientWidth === 0;
    if (this.stale) return;
    this.drawn = many ? this.window(1) : null;
    const near = (r: Rect | undefined) => !!r && (!this.drawn || intersects(r, this.drawn));
    this.elements.clear();
    const boxes = s("g");
    const edges = s("g", { class: "edges" });
    const nodes = s("g");
    const visible = (key: string) => !this.only || this.only.items.has(key);
    for (const box of this.scene.boxes) {
      if (near(this.scene.places.get(box.key)) && visible(box.key)) boxes.append(this.boxElement(box));
    }
    for (const edge of this.scene.edges) {
      const there = !this.only || this.only.edges.has(`${edge.from} ${edge.to}`);
      const ghost = !there && (this.only?.ghosts.has(edge.from) || this.only?.ghosts.has(edge.to));
      if (!there && !(ghost && visible(edge.from) && visible(edge.to))) continue;
      if (!this.drawn || near(extent(edge))) edges.append(this.edgeElement(edge, ghost ? " ghost" : ""));
    }
    for (const node of this.scene.nodes) {
      if (near(this.scene.places.get(node.key)) && visible(node.key)) nodes.append(this.nodeElement(node));
    }
    put(this.world, boxes, edges, nodes);
    this.mark();
    this.move();
  }

  // A line, and a wider invisible one for the pointer.
  private edgeElement(edge: Edge, cls: string): SVGElement {
    const d = path(edge);
    return s(
      "g",
      { class: `edge${edge.faint ? " faint" : ""}${edge.deep ? " deep" : ""}${cls}`, "data-from": edge.from, "data-to": edge.to },
      s("path", { class: "hit", d }),
      s("path", { class: "line", d, "marker-end": `url(#${this.id}-arrow)` }),
      ...edge.ports.map(([x, y]) => s("circle", { class: "port", cx: round(x), cy: round(y), r: 2.6 })),
    );
  }

  private boxElement(box: Box): SVGElement {
    const r = this.scene.places.get(box.key) as Rect;
    const g = s(
      "g",
      {
        class: `box ${box.what} ${familyClass(box.family)}`, id: this.domId(box.key), "data-key": box.key,
        transform: `translate(${round(r.x)},${round(r.y)})`, role: "button", "aria-expanded": "true",
      },
      s("rect", { width: round(r.w), height: round(r.h), rx: 9 }),
      s("rect", { class: "head", width: round(r.w), height: 26, rx: 9 }),
      s("path", { class: "twist", d: "M10 10.5l4 5 4-5z" }),
      s("text", { x: 24, y: 17.5, class: "label" }, short(box.label, Math.max(4, Math.floor((r.w - 40) / 7.2)))),
    );
    const size = plural(this.content(box).size, "op");
    if (r.w - 60 - box.label.length * 7.2 > size.length * 6.2) {
      g.append(s("text", { x: round(r.w - 10), y: 17.5, class: "sub end" }, size));
    }
    this.elements.set(box.key, g);
    return g;
  }

  private nodeElement(item: Item): SVGElement {
    const r = this.scene.places.get(item.key) as Rect;
    const folded = item.kind === "box";
    const cls = folded ? `folded ${item.what}` : item.small ? "small" : "";
    const g = s("g", {
      class: `node ${cls} ${familyClass(item.family)}`, id: this.domId(item.key), "data-key": item.key,
      transform: `translate(${round(r.x)},${round(r.y)})`, role: folded ? "button" : "img",
      "aria-expanded": folded ? "false" : undefined,
    });
    if (folded) {
      g.append(s("rect", { class: "shade", x: 3, y: 3, width: r.w, height: r.h, rx: 7 }));
    }
    g.append(s("rect", { width: r.w, height: r.h, rx: item.kind === "node" && item.small ? 10 : 7 }));
    const wide = (chars: number, per: number) => Math.floor((r.w - chars) / per);
    if (item.kind === "node" && item.small) {
      g.append(s("text", { x: r.w / 2, y: 13.6, class: "label mid" }, short(item.label, wide(12, 6))));
    } else if (item.kind === "node") {
      g.append(s("text", { x: r.w / 2, y: 16.5, class: "label mid" }, short(item.label, wide(16, 7))));
      if (item.sub) g.append(s("text", { x: r.w / 2, y: 30, class: "sub mid" }, short(item.sub, wide(10, 6))));
    } else {
      g.append(
        s("path", { class: "twist", d: "M10.5 8.5l5 4-5 4z" }),
        s("text", { x: 22, y: 17, class: "label" }, short(item.label, wide(30, 7))),
        s("text", { x: 22, y: 30, class: "sub" }, plural(this.content(item).size, "op")),
        mixBar(this.content(item), r),
      );
    }
    this.elements.set(item.key, g);
    return g;
  }

  /** Returns the content of a box. */
  content(box: Box): Content {
    return this.only ? (this.only.contents.get(box) ?? { size: 0, mix: [] }) : box;
  }

  /** Returns the description of an item for screen readers. */
  describe(item: Item): string {
    const badge = this.badges.get(item.key);
    const mark = badge ? `, ${badge.description}` : "";
    if (item.kind === "box") return `${item.label}, ${plural(this.content(item).size, "op")}${mark}`;
    if (!item.inst) return `parameter ${item.label}, ${item.sub}`;
    return `${short(item.inst.text, 200)}${mark}`;
  }

  private domId(key: string): string {
    return `${this.id}-${key}`;
  }

  /** Colours the items that are selected, found or marked. */
  mark(): void {
    const beside = this.selected ? this.neighbours(this.selected) : new Set<string>();
    for (const [key, element] of this.elements) {
      const badge = this.badges.get(key) ?? this.hiddenBadge(key);
      element.classList.toggle("selected", key === this.selected);
      element.classList.toggle("beside", beside.has(key));
      element.classList.toggle("peer", key === this.peer);
      element.classList.toggle("found", this.found.has(key));
      for (const old of element.querySelectorAll(":scope > .badge")) old.remove();
      element.setAttribute("data-mark", badge?.cls ?? "");
      element.setAttribute("aria-label", this.describe(this.tree.items.get(key) as Item));
      if (badge) this.addBadge(element, key, badge);
    }
    for (const edge of this.world.querySelectorAll<SVGElement>(".edge")) {
      const { from, to } = edge.dataset;
      edge.classList.toggle("hot", this.selected !== null && (from === this.selected || to === this.selected));
    }
    this.stage.setAttribute("aria-activedescendant", this.selected && this.elements.has(this.selected) ? this.domId(this.selected) : "");
  }

  // A folded box has a badge if an item in it is marked.
  private hiddenBadge(key: string): Badge | undefined {
    const item = this.tree.items.get(key);
    if (this.badges.size === 0 || item?.kind !== "box" || this.open.has(key)) return undefined;
    const inside = this.inside.get(key);
    return inside ? { cls: "inside", sign: count(inside), description: plural(inside, "mark") } : undefined;
  }

  private inside = new Map<string, number>();

  setBadges(badges: Map<string, Badge>): void {
    this.badges = badges;
    this.inside.clear();
    for (const key of badges.keys()) {
      for (const box of this.tree.ancestors(key)) this.inside.set(box.key, (this.inside.get(box.key) ?? 0) + 1);
    }
    this.mark();
  }

  private addBadge(element: SVGElement, key: string, badge: Badge): void {
    const r = this.scene.places.get(key) as Rect;
    const wide = Math.max(16, badge.sign.length * 7 + 8);
    element.append(
      s(
        "g",
        { class: "badge", transform: `translate(${round(r.w - wide / 2 - 2)},-7)` },
        s("rect", { width: wide, height: 15, rx: 7.5 }),
        s("text", { x: wide / 2, y: 11.5, class: "mid" }, badge.sign),
      ),
    );
  }

  /** Marks the counterpart of an item in another view. */
  setPeer(key: string | null): void {
    this.peer = key;
    this.mark();
  }

  setFound(keys: Iterable<string>): void {
    this.found = new Set(keys);
    this.mark();
  }

  // ---- moving

  private move(): void {
    this.world.setAttribute("transform", `translate(${round(this.x)},${round(this.y)}) scale(${round(this.scale, 4)})`);
    this.svg.classList.toggle("far", this.scale < SMALL_TEXT_ZOOM && !this.printing);
    this.minimap.look(this.window(0));
    if (this.drawn && !holds(this.drawn, this.window(0))) this.draw();
  }

  // Returns the visible rectangle, enlarged by a factor.
  private window(grow: number): Rect {
    const [w, height] = [this.stage.clientWidth || 800, this.stage.clientHeight || 600];
    return {
      x: (-this.x - grow * w) / this.scale,
      y: (-this.y - grow * height) / this.scale,
      w: ((1 + 2 * grow) * w) / this.scale,
      h: ((1 + 2 * grow) * height) / this.scale,
    };
  }

  /** Adds a printable copy of the whole drawing to the page, or removes it. */
  print(on: boolean): void {
    this.sheet?.remove();
    this.sheet = null;
    const whole = on && this.scene.nodes.length + this.scene.boxes.length <= MAX_PRINTED_ITEMS;
    this.element.classList.toggle("whole", whole);
    this.svg.classList.toggle("far", this.scale < SMALL_TEXT_ZOOM && !on);
    if (this.printing !== whole) {
      this.printing = whole;
      this.draw();
    }
    if (!whole) return;
    const edges = new Map(this.scene.edges.map((e) => [`${e.from} ${e.to}`, e]));
    const drawn = [...this.world.children].flatMap((group) => [...group.children]).map((element) => {
      const { key, from, to } = (element as SVGElement).dataset;
      const edge = from ? edges.get(`${from} ${to}`) : undefined;
      return { element: element as SVGElement, rect: edge ? extent(edge) : (this.scene.places.get(key ?? "") as Rect) };
    });
    this.sheet = printedStrips(this.scene, drawn, this.svg.firstElementChild as SVGElement);
    this.element.append(this.sheet);
  }

  pan(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.move();
  }

  zoom(by: number, at?: { x: number; y: number }): void {
    const to = Math.min(4, Math.max(0.02, this.scale * by));
    const { x, y } = at ?? { x: this.stage.clientWidth / 2, y: this.stage.clientHeight / 2 };
    this.x = x - ((x - this.x) * to) / this.scale;
    this.y = y - ((y - this.y) * to) / this.scale;
    this.scale = to;
    this.move();
  }

  /** Shows everything, with at most the zoom factor of another view. */
  fit(mate: GraphView | null = null): void {
    const [w, height] = [this.stage.clientWidth, this.stage.clientHeight];
    if (w === 0) return;
    this.fitted = true;
    this.scale = Math.min(this.fitting(), mate?.fitting() ?? Number.POSITIVE_INFINITY);
    this.x = (w - this.scene.width * this.scale) / 2;
    this.y = Math.max(VIEW_MARGIN, (height - this.scene.height * this.scale) / 2);
    this.move();
  }

  // Returns the zoom factor at which everything fits. Tall programs are shown from their beginning at a readable size.
  private fitting(): number {
    const [w, height] = [this.stage.clientWidth - 2 * VIEW_MARGIN, this.stage.clientHeight - 2 * VIEW_MARGIN];
    if (w <= 0 || this.scene.width === 0 || this.scene.height === 0) return 1.2;
    const all = Math.min(w / this.scene.width, height / this.scene.height);
    return Math.min(1.2, Math.max(all, Math.min(0.45, w / this.scene.width)));
  }

  centreOn(x: number, y: number): void {
    this.x = this.stage.clientWidth / 2 - x * this.scale;
    this.y = this.stage.clientHeight / 2 - y * this.scale;
    this.move();
  }

  /** Scrolls an item to the centre. */
  centre(key: string): void {
    const r = this.scene.places.get(key);
    if (!r) return;
    if (this.scale < 0.55) this.scale = 0.9;
    this.centreOn(r.x + r.w / 2, r.y + r.h / 2);
  }

  /** Scrolls the counterpart of an item to the position that the item has in another view. */
  follow(key: string, other: GraphView): void {
    const [r, there] = [this.scene.places.get(key), other.selected ? other.scene.places.get(other.selected) : undefined];
    if (!r || !there) return;
    this.scale = other.scale;
    this.x = other.x + (there.x + there.w / 2 - r.x - r.w / 2) * this.scale;
    this.y = other.y + (there.y + there.h / 2 - r.y - r.h / 2) * this.scale;
    this.move();
  }

  /** Scrolls several items near the centre, without zooming and without leaving the drawing. */
  centreAll(keys: Iterable<string>): void {
    const rects = [...keys].map((key) => this.scene.places.get(key)).filter((r) => r !== undefined);
    if (rects.length === 0) return;
    const left = Math.min(...rects.map((r) => r.x));
    const right = Math.max(...rects.map((r) => r.x + r.w));
    const top = Math.min(...rects.map((r) => r.y));
    const bottom = Math.max(...rects.map((r) => r.y + r.h));
    const [w, height] = [this.stage.clientWidth / this.scale, this.stage.clientHeight / this.scale];
    const within = (at: number, seen: number, all: number) =>
      all + 80 <= seen ? all / 2 : Math.min(Math.max(at, seen / 2 - 40), all - seen / 2 + 40);
    this.centreOn(within((left + right) / 2, w, this.scene.width), within((top + bottom) / 2, height, this.scene.height));
  }

  // ---- selection

  select(key: string | null, centre = false): void {
    if (key && !this.reveal(key)) return;
    this.selected = key;
    this.mark();
    if (key && centre) this.centre(key);
    else if (key) this.keepInSight(key);
    this.options.selected?.(key);
    const item = key ? this.tree.items.get(key) : undefined;
    if (item) this.options.say?.(this.describe(item));
  }

  private keepInSight(key: string): void {
    const r = this.scene.places.get(key) as Rect;
    const seen = this.window(0);
    if (!holds(seen, { x: r.x, y: r.y, w: Math.min(r.w, seen.w), h: Math.min(r.h, 40) })) this.centre(key);
  }

  private neighbours(key: string): Set<string> {
    return new Set([...definitions(this.tree.program, key), ...users(this.tree.program, key)]);
  }

  /** Moves the selection: up to definitions, down to users, left and right to neighbours. */
  step(direction: "up" | "down" | "left" | "right"): void {
    const shown = [...this.scene.boxes, ...this.scene.nodes].filter((i) => !this.only || this.only.items.has(i.key));
    const at = this.selected ? this.scene.places.get(this.selected) : undefined;
    if (!at || !this.selected) {
      const first = shown.find((i) => i.kind === "node") ?? shown[0];
      if (first) this.select(first.key);
      return;
    }
    const along = direction === "up" ? definitions(this.tree.program, this.selected) : direction === "down" ? users(this.tree.program, this.selected) : [];
    const next = along.find((key) => this.scene.places.has(key)) ?? this.nearest(shown, at, direction);
    if (next) this.select(next);
    else this.options.say?.(`nothing further ${direction}`);
  }

  private nearest(shown: Item[], at: Rect, direction: string): string | null {
    const [cx, cy] = [at.x + at.w / 2, at.y + at.h / 2];
    let best: string | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const item of shown) {
      if (item.key === this.selected) continue;
      const r = this.scene.places.get(item.key) as Rect;
      const [dx, dy] = [r.x + r.w / 2 - cx, (item.kind === "box" && this.open.has(item.key) ? r.y + 13 : r.y + r.h / 2) - cy];
      const [ahead, aside] = direction === "up" ? [-dy, dx] : direction === "down" ? [dy, dx] : direction === "left" ? [-dx, dy] : [dx, dy];
      if (ahead < 4) continue;
      const far = ahead + 3 * Math.abs(aside);
      if (far < least) [best, least] = [item.key, far];
    }
    return best;
  }

  focus(): void {
    this.stage.focus();
  }

  // ---- events

  private listen(): void {
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    let from: { x: number; y: number; moved: boolean; key: string | null; head: boolean } | null = null;
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const hit = keyAt(event.target);
      from = { x: event.clientX, y: event.clientY, moved: false, key: hit?.key ?? null, head: hit?.head ?? false };
      this.stage.setPointerCapture(event.pointerId);
    });
    this.stage.addEventListener("pointermove", (event) => {
      if (!from) return this.hover(event);
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.moved && Math.hypot(dx, dy) < 4) return;
      [from.x, from.y, from.moved] = [event.clientX, event.clientY, true];
      this.stage.classList.add("dragging");
      this.pan(dx, dy);
    });
    this.stage.addEventListener("pointerup", () => {
      this.stage.classList.remove("dragging");
      const done = from;
      from = null;
      if (!done || done.moved) return;
      const item = done.key ? this.tree.items.get(done.key) : undefined;
      if (item?.kind === "box" && (done.head || !this.open.has(item.key))) this.toggle(item.key);
      this.select(item && this.scene.places.has(item.key) ? item.key : null);
    });
    this.stage.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const bounds = this.stage.getBoundingClientRect();
    const at = { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
    if (event.shiftKey) this.pan(-event.deltaY - event.deltaX, 0);
    else this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), at);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const directions = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" } as const;
    const direction = directions[event.key as keyof typeof directions];
    const pans = { up: [0, 80], down: [0, -80], left: [80, 0], right: [-80, 0] } as const;
    if (direction && event.shiftKey) this.pan(pans[direction][0], pans[direction][1]);
    else if (direction) this.step(direction);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else if (event.key === "f") this.foldAll();
    else if (event.key === "u") this.unfoldAll();
    else if (event.key === "Home") this.selectFirst();
    else if (event.key === "End") this.selectLast();
    else if (event.key === "Escape") this.select(null);
    else if (event.key === "Enter" || event.key === " ") this.activate();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private seen(): string[] {
    return this.scene.nodes.map((n) => n.key).filter((key) => !this.only || this.only.items.has(key));
  }

  private selectFirst(): void {
    const [first] = this.seen();
    if (first) this.select(first);
  }

  // Returns the last instruction of the last function, or the folded box that it is in.
  private selectLast(): void {
    const seen = this.seen();
    const { functions } = this.tree.program;
    const f = functions.at(-1);
    const own = [...(f?.insts.values() ?? [])].filter((inst) => inst.body === f?.body);
    const end = own.findLast((inst) => inst.results.length === 0) ?? own.at(-1);
    const key = end ? instKey(functions.length - 1, end.id) : "";
    const last = [key, ...this.tree.ancestors(key).map((box) => box.key)].find((each) => seen.includes(each)) ?? seen.at(-1);
    if (last) this.select(last);
  }

  // Folds or unfolds the selected box, or the one around the selection.
  private activate(): void {
    const item = this.selected ? this.tree.items.get(this.selected) : undefined;
    if (!item) return;
    const box = item.kind === "box" ? item : item.parent;
    if (box.what === "program") return;
    this.toggle(box.key);
    if (!this.scene.places.has(item.key)) this.select(box.key);
    else this.mark();
  }

  private hover(event: PointerEvent): void {
    const target = event.target as Element;
    const edge = target.closest?.(".edge");
    const bounds = this.element.getBoundingClientRect();
    const show = (text: string) => {
      this.tip.textContent = text;
      this.tip.hidden = text === "";
      this.tip.style.left = `${Math.min(event.clientX - bounds.left + 12, Math.max(0, bounds.width - 260))}px`;
      this.tip.style.top = `${event.clientY - bounds.top + 14}px`;
    };
    if (edge instanceof SVGElement) return show(this.edgeText(edge.dataset.from ?? "", edge.dataset.to ?? ""));
    const hit = keyAt(target);
    const item = hit ? this.tree.items.get(hit.key) : undefined;
    if (!item || (item.kind === "box" && this.open.has(item.key) && !hit?.head)) return show("");
    if (item.kind === "box") return show(`${item.label} ${short(item.sub, 300)}\n${mixText(this.content(item))}`);
    const scope = item.inst?.scope ? `\n${short(item.inst.scope, 400)}` : "";
    show(item.inst ? short(item.inst.text, 400) + scope : `${item.label}: ${item.sub}`);
  }

  private edgeText(from: string, to: string): string {
    const edge = this.scene.edges.find((e) => e.from === from && e.to === to);
    const f = edge ? this.tree.program.functions[edge.fn] : undefined;
    if (!edge || !f) return "";
    return edge.values.slice(0, 8).map((v) => `${f.value(v).name}: ${f.value(v).type}`).join("\n");
  }
}
