// Creation of elements. Text only becomes text nodes and attributes: no string is parsed as HTML.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, props: Props, children: Child[]): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children) {
    if (child) element.append(child);
  }
}

/** Creates an HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, props, children);
  return element;
}

/** Creates an SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  fill(element, props, children);
  return element;
}

/** Replaces the children of an element. */
export function put(element: Element, ...children: Child[]): void {
  element.replaceChildren(...(children.filter(Boolean) as (Node | string)[]));
}

/** Returns a number with thousands separators. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** Returns a number with its noun: "1 op", "2 ops". */
export function plural(n: number, word: string): string {
  return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

/** Returns a duration, given in microseconds, as text. */
export function time(micros: number): string {
  if (micros < 1000) return `${micros} µs`;
  if (micros < 1_000_000) return `${(micros / 1000).toFixed(1)} ms`;
  return `${(micros / 1_000_000).toFixed(2)} s`;
}

/** Returns the beginning of a text. */
export function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Returns the end of a path, always with the whole file name. */
export function shortPath(path: string, most: number): string {
  if (path.length <= most) return path;
  const parts = path.split(/(?=[/\\])/);
  let end = parts.pop() ?? "";
  while (parts.length > 0 && end.length + (parts.at(-1) as string).length < most) end = parts.pop() + end;
  return parts.length > 0 ? `…${end}` : end;
}

/** Creates a button that copies a text. */
export function copyButton(label: string, text: () => string): HTMLElement {
  const done = h("span", { class: "quiet", role: "status" });
  const press = async () => {
    done.textContent = (await copy(text())) ? " copied" : " could not be copied";
  };
  return h("span", { class: "copying" }, h("button", { type: "button", class: "copy", onclick: press }, label), done);
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "offstage" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
