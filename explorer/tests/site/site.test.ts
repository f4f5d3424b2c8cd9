// The documentation site in the folder SITE, behind a small server: search results load parts of the pages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { openServed, useBrowser } from "../browser/browser";

useBrowser();

const TYPES: Record<string, string> = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const site = process.env.SITE as string;
let server: Server;

before(async () => {
  server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    try {
      const content = readFileSync(site + path);
      response.setHeader("content-type", TYPES[path.split(".").pop() ?? ""] ?? "application/octet-stream").end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
after(() => void server.close());

const url = (path: string): URL => new URL(path, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

test("search finds pages by a word, and leads to them", async () => {
  await openServed(url("index.html"), async (page) => {
    await page.fill(".sidebar-search", "reduce_precision");
    await page.press(".sidebar-search", "Enter");
    const found = page.locator("#search-results li a");
    await found.first().waitFor();
    const targets = await found.evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""));
    assert.ok(targets.some((target) => target.includes("reference/ops.html")), targets.join(" "));
    await found.first().click();
    await page.waitForLoadState();
    assert.match(await page.innerText("article"), /reduce_precision/);
  });
});

test("search finds functions of the Python API", async () => {
  await openServed(url("search.html?q=simplify_jax"), async (page) => {
    const found = page.locator("#search-results li a");
    await found.first().waitFor();
    const targets = await found.evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""));
    assert.ok(targets.some((target) => target.includes("python-api.html#sapwood.simplify_jax")), targets.join(" "));
  });
});

test("an example report is live", async () => {
  await openServed(url("docs/guide/example-reports.html"), async (page) => {
    const frame = page.frameLocator("iframe[title=transformer]");
    await page.locator("iframe[title=transformer]").scrollIntoViewIfNeeded();
    await frame.locator("html[data-ready]").waitFor({ state: "attached" });
  });
});
