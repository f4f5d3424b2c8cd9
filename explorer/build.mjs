// Builds the page: one HTML file that contains script and style. `--check` only compares it with the committed page.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const output = here("../crates/explorer/src/page.html");

async function bundle(entry) {
  const result = await build({
    entryPoints: [here(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
  });
  // The script must not contain its own end tag.
  return result.outputFiles[0].text.trimEnd().replaceAll("</script", "<\\/script");
}

const [template, script, style] = await Promise.all([
  readFile(here("src/template.html"), "utf8"),
  bundle("src/main.ts"),
  bundle("src/style.css"),
]);
const page = template.replace("/* style */", () => style).replace("/* script */", () => script);

if (process.argv.includes("--check")) {
  const committed = await readFile(output, "utf8").catch(() => "");
  if (committed !== page) {
    console.error("crates/explorer/src/page.html is out of date; run `npm run build` in explorer/");
    process.exit(1);
  }
  console.log(`the committed page is up to date, ${page.length} bytes`);
} else {
  await writeFile(output, page);
  console.log(`${page.length} bytes`);
}
