"""The golden files of the command, run with the command that the package brings: same files, same bytes."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sapwood
from sapwood import _native

_spec = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
assert _spec is not None and _spec.loader is not None
golden = sys.modules.setdefault("golden", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(golden)

def steady(text: str) -> str:
    """What differs from run to run is zero: `"seconds":…`, `"started": "…"`, `0.000135 s`."""
    text = re.sub(r'("(?:seconds|started|finished)":\s*)[^,}\n]*', r"\g<1>0", text)
    return re.sub(r"(?m)^(?:! )?\s*[-+\d.e]+ s  ", f"{'0.000000':>10} s  ", text)


@contextlib.contextmanager
def streams(folder: Path, source: str | None) -> Iterator[tuple[Any, Any]]:
    """Standard input from a file, standard output and error into two, and the folder as the current one."""
    before, kept = os.getcwd(), [os.dup(number) for number in range(3)]
    with (
        open(folder / source if source else os.devnull, "rb") as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        try:
            os.chdir(folder)
            for number, file in enumerate((given, out, err)):
                os.dup2(file.fileno(), number)
            yield out, err
        finally:
            os.chdir(before)
            for number, old in enumerate(kept):
                os.dup2(old, number)
                os.close(old)


def command(folder: Path, words: list[str]) -> str:
    source = None
    if words[-2:-1] == ["<"]:
        words, source = words[:-2], words[-1]
    # In this process: it is the native half that is tested, and Python takes long to start.
    with streams(folder, source) as (out, err):
        code = _native.run_command(["sapwood", *(word.strip("'") for word in words)])
        out.seek(0)
        err.seek(0)
        return shown(out.read(), err.read(), code)


def shown(out: bytes, err: bytes, code: int) -> str:
    output, errors = steady(out.decode()), steady(err.decode())
    if output and not output.endswith("\n"):
        output += "\n"
    for line in errors.removesuffix("\n").split("\n") if errors else []:
        output += f"! {line}".rstrip() + "\n"
    return f"{output}[{code}]\n"


def apart(folder: Path, words: list[str]) -> str:
    """The command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "sapwood", *(word.strip("'") for word in words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(sapwood.__file__).parents[1])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return shown(done.stdout, done.stderr, done.returncode)


def execute(folder: Path, line: str) -> str:
    match line.split():
        case ["cat", name]:
            return steady((folder / name).read_text(encoding="utf-8"))
        case ["tree", name]:
            below = [path for path in (folder / name).rglob("*") if path.is_file()]
            return "".join(sorted(f"{path.relative_to(folder / name).as_posix()}\n" for path in below))
        case ["ls", name]:
            return "".join(f"{path.name}\n" for path in sorted((folder / name).iterdir()))
        case ["sapwood", *words]:
            # Runs are numbered by process.
            return apart(folder, words) if "--dump-dir" in words else command(folder, words)
    raise AssertionError(f"unknown command: {line}")


def write(folder: Path, name: str, text: str) -> None:
    if name.endswith("/"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        return
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode().replace(b"\\xff", b"\xff"))


KINDS = ("command", "match", "extract", "rules")


@pytest.mark.parametrize(
    "path", [path for kind in KINDS for path in golden.files(kind, ".txt")], ids=golden.name_of
)
def test_golden(
    path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
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


def test_the_command_of_the_package() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(sapwood.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "sapwood", "--version"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"sapwood {sapwood.__version__}\n")
