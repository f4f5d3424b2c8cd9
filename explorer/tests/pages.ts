// Pages for tests, written by the command.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Data } from "../src/data";

export const repository = join(process.env.EXPLORER as string, "..");

const folder = mkdtempSync(join(tmpdir(), "sapwood-explorer-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export function path(name: string): string {
  return join(folder, name);
}

/** Writes a file and gives its path. */
export function file(name: string, text: string): string {
  writeFileSync(path(name), text);
  return path(name);
}

// With PAGE=1 pages get the script of the working tree, so that it can be tried before the command is built with it.
export function fresh(page: string): void {
  if (!process.env.PAGE) return;
  const template = readFileSync(join(repository, "crates/explorer/src/page.html"), "utf8");
  const json = /id="data">(.*?)<\/script>/s.exec(readFileSync(page, "utf8"))?.[1] ?? "";
  writeFileSync(page, template.replace('{"sapwood":"data"}', () => json));
}

/** Runs the command; what it printed. Counterpart codes than expected are failures. */
export function sapwood(args: string[], code = 0): string {
  const ran = spawnSync(process.env.SAPWOOD as string, args, { encoding: "utf8", maxBuffer: 1 << 30, cwd: repository });
  if (ran.status !== code) throw new Error(`sapwood ${args.join(" ")} ended with ${ran.status}: ${ran.stderr}`);
  return ran.stdout;
}

/** The page of a program. */
export function graphPage(name: string, program: string): string {
  sapwood(["graph", file(`${name}.ptir`, program), "-o", path(`${name}.html`)]);
  fresh(path(`${name}.html`));
  return path(`${name}.html`);
}

/** The page about a run, and the program after it. */
export function reportPage(name: string, program: string, pipeline = "simplify"): { page: string; before: string; after: string } {
  const before = file(`${name}.ptir`, program);
  const [page, after] = [path(`${name}.html`), path(`${name}-after.ptir`)];
  sapwood(["opt", before, "-p", pipeline, "-o", after, "--report", page]);
  fresh(page);
  return { page, before, after };
}

/** The data in a page. */
export function dataOf(page: string): Data {
  const text = readFileSync(page, "utf8");
  const found = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(text);
  return JSON.parse(found?.[1] as string) as Data;
}

/** The same page with other data. */
export function withData(page: string, name: string, change: (data: Data) => void): string {
  const data = dataOf(page);
  change(data);
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  const text = readFileSync(page, "utf8").replace(/(id="data">).*?(<\/script>)/s, (_, a: string, b: string) => a + json + b);
  return file(name, text);
}

/** A transformer of 300 instructions: the block of the examples four times. */
export function transformer(): string {
  const block = readFileSync(join(repository, "programs/transformer.ptir"), "utf8").replace(/^ptir 1\n/, "");
  const names = ["layer_norm", "attention", "main"];
  const copy = (n: number) => names.reduce((text, name) => text.replaceAll(`@${name}(`, `@${name}_${n}(`).replaceAll(`@${name} `, `@${name}_${n} `), block);
  return `ptir 1\n${[0, 1, 2, 3].map(copy).join("\n")}`;
}

/** Returns a function of about this number of instructions, with some values that are used far away. */
export function chain(ops: number): string {
  const lines = [];
  for (let n = 1; n < ops; n += 1) {
    const near = `%v${n - 1}`;
    const far = `%v${Math.max(0, n - 2 - ((n * 7) % 23))}`;
    const op = n % 3 === 0 ? `add ${near}, ${far}` : n % 3 === 1 ? `mul ${near}, ${far}` : `exp ${near}`;
    lines.push(`  %v${n} = ${op} : f32[8, 8]`);
  }
  return `ptir 1\nfunc @chain(%v0: f32[8, 8]) -> f32[8, 8] {\n${lines.join("\n")}\n  return %v${ops - 1}\n}\n`;
}

/** Returns a function of equal layers, each with weights of its own. */
export function layers(n: number, width: (layer: number) => number = () => 8): string {
  const params = ["%x: f32[4, 8]"];
  const lines = [];
  let [from, wide] = ["%x", 8];
  for (let k = 0; k < n; k += 1) {
    const w = width(k);
    params.push(`%w${k}: f32[${wide}, ${w}]`, `%b${k}: f32[4, ${w}]`, `%g${k}: f32[4, ${w}]`);
    lines.push(
      `  %d${k} = dot_general ${from}, %w${k} {lhs_contract = [1], rhs_contract = [0]} : f32[4, ${w}]`,
      `  %a${k} = add %d${k}, %b${k} : f32[4, ${w}]`,
      `  %t${k} = tanh %a${k} : f32[4, ${w}]`,
      `  %h${k} = constant 0.5 : f32[4, ${w}]`,
      `  %m${k} = mul %t${k}, %h${k} : f32[4, ${w}]`,
      `  %s${k} = mul %m${k}, %g${k} : f32[4, ${w}]`,
      `  %y${k} = add %s${k}, %d${k} : f32[4, ${w}]`,
    );
    [from, wide] = [`%y${k}`, w];
  }
  return `ptir 1\nfunc @net(${params.join(", ")}) -> f32[4, ${wide}] {\n${lines.join("\n")}\n  return ${from}\n}\n`;
}

/** Returns the page that compares two programs. */
export function diffPage(name: string, left: string, right: string): string {
  const page = path(`${name}.html`);
  sapwood(["diff", file(`${name}-left.ptir`, left), file(`${name}-right.ptir`, right), "--ordered", "--report", page], left === right ? 0 : 1);
  fresh(page);
  return page;
}

/** Returns the page of a program in which `tanh` followed by a multiplication is highlighted. */
export function matchPage(name: string, program: string): string {
  const pattern = `ptir 1
func @activation(%x: f32[4, 8], %h: f32[4, 8]) -> f32[4, 8] {
  %t = tanh %x : f32[4, 8]
  %m = mul %t, %h : f32[4, 8]
  return %m
}
`;
  const page = path(`${name}.html`);
  sapwood(["match", file(`${name}.ptir`, program), "--pattern", file(`${name}-pattern.ptir`, pattern), "--report", page]);
  fresh(page);
  return page;
}

/** Returns stages of residual blocks. The first block of a stage has a projection, or instructions between stages change the width. */
export function residual(stages: number[], between = false): string {
  const params = ["%x: f32[4, 8]"];
  const lines = ["  %h = exp %x : f32[4, 8]"];
  let [from, wide, n] = ["%h", 8, 0];
  const weight = (a: number, b: number) => {
    params.push(`%w${n}: f32[${a}, ${b}]`, `%b${n}: f32[4, ${b}]`);
    n += 1;
    return n - 1;
  };
  const dense = (input: string, a: number, b: number) => {
    const w = weight(a, b);
    lines.push(`  %d${w} = dot_general ${input}, %w${w} {lhs_contract = [1], rhs_contract = [0]} : f32[4, ${b}]`, `  %a${w} = add %d${w}, %b${w} : f32[4, ${b}]`);
    return `%a${w}`;
  };
  stages.forEach((blocks, stage) => {
    const next = 8 * 2 ** stage;
    if (between && stage > 0) {
      const changed = dense(from, wide, next);
      lines.push(`  %e${stage} = exp ${changed} : f32[4, ${next}]`, `  %n${stage} = neg %e${stage} : f32[4, ${next}]`, `  %l${stage} = logistic %n${stage} : f32[4, ${next}]`);
      [from, wide] = [`%l${stage}`, next];
    }
    for (let k = 0; k < blocks; k += 1) {
      const skip = wide === next ? from : dense(from, wide, next);
      const first = dense(from, wide, next);
      const id = n;
      lines.push(`  %c${id} = constant 0.0 : f32[4, ${next}]`, `  %r${id} = max ${first}, %c${id} : f32[4, ${next}]`);
      const second = dense(`%r${id}`, next, next);
      lines.push(`  %s${id} = add ${second}, ${skip} : f32[4, ${next}]`, `  %t${id} = tanh %s${id} : f32[4, ${next}]`, `  %m${id} = neg %t${id} : f32[4, ${next}]`);
      [from, wide] = [`%m${id}`, next];
    }
  });
  return `ptir 1\nfunc @net(${params.join(", ")}) -> f32[4, ${wide}] {\n${lines.join("\n")}\n  return ${from}\n}\n`;
}
