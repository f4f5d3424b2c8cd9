"""The entry point of the `sapwood` command."""

from __future__ import annotations

import signal
import sys

from sapwood._native import run_command


def main() -> int:
    """Runs the command with the arguments of the process and returns its exit code."""
    # Interrupts end the command at once, like any other native program.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(["sapwood", *sys.argv[1:]])
