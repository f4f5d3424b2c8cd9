// Runs the tests of a folder, or those whose name matches a second argument: bundles them, then hands them to Node's runner. The tests of `site` read the documentation site in
// the folder SITE.
//
// SAPWOOD is the command that writes the pages; target/debug/sapwood otherwise. With SHOTS=1 the browser tests write the
// pictures of the docs. Without a browser the browser tests are left out with a word, except in CI, where that is a failure.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [kind = "unit", only] = process.argv.slice(2);

export const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const browser = BROWSERS.find((path) => path && existsSync(path));
if (["browser", "site"].includes(kind) && !browser) {
  console.log("no browser: looked for chromium in /usr/bin and in $CHROMIUM; the browser tests did not run");
  process.exit(process.env.CI ? 1 : 0);
}

const sapwood = process.env.SAPWOOD ?? here("../../target/debug/sapwood");
if (!existsSync(sapwood)) {
  console.error(`no command at ${sapwood}: build it with \`cargo build -p sapwood\`, or say where it is with SAPWOOD`);
  process.exit(1);
}

const out = here(`../.cache/${kind}`);
rmSync(out, { recursive: true, force: true });
const files = readdirSync(here(kind)).filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: files.map((name) => here(`${kind}/${name}`)),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  external: ["playwright-core"],
  sourcemap: "inline",
});
const tests = files.map((name) => `${out}/${name.replace(/\.ts$/, ".mjs")}`);
const env = { ...process.env, SAPWOOD: sapwood, CHROMIUM: browser ?? "", EXPLORER: here("..") };
const args = ["--enable-source-maps", "--test", "--test-concurrency=1", "--test-reporter=spec", ...(only ? [`--test-name-pattern=${only}`] : []), ...tests];
process.exit(spawnSync(process.execPath, args, { stdio: "inherit", env }).status ?? 1);
