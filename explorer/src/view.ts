// A drawing of a program with panning, zooming, folding and keyboard navigation.

import { type Cost, type Heat, heatLevel } from "./cost";
import { count, h, plural, put, s, short } from "./dom";
import { SMALL_CHAR, badgeElement, boxElement, edgeElements, foldedElement, nodeElement, rowElement } from "./elements";
import { extent, holds, intersects, round } from "./geometry";
import { Layouter, type Rect, type Scene, rowRect } from "./layout";
import { type Program, definitions, users } from "./model";
import { Minimap } from "./minimap";
import { READABLE_ZOOM, openingBoxes } from "./opening";
import { savePicture } from "./picture";
import { printedSheet } from "./print";
import { TEXT_ZOOM, arrowHead, hideLongLabels, hideSmallText, keyAt, lastItem, nearestItem } from "./shapes";
import { EdgeLabelPlaces, edgeLabels, edgeText, itemText } from "./labels";
import { type Box, type Content, type Item, type Node, Tree, foldedLine } from "./tree";

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
  /** Called when the selection changes; `null` if nothing is selected. */
  selected?: (key: string | null) => void;
  /** Called when the user folds or unfolds a box. */
  toggled?: (key: string, open: boolean) => void;
  /** Shows a message, also to screen readers. */
  say?: (message: string) => void;
}

/** The largest number of items that are all drawn; of more items, only those near the visible part are drawn. */
const MAX_DRAWN_ITEMS = 600;
/** The largest number of items that are drawn anew in every frame while they move; a larger drawing is moved as a picture, for at most this number of milliseconds. */
const MAX_MOVED_ITEMS = 400;
const MAX_GLIDE = 1500;
const GLIDE_PAUSE = 120;
/** The milliseconds of work between two pauses, so that the page stays responsive. */
const WORK_SLICE = 60;
/** The margin around the drawing. */
const VIEW_MARGIN = 24;
/** The largest zoom factor of a drawing that is shown completely. */
const MAX_FITTING_ZOOM = 2;
/** The largest number of items that are all printed; of more items, only the visible part is printed. */
const MAX_PRINTED_ITEMS = 6000;

let views = 0;

export class GraphView {
  readonly element: HTMLElement;
  /** The buttons of the view, for a bar beside the drawing. */
  readonly tools = this.controls();
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
  private heat: Heat | null = null;
  private found = new Set<string>();
  private emphasis: ReadonlySet<string> | null = null;
  private peer: string | null = null;
  readonly layouter: Layouter;
  private readonly id = `view${views++}`;
  private readonly svg = s("svg", { class: "graph-svg", "aria-hidden": "false" });
  // Moving the SVG element itself would lay out its text in every frame.
  private readonly glider = h("div", { class: "glider" }, this.svg);
  private readonly world = s("g", { class: "world" });
  private readonly stage: HTMLElement;
  private readonly tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  private readonly minimap: Minimap;
  private elements = new Map<string, SVGElement>();
  private drawn: Rect | null = null;
  private stale = false;
  private fitted = false;
  private printing = false;
  // The position that was drawn last, and when; and the timer of the next drawing.
  private shown = { x: 0, y: 0, scale: 1, at: 0 };
  private pending = 0;
  private sheet: HTMLElement | null = null;
  // The message in the drawing, which the next action removes, and the number of the current action.
  private readonly note = h("div", { class: "view-note", "aria-hidden": "true", hidden: true });
  private task = 0;
  /** The other view: at first both have the same zoom factor. */
  mate: GraphView | null = null;

  constructor(program: Program, private readonly options: ViewOptions) {
    this.layouter = new Layouter(options.aspect);
    this.tree = new Tree(program);
    this.open = this.tree.minimallyOpen();
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
      this.glider,
    );
    this.element = h("div", { class: "view" }, this.stage, this.minimap.element, this.note, this.tip);
    this.listen();
    this.layout();
    new ResizeObserver(() => this.resized()).observe(this.stage);
  }

  /** Shows another program. Boxes with the same key stay folded or unfolded. */
  show(program: Program): void {
    this.tree = new Tree(program);
    this.open = this.tree.minimallyOpen();
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
      button("Save as SVG", "svg", () => this.savePicture("svg")),
      button("Save as PNG", "png", () => this.savePicture("png")),
    );
  }

  private savePicture(kind: "svg" | "png"): void {
    const failed = (error: unknown) => this.showMessage(`the picture could not be saved: ${String(error)}`);
    savePicture(kind, this.options.label, this.svg, this.stage).catch(failed);
  }

  private resized(): void {
    if (this.stage.clientWidth === 0) return;
    if (!this.fitted) this.start();
    else this.move();
    if (this.stale) this.draw();
  }

  // Opens the boxes that fit, and shows the drawing at a readable size, from its beginning.
  private start(): void {
    const [w, height] = [this.stage.clientWidth - 2 * VIEW_MARGIN, this.stage.clientHeight - 2 * VIEW_MARGIN];
    if (!this.only) {
      this.open = openingBoxes(this.tree, this.layouter, w, height);
      this.layout();
    }
    this.fit(this.mate, READABLE_ZOOM);
    // A selection that was made while the view was hidden.
    if (this.selected && this.reveal(this.selected)) this.centre(this.selected);
  }

  layout(): void {
    this.quiet();
    this.scene = this.layouter.scene(this.tree, this.open);
    this.minimap.show(this.scene);
    this.draw();
  }

  /** Folds or unfolds a box. The clicked item keeps its position on the screen, unless its content would then be outside of the window. */
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
      if (this.open.has(key) && !holds(this.window(0), after)) this.showBox(after);
    }
    const item = this.tree.items.get(key);
    this.options.say?.(`${item?.label ?? ""} ${this.open.has(key) ? "unfolded" : "folded"}`);
  }

  // Shows an open box completely, or at a readable size from its beginning.
  private showBox(r: Rect): void {
    const [w, height] = [this.stage.clientWidth, this.stage.clientHeight];
    if (w === 0) return;
    const whole = Math.min((w - 2 * VIEW_MARGIN) / r.w, (height - 2 * VIEW_MARGIN) / r.h);
    this.scale = Math.min(this.scale, Math.max(whole, READABLE_ZOOM));
    this.x = w / 2 - (r.x + r.w / 2) * this.scale;
    this.y = Math.max(VIEW_MARGIN, (height - r.h * this.scale) / 2) - r.y * this.scale;
    this.move();
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
      this.fit(null, READABLE_ZOOM);
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
    // The first fit folds boxes and scrolls, so it comes before.
    if (!this.fitted) this.resized();
    const closed = this.tree.ancestors(key).filter((box) => !this.open.has(box.key));
    for (const box of closed) this.open.add(box.key);
    if (closed.length > 0) this.layout();
    return this.scene.places.has(key);
  }

  draw(): void {
    const many = this.scene.nodes.length + this.scene.boxes.length > (this.printing ? MAX_PRINTED_ITEMS : MAX_DRAWN_ITEMS);
    // The visible part is not known yet.
    this.stale = many && this.stage.clientWidth === 0;
    if (this.stale) return;
    this.drawn = many ? this.window(0.5) : null;
    const near = (r: Rect | undefined) => !!r && (!this.drawn || intersects(r, this.drawn));
    this.elements.clear();
    const [boxes, edges, labels, nodes] = [s("g"), s("g", { class: "edges" }), s("g", { class: "edges" }), s("g")];
    const places = new EdgeLabelPlaces(this.scene);
    const visible = (key: string) => !this.only || this.only.items.has(key);
    for (const box of this.scene.boxes) {
      if (near(this.scene.places.get(box.key)) && visible(box.key)) boxes.append(this.register(box, this.drawBox(box)));
    }
    for (const edge of this.scene.edges) {
      const there = !this.only || this.only.edges.has(`${edge.from} ${edge.to}`);
      const ghost = !there && (this.only?.ghosts.has(edge.from) || this.only?.ghosts.has(edge.to));
      if (!there && !(ghost && visible(edge.from) && visible(edge.to))) continue;
      if (this.drawn && !near(extent(edge))) continue;
      const drawn = edgeElements(edge, this.id, ghost ? " ghost" : "", edgeLabels(this.tree, edge), places);
      edges.append(drawn.line);
      if (drawn.labels) labels.append(drawn.labels);
    }
    for (const node of this.scene.nodes) {
      if (!near(this.scene.places.get(node.key))) continue;
      if (visible(node.key)) nodes.append(this.drawNode(node));
      else if (node.kind === "node") nodes.append(...this.freeRows(node));
    }
    put(this.world, boxes, edges, labels, nodes);
    this.mark();
    this.move();
  }

  private register(item: Item, element: SVGElement): SVGElement {
    element.id = this.domId(item.key);
    if (this.heat) element.dataset.heat = String(heatLevel(this.partOf(item)));
    this.elements.set(item.key, element);
    return element;
  }

  /** Colours items by their cost, or by their family. */
  setHeat(heat: Heat | null): void {
    this.heat = heat;
    this.element.classList.toggle("heated", heat !== null);
    this.draw();
  }

  /** Returns the part of the whole cost that an item has; 0 if colours do not show costs. */
  partOf(item: Item): number {
    return this.heat?.part(this.costOf(item)) ?? 0;
  }

  private costOf(item: Item): Cost {
    return item.kind === "box" ? this.content(item).cost : item.cost;
  }

  private drawBox(box: Box): SVGElement {
    const r = this.scene.places.get(box.key) as Rect;
    return boxElement(box, r, this.content(box), this.heat?.text(this.costOf(box), r.w / SMALL_CHAR) ?? null);
  }

  private drawNode(item: Item): SVGElement {
    const r = this.scene.places.get(item.key) as Rect;
    const sub = this.heat?.text(this.costOf(item), (r.w - (item.kind === "box" ? 28 : 10)) / SMALL_CHAR) ?? null;
    if (item.kind === "box") {
      const { line, aside } = foldedLine(item, this.content(item), this.tree);
      return this.register(item, foldedElement(item, r, this.content(item), this.only ? [] : this.tree.drawnPreview(item), sub ?? line, aside));
    }
    const element = this.register(item, nodeElement(item, r, sub));
    item.rows.forEach(({ key, own }, n) => {
      if (this.only && !(this.only.items.has(key) && (own || this.only.edges.has(`${key} ${item.key}`)))) return;
      const row = this.tree.items.get(key) as Node;
      const drawn = rowElement(row, rowRect(item, n, { x: 0, y: 0, w: r.w, h: r.h }), own);
      element.append(own ? this.register(row, drawn) : drawn);
    });
    return element;
  }

  // Returns the rows of a node that is not there any more.
  private freeRows(item: Node): SVGElement[] {
    const rows = item.rows.filter(({ key, own }) => own && this.only?.items.has(key)).map(({ key }) => this.tree.items.get(key) as Node);
    return rows.map((row) => this.register(row, rowElement(row, this.scene.places.get(row.key) as Rect, true)));
  }

  /** Returns the content of a box. */
  content(box: Box): Content {
    return this.only ? (this.only.contents.get(box) ?? { size: 0, mix: [], cost: [0, 0] }) : box;
  }

  /** Returns the description of an item for screen readers. */
  describe(item: Item): string {
    const badge = this.badges.get(item.key);
    const mark = badge ? `, ${badge.description}` : "";
    const cost = this.heat ? `, ${this.heat.words(this.costOf(item))}` : "";
    if (item.kind === "box") return `${item.label}, ${plural(this.content(item).size, "op")}${cost}${mark}`;
    if (!item.inst) return `parameter ${item.label}, ${item.sub}`;
    return `${short(item.inst.text, 200)}${cost}${mark}`;
  }

  // Returns the name of a drawn item. That of a box consists of the texts that it shows and the description of its badge.
  private nameOf(element: SVGElement, item: Item, badge: Badge | undefined): string {
    if (item.kind === "node") return this.describe(item);
    const texts = [...element.querySelectorAll(":scope > text")].map((text) => text.textContent?.trim() ?? "");
    const sign = badge && !badge.description.startsWith(badge.sign) ? [badge.sign] : [];
    return [...texts, ...sign, ...(badge ? [badge.description] : [])].join(", ");
  }

  private domId(key: string): string {
    return `${this.id}-${key}`;
  }

  /** Colours the items that are selected, found or marked. */
  mark(): void {
    const beside = new Set(this.selected ? [...definitions(this.tree.program, this.selected), ...users(this.tree.program, this.selected)] : []);
    for (const [key, element] of this.elements) {
      const badge = this.badges.get(key) ?? this.hiddenBadge(key);
      element.classList.toggle("selected", key === this.selected);
      element.classList.toggle("beside", beside.has(key));
      element.classList.toggle("peer", key === this.peer);
      element.classList.toggle("found", this.found.has(key));
      element.classList.toggle("dim", this.emphasis !== null && !this.emphasis.has(key));
      for (const old of element.querySelectorAll(":scope > .badge")) old.remove();
      element.setAttribute("data-mark", badge?.cls ?? "");
      element.setAttribute("aria-label", this.nameOf(element, this.tree.items.get(key) as Item, badge));
      if (badge) element.append(badgeElement(this.tree.items.get(key) as Item, this.scene.places.get(key) as Rect, badge));
    }
    for (const edge of this.world.querySelectorAll<SVGElement>(".edge, .edge-texts")) {
      const { from, to } = edge.dataset;
      edge.classList.toggle("hot", this.selected !== null && (from === this.selected || to === this.selected));
      edge.classList.toggle("dim", this.emphasis !== null && !(this.emphasis.has(from ?? "") && this.emphasis.has(to ?? "")));
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

  get isEmphasised(): boolean {
    return this.emphasis !== null;
  }

  /** Dims everything but some items and the boxes around them, or nothing. */
  setEmphasis(keys: ReadonlySet<string> | null): void {
    const all = new Set(keys);
    for (const key of keys ?? []) {
      const item = this.tree.items.get(key);
      for (let box: Item | null = item?.parent ?? null; box && !all.has(box.key); box = box.parent) all.add(box.key);
      if (item?.kind === "node" && item.host) all.add(item.host.key);
    }
    this.emphasis = keys ? all : null;
    this.mark();
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

  private move(): void {
    window.clearTimeout(this.pending);
    this.pending = 0;
    this.shown = { x: this.x, y: this.y, scale: this.scale, at: performance.now() };
    this.glider.style.transform = "";
    this.world.setAttribute("transform", `translate(${round(this.x)},${round(this.y)}) scale(${round(this.scale, 4)})`);
    hideSmallText(this.svg, this.printing ? 1 : this.scale);
    this.svg.style.setProperty("--zoom", String(round(this.scale, 4)));
    if (this.scale < TEXT_ZOOM) hideLongLabels(this.scene, this.elements, this.scale);
    this.minimap.look(this.window(0));
    if (this.drawn && !holds(this.drawn, this.window(0))) this.draw();
  }

  // Moves the picture of a large drawing, and draws it anew a little later, so that every frame is quick.
  private glide(): void {
    if (this.elements.size <= MAX_MOVED_ITEMS) return this.move();
    // The time counts from the first move after a drawing.
    if (this.pending === 0) this.shown.at = performance.now();
    const k = this.scale / this.shown.scale;
    this.glider.style.transform = `translate(${round(this.x - this.shown.x * k, 2)}px,${round(this.y - this.shown.y * k, 2)}px) scale(${round(k, 4)})`;
    this.minimap.look(this.window(0));
    window.clearTimeout(this.pending);
    this.pending = window.setTimeout(() => this.move(), performance.now() - this.shown.at > MAX_GLIDE ? 0 : GLIDE_PAUSE);
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
    hideSmallText(this.svg, on ? 1 : this.scale);
    if (this.printing !== whole) {
      this.printing = whole;
      this.draw();
    }
    if (!whole) return;
    this.sheet = printedSheet(this.scene, this.world, this.svg.firstElementChild as SVGElement);
    this.element.append(this.sheet);
  }

  pan(dx: number, dy: number, glide = false): void {
    this.x += dx;
    this.y += dy;
    if (glide) this.glide();
    else this.move();
  }

  zoom(by: number, at?: { x: number; y: number }): void {
    const to = Math.min(4, Math.max(0.02, this.scale * by));
    const { x, y } = at ?? { x: this.stage.clientWidth / 2, y: this.stage.clientHeight / 2 };
    this.x = x - ((x - this.x) * to) / this.scale;
    this.y = y - ((y - this.y) * to) / this.scale;
    this.scale = to;
    if (at) this.glide();
    else this.move();
  }

  /** Shows everything, or the beginning at the smallest zoom factor, with at most the zoom factor of another view. */
  fit(mate: GraphView | null = null, least = 0): void {
    const [w, height] = [this.stage.clientWidth, this.stage.clientHeight];
    if (w === 0) return;
    this.fitted = true;
    this.scale = Math.max(least, Math.min(this.fitting(), mate?.fitting() ?? Number.POSITIVE_INFINITY));
    const [wide, high] = [this.scene.width * this.scale, this.scene.height * this.scale];
    // What does not fit is shown from its beginning.
    this.x = wide <= w ? (w - wide) / 2 : VIEW_MARGIN;
    this.y = Math.max(VIEW_MARGIN, (height - high) / 2);
    this.move();
  }

  // Returns the zoom factor at which everything fits.
  private fitting(): number {
    const [w, height] = [this.stage.clientWidth - 2 * VIEW_MARGIN, this.stage.clientHeight - 2 * VIEW_MARGIN];
    if (w <= 0 || this.scene.width === 0 || this.scene.height === 0) return 1.2;
    return Math.min(MAX_FITTING_ZOOM, w / this.scene.width, height / this.scene.height);
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
    if (this.open.has(key)) {
      if (!intersects(seen, { ...r, h: 26 })) this.showBox(r);
    } else if (!holds(seen, { x: r.x, y: r.y, w: Math.min(r.w, seen.w), h: Math.min(r.h, 40) })) this.centre(key);
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
    const next = along.find((key) => this.scene.places.has(key)) ?? nearestItem(shown.filter((item) => item.key !== this.selected), this.scene.places, this.open, at, direction);
    if (next) this.select(next);
    else this.options.say?.(`nothing further ${direction}`);
  }

  private listen(): void {
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    let from: { x: number; y: number; moved: boolean; key: string | null; head: boolean } | null = null;
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const hit = keyAt(event.target) ?? keyAt(document.elementsFromPoint(event.clientX, event.clientY).find((each) => keyAt(each)) ?? null);
      from = { x: event.clientX, y: event.clientY, moved: false, key: hit?.key ?? null, head: hit?.head ?? false };
      this.stage.setPointerCapture(event.pointerId);
    });
    this.stage.addEventListener("pointermove", (event) => {
      if (!from) return this.hover(event);
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.moved && Math.hypot(dx, dy) < 4) return;
      [from.x, from.y, from.moved] = [event.clientX, event.clientY, true];
      this.stage.classList.add("dragging");
      this.pan(dx, dy, true);
    });
    this.stage.addEventListener("pointerup", () => {
      this.stage.classList.remove("dragging");
      this.tip.hidden = true;
      const done = from;
      from = null;
      if (done?.moved) this.move();
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
    if (event.shiftKey) this.pan(-event.deltaY - event.deltaX, 0, true);
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
    else if (event.key === "Home") this.select(this.seen()[0] ?? null);
    else if (event.key === "End") this.select(lastItem(this.tree, this.scene, this.seen()));
    else if (event.key === "Escape") {
      this.setEmphasis(null);
      this.select(null);
    }
    else if (event.key === "Enter" || event.key === " ") this.activate();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private seen(): string[] {
    return this.scene.nodes.flatMap(({ key }) => (!this.only || this.only.items.has(key) ? [key] : []));
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
    if (edge instanceof SVGElement) return show(edgeText(this.tree, this.scene, edge.dataset.from ?? "", edge.dataset.to ?? ""));
    const hit = keyAt(target);
    const item = hit ? this.tree.items.get(hit.key) : undefined;
    if (!item || (item.kind === "box" && this.open.has(item.key) && !hit?.head)) return show("");
    show(itemText(item, item.kind === "box" ? this.content(item) : null));
  }
}
