import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def _interrupts() -> None:
    # A process that a shell starts in the background ignores interrupts, but tests send them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
