"""Waits that end at once, where a server never does what it is waited for."""

from typing import Any

import pytest

NEVER = 0.3
"""Seconds to wait for what the server says never comes true."""
LONG = 60.0
"""Seconds to wait for a server that does what it says, on a machine that is busy."""


def set_waits(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set for how long the engine waits for a server."""
    patch.setattr("workbench.engine.apply.objects._PATIENCE", seconds / 3)
    patch.setattr("workbench.engine.apply.objects.await_gone.__defaults__", (seconds, ""))
    patch.setattr("workbench.engine.apply.remove._SECONDS", seconds)


@pytest.fixture(scope="module")
def quick() -> Any:
    """Waits that end at once: what the server says never comes true."""
    with pytest.MonkeyPatch.context() as patch:
        set_waits(patch, NEVER)
        patch.setattr("workbench.engine.apply.objects.PAUSE", 0.001)
        patch.setattr("workbench.engine.apply.ready._PAUSE", 0.001)
        yield patch
