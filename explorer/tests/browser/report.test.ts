import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Data } from "../../src/data";
import { chain, dataOf, file, fresh, graphPage, path, reportPage, repository, sapwood, transformer, withData } from "../pages";
import { drawnKeys, open, settle, unfold, unreadable, useBrowser } from "./browser";

useBrowser();

const { page: report, before, after } = reportPage("report", transformer(), "canonicalize,cse,dce");
const data = dataOf(report);

// Returns the text of the instruction with this key.
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
    await unfold(page);
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
    await page.getByRole("button", { name: "Show it after" }).click();
    assert.equal(await page.locator(".side").nth(1).locator(".selected[data-mark='changed']").count(), 1);
    assert.equal(await page.locator(".selected").count(), 1, "one side has the selection");
    assert.equal(await page.locator(".side").nth(0).locator(".peer").count(), 1);
    assert.equal(await page.locator(".side").nth(1).locator(".peer").count(), 0);
  });
});

test("a difference that is selected before the first frame of a pass stays selected", async () => {
  await open(report, async (page) => {
    const press = (keys: string[]) =>
      page.evaluate(async (keys) => {
        for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        // The observers of sizes run between the two.
        for (let frame = 0; frame < 2; frame += 1) await new Promise((then) => requestAnimationFrame(then));
      }, keys);
    for (const keys of [["]", "n"], ["]", "n", "n"], ["[", "p"]]) {
      await press(keys);
      assert.equal(await page.locator(".selected[data-mark]:not([data-mark=''])").count(), 1, keys.join(" "));
    }
  });
});

test("arrows walk on from a difference, and End is the end of the program", async () => {
  await open(report, async (page) => {
    const selected = () => page.getAttribute(".selected", "data-key");
    await page.keyboard.press("n");
    const first = await selected();
    await page.keyboard.press("ArrowDown");
    assert.notEqual(await selected(), first);
    assert.equal(await page.locator(".side").nth(0).locator(".stage:focus").count(), 1);
    await page.keyboard.press("End");
    assert.match((await page.getAttribute(".selected", "aria-label")) ?? "", /^return /);
  });
});

test("the text says what its colours say, and both sides lead to the graph", async () => {
  await open(report, async (page) => {
    await page.keyboard.press("3");
    const before = page.locator(".text-view").nth(0);
    const line = before.locator(".line.changed, .line.erased, .line.merged").first();
    assert.match((await line.locator(".line-sign").textContent()) ?? "", /^[~−⇢]$/);
    assert.match((await line.getByRole("img").getAttribute("aria-label")) ?? "", /^(changed|erased|merged)/);
    await line.dblclick();
    assert.equal(await page.getAttribute("#tab0", "aria-selected"), "true");
    assert.equal(await page.locator(".side").nth(0).locator(".selected").count(), 1);
    assert.equal(await page.locator(".side").nth(1).locator(".selected").count(), 0);
  });
});

test("in the text n and p go through the differences, of both sides", async () => {
  await open(report, async (page) => {
    await page.keyboard.press("3");
    const current = () => page.locator(".line.current").evaluateAll((all) => all.map((e) => `${e.className} ${(e as HTMLElement).dataset.line}`).join());
    await page.keyboard.press("n");
    const first = await current();
    assert.match(first, /line (erased|merged|changed|moved) /);
    await page.keyboard.press("n");
    assert.notEqual(await current(), first);
    await page.keyboard.press("p");
    assert.equal(await current(), first);
    await page.keyboard.press("p");
    assert.equal(await page.locator(".text-view").nth(1).locator(".line.current").count(), 1, "before the first is the last");
  });
});

test("what changed is shown as it was and as it is", async () => {
  await open(report, async (page) => {
    await page.locator(".side").nth(0).locator("[data-mark='changed']").first().click();
    const details = page.locator(".compare .details");
    const own = await details.locator(".inst-text").textContent();
    const there = await details.locator(".other-side pre").textContent();
    assert.equal(await details.locator(".other-side p").textContent(), "after:");
    await page.getByRole("button", { name: "Show it after" }).click();
    assert.equal(await details.locator(".inst-text").textContent(), there);
    assert.equal(await details.locator(".other-side p").textContent(), "before:");
    assert.equal(await details.locator(".other-side pre").textContent(), own);
  });
});

test("titles of sides cover nothing, and both sides have one size", async () => {
  for (const width of [1440, 600]) {
    await open(report, async (page) => {
      const sides = await page.evaluate(() => [...document.querySelectorAll(".side")].map((side) => {
        const [title, stage] = [".side-head", ".stage"].map((of) => (side.querySelector(of) as Element).getBoundingClientRect()) as [DOMRect, DOMRect];
        return { over: title.bottom > stage.top + 0.5, scale: /scale\(([^)]*)/.exec(side.querySelector(".world")?.getAttribute("transform") ?? "")?.[1] };
      }));
      assert.deepEqual(sides.map((side) => side.over), [false, false]);
      assert.equal(sides[0]?.scale, sides[1]?.scale);
    }, { viewport: { width, height: 900 } });
  }
});

test("a page says what a check found", async () => {
  const program = "ptir 1\nfunc @f(%x: f32[4], %y: f32[4]) -> f32[4] {\n  %a = div %x, %y : f32[4]\n  %b = neg %a : f32[4]\n  return %b\n}\n";
  const input = file("checked.ptir", program);
  const bad = file("bad.rules", "rule bad: div(x, y) => sqrt(x)\n");
  const unknown = file("unknown.ptir", 'ptir 1\nfunc @f(%x: f32[4]) -> f32[4] {\n  %a = custom_call "no one knows" %x : f32[4]\n  %b = neg %a : f32[4]\n  %c = neg %b : f32[4]\n  return %c\n}\n');
  const run = (name: string, code: number, ...args: string[]) => {
    const page = path(`${name}.html`);
    sapwood(["opt", ...args, "-o", path(`${name}.out.ptir`), "--check", "--report", page], code);
    fresh(page);
    return page;
  };
  await open(run("check-same", 0, input), async (page) => {
    assert.equal(await page.textContent(".banner.check"), "Checked: the same on 23 inputs.");
    assert.equal(await page.locator(".banner.check.good[role=note]").count(), 1);
    assert.deepEqual(await unreadable(page), []);
  });
  await open(run("check-different", 1, input, "--rules", bad), async (page) => {
    const alert = page.getByRole("alert");
    assert.match((await alert.textContent()) ?? "", /^The check failed: different\. The first wrong rewrite is by `bad`\.@f, result 0, element \[\d\]: .* before, .* after\n {2}input 0: /);
    assert.deepEqual(await unreadable(page), []);
  });
  await open(run("check-unknown", 1, unknown), async (page) => {
    assert.match((await page.textContent(".banner.check")) ?? "", /^Not checked: 1 of 1 function not checked\.not checked: /);
    assert.equal(await page.locator(".banner.check.good, .banner.check.error").count(), 0);
  });
  await open(report, async (page) => assert.equal(await page.locator(".banner.check").count(), 0, "no check was requested"));
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
    assert.equal(await page.locator(".step-name").first().evaluate((e) => `${getComputedStyle(e).textOverflow} ${e.getAttribute("title")}`), "ellipsis dot_of_transpose");
    for (const n of [1, 2]) {
      await page.click("[aria-label='Step forward']");
      assert.match((await page.textContent(".replay .details")) ?? "", /^dot_of_transpose.*matched, and erased%\S+ = dot_general .*inserted%\S+ = dot_general /);
      assert.match((await page.textContent(".step-label")) ?? "", /dot_of_transpose/);
      assert.ok((await page.locator(".node[data-mark*='match']").count()) >= 1, `match ${n}`);
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
    run.failure = { pass: "cse", message: "it panicked: <b>the sky</b> fell\nin line 2", functions: run.passes[1]?.functions ?? null };
    run.passes.length = 1;
    d.states.length = 2;
  });
  await open(failed, async (page) => {
    const alert = page.getByRole("alert");
    assert.match((await alert.textContent()) ?? "", /The run failed in cse after \d+ steps? of it, which the replay shows; 1 pass ended well before\.it panicked: <b>the sky<\/b> fell/);
    assert.match((await page.textContent(".strip")) ?? "", /csefailed/);
    assert.ok((await page.locator(".side [data-mark]").count()) > 0);
    await page.keyboard.press("2");
    await page.keyboard.press("End");
    assert.match((await page.textContent(".step-label")) ?? "", /cse \(cse, which failed, @/);
    for (const key of ["3", "4"]) await page.keyboard.press(key);
  });
});

test("arrow keys move the slider, step by step", async () => {
  await open(report, async (page) => {
    await page.keyboard.press("2");
    const label = async () => ((await page.textContent(".step-label")) ?? "").split(":")[0];
    const steps = await page.getAttribute(".slider", "max");
    await page.focus(".slider");
    await page.keyboard.press("ArrowRight");
    assert.equal(await label(), `1 of ${steps}`);
    await page.keyboard.press("ArrowUp");
    assert.equal(await label(), `2 of ${steps}`);
    await page.keyboard.press("ArrowLeft");
    assert.equal(await label(), `1 of ${steps}`);
    await page.keyboard.press("n");
    assert.equal(await label(), `2 of ${steps}`);
    await page.keyboard.press("p");
    assert.equal(await label(), `1 of ${steps}`);
    await page.keyboard.press("End");
    assert.equal(await label(), `${steps} of ${steps}`);
    await page.keyboard.press("Home");
    assert.match((await page.textContent(".step-label")) ?? "", /^before the first/);
    assert.equal(await page.evaluate(() => document.activeElement?.className), "slider", "the slider keeps the focus");
  });
});

test("boxes of the replay count what is there at that step", async () => {
  await open(report, async (page) => {
    await page.keyboard.press("2");
    const shown = async () => {
      const size = await page.textContent(".replay .box.function > .sub");
      const keys = await page.$$eval(".replay .node:not([data-mark^='erased'])", (all) => all.map((e) => (e as SVGElement).dataset.key ?? ""));
      return [size, `${new Set(keys.filter((key) => key.includes(".i"))).size} ops`];
    };
    for (let step = 0; step < 14; step += 1) {
      const [said, counted] = await shown();
      assert.equal(said, counted, `after ${step} steps`);
      await page.keyboard.press("n");
    }
  });
});

test("the text of a run has both sides, with the marks of the diff", async () => {
  await open(report, async (page) => {
    await page.keyboard.press("3");
    assert.equal(await page.locator(".text-view").count(), 2);
    assert.equal(data.states[0]?.text, sapwood(["fmt", before]));
    assert.equal(data.states.at(-1)?.text, sapwood(["fmt", after]));
    await page.fill(".search", "%q4t");
    await page.press(".search", "Enter");
    assert.ok((await page.locator(".text-view").nth(0).locator(".line.erased, .line.merged, .line.changed").count()) > 0);
    assert.deepEqual(await unreadable(page), []);
  });
});

test("everything of a run can be read in light and dark", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    await open(
      report,
      async (page) => {
        for (const tab of ["1", "2", "4"]) {
          await page.keyboard.press(tab);
          for (const key of ["n", "n"]) await page.keyboard.press(key);
          assert.deepEqual(await unreadable(page), [], `${colorScheme}, tab ${tab}`);
        }
      },
      { colorScheme },
    );
  }
});

test("a run is looked at with the keyboard alone", async () => {
  await open(report, async (page) => {
    await page.keyboard.press("]");
    assert.equal(await page.locator("button.pass").nth(1).getAttribute("aria-pressed"), "true");
    await page.keyboard.press("n");
    const mark = await page.locator(".details .mark-line").textContent();
    assert.ok(mark);
    // From the graph to the details and their links.
    for (let presses = 0; presses < 60 && !(await page.evaluate(() => document.activeElement?.closest(".details") !== null)); presses += 1) await page.keyboard.press("Tab");
    const title = await page.locator(".details h2").textContent();
    await page.keyboard.press("Enter");
    assert.ok(title && (await page.locator(".selected").count()) >= 1);
    await page.keyboard.press("2");
    await page.keyboard.press("End");
    for (let presses = 0; presses < 12 && (await page.evaluate(() => document.activeElement?.tagName)) !== "SELECT"; presses += 1) await page.keyboard.press("Shift+Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Filter by pattern");
    await page.keyboard.press("ArrowDown");
    assert.ok((await page.inputValue(".replay select")) !== "", "a pattern is chosen");
    await page.keyboard.press("4");
  });
});

const HOSTILE = `"'><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><svg onload=window.pwned=1></style>{{7*7}}\u2028&lt;\u0000`;

test("hostile text in every place stays text", async () => {
  const every = (value: unknown, at: string): unknown => {
    if (typeof value === "string") {
      const fixed = /\.(kind|verdict)$|\.(left|right)\.\d+\.2$|\.steps\.\d+\.2\.\d+\.0$/.test(at);
      return fixed ? value : value + HOSTILE;
    }
    if (Array.isArray(value)) return value.map((v, n) => every(v, `${at}.${n}`));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, every(v, `${at}.${k}`)]));
    return value;
  };
  const change = (d: Data) => {
    if (d.run) d.run.failure = { pass: "p", message: "m", functions: null };
    if (d.run) d.run.check = { verdict: "different", summary: "w", culprit: "c", lines: ["l"] };
    d.run?.passes[0]?.warnings.push("w");
    d.run?.marks?.notes.push("n");
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
        if ((await node.count()) > 0) await node.dispatchEvent("pointermove");
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

test("names with HTML characters are shown unchanged in every place", async () => {
  const name = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'><!--";
  const quoted = JSON.stringify(name);
  const text = `ptir 1
// ${name}
func @${quoted}(%x: f32[?D, 4]) -> f32[?D, 4] { // ${name}
  %y = custom_call ${quoted} %x {config = ${JSON.stringify("\u2028&amp;<b>\u202e")}} : f32[?D, 4]
  %a = my.op %y {k = ${quoted}} : f32[?D, 4]
  %n = neg %a : f32[?D, 4]
  %m = neg %n : f32[?D, 4]
  %e = exp %m : f32[?D, 4]
  return %e
}
`;
  const named = `fear <img src=x onerror='window.pwned=1'>`;
  const pwned = (page: Page) => page.evaluate(() => (window as unknown as { pwned?: number }).pwned);
  const visit = async (page: Page, tabs: string[]) => {
    assert.ok((await page.title()).includes(named));
    assert.ok(((await page.textContent("h1")) ?? "").includes(`${named}.ptir`));
    for (const key of tabs) {
      await page.keyboard.press(key);
      for (const step of ["n", "n", "ArrowDown", "ArrowDown"]) await page.keyboard.press(step);
      await page.fill(".search", name.slice(0, 20));
      await page.press(".search", "Enter");
      await page.press(".search", "Escape");
    }
    assert.equal(await pwned(page), undefined);
    assert.equal(await page.locator("img, #app script").count(), 0);
  };
  await open(graphPage(named, text), async (page) => {
    assert.match((await page.textContent(".box.function .label")) ?? "", /^@<\/script>/);
    await page.fill(".search", "custom_call");
    await page.press(".search", "Enter");
    const shown = (await page.textContent(".inst-text")) ?? "";
    assert.ok(shown.includes(name), shown);
    await visit(page, ["1", "2", "3"]);
    assert.ok(((await page.textContent("#app")) ?? "").includes(name));
  });
  await open(reportPage(named, text).page, async (page) => visit(page, ["1", "2", "3", "4"]));
});

test("a run over a large program keeps its numbers and its text, and says what is not recorded", async () => {
  await open(reportPage("large-report", chain(60_000), "cse").page, async (page) => {
    assert.match((await page.textContent(".banner")) ?? "", /too many to draw.*not recorded/);
    assert.equal(await page.locator(".compare .text-view .line:visible").count() > 20, true);
    assert.match((await page.textContent(".pass-summary")) ?? "", /not recorded: too large/);
    assert.doesNotMatch((await page.textContent("#app")) ?? "", /no differences/);
    await page.getByRole("tab", { name: "Replay" }).click();
    assert.equal(await page.textContent(".step-label"), "steps not recorded: too large");
    await page.getByRole("tab", { name: "Numbers" }).click();
    assert.match((await page.textContent(".numbers")) ?? "", /20.000/);
  });
});

test("a run over 10,000 nodes is compared and replayed", async () => {
  await open(reportPage("many", `${chain(10_000).replace("return", "%w = mul %v9999, %one : f32[8, 8]\n  return").replace("return %v9999", "return %w").replace("{\n", "{\n  %one = constant 1.0 : f32[8, 8]\n")}`).page, async (page) => {
    for (const button of await page.locator("[aria-label='Fold all']").all()) await button.click();
    assert.ok((await page.locator(".side [data-mark='inside']").count()) >= 1, "a folded box shows that something in it changed");
    for (const place of ["header .quiet", ".strip", ".pass-summary", ".compare .details", ".side .node.function > .sub"]) {
      assert.doesNotMatch((await page.locator(place).first().textContent()) ?? "", /\d{4}/, `thousands are set off in ${place}`);
    }
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
    d.title = name === "graph" ? "transformer.mlir" : "transformer.ptir";
    if (d.source) d.source.name = d.title;
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
  const model = path("docs-model.html");
  sapwood(["graph", "programs/transformer.mlir", "-o", model]);
  fresh(model);
  await open(titled(model, "graph"), async (page) => {
    await page.locator(".node.repeat .label").click();
    await shot(page, "graph");
    await page.locator(".node.block .label").first().click();
    await page.locator(".node", { hasText: /^dot_general/ }).first().click();
    await shot(page, "block");
    await page.keyboard.press("c");
    await shot(page, "cost");
  });
  const run = titled(reportPage("docs-report", source, "canonicalize,cse,dce").page, "run");
  await open(run, async (page) => {
    await page.click(".mark-key.merged");
    await page.keyboard.press("n");
    await page.click(".mark-key.merged");
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
