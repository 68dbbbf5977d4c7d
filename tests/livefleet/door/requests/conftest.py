"""Doors that are stood up once for a module."""

from pathlib import Path

import pytest

from livefleet.door.programs import DoorPrograms
from tests.livefleet.door.requests.doors import DoorFactory


@pytest.fixture(scope="session")
def stand(door_tools: DoorPrograms, tmp_path_factory: pytest.TempPathFactory) -> DoorFactory:
    """Stands doors up, each in a folder of its own."""

    def folder(name: str) -> Path:
        return tmp_path_factory.mktemp(name)

    return DoorFactory(door_tools, folder)
