import assert from "node:assert/strict";
import { test } from "node:test";
import type { Data, FunctionRow } from "../../src/data";
import { Func } from "../../src/model";
import { Replay } from "../../src/replay";
import { dataOf, reportPage, transformer } from "../pages";

// Returns the instructions of a function without their texts, sorted by id.
function shape(f: Func): unknown {
  const insts = [...f.insts.values()].map((i) => [i.id, i.op, i.body, i.operands, i.results, i.regions]);
  return insts.sort((a, b) => (a[0] as number) - (b[0] as number));
}

const LOOPS = `ptir 1
func @loops(%x: f32[4], %p: bool[]) -> (f32[4], f32[4]) {
  %one = constant 1.0 : f32[4]
  %y = cond %p () {
    %a = mul %x, %one : f32[4]
    %b = neg %a : f32[4]
    %c = neg %b : f32[4]
    yield %c
  } () {
    %t = constant true : bool[]
    %d = cond %t () {
      %e = exp %x : f32[4]
      yield %e
    } () {
      yield %x
    } : f32[4]
    yield %d
  } : f32[4]
  %z = exp %x : f32[4]
  %dead = sin %z : f32[4]
  %w = exp %x : f32[4]
  %s = sub %w, %z : f32[4]
  return %y, %s
}
`;

function functionsOf(data: Data, state: number): FunctionRow[] {
  return (data.states[state]?.functions ?? []).map((n) => data.functions[n] as FunctionRow);
}

for (const [name, program, pipeline] of [
  ["transformer", transformer(), "canonicalize,cse,dce"],
  ["transformer-simplify", transformer(), "simplify"],
  ["loops", LOOPS, "simplify"],
  ["loops-passes", LOOPS, "canonicalize,cse,dce,fold"],
] as const) {
  test(`the steps of ${name} lead from before to after and back`, () => {
    const data = dataOf(reportPage(name, program, pipeline).page);
    let steps = 0;
    data.run?.passes.forEach((pass, n) => {
      for (const log of pass.functions ?? []) {
        const before = functionsOf(data, n).find((f) => f.name === log.name) as FunctionRow;
        const after = functionsOf(data, n + 1).find((f) => f.name === log.name) as FunctionRow;
        const replay = new Replay(before, log.steps, data, after);
        assert.deepEqual(shape(replay.now), shape(Func.read(before, data)));
        replay.goTo(log.steps.length);
        assert.deepEqual(shape(replay.now), shape(Func.read(after, data)), `${pass.name} of ${log.name}`);
        replay.goTo(0);
        assert.deepEqual(shape(replay.now), shape(Func.read(before, data)));
        steps += log.steps.length;
      }
    });
    assert.ok(steps > 3, `${steps} steps`);
  });
}

test("a position is the same whichever way one comes to it", () => {
  const data = dataOf(reportPage("ways", LOOPS).page);
  const log = data.run?.passes[0]?.functions?.[0];
  assert.ok(log);
  const before = functionsOf(data, 0)[0] as FunctionRow;
  const [there, back] = [new Replay(before, log.steps, data), new Replay(before, log.steps, data)];
  back.goTo(log.steps.length);
  for (let at = log.steps.length; at >= 0; at -= 1) {
    back.goTo(at);
    there.goTo(0);
    there.goTo(at);
    assert.deepEqual(shape(back.now), shape(there.now), `after ${at} steps`);
  }
});

test("a step tells what took the place of what it erased", () => {
  const program = "ptir 1\nfunc @f(%x: f32[4]) -> (f32[4], f32[4]) {\n  %a = exp %x : f32[4]\n  %b = exp %x : f32[4]\n  return %a, %b\n}\n";
  const data = dataOf(reportPage("kept", program, "cse").page);
  const steps = data.run?.passes[0]?.functions?.[0]?.steps ?? [];
  const replay = new Replay(functionsOf(data, 0)[0] as FunctionRow, steps, data);
  const kept = replay.touched(1)?.kept ?? new Set();
  assert.deepEqual([...kept].map((id) => replay.union.value(id).name), ["%a"]);
});
