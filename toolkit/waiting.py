"""Waits for conditions outside of this process."""

import time
from collections.abc import Callable
from typing import Any


def wait_until(condition: Callable[[], bool], seconds: float, check: Callable[[], Any] = lambda: None) -> bool:
    """Poll a condition; return False after a timeout. ``check`` runs before each attempt and may raise."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        check()
        if condition():
            return True
        time.sleep(0.05)
    return False
