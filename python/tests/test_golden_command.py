"""The golden files of the command, run with the command that the package brings: same files, same bytes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sapwood

_spec = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
assert _spec is not None and _spec.loader is not None
golden = sys.modules.setdefault("golden", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(golden)

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
ENVIRONMENT["PYTHONPATH"] = str(Path(sapwood.__file__).parents[1])


def command(folder: Path, words: list[str]) -> str:
    source = None
    if words[-2:-1] == ["<"]:
        words, source = words[:-2], words[-1]
    with open(folder / source if source else os.devnull, "rb") as given:
        done = subprocess.run(
            [sys.executable, "-m", "sapwood", *(word.strip("'") for word in words)],
            cwd=folder,
            env=ENVIRONMENT,
            stdin=given,
            capture_output=True,
            check=False,
        )
    output = done.stdout.decode()
    if output and not output.endswith("\n"):
        output += "\n"
    for line in done.stderr.decode().split("\n")[: done.stderr.count(b"\n")]:
        output += f"! {line}".rstrip() + "\n"
    return f"{output}[{done.returncode}]\n"


def execute(folder: Path, line: str) -> str:
    match line.split():
        case ["cat", name]:
            return (folder / name).read_text(encoding="utf-8")
        case ["ls", name]:
            return "".join(f"{path.name}\n" for path in sorted((folder / name).iterdir()))
        case ["sapwood", *words]:
            return command(folder, words)
    raise AssertionError(f"unknown command: {line}")


def write(folder: Path, name: str, text: str) -> None:
    if name.endswith("/"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        return
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode().replace(b"\\xff", b"\xff"))


@pytest.mark.parametrize("path", golden.files("command", ".txt"), ids=golden.name_of)
def test_golden(path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    ran = 0
    for case in golden.cases(path):
        folder = tmp_path_factory.mktemp("command")
        output, name, text = "", "", ""
        for line in case.program.splitlines():
            if line.startswith("--- ") or line.startswith("$ "):
                if name:
                    write(folder, name, text)
                name, text = line.removeprefix("--- ") if line.startswith("--- ") else "", ""
                if line.startswith("$ "):
                    output += f"{line}\n{execute(folder, line[2:])}"
                    ran += 1
            elif name:
                text += f"{line}\n"
        assert output.rstrip("\n") == case.expected.rstrip("\n")
    assert ran
