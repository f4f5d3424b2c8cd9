"""The command on a terminal: colours, and the progress of long work."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

ROOT = Path(__file__).parents[2]
RED, GREEN, YELLOW, BOLD, RESET = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"
#: A file that takes seconds in the build of the tests.
LARGE = 150_000


def on_terminal(
    arguments: list[str], *, environment: dict[str, str] | None = None, pipe_errors: bool = False, slow_input: str = "", patience: float = 1.5
) -> str:
    """Returns the output of the command on a terminal. With `pipe_errors`, standard error is a pipe and is returned, too.
    `slow_input` is sent to standard input when the command shows something, or after `patience` seconds."""
    env = {**os.environ, "TERM": "xterm", **(environment or {})}
    if "NO_COLOR" not in (environment or {}):
        env.pop("NO_COLOR", None)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "sapwood", *arguments]
    error = subprocess.PIPE if pipe_errors else theirs
    with subprocess.Popen(
        command, cwd=ROOT / "programs", env=env, stdin=subprocess.PIPE, stdout=theirs, stderr=error
    ) as process:
        os.close(theirs)
        assert process.stdin is not None
        parts = []
        if slow_input:
            # Until something is shown. Progress appears after half a second.
            if select.select([ours], [], [], patience)[0]:
                parts.append(os.read(ours, 1 << 16))
            process.stdin.write(slow_input.encode())
        process.stdin.close()
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # Linux reports the closed terminal as an error.
                break
            if not part:
                break
            parts.append(part)
        if process.stderr is not None:
            parts.append(process.stderr.read())
    os.close(ours)
    assert process.returncode in (0, 1), b"".join(parts)
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that differs from programs/softmax.ptir in one op."""
    text = (ROOT / "programs/softmax.ptir").read_text()
    assert " exp " in text
    path = tmp_path_factory.mktemp("terminal") / "changed.ptir"
    path.write_text(text.replace(" exp ", " tanh ", 1))
    return path


COLOURED = {
    "diff": (["diff", "softmax.ptir", "CHANGED"], rf"{re.escape(GREEN)}\s*\+ .*tanh.*{re.escape(RESET)}"),
    "match": (["match", "--pattern", "../examples/patterns", "softmax.ptir"], rf"{re.escape(BOLD)}@.*softmax.*{re.escape(RESET)}"),
    "stats": (["opt", "transformer.ptir", "--stats", "-o", os.devnull], rf"{re.escape(GREEN)}.* -\d+{re.escape(RESET)}"),
    "changes": (["opt", "transformer.ptir", "--print-after-change", "-o", os.devnull], rf"{re.escape(RED)}\s*- .*{re.escape(RESET)}"),
}


@pytest.mark.parametrize("name", COLOURED)
def test_results_are_coloured_on_a_terminal(name: str, changed: Path) -> None:
    arguments, line = COLOURED[name]
    arguments = [str(changed) if word == "CHANGED" else word for word in arguments]
    coloured = on_terminal(arguments)
    assert re.search(line, coloured), coloured
    plain = on_terminal(arguments, environment={"NO_COLOR": "1"})
    assert "\x1b[3" not in plain
    assert on_terminal(arguments, environment={"TERM": "dumb"}) == plain
    assert on_terminal([*arguments, "--color", "never"]) == plain
    # Only the colours differ.
    assert without_escapes(coloured) == without_escapes(plain)
    always = on_terminal([*arguments, "--color", "always"], environment={"NO_COLOR": "1"})
    assert always == coloured


def without_escapes(text: str) -> str:
    # Times differ from run to run.
    return re.sub(r"[\d.]+ s\b", "0 s", re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\r", "", text))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A long chain of ops that cancel each other."""
    lines = ["ptir 1", "", "func @main(%x: f32[2]) -> f32[2] {", "  %0 = neg %x : f32[2]"]
    lines += [f"  %{n} = {('neg', 'tanh')[n % 3 == 0]} %{n - 1} : f32[2]" for n in range(1, LARGE)]
    lines += [f"  return %{LARGE - 1}", "}", ""]
    path = tmp_path_factory.mktemp("terminal") / "large.ptir"
    path.write_text("\n".join(lines))
    return path


def phases(output: str) -> dict[str, list[int]]:
    """Returns the percentages of each phase that the line showed."""
    shown: dict[str, list[int]] = {}
    for phase, percent in re.findall(r"(read|simplify|verify|check|run|write)(?: (\d+) %)? \d+s", without_escapes(output)):
        shown.setdefault(phase, []).extend([int(percent)] if percent else [])
    return shown


def test_a_large_file_shows_its_phases(large: Path) -> None:
    output = on_terminal(["opt", str(large), "--check", "-o", os.devnull])
    shown = phases(output)
    # Reading and simplifying may be too short to be shown; the check takes seconds.
    assert any(0 < percent < 100 for percent in shown.get("check", [])), output
    # The line is cleared in the end, and the verdict follows.
    assert output.rpartition("\x1b[2K")[2].startswith("check: ") or "\ncheck: " in output.rpartition("\x1b[2K")[2], output[-200:]


SOFTMAX = (ROOT / "programs/softmax.ptir").read_text()


@pytest.mark.parametrize("verb", [["opt"], ["run", "--random", "1"], ["verify"]], ids=["opt", "run", "verify"])
def test_verbs_show_their_phases(verb: list[str]) -> None:
    output = on_terminal([*verb, "-"], slow_input=SOFTMAX, patience=60)
    assert "read" in phases(output), output
    # The line is cleared before the result is printed.
    assert "read" not in output.rpartition("\x1b[2K")[2]


def test_progress_is_for_terminals_only() -> None:
    for output in (
        on_terminal(["verify", "-", "--quiet"], slow_input=SOFTMAX),
        on_terminal(["verify", "-"], slow_input=SOFTMAX, pipe_errors=True),
        on_terminal(["verify", "-"], slow_input=SOFTMAX, environment={"TERM": "dumb"}),
    ):
        assert output == "<stdin>: ok\n"


def test_short_work_shows_no_progress() -> None:
    assert on_terminal(["verify", "softmax.ptir"]) == "softmax.ptir: ok\n"
