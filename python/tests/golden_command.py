"""The golden files of the command, run with the command that the package installs."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from golden import Case

import sapwood
from sapwood import _native


def steady(text: str) -> str:
    """Replaces parts that differ from run to run by zero: `"seconds":…`, `"started": "…"`, `0.000135 s`."""
    text = re.sub(r'("(?:seconds|started|finished)":\s*)[^,}\n]*', r"\g<1>0", text)
    return re.sub(r"(?m)^(?:! )?\s*[-+\d.e]+ s  ", f"{'0.000000':>10} s  ", text)


@contextlib.contextmanager
def streams(folder: Path, source: str | None) -> Iterator[tuple[Any, Any]]:
    """Redirects standard input, output and error to files, and changes the current folder."""
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
    # The command runs in this process: the native half is under test, and starting Python takes long.
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
    """Runs the command in a separate process."""
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


def run(case: Case) -> str:
    """Writes the files, runs the commands and returns their output."""
    output, name, text = "", "", ""
    with tempfile.TemporaryDirectory() as folder:
        for line in case.program.splitlines():
            if line.startswith(("--- ", "$ ")):
                if name:
                    write(Path(folder), name, text)
                name, text = line.removeprefix("--- ") if line.startswith("--- ") else "", ""
                if line.startswith("$ "):
                    output += f"{line}\n{execute(Path(folder), line[2:])}"
            elif name:
                text += f"{line}\n"
            else:
                assert not line, f"neither a file nor a command: {line}"
    return output
