"""The parts of a release that are neither built by cargo nor by maturin: the archive, the notices, the checksums.

pack.py archive OUT NAME=FILE...     writes a .tar.gz with these entries, the same bytes every time
pack.py notices METADATA OUT         writes the licences of the crates in the output of `cargo metadata`
pack.py manual SAPWOOD               prints the manual page of the command, from its help texts
pack.py checksums FOLDER             writes SHA256SUMS for the files below a folder
pack.py static SAPWOOD               fails if the command needs libraries of the system, or is not stripped
pack.py paths FILE PATH...           prints the entries of an archive or wheel that contain one of these paths
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import textwrap
import zipfile
from pathlib import Path

#: The crates whose dependencies are part of the wheel or the binary archive.
SHIPPED = ["sapwood", "sapwood-python"]
LICENCE_NAMES = ("license", "licence", "copying", "unlicense", "notice", "copyright")


def epoch() -> int:
    """Returns the time stamp of all entries, from SOURCE_DATE_EPOCH."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def archive(out: str, *entries: str) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in sorted(entries):
            name, _, path = entry.partition("=")
            data = Path(path).read_bytes()
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), epoch()
            info.mode = 0o755 if os.access(path, os.X_OK) else 0o644
            tar.addfile(info, io.BytesIO(data))
    with open(out, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch()) as packed:
        packed.write(content.getvalue())


def notices(metadata: str, out: str) -> None:
    data = json.loads(Path(metadata).read_text(encoding="utf-8"))
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    pending = [i for i, package in packages.items() if package["name"] in SHIPPED]
    used: set[str] = set()
    while pending:
        package = pending.pop()
        if package not in used:
            used.add(package)
            for dep in nodes[package]["deps"]:
                # Build scripts and macros leave no code in the result, but generated code may be theirs: they are listed, too.
                if any(kind["kind"] in (None, "build") for kind in dep["dep_kinds"]):
                    pending.append(dep["pkg"])
    foreign = sorted((packages[i] for i in used if packages[i]["source"]), key=lambda p: (p["name"], p["version"]))
    # Texts that differ only in spaces and line breaks count as one.
    texts: dict[str, tuple[str, list[str]]] = {}
    lines = ["Third-party software in the wheel and in the binary archive of Sapwood.", ""]
    for package in foreign:
        label = f"{package['name']} {package['version']}"
        lines.append(f"{label}: {package['license']}")
        for file in sorted(Path(package["manifest_path"]).parent.iterdir()):
            if file.is_file() and file.name.lower().startswith(LICENCE_NAMES):
                text = file.read_text(encoding="utf-8", errors="replace").strip()
                texts.setdefault(" ".join(text.split()), (text, []))[1].append(label)
    lines += ["dagre (in the pages that the command writes): MIT, Copyright (c) 2012-2014 Chris Pettitt", ""]
    for text, labels in sorted(texts.values(), key=lambda item: item[1]):
        text = "\n".join(line.rstrip() for line in text.splitlines())
        lines += ["=" * 78, ", ".join(dict.fromkeys(labels)), "=" * 78, text, ""]
    Path(out).write_text("\n".join(lines), encoding="utf-8", newline="\n")


def manual(sapwood: str) -> None:
    def help_of(*arguments: str) -> str:
        command = [sapwood, *arguments, "--help"]
        text = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"})
        return text.stdout.strip()

    def literal(text: str) -> str:
        lines: list[str] = []
        for line in text.splitlines():
            indent = " " * (len(line) - len(line.lstrip()))
            lines += textwrap.wrap(line, 78, subsequent_indent=indent) or [""]
        lines = [line.replace("\\", "\\e") for line in lines]
        return "\n".join(["\\&" + line if line.startswith((".", "'")) else line for line in lines])

    version = subprocess.run([sapwood, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    overview = help_of()
    verbs = overview.partition("Commands:\n")[2].partition("\n\n")[0]
    parts = [
        f'.TH SAPWOOD 1 "" "{version}" "User Commands"',
        ".SH NAME",
        "sapwood \\- a compiler-IR toolkit for tensor programs",
        ".SH DESCRIPTION",
        ".nf",
        literal(overview),
        ".fi",
    ]
    for verb in (line.split()[0] for line in verbs.splitlines() if line.strip()):
        parts += [f".SH SAPWOOD {verb.upper()}", ".nf", literal(help_of(verb)), ".fi"]
    print("\n".join(parts))


def checksums(folder: str) -> None:
    root = Path(folder)
    files = sorted(p for p in root.rglob("*") if p.is_file() and p.name != "SHA256SUMS")
    lines = (f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(root).as_posix()}\n" for p in files)
    (root / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")


def static(sapwood: str) -> None:
    from elftools.elf.elffile import ELFFile

    with open(sapwood, "rb") as file:
        elf = ELFFile(file)
        dynamic = elf.get_section_by_name(".dynamic")
        needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")] if dynamic else []
        has_names = elf.get_section_by_name(".symtab") is not None
    if has_names:
        raise SystemExit(f"{sapwood} contains the names of its functions; it should be stripped")
    if needed:
        raise SystemExit(f"{sapwood} needs {', '.join(needed)}; it should be static")


def paths(file: str, *wanted: str) -> None:
    entries: list[tuple[str, bytes]] = []
    if file.endswith(".tar.gz"):
        with tarfile.open(file) as tar:
            for member in tar.getmembers():
                content = tar.extractfile(member)
                entries.append((member.name, content.read() if content else b""))
    else:
        with zipfile.ZipFile(file) as wheel:
            entries = [(name, wheel.read(name)) for name in wheel.namelist()]
    for name, content in entries:
        for path in wanted:
            if (path + os.sep).encode() in name.encode() + content:
                print(f"{name}: {path}")


if __name__ == "__main__":
    commands = {"archive": archive, "notices": notices, "manual": manual, "checksums": checksums, "static": static, "paths": paths}
    commands[sys.argv[1]](*sys.argv[2:])
