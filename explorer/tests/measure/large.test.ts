// How quick the page of 10,000 nodes is: `npm run measure`. Not part of the gate: times depend on who else uses the machine.

import { test } from "node:test";
import { chain, file, fresh, path, sapwood } from "../pages";
import { open, settle, useBrowser } from "../browser/browser";

useBrowser();

test("10,000 nodes", async () => {
  const input = file("large.ptir", chain(10_000));
  const began = performance.now();
  sapwood(["graph", input, "-o", path("large.html")]);
  console.log(`written in ${(performance.now() - began).toFixed(0)} ms`);
  fresh(path("large.html"));
  await open(path("large.html"), async (page) => {
    await settle(page);
    const first = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now());
    console.log(`first picture after ${first.toFixed(0)} ms`);
    const rate = async (what: string) => {
      const stage = await page.locator(".stage").boundingBox();
      if (!stage) return;
      await page.mouse.move(stage.x + 400, stage.y + 400);
      await page.mouse.down();
      const frames = await page.evaluate(async () => {
        const target = document.querySelector(".stage") as HTMLElement;
        const start = performance.now();
        for (let n = 0; n < 90; n += 1) {
          target.dispatchEvent(new PointerEvent("pointermove", { clientX: 500 + 3 * n, clientY: 420 + 2 * n, bubbles: true, buttons: 1 }));
          await new Promise((done) => requestAnimationFrame(done));
        }
        return 90_000 / (performance.now() - start);
      });
      await page.mouse.up();
      console.log(`${what}: ${frames.toFixed(0)} frames per second`);
    };
    await rate("panning, folded");
    const unfolding = performance.now();
    await page.click("[aria-label='Unfold all']");
    await rate("panning while it unfolds");
    await page.waitForFunction(() => document.querySelector(".view-note")?.textContent?.startsWith("unfolded"));
    console.log(`unfolded after ${(performance.now() - unfolding).toFixed(0)} ms`);
    await settle(page);
    await rate(`panning, ${await page.locator(".node").count()} nodes drawn`);
    for (let n = 0; n < 10; n += 1) await page.click("[aria-label='Zoom out']");
    await settle(page);
    await rate(`panning, ${await page.locator(".node").count()} nodes drawn`);
  });
});
