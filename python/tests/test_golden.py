"""The golden corpus through the bindings: the files that the Rust tests run, the same bytes expected, none left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import golden_command
import golden_programs as programs
import pytest
from golden import ROOT, Kind, name_of

import sapwood

#: Every folder of the corpus.
KINDS = {
    "command": Kind(".txt", golden_command.run),
    "diff": Kind(".ptir", programs.diff, keys=("mode",)),
    "extract": Kind(".txt", golden_command.run),
    "ir": Kind(".ir", programs.front_end, keys=("level", "pass"), lead="#", diagnostics=True),
    "laws": Kind(".ptir", programs.laws, keys=("fires", "floats", "values"), prelude="ptir 1"),
    "lower": Kind(".py", programs.lower, lead="#"),
    "match": Kind(".txt", golden_command.run),
    "passes": Kind(".ptir", programs.passes, keys=("pipeline",), prelude="ptir 1"),
    "patterns": Kind(".ptir", programs.patterns, keys=("fires", "floats", "values", "raises"), prelude="ptir 1"),
    "rules": Kind(".txt", golden_command.run),
    "run": Kind(".ptir", programs.run, keys=("values", "tolerance"), compare=programs.same_values),
    "stablehlo": Kind(".mlir", programs.stablehlo),
    "text": Kind(".ptir", programs.text, prelude="ptir 1"),
    "verify": Kind(".ptir", programs.verify, diagnostics=True),
}
FILES = sorted(path for path in ROOT.rglob("*") if path.is_file())


def test_every_file_is_run() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == set(KINDS)
    strange = [path for path in FILES if path.suffix != KINDS[path.relative_to(ROOT).parts[0]].suffix]
    assert strange == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_golden(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    kind = KINDS[path.relative_to(ROOT).parts[0]]
    cases = kind.cases(path)
    assert cases
    for case in cases:
        kind.compare(case, kind.run(case))


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
