#!/usr/bin/env python3
"""Draws names, doc comments, help texts and messages at random, for a review of their wording.

    python3 xtask/sample.py --seed 1                       all four kinds
    python3 xtask/sample.py --seed 1 --kind names          30 functions and 60 identifiers, without their source
    python3 xtask/sample.py --seed 1 --kind names --where  the same names with file and line

The draw depends only on the seed and on the text of the repository.
"""

import argparse
import random
import re
import subprocess
from pathlib import Path

OWNER = re.compile(
    r"^(?:pub(?:\([a-z]+\))? )?(?:impl(?:<.*?>)? (?:.* for )?&?|struct |enum |trait )(?:[a-z_]+::)*([A-Za-z_][A-Za-z0-9_]*)"
)
FUNCTION = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:const |unsafe |async )*fn ([a-z_][a-z0-9_]*)")
ITEM = re.compile(
    r"^\s*(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|type|const|static|mod|macro_rules!) ([A-Za-z_][A-Za-z0-9_]*)"
)
FIELD = re.compile(r"^    (?:pub(?:\([a-z]+\))? )?([a-z_][a-z0-9_]*): [A-Z&(\[]")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
ATTRIBUTES = re.compile(r"^\s*(#\[|\))")


def sources(root):
    listed = subprocess.run(["git", "ls-files", "crates/*.rs"], cwd=root, capture_output=True, text=True, check=True)
    for name in sorted(listed.stdout.split()):
        if "/src/" in name and "/tests" not in name:
            text = (root / name).read_text(encoding="utf-8")
            yield name, text.split("#[cfg(test)]\nmod tests")[0].split("\n")


def names(root):
    """Returns functions and other names; those inside of a type or trait with its name in front."""
    functions, identifiers = [], []
    for file, lines in sources(root):
        owner = ""
        for number, line in enumerate(lines, 1):
            if line.startswith("}"):
                owner = ""
            elif match := OWNER.match(line):
                owner = match[1] + "::"
            inside = owner if line.startswith("    ") else ""
            if match := FUNCTION.match(line):
                functions.append((inside + match[1], file, number))
            elif match := ITEM.match(line):
                identifiers.append((inside + match[1], file, number))
            elif inside and (match := FIELD.match(line)):
                identifiers.append((inside + match[1], file, number))
    return functions, identifiers


def doc_comments(root, helps):
    """Yields doc comments; those of the command's arguments and verbs if `helps`, else all others."""
    for file, lines in sources(root):
        of_command = "crates/sapwood/src/" in file
        block, start = [], 0
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text.startswith("///"):
                start = start or number
                block.append(text[3:].strip())
                continue
            if block and ATTRIBUTES.match(line):
                is_help = of_command and ("#[arg" in line or "#[command" in line)
                if is_help == helps:
                    yield " ".join(block).strip(), file, start
            elif block and not helps:
                yield " ".join(block).strip(), file, start
            block, start = [], 0


def messages(root):
    for file, lines in sources(root):
        for number, line in enumerate(lines, 1):
            if re.match(r"\s*//", line):
                continue
            for text in STRING.findall(line):
                if text.count(" ") >= 3 and re.search(r"[a-z] [a-z]", text):
                    yield text, file, number


def show(title, drawn, where):
    print(f"\n## {title}\n")
    for text, file, number in drawn:
        print(f"- {text}" + (f"   ({file}:{number})" if where else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--kind", choices=["names", "docs", "helps", "messages"])
    parser.add_argument("--where", action="store_true", help="show the file and line of each")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()

    def draw(kind, items, count):
        items = sorted(set(items))
        return random.Random(f"{options.seed} {kind}").sample(items, min(count, len(items)))

    wanted = [options.kind] if options.kind else ["names", "docs", "helps", "messages"]
    if "names" in wanted:
        functions, identifiers = names(options.root)
        show("Functions", draw("functions", functions, 30), options.where)
        show("Identifiers", draw("identifiers", identifiers, 60), options.where)
    located = True
    if "docs" in wanted:
        show("Doc comments", draw("docs", doc_comments(options.root, False), 20), located)
    if "helps" in wanted:
        show("Help texts", draw("helps", doc_comments(options.root, True), 20), located)
    if "messages" in wanted:
        show("Messages", draw("messages", messages(options.root), 20), located)


if __name__ == "__main__":
    main()
