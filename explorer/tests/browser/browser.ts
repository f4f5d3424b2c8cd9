// A real browser with the network off.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { repository } from "../pages";

const ARGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--font-render-hinting=none",
];

let browser: Browser;

/** Starts the browser for the tests of a file. */
export function useBrowser(): void {
  before(async () => {
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM as string, args: ARGS });
  });
  after(async () => {
    await browser.close();
  });
}

/** Opens a page from disk, hands it to `work`, and asks that nothing was complained about and nothing fetched. */
export async function open(path: string, work: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light", offline: true, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const problems: string[] = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const fetched: string[] = [];
    page.on("request", (request) => fetched.push(request.url()));
    const url = pathToFileURL(path).href;
    await page.goto(url);
    await page.waitForSelector("html[data-ready]");
    await work(page);
    assert.deepEqual(problems, []);
    assert.deepEqual(fetched, [url]);
  } finally {
    await context.close();
  }
}

/** Opens a page of a local server, and requires that no script fails and nothing is fetched from elsewhere. */
export async function openServed(url: URL, work: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("request", (request) => request.url().startsWith(url.origin) || problems.push(`fetched ${request.url()}`));
    await page.goto(url.href);
    await work(page);
    assert.deepEqual(problems, []);
  } finally {
    await context.close();
  }
}

/** Two frames: what was asked for is drawn. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Keys of the instructions that are drawn in a view, open boxes included. */
export function drawnKeys(page: Page, view = ".pane:not([hidden]) .view"): Promise<string[]> {
  return page.$$eval(`${view} [data-key]`, (all) => all.map((e) => (e as SVGElement).dataset.key as string));
}

/** Returns the texts in the page whose contrast with their background is below 4.5, with that contrast. */
export function unreadable(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Colour = [number, number, number, number];
    const read = (text: string): Colour => {
      const numbers = (text.match(/-?[\d.]+(e-?\d+)?/g) ?? []).map(Number);
      const scale = text.startsWith("color(") ? 255 : 1;
      const [r = 0, g = 0, b = 0, a = 1] = numbers;
      return [r * scale, g * scale, b * scale, text === "transparent" ? 0 : a];
    };
    const over = ([r, g, b, a]: Colour, below: Colour): Colour => [r * a + below[0] * (1 - a), g * a + below[1] * (1 - a), b * a + below[2] * (1 - a), 1];
    const behind = (element: Element | null): Colour => {
      if (!element) return [255, 255, 255, 1];
      const own = read(getComputedStyle(element).backgroundColor);
      return own[3] === 1 ? own : over(own, behind(element.parentElement));
    };
    const light = (colour: Colour) => {
      const [r = 0, g = 0, b = 0] = colour.slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const bad = new Set<string>();
    for (const element of document.querySelectorAll("#app *")) {
      const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent?.trim());
      const style = getComputedStyle(element);
      if (!own || element.getClientRects().length === 0 || style.visibility === "hidden" || element.closest(".sr-only, select, [aria-hidden='true'] svg")) continue;
      let [text, below]: [Colour, Colour] = [read(style.color), behind(element)];
      if (element instanceof SVGElement) {
        const rects = [...(element.parentElement?.querySelectorAll(":scope > rect:not(.shade)") ?? [])];
        const rect = rects.at(-1);
        text = read(style.fill);
        below = rect ? over(read(getComputedStyle(rect).fill), behind(element.closest(".stage"))) : behind(element.closest(".stage"));
      }
      const seen = over([text[0], text[1], text[2], text[3] * Number(style.opacity)], below);
      const [x, y] = [light(seen), light(below)];
      const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
      if (ratio < 4.5) bad.add(`${element.tagName}.${element.getAttribute("class") ?? ""} in .${element.parentElement?.getAttribute("class") ?? ""}: ${ratio.toFixed(2)}`);
    }
    return [...bad].slice(0, 20);
  });
}

/** Unfolds everything in all visible drawings, and shows all of it. */
export async function unfold(page: Page): Promise<void> {
  for (const label of ["Unfold all", "Show everything"]) {
    for (const button of await page.locator(`.pane:not([hidden]) [aria-label='${label}']`).all()) await button.click();
  }
  await settle(page);
}

const AXE = readFileSync(createRequire(join(repository, "explorer/package.json")).resolve("axe-core/axe.min.js"), "utf8");

/** Returns the violations that axe-core finds. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    type Result = { violations: { id: string; nodes: { html: string }[] }[] };
    const { axe } = window as unknown as { axe: { run: (options: object) => Promise<Result> } };
    const { violations: found } = await axe.run({ resultTypes: ["violations"] });
    return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 2).map((n) => n.html.slice(0, 160)).join(" | ")}`);
  });
}
