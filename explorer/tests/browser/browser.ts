// A real browser with the network off.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";

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
    await page.goto(`file://${path}`);
    await page.waitForSelector("html[data-ready]");
    await work(page);
    assert.deepEqual(problems, []);
    assert.deepEqual(fetched, [`file://${path}`]);
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
