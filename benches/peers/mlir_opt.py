"""Helpers of the scripts that measure mlir-opt 22 (Debian package mlir-22-tools)."""

import contextlib
import re
import shutil
import tempfile

#: Switches for one thread and a report of times.
TIMED = ["--mlir-disable-threading", "--mlir-timing", "--mlir-timing-display=list"]


def find_tool():
    """Returns the path of mlir-opt.

    Raises `RuntimeError` if it is not installed.
    """
    tool = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
    if tool is None:
        raise RuntimeError("mlir-opt-22 is not installed (Debian package mlir-22-tools)")
    return tool


@contextlib.contextmanager
def program_file(text):
    """Yields the name of a temporary file with this program."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        yield file.name


def seconds(report, name):
    """Returns the time that a report has for a phase."""
    found = re.search(rf"^\s*([0-9.]+) \(\s*[0-9.]+%\)\s+{name}\s*$", report, re.MULTILINE)
    if not found:
        raise RuntimeError(f"mlir-opt reports no time for {name}:\n{report[-2000:]}")
    return float(found.group(1))
