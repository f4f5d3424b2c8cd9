"""Reads the golden files that the Rust tests and the command run, too. docs/reference/golden-tests.md has the format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "tests" / "golden"


@dataclass(frozen=True)
class Case:
    """A program of a golden file, and what must come out."""

    name: str
    path: Path
    header: tuple[tuple[str, str], ...]
    program: str
    expected: str

    def values(self, key: str) -> list[str]:
        """The values of a header key."""
        return [value for name, value in self.header if name == key]

    def value(self, key: str, default: str = "") -> str:
        """The value of a header key."""
        return next(iter(self.values(key)), default)


def files(kind: str, suffix: str) -> list[Path]:
    """All files of a kind; none is left out."""
    found = sorted(path for path in (ROOT / kind).rglob("*") if path.is_file())
    strange = [path for path in found if path.suffix != suffix and path.name != "README.md"]
    assert found and not strange, strange
    return [path for path in found if path.suffix == suffix]


def name_of(path: Path) -> str:
    """The name of the test: `ir::print::abs`."""
    return "::".join(path.relative_to(ROOT).with_suffix("").parts)


def cases(path: Path, lead: str = "//") -> Iterator[Case]:
    """The programs of a file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    header: list[tuple[str, str]] = []
    while lines and lines[0].startswith(f"{lead}!"):
        key, _, value = lines.pop(0)[len(lead) + 1 :].partition(":")
        header.append((key.strip(), value.strip()))
    program: list[str] = []
    expected: list[str] = []
    for line in [*lines, None]:
        is_expected = line is not None and line.startswith(f"{lead}>")
        if expected and not is_expected:
            yield Case(name_of(path), path, tuple(header), "\n".join(program) + "\n", "\n".join(expected))
            program, expected = [], []
        if line is None:
            break
        if is_expected:
            expected.append(line[len(lead) + 1 :].removeprefix(" "))
        else:
            program.append(line)
    if "".join(program).strip():
        yield Case(name_of(path), path, tuple(header), "\n".join(program), "")
