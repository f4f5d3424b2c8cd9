"""The recipes run: multiprocessing in the gate, Ray and Dask in the second tier."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

RECIPES = Path(__file__).resolve().parents[1] / "recipes"
RUNNERS = ["multiprocessing", *(["ray", "dask"] if os.environ.get("SAPWOOD_FULL") else [])]

PROGRAMS = {
    "a.py": "def f(x: pi.INT64) -> pi.INT64:\n    y = x + (1 + 2)\n    return y\n",
    "b.py": "def f(a: pi.INT64) -> pi.INT64:\n    unused = a * 2\n    b = a + 3\n    return b\n",
    "c.py": "def f(x: pi.INT64) -> pi.INT64:\n    y = x * 3\n    return y\n",
}


@pytest.mark.parametrize("runner", RUNNERS)
def test_deduplicate(runner: str, tmp_path: Path) -> None:
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(RECIPES / "deduplicate.py"), str(tmp_path), runner],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["a.py: 2", "c.py: 1"]


if os.environ.get("SAPWOOD_FULL"):

    def test_pytorch(tmp_path: Path) -> None:
        script = [sys.executable, "-W", "ignore", str(RECIPES / "pytorch.py")]
        done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        assert "the same on" in done.stdout and "agrees with PyTorch: True" in done.stdout
        assert (tmp_path / "pytorch.html").exists()


def test_tutorial(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(RECIPES / "tutorial.py"), run_name="__main__")
    said = capsys.readouterr().out
    for line in ("twice is twice: True", "different functions: 2", "means: [3.5, 11.5]", "a page of at least 100 kB"):
        assert line in said

