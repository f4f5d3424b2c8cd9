"""Reads the golden files that the Rust tests and the command run, too. docs/reference/golden-tests.md has the format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2] / "tests" / "golden"


@dataclass(frozen=True)
class Case:
    """A program of a golden file, and what must come out."""

    name: str
    header: tuple[tuple[str, str], ...]
    program: str
    expected: str

    def values(self, key: str) -> list[str]:
        """The values of a header key."""
        return [value for name, value in self.header if name == key]

    def value(self, key: str, default: str = "") -> str:
        """The value of a header key."""
        return next(iter(self.values(key)), default)


def same_bytes(case: Case, output: Any) -> None:
    """What came out is what is expected; a line end more or less at its end makes no difference to the file."""
    assert output.removesuffix("\n") == case.expected


@dataclass(frozen=True)
class Kind:
    """The golden files of a folder: what they are called, and what is done with a program."""

    suffix: str
    run: Callable[[Case], object]
    keys: tuple[str, ...] = ()
    lead: str = "//"
    compare: Callable[[Case, Any], None] = same_bytes

    def cases(self, path: Path) -> list[Case]:
        """The programs of a file."""
        folder = path.relative_to(ROOT).parts[0]
        lines = path.read_text(encoding="utf-8").split("\n")
        header: list[tuple[str, str]] = []
        while lines and lines[0].startswith(f"{self.lead}!"):
            key, _, value = lines.pop(0)[len(self.lead) + 1 :].partition(":")
            header.append((key.strip(), value.strip()))
        assert ("test", folder) in header
        assert {key for key, _ in header} <= {"test", *self.keys}
        found: list[Case] = []
        program: list[str] = []
        expected: list[str] = []

        def end() -> None:
            if expected or "".join(program).strip():
                text = "".join(f"{line}\n" for line in program)
                found.append(Case(name_of(path), tuple(header), text, "\n".join(expected)))
            program.clear()
            expected.clear()

        for line in lines:
            if line.startswith(f"{self.lead}>"):
                expected.append(line[len(self.lead) + 1 :].removeprefix(" "))
                continue
            if expected:
                end()
            program.append(line)
        end()
        return found


def name_of(path: Path) -> str:
    """The name of the test: `ir::print::abs`."""
    return "::".join(path.relative_to(ROOT).with_suffix("").parts)
