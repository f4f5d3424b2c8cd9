import assert from "node:assert/strict";
import { test } from "node:test";
import { graphPage, layers, reportPage } from "../pages";
import { open, settle, unfold, unreadable, useBrowser, violations } from "./browser";

useBrowser();

// A large product in a function that is called twice, a small one, and an op without cost.
const CALLS = `ptir 1
func @large(%x: f32[64, 64]) -> f32[64, 64] {private = true} {
  %d = dot_general %x, %x {lhs_contract = [1], rhs_contract = [0]} : f32[64, 64]
  %t = tanh %d : f32[64, 64]
  return %t
}
func @main(%x: f32[64, 64], %v: f32[64]) -> (f32[64, 64], f32[64]) {
  %a = call @large %x : f32[64, 64]
  %b = call @large %a : f32[64, 64]
  %d = dot_general %b, %v {lhs_contract = [1], rhs_contract = [0]} : f32[64]
  %r = reshape %d : f32[8, 8]
  %s = reshape %r : f32[64]
  return %b, %s
}
`;

test("colours show costs, with text, a legend that filters, and a key", async () => {
  await open(graphPage("heat", CALLS), async (page) => {
    await unfold(page);
    const heat = (label: RegExp) => page.locator(".node", { hasText: label }).evaluateAll((all) => all.map((e) => (e as SVGElement).dataset.heat));
    assert.deepEqual(await heat(/^tanh/), [undefined]);
    await page.selectOption("select[aria-label='Colour by']", "operations");
    // Of 1 064 960 operations, each call has 528 384 and the product in it 524 288; it counts twice.
    assert.deepEqual(await heat(/^call/), ["5", "5"]);
    assert.deepEqual((await heat(/^dot_general/)).sort(), ["2", "5"]);
    assert.deepEqual(await heat(/^tanh/), ["2"]);
    assert.deepEqual(await heat(/^reshape/), ["0", "0"]);
    assert.match((await page.textContent(".legend .keys")) ?? "", /≥ 20 %< 20 %.*nothingof 1\.06\sM operations/);
    const large = page.locator(".node", { hasText: /^dot_general1\.05/ });
    assert.equal((await large.locator(".sub").textContent())?.trim(), "1.05\u202fM · 98\u202f%");
    assert.match((await large.getAttribute("aria-label")) ?? "", /dot_general .*, 1\.05\sM operations, 98\s% of the program/);
    assert.match((await page.locator(".box.function").first().getAttribute("aria-label")) ?? "", /@main/);
    await large.click();
    assert.match((await page.textContent(".details")) ?? "", /Cost1\.05\sM operations 98\s%/);
    await page.locator(".legend .family", { hasText: "≥ 20 %" }).click();
    assert.equal(await page.locator(".stage .node:not(.dim):not(.small)").count(), 3, "two calls and the product");
    // The key goes on to bytes and back to families, and ends the filter.
    await page.locator(".stage").focus();
    await page.keyboard.press("c");
    assert.equal(await page.inputValue("select[aria-label='Colour by']"), "1");
    assert.equal(await page.locator(".stage .dim").count(), 0);
    assert.match((await page.textContent("[role=status].sr-only")) ?? "", /colours show bytes/);
    await page.keyboard.press("c");
    assert.equal(await page.locator("[data-heat].node").count(), 0);
    assert.equal(await page.locator(".legend .family", { hasText: "dot" }).count(), 1);
  });
});

test("pages with costs are readable and have no violation, in both themes", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const each of [graphPage("heat-axe", CALLS), reportPage("heat-axe-run", layers(3), "canonicalize,cse,dce").page]) {
      await open(
        each,
        async (page) => {
          await unfold(page);
          for (const measure of ["0", "1"]) {
            await page.selectOption("select[aria-label='Colour by']", measure);
            await settle(page);
            assert.deepEqual(await violations(page), [], `${each} ${colorScheme}`);
            assert.deepEqual(await unreadable(page), [], `${each} ${colorScheme}`);
          }
        },
        { colorScheme },
      );
    }
  }
});

test("a report has the costs before and after, and compares both with the program before", async () => {
  const program = `ptir 1
func @f(%x: f32[8, 8]) -> f32[8, 8] {
  %a = dot_general %x, %x {lhs_contract = [1], rhs_contract = [0]} : f32[8, 8]
  %b = dot_general %x, %x {lhs_contract = [1], rhs_contract = [0]} : f32[8, 8]
  %c = add %a, %b : f32[8, 8]
  return %c
}
`;
  await open(reportPage("totals", program, "cse").page, async (page) => {
    const totals = (await page.locator(".totals .total").allTextContents()).map((text) => text.replaceAll("\u202f", " "));
    assert.deepEqual(totals.slice(0, 2), ["2 112 → 1 088 operations −48 %", "2 304 → 1 536 bytes moved −33 %"]);
    await page.keyboard.press("c");
    const part = async (side: number) => (await page.locator(".side").nth(side).locator(".node", { hasText: /^dot_general/ }).first().locator(".sub").textContent())?.trim();
    assert.deepEqual([await part(0), await part(1)], ["1\u202f024 · 48\u202f%", "1\u202f024 · 48\u202f%"]);
    await page.keyboard.press("4");
    assert.match((await page.locator(".card", { hasText: "Cost" }).first().textContent()) ?? "", /operations2\s1121\s088−48\s%/);
  });
});

test("ops of ONNX have the colours of their families", async () => {
  const program = `ptir 1
func @f(%x: f32[4, 8]) -> f32[4, 8] {
  %w = constant [${Array.from({ length: 8 }, () => "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]").join(", ")}] : f32[8, 8]
  %m = onnx.MatMul %x, %w : f32[4, 8]
  %r = onnx.Relu %m : f32[4, 8]
  %s = onnx.Softmax %r : f32[4, 8]
  return %s
}
`;
  await open(graphPage("onnx-colours", program), async (page) => {
    const families = await page.locator(".legend .family").allTextContents();
    assert.deepEqual(families.sort(), ["constant", "control", "dot", "normalization", "unary"]);
    const fill = (label: RegExp) => page.locator(".node", { hasText: label }).locator("rect").first().evaluate((e) => getComputedStyle(e).fill);
    assert.equal(new Set([await fill(/^MatMul/), await fill(/^Relu/), await fill(/^Softmax/)]).size, 3);
    await page.selectOption("select[aria-label='Colour by']", "operations");
    assert.equal((await page.locator(".node", { hasText: /^MatMul/ }).locator(".sub").first().textContent())?.trim().split(" ·")[0], "512");
  });
});
