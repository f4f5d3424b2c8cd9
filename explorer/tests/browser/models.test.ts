import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Download, Page } from "playwright-core";
import { diffPage, file, fresh, graphPage, layers, matchPage, path, reportPage, repository, residual, sapwood, transformer, withData } from "../pages";
import { drawnKeys, open, settle, unfold, useBrowser, violations } from "./browser";

useBrowser();

/** Measures a drawing: the part of the window that it spans, and the smallest visible text in pixels. */
function measured(page: Page): Promise<{ wide: number; high: number; least: number; overflow: boolean }> {
  return page.evaluate(() => {
    const stage = document.querySelector(".pane:not([hidden]) .stage") as HTMLElement;
    const [outer, inner] = [stage.getBoundingClientRect(), (stage.querySelector(".world") as SVGElement).getBoundingClientRect()];
    const scale = Number(/scale\(([\d.]+)\)/.exec(stage.querySelector(".world")?.getAttribute("transform") ?? "")?.[1]);
    const sizes = [...stage.querySelectorAll("text")].filter((t) => getComputedStyle(t).visibility !== "hidden").map((t) => Number.parseFloat(getComputedStyle(t).fontSize) * scale);
    return { wide: inner.width / outer.width, high: inner.height / outer.height, least: Math.min(...sizes), overflow: inner.bottom > outer.bottom + 1 || inner.right > outer.right + 1 };
  });
}

const models = join(repository, "../shared/corpus/stablehlo/models");
const pages: [string, () => string, string[]][] = [
  ["layers", () => graphPage("opening-layers", layers(12)), ["block × 12"]],
  ["transformer", () => modelPage("transformer", join(repository, "programs/transformer.mlir")), ["block × 4"]],
];
// These models are not part of the project.
for (const [name, blocks] of [
  ["flax_mlp", []], ["flax_gpt2_L2", ["block × 2"]], ["flax_gpt2_L12", ["block × 12"]], ["haiku_resnet18", ["block × 8 (2 kinds)"]],
  ["keras_convnext_tiny", ["block × 3 (1–3 of 18)", "block × 3 (4–6 of 18)", "block × 9 (7–15 of 18)", "block × 3 (16–18 of 18)"]],
] as [string, string[]][]) {
  const model = join(models, name, "model.mlir");
  if (existsSync(model)) pages.push([name, () => modelPage(name, model), blocks]);
}

function modelPage(name: string, input: string): string {
  const page = path(`opening-${name}.html`);
  sapwood(["graph", input, "-o", page]);
  fresh(page);
  return page;
}

for (const [name, page, blocks] of pages) {
  test(`${name} opens completely and readably, with its blocks`, async () => {
    await open(page(), async (page) => {
      const { wide, high, least, overflow } = await measured(page);
      assert.ok(least >= 9, `text of ${least} pixels`);
      // Three nodes would have to be huge.
      assert.ok(Math.max(wide, high) >= (name === "layers" ? 0.45 : 0.8), `${wide} × ${high}`);
      assert.ok(!overflow, "everything is visible");
      const labels = await page.locator(".node.repeat .label").allTextContents();
      assert.deepEqual(labels.map((label) => label.trim()).sort(), [...blocks].sort());
      if (name === "haiku_resnet18") assert.match((await page.textContent(".node.repeat")) ?? "", /237 ops: 4 × 27 \+ 2 × 39 \+ 30 \+ 21 →/);
      const folder = join(repository, "explorer/.cache/images");
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `model-${name}.png`) });
    });
  });
}

test("a repetition unfolds into blocks, a block into its ops, and tells the differences", async () => {
  await open(graphPage("unfolding", layers(12)), async (page) => {
    await page.locator(".node.repeat").hover();
    assert.match((await page.textContent(".tip")) ?? "", /block 2 to block 12: equal to the first, with other weights/);
    await page.locator(".node.repeat").click();
    assert.equal(await page.locator(".node.block").count(), 12);
    assert.match((await page.textContent(".details")) ?? "", /Differences.*equal to the first/);
    await page.locator(".node.block").first().click();
    assert.equal(await page.locator(".node.block").count(), 11);
    assert.equal(await page.locator(".node", { hasText: /^dot_general/ }).count(), 1);
    const [block, stage] = [await page.locator(".box.block").boundingBox(), await page.locator(".stage").boundingBox()];
    assert.ok(block && stage && block.y >= stage.y && block.y < stage.y + stage.height - 100, "the block is in the window");
    assert.deepEqual((await page.locator(".node .sub").allTextContents()).filter((text) => text.includes("…")), [], "no short text is cut");
    // The weights of a layer are rows of its nodes, and can be selected.
    await page.locator(".node.row", { hasText: "%w0" }).click();
    assert.equal(await page.textContent(".details h2"), "%w0");
  });
});

test("a sentence and the boxes tell the layers and the types of a model", async () => {
  await open(graphPage("sentence", residual([4, 4, 4])), async (page) => {
    assert.match((await page.textContent(".headline")) ?? "", /^12 residual blocks of dense, relu, tanh; .* parameters; f32\[4, 8\] → f32\[4, 32\]$/);
    const texts = (await page.locator(".node.repeat text").allTextContents()).map((text) => text.trim());
    assert.equal(texts[0], "block × 12 (2 kinds)");
    // The ops of the blocks add up to those of the box.
    const [, all, sum] = /^(\d+) ops: ([\d× +]+) → f32\[4, 32\]$/.exec(texts[1] ?? "") as RegExpExecArray;
    const parts = (sum as string).split(" + ").map((part) => part.split(" × ").reduce((product, n) => product * Number(n), 1));
    assert.equal(parts.reduce((a, b) => a + b, 0), Number(all), texts[1]);
    assert.match((await page.textContent(".name")) ?? "", /1 function, \d+ ops, 12 of them constants$/);
    assert.match((await page.textContent(".details")) ?? "", /Constants count as ops, parameters do not\./);
    assert.deepEqual(texts.slice(2), ["dense · relu · dense · residual add ·", "tanh", "1–4 → 4×8, 5–8 → 4×16, 9–12 → 4×32"]);
    assert.equal(await page.getAttribute(".node.repeat", "aria-label"), texts.join(", "));
    assert.match((await page.locator(".node", { hasText: /^return/ }).textContent()) ?? "", /f32\[4, 32\]/);
    await page.locator(".node.repeat").hover();
    assert.match((await page.textContent(".tip")) ?? "", /block 5: \d+ ops instead of \d+: 1 dot_general more, 1 add more/);
  });
});

test("an arrow in a folded block goes around the layers of a residual connection", async () => {
  // Two sums in each block: the second arrow begins at the line with the first sum.
  const layer = (n: string, from: string) => [`  %d${n} = dot_general ${from}, %w${n} {lhs_contract = [1], rhs_contract = [0]} : f32[4, 8]`, `  %t${n} = ${n.endsWith("a") ? "tanh" : "sin"} %d${n} : f32[4, 8]`, `  %l${n} = logistic %t${n} : f32[4, 8]`, `  %s${n} = add %l${n}, ${from} : f32[4, 8]`];
  const [lines, params]: [string[], string[]] = [[], []];
  let from = "%x";
  for (const n of Array.from({ length: 8 }, (_, k) => [`${k}a`, `${k}b`]).flat()) {
    lines.push(...layer(n, from), ...(n.endsWith("b") ? [`  %y${n} = exp %s${n} : f32[4, 8]`] : []));
    params.push(`%w${n}: f32[8, 8]`);
    from = n.endsWith("b") ? `%y${n}` : `%s${n}`;
  }
  const program = `ptir 1\nfunc @net(%x: f32[4, 8], ${params.join(", ")}) -> f32[4, 8] {\n${lines.join("\n")}\n  return ${from}\n}\n`;
  await open(graphPage("skips", program), async (page) => {
    const box = page.locator(".node.repeat");
    const list = (await box.locator(".list").allTextContents()).map((text) => text.trim());
    assert.equal(list.join(" "), "dense · tanh · sigmoid · residual add · dense · sin · sigmoid · residual add · exp");
    const arrows = await box.locator(".skip path").evaluateAll((all) => all.map((e) => (e as SVGGraphicsElement).getBoundingClientRect()).map(({ top, bottom, right }) => ({ top, bottom, right })));
    const [first, second] = await Promise.all([0, 1].map((n) => box.locator(".list").nth(n).evaluate((e) => (e as SVGGraphicsElement).getBoundingClientRect().toJSON() as DOMRect)));
    assert.equal(arrows.length, list.filter((line) => line.includes("residual add")).length);
    for (const [arrow, line] of [[arrows[0], first], [arrows[1], second]] as const) {
      assert.ok(arrow && line && arrow.bottom > line.top && arrow.bottom < line.bottom + 1, "the arrow ends at its line");
      assert.ok(arrow.right <= line.left, "the arrow is beside the text");
    }
    assert.ok((arrows[0]?.bottom ?? 0) <= (arrows[1]?.top ?? 0) + 3, "the second begins at the end of the first");
    // The headline says it as well, and blocks without such a sum have no arrow.
    assert.match((await page.textContent(".headline")) ?? "", /^8 residual blocks of /);
  });
  await open(graphPage("no-skips", layers(12)), async (page) => {
    assert.equal(await page.locator(".node.repeat").count(), 1);
    assert.equal(await page.locator(".skip").count(), 0);
  });
});

test("folded sections are named by what is in them, in the drawing, the outline and for screen readers", async () => {
  await open(graphPage("sections", residual([3, 3, 4], true)), async (page) => {
    const names = (await page.locator(".node.run .label").allTextContents()).map((text) => text.trim());
    assert.deepEqual(names, ["dense · exp · sigmoid (1 of 2)", "dense · exp · sigmoid (2 of 2)"]);
    for (const name of names) {
      assert.equal(await page.locator(".outline .link", { hasText: name }).count(), 1);
      assert.match((await page.locator(".node.run", { hasText: name }).getAttribute("aria-label")) ?? "", /^dense · exp · sigmoid \(\d of 2\), \d+ ops → f32\[4, \d+\]$/);
    }
    await page.locator(".node.run", { hasText: "(1 of 2)" }).click();
    assert.equal((await page.textContent(".box.run .label"))?.trim(), names[0], "the open box has the same name");
    assert.equal(await page.locator(".box.run").count(), 1);
  });
});

test("labels of edges have the names of symbols, and nothing if no size is known", async () => {
  // Only the edges of boxes have sizes: a node shows its type.
  const named = `ptir 1\nfunc @f(%x: f32[?batch, ?sequence_length, 8]) -> f32[?batch, ?sequence_length, 8] {\n${Array.from({ length: 40 }, (_, n) => `  %v${n} = ${["exp", "tanh", "neg", "sin"][(n * n + (n >> 2)) % 4]} ${n === 0 ? "%x" : `%v${n - 1}`} : f32[?batch, ?sequence_length, 8]`).join("\n")}\n  return %v39\n}\n`;
  const texts = (text: string, name: string) => {
    let found: string[] = [];
    return open(graphPage(name, text), async (page) => {
      await page.click("[aria-label='Fold all']");
      await page.locator(".node.function").click();
      found = (await page.locator(".edge-label").allTextContents()).map((each) => each.trim());
    }).then(() => found);
  };
  const shown = await texts(named, "symbols");
  assert.ok(shown.length > 0 && shown.every((each) => each === "?batch×?sequence_length×8"), shown.join("; "));
  // Sizes without names, as a reader of ONNX files writes them.
  assert.deepEqual(await texts(named.replaceAll("?batch, ?sequence_length, 8", "?unk_1, ?unk_2, ?unk_3"), "no-symbols"), []);
});

test("boxes have their layers beside their size if there is no place for a list", async () => {
  const scopes = Array.from({ length: 16 }, (_, n) => n);
  const ops = ["tanh", "negate", "exponential", "sine", "cosine"];
  const lines = scopes.flatMap((n) => ops.slice(0, 2 + (n % 4)).map((op, k) => `  %${n}_${k} = stablehlo.${op} ${k > 0 ? `%${n}_${k - 1}` : n > 0 ? `%${n - 1}_${1 + ((n - 1) % 4)}` : "%x"} : tensor<4xf32> loc("net/part${"abcdefghijklmnop"[n]}/${k}")`));
  const input = file("low-boxes.mlir", `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n${lines.join("\n")}\n  return %15_4 : tensor<4xf32>\n}\n`);
  const name = path("low-boxes.html");
  sapwood(["graph", input, "-o", name]);
  fresh(name);
  await open(name, async (page) => {
    const texts = await page.locator(".node.scope").first().locator("text").allTextContents();
    assert.deepEqual(texts.map((text) => text.trim()), ["parta", "tanh", "2 ops"]);
    assert.ok((await measured(page)).least >= 9);
  });
});

test("families, ancestors, descendants and paths are emphasised", async () => {
  await open(graphPage("emphasis", layers(2)), async (page) => {
    await unfold(page);
    const shown = () => page.locator(".stage .node:not(.dim):not(.row):not(.small)").count();
    const all = await shown();
    await page.locator(".family", { hasText: "dot" }).click();
    assert.equal(await page.locator(".node:not(.dim)", { hasText: /^dot_general/ }).count(), 2);
    assert.equal(await page.getAttribute(".family[aria-pressed='true']", "title"), "Emphasise dot");
    assert.ok((await shown()) < all);
    await page.locator(".family", { hasText: "dot" }).click();
    assert.equal(await shown(), all);
    await page.locator(".node", { hasText: /^tanh/ }).first().click();
    await page.getByRole("button", { name: "Ancestors" }).click();
    assert.equal(await shown(), 3, "dot_general, add and tanh");
    await page.getByRole("button", { name: "Path from here" }).click();
    await page.locator(".node", { hasText: /^tanh/ }).last().click();
    await page.getByRole("button", { name: "Path to here" }).click();
    const path = await shown();
    assert.ok(path > 3 && path < all, `${path} of ${all}`);
    assert.ok((await page.locator(".edge:not(.dim)").count()) >= path - 1);
    await page.locator(".stage").focus();
    await page.keyboard.press("Escape");
    assert.equal(await shown(), all);
  });
});

test("edges have the numbers of operands, and sizes where their start shows none", async () => {
  await open(graphPage("edge-labels", layers(12)), async (page) => {
    const labels = await page.locator(".edge-label").allTextContents();
    assert.ok(labels.includes("4×8"), labels.join(" "));
    await unfold(page);
    const sub = await page.locator(".edge-label").allTextContents();
    assert.ok(sub.includes("0") && sub.includes("1"), sub.join(" "));
  });
});

test("nodes of ONNX models have their names of ONNX, and sizes on edges do not cover each other", async () => {
  const numbers = (n: number, line: (n: number) => string) => Array.from({ length: n }, (_, at) => `  ${line(at)}`).join("\n");
  const program = `ptir 1
func @f(%x: f32[4, 8]) -> f32[2, 8] {
  %w = constant ${JSON.stringify(Array.from({ length: 8 }, (_, row) => Array.from({ length: 8 }, (_, column) => row + column / 8 + 0.0625)))} : f32[8, 8]
  %m = onnx.MatMul %x, %w : f32[4, 8]
  %a, %b = onnx.Split %m {num_outputs = 2} : f32[2, 8], f32[2, 8]
${numbers(8, (n) => `%t${n} = ${n % 2 ? "tanh" : "exp"} ${n % 3 ? "%a" : "%b"} : f32[2, 8]`)}
${numbers(7, (n) => `%u${n} = add ${n ? `%u${n - 1}` : "%t0"}, %t${n + 1} : f32[2, 8]`)}
  return %u6
}
`;
  await open(graphPage("edge-places", program), async (page) => {
    assert.equal(await page.locator(".node", { hasText: /^MatMul/ }).count(), 1);
    assert.equal(await page.locator(".node.row", { hasText: "f32[8, 8]" }).count(), 1, "a large weight has its type");
    const places = await page.locator(".edge-label").evaluateAll((all) => all.filter((e) => e.textContent?.includes("×")).map((e) => e.getBoundingClientRect().toJSON() as DOMRect));
    assert.ok(places.length >= 2, `${places.length} labels`);
    const covers = (a: DOMRect, b: DOMRect) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height - 4 && b.y < a.y + a.height - 4;
    assert.deepEqual(places.filter((a, n) => places.slice(n + 1).some((b) => covers(a, b))), []);
  });
});

async function saved(page: Page, label: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = (await Promise.all([page.waitForEvent("download"), page.click(`[aria-label='${label}']`)])) as [Download, unknown];
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test("saved pictures equal the screen", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    await open(
      graphPage("pictures", layers(3)),
      async (page) => {
        await page.keyboard.press("ArrowDown");
        // Costs are shown in the dark theme.
        if (colorScheme === "dark") await page.keyboard.press("c");
        const [svg, png] = [await saved(page, "Save as SVG"), await saved(page, "Save as PNG")];
        assert.match(svg.name, /^Graph-of-.*\.svg$/);
        assert.match(png.name, /^Graph-of-.*\.png$/);
        const text = svg.bytes.toString();
        assert.ok(!/<script|<foreignObject|href=|https?:\/\/(?!www\.w3\.org)/i.test(text), "nothing is loaded");
        // The controls are above the drawing, and are not part of it.
        await page.addStyleTag({ content: ".tools, .minimap, .tip { visibility: hidden } .stage { outline: none !important }" });
        await settle(page);
        const screen = await page.locator(".stage").screenshot();
        const different = await page.evaluate(async (pictures) => {
          const pixels = async (url: string) => {
            const image = new Image();
            image.src = url;
            await image.decode();
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
            const context = canvas.getContext("2d") as CanvasRenderingContext2D;
            context.drawImage(image, 0, 0);
            return context.getImageData(0, 0, canvas.width, canvas.height);
          };
          const [screen, ...others] = await Promise.all(pictures.map(pixels));
          return others.map((other) => {
            if (!screen) return 1;
            const [w, height] = [Math.min(screen.width, other.width), Math.min(screen.height, other.height)];
            let bad = 0;
            for (let y = 0; y < height; y += 1) {
              for (let x = 0; x < w; x += 1) {
                const [a, b] = [(y * screen.width + x) * 4, (y * other.width + x) * 4];
                const far = [0, 1, 2].some((n) => Math.abs((screen.data[a + n] ?? 0) - (other.data[b + n] ?? 0)) > 60);
                if (far) bad += 1;
              }
            }
            return bad / (w * height);
          });
        }, [`data:image/png;base64,${screen.toString("base64")}`, `data:image/png;base64,${png.bytes.toString("base64")}`, `data:image/svg+xml;base64,${svg.bytes.toString("base64")}`]);
        for (const part of different) assert.ok(part < 0.005, `${colorScheme}: ${different.map((d) => (100 * d).toFixed(3)).join("%, ")}% of the pixels differ`);
      },
      { colorScheme, acceptDownloads: true },
    );
  }
});

const HOSTILE = `"'><script>window.pwned=1</script><img src=x onerror="window.pwned=1"></svg>]]>&lt;\u0000\ud800`;

test("hostile names stay text in saved pictures", async () => {
  const hostile = withData(graphPage("hostile-picture", layers(2)), "hostile-picture.html", (d) => {
    for (const f of d.functions) {
      f.name = `f${HOSTILE}`;
      for (const value of f.values) value[2] = HOSTILE + value[2];
    }
    d.ops = d.ops.map(([name, family]) => [HOSTILE + name, family]);
    d.title = HOSTILE;
    d.costs = d.costs.map(() => [[5, HOSTILE], [7, HOSTILE]]);
  });
  await open(
    hostile,
    async (page) => {
      await unfold(page);
      await page.keyboard.press("c");
      await page.locator(".stage .node:not(.small):not(.row)").first().click();
      assert.ok((await page.textContent(".details section:last-of-type"))?.includes("<script>"), "the cost is shown");
      const { bytes } = await saved(page, "Save as SVG");
      const text = bytes.toString();
      const seen = await page.evaluate((source) => {
        const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
        return { bad: parsed.querySelectorAll("parsererror, script, img, image, foreignObject").length, text: parsed.documentElement.textContent ?? "", events: [...parsed.querySelectorAll("*")].flatMap((e) => [...e.attributes]).filter((a) => a.name.startsWith("on")).length };
      }, text);
      assert.deepEqual({ bad: seen.bad, events: seen.events }, { bad: 0, events: 0 });
      assert.ok(seen.text.includes("<script>"), "the name is shown");
      assert.equal(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned), undefined);
    },
    { acceptDownloads: true },
  );
});

test("axe-core finds no violation on any tab", async () => {
  const [run, graph] = [reportPage("axe-run", transformer(), "canonicalize,cse,dce").page, graphPage("axe-graph", layers(12))];
  const pairs = [run, graph, diffPage("axe-diff", layers(3), layers(3).replace("tanh", "exp")), matchPage("axe-match", layers(3))];
  for (const colorScheme of ["light", "dark"] as const) {
    for (const each of pairs) {
      await open(
        each,
        async (page) => {
          const tabs = await page.locator("[role=tab]").count();
          for (let tab = 1; tab <= tabs; tab += 1) {
            await page.keyboard.press(String(tab));
            await page.keyboard.press("n");
            await settle(page);
            assert.deepEqual(await violations(page), [], `${each} ${colorScheme} tab ${tab}`);
          }
          await page.keyboard.press("?");
          assert.deepEqual(await violations(page), [], "help");
        },
        { colorScheme },
      );
    }
  }
});

test("the text opens at the selection, both sides are aligned and scroll together", async () => {
  const { page: report } = reportPage("aligned", transformer(), "canonicalize,cse,dce");
  await open(report, async (page) => {
    for (let n = 0; n < 30; n += 1) await page.keyboard.press("n");
    const [key, side] = await page.evaluate(() => {
      const selected = document.querySelector(".side .selected") as SVGElement;
      return [selected.getAttribute("aria-label") ?? "", [...document.querySelectorAll(".side")].findIndex((s) => s.contains(selected))] as const;
    });
    await page.keyboard.press("3");
    await settle(page);
    const current = (await page.locator(".text-view").nth(side).locator(".line.current .code").textContent())?.trim() ?? "none";
    assert.ok(key.startsWith(current.replace(/ \{$/, "")) || current.length > 190, `${key}: ${current}`);
    assert.ok(await page.locator(".line.current").isVisible());
    const rows = await page.evaluate(() => [...document.querySelectorAll(".texts .text-view")].map((view) => ({
      top: (view.querySelector(".lines") as HTMLElement).scrollTop,
      lines: [...view.querySelectorAll(".line")].map((line) => ({ cls: line.className, code: line.querySelector(".code")?.textContent ?? "" })),
    })));
    const [left, right] = rows as [(typeof rows)[0], (typeof rows)[0]];
    assert.ok(left.top > 0 && left.top === right.top, `${left.top} ${right.top}`);
    assert.equal(left.lines.length, right.lines.length);
    left.lines.forEach((line, n) => {
      const other = right.lines[n] as typeof line;
      if (line.cls.includes("filler")) assert.ok(/new|moved|filler/.test(other.cls) || other.code.trim() === "", other.cls);
      const op = (code: string) => /= ([\w.]+)/.exec(code)?.[1];
      if (line.cls.trim() === "line" && other.cls.trim() === "line") assert.equal(op(line.code), op(other.code));
    });
  });
});

test("the search of the numbers finds rows, and long paths keep the line", async () => {
  const input = file(`${"a-long-folder-name-".repeat(8)}.ptir`, layers(2));
  sapwood(["graph", input, "-o", path("long-path.html")]);
  fresh(path("long-path.html"));
  await open(path("long-path.html"), async (page) => {
    await unfold(page);
    await page.locator(".node", { hasText: /^tanh/ }).first().click();
    const place = page.locator(".place");
    assert.match((await place.textContent()) ?? "", /:\d+:\d+$/);
    await page.keyboard.press("3");
    await page.fill(".search", "tanh");
    assert.equal(await page.textContent(".found-count"), "1 found");
    await page.press(".search", "Enter");
    assert.match((await page.textContent("tr.current")) ?? "", /tanh/);
  });
  await open(graphPage("short-path", layers(2)), async (page) => {
    await unfold(page);
    await page.locator(".node", { hasText: /^tanh/ }).first().click();
    const inside = await page.evaluate(() => {
      const [panel, place] = [document.querySelector(".details") as HTMLElement, document.querySelector(".place") as HTMLElement];
      return place.scrollWidth <= place.clientWidth + 1 && place.getBoundingClientRect().right <= panel.getBoundingClientRect().right;
    });
    assert.ok(inside, "the line and the column are visible");
  });
});

test("removed functions are one line that unfolds", async () => {
  const unused = [0, 1, 2].map((n) => `func.func private @unused${n}(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = stablehlo.exponential %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}`);
  const input = file("removed.mlir", `func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = stablehlo.tanh %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n${unused.join("\n")}\n`);
  const page = path("removed.html");
  sapwood(["opt", input, "-p", "symbol-dce", "-o", path("removed-after.mlir"), "--report", page]);
  fresh(page);
  await open(page, async (page) => {
    const notes = page.locator(".notes");
    assert.equal(await notes.locator("summary").textContent(), "3 functions removed (6 ops)");
    assert.ok(!(await notes.locator("li").first().isVisible()));
    await notes.locator("summary").click();
    assert.equal(await notes.locator("li").count(), 3);
    assert.match((await notes.textContent()) ?? "", /function @unused1 was removed/);
  });
});

test("the diff of two files is a page with the marks of the diff", async () => {
  await open(diffPage("pair", layers(3), layers(3).replace("tanh", "exp")), async (page) => {
    assert.deepEqual(await page.locator("[role=tab]").allTextContents(), ["Differences", "Text", "Numbers"]);
    assert.ok(!(await page.isVisible(".strip")));
    assert.match((await page.locator(".side h2").allTextContents()).join(" "), /pair-left\.ptir .*pair-right\.ptir/);
    await unfold(page);
    assert.equal(await page.locator(".side [data-mark='changed']").count(), 2);
    await page.keyboard.press("n");
    assert.match((await page.textContent(".details")) ?? "", /tanh became exp.*Show it on the other side/);
  });
});

test("the keys of marks have the width of their text", async () => {
  const lines = ["%a = exp %x : f32[4]", "%b = tanh %x : f32[4]", "%c = sin %x : f32[4]"];
  const program = (order: number[]) => `ptir 1\nfunc @f(%x: f32[4]) -> (f32[4], f32[4], f32[4]) {\n${order.map((n) => `  ${lines[n]}`).join("\n")}\n  return %a, %b, %c\n}\n`;
  await open(diffPage("moved", program([0, 1, 2]), program([2, 0, 1])), async (page) => {
    const key = page.locator(".mark-key.moved");
    assert.match((await key.textContent()) ?? "", /moved/);
    assert.ok(((await key.boundingBox())?.width ?? 1000) < 150);
  });
});

test("matches are marked, and n and p go through them", async () => {
  await open(matchPage("found", layers(3)), async (page) => {
    assert.equal(await page.textContent("[aria-label='Matches'] [role=status]"), "3 matches: activation ×3");
    await page.keyboard.press("n");
    assert.match((await page.textContent("[aria-label='Matches'] [role=status]")) ?? "", /^1 of 3: activation in @net, 2 ops/);
    assert.equal(await page.locator(".node[data-mark='match']:not(.dim)").count(), 2);
    assert.match((await page.textContent(".details .mark-line")) ?? "", /matched by activation/);
    await page.keyboard.press("p");
    assert.match((await page.textContent("[aria-label='Matches'] [role=status]")) ?? "", /^3 of 3/);
    assert.ok((await drawnKeys(page)).length > 0);
  });
});

test("steps of the replay are matches with their clean-up, or single steps", async () => {
  await open(reportPage("by-match", transformer(), "canonicalize").page, async (page) => {
    await page.keyboard.press("2");
    const steps = async () => Number(await page.getAttribute(".slider", "max"));
    const grouped = await steps();
    await page.selectOption(".replay select", "dot_of_transpose");
    await page.click("[aria-label='Step forward']");
    assert.equal(await page.locator(".node[data-mark='erased match']").count(), 2, "the dot and the transpose");
    await page.click(".by-match");
    assert.equal(await page.getAttribute(".by-match", "aria-pressed"), "false");
    assert.ok((await steps()) > grouped, `${await steps()} and ${grouped}`);
    assert.ok((await page.locator(".replay option[value='dce']").count()) === 1);
  });
});
