"""The door's programs, and doors in folders of their own."""

import os
from pathlib import Path

import pytest

from tests.live.door.running import DoorInTest
from workbench.errors import WorkbenchError
from workbench.live.door.programs import DoorPrograms, door_programs


@pytest.fixture(scope="session")
def door_tools() -> DoorPrograms:
    """Envoy and egctl; only where they cannot be had are the tests that need them skipped."""
    try:
        return door_programs()
    except WorkbenchError as error:
        if os.environ.get("INFERENCE_PLATFORM_REQUIRE_CLUSTER"):
            raise
        pytest.skip(f"the programs of the door cannot be had here: {error}")


@pytest.fixture
def door(tmp_path: Path, door_tools: DoorPrograms) -> DoorInTest:
    return DoorInTest(tmp_path / "door", door_tools)
