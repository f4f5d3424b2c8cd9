"""Reads the golden files that the Rust tests and the command run, too. docs/reference/golden-tests.md describes the format."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2] / "tests" / "golden"


@dataclass(frozen=True)
class Case:
    """A program of a golden file and its expected output."""

    name: str
    header: tuple[tuple[str, str], ...]
    program: str
    expected: str

    def values(self, key: str) -> list[str]:
        """Returns the values of a header key."""
        return [value for name, value in self.header if name == key]

    def value(self, key: str, default: str = "") -> str:
        """Returns the value of a header key."""
        return next(iter(self.values(key)), default)


def same_bytes(case: Case, output: Any) -> None:
    """Asserts that the output is the expected one, up to a line end at its end."""
    assert output.removesuffix("\n") == case.expected


@dataclass(frozen=True)
class Kind:
    """A sort of golden files: the folder, the file names, and the function that runs a program."""

    suffix: str
    run: Callable[[Case], object]
    keys: tuple[str, ...] = ()
    lead: str = "//"
    compare: Callable[[Case, Any], None] = same_bytes
    #: The first line of every program and output, which a file has once, below the header.
    prelude: str = ""
    #: True if diagnostics are on the lines they refer to.
    diagnostics: bool = False

    def cases(self, path: Path) -> list[Case]:
        """Returns the programs of a file."""
        folder = path.relative_to(ROOT).parts[0]
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        header: list[tuple[str, str]] = []
        while lines and lines[0].startswith(f"{self.lead}!"):
            header.append(self.entry(lines.pop(0)))
        assert ("test", folder) in header
        above = [self.prelude] if self.prelude else []
        assert lines[: len(above)] == above
        found: list[Case] = []
        keys: list[tuple[str, str]] = []
        program: list[str] = []
        expected: list[str] = []

        def end() -> None:
            if expected or "".join(program).strip():
                text = "".join(f"{line}\n" for line in [*above, *program])
                output = "\n".join([self.prelude, "", *expected] if above else expected)
                own = {key for key, _ in keys}
                values = (*keys, *(entry for entry in header if entry[0] not in own))
                found.append(Case(name_of(path), values, text, output))
                keys.clear()
            program.clear()
            expected.clear()

        mark, ended = f"{self.lead}~ ", False
        for line in lines[len(above) :]:
            arrow = line.startswith(f"{self.lead}>")
            if ended and not arrow:
                end()
            ended = arrow
            if arrow:
                expected.append(line[len(self.lead) + 1 :].removeprefix(" "))
            elif self.prelude and line.startswith(f"{self.lead}!"):
                end()
                keys.append(self.entry(line))
            elif self.diagnostics and line == f"{self.lead} -----":
                end()
            elif self.diagnostics and line.startswith(mark):
                expected.append(placed(program, line.removeprefix(mark)))
            elif self.diagnostics and f"  {mark}" in line:
                text, _, diagnostic = line.rpartition(f"  {mark}")
                program.append(text)
                expected.append(placed(program, diagnostic))
            else:
                program.append(line)
        end()
        return found

    def entry(self, line: str) -> tuple[str, str]:
        """A key and its value."""
        key, _, value = line[len(self.lead) + 1 :].partition(":")
        assert key.strip() in {"test", *self.keys}
        return key.strip(), value.strip()


def placed(program: list[str], diagnostic: str) -> str:
    """Returns a diagnostic about the last line of a program, with its location in the form of the output."""
    if diagnostic.startswith("  "):
        return diagnostic
    if re.match(r"\d[-\d]*: ", diagnostic):
        return f"{len(program)}:{diagnostic}"
    return f"{len(program)}:{len(program[-1]) - len(program[-1].lstrip()) + 1}: {diagnostic}"


def name_of(path: Path) -> str:
    """Returns the name of the test, for example `ir::print::abs`."""
    return "::".join(path.relative_to(ROOT).with_suffix("").parts)
