// How quick large pages are: `npm run measure`. Not part of the gate: times depend on the load of the machine.

import { statSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { chain, file, fresh, layers, path, sapwood } from "../pages";
import { open, settle, useBrowser } from "../browser/browser";

useBrowser();

async function frames(page: Page, what: string, act: () => Promise<number>): Promise<void> {
  const rate = await page.evaluate(act);
  console.log(`${what}: ${rate.toFixed(0)} frames per second`);
}

async function moves(page: Page, what: string): Promise<void> {
  await page.mouse.move(400, 400);
  await page.mouse.down();
  await frames(page, `panning, ${what}`, async () => {
    const began = performance.now();
    for (let n = 0; n < 60; n += 1) {
      document.querySelector(".stage")?.dispatchEvent(new PointerEvent("pointermove", { clientX: 500 + 3 * n, clientY: 420 + 2 * n, bubbles: true, buttons: 1 }));
      await new Promise((done) => requestAnimationFrame(done));
    }
    return 60_000 / (performance.now() - began);
  });
  await page.mouse.up();
  await frames(page, `zooming, ${what}`, async () => {
    const began = performance.now();
    for (let n = 0; n < 60; n += 1) {
      document.querySelector(".stage")?.dispatchEvent(new WheelEvent("wheel", { clientX: 500, clientY: 420, deltaY: n % 20 < 10 ? 40 : -40, bubbles: true, cancelable: true }));
      await new Promise((done) => requestAnimationFrame(done));
    }
    return 60_000 / (performance.now() - began);
  });
}

for (const [name, ops, text] of [
  ["a program of 1,000 ops", 1_000, () => layers(143)],
  ["10,000 nodes in layers", 10_000, () => layers(1429)],
  ["10,000 nodes without blocks", 10_000, () => chain(10_000)],
  ["100,000 nodes in layers", 100_000, () => layers(14_286)],
  ["100,000 nodes without blocks", 100_000, () => chain(100_000)],
  ["1,000,000 nodes", 1_000_000, () => chain(1_000_000)],
] as const) {
  test(name, async () => {
    const input = file("large.ptir", text());
    const began = performance.now();
    sapwood(["graph", input, "-o", path("large.html")]);
    console.log(`${name}: written in ${(performance.now() - began).toFixed(0)} ms, ${Math.round(statSync(path("large.html")).size / 1000)} kB`);
    fresh(path("large.html"));
    const opening = performance.now();
    await open(path("large.html"), async (page) => {
      await settle(page);
      const ready = performance.now() - opening;
      const first = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now());
      console.log(`first picture after ${first.toFixed(0)} ms, complete after ${ready.toFixed(0)} ms with the start of the tab, ${await page.locator(".node").count()} nodes`);
      const banner = page.locator(".banner");
      if ((await banner.count()) > 0) console.log(await banner.first().textContent());
      if (ops > 10_000 || ops < 10_000) return;
      await moves(page, "folded");
      const unfolding = performance.now();
      await page.click("[aria-label='Unfold all']");
      await page.waitForFunction(() => document.querySelector(".view-note")?.textContent?.startsWith("unfolded"));
      console.log(`unfolded after ${(performance.now() - unfolding).toFixed(0)} ms`);
      await settle(page);
      await moves(page, `${await page.locator(".node").count()} nodes drawn`);
    });
  });
}
