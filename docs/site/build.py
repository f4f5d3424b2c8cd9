"""Builds the documentation site: pages, the Python API, and live example reports. A warning is an error.

build.py SAPWOOD WORK OUT    SAPWOOD is the command, WORK a folder for the prepared pages, OUT the folder of the site
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
#: The pages outside of `docs/`.
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
MODULES = ["sapwood", "sapwood.ptir", "sapwood.rewrite", "sapwood.structural", "sapwood.ir", "sapwood.errors"]
#: The example reports: name, program, options.
REPORTS = [
    ("transformer", "programs/transformer.ptir", ["--check"]),
    ("transformer-from-jax", "programs/transformer.mlir", ["-O1"]),
    ("train-step", "programs/train_step.mlir", ["-O1"]),
]
#: The sections of the navigation.
SECTIONS = {
    "Guide": [
        *["python", "onnx", "rules", "rewriting", "explorer", "example-reports", "toolkit", "own-op", "own-op-types", "matchers", "fusion"],
        *["folding", "own-pass", "own-backend", "embedding", "running", "lowering", "structural"],
    ],
    "Reference": ["command", "python-api", "stablehlo", "ops", "patterns", "passes", "rules", "text-format", "ir-text", "traces"],
    "Design": [],
}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)")


def main(sapwood: str, work: str, out: str) -> None:
    source = Path(work)
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("site"))
    for page in PAGES:
        shutil.copy(ROOT / page, source / page)
    for page in [*source.glob("*.md"), *source.glob("docs/**/*.md")]:
        page.write_text(prepare(page, source), encoding="utf-8")
    shutil.copy(ROOT / "docs/site/conf.py", source / "conf.py")
    (source / "docs/reference/python-api.md").write_text(python_api(), encoding="utf-8")
    live_reports(sapwood, source)
    (source / "index.md").write_text(index(source), encoding="utf-8")
    sphinx = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    subprocess.run([*sphinx, str(source), out], check=True)
    problems = dead_links(Path(out))
    if problems:
        raise SystemExit("\n".join(problems))


def prepare(page: Path, source: Path) -> str:
    """Returns a page with links that work on the site. A link to a file that is no page becomes code."""

    def link(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        place = (page.parent / target).resolve()
        if place.suffix == ".md" and place.exists() or place.suffix in {".png", ".html"}:
            return match[0]
        original = ROOT / place.relative_to(source.resolve())
        if not original.exists():
            raise SystemExit(f"{page.relative_to(source)}: there is no {target}")
        return text if text.startswith("`") else f"{text} (`{original.relative_to(ROOT)}`)"

    parts = re.split(r"(^```.*?^```$)", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return "".join(code_block(part) if part.startswith("```") else LINK.sub(link, part) for part in parts)


def code_block(block: str) -> str:
    """Returns a block without the words for the tests: the name in `ptir softmax.ptir`, and `ignore` for code that is a fragment."""
    info, _, rest = block.partition("\n")
    language = "text" if ",ignore" in info else info.removeprefix("```").split(" ")[0].split(",")[0]
    return f"```{language}\n{rest}"


class Links(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src"} and value and not re.match(r"[a-z]+:|//", value):
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")


def dead_links(out: Path) -> list[str]:
    """Returns the links within the site that lead to no file or no anchor. The example reports are pages of their own."""
    pages = [page for page in sorted(out.rglob("*.html")) if "reports" not in page.relative_to(out).parts]
    parsed = {page.resolve(): Links(page.read_text(encoding="utf-8")) for page in pages}
    problems = []
    for page, links in parsed.items():
        for link in links.links:
            name, _, anchor = unquote(link).partition("#")
            target = (page.parent / name.partition("?")[0]).resolve() if name else page
            known = parsed.get(target)
            if not target.exists() or (anchor and known is not None and anchor not in known.anchors):
                problems.append(f"{page.relative_to(out.resolve())}: {link} leads nowhere")
    return problems


def python_api() -> str:
    parts = ["# Python API\n"]
    for module in MODULES:
        parts.append(f"## `{module}`\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :imported-members:\n```\n")
    return "\n".join(parts)


def live_reports(sapwood: str, source: Path) -> None:
    """Writes example reports, and a page that embeds them."""
    folder = source / "live/reports"
    folder.mkdir(parents=True)
    parts = ["# Example reports\n", "Each page below is the output of `sapwood opt --report`, embedded as it is.\n"]
    for name, program, options in REPORTS:
        command = [sapwood, "opt", program, *options, "--report", str(folder / f"{name}.html"), "-o", str(source / "out.mlir")]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shown = " ".join(["sapwood opt", program, *options, "--report", f"{name}.html"])
        frame = f'<iframe src="../../reports/{name}.html" title="{name}" loading="lazy" style="width:100%;height:40em;border:1px solid #8888"></iframe>'
        link = f'<p><a href="../../reports/{name}.html">Open the page alone</a></p>'
        parts.append(f"## `{shown}`\n\n```{{raw}} html\n{link}\n{frame}\n```\n")
    (source / "docs/guide/example-reports.md").write_text("\n".join(parts), encoding="utf-8")


def index(source: Path) -> str:
    """Returns the front page: the README, and the navigation."""
    text = (source / "README.md").read_text(encoding="utf-8")
    (source / "README.md").unlink()

    def tree(caption: str, pages: list[str]) -> str:
        return "\n".join([f"```{{toctree}}\n:hidden:\n:caption: {caption}\n", *pages, "```\n"])

    listed: set[str] = set()
    trees = []
    for caption, names in SECTIONS.items():
        folder = f"docs/{caption.lower()}"
        rest = sorted(p.stem for p in (source / folder).glob("*.md") if p.stem not in names)
        pages = [f"{folder}/{name}" for name in [*names, *rest]]
        listed.update(pages)
        trees.append(tree(caption, pages))
    others = [p.relative_to(source).with_suffix("").as_posix() for p in sorted(source.glob("**/*.md"))]
    others = [page for page in others if page not in listed and page != "index"]
    trees.insert(2, tree("Project", others))
    return text + "\n" + "\n".join(trees)


if __name__ == "__main__":
    main(*sys.argv[1:])
