"""Programs that run for the length of a test, and waiting for them."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolkit.process import start
from toolkit.toolchain import tail

SECONDS = 60.0
"""Many times what anything takes here, for a machine that is busy; whatever comes is not waited for any longer."""


def eventually(condition: Callable[[], Any], what: str, seconds: float = SECONDS, pause: float = 0.1) -> Any:
    """Ask until the answer is true, and return it.

    Raises:
        AssertionError: it never was; says what was waited for.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds:.0f} s")
        time.sleep(pause)


@contextmanager
def running(command: Sequence[str], log: Path, ready: Callable[[], bool]) -> Iterator[None]:
    """Run a program that is ready when ``ready`` says so, and end it by its pid.

    Raises:
        AssertionError: it ended or did not become ready; the message holds the end of its log.
    """
    process = start(command, log)

    def ready_or_ended() -> bool:
        return not process.alive() or ready()

    try:
        eventually(ready_or_ended, f"{Path(command[0]).name} ready, its log is {log}")
        if not process.alive():
            raise AssertionError(f"{Path(command[0]).name} ended:\n{tail(log.read_text(errors='replace'))}")
        yield
    finally:
        process.stop()
