import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Data } from "../../src/data";
import { chain, dataOf, graphPage, reportPage, repository, sapwood, transformer, withData } from "../pages";
import { drawnKeys, open, settle, useBrowser } from "./browser";

useBrowser();

const { page: report, before, after } = reportPage("report", transformer(), "canonicalize,cse,dce");
const data = dataOf(report);

// What a key stands for, as text.
function textOf(state: number, key: string): string {
  const [fn, id] = key.split(".i");
  const row = data.functions[data.states[state]?.functions?.[Number(fn)] as number];
  return `@${row?.name}: ${row?.insts.find((i) => i[0] === Number(id))?.[3]}`;
}

async function marked(page: Page, side: number, state: number, kinds: string[]): Promise<string[]> {
  const view = page.locator(".side").nth(side);
  const keys = await view.locator("[data-key]").evaluateAll(
    (all, wanted) => all.filter((e) => wanted.includes((e as SVGElement).dataset.mark ?? "")).map((e) => (e as SVGElement).dataset.key as string),
    kinds,
  );
  return keys.map((key) => textOf(state, key)).sort();
}

test("the marks of before and after are exactly those of the diff", async () => {
  const differences = (JSON.parse(sapwood(["diff", before, after, "--ordered", "--format", "json"], 1)) as { differences: { function: string; change: string; before: string | null; after: string | null }[] }).differences;
  const texts = (side: "before" | "after", wanted: (change: string) => boolean) =>
    [...new Set(differences.filter((d) => wanted(d.change)).map((d) => `@${d.function}: ${d[side]}`))].sort();
  const changed = (change: string) => !["erased", "inserted", "moved"].includes(change);
  const last = data.states.length - 1;
  await open(report, async (page) => {
    assert.deepEqual(await marked(page, 0, 0, ["erased", "merged"]), texts("before", (c) => c === "erased"));
    assert.deepEqual(await marked(page, 1, last, ["new"]), texts("after", (c) => c === "inserted"));
    assert.deepEqual(await marked(page, 0, 0, ["changed"]), texts("before", changed));
    assert.deepEqual(await marked(page, 1, last, ["changed"]), texts("after", changed));
    assert.deepEqual(await marked(page, 0, 0, ["moved"]), texts("before", (c) => c === "moved"));
    assert.ok((await marked(page, 0, 0, ["merged"])).length > 0, "something was merged");
    assert.ok((await marked(page, 0, 0, ["erased"])).length > 0, "something was erased");
    assert.ok((await marked(page, 0, 0, ["changed"])).length > 0, "something was changed");
  });
});

test("each pass can be looked at, with time, op counts and patterns", async () => {
  await open(report, async (page) => {
    const strip = page.locator(".strip");
    assert.equal(await strip.locator("button.pass").count(), 4);
    assert.match((await strip.locator("button.pass").nth(1).textContent()) ?? "", /^canonicalize300 → \d+ · [\d.]+ (µs|ms|s)$/);
    await strip.locator("button.pass").nth(1).click();
    assert.match((await page.textContent(".fired")) ?? "", /dot_of_transpose ×12/);
    await page.keyboard.press("]");
    assert.equal(await strip.locator("button.pass").nth(2).getAttribute("aria-pressed"), "true");
    await page.keyboard.press("n");
    assert.equal(await page.locator(".selected[data-mark]:not([data-mark=''])").count(), 1);
    await page.keyboard.press("p");
    await page.keyboard.press("[");
    await page.keyboard.press("[");
    assert.equal(await strip.locator("button.pass").nth(0).getAttribute("aria-pressed"), "true");
    await page.locator(".side").nth(0).locator("[data-mark='changed']").first().click();
    await page.getByRole("button", { name: "Show what became of it" }).click();
    assert.equal(await page.locator(".side").nth(1).locator(".selected[data-mark='changed']").count(), 1);
  });
});

const picture = (page: Page) => page.evaluate(() => document.querySelector(".replay .world")?.outerHTML);

test("replay shows the same pictures forwards and backwards", async () => {
  await open(report, async (page) => {
    await page.keyboard.press("2");
    await settle(page);
    const steps = Number(await page.getAttribute(".slider", "max"));
    assert.ok(steps > 60, `${steps}`);
    const pictures = [await picture(page)];
    for (let step = 1; step <= 40; step += 1) {
      await page.keyboard.press("n");
      pictures.push(await picture(page));
      assert.match((await page.textContent(".step-label")) ?? "", new RegExp(`^${step} of ${steps}: `));
    }
    assert.ok(new Set(pictures).size > 38, "steps show");
    for (let step = 39; step >= 0; step -= 1) {
      await page.keyboard.press("p");
      assert.equal(await picture(page), pictures[step], `step ${step}`);
    }
  });
});

test("a step shows its match, and steps are filtered by pattern", async () => {
  await open(report, async (page) => {
    await page.keyboard.press("2");
    await page.selectOption(".replay select", "dot_of_transpose");
    assert.equal(await page.locator(".step-row").count(), 12);
    for (const n of [1, 2]) {
      await page.click("[aria-label='Step forward']");
      assert.match((await page.textContent(".step-label")) ?? "", /dot_of_transpose/);
      assert.ok((await page.locator(".node[data-mark*='match']").count()) === 1, `match ${n}`);
      assert.ok((await page.locator(".node[data-mark='new']").count()) >= 1);
    }
    await page.selectOption(".replay select", "");
    await page.locator(".step-row").nth(4).click();
    assert.match((await page.textContent(".step-label")) ?? "", /^\d+ of/);
    await page.click("[aria-label='Last step']");
    const steps = await page.getAttribute(".slider", "max");
    assert.match((await page.textContent(".step-label")) ?? "", new RegExp(`^${steps} of ${steps}`));
    await page.click("[aria-label='Play']");
    await page.waitForFunction(() => (document.querySelector(".step-label")?.textContent ?? "").startsWith("1 of"));
    await page.click("[aria-label='Pause']");
  });
});

test("a run that failed shows how far it got and why", async () => {
  const failed = withData(report, "failed.html", (d) => {
    const run = d.run as NonNullable<Data["run"]>;
    run.failure = { pass: "dce", message: "it panicked: <b>the sky</b> fell\nin line 2" };
    run.passes.length = 2;
    d.states.length = 3;
  });
  await open(failed, async (page) => {
    const alert = page.getByRole("alert");
    assert.match((await alert.textContent()) ?? "", /The run failed in dce; 2 passes ended well before\.it panicked: <b>the sky<\/b> fell/);
    assert.match((await page.textContent(".strip")) ?? "", /dcefailed/);
    assert.ok((await page.locator(".side [data-mark]").count()) > 0);
    for (const key of ["2", "3", "4"]) await page.keyboard.press(key);
  });
});

const HOSTILE = `"'><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><svg onload=window.pwned=1></style>{{7*7}}\u2028&lt;\u0000`;

test("hostile text in every place stays text", async () => {
  const every = (value: unknown, at: string): unknown => {
    if (typeof value === "string") {
      const fixed = /\.kind$|\.(left|right)\.\d+\.2$|\.steps\.\d+\.2\.\d+\.0$/.test(at);
      return fixed ? value : value + HOSTILE;
    }
    if (Array.isArray(value)) return value.map((v, n) => every(v, `${at}.${n}`));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, every(v, `${at}.${k}`)]));
    return value;
  };
  const change = (d: Data) => {
    if (d.run) d.run.failure = { pass: "p", message: "m" };
    d.run?.passes[0]?.warnings.push("w");
    d.run?.marks.notes.push("n");
    Object.assign(d, every(d, ""));
  };
  const pages = [withData(report, "hostile-report.html", change), withData(graphPage("h", transformer()), "hostile-graph.html", change)];
  for (const hostile of pages) {
    await open(hostile, async (page) => {
      const scripts = await page.locator("script").count();
      const tabs = await page.locator("[role=tab]").count();
      for (let tab = 1; tab <= tabs; tab += 1) {
        await page.keyboard.press(String(tab));
        for (const key of ["n", "ArrowDown", "ArrowDown", "ArrowRight", "Enter", "Enter"]) await page.keyboard.press(key);
        const node = page.locator(".pane:not([hidden]) .node:visible").first();
        if ((await node.count()) > 0) await node.hover({ force: true });
        await page.fill(".search", "<script>");
        await page.press(".search", "Enter");
        await page.press(".search", "Escape");
      }
      assert.equal(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned), undefined);
      assert.equal(await page.locator("img, #app script, #app style").count(), 0);
      assert.equal(await page.locator("script").count(), scripts);
      assert.ok(((await page.textContent("#app")) ?? "").includes("<script>window.pwned=1</script>"));
    });
  }
});

test("names that HTML fears come through the command unharmed", async () => {
  const name = "</script><script>alert(1)</script><!--";
  const text = `ptir 1\nfunc @${JSON.stringify(name)}(%x: f32[4]) -> f32[4] { // <i>a comment</i>\n  %y = custom_call ${JSON.stringify(name)} %x {config = ${JSON.stringify("\u2028&amp;<b>")}} : f32[4]\n  return %y\n}\n`;
  await open(graphPage("fear", text), async (page) => {
    assert.match((await page.textContent(".box.function .label")) ?? "", /^@<\/script>/);
    await page.fill(".search", "custom_call");
    await page.press(".search", "Enter");
    const shown = (await page.textContent(".inst-text")) ?? "";
    assert.ok(shown.includes(name), shown);
  });
  await open(reportPage("fear-report", text).page, async (page) => {
    for (const key of ["2", "3", "4"]) await page.keyboard.press(key);
    assert.ok(((await page.textContent("#app")) ?? "").includes("custom_call"));
  });
});

test("a run over a large program keeps its numbers and its text", async () => {
  await open(reportPage("large-report", chain(60_000), "cse").page, async (page) => {
    assert.match((await page.textContent(".banner")) ?? "", /too many to draw/);
    assert.ok(await page.isVisible(".side .line"));
    await page.getByRole("tab", { name: "Numbers" }).click();
    assert.match((await page.textContent(".numbers")) ?? "", /20.000/);
  });
});

test("a run over 10,000 nodes is compared and replayed", async () => {
  await open(reportPage("many", `${chain(10_000).replace("return", "%w = mul %v9999, %one : f32[8, 8]\n  return").replace("return %v9999", "return %w").replace("{\n", "{\n  %one = constant 1.0 : f32[8, 8]\n")}`).page, async (page) => {
    assert.ok((await page.locator(".side [data-mark='inside']").count()) >= 1, "a folded box shows that something in it changed");
    await page.keyboard.press("n");
    assert.equal(await page.locator(".selected[data-mark]:not([data-mark=''])").count(), 1);
    await page.keyboard.press("2");
    await page.keyboard.press("n");
    assert.match((await page.textContent(".step-label")) ?? "", /^1 of/);
    assert.ok((await drawnKeys(page)).length < 1000);
  });
});

test("the pictures of the docs", async () => {
  const folder = process.env.SHOTS ? join(repository, "docs/images") : join(repository, "explorer/.cache/images");
  mkdirSync(folder, { recursive: true });
  const titled = (page: string, name: string) => withData(page, `${name}.html`, (d) => {
    d.title = "transformer.ptir";
    if (d.source) d.source.name = "transformer.ptir";
    // Times are not the same twice.
    d.run?.passes.forEach((pass, n) => {
      pass.time = [412, 31, 9][n] ?? 100;
      pass.verify = 20;
    });
    if (d.run) [d.run.total, d.run.verify] = [530, 12];
  });
  const source = readFileSync(join(repository, "programs/transformer.ptir"), "utf8");
  const shot = async (page: Page, name: string) => {
    await page.mouse.move(2, 2);
    await settle(page);
    const bytes = await page.screenshot({ path: join(folder, `explorer-${name}.png`) });
    assert.ok(bytes.length > 20_000, name);
  };
  await open(titled(graphPage("docs-graph", source), "graph"), async (page) => {
    await page.locator(".node", { hasText: "rsqrt" }).first().click();
    await shot(page, "graph");
  });
  const run = titled(reportPage("docs-report", source, "canonicalize,cse,dce").page, "run");
  await open(run, async (page) => {
    await page.locator(".side").nth(0).locator("[data-mark='merged']").first().click();
    await shot(page, "compare");
    await page.keyboard.press("2");
    await page.selectOption(".replay select", "dot_of_transpose");
    await page.click("[aria-label='Step forward']");
    await page.click(".replay [aria-label='Zoom in']");
    await page.click("[aria-label='Step forward']");
    await shot(page, "replay");
  });
  await open(run, async (page) => {
    await page.keyboard.press("4");
    await shot(page, "numbers");
  }, { colorScheme: "dark" });
});
