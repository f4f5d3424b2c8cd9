"""The `sapwood` command."""

from __future__ import annotations

import signal
import sys

from sapwood._native import run_command


def main() -> int:
    """Runs the command with the arguments of the process."""
    # Interrupts end the command at once, as they end any other.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(["sapwood", *sys.argv[1:]])
