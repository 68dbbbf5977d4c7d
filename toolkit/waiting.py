"""Waiting for what another process does."""

import time
from collections.abc import Callable
from typing import Any


def wait_until(condition: Callable[[], bool], seconds: float, check: Callable[[], Any] = lambda: None) -> bool:
    """Ask again until it is true or time is up; ``check`` may raise in between."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        check()
        if condition():
            return True
        time.sleep(0.05)
    return False
