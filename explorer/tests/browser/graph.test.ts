import assert from "node:assert/strict";
import { test } from "node:test";
import { chain, dataOf, file, graphPage, path, sapwood, transformer } from "../pages";
import { drawnKeys, open, unfold, unreadable, useBrowser } from "./browser";

useBrowser();

const page300 = graphPage("transformer", transformer());
const data300 = dataOf(page300);

function allKeys(): string[] {
  return (data300.states[0]?.functions ?? []).flatMap((n, fn) => (data300.functions[n]?.insts ?? []).map((i) => `${fn}.i${i[0]}`));
}

test("a transformer of 300 ops opens from disk without a network, and all nodes are there", async () => {
  await open(page300, async (page) => {
    await unfold(page);
    const drawn = new Set(await drawnKeys(page));
    const keys = allKeys();
    assert.equal(keys.length, 300);
    assert.deepEqual(keys.filter((key) => !drawn.has(key)), []);
    const params = data300.functions.reduce((n, f) => n + (f.bodies[0]?.[2].length ?? 0), 0);
    assert.equal([...drawn].filter((key) => key.includes(".v")).length, params);
    assert.equal(await page.title(), `${path("transformer.ptir")} · sapwood`);
    assert.ok(await page.isVisible(".minimap"));
  });
});

test("search finds a node and brings it to the middle", async () => {
  await open(page300, async (page) => {
    await unfold(page);
    await page.fill(".search", "op:reduce_max");
    assert.equal(await page.textContent(".found-count"), "4 found");
    assert.equal(await page.locator(".node.found").count(), 4);
    for (const expected of ["1 of 4", "2 of 4"]) {
      await page.press(".search", "Enter");
      assert.equal(await page.textContent(".found-count"), expected);
      const [node, stage] = [await page.locator(".node.selected").boundingBox(), await page.locator(".stage").boundingBox()];
      assert.ok(node && stage);
      assert.ok(Math.abs(node.x + node.width / 2 - stage.x - stage.width / 2) < 12, "in the middle from left to right");
      assert.ok(Math.abs(node.y + node.height / 2 - stage.y - stage.height / 2) < 12, "in the middle from top to bottom");
    }
    await page.fill(".search", "value:%nothing");
    assert.equal(await page.textContent(".found-count"), "0 found");
    await page.fill(".search", "type:f32[4,");
    assert.notEqual(await page.textContent(".found-count"), "0 found");
    await page.fill(".search", "attr:perm");
    assert.notEqual(await page.textContent(".found-count"), "0 found");
  });
});

test("boxes fold and unfold", async () => {
  await open(page300, async (page) => {
    await unfold(page);
    const before = (await drawnKeys(page)).sort();
    const head = page.locator(".box.function .head").first();
    await head.click();
    const folded = await drawnKeys(page);
    assert.ok(folded.length < before.length - 20, `${folded.length} of ${before.length}`);
    assert.equal(await page.locator(".node.folded.function").count(), 1);
    await page.locator(".node.folded.function").click();
    assert.deepEqual((await drawnKeys(page)).sort(), before);
    await page.click("[aria-label='Fold all']");
    assert.equal(await page.locator(".node.folded").count(), 5);
    assert.equal(await page.locator(".node:not(.folded)").count(), 0);
    await page.click("[aria-label='Unfold all']");
    assert.deepEqual((await drawnKeys(page)).sort(), before);
  });
});

test("a click shows text, place, source line, operands and users", async () => {
  await open(page300, async (page) => {
    await unfold(page);
    await page.locator(".node", { hasText: "rsqrt" }).first().click();
    const details = page.locator(".details");
    assert.equal(await details.locator("h2").textContent(), "rsqrt");
    assert.match((await details.locator(".inst-text").textContent()) ?? "", /^%inverse = rsqrt %lifted : f32\[16, 1\]$/);
    assert.match((await details.locator(".place").textContent()) ?? "", /transformer\.ptir:\d+:\d+$/);
    assert.match((await details.locator(".source pre").textContent()) ?? "", /%inverse = rsqrt %lifted[^]*\^/);
    await details.getByRole("button", { name: "%lifted: f32[16, 1]" }).click();
    assert.equal(await details.locator("h2").textContent(), "add");
    await details.getByRole("button", { name: /rsqrt/ }).click();
    assert.equal(await details.locator("h2").textContent(), "rsqrt");
    assert.ok((await page.locator(".edge.hot").count()) >= 2);
  });
});

test("an edge says its type when the pointer is over it", async () => {
  await open(page300, async (page) => {
    const at = await page.evaluate(() => {
      const lines = [...document.querySelectorAll<SVGPathElement>(".edge .hit")];
      for (const line of lines) {
        const p = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM() as DOMMatrix);
        if (document.elementFromPoint(p.x, p.y) === line) return { x: p.x, y: p.y };
      }
      return null;
    });
    assert.ok(at);
    await page.mouse.move(at.x, at.y);
    assert.match((await page.textContent(".tip")) ?? "", /^%\S+: (f32|bool)\[/);
    assert.ok(await page.isVisible(".tip"));
  });
});

test("the pointer moves the picture, the wheel makes it larger, the minimap leads", async () => {
  await open(page300, async (page) => {
    await unfold(page);
    const world = () => page.getAttribute(".world", "transform");
    const start = await world();
    await page.mouse.move(300, 880 - 300);
    await page.mouse.down();
    await page.mouse.move(360, 520, { steps: 4 });
    await page.mouse.up();
    const moved = await world();
    assert.notEqual(moved, start);
    await page.mouse.wheel(0, -300);
    await page.waitForFunction((before) => document.querySelector(".world")?.getAttribute("transform") !== before, moved);
    const zoomed = await world();
    const map = await page.locator(".minimap").boundingBox();
    assert.ok(map);
    await page.mouse.click(map.x + map.width - 12, map.y + map.height - 12);
    assert.notEqual(await world(), zoomed);
  });
});

test("the keyboard alone is enough", async () => {
  await open(page300, async (page) => {
    const focused = () => page.evaluate(() => document.activeElement?.className ?? "");
    for (let presses = 0; presses < 12 && !String(await focused()).includes("stage"); presses += 1) await page.keyboard.press("Tab");
    assert.equal(await focused(), "stage");
    await page.keyboard.press("u");
    await page.keyboard.press("ArrowDown");
    const first = await page.getAttribute(".node.selected", "data-key");
    assert.ok(first);
    await page.keyboard.press("ArrowDown");
    const second = await page.getAttribute(".node.selected", "data-key");
    assert.notEqual(second, first);
    const active = await page.getAttribute(".stage", "aria-activedescendant");
    assert.equal(await page.getAttribute(`[id="${active}"]`, "data-key"), second);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".node.folded.selected").count(), 1);
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".node.folded").count(), 0);
    const before = await page.getAttribute(".world", "transform");
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("+");
    assert.notEqual(await page.getAttribute(".world", "transform"), before);
    await page.keyboard.press("/");
    await page.keyboard.type("op:exp");
    await page.keyboard.press("Enter");
    assert.match((await page.getAttribute(".node.selected", "aria-label")) ?? "", / = exp /);
    await page.keyboard.press("Escape");
    assert.equal(await focused(), "stage");
    await page.keyboard.press("2");
    assert.equal(await page.getAttribute("#tab1", "aria-selected"), "true");
    assert.equal(await focused(), "lines");
    await page.keyboard.press("?");
    assert.ok(await page.isVisible("dialog[open]"));
    await page.keyboard.press("Escape");
    assert.ok(!(await page.isVisible("dialog.help")));
  });
});

test("everything has a role and a name", async () => {
  await open(page300, async (page) => {
    const nameless = await page.$$eval("button, input, select, [role=application], .node, .box", (all) =>
      all.filter((e) => !(e.getAttribute("aria-label") ?? e.textContent ?? "").trim()).map((e) => e.outerHTML.slice(0, 80)),
    );
    assert.deepEqual(nameless, []);
    const ids = await page.$$eval("[id]", (all) => all.map((e) => e.id));
    assert.equal(new Set(ids).size, ids.length, "ids are there once");
    assert.equal(await page.getAttribute("html", "lang"), "en");
  });
});

test("text is readable in light and dark, on every tab", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    await open(
      page300,
      async (page) => {
        await unfold(page);
        await page.locator(".node", { hasText: "rsqrt" }).first().click();
        for (const tab of ["1", "2", "3"]) {
          await page.keyboard.press(tab);
          assert.deepEqual(await unreadable(page), [], `${colorScheme}, tab ${tab}`);
        }
        await page.keyboard.press("?");
        assert.deepEqual(await unreadable(page), [], `${colorScheme}, help`);
      },
      { colorScheme },
    );
  }
});

test("the graph is printed whole, at its own size, without the controls", async () => {
  await open(page300, async (page) => {
    await unfold(page);
    const before = await page.getAttribute(".world", "transform");
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    for (const hidden of [".tools", ".minimap", ".tabs", ".finder", ".details"]) assert.ok(!(await page.isVisible(hidden)), hidden);
    const sheets = await page.evaluate(() => {
      const box = (e: Element) => e.getBoundingClientRect().toJSON() as DOMRect;
      return [...document.querySelectorAll(".paper svg")].map((svg) => ({ svg: box(svg), nodes: [...svg.querySelectorAll(".node")].map((n) => ({ key: (n as SVGElement).dataset.key, ...box(n) })) }));
    });
    const heads = await page.evaluate(() => [...document.querySelectorAll(".paper svg")].flatMap((svg) => [...svg.querySelectorAll("[marker-end]")].map((line) => document.querySelector(/#[^)]*/.exec(line.getAttribute("marker-end") ?? "")?.[0] ?? "none")?.closest("svg") === svg)));
    assert.ok(heads.length > 100 && heads.every(Boolean), "every sheet has the heads of its arrows");
    const whole = new Set<string | undefined>();
    for (const { svg, nodes } of sheets) {
      assert.ok(svg.height > 150 && svg.height < 700 && svg.width > 600 && svg.width < 1000, JSON.stringify(svg));
      for (const n of nodes) if (n.width > 3 && n.left >= svg.left && n.right <= svg.right && n.top >= svg.top - 1 && n.bottom <= svg.bottom + 1) whole.add(n.key);
    }
    const boxes = new Set(await page.$$eval(".stage .box.inst", (all) => all.map((e) => (e as SVGElement).dataset.key)));
    assert.deepEqual(allKeys().filter((key) => !whole.has(key) && !boxes.has(key)), [], "every node is on a page as a whole");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen" });
    assert.equal(await page.getAttribute(".world", "transform"), before, "and the screen is as it was");
    const pdf = await page.pdf({ preferCSSPageSize: true });
    assert.ok(pdf.length > 30_000, `${pdf.length} bytes`);
  });
});

test("text is printed to its end", async () => {
  await open(page300, async (page) => {
    await page.keyboard.press("2");
    const seen = await page.locator(".text-view .line").count();
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const lines = (data300.states[0]?.text ?? "").trimEnd().split("\n").length;
    assert.ok(seen < lines);
    assert.equal(await page.locator(".text-view .line:visible").count(), lines);
  });
});

test("narrow windows show everything below each other", async () => {
  await open(
    page300,
    async (page) => {
      await unfold(page);
      await page.locator(".node", { hasText: "rsqrt" }).first().click();
      for (const there of [".details h2", ".inst-text", ".graph-svg", ".tabs", ".search"]) assert.ok(await page.isVisible(there), there);
      assert.equal(await page.locator(".details h2").textContent(), "rsqrt");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 420, `nothing sticks out: ${wide}`);
      const stage = await page.locator(".stage").boundingBox();
      assert.ok(stage && stage.height > 250, JSON.stringify(stage));
    },
    { viewport: { width: 420, height: 800 } },
  );
});

const REGIONS = `ptir 1
func @f(%x: f32[4], %p: bool[]) -> f32[4] {
  %y = cond %p () {
    %e = exp %x : f32[4]
    %n = cond %p () {
      %s = sin %x : f32[4]
      yield %s
    } () {
      yield %e
    } : f32[4]
    yield %n
  } () {
    yield %x
  } : f32[4]
  return %y
}
`;

test("uses inside of regions have edges with their types", async () => {
  const regions = graphPage("regions", REGIONS);
  const rows = dataOf(regions).functions[0];
  assert.ok(rows);
  const defined = new Map(rows.insts.flatMap((i) => i[5].map((v): [number, string] => [v, `0.i${i[0]}`])));
  const expected = rows.insts.flatMap((i) => i[4].map((v) => `${defined.get(v) ?? `0.v${v}`} 0.i${i[0]}`));
  await open(regions, async (page) => {
    await unfold(page);
    const drawn = await page.$$eval(".edge", (all) => all.map((e) => `${(e as SVGElement).dataset.from} ${(e as SVGElement).dataset.to}`));
    assert.deepEqual([...drawn].sort(), [...new Set(expected)].sort());
    await page.locator(".box.region .head").first().click({ position: { x: 8, y: 8 } });
    const folded = await page.$$eval(".edge", (all) => all.map((e) => `${(e as SVGElement).dataset.from} ${(e as SVGElement).dataset.to}`));
    assert.ok(folded.some((edge) => /^0\.v\d+ 0\.b\d+$/.test(edge)), `a folded region has the edges of what is in it: ${folded}`);
  });
});

test("the text is what `fmt` prints, and leads to the graph", async () => {
  const text = sapwood(["fmt", path("transformer.ptir")]);
  assert.equal(data300.states[0]?.text, text);
  await open(page300, async (page) => {
    await page.keyboard.press("2");
    const first = await page.$$eval(".line .code", (all) => all.map((e) => e.textContent).join("\n"));
    assert.ok(text.startsWith(first), first);
    assert.match(first, /^ptir 1\n\n(\/\/.*\n)*func @layer_norm_0\(%x: .*\) -> f32\[16, 32\] \{\n/);
    await page.fill(".search", "rsqrt");
    await page.press(".search", "Enter");
    await page.locator(".lines").focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.getAttribute("#tab0", "aria-selected"), "true");
    assert.match((await page.getAttribute(".node.selected", "aria-label")) ?? "", / = rsqrt /);
  });
});

test("the theme can be changed, tabs show text and numbers", async () => {
  await open(page300, async (page) => {
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await colour();
    await page.click("[aria-label='Light or dark']");
    assert.notEqual(await colour(), before);
    await page.click("#tab1");
    assert.match((await page.textContent(".text-status > span")) ?? "", /^3\d\d lines$/);
    await page.fill(".search", "rsqrt");
    await page.press(".search", "Enter");
    assert.match((await page.textContent(".line.current")) ?? "", /rsqrt/);
    await page.click("#tab2");
    assert.match((await page.textContent(".numbers")) ?? "", /Ops by family/);
    await page.evaluate(() => {
      document.execCommand = () => ((window as unknown as { copied: string }).copied = (document.activeElement as HTMLTextAreaElement).value) !== "";
      Object.defineProperty(navigator, "clipboard", { value: undefined });
    });
    await page.locator(".numbers .copy").first().click();
    await page.waitForFunction(() => document.querySelector(".table-tools [role=status]")?.textContent === " copied");
    const copied = await page.evaluate(() => (window as unknown as { copied: string }).copied);
    assert.match(copied, /^op\tfamily\tcount\n/);
    assert.match(copied, /\nrsqrt\tunary\t4\n/);
  });
});

test("10,000 nodes show as few boxes, and one of them is found inside", async () => {
  await open(graphPage("large", chain(10_000)), async (page) => {
    assert.ok((await page.locator(".node").count()) <= 110, `${await page.locator(".node").count()}`);
    assert.ok((await page.locator("#app *").count()) < 4000, `${await page.locator("#app *").count()}`);
    await page.fill(".search", "value:%v7654");
    await page.press(".search", "Enter");
    assert.match((await page.getAttribute(".node.selected", "aria-label")) ?? "", /^%v7654 = /);
    assert.ok((await page.locator(".node:not(.folded)").count()) >= 3, `${await page.locator(".node:not(.folded)").count()}`);
    await page.click("[aria-label='Fold all']");
    await page.click("[aria-label='Unfold all']");
    await page.waitForFunction(() => document.querySelector(".view-note")?.textContent?.startsWith("unfolded"));
    assert.match((await page.textContent(".view-note")) ?? "", /^unfolded up to the limit; [\d\u202f]+ boxes left folded$/);
    assert.ok(await page.isVisible(".view-note"));
    assert.ok((await page.locator("#app *").count()) < 30_000);
    await page.click("[aria-label='Fold all']");
    assert.ok(!(await page.isVisible(".view-note")));
  });
});

test("a program too large to draw is shown as text with a note, and can be searched", async () => {
  await open(graphPage("text", chain(121_000)), async (page) => {
    assert.match((await page.textContent(".banner")) ?? "", /121.000 instructions: too many to draw/);
    assert.equal(await page.locator(".graph-svg").count(), 0);
    assert.ok((await page.locator(".line").count()) < 100);
    await page.fill(".search", "%v54321 =");
    assert.match((await page.textContent(".found-count")) ?? "", /^1 found$/);
    await page.press(".search", "Enter");
    assert.match((await page.textContent(".line.current")) ?? "", /%v54321 = /);
    assert.ok(await page.isVisible(".line.current"));
  });
});

test("odd programs: none, empty, one op, an attribute of a megabyte", async () => {
  const programs: [string, string][] = [
    ["none", "ptir 1\n"],
    ["empty", "ptir 1\nfunc @f() {\n  return\n}\n"],
    ["one", "ptir 1\nfunc @f(%x: f32[]) -> f32[] {\n  %y = exp %x : f32[]\n  return %y\n}\n"],
    ["megabyte", `ptir 1\nfunc @f(%x: f32[]) -> f32[] {\n  %y = custom_call "${"a<b>".repeat(1 << 18)}" %x : f32[]\n  return %y\n}\n`],
  ];
  for (const [name, text] of programs) {
    await open(graphPage(name, text), async (page) => {
      for (const tab of ["#tab1", "#tab2", "#tab0"]) await page.click(tab);
      await page.locator(".stage").focus();
      for (const key of ["ArrowDown", "ArrowRight", "Enter", "f", "u", "0", "End", "Home"]) await page.keyboard.press(key);
      assert.equal(await page.locator(".banner", { hasText: "The program has no functions." }).count(), name === "none" ? 1 : 0);
      if (name === "megabyte") {
        await page.fill(".search", "custom_call");
        await page.press(".search", "Enter");
        assert.match((await page.textContent(".inst-text")) ?? "", /bytes in all\)$/);
        assert.ok(((await page.textContent(".inst-text")) ?? "").length < 3000);
      }
    });
  }
});

test("`--function` draws one function, `--to html` needs no name", async () => {
  const input = file("some.ptir", transformer());
  const text = sapwood(["graph", input, "--to", "html", "--function", "attention_2"]);
  await open(file("some.html", text), async (page) => {
    assert.equal(await page.locator(".box.function").count(), 1);
    assert.match((await page.textContent(".box.function")) ?? "", /@attention_2/);
  });
});
